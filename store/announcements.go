package store

import (
	"context"
	"time"
)

// Announcement is a text of the staff for all local accounts. Its id says when it was created.
type Announcement struct {
	ID        AnnouncementID
	Text      string // as typed
	Content   string // HTML
	StartsAt  *Time  // nil: at once
	EndsAt    *Time  // nil: never
	AllDay    bool
	UpdatedAt Time
}

// Current returns true if the announcement is shown now.
func (a *Announcement) Current(now time.Time) bool {
	return a.Started(now) && (a.EndsAt == nil || *a.EndsAt > At(now))
}

// Started returns true if the announcement is shown now, or was.
func (a *Announcement) Started(now time.Time) bool {
	return a.StartsAt == nil || *a.StartsAt <= At(now)
}

// Announcements returns all announcements, newest first.
func (r reader) Announcements(ctx context.Context, limit int) ([]*Announcement, error) {
	return list[*Announcement](ctx, r, "announcements", `SELECT * FROM announcements ORDER BY id DESC LIMIT ?`, limit)
}

// Announcement returns one announcement, and errs.ErrRecordNotFound if there is none.
func (r reader) Announcement(ctx context.Context, id AnnouncementID) (*Announcement, error) {
	return get[Announcement](ctx, r, "announcement", `SELECT * FROM announcements WHERE id = ?`, id)
}

// ReadAnnouncements returns the announcements that an account has dismissed.
func (r reader) ReadAnnouncements(ctx context.Context, account AccountID) ([]AnnouncementID, error) {
	return ids[AnnouncementID](ctx, r, "read announcements", `
		SELECT announcement_id
		FROM announcement_reads INDEXED BY announcement_reads_account
		WHERE account_id = ?`, account)
}

// AddAnnouncement inserts an announcement with a new id.
func (tx *Tx) AddAnnouncement(ctx context.Context, a *Announcement) error {
	a.ID, a.UpdatedAt = AnnouncementID(tx.newID()), At(tx.db.now())
	tx.Emit(AnnouncementChanged{ID: a.ID})
	return tx.exec(ctx, "add announcement", insertAnnouncement.text, insertAnnouncement.args(a)...)
}

// SaveAnnouncement stores a changed announcement.
func (tx *Tx) SaveAnnouncement(ctx context.Context, a *Announcement) error {
	a.UpdatedAt = At(tx.db.now())
	tx.Emit(AnnouncementChanged{ID: a.ID, Deleted: !a.Current(tx.db.now())})
	return tx.exec(ctx, "save announcement", updateAnnouncement.text, updateAnnouncement.args(a)...)
}

// DeleteAnnouncement removes an announcement.
func (tx *Tx) DeleteAnnouncement(ctx context.Context, id AnnouncementID) error {
	tx.Emit(AnnouncementChanged{ID: id, Deleted: true})
	return tx.exec(ctx, "delete announcement", `DELETE FROM announcements WHERE id = ?`, id)
}

// MarkAnnouncementRead dismisses an announcement for an account. Repeating it is not an error.
func (tx *Tx) MarkAnnouncementRead(ctx context.Context, account AccountID, id AnnouncementID) error {
	return tx.exec(ctx, "read announcement", `
		INSERT OR IGNORE INTO announcement_reads (announcement_id, account_id)
		VALUES (?, ?)`, id, account)
}

package store

import (
	"cmp"
	"context"
	"slices"
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

// AnnouncementReaction is a reaction of a local account to an announcement.
type AnnouncementReaction struct {
	ID             int64
	AnnouncementID AnnouncementID
	AccountID      AccountID
	Emoji          string // Unicode in its fully qualified form, or the shortcode of a local custom emoji
}

// AnnouncementReactionCount is the number of reactions to an announcement with one emoji.
type AnnouncementReactionCount struct {
	Emoji   string
	Count   int
	Me      bool  // one of them is the viewer's
	FirstID int64 // of the first reaction, which orders them
}

// AnnouncementReactions counts the reactions to an announcement by emoji, in the order in which the emoji were first used. viewer may be 0.
func (r reader) AnnouncementReactions(ctx context.Context, viewer AccountID, id AnnouncementID) ([]AnnouncementReactionCount, error) {
	counts, err := list[AnnouncementReactionCount](ctx, r, "announcement reactions", `
		SELECT emoji, count(*) AS count, max(account_id = ?1) AS me, min(id) AS first_id
		FROM announcement_reactions
		WHERE announcement_id = ?2
		GROUP BY emoji`, viewer, id)
	slices.SortFunc(counts, func(a, b AnnouncementReactionCount) int { return cmp.Compare(a.FirstID, b.FirstID) })
	return counts, err
}

// AddAnnouncementReaction adds a reaction. It returns false if the account has reacted with the emoji before.
func (tx *Tx) AddAnnouncementReaction(ctx context.Context, by AccountID, to AnnouncementID, emoji string) (bool, error) {
	n, err := tx.execRows(ctx, "react to announcement", `
		INSERT OR IGNORE INTO announcement_reactions (announcement_id, account_id, emoji)
		VALUES (?, ?, ?)`, to, by, emoji)
	if n > 0 {
		tx.Emit(AnnouncementReacted{ID: to, Emoji: emoji})
	}
	return n > 0, err
}

// RemoveAnnouncementReaction removes a reaction. It returns false if there is none.
func (tx *Tx) RemoveAnnouncementReaction(ctx context.Context, by AccountID, to AnnouncementID, emoji string) (bool, error) {
	n, err := tx.execRows(ctx, "remove reaction to announcement", `
		DELETE FROM announcement_reactions
		WHERE announcement_id = ? AND emoji = ? AND account_id = ?`, to, emoji, by)
	if n > 0 {
		tx.Emit(AnnouncementReacted{ID: to, Emoji: emoji})
	}
	return n > 0, err
}

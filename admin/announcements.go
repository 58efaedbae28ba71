package admin

import (
	"context"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

const (
	maxAnnouncements    = 100
	maxAnnouncementText = 10_000 // characters
)

// Announcement is a message to all local accounts.
type Announcement struct {
	ID       string // set by CreateAnnouncement
	Text     string
	StartsAt *time.Time // nil: now
	EndsAt   *time.Time // nil: never
	AllDay   bool       // the times mean days
}

// CreateAnnouncement publishes a plain text, in which links work, to all local accounts.
func (s *Service) CreateAnnouncement(ctx context.Context, n Announcement) (*Announcement, error) {
	n.Text = strings.TrimSpace(n.Text)
	switch {
	case n.Text == "":
		return nil, errs.Invalid("An announcement needs a text")
	case text.Length(n.Text, "") > maxAnnouncementText:
		return nil, errs.Invalid("The announcement is longer than %d characters", maxAnnouncementText)
	case n.StartsAt != nil && n.EndsAt != nil && !n.EndsAt.After(*n.StartsAt):
		return nil, errs.Invalid("The announcement would end before it starts")
	case n.EndsAt != nil && !n.EndsAt.After(s.db.Now()):
		return nil, errs.Invalid("The announcement would end in the past")
	}
	a := &store.Announcement{
		Text: n.Text, Content: text.Parse(n.Text, text.PlainText).Render(s.social.BaseURL, nil).HTML, AllDay: n.AllDay,
		StartsAt: storeTime(n.StartsAt), EndsAt: storeTime(n.EndsAt),
	}
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		all, err := tx.Announcements(ctx, maxAnnouncements)
		if err != nil {
			return err
		}
		if len(all) >= maxAnnouncements {
			return errs.Invalid("There are %d announcements already: delete some", maxAnnouncements)
		}
		if err := tx.AddAnnouncement(ctx, a); err != nil {
			return err
		}
		return s.recordAnnouncement(ctx, tx, "announcement_create", "created", a)
	})
	return newAnnouncement(a), err
}

// Announcements returns all announcements, including past and future ones, the latest first.
func (s *Service) Announcements(ctx context.Context, _ struct{}) ([]*Announcement, error) {
	rows, err := s.db.Announcements(ctx, maxAnnouncements)
	list := make([]*Announcement, 0, len(rows))
	for _, a := range rows {
		list = append(list, newAnnouncement(a))
	}
	return list, err
}

// DeleteAnnouncement deletes an announcement and returns it.
func (s *Service) DeleteAnnouncement(ctx context.Context, id string) (*Announcement, error) {
	key := store.ParseID[store.AnnouncementID](id)
	var a *store.Announcement
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		a, err = tx.Announcement(ctx, key)
		if errs.IsNotFound(err) {
			return errs.NotFound("There is no announcement %q", id)
		}
		if err != nil {
			return err
		}
		if err := s.recordAnnouncement(ctx, tx, "announcement_delete", "deleted", a); err != nil {
			return err
		}
		return tx.DeleteAnnouncement(ctx, key)
	})
	if err != nil {
		return nil, err
	}
	return newAnnouncement(a), nil
}

// recordAnnouncement adds an entry about an announcement to the moderation log.
func (s *Service) recordAnnouncement(ctx context.Context, tx *store.Tx, action, done string, a *store.Announcement) error {
	data := map[string]any{"subject": map[string]any{"id": a.ID.String(), "type": "announcement"}, "text": a.Text}
	return s.record(ctx, tx, action, done+" announcement #"+a.ID.String(), data)
}

func newAnnouncement(a *store.Announcement) *Announcement {
	return &Announcement{ID: a.ID.String(), Text: a.Text, StartsAt: timePointer(a.StartsAt), EndsAt: timePointer(a.EndsAt), AllDay: a.AllDay}
}

func storeTime(t *time.Time) *store.Time {
	if t == nil {
		return nil
	}
	return new(store.At(*t))
}

func timePointer(t *store.Time) *time.Time {
	if t == nil {
		return nil
	}
	return new(t.Time())
}

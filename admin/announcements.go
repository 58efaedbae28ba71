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
	ID       string     `json:"id"` // set by CreateAnnouncement
	Text     string     `json:"content"`
	StartsAt *time.Time `json:"starts_at"` // nil: now
	EndsAt   *time.Time `json:"ends_at"`   // nil: never
	AllDay   bool       `json:"all_day"`   // the times mean days
}

// AnnouncementChange has the members of an announcement that change; the others are nil.
type AnnouncementChange struct {
	ID       string     `json:"id"`
	Text     *string    `json:"text"`
	StartsAt *time.Time `json:"starts_at"`
	NoStart  bool       `json:"no_start"` // removes StartsAt
	EndsAt   *time.Time `json:"ends_at"`
	NoEnd    bool       `json:"no_end"` // removes EndsAt
	AllDay   *bool      `json:"all_day"`
}

// CreateAnnouncement publishes a plain text, in which links work, to all local accounts.
func (s *Service) CreateAnnouncement(ctx context.Context, n Announcement) (*Announcement, error) {
	a := &store.Announcement{AllDay: n.AllDay, StartsAt: storeTime(n.StartsAt), EndsAt: storeTime(n.EndsAt)}
	if err := s.setAnnouncement(a, n.Text); err != nil {
		return nil, err
	}
	if n.EndsAt != nil && !n.EndsAt.After(s.db.Now()) {
		return nil, errs.BadRequest("The announcement would end in the past")
	}
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		all, err := tx.Announcements(ctx, maxAnnouncements)
		if err != nil {
			return err
		}
		if len(all) >= maxAnnouncements {
			return errs.BadRequest("There are %d announcements already: delete some", maxAnnouncements)
		}
		if err := tx.AddAnnouncement(ctx, a); err != nil {
			return err
		}
		return s.recordAnnouncement(ctx, tx, "announcement_create", "created", a)
	})
	return newAnnouncement(a), err
}

// setAnnouncement sets the text of an announcement. It fails if the announcement would be invalid.
func (s *Service) setAnnouncement(a *store.Announcement, typed string) error {
	a.Text = strings.TrimSpace(typed)
	switch {
	case a.Text == "":
		return errs.BadRequest("An announcement needs a text")
	case text.Length(a.Text, "") > maxAnnouncementText:
		return errs.BadRequest("The announcement is longer than %d characters", maxAnnouncementText)
	case a.StartsAt != nil && a.EndsAt != nil && *a.EndsAt <= *a.StartsAt:
		return errs.BadRequest("The announcement would end before it starts")
	}
	a.Content = text.Parse(a.Text, text.PlainText).Render(s.social.Settings.BaseURL, nil).HTML
	return nil
}

// UpdateAnnouncement changes an announcement. An end in the past ends it now. Accounts that have dismissed it do not see it again.
func (s *Service) UpdateAnnouncement(ctx context.Context, c AnnouncementChange) (*Announcement, error) {
	var a *store.Announcement
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if a, err = announcement(ctx, tx, c.ID); err != nil {
			return err
		}
		if c.StartsAt != nil || c.NoStart {
			a.StartsAt = storeTime(c.StartsAt)
		}
		if c.EndsAt != nil || c.NoEnd {
			a.EndsAt = storeTime(c.EndsAt)
		}
		if c.AllDay != nil {
			a.AllDay = *c.AllDay
		}
		typed := a.Text
		if c.Text != nil {
			typed = *c.Text
		}
		if err := s.setAnnouncement(a, typed); err != nil {
			return err
		}
		if err := tx.SaveAnnouncement(ctx, a); err != nil {
			return err
		}
		return s.recordAnnouncement(ctx, tx, "announcement_update", "updated", a)
	})
	if err != nil {
		return nil, err
	}
	return newAnnouncement(a), nil
}

func announcement(ctx context.Context, tx *store.Tx, id string) (*store.Announcement, error) {
	a, err := tx.Announcement(ctx, store.ParseID[store.AnnouncementID](id))
	if errs.IsNotFound(err) {
		return nil, errs.NotFound("There is no announcement %q", id)
	}
	return a, err
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
	var a *store.Announcement
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if a, err = announcement(ctx, tx, id); err != nil {
			return err
		}
		if err := s.recordAnnouncement(ctx, tx, "announcement_delete", "deleted", a); err != nil {
			return err
		}
		return tx.DeleteAnnouncement(ctx, a.ID)
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

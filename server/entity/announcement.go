package entity

import (
	"context"
	"slices"

	"svc/store"
)

// Announcement is an announcement for one user.
type Announcement struct {
	ID          store.AnnouncementID `json:"id"`
	Content     string               `json:"content"` // HTML
	StartsAt    *store.Time          `json:"starts_at"`
	EndsAt      *store.Time          `json:"ends_at"`
	AllDay      bool                 `json:"all_day"`
	PublishedAt store.Time           `json:"published_at"`
	UpdatedAt   store.Time           `json:"updated_at"`
	Read        bool                 `json:"read"`
	Mentions    []Mention            `json:"mentions"`
	Statuses    []object             `json:"statuses"`
	Tags        []StatusTag          `json:"tags"`
	Emojis      []Emoji              `json:"emojis"`
	Reactions   []object             `json:"reactions"`
}

// maxAnnouncements bounds the list of announcements.
const maxAnnouncements = 100

// Announcements returns the current announcements for the viewer, the newest first.
func (b *Builder) Announcements(ctx context.Context, viewer *store.Account) ([]*Announcement, error) {
	rows, err := b.db.Announcements(ctx, maxAnnouncements)
	if err != nil {
		return nil, err
	}
	read, err := b.db.ReadAnnouncements(ctx, viewer.ID)
	if err != nil {
		return nil, err
	}
	list := make([]*Announcement, 0, len(rows))
	for _, row := range rows {
		if !row.Current(b.db.Now()) {
			continue
		}
		a := b.Announcement(row)
		a.Read = slices.Contains(read, row.ID)
		list = append(list, a)
	}
	return list, nil
}

// Announcement renders an unread announcement.
func (r *renderer) Announcement(row *store.Announcement) *Announcement {
	a := &Announcement{
		ID: row.ID, Content: row.Content, StartsAt: row.StartsAt, EndsAt: row.EndsAt, AllDay: row.AllDay,
		PublishedAt: store.At(row.ID.Time()), UpdatedAt: row.UpdatedAt,
		Mentions: []Mention{}, Statuses: []object{}, Tags: []StatusTag{}, Emojis: r.localEmojis(row.Content), Reactions: []object{},
	}
	if row.StartsAt != nil {
		a.PublishedAt = max(a.PublishedAt, *row.StartsAt)
	}
	return a
}

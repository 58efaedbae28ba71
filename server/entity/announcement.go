package entity

import (
	"context"
	"slices"

	"svc/store"
)

// Announcement is an announcement for one user.
type Announcement struct {
	ID          store.AnnouncementID   `json:"id"`
	Content     string                 `json:"content"` // HTML
	StartsAt    *store.Time            `json:"starts_at"`
	EndsAt      *store.Time            `json:"ends_at"`
	AllDay      bool                   `json:"all_day"`
	PublishedAt store.Time             `json:"published_at"`
	UpdatedAt   store.Time             `json:"updated_at"`
	Read        bool                   `json:"read"`
	Mentions    []Mention              `json:"mentions"`
	Statuses    []object               `json:"statuses"`
	Tags        []StatusTag            `json:"tags"`
	Emojis      []Emoji                `json:"emojis"`
	Reactions   []AnnouncementReaction `json:"reactions"`
}

// AnnouncementReaction is how many react to an announcement with an emoji.
type AnnouncementReaction struct {
	Name      string  `json:"name"`
	Count     int     `json:"count"`
	Me        bool    `json:"me"`
	URL       *string `json:"url"` // of the picture of a custom emoji
	StaticURL *string `json:"static_url"`
}

// AnnouncementReactionCount is a changed number of reactions, as streams send it.
type AnnouncementReactionCount struct {
	Name           string               `json:"name"`
	Count          int                  `json:"count"`
	AnnouncementID store.AnnouncementID `json:"announcement_id"`
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
	rows = slices.DeleteFunc(rows, func(row *store.Announcement) bool { return !row.Current(b.db.Now()) })
	list := make([]*Announcement, 0, len(rows))
	for _, row := range rows {
		a := b.Announcement(row)
		a.Read = slices.Contains(read, row.ID)
		reactions, err := b.db.AnnouncementReactions(ctx, viewer.ID, row.ID)
		if err != nil {
			return nil, err
		}
		for _, c := range reactions {
			picture := b.reactionPicture(store.ReactionCount{Emoji: c.Emoji})
			a.Reactions = append(a.Reactions, AnnouncementReaction{c.Emoji, c.Count, c.Me, picture, picture})
		}
		list = append(list, a)
	}
	return list, nil
}

// AnnouncementReactionCount returns the present number of reactions to an announcement with an emoji.
func (b *Builder) AnnouncementReactionCount(ctx context.Context, id store.AnnouncementID, emoji string) (*AnnouncementReactionCount, error) {
	counts, err := b.db.AnnouncementReactions(ctx, 0, id)
	n := &AnnouncementReactionCount{Name: emoji, AnnouncementID: id}
	for _, c := range counts {
		if c.Emoji == emoji {
			n.Count = c.Count
		}
	}
	return n, err
}

// StaffAnnouncements returns announcements, including past and future ones, with their texts as typed, the newest first.
func (b *Builder) StaffAnnouncements(ctx context.Context, limit, offset int) ([]object, error) {
	rows, err := b.db.Announcements(ctx, maxAnnouncements)
	list := []object{}
	for i := offset; i < len(rows) && len(list) < limit; i++ {
		a, err := b.staffAnnouncement(rows[i])
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, err
}

// StaffAnnouncement returns an announcement with its text as typed.
func (b *Builder) StaffAnnouncement(ctx context.Context, id store.AnnouncementID) (Appender, error) {
	row, err := b.db.Announcement(ctx, id)
	if err != nil {
		return nil, err
	}
	return b.staffAnnouncement(row)
}

func (r *renderer) staffAnnouncement(row *store.Announcement) (object, error) {
	return r.extended(r.Announcement(row), struct {
		RawContent string `json:"raw_content"`
	}{row.Text})
}

// Announcement renders an unread announcement.
func (r *renderer) Announcement(row *store.Announcement) *Announcement {
	a := &Announcement{
		ID: row.ID, Content: row.Content, StartsAt: row.StartsAt, EndsAt: row.EndsAt, AllDay: row.AllDay,
		PublishedAt: store.At(row.ID.Time()), UpdatedAt: row.UpdatedAt,
		Mentions: []Mention{}, Statuses: []object{}, Tags: []StatusTag{}, Emojis: r.localEmojis(row.Content), Reactions: []AnnouncementReaction{},
	}
	if row.StartsAt != nil {
		a.PublishedAt = max(a.PublishedAt, *row.StartsAt)
	}
	return a
}

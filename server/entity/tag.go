package entity

import (
	"context"
	"strconv"
	"time"

	"svc/internal/text"
	"svc/store"
)

// StatusTag is a hashtag in a status.
type StatusTag struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// Tag is a hashtag by itself. Clients expect its history (client API 3.5), which is empty except in trends.
type Tag struct {
	ID string `json:"id"` // its name, by which the endpoints of hashtags find it
	StatusTag
	History   []TrendDay `json:"history"`
	Following *bool      `json:"following,omitempty"` // by the viewer, if there is one
	Featuring *bool      `json:"featuring,omitempty"` // on the viewer's profile
}

// AppendJSON renders the hashtag.
func (t Tag) AppendJSON(dst []byte) []byte {
	b, err := marshal(t)
	if err != nil { // not for these members
		return append(dst, "null"...)
	}
	return append(dst, b...)
}

// FeaturedTag is a hashtag on a profile.
type FeaturedTag struct {
	ID store.FeaturedTagID `json:"id"`
	StatusTag
	StatusesCount string  `json:"statuses_count"`
	LastStatusAt  *string `json:"last_status_at"` // a date
}

// FeaturedTag returns a hashtag on a profile.
func (b *Builder) FeaturedTag(row store.FeaturedTagUse) FeaturedTag {
	t := FeaturedTag{
		ID: row.ID, StatusTag: StatusTag{Name: row.Name, URL: text.TagURL(b.Settings.BaseURL, row.Name)}, StatusesCount: strconv.Itoa(row.StatusesCount),
	}
	if row.LastStatusID != nil {
		t.LastStatusAt = new(row.LastStatusID.Time().Format(time.DateOnly))
	}
	return t
}

// Tags returns hashtags for the viewer (nil: anonymous), in the order of names.
func (b *Builder) Tags(ctx context.Context, viewer *store.Account, names []string) (List[Tag], error) {
	folded := make([]string, len(names)) // names may have capitals
	for i, name := range names {
		folded[i] = text.TagName(name)
	}
	relations := make(map[string]store.TagRelation)
	if viewer != nil {
		of, err := b.db.TagRelations(ctx, viewer.ID, folded)
		if err != nil {
			return nil, err
		}
		for _, relation := range of {
			relations[relation.Key] = relation
		}
	}
	tags := make(List[Tag], 0, len(names))
	for i, name := range names {
		t := Tag{ID: folded[i], StatusTag: StatusTag{Name: name, URL: text.TagURL(b.Settings.BaseURL, folded[i])}, History: []TrendDay{}}
		if viewer != nil {
			relation := relations[text.TagKey(folded[i])]
			t.Following, t.Featuring = &relation.Following, &relation.Featuring
		}
		tags = append(tags, t)
	}
	return tags, nil
}

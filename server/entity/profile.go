package entity

import (
	"cmp"
	"slices"

	"svc/store"
)

// Profile is an account as its owner edits it: texts as typed, and null in place of the standard pictures.
type Profile struct {
	ID                 store.AccountID `json:"id"`
	DisplayName        string          `json:"display_name"`
	Note               string          `json:"note"` // as typed
	Fields             []store.Field   `json:"fields"`
	Avatar             *string         `json:"avatar"`
	AvatarStatic       *string         `json:"avatar_static"`
	AvatarDescription  string          `json:"avatar_description"`
	Header             *string         `json:"header"`
	HeaderStatic       *string         `json:"header_static"`
	HeaderDescription  string          `json:"header_description"`
	Locked             bool            `json:"locked"`
	Bot                bool            `json:"bot"`
	HideLists          bool            `json:"hide_collections"` // of followers and followed accounts
	Discoverable       bool            `json:"discoverable"`
	Indexable          bool            `json:"indexable"`
	ShowMedia          bool            `json:"show_media"`
	ShowMediaReplies   bool            `json:"show_media_replies"`
	ShowFeatured       bool            `json:"show_featured"`
	AttributionDomains []string        `json:"attribution_domains"` // hosts whose pages may name the account as their author
	FeaturedTags       []FeaturedTag   `json:"featured_tags"`
}

// Profile returns the profile of a local account that features hashtags.
func (b *Builder) Profile(row *store.Account, user *store.User, tags []store.FeaturedTagUse) *Profile {
	p := &Profile{
		ID: row.ID, DisplayName: row.DisplayName, Note: user.Note, Fields: append([]store.Field{}, user.Fields.V...),
		Avatar: b.Picture(row.Avatar), AvatarStatic: b.Picture(cmp.Or(row.AvatarStatic, row.Avatar)), AvatarDescription: row.AvatarDescription,
		Header: b.Picture(row.Header), HeaderStatic: b.Picture(cmp.Or(row.HeaderStatic, row.Header)), HeaderDescription: row.HeaderDescription,
		Locked: row.Locked, Bot: isBot(row), HideLists: row.HideFollowers && row.HideFollows,
		Discoverable: row.Discoverable, Indexable: row.ConsentsToSearch(),
		ShowMedia: !row.HideMedia, ShowMediaReplies: !row.HideMediaReplies, ShowFeatured: !row.HideFeatured,
		AttributionDomains: orEmpty(row.AttributionDomains.V), FeaturedTags: b.FeaturedTags(tags),
	}
	for i := range min(len(p.Fields), len(row.Fields.V)) { // both have the same fields
		p.Fields[i].VerifiedAt = row.Fields.V[i].VerifiedAt
	}
	return p
}

// FeaturedTags returns the hashtags on a profile, those with most posts first.
func (b *Builder) FeaturedTags(rows []store.FeaturedTagUse) []FeaturedTag {
	rows = slices.SortedFunc(slices.Values(rows), func(a, b store.FeaturedTagUse) int {
		return cmp.Or(cmp.Compare(b.StatusesCount, a.StatusesCount), cmp.Compare(a.ID, b.ID))
	})
	tags := make([]FeaturedTag, 0, len(rows))
	for _, row := range rows {
		tags = append(tags, b.FeaturedTag(row))
	}
	return tags
}

package entity

import (
	"strings"

	"svc/store"
)

// BookmarkFolder is a folder of bookmarks, for its owner.
type BookmarkFolder struct {
	ID       store.BookmarkFolderID `json:"id"`
	Name     string                 `json:"name"`
	Emoji    *string                `json:"emoji"`
	EmojiURL *string                `json:"emoji_url"` // nil unless the emoji is custom and exists
}

// BookmarkFolder renders a folder for its owner.
func (r *renderer) BookmarkFolder(f *store.BookmarkFolder) BookmarkFolder {
	e := BookmarkFolder{ID: f.ID, Name: f.Name}
	if f.Emoji != "" {
		e.Emoji = &f.Emoji
	}
	if custom := r.emojis.Find(strings.Trim(f.Emoji, ":")); custom != nil {
		url := r.Settings.BaseURL + custom.Path
		e.EmojiURL = &url
	}
	return e
}

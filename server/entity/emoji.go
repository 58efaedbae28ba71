package entity

import (
	"slices"
	"strings"

	"svc/emoji"
	"svc/store"
)

// Emoji is a custom emoji.
type Emoji struct {
	Shortcode       string   `json:"shortcode"`
	URL             string   `json:"url"`
	StaticURL       string   `json:"static_url"`
	VisibleInPicker bool     `json:"visible_in_picker"`
	Category        *string  `json:"category,omitempty"`
	Tags            []string `json:"tags,omitempty"`
}

// localEmojis returns the custom emoji of this server that occur in texts.
func (b *Builder) localEmojis(texts ...string) []Emoji {
	found := []Emoji{}
	for _, e := range b.emojis.In(texts...) {
		url := b.BaseURL + e.Path
		found = append(found, Emoji{Shortcode: e.Shortcode, URL: url, StaticURL: url})
	}
	return found
}

// emojisFor returns the custom emoji that occur in texts: those of this server in local texts, those of the document in remote ones.
func (b *Builder) emojisFor(local bool, came []store.RemoteEmoji, texts ...string) []Emoji {
	if local {
		return b.localEmojis(texts...)
	}
	found := []Emoji{}
	for _, e := range came {
		name := ":" + e.Shortcode + ":"
		if slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, name) }) {
			url := b.proxied(e.URL)
			found = append(found, Emoji{Shortcode: e.Shortcode, URL: url, StaticURL: url})
		}
	}
	return found
}

// renderedEmojis are the rendered lists of all custom emoji.
type renderedEmojis struct {
	source            []emoji.Emoji
	list, byShortcode object
}

// CustomEmojis returns all custom emoji. Their category is their tags.
func (b *Builder) CustomEmojis() (Appender, error) {
	lists, err := b.renderCustomEmojis()
	if err != nil {
		return nil, err
	}
	return lists.list, nil
}

// CustomEmojisByShortcode returns all custom emoji in the form of the extension API.
func (b *Builder) CustomEmojisByShortcode() (Appender, error) {
	lists, err := b.renderCustomEmojis()
	if err != nil {
		return nil, err
	}
	return lists.byShortcode, nil
}

// renderCustomEmojis renders the emoji again if they have changed.
func (b *Builder) renderCustomEmojis() (*renderedEmojis, error) {
	all := b.emojis.All()
	if kept := b.customEmojis.Load(); kept != nil && len(kept.source) == len(all) && (len(all) == 0 || &kept.source[0] == &all[0]) {
		return kept, nil
	}
	type pickable struct {
		Tags     []string `json:"tags"`
		ImageURL string   `json:"image_url"`
	}
	list, byCode := make([]Emoji, 0, len(all)), make(map[string]pickable, len(all))
	for _, e := range all {
		url, category := b.BaseURL+e.Path, strings.Join(e.Tags, ",")
		list = append(list, Emoji{Shortcode: e.Shortcode, URL: url, StaticURL: url, VisibleInPicker: true, Category: &category, Tags: e.Tags})
		byCode[e.Shortcode] = pickable{e.Tags, e.Path}
	}
	lists := &renderedEmojis{source: all}
	var err error
	if lists.list, err = marshal(list); err != nil {
		return nil, err
	}
	if lists.byShortcode, err = marshal(byCode); err != nil {
		return nil, err
	}
	b.customEmojis.Store(lists)
	return lists, nil
}

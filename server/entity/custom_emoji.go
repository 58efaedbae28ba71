package entity

import (
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"

	"svc/emoji"
	"svc/internal/config"
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
func (r *renderer) localEmojis(texts ...string) []Emoji {
	found := []Emoji{}
	for _, e := range r.emojis.In(texts...) {
		url := r.Settings.BaseURL + e.Path
		found = append(found, Emoji{Shortcode: e.Shortcode, URL: url, StaticURL: url})
	}
	return found
}

// emojisFor returns the custom emoji that occur in texts: those of this server in local texts, those of the document in remote ones. An imported post is
// local and has those of its original, too.
func (r *renderer) emojisFor(local bool, remote []store.RemoteEmoji, texts ...string) []Emoji {
	found := []Emoji{}
	if local {
		found = r.localEmojis(texts...)
	}
	left := store.MaxStatusEmojiBytes
	for _, e := range remote {
		if slices.ContainsFunc(found, func(f Emoji) bool { return f.Shortcode == e.Shortcode }) {
			continue
		}
		name := ":" + e.Shortcode + ":"
		if slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, name) }) {
			url := r.proxied(e.URL)
			emoji := Emoji{Shortcode: e.Shortcode, URL: url, StaticURL: url}
			if left -= emojiSize(emoji); left < 0 || len(found) == store.MaxStatusEmojis {
				break
			}
			found = append(found, emoji)
		}
	}
	return found
}

// CustomEmojis renders the lists of all custom emoji, again only if they have changed.
type CustomEmojis struct {
	Packs    *emoji.Packs
	Settings *config.Live
	rendered atomic.Pointer[renderedEmojis]
}

// renderedEmojis are the rendered lists.
type renderedEmojis struct {
	source            []emoji.Emoji
	list, byShortcode json.RawMessage
}

// List returns all custom emoji. Their category is their tags, without the default group.
func (c *CustomEmojis) List() (json.RawMessage, error) {
	lists, err := c.render()
	return lists.list, err
}

// category returns the category of an emoji: its groups, without the default one.
func category(tags []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { return tag == "Custom" }), ",")
}

// ByShortcode returns all custom emoji in the form of the extension API.
func (c *CustomEmojis) ByShortcode() (json.RawMessage, error) {
	lists, err := c.render()
	return lists.byShortcode, err
}

func (c *CustomEmojis) render() (lists renderedEmojis, err error) {
	all := c.Packs.All()
	if cached := c.rendered.Load(); cached != nil && len(cached.source) == len(all) && (len(all) == 0 || &cached.source[0] == &all[0]) {
		return *cached, nil
	}
	type pickable struct {
		Tags     []string `json:"tags"`
		ImageURL string   `json:"image_url"`
	}
	list, byCode := make([]Emoji, 0, len(all)), make(map[string]pickable, len(all))
	for _, e := range all {
		url, category := c.Settings.BaseURL+e.Path, category(e.Tags)
		list = append(list, Emoji{Shortcode: e.Shortcode, URL: url, StaticURL: url, VisibleInPicker: true, Category: &category, Tags: e.Tags})
		byCode[e.Shortcode] = pickable{e.Tags, e.Path}
	}
	lists.source = all
	if lists.list, err = marshal(list); err != nil {
		return lists, err
	}
	if lists.byShortcode, err = marshal(byCode); err != nil {
		return lists, err
	}
	c.rendered.Store(&lists)
	return lists, nil
}

package policy

import (
	"context"
	"slices"

	"svc/internal/config"
	"svc/internal/pattern"
)

// emojis is EmojiPolicy: it removes custom emoji of other servers, or makes posts with them unlisted.
type emojis struct {
	settings                                                         config.MRFEmoji
	removedURLs, removedShortcodes, unlistedURLs, unlistedShortcodes pattern.List
}

func newEmoji(c *config.Config, _ Deps) any {
	s := c.MRFEmoji
	return emojis{
		s, compileAll(s.RemoveURL), compileAll(s.RemoveShortcode), compileAll(s.FederatedTimelineRemovalURL),
		compileAll(s.FederatedTimelineRemovalShortcode),
	}
}

func (e emojis) isRemoved(m Emoji) bool {
	return e.removedURLs.FirstMatch(m.URL) != nil || e.removedShortcodes.FirstMatch(m.Shortcode) != nil
}

func (e emojis) post(_ context.Context, p *Post) error {
	for _, m := range p.Emoji {
		if e.unlistedURLs.FirstMatch(m.URL) != nil || e.unlistedShortcodes.FirstMatch(m.Shortcode) != nil {
			p.delist()
		}
	}
	p.Emoji = slices.DeleteFunc(slices.Clone(p.Emoji), e.isRemoved)
	return nil
}

func (e emojis) profile(_ context.Context, p *Profile) error {
	p.Emoji = slices.DeleteFunc(slices.Clone(p.Emoji), e.isRemoved)
	return nil
}

func (e emojis) activity(_ context.Context, a *Activity) error {
	if a.Type != "Undo" && a.Emoji != nil && e.isRemoved(*a.Emoji) {
		return rejectf("the emoji :%s: is rejected", a.Emoji.Shortcode)
	}
	return nil
}

func (e emojis) describe(public map[string]any) {
	public["mrf_emoji"] = map[string]any{
		"remove_url": nonNil(e.settings.RemoveURL), "remove_shortcode": nonNil(e.settings.RemoveShortcode),
		"federated_timeline_removal_url":       nonNil(e.settings.FederatedTimelineRemovalURL),
		"federated_timeline_removal_shortcode": nonNil(e.settings.FederatedTimelineRemovalShortcode),
	}
}

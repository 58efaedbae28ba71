package policy

import (
	"context"
	"slices"

	"svc/internal/config"
	"svc/internal/pattern"
	"svc/internal/text"
)

// emojis is EmojiPolicy: by custom emoji of other servers. Those of this one are for its staff to choose.
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
	return p.eachVersion(func(v *Version) error {
		for _, m := range v.Emoji {
			if e.unlistedURLs.FirstMatch(m.URL) != nil || e.unlistedShortcodes.FirstMatch(m.Shortcode) != nil {
				p.delist()
			}
		}
		v.Emoji = slices.DeleteFunc(slices.Clone(v.Emoji), e.isRemoved)
		return nil
	})
}

func (e emojis) profile(_ context.Context, p *Profile) error {
	p.Emoji = slices.DeleteFunc(slices.Clone(p.Emoji), e.isRemoved)
	return nil
}

func (e emojis) activity(_ context.Context, d *Activity) error {
	if d.Type != "Undo" && d.Emoji != nil && e.isRemoved(*d.Emoji) {
		return rejectf("the emoji :%s: does not pass", d.Emoji.Shortcode)
	}
	return nil
}

func (e emojis) describe(shown map[string]any) {
	shown["mrf_emoji"] = map[string]any{
		"remove_url": nonNil(e.settings.RemoveURL), "remove_shortcode": nonNil(e.settings.RemoveShortcode),
		"federated_timeline_removal_url":       nonNil(e.settings.FederatedTimelineRemovalURL),
		"federated_timeline_removal_shortcode": nonNil(e.settings.FederatedTimelineRemovalShortcode),
	}
}

// stealEmoji is StealEmojiPolicy: copies emoji of some hosts that are not known here.
type stealEmoji struct {
	config.MRFStealEmoji
	hosts    hostList
	rejected pattern.List
	copier   EmojiCopier
}

func newStealEmoji(c *config.Config, d Deps) any {
	s := stealEmoji{c.MRFStealEmoji, newHostList(nil), compileAll(c.MRFStealEmoji.RejectedShortcodes), d.Emoji}
	for _, h := range c.MRFStealEmoji.Hosts {
		s.hosts.add(h)
	}
	return s
}

func (s stealEmoji) post(ctx context.Context, p *Post) error {
	if p.Local || s.copier == nil || !s.hosts.has(p.Host) {
		return nil
	}
	for _, m := range p.Emoji {
		if text.ValidShortcode(m.Shortcode) && s.rejected.FirstMatch(m.Shortcode) == nil && !s.copier.Has(m.Shortcode) {
			s.copier.Copy(ctx, s.Pack, m, s.SizeLimit)
		}
	}
	return nil
}

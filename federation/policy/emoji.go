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
	settings                                       config.MRFEmoji
	removeURL, removeCode, unlistURL, unlistedCode pattern.List
}

func newEmoji(c *config.Config, _ Deps) any {
	s := c.MRFEmoji
	return emojis{
		s, compileAll(s.RemoveURL), compileAll(s.RemoveShortcode), compileAll(s.FederatedTimelineRemovalURL),
		compileAll(s.FederatedTimelineRemovalShortcode),
	}
}

func (e emojis) removes(m Emoji) bool {
	return e.removeURL.In(m.URL) != nil || e.removeCode.In(m.Shortcode) != nil
}

func (e emojis) post(_ context.Context, p *Post) error {
	return p.versions(func(v *Version) error {
		for _, m := range v.Emoji {
			if e.unlistURL.In(m.URL) != nil || e.unlistedCode.In(m.Shortcode) != nil {
				p.delist()
			}
		}
		v.Emoji = slices.DeleteFunc(slices.Clone(v.Emoji), e.removes)
		return nil
	})
}

func (e emojis) profile(_ context.Context, p *Profile) error {
	p.Emoji = slices.DeleteFunc(slices.Clone(p.Emoji), e.removes)
	return nil
}

func (e emojis) deed(_ context.Context, d *Deed) error {
	if d.Type != "Undo" && d.Emoji != nil && e.removes(*d.Emoji) {
		return refuse("the emoji :%s: does not pass", d.Emoji.Shortcode)
	}
	return nil
}

func (e emojis) describe(shown map[string]any) {
	shown["mrf_emoji"] = map[string]any{
		"remove_url": listed(e.settings.RemoveURL), "remove_shortcode": listed(e.settings.RemoveShortcode),
		"federated_timeline_removal_url":       listed(e.settings.FederatedTimelineRemovalURL),
		"federated_timeline_removal_shortcode": listed(e.settings.FederatedTimelineRemovalShortcode),
	}
}

// steal is StealEmojiPolicy: copies emoji of some hosts that are not known here.
type steal struct {
	config.MRFStealEmoji
	hosts    hostList
	rejected pattern.List
	into     EmojiShelf
}

func newSteal(c *config.Config, d Deps) any {
	s := steal{c.MRFStealEmoji, newHostList(nil), compileAll(c.MRFStealEmoji.RejectedShortcodes), d.Emoji}
	for _, h := range c.MRFStealEmoji.Hosts {
		s.hosts.add(h)
	}
	return s
}

func (s steal) post(ctx context.Context, p *Post) error {
	if p.Local || s.into == nil || !s.hosts.has(p.Host) {
		return nil
	}
	for _, m := range p.Emoji {
		if text.ValidShortcode(m.Shortcode) && s.rejected.In(m.Shortcode) == nil && !s.into.Has(m.Shortcode) {
			s.into.Copy(ctx, s.Pack, m, s.SizeLimit)
		}
	}
	return nil
}

package policy

import (
	"context"
	"slices"
	"time"

	"svc/internal/config"
	"svc/store"
)

// nonPublic is RejectNonPublic: it rejects posts that are not public or unlisted.
type nonPublic struct{ config.MRFRejectNonPublic }

func (n nonPublic) post(_ context.Context, p *Post) error {
	switch {
	case !p.isCreate() || p.Visibility.Unrestricted():
		return nil
	case p.Visibility == store.Private && !n.AllowFollowersOnly:
		return rejectf("posts for followers only are rejected")
	case p.Visibility > store.Private && !n.AllowDirect:
		return rejectf("direct posts are rejected")
	}
	return nil
}

func (n nonPublic) describe(public map[string]any) {
	public["mrf_rejectnonpublic"] = map[string]any{"allow_followersonly": n.AllowFollowersOnly, "allow_direct": n.AllowDirect}
}

// objectAge is ObjectAgePolicy: it rejects or delists old posts, or keeps them out of home timelines.
type objectAge struct {
	config.MRFObjectAge
	now func() time.Time
}

func (o objectAge) post(_ context.Context, p *Post) error {
	if !p.isCreate() || p.PublishedAt.IsZero() || o.now().Sub(p.PublishedAt) <= o.Threshold {
		return nil
	}
	if slices.Contains(o.Actions, config.AgeReject) {
		return rejectf("it is too old")
	}
	if slices.Contains(o.Actions, config.AgeDelist) {
		p.delist()
	}
	if slices.Contains(o.Actions, config.AgeStripFollowers) {
		p.stripFollowers()
	}
	return nil
}

func (o objectAge) describe(public map[string]any) {
	public["mrf_object_age"] = map[string]any{"threshold": seconds(o.Threshold), "actions": nonNil(o.Actions)}
}

// hellthread is HellthreadPolicy: it rejects or delists posts with many recipients.
type hellthread struct{ config.MRFHellthread }

func (h hellthread) post(_ context.Context, p *Post) error {
	n := len(p.Recipients)
	switch {
	case !p.isCreate() || !p.isNote():
	case h.RejectThreshold > 0 && n > h.RejectThreshold:
		return rejectf("it has %d recipients", n)
	case h.DelistThreshold > 0 && n > h.DelistThreshold:
		p.delist()
	}
	return nil
}

func (h hellthread) describe(public map[string]any) {
	public["mrf_hellthread"] = map[string]any{"delist_threshold": h.DelistThreshold, "reject_threshold": h.RejectThreshold}
}

// mentionedActors is MentionPolicy: it rejects posts to some actors.
type mentionedActors struct{ actors map[string]bool }

func newMentionedActors(c *config.Config, _ Deps) any {
	m := mentionedActors{make(map[string]bool)}
	for _, id := range c.MRFMention.Actors {
		m.actors[id] = true
	}
	return m
}

func (m mentionedActors) post(_ context.Context, p *Post) error {
	if !p.isCreate() {
		return nil
	}
	for _, r := range p.Recipients {
		if m.actors[r.ID] {
			return rejectf("posts to %s are rejected", r.ID)
		}
	}
	return nil
}

// botsUnlisted is ForceBotUnlistedPolicy: it makes posts by bots unlisted.
type botsUnlisted struct{}

func (botsUnlisted) post(_ context.Context, p *Post) error {
	if isBot(p.Author) {
		p.delist()
	}
	return nil
}

// quietReply is QuietReply: it makes public replies by local accounts unlisted.
type quietReply struct{}

func (quietReply) post(_ context.Context, p *Post) error {
	if p.Local && p.Parent != nil {
		p.delist()
	}
	return nil
}

// directReply is FODirectReply: it makes local replies to private posts direct, because the two authors have different followers.
type directReply struct{}

func (directReply) post(_ context.Context, p *Post) error {
	if p.Local && p.isCreate() && p.Parent != nil && p.Parent.Visibility == store.Private && p.Visibility < store.Direct {
		p.Visibility = store.Direct
	}
	return nil
}

// expiration is ActivityExpirationPolicy: local posts expire.
type expiration struct {
	after time.Duration
	now   func() time.Time
}

func newExpiration(c *config.Config, d Deps) any {
	return expiration{time.Duration(c.MRFActivityExpiration.Days) * 24 * time.Hour, d.Now}
}

func (e expiration) post(_ context.Context, p *Post) error {
	if !p.Local || !p.isCreate() || !p.isNote() {
		return nil
	}
	if at := e.now().Add(e.after); p.ExpiresAt.IsZero() || at.Before(p.ExpiresAt) {
		p.ExpiresAt = at
	}
	return nil
}

package policy

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"strings"

	"svc/internal/config"
	"svc/store"
)

// blocked is DNSRBLPolicy: refuses hosts that are in a block list. If that does not answer, they pass.
type blocked struct {
	config.MRFDNSRBL
	listed func(context.Context, string) (bool, error)
	log    *slog.Logger
}

func newBlockList(c *config.Config, d Deps) any { return blocked{c.MRFDNSRBL, d.Listed, d.Log} }

func (b blocked) check(ctx context.Context, local bool, host string) error {
	name, _, _ := strings.Cut(host, ":")
	if _, err := netip.ParseAddr(name); local || b.listed == nil || b.Zone == "" || name == "" || err == nil {
		return nil
	}
	listed, err := b.listed(ctx, name)
	if errors.As(err, new(notNow)) {
		return err
	}
	if err != nil {
		b.log.Warn("a DNS block list does not answer: hosts pass", "zone", b.Zone, "err", err)
		return nil
	}
	if listed {
		return refuse("the host %s is in the block list %s", name, b.Zone)
	}
	return nil
}

func (b blocked) post(ctx context.Context, p *Post) error {
	return b.check(ctx, p.Local, p.Host)
}

func (b blocked) profile(ctx context.Context, p *Profile) error {
	return b.check(ctx, false, p.Host)
}

func (b blocked) deed(ctx context.Context, d *Deed) error {
	if d.Type == "Delete" || d.Type == "Undo" { // who is listed since may take back what was taken before
		return nil
	}
	return b.check(ctx, d.Local, d.Host)
}

func (b blocked) describe(shown map[string]any) {
	shown["mrf_dnsrbl"] = map[string]any{"nameserver": b.Nameserver, "port": b.Port, "zone": b.Zone}
}

// pictures is NsfwApiPolicy: has a service look at pictures. If that does not answer, they pass.
type pictures struct {
	config.MRFNSFWAPI
	scores *memo[float64]
	log    *slog.Logger
}

func newPictures(c *config.Config, d Deps) any { return pictures{c.MRFNSFWAPI, d.scores, d.Log} }

func (s pictures) post(ctx context.Context, p *Post) error {
	ctx, cancel := context.WithTimeout(ctx, allScores)
	defer cancel()
	for _, a := range p.Attachments {
		if !a.hasImage() {
			continue
		}
		if shows, err := s.shows(ctx, p.Local, a.URL); err != nil {
			return err
		} else if !shows {
			continue
		}
		if s.Reject {
			return refuse("a picture shows what is not wanted")
		}
		if s.Unlist {
			p.delist()
		}
		if s.MarkSensitive {
			p.Sensitive = true
		}
	}
	return nil
}

// shows tells whether a picture has a score that something is done about. Those of people here have been judged before (Inspect):
// posts are published where nobody can be waited for.
func (s pictures) shows(ctx context.Context, local bool, address string) (bool, error) {
	score, known := s.scores.look(address)
	if !known {
		if local {
			return false, nil
		}
		var err error
		if score, err = s.scores.get(ctx, address); errors.As(err, new(notNow)) {
			return false, err
		}
		if err != nil {
			s.log.Warn("pictures could not be judged: they pass", "err", err)
			return false, nil
		}
	}
	return score >= s.Threshold, nil
}

func (s pictures) inspect(ctx context.Context, addresses []string) {
	ctx, cancel := context.WithTimeout(ctx, allScores)
	defer cancel()
	for _, address := range addresses {
		_, _ = s.shows(ctx, false, address) // what cannot be judged passes
	}
}

func (s pictures) describe(shown map[string]any) {
	shown["mrf_nsfw_api"] = map[string]any{
		"threshold": s.Threshold, "mark_sensitive": s.MarkSensitive, "unlist": s.Unlist, "reject": s.Reject,
	}
}

// Inspects tells whether pictures of people here are to be looked at before they are published, by Inspect.
func (c *Chain) Inspects() bool { return len(c.inspectors) > 0 }

// Inspect has pictures looked at that are about to be published. It may take its time; what comes out of it is remembered for Post.
func (c *Chain) Inspect(ctx context.Context, addresses []string) {
	for _, r := range c.inspectors {
		r.inspect(ctx, addresses)
	}
}

// warming is MediaProxyWarmingPolicy: has the media proxy fetch attachments before anybody asks for them.
type warming struct{ warm func(context.Context, string) }

func newWarming(_ *config.Config, d Deps) any { return warming{d.Warm} }

func (w warming) post(ctx context.Context, p *Post) error {
	if p.Local || w.warm == nil {
		return nil
	}
	return p.versions(func(v *Version) error {
		for _, a := range v.Attachments {
			w.warm(ctx, a.URL)
		}
		return nil
	})
}

// followBot is FollowBotPolicy: an account of this server follows everybody it hears of who does not mind.
type followBot struct {
	nickname string
	follow   func(context.Context, string, *store.Account)
}

func newFollowBot(c *config.Config, d Deps) any {
	return followBot{strings.TrimPrefix(c.MRFFollowBot.FollowerNickname, "@"), d.Follow}
}

func (f followBot) post(ctx context.Context, p *Post) error {
	if a := p.Author; f.nickname != "" && f.follow != nil && a != nil && !a.Local() && !a.Locked &&
		!strings.Contains(strings.ToLower(a.Note), "nobot") {
		f.follow(ctx, f.nickname, a)
	}
	return nil
}

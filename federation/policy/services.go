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

// dnsBlockList is DNSRBLPolicy: refuses hosts that are in a block list. If that does not answer, they pass.
type dnsBlockList struct {
	config.MRFDNSRBL
	listed func(context.Context, string) (bool, error)
	log    *slog.Logger
}

func newDNSBlockList(c *config.Config, d Deps) any {
	return dnsBlockList{c.MRFDNSRBL, d.DNSListed, d.Log}
}

func (b dnsBlockList) check(ctx context.Context, local bool, host string) error {
	name, _, _ := strings.Cut(host, ":")
	if _, err := netip.ParseAddr(name); local || b.listed == nil || b.Zone == "" || name == "" || err == nil {
		return nil
	}
	listed, err := b.listed(ctx, name)
	if errors.As(err, new(deferredError)) {
		return err
	}
	if err != nil {
		b.log.Warn("a DNS block list does not answer: hosts pass", "zone", b.Zone, "err", err)
		return nil
	}
	if listed {
		return rejectf("the host %s is in the block list %s", name, b.Zone)
	}
	return nil
}

func (b dnsBlockList) post(ctx context.Context, p *Post) error {
	return b.check(ctx, p.Local, p.Host)
}

func (b dnsBlockList) profile(ctx context.Context, p *Profile) error {
	return b.check(ctx, false, p.Host)
}

func (b dnsBlockList) activity(ctx context.Context, d *Activity) error {
	if d.Type == "Delete" || d.Type == "Undo" { // who is listed since may take back what was taken before
		return nil
	}
	return b.check(ctx, d.Local, d.Host)
}

func (b dnsBlockList) describe(shown map[string]any) {
	shown["mrf_dnsrbl"] = map[string]any{"nameserver": b.Nameserver, "port": b.Port, "zone": b.Zone}
}

// nsfwImages is NsfwApiPolicy: has a service look at pictures. If that does not answer, they pass.
type nsfwImages struct {
	config.MRFNSFWAPI
	scores *resultCache[float64]
	log    *slog.Logger
}

func newNSFWImages(c *config.Config, d Deps) any { return nsfwImages{c.MRFNSFWAPI, d.scores, d.Log} }

func (s nsfwImages) post(ctx context.Context, p *Post) error {
	ctx, cancel := context.WithTimeout(ctx, postScoreTimeout)
	defer cancel()
	for _, a := range p.Attachments {
		if !a.isImage() {
			continue
		}
		if shows, err := s.exceedsThreshold(ctx, p.Local, a.URL); err != nil {
			return err
		} else if !shows {
			continue
		}
		if s.Reject {
			return rejectf("a picture shows what is not wanted")
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

// exceedsThreshold tells whether a picture has a score that something is done about. Those of people here have been judged before (Inspect):
// posts are published where nobody can be waited for.
func (s nsfwImages) exceedsThreshold(ctx context.Context, local bool, address string) (bool, error) {
	score, known := s.scores.lookup(address)
	if !known {
		if local {
			return false, nil
		}
		var err error
		if score, err = s.scores.get(ctx, address); errors.As(err, new(deferredError)) {
			return false, err
		}
		if err != nil {
			s.log.Warn("pictures could not be judged: they pass", "err", err)
			return false, nil
		}
	}
	return score >= s.Threshold, nil
}

func (s nsfwImages) inspect(ctx context.Context, addresses []string) {
	ctx, cancel := context.WithTimeout(ctx, postScoreTimeout)
	defer cancel()
	for _, address := range addresses {
		_, _ = s.exceedsThreshold(ctx, false, address) // what cannot be judged passes
	}
}

func (s nsfwImages) describe(shown map[string]any) {
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

// proxyWarming is MediaProxyWarmingPolicy: has the media proxy fetch attachments before anybody asks for them.
type proxyWarming struct{ warm func(context.Context, string) }

func newProxyWarming(_ *config.Config, d Deps) any { return proxyWarming{d.WarmProxy} }

func (w proxyWarming) post(ctx context.Context, p *Post) error {
	if p.Local || w.warm == nil {
		return nil
	}
	return p.eachVersion(func(v *Version) error {
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

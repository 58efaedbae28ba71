package policy

import (
	"context"
	"net/url"
	"slices"

	"svc/internal/config"
	"svc/internal/text"
	"svc/store"
)

// simple is SimplePolicy: what is done with messages of hosts.
type simple struct {
	localHost  string
	settings   config.MRFSimple
	exclusions []config.HostReason

	accept, reject, mediaRemoval, mediaNSFW, timelineRemoval, followersOnly, reportRemoval, avatarRemoval, bannerRemoval, rejectDeletes hostList
}

func newSimple(c *config.Config, _ Deps) any {
	s := c.MRFSimple
	return &simple{
		localHost: c.Host(), settings: s, exclusions: c.MRF.TransparencyExclusions,
		accept: newHostList(s.Accept), reject: newHostList(s.Reject), mediaRemoval: newHostList(s.MediaRemoval),
		mediaNSFW: newHostList(s.MediaNSFW), timelineRemoval: newHostList(s.FederatedTimelineRemoval),
		followersOnly: newHostList(s.FollowersOnly), reportRemoval: newHostList(s.ReportRemoval),
		avatarRemoval: newHostList(s.AvatarRemoval), bannerRemoval: newHostList(s.BannerRemoval), rejectDeletes: newHostList(s.RejectDeletes),
	}
}

func (s *simple) host(host string) error {
	if host != s.localHost && !s.accept.empty() && !s.accept.has(host) {
		return rejectf("the host %s is not in the accept list", host)
	}
	if s.reject.has(host) {
		return rejectf("the host %s is in the reject list", host)
	}
	return nil
}

// checkActor is host for what somebody does: the host in their handle, by which people know them, may be another than that of their server.
func (s *simple) checkActor(host, domain string) error {
	if err := s.host(host); err != nil {
		return err
	}
	if s.reject.has(domain) {
		return rejectf("the host %s is in the reject list", domain)
	}
	return nil
}

// hasEither tells whether a list has the host of a server, or the one in the handle of its account.
func (l hostList) hasEither(host, domain string) bool {
	return l.has(host) || domain != host && l.has(domain)
}

// domainOf returns the host in the handle of an account, "" if that is not known, or of this server.
func domainOf(a *store.Account) string {
	if a == nil {
		return ""
	}
	return a.Domain
}

func (s *simple) post(_ context.Context, p *Post) error {
	domain := domainOf(p.Author)
	if err := s.checkActor(p.Host, domain); err != nil {
		return err
	}
	remove, sensitive := s.mediaRemoval.hasEither(p.Host, domain), s.mediaNSFW.hasEither(p.Host, domain)
	if remove || sensitive {
		_ = p.eachVersion(func(v *Version) error {
			if remove {
				v.Attachments = nil
			}
			v.Sensitive = v.Sensitive || sensitive
			return nil
		})
	}
	if s.timelineRemoval.hasEither(p.Host, domain) {
		p.delist()
	}
	if s.followersOnly.hasEither(p.Host, domain) {
		p.restrictToFollowers()
	}
	return nil
}

func (s *simple) profile(_ context.Context, p *Profile) error {
	if err := s.checkActor(p.Host, p.Domain); err != nil {
		return err
	}
	if s.avatarRemoval.hasEither(p.Host, p.Domain) {
		p.Avatar = ""
	}
	if s.bannerRemoval.hasEither(p.Host, p.Domain) {
		p.Banner = ""
	}
	return nil
}

func (s *simple) activity(_ context.Context, d *Activity) error {
	domain := domainOf(d.Actor)
	if d.Type == "Delete" { // which is in no other list: what is gone there should not stay here
		if s.rejectDeletes.hasEither(d.Host, domain) {
			return rejectf("deletions of the host %s are not obeyed", d.Host)
		}
		return nil
	}
	if err := s.checkActor(d.Host, domain); err != nil {
		return err
	}
	if d.Type == "Flag" {
		if s.reportRemoval.hasEither(d.Host, domain) {
			return rejectf("no reports are taken from the host %s", d.Host)
		}
		return nil
	}
	if d.Type != "Undo" { // what is taken back is not asked for
		for _, id := range d.ObjectIDs {
			if host := hostOf(id); host != "" {
				if err := s.host(host); err != nil {
					return err
				}
			}
		}
		if host := domainOf(d.Target); s.reject.has(host) {
			return rejectf("the host %s is in the reject list", host)
		}
	}
	if d.Type == "Announce" {
		if s.timelineRemoval.hasEither(d.Host, domain) && d.Visibility == store.Public {
			d.Visibility = store.Unlisted
		}
		if s.followersOnly.hasEither(d.Host, domain) && d.Visibility <= store.Unlisted {
			d.Visibility = store.Private
		}
	}
	return nil
}

// hostOf returns the host of an id in its one form, "" if it has none that could be in a list.
func hostOf(id string) string {
	u, err := url.Parse(id)
	if err != nil {
		return ""
	}
	host := text.NormalizeDomain(u.Host)
	for _, usual := range []string{":443", ":80"} {
		if n := len(host) - len(usual); n > 0 && host[n:] == usual {
			return host[:n]
		}
	}
	return host
}

func (s *simple) describe(shown map[string]any) {
	hosts, reasons := make(map[string][]string), make(map[string]map[string]hostReason)
	for _, l := range []struct {
		name    string
		entries []config.HostReason
	}{
		{"accept", s.settings.Accept}, {"reject", s.settings.Reject}, {"media_removal", s.settings.MediaRemoval},
		{"media_nsfw", s.settings.MediaNSFW}, {"federated_timeline_removal", s.settings.FederatedTimelineRemoval},
		{"followers_only", s.settings.FollowersOnly}, {"report_removal", s.settings.ReportRemoval},
		{"avatar_removal", s.settings.AvatarRemoval}, {"banner_removal", s.settings.BannerRemoval}, {"reject_deletes", s.settings.RejectDeletes},
	} {
		hosts[l.name] = publicHosts(l.entries, s.exclusions)
		if r := publicReasons(l.entries, s.exclusions); len(r) > 0 {
			reasons[l.name] = r
		}
	}
	shown["mrf_simple"], shown["mrf_simple_info"] = hosts, reasons
}

// allowList is UserAllowListPolicy: of some hosts, only some people are heard.
type allowList struct {
	hosts   []hostList
	entries []config.AllowedActors
}

func newAllowList(c *config.Config, _ Deps) any {
	var a allowList
	for _, e := range c.MRFUserAllowlist.Hosts {
		l := newHostList(nil)
		l.add(e.Host)
		a.hosts, a.entries = append(a.hosts, l), append(a.entries, e)
	}
	return a
}

func (a allowList) check(host, actor string) error {
	for i, l := range a.hosts {
		if l.has(host) && !slices.Contains(a.entries[i].Actors, actor) {
			return rejectf("%s is not among those of %s who are heard", actor, host)
		}
	}
	return nil
}

func (a allowList) post(_ context.Context, p *Post) error         { return a.check(p.Host, p.ActorID) }
func (a allowList) activity(_ context.Context, d *Activity) error { return a.check(d.Host, d.ActorID) }

func (a allowList) describe(shown map[string]any) {
	counts := make(map[string]int)
	for _, e := range a.entries {
		counts[e.Host] = len(e.Actors)
	}
	shown["mrf_user_allowlist"] = counts
}

// vocabulary is VocabularyPolicy: by the types of activities and objects.
type vocabulary struct{ config.MRFVocabulary }

func newVocabulary(c *config.Config, _ Deps) any { return vocabulary{c.MRFVocabulary} }

func (v vocabulary) check(types ...string) error {
	for _, t := range types {
		switch {
		case t == "":
		case len(v.Accept) > 0 && !slices.Contains(v.Accept, t):
			return rejectf("%s is not among the types that are taken", t)
		case slices.Contains(v.Reject, t):
			return rejectf("%s is a type that is not taken", t)
		}
	}
	return nil
}

func (v vocabulary) post(_ context.Context, p *Post) error {
	return v.check(p.ActivityType, p.ObjectType)
}

func (v vocabulary) activity(_ context.Context, d *Activity) error {
	if d.Type == "Undo" { // what matters is what is undone
		return v.check(d.InnerType)
	}
	return v.check(d.Type, d.InnerType)
}

func (v vocabulary) describe(shown map[string]any) {
	shown["mrf_vocabulary"] = map[string]any{"accept": nonNil(v.Accept), "reject": nonNil(v.Reject)}
}

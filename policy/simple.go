package policy

import (
	"context"
	"slices"

	"svc/internal/config"
	"svc/store"
)

// simple is SimplePolicy: lists of hosts, with an action on their messages each.
type simple struct {
	localHost  string
	settings   config.MRFSimple
	exclusions []config.HostReason
	acts       bool // a list has a host

	accept, reject, mediaRemoval, mediaNSFW, timelineRemoval, followersOnly, reportRemoval, avatarRemoval, bannerRemoval, rejectDeletes hostList
}

func newSimple(c *config.Config, _ Deps) any {
	s := c.MRFSimple
	return &simple{
		localHost: c.WebHost(), settings: s, exclusions: c.MRF.TransparencyExclusions,
		acts: slices.ContainsFunc([][]config.HostReason{s.Accept, s.Reject, s.MediaRemoval, s.MediaNSFW, s.FederatedTimelineRemoval, s.FollowersOnly,
			s.AvatarRemoval, s.BannerRemoval}, func(l []config.HostReason) bool { return len(l) > 0 }),
		accept: newHostList(s.Accept), reject: newHostList(s.Reject), mediaRemoval: newHostList(s.MediaRemoval),
		mediaNSFW: newHostList(s.MediaNSFW), timelineRemoval: newHostList(s.FederatedTimelineRemoval),
		followersOnly: newHostList(s.FollowersOnly), reportRemoval: newHostList(s.ReportRemoval),
		avatarRemoval: newHostList(s.AvatarRemoval), bannerRemoval: newHostList(s.BannerRemoval), rejectDeletes: newHostList(s.RejectDeletes),
	}
}

func (s *simple) host(host string) error {
	if host != s.localHost && !s.accept.empty() && !s.accept.has(host) {
		return rejectf("the host %s is not on the accept list", host)
	}
	if s.reject.has(host) {
		return rejectf("the host %s is on the reject list", host)
	}
	return nil
}

// checkActor is host for an actor, whose handle may have another domain than the host of its id.
func (s *simple) checkActor(host, domain string) error {
	if err := s.host(host); err != nil {
		return err
	}
	if s.reject.has(domain) {
		return rejectf("the host %s is on the reject list", domain)
	}
	return nil
}

func (s *simple) post(_ context.Context, p *Post) error {
	domain := domainOf(p.Author)
	if err := s.checkActor(p.Host, domain); err != nil {
		return err
	}
	if s.mediaRemoval.hasEither(p.Host, domain) {
		p.Attachments = nil
	}
	p.Sensitive = p.Sensitive || s.mediaNSFW.hasEither(p.Host, domain)
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

func (s *simple) activity(_ context.Context, a *Activity) error {
	domain := domainOf(a.Actor)
	if a.Type == "Delete" { // only rejectDeletes applies, because a deleted status should not stay
		if s.rejectDeletes.hasEither(a.Host, domain) {
			return rejectf("deletions by the host %s are rejected", a.Host)
		}
		return nil
	}
	if err := s.checkActor(a.Host, domain); err != nil {
		return err
	}
	if a.Type == "Flag" {
		if s.reportRemoval.hasEither(a.Host, domain) {
			return rejectf("reports by the host %s are rejected", a.Host)
		}
		return nil
	}
	if a.Type != "Undo" { // an Undo of an accepted activity passes
		for _, id := range a.ObjectIDs {
			if host := hostOf(id); host != "" {
				if err := s.host(host); err != nil {
					return err
				}
			}
		}
		if host := domainOf(a.Target); s.reject.has(host) {
			return rejectf("the host %s is on the reject list", host)
		}
	}
	if a.Type == "Announce" {
		if s.timelineRemoval.hasEither(a.Host, domain) && a.Visibility == store.Public {
			a.Visibility = store.Unlisted
		}
		if s.followersOnly.hasEither(a.Host, domain) && a.Visibility <= store.Unlisted {
			a.Visibility = store.Private
		}
	}
	return nil
}

func (s *simple) describe(public map[string]any) {
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
	public["mrf_simple"], public["mrf_simple_info"] = hosts, reasons
}

// allowList is UserAllowListPolicy: of some hosts, only some actors are accepted.
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

func (l allowList) check(host, actor string) error {
	for i, hosts := range l.hosts {
		if hosts.has(host) && !slices.Contains(l.entries[i].Actors, actor) {
			return rejectf("%s is not on the list of accepted actors of %s", actor, host)
		}
	}
	return nil
}

func (l allowList) post(_ context.Context, p *Post) error         { return l.check(p.Host, p.ActorID) }
func (l allowList) activity(_ context.Context, a *Activity) error { return l.check(a.Host, a.ActorID) }

func (l allowList) describe(public map[string]any) {
	counts := make(map[string]int)
	for _, e := range l.entries {
		counts[e.Host] = len(e.Actors)
	}
	public["mrf_user_allowlist"] = counts
}

// vocabulary is VocabularyPolicy: lists of accepted and rejected types of activities and objects.
type vocabulary struct{ config.MRFVocabulary }

func (v vocabulary) check(types ...string) error {
	for _, t := range types {
		switch {
		case t == "":
		case len(v.Accept) > 0 && !slices.Contains(v.Accept, t):
			return rejectf("the type %s is not on the accept list", t)
		case slices.Contains(v.Reject, t):
			return rejectf("the type %s is on the reject list", t)
		}
	}
	return nil
}

func (v vocabulary) post(_ context.Context, p *Post) error {
	return v.check(p.ActivityType, p.ObjectType)
}

func (v vocabulary) activity(_ context.Context, a *Activity) error {
	if a.Type == "Undo" { // the type of what it undoes decides
		return v.check(a.InnerType)
	}
	return v.check(a.Type, a.InnerType)
}

func (v vocabulary) describe(public map[string]any) {
	public["mrf_vocabulary"] = map[string]any{"accept": nonNil(v.Accept), "reject": nonNil(v.Reject)}
}

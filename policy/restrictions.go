package policy

import "svc/internal/config"

// Restrictions are what SimplePolicy does with the accounts and posts of a host, for those that are stored already.
type Restrictions struct {
	Reject        bool // they are hidden
	Unlist        bool // public posts are unlisted
	FollowersOnly bool // public and unlisted posts are followers-only
	RemoveMedia   bool
	Sensitive     bool
	RemoveAvatar  bool
	RemoveBanner  bool
}

// Restrictions returns the rules for an account of a handle's domain, and for its posts. id is the ActivityPub id of the account,
// whose host may be another.
func (c *Chain) Restrictions(domain, id string) Restrictions {
	s := c.now().simple
	if s == nil || domain == "" {
		return Restrictions{}
	}
	return s.restrictions(hostOf(id), domain)
}

// Restricts returns true if Restrictions differ between hosts.
func (c *Chain) Restricts() bool { return c.now().simple != nil && c.now().simple.acts }

func (s *simple) restrictions(host, domain string) Restrictions {
	if !s.acts {
		return Restrictions{}
	}
	if host == "" {
		host = domain
	}
	return Restrictions{
		Reject:        s.checkActor(host, domain) != nil,
		Unlist:        s.timelineRemoval.hasEither(host, domain),
		FollowersOnly: s.followersOnly.hasEither(host, domain),
		RemoveMedia:   s.mediaRemoval.hasEither(host, domain),
		Sensitive:     s.mediaNSFW.hasEither(host, domain),
		RemoveAvatar:  s.avatarRemoval.hasEither(host, domain),
		RemoveBanner:  s.bannerRemoval.hasEither(host, domain),
	}
}

// HostMatcher finds the entry of the settings that includes a host. Staff use it for a preview.
type HostMatcher struct{ list hostList }

// NewHostMatcher returns a matcher for entries as they are in the settings: "spam.example", "*.spam.example".
func NewHostMatcher(hosts ...string) HostMatcher {
	entries := make([]config.HostReason, len(hosts))
	for i, h := range hosts {
		entries[i].Host = h
	}
	return HostMatcher{newHostList(entries)}
}

// Match returns true if the entries include an account of a handle's domain, whose ActivityPub id may have another host.
func (m HostMatcher) Match(domain, id string) bool { return m.list.hasEither(hostOf(id), domain) }

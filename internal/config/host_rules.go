package config

import "slices"

// HostRule is a list of hosts in the settings, by the rule for them.
type HostRule string

// The rules. Those of SimplePolicy have the names of its settings.
const (
	RejectHost      HostRule = "reject"
	RemoveMedia     HostRule = "media_removal"
	MarkSensitive   HostRule = "media_nsfw"
	Unlist          HostRule = "federated_timeline_removal"
	FollowersOnly   HostRule = "followers_only"
	RejectReports   HostRule = "report_removal"
	RemoveAvatars   HostRule = "avatar_removal"
	RemoveBanners   HostRule = "banner_removal"
	RejectDeletes   HostRule = "reject_deletes"
	QuarantineHost  HostRule = "quarantine"     // federation.quarantined_instances
	RejectFetches   HostRule = "reject_fetches" // federation.rejected_instances
	AcceptOnlyHosts HostRule = "accept"
	HideHost        HostRule = "transparency_exclusions" // the other rules of SimplePolicy for it are not published
)

// HostRules are all rules that restrict a host. AcceptOnlyHosts and HideHost are none of them.
var HostRules = []HostRule{
	RejectHost, RejectFetches, QuarantineHost, Unlist, FollowersOnly, RemoveMedia, MarkSensitive, RejectReports, RejectDeletes, RemoveAvatars, RemoveBanners,
}

// Setting returns the names of the setting of a rule.
func (r HostRule) Setting() (group, key string) {
	switch r {
	case QuarantineHost:
		return "federation", "quarantined_instances"
	case RejectFetches:
		return "federation", "rejected_instances"
	case HideHost:
		return "mrf", "transparency_exclusions"
	}
	return "mrf_simple", string(r)
}

// HostList returns the hosts of a rule.
func (c *Config) HostList(r HostRule) []HostReason { return *c.hostList(r) }

// SetHostList replaces the hosts of a rule. The settings must be a copy of their own.
func (c *Config) SetHostList(r HostRule, list []HostReason) { *c.hostList(r) = slices.Clone(list) }

func (c *Config) hostList(r HostRule) *[]HostReason {
	simple := &c.MRFSimple
	return map[HostRule]*[]HostReason{
		RejectHost: &simple.Reject, RemoveMedia: &simple.MediaRemoval, MarkSensitive: &simple.MediaNSFW, Unlist: &simple.FederatedTimelineRemoval,
		FollowersOnly: &simple.FollowersOnly, RejectReports: &simple.ReportRemoval, RemoveAvatars: &simple.AvatarRemoval, RemoveBanners: &simple.BannerRemoval,
		RejectDeletes: &simple.RejectDeletes, AcceptOnlyHosts: &simple.Accept,
		QuarantineHost: &c.Federation.QuarantinedInstances, RejectFetches: &c.Federation.RejectedInstances,
		HideHost: &c.MRF.TransparencyExclusions,
	}[r]
}

package store

import (
	"fmt"

	"svc/internal/enum"
)

// FeaturePolicy is who may put a local account into a collection of accounts (FEP-7aa9).
type FeaturePolicy int

const (
	FeatureableByDefault FeaturePolicy = iota // by all if the account is discoverable, else by nobody
	FeatureableByAll
	FeatureableByFollowers
	FeatureableByNobody
)

var featurePolicyNames = []string{"default", "public", "followers", "nobody"}

// String returns the client API's name.
func (p FeaturePolicy) String() string {
	if p < 0 || int(p) >= len(featurePolicyNames) {
		return fmt.Sprintf("featurepolicy(%d)", int(p))
	}
	return featurePolicyNames[p]
}

// UnmarshalText reads the client API's name.
func (p *FeaturePolicy) UnmarshalText(b []byte) error {
	i, err := enum.Index(b, featurePolicyNames)
	if err == nil {
		*p = FeaturePolicy(i)
	}
	return err
}

// MayBeFeaturedBy returns the policy of a local account without the default.
func (a *Account) MayBeFeaturedBy() FeaturePolicy {
	switch {
	case a.FeaturePolicy != FeatureableByDefault:
		return a.FeaturePolicy
	case a.Discoverable:
		return FeatureableByAll
	}
	return FeatureableByNobody
}

// FeatureApproval is who may put a remote account into a collection, as its actor says, in bits.
type FeatureApproval int

const (
	FeatureApprovalKnown FeatureApproval = 1 << iota // the actor says something about it
	AutomaticForAll                                  // approved automatically
	AutomaticForFollowers
	AutomaticForFollowed
	AutomaticForOthers // which this server does not tell apart
	ManualForAll       // after the account was asked
	ManualForFollowers
	ManualForFollowed
	ManualForOthers
)

// FeatureGroup is the accounts for which a policy says something.
type FeatureGroup struct {
	Name              string // in the client API
	Automatic, Manual FeatureApproval
}

// Groups of accounts that policies name.
var (
	AllFeaturers      = FeatureGroup{"public", AutomaticForAll, ManualForAll}
	FollowerFeaturers = FeatureGroup{"followers", AutomaticForFollowers, ManualForFollowers}
	FollowedFeaturers = FeatureGroup{"following", AutomaticForFollowed, ManualForFollowed}
	OtherFeaturers    = FeatureGroup{"unsupported_policy", AutomaticForOthers, ManualForOthers}

	FeatureGroups = []FeatureGroup{AllFeaturers, FollowerFeaturers, FollowedFeaturers, OtherFeaturers}
)

// ApprovalOf returns the policy of a local or remote account.
func (a *Account) ApprovalOf() FeatureApproval {
	if !a.Local() {
		return a.FeatureApproval
	}
	switch a.MayBeFeaturedBy() {
	case FeatureableByAll:
		return FeatureApprovalKnown | AutomaticForAll
	case FeatureableByFollowers:
		return FeatureApprovalKnown | AutomaticForFollowers
	}
	return FeatureApprovalKnown
}

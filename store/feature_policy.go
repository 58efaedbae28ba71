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

package entity

import "svc/store"

// FeatureApproval is who may put an account into a collection.
type FeatureApproval struct {
	Automatic   []string `json:"automatic"`
	Manual      []string `json:"manual"`
	CurrentUser string   `json:"current_user"`
}

// appendFeatureApproval appends who may put the account into a collection. Whether a policy for followers includes the viewer is known only if the
// relationship was requested.
func (a Account) appendFeatureApproval(dst []byte) []byte {
	p := FeatureApproval{Automatic: []string{}, Manual: []string{}, CurrentUser: a.currentApproval()}
	for _, g := range store.FeatureGroups {
		if a.approval&g.Automatic != 0 {
			p.Automatic = append(p.Automatic, g.Name)
		}
		if a.approval&g.Manual != 0 {
			p.Manual = append(p.Manual, g.Name)
		}
	}
	return appendValue(dst, p)
}

// currentApproval returns what the policy says to the viewer.
func (a Account) currentApproval() string {
	follows, followed := a.relationship != nil && a.relationship.Following, a.relationship != nil && a.relationship.FollowedBy
	includes := func(all, followers, following store.FeatureApproval) bool {
		return a.approval&all != 0 || follows && a.approval&followers != 0 || followed && a.approval&following != 0
	}
	switch {
	case a.approval == 0:
		return "missing"
	case includes(store.AutomaticForAll, store.AutomaticForFollowers, store.AutomaticForFollowed):
		return "automatic"
	case includes(store.ManualForAll, store.ManualForFollowers, store.ManualForFollowed):
		return "manual"
	case a.approval&(store.AutomaticForOthers|store.ManualForOthers) != 0, a.relationship == nil && a.approval != store.FeatureApprovalKnown:
		return "unknown"
	}
	return "denied"
}

package remote

import (
	"strings"

	"svc/internal/activity"
	"svc/store"
)

// interactionRules are the members of an interaction policy that are read.
var interactionRules = map[string]store.Interaction{"canLike": store.Favouriting, "canReply": store.Replying, "canAnnounce": store.Reblogging}

// readPolicies reads who may quote a status (FEP-044f) and interact with it (GoToSocial). A rule that is absent or empty allows it to
// everybody.
func (n *Note) readPolicies(r *Reader, o activity.Object) {
	policy := o.Object("interactionPolicy")
	for key, interaction := range interactionRules {
		automatic, manual, ok := n.readRule(r, policy.Object(key))
		if ok && automatic&store.AnyInteractor == 0 {
			n.InteractionPolicy = n.InteractionPolicy.With(interaction, automatic, manual)
		}
	}
	automatic, manual, ok := n.readRule(r, policy.Object("canQuote"))
	switch groups := automatic | manual; {
	case !ok, groups&store.AnyInteractor != 0:
	case groups&store.FollowerInteractor != 0:
		n.QuotePolicy = store.QuotableByFollowers
	default:
		n.QuotePolicy = store.QuotableByNobody
	}
}

// readRule reads a rule of a policy; ok is false if there is none. Versions of GoToSocial before 0.20 have other names for the lists.
func (n *Note) readRule(r *Reader, rule activity.Object) (automatic, manual store.Interactors, ok bool) {
	if len(rule) == 0 {
		return 0, 0, false
	}
	automatic, some := n.readInteractors(r, rule, "automaticApproval", "always")
	manual, others := n.readInteractors(r, rule, "manualApproval", "approvalRequired")
	if some || others {
		manual |= store.AnyInteractor
	}
	return automatic, manual, true
}

// readInteractors reads groups of accounts. named is true if local accounts are named one by one: any local account may then ask for
// approval, which the server of the author grants to the right ones.
func (n *Note) readInteractors(r *Reader, rule activity.Object, keys ...string) (groups store.Interactors, named bool) {
	const maxInteractors = 100
	for _, key := range keys {
		for _, id := range rule.Refs(key, maxInteractors) {
			switch {
			case activity.IsPublic(id):
				groups |= store.AnyInteractor
			case n.isFollowers(id):
				groups |= store.FollowerInteractor
			case strings.HasSuffix(id, "/following") && activity.SameHost(id, n.AuthorURI, r.Settings.AllowLoopback):
				groups |= store.FollowedInteractor
			case strings.HasPrefix(id, r.Settings.BaseURL+"/"):
				named = true
			}
		}
	}
	return groups, named
}

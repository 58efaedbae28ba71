package store

import (
	"context"

	"svc/internal/enum"
)

// Interaction is a way to interact with a status.
type Interaction int

// The interactions that a policy is about.
const (
	Favouriting Interaction = iota
	Replying
	Reblogging
	Quoting
)

// Interactors is a set of groups of accounts.
type Interactors int

// Groups of accounts, seen from the author of a status.
const (
	AnyInteractor      Interactors = 1 << iota // everybody who sees it
	FollowerInteractor                         // the author's followers
	FollowedInteractor                         // accounts that the author follows
	MentionedInteractor
)

// InteractionPolicy says who besides its author may interact with a status: at once, or once the author has approved it. 0 allows
// everything. It holds nine bits for each interaction: whether the policy is about it, and both sets of accounts.
type InteractionPolicy int64

const (
	interactorBits  = 4
	allInteractors  = 1<<interactorBits - 1
	interactionBits = 1 + 2*interactorBits
)

// With returns the policy with a rule for an interaction.
func (p InteractionPolicy) With(i Interaction, automatic, manual Interactors) InteractionPolicy {
	shift := int(i) * interactionBits
	rule := 1 | InteractionPolicy(automatic)<<1 | InteractionPolicy(manual)<<(1+interactorBits)
	return p&^((1<<interactionBits-1)<<shift) | rule<<shift
}

// Rule returns who may interact at once, and after approval. ok is false if the policy has no rule, which allows it to everybody.
func (p InteractionPolicy) Rule(i Interaction) (automatic, manual Interactors, ok bool) {
	rule := p >> (int(i) * interactionBits)
	return Interactors(rule>>1) & allInteractors, Interactors(rule>>(1+interactorBits)) & allInteractors, rule&1 != 0
}

// InteractionPolicies are the policies of an account's new statuses, by their visibility. An absent one is 0.
type InteractionPolicies map[Visibility]InteractionPolicy

// For returns the policy of a new status. Local ones have that of public ones.
func (p InteractionPolicies) For(v Visibility) InteractionPolicy {
	if v == Local {
		v = Public
	}
	return p[v]
}

// SetInteractionPolicy stores the policy of a status.
func (tx *Tx) SetInteractionPolicy(ctx context.Context, id StatusID, p InteractionPolicy) error {
	tx.invalidateStatus(id)
	return tx.exec(ctx, "set interaction policy", `UPDATE statuses SET interaction_policy = ? WHERE id = ?`, p, id)
}

// Approve gives a pending reply or boost the visibility that it was posted with.
func (tx *Tx) Approve(ctx context.Context, s *Status) error {
	v := *s.PendingVisibility
	s.PendingVisibility = nil
	if err := tx.exec(ctx, "approve status", `UPDATE statuses SET pending_visibility = NULL WHERE id = ?`, s.ID); err != nil {
		return err
	}
	return tx.SetVisibility(ctx, s, v)
}

// InteractorNames are the client API's names of the groups.
var InteractorNames = []struct {
	Group Interactors
	Name  string
}{{AnyInteractor, "public"}, {FollowerInteractor, "followers"}, {FollowedInteractor, "following"}, {MentionedInteractor, "mentioned"}}

// UnmarshalText reads the name of one group. The author, who may always interact, is an empty one.
func (s *Interactors) UnmarshalText(b []byte) error {
	names := make([]string, 0, len(InteractorNames)+2)
	for _, g := range InteractorNames {
		names = append(names, g.Name)
	}
	i, err := enum.Index(b, append(names, "author", "me"))
	if err != nil {
		return err
	}
	if *s = 0; i < len(InteractorNames) {
		*s = InteractorNames[i].Group
	}
	return nil
}

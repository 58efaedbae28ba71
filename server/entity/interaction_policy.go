package entity

import "svc/store"

// InteractionPolicy is who may interact with a status.
type InteractionPolicy struct {
	CanFavourite interactionRule `json:"can_favourite"`
	CanReply     interactionRule `json:"can_reply"`
	CanReblog    interactionRule `json:"can_reblog"`
}

// interactionRule has the groups that may interact at once, and those that need the author's approval.
type interactionRule struct {
	Automatic []string `json:"automatic_approval"`
	Manual    []string `json:"manual_approval"`
}

// InteractionPolicies are the policies of an account's new statuses.
type InteractionPolicies struct {
	Public   InteractionPolicy `json:"public"`
	Unlisted InteractionPolicy `json:"unlisted"`
	Private  InteractionPolicy `json:"private"`
	Direct   InteractionPolicy `json:"direct"`
}

// NewInteractionPolicies renders the policies of an account.
func NewInteractionPolicies(p store.InteractionPolicies) InteractionPolicies {
	of := func(v store.Visibility) InteractionPolicy { return newInteractionPolicy(p[v], v) }
	return InteractionPolicies{Public: of(store.Public), Unlisted: of(store.Unlisted), Private: of(store.Private), Direct: of(store.Direct)}
}

// statusInteractionPolicy returns the policy of a status, nil if it allows everything: that is so for most, and each would be longer by it.
func statusInteractionPolicy(row *store.Status) *InteractionPolicy {
	if row.InteractionPolicy == 0 {
		return nil
	}
	return new(newInteractionPolicy(row.InteractionPolicy, shownVisibility(row)))
}

// newInteractionPolicy renders the policy of a status with a visibility.
func newInteractionPolicy(p store.InteractionPolicy, v store.Visibility) InteractionPolicy {
	rule := func(i store.Interaction) interactionRule {
		automatic, manual, ok := p.Rule(i)
		switch {
		case i == store.Reblogging && v > store.Local: // nobody else may boost it
			return interactionRule{[]string{"author"}, []string{}}
		case !ok:
			return interactionRule{audienceNames(v), []string{}}
		}
		return interactionRule{append([]string{"author"}, interactorNames(automatic)...), interactorNames(manual)}
	}
	return InteractionPolicy{rule(store.Favouriting), rule(store.Replying), rule(store.Reblogging)}
}

// audienceNames returns the groups that see a status with a visibility.
func audienceNames(v store.Visibility) []string {
	switch v {
	case store.Private:
		return []string{"author", "followers", "mentioned"}
	case store.Direct, store.ListOnly:
		return []string{"author", "mentioned"}
	}
	return []string{"public"}
}

func interactorNames(groups store.Interactors) []string {
	names := []string{}
	for _, g := range store.InteractorNames {
		if groups&g.Group != 0 {
			names = append(names, g.Name)
		}
	}
	return names
}

package server

import (
	"slices"

	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// suggestions serves accounts that the viewer may want to follow.
type suggestions struct{ *parts }

func (h *suggestions) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/suggestions":                {rest.Anyone.Answers("[]null"), rest.Always([]any{})}, // as the spec says
		"GET /api/v2/suggestions":                {rest.AnyoneWith("read").Answers("[]Suggestion"), h.listSuggestions},
		"DELETE /api/v1/suggestions/:account_id": {rest.User("read").Answers("empty"), rest.Always(nil)}, // they cannot be dismissed
	}
}

// suggestion is an account and why it is suggested.
type suggestion struct {
	Source  string         `json:"source"` // as before 4.3: staff, global
	Sources []string       `json:"sources"`
	Account entity.Account `json:"account"`
}

// maxSuggestions bounds the suggested accounts that are read, of each source.
const maxSuggestions = 80

// listSuggestions lists the accounts that staff suggest, and those that followed accounts follow. It leaves out the viewer, and accounts that the
// viewer follows, blocks or mutes.
func (h *suggestions) listSuggestions(r *rest.Request) (any, error) {
	list := []suggestion{}
	if r.Viewer == nil {
		return list, nil
	}
	featured, err := h.DB.SuggestedAccounts(r.Context(), maxSuggestions)
	if err != nil {
		return nil, err
	}
	ofFriends, err := h.DB.FriendsOfFriends(r.Context(), r.Viewer.ID, maxSuggestions)
	if err != nil {
		return nil, err
	}
	wanted, err := h.wanted(r, append(slices.Clone(featured), ofFriends...))
	if err != nil || len(wanted) == 0 {
		return list, err
	}
	wanted = wanted[:min(len(wanted), r.Page(40, maxSuggestions).Limit)]
	show := func(ids []store.AccountID) (entity.List[entity.Account], error) {
		return h.Entities.Accounts(r.Context(), ids)
	}
	accounts, _, err := rest.Fit(r, wanted, false, show)
	for _, a := range accounts {
		s := suggestion{Source: "global", Account: a}
		if slices.Contains(featured, a.ID()) {
			s.Source, s.Sources = "staff", append(s.Sources, "featured")
		}
		if slices.Contains(ofFriends, a.ID()) {
			s.Sources = append(s.Sources, "friends_of_friends")
		}
		list = append(list, s)
	}
	return list, err
}

// wanted returns those of the accounts, each once, to which the viewer has no relationship.
func (h *suggestions) wanted(r *rest.Request, ids []store.AccountID) ([]store.AccountID, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	relationships, err := h.Entities.Relationships(r.Context(), r.Viewer, ids)
	if err != nil {
		return nil, err
	}
	var wanted []store.AccountID
	for _, rel := range relationships {
		if rel.ID != r.Viewer.ID && !rel.Following && !rel.Requested && !rel.Blocking && !rel.BlockedBy && !rel.Muting && !rel.DomainBlocking &&
			!slices.Contains(wanted, rel.ID) {
			wanted = append(wanted, rel.ID)
		}
	}
	return wanted, nil
}

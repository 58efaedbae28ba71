package server

import (
	"slices"

	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// endorsementRoutes are endorsements and familiar followers. The list of the viewer's own endorsements is always empty (spec 4.6); the
// extension's path has those of any account.
func (h *accounts) endorsementRoutes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/accounts/:id/pin":             {rest.User("write:accounts"), h.render.accountAction(h.social.Endorse)},
		"POST /api/v1/accounts/:id/unpin":           {rest.User("write:accounts"), h.render.accountAction(h.social.Unendorse)},
		"GET /api/v1/svc/accounts/:id/endorsements": {rest.Content("read:accounts"), h.endorsements},
		"GET /api/v1/accounts/familiar_followers":   {rest.User("read:follows"), h.familiarFollowers},
		"DELETE /api/v1/suggestions/:account_id":    {rest.User("read"), rest.Always(nil)}, // there are no suggestions
	}
}

// endorsements lists the accounts that an account endorses.
func (h *accounts) endorsements(r *rest.Request) (any, error) {
	a, err := h.lookup.visibleAccount(r, accountParam(r))
	if err != nil {
		return nil, err
	}
	ids, err := h.db.Endorsements(r.Context(), a.ID, social.MaxEndorsements)
	if err != nil {
		return nil, err
	}
	return h.entities.Accounts(r.Context(), ids)
}

const (
	maxFamiliarAccounts  = 40 // accounts that one request asks about
	maxFamiliarFollowers = 40 // followers of each
)

// familiarFollowers returns the followers of each requested account that the viewer follows.
func (h *accounts) familiarFollowers(r *rest.Request) (any, error) {
	var p struct {
		IDs []store.AccountID `param:"id"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	ids := slices.DeleteFunc(p.IDs, func(id store.AccountID) bool { return id == 0 }) // invalid ids
	ids = ids[:min(len(ids), maxFamiliarAccounts)]
	familiar, err := h.db.FamiliarFollowers(r.Context(), r.Viewer.ID, ids, maxFamiliarFollowers)
	if err != nil {
		return nil, err
	}
	return h.entities.FamiliarFollowers(r.Context(), ids, familiar)
}

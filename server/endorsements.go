package server

import (
	"slices"

	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// endorsementRoutes are about whom people recommend, and whom they know among the followers of others. The list of one's own
// endorsements is always empty, as the spec (4.6) wants it; everybody's are at the extension's path.
func (h *accounts) endorsementRoutes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/accounts/:id/pin":             {rest.User("write:accounts"), h.endorse},
		"POST /api/v1/accounts/:id/unpin":           {rest.User("write:accounts"), h.unendorse},
		"GET /api/v1/svc/accounts/:id/endorsements": {rest.Content("read:accounts"), h.endorsements},
		"GET /api/v1/accounts/familiar_followers":   {rest.User("read:follows"), h.familiarFollowers},
		"DELETE /api/v1/suggestions/:account_id":    {rest.User("read"), rest.Always(nil)}, // nobody is suggested
	}
}

// endorse has the viewer recommend an account.
func (h *accounts) endorse(r *rest.Request) (any, error) {
	return h.render.relationshipAfter(r, h.social.Endorse(r.Context(), r.Viewer, accountParam(r)))
}

// unendorse ends that.
func (h *accounts) unendorse(r *rest.Request) (any, error) {
	return h.render.relationshipAfter(r, h.social.Unendorse(r.Context(), r.Viewer, accountParam(r)))
}

// endorsements returns whom an account recommends.
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

// familiarFollowers returns, for each account asked about, who of those whom the viewer follows follows it too.
func (h *accounts) familiarFollowers(r *rest.Request) (any, error) {
	var p struct {
		IDs []store.AccountID `param:"id"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	ids := slices.DeleteFunc(p.IDs, func(id store.AccountID) bool { return id == 0 }) // what is no id
	ids = ids[:min(len(ids), maxFamiliarAccounts)]
	familiar, err := h.db.FamiliarFollowers(r.Context(), r.Viewer.ID, ids, maxFamiliarFollowers)
	if err != nil {
		return nil, err
	}
	return h.entities.FamiliarFollowers(r.Context(), ids, familiar)
}

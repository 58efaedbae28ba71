package server

import (
	"slices"

	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// endorsementRoutes are about whom people recommend, and whom they know among the followers of others. The list of one's own
// endorsements is always empty, as the spec (4.6) wants it; everybody's are at the extension's path.
func (s *Server) endorsementRoutes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/accounts/:id/pin":             {rest.User("write:accounts"), s.endorse},
		"POST /api/v1/accounts/:id/unpin":           {rest.User("write:accounts"), s.unendorse},
		"GET /api/v1/svc/accounts/:id/endorsements": {rest.Content("read:accounts"), s.endorsements},
		"GET /api/v1/accounts/familiar_followers":   {rest.User("read:follows"), s.familiarFollowers},
		"DELETE /api/v1/suggestions/:account_id":    {rest.User("read"), rest.Always(nil)}, // nobody is suggested
	}
}

// endorse has the viewer recommend an account.
func (s *Server) endorse(r *rest.Request) (any, error) {
	return s.relationshipAfter(r, s.social.Endorse(r.Context(), r.Viewer, accountParam(r)))
}

// unendorse ends that.
func (s *Server) unendorse(r *rest.Request) (any, error) {
	return s.relationshipAfter(r, s.social.Unendorse(r.Context(), r.Viewer, accountParam(r)))
}

// endorsements returns whom an account recommends.
func (s *Server) endorsements(r *rest.Request) (any, error) {
	a, err := s.visibleAccount(r, accountParam(r))
	if err != nil {
		return nil, err
	}
	ids, err := s.db.Endorsements(r.Context(), a.ID, social.MaxEndorsements)
	if err != nil {
		return nil, err
	}
	return s.entities.Accounts(r.Context(), ids)
}

const (
	maxFamiliarAccounts  = 40 // accounts that one request asks about
	maxFamiliarFollowers = 40 // followers of each
)

// familiarFollowers returns, for each account asked about, who of those whom the viewer follows follows it too.
func (s *Server) familiarFollowers(r *rest.Request) (any, error) {
	var p struct {
		IDs []store.AccountID `param:"id"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	ids := slices.DeleteFunc(p.IDs, func(id store.AccountID) bool { return id == 0 }) // what is no id
	ids = ids[:min(len(ids), maxFamiliarAccounts)]
	familiar, err := s.db.FamiliarFollowers(r.Context(), r.Viewer.ID, ids, maxFamiliarFollowers)
	if err != nil {
		return nil, err
	}
	return s.entities.FamiliarFollowers(r.Context(), ids, familiar)
}

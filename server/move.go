package server

import (
	"errors"
	"slices"

	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// moveRoutes are about having several accounts, and leaving one for another.
func (s *Server) moveRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/aliases":       {rest.User("read:accounts"), s.listAliases},
		"PUT /api/v1/svc/aliases":       {rest.User("write:accounts"), s.addAlias},
		"DELETE /api/v1/svc/aliases":    {rest.User("write:accounts"), s.removeAlias},
		"POST /api/v1/svc/move_account": {rest.User("write:accounts"), s.moveAccount},
	}
}

// listAliases returns the handles of the viewer's other accounts; of those that are not known here, the ActivityPub ids.
func (s *Server) listAliases(r *rest.Request) (any, error) {
	aliases, err := s.aliases(r)
	return map[string][]string{"aliases": aliases}, err
}

// aliases returns what the viewer's other accounts are called, in the order of their ActivityPub ids in the viewer's account.
func (s *Server) aliases(r *rest.Request) ([]string, error) {
	uris := r.Viewer.AlsoKnownAs.V
	known, err := s.db.AccountsByURI(r.Context(), uris)
	if err != nil {
		return nil, err
	}
	aliases := make([]string, 0, len(uris))
	for _, uri := range uris {
		name := uri
		if a := known[uri]; a != nil {
			name = s.fullHandle(a)
		}
		aliases = append(aliases, name)
	}
	return aliases, nil
}

// fullHandle returns the whole handle of an account, with the domain also of those here.
func (s *Server) fullHandle(a *store.Account) string {
	if a.Local() {
		return a.Nickname + "@" + s.settings.Host()
	}
	return a.Acct()
}

// addAlias notes that the account of a handle is the viewer's too.
func (s *Server) addAlias(r *rest.Request) (any, error) {
	var p struct {
		Alias string `param:"alias,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	a, err := s.resolveAccount(r, p.Alias)
	if err == nil {
		err = s.social.AddAlias(r.Context(), r.Viewer, a.ID)
	}
	if errs.IsNotFound(err) {
		err = errs.NotFound("Target account does not exist.")
	}
	return entity.Success, err
}

// removeAlias takes that back. An alias is named by its handle, however it is written, or as it is listed: the account may be gone.
func (s *Server) removeAlias(r *rest.Request) (any, error) {
	var p struct {
		Alias string `param:"alias,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	uri := p.Alias
	a, err := s.accountByHandle(r, p.Alias)
	switch {
	case err == nil:
		uri = a.URI
	case !errs.IsNotFound(err):
		return nil, err
	default:
		listed, err := s.aliases(r)
		if err != nil {
			return nil, err
		}
		if i := slices.Index(listed, p.Alias); i >= 0 {
			uri = r.Viewer.AlsoKnownAs.V[i]
		}
	}
	if err := s.social.RemoveAlias(r.Context(), r.Viewer, uri); err != nil {
		if errs.IsNotFound(err) {
			err = errs.NotFound("Account has no such alias.")
		}
		return nil, err
	}
	return entity.Success, nil
}

// moveAccount leads the viewer's followers to another account.
func (s *Server) moveAccount(r *rest.Request) (any, error) {
	var p struct {
		Password string `param:"password"`
		Target   string `param:"target_account"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	ok, err := s.oauth.CheckPassword(r, p.Password)
	if err != nil {
		return nil, err
	}
	if !ok {
		return entity.Failure("Invalid password."), nil
	}
	a, err := s.resolveAccount(r, p.Target)
	if err == nil && s.federates() { // that it has become an alias was told to nobody here, unless somebody follows it
		err = s.federation.Actors.RefreshAccount(r.Context(), a)
	}
	if err == nil {
		err = s.social.Move(r.Context(), r.Viewer.ID, a.ID)
	}
	switch {
	case errors.Is(err, social.ErrNotAlias):
		return entity.Failure(social.ErrNotAlias.Message), nil
	case errs.IsNotFound(err):
		return nil, errs.NotFound("Target account not found.")
	}
	return entity.Success, err
}

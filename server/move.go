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

// aliases serves the other accounts of a user, and the move to one of them.
type aliases struct{ *parts }

func (h *aliases) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/aliases":       {rest.User("read:accounts").Answers("object"), h.listAliases},
		"PUT /api/v1/svc/aliases":       {rest.User("write:accounts").Answers("Done"), h.addAlias},
		"DELETE /api/v1/svc/aliases":    {rest.User("write:accounts").Answers("Done"), h.removeAlias},
		"POST /api/v1/svc/move_account": {rest.User("write:accounts").Answers("Done|Error"), h.moveAccount},
	}
}

// listAliases lists the viewer's aliases: handles, and the ActivityPub ids of unknown accounts.
func (h *aliases) listAliases(r *rest.Request) (any, error) {
	aliases, err := h.aliases(r)
	return map[string][]string{"aliases": aliases}, err
}

// aliases returns the viewer's aliases in the order of also_known_as.
func (h *aliases) aliases(r *rest.Request) ([]string, error) {
	uris := r.Viewer.AlsoKnownAs.V
	known, err := h.DB.AccountsByURI(r.Context(), uris)
	if err != nil {
		return nil, err
	}
	aliases := make([]string, 0, len(uris))
	for _, uri := range uris {
		name := uri
		if a := known[uri]; a != nil {
			name = h.fullHandle(a)
		}
		aliases = append(aliases, name)
	}
	return aliases, nil
}

// fullHandle returns the handle of an account with its domain, also for local accounts.
func (h *aliases) fullHandle(a *store.Account) string {
	if a.Local() {
		return a.Nickname + "@" + h.Settings.Host
	}
	return a.Acct()
}

// addAlias adds the account of a handle to the viewer's aliases.
func (h *aliases) addAlias(r *rest.Request) (any, error) {
	var p struct {
		Alias string `param:"alias,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	a, err := h.lookup.resolveAccount(r, p.Alias)
	if err == nil {
		err = h.Social.AddAlias(r.Context(), r.Viewer, a.ID)
	}
	if errs.IsNotFound(err) {
		err = errs.NotFound("Target account does not exist.")
	}
	return entity.Success, err
}

// removeAlias removes an alias, named by its handle or as listed, because the account may be unknown.
func (h *aliases) removeAlias(r *rest.Request) (any, error) {
	var p struct {
		Alias string `param:"alias,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	uri := p.Alias
	a, err := h.lookup.accountByHandle(r, p.Alias)
	switch {
	case err == nil:
		uri = a.URI
	case !errs.IsNotFound(err):
		return nil, err
	default:
		listed, err := h.aliases(r)
		if err != nil {
			return nil, err
		}
		if i := slices.Index(listed, p.Alias); i >= 0 {
			uri = r.Viewer.AlsoKnownAs.V[i]
		}
	}
	err = h.Social.RemoveAlias(r.Context(), r.Viewer, uri)
	if errs.IsNotFound(err) {
		err = errs.NotFound("Account has no such alias.")
	}
	return entity.Success, err
}

// moveAccount moves the viewer's followers to another account.
func (h *aliases) moveAccount(r *rest.Request) (any, error) {
	var p struct {
		Password string `param:"password"`
		Target   string `param:"target_account"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	ok, err := h.oauth.CheckPassword(r, p.Password)
	if err != nil {
		return nil, err
	}
	if !ok {
		return entity.Failure("Invalid password."), nil
	}
	a, err := h.lookup.resolveAccount(r, p.Target)
	if err == nil && h.lookup.federates() { // this server may not have received the new alias
		err = h.Federation.Actors.RefreshAccount(r.Context(), a)
	}
	if err == nil {
		err = h.Social.Move(r.Context(), r.Viewer.ID, a.ID)
	}
	switch {
	case errors.Is(err, social.ErrNotAlias):
		return entity.Failure(social.ErrNotAlias.Message), nil
	case errs.IsNotFound(err):
		return nil, errs.NotFound("Target account not found.")
	}
	return entity.Success, err
}

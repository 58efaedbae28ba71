package server

import (
	"svc/internal/errs"
	"svc/internal/text"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// accountRoutes are what one can learn of accounts.
func (s *Server) accountRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/accounts/:id":                 {rest.Content("read:accounts"), s.showAccount},
		"GET /api/v1/accounts/lookup":              {rest.Content("read:accounts"), s.lookUpAccount},
		"GET /api/v1/accounts/search":              {rest.Content("read:accounts").Limit("search"), s.searchAccounts},
		"GET /api/v1/accounts/relationships":       {rest.User("read:follows"), s.relationships},
		"GET /api/v1/accounts/:id/followers":       {rest.Content("read:accounts"), s.followers},
		"GET /api/v1/accounts/:id/following":       {rest.Content("read:accounts"), s.following},
		"GET /api/v1/accounts/:id/lists":           {rest.User("read:lists"), s.listsWithAccount},
		"GET /api/v1/accounts/:id/identity_proofs": {rest.Anyone, rest.Always([]any{})},
		"GET /api/v1/accounts/:id/featured_tags":   {rest.Anyone, rest.Always([]any{})},
		"GET /api/v1/svc/accounts/:id/favourites":  {rest.Content("read:favourites"), s.accountFavourites},
	}
}

// showAccount returns one account, which may be named by its nickname. Somebody's own comes with what only they see.
func (s *Server) showAccount(r *rest.Request) (any, error) {
	a, err := s.accountByIDOrNickname(r)
	if err != nil {
		return nil, err
	}
	s.refreshAccount(r, a)
	if a.ID != viewerID(r) {
		return s.renderAccount(r, a.ID)
	}
	own, err := s.ownAccount(r, a, r.User, false)
	if err != nil || !withRelationships(r) {
		return own, err
	}
	rel, err := s.relationship(r, a.ID)
	return own.WithRelationship(rel), err
}

// renderAccount renders one account as others see it.
func (s *Server) renderAccount(r *rest.Request, id store.AccountID) (any, error) {
	accounts, err := s.renderAccounts(r, []store.AccountID{id})
	if err != nil {
		return nil, err
	}
	if len(accounts) == 0 {
		return nil, errs.ErrRecordNotFound
	}
	return accounts[0], nil
}

// renderAccounts renders accounts as others see them, with what they are to the viewer if the request asks for that.
func (s *Server) renderAccounts(r *rest.Request, ids []store.AccountID) (entity.List[entity.Account], error) {
	if withRelationships(r) {
		return s.entities.AccountsWithRelationships(r.Context(), r.Viewer, ids)
	}
	return s.entities.Accounts(r.Context(), ids)
}

func withRelationships(r *rest.Request) bool { return rest.ParseBool(r.Query("with_relationships")) }

// accountPage renders a page of accounts whose cursors are the ids of the accounts.
func (s *Server) accountPage(r *rest.Request, page rest.Page, ids []store.AccountID, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	r.LinkPage(page, len(ids), func(i int) string { return ids[i].String() })
	return s.renderAccounts(r, ids)
}

// accountByIDOrNickname returns the account that :id names, by its id or as a handle, if it may be seen.
func (s *Server) accountByIDOrNickname(r *rest.Request) (*store.Account, error) {
	if id := accountParam(r); id != 0 {
		a, err := s.visibleAccount(r, id)
		if !errs.IsNotFound(err) {
			return a, err
		}
	}
	return s.accountByNickname(r)
}

// accountByNickname returns the account whose handle :id is, if it may be seen. Those of other servers are found by it only by who is
// signed in, as in searches (extension API 13).
func (s *Server) accountByNickname(r *rest.Request) (*store.Account, error) {
	a, err := s.accountByHandle(r, r.Param("id"))
	if err == nil && !a.Local() && s.onlyLocal(r) {
		err = errs.ErrRecordNotFound
	}
	return a, err
}

// accountIDOrNickname is accountByIDOrNickname for those who need no more than the account's id.
func (s *Server) accountIDOrNickname(r *rest.Request) (store.AccountID, error) {
	if id := accountParam(r); id != 0 {
		withheld, err := s.db.AccountUnavailable(r.Context(), id)
		if err == nil {
			err = s.checkVisible(r, id, withheld)
		}
		if !errs.IsNotFound(err) {
			return id, err
		}
	}
	a, err := s.accountByNickname(r)
	if err != nil {
		return 0, err
	}
	return a.ID, nil
}

// accountByHandle returns the account of a handle, if it may be seen.
func (s *Server) accountByHandle(r *rest.Request, handle string) (*store.Account, error) {
	nick, domain, ok := text.SplitHandle(handle)
	if !ok {
		return nil, errs.ErrRecordNotFound
	}
	if domain == s.settings.Host() {
		domain = ""
	}
	a, err := s.db.AccountByName(r.Context(), nick, domain)
	if err != nil {
		return nil, err
	}
	return a, s.checkVisible(r, a.ID, a.Unavailable)
}

// visibleAccount returns an account, if it may be seen.
func (s *Server) visibleAccount(r *rest.Request, id store.AccountID) (*store.Account, error) {
	a, err := s.db.Account(r.Context(), id)
	if err != nil {
		return nil, err
	}
	return a, s.checkVisible(r, a.ID, a.Unavailable)
}

// checkVisible tells whether an account may be seen: those that are withheld are for themselves and for staff.
func (s *Server) checkVisible(r *rest.Request, id store.AccountID, withheld bool) error {
	if withheld && id != viewerID(r) && (r.User == nil || !r.User.Staff()) {
		return errs.ErrRecordNotFound
	}
	return nil
}

func accountParam(r *rest.Request) store.AccountID {
	var id store.AccountID
	id.UnmarshalText([]byte(r.Param("id")))
	return id
}

// lookUpAccount returns the account of a handle that is known here. Other servers are asked only if somebody who is signed in says so
// (client API 3.4).
func (s *Server) lookUpAccount(r *rest.Request) (any, error) {
	look := s.accountByHandle
	if r.Viewer != nil && r.Query("skip_webfinger") == "false" {
		look = s.resolveAccount
	}
	a, err := look(r, r.Query("acct"))
	if err != nil {
		return nil, err
	}
	s.refreshAccount(r, a)
	return s.renderAccount(r, a.ID)
}

// searchAccounts returns the accounts that are named by a text, or begin like it.
func (s *Server) searchAccounts(r *rest.Request) (any, error) {
	var p struct {
		Q         string `param:"q,required"`
		Following bool   `param:"following"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	return s.findAccounts(r, p.Q, p.Following, r.Page(40, 80))
}

// findAccounts returns a page of the accounts that are named by a text, or begin like it. If it is a handle that nobody here has, its
// server may be asked.
func (s *Server) findAccounts(r *rest.Request, text string, following bool, page rest.Page) (entity.List[entity.Account], error) {
	ids, err := s.db.SearchAccounts(r.Context(), store.AccountSearch{
		Text: text, Viewer: viewerID(r), Following: following, LocalOnly: s.onlyLocal(r), Host: s.settings.Host(),
		Offset: page.Offset, Limit: page.Limit,
	})
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 && page.Offset == 0 && !following {
		if id := s.resolveHandle(r, text); id != 0 {
			ids = []store.AccountID{id}
		}
	}
	return s.renderAccounts(r, ids)
}

// relationships returns what the viewer and other accounts are to each other, in the order asked for.
func (s *Server) relationships(r *rest.Request) (any, error) {
	var p struct {
		IDs []store.AccountID `param:"id"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	return s.entities.Relationships(r.Context(), r.Viewer, p.IDs)
}

// relationship returns what the viewer and one other account are to each other.
func (s *Server) relationship(r *rest.Request, id store.AccountID) (*entity.Relationship, error) {
	list, err := s.entities.Relationships(r.Context(), r.Viewer, []store.AccountID{id})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errs.ErrRecordNotFound
	}
	return list[0], nil
}

// followers returns who follows an account, and nobody if the account hides that.
func (s *Server) followers(r *rest.Request) (any, error) {
	a, err := s.visibleAccount(r, accountParam(r))
	if err != nil {
		return nil, err
	}
	if a.HideFollowers && a.ID != viewerID(r) {
		return []any{}, nil
	}
	page := r.Page(40, 80)
	ids, err := s.db.Followers(r.Context(), a.ID, page.Page)
	return s.accountPage(r, page, ids, err)
}

// following returns whom an account follows, and nobody if the account hides that.
func (s *Server) following(r *rest.Request) (any, error) {
	a, err := s.visibleAccount(r, accountParam(r))
	if err != nil {
		return nil, err
	}
	if a.HideFollows && a.ID != viewerID(r) {
		return []any{}, nil
	}
	page := r.Page(40, 80)
	ids, err := s.db.Following(r.Context(), a.ID, page.Page)
	return s.accountPage(r, page, ids, err)
}

// listsWithAccount returns those of the viewer's lists that have an account.
func (s *Server) listsWithAccount(r *rest.Request) (any, error) {
	a, err := s.visibleAccount(r, accountParam(r))
	if err != nil {
		return nil, err
	}
	rows, err := s.db.ListsWith(r.Context(), r.Viewer.ID, a.ID)
	if err != nil {
		return nil, err
	}
	return s.entities.UserLists(rows), nil
}

// accountFavourites returns what an account likes, as far as the viewer may see it, unless the account hides that.
func (s *Server) accountFavourites(r *rest.Request) (any, error) {
	a, err := s.visibleAccount(r, accountParam(r))
	if err != nil {
		return nil, err
	}
	if a.HideFavorites && a.ID != viewerID(r) {
		return nil, errs.Forbidden("Can't get favorites")
	}
	page := r.Page(20, 40)
	rows, err := s.db.AccountFavourites(r.Context(), viewerID(r), a.ID, page.Page)
	return s.statusEntries(r, page, rows, err)
}

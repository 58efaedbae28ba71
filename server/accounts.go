package server

import (
	"slices"

	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// accounts serves data about accounts: profiles, followers, endorsements, birthdays.
type accounts struct{ *parts }

func (h *accounts) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/accounts":                      {rest.Content("read:accounts").Answers("[]Account"), h.listAccounts},
		"GET /api/v1/accounts/:id":                  {rest.Content("read:accounts").Answers("Account|OwnAccount"), h.showAccount},
		"GET /api/v1/accounts/lookup":               {rest.Content("read:accounts").Answers("Account"), h.lookUpAccount},
		"GET /api/v1/accounts/relationships":        {rest.User("read:follows").Answers("[]Relationship"), h.relationships},
		"GET /api/v1/accounts/:id/followers":        {rest.Content("read:accounts").Answers("[]Account"), h.followers},
		"GET /api/v1/accounts/:id/following":        {rest.Content("read:accounts").Answers("[]Account"), h.following},
		"GET /api/v1/accounts/:id/lists":            {rest.User("read:lists").Answers("[]List"), h.listsWithAccount},
		"GET /api/v1/accounts/:id/identity_proofs":  {rest.Anyone.Answers("[]null"), rest.Always([]any{})},
		"GET /api/v1/svc/accounts/:id/favourites":   {rest.Content("read:favourites").Answers("[]Status"), h.accountFavourites},
		"GET /api/v1/svc/birthdays":                 {rest.User("read:accounts").Answers("[]Account"), h.listBirthdays},
		"POST /api/v1/accounts/:id/pin":             {rest.User("write:accounts").Answers("Relationship"), h.render.accountAction(h.Social.Endorse)},
		"POST /api/v1/accounts/:id/unpin":           {rest.User("write:accounts").Deletes().Answers("Relationship"), h.render.accountAction(h.Social.Unendorse)},
		"POST /api/v1/accounts/:id/endorse":         {rest.User("write:accounts").Answers("Relationship"), h.render.accountAction(h.Social.Endorse)},
		"POST /api/v1/accounts/:id/unendorse":       {rest.User("write:accounts").Deletes().Answers("Relationship"), h.render.accountAction(h.Social.Unendorse)},
		"GET /api/v1/accounts/:id/endorsements":     {rest.Content("read:accounts").Answers("[]Account"), h.endorsements},
		"GET /api/v1/svc/accounts/:id/endorsements": {rest.Content("read:accounts").Answers("[]Account"), h.endorsements},
		"GET /api/v1/endorsements":                  {rest.AnyoneWith("read:accounts").Answers("[]Account"), h.ownEndorsements},
		"GET /api/v1/accounts/familiar_followers":   {rest.User("read:follows").Answers("[]FamiliarFollowers"), h.familiarFollowers},
	}
}

// showAccount returns one account, by its id or its nickname. The viewer's own account comes with its private members.
func (h *accounts) showAccount(r *rest.Request) (any, error) {
	a, err := h.lookup.accountByIDOrNickname(r)
	if err != nil {
		return nil, err
	}
	h.lookup.refreshAccount(r, a)
	if a.ID != viewerID(r) {
		return h.render.account(r, a.ID)
	}
	own, err := h.render.credentialAccount(r, a, r.User, entity.CredentialDetails{})
	if err != nil || !withRelationships(r) {
		return own, err
	}
	rel, err := h.render.relationship(r, a.ID)
	return own.WithRelationship(rel), err
}

// maxAccountIDs is how many ids a request may have. More are ignored.
const maxAccountIDs = 40

// listAccounts returns the available accounts of the ids, in the order of the request.
func (h *accounts) listAccounts(r *rest.Request) (any, error) {
	var p struct {
		IDs []store.AccountID `param:"id"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	ids := p.IDs[:min(len(p.IDs), maxAccountIDs)]
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			ids[i] = 0 // one that no account has
		}
	}
	available, err := h.DB.AvailableAccounts(r.Context(), ids)
	if err != nil {
		return nil, err
	}
	return h.render.firstAccounts(r, available)
}

func withRelationships(r *rest.Request) bool { return r.Flag("with_relationships") }

func accountParam(r *rest.Request) store.AccountID {
	return store.ParseID[store.AccountID](r.Param("id"))
}

// lookUpAccount returns the known account of a handle. Only signed-in users can have unknown handles resolved on other servers (client
// API 3.4).
func (h *accounts) lookUpAccount(r *rest.Request) (any, error) {
	look := h.lookup.accountByHandle
	if r.Viewer != nil && r.Query("skip_webfinger") == "false" {
		look = h.lookup.resolveAccount
	}
	a, err := look(r, r.Query("acct"))
	if err != nil {
		return nil, err
	}
	h.lookup.refreshAccount(r, a)
	return h.render.account(r, a.ID)
}

// relationships returns the relationships of the viewer with the accounts of the ids, in the order of the request.
func (h *accounts) relationships(r *rest.Request) (any, error) {
	var p struct {
		IDs []store.AccountID `param:"id"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	return h.Entities.Relationships(r.Context(), r.Viewer, p.IDs)
}

// followers lists the followers of an account. The list is empty if the account hides them.
func (h *accounts) followers(r *rest.Request) (any, error) {
	a, err := h.lookup.visibleAccount(r, accountParam(r))
	if err != nil {
		return nil, err
	}
	if a.HideFollowers && a.ID != viewerID(r) {
		return []any{}, nil
	}
	page := r.Page(40, 80)
	part, err := h.DB.Followers(r.Context(), a.ID, page.Page)
	return h.render.accountPage(r, page, part, err)
}

// following lists the accounts that an account follows. The list is empty if the account hides them.
func (h *accounts) following(r *rest.Request) (any, error) {
	a, err := h.lookup.visibleAccount(r, accountParam(r))
	if err != nil {
		return nil, err
	}
	if a.HideFollows && a.ID != viewerID(r) {
		return []any{}, nil
	}
	page := r.Page(40, 80)
	part, err := h.DB.Following(r.Context(), a.ID, page.Page)
	return h.render.accountPage(r, page, part, err)
}

// listsWithAccount returns the viewer's lists that an account is in.
func (h *accounts) listsWithAccount(r *rest.Request) (any, error) {
	a, err := h.lookup.visibleAccount(r, accountParam(r))
	if err != nil {
		return nil, err
	}
	rows, err := h.DB.ListsWith(r.Context(), r.Viewer.ID, a.ID)
	return answerList(rows, err, entity.NewUserList)
}

// accountFavourites returns an account's favourites that the viewer may see, unless the account hides them.
func (h *accounts) accountFavourites(r *rest.Request) (any, error) {
	a, err := h.lookup.visibleAccount(r, accountParam(r))
	if err != nil {
		return nil, err
	}
	if a.HideFavorites && a.ID != viewerID(r) {
		return nil, errs.Forbidden("Can't get favorites")
	}
	page := r.Page(20, 40)
	part, err := h.DB.AccountFavourites(r.Context(), viewerID(r), a.ID, page.Page)
	return h.render.statusEntries(r, page, part, err)
}

// maxBirthdays bounds the list, which has no pages.
const maxBirthdays = 100

// listBirthdays lists the followed accounts that show a birthday on the requested day and month.
func (h *accounts) listBirthdays(r *rest.Request) (any, error) {
	var p struct {
		Day   int `param:"day,required"`
		Month int `param:"month,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if p.Month < 1 || p.Month > 12 || p.Day < 1 || p.Day > 31 {
		return nil, errs.BadRequest("Invalid day")
	}
	ids, err := h.DB.Birthdays(r.Context(), r.Viewer.ID, p.Month, p.Day, maxBirthdays)
	if err != nil {
		return nil, err
	}
	return h.render.firstAccounts(r, ids)
}

// endorsements lists the accounts that an account endorses, with their ids as cursors.
func (h *accounts) endorsements(r *rest.Request) (any, error) {
	a, err := h.lookup.visibleAccount(r, accountParam(r))
	if err != nil {
		return nil, err
	}
	page := r.Page(40, 80)
	part, err := h.DB.Endorsements(r.Context(), a.ID, page.Page)
	return h.render.accountPage(r, page, part, err)
}

// ownEndorsements lists the accounts that the viewer endorses. Anonymous clients get an empty list (spec 4.6).
func (h *accounts) ownEndorsements(r *rest.Request) (any, error) {
	if r.Viewer == nil {
		return []any{}, nil
	}
	page := r.Page(40, 80)
	part, err := h.DB.Endorsements(r.Context(), r.Viewer.ID, page.Page)
	return h.render.accountPage(r, page, part, err)
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
	familiar, err := h.DB.FamiliarFollowers(r.Context(), r.Viewer.ID, ids, maxFamiliarFollowers)
	if err != nil {
		return nil, err
	}
	show := func(ids []store.AccountID) ([]entity.FamiliarFollowers, error) {
		of := slices.DeleteFunc(slices.Clone(familiar), func(f store.FamiliarFollower) bool { return !slices.Contains(ids, f.TargetID) })
		return h.Entities.FamiliarFollowers(r.Context(), ids, of)
	}
	var once []store.AccountID
	for _, id := range ids {
		if !slices.Contains(once, id) {
			once = append(once, id)
		}
	}
	list, _, err := rest.Fit(r, once, false, show)
	return list, err
}

package server

import (
	"context"
	"errors"
	"strings"

	"svc/federation"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/server/rest"
	"svc/store"
)

// lookup finds the accounts and statuses that requests name, and fetches unknown ones from other servers.
type lookup struct{ *parts }

// Resolver fetches the account or status that a URL or a handle names from its server, and stores it. It returns zeros or
// errs.NotFound if there is none. It takes a few seconds at most, because a client waits.
type Resolver func(ctx context.Context, viewer *store.Account, address string) (Resolved, error)

// Resolved is the result of a Resolver. At most one id is not 0.
type Resolved struct {
	Account store.AccountID
	Status  store.StatusID
}

// resolveRemote returns the Resolver that fetches from other servers.
func resolveRemote(fed *federation.Service) Resolver {
	return func(ctx context.Context, _ *store.Account, address string) (Resolved, error) {
		account, status, err := fed.Resolver.Resolve(ctx, address)
		return Resolved{account, status}, err
	}
}

func (h *lookup) federates() bool { return h.Federation != nil && h.Settings.Load().Federation.Enabled }

// resolveMentions fetches the unknown accounts that a text mentions.
func (h *lookup) resolveMentions(r *rest.Request, body, contentType string, to []string) {
	if h.federates() {
		h.Federation.Resolver.ResolveMentions(r.Context(), body, contentType, to)
	}
}

// refreshAccount queues a refresh of a remote account that a user views.
func (h *lookup) refreshAccount(r *rest.Request, a *store.Account) {
	if !a.Local() && r.Viewer != nil && h.federates() {
		h.succeeded(r, h.Federation.Backfill.AccountViewed(r.Context(), a))
		h.succeeded(r, h.Federation.Backfill.ProfileOpened(r.Context(), a, r.Viewer.ID))
	}
}

// fillProfile queues a fetch of the newest posts of an account that a user follows or whose posts a user lists.
func (h *lookup) fillProfile(r *rest.Request, id store.AccountID) {
	if !h.federates() {
		return
	}
	a, err := h.DB.Account(r.Context(), id)
	if err == nil {
		err = h.Federation.Backfill.ProfileOpened(r.Context(), a, r.Viewer.ID)
	}
	h.succeeded(r, err)
}

// completeThread queues fetching the rest of the thread of a status that a user views, and says in a header that it goes on.
func (h *lookup) completeThread(r *rest.Request, st *store.Status) {
	if r.Viewer == nil || !h.federates() {
		return
	}
	refresh, err := h.Federation.Backfill.ThreadViewed(r.Context(), st, r.Viewer.ID)
	if h.succeeded(r, err) && refresh.Running {
		sendAsyncRefresh(r, refresh)
	}
}

// refreshPoll queues a refresh of a remote poll that a user views.
func (h *lookup) refreshPoll(r *rest.Request, id store.StatusID) {
	if r.Viewer != nil && h.federates() {
		h.succeeded(r, h.Federation.Backfill.PollViewed(r.Context(), id))
	}
}

// lookUpAddress returns the known status or account of a URL, whether or not the viewer may see it.
func (h *lookup) lookUpAddress(r *rest.Request, address string) (Resolved, error) {
	address, _, _ = strings.Cut(address, "#")
	if path, ok := strings.CutPrefix(address, h.Settings.BaseURL+"/"); ok {
		return h.lookUpLocalAddress(r, path)
	}
	st, err := h.DB.StatusByAddress(r.Context(), address)
	if err != nil {
		return Resolved{}, err
	}
	if st != nil {
		return Resolved{Status: st.ID}, nil
	}
	return h.accountByAddress(r, address)
}

// accountByAddress returns the account of a URL if the viewer may find it.
func (h *lookup) accountByAddress(r *rest.Request, address string) (Resolved, error) {
	ids, err := h.DB.SearchAccounts(r.Context(), store.AccountSearch{Text: address, Viewer: viewerID(r), LocalOnly: h.onlyLocal(r), Limit: 1})
	if err != nil || len(ids) == 0 {
		return Resolved{}, err
	}
	return Resolved{Account: ids[0]}, nil
}

// lookUpLocalAddress returns what a path of this server names: /@NICK, /@NICK@HOST, /users/ID or NICK, /@NICK/ID, /objects/ID,
// /collections/ID.
func (h *lookup) lookUpLocalAddress(r *rest.Request, path string) (Resolved, error) {
	path, _, _ = strings.Cut(path, "?")
	path = strings.TrimSuffix(path, "/")
	if found, err := h.lookUpOldAddress(r, "/"+path); found != (Resolved{}) || err != nil {
		return found, err
	}
	parts := strings.Split(path, "/")
	handle, isHandle := strings.CutPrefix(parts[0], "@")
	switch {
	case len(parts) == 1 && isHandle:
	case len(parts) == 2 && parts[0] == "users":
		if id := store.ParseID[store.AccountID](parts[1]); id != 0 {
			return h.accountByAddress(r, store.NewActorURI(h.Settings.BaseURL, id))
		}
		handle = parts[1]
	case len(parts) == 2 && (isHandle || parts[0] == "objects"):
		id := store.ParseID[store.StatusID](parts[1])
		return Resolved{Status: id}, nil
	case len(parts) == 2 && parts[0] == "collections": // which leads to its owner, as one of a remote account does
		c, err := h.DB.Collection(r.Context(), store.ParseID[store.CollectionID](parts[1]))
		if err != nil {
			return Resolved{}, errs.IgnoreNotFound(err)
		}
		return Resolved{Account: c.AccountID}, nil
	default:
		return Resolved{}, nil
	}
	a, err := h.accountByHandle(r, handle)
	if err != nil {
		return Resolved{}, err
	}
	return h.accountByAddress(r, a.URI)
}

// lookUpOldAddress returns what a path of other software names.
func (h *lookup) lookUpOldAddress(r *rest.Request, path string) (Resolved, error) {
	if !h.DB.HasOldAddresses() {
		return Resolved{}, nil
	}
	id, err := h.DB.OldStatusID(r.Context(), h.Settings.BaseURL, path)
	if id != 0 || err != nil {
		return Resolved{Status: id}, err
	}
	return h.accountByAddress(r, h.Settings.BaseURL+path)
}

// resolveAccount is accountByHandle, but fetches unknown accounts from their servers.
func (h *lookup) resolveAccount(r *rest.Request, handle string) (*store.Account, error) {
	a, err := h.accountByHandle(r, handle)
	if !errs.IsNotFound(err) || h.Resolve == nil {
		return a, err
	}
	nick, domain, ok := text.SplitHandle(handle)
	if !ok || domain == "" || h.Settings.IsOwnHost(domain) {
		return nil, err
	}
	found, resolveErr := h.Resolve(r.Context(), r.Viewer, nick+"@"+domain)
	if !h.succeeded(r, resolveErr) || found.Account == 0 {
		return nil, err
	}
	return h.visibleAccount(r, found.Account)
}

// accountByIDOrNickname returns the account of :id, an id or a handle, if the viewer may see it.
func (h *lookup) accountByIDOrNickname(r *rest.Request) (*store.Account, error) {
	if id := accountParam(r); id != 0 {
		a, err := h.visibleAccount(r, id)
		if !errs.IsNotFound(err) {
			return a, err
		}
	}
	return h.accountByNickname(r)
}

// accountByNickname returns the account of :id, a handle, if the viewer may see it. Remote accounts need a viewer, as in searches
// (extension API 13).
func (h *lookup) accountByNickname(r *rest.Request) (*store.Account, error) {
	a, err := h.accountByHandle(r, r.Param("id"))
	if err == nil && !a.Local() && h.onlyLocal(r) {
		err = errs.ErrRecordNotFound
	}
	return a, err
}

// accountIDOrNickname is accountByIDOrNickname for callers that only need the id, and whether the account is remote.
func (h *lookup) accountIDOrNickname(r *rest.Request) (id store.AccountID, remote bool, err error) {
	if id = accountParam(r); id != 0 {
		unavailable, remote, err := h.DB.AccountState(r.Context(), id)
		if err == nil {
			err = h.checkVisible(r, id, unavailable)
		}
		if !errs.IsNotFound(err) {
			return id, remote, err
		}
	}
	a, err := h.accountByNickname(r)
	if err != nil {
		return 0, false, err
	}
	return a.ID, !a.Local(), nil
}

// accountByHandle returns the known account of a handle if the viewer may see it.
func (h *lookup) accountByHandle(r *rest.Request, handle string) (*store.Account, error) {
	nick, domain, ok := text.SplitHandle(handle)
	if !ok {
		return nil, errs.ErrRecordNotFound
	}
	if h.Settings.IsOwnHost(domain) {
		domain = ""
	}
	a, err := h.DB.AccountByName(r.Context(), nick, domain)
	if err != nil {
		return nil, err
	}
	return a, h.checkVisible(r, a.ID, a.Unavailable)
}

// visibleAccount returns an account if the viewer may see it.
func (h *lookup) visibleAccount(r *rest.Request, id store.AccountID) (*store.Account, error) {
	a, err := h.DB.Account(r.Context(), id)
	if err != nil {
		return nil, err
	}
	return a, h.checkVisible(r, a.ID, a.Unavailable)
}

// checkVisible returns an error for an unavailable account, unless the viewer is that account or staff.
func (h *lookup) checkVisible(r *rest.Request, id store.AccountID, unavailable bool) error {
	if unavailable && id != viewerID(r) && (r.User == nil || !r.User.Staff()) {
		return errs.ErrRecordNotFound
	}
	return nil
}

// visibleOriginal returns the status of the path, or the one that it boosts, if the viewer may see it.
func (h *lookup) visibleOriginal(r *rest.Request) (*store.Status, error) {
	st, err := h.DB.VisibleStatus(r.Context(), viewerID(r), statusParam(r))
	if err != nil || st.ReblogOfID == nil {
		return st, err
	}
	return h.DB.Status(r.Context(), *st.ReblogOfID)
}

// succeeded returns false if err is not nil, and logs it if it is an error of the server. Such errors do not fail the request.
func (h *lookup) succeeded(r *rest.Request, err error) bool {
	var refusal *errs.Error // such as that of a remote server that does not answer
	if err != nil && !errors.As(err, &refusal) && r.Context().Err() == nil {
		r.LogError(err)
	}
	return err == nil
}

// onlyLocal returns true if the viewer may only find local accounts and statuses.
func (h *lookup) onlyLocal(r *rest.Request) bool {
	return r.Viewer == nil && !h.Settings.Load().Search.AnonymousRemote
}

package server

import (
	"context"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// Resolver asks the server that it lives on for what an address or a handle names, and has it stored here. What it does not find is
// all zeros, or errs.NotFound. It answers within a few seconds, because somebody waits.
type Resolver func(ctx context.Context, viewer *store.Account, what string) (Resolved, error)

// Resolved is what a Resolver found: one of the two.
type Resolved struct {
	Account store.AccountID
	Status  store.StatusID
}

// resolveRemote is the Resolver of a server that has dealings with others.
func (s *Server) resolveRemote(ctx context.Context, _ *store.Account, what string) (Resolved, error) {
	account, status, err := s.federation.Resolver.Resolve(ctx, what)
	return Resolved{account, status}, err
}

// federates tells whether there are dealings with other servers.
func (s *Server) federates() bool { return s.federation != nil && s.settings.Federation.Enabled }

// resolveMentions has accounts looked for, on their servers, that somebody writes to and that are not known here.
func (s *Server) resolveMentions(r *rest.Request, body, contentType string, to []string) {
	if s.federates() {
		s.federation.Resolver.ResolveMentions(r.Context(), body, contentType, to)
	}
}

// refreshAccount has the profile of an account elsewhere that somebody looks at completed and kept up to date, in the background.
func (s *Server) refreshAccount(r *rest.Request, a *store.Account) {
	if !a.Local() && r.Viewer != nil && s.federates() {
		s.succeeded(r, s.federation.Backfill.AccountViewed(r.Context(), a))
	}
}

// completeThread has the thread of a post from elsewhere that somebody looks at completed, in the background.
func (s *Server) completeThread(r *rest.Request, st *store.Status) {
	if !st.Local() && r.Viewer != nil && s.federates() {
		s.succeeded(r, s.federation.Backfill.ThreadViewed(r.Context(), st))
	}
}

// refreshPoll has it asked, in the background, how the poll of a post from elsewhere stands that somebody looks at.
func (s *Server) refreshPoll(r *rest.Request, id store.StatusID) {
	if r.Viewer != nil && s.federates() {
		s.succeeded(r, s.federation.Backfill.PollViewed(r.Context(), id))
	}
}

// searchAddress finds the one thing that an address names: a post that the viewer may see, or an account.
func (s *Server) searchAddress(r *rest.Request, q *searchQuery, found *searchResults) error {
	named, err := s.lookUpAddress(r, q.text)
	if err != nil {
		return err
	}
	if named == (Resolved{}) && q.resolve && s.resolve != nil && !strings.HasPrefix(q.text, s.baseURL+"/") {
		if named, err = s.resolve(r.Context(), r.Viewer, q.text); err != nil {
			return err
		}
	}
	switch {
	case named.Status != 0 && q.statuses:
		rows, err := s.db.VisibleStatuses(r.Context(), viewerID(r), []store.StatusID{named.Status})
		if err != nil || len(rows) == 0 {
			return err
		}
		st, err := s.entities.Status(r.Context(), r.Viewer, named.Status)
		if err == nil {
			found.statuses = entity.List[*entity.Status]{st}
		}
		return err
	case named.Account != 0 && q.accounts:
		accounts, err := s.renderAccounts(r, []store.AccountID{named.Account})
		if err == nil {
			found.accounts = accounts
		}
		return err
	}
	return nil
}

// lookUpAddress returns what an address names of what is known here, whether or not the viewer may see it.
func (s *Server) lookUpAddress(r *rest.Request, address string) (Resolved, error) {
	address, _, _ = strings.Cut(address, "#")
	if path, ok := strings.CutPrefix(address, s.baseURL+"/"); ok {
		return s.lookUpLocalAddress(r, path)
	}
	st, err := s.db.StatusByAddress(r.Context(), address)
	if err != nil {
		return Resolved{}, err
	}
	if st != nil {
		return Resolved{Status: st.ID}, nil
	}
	return s.accountByAddress(r, address)
}

// accountByAddress returns the account that has an address, if the viewer may find it.
func (s *Server) accountByAddress(r *rest.Request, address string) (Resolved, error) {
	ids, err := s.db.SearchAccounts(r.Context(), store.AccountSearch{Text: address, Viewer: viewerID(r), LocalOnly: s.onlyLocal(r), Limit: 1})
	if err != nil || len(ids) == 0 {
		return Resolved{}, err
	}
	return Resolved{Account: ids[0]}, nil
}

// lookUpLocalAddress returns what an address of this server names: /@NICK, /@NICK@HOST, /users/ID or NICK, /@NICK/ID, /objects/ID.
func (s *Server) lookUpLocalAddress(r *rest.Request, path string) (Resolved, error) {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(strings.TrimSuffix(path, "/"), "/")
	handle, isHandle := strings.CutPrefix(parts[0], "@")
	switch {
	case len(parts) == 1 && isHandle:
	case len(parts) == 2 && parts[0] == "users":
		var id store.AccountID
		if id.UnmarshalText([]byte(parts[1])); id != 0 {
			return s.accountByAddress(r, s.baseURL+"/users/"+parts[1])
		}
		handle = parts[1]
	case len(parts) == 2 && (isHandle || parts[0] == "objects"):
		var id store.StatusID
		id.UnmarshalText([]byte(parts[1]))
		return Resolved{Status: id}, nil
	default:
		return Resolved{}, nil
	}
	a, err := s.accountByHandle(r, handle)
	if err != nil {
		return Resolved{}, err
	}
	return s.accountByAddress(r, a.URI)
}

// resolveAccount is accountByHandle for who wants other servers to be asked for what is not known here.
func (s *Server) resolveAccount(r *rest.Request, handle string) (*store.Account, error) {
	a, err := s.accountByHandle(r, handle)
	if !errs.IsNotFound(err) || s.resolve == nil {
		return a, err
	}
	nick, domain, ok := text.SplitHandle(handle)
	if !ok || domain == "" || domain == s.settings.Host() {
		return nil, err
	}
	found, resolveErr := s.resolve(r.Context(), r.Viewer, nick+"@"+domain)
	if !s.succeeded(r, resolveErr) || found.Account == 0 {
		return nil, err
	}
	return s.visibleAccount(r, found.Account)
}

// resolveHandle returns the account of a handle that is not known here, if the viewer wants other servers to be asked and one of them
// knows it; 0 otherwise. That it fails is no failure of the search.
func (s *Server) resolveHandle(r *rest.Request, handle string) store.AccountID {
	if s.resolve == nil || r.Viewer == nil || !rest.ParseBool(r.Query("resolve")) {
		return 0
	}
	nick, domain, ok := text.SplitHandle(handle)
	if !ok || domain == "" || domain == s.settings.Host() {
		return 0
	}
	found, err := s.resolve(r.Context(), r.Viewer, nick+"@"+domain)
	s.succeeded(r, err)
	return found.Account
}

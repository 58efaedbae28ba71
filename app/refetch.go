package app

import (
	"context"

	"svc/internal/errs"
)

// Refetched is what Refetch fetched.
type Refetched struct {
	Account string `json:"account"` // handle; "" if it is a post
	Post    string `json:"post"`    // address; "" if it is an account
	Gone    bool   `json:"gone"`    // its server does not have it any more
}

// refetch fetches an account or a post of another server again, by handle or address, or for the first time.
func (s *Server) refetch(ctx context.Context, query string) (*Refetched, error) {
	account, status, err := s.Federation.Resolver.Fetch(ctx, query)
	if err != nil {
		return nil, err
	}
	if account != nil {
		r := &Refetched{Account: account.Acct()}
		if account.Local() {
			return nil, errs.BadRequest("@%s is an account of this server", r.Account)
		}
		_, err := s.Federation.Actors.FetchActor(ctx, account.URI)
		return r, err
	}
	if status.Local() {
		return nil, errs.BadRequest("%s is a post of this server", query)
	}
	if err := s.Federation.Statuses.RefreshStatus(ctx, status); err != nil {
		return nil, err
	}
	_, err = s.DB.Status(ctx, status.ID)
	return &Refetched{Post: status.URI, Gone: errs.IsNotFound(err)}, errs.IgnoreNotFound(err)
}

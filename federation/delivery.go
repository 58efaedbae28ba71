package federation

import (
	"context"
	"fmt"
	"net/http"

	"svc/federation/delivery"
	"svc/internal/errs"
	"svc/store"
)

// newDeliveries makes the queue of outgoing deliveries.
func newDeliveries(s *Service) *delivery.Queue {
	return delivery.New(delivery.Config{DB: s.db, Log: s.log, Send: s.sendDelivery, InboxGone: s.handleGoneInbox})
}

// sendDelivery posts a payload to an inbox, signed by a local account.
func (s *Service) sendDelivery(ctx context.Context, host *store.Host, inbox string, payload []byte, sender store.AccountID) (int, http.Header, error) {
	if _, err := s.Fetcher.FetchableHost(inbox); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", delivery.ErrUndeliverable, err)
	}
	signer, err := s.Signers.Signer(ctx, sender)
	switch {
	case errs.IsNotFound(err):
		return 0, nil, fmt.Errorf("%w: %w", delivery.ErrUndeliverable, err)
	case err != nil:
		return 0, nil, fmt.Errorf("%w: %w", delivery.ErrNotSent, err)
	}
	return s.Fetcher.postSigned(ctx, host, inbox, payload, signer)
}

// handleGoneInbox finds out whether the owner of an inbox is gone too, and removes it then (federation 3.3). It returns true if the host
// says of a shared or unknown inbox that it is gone for good.
func (s *Service) handleGoneInbox(ctx context.Context, inbox string, status int) bool {
	owner, err := s.db.InboxOwner(ctx, inbox)
	if err != nil {
		s.log.Error("find the owner of an inbox", "inbox", inbox, "err", err)
		return false
	}
	if owner == 0 {
		return status == http.StatusGone
	}
	account, err := s.db.Account(ctx, owner)
	if err != nil || account.DeletedAt != nil {
		return false
	}
	switch _, err = s.Actors.FetchActor(ctx, account.URI); HTTPStatus(err) {
	case http.StatusGone:
		err = s.Actors.ActorGone(ctx, account)
	case http.StatusNotFound:
		err = s.Actors.ActorNotFound(ctx, account)
	}
	if err != nil {
		s.log.Debug("fetch the actor of an inbox that is gone", "actor", account.URI, "err", err)
	}
	return false
}

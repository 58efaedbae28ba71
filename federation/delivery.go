package federation

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"svc/federation/delivery"
	"svc/federation/remote"
	"svc/internal/errs"
	"svc/store"
)

// sender sends what the queue of deliveries holds.
type sender struct {
	fetcher *remote.Fetcher
	signers *remote.Signers
	actors  *remote.Actors
	sync    *remote.FollowerSync
	db      *store.DB
	log     *slog.Logger
}

// send posts a message to an inbox, signed by its sender.
func (s *sender) send(ctx context.Context, host *store.Host, inbox string, m *delivery.Message) (int, http.Header, error) {
	if _, err := s.fetcher.FetchableHost(inbox); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", delivery.ErrUndeliverable, err)
	}
	signers, err := s.signers.SignersFor(ctx, m.Sender, host.Domain)
	switch {
	case errs.IsNotFound(err):
		return 0, nil, fmt.Errorf("%w: %w", delivery.ErrUndeliverable, err)
	case err != nil:
		return 0, nil, fmt.Errorf("%w: %w", delivery.ErrNotSent, err)
	}
	synchronization := ""
	if m.ForFollowers {
		if synchronization, err = s.sync.Header(ctx, m.Sender, host.Domain); err != nil {
			return 0, nil, fmt.Errorf("%w: %w", delivery.ErrNotSent, err)
		}
	}
	return s.fetcher.Post(ctx, host, inbox, m.Body, synchronization, signers)
}

// handleGoneInbox finds out whether the owner of an inbox is gone too, and removes it then (federation 3.3). It returns true if the host
// reports a shared or unknown inbox as gone.
func (s *sender) handleGoneInbox(ctx context.Context, inbox string, status int) bool {
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
	switch _, err = s.actors.FetchActor(ctx, account.URI); remote.HTTPStatus(err) {
	case http.StatusGone:
		err = s.actors.ActorGone(ctx, account)
	case http.StatusNotFound:
		err = s.actors.ActorNotFound(ctx, account)
	}
	if err != nil {
		s.log.Debug("fetch the actor of an inbox that is gone", "actor", account.URI, "err", err)
	}
	return false
}

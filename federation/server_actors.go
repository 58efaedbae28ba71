package federation

import (
	"context"
	"fmt"

	"svc/federation/remote"
	"svc/internal/errs"
	"svc/store"
)

// The server actors. They have rows in accounts, which clients never see.
const (
	fetchActorName  = "internal.fetch" // signs fetches
	relayActorName  = "relay"          // follows relays, and is followed by them
	relayActorPath  = "/relay"
	serverActorType = "Application"
)

// Open creates the server actors and loads the relays. Call it before the first request.
func (s *Service) Open(ctx context.Context) error {
	for name, path := range map[string]string{fetchActorName: remote.FetchActorPath, relayActorName: relayActorPath} {
		if err := s.ensureServerActor(ctx, name, s.config.BaseURL+path); err != nil {
			return fmt.Errorf("actor %s: %w", name, err)
		}
	}
	return s.Relays.loadRelays(ctx)
}

func (s *Service) ensureServerActor(ctx context.Context, name, uri string) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.AccountByURI(ctx, uri)
		if !errs.IsNotFound(err) {
			return err
		}
		no := false
		return tx.AddAccount(ctx, &store.Account{
			Nickname: name, URI: uri, URL: uri, ActorType: serverActorType, DisplayName: s.config.Host,
			AcceptsChatMessages: &no, HideFollowersCount: true, HideFollowsCount: true, Unavailable: true,
		})
	})
}

package federation

import (
	"context"
	"fmt"

	"svc/internal/errs"
	"svc/internal/httpsig"
	"svc/store"
)

// The actors of the server itself. They have rows among the accounts, but nobody sees those.
const (
	fetchName  = "internal.fetch" // asks others in the name of this server
	relayName  = "relay"          // is followed by relays, and follows them
	fetchPath  = "/internal/fetch"
	relayPath  = "/relay"
	serverType = "Application"
)

// Open makes what the service needs before anybody talks with it: the actors of the server.
func (s *Service) Open(ctx context.Context) error {
	for name, path := range map[string]string{fetchName: fetchPath, relayName: relayPath} {
		if err := s.openSelf(ctx, name, s.BaseURL+path); err != nil {
			return fmt.Errorf("actor %s: %w", name, err)
		}
	}
	return s.loadRelays(ctx)
}

func (s *Service) openSelf(ctx context.Context, name, uri string) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.AccountByURI(ctx, uri)
		if !errs.IsNotFound(err) {
			return err
		}
		no := false
		return tx.AddAccount(ctx, &store.Account{
			Nickname: name, URI: uri, URL: uri, ActorType: serverType, DisplayName: s.Host,
			AcceptsChatMessages: &no, HideFollowersCount: true, HideFollowsCount: true, Withheld: true,
		})
	})
}

// self returns one of the actors of the server.
func (s *Service) self(ctx context.Context, path string) (*store.Account, error) {
	return s.db.AccountByURI(ctx, s.BaseURL+path)
}

// serviceSigner signs in the name of this server.
func (s *Service) serviceSigner(ctx context.Context) (*httpsig.Signer, error) {
	if id := s.fetchID.Load(); id != 0 {
		return s.signer(ctx, store.AccountID(id))
	}
	account, err := s.self(ctx, fetchPath)
	if err != nil {
		return nil, err
	}
	s.fetchID.Store(int64(account.ID))
	return s.signer(ctx, account.ID)
}

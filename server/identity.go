package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// identities remembers whom tokens stand for. What it remembers of an account is dropped when the account changes, and of a
// token when that is revoked, both before the change is answered.
type identities struct {
	mu         sync.Mutex
	known      map[tokenHash]*Identity
	generation uint64 // changes with each drop, so that what was read before is not kept after
}

type tokenHash [sha256.Size]byte

const identitiesKept = 5000

func hashToken(token string) tokenHash { return sha256.Sum256([]byte(token)) }

func newIdentities(db *store.DB) *identities {
	c := &identities{known: make(map[tokenHash]*Identity)}
	db.Subscribe(c.forget)
	return c
}

func (c *identities) get(h tokenHash) (id *Identity, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[h], c.generation
}

func (c *identities) put(h tokenHash, id *Identity, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation != generation {
		return
	}
	if len(c.known) >= identitiesKept {
		clear(c.known)
	}
	c.known[h] = id
}

func (c *identities) forget(events []store.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range events {
		switch e := e.(type) {
		case store.Changed:
			if e.All {
				c.generation++
				clear(c.known)
				continue
			}
			for _, id := range e.Accounts {
				c.drop(func(i *Identity) bool { return i.Account != nil && i.Account.ID == id })
			}
		case store.TokensRevoked:
			c.drop(func(i *Identity) bool {
				return e.AccountID != 0 && i.Account != nil && i.Account.ID == e.AccountID
			})
			for _, id := range e.Tokens {
				c.drop(func(i *Identity) bool { return i.Token.ID == id })
			}
		}
	}
}

// remove has an identity read anew.
func (c *identities) remove(h tokenHash) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	delete(c.known, h)
}

func (c *identities) drop(which func(*Identity) bool) {
	c.generation++
	for h, i := range c.known {
		if which(i) {
			delete(c.known, h)
		}
	}
}

// identityOfToken says who a token stands for; nil if it is unknown or expired. The error tells if its account cannot be used.
func (s *Server) identityOfToken(ctx context.Context, token string) (*Identity, error) {
	h := hashToken(token)
	id, generation := s.identities.get(h)
	if id == nil {
		var err error
		if id, err = s.loadIdentity(ctx, h); id == nil || err != nil {
			return nil, err
		}
		s.identities.put(h, id, generation)
	}
	if id.Token.ExpiresAt != nil && !id.Token.ExpiresAt.Time().After(s.now()) {
		return nil, nil
	}
	return id, s.markActive(ctx, id)
}

// identityNow says who a token stands for at this moment, nil if nobody, without noting that it was used.
func (s *Server) identityNow(ctx context.Context, h tokenHash) (*Identity, error) {
	id, generation := s.identities.get(h)
	if id == nil {
		var err error
		var refusal *errs.Error
		if id, err = s.loadIdentity(ctx, h); errors.As(err, &refusal) {
			return nil, nil
		}
		if id == nil || err != nil {
			return nil, err
		}
		s.identities.put(h, id, generation)
	}
	if id.Token.ExpiresAt != nil && !id.Token.ExpiresAt.Time().After(s.now()) {
		return nil, nil
	}
	return id, nil
}

func (s *Server) loadIdentity(ctx context.Context, h tokenHash) (*Identity, error) {
	token, err := s.db.TokenByHash(ctx, h[:])
	if token == nil || err != nil {
		return nil, err
	}
	id := &Identity{Token: token}
	if token.AccountID == nil {
		return id, nil
	}
	if id.Account, err = s.db.Account(ctx, *token.AccountID); err != nil {
		return nil, err
	}
	if id.User, err = s.db.User(ctx, *token.AccountID); err != nil {
		return nil, err
	}
	if st := stateOf(id.User); st != nil {
		return nil, st.tokenRefusal()
	}
	return id, nil
}

// markActive notes once a day that somebody was here, for the statistics and for pruning tokens that nobody uses.
func (s *Server) markActive(ctx context.Context, id *Identity) error {
	today := store.At(s.now().Add(-24 * time.Hour))
	markToken := id.Token != nil && id.Token.LastUsedAt <= today
	markUser := id.User != nil && id.User.LastActiveAt <= today
	if !markToken && !markUser {
		return nil
	}
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		if markToken {
			if err := tx.MarkTokenUsed(ctx, id.Token.ID); err != nil {
				return err
			}
		}
		if markUser {
			return tx.MarkActive(ctx, id.User.AccountID)
		}
		return nil
	})
	if markToken {
		s.identities.remove(tokenHash(id.Token.Hash)) // what is remembered tells of another day
	}
	return err
}

// authenticateFromDB is the Authenticator of a server with a database.
func (s *Server) authenticateFromDB(ctx context.Context, c Credential) (*Identity, error) {
	switch c.Kind {
	case Bearer, Cookie:
		return s.identityOfToken(ctx, c.Token)
	case Basic:
		return s.identityOfPassword(ctx, c)
	}
	return nil, nil
}

package server

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"svc/store"
)

// identities remembers whom tokens stand for, and names with their passwords. What it remembers of an account is dropped when the account changes, and of a
// token when that is revoked, both before the change is answered.
type identities struct {
	mu         sync.Mutex
	known      map[tokenHash]*Identity
	key        []byte // what names and passwords are hashed with, so that nothing can be guessed from what is remembered
	generation uint64 // changes with each drop, so that what was read before is not kept after
}

type tokenHash [sha256.Size]byte

const identitiesKept = 5000

func hashToken(token string) tokenHash { return sha256.Sum256([]byte(token)) }

func newIdentities(db *store.DB) *identities {
	c := &identities{known: make(map[tokenHash]*Identity), key: make([]byte, 32)}
	rand.Read(c.key)
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
				c.drop(func(i *Identity) bool { return i.Token != nil && i.Token.ID == id })
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

// hashPassword returns under what a name with its password is remembered.
func (c *identities) hashPassword(name, password string) tokenHash {
	mac := hmac.New(sha256.New, c.key)
	fmt.Fprintf(mac, "%d:%s%s", len(name), name, password)
	return tokenHash(mac.Sum(nil))
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
	return id, s.markActive(ctx, h, id)
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

// identityOfPassword says who a name and a password stand for; nil if they are wrong. A password that was right once is not
// hashed again for each request.
func (s *Server) identityOfPassword(ctx context.Context, c Credential) (*Identity, error) {
	h := s.identities.hashPassword(c.Name, c.Password)
	id, _ := s.identities.get(h)
	if id != nil {
		return id, s.markActive(ctx, h, id)
	}
	checked, err := s.signIn(ctx, c.Name, c.Password, c.Address)
	if checked == nil || err != nil {
		return nil, err
	}
	_, generation := s.identities.get(h) // of now: hashing took its time
	id = new(Identity)
	if id.User, err = s.db.User(ctx, checked.AccountID); err != nil {
		return nil, err
	}
	if id.Account, err = s.db.Account(ctx, checked.AccountID); err != nil {
		return nil, err
	}
	if st := stateOf(id.User); st != nil {
		return nil, st.tokenRefusal()
	}
	if id.User.PasswordHash == checked.PasswordHash { // else it was changed meanwhile
		s.identities.put(h, id, generation)
	}
	return id, s.markActive(ctx, h, id)
}

// markActive notes once a day that somebody was here, for the statistics and for pruning tokens that nobody uses.
func (s *Server) markActive(ctx context.Context, h tokenHash, id *Identity) error {
	today := store.At(s.now().Add(-24 * time.Hour))
	tokenKnown := id.Token == nil || id.Token.LastUsedAt > today
	userKnown := id.User == nil || id.User.LastActiveAt > today
	if tokenKnown && userKnown {
		return nil
	}
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		if !tokenKnown {
			if err := tx.MarkTokenUsed(ctx, id.Token.ID); err != nil {
				return err
			}
		}
		if userKnown {
			return nil
		}
		return tx.MarkActive(ctx, id.User.AccountID)
	})
	s.identities.remove(h) // what is remembered tells of another day
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

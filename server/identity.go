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
	people     map[store.AccountID]*person // of the known
	size       int                         // of the people, in bytes
	generation uint64                      // changes with each drop, so that what was read before is not kept after
}

type tokenHash [sha256.Size]byte

// person is what the identities of one account have in common: what front ends store for it can be large, and its tokens many.
type person struct {
	account *store.Account
	user    *store.User
	tokens  map[tokenHash]struct{} // that are known
}

// size is about what is kept of a person, in bytes.
func (p *person) size() int {
	n := 2000 + len(p.account.Note) + len(p.user.Note)
	for app, stored := range p.user.SettingsStore.V {
		n += 100 + len(app) + len(stored)
	}
	return n
}

const (
	identitiesKept = 5000
	peopleBytes    = 16 << 20
)

func hashToken(token string) tokenHash { return sha256.Sum256([]byte(token)) }

func newIdentities(db *store.DB) *identities {
	c := &identities{known: make(map[tokenHash]*Identity), people: make(map[store.AccountID]*person)}
	db.Subscribe(c.forget)
	return c
}

func (c *identities) get(h tokenHash) (id *Identity, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[h], c.generation
}

// person returns the account and its user, if a token of theirs is known.
func (c *identities) person(id store.AccountID) (*store.Account, *store.User) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.people[id]; p != nil {
		return p.account, p.user
	}
	return nil, nil
}

func (c *identities) put(h tokenHash, id *Identity, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation != generation || c.known[h] != nil {
		return
	}
	if len(c.known) >= identitiesKept || c.size > peopleBytes {
		c.clear()
	}
	c.known[h] = id
	if id.Account == nil {
		return
	}
	p := c.people[id.Account.ID]
	if p == nil {
		p = &person{account: id.Account, user: id.User, tokens: make(map[tokenHash]struct{})}
		c.people[id.Account.ID] = p
		c.size += p.size()
	}
	id.Account, id.User = p.account, p.user
	p.tokens[h] = struct{}{}
}

func (c *identities) forget(events []store.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range events {
		switch e := e.(type) {
		case store.Changed:
			if e.All {
				c.generation++
				c.clear()
				continue
			}
			for _, id := range e.Accounts {
				c.dropAccount(id)
			}
		case store.TokensRevoked:
			if e.AccountID != 0 {
				c.dropAccount(e.AccountID)
			}
			for _, id := range e.Tokens {
				c.dropToken(id)
			}
		}
	}
}

// remove has an identity read anew.
func (c *identities) remove(h tokenHash) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	c.delete(h)
}

func (c *identities) dropAccount(id store.AccountID) {
	c.generation++
	if p := c.people[id]; p != nil {
		for h := range p.tokens {
			c.delete(h)
		}
	}
}

func (c *identities) dropToken(id store.TokenID) {
	c.generation++
	for h, i := range c.known {
		if i.Token.ID == id {
			c.delete(h)
		}
	}
}

func (c *identities) delete(h tokenHash) {
	i := c.known[h]
	if i == nil {
		return
	}
	delete(c.known, h)
	if i.Account == nil {
		return
	}
	p := c.people[i.Account.ID]
	if delete(p.tokens, h); len(p.tokens) == 0 {
		c.size -= p.size()
		delete(c.people, i.Account.ID)
	}
}

func (c *identities) clear() {
	clear(c.known)
	clear(c.people)
	c.size = 0
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
	if id.Account, id.User = s.identities.person(*token.AccountID); id.Account == nil {
		if id.Account, err = s.db.Account(ctx, *token.AccountID); err != nil {
			return nil, err
		}
		if id.User, err = s.db.User(ctx, *token.AccountID); err != nil {
			return nil, err
		}
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

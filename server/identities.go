package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"svc/internal/errs"
	"svc/server/rest"
	"svc/store"
)

// identityCache remembers whom tokens stand for. What it remembers of an account is dropped when the account changes, and of a
// token when that is revoked, both before the change is answered.
type identityCache struct {
	mu           sync.Mutex
	byToken      map[tokenHash]*rest.Identity
	accounts     map[store.AccountID]*cachedAccount // of the known
	accountBytes int                                // of the people, in bytes
	generation   uint64                             // changes with each drop, so that what was read before is not kept after
}

type tokenHash [sha256.Size]byte

// cachedAccount is what the identities of one account have in common: what front ends store for it can be large, and its tokens many.
type cachedAccount struct {
	account *store.Account
	user    *store.User
	tokens  map[tokenHash]struct{} // that are known
}

// size is about what is kept of a person, in bytes.
func (p *cachedAccount) size() int {
	n := 2000 + len(p.account.Note) + len(p.user.Note)
	for app, stored := range p.user.SettingsStore.V {
		n += 100 + len(app) + len(stored)
	}
	return n
}

const (
	maxIdentities    = 5000
	maxIdentityBytes = 16 << 20
)

func hashToken(token string) tokenHash { return sha256.Sum256([]byte(token)) }

func newIdentityCache(db *store.DB) *identityCache {
	c := &identityCache{byToken: make(map[tokenHash]*rest.Identity), accounts: make(map[store.AccountID]*cachedAccount)}
	db.Subscribe(c.invalidate)
	return c
}

func (c *identityCache) get(h tokenHash) (id *rest.Identity, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byToken[h], c.generation
}

// account returns the account and its user, if a token of theirs is known.
func (c *identityCache) account(id store.AccountID) (*store.Account, *store.User) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.accounts[id]; p != nil {
		return p.account, p.user
	}
	return nil, nil
}

func (c *identityCache) put(h tokenHash, id *rest.Identity, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation != generation || c.byToken[h] != nil {
		return
	}
	if len(c.byToken) >= maxIdentities || c.accountBytes > maxIdentityBytes {
		c.clear()
	}
	c.byToken[h] = id
	if id.Account == nil {
		return
	}
	p := c.accounts[id.Account.ID]
	if p == nil {
		p = &cachedAccount{account: id.Account, user: id.User, tokens: make(map[tokenHash]struct{})}
		c.accounts[id.Account.ID] = p
		c.accountBytes += p.size()
	}
	id.Account, id.User = p.account, p.user
	p.tokens[h] = struct{}{}
}

func (c *identityCache) invalidate(events []store.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range events {
		switch e := e.(type) {
		case store.RowsChanged:
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

// dropHash has an identity read anew.
func (c *identityCache) dropHash(h tokenHash) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	c.delete(h)
}

func (c *identityCache) dropAccount(id store.AccountID) {
	c.generation++
	if p := c.accounts[id]; p != nil {
		for h := range p.tokens {
			c.delete(h)
		}
	}
}

func (c *identityCache) dropToken(id store.TokenID) {
	c.generation++
	for h, i := range c.byToken {
		if i.Token.ID == id {
			c.delete(h)
		}
	}
}

func (c *identityCache) delete(h tokenHash) {
	i := c.byToken[h]
	if i == nil {
		return
	}
	delete(c.byToken, h)
	if i.Account == nil {
		return
	}
	p := c.accounts[i.Account.ID]
	if delete(p.tokens, h); len(p.tokens) == 0 {
		c.accountBytes -= p.size()
		delete(c.accounts, i.Account.ID)
	}
}

func (c *identityCache) clear() {
	clear(c.byToken)
	clear(c.accounts)
	c.accountBytes = 0
}

// identityByToken says who a token stands for; nil if it is unknown or expired. The error tells if its account cannot be used.
func (s *Server) identityByToken(ctx context.Context, token string) (*rest.Identity, error) {
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

// currentIdentity says who a token stands for at this moment, nil if nobody, without noting that it was used.
func (s *Server) currentIdentity(ctx context.Context, h tokenHash) (*rest.Identity, error) {
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

func (s *Server) loadIdentity(ctx context.Context, h tokenHash) (*rest.Identity, error) {
	token, err := s.db.TokenByHash(ctx, h[:])
	if token == nil || err != nil {
		return nil, err
	}
	id := &rest.Identity{Token: token}
	if token.AccountID == nil {
		return id, nil
	}
	if id.Account, id.User = s.identities.account(*token.AccountID); id.Account == nil {
		if id.Account, err = s.db.Account(ctx, *token.AccountID); err != nil {
			return nil, err
		}
		if id.User, err = s.db.User(ctx, *token.AccountID); err != nil {
			return nil, err
		}
	}
	if st := problemOf(id.User); st != nil {
		return nil, st.tokenError()
	}
	return id, nil
}

// markActive notes once a day that somebody was here, for the statistics and for pruning tokens that nobody uses.
func (s *Server) markActive(ctx context.Context, id *rest.Identity) error {
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
		s.identities.dropHash(tokenHash(id.Token.Hash)) // what is remembered tells of another day
	}
	return err
}

// authenticateFromDB is the Authenticator of a server with a database.
func (s *Server) authenticateFromDB(ctx context.Context, c rest.Credential) (*rest.Identity, error) {
	switch c.Kind {
	case rest.Bearer, rest.Cookie:
		return s.identityByToken(ctx, c.Token)
	case rest.Basic:
		return s.identityByPassword(ctx, c)
	}
	return nil, nil
}

package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"svc/internal/cache"
	"svc/internal/errs"
	"svc/server/rest"
	"svc/server/web"
	"svc/store"
)

// Bounds of the cached identities.
const (
	maxCachedTokens       = 5000
	maxCachedAccountBytes = 16 << 20
)

// identityCache holds tokens, and the accounts that they stand for once for all their tokens. The database invalidates both before a change
// is answered.
type identityCache struct {
	tokens   *cache.Cache[tokenHash, *store.Token]
	accounts *cache.Cache[store.AccountID, cachedAccount]
}

type tokenHash = [sha256.Size]byte

type cachedAccount struct {
	account *store.Account
	user    *store.User
	look    json.RawMessage // what the web interface stores, nil: nothing
}

// size returns the approximate memory of an account in bytes.
func (a cachedAccount) size() int {
	n := 2000 + cache.EntryBytes + len(a.account.Note) + len(a.user.Note) + len(a.look)
	for _, fields := range [][]store.Field{a.account.Fields.V, a.user.Fields.V} {
		for _, f := range fields {
			n += 100 + len(f.Name) + len(f.Value)
		}
	}
	return n
}

func newIdentityCache(db *store.DB) *identityCache {
	c := &identityCache{
		tokens:   cache.New[tokenHash, *store.Token](maxCachedTokens),
		accounts: cache.NewWeighted[store.AccountID](maxCachedAccountBytes, cachedAccount.size),
	}
	db.Subscribe(c.invalidate)
	return c
}

func (c *identityCache) invalidate(events []store.Event) {
	for _, e := range events {
		switch e := e.(type) {
		case store.RowsChanged:
			if e.All {
				c.tokens.Clear()
				c.accounts.Clear()
				continue
			}
			c.accounts.Drop(e.Accounts...)
		case store.TokensRevoked:
			c.tokens.DropFunc(func(_ tokenHash, t *store.Token) bool {
				return slices.Contains(e.Tokens, t.ID) || e.AccountID != 0 && t.AccountID != nil && *t.AccountID == e.AccountID
			})
		}
	}
}

// IdentityByToken returns the identity of a token, the zero Identity if it is unknown or expired. It fails with an errs.Error if the
// account is unavailable.
func (s *Service) IdentityByToken(ctx context.Context, token string) (rest.Identity, error) {
	id, err := s.identity(ctx, sha256.Sum256([]byte(token)))
	if id.Token == nil || err != nil {
		return rest.Identity{}, err
	}
	return id, s.markActive(ctx, id)
}

// CurrentIdentity returns the current identity of the token with a hash, the zero Identity if there is none. It does not mark the token as used.
func (s *Service) CurrentIdentity(ctx context.Context, hash tokenHash) (rest.Identity, error) {
	id, err := s.identity(ctx, hash)
	var refusal *errs.Error
	if errors.As(err, &refusal) {
		return rest.Identity{}, nil
	}
	return id, err
}

// identity returns the identity of the token with a hash, the zero Identity if there is none.
func (s *Service) identity(ctx context.Context, hash tokenHash) (id rest.Identity, err error) {
	token, err := s.identities.tokens.Load(hash, func() (*store.Token, error) {
		key := hash // hash itself would escape to the heap, also on a hit
		token, err := s.DB.TokenByHash(ctx, key[:])
		if token == nil && err == nil {
			err = errUnknownToken
		}
		return token, err
	})
	switch {
	case err == errUnknownToken:
		return id, nil
	case err != nil:
		return id, err
	case token.ExpiresAt != nil && !token.ExpiresAt.Time().After(s.Now()):
		return id, nil
	case token.AccountID == nil:
		return rest.Identity{Token: token}, nil
	}
	a, err := s.loadAccount(ctx, *token.AccountID)
	if err != nil {
		return id, err
	}
	if problem := problemOf(a.user); problem != nil {
		return id, problem.tokenError()
	}
	return rest.Identity{Account: a.account, User: a.user, Token: token}, nil
}

func (s *Service) loadAccount(ctx context.Context, id store.AccountID) (cachedAccount, error) {
	return s.identities.accounts.Load(id, func() (a cachedAccount, err error) {
		if a.account, err = s.DB.Account(ctx, id); err != nil {
			return a, err
		}
		if a.user, err = s.DB.User(ctx, id); err != nil {
			return a, err
		}
		if a.look, err = s.DB.FrontendSettings(ctx, id, web.SettingsClient); len(a.look) > web.MaxAppearance {
			a.look = nil
		}
		return a, err
	})
}

// errUnknownToken keeps unknown tokens out of the cache.
var errUnknownToken = errors.New("unknown token")

// markActive records once a day that a token and its user are in use, for the statistics and for pruning unused tokens. While nothing can be
// stored, it does not: requests that only read go on.
func (s *Service) markActive(ctx context.Context, id rest.Identity) error {
	yesterday := store.At(s.Now().Add(-24 * time.Hour))
	markToken := id.Token != nil && id.Token.LastUsedAt <= yesterday
	markUser := id.User != nil && id.User.LastActiveAt <= yesterday
	if !markToken && !markUser {
		return nil
	}
	err := s.DB.Update(ctx, func(tx *store.Tx) error {
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
		s.identities.tokens.Drop(tokenHash(id.Token.Hash)) // for the new LastUsedAt
	}
	return s.unlessRefused(err)
}

// unlessRefused returns the error of writing something that a request can do without, nil if nothing can be stored now.
func (s *Service) unlessRefused(err error) error {
	if err != nil && s.DB.Condition().State != store.Writable {
		return nil
	}
	return err
}

// Authenticate returns the identity of a credential, the zero Identity if there is none. It is the rest.Authenticator of the server.
func (s *Service) Authenticate(ctx context.Context, c rest.Credential) (rest.Identity, error) {
	switch c.Kind {
	case rest.Bearer, rest.Cookie:
		return s.IdentityByToken(ctx, c.Token)
	case rest.Basic:
		return s.identityByPassword(ctx, c)
	}
	return rest.Identity{}, nil
}

// CacheStats returns the state of the caches by name.
func (s *Service) CacheStats() map[string]cache.Stats {
	return map[string]cache.Stats{"tokens": s.identities.tokens.Stats(), "identities": s.identities.accounts.Stats()}
}

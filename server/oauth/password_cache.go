package oauth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"

	"svc/internal/cache"
	"svc/internal/errs"
	"svc/server/rest"
	"svc/store"
)

// passwordCache remembers verified passwords, so that Basic auth does not hash the password of each request. It holds names and
// passwords as a keyed hash only, with the stored hash that they matched: if that has changed, the password is hashed again.
type passwordCache struct {
	key      []byte
	verified *cache.Cache[[sha256.Size]byte, string]
}

const maxCachedPasswords = 1000

func newPasswordCache() *passwordCache {
	c := &passwordCache{make([]byte, sha256.Size), cache.New[[sha256.Size]byte, string](maxCachedPasswords)}
	rand.Read(c.key)
	return c
}

func (c *passwordCache) entryKey(name, password string) [sha256.Size]byte {
	mac := hmac.New(sha256.New, c.key)
	fmt.Fprintf(mac, "%d:%s%s", len(name), name, password)
	return [sha256.Size]byte(mac.Sum(nil))
}

// contains returns true if name and password have matched the stored hash before.
func (c *passwordCache) contains(name, password, stored string) bool {
	hash, ok := c.verified.Get(c.entryKey(name, password))
	return ok && hash == stored
}

func (c *passwordCache) add(name, password, stored string) {
	c.verified.Put(c.entryKey(name, password), stored, c.verified.Generation())
}

var errPasswordWithMFA = errs.Forbidden("Two-factor authentication enabled, you must use a access token.")

// identityByPassword returns the identity for a name and a password, the zero Identity if they are wrong. It fails with an errs.Error
// if the account is unavailable.
func (s *Service) identityByPassword(ctx context.Context, c rest.Credential) (id rest.Identity, err error) {
	user, err := s.verifiedUser(ctx, c)
	if user == nil || err != nil {
		return id, err
	}
	if problem := problemOf(user); problem != nil {
		return id, problem.tokenError()
	}
	if user.HasMFA() { // a password alone is not enough (extension API 2.3)
		return id, errPasswordWithMFA
	}
	account, err := s.DB.Account(ctx, user.AccountID)
	if err != nil {
		return id, err
	}
	id = rest.Identity{Account: account, User: user}
	return id, s.markActive(ctx, id)
}

// verifiedUser returns the user of a name and a password, nil if they are wrong. A remembered password is limited like any other: else it
// could be guessed without end while others are refused.
func (s *Service) verifiedUser(ctx context.Context, c rest.Credential) (*store.User, error) {
	user, err := s.Social.UserByLogin(ctx, c.Name)
	if err != nil {
		return nil, err
	}
	if user != nil && s.passwordCache.contains(c.Name, c.Password, user.PasswordHash) {
		admitted, err := s.loginLimits.password(user, c.Name, c.Network).admit(ctx)
		if err != nil {
			return nil, err
		}
		admitted.release()
		return user, nil
	}
	user, err = s.signIn(ctx, c.Name, c.Password, c.Network)
	if user == nil || err != nil {
		return nil, err
	}
	s.passwordCache.add(c.Name, c.Password, user.PasswordHash)
	if user.HasMFA() || problemOf(user) != nil {
		return user, nil
	}
	err = s.DB.Update(ctx, func(tx *store.Tx) error { return s.Social.NoteLoginIn(ctx, tx, user, c.Network, "") })
	return user, s.unlessRefused(err)
}

package server

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"sync"

	"svc/internal/errs"
	"svc/server/rest"
)

// passwordCache remembers which passwords were right, so that one that comes with each request is not hashed each time. It knows names
// and passwords only by a keyed hash, and next to it the stored hash that they matched: as soon as that is another, they are
// compared anew.
type passwordCache struct {
	key            []byte
	mu             sync.Mutex
	verifiedHashes map[[sha256.Size]byte]string
}

const maxCachedPasswords = 1000

func newPasswordCache() *passwordCache {
	l := &passwordCache{key: make([]byte, sha256.Size), verifiedHashes: make(map[[sha256.Size]byte]string)}
	rand.Read(l.key)
	return l
}

func (l *passwordCache) entryKey(name, password string) [sha256.Size]byte {
	mac := hmac.New(sha256.New, l.key)
	fmt.Fprintf(mac, "%d:%s%s", len(name), name, password)
	return [sha256.Size]byte(mac.Sum(nil))
}

// contains tells whether name and password have matched the stored hash before.
func (l *passwordCache) contains(name, password, stored string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return stored != "" && l.verifiedHashes[l.entryKey(name, password)] == stored
}

func (l *passwordCache) add(name, password, stored string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.verifiedHashes) >= maxCachedPasswords {
		clear(l.verifiedHashes)
	}
	l.verifiedHashes[l.entryKey(name, password)] = stored
}

var errPasswordWithMFA = errs.Forbidden("Two-factor authentication enabled, you must use a access token.")

// identityByPassword says who a name and a password stand for; nil if they are wrong. The error tells if the account cannot be
// used.
func (s *Server) identityByPassword(ctx context.Context, c rest.Credential) (*rest.Identity, error) {
	user, err := s.userByLogin(ctx, c.Name)
	if err != nil {
		return nil, err
	}
	if user == nil || !s.passwordCache.contains(c.Name, c.Password, user.PasswordHash) {
		if user, err = s.signIn(ctx, c.Name, c.Password, c.Network); user == nil || err != nil {
			return nil, err
		}
		s.passwordCache.add(c.Name, c.Password, user.PasswordHash)
	}
	if st := problemOf(user); st != nil {
		return nil, st.tokenError()
	}
	if user.HasMFA() { // a password alone is not enough (extension API 2.3)
		return nil, errPasswordWithMFA
	}
	account, err := s.db.Account(ctx, user.AccountID)
	if err != nil {
		return nil, err
	}
	id := &rest.Identity{Account: account, User: user}
	return id, s.markActive(ctx, id)
}

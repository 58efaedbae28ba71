package server

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"sync"

	"svc/internal/errs"
)

// logins remembers which passwords were right, so that one that comes with each request is not hashed each time. It knows names
// and passwords only by a keyed hash, and next to it the stored hash that they matched: as soon as that is another, they are
// compared anew.
type logins struct {
	key   []byte
	mu    sync.Mutex
	known map[[sha256.Size]byte]string
}

const loginsKept = 1000

func newLogins() *logins {
	l := &logins{key: make([]byte, sha256.Size), known: make(map[[sha256.Size]byte]string)}
	rand.Read(l.key)
	return l
}

func (l *logins) hash(name, password string) [sha256.Size]byte {
	mac := hmac.New(sha256.New, l.key)
	fmt.Fprintf(mac, "%d:%s%s", len(name), name, password)
	return [sha256.Size]byte(mac.Sum(nil))
}

// matched tells whether name and password have matched the stored hash before.
func (l *logins) matched(name, password, stored string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return stored != "" && l.known[l.hash(name, password)] == stored
}

func (l *logins) remember(name, password, stored string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.known) >= loginsKept {
		clear(l.known)
	}
	l.known[l.hash(name, password)] = stored
}

var errPasswordOnly = errs.Forbidden("Two-factor authentication enabled, you must use a access token.")

// identityOfPassword says who a name and a password stand for; nil if they are wrong. The error tells if the account cannot be
// used.
func (s *Server) identityOfPassword(ctx context.Context, c Credential) (*Identity, error) {
	user, err := s.userByLogin(ctx, c.Name)
	if err != nil {
		return nil, err
	}
	if user == nil || !s.logins.matched(c.Name, c.Password, user.PasswordHash) {
		if user, err = s.signIn(ctx, c.Name, c.Password, c.Address); user == nil || err != nil {
			return nil, err
		}
		s.logins.remember(c.Name, c.Password, user.PasswordHash)
	}
	if st := stateOf(user); st != nil {
		return nil, st.tokenRefusal()
	}
	if user.MFA() { // a password alone is not enough (extension API 2.3)
		return nil, errPasswordOnly
	}
	account, err := s.db.Account(ctx, user.AccountID)
	if err != nil {
		return nil, err
	}
	id := &Identity{Account: account, User: user}
	return id, s.markActive(ctx, id)
}

package federation

import (
	"context"
	"crypto"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/httpsig"
	"svc/store"
)

const (
	signedPast   = 12 * time.Hour // how long ago a request may have been signed (federation 2.2)
	signedFuture = time.Hour
	keyTime      = 5 * time.Second // for fetching a key while its owner's server waits
	refreshPause = 5 * time.Minute // between two looks at an actor whose signatures are wrong
	maxKeys      = 5000            // that are kept ready
)

// errGone says that the actor who should have signed something is no more.
var errGone = errors.New("the actor is gone")

// verify finds out who has signed a request: the actor, or another. The errors are answers to the sender, or errGone.
func (s *Service) verify(ctx context.Context, r *http.Request, body []byte, actor string) (*store.Account, error) {
	base, err := url.Parse(s.BaseURL)
	if err != nil {
		return nil, err
	}
	claims, err := httpsig.Read(r, httpsig.Policy{Base: base, Now: s.now(), Past: signedPast, Future: signedFuture, Body: body})
	if err != nil {
		return nil, s.unverified(r, actor, err)
	}
	for _, c := range httpsig.Prefer(claims, func(id string) bool { return activity.SameHost(id, actor, s.Trial) }) {
		var signer *store.Account
		if signer, err = s.signerOf(ctx, c); err == nil {
			return signer, nil
		}
	}
	switch {
	case errors.Is(err, errGone):
		return nil, err
	case errors.Is(err, errTryAgain):
		s.log.Debug("key could not be fetched", "actor", actor, "err", err)
		return nil, errTryAgain
	}
	return nil, s.unverified(r, actor, err)
}

func (s *Service) unverified(r *http.Request, actor string, err error) error {
	s.log.Debug("signature not verified", "actor", actor, "path", r.URL.Path, "err", err)
	return &errs.Error{Status: errUnsigned.Status, Message: errUnsigned.Message, Err: err}
}

// signerOf returns whose signature a claim is. If the key that is known does not fit, its owner is asked, once, for another.
func (s *Service) signerOf(ctx context.Context, c *httpsig.Claim) (*store.Account, error) {
	key, err := s.key(ctx, c.KeyID)
	if err != nil {
		return nil, err
	}
	fresh := key == nil
	if fresh {
		if key, err = s.fetchKey(ctx, c.KeyID); err != nil {
			return nil, err
		}
	}
	failure := c.Verify(key.public)
	if errors.Is(failure, httpsig.ErrSignature) || errors.Is(failure, httpsig.ErrKey) {
		if fresh || !s.keys.mayRefresh(key.owner, s.now()) {
			return nil, failure
		}
		s.keys.forget(c.KeyID)
		if key, err = s.fetchKey(ctx, c.KeyID); err != nil {
			return nil, err
		}
		failure = c.Verify(key.public)
	}
	if failure != nil {
		return nil, failure
	}
	return s.db.Account(ctx, key.owner)
}

// knownKey is a key that is ready to verify with, and whose it is.
type knownKey struct {
	public crypto.PublicKey
	owner  store.AccountID
}

// key returns a key that is known, nil if it is not.
func (s *Service) key(ctx context.Context, id string) (*knownKey, error) {
	if k := s.keys.get(id); k != nil {
		return k, nil
	}
	row, err := s.db.ActorKey(ctx, id)
	if err != nil || row == nil || row.Private != nil || row.RetiredAt != nil {
		return nil, err
	}
	public, err := parseKey(row.Public)
	if err != nil {
		return nil, err
	}
	k := &knownKey{public, row.AccountID}
	s.keys.put(id, k)
	return k, nil
}

// parseKey reads a key as it is stored.
func parseKey(text string) (crypto.PublicKey, error) {
	if len(text) > 0 && text[0] == 'z' {
		return httpsig.ParseMultikey(text)
	}
	return httpsig.ParsePublicKey(text)
}

// fetchKey asks the owner of a key for it. The owner is known afterwards.
func (s *Service) fetchKey(ctx context.Context, id string) (*knownKey, error) {
	host, err := s.hostToAsk(activity.WithoutFragment(id))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, keyTime)
	defer cancel()
	err = s.learnKey(ctx, id)
	switch {
	case err == nil:
	case isGone(err):
		return nil, errGone
	case passing(err):
		return nil, errors.Join(errTryAgain, err)
	default:
		return nil, err
	}
	key, err := s.key(ctx, id)
	if err == nil && key == nil {
		err = refuse("no actor of %s has the key %s", host, id)
	}
	return key, err
}

// Caller returns who has signed a request that reads something: nil if nobody has. A wrong signature is an error.
func (s *Service) Caller(ctx context.Context, r *http.Request) (*store.Account, error) {
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if r.Header.Get("Signature") == "" && !strings.EqualFold(scheme, "Signature") { // an app's token is of no use here
		return nil, nil
	}
	if s.fromRejected(r) {
		return nil, errNoDealings
	}
	signer, err := s.verify(ctx, r, nil, "")
	switch {
	case errors.Is(err, errGone), err == nil && signer.Withheld: // deleted, or suspended
		return nil, errUnsigned
	case err != nil:
		return nil, err
	}
	if signer.Domain != "" && s.allowed(signer.Domain) != nil {
		return nil, errNoDealings
	}
	return signer, nil
}

// fromRejected tells whether a request claims to be signed with a key of a host with which there are no dealings. Nobody is asked.
func (s *Service) fromRejected(r *http.Request) bool {
	base, err := url.Parse(s.BaseURL)
	if err != nil {
		return false
	}
	claims, err := httpsig.Read(r, httpsig.Policy{Base: base, Now: s.now(), Past: signedPast, Future: signedFuture})
	return err == nil && slices.ContainsFunc(claims, func(c *httpsig.Claim) bool {
		host, err := activity.Host(activity.WithoutFragment(c.KeyID), s.Trial)
		return err == nil && s.allowed(host) != nil
	})
}

// knownKeys are keys that are ready to verify with.
type knownKeys struct {
	mu        sync.Mutex
	of        map[string]*knownKey
	refreshed map[store.AccountID]time.Time // when keys were looked at anew because a signature was wrong
}

func newKnownKeys() *knownKeys {
	return &knownKeys{of: make(map[string]*knownKey), refreshed: make(map[store.AccountID]time.Time)}
}

func (k *knownKeys) get(id string) *knownKey {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.of[id]
}

func (k *knownKeys) put(id string, key *knownKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for other := range k.of {
		if len(k.of) < maxKeys {
			break
		}
		delete(k.of, other)
	}
	k.of[id] = key
}

// forget has a key read from the database the next time.
func (k *knownKeys) forget(ids ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, id := range ids {
		delete(k.of, id)
	}
}

// mayRefresh tells whether the keys of an account may be looked at anew, and notes that they are.
func (k *knownKeys) mayRefresh(owner store.AccountID, now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now.Sub(k.refreshed[owner]) < refreshPause {
		return false
	}
	for id, at := range k.refreshed {
		if len(k.refreshed) < maxKeys && now.Sub(at) < refreshPause {
			break
		}
		delete(k.refreshed, id)
	}
	k.refreshed[owner] = now
	return true
}

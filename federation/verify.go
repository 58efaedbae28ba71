package federation

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"svc/federation/policy"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/fetch"
	"svc/internal/httpsig"
	"svc/store"
)

const (
	signedFuture = time.Hour       // how far the clocks of others may be ahead (federation 2.2)
	keyTime      = 5 * time.Second // for fetching a key while its owner's server waits
	refreshPause = 5 * time.Minute // between two looks at an actor whose signatures are wrong
	maxKeys      = 5000            // that are kept ready
)

// errGone says that the actor who should have signed something is no more.
var errGone = errors.New("the actor is gone")

// claims returns what a request says of its signature, by actor or another, once all is right that can be checked without a key.
func (s *Service) claims(r *http.Request, body []byte, actor string) ([]*httpsig.Claim, error) {
	base, err := url.Parse(s.BaseURL)
	if err != nil {
		return nil, err
	}
	claims, err := httpsig.Read(r, httpsig.Policy{Base: base, Now: s.now(), Past: s.SignatureAge, Future: signedFuture, Body: body})
	if err != nil {
		return nil, s.unverified(actor, err)
	}
	return claims, nil
}

// verify finds out who has signed a request: the actor, or another. The errors are answers to the sender, or errGone.
func (s *Service) verify(ctx context.Context, claims []*httpsig.Claim, actor string) (*store.Account, error) {
	err := httpsig.ErrUnsigned
	ofActor := func(id string) bool { return activity.SameHost(id, actor, s.Trial) }
	for _, c := range httpsig.Prefer(claims, ofActor) {
		var signer *store.Account
		if signer, err = s.signerOf(ctx, c); err == nil {
			return signer, nil
		}
		if errors.Is(err, errGone) && !ofActor(c.KeyID) { // which says nothing of the actor
			err = fmt.Errorf("%w: %v", errNotVerified, err)
		}
	}
	var refused *policy.Rejected
	switch {
	case errors.Is(err, errNotVerified):
	case errors.Is(err, errGone), errors.Is(err, errLater):
		return nil, err
	case errors.As(err, &refused):
		return nil, errNoDealings
	case errors.Is(err, errEnough):
		return nil, errTryLater
	case passing(err):
		return nil, &errs.Error{Status: errTryAgain.Status, Message: errTryAgain.Message, RetryAfter: errTryAgain.RetryAfter, Err: err}
	}
	return nil, s.unverified(actor, err)
}

func (s *Service) unverified(actor string, err error) error {
	s.log.Debug("signature not verified", "actor", actor, "err", err)
	return &errs.Error{Status: errUnsigned.Status, Message: errUnsigned.Message, Err: err}
}

// errNotVerified says that a signature is wrong, and that it is of no use to ask for the key again.
var errNotVerified = errors.New("the signature does not fit the key")

// errEnough says that a key is not asked for, because too many were in vain.
var errEnough = errors.New("too many keys were asked for in vain")

// signerOf returns whose signature a claim is.
func (s *Service) signerOf(ctx context.Context, c *httpsig.Claim) (*store.Account, error) {
	return s.ownerOf(ctx, c.KeyID, c.Verify)
}

// ownerOf returns whose key it is that something was signed with, which verify finds out. If the key that is known does not fit, its owner
// is asked, once, for another.
func (s *Service) ownerOf(ctx context.Context, id string, verify func(crypto.PublicKey) error) (*store.Account, error) {
	key, err := s.key(ctx, id)
	if err != nil {
		return nil, err
	}
	if key != nil {
		owner, err := s.senders.account(ctx, key.owner)
		switch failure := verify(key.public); {
		case errs.IsNotFound(err): // it was removed, as strangers are, and is met anew
			s.keys.forget(id)
			key = nil
		case err != nil || failure == nil:
			return owner, err
		case !errors.Is(failure, httpsig.ErrSignature) && !errors.Is(failure, httpsig.ErrKey):
			return nil, fmt.Errorf("%w: %w", errNotVerified, failure)
		}
	}
	if key, err = s.fetchKey(ctx, id, key); err != nil {
		return nil, err
	}
	if failure := verify(key.public); failure != nil {
		s.askedInVain(ctx, id)
		return nil, fmt.Errorf("%w: %w", errNotVerified, failure)
	}
	return s.senders.account(ctx, key.owner)
}

// askedInVain notes that a key was asked for in vain.
func (s *Service) askedInVain(ctx context.Context, id string) {
	if host, err := activity.Host(activity.WithoutFragment(id), s.Trial); err == nil {
		s.vain.add(sourceOf(ctx), domainOf(host), s.now())
	}
}

// knownKey is a key that is ready to verify with, and whose it is.
type knownKey struct {
	public crypto.PublicKey
	owner  store.AccountID
	text   string // as it is stored
}

// key returns a key that is known, nil if it is not.
func (s *Service) key(ctx context.Context, id string) (*knownKey, error) {
	k, generation := s.keys.get(id)
	if k != nil {
		return k, nil
	}
	row, err := s.db.ActorKey(ctx, id)
	if err != nil || row == nil || row.Private != nil || row.RetiredAt != nil {
		return nil, err
	}
	public, err := parseKey(row.Public)
	if err != nil {
		s.log.Warn("a stored key cannot be read", "key", id, "err", err)
		return nil, nil
	}
	k = &knownKey{public, row.AccountID, row.Public}
	s.keys.put(id, k, generation)
	return k, nil
}

// parseKey reads a key as it is stored.
func parseKey(text string) (crypto.PublicKey, error) {
	if len(text) > 0 && text[0] == 'z' {
		return httpsig.ParseMultikey(text)
	}
	return httpsig.ParsePublicKey(text)
}

// fetchKey asks the owner of a key for it; wrong is the one that is known and does not fit, nil if none is known. However many wait for a
// key, its owner is asked once, and after a signature was wrong not again so soon (federation 2.3).
func (s *Service) fetchKey(ctx context.Context, id string, wrong *knownKey) (*knownKey, error) {
	host, err := s.hostToAsk(activity.WithoutFragment(id))
	if err != nil {
		return nil, err
	}
	if err := mayAsk(ctx); err != nil {
		return nil, err
	}
	name := "key " + id
	if wrong != nil {
		name = "another " + name
	} else if err := s.absent.of(name, s.now()); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, keyTime)
	defer cancel()
	return s.keys.flights.do(ctx, name, actorTime, func(ctx context.Context) (*knownKey, error) {
		s.keys.forget(id)
		key, err := s.key(ctx, id)
		if err != nil || key != nil && (wrong == nil || key.text != wrong.text) {
			return key, err // somebody has asked meanwhile
		}
		switch {
		case wrong != nil && !s.keys.mayRefresh(wrong.owner, s.now()):
			return nil, errNotVerified
		case s.vain.enough(sourceOf(ctx), domainOf(host), s.now()):
			return nil, errEnough
		}
		release, err := s.asking.Take(ctx, domainOf(host))
		if err != nil {
			return nil, err
		}
		err = s.learnKey(ctx, id)
		release()
		if err != nil && !errors.Is(err, fetch.ErrBusy) && !errors.Is(err, errAbsent) {
			s.askedInVain(ctx, id)
		}
		switch {
		case isGone(err):
			err = fmt.Errorf("%w: %w", errGone, err)
		case err != nil && passing(err):
			return nil, err
		case err != nil:
			err = fmt.Errorf("%w: %w", errNotVerified, err)
		}
		if wrong != nil {
			s.keys.refreshed(wrong.owner, s.now())
		}
		if err != nil {
			s.absent.noteFor("key "+id, err, s.now(), refreshPause)
			return nil, err
		}
		key, err = s.key(ctx, id)
		if err == nil && key == nil {
			err = fmt.Errorf("%w: nobody has the key %s", errNotVerified, id)
		}
		return key, err
	})
}

// Caller returns who has signed a request that reads something: nil if nobody has. A wrong signature is an error, as is that of somebody who
// has no say here.
func (s *Service) Caller(ctx context.Context, r *http.Request) (*store.Account, error) {
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if r.Header.Get("Signature") == "" && !strings.EqualFold(scheme, "Signature") { // an app's token is of no use here
		return nil, nil
	}
	claims, err := s.claims(r, nil, "")
	if err != nil {
		return nil, err
	}
	return s.callerOf(ctx, claims)
}

// callerOf returns whose signatures on a request that reads something those are, likewise.
func (s *Service) callerOf(ctx context.Context, claims []*httpsig.Claim) (*store.Account, error) {
	if slices.ContainsFunc(claims, s.ofRejected) {
		return nil, errNoDealings
	}
	signer, err := s.verify(ctx, claims, "")
	switch {
	case errors.Is(err, errGone), err == nil && (signer.Withheld || signer.DeletedAt != nil):
		return nil, errUnsigned
	case err != nil:
		return nil, err
	}
	if host := s.hostOf(signer); s.allowed(signer.Domain) != nil || s.allowed(host) != nil || s.Policies.Refused(host) {
		return nil, errNoDealings
	}
	return signer, nil
}

// mayBeKnown tells whether a request is signed with a key that is known, or that of somebody known may be.
func (s *Service) mayBeKnown(ctx context.Context, r *http.Request) (bool, error) {
	claims, _ := s.claims(r, nil, "")
	for _, c := range claims {
		if key, err := s.key(ctx, c.KeyID); key != nil || err != nil {
			return key != nil, err
		}
		_, err := s.senders.actor(ctx, trimKey(activity.WithoutFragment(c.KeyID)))
		if !errs.IsNotFound(err) {
			return err == nil, err
		}
	}
	return false, nil
}

// ofRejected tells whether a signature claims to be by a key of a host with which there are no dealings. Nobody is asked.
func (s *Service) ofRejected(c *httpsig.Claim) bool {
	host, err := activity.Host(activity.WithoutFragment(c.KeyID), s.Trial)
	return err == nil && s.allowed(host) != nil
}

// knownKeys are keys that are ready to verify with.
type knownKeys struct {
	flights flights[*knownKey]

	mu         sync.Mutex
	of         map[string]*knownKey
	generation uint64                        // changes when one is forgotten, so that what was read before is not kept after
	asked      map[store.AccountID]time.Time // when keys were looked at anew because a signature was wrong
}

func newKnownKeys() *knownKeys {
	return &knownKeys{of: make(map[string]*knownKey), asked: make(map[store.AccountID]time.Time)}
}

func (k *knownKeys) get(id string) (*knownKey, uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.of[id], k.generation
}

func (k *knownKeys) put(id string, key *knownKey, generation uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.generation != generation {
		return
	}
	for other := range k.of {
		if len(k.of) < maxKeys {
			break
		}
		delete(k.of, other)
	}
	k.of[id] = key
}

// forget has keys read from the database the next time.
func (k *knownKeys) forget(ids ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.generation++
	for _, id := range ids {
		delete(k.of, id)
	}
}

// mayRefresh tells whether the keys of an account may be looked at anew.
func (k *knownKeys) mayRefresh(owner store.AccountID, now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	at, ok := k.asked[owner]
	return !ok || now.Sub(at) >= refreshPause
}

// refreshed notes that they were.
func (k *knownKeys) refreshed(owner store.AccountID, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for id, at := range k.asked {
		if len(k.asked) < maxKeys && now.Sub(at) < refreshPause {
			break
		}
		delete(k.asked, id)
	}
	k.asked[owner] = now
}

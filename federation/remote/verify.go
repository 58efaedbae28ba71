package remote

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"svc/internal/activity"
	"svc/internal/cache"
	"svc/internal/errs"
	"svc/internal/fetch"
	"svc/internal/httpsig"
	"svc/internal/limit"
	"svc/internal/proof"
	"svc/policy"
	"svc/store"
)

const (
	maxClockSkew       = time.Hour       // of servers whose clock is ahead (federation 2.2)
	KeyFetchTimeout    = 5 * time.Second // while the sender waits for the response
	keyRefreshInterval = 5 * time.Minute // between fetches of an actor with wrong signatures
	maxCachedKeys      = 5000
)

// Verifier verifies signatures, and fetches the keys.
type Verifier struct {
	Config
	reader      *Reader
	fetcher     *Fetcher
	actors      *Actors
	accounts    *AccountCache
	db          *store.DB
	keys        *keyCache
	log         *slog.Logger
	keyFailures *keyFetchLimit
	keySlots    *limit.Slots[string]
	failureLog  *limit.Window[string] // by registered domain of the key, and for all
}

// ErrActorGone is the error if the actor of a signature is deleted.
var ErrActorGone = errors.New("the actor is gone")

// Claims returns the claims of a request signed by actor or another, after all checks that need no key.
func (v *Verifier) Claims(r *http.Request, body []byte, actor string) ([]*httpsig.Claim, error) {
	base, err := url.Parse(v.Settings.BaseURL)
	if err != nil {
		return nil, err
	}
	claims, err := httpsig.Read(r, httpsig.Policy{Base: base, Now: v.db.Now(), MaxAge: v.Settings.Load().Federation.SignatureAge, MaxAhead: maxClockSkew, Body: body})
	if err != nil {
		return nil, v.signatureError(actor, httpsig.ClaimedKeyID(r), err)
	}
	return claims, nil
}

// VerifyClaims returns the signer of a request: the actor, or another. Errors are responses to the sender, or ErrActorGone.
func (v *Verifier) VerifyClaims(ctx context.Context, claims []*httpsig.Claim, actor string) (*store.Account, error) {
	err, key := httpsig.ErrUnsigned, ""
	ofActor := func(id string) bool { return activity.SameHost(id, actor, v.Settings.AllowLoopback) }
	for _, c := range httpsig.Prefer(claims, ofActor) {
		var signer *store.Account
		key = c.KeyID
		byEd25519 := false
		signer, err = v.keyOwner(ctx, c.KeyID, func(k crypto.PublicKey) error {
			_, byEd25519 = k.(ed25519.PublicKey)
			return c.Verify(k)
		})
		if err == nil {
			if byEd25519 && c.Scheme == httpsig.RFC9421 {
				v.fetcher.learnEd25519(ctx, v.reader.HostOf(signer))
			}
			return signer, nil
		}
		if errors.Is(err, ErrActorGone) && !ofActor(c.KeyID) { // another actor than the sender
			err = fmt.Errorf("%w: %v", errWrongSignature, err)
		}
	}
	var refused *policy.Rejected
	var unreadable *unreadableOwner
	switch {
	case errors.As(err, &unreadable):
		v.logFailure("owner of a key cannot be read", actor, key, err)
		return nil, unreadable.answer()
	case errors.Is(err, errWrongSignature):
	case errors.Is(err, ErrActorGone), errors.Is(err, ErrFetchNeeded):
		return nil, err
	case errors.As(err, &refused):
		return nil, ErrHostBlocked
	case errors.Is(err, errKeyFetchLimit):
		return nil, errRetryKeyLater
	case isTooManyHosts(err):
		return nil, err
	case IsTemporary(err):
		return nil, &errs.Error{Status: ErrKeyUnavailable.Status, Message: ErrKeyUnavailable.Message, RetryAfter: ErrKeyUnavailable.RetryAfter, Err: err}
	}
	return nil, v.signatureError(actor, key, err)
}

// Limits of log lines about failed signatures, which anyone can cause.
var (
	failuresLoggedPerDomain = limit.Rate{Count: 3, Window: 10 * time.Minute}
	failuresLogged          = limit.Rate{Count: 100, Window: 10 * time.Minute}
)

// SignatureError returns the answer to a request of an actor whose key does not exist.
func (v *Verifier) SignatureError(actor string, err error) error {
	return v.signatureError(actor, "", err)
}

// signatureError returns the answer to a request whose signature failed. It logs the reason, because the sender does not learn it and the
// operators of both servers need it; an unsigned request is no failure.
func (v *Verifier) signatureError(actor, key string, err error) error {
	v.logFailure("signature not verified", actor, key, err)
	return &errs.Error{Status: ErrUnsigned.Status, Message: ErrUnsigned.Message, Err: err}
}

func (v *Verifier) logFailure(what, actor, key string, err error) {
	level := slog.LevelDebug
	if !errors.Is(err, httpsig.ErrUnsigned) && v.mayLogFailure(key) {
		level = slog.LevelInfo
	}
	v.log.Log(context.Background(), level, what, "key", truncateBytes(key, 300), "actor", truncateBytes(actor, 300), "err", err)
}

// mayLogFailure returns whether the failed signature of a key is logged.
func (v *Verifier) mayLogFailure(key string) bool {
	host, err := activity.Host(activity.WithoutFragment(key), v.Settings.AllowLoopback)
	if err != nil {
		host = ""
	}
	now := v.db.Now()
	if _, ok := v.failureLog.Allow("domain "+activity.RegisteredDomain(host), failuresLoggedPerDomain, now); !ok {
		return false
	}
	_, ok := v.failureLog.Allow("all", failuresLogged, now)
	return ok
}

// errWrongSignature is the error for a wrong signature whose key need not be fetched again.
var errWrongSignature = errors.New("signature does not match the key")

var errKeyFetchLimit = errors.New("too many keys could not be fetched")

// keyOwner returns the owner of the key of a signature, which verify checks. If the cached key does not match, it fetches the key once
// more.
func (v *Verifier) keyOwner(ctx context.Context, id string, verify func(crypto.PublicKey) error) (*store.Account, error) {
	key, err := v.StoredKey(ctx, id)
	if err != nil {
		return nil, err
	}
	if key != nil {
		owner, err := v.accounts.Get(ctx, key.owner)
		switch failure := verify(key.public); {
		case errs.IsNotFound(err): // the account was pruned: fetch it again
			v.keys.invalidate(id)
			key = nil
		case err != nil || failure == nil:
			return owner, err
		case !errors.Is(failure, httpsig.ErrSignature) && !errors.Is(failure, httpsig.ErrKey):
			return nil, fmt.Errorf("%w: %w", errWrongSignature, failure)
		}
	}
	if key, err = v.fetchKey(ctx, id, key); err != nil {
		return nil, err
	}
	if failure := verify(key.public); failure != nil {
		v.recordKeyFailure(ctx, id)
		return nil, fmt.Errorf("%w: %w", errWrongSignature, failure)
	}
	return v.accounts.Get(ctx, key.owner)
}

// recordKeyFailure counts a failed fetch of a key.
func (v *Verifier) recordKeyFailure(ctx context.Context, id string) {
	if host, err := activity.Host(activity.WithoutFragment(id), v.Settings.AllowLoopback); err == nil {
		v.keyFailures.add(sourceOf(ctx), activity.RegisteredDomain(host), v.db.Now())
	}
}

// cachedKey is a parsed public key and its owner.
type cachedKey struct {
	public crypto.PublicKey
	owner  store.AccountID
	stored string // as it is stored
}

// StoredKey returns a stored key, nil if there is none.
func (v *Verifier) StoredKey(ctx context.Context, id string) (*cachedKey, error) {
	if k, ok := v.keys.keys.Get(id); ok {
		return k, nil
	}
	generation := v.keys.keys.Generation()
	row, err := v.db.ActorKey(ctx, id)
	if err != nil || row == nil || row.Private != nil || row.RetiredAt != nil {
		return nil, err
	}
	public, err := parseStoredKey(row.Public)
	if err != nil {
		v.log.Warn("stored key is malformed", "key", id, "err", err)
		return nil, nil
	}
	k := &cachedKey{public, row.AccountID, row.Public}
	v.keys.keys.Put(id, k, generation)
	return k, nil
}

func parseStoredKey(text string) (crypto.PublicKey, error) {
	if len(text) > 0 && text[0] == 'z' {
		return httpsig.ParseMultikey(text)
	}
	return httpsig.ParsePublicKey(text)
}

// fetchKey fetches a key from its owner; wrong is the known key that does not match, nil if none is known. Concurrent calls share a
// fetch, and after a wrong signature it is not repeated for keyRefreshInterval (federation 2.3).
func (v *Verifier) fetchKey(ctx context.Context, id string, wrong *cachedKey) (*cachedKey, error) {
	host, err := v.fetcher.FetchableHost(activity.WithoutFragment(id))
	if err != nil {
		return nil, err
	}
	if err := MayFetch(ctx); err != nil {
		return nil, err
	}
	name := "key " + id
	if wrong != nil {
		name = "another " + name
	} else if err := v.fetcher.failures.get(name, v.db.Now()); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, KeyFetchTimeout)
	defer cancel()
	return v.keys.fetches.do(ctx, name, actorTimeout, func(ctx context.Context) (*cachedKey, error) {
		if key, err := v.fetchedMeanwhile(ctx, id, wrong); key != nil || err != nil {
			return key, err
		}
		switch {
		case wrong != nil && !v.keys.mayRefresh(wrong.owner, v.db.Now()):
			return nil, errWrongSignature
		case v.keyFailures.exceeded(sourceOf(ctx), activity.RegisteredDomain(host), v.db.Now()):
			return nil, errKeyFetchLimit
		}
		release, err := v.keySlots.Take(ctx, activity.RegisteredDomain(host))
		if err != nil {
			return nil, err
		}
		err = v.actors.fetchKeyOwner(ctx, id)
		release()
		if err != nil && !errors.Is(err, fetch.ErrBusy) && !errors.Is(err, ErrCachedFailure) && !isTooManyHosts(err) {
			v.recordKeyFailure(ctx, id)
		}
		switch {
		case IsNotFoundOrGone(err):
			err = fmt.Errorf("%w: %w", ErrActorGone, err)
		case err != nil && IsTemporary(err):
			return nil, err
		case isUnreadable(err):
			err = &unreadableOwner{key: id, err: err}
		case err != nil:
			err = fmt.Errorf("%w: %w", errWrongSignature, err)
		}
		if wrong != nil {
			v.keys.refreshed(wrong.owner, v.db.Now())
		}
		if err != nil {
			v.fetcher.failures.addFor("key "+id, err, v.db.Now(), keyRefreshInterval)
			return nil, err
		}
		key, err := v.StoredKey(ctx, id)
		if err == nil && key == nil {
			err = fmt.Errorf("%w: key %s not found", errWrongSignature, id)
		}
		return key, err
	})
}

// fetchedMeanwhile returns a key that another call has fetched since fetchKey was called, nil if there is none.
func (v *Verifier) fetchedMeanwhile(ctx context.Context, id string, wrong *cachedKey) (*cachedKey, error) {
	if wrong == nil { // that call has cached it
		key, _ := v.keys.keys.Get(id)
		return key, nil
	}
	v.keys.invalidate(id)
	key, err := v.StoredKey(ctx, id)
	if err != nil || key == nil || key.stored == wrong.stored {
		return nil, err
	}
	return key, nil
}

// VerifyRequest returns the signer of a GET request, nil if it is not signed. A wrong signature, and a signer that is not allowed, are
// errors.
func (v *Verifier) VerifyRequest(ctx context.Context, r *http.Request) (*store.Account, error) {
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if r.Header.Get("Signature") == "" && !strings.EqualFold(scheme, "Signature") { // a client's token does not count
		return nil, nil
	}
	claims, err := v.Claims(r, nil, "")
	if err != nil {
		return nil, err
	}
	return v.VerifyRequestClaims(ctx, claims)
}

// VerifyRequestClaims returns the signer of a GET request by its claims.
func (v *Verifier) VerifyRequestClaims(ctx context.Context, claims []*httpsig.Claim) (*store.Account, error) {
	if slices.ContainsFunc(claims, v.isFromBlockedHost) {
		return nil, ErrHostBlocked
	}
	signer, err := v.VerifyClaims(ctx, claims, "")
	switch {
	case errors.Is(err, ErrActorGone), err == nil && (signer.Unavailable || signer.DeletedAt != nil):
		return nil, ErrUnsigned
	case err != nil:
		return nil, err
	}
	if host := v.reader.HostOf(signer); v.fetcher.CheckHostPolicy(signer.Domain) != nil || v.fetcher.CheckHostPolicy(host) != nil || v.Policies.RejectsFetches(host) {
		return nil, ErrHostBlocked
	}
	return signer, nil
}

// IsKnownSigner returns whether a request is signed with a known key, or may be by a known account.
func (v *Verifier) IsKnownSigner(ctx context.Context, r *http.Request) (bool, error) {
	claims, _ := v.Claims(r, nil, "")
	for _, c := range claims {
		if key, err := v.StoredKey(ctx, c.KeyID); key != nil || err != nil {
			return key != nil, err
		}
		_, err := v.accounts.GetByURI(ctx, withoutKeyPath(activity.WithoutFragment(c.KeyID)))
		if !errs.IsNotFound(err) {
			return err == nil, err
		}
	}
	return false, nil
}

// isFromBlockedHost returns whether the key of a signature is on a blocked host. It does not fetch.
func (v *Verifier) isFromBlockedHost(c *httpsig.Claim) bool {
	host, err := activity.Host(activity.WithoutFragment(c.KeyID), v.Settings.AllowLoopback)
	return err == nil && v.fetcher.CheckHostPolicy(host) != nil
}

// keyCache caches the public keys of remote actors.
type keyCache struct {
	fetches   singleFlight[*cachedKey]
	keys      *cache.Cache[string, *cachedKey]
	refreshes *limit.Window[store.AccountID] // of keys after wrong signatures
}

var keyRefreshRate = limit.Rate{Count: 1, Window: keyRefreshInterval}

func newKeyCache() *keyCache {
	return &keyCache{keys: cache.New[string, *cachedKey](maxCachedKeys), refreshes: limit.NewWindow[store.AccountID](maxCachedKeys)}
}

// invalidate removes keys, so that they are read from the database again.
func (k *keyCache) invalidate(ids ...string) { k.keys.Drop(ids...) }

// mayRefresh returns whether the keys of an account may be fetched again.
func (k *keyCache) mayRefresh(owner store.AccountID, now time.Time) bool {
	return k.refreshes.Peek(owner, keyRefreshRate, now).Remaining > 0
}

// refreshed records that the keys of an account were fetched again.
func (k *keyCache) refreshed(owner store.AccountID, now time.Time) {
	k.refreshes.Allow(owner, keyRefreshRate, now)
}

// maxProofAge is the maximum age of a proof: less than the retention of seen activities (store.SeenKey), so that documents cannot be
// replayed.
const maxProofAge = 7 * 24 * time.Hour

// VerifyProof returns the actor of a document with a proof by it (FEP-8b32).
func (v *Verifier) VerifyProof(ctx context.Context, doc activity.Object) (*store.Account, error) {
	claim, err := proof.Read(doc, v.db.Now())
	if err != nil {
		return nil, Refuse("signed by another actor: %v", err)
	}
	if age := v.db.Now().Sub(claim.Created); age > maxProofAge || age < -maxClockSkew {
		return nil, Refuse("proof is too old or in the future")
	}
	actor := doc.Ref("actor")
	if !activity.SameHost(claim.VerificationMethod, actor, v.Settings.AllowLoopback) {
		return nil, Refuse("proof key is on another host than the actor")
	}
	owner, err := v.keyOwner(ctx, claim.VerificationMethod, func(key crypto.PublicKey) error {
		public, ok := key.(ed25519.PublicKey)
		if !ok || claim.Verify(public) != nil {
			return httpsig.ErrSignature
		}
		return nil
	})
	if errors.Is(err, errWrongSignature) || errors.Is(err, ErrActorGone) {
		return nil, Refuse("proof is not valid: %v", err)
	}
	if err == nil && owner.URI != actor {
		err = Refuse("proof is by another actor")
	}
	return owner, err
}

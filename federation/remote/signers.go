package remote

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"svc/internal/cache"
	"svc/internal/config"
	"svc/internal/httpsig"
	"svc/internal/keys"
	"svc/store"
)

const (
	keyBits    = 2048
	maxSigners = 500 // cached
)

// FetchActorPath is the path of the instance actor, which signs fetches.
const FetchActorPath = "/internal/fetch"

// Signers has the private keys of local accounts. The key of an account is created when it signs for the first time.
type Signers struct {
	Settings     *config.Live
	GenerateKey  func() (*rsa.PrivateKey, error)
	db           *store.DB
	secrets      *keys.Keys
	log          *slog.Logger
	byAccount    *cache.Cache[store.AccountID, *accountKeys]
	creating     sync.Mutex   // one key at a time, because it takes long
	announcing   sync.RWMutex // held while Updates with a new key are queued; taken before creating
	fetchActorID atomic.Int64
}

// accountKeys are the keys of a local account that are in use: one of each kind, or several during a rotation.
type accountKeys struct {
	signers     []*httpsig.Signer // RSA, newest first
	ed25519     []*httpsig.Signer // newest first; none for an account of an earlier version whose job has not run
	unannounced int               // how many of signers have no queued Update yet
}

// Signer returns the signer of a local account with its newest key.
func (s *Signers) Signer(ctx context.Context, id store.AccountID) (*httpsig.Signer, error) {
	keys, err := s.keysOf(ctx, id)
	if err != nil {
		return nil, err
	}
	return keys.signers[0], nil
}

// HostSigners are the signers of a local account with the newest keys that a host can know.
type HostSigners struct {
	RSA     *httpsig.Signer
	Ed25519 *httpsig.Signer // nil: none
}

// SignersFor returns the signers of a local account for a host: until the Update with another RSA key is delivered to it, the key before,
// and no Ed25519 key. A peer may trust nothing but the key that it has.
func (s *Signers) SignersFor(ctx context.Context, id store.AccountID, host string) (HostSigners, error) {
	keys, err := s.keysOf(ctx, id)
	if err != nil {
		return HostSigners{}, err
	}
	if len(keys.signers) == 1 {
		return keys.signersFor(0), nil
	}
	s.announcing.RLock() // or an Update would count twice: as queued, and as not announced
	defer s.announcing.RUnlock()
	if keys, err = s.keysOf(ctx, id); err != nil {
		return HostSigners{}, err
	}
	pending, err := s.db.PendingKeyUpdates(ctx, id, host)
	return keys.signersFor(pending + keys.unannounced), err
}

// signersFor returns the signers for a host that waits for some Updates with new keys.
func (k *accountKeys) signersFor(pending int) HostSigners {
	h := HostSigners{RSA: k.signers[min(pending, len(k.signers)-1)]}
	if pending == 0 && len(k.ed25519) > 0 {
		h.Ed25519 = k.ed25519[0]
	}
	return h
}

// keysOf returns the keys of a local account. It creates the first one.
func (s *Signers) keysOf(ctx context.Context, id store.AccountID) (*accountKeys, error) {
	if keys, ok := s.byAccount.Get(id); ok {
		return keys, nil
	}
	s.creating.Lock()
	defer s.creating.Unlock()
	if keys, ok := s.byAccount.Get(id); ok {
		return keys, nil
	}
	account, err := s.db.Account(ctx, id)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.ActorKeys(ctx, id)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		if rows, err = s.createKeys(ctx, account); err != nil {
			return nil, err
		}
	}
	keys := &accountKeys{}
	for _, row := range rows {
		private, err := s.unseal(row)
		if err != nil {
			return nil, err
		}
		signer := &httpsig.Signer{KeyID: row.URI, Key: private}
		switch {
		case row.IsMultikey():
			keys.ed25519 = append(keys.ed25519, signer)
			continue
		case !row.Announced:
			keys.unannounced++
		}
		keys.signers = append(keys.signers, signer)
	}
	s.byAccount.Put(id, keys, s.byAccount.Generation()) // creating is held, as by all that changes keys
	return keys, nil
}

func (s *Signers) unseal(key *store.ActorKey) (crypto.Signer, error) {
	der, err := s.secrets.Unseal(keys.ActorKeys, key.Private)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", key.URI, err)
	}
	private, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", key.URI, err)
	}
	return private.(crypto.Signer), nil
}

// createKeys creates the first keys of an account.
func (s *Signers) createKeys(ctx context.Context, account *store.Account) ([]*store.ActorKey, error) {
	key, err := s.newSealedKey(account)
	if err != nil {
		return nil, err
	}
	ed25519, err := s.newSealedEd25519Key(account)
	if err != nil {
		return nil, err
	}
	key.Announced = true // with the account
	return []*store.ActorKey{key, ed25519}, s.db.Update(ctx, func(tx *store.Tx) error {
		if err := storeKey(ctx, tx, account, key); err != nil {
			return err
		}
		return storeKey(ctx, tx, account, ed25519)
	})
}

func generateRSAKey() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, keyBits) }

// newSealedKey creates a key for a local account, which takes long.
func (s *Signers) newSealedKey(account *store.Account) (*store.ActorKey, error) {
	private, err := s.GenerateKey()
	if err != nil {
		return nil, fmt.Errorf("create key: %w", err)
	}
	public, err := httpsig.FormatPublicKey(&private.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("create key: %w", err)
	}
	return s.seal(account, public, private)
}

// seal returns the row of a new key.
func (s *Signers) seal(account *store.Account, public string, private crypto.Signer) (*store.ActorKey, error) {
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, fmt.Errorf("create key: %w", err)
	}
	return &store.ActorKey{AccountID: account.ID, Public: public, Private: s.secrets.Seal(keys.ActorKeys, der)}, nil
}

// storeKey stores a new key. The first RSA key of an account is called #main-key by convention; later ones have a number.
func storeKey(ctx context.Context, tx *store.Tx, account *store.Account, key *store.ActorKey) error {
	n, err := tx.CountActorKeys(ctx, account.ID, key.IsMultikey())
	if err != nil {
		return err
	}
	switch {
	case key.IsMultikey() && n == 0:
		key.URI = account.URI + "#ed25519-key"
	case key.IsMultikey():
		key.URI = fmt.Sprintf("%s#ed25519-key-%d", account.URI, n+1)
	case n == 0:
		key.URI = account.URI + "#main-key"
	default:
		key.URI = fmt.Sprintf("%s#key-%d", account.URI, n+1)
	}
	return tx.AddActorKey(ctx, key)
}

// ServerSigner returns the signer of the instance actor with its newest key.
func (s *Signers) ServerSigner(ctx context.Context) (*httpsig.Signer, error) {
	id, err := s.fetchActor(ctx)
	if err != nil {
		return nil, err
	}
	return s.Signer(ctx, id)
}

// fetchActor returns the id of the instance actor.
func (s *Signers) fetchActor(ctx context.Context) (store.AccountID, error) {
	if id := s.fetchActorID.Load(); id != 0 {
		return store.AccountID(id), nil
	}
	account, err := s.db.AccountByURI(ctx, s.Settings.BaseURL+FetchActorPath)
	if err != nil {
		return 0, err
	}
	s.fetchActorID.Store(int64(account.ID))
	return account.ID, nil
}

// CheckServerKey returns an error if the stored key of the instance actor cannot be decrypted with the secret of the server.
func (s *Signers) CheckServerKey(ctx context.Context) error {
	account, err := s.db.AccountByURI(ctx, s.Settings.BaseURL+FetchActorPath)
	if err != nil {
		return err
	}
	stored, err := s.db.ActorKeys(ctx, account.ID)
	if err != nil || len(stored) == 0 {
		return err
	}
	_, err = s.unseal(stored[0])
	return err
}

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
	"svc/internal/httpsig"
	"svc/internal/keys"
	"svc/store"
)

const (
	keyBits    = 2048
	keyPurpose = "actor keys" // of the secret that encrypts private keys
	maxSigners = 500          // cached
)

// FetchActorPath is the path of the instance actor, which signs fetches.
const FetchActorPath = "/internal/fetch"

// Signers has the private keys of local accounts. The key of an account is created when it signs for the first time.
type Signers struct {
	BaseURL      string
	GenerateKey  func() (*rsa.PrivateKey, error)
	db           *store.DB
	secrets      *keys.Keys
	log          *slog.Logger
	byAccount    *cache.Cache[store.AccountID, *httpsig.Signer]
	creating     sync.Mutex // one key at a time, because it takes long
	fetchActorID atomic.Int64
}

// Signer returns the signer of a local account.
func (s *Signers) Signer(ctx context.Context, id store.AccountID) (*httpsig.Signer, error) {
	if signer, ok := s.byAccount.Get(id); ok {
		return signer, nil
	}
	s.creating.Lock()
	defer s.creating.Unlock()
	if signer, ok := s.byAccount.Get(id); ok {
		return signer, nil
	}
	account, err := s.db.Account(ctx, id)
	if err != nil {
		return nil, err
	}
	keys, err := s.db.ActorKeys(ctx, id)
	if err != nil {
		return nil, err
	}
	var key *store.ActorKey
	if len(keys) > 0 {
		key = keys[0]
	} else if key, err = s.createKey(ctx, account); err != nil {
		return nil, err
	}
	private, err := s.unseal(key)
	if err != nil {
		return nil, err
	}
	signer := &httpsig.Signer{KeyID: key.URI, Key: private}
	s.byAccount.Put(id, signer, s.byAccount.Generation()) // creating is held, as in RotateKeys
	return signer, nil
}

func (s *Signers) unseal(key *store.ActorKey) (crypto.Signer, error) {
	der, err := s.secrets.Unseal(keyPurpose, key.Private)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", key.URI, err)
	}
	private, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", key.URI, err)
	}
	return private.(crypto.Signer), nil
}

func (s *Signers) createKey(ctx context.Context, account *store.Account) (*store.ActorKey, error) {
	key, err := s.newSealedKey(account)
	if err != nil {
		return nil, err
	}
	return key, s.db.Update(ctx, func(tx *store.Tx) error { return storeKey(ctx, tx, account, key) })
}

func generateRSAKey() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, keyBits) }

// newSealedKey creates a key for a local account, which takes long.
func (s *Signers) newSealedKey(account *store.Account) (*store.ActorKey, error) {
	private, err := s.GenerateKey()
	if err != nil {
		return nil, fmt.Errorf("create key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, fmt.Errorf("create key: %w", err)
	}
	public, err := httpsig.FormatPublicKey(&private.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("create key: %w", err)
	}
	return &store.ActorKey{AccountID: account.ID, Public: public, Private: s.secrets.Seal(keyPurpose, der)}, nil
}

// storeKey stores a new key. The first of an account is called #main-key by convention; later ones have a number.
func storeKey(ctx context.Context, tx *store.Tx, account *store.Account, key *store.ActorKey) error {
	n, err := tx.CountActorKeys(ctx, account.ID)
	if err != nil {
		return err
	}
	key.URI = account.URI + "#main-key"
	if n > 0 {
		key.URI = fmt.Sprintf("%s#key-%d", account.URI, n+1)
	}
	return tx.AddActorKey(ctx, key)
}

// RotateKeys replaces the keys of a local account and sends its followers an Update. Queued deliveries are signed with the new key
// (federation 2.3).
func (s *Signers) RotateKeys(ctx context.Context, account *store.Account) (*store.ActorKey, error) {
	s.creating.Lock() // so that the old key is not cached again
	defer s.creating.Unlock()
	key, err := s.newSealedKey(account)
	if err != nil {
		return nil, err
	}
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		if err := tx.RetireActorKeys(ctx, account.ID); err != nil {
			return err
		}
		if err := storeKey(ctx, tx, account, key); err != nil {
			return err
		}
		return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.ProfileUpdated, ActorID: account.ID})
	})
	if err != nil {
		return nil, err
	}
	s.byAccount.Drop(account.ID)
	s.log.Info("keys rotated", "account", account.ID)
	return key, nil
}

// PublicKey returns the id and the PEM text of a local account's key.
func (s *Signers) PublicKey(ctx context.Context, id store.AccountID) (uri, pem string, err error) {
	signer, err := s.Signer(ctx, id)
	if err != nil {
		return "", "", err
	}
	pem, err = httpsig.FormatPublicKey(signer.Key.Public())
	return signer.KeyID, pem, err
}

// ServerSigner returns the signer of the instance actor.
func (s *Signers) ServerSigner(ctx context.Context) (*httpsig.Signer, error) {
	if id := s.fetchActorID.Load(); id != 0 {
		return s.Signer(ctx, store.AccountID(id))
	}
	account, err := s.db.AccountByURI(ctx, s.BaseURL+FetchActorPath)
	if err != nil {
		return nil, err
	}
	s.fetchActorID.Store(int64(account.ID))
	return s.Signer(ctx, account.ID)
}

// CheckServerKey returns an error if the stored key of the instance actor cannot be decrypted with the secret of the server.
func (s *Signers) CheckServerKey(ctx context.Context) error {
	account, err := s.db.AccountByURI(ctx, s.BaseURL+FetchActorPath)
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

package federation

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"sync"

	"svc/internal/httpsig"
	"svc/store"
)

const (
	keyBits    = 2048
	keyPurpose = "actor keys" // with what private keys are sealed
	maxSigners = 500          // that are kept ready
)

// signers are keys that are ready to sign with. The first time that an account signs, its key is made.
type signers struct {
	mu     sync.Mutex
	of     map[store.AccountID]*httpsig.Signer
	making sync.Mutex // one at a time: it takes the processor for a while
}

func newSigners() *signers { return &signers{of: make(map[store.AccountID]*httpsig.Signer)} }

func (k *signers) get(id store.AccountID) *httpsig.Signer {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.of[id]
}

func (k *signers) put(id store.AccountID, signer *httpsig.Signer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for other := range k.of {
		if len(k.of) < maxSigners {
			break
		}
		delete(k.of, other)
	}
	k.of[id] = signer
}

func (k *signers) forget(id store.AccountID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.of, id)
}

// signer returns what a local account signs with.
func (s *Service) signer(ctx context.Context, id store.AccountID) (*httpsig.Signer, error) {
	if signer := s.signers.get(id); signer != nil {
		return signer, nil
	}
	s.signers.making.Lock()
	defer s.signers.making.Unlock()
	if signer := s.signers.get(id); signer != nil {
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
	} else if key, err = s.makeKey(ctx, account); err != nil {
		return nil, err
	}
	private, err := s.unseal(key)
	if err != nil {
		return nil, err
	}
	signer := &httpsig.Signer{KeyID: key.URI, Key: private}
	s.signers.put(id, signer)
	return signer, nil
}

func (s *Service) unseal(key *store.ActorKey) (crypto.Signer, error) {
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

// makeKey makes a key for a local account and stores it. The first is called #main-key, as everywhere; later ones have a number.
func (s *Service) makeKey(ctx context.Context, account *store.Account) (*store.ActorKey, error) {
	private, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	public, err := httpsig.FormatPublicKey(&private.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	key := &store.ActorKey{AccountID: account.ID, Public: public, Private: s.secrets.Seal(keyPurpose, der)}
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		n, err := tx.CountActorKeys(ctx, account.ID)
		if err != nil {
			return err
		}
		key.URI = account.URI + "#main-key"
		if n > 0 {
			key.URI = fmt.Sprintf("%s#key-%d", account.URI, n+1)
		}
		return tx.AddActorKey(ctx, key)
	})
	return key, err
}

// RotateKeys gives a local account another key, and tells its followers. What waits to be delivered is signed with it (federation 2.3).
func (s *Service) RotateKeys(ctx context.Context, account *store.Account) (*store.ActorKey, error) {
	if err := s.db.Update(ctx, func(tx *store.Tx) error { return tx.RetireActorKeys(ctx, account.ID) }); err != nil {
		return nil, err
	}
	key, err := s.makeKey(ctx, account)
	if err != nil {
		return nil, err
	}
	s.signers.forget(account.ID)
	return key, s.db.Update(ctx, func(tx *store.Tx) error {
		return tx.Tell(ctx, store.Deed{Verb: store.ChangedProfile, ActorID: account.ID})
	})
}

// publicKey returns the id and the PEM text of a local account's key.
func (s *Service) publicKey(ctx context.Context, id store.AccountID) (uri, pem string, err error) {
	signer, err := s.signer(ctx, id)
	if err != nil {
		return "", "", err
	}
	pem, err = httpsig.FormatPublicKey(signer.Key.Public())
	return signer.KeyID, pem, err
}

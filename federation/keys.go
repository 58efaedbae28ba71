package federation

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"strings"
	"sync"

	"svc/internal/errs"
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

// makeKey makes a key for a local account and stores it.
func (s *Service) makeKey(ctx context.Context, account *store.Account) (*store.ActorKey, error) {
	key, err := s.newKey(account)
	if err != nil {
		return nil, err
	}
	return key, s.db.Update(ctx, func(tx *store.Tx) error { return addKey(ctx, tx, account, key) })
}

func makeRSA() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, keyBits) }

// newKey makes a key for a local account. That takes a while.
func (s *Service) newKey(account *store.Account) (*store.ActorKey, error) {
	private, err := s.MakeKey()
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
	return &store.ActorKey{AccountID: account.ID, Public: public, Private: s.secrets.Seal(keyPurpose, der)}, nil
}

// addKey stores a key that was made. The first of an account is called #main-key, as everywhere; later ones have a number.
func addKey(ctx context.Context, tx *store.Tx, account *store.Account, key *store.ActorKey) error {
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

// RotateKeys gives a local account another key in place of those that it has, and tells its followers. What waits to be delivered is
// signed with it (federation 2.3).
func (s *Service) RotateKeys(ctx context.Context, account *store.Account) (*store.ActorKey, error) {
	s.signers.making.Lock() // so that nobody makes the old key ready again meanwhile
	defer s.signers.making.Unlock()
	key, err := s.newKey(account)
	if err != nil {
		return nil, err
	}
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		if err := tx.RetireActorKeys(ctx, account.ID); err != nil {
			return err
		}
		if err := addKey(ctx, tx, account, key); err != nil {
			return err
		}
		return tx.Tell(ctx, store.Deed{Verb: store.ChangedProfile, ActorID: account.ID})
	})
	if err != nil {
		return nil, err
	}
	s.signers.forget(account.ID)
	s.log.Info("keys rotated", "account", account.ID)
	return key, nil
}

// Rotation says whose keys are to be replaced.
type Rotation struct {
	Name   string `json:"name"`   // nickname of a local account
	Server bool   `json:"server"` // those of the server's own actors
}

// Rotate gives a local account, or the actors of the server, other keys. It returns their ids.
func (s *Service) Rotate(ctx context.Context, r Rotation) (made []string, err error) {
	var accounts []*store.Account
	if r.Server {
		for _, path := range []string{fetchPath, relayPath} {
			a, err := s.self(ctx, path)
			if err != nil {
				return nil, err
			}
			accounts = append(accounts, a)
		}
	} else {
		a, err := s.db.AccountByName(ctx, strings.TrimPrefix(r.Name, "@"), "")
		if errs.IsNotFound(err) || err == nil && a.DeletedAt != nil {
			return nil, errs.NotFound("There is no account %q on this server", r.Name)
		}
		if err != nil {
			return nil, err
		}
		accounts = append(accounts, a)
	}
	for _, a := range accounts {
		key, err := s.RotateKeys(ctx, a)
		if err != nil {
			return made, err
		}
		made = append(made, key.URI)
	}
	return made, nil
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

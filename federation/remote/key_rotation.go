package remote

import (
	"context"
	"slices"
	"time"

	"svc/internal/httpsig"
	"svc/store"
)

// Times of a key rotation.
const (
	maxKeyOverlap        = 3 * 24 * time.Hour // of old keys; deliveries are parked before
	minKeyRetireInterval = time.Minute        // between checks whether old keys are still needed
	maxKeyRetireInterval = time.Hour
	maxKeysInUse         = 3 // of an account
)

// RotateKeys gives a local account a new key and sends an Update with it to all known servers. For a server to which the Update is not
// delivered yet, the account signs with the key before (federation 2.3). Old keys are retired when all servers have the new one or after
// maxKeyOverlap.
func (s *Signers) RotateKeys(ctx context.Context, account *store.Account) (*store.ActorKey, error) {
	s.creating.Lock()
	defer s.creating.Unlock()
	key, err := s.newSealedKey(account)
	if err != nil {
		return nil, err
	}
	multikey, err := s.newSealedEd25519Key(account)
	if err != nil {
		return nil, err
	}
	// Before the new keys are stored, because their Update is written at once then, by another goroutine: it waits for them in keysOf.
	s.byAccount.Drop(account.ID)
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		all, err := tx.ActorKeys(ctx, account.ID)
		if err != nil {
			return err
		}
		old := rsaKeys(all)
		key.CreatedAt, key.Announced = store.At(s.db.Now()), false
		if len(all) > 0 {
			key.CreatedAt = max(key.CreatedAt, all[0].CreatedAt+1)
		}
		multikey.CreatedAt = key.CreatedAt
		if len(old) >= maxKeysInUse {
			if err := tx.RetireActorKeys(ctx, old[maxKeysInUse-2]); err != nil {
				return err
			}
		}
		for _, k := range []*store.ActorKey{key, multikey} {
			if err := storeKey(ctx, tx, account, k); err != nil {
				return err
			}
		}
		announced, err := tx.TryAddToOutbox(ctx, store.OutboxEntry{Type: store.KeyRotated, ActorID: account.ID, URI: key.URI})
		if err != nil {
			return err
		}
		if !announced {
			return tx.RetireActorKeys(ctx, key)
		}
		return tx.EnqueueAt(ctx, s.db.Now().Add(minKeyRetireInterval), store.RetireKeys{AccountID: account.ID})
	})
	if err != nil {
		return nil, err
	}
	s.log.Info("keys rotated", "account", account.ID, "key", key.URI)
	return key, nil
}

// rsaKeys returns the keys of a local account that are not Ed25519 keys.
func rsaKeys(all []*store.ActorKey) (keys []*store.ActorKey) {
	for _, k := range all {
		if !k.IsMultikey() {
			keys = append(keys, k)
		}
	}
	return keys
}

// AnnounceKey calls queue, which queues the Updates with a new key, and records that they are queued: from then on their deliveries tell
// which hosts know the key.
func (s *Signers) AnnounceKey(ctx context.Context, id store.AccountID, uri string, queue func() error) error {
	s.announcing.Lock()
	defer s.announcing.Unlock()
	if err := queue(); err != nil {
		return err
	}
	s.creating.Lock()
	defer s.creating.Unlock()
	err := s.db.Update(ctx, func(tx *store.Tx) error { return tx.SetKeyAnnounced(ctx, uri) })
	s.byAccount.Drop(id)
	return err
}

// retireKeys is the job that retires the old keys of an account. It repeats itself until all servers have the newest key, or time is up.
func (s *Signers) retireKeys(ctx context.Context, w store.RetireKeys) error {
	s.creating.Lock()
	defer s.creating.Unlock()
	retired := false
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		all, err := tx.ActorKeys(ctx, w.AccountID)
		keys := rsaKeys(all)
		if err != nil || len(keys) < 2 {
			return err
		}
		waiting, err := tx.HasPendingKeyUpdates(ctx, w.AccountID)
		if err != nil {
			return err
		}
		age := s.db.Now().Sub(keys[0].CreatedAt.Time())
		if retired = age >= maxKeyOverlap || !waiting && keys[0].Announced; retired {
			return tx.RetireActorKeys(ctx, keys[0])
		}
		next := min(max(age, minKeyRetireInterval), maxKeyRetireInterval)
		return tx.EnqueueAt(ctx, s.db.Now().Add(next), w)
	})
	if err == nil && retired {
		s.byAccount.Drop(w.AccountID)
		s.log.Info("old keys retired", "account", w.AccountID)
	}
	return err
}

// PublicKeys are the public keys of a local account.
type PublicKeys struct {
	ID, PEM   string
	Multikeys []Multikey // Ed25519 keys, and RSA keys of a rotation that has not reached all servers
}

// Multikey is a public key in the form of FEP-521a.
type Multikey struct{ ID, Multikey string }

// PublicKeys returns the public keys of a local account.
func (s *Signers) PublicKeys(ctx context.Context, id store.AccountID) (*PublicKeys, error) {
	keys, err := s.keysOf(ctx, id)
	if err != nil {
		return nil, err
	}
	pem, err := httpsig.FormatPublicKey(keys.signers[0].Key.Public())
	if err != nil {
		return nil, err
	}
	public := &PublicKeys{ID: keys.signers[0].KeyID, PEM: pem}
	for _, signer := range slices.Concat(keys.ed25519, keys.signers[1:]) {
		public.Multikeys = append(public.Multikeys, Multikey{signer.KeyID, httpsig.FormatMultikey(signer.Key.Public())})
	}
	return public, nil
}

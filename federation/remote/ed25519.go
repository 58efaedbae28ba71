package remote

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"svc/internal/activity"
	"svc/internal/httpsig"
	"svc/store"
)

// Capabilities that actors state in generator.implements (FEP-844e).
const (
	ImplementsRFC9421 = "https://datatracker.ietf.org/doc/html/rfc9421"
	ImplementsEd25519 = "https://datatracker.ietf.org/doc/html/rfc9421#name-eddsa-using-curve-edwards25"
)

const (
	maxImplements   = 50                  // capabilities of an actor that are read
	ed25519TTL      = 30 * 24 * time.Hour // of a refusal
	ed25519KeyBatch = 100                 // accounts of a job
)

// newSealedEd25519Key creates an Ed25519 key for a local account. It needs no Update: actors are fetched again, and a host is sent
// nothing that is signed with it before it asks for that.
func (s *Signers) newSealedEd25519Key(account *store.Account) (*store.ActorKey, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("create key: %w", err)
	}
	key, err := s.seal(account, httpsig.FormatMultikey(public), private)
	if err == nil {
		key.Announced = true
	}
	return key, err
}

// Ed25519 returns the signer of a local account with its newest Ed25519 key, nil if it has none.
func (s *Signers) Ed25519(ctx context.Context, id store.AccountID) (*httpsig.Signer, error) {
	keys, err := s.keysOf(ctx, id)
	if err != nil || len(keys.ed25519) == 0 {
		return nil, err
	}
	return keys.ed25519[0], nil
}

// makeEd25519Keys is the job that gives Ed25519 keys to the local accounts of earlier versions.
func (s *Signers) makeEd25519Keys(ctx context.Context, w store.MakeEd25519Keys) error {
	s.creating.Lock()
	defer s.creating.Unlock()
	ids, next, err := s.db.LocalAccountsWithoutMultikey(ctx, w.After, ed25519KeyBatch)
	if err != nil {
		return err
	}
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		for _, id := range ids {
			account, err := tx.Account(ctx, id)
			if err != nil {
				return err
			}
			key, err := s.newSealedEd25519Key(account)
			if err != nil {
				return err
			}
			if err := storeKey(ctx, tx, account, key); err != nil {
				return err
			}
		}
		if next == 0 {
			return nil
		}
		return tx.EnqueueUnique(ctx, s.db.Now(), w.Kind().Name, store.MakeEd25519Keys{After: next})
	})
	s.byAccount.Drop(ids...)
	return err
}

// verifiesEd25519 returns whether deliveries to a host are signed with Ed25519.
func verifiesEd25519(h *store.Host) bool { return h.Ed25519 == store.VerifiesEd25519 }

// learnEd25519 records that a host verifies Ed25519 signatures: one of its actors says so, or has made one. If it has refused one, that counts
// for 30 days.
func (f *Fetcher) learnEd25519(ctx context.Context, host string) {
	known, err := f.hosts.Load(host, func() (*store.Host, error) { return f.db.Host(ctx, host) })
	if err != nil {
		f.log.Warn("host could not be read", "host", host, "err", err)
		return
	}
	if verifiesEd25519(known) || known.Ed25519 == store.RefusesEd25519 && known.Ed25519At.Age(f.db.Now()) < ed25519TTL {
		return
	}
	f.saveEd25519(ctx, host, store.VerifiesEd25519)
}

func (f *Fetcher) saveEd25519(ctx context.Context, host string, support store.Ed25519Support) {
	err := f.db.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error { return tx.SetHostEd25519(ctx, host, support) })
	if err != nil {
		f.log.Warn("support of Ed25519 could not be stored", "host", host, "err", err)
	}
	f.hosts.Drop(host)
}

// implementsEd25519 returns whether an actor says that its server verifies RFC 9421 signatures by Ed25519 keys.
func implementsEd25519(o activity.Object) bool {
	list := o.Object("generator").Values("implements")
	return slices.ContainsFunc(list[:min(len(list), maxImplements)], func(v any) bool {
		if link, ok := v.(map[string]any); ok {
			return activity.Object(link).Text("href") == ImplementsEd25519
		}
		return v == ImplementsEd25519
	})
}

package remote

import (
	"crypto/rsa"
	"fmt"
	"testing"

	"svc/store"
)

// TestMakeEd25519Keys checks that the job gives Ed25519 keys to the local accounts that have other keys alone, as those of earlier versions, and that
// these sign with RSA until then.
func TestMakeEd25519Keys(t *testing.T) {
	a := newHarness(t)
	a.Signers.GenerateKey = func() (*rsa.PrivateKey, error) { return peerKey(), nil }
	const n = ed25519KeyBatch + 20
	err := a.db.Update(t.Context(), func(tx *store.Tx) error {
		for i := range n {
			uri := fmt.Sprintf("http://localhost:4/users/%d", i)
			account := &store.Account{Nickname: fmt.Sprintf("user%d", i), URI: uri, URL: uri, ActorType: "Person"}
			if err := tx.AddAccount(t.Context(), account); err != nil {
				return err
			}
			if i == n-1 { // it has never signed
				continue
			}
			key, err := a.Signers.newSealedKey(account)
			if err != nil {
				return err
			}
			key.Announced = true
			if err := storeKey(t.Context(), tx, account, key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	signers := func(i int) HostSigners {
		t.Helper()
		signers, err := a.Signers.SignersFor(t.Context(), a.row(fmt.Sprintf("http://localhost:4/users/%d", i)).ID, "peer.example")
		if err != nil {
			t.Fatal(err)
		}
		return signers
	}
	if s := signers(0); s.Ed25519 != nil || s.RSA == nil {
		t.Errorf("before the job: %+v", s)
	}
	if err := a.db.Update(t.Context(), func(tx *store.Tx) error { return tx.Enqueue(t.Context(), store.MakeEd25519Keys{}) }); err != nil {
		t.Fatal(err)
	}
	a.wait(0)
	for i := range n - 1 {
		if s := signers(i); s.Ed25519 == nil || s.RSA == nil {
			t.Fatalf("account %d after the job: %+v", i, s)
		}
	}
	keys, err := a.db.ActorKeys(t.Context(), a.row(fmt.Sprintf("http://localhost:4/users/%d", n-1)).ID)
	if len(keys) != 0 || err != nil {
		t.Errorf("an account that has never signed got %d keys, %v", len(keys), err)
	}
}

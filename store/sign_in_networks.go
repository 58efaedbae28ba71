package store

import (
	"bytes"
	"context"
	"slices"
	"time"
)

const (
	signInMemory      = 90 * 24 * time.Hour // then a network counts as new again
	maxSignInNetworks = 20                  // per account
)

// SignInNetwork is a network from which a user signed in.
type SignInNetwork struct {
	AccountID AccountID
	Hash      []byte // keyed, of the network
	SeenAt    Time
}

// SignInNetworks returns the networks from which an account signed in, the latest first.
func (r reader) SignInNetworks(ctx context.Context, account AccountID) ([]*SignInNetwork, error) {
	rows, err := list[*SignInNetwork](ctx, r, "sign-in networks", `SELECT * FROM sign_in_networks WHERE account_id = ?`, account)
	slices.SortFunc(rows, func(a, b *SignInNetwork) int { return int(b.SeenAt - a.SeenAt) })
	return rows, err
}

// HasSignedInFrom returns true if an account signed in from a network in the last 90 days.
func (r reader) HasSignedInFrom(ctx context.Context, account AccountID, network []byte) (bool, error) {
	return value[bool](ctx, r, "known network", `
		SELECT EXISTS (SELECT 1 FROM sign_in_networks WHERE account_id = ? AND hash = ? AND seen_at >= ?)`,
		account, network, At(r.db.now().Add(-signInMemory)))
}

// MarkSignIn stores that an account signed in from a network, and deletes its oldest networks over the limit. It returns true if the
// account has signed in before, but not from this network in the last 90 days.
func (tx *Tx) MarkSignIn(ctx context.Context, account AccountID, network []byte) (isNew bool, err error) {
	rows, err := tx.SignInNetworks(ctx, account)
	if err != nil {
		return false, err
	}
	now := tx.db.now()
	isNew = len(rows) > 0
	if i := slices.IndexFunc(rows, func(n *SignInNetwork) bool { return bytes.Equal(n.Hash, network) }); i >= 0 {
		isNew = rows[i].SeenAt.Time().Before(now.Add(-signInMemory))
		rows = slices.Delete(rows, i, i+1)
	}
	if err := tx.exec(ctx, "mark sign-in", `
		INSERT INTO sign_in_networks (account_id, hash, seen_at)
		VALUES (?, ?, ?)
		ON CONFLICT DO UPDATE SET seen_at = excluded.seen_at`, account, network, At(now)); err != nil {
		return false, err
	}
	for _, n := range rows[min(len(rows), maxSignInNetworks-1):] {
		if err := tx.exec(ctx, "forget sign-in", `DELETE FROM sign_in_networks WHERE account_id = ? AND hash = ?`, account, n.Hash); err != nil {
			return false, err
		}
	}
	return isNew, nil
}

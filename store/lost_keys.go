package store

import "context"

// LostSecrets counts what could be read with the former keys of the server only.
type LostSecrets struct {
	Accounts          int // local ones whose signing keys were sealed
	PushSubscriptions int
	SignInNetworks    int // from which users signed in
}

// ForgetSecrets retires the signing keys of local accounts, which get new ones under other ids when they sign, and deletes push subscriptions and
// networks of sign-ins. It is for a server whose keys are lost.
func (tx *Tx) ForgetSecrets(ctx context.Context) (lost LostSecrets, err error) {
	for _, count := range []struct {
		into *int
		what string
		sql  string
	}{
		{&lost.Accounts, "accounts with keys", `SELECT count(DISTINCT account_id) FROM actor_keys WHERE private IS NOT NULL`},
		{&lost.PushSubscriptions, "push subscriptions", `SELECT count(*) FROM push_subscriptions`},
		{&lost.SignInNetworks, "networks of sign-ins", `SELECT count(*) FROM sign_in_networks`},
	} {
		if *count.into, err = value[int](ctx, tx.reader, "count "+count.what, count.sql); err != nil {
			return lost, err
		}
	}
	if err := tx.exec(ctx, "retire lost keys", `
		UPDATE actor_keys
		SET retired_at = ?, private = NULL, announced = 1
		WHERE private IS NOT NULL`, At(tx.db.now())); err != nil {
		return lost, err
	}
	if err := tx.exec(ctx, "drop push subscriptions", `DELETE FROM push_subscriptions`); err != nil {
		return lost, err
	}
	return lost, tx.exec(ctx, "forget networks of sign-ins", `DELETE FROM sign_in_networks`)
}

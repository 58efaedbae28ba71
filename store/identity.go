package store

import "context"

// Identity is what a database belongs to.
type Identity struct {
	ServerURL  string // in the ids of all local accounts and statuses; "": not known yet
	ServerHost string // in the handles of all local accounts; "": the host of ServerURL
	KeysHash   []byte // fingerprint of the keys of the server; empty: not known yet
}

// Identity returns what the database belongs to.
func (r reader) Identity(ctx context.Context) (*Identity, error) {
	return get[Identity](ctx, r, "identity", `SELECT server_url, server_host, keys_hash FROM meta`)
}

// KeysHash returns the KeysHash of the Identity, also from a database of an older version.
func (r reader) KeysHash(ctx context.Context) ([]byte, error) {
	return value[[]byte](ctx, r, "keys hash", `SELECT keys_hash FROM meta`)
}

// SetIdentity stores what the database belongs to.
func (tx *Tx) SetIdentity(ctx context.Context, i Identity) error {
	return tx.exec(ctx, "set identity", `UPDATE meta SET server_url = ?, server_host = ?, keys_hash = ?`, i.ServerURL, i.ServerHost, i.KeysHash)
}

// HasUsers returns true if the server has accounts of users.
func (r reader) HasUsers(ctx context.Context) (bool, error) {
	return value[bool](ctx, r, "has users", `SELECT EXISTS (SELECT 1 FROM users WHERE account_id > 0)`)
}

// SetAccountURI changes the ids of an account of the server itself, which has no user.
func (tx *Tx) SetAccountURI(ctx context.Context, id AccountID, uri string) error {
	tx.invalidateAccount(id)
	return tx.exec(ctx, "set URI", `UPDATE accounts SET uri = ?2, url = ?2 WHERE id = ?1`, id, uri)
}

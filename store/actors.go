package store

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Actor is what federation stores of a remote account beside its profile.
type Actor struct {
	AccountID            AccountID
	Inbox                string
	SharedInbox          string // "": the instance has none
	Outbox               string
	Followers            string // URLs of collections
	Following            string
	Featured             string
	FetchedAt            Time
	AttemptedAt          Time
	Failures             int
	MovedAt              *Time
	MovedTo              string // the account it has moved to, as it says
	Suspended            bool   // by its own server
	HandleVerifiedAt     Time   // when WebFinger confirmed its handle; 0: it could not be asked
	CollectionsFetchedAt Time   // when its collections were fetched
}

// DeliveryInbox returns the shared inbox, or the account's own inbox if there is none.
func (a *Actor) DeliveryInbox() string {
	if a.SharedInbox != "" {
		return a.SharedInbox
	}
	return a.Inbox
}

// Actor returns the actor of a remote account, and errs.ErrRecordNotFound if there is none.
func (r reader) Actor(ctx context.Context, id AccountID) (*Actor, error) {
	return get[Actor](ctx, r, "actor", `SELECT * FROM actors WHERE account_id = ?`, id)
}

// Actors returns the actors of remote accounts, in no order.
func (r reader) Actors(ctx context.Context, ids []AccountID) ([]*Actor, error) {
	return list[*Actor](ctx, r, "actors", `
		SELECT a.*
		FROM json_each(?) j
		CROSS JOIN actors a ON a.account_id = j.value`, jsonArray(ids))
}

// SaveActor inserts or replaces an actor.
func (tx *Tx) SaveActor(ctx context.Context, a *Actor) error {
	return tx.exec(ctx, "save actor", saveActor.text, saveActor.args(a)...)
}

// ActorKey is a key that an account signs with.
type ActorKey struct {
	URI       string
	AccountID AccountID
	Public    string // PEM, or Multikey
	Private   []byte // sealed; nil: of a remote account
	CreatedAt Time
	Announced bool  // of local accounts: the Update with it is queued, or was not needed
	RetiredAt *Time // of local accounts: no longer published or used
}

// IsMultikey returns true if the public key is a Multikey: those of local accounts are Ed25519 keys.
func (k *ActorKey) IsMultikey() bool { return strings.HasPrefix(k.Public, "z") }

// ActorKey returns the key with an id, nil if there is none.
func (r reader) ActorKey(ctx context.Context, uri string) (*ActorKey, error) {
	return one[ActorKey](ctx, r, "actor key", `SELECT * FROM actor_keys WHERE uri = ?`, uri)
}

// ActorKeys returns the keys of an account that are not retired, newest first.
func (r reader) ActorKeys(ctx context.Context, id AccountID) ([]*ActorKey, error) {
	keys, err := list[*ActorKey](ctx, r, "actor keys", `
		SELECT *
		FROM actor_keys
		WHERE account_id = ? AND retired_at IS NULL
		LIMIT 50`, id)
	slices.SortFunc(keys, func(a, b *ActorKey) int {
		return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), strings.Compare(a.URI, b.URI))
	})
	return keys, err
}

// LocalAccountsWithoutMultikey returns local accounts after an id that have keys, but no Multikey among them, and where the next batch begins, 0
// after the last one. It looks at limit accounts.
func (r reader) LocalAccountsWithoutMultikey(ctx context.Context, after AccountID, limit int) (found []AccountID, next AccountID, err error) {
	type row struct {
		ID      AccountID
		Without bool
	}
	rows, err := list[row](ctx, r, "accounts without a Multikey", `
		SELECT a.id, EXISTS (
				SELECT 1 FROM actor_keys k WHERE k.account_id = a.id AND k.retired_at IS NULL) AND NOT EXISTS (
				SELECT 1 FROM actor_keys k WHERE k.account_id = a.id AND k.retired_at IS NULL AND k.public GLOB 'z*') AS without
		FROM accounts a INDEXED BY accounts_domain
		WHERE a.domain = '' AND a.id > ?
		ORDER BY a.id
		LIMIT ?`, after, limit)
	if len(rows) == limit {
		next = rows[limit-1].ID
	}
	for _, r := range rows {
		if r.Without {
			found = append(found, r.ID)
		}
	}
	return found, next, err
}

// CountActorKeys counts the keys of an account that are Multikeys, or that are not; retired ones are included.
func (r reader) CountActorKeys(ctx context.Context, id AccountID, multikeys bool) (int, error) {
	return value[int](ctx, r, "count actor keys", `SELECT count(*) FROM actor_keys WHERE account_id = ? AND public GLOB 'z*' = ?`, id, multikeys)
}

// AddActorKey inserts a key. CreatedAt is set if it is 0.
func (tx *Tx) AddActorKey(ctx context.Context, k *ActorKey) error {
	if k.CreatedAt == 0 {
		k.CreatedAt = At(tx.db.now())
	}
	return tx.exec(ctx, "add actor key", insertActorKey.text, insertActorKey.args(k)...)
}

// RetireActorKeys retires the keys of a local account that are older than a key. That key need not be announced any more.
func (tx *Tx) RetireActorKeys(ctx context.Context, olderThan *ActorKey) error {
	if err := tx.exec(ctx, "retire actor keys", `
		UPDATE actor_keys
		SET retired_at = ?, private = NULL
		WHERE account_id = ? AND retired_at IS NULL AND created_at < ?`, At(tx.db.now()), olderThan.AccountID, olderThan.CreatedAt); err != nil {
		return err
	}
	return tx.SetKeyAnnounced(ctx, olderThan.URI)
}

// SetKeyAnnounced records that the Update with a key is queued.
func (tx *Tx) SetKeyAnnounced(ctx context.Context, uri string) error {
	return tx.exec(ctx, "set key announced", `UPDATE actor_keys SET announced = 1 WHERE uri = ?`, uri)
}

// PendingKeyUpdates counts the Updates with new keys of an account that are not delivered to a host yet, one for each key. They are the
// deliveries about the account with HighPriority.
func (r reader) PendingKeyUpdates(ctx context.Context, id AccountID, domain string) (int, error) {
	return value[int](ctx, r, "pending key updates", `
		SELECT count(*)
		FROM deliveries INDEXED BY deliveries_due
		WHERE domain = ? AND priority = 0 AND subject = ? AND parked = 0`, domain, id)
}

// HasPendingKeyUpdates returns true if an Update with a new key of an account is not delivered everywhere yet.
func (r reader) HasPendingKeyUpdates(ctx context.Context, id AccountID) (bool, error) {
	return r.exists(ctx, `
		SELECT 1
		FROM deliveries INDEXED BY deliveries_subject
		WHERE subject = ? AND subject <> 0 AND priority = 0 AND parked = 0`, id)
}

// RemoveActor deletes the actor of a deleted remote account, and its keys.
func (tx *Tx) RemoveActor(ctx context.Context, id AccountID) error {
	if err := tx.exec(ctx, "remove actor", `DELETE FROM actors WHERE account_id = ?`, id); err != nil {
		return err
	}
	return tx.exec(ctx, "remove actor keys", `DELETE FROM actor_keys WHERE account_id = ?`, id)
}

// SetActorKeys replaces the keys of a remote account as AddActorKeys adds them.
func (tx *Tx) SetActorKeys(ctx context.Context, id AccountID, keys []*ActorKey) error {
	if err := tx.exec(ctx, "drop actor keys", `DELETE FROM actor_keys WHERE account_id = ?`, id); err != nil {
		return err
	}
	return tx.AddActorKeys(ctx, id, keys)
}

// AddActorKeys adds the keys of a remote account. A key id that belongs to another account stays with it (federation 2.3), unless the
// id is derived from this account's id: then the other account's claim is wrong.
func (tx *Tx) AddActorKeys(ctx context.Context, id AccountID, keys []*ActorKey) error {
	for _, k := range keys {
		if err := tx.exec(ctx, "set actor key", `
			INSERT INTO actor_keys (uri, account_id, public, created_at)
			VALUES (?1, ?2, ?3, ?4)
			ON CONFLICT (uri) DO UPDATE SET account_id = ?2, public = ?3, created_at = ?4
			WHERE private IS NULL AND EXISTS (
				SELECT 1
				FROM accounts a
				WHERE a.id = ?2 AND (substr(?1, 1, length(a.uri) + 1) = a.uri || '#' OR ?1 IN (a.uri || '/main-key', a.uri || '/publickey')))`,
			k.URI, id, k.Public, At(tx.db.now())); err != nil {
			return err
		}
	}
	return nil
}

// InboxOwner returns the account whose own inbox a URL is, 0 if it is a shared inbox or unknown.
func (r reader) InboxOwner(ctx context.Context, inbox string) (AccountID, error) {
	found, err := ids[AccountID](ctx, r, "owner of an inbox", `SELECT account_id FROM actors WHERE inbox = ?1 AND shared_inbox <> ?1 LIMIT 1`, inbox)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0], nil
}

// RemoteRecipient is a remote account with its inboxes.
type RemoteRecipient struct {
	AccountID   AccountID
	URI         string
	Domain      string
	Inbox       string
	SharedInbox string // "": the instance has none
}

// DeliveryInbox returns the shared inbox, or the account's own inbox if there is none.
func (m *RemoteRecipient) DeliveryInbox() string {
	if m.SharedInbox != "" {
		return m.SharedInbox
	}
	return m.Inbox
}

// RemoteRecipients returns the remote ones of the accounts, in the order of ids. It leaves out unavailable accounts, and those that block
// sender or are blocked by it; sender may be 0.
func (r reader) RemoteRecipients(ctx context.Context, sender AccountID, ids []AccountID) ([]*RemoteRecipient, error) {
	return list[*RemoteRecipient](ctx, r, "remote recipients", `
		SELECT DISTINCT x.account_id, a.uri, a.domain, x.inbox, x.shared_inbox
		FROM json_each(?1) j
		CROSS JOIN actors x ON x.account_id = j.value
		CROSS JOIN accounts a ON a.id = x.account_id
		WHERE a.unavailable = 0
			AND NOT EXISTS (SELECT 1 FROM blocks WHERE account_id = ?2 AND target_id = x.account_id)
			AND NOT EXISTS (SELECT 1 FROM blocks WHERE account_id = x.account_id AND target_id = ?2)
		ORDER BY x.account_id`, jsonArray(ids), sender)
}

package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
)

// How long what has been heard of is remembered.
const (
	heardTime   = 30 * 24 * time.Hour // activities, and what was taken back or deleted before it came
	refusalTime = 7 * 24 * time.Hour
	maxRefusals = 10_000
	trimEvery   = 1000 // refusals: how many more there can be
)

// HeardKey is what is remembered of an id that has been heard of.
type HeardKey [16]byte

// NewHeardKey returns what is remembered of an id.
func NewHeardKey(uri string) HeardKey {
	sum := sha256.Sum256([]byte(uri))
	return HeardKey(sum[:16])
}

// Heard tells whether an id has been heard of: an activity that was done, or something taken back or deleted before it came.
func (r reader) Heard(ctx context.Context, uri string) (bool, error) {
	return r.HeardKey(ctx, NewHeardKey(uri))
}

// HeardKey is Heard for who has the key at hand.
func (r reader) HeardKey(ctx context.Context, key HeardKey) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM heard WHERE hash = ?`, key[:])
}

// HeardEither tells whether one of two ids has been heard of, or both.
func (r reader) HeardEither(ctx context.Context, key, other HeardKey) (bool, error) {
	return r.exists(ctx, `
		SELECT 1 FROM heard WHERE hash = ?1
		UNION ALL
		SELECT 1 FROM heard WHERE hash = ?2`, key[:], other[:])
}

// HeardKeySince tells whether an id was heard of, for the first time, at a time or later.
func (r reader) HeardKeySince(ctx context.Context, key HeardKey, since time.Time) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM heard WHERE hash = ? AND at >= ?`, key[:], At(since))
}

// Hear notes that an id has been heard of. first is false if it had been before.
func (tx *Tx) Hear(ctx context.Context, uri string) (first bool, err error) {
	return tx.HearKey(ctx, NewHeardKey(uri))
}

// HearKey is Hear for who has the key at hand.
func (tx *Tx) HearKey(ctx context.Context, key HeardKey) (first bool, err error) {
	n, err := tx.exec(ctx, "hear", `INSERT OR IGNORE INTO heard (hash, at) VALUES (?, ?)`, key[:], At(tx.db.now()))
	return n > 0, err
}

// HearKeys notes that ids have been heard of.
func (tx *Tx) HearKeys(ctx context.Context, keys []HeardKey) error {
	if len(keys) == 0 {
		return nil
	}
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = hex.EncodeToString(key[:])
	}
	_, err := tx.exec(ctx, "hear", `
		INSERT OR IGNORE INTO heard (hash, at)
		SELECT unhex(value), ?2
		FROM json_each(?1)`, jsonTexts(texts), At(tx.db.now()))
	return err
}

// Refusal says why something from elsewhere was not accepted.
type Refusal struct {
	ID     RefusalID
	URI    string // of the activity, or of the document
	Object string // what it was about; may be ""
	Domain string
	Reason string
}

// Refuse notes that something was not accepted. Of very many only the latest are kept.
func (tx *Tx) Refuse(ctx context.Context, r *Refusal) error {
	if tx.db.refusals.Add(1)%trimEvery == 0 {
		if _, err := tx.trimRefusals(ctx, 2*trimEvery); err != nil {
			return err
		}
	}
	r.ID = RefusalID(tx.newID())
	_, err := tx.exec(ctx, "refuse", `
		INSERT INTO refusals (id, uri, object, domain, reason)
		VALUES (?, ?, ?, ?, ?)`, r.ID, truncate(r.URI, 2048), truncate(r.Object, 2048), r.Domain, truncate(r.Reason, 1000))
	return err
}

// Refusals returns what is known of why something was not accepted, by the id of the activity or of what it was about, the latest first.
func (r reader) Refusals(ctx context.Context, uri string) ([]*Refusal, error) {
	const most = 50
	of, err := list[*Refusal](ctx, r, "refusals", `
		SELECT *
		FROM refusals INDEXED BY refusals_uri
		WHERE uri = ?
		ORDER BY id DESC
		LIMIT ?`, uri, most)
	if err != nil {
		return nil, err
	}
	about, err := list[*Refusal](ctx, r, "refusals of an object", `
		SELECT *
		FROM refusals INDEXED BY refusals_object
		WHERE object = ?1 AND uri <> ?1
		ORDER BY id DESC
		LIMIT ?2`, uri, most)
	all := append(of, about...)
	slices.SortFunc(all, func(a, b *Refusal) int { return cmp.Compare(b.ID, a.ID) })
	return all, err
}

// PruneHeard forgets what was heard of long ago, and refusals that nobody will ask about, some at a time. It tells whether there is more.
func (tx *Tx) PruneHeard(ctx context.Context) (more bool, err error) {
	now := tx.db.now()
	n, err := tx.exec(ctx, "prune heard", `
		DELETE FROM heard
		WHERE hash IN (SELECT hash FROM heard WHERE at < ? LIMIT ?)`, At(now.Add(-heardTime)), pruneBatch)
	if err != nil {
		return false, err
	}
	m, err := tx.trimRefusals(ctx, pruneBatch)
	return n == pruneBatch || m == pruneBatch, err
}

// trimRefusals removes some of the refusals that are old, or too many. It returns how many it has removed.
func (tx *Tx) trimRefusals(ctx context.Context, most int) (int64, error) {
	last, err := one[int64](ctx, tx.reader, "oldest refusal kept", `
		SELECT id
		FROM refusals
		ORDER BY id DESC
		LIMIT 1 OFFSET ?`, maxRefusals)
	if err != nil {
		return 0, err
	}
	until := tx.db.now().Add(-refusalTime).UnixMilli() << sequenceBits
	if last != nil {
		until = max(until, *last)
	}
	return tx.exec(ctx, "prune refusals", `
		DELETE FROM refusals
		WHERE id IN (SELECT id FROM refusals WHERE id <= ? ORDER BY id LIMIT ?)`, until, most)
}

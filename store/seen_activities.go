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
	seenActivityTTL   = 30 * 24 * time.Hour // activities, and what was taken back or deleted before it came
	refusalTTL        = 7 * 24 * time.Hour
	maxRefusals       = 10_000
	trimRefusalsEvery = 1000 // refusals: how many more there can be
)

// SeenKey is what is remembered of an id that has been heard of.
type SeenKey [16]byte

// NewSeenKey returns what is remembered of an id.
func NewSeenKey(uri string) SeenKey {
	sum := sha256.Sum256([]byte(uri))
	return SeenKey(sum[:16])
}

// SeenActivity tells whether an id has been heard of: an activity that was done, or something taken back or deleted before it came.
func (r reader) SeenActivity(ctx context.Context, uri string) (bool, error) {
	return r.SeenKey(ctx, NewSeenKey(uri))
}

// SeenKey is Heard for who has the key at hand.
func (r reader) SeenKey(ctx context.Context, key SeenKey) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM seen_activities WHERE hash = ?`, key[:])
}

// SeenEither tells whether one of two ids has been heard of, or both.
func (r reader) SeenEither(ctx context.Context, key, other SeenKey) (bool, error) {
	return r.exists(ctx, `
		SELECT 1 FROM seen_activities WHERE hash = ?1
		UNION ALL
		SELECT 1 FROM seen_activities WHERE hash = ?2`, key[:], other[:])
}

// SeenKeySince tells whether an id was heard of, for the first time, at a time or later.
func (r reader) SeenKeySince(ctx context.Context, key SeenKey, since time.Time) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM seen_activities WHERE hash = ? AND seen_at >= ?`, key[:], At(since))
}

// MarkSeen notes that an id has been heard of. first is false if it had been before.
func (tx *Tx) MarkSeen(ctx context.Context, uri string) (first bool, err error) {
	return tx.MarkSeenKey(ctx, NewSeenKey(uri))
}

// MarkSeenKey is Hear for who has the key at hand.
func (tx *Tx) MarkSeenKey(ctx context.Context, key SeenKey) (first bool, err error) {
	n, err := tx.exec(ctx, "hear", `INSERT OR IGNORE INTO seen_activities (hash, seen_at) VALUES (?, ?)`, key[:], At(tx.db.now()))
	return n > 0, err
}

// MarkSeenKeys notes that ids have been heard of.
func (tx *Tx) MarkSeenKeys(ctx context.Context, keys []SeenKey) error {
	if len(keys) == 0 {
		return nil
	}
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = hex.EncodeToString(key[:])
	}
	_, err := tx.exec(ctx, "hear", `
		INSERT OR IGNORE INTO seen_activities (hash, seen_at)
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

// AddRefusal notes that something was not accepted. Of very many only the latest are kept.
func (tx *Tx) AddRefusal(ctx context.Context, r *Refusal) error {
	if tx.db.refusals.Add(1)%trimRefusalsEvery == 0 {
		if _, err := tx.trimRefusals(ctx, 2*trimRefusalsEvery); err != nil {
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

// PruneSeenActivities forgets what was heard of long ago, and refusals that nobody will ask about, some at a time. It tells whether there is more.
func (tx *Tx) PruneSeenActivities(ctx context.Context) (more bool, err error) {
	now := tx.db.now()
	n, err := tx.exec(ctx, "prune heard", `
		DELETE FROM seen_activities
		WHERE hash IN (SELECT hash FROM seen_activities WHERE seen_at < ? LIMIT ?)`, At(now.Add(-seenActivityTTL)), pruneBatch)
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
	until := tx.db.now().Add(-refusalTTL).UnixMilli() << sequenceBits
	if last != nil {
		until = max(until, *last)
	}
	return tx.exec(ctx, "prune refusals", `
		DELETE FROM refusals
		WHERE id IN (SELECT id FROM refusals WHERE id <= ? ORDER BY id LIMIT ?)`, until, most)
}

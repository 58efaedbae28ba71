package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// deletionID is what is remembered of the deletion of a post that had not come: only its author can have it deleted.
func deletionID(uri, author string) string { return author + " deleted " + uri }

// MarkDeletionSeen notes that an author has had a post deleted that is not here.
func (tx *Tx) MarkDeletionSeen(ctx context.Context, uri, author string) error {
	_, err := tx.MarkSeen(ctx, deletionID(uri, author))
	return err
}

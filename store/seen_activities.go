package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// How long, and how many, seen activities and refusals are kept.
const (
	seenActivityTTL   = 30 * 24 * time.Hour // also deletions and Undos that precede their object
	refusalTTL        = 7 * 24 * time.Hour
	maxRefusals       = 10_000
	trimRefusalsEvery = 1000 // refusals between two trims
)

// SeenKey is the hash of an id that is stored.
type SeenKey [16]byte

// NewSeenKey returns the key of an id.
func NewSeenKey(uri string) SeenKey {
	sum := sha256.Sum256([]byte(uri))
	return SeenKey(sum[:16])
}

// SeenActivity returns true if an id was seen: of a processed activity, or of an object that was deleted or undone before it came.
func (r reader) SeenActivity(ctx context.Context, uri string) (bool, error) {
	return r.SeenKey(ctx, NewSeenKey(uri))
}

// SeenKey is SeenActivity by key.
func (r reader) SeenKey(ctx context.Context, key SeenKey) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM seen_activities WHERE hash = ?`, key[:])
}

// SeenEither returns true if one of two ids was seen.
func (r reader) SeenEither(ctx context.Context, key, other SeenKey) (bool, error) {
	return r.exists(ctx, `
		SELECT 1 FROM seen_activities WHERE hash = ?1
		UNION ALL
		SELECT 1 FROM seen_activities WHERE hash = ?2`, key[:], other[:])
}

// SeenKeySince returns true if an id was first seen at or after a time.
func (r reader) SeenKeySince(ctx context.Context, key SeenKey, since time.Time) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM seen_activities WHERE hash = ? AND seen_at >= ?`, key[:], At(since))
}

// MarkSeen stores that an id was seen. first is false if it was seen before.
func (tx *Tx) MarkSeen(ctx context.Context, uri string) (first bool, err error) {
	return tx.MarkSeenKey(ctx, NewSeenKey(uri))
}

// MarkSeenKey is MarkSeen by key.
func (tx *Tx) MarkSeenKey(ctx context.Context, key SeenKey) (first bool, err error) {
	n, err := tx.execRows(ctx, "mark seen", `INSERT OR IGNORE INTO seen_activities (hash, seen_at) VALUES (?, ?)`, key[:], At(tx.db.now()))
	return n > 0, err
}

// MarkSeenKeys stores that ids were seen.
func (tx *Tx) MarkSeenKeys(ctx context.Context, keys []SeenKey) error {
	if len(keys) == 0 {
		return nil
	}
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = hex.EncodeToString(key[:])
	}
	return tx.exec(ctx, "mark seen", `
		INSERT OR IGNORE INTO seen_activities (hash, seen_at)
		SELECT unhex(value), ?2
		FROM json_each(?1)`, jsonTexts(texts), At(tx.db.now()))
}

// PruneSeenActivities deletes a batch of old seen ids and of old refusals. It returns whether there are more.
func (tx *Tx) PruneSeenActivities(ctx context.Context) (more bool, err error) {
	now := tx.db.now()
	n, err := tx.execRows(ctx, "prune seen activities", `
		DELETE FROM seen_activities
		WHERE hash IN (SELECT hash FROM seen_activities WHERE seen_at < ? LIMIT ?)`, At(now.Add(-seenActivityTTL)), pruneBatch)
	if err != nil {
		return false, err
	}
	m, err := tx.trimRefusals(ctx, pruneBatch)
	return n == pruneBatch || m == pruneBatch, err
}

// deletionID returns the id to store for the deletion of an unknown status. It includes the author, because only the author may delete it.
func deletionID(uri, author string) string { return author + " deleted " + uri }

// MarkDeletionSeen stores that an author has deleted an unknown status.
func (tx *Tx) MarkDeletionSeen(ctx context.Context, uri, author string) error {
	_, err := tx.MarkSeen(ctx, deletionID(uri, author))
	return err
}

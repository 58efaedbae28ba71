package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"time"

	"svc/internal/activity"
)

// How long, and how many, seen activities and refusals are kept. Senders choose the ids, so that each registered domain has a number of its own,
// and one that makes up ids loses its oldest.
const (
	seenActivityTTL   = 30 * 24 * time.Hour // also deletions and Undos that precede their object
	maxProcessed      = 100_000             // ids of processed activities, per domain
	maxAbsent         = 10_000              // ids of deletions and Undos that precede their object, per domain
	maxSeen           = 1_000_000           // ids of all domains, about 150 MB: there may be any number of domains
	countSeenEvery    = 50_000              // additions between two counts of all ids
	trimSeenEvery     = 1000                // additions, on average, between two trims
	trimSeenBatch     = 2 * trimSeenEvery
	refusalTTL        = 7 * 24 * time.Hour
	maxRefusals       = 10_000
	trimRefusalsEvery = 1000 // refusals between two trims
)

// DeliveryResultTTL is how long the refusal of a delivery is kept. Parked deliveries are kept longer.
const DeliveryResultTTL = refusalTTL

// SeenSource is where a seen id comes from: a hash of the registered domain. Its last bit is set for ids of deletions and Undos that precede their
// object.
type SeenSource int64

const absentBit SeenSource = 1

// ProcessedFrom returns the source of processed activities of a host.
func ProcessedFrom(host string) SeenSource {
	sum := sha256.Sum256([]byte(activity.RegisteredDomain(host)))
	return SeenSource(binary.BigEndian.Uint64(sum[:])) &^ absentBit
}

// AbsentFrom returns the source of ids that a host deleted or undid before they came.
func AbsentFrom(host string) SeenSource { return ProcessedFrom(host) | absentBit }

func (s SeenSource) limit() int {
	if s&absentBit != 0 {
		return maxAbsent
	}
	return maxProcessed
}

// SeenID is an id that was seen.
type SeenID struct {
	Key    SeenKey
	Source SeenSource
}

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
	if !r.db.seen.mayHave(key) {
		return false, nil
	}
	return r.exists(ctx, `SELECT 1 FROM seen_activities WHERE hash = ?`, key[:])
}

// SeenKeySince returns true if an id was first seen at or after a time.
func (r reader) SeenKeySince(ctx context.Context, key SeenKey, since time.Time) (bool, error) {
	if !r.db.seen.mayHave(key) {
		return false, nil
	}
	return r.exists(ctx, `SELECT 1 FROM seen_activities WHERE hash = ? AND seen_at >= ?`, key[:], At(since))
}

// MarkSeen stores that ids were seen. Beyond the number of their source, the oldest are forgotten.
func (tx *Tx) MarkSeen(ctx context.Context, ids ...SeenID) error {
	if len(ids) == 0 {
		return nil
	}
	var rows JSON[[][2]any]
	for _, id := range ids {
		tx.db.seen.add(id.Key)
		rows.V = append(rows.V, [2]any{hex.EncodeToString(id.Key[:]), id.Source})
	}
	n, err := tx.execRows(ctx, "mark seen", `
		INSERT OR IGNORE INTO seen_activities (hash, seen_at, source)
		SELECT unhex(value ->> 0), ?2, value ->> 1
		FROM json_each(?1)`, rows, At(tx.db.now()))
	if err != nil || n == 0 {
		return err
	}
	for _, id := range ids {
		if rand.IntN(trimSeenEvery) == 0 {
			if err := tx.trimSeen(ctx, id.Source); err != nil {
				return err
			}
		}
	}
	return tx.trimAllSeen(ctx, int(n))
}

// seenCount is about how many ids are stored. Only the writer uses it.
type seenCount struct {
	limit     int // maxSeen
	rows      int
	additions int // since the rows were counted
	counted   bool
}

// trimAllSeen forgets the oldest ids of all domains beyond maxSeen, after some were added.
func (tx *Tx) trimAllSeen(ctx context.Context, added int) error {
	c := &tx.db.seenCount
	c.rows += added
	if c.additions += added; !c.counted || c.additions >= countSeenEvery {
		n, err := value[int](ctx, tx.reader, "count seen activities", `SELECT count(*) FROM seen_activities`)
		if err != nil {
			return err
		}
		c.rows, c.additions, c.counted = n, 0, true
	}
	if c.rows-c.limit < trimSeenEvery {
		return nil
	}
	n, err := tx.execRows(ctx, "trim all seen activities", `
		DELETE FROM seen_activities
		WHERE hash IN (SELECT hash FROM seen_activities INDEXED BY seen_activities_time ORDER BY seen_at LIMIT ?)`, added+trimSeenBatch)
	c.rows -= int(n)
	return err
}

// trimSeen forgets the oldest ids of a source beyond its number.
func (tx *Tx) trimSeen(ctx context.Context, source SeenSource) error {
	return tx.exec(ctx, "trim seen activities", `
		DELETE FROM seen_activities
		WHERE hash IN (
			SELECT hash
			FROM seen_activities INDEXED BY seen_activities_source
			WHERE source = ?
			ORDER BY seen_at DESC
			LIMIT ? OFFSET ?)`, source, trimSeenBatch, source.limit())
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

// MarkDeletionSeen stores that an author has deleted an unknown status. host is that of the author's id.
func (tx *Tx) MarkDeletionSeen(ctx context.Context, uri, author, host string) error {
	return tx.MarkSeen(ctx, SeenID{NewSeenKey(deletionID(uri, author)), AbsentFrom(host)})
}

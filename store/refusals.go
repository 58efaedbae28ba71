package store

import (
	"cmp"
	"context"
	"slices"
)

// Refusal is the reason why an incoming activity or document was refused, or why a host does not take a local status.
type Refusal struct {
	ID     RefusalID
	URI    string // of the activity or document, or of the local status
	Object string // of the activity; may be ""
	Domain string
	Reason string
}

// AddRefusal stores a refusal. Only the latest are kept.
func (tx *Tx) AddRefusal(ctx context.Context, r *Refusal) error {
	if tx.db.refusals.Add(1)%trimRefusalsEvery == 0 {
		if _, err := tx.trimRefusals(ctx, 2*trimRefusalsEvery); err != nil {
			return err
		}
	}
	r.ID = RefusalID(tx.newID())
	return tx.exec(ctx, "add refusal", `
		INSERT INTO refusals (id, uri, object, domain, reason)
		VALUES (?, ?, ?, ?, ?)`, r.ID, truncate(r.URI, 2048), truncate(r.Object, 2048), r.Domain, truncate(r.Reason, maxErrorBytes))
}

// AddDeliveryRefusal stores why a delivery about a local status to a host was dropped.
func (tx *Tx) AddDeliveryRefusal(ctx context.Context, id StatusID, domain, reason string) error {
	uri, err := one[string](ctx, tx.reader, "uri of a status", `SELECT uri FROM statuses WHERE id = ?`, id)
	if uri == nil || err != nil {
		return err
	}
	return tx.AddRefusal(ctx, &Refusal{URI: *uri, Domain: domain, Reason: reason})
}

// Refusals returns the refusals of an activity, a document, or activities about an object, latest first.
func (r reader) Refusals(ctx context.Context, uri string) ([]*Refusal, error) {
	const limit = 50
	of, err := list[*Refusal](ctx, r, "refusals", `
		SELECT *
		FROM refusals INDEXED BY refusals_uri
		WHERE uri = ?
		ORDER BY id DESC
		LIMIT ?`, uri, limit)
	if err != nil {
		return nil, err
	}
	about, err := list[*Refusal](ctx, r, "refusals of an object", `
		SELECT *
		FROM refusals INDEXED BY refusals_object
		WHERE object = ?1 AND uri <> ?1
		ORDER BY id DESC
		LIMIT ?2`, uri, limit)
	all := append(of, about...)
	slices.SortFunc(all, func(a, b *Refusal) int { return cmp.Compare(b.ID, a.ID) })
	return all, err
}

// trimRefusals deletes up to limit refusals that are old or too many. It returns how many.
func (tx *Tx) trimRefusals(ctx context.Context, limit int) (int64, error) {
	last, err := one[int64](ctx, tx.reader, "oldest refusal to keep", `
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
	return tx.execRows(ctx, "prune refusals", `
		DELETE FROM refusals
		WHERE id IN (SELECT id FROM refusals WHERE id <= ? ORDER BY id LIMIT ?)`, until, limit)
}

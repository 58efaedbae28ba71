package store

import "context"

// CollectionItem is the place of a local account in a collection of a remote account ("starter pack", FEP-7aa9), with the local account's consent. It
// stays after that is revoked, so that the owner cannot add the account again.
type CollectionItem struct {
	ID            CollectionItemID // in the URI of the authorization
	TargetID      AccountID        // the local account
	AccountID     AccountID        // the owner of the collection
	Domain        string           // the registered domain of the owner
	CollectionURI string
	RequestURI    string // of the last FeatureRequest
	ItemURI       string // of the item in the collection; "": unknown
	Name          string // of the collection, as are the fields below
	Description   string
	URL           string
	Sensitive     bool
	Discoverable  bool
	ItemCount     int
	RevokedAt     *Time // nil: the account may be in the collection
}

// Position returns the id as a position in a list.
func (i *CollectionItem) Position() int64 { return int64(i.ID) }

// CollectionItem returns an item, and errs.ErrRecordNotFound if there is none.
func (r reader) CollectionItem(ctx context.Context, id CollectionItemID) (*CollectionItem, error) {
	return get[CollectionItem](ctx, r, "collection item", `SELECT * FROM collection_items WHERE id = ?`, id)
}

// CollectionItemOf returns the item of a local account in a collection, nil if there is none.
func (r reader) CollectionItemOf(ctx context.Context, collectionURI string, target AccountID) (*CollectionItem, error) {
	return one[CollectionItem](ctx, r, "collection item", `
		SELECT *
		FROM collection_items
		WHERE collection_uri = ? AND target_id = ?`, collectionURI, target)
}

// CollectionItems returns those of the items that are not revoked.
func (r reader) CollectionItems(ctx context.Context, items []CollectionItemID) ([]*CollectionItem, error) {
	return list[*CollectionItem](ctx, r, "collection items", `
		SELECT i.*
		FROM json_each(?) j
		CROSS JOIN collection_items i ON i.id = j.value
		WHERE i.revoked_at IS NULL`, jsonArray(items))
}

var inCollections = newKeyset(`
		SELECT *
		FROM collection_items INDEXED BY collection_items_target
		WHERE target_id = ?1 AND revoked_at IS NULL AND id < ?2 AND id > ?3
		ORDER BY id DESC
		LIMIT ?4 OFFSET ?5`)

// InCollections returns the items of a local account that are not revoked, without the first ones.
func (r reader) InCollections(ctx context.Context, target AccountID, offset int, p Page) ([]*CollectionItem, error) {
	query, below, above, ascending := inCollections.query(p)
	rows, err := list[*CollectionItem](ctx, r, "collections of an account", query, target, below, above, p.Limit, offset)
	return newestFirst(rows, ascending), err
}

// CollectionItemsBetween returns the items of a local account in the collections of an owner.
func (r reader) CollectionItemsBetween(ctx context.Context, owner, target AccountID, limit int) ([]*CollectionItem, error) {
	return list[*CollectionItem](ctx, r, "collection items", `
		SELECT *
		FROM collection_items INDEXED BY collection_items_account
		WHERE account_id = ? AND target_id = ?
		LIMIT ?`, owner, target, limit)
}

// CollectionItemsOfDomain returns the items of a local account in the collections of a domain, without the revoked ones.
func (r reader) CollectionItemsOfDomain(ctx context.Context, target AccountID, domain string, limit int) ([]*CollectionItem, error) {
	return list[*CollectionItem](ctx, r, "collection items", `
		SELECT i.*
		FROM collection_items i INDEXED BY collection_items_target
		CROSS JOIN accounts a ON a.id = i.account_id
		WHERE i.target_id = ? AND i.revoked_at IS NULL AND a.domain = ?
		LIMIT ?`, target, domain, limit)
}

// CollectionItemsByURI returns the items of local accounts in a collection of an owner.
func (r reader) CollectionItemsByURI(ctx context.Context, owner AccountID, uri string, limit int) ([]*CollectionItem, error) {
	return list[*CollectionItem](ctx, r, "collection items", `
		SELECT *
		FROM collection_items
		WHERE collection_uri = ? AND account_id = ?
		LIMIT ?`, uri, owner, limit)
}

// CollectionItemCounts are numbers of items, revoked ones included: of one local account in the collections of an owner, of the owner's registered
// domain, and of all; and of all local accounts in one collection.
type CollectionItemCounts struct{ Account, Domain, All, Collection int }

// CountCollectionItems counts the items beside a new one, each up to limit.
func (r reader) CountCollectionItems(ctx context.Context, q *CollectionItem, limit int) (CollectionItemCounts, error) {
	return value[CollectionItemCounts](ctx, r, "count collection items", `
		SELECT
			(SELECT count(*) FROM (SELECT 1 FROM collection_items INDEXED BY collection_items_account
				WHERE account_id = ?2 AND target_id = ?1 LIMIT ?4)) AS account,
			(SELECT count(*) FROM (SELECT 1 FROM collection_items INDEXED BY collection_items_domain
				WHERE target_id = ?1 AND domain = ?3 LIMIT ?4)) AS domain,
			(SELECT count(*) FROM (SELECT 1 FROM collection_items INDEXED BY collection_items_domain
				WHERE target_id = ?1 LIMIT ?4)) AS "all",
			(SELECT count(*) FROM (SELECT 1 FROM collection_items
				WHERE collection_uri = ?5 LIMIT ?4)) AS collection`, q.TargetID, q.AccountID, q.Domain, limit, q.CollectionURI)
}

// AddCollectionItem inserts an item with a new id. There must be none for the same collection and account.
func (tx *Tx) AddCollectionItem(ctx context.Context, i *CollectionItem) error {
	i.ID = CollectionItemID(tx.newID())
	return tx.exec(ctx, "add collection item", insertCollectionItem.text, insertCollectionItem.args(i)...)
}

// SaveCollectionItem writes what the owner may change: the request, the item's URI, and the description of the collection.
func (tx *Tx) SaveCollectionItem(ctx context.Context, i *CollectionItem) error {
	return tx.exec(ctx, "save collection item", updateCollectionItem.text, updateCollectionItem.args(i)...)
}

// RevokeCollectionItem stores that the local account does not want to be in the collection.
func (tx *Tx) RevokeCollectionItem(ctx context.Context, i *CollectionItem) error {
	i.RevokedAt = new(At(tx.db.now()))
	return tx.exec(ctx, "revoke collection item", `UPDATE collection_items SET revoked_at = ? WHERE id = ?`, i.RevokedAt, i.ID)
}

// RemoveCollectionItem deletes an item.
func (tx *Tx) RemoveCollectionItem(ctx context.Context, id CollectionItemID) error {
	return tx.exec(ctx, "remove collection item", `DELETE FROM collection_items WHERE id = ?`, id)
}

// RemoveCollectionNotification deletes the notification of an item.
func (tx *Tx) RemoveCollectionNotification(ctx context.Context, i *CollectionItem) error {
	return tx.exec(ctx, "remove notification of a collection", `
		DELETE FROM notifications INDEXED BY notifications_once
		WHERE account_id = ? AND type = ? AND from_id = ? AND detail = ? AND status_id IS NULL`, i.TargetID, NotifyAddedToCollection, i.AccountID, i.ID.String())
}

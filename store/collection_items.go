package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// CollectionItem is the place of an account in a collection of accounts ("starter pack", FEP-7aa9), with the account's consent. Of remote collections,
// only items of local accounts are stored. A revoked item stays, so that the owner cannot add the account again.
type CollectionItem struct {
	ID               CollectionItemID // in the URIs of the item, of its request and of the authorization of a local account
	CollectionID     CollectionID
	TargetID         AccountID // the account that is in the collection
	AccountID        AccountID // the owner of the collection
	Domain           string    // the registered domain of the owner; "": local
	State            ItemState
	RequestURI       string // of the last FeatureRequest; "": none
	ItemURI          string // of the item of a remote collection; "": unknown
	AuthorizationURI string // of a remote target; "": none
}

// Position returns the id as a position in a list.
func (i *CollectionItem) Position() int64 { return int64(i.ID) }

// ItemState says whether an account is in a collection.
type ItemState int

const (
	ItemPending  ItemState = iota // the account was asked
	ItemAccepted                  // only these are shown to others than the owner
	ItemRejected                  // the account was asked and did not agree
	ItemRevoked                   // the account has left, and cannot be added again
)

var itemStateNames = []string{"pending", "accepted", "rejected", "revoked"}

// String returns the client API's name.
func (s ItemState) String() string {
	if s < 0 || int(s) >= len(itemStateNames) {
		return fmt.Sprintf("itemstate(%d)", int(s))
	}
	return itemStateNames[s]
}

// CollectionItem returns an item, and errs.ErrRecordNotFound if there is none.
func (r reader) CollectionItem(ctx context.Context, id CollectionItemID) (*CollectionItem, error) {
	return get[CollectionItem](ctx, r, "collection item", `SELECT * FROM collection_items WHERE id = ?`, id)
}

// CollectionItemOf returns the item of an account in a collection, nil if there is none.
func (r reader) CollectionItemOf(ctx context.Context, collection CollectionID, target AccountID) (*CollectionItem, error) {
	return one[CollectionItem](ctx, r, "collection item", `
		SELECT *
		FROM collection_items
		WHERE collection_id = ? AND target_id = ?`, collection, target)
}

// CollectionItemAuthorizedBy returns the item to which a remote account consented by an authorization, nil if there is none.
func (r reader) CollectionItemAuthorizedBy(ctx context.Context, target AccountID, uri string) (*CollectionItem, error) {
	return one[CollectionItem](ctx, r, "authorized collection item", `
		SELECT *
		FROM collection_items INDEXED BY collection_items_authorization
		WHERE authorization_uri = ?1 AND authorization_uri <> '' AND target_id = ?2
		LIMIT 1`, uri, target)
}

// CollectionItems returns those of the items that are accepted.
func (r reader) CollectionItems(ctx context.Context, items []CollectionItemID) ([]*CollectionItem, error) {
	return list[*CollectionItem](ctx, r, "collection items", `
		SELECT i.*
		FROM json_each(?) j
		CROSS JOIN collection_items i ON i.id = j.value
		WHERE i.state = ?`, jsonArray(items), ItemAccepted)
}

// ItemsIn returns the items of collections that a viewer sees, the oldest first: the accepted ones, in own collections the pending ones too, and none
// of an account that is unavailable or that the viewer blocks.
func (r reader) ItemsIn(ctx context.Context, viewer AccountID, collections []CollectionID) ([]*CollectionItem, error) {
	l, err := r.lookups(ctx, viewer)
	if err != nil {
		return nil, err
	}
	rows, err := list[*CollectionItem](ctx, r, "items of collections", `
		SELECT i.*
		FROM json_each(?3) j
		CROSS JOIN collection_items i ON i.collection_id = j.value
		WHERE (i.state = ?4 OR i.state = ?5 AND i.account_id = ?1)
			AND `+available("i.target_id")+`
			AND `+notBlocked("i.target_id")+`
			AND `+notOfBlockedDomain("i.target_id"), viewer, l, jsonArray(collections), ItemAccepted, ItemPending)
	slices.SortFunc(rows, func(a, b *CollectionItem) int { return cmp.Compare(a.ID, b.ID) })
	return rows, err
}

// AllItemsIn returns all items of a collection, in no order.
func (r reader) AllItemsIn(ctx context.Context, id CollectionID, limit int) ([]*CollectionItem, error) {
	return list[*CollectionItem](ctx, r, "items of a collection", `SELECT * FROM collection_items WHERE collection_id = ? LIMIT ?`, id, limit)
}

var inCollections = newKeyset(`
		SELECT *
		FROM collection_items INDEXED BY collection_items_target
		WHERE target_id = ?1 AND state = 1 AND id < ?2 AND id > ?3
		ORDER BY id DESC
		LIMIT ?4 OFFSET ?5`)

// InCollections returns the accepted items of an account, without the first ones.
func (r reader) InCollections(ctx context.Context, target AccountID, offset int, p Page) ([]*CollectionItem, error) {
	query, below, above, ascending := inCollections.query(p)
	rows, err := list[*CollectionItem](ctx, r, "collections with an account", query, target, below, above, p.Limit, offset)
	return newestFirst(rows, ascending), err
}

// CollectionItemsBetween returns the items of an account in the collections of an owner.
func (r reader) CollectionItemsBetween(ctx context.Context, owner, target AccountID, limit int) ([]*CollectionItem, error) {
	return list[*CollectionItem](ctx, r, "collection items", `
		SELECT *
		FROM collection_items INDEXED BY collection_items_account
		WHERE account_id = ? AND target_id = ?
		LIMIT ?`, owner, target, limit)
}

// CollectionItemsOfDomain returns the accepted items of a local account in the collections of a domain.
func (r reader) CollectionItemsOfDomain(ctx context.Context, target AccountID, domain string, limit int) ([]*CollectionItem, error) {
	return list[*CollectionItem](ctx, r, "collection items of a domain", `
		SELECT i.*
		FROM collection_items i INDEXED BY collection_items_target
		CROSS JOIN accounts a ON a.id = i.account_id
		WHERE i.target_id = ? AND i.state = 1 AND a.domain = ?
		LIMIT ?`, target, domain, limit)
}

// CollectionItemCounts are numbers of items, revoked ones included: of one local account in the collections of an owner, of the owner's registered
// domain, and of all; and of all accounts in one collection.
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
				WHERE collection_id = ?5 LIMIT ?4)) AS collection`, q.TargetID, q.AccountID, q.Domain, limit, q.CollectionID)
}

// AddCollectionItem inserts an item with a new id. There must be none for the same collection and account.
func (tx *Tx) AddCollectionItem(ctx context.Context, i *CollectionItem) error {
	i.ID = CollectionItemID(tx.newID())
	return tx.exec(ctx, "add collection item", insertCollectionItem.text, insertCollectionItem.args(i)...)
}

// SaveCollectionItem writes what changes of an item: its state and its URIs.
func (tx *Tx) SaveCollectionItem(ctx context.Context, i *CollectionItem) error {
	return tx.exec(ctx, "save collection item", updateCollectionItem.text, updateCollectionItem.args(i)...)
}

// RemoveCollectionItem deletes an item.
func (tx *Tx) RemoveCollectionItem(ctx context.Context, id CollectionItemID) error {
	return tx.exec(ctx, "remove collection item", `DELETE FROM collection_items WHERE id = ?`, id)
}

// RemoveReadCollectionUpdate deletes the notification of an earlier change of the collection if it was read, so that there can be another.
func (tx *Tx) RemoveReadCollectionUpdate(ctx context.Context, i *CollectionItem) error {
	return tx.exec(ctx, "remove read notification of a collection", `
		DELETE FROM notifications INDEXED BY notifications_once
		WHERE account_id = ? AND type = ? AND from_id = ? AND detail = ? AND status_id IS NULL AND read = 1`,
		i.TargetID, NotifyCollectionUpdate, i.AccountID, i.ID.String())
}

// RemoveCollectionNotifications deletes the notifications of an item.
func (tx *Tx) RemoveCollectionNotifications(ctx context.Context, i *CollectionItem) error {
	for _, t := range []NotificationType{NotifyAddedToCollection, NotifyCollectionUpdate} {
		if err := tx.exec(ctx, "remove notification of a collection", `
			DELETE FROM notifications INDEXED BY notifications_once
			WHERE account_id = ? AND type = ? AND from_id = ? AND detail = ? AND status_id IS NULL`, i.TargetID, t, i.AccountID, i.ID.String()); err != nil {
			return err
		}
	}
	return nil
}

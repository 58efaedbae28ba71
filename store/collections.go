package store

import (
	"context"
	"strings"
)

// Collection is a collection of accounts ("starter pack", FEP-7aa9): of a local account, or of a remote one.
type Collection struct {
	ID           CollectionID
	AccountID    AccountID // the owner
	URI          string
	URL          string
	Name         string
	Description  string // HTML of a remote collection, text of a local one
	Language     string // "": unknown
	Tag          string // without #; "": none
	Sensitive    bool
	Discoverable bool
	ItemCount    int // of a remote collection, as its server says
	UpdatedAt    Time
}

// IsLocal returns true for a collection of a local account.
func (c *Collection) IsLocal(baseURL string) bool { return strings.HasPrefix(c.URI, baseURL+"/") }

// Position returns the id as a position in a list.
func (c *Collection) Position() int64 { return int64(c.ID) }

// Collection returns a collection, and errs.ErrRecordNotFound if there is none.
func (r reader) Collection(ctx context.Context, id CollectionID) (*Collection, error) {
	return get[Collection](ctx, r, "collection", `SELECT * FROM collections WHERE id = ?`, id)
}

// CollectionByURI returns the collection with a URI, nil if there is none.
func (r reader) CollectionByURI(ctx context.Context, uri string) (*Collection, error) {
	return one[Collection](ctx, r, "collection", `SELECT * FROM collections WHERE uri = ?`, uri)
}

// Collections returns the collections that have one of the ids, in no order.
func (r reader) Collections(ctx context.Context, ids []CollectionID) ([]*Collection, error) {
	return list[*Collection](ctx, r, "collections", `
		SELECT c.*
		FROM json_each(?) j
		CROSS JOIN collections c ON c.id = j.value`, jsonArray(ids))
}

var collectionsOf = newKeyset(`
		SELECT *
		FROM collections INDEXED BY collections_account
		WHERE account_id = ?1 AND (?6 OR discoverable = 1) AND id < ?2 AND id > ?3
		ORDER BY id DESC
		LIMIT ?4 OFFSET ?5`)

// CollectionsOf returns the collections of an account, the newest first, without the first ones. Only the owner sees those that are not
// discoverable.
func (r reader) CollectionsOf(ctx context.Context, owner AccountID, asOwner bool, offset int, p Page) ([]*Collection, error) {
	query, below, above, ascending := collectionsOf.query(p)
	rows, err := list[*Collection](ctx, r, "collections of an account", query, owner, below, above, p.Limit, offset, asOwner)
	return newestFirst(rows, ascending), err
}

// maxListedCollections bounds the newest collections among which ListedCollections looks.
const maxListedCollections = "2000"

// ListedCollections returns the newest discoverable collections of local accounts that can be found, without those of accounts that the viewer (0:
// anonymous) blocks or is blocked by. Remote collections are left out, because their owners decide how many there are.
func (r reader) ListedCollections(ctx context.Context, viewer AccountID, limit int) ([]*Collection, error) {
	l, err := r.lookups(ctx, viewer)
	if err != nil {
		return nil, err
	}
	return list[*Collection](ctx, r, "listed collections", `
		SELECT c.*
		FROM (SELECT id FROM collections ORDER BY id DESC LIMIT `+maxListedCollections+`) some
		CROSS JOIN collections c ON c.id = some.id
		CROSS JOIN accounts a ON a.id = c.account_id
		WHERE c.discoverable = 1 AND c.sensitive = 0 AND a.domain = '' AND a.discoverable = 1 AND a.unavailable = 0
			AND EXISTS (SELECT 1 FROM collection_items i WHERE i.collection_id = c.id AND i.state = ?4)
			AND `+notBlocked("a.id")+` AND `+notBlockedBy("a.id")+`
		LIMIT ?3`, viewer, l, limit, ItemAccepted)
}

// CountCollections counts the collections of an account, up to limit.
func (r reader) CountCollections(ctx context.Context, owner AccountID, limit int) (int, error) {
	return value[int](ctx, r, "count collections", `
		SELECT count(*)
		FROM (SELECT 1 FROM collections INDEXED BY collections_account WHERE account_id = ? LIMIT ?)`, owner, limit)
}

// NewCollectionID returns an id for a local collection, whose URI has it.
func (tx *Tx) NewCollectionID() CollectionID { return CollectionID(tx.newID()) }

// AddCollection inserts a collection. A remote one gets a new id.
func (tx *Tx) AddCollection(ctx context.Context, c *Collection) error {
	if c.ID == 0 {
		c.ID = tx.NewCollectionID()
	}
	c.UpdatedAt = At(tx.db.now())
	return tx.exec(ctx, "add collection", insertCollection.text, insertCollection.args(c)...)
}

// SaveCollection writes the description of a collection.
func (tx *Tx) SaveCollection(ctx context.Context, c *Collection) error {
	c.UpdatedAt = At(tx.db.now())
	return tx.exec(ctx, "save collection", updateCollection.text, updateCollection.args(c)...)
}

// RemoveCollection deletes a collection with its items, the revoked ones too.
func (tx *Tx) RemoveCollection(ctx context.Context, id CollectionID) error {
	return tx.exec(ctx, "remove collection", `DELETE FROM collections WHERE id = ?`, id)
}

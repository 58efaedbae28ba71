package entity

import (
	"context"
	"html"

	"svc/internal/text"
	"svc/store"
)

// Collection is a collection of accounts ("starter pack", FEP-7aa9), for one viewer. Of a remote collection, only the items of local accounts are
// known.
type Collection struct {
	ID           store.CollectionID `json:"id"`
	AccountID    store.AccountID    `json:"account_id"`
	URI          string             `json:"uri"`
	URL          string             `json:"url"`
	Name         string             `json:"name"`
	Description  string             `json:"description"` // HTML
	Language     *string            `json:"language"`
	Local        bool               `json:"local"`
	Sensitive    bool               `json:"sensitive"`
	Discoverable bool               `json:"discoverable"`
	Tag          *StatusTag         `json:"tag"`
	ItemCount    int                `json:"item_count"` // accepted ones; of a remote collection, what its server says
	Items        []CollectionItem   `json:"items"`
	CreatedAt    store.Time         `json:"created_at"` // of a remote collection, when it became known
	UpdatedAt    store.Time         `json:"updated_at"`
}

// CollectionItem is the place of an account in a collection.
type CollectionItem struct {
	ID        store.CollectionItemID `json:"id"`
	AccountID store.AccountID        `json:"account_id"`
	State     string                 `json:"state"`
	CreatedAt store.Time             `json:"created_at"`
}

// collectionExtension is the svc object of a collection.
type collectionExtension struct {
	Account Account `json:"account"` // the owner
}

// WrappedCollection is a collection in an object.
type WrappedCollection struct {
	Collection RenderedCollection `json:"collection"`
}

// WrittenCollection is a collection for a token that may not read it.
type WrittenCollection struct {
	Collection CollectionReference `json:"collection"`
}

// CollectionReference is the id of a collection.
type CollectionReference struct {
	ID store.CollectionID `json:"id"`
}

// CollectionWithAccounts is a collection with its accounts: the owner, and those that are in it.
type CollectionWithAccounts struct {
	Accounts   List[Account]      `json:"accounts"`
	Collection RenderedCollection `json:"collection"`
}

// Collections are wrapped lists of collections.
type Collections struct {
	Collections []RenderedCollection `json:"collections"`
}

// WrappedCollectionItem is an item in an object.
type WrappedCollectionItem struct {
	CollectionItem CollectionItem `json:"collection_item"`
}

// RenderedCollection is the JSON of a collection.
type RenderedCollection = object

// NewCollectionItem renders an item.
func NewCollectionItem(row *store.CollectionItem) CollectionItem {
	return CollectionItem{ID: row.ID, AccountID: row.TargetID, State: row.State.String(), CreatedAt: store.At(row.ID.Time())}
}

// Collections renders collections for the viewer (nil: anonymous), in their order. Those of unavailable owners are left out.
func (b *Builder) Collections(ctx context.Context, viewer *store.Account, rows []*store.Collection) ([]RenderedCollection, error) {
	of, err := b.collectionsByID(ctx, viewer, rows)
	list := make([]RenderedCollection, 0, len(rows))
	for _, row := range rows {
		if c := of[row.ID]; c != nil {
			list = append(list, c.json)
		}
	}
	return list, err
}

// ListedCollections renders the newest collections of local accounts that can be found.
func (b *Builder) ListedCollections(ctx context.Context, viewer *store.Account, limit int) ([]RenderedCollection, error) {
	rows, err := b.db.ListedCollections(ctx, idOf(viewer), limit)
	if err != nil {
		return nil, err
	}
	return b.Collections(ctx, viewer, rows)
}

// renderedCollection is a collection with the ids of its accounts, the owner first.
type renderedCollection struct {
	json     RenderedCollection
	accounts []store.AccountID
}

func (b *Builder) collectionsByID(ctx context.Context, viewer *store.Account, rows []*store.Collection) (map[store.CollectionID]*renderedCollection, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	owners, ids := make([]store.AccountID, 0, len(rows)), make([]store.CollectionID, 0, len(rows))
	for _, row := range rows {
		owners, ids = append(owners, row.AccountID), append(ids, row.ID)
	}
	accountOf, err := b.loadAccounts(ctx, unique(owners))
	if err != nil {
		return nil, err
	}
	items, err := b.db.ItemsIn(ctx, idOf(viewer), unique(ids))
	if err != nil {
		return nil, err
	}
	itemsOf := make(map[store.CollectionID][]*store.CollectionItem, len(rows))
	for _, i := range items {
		itemsOf[i.CollectionID] = append(itemsOf[i.CollectionID], i)
	}
	of := make(map[store.CollectionID]*renderedCollection, len(rows))
	for _, row := range rows {
		owner := accountOf[row.AccountID]
		if owner.cachedAccount == nil || owner.unavailable {
			continue
		}
		c := &renderedCollection{accounts: []store.AccountID{row.AccountID}}
		for _, i := range itemsOf[row.ID] {
			c.accounts = append(c.accounts, i.TargetID)
		}
		if c.json, err = b.extended(b.collection(row, itemsOf[row.ID]), collectionExtension{owner}); err != nil {
			return nil, err
		}
		of[row.ID] = c
	}
	return of, nil
}

// collection returns the members of a collection.
func (b *Builder) collection(row *store.Collection, items []*store.CollectionItem) *Collection {
	c := &Collection{
		ID: row.ID, AccountID: row.AccountID, URI: row.URI, URL: row.URL, Name: row.Name, Description: row.Description, Sensitive: row.Sensitive,
		Discoverable: row.Discoverable, ItemCount: row.ItemCount, Items: Map(items, NewCollectionItem), CreatedAt: store.At(row.ID.Time()), UpdatedAt: row.UpdatedAt,
	}
	if row.Language != "" {
		c.Language = &row.Language
	}
	if row.Tag != "" {
		c.Tag = &StatusTag{Name: row.Tag, URL: text.TagURL(b.Settings.BaseURL, row.Tag)}
	}
	if c.Local = row.IsLocal(b.Settings.BaseURL); !c.Local {
		return c
	}
	c.Description, c.ItemCount = html.EscapeString(row.Description), 0
	for _, i := range items {
		if i.State == store.ItemAccepted {
			c.ItemCount++
		}
	}
	return c
}

// Collection renders one collection.
func (b *Builder) Collection(ctx context.Context, viewer *store.Account, row *store.Collection) (WrappedCollection, error) {
	list, err := b.Collections(ctx, viewer, []*store.Collection{row})
	if err == nil && len(list) == 0 {
		err = notFound
	}
	if err != nil {
		return WrappedCollection{}, err
	}
	return WrappedCollection{list[0]}, nil
}

// CollectionWithAccounts renders a collection with its known accounts.
func (b *Builder) CollectionWithAccounts(ctx context.Context, viewer *store.Account, row *store.Collection) (*CollectionWithAccounts, error) {
	of, err := b.collectionsByID(ctx, viewer, []*store.Collection{row})
	if err == nil && of[row.ID] == nil {
		err = notFound
	}
	if err != nil {
		return nil, err
	}
	accounts, err := b.AccountsWithRelationships(ctx, viewer, unique(of[row.ID].accounts))
	return &CollectionWithAccounts{accounts, of[row.ID].json}, err
}

// loadCollections returns the collections of a page of notifications by their items. Those that the account has left are missing, as are
// those of unavailable owners.
func (b *Builder) loadCollections(ctx context.Context, viewer *store.Account, rows []*store.Notification) (map[store.CollectionItemID]RenderedCollection, error) {
	var ids []store.CollectionItemID
	for _, n := range rows {
		if isAboutCollection(n) {
			ids = append(ids, collectionItemID(n))
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	items, err := b.db.CollectionItems(ctx, ids)
	if err != nil {
		return nil, err
	}
	return b.collectionsByItem(ctx, viewer, items)
}

func (b *Builder) collectionsByItem(ctx context.Context, viewer *store.Account, items []*store.CollectionItem) (map[store.CollectionItemID]RenderedCollection, error) {
	found, err := b.db.Collections(ctx, unique(Map(items, func(i *store.CollectionItem) store.CollectionID { return i.CollectionID })))
	if err != nil {
		return nil, err
	}
	of, err := b.collectionsByID(ctx, viewer, found)
	byItem := make(map[store.CollectionItemID]RenderedCollection, len(items))
	for _, i := range items {
		if c := of[i.CollectionID]; c != nil {
			byItem[i.ID] = c.json
		}
	}
	return byItem, err
}

// CollectionsOfItems renders the collections of items, in the order of the items.
func (b *Builder) CollectionsOfItems(ctx context.Context, viewer *store.Account, items []*store.CollectionItem) ([]RenderedCollection, error) {
	of, err := b.collectionsByItem(ctx, viewer, items)
	list := make([]RenderedCollection, 0, len(items))
	for _, i := range items {
		if c := of[i.ID]; c != nil {
			list = append(list, c)
		}
	}
	return list, err
}

func isAboutCollection(n *store.Notification) bool {
	return n.Type == store.NotifyAddedToCollection || n.Type == store.NotifyCollectionUpdate
}

// collectionItemID returns what a notification of a collection is about.
func collectionItemID(n *store.Notification) store.CollectionItemID {
	return store.ParseID[store.CollectionItemID](n.Detail)
}

package entity

import (
	"context"

	"svc/store"
)

// Collection is a collection of accounts of a remote account, for a local account that is in it. Only that account's own item is known.
type Collection struct {
	ID           store.CollectionItemID `json:"id"`
	AccountID    store.AccountID        `json:"account_id"`
	URI          string                 `json:"uri"`
	URL          string                 `json:"url"`
	Name         string                 `json:"name"`
	Description  string                 `json:"description"`
	Language     *string                `json:"language"` // always null, as tag is
	Local        bool                   `json:"local"`
	Sensitive    bool                   `json:"sensitive"`
	Discoverable bool                   `json:"discoverable"`
	Tag          *string                `json:"tag"`
	ItemCount    int                    `json:"item_count"`
	Items        []CollectionItem       `json:"items"`
	CreatedAt    store.Time             `json:"created_at"` // when it became known, as is updated_at
	UpdatedAt    store.Time             `json:"updated_at"`
}

// CollectionItem is the place of an account in a collection. The authorization, the item and its collection have the same id, because each row is all
// of them.
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

// CollectionWithAccounts is a collection with its known accounts: the owner, and the account that is in it.
type CollectionWithAccounts struct {
	Accounts   List[Account]      `json:"accounts"`
	Collection RenderedCollection `json:"collection"`
}

// Collections are wrapped lists of collections.
type Collections struct {
	Collections []RenderedCollection `json:"collections"`
}

// RenderedCollection is the JSON of a collection.
type RenderedCollection = object

// Collections renders the collections of items, in their order. Those of unavailable owners are left out.
func (b *Builder) Collections(ctx context.Context, rows []*store.CollectionItem) ([]RenderedCollection, error) {
	byItem, err := b.collectionsByItem(ctx, rows)
	list := make([]RenderedCollection, 0, len(rows))
	for _, row := range rows {
		if o := byItem[row.ID]; o != nil {
			list = append(list, o)
		}
	}
	return list, err
}

func (b *Builder) collectionsByItem(ctx context.Context, rows []*store.CollectionItem) (map[store.CollectionItemID]RenderedCollection, error) {
	ids := make([]store.AccountID, 0, len(rows))
	for _, row := range rows {
		ids = append(ids, row.AccountID)
	}
	accountOf, err := b.loadAccounts(ctx, unique(ids))
	if err != nil {
		return nil, err
	}
	byItem := make(map[store.CollectionItemID]RenderedCollection, len(rows))
	for _, row := range rows {
		owner := accountOf[row.AccountID]
		if owner.cachedAccount == nil || owner.unavailable {
			continue
		}
		at := store.At(row.ID.Time())
		c := Collection{
			ID: row.ID, AccountID: row.AccountID, URI: row.CollectionURI, URL: row.URL, Name: row.Name, Description: row.Description, Sensitive: row.Sensitive,
			Discoverable: row.Discoverable, ItemCount: row.ItemCount, CreatedAt: at, UpdatedAt: at,
			Items: []CollectionItem{{ID: row.ID, AccountID: row.TargetID, State: "accepted", CreatedAt: at}},
		}
		if byItem[row.ID], err = b.extended(c, collectionExtension{owner}); err != nil {
			return nil, err
		}
	}
	return byItem, nil
}

// CollectionWithAccounts renders the collection of an item with its known accounts.
func (b *Builder) CollectionWithAccounts(ctx context.Context, row *store.CollectionItem) (*CollectionWithAccounts, error) {
	list, err := b.Collections(ctx, []*store.CollectionItem{row})
	if err == nil && len(list) == 0 {
		err = notFound
	}
	if err != nil {
		return nil, err
	}
	accounts, err := b.Accounts(ctx, []store.AccountID{row.AccountID, row.TargetID})
	return &CollectionWithAccounts{accounts, list[0]}, err
}

// loadCollections returns the collections of a page of notifications by their items. Those that the account has left are missing, as are those of
// unavailable owners.
func (b *Builder) loadCollections(ctx context.Context, rows []*store.Notification) (map[store.CollectionItemID]RenderedCollection, error) {
	var ids []store.CollectionItemID
	for _, n := range rows {
		if n.Type == store.NotifyAddedToCollection {
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
	return b.collectionsByItem(ctx, items)
}

// collectionItemID returns what a notification of a collection is about.
func collectionItemID(n *store.Notification) store.CollectionItemID {
	return store.ParseID[store.CollectionItemID](n.Detail)
}

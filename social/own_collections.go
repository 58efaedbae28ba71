package social

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"svc/internal/errs"
	"svc/internal/limit"
	"svc/internal/text"
	"svc/store"
)

// Collections of accounts that local accounts make ("starter packs", FEP-7aa9).

// Limits of a collection of a local account.
const (
	maxCollectionName        = 40  // characters
	maxCollectionDescription = 100 // characters
	MaxCollectionItems       = 25  // pending and accepted ones
	maxItemRows              = maxLocalItems
)

// collectionChangesPerAccount is how often one account can create or change collections, or add an account to one. Each change is delivered to the
// servers of all followers, and so is each removal.
var collectionChangesPerAccount = limit.Rate{Count: 300, Window: 24 * time.Hour}

var (
	errCannotBeFeatured = errs.Invalid("Validation failed: This account cannot be added to a collection")
	errInCollection     = errs.Invalid("Validation failed: This account is in the collection already")
	errHasLeft          = errs.Invalid("Validation failed: This account has left the collection and cannot be added again")
	errCollectionFull   = errs.Invalid("Validation failed: A collection cannot have more than %d accounts", MaxCollectionItems)
)

// countCollectionChanges counts changes of collections, and returns an error if there are too many.
func (s *Service) countCollectionChanges(owner *store.Account, n int) error {
	now := s.db.Now()
	for range n {
		if q, ok := s.collectionChanges.Allow(owner.ID, collectionChangesPerAccount, now); !ok {
			return &errs.Error{Status: http.StatusTooManyRequests, Message: "Too many changes of collections today", RetryAfter: q.Reset.Sub(now)}
		}
	}
	return nil
}

// CreateCollection makes a collection of owner as change describes it, with some accounts. It creates nothing if one of them cannot be added.
func (s *Service) CreateCollection(ctx context.Context, owner *store.Account, change func(*store.Collection), accounts []store.AccountID) (*store.Collection, error) {
	if len(accounts) > MaxCollectionItems {
		return nil, errCollectionFull
	}
	c := &store.Collection{AccountID: owner.ID, Discoverable: true}
	change(c)
	if err := checkCollection(c, ""); err != nil {
		return nil, err
	}
	return c, s.db.Update(ctx, func(tx *store.Tx) error {
		most := s.Settings.Load().Accounts.MaxCollections
		n, err := tx.CountCollections(ctx, owner.ID, most+1)
		if err != nil {
			return err
		}
		if n >= most {
			return errs.Invalid("Validation failed: You cannot have more than %d collections", most)
		}
		c.ID = tx.NewCollectionID()
		c.URI = s.Settings.BaseURL + "/collections/" + c.ID.String()
		c.URL = c.URI
		if err := tx.AddCollection(ctx, c); err != nil {
			return err
		}
		for i, id := range accounts {
			if slices.Contains(accounts[:i], id) {
				continue
			}
			if _, err := s.addItem(ctx, tx, owner, c, id); err != nil {
				return err
			}
		}
		if err := s.countCollectionChanges(owner, 1+len(accounts)); err != nil { // refused changes do not count
			return err
		}
		return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.CollectionCreated, ActorID: owner.ID, RowID: int64(c.ID)})
	})
}

// checkCollection normalizes and validates the description of a collection. language is what it had before.
func checkCollection(c *store.Collection, language string) error {
	c.Name, c.Description = text.OneLine(c.Name), text.OneLine(c.Description)
	switch {
	case c.Name == "":
		return errs.Invalid("Validation failed: Name can't be blank")
	case text.Length(c.Name, "") > maxCollectionName:
		return errs.Invalid("Validation failed: Name is too long (maximum is %d characters)", maxCollectionName)
	case text.Length(c.Description, "") > maxCollectionDescription:
		return errs.Invalid("Validation failed: Description is too long (maximum is %d characters)", maxCollectionDescription)
	}
	if c.Language != "" && c.Language != language {
		if c.Language = text.Language(c.Language); c.Language == "" {
			return errs.Invalid("Validation failed: Language is invalid")
		}
	}
	if c.Tag != "" {
		if c.Tag = text.TagName(c.Tag); c.Tag == "" {
			return errs.Invalid("Validation failed: Tag is invalid")
		}
	}
	return nil
}

// ownCollection returns a collection of owner. One of another account is forbidden.
func ownCollection(ctx context.Context, tx *store.Tx, owner *store.Account, id store.CollectionID) (*store.Collection, error) {
	c, err := tx.Collection(ctx, id)
	if err == nil && c.AccountID != owner.ID {
		err = errCollectionOfAnother
	}
	return c, err
}

// UpdateCollection changes the description of owner's collection. The accounts in it are notified if they see a change.
func (s *Service) UpdateCollection(ctx context.Context, owner *store.Account, id store.CollectionID, change func(*store.Collection)) (*store.Collection, error) {
	return update(ctx, s.db, func(tx *store.Tx) (*store.Collection, error) {
		c, err := ownCollection(ctx, tx, owner, id)
		if err != nil {
			return nil, err
		}
		before := *c
		change(c)
		if err := checkCollection(c, before.Language); err != nil || *c == before {
			return c, err
		}
		if err := s.countCollectionChanges(owner, 1); err != nil {
			return nil, err
		}
		if err := tx.SaveCollection(ctx, c); err != nil {
			return nil, err
		}
		items, err := tx.AllItemsIn(ctx, c.ID, maxItemRows)
		if err != nil {
			return nil, err
		}
		if err := notifyChanged(ctx, tx, items); err != nil {
			return nil, err
		}
		return c, tx.AddToOutbox(ctx, store.OutboxEntry{
			Type: store.CollectionUpdated, ActorID: owner.ID, RowID: int64(c.ID), Recipients: targetsOf(items),
		})
	})
}

// targetsOf returns the accounts of items that have a place in the collection, or are asked for one.
func targetsOf(items []*store.CollectionItem) []store.AccountID {
	var ids []store.AccountID
	for _, item := range items {
		if item.State == store.ItemPending || item.State == store.ItemAccepted {
			ids = append(ids, item.TargetID)
		}
	}
	return ids
}

// DeleteCollection deletes owner's collection.
func (s *Service) DeleteCollection(ctx context.Context, owner *store.Account, id store.CollectionID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		c, err := ownCollection(ctx, tx, owner, id)
		if err != nil {
			return err
		}
		items, err := tx.AllItemsIn(ctx, c.ID, maxItemRows)
		if err != nil {
			return err
		}
		if err := tx.AddToOutbox(ctx, store.OutboxEntry{
			Type: store.CollectionDeleted, ActorID: owner.ID, RowID: int64(c.ID), URI: c.URI, Recipients: targetsOf(items),
		}); err != nil {
			return err
		}
		return removeCollection(ctx, tx, c, items)
	})
}

// AddToCollection adds an account to owner's collection. A local account that allows it is in it at once; a remote one is asked.
func (s *Service) AddToCollection(ctx context.Context, owner *store.Account, id store.CollectionID, target store.AccountID) (*store.CollectionItem, error) {
	return update(ctx, s.db, func(tx *store.Tx) (*store.CollectionItem, error) {
		c, err := ownCollection(ctx, tx, owner, id)
		if err != nil {
			return nil, err
		}
		item, err := s.addItem(ctx, tx, owner, c, target)
		if err != nil {
			return nil, err
		}
		if err := s.countCollectionChanges(owner, 1); err != nil || item.State != store.ItemAccepted {
			return item, err
		}
		return item, announceItem(ctx, tx, item)
	})
}

// addItem adds an account to a collection, and asks a remote one.
func (s *Service) addItem(ctx context.Context, tx *store.Tx, owner *store.Account, c *store.Collection, id store.AccountID) (*store.CollectionItem, error) {
	target, err := availableAccount(ctx, tx, id)
	if errs.IsNotFound(err) {
		return nil, errs.Invalid("Validation failed: There is no such account")
	}
	if err != nil {
		return nil, err
	}
	if err := makeRoom(ctx, tx, c, target); err != nil {
		return nil, err
	}
	if allowed, err := allowsFeature(ctx, tx, owner, target); !allowed || err != nil {
		if err == nil {
			err = errCannotBeFeatured
		}
		return nil, err
	}
	item := &store.CollectionItem{CollectionID: c.ID, TargetID: target.ID, AccountID: owner.ID}
	if !target.Local() {
		if err := tx.AddCollectionItem(ctx, item); err != nil {
			return nil, err
		}
		return item, tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.FeatureRequested, ActorID: owner.ID, TargetID: target.ID, RowID: int64(item.ID)})
	}
	n, err := tx.CountCollectionItems(ctx, item, maxItemsOfAccount)
	if err != nil {
		return nil, err
	}
	if n.All >= maxItemsOfAccount {
		return nil, errCannotBeFeatured
	}
	item.State = store.ItemAccepted
	if err := tx.AddCollectionItem(ctx, item); err != nil {
		return nil, err
	}
	// An owner may add and remove the account again and again.
	if notifies, err := s.notifiesMention(ctx, tx, owner, target.ID, false); !notifies {
		return item, err
	}
	return item, notifyAdded(ctx, tx, item)
}

// makeRoom checks that an account can be added to a collection. An earlier rejection is forgotten, as is the oldest other one if the collection has
// too many rows.
func makeRoom(ctx context.Context, tx *store.Tx, c *store.Collection, target *store.Account) error {
	items, err := tx.AllItemsIn(ctx, c.ID, maxItemRows)
	if err != nil {
		return err
	}
	present := 0
	var rejected []*store.CollectionItem
	for _, item := range items {
		own := item.TargetID == target.ID
		switch {
		case own && item.State == store.ItemRevoked:
			return errHasLeft
		case own && item.State == store.ItemRejected:
			if err := removeItem(ctx, tx, item); err != nil {
				return err
			}
		case own:
			return errInCollection
		case item.State == store.ItemRejected:
			rejected = append(rejected, item)
		case item.State != store.ItemRevoked:
			present++
		}
	}
	switch {
	case present >= MaxCollectionItems:
		return errCollectionFull
	case len(items) < maxItemRows:
		return nil
	case len(rejected) == 0:
		return errs.Invalid("Validation failed: Too many accounts have left this collection")
	}
	return removeItem(ctx, tx, slices.MinFunc(rejected, func(a, b *store.CollectionItem) int { return cmp.Compare(a.ID, b.ID) }))
}

// RemoveFromCollection removes an account from owner's collection. The owner may add it again.
func (s *Service) RemoveFromCollection(ctx context.Context, owner *store.Account, id store.CollectionID, item store.CollectionItemID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		c, err := ownCollection(ctx, tx, owner, id)
		if err != nil {
			return err
		}
		row, err := tx.CollectionItem(ctx, item)
		if err == nil && (row.CollectionID != c.ID || row.State == store.ItemRevoked) {
			err = errs.ErrRecordNotFound
		}
		if err != nil {
			return err
		}
		return takeOut(ctx, tx, row)
	})
}

// takeOut deletes an item of a local collection, and federates its removal, also to a remote account that has not answered yet.
func takeOut(ctx context.Context, tx *store.Tx, item *store.CollectionItem) error {
	if item.State != store.ItemRejected {
		if err := announceRemoval(ctx, tx, item); err != nil {
			return err
		}
	}
	return removeItem(ctx, tx, item)
}

// announceItem federates that an account is in a local collection.
func announceItem(ctx context.Context, tx *store.Tx, item *store.CollectionItem) error {
	return tx.AddToOutbox(ctx, store.OutboxEntry{
		Type: store.CollectionItemAdded, ActorID: item.AccountID, RowID: int64(item.ID), Recipients: []store.AccountID{item.TargetID},
	})
}

// announceRemoval federates that an account is no longer in a local collection.
func announceRemoval(ctx context.Context, tx *store.Tx, item *store.CollectionItem) error {
	return tx.AddToOutbox(ctx, store.OutboxEntry{
		Type: store.CollectionItemRemoved, ActorID: item.AccountID, RowID: int64(item.ID), Object: item.CollectionID.String(),
		Recipients: []store.AccountID{item.TargetID},
	})
}

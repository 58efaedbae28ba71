package social

import (
	"context"
	"net/http"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/limit"
	"svc/store"
)

// Requests to put local accounts into collections of accounts ("starter packs", FEP-7aa9), their answers, and what remote owners change.

// Limits of the collections that one local account is in, revoked places included. What exceeds them is rejected.
const (
	maxItemsOfOwner   = 20   // collections of one remote account
	maxItemsOfDomain  = 100  // collections of the accounts of one registered domain
	maxItemsOfAccount = 1000 // all collections
)

// maxLocalItems is how many local accounts may be in one collection, which is the proposed maximum of its size (FEP-7aa9).
const maxLocalItems = 150

// Rate limit for requests to put local accounts into collections. A request beyond it is not answered, so that its server may send it again.
var (
	featureRequestsPerAccount = limit.Rate{Count: 300, Window: time.Hour}
	featureRequestsPerDomain  = limit.Rate{Count: 1000, Window: time.Hour} // of a registered domain
)

const maxFeatureCounters = 10_000 // accounts and domains that the rate limit counts at a time

// featureKey is an account or a registered domain.
type featureKey struct {
	account store.AccountID
	domain  string
}

var (
	errTooManyFeatureRequests = &errs.Error{Status: http.StatusForbidden, Message: "Too many requests to add accounts to collections"}
	errCollectionOfAnother    = errs.Forbidden("This action is not allowed")
)

// RemoteCollection describes a collection of a remote account.
type RemoteCollection struct {
	URI          string
	Name         string
	Description  string // HTML
	Language     string
	Tag          string
	URL          string
	Sensitive    bool
	Discoverable bool
	ItemCount    int
}

// describe writes the description into a row, and returns whether its members see a change.
func (c *RemoteCollection) describe(row *store.Collection) bool {
	before := *row
	row.Name, row.Description, row.Language, row.Tag = c.Name, c.Description, c.Language, c.Tag
	row.URL, row.Sensitive, row.Discoverable = c.URL, c.Sensitive, c.Discoverable
	changed := *row != before
	row.ItemCount = c.ItemCount
	return changed
}

// FeatureRequest is a remote account's request to put a local account into one of its collections.
type FeatureRequest struct {
	URI        string // of the request
	Target     store.AccountID
	Collection RemoteCollection // only its URI is needed if the account does not allow it
}

// AllowsFeature counts a request of a remote account to put a local account into a collection, and returns whether the local account allows it. It
// returns an error if owner or its registered domain sends too many requests, or there is no such account.
func (s *Service) AllowsFeature(ctx context.Context, owner *store.Account, target store.AccountID) (bool, error) {
	now := s.db.Now()
	if _, ok := s.features.Allow(featureKey{account: owner.ID}, featureRequestsPerAccount, now); !ok {
		return false, errTooManyFeatureRequests
	}
	if _, ok := s.features.Allow(featureKey{domain: activity.RegisteredDomain(owner.Domain)}, featureRequestsPerDomain, now); !ok {
		return false, errTooManyFeatureRequests
	}
	a, err := featuredAccount(ctx, s.db, target)
	if err != nil {
		return false, err
	}
	return allowsFeature(ctx, s.db, owner, a)
}

// featureReader is what the decision about a request reads.
type featureReader interface {
	Account(context.Context, store.AccountID) (*store.Account, error)
	Follows(ctx context.Context, follower, target store.AccountID) (bool, error)
	BlocksAccountOrDomain(ctx context.Context, account store.AccountID, other *store.Account) (bool, error)
}

// featuredAccount returns a local account that can be put into collections, and errs.ErrRecordNotFound if it is unavailable.
func featuredAccount(ctx context.Context, r featureReader, id store.AccountID) (*store.Account, error) {
	a, err := r.Account(ctx, id)
	if err == nil && (!a.Local() || a.Unavailable || a.DeletedAt != nil) {
		err = errs.ErrRecordNotFound
	}
	return a, err
}

// allowsFeature returns whether the policy of an account allows owner to put it into collections, and neither blocks the other. Everyone may put the
// own account into a collection.
func allowsFeature(ctx context.Context, r featureReader, owner, target *store.Account) (bool, error) {
	if owner.ID == target.ID {
		return true, nil
	}
	approval := target.ApprovalOf()
	allowed := approval&(store.AutomaticForAll|store.ManualForAll) != 0
	var err error
	if !allowed && approval&(store.AutomaticForFollowers|store.ManualForFollowers) != 0 {
		if allowed, err = r.Follows(ctx, owner.ID, target.ID); err != nil {
			return false, err
		}
	}
	if !allowed && approval&(store.AutomaticForFollowed|store.ManualForFollowed) != 0 {
		if allowed, err = r.Follows(ctx, target.ID, owner.ID); err != nil {
			return false, err
		}
	}
	if !allowed {
		return false, nil
	}
	blocks, err := r.BlocksAccountOrDomain(ctx, target.ID, owner)
	if blocks || err != nil || !owner.Local() {
		return !blocks, err
	}
	blocks, err = r.BlocksAccountOrDomain(ctx, owner.ID, target)
	return !blocks, err
}

// ReceiveFeatureRequest accepts a request if the account allows it and has not left this collection, and notifies the account once. Else it rejects
// the request. A repeated request gets the same answer.
func (s *Service) ReceiveFeatureRequest(ctx context.Context, owner *store.Account, q FeatureRequest) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		target, err := featuredAccount(ctx, tx, q.Target)
		if err != nil {
			return err
		}
		item, err := s.requestedItem(ctx, tx, owner, target, q)
		if err != nil {
			return err
		}
		if item == nil {
			return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.FeatureRejected, ActorID: target.ID, TargetID: owner.ID, URI: q.URI, Object: q.Collection.URI})
		}
		return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.FeatureAccepted, ActorID: target.ID, TargetID: owner.ID, RowID: int64(item.ID)})
	})
}

// requestedItem returns the accepted item of a request, which may be new, and nil if the request is rejected.
func (s *Service) requestedItem(ctx context.Context, tx *store.Tx, owner, target *store.Account, q FeatureRequest) (*store.CollectionItem, error) {
	c, err := tx.CollectionByURI(ctx, q.Collection.URI)
	if err != nil {
		return nil, err
	}
	var item *store.CollectionItem
	if c != nil {
		if c.AccountID != owner.ID {
			return nil, nil
		}
		if item, err = tx.CollectionItemOf(ctx, c.ID, target.ID); err != nil {
			return nil, err
		}
	}
	if item == nil {
		allowed, err := allowsFeature(ctx, tx, owner, target)
		if !allowed || err != nil {
			return nil, err
		}
		return s.addRequestedItem(ctx, tx, owner, c, q)
	}
	if item.State != store.ItemAccepted {
		return nil, nil
	}
	if q.Collection.Name != "" && q.Collection.describe(c) { // else it was not read, because the account does not allow it any more
		if err := tx.SaveCollection(ctx, c); err != nil {
			return nil, err
		}
	}
	item.RequestURI = q.URI // consent that was given holds until it is revoked
	return item, tx.SaveCollectionItem(ctx, item)
}

// addRequestedItem stores the consent of a local account, and notifies it within the rate limit of mentions. It returns nil if there are too many. c is nil if the collection is not
// known yet.
func (s *Service) addRequestedItem(ctx context.Context, tx *store.Tx, owner *store.Account, c *store.Collection, q FeatureRequest) (*store.CollectionItem, error) {
	item := &store.CollectionItem{
		TargetID: q.Target, AccountID: owner.ID, Domain: activity.RegisteredDomain(owner.Domain), State: store.ItemAccepted, RequestURI: q.URI,
	}
	if c != nil {
		item.CollectionID = c.ID
	}
	n, err := tx.CountCollectionItems(ctx, item, maxItemsOfAccount)
	if err != nil || n.Account >= maxItemsOfOwner || n.Domain >= maxItemsOfDomain || n.All >= maxItemsOfAccount || n.Collection >= maxLocalItems {
		return nil, err
	}
	if item.CollectionID, err = saveRemoteCollection(ctx, tx, owner, c, &q.Collection); err != nil {
		return nil, err
	}
	if err := tx.AddCollectionItem(ctx, item); err != nil {
		return nil, err
	}
	// An owner may add and remove the account again and again.
	if notifies, err := s.notifiesMention(ctx, tx, owner, q.Target, false); !notifies {
		return item, err
	}
	return item, notifyAdded(ctx, tx, item)
}

// saveRemoteCollection stores the description of a remote collection, which has a row unless c is nil.
func saveRemoteCollection(ctx context.Context, tx *store.Tx, owner *store.Account, c *store.Collection, described *RemoteCollection) (store.CollectionID, error) {
	save := tx.SaveCollection
	if c == nil {
		c, save = &store.Collection{AccountID: owner.ID, URI: described.URI}, tx.AddCollection
	}
	described.describe(c)
	err := save(ctx, c)
	return c.ID, err
}

func notifyAdded(ctx context.Context, tx *store.Tx, item *store.CollectionItem) error {
	return notify(ctx, tx, store.Notification{
		AccountID: item.TargetID, Type: store.NotifyAddedToCollection, FromID: item.AccountID, Detail: item.ID.String(),
	}, nil)
}

// notifyChanged notifies the local accounts that are in a collection of its change. One that has not read of an earlier change is not notified again.
func notifyChanged(ctx context.Context, tx *store.Tx, items []*store.CollectionItem) error {
	for _, item := range items {
		if item.State != store.ItemAccepted {
			continue
		}
		if err := tx.RemoveReadCollectionUpdate(ctx, item); err != nil {
			return err
		}
		if err := notify(ctx, tx, store.Notification{
			AccountID: item.TargetID, Type: store.NotifyCollectionUpdate, FromID: item.AccountID, Detail: item.ID.String(),
		}, nil); err != nil {
			return err
		}
	}
	return nil
}

// ReceiveCollectionUpdate stores a new description of owner's collection, and notifies the local accounts in it if they see a change. Collections
// without local accounts are ignored.
func (s *Service) ReceiveCollectionUpdate(ctx context.Context, owner *store.Account, described RemoteCollection) error {
	return s.changeRemote(ctx, owner, described.URI, func(tx *store.Tx, c *store.Collection, items []*store.CollectionItem) error {
		count := c.ItemCount
		changed := described.describe(c)
		if !changed && c.ItemCount == count {
			return nil
		}
		if err := tx.SaveCollection(ctx, c); err != nil || !changed {
			return err
		}
		return notifyChanged(ctx, tx, items)
	})
}

// ReceiveCollectionDelete removes owner's collection. Its authorizations end with it.
func (s *Service) ReceiveCollectionDelete(ctx context.Context, owner *store.Account, uri string) error {
	return s.changeRemote(ctx, owner, uri, func(tx *store.Tx, c *store.Collection, items []*store.CollectionItem) error {
		return removeCollection(ctx, tx, c, items)
	})
}

// removeCollection deletes a collection with its items and their notifications.
func removeCollection(ctx context.Context, tx *store.Tx, c *store.Collection, items []*store.CollectionItem) error {
	for _, item := range items {
		if err := tx.RemoveCollectionNotifications(ctx, item); err != nil {
			return err
		}
	}
	return tx.RemoveCollection(ctx, c.ID)
}

// changeRemote changes a known collection of a remote owner. Others are ignored.
func (s *Service) changeRemote(ctx context.Context, owner *store.Account, uri string, change func(*store.Tx, *store.Collection, []*store.CollectionItem) error) error {
	c, err := s.db.CollectionByURI(ctx, uri)
	if c == nil || c.AccountID != owner.ID || err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		c, err := tx.CollectionByURI(ctx, uri)
		if c == nil || c.AccountID != owner.ID || err != nil {
			return err
		}
		items, err := tx.AllItemsIn(ctx, c.ID, maxItemRows)
		if err != nil {
			return err
		}
		return change(tx, c, items)
	})
}

// ReceiveItemAdded stores the URI that the place of a local account has in owner's collection.
func (s *Service) ReceiveItemAdded(ctx context.Context, owner *store.Account, collection, uri string, id store.CollectionItemID) error {
	return s.changeRemote(ctx, owner, collection, func(tx *store.Tx, _ *store.Collection, items []*store.CollectionItem) error {
		for _, item := range items {
			if item.ID == id && item.ItemURI != uri {
				item.ItemURI = uri
				return tx.SaveCollectionItem(ctx, item)
			}
		}
		return nil
	})
}

// ReceiveItemRemoved removes a local account from owner's collection. The owner may ask to add it again, unless the account has left by itself.
func (s *Service) ReceiveItemRemoved(ctx context.Context, owner *store.Account, collection, uri string) error {
	return s.changeRemote(ctx, owner, collection, func(tx *store.Tx, _ *store.Collection, items []*store.CollectionItem) error {
		for _, item := range items {
			if item.ItemURI == uri && item.State != store.ItemRevoked {
				return removeItem(ctx, tx, item)
			}
		}
		return nil
	})
}

// removeItem deletes an item with its notifications.
func removeItem(ctx context.Context, tx *store.Tx, item *store.CollectionItem) error {
	if err := tx.RemoveCollectionNotifications(ctx, item); err != nil {
		return err
	}
	return tx.RemoveCollectionItem(ctx, item.ID)
}

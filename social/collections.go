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

// Collections of remote accounts that local accounts are in ("starter packs", FEP-7aa9).

// Limits of the collections that one local account is in, revoked places included. What exceeds them is rejected.
const (
	maxItemsOfOwner   = 20   // collections of one account
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
	errNotInCollection        = errs.Forbidden("This action is not allowed")
)

// RemoteCollection describes a collection of a remote account.
type RemoteCollection struct {
	URI          string
	Name         string
	Description  string // HTML
	URL          string
	Sensitive    bool
	Discoverable bool
	ItemCount    int
}

// describe writes the description into an item.
func (c *RemoteCollection) describe(i *store.CollectionItem) {
	i.Name, i.Description, i.URL, i.Sensitive, i.Discoverable, i.ItemCount = c.Name, c.Description, c.URL, c.Sensitive, c.Discoverable, c.ItemCount
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

// allowsFeature returns whether the policy of a local account allows owner to put it into collections, and it blocks neither owner nor its domain.
func allowsFeature(ctx context.Context, r featureReader, owner, target *store.Account) (bool, error) {
	switch target.MayBeFeaturedBy() {
	case store.FeatureableByNobody:
		return false, nil
	case store.FeatureableByFollowers:
		if follows, err := r.Follows(ctx, owner.ID, target.ID); !follows || err != nil {
			return false, err
		}
	}
	blocks, err := r.BlocksAccountOrDomain(ctx, target.ID, owner)
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
		allowed, err := allowsFeature(ctx, tx, owner, target)
		if err != nil {
			return err
		}
		item, err := tx.CollectionItemOf(ctx, q.Collection.URI, target.ID)
		if err != nil {
			return err
		}
		switch {
		case item == nil && allowed:
			if item, err = s.addCollectionItem(ctx, tx, owner, q); err != nil {
				return err
			}
			allowed = item != nil
		case item == nil:
		case item.AccountID != owner.ID || item.RevokedAt != nil:
			allowed = false
		default:
			allowed = true // consent that was given holds until it is revoked
			if item.RequestURI = q.URI; q.Collection.Name != "" {
				q.Collection.describe(item)
			}
			if err := tx.SaveCollectionItem(ctx, item); err != nil {
				return err
			}
		}
		if !allowed {
			return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.FeatureRejected, ActorID: target.ID, TargetID: owner.ID, URI: q.URI, Object: q.Collection.URI})
		}
		return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.FeatureAccepted, ActorID: target.ID, TargetID: owner.ID, RowID: int64(item.ID)})
	})
}

// addCollectionItem stores the consent of a local account, and notifies it within the rate limit of mentions. It returns nil if there are too many.
func (s *Service) addCollectionItem(ctx context.Context, tx *store.Tx, owner *store.Account, q FeatureRequest) (*store.CollectionItem, error) {
	item := &store.CollectionItem{
		TargetID: q.Target, AccountID: owner.ID, Domain: activity.RegisteredDomain(owner.Domain), CollectionURI: q.Collection.URI, RequestURI: q.URI,
	}
	n, err := tx.CountCollectionItems(ctx, item, maxItemsOfAccount)
	if err != nil || n.Account >= maxItemsOfOwner || n.Domain >= maxItemsOfDomain || n.All >= maxItemsOfAccount || n.Collection >= maxLocalItems {
		return nil, err
	}
	q.Collection.describe(item)
	if err := tx.AddCollectionItem(ctx, item); err != nil {
		return nil, err
	}
	// An owner may add and remove the account again and again.
	if notifies, err := s.notifiesMention(ctx, tx, owner, q.Target, false); !notifies {
		return item, err
	}
	return item, notify(ctx, tx, store.Notification{
		AccountID: q.Target, Type: store.NotifyAddedToCollection, FromID: owner.ID, Detail: item.ID.String(),
	}, nil)
}

// RevokeCollectionItem removes actor from a collection of another account, which cannot add it again. Doing so twice is errs.ErrRecordNotFound; an
// item of another account is forbidden.
func (s *Service) RevokeCollectionItem(ctx context.Context, actor *store.Account, id store.CollectionItemID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		item, err := tx.CollectionItem(ctx, id)
		switch {
		case err != nil:
			return err
		case item.TargetID != actor.ID:
			return errNotInCollection
		case item.RevokedAt != nil:
			return errs.ErrRecordNotFound
		}
		return revokeCollectionItem(ctx, tx, item)
	})
}

// revokeCollectionItem revokes the consent to an item, and tells the server of the owner.
func revokeCollectionItem(ctx context.Context, tx *store.Tx, item *store.CollectionItem) error {
	if err := tx.RevokeCollectionItem(ctx, item); err != nil {
		return err
	}
	if err := tx.RemoveCollectionNotification(ctx, item); err != nil {
		return err
	}
	return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.FeatureRevoked, ActorID: item.TargetID, TargetID: item.AccountID, RowID: int64(item.ID)})
}

// leaveCollections removes a local actor from the collections of an account that it blocks.
func leaveCollections(ctx context.Context, tx *store.Tx, actor, account *store.Account) error {
	if !actor.Local() || account.Local() {
		return nil
	}
	items, err := tx.CollectionItemsBetween(ctx, account.ID, actor.ID, maxItemsOfOwner)
	if err != nil {
		return err
	}
	return revokeCollectionItems(ctx, tx, items)
}

// leaveCollectionsOfDomain removes a local account from the collections of a domain that it blocks.
func leaveCollectionsOfDomain(ctx context.Context, tx *store.Tx, account store.AccountID, domain string) error {
	items, err := tx.CollectionItemsOfDomain(ctx, account, domain, maxItemsOfDomain)
	if err != nil {
		return err
	}
	return revokeCollectionItems(ctx, tx, items)
}

func revokeCollectionItems(ctx context.Context, tx *store.Tx, items []*store.CollectionItem) error {
	for _, item := range items {
		if item.RevokedAt != nil {
			continue
		}
		if err := revokeCollectionItem(ctx, tx, item); err != nil {
			return err
		}
	}
	return nil
}

// ReceiveCollectionUpdate stores a new description of owner's collection. Collections without local accounts are ignored.
func (s *Service) ReceiveCollectionUpdate(ctx context.Context, owner *store.Account, c RemoteCollection) error {
	return s.changeItems(ctx, owner, c.URI, func(tx *store.Tx, item *store.CollectionItem) error {
		c.describe(item)
		return tx.SaveCollectionItem(ctx, item)
	})
}

// ReceiveCollectionDelete removes owner's collection. Its authorizations end with it.
func (s *Service) ReceiveCollectionDelete(ctx context.Context, owner *store.Account, uri string) error {
	return s.changeItems(ctx, owner, uri, func(tx *store.Tx, item *store.CollectionItem) error { return removeCollectionItem(ctx, tx, item) })
}

func (s *Service) changeItems(ctx context.Context, owner *store.Account, uri string, change func(*store.Tx, *store.CollectionItem) error) error {
	items, err := s.db.CollectionItemsByURI(ctx, owner.ID, uri, 1)
	if len(items) == 0 || err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		items, err := tx.CollectionItemsByURI(ctx, owner.ID, uri, maxLocalItems)
		if err != nil {
			return err
		}
		for _, item := range items {
			if err := change(tx, item); err != nil {
				return err
			}
		}
		return nil
	})
}

// ReceiveItemAdded stores the URI that the place of a local account has in owner's collection.
func (s *Service) ReceiveItemAdded(ctx context.Context, owner *store.Account, collection, uri string, id store.CollectionItemID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		item, err := tx.CollectionItem(ctx, id)
		if err != nil || item.AccountID != owner.ID || item.CollectionURI != collection {
			return errs.IgnoreNotFound(err)
		}
		item.ItemURI = uri
		return tx.SaveCollectionItem(ctx, item)
	})
}

// ReceiveItemRemoved removes a local account from owner's collection. The owner may ask to add it again.
func (s *Service) ReceiveItemRemoved(ctx context.Context, owner *store.Account, collection, uri string) error {
	return s.changeItems(ctx, owner, collection, func(tx *store.Tx, item *store.CollectionItem) error {
		if item.ItemURI != uri {
			return nil
		}
		return removeCollectionItem(ctx, tx, item)
	})
}

// removeCollectionItem deletes an item that the owner removed. One that its account has left stays, so that it is not added again.
func removeCollectionItem(ctx context.Context, tx *store.Tx, item *store.CollectionItem) error {
	if item.RevokedAt != nil {
		return nil
	}
	if err := tx.RemoveCollectionNotification(ctx, item); err != nil {
		return err
	}
	return tx.RemoveCollectionItem(ctx, item.ID)
}

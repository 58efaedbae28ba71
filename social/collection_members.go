package social

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

// How accounts leave collections: by themselves, because they block the owner, or because the owner blocks them.

// RevokeCollectionItem removes actor from a collection of another account, which cannot add it again. Doing so twice is errs.ErrRecordNotFound; an
// item of another account is forbidden.
func (s *Service) RevokeCollectionItem(ctx context.Context, actor *store.Account, collection store.CollectionID, id store.CollectionItemID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		item, err := tx.CollectionItem(ctx, id)
		switch {
		case err != nil:
			return err
		case item.CollectionID != collection:
			return errs.ErrRecordNotFound
		case item.TargetID != actor.ID:
			return errCollectionOfAnother
		case item.State != store.ItemAccepted:
			return errs.ErrRecordNotFound
		}
		return revokeItem(ctx, tx, item)
	})
}

// revokeItem revokes the consent of a local or remote account to an item. The server of a remote owner gets the Delete of the
// authorization; a local owner federates the removal.
func revokeItem(ctx context.Context, tx *store.Tx, item *store.CollectionItem) error {
	shown := item.State == store.ItemAccepted
	item.State = store.ItemRevoked
	if err := tx.SaveCollectionItem(ctx, item); err != nil {
		return err
	}
	if err := tx.RemoveCollectionNotifications(ctx, item); err != nil {
		return err
	}
	if item.Domain != "" {
		return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.FeatureRevoked, ActorID: item.TargetID, TargetID: item.AccountID, RowID: int64(item.ID)})
	}
	if !shown {
		return nil
	}
	return announceRemoval(ctx, tx, item)
}

// leaveCollections ends what an account that blocks another one and the other have to do with each other's collections: the account leaves those of
// the other, and the other is removed from those of the account.
func leaveCollections(ctx context.Context, tx *store.Tx, actor, account *store.Account) error {
	if actor.Local() || account.Local() {
		items, err := tx.CollectionItemsBetween(ctx, account.ID, actor.ID, maxItemRows)
		if err != nil {
			return err
		}
		if err := revokeItems(ctx, tx, items); err != nil {
			return err
		}
	}
	if !actor.Local() {
		return nil
	}
	items, err := tx.CollectionItemsBetween(ctx, actor.ID, account.ID, maxItemRows)
	if err != nil {
		return err
	}
	for _, item := range items {
		if item.State == store.ItemRevoked {
			continue
		}
		if err := takeOut(ctx, tx, item); err != nil {
			return err
		}
	}
	return nil
}

// leaveCollectionsOfDomain removes a local account from the collections of a domain that it blocks.
func leaveCollectionsOfDomain(ctx context.Context, tx *store.Tx, account store.AccountID, domain string) error {
	items, err := tx.CollectionItemsOfDomain(ctx, account, domain, maxItemsOfDomain)
	if err != nil {
		return err
	}
	return revokeItems(ctx, tx, items)
}

func revokeItems(ctx context.Context, tx *store.Tx, items []*store.CollectionItem) error {
	for _, item := range items {
		if item.State == store.ItemRevoked {
			continue
		}
		if err := revokeItem(ctx, tx, item); err != nil {
			return err
		}
	}
	return nil
}

// ReceiveFeatureAnswer stores the answer of a remote account to the request to put it into a local collection. An answer of another account, and to a
// request that is not pending, is ignored. A late rejection counts as a revocation.
func (s *Service) ReceiveFeatureAnswer(ctx context.Context, target *store.Account, id store.CollectionItemID, authorization string) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		item, err := tx.CollectionItem(ctx, id)
		if err != nil || item.TargetID != target.ID || item.Domain != "" {
			return errs.IgnoreNotFound(err)
		}
		switch {
		case authorization == "" && item.State == store.ItemPending:
			item.State = store.ItemRejected
			return tx.SaveCollectionItem(ctx, item)
		case authorization == "" && item.State == store.ItemAccepted:
			return revokeItem(ctx, tx, item)
		case authorization == "" || item.State != store.ItemPending:
			return nil
		}
		item.State, item.AuthorizationURI = store.ItemAccepted, authorization
		if err := tx.SaveCollectionItem(ctx, item); err != nil {
			return err
		}
		return announceItem(ctx, tx, item)
	})
}

// ReceiveAuthorizationDelete removes a remote account from the local collection for which it deleted its authorization, and returns whether there is
// one.
func (s *Service) ReceiveAuthorizationDelete(ctx context.Context, target *store.Account, uri string) (known bool, err error) {
	item, err := s.db.CollectionItemAuthorizedBy(ctx, target.ID, uri)
	if item == nil || err != nil {
		return false, err
	}
	return true, s.db.Update(ctx, func(tx *store.Tx) error {
		item, err := tx.CollectionItemAuthorizedBy(ctx, target.ID, uri)
		if item == nil || err != nil || item.State != store.ItemAccepted {
			return err
		}
		return revokeItem(ctx, tx, item)
	})
}

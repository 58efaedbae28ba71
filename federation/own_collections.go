package federation

import (
	"context"
	"net/http"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

// Collections of local accounts (FEP-7aa9): their documents, and the activities about them.

// maxListedCollections is above the number of collections that the settings allow.
const maxListedCollections = 100

// featuredCollectionsURI returns the id of the list of an account's collections.
func featuredCollectionsURI(a *store.Account) string {
	return a.URI + "/collections/featured_collections"
}

// itemURI returns the id of an item of a local collection.
func itemURI(c *store.Collection, id store.CollectionItemID) string {
	return c.URI + "/items/" + id.String()
}

// collectionDocument returns a local collection with the accounts that have consented.
func (d *Documents) collectionDocument(ctx context.Context, c *store.Collection, owner *store.Account) (activity.Object, error) {
	rows, err := d.db.ItemsIn(ctx, 0, []store.CollectionID{c.ID})
	if err != nil {
		return nil, err
	}
	ids := make([]store.AccountID, len(rows))
	for i, row := range rows {
		ids[i] = row.TargetID
	}
	accounts, err := d.db.Accounts(ctx, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[store.AccountID]*store.Account, len(accounts))
	for _, a := range accounts {
		byID[a.ID] = a
	}
	items := []any{}
	for _, row := range rows {
		if a := byID[row.TargetID]; a != nil {
			items = append(items, jsonMap(d.itemDocument(c, row, a)))
		}
	}
	o := activity.Object{
		"id": c.URI, "type": "FeaturedCollection", "attributedTo": owner.URI, "name": c.Name, "summary": c.Description, "url": c.URL,
		"sensitive": c.Sensitive, "discoverable": c.Discoverable, "published": store.At(c.ID.Time()).String(), "updated": c.UpdatedAt.String(),
		"totalItems": float64(len(items)), "orderedItems": items,
	}
	if c.Language != "" {
		o["summaryMap"] = jsonMap{c.Language: c.Description}
	}
	if c.Tag != "" {
		o["topic"] = d.hashtagTag(c.Tag)
	}
	return o, nil
}

// itemDocument returns the place of an account in a local collection, with the authorization by which others verify it.
func (d *Documents) itemDocument(c *store.Collection, i *store.CollectionItem, target *store.Account) activity.Object {
	authorization := i.AuthorizationURI
	if target.Local() {
		authorization = d.Settings.BaseURL + authorizationPath + i.ID.String()
	}
	return activity.Object{
		"id": itemURI(c, i.ID), "type": "FeaturedItem", "featuredObject": target.URI, "featuredObjectType": target.ActorType,
		"featureAuthorization": authorization, "published": store.At(i.ID.Time()).String(),
	}
}

// localCollection returns a collection of an available local account, and its owner.
func (d *Documents) localCollection(ctx context.Context, id store.CollectionID) (*store.Collection, *store.Account, error) {
	c, err := d.db.Collection(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	owner, err := d.db.Account(ctx, c.AccountID)
	if err == nil && (!owner.Local() || owner.Unavailable) {
		err = errs.ErrRecordNotFound
	}
	return c, owner, err
}

// ServeFeaturedCollections returns the list of an account's collections, the newest first. It has their ids only, and not those that are not
// discoverable.
func (s *DocumentServer) ServeFeaturedCollections(ctx context.Context, r *http.Request, a *store.Account) (*Response, error) {
	signer, answer, err := s.authorizeCollection(ctx, r, a)
	if answer != nil || err != nil {
		return answer, err
	}
	rows, err := s.db.CollectionsOf(ctx, a.ID, false, 0, store.Page{Limit: maxListedCollections})
	if err != nil {
		return nil, err
	}
	items := make([]any, len(rows))
	for i, c := range rows {
		items[i] = c.URI
	}
	return s.respond(activity.Object{
		"id": featuredCollectionsURI(a), "type": "OrderedCollection", "attributedTo": a.URI, "totalItems": float64(len(items)), "orderedItems": items,
	}, signer)
}

// ServeCollection returns a collection of a local account. Accounts that the owner blocks do not find it.
func (s *DocumentServer) ServeCollection(ctx context.Context, r *http.Request, id store.CollectionID) (*Response, error) {
	c, owner, signer, err := s.collectionFor(ctx, r, id)
	if err != nil {
		return nil, err
	}
	o, err := s.documents.collectionDocument(ctx, c, owner)
	if err != nil {
		return nil, err
	}
	return s.respond(o, signer)
}

// collectionFor returns a collection of a local account, its owner, and who requests it.
func (s *DocumentServer) collectionFor(ctx context.Context, r *http.Request, id store.CollectionID) (c *store.Collection, owner, signer *store.Account, err error) {
	if c, owner, err = s.documents.localCollection(ctx, id); err != nil {
		return nil, nil, nil, err
	}
	signer, _, err = s.authorizeCollection(ctx, r, owner)
	return c, owner, signer, err
}

// ServeCollectionItem returns the place of an account in a collection of a local account.
func (s *DocumentServer) ServeCollectionItem(ctx context.Context, r *http.Request, id store.CollectionID, item store.CollectionItemID) (*Response, error) {
	c, _, signer, err := s.collectionFor(ctx, r, id)
	if err != nil {
		return nil, err
	}
	i, target, err := s.documents.acceptedItem(ctx, c, item)
	if err != nil {
		return nil, err
	}
	return s.respond(s.documents.itemDocument(c, i, target), signer)
}

// acceptedItem returns an accepted item of a collection, and its account.
func (d *Documents) acceptedItem(ctx context.Context, c *store.Collection, id store.CollectionItemID) (*store.CollectionItem, *store.Account, error) {
	i, err := d.db.CollectionItem(ctx, id)
	if err == nil && (i.CollectionID != c.ID || i.State != store.ItemAccepted) {
		err = errs.ErrRecordNotFound
	}
	if err != nil {
		return nil, nil, err
	}
	target, err := d.db.Account(ctx, i.TargetID)
	if err == nil && target.Unavailable {
		err = errs.ErrRecordNotFound
	}
	return i, target, err
}

// buildFeatureRequested asks a remote account for its consent to be in a local collection. The id of the request has that of the item.
func (b *Outbox) buildFeatureRequested(ctx context.Context, owner *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	i, c, to, err := b.featureParties(ctx, e)
	if err != nil || i.State != store.ItemPending {
		return nil, err
	}
	a := b.newActivity(e, "FeatureRequest", owner, to.URI, []string{to.URI}, nil)
	a["id"], a["instrument"] = b.documents.activityURI(int64(i.ID)), c.URI
	return b.toTarget(ctx, e, a, int64(c.ID), store.ReplaceNothing)
}

// buildCollectionCreated sends the Add of a collection to the list of the account's collections.
func (b *Outbox) buildCollectionCreated(ctx context.Context, owner *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	c, o, err := b.collectionOf(ctx, owner, e.RowID)
	if err != nil {
		return nil, err
	}
	a := b.collectionActivity(e, "Add", owner, jsonMap(o), featuredCollectionsURI(owner))
	return b.toFollowersAndTargets(ctx, owner, e, c.ID, store.ReplaceNothing, a)
}

func (b *Outbox) collectionOf(ctx context.Context, owner *store.Account, id int64) (*store.Collection, activity.Object, error) {
	c, err := b.db.Collection(ctx, store.CollectionID(id))
	if err != nil {
		return nil, nil, err
	}
	o, err := b.documents.collectionDocument(ctx, c, owner)
	return c, o, err
}

// collectionActivity makes a public activity about a collection or an item.
func (b *Outbox) collectionActivity(e store.OutboxEntry, activityType string, owner *store.Account, object any, target string) activity.Object {
	to, cc := b.addressing(owner, store.Public, nil)
	a := b.newActivity(e, activityType, owner, object, to, cc)
	if target != "" {
		a["target"] = target
	}
	return a
}

// toFollowersAndTargets sends activities about a collection to the followers of its owner, and to the accounts in it that they concern.
func (b *Outbox) toFollowersAndTargets(ctx context.Context, owner *store.Account, e store.OutboxEntry, id store.CollectionID, replaces store.Replacement, activities ...activity.Object) ([]*outgoing, error) {
	recipients, err := b.db.RemoteRecipients(ctx, 0, e.Recipients)
	if err != nil {
		return nil, err
	}
	inboxes, err := b.addFollowerInboxes(ctx, deliveryInboxes(recipients), owner.ID, store.Public)
	var out []*outgoing
	for _, a := range activities {
		out = append(out, &outgoing{activity: a, subject: int64(id), replaces: replaces, priority: store.UpdatePriority, inboxes: inboxes})
		replaces = store.ReplaceNothing // the others of this entry
	}
	return out, err
}

// buildCollectionUpdated sends the Update of a collection.
func (b *Outbox) buildCollectionUpdated(ctx context.Context, owner *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	c, o, err := b.collectionOf(ctx, owner, e.RowID)
	if err != nil {
		return nil, err
	}
	return b.toFollowersAndTargets(ctx, owner, e, c.ID, store.ReplaceNothing, b.collectionActivity(e, "Update", owner, jsonMap(o), ""))
}

// buildCollectionDeleted sends the Remove of a collection from the list of the account's collections, which Mastodon reads, and its Delete.
func (b *Outbox) buildCollectionDeleted(ctx context.Context, owner *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	remove := b.collectionActivity(e, "Remove", owner, e.URI, featuredCollectionsURI(owner))
	remove["id"] = remove.ID() + "/list"
	gone := b.collectionActivity(e, "Delete", owner, jsonMap{"id": e.URI, "type": "Tombstone", "formerType": "FeaturedCollection"}, "")
	return b.toFollowersAndTargets(ctx, owner, e, store.CollectionID(e.RowID), store.ReplaceAll, remove, gone)
}

// buildCollectionItemAdded sends the Add of an account to a collection.
func (b *Outbox) buildCollectionItemAdded(ctx context.Context, owner *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	i, err := b.db.CollectionItem(ctx, store.CollectionItemID(e.RowID))
	if err != nil {
		return nil, err
	}
	c, err := b.db.Collection(ctx, i.CollectionID)
	if err != nil {
		return nil, err
	}
	i, target, err := b.documents.acceptedItem(ctx, c, i.ID)
	if err != nil {
		return nil, err
	}
	a := b.collectionActivity(e, "Add", owner, jsonMap(b.documents.itemDocument(c, i, target)), c.URI)
	return b.toFollowersAndTargets(ctx, owner, e, c.ID, store.ReplaceNothing, a)
}

// buildCollectionItemRemoved sends the Remove of an account from a collection. The item may be deleted.
func (b *Outbox) buildCollectionItemRemoved(ctx context.Context, owner *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	c, err := b.db.Collection(ctx, store.ParseID[store.CollectionID](e.Object))
	if err != nil {
		return nil, err
	}
	a := b.collectionActivity(e, "Remove", owner, itemURI(c, store.CollectionItemID(e.RowID)), c.URI)
	return b.toFollowersAndTargets(ctx, owner, e, c.ID, store.ReplaceNothing, a)
}

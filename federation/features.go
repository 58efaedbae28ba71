package federation

import (
	"context"
	"strings"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/social"
	"svc/store"
)

// Consent of accounts to be in collections (FEP-7aa9): the policy in the actor document, requests, answers and authorizations.

// featureRule returns who may put a local account into a collection. The account itself stands for nobody, because an empty list counts as a missing
// one in JSON-LD.
func (d *Documents) featureRule(a *store.Account) jsonMap {
	automatic := a.URI
	switch a.MayBeFeaturedBy() {
	case store.FeatureableByAll:
		automatic = activity.Public
	case store.FeatureableByFollowers:
		automatic = d.followersURI(a)
	}
	return jsonMap{"automaticApproval": []any{automatic}, "manualApproval": []any{}}
}

// handleFeatureRequest answers a request to put a local account into a collection of the actor. The collection is read, so that the account learns what
// it is in; it is not fetched if the account does not allow the request.
func (r *Receiver) handleFeatureRequest(ctx context.Context, in *inbox.Activity) error {
	ref, err := objectRef(in)
	if err != nil {
		return err
	}
	uri := in.Ref("instrument")
	if !activity.SameHost(uri, in.Actor.URI, r.Settings.AllowLoopback) {
		return remote.Refuse("collection is on another host than the actor")
	}
	target, err := r.local.localAccount(ctx, ref)
	if target == nil || err != nil {
		return err
	}
	q := social.FeatureRequest{URI: in.URI, Target: target.ID, Collection: social.RemoteCollection{URI: uri}}
	allowed, err := r.social.AllowsFeature(ctx, in.Actor, target.ID)
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	if allowed {
		if q.Collection, err = r.requestedCollection(ctx, in, uri); err != nil {
			return err
		}
	}
	return errs.IgnoreNotFound(r.social.ReceiveFeatureRequest(ctx, in.Actor, q))
}

// requestedCollection returns the collection of a request: the embedded one, or else the fetched one.
func (r *Receiver) requestedCollection(ctx context.Context, in *inbox.Activity, uri string) (social.RemoteCollection, error) {
	if inner := in.Object.Object("instrument"); inner != nil && inner.Type() != "" {
		return r.reader.ReadCollection(inner, in.Actor.URI)
	}
	return r.fetcher.Collection(ctx, r.reader, uri, in.Actor.URI)
}

// updateCollection stores a new description of a collection of the actor.
func (r *Receiver) updateCollection(ctx context.Context, in *inbox.Activity, o activity.Object) error {
	c, err := r.reader.ReadCollection(o, in.Actor.URI)
	if err != nil {
		return err
	}
	return r.social.ReceiveCollectionUpdate(ctx, in.Actor, c)
}

// handleFeaturedItem handles what the actor adds to one of its collections or removes from it. It returns false if that is no account of a
// collection. An Add tells the id of the item, by which a Remove names it.
func (r *Receiver) handleFeaturedItem(ctx context.Context, in *inbox.Activity, collection string) (bool, error) {
	if !activity.SameHost(collection, in.Actor.URI, r.Settings.AllowLoopback) {
		return false, nil
	}
	o, item := in.Object.Object("object"), in.Ref("object")
	switch {
	case in.Type == "Remove" && item == "":
		return false, nil
	case in.Type == "Remove" && activity.SameHost(item, in.Actor.URI, r.Settings.AllowLoopback):
		// Mastodon deletes a collection by its Remove from the list of collections.
		if err := r.social.ReceiveCollectionDelete(ctx, in.Actor, item); err != nil {
			return true, err
		}
		return true, r.social.ReceiveItemRemoved(ctx, in.Actor, collection, item)
	case in.Type == "Remove":
		return true, r.social.ReceiveItemRemoved(ctx, in.Actor, collection, item)
	case remote.IsFeaturedCollection(o):
		return true, nil // to the list of collections of the actor, which is not shown here
	case !o.Is("FeaturedItem"):
		return false, nil
	}
	text, ok := strings.CutPrefix(o.Ref("featureAuthorization"), r.Settings.BaseURL+authorizationPath)
	if !ok || !activity.SameHost(item, in.Actor.URI, r.Settings.AllowLoopback) {
		return true, nil // another server's account
	}
	return true, r.social.ReceiveItemAdded(ctx, in.Actor, collection, item, store.ParseID[store.CollectionItemID](text))
}

// handleFeatureAnswer stores the answer to a request to put a remote account into a local collection. It returns false if the activity is about
// something else.
func (r *Receiver) handleFeatureAnswer(ctx context.Context, in *inbox.Activity) (bool, error) {
	id := store.CollectionItemID(r.local.localActivityID(in.Ref("object")))
	if inner := in.Object.Object("object"); inner != nil && inner.Is("FeatureRequest") {
		var err error
		if id, err = r.requestedItem(ctx, in.Actor, inner, id); id == 0 || err != nil {
			return true, err
		}
	}
	if id == 0 {
		return false, nil
	}
	if _, err := r.db.CollectionItem(ctx, id); err != nil {
		return false, errs.IgnoreNotFound(err)
	}
	authorization := in.Ref("result")
	switch {
	case in.Type == "Reject":
		authorization = ""
	case !activity.SameHost(authorization, in.Actor.URI, r.Settings.AllowLoopback):
		return true, remote.Refuse("authorization is on another host than the actor")
	}
	return true, r.social.ReceiveFeatureAnswer(ctx, in.Actor, id, authorization)
}

// requestedItem returns the item of an embedded FeatureRequest: by its id, which is ours, or else by its collection, because some servers do not keep
// ids. It returns 0 if there is none.
func (r *Receiver) requestedItem(ctx context.Context, target *store.Account, request activity.Object, id store.CollectionItemID) (store.CollectionItemID, error) {
	if id != 0 {
		return id, nil
	}
	c, err := r.db.CollectionByURI(ctx, request.Ref("instrument"))
	if c == nil || err != nil {
		return 0, err
	}
	i, err := r.db.CollectionItemOf(ctx, c.ID, target.ID)
	if i == nil || err != nil {
		return 0, err
	}
	return i.ID, nil
}

func (d *Documents) featureAuthorization(i *store.CollectionItem, collection string, target *store.Account) activity.Object {
	return activity.Object{
		"id": d.Settings.BaseURL + authorizationPath + i.ID.String(), "type": "FeatureAuthorization", "attributedTo": target.URI,
		"interactingObject": collection, "interactionTarget": target.URI,
	}
}

// featureAuthorization returns the authorization of an item. Anyone may read it: every server that shows the collection verifies it.
func (s *DocumentServer) featureAuthorization(ctx context.Context, id store.CollectionItemID, signer *store.Account) (*Response, error) {
	i, err := s.db.CollectionItem(ctx, id)
	if err != nil {
		return nil, err
	}
	target, err := s.db.Account(ctx, i.TargetID)
	if err == nil && (i.State != store.ItemAccepted || target.Unavailable || !target.Local()) {
		err = errs.ErrRecordNotFound
	}
	if err != nil {
		return nil, err
	}
	c, err := s.db.Collection(ctx, i.CollectionID)
	if err != nil {
		return nil, err
	}
	return s.respond(s.documents.featureAuthorization(i, c.URI, target), signer)
}

// buildFeatureAccepted sends the Accept of a FeatureRequest, with the id of the authorization.
func (b *Outbox) buildFeatureAccepted(ctx context.Context, target *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	i, err := b.db.CollectionItem(ctx, store.CollectionItemID(e.RowID))
	if err != nil || i.State != store.ItemAccepted {
		return nil, err
	}
	c, err := b.db.Collection(ctx, i.CollectionID)
	if err != nil {
		return nil, err
	}
	a, err := b.featureAnswer(ctx, target, e, "Accept", i.RequestURI, c.URI)
	if err != nil {
		return nil, err
	}
	a["result"] = b.documents.featureAuthorization(i, c.URI, target).ID()
	return b.toTarget(ctx, e, a, 0, store.ReplaceNothing)
}

func (b *Outbox) buildFeatureRejected(ctx context.Context, target *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	a, err := b.featureAnswer(ctx, target, e, "Reject", e.URI, e.Object)
	if err != nil {
		return nil, err
	}
	return b.toTarget(ctx, e, a, 0, store.ReplaceNothing)
}

// featureAnswer makes the Accept or Reject of a FeatureRequest, and embeds the request.
func (b *Outbox) featureAnswer(ctx context.Context, target *store.Account, e store.OutboxEntry, activityType, request, collection string) (activity.Object, error) {
	to, err := b.db.Account(ctx, e.TargetID)
	if err != nil {
		return nil, err
	}
	asked := jsonMap{"id": request, "type": "FeatureRequest", "actor": to.URI, "object": target.URI, "instrument": collection}
	return b.newActivity(e, activityType, target, asked, []string{to.URI}, nil), nil
}

// featureParties returns the item of a collection that an entry is about, the collection, and the account to which the activity goes.
func (b *Outbox) featureParties(ctx context.Context, e store.OutboxEntry) (i *store.CollectionItem, c *store.Collection, to *store.Account, err error) {
	if i, err = b.db.CollectionItem(ctx, store.CollectionItemID(e.RowID)); err != nil {
		return nil, nil, nil, err
	}
	if c, err = b.db.Collection(ctx, i.CollectionID); err != nil {
		return nil, nil, nil, err
	}
	to, err = b.db.Account(ctx, e.TargetID)
	return i, c, to, err
}

// buildFeatureRevoked sends the Delete of an authorization to the owner of the collection.
func (b *Outbox) buildFeatureRevoked(ctx context.Context, target *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	i, c, to, err := b.featureParties(ctx, e)
	if err != nil {
		return nil, err
	}
	gone := jsonMap(b.documents.featureAuthorization(i, c.URI, target))
	return b.toTarget(ctx, e, b.newActivity(e, "Delete", target, gone, []string{to.URI}, nil), 0, store.ReplaceNothing)
}

package federation

import (
	"context"
	"errors"
	"slices"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/store"
)

// Limits of one activity.
const (
	maxCreatedObjects = 20 // objects
	maxFetchedObjects = 3  // of them, that are given by their ids and have to be fetched
)

// handleCreate stores statuses, votes and chat messages of an actor (federation 4.2, 4.3).
func (r *Receiver) handleCreate(ctx context.Context, in *inbox.Activity) error {
	objects := in.Values("object")
	if len(objects) == 0 {
		return remote.Refuse("activity has no object")
	}
	var first error
	fetched := 0
	for _, v := range objects[:min(len(objects), maxCreatedObjects)] {
		if _, embedded := v.(map[string]any); !embedded {
			if fetched++; fetched > maxFetchedObjects {
				continue
			}
		}
		if err := r.createObject(ctx, in, v); err != nil {
			if !remote.IsFinal(err) {
				return err
			}
			first = errors.Join(first, err)
		}
		in.FetchBudget = 0 // only the first of several statuses may cause fetches
	}
	return first
}

// createObject stores one object. An object given by its id is fetched from its origin.
func (r *Receiver) createObject(ctx context.Context, in *inbox.Activity, v any) error {
	embedded, ok := v.(map[string]any)
	if !ok {
		return r.createByReference(ctx, in, activity.Reference(v))
	}
	o := activity.Object(embedded)
	switch {
	case o.Is("ChatMessage"):
		return r.receiveChatMessage(ctx, in, o)
	case remote.IsVote(o):
		return r.receiveVote(ctx, in, o)
	case remote.IsFeaturedCollection(o):
		return nil // collections are known once a local account is in them
	case !o.Is(remote.NoteTypes...): // not supported (federation 4.19)
		return remote.Refuse("object is not a status but %q", o.Type())
	}
	_, err := r.receiveNote(ctx, in, o)
	return err
}

func (r *Receiver) createByReference(ctx context.Context, in *inbox.Activity, uri string) error {
	if !activity.SameHost(uri, in.Actor.URI, r.Settings.AllowLoopback) {
		return remote.Refuse("object is on another host than the actor")
	}
	st, err := r.statuses.FetchStatus(ctx, uri, remote.FetchOptions{Author: in.Actor.URI, OnlyRelevant: true, Budget: in.FetchBudget})
	if err == nil && st.AccountID != in.Actor.ID {
		err = remote.Refuse("object is attributed to another actor")
	}
	return err
}

// receiveNote stores a status sent by its author.
func (r *Receiver) receiveNote(ctx context.Context, in *inbox.Activity, o activity.Object) (*store.Status, error) {
	n, err := r.reader.ReadNote(o, in.Object)
	if err != nil {
		return nil, err
	}
	if n.AuthorURI != in.Actor.URI {
		return nil, remote.Refuse("object is attributed to another actor")
	}
	if in.Recipient != nil {
		n.InboxOwner = &in.Recipient.ID
	}
	if remote.HasNoAudience(o, in.Object) {
		if n.InboxOwner == nil {
			return nil, remote.Refuse("status has no recipients")
		}
		n.Visibility = store.Direct
	}
	if err := r.statuses.ApplyFollowers(ctx, n, o, in.Object, in.Actor); err != nil {
		return nil, err
	}
	n.KeepUnrelated, n.FetchBudget = r.Settings.Load().Federation.StoreAll, in.FetchBudget
	if in.Type == "ReplyRequest" {
		n.Request = in.URI
	}
	if n.InboxOwner != nil && n.Visibility.Unrestricted() {
		n.InboxOwner = nil // a follow or the addressing decides, not the choice of the inbox
	}
	if n.Visibility == store.Direct {
		if err := r.actors.FetchAddressees(ctx, n); err != nil {
			return nil, err
		}
	}
	if err := r.statuses.ApplyPolicies(ctx, in.Actor, n, "Create"); err != nil {
		return nil, err
	}
	if n.Accounts, err = r.accounts.ByURI(ctx, slices.Concat(n.Audience, n.Mentions)); err != nil {
		return nil, err
	}
	return r.social.ReceiveStatus(ctx, in.Actor, n.IncomingStatus)
}

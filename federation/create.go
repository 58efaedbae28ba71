package federation

import (
	"context"
	"errors"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/store"
)

// Limits of what is fetched because of one post.
const (
	maxCreatedObjects = 20 // that one activity can be about
)

// handleCreate takes in posts, votes and messages that an actor has made (federation 4.2, 4.3).
func (r *Receiver) handleCreate(ctx context.Context, in *inbox.Activity) error {
	objects := in.Values("object")
	if len(objects) == 0 {
		return remote.Refuse("it is about nothing")
	}
	var first error
	for _, v := range objects[:min(len(objects), maxCreatedObjects)] {
		if err := r.createObject(ctx, in, v); err != nil {
			if !remote.IsFinal(err) {
				return err
			}
			first = errors.Join(first, err)
		}
		in.FetchBudget = 0 // of several posts, only the first leads to others
	}
	return first
}

// createObject takes in one object. One that is only named is what its origin says it is.
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
	case !o.Is(remote.NoteTypes...):
		return nil // of no interest (federation 4.19)
	}
	_, err := r.receiveNote(ctx, in, o)
	return err
}

func (r *Receiver) createByReference(ctx context.Context, in *inbox.Activity, uri string) error {
	if !activity.SameHost(uri, in.Actor.URI, r.AllowLoopback) {
		return remote.Refuse("its object is of another host than its actor")
	}
	st, err := r.statuses.FetchStatus(ctx, uri, remote.FetchOptions{Author: in.Actor.URI, OnlyRelevant: true, Budget: in.FetchBudget})
	if err == nil && st.AccountID != in.Actor.ID {
		err = remote.Refuse("its object is attributed to somebody else")
	}
	return err
}

// receiveNote takes in a post that its author has sent.
func (r *Receiver) receiveNote(ctx context.Context, in *inbox.Activity, o activity.Object) (*store.Status, error) {
	n, err := r.reader.ReadNote(o, in.Object)
	if err != nil {
		return nil, err
	}
	if n.AuthorURI != in.Actor.URI {
		return nil, remote.Refuse("its object is attributed to somebody else")
	}
	if in.Recipient != nil {
		n.InboxOwner = &in.Recipient.ID
	}
	if remote.HasNoAudience(o, in.Object) {
		if n.InboxOwner == nil {
			return nil, remote.Refuse("it is for nobody")
		}
		n.Visibility = store.Direct
	}
	if err := r.statuses.ApplyFollowers(ctx, n, o, in.Object, in.Actor); err != nil {
		return nil, err
	}
	n.KeepUnrelated, n.FetchBudget = r.StoreAll, in.FetchBudget
	if n.InboxOwner != nil && n.Visibility.Unrestricted() {
		n.InboxOwner = nil // by the follow, or because it is named; that somebody's inbox was chosen says nothing
	}
	if n.Visibility == store.Direct {
		if err := r.actors.FetchAddressees(ctx, n); err != nil {
			return nil, err
		}
	}
	if err := r.statuses.ApplyPolicies(ctx, in.Actor, n, "Create"); err != nil {
		return nil, err
	}
	return r.social.ReceiveStatus(ctx, in.Actor, n.IncomingStatus)
}

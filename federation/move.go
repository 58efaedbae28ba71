package federation

import (
	"context"
	"errors"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/store"
)

// handleMove moves an actor to another account. Both documents are fetched again: the old actor must name the new one, and the new one
// must list the old one as an alias (federation 4.13).
func (r *Receiver) handleMove(ctx context.Context, in *inbox.Activity) error {
	object, target := in.Ref("object"), in.Ref("target")
	switch {
	case object != in.Actor.URI:
		return remote.Refuse("object is another actor")
	case target == "" || target == object:
		return remote.Refuse("target is missing or the actor itself")
	}
	from, err := r.actors.FetchActor(ctx, object)
	if err != nil {
		return err
	}
	origin, err := r.db.Actor(ctx, from.ID)
	if err != nil {
		return err
	}
	if origin.MovedTo != target {
		return remote.Refuse("movedTo of %s is another account", object)
	}
	to, err := r.moveTarget(ctx, target)
	if errors.Is(err, remote.ErrCachedFailure) { // it may exist by now: retry later
		return errors.New(err.Error())
	}
	if err != nil {
		return err
	}
	return r.social.ReceiveMove(ctx, from.ID, to.ID)
}

// moveTarget returns the account to which an actor moves, with current data.
func (r *Receiver) moveTarget(ctx context.Context, uri string) (*store.Account, error) {
	if r.local.isLocalURI(uri) {
		to, err := r.local.localAccount(ctx, uri)
		if err == nil && to == nil {
			err = remote.Refuse("there is no local account %s", uri)
		}
		return to, err
	}
	return r.actors.FetchActor(ctx, uri)
}

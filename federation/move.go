package federation

import (
	"context"
	"errors"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/store"
)

// handleMove says that an actor has another account now. What both documents say is asked for anew: the old one must name the new as where
// it has moved to, and the new one the old as an alias (federation 4.13).
func (r *Receiver) handleMove(ctx context.Context, in *inbox.Activity) error {
	object, target := in.Ref("object"), in.Ref("target")
	switch {
	case object != in.Actor.URI:
		return remote.Refuse("somebody else would move")
	case target == "" || target == object:
		return remote.Refuse("it leads nowhere")
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
		return remote.Refuse("%s does not say that it has moved there", object)
	}
	to, err := r.moveTarget(ctx, target)
	if errors.Is(err, remote.ErrCachedFailure) { // it may have come into being since: that is asked for later
		return errors.New(err.Error())
	}
	if err != nil {
		return err
	}
	return r.social.ReceiveMove(ctx, from.ID, to.ID)
}

// moveTarget returns the account that somebody moves to, as it is now.
func (r *Receiver) moveTarget(ctx context.Context, uri string) (*store.Account, error) {
	if r.local.isLocalURI(uri) {
		to, err := r.local.localAccount(ctx, uri)
		if err == nil && to == nil {
			err = remote.Refuse("%s is nobody here", uri)
		}
		return to, err
	}
	return r.actors.FetchActor(ctx, uri)
}

package federation

import (
	"context"
	"errors"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/store"
)

// handleMove moves an actor to another account, which must list the actor as an alias in its fetched document (FEP-7628, federation 4.13). The
// signed Move is the actor's own word, because some servers never write movedTo; but a document that names another account contradicts it.
func (r *Receiver) handleMove(ctx context.Context, in *inbox.Activity) error {
	object, target := in.Ref("object"), in.Ref("target")
	switch {
	case object != in.Actor.URI:
		return remote.Refuse("object is another actor")
	case target == "" || target == object:
		return remote.Refuse("target is missing or the actor itself")
	}
	if err := r.checkMovedTo(ctx, in.Actor, target); err != nil {
		return err
	}
	to, err := r.moveTarget(ctx, target)
	if errors.Is(err, remote.ErrCachedFailure) { // it may exist by now: retry later
		return errors.New(err.Error())
	}
	if err != nil {
		return err
	}
	return r.social.ReceiveMove(ctx, in.Actor.ID, to.ID)
}

// checkMovedTo fetches the document of an actor that says it moved to target. The document of a closed account may be missing.
func (r *Receiver) checkMovedTo(ctx context.Context, from *store.Account, target string) error {
	_, err := r.actors.FetchActor(ctx, from.URI)
	switch {
	case remote.NeedsFetch(err), ctx.Err() != nil:
		return err
	case err != nil:
		r.log.Debug("moved account could not be fetched", "actor", from.URI, "err", err)
		return nil
	}
	origin, err := r.db.Actor(ctx, from.ID)
	if err != nil {
		return err
	}
	if origin.MovedTo != "" && origin.MovedTo != target {
		return remote.Refuse("movedTo of %s is another account", from.URI)
	}
	return nil
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

package federation

import (
	"context"
	"errors"

	"svc/federation/inbox"
	"svc/internal/errs"
)

// handlePin pins or unpins a status of the actor, adds a status to a thread, or changes a collection of accounts. Other collections are ignored.
func (r *Receiver) handlePin(ctx context.Context, in *inbox.Activity) error {
	actor, err := r.db.Actor(ctx, in.Actor.ID)
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	target := in.Ref("target")
	if target == "" {
		return nil
	}
	if target != actor.Featured {
		done, err := r.handleFeaturedItem(ctx, in, target)
		if done || err != nil || in.Type == "Remove" {
			return err
		}
		return r.handleContainerAdd(ctx, in, target)
	}
	ref, err := objectRef(in)
	if err != nil {
		return err
	}
	if inner := in.Object.Object("object"); inner != nil && inner.Is("Hashtag") {
		return nil
	}
	st, err := r.db.StatusByURI(ctx, ref)
	if err != nil {
		return err
	}
	add := in.Type == "Add"
	if st == nil {
		if !add {
			return nil
		}
		if st, err = r.statuses.Status(ctx, ref); err != nil {
			return err
		}
	}
	if st == nil {
		return errors.New("there is no such post")
	}
	return r.social.ReceivePin(ctx, in.Actor, st.ID, add)
}

package federation

import (
	"context"
	"errors"

	"svc/federation/inbox"
	"svc/internal/errs"
)

// handlePin pins or unpins a status of the actor, or adds a status to a thread. Other collections are ignored.
func (r *Receiver) handlePin(ctx context.Context, in *inbox.Activity) error {
	actor, err := r.db.Actor(ctx, in.Actor.ID)
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	target := in.Ref("target")
	switch {
	case target == "":
		return nil
	case target != actor.Featured && in.Type == "Add":
		return r.handleContainerAdd(ctx, in, target)
	case target != actor.Featured:
		return nil
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

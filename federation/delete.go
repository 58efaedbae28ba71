package federation

import (
	"context"
	"errors"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/social"
	"svc/store"
)

// handleDelete deletes an object of the actor: itself, a status, a boost, or a chat message (federation 4.5).
func (r *Receiver) handleDelete(ctx context.Context, in *inbox.Activity) error {
	ref, err := objectRef(in)
	if err != nil {
		return err
	}
	if ref == in.Actor.URI {
		return r.actors.ActorGone(ctx, in.Actor)
	}
	if !activity.SameHost(ref, in.Actor.URI, r.Settings.AllowLoopback) {
		return remote.Refuse("object is on another host than the actor")
	}
	if done, err := r.deleteChatMessage(ctx, in.Actor, ref); done || err != nil {
		return err
	}
	if done, err := r.social.ReceiveAuthorizationDelete(ctx, in.Actor, ref); done || err != nil {
		return err
	}
	if err := r.social.ReceiveCollectionDelete(ctx, in.Actor, ref); err != nil {
		return err
	}
	known, err := r.social.ReceiveDelete(ctx, in.Actor, r.reader.HostOf(in.Actor), ref)
	if errors.Is(err, social.ErrNotOwner) {
		return r.statuses.DeleteIfGone(ctx, ref)
	}
	if err == nil && !known {
		in.Key = store.SeenKey{} // the id of the object is stored, which makes a second Delete change nothing
	}
	return err
}

// handleGoneActor handles an activity whose signature cannot be verified because its actor is gone. That confirms an actor's Delete of
// itself (federation 3.8).
func (r *Receiver) handleGoneActor(ctx context.Context, doc activity.Object) error {
	actor := doc.Ref("actor")
	if doc.Ref("object") != actor {
		return nil
	}
	checked, err := r.actors.CheckGone(ctx, actor)
	if err == nil && !checked {
		return r.verifier.SignatureError(actor, remote.ErrActorGone)
	}
	return err
}

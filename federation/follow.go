package federation

import (
	"context"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/store"
)

// handleFollow has an actor follow somebody here, or ask to.
func (r *Receiver) handleFollow(ctx context.Context, in *inbox.Activity) error {
	if relay, err := r.handleRelayFollow(ctx, in); relay || err != nil {
		return err
	}
	ref, err := objectRef(in)
	if err != nil {
		return err
	}
	to, err := r.local.localAccount(ctx, ref)
	if err != nil || to == nil {
		return err // follows of posts are threads subscribed to, which is of no use here
	}
	if to.Unavailable {
		return remote.Refuse("nobody can follow %s", to.Nickname)
	}
	return r.social.ReceiveFollow(ctx, in.Actor, to.ID, in.URI)
}

// handleAccept has an actor accept the follow of somebody here. What else is accepted, a favourite or a reply, is seen there now: nothing is
// known of it here (federation 4.15).
func (r *Receiver) handleAccept(ctx context.Context, in *inbox.Activity) error {
	if relay, err := r.handleRelayAnswer(ctx, in); relay || err != nil {
		return err
	}
	f, err := r.answeredFollow(ctx, in.Actor, in.Object)
	if err != nil || f == nil {
		return err
	}
	return r.social.ReceiveAccept(ctx, in.Actor, f.FollowerID)
}

// handleReject has an actor refuse, or end, the follow of somebody here.
func (r *Receiver) handleReject(ctx context.Context, in *inbox.Activity) error {
	if relay, err := r.handleRelayAnswer(ctx, in); relay || err != nil {
		return err
	}
	f, err := r.answeredFollow(ctx, in.Actor, in.Object)
	if err != nil || f == nil {
		return err
	}
	return r.social.ReceiveReject(ctx, in.Actor, f.FollowerID)
}

// answeredFollow returns the follow of actor that an Accept or Reject is about: by its id, which we made, or else by what the embedded Follow
// says, because some servers keep no ids. It is nil if nobody here has asked for that.
func (r *Receiver) answeredFollow(ctx context.Context, actor *store.Account, answer activity.Object) (*store.Follow, error) {
	if id := r.local.localActivityID(answer.Ref("object")); id != 0 {
		f, err := r.db.FollowByID(ctx, store.FollowID(id))
		if err != nil || f != nil {
			return ofTarget(f, actor), err
		}
	}
	inner := answer.Object("object")
	if inner == nil || !inner.Is("Follow") || inner.Ref("object") != actor.URI {
		return nil, nil
	}
	follower, err := r.local.localAccount(ctx, inner.Ref("actor"))
	if err != nil || follower == nil {
		return nil, err
	}
	return r.db.FollowOf(ctx, follower.ID, actor.ID)
}

// ofTarget returns a follow if it is one of actor, nil if it is of another.
func ofTarget(f *store.Follow, actor *store.Account) *store.Follow {
	if f == nil || f.TargetID != actor.ID {
		return nil
	}
	return f
}

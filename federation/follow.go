package federation

import (
	"context"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/store"
)

// handleFollow stores a follow or follow request of a local account.
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
		return err // a follow of a status subscribes to its thread, which is not supported
	}
	if to.Unavailable {
		return remote.Refuse("account %s cannot be followed", to.Nickname)
	}
	return r.social.ReceiveFollow(ctx, in.Actor, to.ID, in.URI)
}

// handleAnswer accepts, rejects or ends the follow of a local account, or a quote, favourite, reply
// or boost (federation 4.15), or a place in a collection.
func (r *Receiver) handleAnswer(ctx context.Context, in *inbox.Activity) error {
	if relay, err := r.handleRelayAnswer(ctx, in); relay || err != nil {
		return err
	}
	if quote, err := r.handleQuoteAnswer(ctx, in); quote || err != nil {
		return err
	}
	if feature, err := r.handleFeatureAnswer(ctx, in); feature || err != nil {
		return err
	}
	f, err := r.answeredFollow(ctx, in.Actor, in.Object)
	if err != nil {
		return err
	}
	if f == nil {
		return r.handleInteractionAnswer(ctx, in)
	}
	if in.Type == "Accept" {
		return r.social.ReceiveAccept(ctx, in.Actor, f.FollowerID)
	}
	return r.social.ReceiveReject(ctx, in.Actor, f.FollowerID)
}

// answeredFollow returns the follow of actor that an Accept or Reject is about: by its id, which is ours, or else by the embedded
// Follow, because some servers do not keep ids. It returns nil if there is none.
func (r *Receiver) answeredFollow(ctx context.Context, actor *store.Account, answer activity.Object) (*store.Follow, error) {
	if id := r.local.localActivityID(answer.Ref("object")); id != 0 {
		f, err := r.db.FollowByID(ctx, store.FollowID(id))
		switch {
		case err != nil || f != nil && f.TargetID == actor.ID:
			return f, err
		case f != nil:
			return nil, nil // of another account
		}
	}
	if ref := answer.Ref("object"); r.db.HasOldAddresses() && r.local.isLocalURI(ref) { // of other software
		f, err := r.db.FollowByURI(ctx, ref)
		if err != nil || f != nil && f.TargetID == actor.ID {
			return f, err
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

// handleBlock stores the block of a local account. A Block with a target concerns a remote group and is ignored.
func (r *Receiver) handleBlock(ctx context.Context, in *inbox.Activity) error {
	ref, err := objectRef(in)
	if err != nil {
		return err
	}
	to, err := r.local.localAccount(ctx, ref)
	if err != nil || to == nil || in.Ref("target") != "" {
		return err
	}
	return r.social.ReceiveBlock(ctx, in.Actor, to.ID, in.URI)
}

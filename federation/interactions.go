package federation

import (
	"context"

	"svc/federation/inbox"
	"svc/internal/activity"
	"svc/store"
)

// interactionRequests are the types of requests to interact with a status; the instrument is the interaction (GoToSocial).
var interactionRequests = []string{"LikeRequest", "ReplyRequest", "AnnounceRequest"}

// handleInteractionAnswer approves or removes a local favourite, reply or boost. The answer names it, its Create, or a request for it.
// Answers about anything else are ignored.
func (r *Receiver) handleInteractionAnswer(ctx context.Context, in *inbox.Activity) error {
	ref := in.Ref("object")
	if inner := in.Object.Object("object"); inner != nil && inner.Is(interactionRequests...) {
		ref = inner.Ref("instrument")
	}
	id := int64(r.local.localActivityID(ref))
	if id == 0 && r.local.isLocalURI(ref) {
		st, err := r.local.statusIDByURI(ctx, ref)
		if err != nil {
			return err
		}
		id = int64(st)
	}
	if id == 0 {
		return nil
	}
	if in.Type == "Reject" {
		return r.social.ReceiveDisapproval(ctx, in.Actor, id)
	}
	authorization := in.Ref("result")
	if !activity.SameHost(authorization, in.Actor.URI, r.Settings.AllowLoopback) {
		authorization = ""
	}
	return r.social.ReceiveApproval(ctx, in.Actor, id, authorization)
}

// asPublished returns a status as it is once it is approved: with the visibility that it was posted with.
func asPublished(st *store.Status) *store.Status {
	if st.PendingVisibility == nil {
		return st
	}
	published := *st
	published.Visibility = *st.PendingVisibility
	return &published
}

// buildPendingReply addresses an activity about a reply that waits for approval to the author of the post that it answers only.
func (b *Outbox) buildPendingReply(ctx context.Context, st *store.Status, a activity.Object) ([]*outgoing, error) {
	t := &outgoing{activity: a, statusID: &st.ID, subject: int64(st.ID), priority: store.HighPriority}
	if st.InReplyToAccountID == nil {
		return nil, nil // the post is gone
	}
	var err error
	t.inboxes, err = b.inboxesOf(ctx, *st.InReplyToAccountID)
	return []*outgoing{t}, err
}

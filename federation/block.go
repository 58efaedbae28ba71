package federation

import (
	"context"

	"svc/federation/inbox"
)

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

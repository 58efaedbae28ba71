package federation

import (
	"context"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
)

// handleContainerAdd handles what the owner of a thread adds to it (FEP-171b): a post, or the Create of one. It is fetched from its origin,
// and must belong to that thread. Threads that are unknown here are ignored.
func (r *Receiver) handleContainerAdd(ctx context.Context, in *inbox.Activity, thread string) error {
	if !activity.SameHost(thread, in.Actor.URI, r.Settings.AllowLoopback) {
		return nil
	}
	conversation, err := r.db.ThreadByURI(ctx, thread)
	if conversation == 0 || err != nil {
		return err
	}
	ref := in.Ref("object")
	switch o := in.Object.Object("object"); {
	case o.Is("Create"):
		ref = o.Ref("object")
	case o != nil && o.Type() != "" && !o.Is(remote.NoteTypes...):
		return nil // a favourite or similar
	}
	if ref == "" || r.local.isLocalURI(ref) {
		return nil
	}
	_, err = r.statuses.FetchStatus(ctx, ref, remote.FetchOptions{Budget: in.FetchBudget, Accept: r.statuses.InThread(ctx, thread, conversation)})
	return err
}

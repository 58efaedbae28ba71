package federation

import (
	"context"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

// mayForward returns whether a forwarded activity by signer is processed: from a relay, or from a followed account, whose server
// forwards replies. Anyone may forward a Delete, because its origin is asked.
func (r *Receiver) mayForward(ctx context.Context, signer *store.Account, activityType string) (bool, error) {
	if activityType == "Delete" || r.relays.isAccepted(signer.ID) {
		return true, nil
	}
	if activityType != "Create" && activityType != "Update" {
		return false, nil
	}
	return r.db.HasLocalFollower(ctx, signer.ID)
}

// processForwarded processes an activity that another server than its actor's has sent (federation 2.4, 6.3). With a proof it counts as
// sent by its actor. Without one, only the ids count, and their documents are fetched.
func (r *Receiver) processForwarded(ctx context.Context, in *inbox.Activity) error {
	in.Forwarder = in.Actor
	ctx = remote.WithSource(ctx, r.reader.HostOf(in.Forwarder))
	actor, err := r.verifier.VerifyProof(ctx, in.Object)
	if err == nil {
		return r.processProven(ctx, in, actor)
	}
	if remote.NeedsFetch(err) {
		return err
	}
	allowed, lookupErr := r.mayForward(ctx, in.Forwarder, in.Type)
	switch {
	case lookupErr != nil:
		return lookupErr
	case !allowed:
		return err
	}
	return r.processReferenced(ctx, in)
}

// processProven processes a forwarded activity with a valid proof by its actor.
func (r *Receiver) processProven(ctx context.Context, in *inbox.Activity, actor *store.Account) error {
	in.Actor, in.Recipient = actor, nil
	h := handlers[in.Type]
	if actor.DeletedAt != nil || actor.Unavailable && !h.suspendedActors {
		return remote.Refuse("actor is suspended or deleted")
	}
	return r.perform(ctx, in, h)
}

// processReferenced fetches the object of a forwarded activity, whose content is not trusted. Unless a relay sent it, it is stored only
// if a local account is related to it.
func (r *Receiver) processReferenced(ctx context.Context, in *inbox.Activity) error {
	ref, err := objectRef(in)
	if err != nil {
		return err
	}
	host, err := activity.Host(ref, r.Settings.AllowLoopback)
	if err != nil || host == r.Settings.WebHost {
		return nil // a local object
	}
	switch in.Type {
	case "Create", "Announce":
		_, err := r.statuses.FetchStatus(ctx, ref, remote.FetchOptions{OnlyRelevant: !r.relays.isAccepted(in.Forwarder.ID), Budget: in.FetchBudget})
		return err
	case "Update":
		st, err := r.db.StatusByURI(ctx, ref)
		if st == nil || err != nil {
			return err
		}
		return r.statuses.RefreshStatus(ctx, st)
	case "Delete":
		return r.handleForwardedDelete(ctx, ref)
	}
	return nil
}

// handleForwardedDelete deletes a status or account that a relay reports as gone, if its origin confirms it.
func (r *Receiver) handleForwardedDelete(ctx context.Context, ref string) error {
	account, err := r.db.AccountByURI(ctx, ref)
	switch {
	case errs.IsNotFound(err):
	case err != nil:
		return err
	case account.DeletedAt != nil:
		return nil
	default:
		return r.actors.RefreshSoon(ctx, account)
	}
	st, err := r.db.StatusByURI(ctx, ref)
	if st == nil || err != nil {
		return err
	}
	return r.statuses.DeleteIfGone(ctx, ref)
}

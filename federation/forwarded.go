package federation

import (
	"context"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

// mayForward tells whether it is of interest what somebody says that others have done: a relay, or those followed here, whose servers pass
// on to their followers what others answer them, and what becomes of that. That something is deleted anybody may say: its origin is asked.
func (r *Receiver) mayForward(ctx context.Context, signer *store.Account, verb string) (bool, error) {
	if verb == "Delete" || r.relays.isAccepted(signer.ID) {
		return true, nil
	}
	if verb != "Create" && verb != "Update" {
		return false, nil
	}
	return r.db.HasLocalFollower(ctx, signer.ID)
}

// processForwarded does what an activity asks for that somebody else than its actor has sent (federation 2.4, 6.3). One with a proof by its actor
// is as good as from the actor. Of what is sent without, only the ids count: what they stand for is asked for where it comes from.
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
	passes, failure := r.mayForward(ctx, in.Forwarder, in.Type)
	switch {
	case failure != nil:
		return failure
	case !passes:
		return err
	}
	return r.processReferenced(ctx, in)
}

// processProven does an activity whose actor has proven it to be theirs.
func (r *Receiver) processProven(ctx context.Context, in *inbox.Activity, actor *store.Account) error {
	in.Actor, in.Recipient = actor, nil
	h := handlers[in.Type]
	if actor.DeletedAt != nil || actor.Unavailable && !h.suspendedActors {
		return remote.Refuse("its actor has no say here")
	}
	return r.perform(ctx, in, h)
}

// processReferenced does what follows of an activity that somebody has passed on, who is believed in nothing but that there is something to be
// asked for. What does not come from a relay is kept only if it concerns somebody here.
func (r *Receiver) processReferenced(ctx context.Context, in *inbox.Activity) error {
	ref, err := objectRef(in)
	if err != nil {
		return err
	}
	host, err := activity.Host(ref, r.AllowLoopback)
	if err != nil || host == r.Host {
		return nil // it is ours, and comes back
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

// handleForwardedDelete removes a post or an account of which a relay says that it is gone, if its origin says so, too.
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

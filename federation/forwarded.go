package federation

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"errors"
	"time"

	"svc/federation/inbox"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/httpsig"
	"svc/internal/proof"
	"svc/store"
)

// maxProofAge is how long ago a proof may have been made: less than for how long it is remembered what was done (store.SeenKey), so that
// nobody can have that done again.
const maxProofAge = 7 * 24 * time.Hour

// mayForward tells whether it is of interest what somebody says that others have done: a relay, or those followed here, whose servers pass
// on to their followers what others answer them, and what becomes of that. That something is deleted anybody may say: its origin is asked.
func (s *Service) mayForward(ctx context.Context, signer *store.Account, verb string) (bool, error) {
	if verb == "Delete" || s.relays.isAccepted(signer.ID) {
		return true, nil
	}
	if verb != "Create" && verb != "Update" {
		return false, nil
	}
	return s.db.HasLocalFollower(ctx, signer.ID)
}

// processForwarded does what an activity asks for that somebody else than its actor has sent (federation 2.4, 6.3). One with a proof by its actor
// is as good as from the actor. Of what is sent without, only the ids count: what they stand for is asked for where it comes from.
func (s *Service) processForwarded(ctx context.Context, in *inbox.Activity) error {
	in.Forwarder = in.Actor
	ctx = WithSource(ctx, s.hostOf(in.Forwarder))
	actor, err := s.VerifyProof(ctx, in.Object)
	if err == nil {
		return s.processProven(ctx, in, actor)
	}
	if needsFetch(err) {
		return err
	}
	passes, failure := s.mayForward(ctx, in.Forwarder, in.Type)
	switch {
	case failure != nil:
		return failure
	case !passes:
		return err
	}
	return s.processReferenced(ctx, in)
}

// processProven does an activity whose actor has proven it to be theirs.
func (s *Service) processProven(ctx context.Context, in *inbox.Activity, actor *store.Account) error {
	in.Actor, in.Recipient = actor, nil
	h := handlers[in.Type]
	if actor.DeletedAt != nil || actor.Unavailable && !h.suspendedActors {
		return Refuse("its actor has no say here")
	}
	return s.perform(ctx, in, h)
}

// VerifyProof returns the actor of a document that carries a proof by it (FEP-8b32).
func (s *Service) VerifyProof(ctx context.Context, doc activity.Object) (*store.Account, error) {
	claim, err := proof.Read(doc, s.now())
	if err != nil {
		return nil, Refuse("signed by somebody else than its actor, and %v", err)
	}
	if age := s.now().Sub(claim.Created); age > maxProofAge || age < -maxClockSkew {
		return nil, Refuse("its proof was made at another time")
	}
	actor := doc.Ref("actor")
	if !activity.SameHost(claim.VerificationMethod, actor, s.AllowLoopback) {
		return nil, Refuse("its proof is of another host than its actor")
	}
	owner, err := s.keyOwner(ctx, claim.VerificationMethod, func(key crypto.PublicKey) error {
		public, ok := key.(ed25519.PublicKey)
		if !ok || claim.Verify(public) != nil {
			return httpsig.ErrSignature
		}
		return nil
	})
	if errors.Is(err, errWrongSignature) || errors.Is(err, ErrActorGone) {
		return nil, Refuse("its proof is wrong: %v", err)
	}
	if err == nil && owner.URI != actor {
		err = Refuse("its proof is by somebody else than its actor")
	}
	return owner, err
}

// processReferenced does what follows of an activity that somebody has passed on, who is believed in nothing but that there is something to be
// asked for. What does not come from a relay is kept only if it concerns somebody here.
func (s *Service) processReferenced(ctx context.Context, in *inbox.Activity) error {
	ref, err := objectRef(in)
	if err != nil {
		return err
	}
	host, err := activity.Host(ref, s.AllowLoopback)
	if err != nil || host == s.Host {
		return nil // it is ours, and comes back
	}
	switch in.Type {
	case "Create", "Announce":
		_, err := s.FetchStatus(ctx, ref, FetchOptions{OnlyRelevant: !s.relays.isAccepted(in.Forwarder.ID), Budget: in.FetchBudget})
		return err
	case "Update":
		st, err := s.db.StatusByURI(ctx, ref)
		if st == nil || err != nil {
			return err
		}
		return s.RefreshStatus(ctx, st)
	case "Delete":
		return s.handleForwardedDelete(ctx, ref)
	}
	return nil
}

// handleForwardedDelete removes a post or an account of which a relay says that it is gone, if its origin says so, too.
func (s *Service) handleForwardedDelete(ctx context.Context, ref string) error {
	account, err := s.db.AccountByURI(ctx, ref)
	switch {
	case errs.IsNotFound(err):
	case err != nil:
		return err
	case account.DeletedAt != nil:
		return nil
	default:
		return s.RefreshSoon(ctx, account)
	}
	st, err := s.db.StatusByURI(ctx, ref)
	if st == nil || err != nil {
		return err
	}
	return s.DeleteIfGone(ctx, ref)
}

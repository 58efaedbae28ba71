package federation

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"errors"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/httpsig"
	"svc/internal/proof"
	"svc/store"
)

// provenPast is how long ago a proof may have been made: less than for how long it is remembered what was done (store.HeardKey), so that
// nobody can have that done again.
const provenPast = 7 * 24 * time.Hour

// passesOn tells whether it is of interest what somebody says that others have done: a relay, or those followed here, whose servers pass
// on to their followers what others answer them, and what becomes of that. That something is deleted anybody may say: its origin is asked.
func (s *Service) passesOn(ctx context.Context, signer *store.Account, verb string) (bool, error) {
	if verb == "Delete" || s.relays.accepted(signer.ID) {
		return true, nil
	}
	if verb != "Create" && verb != "Update" {
		return false, nil
	}
	return s.db.FollowedHere(ctx, signer.ID)
}

// passedOn does what an activity asks for that somebody else than its actor has sent (federation 2.4, 6.3). One with a proof by its actor
// is as good as from the actor. Of what is sent without, only the ids count: what they stand for is asked for where it comes from.
func (s *Service) passedOn(ctx context.Context, in *incoming) error {
	in.via = in.actor
	ctx = WithSource(ctx, s.hostOf(in.via))
	actor, err := s.proven(ctx, in.Object)
	if err == nil {
		return s.doProven(ctx, in, actor)
	}
	if isLater(err) {
		return err
	}
	passes, failure := s.passesOn(ctx, in.via, in.verb)
	switch {
	case failure != nil:
		return failure
	case !passes:
		return err
	}
	return s.doRelayed(ctx, in)
}

// doProven does an activity whose actor has proven it to be theirs.
func (s *Service) doProven(ctx context.Context, in *incoming, actor *store.Account) error {
	in.actor, in.recipient = actor, nil
	h := handlers[in.verb]
	if actor.DeletedAt != nil || actor.Withheld && !h.suspended {
		return refuse("its actor has no say here")
	}
	return s.perform(ctx, in, h)
}

// proven returns the actor of a document that carries a proof by it (FEP-8b32).
func (s *Service) proven(ctx context.Context, doc activity.Object) (*store.Account, error) {
	claim, err := proof.Read(doc, s.now())
	if err != nil {
		return nil, refuse("signed by somebody else than its actor, and %v", err)
	}
	if age := s.now().Sub(claim.Created); age > provenPast || age < -signedFuture {
		return nil, refuse("its proof was made at another time")
	}
	actor := doc.Ref("actor")
	if !activity.SameHost(claim.VerificationMethod, actor, s.Trial) {
		return nil, refuse("its proof is of another host than its actor")
	}
	owner, err := s.ownerOf(ctx, claim.VerificationMethod, func(key crypto.PublicKey) error {
		public, ok := key.(ed25519.PublicKey)
		if !ok || claim.Verify(public) != nil {
			return httpsig.ErrSignature
		}
		return nil
	})
	if errors.Is(err, errNotVerified) || errors.Is(err, errGone) {
		return nil, refuse("its proof is wrong: %v", err)
	}
	if err == nil && owner.URI != actor {
		err = refuse("its proof is by somebody else than its actor")
	}
	return owner, err
}

// doRelayed does what follows of an activity that somebody has passed on, who is believed in nothing but that there is something to be
// asked for. What does not come from a relay is kept only if it concerns somebody here.
func (s *Service) doRelayed(ctx context.Context, in *incoming) error {
	ref, err := in.objectRef()
	if err != nil {
		return err
	}
	host, err := activity.Host(ref, s.Trial)
	if err != nil || host == s.Host {
		return nil // it is ours, and comes back
	}
	switch in.verb {
	case "Create", "Announce":
		_, err := s.fetchStatus(ctx, ref, fetching{relevant: !s.relays.accepted(in.via.ID), reach: in.deepest})
		return err
	case "Update":
		st, err := s.db.StatusByURI(ctx, ref)
		if st == nil || err != nil {
			return err
		}
		return s.lookAnew(ctx, st)
	case "Delete":
		return s.relayedDelete(ctx, ref)
	}
	return nil
}

// relayedDelete removes a post or an account of which a relay says that it is gone, if its origin says so, too.
func (s *Service) relayedDelete(ctx context.Context, ref string) error {
	account, err := s.db.AccountByURI(ctx, ref)
	switch {
	case errs.IsNotFound(err):
	case err != nil:
		return err
	case account.DeletedAt != nil:
		return nil
	default:
		return s.refreshSoon(ctx, account)
	}
	st, err := s.db.StatusByURI(ctx, ref)
	if st == nil || err != nil {
		return err
	}
	return s.deleteIfGone(ctx, ref)
}

package federation

import (
	"context"
	"crypto/ed25519"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/proof"
	"svc/store"
)

// passedOn does what an activity asks for that somebody else than its actor has sent (federation 2.4, 6.3). One with a proof by its actor
// is as good as from the actor. Of what a relay sends without, only the ids count: what they stand for is asked for where it comes from.
// That something is deleted anybody may pass on, for the same is done: servers do so with answers to posts of theirs.
func (s *Service) passedOn(ctx context.Context, in *incoming) error {
	in.via = in.actor
	actor, err := s.proven(ctx, in.Object)
	switch {
	case err == nil:
		return s.doProven(ctx, in, actor)
	case isLater(err):
		return err
	case s.relays.accepted(in.via.ID), in.verb == "Delete":
		return s.doRelayed(ctx, in)
	}
	return err
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
	actor := doc.Ref("actor")
	if !activity.SameHost(claim.VerificationMethod, actor, s.Trial) {
		return nil, refuse("its proof is of another host than its actor")
	}
	key, err := s.key(ctx, claim.VerificationMethod)
	if err != nil {
		return nil, err
	}
	if key == nil {
		if err := s.learnKey(ctx, claim.VerificationMethod); err != nil {
			return nil, err
		}
		if key, err = s.key(ctx, claim.VerificationMethod); err != nil {
			return nil, err
		}
	}
	if key == nil {
		return nil, refuse("nobody has the key of its proof")
	}
	public, ok := key.public.(ed25519.PublicKey)
	if !ok {
		return nil, refuse("the key of its proof is of another kind")
	}
	if err := claim.Verify(public); err != nil {
		return nil, refuse("its proof is wrong")
	}
	owner, err := s.db.Account(ctx, key.owner)
	if err == nil && owner.URI != actor {
		err = refuse("its proof is by somebody else than its actor")
	}
	return owner, err
}

// doRelayed does what follows of an activity that a relay has passed on. The relay is believed in nothing but that there is something
// to be asked for.
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
		_, err := s.fetchStatus(ctx, ref, fetching{reach: in.deepest})
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

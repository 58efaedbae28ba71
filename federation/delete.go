package federation

import (
	"context"
	"errors"
	"net/http"

	"svc/internal/activity"
	"svc/social"
	"svc/store"
)

func init() {
	handle("Delete", handling{do: (*Service).receiveDelete, suspended: true})
}

// receiveDelete removes what the actor says is gone: itself, a post, a boost, a message (federation 4.5).
func (s *Service) receiveDelete(ctx context.Context, in *incoming) error {
	ref, err := in.objectRef()
	if err != nil {
		return err
	}
	if ref == in.actor.URI {
		return s.actorGone(ctx, in.actor)
	}
	if !activity.SameHost(ref, in.actor.URI, s.Trial) {
		return refuse("its object is of another host than its actor")
	}
	if done, err := s.retractMessage(ctx, in.actor, ref); done || err != nil {
		return err
	}
	err = s.social.ReceiveDelete(ctx, in.actor, ref)
	if errors.Is(err, social.ErrNotTheirs) {
		return s.deleteIfGone(ctx, ref)
	}
	return err
}

// deleteIfGone removes a post that its origin does not have any more. Whoever says so has no right to it themself: they are a moderator of
// that server, or a relay.
func (s *Service) deleteIfGone(ctx context.Context, uri string) error {
	st, err := s.db.StatusByURI(ctx, uri)
	if st == nil || err != nil {
		return err
	}
	o, err := s.askAnew(ctx, uri)
	switch {
	case vanished(o, err), notFound(st, err):
		return s.social.Vanished(ctx, st.ID)
	case err == nil:
		return refuse("its origin has it still")
	}
	return err
}

// askAnew reads the document of what is known, also if that could not be had a moment ago.
func (s *Service) askAnew(ctx context.Context, uri string) (activity.Object, error) {
	s.absent.forget(activity.WithoutFragment(uri))
	return s.document(ctx, uri)
}

// vanished tells whether the origin of a post says that it is no more. That nothing was found does not say so: servers are out of order at
// times.
func vanished(o activity.Object, err error) bool {
	return err == nil && o.Is("Tombstone") || statusOf(err) == http.StatusGone
}

// notFound tells whether it bears out who says that a post is no more that its origin finds nothing. It does for a post for everybody: we
// ask in the name of this server, and of what is for few it is told that there is no such thing. Boosts often cannot be asked for at all.
func notFound(st *store.Status, err error) bool {
	return statusOf(err) == http.StatusNotFound && isOpen(st.Visibility) && st.ReblogOfID == nil
}

// gone is what there is to do about an activity whose signature cannot be verified because its key, and so its actor, is no more. That an
// actor deletes itself is thereby confirmed (federation 3.8).
func (s *Service) gone(ctx context.Context, verb string, doc activity.Object) error {
	actor := doc.Ref("actor")
	if verb != "Delete" || doc.Ref("object") != actor {
		return nil
	}
	account, err := s.db.AccountByURI(ctx, actor)
	if err != nil || account.Local() || account.DeletedAt != nil {
		return ignoreMissing(err)
	}
	if s.absent.of(actor, s.now()) == nil && !s.looked.begin(lookedKey{id: account.ID, gone: true}, s.now()) {
		return s.unverified(actor, errGone) // its server was asked a moment ago, and had it
	}
	_, err = s.document(ctx, actor)
	switch status := statusOf(err); status {
	case http.StatusGone:
		return s.actorGone(ctx, account)
	case http.StatusNotFound:
		return s.actorAbsent(ctx, account)
	}
	return nil
}

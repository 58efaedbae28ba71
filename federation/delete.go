package federation

import (
	"context"
	"errors"
	"net/http"

	"svc/federation/inbox"
	"svc/internal/activity"
	"svc/social"
	"svc/store"
)

// handleDelete removes what the actor says is gone: itself, a post, a boost, a message (federation 4.5).
func (s *Service) handleDelete(ctx context.Context, in *inbox.Activity) error {
	ref, err := objectRef(in)
	if err != nil {
		return err
	}
	if ref == in.Actor.URI {
		return s.ActorGone(ctx, in.Actor)
	}
	if !activity.SameHost(ref, in.Actor.URI, s.AllowLoopback) {
		return Refuse("its object is of another host than its actor")
	}
	if done, err := s.deleteChatMessage(ctx, in.Actor, ref); done || err != nil {
		return err
	}
	err = s.social.ReceiveDelete(ctx, in.Actor, ref)
	if errors.Is(err, social.ErrNotOwner) {
		return s.DeleteIfGone(ctx, ref)
	}
	return err
}

// DeleteIfGone removes a post that its origin does not have any more. Whoever says so has no right to it themself: they are a moderator of
// that server, or a relay.
func (s *Service) DeleteIfGone(ctx context.Context, uri string) error {
	st, err := s.db.StatusByURI(ctx, uri)
	if st == nil || err != nil {
		return err
	}
	o, err := s.refetchDocument(ctx, uri)
	switch {
	case isGoneAtOrigin(o, err), notFoundConfirmsDelete(st, err):
		return s.social.RemoveRemoteStatus(ctx, st.ID)
	case err == nil:
		return Refuse("its origin has it still")
	}
	return err
}

// refetchDocument reads the document of what is known, also if that could not be had a moment ago.
func (s *Service) refetchDocument(ctx context.Context, uri string) (activity.Object, error) {
	s.failures.remove(activity.WithoutFragment(uri))
	return s.Document(ctx, uri)
}

// isGoneAtOrigin tells whether the origin of a post says that it is no more. That nothing was found does not say so: servers are out of order at
// times.
func isGoneAtOrigin(o activity.Object, err error) bool {
	return err == nil && o.Is("Tombstone") || HTTPStatus(err) == http.StatusGone
}

// notFoundConfirmsDelete tells whether it bears out who says that a post is no more that its origin finds nothing. It does for a post for everybody: we
// ask in the name of this server, and of what is for few it is told that there is no such thing. Boosts often cannot be asked for at all.
func notFoundConfirmsDelete(st *store.Status, err error) bool {
	return HTTPStatus(err) == http.StatusNotFound && isPublicOrUnlisted(st.Visibility) && st.ReblogOfID == nil
}

// handleGoneActor is what there is to do about an activity whose signature cannot be verified because its key, and so its actor, is no more. That an
// actor deletes itself is thereby confirmed (federation 3.8).
func (s *Service) handleGoneActor(ctx context.Context, doc activity.Object) error {
	actor := doc.Ref("actor")
	if doc.Ref("object") != actor {
		return nil
	}
	account, err := s.db.AccountByURI(ctx, actor)
	if err != nil || account.Local() || account.DeletedAt != nil {
		return ignoreNotFound(err)
	}
	if s.failures.get(actor, s.now()) == nil && !s.accountChecks.allow(accountCheckKey{id: account.ID, gone: true}, s.now()) {
		return s.signatureError(actor, ErrActorGone) // its server was asked a moment ago, and had it
	}
	_, err = s.Document(ctx, actor)
	switch status := HTTPStatus(err); status {
	case http.StatusGone:
		return s.ActorGone(ctx, account)
	case http.StatusNotFound:
		return s.ActorNotFound(ctx, account)
	}
	return nil
}

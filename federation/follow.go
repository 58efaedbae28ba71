package federation

import (
	"context"
	"strings"

	"svc/federation/inbox"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

// handleFollow has an actor follow somebody here, or ask to.
func (s *Service) handleFollow(ctx context.Context, in *inbox.Activity) error {
	if relay, err := s.handleRelayFollow(ctx, in); relay || err != nil {
		return err
	}
	ref, err := objectRef(in)
	if err != nil {
		return err
	}
	to, err := s.localAccount(ctx, ref)
	if err != nil || to == nil {
		return err // follows of posts are threads subscribed to, which is of no use here
	}
	if to.Unavailable {
		return Refuse("nobody can follow %s", to.Nickname)
	}
	return s.social.ReceiveFollow(ctx, in.Actor, to.ID, in.URI)
}

// handleAccept has an actor accept the follow of somebody here. What else is accepted, a favourite or a reply, is seen there now: nothing is
// known of it here (federation 4.15).
func (s *Service) handleAccept(ctx context.Context, in *inbox.Activity) error {
	if relay, err := s.handleRelayAnswer(ctx, in); relay || err != nil {
		return err
	}
	f, err := s.answeredFollow(ctx, in.Actor, in.Object)
	if err != nil || f == nil {
		return err
	}
	return s.social.ReceiveAccept(ctx, in.Actor, f.FollowerID)
}

// handleReject has an actor refuse, or end, the follow of somebody here.
func (s *Service) handleReject(ctx context.Context, in *inbox.Activity) error {
	if relay, err := s.handleRelayAnswer(ctx, in); relay || err != nil {
		return err
	}
	f, err := s.answeredFollow(ctx, in.Actor, in.Object)
	if err != nil || f == nil {
		return err
	}
	return s.social.ReceiveReject(ctx, in.Actor, f.FollowerID)
}

// answeredFollow returns the follow of actor that an Accept or Reject is about: by its id, which we made, or else by what the embedded Follow
// says, because some servers keep no ids. It is nil if nobody here has asked for that.
func (s *Service) answeredFollow(ctx context.Context, actor *store.Account, answer activity.Object) (*store.Follow, error) {
	if id := s.localActivityID(answer.Ref("object")); id != 0 {
		f, err := s.db.FollowByID(ctx, store.FollowID(id))
		if err != nil || f != nil {
			return ofTarget(f, actor), err
		}
	}
	inner := answer.Object("object")
	if inner == nil || !inner.Is("Follow") || inner.Ref("object") != actor.URI {
		return nil, nil
	}
	follower, err := s.localAccount(ctx, inner.Ref("actor"))
	if err != nil || follower == nil {
		return nil, err
	}
	return s.db.FollowOf(ctx, follower.ID, actor.ID)
}

// ofTarget returns a follow if it is one of actor, nil if it is of another.
func ofTarget(f *store.Follow, actor *store.Account) *store.Follow {
	if f == nil || f.TargetID != actor.ID {
		return nil
	}
	return f
}

// localAccount returns the account of this server that an id names, nil if it names none.
func (s *Service) localAccount(ctx context.Context, uri string) (*store.Account, error) {
	if !s.isLocalURI(uri) {
		return nil, nil
	}
	a, err := s.db.AccountByURI(ctx, uri)
	if errs.IsNotFound(err) || err == nil && !a.Local() {
		return nil, nil
	}
	return a, err
}

// localActivityID returns the row that the id of an activity of this server stands for, 0 if it is no such id.
func (s *Service) localActivityID(uri string) store.ActivityID {
	flake, ok := strings.CutPrefix(uri, s.BaseURL+"/activities/")
	if !ok {
		return 0
	}
	return store.ParseActivityID(flake)
}

// isLocalURI tells whether an address is one of this server.
func (s *Service) isLocalURI(uri string) bool { return strings.HasPrefix(uri, s.BaseURL+"/") }

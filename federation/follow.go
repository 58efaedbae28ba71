package federation

import (
	"context"
	"strings"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

func init() {
	// Some servers follow by the same id each time (federation 4.10).
	handle("Follow", handling{do: (*Service).follow, strangers: true, repeated: true})
	handle("Accept", handling{do: (*Service).accept})
	handle("Reject", handling{do: (*Service).reject, suspended: true})
}

// follow has an actor follow somebody here, or ask to.
func (s *Service) follow(ctx context.Context, in *incoming) error {
	if relay, err := s.relayFollowed(ctx, in); relay || err != nil {
		return err
	}
	ref, err := in.objectRef()
	if err != nil {
		return err
	}
	to, err := s.accountHere(ctx, ref)
	if err != nil || to == nil {
		return err // follows of posts are threads subscribed to, which is of no use here
	}
	if to.Withheld {
		return refuse("nobody can follow %s", to.Nickname)
	}
	return s.social.ReceiveFollow(ctx, in.actor, to.ID, in.id)
}

// accept has an actor accept the follow of somebody here. What else is accepted, a favourite or a reply, is seen there now: nothing is
// known of it here (federation 4.15).
func (s *Service) accept(ctx context.Context, in *incoming) error {
	if relay, err := s.relayAnswered(ctx, in); relay || err != nil {
		return err
	}
	f, err := s.answered(ctx, in.actor, in.Object)
	if err != nil || f == nil {
		return err
	}
	return s.social.ReceiveAccept(ctx, in.actor, f.FollowerID)
}

// reject has an actor refuse, or end, the follow of somebody here.
func (s *Service) reject(ctx context.Context, in *incoming) error {
	if relay, err := s.relayAnswered(ctx, in); relay || err != nil {
		return err
	}
	f, err := s.answered(ctx, in.actor, in.Object)
	if err != nil || f == nil {
		return err
	}
	return s.social.ReceiveReject(ctx, in.actor, f.FollowerID)
}

// answered returns the follow of actor that an Accept or Reject is about: by its id, which we made, or else by what the embedded Follow
// says, because some servers keep no ids. It is nil if nobody here has asked for that.
func (s *Service) answered(ctx context.Context, actor *store.Account, answer activity.Object) (*store.Follow, error) {
	if id := s.activityHere(answer.Ref("object")); id != 0 {
		f, err := s.db.FollowByID(ctx, store.FollowID(id))
		if err != nil || f != nil {
			return ofTarget(f, actor), err
		}
	}
	inner := answer.Object("object")
	if inner == nil || !inner.Is("Follow") || inner.Ref("object") != actor.URI {
		return nil, nil
	}
	follower, err := s.accountHere(ctx, inner.Ref("actor"))
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

// accountHere returns the account of this server that an id names, nil if it names none.
func (s *Service) accountHere(ctx context.Context, uri string) (*store.Account, error) {
	if !s.isOwn(uri) {
		return nil, nil
	}
	a, err := s.db.AccountByURI(ctx, uri)
	if errs.IsNotFound(err) || err == nil && !a.Local() {
		return nil, nil
	}
	return a, err
}

// activityHere returns the row that the id of an activity of this server stands for, 0 if it is no such id.
func (s *Service) activityHere(uri string) store.ActivityID {
	flake, ok := strings.CutPrefix(uri, s.BaseURL+"/activities/")
	if !ok {
		return 0
	}
	return store.ParseActivityID(flake)
}

// isOwn tells whether an address is one of this server.
func (s *Service) isOwn(uri string) bool { return strings.HasPrefix(uri, s.BaseURL+"/") }

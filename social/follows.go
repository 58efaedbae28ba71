package social

import (
	"context"
	"slices"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

var (
	errNotAllowed = errs.Forbidden("This action is not allowed")
	errSelf       = errs.Forbidden("You cannot do that to yourself")
)

// FollowOptions are what a follower wants to see of the followed. What is nil stays as it is; for a new follow it is the usual:
// boosts are shown, no post is announced, and all languages are welcome.
type FollowOptions struct {
	ShowReblogs *bool
	Notify      *bool    // of each post
	Languages   []string // codes; unknown ones are left out, and none at all are all
}

// maxLanguages is how many languages a follow can be for.
const maxLanguages = 50

// Follow makes follower follow target, or ask to if target is locked or lives elsewhere. Following again is no error: it changes
// the options, and is answered at once if target has been unlocked since. Nobody follows oneself, across a block, or who has moved away.
func (s *Service) Follow(ctx context.Context, follower *store.Account, target store.AccountID, o FollowOptions) (*store.Follow, error) {
	var f *store.Follow
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		f, err = s.follow(ctx, tx, follower, target, o)
		return err
	})
	return f, err
}

func (s *Service) follow(ctx context.Context, tx *store.Tx, follower *store.Account, target store.AccountID, o FollowOptions) (*store.Follow, error) {
	to, err := s.followable(ctx, tx, follower, target)
	if err != nil {
		return nil, err
	}
	f, err := tx.FollowOf(ctx, follower.ID, to.ID)
	if err != nil {
		return nil, err
	}
	if f == nil {
		if moved, err := hasMoved(ctx, tx, to); err != nil {
			return nil, err
		} else if moved { // it is the other account that can be followed (federation 1.7)
			return nil, errNotAllowed
		}
		f = &store.Follow{FollowerID: follower.ID, TargetID: to.ID, Pending: true, FollowerLocal: follower.Local(), ShowReblogs: true}
		o.apply(f)
		err = s.addFollow(ctx, tx, f, to)
	} else {
		err = s.updateFollow(ctx, tx, f, to, o)
	}
	switch {
	case err != nil || o.Notify == nil:
		return f, err
	case *o.Notify:
		return f, tx.AddSubscription(ctx, follower.ID, to.ID)
	}
	return f, tx.RemoveSubscription(ctx, follower.ID, to.ID)
}

// followable returns the account of target, if follower may follow it.
func (s *Service) followable(ctx context.Context, tx *store.Tx, follower *store.Account, target store.AccountID) (*store.Account, error) {
	to, err := otherAccount(ctx, tx, follower, target)
	if err != nil {
		return nil, err
	}
	blocked, err := tx.BlockBetween(ctx, follower.ID, to.ID)
	if err == nil && blocked {
		err = errNotAllowed
	}
	if err == nil {
		err = s.applyFollowPolicies(ctx, follower, to)
	}
	return to, err
}

// apply sets what is asked for.
func (o *FollowOptions) apply(f *store.Follow) {
	if o.ShowReblogs != nil {
		f.ShowReblogs = *o.ShowReblogs
	}
	if o.Languages == nil {
		return
	}
	f.Languages.V = []string{}
	for _, tag := range o.Languages {
		code := text.Language(tag)
		if code != "" && !slices.Contains(f.Languages.V, code) && len(f.Languages.V) < maxLanguages {
			f.Languages.V = append(f.Languages.V, code)
		}
	}
}

// addFollow stores a new request, or the follow that it is at once.
func (s *Service) addFollow(ctx context.Context, tx *store.Tx, f *store.Follow, to *store.Account) error {
	n := store.Notification{AccountID: to.ID, Type: store.NotifyFollowRequest, FromID: f.FollowerID}
	if acceptsAutomatically(to) {
		f.Pending = false
		n.Type = store.NotifyFollow
	}
	if err := tx.AddFollow(ctx, f); err != nil {
		return err
	}
	if err := notify(ctx, tx, n, nil); err != nil {
		return err
	}
	tx.Emit(store.FollowChanged{Follow: f})
	if f.Pending {
		return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.FollowCreated, ActorID: f.FollowerID, TargetID: f.TargetID, RowID: int64(f.ID)})
	}
	if err := s.backfillHome(ctx, tx, f); err != nil {
		return err
	}
	return addFollowAnswerToOutbox(ctx, tx, store.FollowAccepted, f)
}

// addFollowAnswerToOutbox has the follower's server told what the followed says to a request.
func addFollowAnswerToOutbox(ctx context.Context, tx *store.Tx, answer store.OutboxType, f *store.Follow) error {
	d := store.OutboxEntry{Type: answer, ActorID: f.TargetID, TargetID: f.FollowerID, RowID: int64(f.ID)}
	if f.URI != nil {
		d.URI = *f.URI
	}
	return tx.AddToOutbox(ctx, d)
}

// acceptsAutomatically tells whether who wants to follow an account does so without asking.
func acceptsAutomatically(a *store.Account) bool { return a.Local() && !a.Locked }

// followRetryDelay is after how long without an answer somebody elsewhere is asked again, if the follower wants that.
const followRetryDelay = 24 * time.Hour

// updateFollow gives a follow or a request other options. Who has not answered for long may not have heard of it (federation 4.10).
func (s *Service) updateFollow(ctx context.Context, tx *store.Tx, f *store.Follow, to *store.Account, o FollowOptions) error {
	before := *f
	o.apply(f)
	if err := tx.SaveFollow(ctx, f); err != nil {
		return err
	}
	switch {
	case f.Pending && acceptsAutomatically(to):
		return s.acceptFollow(ctx, tx, f)
	case f.Pending && !to.Local() && s.db.Now().Sub(f.ID.Time()) > followRetryDelay:
		return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.FollowCreated, ActorID: f.FollowerID, TargetID: f.TargetID, RowID: int64(f.ID)})
	case !f.Pending && (f.ShowReblogs && !before.ShowReblogs || !slices.Equal(f.Languages.V, before.Languages.V)):
		return s.backfillHome(ctx, tx, f) // with what was kept out
	}
	return nil
}

// backfillHome gives a new follower something to read.
func (s *Service) backfillHome(ctx context.Context, tx *store.Tx, f *store.Follow) error {
	if !f.FollowerLocal {
		return nil
	}
	return tx.BackfillHome(ctx, f, s.BackfillOnFollow)
}

// acceptFollow makes a request a follow.
func (s *Service) acceptFollow(ctx context.Context, tx *store.Tx, f *store.Follow) error {
	if err := tx.AcceptFollow(ctx, f); err != nil {
		return err
	}
	if err := s.backfillHome(ctx, tx, f); err != nil {
		return err
	}
	tx.Emit(store.FollowChanged{Follow: f})
	return addFollowAnswerToOutbox(ctx, tx, store.FollowAccepted, f)
}

// Unfollow ends a follow or takes a request back, and with it the subscription to target's posts. It is no error if there is none.
func (s *Service) Unfollow(ctx context.Context, follower *store.Account, target store.AccountID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		to, err := otherAccount(ctx, tx, follower, target)
		if err != nil {
			return err
		}
		f, err := tx.FollowOf(ctx, follower.ID, to.ID)
		if err != nil {
			return err
		}
		if f == nil {
			return tx.RemoveSubscription(ctx, follower.ID, to.ID)
		}
		return unfollow(ctx, tx, f)
	})
}

// unfollow ends a follow or takes a request back because the follower wants it so.
func unfollow(ctx context.Context, tx *store.Tx, f *store.Follow) error {
	if err := tx.RemoveSubscription(ctx, f.FollowerID, f.TargetID); err != nil {
		return err
	}
	return endFollow(ctx, tx, f, false)
}

// RemoveFollower has an account follow actor no longer. It is no error if it does not.
func (s *Service) RemoveFollower(ctx context.Context, actor *store.Account, follower store.AccountID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		from, err := otherAccount(ctx, tx, actor, follower)
		if err != nil {
			return err
		}
		f, err := tx.FollowOf(ctx, from.ID, actor.ID)
		if f == nil || f.Pending || err != nil {
			return err
		}
		return endFollow(ctx, tx, f, true)
	})
}

// endFollow removes a follow or a request, with its notification, the recommendation of the followed, and what it put into the follower's home. rejected says that it is the
// followed who wants it so.
func endFollow(ctx context.Context, tx *store.Tx, f *store.Follow, rejected bool) error {
	if err := tx.RemoveFollow(ctx, f); err != nil {
		return err
	}
	told := store.NotifyFollow
	if f.Pending {
		told = store.NotifyFollowRequest
	}
	if err := tx.RemoveNotification(ctx, f.TargetID, told, f.FollowerID, nil); err != nil {
		return err
	}
	if !f.Pending && f.FollowerLocal {
		if err := tx.RemoveEndorsement(ctx, f.FollowerID, f.TargetID); err != nil {
			return err
		}
		if err := tx.ClearHome(ctx, f.FollowerID, f.TargetID, false); err != nil {
			return err
		}
	}
	gone := *f
	gone.ID = 0
	tx.Emit(store.FollowChanged{Follow: &gone, Rejected: rejected, Ended: true})
	if rejected {
		return addFollowAnswerToOutbox(ctx, tx, store.FollowRejected, f)
	}
	return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.FollowDeleted, ActorID: f.FollowerID, TargetID: f.TargetID, RowID: int64(f.ID)})
}

// AcceptFollowRequest lets an account that has asked to follow actor.
func (s *Service) AcceptFollowRequest(ctx context.Context, actor *store.Account, from store.AccountID) error {
	return s.withFollowRequest(ctx, actor, from, func(tx *store.Tx, f *store.Follow) error { return s.acceptFollow(ctx, tx, f) })
}

// RejectFollowRequest refuses an account that has asked to follow actor.
func (s *Service) RejectFollowRequest(ctx context.Context, actor *store.Account, from store.AccountID) error {
	return s.withFollowRequest(ctx, actor, from, func(tx *store.Tx, f *store.Follow) error { return endFollow(ctx, tx, f, true) })
}

func (s *Service) withFollowRequest(ctx context.Context, actor *store.Account, from store.AccountID, fn func(*store.Tx, *store.Follow) error) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		f, err := tx.FollowOf(ctx, from, actor.ID)
		if err != nil {
			return err
		}
		if f == nil || !f.Pending {
			return errs.ErrRecordNotFound
		}
		return fn(tx, f)
	})
}

package social

import (
	"cmp"
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

// FollowOptions are what a follower sees of the followed account. Nil fields stay as they are; a new follow shows reblogs, does not
// notify, and has all languages.
type FollowOptions struct {
	ShowReblogs *bool
	Notify      *bool    // notify of each post
	Languages   []string // codes, without unknown ones; empty: all languages
}

const (
	maxLanguages     = 50  // of a follow
	backfillOnFollow = 100 // statuses of a newly followed account that are added to the follower's home timeline
)

// Follow makes follower follow target, or creates a follow request if target is locked or remote. Following again changes the options,
// and accepts the request if target has been unlocked. Following oneself, across a block, or a moved account is forbidden.
func (s *Service) Follow(ctx context.Context, follower *store.Account, target store.AccountID, o FollowOptions) (*store.Follow, error) {
	return update(ctx, s.db, func(tx *store.Tx) (*store.Follow, error) { return s.follow(ctx, tx, follower, target, o) })
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
		} else if moved { // its new account can be followed instead (federation 1.7)
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

// followable returns target if follower may follow it.
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

// apply sets the options that are not nil.
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

// FollowAsIn makes a local account follow target on behalf of staff. A local target is not asked for its approval; a remote one is sent a
// Follow. It returns false if follower followed target before.
func (s *Service) FollowAsIn(ctx context.Context, tx *store.Tx, follower *store.Account, target store.AccountID) (changed bool, err error) {
	to, err := otherAccount(ctx, tx, follower, target)
	if err != nil {
		return false, err
	}
	if blocked, err := tx.BlockBetween(ctx, follower.ID, to.ID); err != nil || blocked {
		return false, cmp.Or(err, error(errNotAllowed))
	}
	f, err := tx.FollowOf(ctx, follower.ID, to.ID)
	switch {
	case err != nil || f != nil && !f.Pending:
		return false, err
	case !to.Local():
		_, err := s.follow(ctx, tx, follower, target, FollowOptions{})
		return true, err
	case f != nil:
		return true, acceptFollow(ctx, tx, f)
	}
	f = &store.Follow{FollowerID: follower.ID, TargetID: to.ID, FollowerLocal: true, ShowReblogs: true}
	if err := tx.AddFollow(ctx, f); err != nil {
		return false, err
	}
	if err := notify(ctx, tx, store.Notification{AccountID: to.ID, Type: store.NotifyFollow, FromID: follower.ID}, nil); err != nil {
		return false, err
	}
	tx.Emit(store.FollowChanged{Follow: f})
	return true, backfillHome(ctx, tx, f)
}

// UnfollowAsIn ends a follow or a follow request on behalf of staff. It returns false if there is none.
func (s *Service) UnfollowAsIn(ctx context.Context, tx *store.Tx, follower, target store.AccountID) (changed bool, err error) {
	f, err := tx.FollowOf(ctx, follower, target)
	if f == nil || err != nil {
		return false, err
	}
	return true, unfollow(ctx, tx, f)
}

// addFollow stores a new follow, pending unless to accepts follows automatically.
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
	if err := backfillHome(ctx, tx, f); err != nil {
		return err
	}
	return addFollowAnswerToOutbox(ctx, tx, store.FollowAccepted, f)
}

// addFollowAnswerToOutbox sends the target's answer to a follow request to the follower's server.
func addFollowAnswerToOutbox(ctx context.Context, tx *store.Tx, answer store.OutboxType, f *store.Follow) error {
	d := store.OutboxEntry{Type: answer, ActorID: f.TargetID, TargetID: f.FollowerID, RowID: int64(f.ID)}
	if f.URI != nil {
		d.URI = *f.URI
	}
	return tx.AddToOutbox(ctx, d)
}

// acceptsAutomatically returns true if follows of an account need no request.
func acceptsAutomatically(a *store.Account) bool { return a.Local() && !a.Locked }

// followRetryDelay is the age of an unanswered request to a remote account at which following again sends it again.
const followRetryDelay = 24 * time.Hour

// updateFollow changes the options of a follow or request. An old request is sent again, because the first one may be lost (federation
// 4.10).
func (s *Service) updateFollow(ctx context.Context, tx *store.Tx, f *store.Follow, to *store.Account, o FollowOptions) error {
	before := *f
	o.apply(f)
	if err := tx.SaveFollow(ctx, f); err != nil {
		return err
	}
	switch {
	case f.Pending && acceptsAutomatically(to):
		return acceptFollow(ctx, tx, f)
	case f.Pending && !to.Local() && store.At(f.ID.Time()).Age(s.db.Now()) > followRetryDelay:
		return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.FollowCreated, ActorID: f.FollowerID, TargetID: f.TargetID, RowID: int64(f.ID)})
	case !f.Pending && (f.ShowReblogs && !before.ShowReblogs || !slices.Equal(f.Languages.V, before.Languages.V)):
		return backfillHome(ctx, tx, f) // adds what the old options excluded
	}
	return nil
}

// backfillHome adds recent statuses of the followed account to a local follower's home timeline.
func backfillHome(ctx context.Context, tx *store.Tx, f *store.Follow) error {
	if !f.FollowerLocal {
		return nil
	}
	return tx.BackfillHome(ctx, f, backfillOnFollow, 0)
}

// acceptFollow accepts a follow request.
func acceptFollow(ctx context.Context, tx *store.Tx, f *store.Follow) error {
	if err := tx.AcceptFollow(ctx, f); err != nil {
		return err
	}
	if err := backfillHome(ctx, tx, f); err != nil {
		return err
	}
	if f.FollowerLocal {
		if err := tx.EnqueueFirstLinkChecks(ctx, f.TargetID); err != nil {
			return err
		}
	}
	tx.Emit(store.FollowChanged{Follow: f})
	return addFollowAnswerToOutbox(ctx, tx, store.FollowAccepted, f)
}

// Unfollow ends a follow or a request, and the subscription to target's posts. A missing follow is not an error.
func (s *Service) Unfollow(ctx context.Context, follower *store.Account, target store.AccountID) error {
	return s.updateOther(ctx, follower, target, func(tx *store.Tx, to *store.Account) error {
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

// unfollow ends a follow or a request on behalf of the follower.
func unfollow(ctx context.Context, tx *store.Tx, f *store.Follow) error {
	if err := tx.RemoveSubscription(ctx, f.FollowerID, f.TargetID); err != nil {
		return err
	}
	return endFollow(ctx, tx, f, false)
}

// RemoveFollower removes an account from the followers. A missing follow is not an error.
func (s *Service) RemoveFollower(ctx context.Context, actor *store.Account, follower store.AccountID) error {
	return s.updateOther(ctx, actor, follower, func(tx *store.Tx, from *store.Account) error {
		f, err := tx.FollowOf(ctx, from.ID, actor.ID)
		if f == nil || f.Pending || err != nil {
			return err
		}
		return endFollow(ctx, tx, f, true)
	})
}

// endFollow removes a follow or a request with its notification, endorsement and home timeline rows. rejected is true if the followed
// account ends it.
func endFollow(ctx context.Context, tx *store.Tx, f *store.Follow, rejected bool) error {
	if err := tx.RemoveFollow(ctx, f); err != nil {
		return err
	}
	notified := store.NotifyFollow
	if f.Pending {
		notified = store.NotifyFollowRequest
	}
	if err := tx.RemoveNotification(ctx, f.TargetID, notified, f.FollowerID, nil); err != nil {
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

// AcceptFollowRequest accepts a request to follow actor.
func (s *Service) AcceptFollowRequest(ctx context.Context, actor *store.Account, from store.AccountID) error {
	return s.withFollowRequest(ctx, actor, from, func(tx *store.Tx, f *store.Follow) error { return acceptFollow(ctx, tx, f) })
}

// RejectFollowRequest rejects a request to follow actor.
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

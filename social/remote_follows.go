package social

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

// Follow activities of remote accounts. Their own server has applied them already, so they also apply to unavailable accounts, and
// receiving one twice changes nothing.

// ReceiveFollow is Follow by a remote account, by the activity with this id. A repeated follow is answered again, because the first
// answer may be lost (federation 4.10). A target that has moved, blocks or is blocked rejects it.
func (s *Service) ReceiveFollow(ctx context.Context, follower *store.Account, target store.AccountID, uri string) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		to, err := availableAccount(ctx, tx, target)
		if err != nil {
			return err
		}
		if same, err := tx.FollowByURI(ctx, uri); err != nil {
			return err
		} else if same != nil && (same.FollowerID != follower.ID || same.TargetID != to.ID) {
			return errs.Conflict("another follow has this id")
		}
		f, err := tx.FollowOf(ctx, follower.ID, to.ID)
		if err != nil {
			return err
		}
		refused, err := rejectsFollower(ctx, tx, to, follower)
		switch {
		case err != nil:
			return err
		case f == nil && refused:
			rejected := store.OutboxEntry{Type: store.FollowRejected, ActorID: to.ID, TargetID: follower.ID, URI: uri}
			return tx.AddToOutbox(ctx, rejected)
		case f == nil:
			f = &store.Follow{FollowerID: follower.ID, TargetID: to.ID, Pending: true, ShowReblogs: true, URI: &uri}
			return s.addFollow(ctx, tx, f, to)
		}
		f.URI = &uri
		if err := tx.SetFollowURI(ctx, f); err != nil {
			return err
		}
		switch {
		case refused:
			return endFollow(ctx, tx, f, true)
		case !f.Pending:
			return addFollowAnswerToOutbox(ctx, tx, store.FollowAccepted, f)
		case acceptsAutomatically(to):
			return acceptFollow(ctx, tx, f)
		}
		return nil
	})
}

// rejectsFollower returns true if a local account has moved, or a block between it and a remote follower exists.
func rejectsFollower(ctx context.Context, tx *store.Tx, account, follower *store.Account) (bool, error) {
	if account.MovedToID != nil {
		return true, nil
	}
	blocked, err := tx.BlockBetween(ctx, account.ID, follower.ID)
	if blocked || err != nil {
		return blocked, err
	}
	return blocksDomainOfUnfollowed(ctx, tx, account.ID, follower)
}

// ReceiveUnfollow ends a follow or request of a remote follower. It returns false if there is none.
func (s *Service) ReceiveUnfollow(ctx context.Context, follower *store.Account, target store.AccountID) (found bool, err error) {
	err = s.withFollow(ctx, follower.ID, target, func(tx *store.Tx, f *store.Follow) error {
		found = true
		return unfollow(ctx, tx, f)
	})
	return found, err
}

// ReceiveAccept accepts the follow request of a local follower on behalf of a remote actor. Without a request it does nothing.
func (s *Service) ReceiveAccept(ctx context.Context, actor *store.Account, follower store.AccountID) error {
	return s.withFollow(ctx, follower, actor.ID, func(tx *store.Tx, f *store.Follow) error {
		if !f.Pending {
			return nil
		}
		return acceptFollow(ctx, tx, f)
	})
}

// ReceiveReject ends the follow or request of a local follower on behalf of a remote actor.
func (s *Service) ReceiveReject(ctx context.Context, actor *store.Account, follower store.AccountID) error {
	return s.withFollow(ctx, follower, actor.ID, func(tx *store.Tx, f *store.Follow) error {
		if err := tx.RemoveSubscription(ctx, f.FollowerID, f.TargetID); err != nil {
			return err
		}
		return endFollow(ctx, tx, f, true)
	})
}

// EndUnknownFollows ends follows of remote accounts by local ones of which the server of the followed account says that they do not exist.
// Those that were ended or requested again meanwhile stay as they are.
func (s *Service) EndUnknownFollows(ctx context.Context, follows []*store.Follow) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		for _, known := range follows {
			f, err := tx.FollowByID(ctx, known.ID)
			if err != nil {
				return err
			}
			if f == nil || f.Pending {
				continue
			}
			if err := unfollow(ctx, tx, f); err != nil {
				return err
			}
		}
		return nil
	})
}

// ReceiveFollowing applies that the server of a remote account has a local account among its followers: a request is accepted, and if there is no
// follow, the Undo is sent again.
func (s *Service) ReceiveFollowing(ctx context.Context, target, follower *store.Account) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		f, err := tx.FollowOf(ctx, follower.ID, target.ID)
		switch {
		case err != nil || f != nil && !f.Pending:
			return err
		case f != nil:
			return acceptFollow(ctx, tx, f)
		}
		return tx.AddToOutbox(ctx, store.OutboxEntry{
			Type: store.FollowDeleted, ActorID: follower.ID, TargetID: target.ID, URI: follower.URI + "#follows/" + target.ID.String(),
		})
	})
}

// withFollow runs fn on the follow or request between two accounts, if there is one.
func (s *Service) withFollow(ctx context.Context, follower, target store.AccountID, fn func(*store.Tx, *store.Follow) error) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		f, err := tx.FollowOf(ctx, follower, target)
		if f == nil || err != nil {
			return err
		}
		return fn(tx, f)
	})
}

package social

import (
	"context"
	"errors"
	"slices"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// ErrNotAlias is the answer to who wants to move to an account that does not say it is theirs.
var ErrNotAlias = errs.Invalid("Target account must have the origin in `alsoKnownAs`")

// moveBatch is how many followers are told of a move, and led on, in one transaction.
const moveBatch = 50

// AddAlias notes that another account is actor's too: that one can move its followers here. Doing it twice is no error.
func (s *Service) AddAlias(ctx context.Context, actor *store.Account, alias store.AccountID) error {
	return s.changeAliases(ctx, actor, func(tx *store.Tx, a *store.Account) error {
		other, err := otherAccount(ctx, tx, actor, alias)
		if err != nil {
			return err
		}
		if slices.Contains(a.AlsoKnownAs.V, other.URI) {
			return nil
		}
		if len(a.AlsoKnownAs.V) >= maxAliases {
			return errs.Invalid("You have as many aliases as one can")
		}
		a.AlsoKnownAs.V = append(slices.Clone(a.AlsoKnownAs.V), other.URI)
		return nil
	})
}

// RemoveAlias takes back that an account, named by its ActivityPub id, is actor's. One that was not is errs.ErrRecordNotFound.
func (s *Service) RemoveAlias(ctx context.Context, actor *store.Account, uri string) error {
	return s.changeAliases(ctx, actor, func(_ *store.Tx, a *store.Account) error {
		i := slices.Index(a.AlsoKnownAs.V, uri)
		if i < 0 {
			return errs.ErrRecordNotFound
		}
		a.AlsoKnownAs.V = slices.Delete(slices.Clone(a.AlsoKnownAs.V), i, i+1)
		return nil
	})
}

func (s *Service) changeAliases(ctx context.Context, actor *store.Account, change func(*store.Tx, *store.Account) error) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		a, err := tx.Account(ctx, actor.ID)
		if err != nil {
			return err
		}
		if err := change(tx, a); err != nil {
			return err
		}
		if err := addProfileToOutbox(ctx, tx, a.ID); err != nil {
			return err
		}
		return tx.SaveAccount(ctx, a)
	})
}

// Move says that origin has another account now, which must know origin as an alias (ErrNotAlias). The local followers of origin are
// told, and those who want that follow the target instead, by and by. One can move back: the target has not moved any more then.
func (s *Service) Move(ctx context.Context, origin store.AccountID, target store.AccountID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		from, err := availableAccount(ctx, tx, origin)
		if err != nil {
			return err
		}
		to, err := otherAccount(ctx, tx, from, target)
		if err != nil {
			return err
		}
		moved, err := hasMoved(ctx, tx, to)
		if err != nil {
			return err
		}
		back := to.Local() && to.MovedToID != nil && *to.MovedToID == from.ID // of others, their server says where they are
		if !slices.Contains(to.AlsoKnownAs.V, from.URI) || moved && !back {
			return ErrNotAlias
		}
		if from.MovedToID != nil && *from.MovedToID == to.ID {
			return nil
		}
		if back {
			if err := undoMove(ctx, tx, to); err != nil {
				return err
			}
		}
		from.MovedToID = &to.ID
		if err := tx.SaveAccount(ctx, from); err != nil {
			return err
		}
		if err := addProfileToOutbox(ctx, tx, from.ID); err != nil {
			return err
		}
		if err := tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.AccountMoved, ActorID: from.ID, TargetID: to.ID}); err != nil {
			return err
		}
		return tx.Enqueue(ctx, store.MoveFollowers{OriginID: from.ID, TargetID: to.ID})
	})
}

// hasMoved tells whether an account has moved away, or, if it lives elsewhere, says so: the other one need not be known here.
func hasMoved(ctx context.Context, tx *store.Tx, a *store.Account) (bool, error) {
	if a.MovedToID != nil || a.Local() {
		return a.MovedToID != nil, nil
	}
	actor, err := tx.Actor(ctx, a.ID)
	if err != nil {
		return false, ignoreNotFound(err)
	}
	return actor.MovedTo != "", nil
}

// undoMove ends that an account of this server has moved away.
func undoMove(ctx context.Context, tx *store.Tx, a *store.Account) error {
	a.MovedToID = nil
	if err := tx.SaveAccount(ctx, a); err != nil {
		return err
	}
	return addProfileToOutbox(ctx, tx, a.ID)
}

// moveFollowers is the job that tells the local followers of an account that it has moved, and has them follow the new one if they
// want to be led on. It does some at a time, and ends early if the account has moved elsewhere meanwhile, or back.
func (s *Service) moveFollowers(ctx context.Context, w store.MoveFollowers) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		origin, err := tx.Account(ctx, w.OriginID)
		if err != nil || origin.MovedToID == nil || *origin.MovedToID != w.TargetID {
			return ignoreNotFound(err)
		}
		follows, err := tx.LocalFollowersAfter(ctx, w.OriginID, w.After, moveBatch)
		if err != nil || len(follows) == 0 {
			return err
		}
		for _, f := range follows {
			if err := s.moveFollower(ctx, tx, f, w.TargetID); err != nil {
				return err
			}
		}
		w.After = follows[len(follows)-1].FollowerID
		return tx.Enqueue(ctx, w)
	})
}

// moveFollower tells a follower of the account that the followed has moved to, and has them follow it in the same way, unless
// they do already.
func (s *Service) moveFollower(ctx context.Context, tx *store.Tx, f *store.Follow, target store.AccountID) error {
	n := store.Notification{AccountID: f.FollowerID, Type: store.NotifyMove, FromID: f.TargetID, Detail: target.String()}
	if err := notify(ctx, tx, n, nil); err != nil {
		return err
	}
	user, err := tx.User(ctx, f.FollowerID)
	if err != nil || !user.AllowFollowingMove || f.FollowerID == target {
		return ignoreNotFound(err)
	}
	follower, err := tx.Account(ctx, f.FollowerID)
	if err != nil {
		return err
	}
	already, err := tx.FollowOf(ctx, follower.ID, target)
	if err != nil {
		return err
	}
	o := FollowOptions{ShowReblogs: &f.ShowReblogs, Languages: f.Languages.V}
	if already != nil {
		o = FollowOptions{}
	}
	subscribed, err := tx.Subscribed(ctx, f.FollowerID, f.TargetID)
	if err != nil {
		return err
	}
	if subscribed {
		o.Notify = &subscribed
	}
	if _, err := s.follow(ctx, tx, follower, target, o); err != nil {
		return ignoreClientError(err) // a block, or the target has gone: they keep what they have
	}
	return unfollow(ctx, tx, f)
}

// ignoreClientError passes over errors that say that something may not be, or is not there.
func ignoreClientError(err error) error {
	if e := new(errs.Error); errors.As(err, &e) && e.Status < 500 {
		return nil
	}
	return err
}

// moveCooldown is how long after a move of an account elsewhere another one counts (federation 4.13).
const moveCooldown = 7 * 24 * time.Hour

// ReceiveMove is Move by origin, who lives elsewhere and whose document names target as its new account. The document of target, as it is
// now, must name origin as an alias, and not have moved itself. One can move back here.
func (s *Service) ReceiveMove(ctx context.Context, origin store.AccountID, target store.AccountID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		from, err := availableAccount(ctx, tx, origin)
		if err != nil {
			return err
		}
		to, err := otherAccount(ctx, tx, from, target)
		if err != nil {
			return err
		}
		moved, err := hasMoved(ctx, tx, to)
		if err != nil {
			return err
		}
		back := to.Local() && to.MovedToID != nil && *to.MovedToID == from.ID
		if moved && !back || !slices.Contains(to.AlsoKnownAs.V, from.URI) {
			return ErrNotAlias
		}
		actor, err := tx.Actor(ctx, from.ID)
		if err != nil {
			return err
		}
		now := s.db.Now()
		if actor.MovedAt != nil && now.Sub(actor.MovedAt.Time()) < moveCooldown {
			return errs.Conflict("%s has moved not long ago", from.Acct())
		}
		at := store.At(now)
		actor.MovedAt = &at
		if err := tx.SaveActor(ctx, actor); err != nil {
			return err
		}
		if back {
			if err := undoMove(ctx, tx, to); err != nil {
				return err
			}
		}
		from.MovedToID = &to.ID
		if err := tx.SaveAccount(ctx, from); err != nil {
			return err
		}
		return tx.Enqueue(ctx, store.MoveFollowers{OriginID: from.ID, TargetID: to.ID})
	})
}

package social

import (
	"context"
	"errors"
	"slices"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// ErrNotAlias is returned if the target of a move does not list the origin as an alias.
var ErrNotAlias = errs.Invalid("Target account must have the origin in `alsoKnownAs`")

// moveBatch is how many followers are moved in one transaction.
const moveBatch = 50

// AddAlias adds another account as an alias of actor, so that it can move its followers to actor. Adding twice is not an error.
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
			return errs.Invalid("You cannot have more than %d aliases", maxAliases)
		}
		a.AlsoKnownAs.V = append(slices.Clone(a.AlsoKnownAs.V), other.URI)
		return nil
	})
}

// RemoveAlias removes an alias by its ActivityPub id. A missing one is errs.ErrRecordNotFound.
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
		before := len(a.AlsoKnownAs.V)
		if err := change(tx, a); err != nil {
			return err
		}
		if len(a.AlsoKnownAs.V) > before {
			user, err := tx.User(ctx, a.ID)
			if err != nil {
				return err
			}
			if err := s.checkProfileSize(a, user); err != nil {
				return err
			}
		}
		if err := addProfileToOutbox(ctx, tx, a.ID); err != nil {
			return err
		}
		return tx.SaveAccount(ctx, a)
	})
}

// Move moves origin to target, which must list origin as an alias (ErrNotAlias). A job notifies the local followers of origin and makes
// them follow target if their settings allow it. Moving back clears the earlier move.
func (s *Service) Move(ctx context.Context, origin store.AccountID, target store.AccountID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		from, to, movesBack, err := checkMove(ctx, tx, origin, target)
		if err != nil {
			return err
		}
		if from.MovedToID != nil && *from.MovedToID == to.ID {
			return nil
		}
		if err := setMovedTo(ctx, tx, from, to, movesBack); err != nil {
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

// checkMove returns the accounts of a move if target lists origin as an alias and has not moved itself. movesBack is true if target is
// local and has moved to origin; only its own server clears the move of a remote account.
func checkMove(ctx context.Context, tx *store.Tx, origin, target store.AccountID) (from, to *store.Account, movesBack bool, err error) {
	if from, err = availableAccount(ctx, tx, origin); err != nil {
		return nil, nil, false, err
	}
	if to, err = otherAccount(ctx, tx, from, target); err != nil {
		return nil, nil, false, err
	}
	moved, err := hasMoved(ctx, tx, to)
	movesBack = to.Local() && to.MovedToID != nil && *to.MovedToID == from.ID
	if err == nil && (moved && !movesBack || !slices.Contains(to.AlsoKnownAs.V, from.URI)) {
		err = ErrNotAlias
	}
	return from, to, movesBack, err
}

// setMovedTo stores that an account has moved.
func setMovedTo(ctx context.Context, tx *store.Tx, from, to *store.Account, movesBack bool) error {
	if movesBack {
		if err := undoMove(ctx, tx, to); err != nil {
			return err
		}
	}
	from.MovedToID = &to.ID
	return tx.SaveAccount(ctx, from)
}

// hasMoved returns whether an account has moved. The new account of a remote one may be unknown here.
func hasMoved(ctx context.Context, tx *store.Tx, a *store.Account) (bool, error) {
	if a.MovedToID != nil || a.Local() {
		return a.MovedToID != nil, nil
	}
	actor, err := tx.Actor(ctx, a.ID)
	if err != nil {
		return false, errs.IgnoreNotFound(err)
	}
	return actor.MovedTo != "", nil
}

// undoMove clears the move of a local account.
func undoMove(ctx context.Context, tx *store.Tx, a *store.Account) error {
	a.MovedToID = nil
	if err := tx.SaveAccount(ctx, a); err != nil {
		return err
	}
	return addProfileToOutbox(ctx, tx, a.ID)
}

// moveFollowers is the job that moves the local followers of an account, one batch a run. It ends early if the account has moved to
// another target or back.
func (s *Service) moveFollowers(ctx context.Context, w store.MoveFollowers) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		origin, err := tx.Account(ctx, w.OriginID)
		if err != nil || origin.MovedToID == nil || *origin.MovedToID != w.TargetID {
			return errs.IgnoreNotFound(err)
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

// moveFollower notifies a follower of a move, and makes it follow target with the same options unless it already does.
func (s *Service) moveFollower(ctx context.Context, tx *store.Tx, f *store.Follow, target store.AccountID) error {
	n := store.Notification{AccountID: f.FollowerID, Type: store.NotifyMove, FromID: f.TargetID, Detail: target.String()}
	if err := notify(ctx, tx, n, nil); err != nil {
		return err
	}
	user, err := tx.User(ctx, f.FollowerID)
	if err != nil || !user.AllowFollowingMove || f.FollowerID == target {
		return errs.IgnoreNotFound(err)
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
		return ignoreClientError(err) // blocked or target deleted: the old follow stays
	}
	return unfollow(ctx, tx, f)
}

// ignoreClientError returns nil for errors that mean refused or not found.
func ignoreClientError(err error) error {
	if e := new(errs.Error); errors.As(err, &e) && e.Status < 500 {
		return nil
	}
	return err
}

// moveCooldown is the time between two moves of a remote account that are accepted (federation 4.13).
const moveCooldown = 7 * 24 * time.Hour

// ReceiveMove moves a remote origin to target. The caller has fetched target, which must list origin as an alias and not have moved
// itself, unless it moves back.
func (s *Service) ReceiveMove(ctx context.Context, origin store.AccountID, target store.AccountID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		from, to, movesBack, err := checkMove(ctx, tx, origin, target)
		if err != nil {
			return err
		}
		actor, err := tx.Actor(ctx, from.ID)
		if err != nil {
			return err
		}
		now := s.db.Now()
		if actor.MovedAt != nil && actor.MovedAt.Age(now) < moveCooldown {
			return errs.Conflict("%s moved less than a week ago", from.Acct())
		}
		actor.MovedAt = new(store.At(now))
		if err := tx.SaveActor(ctx, actor); err != nil {
			return err
		}
		if err := setMovedTo(ctx, tx, from, to, movesBack); err != nil {
			return err
		}
		return tx.Enqueue(ctx, store.MoveFollowers{OriginID: from.ID, TargetID: to.ID})
	})
}

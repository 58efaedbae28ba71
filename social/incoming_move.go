package social

import (
	"context"
	"slices"
	"time"

	"svc/internal/errs"
	"svc/store"
)

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

package social

import (
	"context"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// IncomingReblog is a boost by somebody elsewhere.
type IncomingReblog struct {
	URI        string
	Visibility store.Visibility
	Published  time.Time
}

// ReceiveReblog takes in that somebody elsewhere boosts a status. Of what is not for everybody only its author makes boosts that count,
// and they are for the same people. Whoever has boosted it already has not done so again.
func (s *Service) ReceiveReblog(ctx context.Context, actor *store.Account, id store.StatusID, b IncomingReblog) (*store.Status, error) {
	var boost *store.Status
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		original, err := tx.Status(ctx, id)
		if err != nil {
			return err
		}
		sees, err := tx.CanSee(ctx, actor.ID, original)
		switch {
		case err != nil:
			return err
		case !sees, original.ReblogOfID != nil, original.Visibility > store.Private, original.Visibility == store.Local,
			original.Visibility == store.Private && original.AccountID != actor.ID:
			return errs.ErrRecordNotFound
		case original.Visibility == store.Private:
			b.Visibility = store.Private
		}
		if err := checkNotBlocked(ctx, tx, actor, original); err != nil {
			return err
		}
		known, made, err := tx.ReblogURIState(ctx, b.URI, actor, original.ID)
		switch {
		case err != nil:
			return err
		case made != 0:
			boost, err = tx.Status(ctx, made)
			return err
		case known:
			return ErrDeleted
		}
		boost = &store.Status{
			ID: tx.NewStatusID(), AccountID: actor.ID, Domain: actor.Domain, Visibility: b.Visibility, ReblogOfID: &original.ID,
			URI: b.URI, CreatedAt: store.At(b.Published),
		}
		boost.ConversationID = store.ConversationID(boost.ID) // it is no post of the original's thread
		return s.addReblog(ctx, tx, boost, original)
	})
	return boost, err
}

// addReblog stores a boost from elsewhere with all that follows from it.
func (s *Service) addReblog(ctx context.Context, tx *store.Tx, boost, original *store.Status) error {
	if err := tx.AddStatus(ctx, boost); err != nil {
		return err
	}
	if err := tx.FanOut(ctx, boost, original); err != nil {
		return err
	}
	if original.Local() {
		n := store.Notification{AccountID: original.AccountID, Type: store.NotifyReblog, FromID: boost.AccountID}
		if err := notify(ctx, tx, n, original); err != nil {
			return err
		}
	}
	tx.Emit(store.StatusPosted{Status: boost})
	return nil
}

// ReceiveDelete removes a post or a boost by actor, who lives elsewhere, or takes back that others may quote a post of theirs. Whoever
// deletes what is not here is remembered. What is somebody else's is ErrNotOwner.
func (s *Service) ReceiveDelete(ctx context.Context, actor *store.Account, uri string) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		st, err := tx.StatusByURI(ctx, uri)
		switch {
		case err != nil:
			return err
		case st == nil:
			if err := tx.MarkDeletionSeen(ctx, uri, actor.URI); err != nil {
				return err
			}
			return revokeReceivedQuotes(ctx, tx, actor, uri)
		case st.AccountID != actor.ID:
			return ErrNotOwner
		}
		return removeStatus(ctx, tx, st)
	})
}

// RemoveRemoteStatus removes a post from elsewhere that its server does not have any more.
func (s *Service) RemoveRemoteStatus(ctx context.Context, id store.StatusID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		st, err := tx.Status(ctx, id)
		if err != nil || st.Local() {
			return ignoreNotFound(err)
		}
		return removeStatus(ctx, tx, st)
	})
}

package social

import (
	"context"
	"slices"

	"svc/internal/errs"
	"svc/store"
)

// DeleteStatus removes a status of actor's; of a boost, the boost only. It returns what it was. Staff remove others' through
// the admin package.
func (s *Service) DeleteStatus(ctx context.Context, actor *store.Account, id store.StatusID) (*store.Status, error) {
	var st *store.Status
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		var err error
		if st, err = tx.Status(ctx, id); err != nil {
			return err
		}
		if st.AccountID != actor.ID {
			return errs.ErrRecordNotFound
		}
		return deleteStatus(ctx, tx, st)
	})
	return st, err
}

// maxDeleteInboxes is how many of each kind of those who had to do with a post hear that it is gone.
const maxDeleteInboxes = 1000

// deleteStatus deletes a status, and has those elsewhere told who may have it.
func deleteStatus(ctx context.Context, tx *store.Tx, st *store.Status) error {
	if !st.Local() || !st.Visibility.Federated() {
		return removeStatus(ctx, tx, st)
	}
	d := store.OutboxEntry{Type: store.StatusDeleted, ActorID: st.AccountID, StatusID: st.ID, URI: st.URI, Visibility: st.Visibility}
	if st.ReblogOfID != nil {
		d.Type, d.StatusID, d.RowID = store.ReblogDeleted, *st.ReblogOfID, int64(st.ID)
		if err := tx.AddToOutbox(ctx, d); err != nil {
			return err
		}
		return removeStatus(ctx, tx, st)
	}
	recipients, err := tx.Recipients(ctx, []store.StatusID{st.ID})
	if err != nil {
		return err
	}
	for _, r := range recipients {
		d.Recipients = append(d.Recipients, r.AccountID)
	}
	open := st.Visibility.Unrestricted() // else who is not addressed has not heard of it
	if open && st.InReplyToAccountID != nil {
		d.Recipients = append(d.Recipients, *st.InReplyToAccountID)
	}
	about, err := tx.RemoteInteractors(ctx, st.ID, maxDeleteInboxes)
	if err != nil {
		return err
	}
	quoted, err := quotedStatus(ctx, tx, st)
	if err != nil {
		return err
	}
	if open && quoted != nil {
		about = append(about, quoted.AccountID)
	}
	actors, err := tx.Actors(ctx, about)
	if err != nil {
		return err
	}
	for _, a := range actors {
		d.Inboxes = append(d.Inboxes, a.DeliveryInbox())
	}
	readers, err := tx.FetcherInboxes(ctx, st.ID, maxDeleteInboxes)
	if err != nil {
		return err
	}
	d.Inboxes = append(d.Inboxes, readers...)
	slices.Sort(d.Inboxes)
	d.Inboxes = slices.Compact(d.Inboxes)
	if err := tx.AddToOutbox(ctx, d); err != nil {
		return err
	}
	return removeStatus(ctx, tx, st)
}

// removeStatus deletes a status with its boosts. Of a boost, its notification goes too.
func removeStatus(ctx context.Context, tx *store.Tx, st *store.Status) error {
	if st.ReblogOfID != nil {
		original, err := tx.Status(ctx, *st.ReblogOfID)
		if err != nil {
			return err
		}
		if err := tx.RemoveNotification(ctx, original.AccountID, store.NotifyReblog, st.AccountID, &original.ID); err != nil {
			return err
		}
	}
	if _, err := tx.DeleteStatus(ctx, st); err != nil {
		return err
	}
	if st.HasPoll {
		if err := tx.DropJob(ctx, pollKey(st.ID)); err != nil {
			return err
		}
	}
	return tx.DropJob(ctx, expiryKey(st.ID))
}

// expireStatus is the job that removes a status at the end of its time.
func (s *Service) expireStatus(ctx context.Context, w store.ExpireStatus) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		st, err := tx.Status(ctx, w.StatusID)
		if err != nil {
			return ignoreNotFound(err)
		}
		if st.ExpiresAt == nil || st.ExpiresAt.Time().After(s.db.Now()) {
			return nil
		}
		if pinned, err := tx.Pinned(ctx, st.ID); pinned || err != nil {
			return err
		}
		return deleteStatus(ctx, tx, st)
	})
}

// enqueueExpiry has a status removed at the end of its time.
func enqueueExpiry(ctx context.Context, tx *store.Tx, st *store.Status) error {
	return tx.EnqueueUnique(ctx, st.ExpiresAt.Time(), expiryKey(st.ID), store.ExpireStatus{StatusID: st.ID})
}

func expiryKey(id store.StatusID) string { return "expire:" + id.String() }

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

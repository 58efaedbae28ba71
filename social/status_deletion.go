package social

import (
	"context"
	"slices"

	"svc/internal/errs"
	"svc/store"
)

// DeleteStatus deletes a status of actor's; of a reblog, only the reblog. It returns the deleted status. Its media can be attached to another
// status for a day, unless withMedia deletes them, too.
func (s *Service) DeleteStatus(ctx context.Context, actor *store.Account, id store.StatusID, withMedia bool) (*store.Status, error) {
	return update(ctx, s.db, func(tx *store.Tx) (*store.Status, error) {
		st, err := tx.Status(ctx, id)
		if err != nil {
			return nil, err
		}
		if st.AccountID != actor.ID {
			return nil, errs.ErrRecordNotFound
		}
		if withMedia {
			if err := tx.DeleteMediaOf(ctx, st.ID); err != nil {
				return nil, err
			}
		}
		return st, deleteStatus(ctx, tx, st)
	})
}

// maxDeleteInboxes is how many accounts that interacted with a status, and how many servers that fetched it, receive its deletion.
const maxDeleteInboxes = 1000

// deleteStatus deletes a status, and federates the deletion to all servers that may have the status.
func deleteStatus(ctx context.Context, tx *store.Tx, st *store.Status) error {
	if !st.Local() || !st.Federated() {
		return removeStatus(ctx, tx, st)
	}
	entry := store.OutboxEntry{Type: store.StatusDeleted, ActorID: st.AccountID, StatusID: st.ID, URI: st.URI, Visibility: st.Visibility}
	if st.ReblogOfID != nil {
		entry.Type, entry.StatusID, entry.RowID = store.ReblogDeleted, *st.ReblogOfID, int64(st.ID)
		if err := tx.AddToOutbox(ctx, entry); err != nil {
			return err
		}
		return removeStatus(ctx, tx, st)
	}
	recipients, err := tx.Recipients(ctx, []store.StatusID{st.ID})
	if err != nil {
		return err
	}
	for _, r := range recipients {
		entry.Recipients = append(entry.Recipients, r.AccountID)
	}
	unrestricted := st.Visibility.Unrestricted() // only recipients know a restricted status
	if unrestricted && st.InReplyToAccountID != nil {
		entry.Recipients = append(entry.Recipients, *st.InReplyToAccountID)
	}
	related, err := tx.RemoteInteractors(ctx, st.ID, maxDeleteInboxes)
	if err != nil {
		return err
	}
	quoted, err := quotedStatus(ctx, tx, st)
	if err != nil {
		return err
	}
	if unrestricted && quoted != nil {
		related = append(related, quoted.AccountID)
	}
	actors, err := tx.Actors(ctx, related)
	if err != nil {
		return err
	}
	for _, a := range actors {
		entry.Inboxes = append(entry.Inboxes, a.DeliveryInbox())
	}
	fetchers, err := tx.FetcherInboxes(ctx, st.ID, maxDeleteInboxes)
	if err != nil {
		return err
	}
	entry.Inboxes = append(entry.Inboxes, fetchers...)
	slices.Sort(entry.Inboxes)
	entry.Inboxes = slices.Compact(entry.Inboxes)
	if err := tx.AddToOutbox(ctx, entry); err != nil {
		return err
	}
	return removeStatus(ctx, tx, st)
}

// removeStatus deletes the row of a status with its reblogs and jobs, and leaves a tombstone. Of a reblog, it removes the notification.
func removeStatus(ctx context.Context, tx *store.Tx, st *store.Status) error {
	return removeStatusBy(ctx, tx, st, tx.DeleteStatus)
}

// statusRemover deletes the row of a status: Tx.DeleteStatus, or Tx.RemoveStatus without a tombstone.
type statusRemover func(context.Context, *store.Status) ([]*store.Status, error)

func removeStatusBy(ctx context.Context, tx *store.Tx, st *store.Status, remove statusRemover) error {
	if st.ReblogOfID != nil {
		original, err := tx.Status(ctx, *st.ReblogOfID)
		if err != nil {
			return err
		}
		for _, kind := range []store.NotificationType{store.NotifyReblog, store.NotifyPendingReblog} {
			if err := tx.RemoveNotification(ctx, original.AccountID, kind, st.AccountID, &original.ID); err != nil {
				return err
			}
		}
	}
	if _, err := remove(ctx, st); err != nil {
		return err
	}
	if st.HasPoll {
		if err := tx.DropJob(ctx, pollKey(st.ID)); err != nil {
			return err
		}
	}
	return tx.DropJob(ctx, expiryKey(st.ID))
}

// expireStatus is the job that deletes a status at its expiry.
func (s *Service) expireStatus(ctx context.Context, w store.ExpireStatus) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		st, err := tx.Status(ctx, w.StatusID)
		if err != nil {
			return errs.IgnoreNotFound(err)
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

// enqueueExpiry enqueues the job that deletes a status at its expiry.
func enqueueExpiry(ctx context.Context, tx *store.Tx, st *store.Status) error {
	return tx.EnqueueUnique(ctx, st.ExpiresAt.Time(), expiryKey(st.ID), store.ExpireStatus{StatusID: st.ID})
}

func expiryKey(id store.StatusID) string { return "expire:" + id.String() }

// ReceiveDelete deletes a status or reblog of a remote actor, or revokes an authorization to quote a status or interact with it. The deletion of an unknown status is
// stored, so that a late Create is ignored; then known is false. host is that of the actor's id. A status of another account is ErrNotOwner.
func (s *Service) ReceiveDelete(ctx context.Context, actor *store.Account, host, uri string) (known bool, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		st, err := tx.StatusByURI(ctx, uri)
		known = st != nil
		switch {
		case err != nil:
			return err
		case st == nil:
			if err := tx.MarkDeletionSeen(ctx, uri, actor.URI, host); err != nil {
				return err
			}
			if err := withdrawApproved(ctx, tx, actor, uri); err != nil {
				return err
			}
			return revokeReceivedQuotes(ctx, tx, actor, uri)
		case st.AccountID != actor.ID:
			return ErrNotOwner
		}
		return removeStatus(ctx, tx, st)
	})
	return known, err
}

// RemoveRemoteStatus removes a remote status that its server no longer has.
func (s *Service) RemoveRemoteStatus(ctx context.Context, id store.StatusID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		st, err := tx.Status(ctx, id)
		if err != nil || st.Local() {
			return errs.IgnoreNotFound(err)
		}
		return removeStatus(ctx, tx, st)
	})
}

package social

import (
	"context"

	"svc/store"
)

// notifyQuoted notifies the local author of the status that st quotes, unless st is not visible to that author.
func notifyQuoted(ctx context.Context, tx *store.Tx, st, quoted *store.Status) error {
	if visible, err := tx.CanSee(ctx, quoted.AccountID, st); !visible || err != nil {
		return err
	}
	return notify(ctx, tx, store.Notification{AccountID: quoted.AccountID, Type: store.NotifyQuote, FromID: st.AccountID}, st)
}

// maxNotifiedQuoters is how many local accounts that quoted a status are notified of its edit.
const maxNotifiedQuoters = 1000

// notifyQuoters notifies local accounts that quoted st of its edit. The notification is about their newest quote. Only the latest edit has
// one.
func notifyQuoters(ctx context.Context, tx *store.Tx, st *store.Status) error {
	quotes, err := tx.LocalQuotes(ctx, st.ID, maxNotifiedQuoters)
	if err != nil {
		return err
	}
	for _, q := range quotes {
		quote, err := tx.Status(ctx, q.StatusID)
		if err != nil {
			return err
		}
		if err := tx.RemoveNotification(ctx, q.AccountID, store.NotifyQuotedUpdate, st.AccountID, &quote.ID); err != nil {
			return err
		}
		if sees, err := tx.CanSee(ctx, q.AccountID, st); err != nil {
			return err
		} else if !sees {
			continue
		}
		n := store.Notification{AccountID: q.AccountID, Type: store.NotifyQuotedUpdate, FromID: st.AccountID}
		if err := notify(ctx, tx, n, quote); err != nil {
			return err
		}
	}
	return nil
}

// removeQuoteNotifications removes the notifications that a quote has caused.
func removeQuoteNotifications(ctx context.Context, tx *store.Tx, st, quoted *store.Status) error {
	if err := tx.RemoveNotification(ctx, quoted.AccountID, store.NotifyQuote, st.AccountID, &st.ID); err != nil {
		return err
	}
	return tx.RemoveNotification(ctx, st.AccountID, store.NotifyQuotedUpdate, quoted.AccountID, &st.ID)
}

package social

import (
	"context"
	"slices"

	"svc/store"
)

// narrowAudience obeys an Update that addresses fewer accounts than the status did. It never makes an audience larger: an account that could not
// see the status before does not see it then. It returns true if the audience has changed.
func (s *Service) narrowAudience(ctx context.Context, tx *store.Tx, st *store.Status, r *IncomingStatus, a *references) (bool, error) {
	audience := st.Visibility
	if st.PendingVisibility != nil {
		audience = *st.PendingVisibility
	}
	if r.KeepAudience {
		return false, nil
	}
	if r.Visibility.Wider(audience) {
		if err := tx.NarrowLimit(ctx, st.ID, r.Visibility); err != nil {
			return false, err
		}
	}
	if r.Visibility.Unrestricted() && !audience.Wider(r.Visibility) {
		return false, nil
	}
	v := st.Visibility
	if v.Wider(r.Visibility) {
		v = r.Visibility
	}
	held := st.PendingVisibility != nil && st.PendingVisibility.Wider(r.Visibility)
	if held {
		if err := tx.NarrowPending(ctx, st, r.Visibility); err != nil {
			return false, err
		}
	}
	var keep []store.AccountID
	var fewer bool
	if !r.Visibility.Unrestricted() {
		var err error
		if keep, fewer, err = narrowedRecipients(ctx, tx, st, r, a); err != nil {
			return false, err
		}
	}
	if v == st.Visibility && !fewer {
		return held, nil
	}
	becomesDirect := v != st.Visibility && v >= store.Direct
	if err := tx.NarrowStatus(ctx, st, v, keep); err != nil || !becomesDirect {
		return true, err
	}
	if err := tx.FanOut(ctx, st, nil); err != nil {
		return true, err
	}
	recipients, err := tx.Recipients(ctx, []store.StatusID{st.ID})
	if err != nil {
		return true, err
	}
	return true, addToConversations(ctx, tx, st, recipients, nil)
}

// narrowedRecipients returns the accounts that an Update addresses and that saw the status before. fewer is true if the status had others.
func narrowedRecipients(ctx context.Context, tx *store.Tx, st *store.Status, r *IncomingStatus, a *references) (keep []store.AccountID, fewer bool, err error) {
	keep = []store.AccountID{}
	for _, uri := range r.Audience {
		p := a.accounts[uri]
		if p == nil || p.ID == st.AccountID || slices.Contains(keep, p.ID) {
			continue
		}
		sees, err := tx.CanSee(ctx, p.ID, st)
		if err != nil {
			return nil, false, err
		}
		if sees {
			keep = append(keep, p.ID)
		}
	}
	if to := st.InReplyToAccountID; st.PendingVisibility != nil && to != nil && !slices.Contains(keep, *to) {
		keep = append(keep, *to) // who decides about it
	}
	had, err := tx.Recipients(ctx, []store.StatusID{st.ID})
	if err != nil {
		return nil, false, err
	}
	fewer = slices.ContainsFunc(had, func(to store.Recipient) bool {
		return to.AccountID != st.AccountID && !slices.Contains(keep, to.AccountID)
	})
	return keep, fewer, nil
}

package social

import (
	"context"

	"svc/store"
)

// Posts from elsewhere that quote others. Whether their authors allow that is not asked; that they do not any more is heeded.

// incomingQuoted returns what a post from elsewhere quotes, nil if that is gone, or must not be quoted. authorization is what
// allows it, as the post says.
func incomingQuoted(ctx context.Context, tx *store.Tx, st *store.Status, id store.StatusID, authorization string) (*store.Status, error) {
	if id == 0 {
		return nil, nil
	}
	quoted, err := tx.Status(ctx, id)
	if err != nil {
		return nil, ignoreNotFound(err)
	}
	if may, err := mayQuote(ctx, tx, st, quoted, authorization); !may || err != nil {
		return nil, err
	}
	return quoted, nil
}

// mayQuote tells whether a post from elsewhere quotes what is for everybody, or of its author's own, and is not forbidden to.
func mayQuote(ctx context.Context, tx *store.Tx, st, quoted *store.Status, authorization string) (bool, error) {
	if quoted.Visibility > store.Unlisted && (quoted.AccountID != st.AccountID || quoted.Visibility != store.Private) {
		return false, nil
	}
	if authorization == "" {
		return true, nil
	}
	author, err := tx.Account(ctx, quoted.AccountID)
	if err != nil {
		return false, err
	}
	trace, err := tx.StatusURIState(ctx, authorization, author.URI)
	return !trace.Deleted, err
}

// setQuoteAuthorization notes by what a post is allowed to quote another: that is made after the post, as a rule (FEP-044f). One that was
// taken back meanwhile allows nothing.
func setQuoteAuthorization(ctx context.Context, tx *store.Tx, st *store.Status, authorization string) error {
	if authorization == "" {
		return nil
	}
	o, err := tx.RemoteStatus(ctx, st.ID)
	if err != nil || o != nil && o.Authorization == authorization {
		return err
	}
	if o == nil {
		o = &store.RemoteStatus{StatusID: st.ID}
	}
	o.Authorization = authorization
	if err := tx.SaveRemoteStatus(ctx, o); err != nil {
		return err
	}
	quoted, err := quotedStatus(ctx, tx, st)
	if quoted == nil || err != nil {
		return err
	}
	if may, err := mayQuote(ctx, tx, st, quoted, authorization); may || err != nil {
		return err
	}
	return unquote(ctx, tx, st)
}

// revokeReceivedQuotes takes off what posts quote of author's by an authorization that author has deleted.
func revokeReceivedQuotes(ctx context.Context, tx *store.Tx, author *store.Account, authorization string) error {
	quotes, err := tx.AuthorizedQuotes(ctx, authorization, maxWaitingStatuses)
	if err != nil {
		return err
	}
	for _, id := range quotes {
		st, err := tx.Status(ctx, id)
		if err != nil {
			return err
		}
		quoted, err := quotedStatus(ctx, tx, st)
		if err != nil {
			return err
		}
		if quoted == nil || quoted.AccountID != author.ID {
			continue
		}
		if err := unquote(ctx, tx, st); err != nil {
			return err
		}
	}
	return nil
}

// unquote has a post from elsewhere quote nothing any more.
func unquote(ctx context.Context, tx *store.Tx, st *store.Status) error {
	if err := tx.UnlinkQuote(ctx, st); err != nil {
		return err
	}
	st.QuoteOfID = nil
	tx.Emit(store.StatusEdited{Status: st})
	return nil
}

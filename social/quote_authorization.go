package social

import (
	"context"

	"svc/store"
)

// maxQuoteAuthorizations is how many posts of one account elsewhere may quote one status.
const maxQuoteAuthorizations = 20

// QuoteRequest is that somebody elsewhere asks whether a post of theirs may quote one of here.
type QuoteRequest struct {
	URI      string // of the activity that asks
	QuoteURI string // of the post that is to quote
	Quoted   store.StatusID
}

// ReceiveQuoteRequest answers who asks to quote a status: yes if it is open to everybody, no if it is not or its author blocks them
// (design 13). A status that requester does not see is not found, and nothing is answered. Asking again has the same answer.
func (s *Service) ReceiveQuoteRequest(ctx context.Context, requester *store.Account, q QuoteRequest) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		st, err := tx.VisibleStatus(ctx, requester.ID, q.Quoted)
		if err == nil && st.ReblogOfID != nil { // one asks for what was boosted
			st, err = tx.VisibleStatus(ctx, requester.ID, *st.ReblogOfID)
		}
		if err != nil || !st.Local() {
			return err
		}
		may, err := allowsQuote(ctx, tx, requester, st)
		if err != nil {
			return err
		}
		a, err := tx.QuoteAuthorizationOf(ctx, q.QuoteURI, st.ID)
		if err != nil {
			return err
		}
		if a == nil && may {
			if a, err = authorizeQuote(ctx, tx, requester, st, q); err != nil {
				return err
			}
		} else if a != nil && a.AccountID == requester.ID {
			a.RequestURI = q.URI
			if err := tx.SetQuoteRequest(ctx, a); err != nil {
				return err
			}
		}
		if !may || a == nil || a.AccountID != requester.ID {
			return tx.AddToOutbox(ctx, store.OutboxEntry{
				Type: store.QuoteRejected, ActorID: st.AccountID, TargetID: requester.ID, StatusID: st.ID, URI: q.URI, Object: q.QuoteURI,
			})
		}
		return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.QuoteAccepted, ActorID: st.AccountID, TargetID: requester.ID, RowID: int64(a.ID)})
	})
}

func allowsQuote(ctx context.Context, tx *store.Tx, requester *store.Account, st *store.Status) (bool, error) {
	if st.Visibility != store.Public && st.Visibility != store.Unlisted {
		return false, nil
	}
	blocked, err := tx.BlockBetween(ctx, st.AccountID, requester.ID)
	if err == nil && !blocked {
		blocked, err = blocksDomainOfUnfollowed(ctx, tx, st.AccountID, requester)
	}
	return !blocked, err
}

// authorizeQuote stores that a status may be quoted, unless requester has been allowed to often enough. It returns nil then.
func authorizeQuote(ctx context.Context, tx *store.Tx, requester *store.Account, st *store.Status, q QuoteRequest) (*store.QuoteAuthorization, error) {
	n, err := tx.CountQuoteAuthorizations(ctx, requester.ID, st.ID, maxQuoteAuthorizations)
	if err != nil || n >= maxQuoteAuthorizations {
		return nil, err
	}
	a := &store.QuoteAuthorization{StatusID: st.ID, AccountID: requester.ID, QuoteURI: q.QuoteURI, RequestURI: q.URI}
	return a, tx.AddQuoteAuthorization(ctx, a)
}

// revokeQuotes takes back what an account has been allowed to quote of actor's, who lives here.
func revokeQuotes(ctx context.Context, tx *store.Tx, actor, account *store.Account) error {
	if !actor.Local() || account.Local() {
		return nil
	}
	const most = 1000
	list, err := tx.QuoteAuthorizationsBetween(ctx, account.ID, actor.ID, most)
	if err != nil {
		return err
	}
	for _, a := range list {
		if err := tx.RemoveQuoteAuthorization(ctx, a.ID); err != nil {
			return err
		}
		if err := tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.QuoteRevoked, ActorID: actor.ID, TargetID: account.ID, RowID: int64(a.ID)}); err != nil {
			return err
		}
	}
	return nil
}

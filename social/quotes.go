package social

import (
	"context"
	"html"

	"svc/internal/errs"
	"svc/store"
)

// quotableStatus returns what st is to quote: something open to all, or one's own (extension API 15.1). What is only for this server is
// quoted only for this server.
func quotableStatus(ctx context.Context, r statusReader, st *store.Status, id store.StatusID) (*store.Status, error) {
	if id == 0 {
		return nil, nil
	}
	quoted, err := r.VisibleStatus(ctx, st.AccountID, id)
	if err == nil && quoted.ReblogOfID != nil { // one quotes what was boosted
		quoted, err = r.VisibleStatus(ctx, st.AccountID, *quoted.ReblogOfID)
	}
	switch {
	case errs.IsNotFound(err):
		return nil, errs.Invalid("Cannot quote a deleted status")
	case err != nil:
		return nil, err
	case quoted.Visibility > store.Private, quoted.Visibility == store.Private && quoted.AccountID != st.AccountID:
		return nil, errs.Invalid("Cannot quote private message")
	case quoted.Visibility == store.Local && st.Visibility != store.Local:
		return nil, errs.Invalid("Cannot quote a local post for others")
	}
	return quoted, nil
}

// quoteLink is what stands below the content of a quote, for clients that show no quotes. Those that do know it by its class.
func quoteLink(quoted *store.Status) string {
	address := quoted.URL
	if address == "" {
		address = quoted.URI
	}
	address = html.EscapeString(address)
	return `<span class="quote-inline"><br/><br/>RE: <a href="` + address + `">` + address + `</a></span>`
}

// quotedStatus returns what a stored status quotes, nil if that is nothing or gone.
func quotedStatus(ctx context.Context, r statusReader, st *store.Status) (*store.Status, error) {
	if st.QuoteOfID == nil {
		return nil, nil
	}
	quoted, err := r.Status(ctx, *st.QuoteOfID)
	if errs.IsNotFound(err) {
		return nil, nil
	}
	return quoted, err
}

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

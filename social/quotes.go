package social

import (
	"cmp"
	"context"
	"html"
	"strings"

	"svc/internal/errs"
	"svc/store"
)

// quotableStatus returns the status that st quotes. It must be public, unlisted or the author's own (extension API 15.1), and its author
// must allow it. Only local statuses can quote local ones.
func quotableStatus(ctx context.Context, r statusReader, st *store.Status, id store.StatusID) (*store.Status, error) {
	if id == 0 {
		return nil, nil
	}
	quoted, err := visibleOriginal(ctx, r, st.AccountID, id)
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
	allowed, err := followsQuotePolicy(ctx, r, st.AccountID, quoted)
	if err == nil && !allowed {
		err = errs.Invalid("The author of this post does not allow you to quote it")
	}
	return quoted, err
}

// followsQuotePolicy returns true if the author of quoted allows account to quote it.
func followsQuotePolicy(ctx context.Context, r statusReader, account store.AccountID, quoted *store.Status) (bool, error) {
	switch {
	case quoted.AccountID == account, quoted.QuotePolicy == store.QuotableByAll:
		return true, nil
	case quoted.QuotePolicy == store.QuotableByFollowers:
		return r.Follows(ctx, account, quoted.AccountID)
	}
	return false, nil
}

// SetQuotePolicy sets who may quote a status of actor's. Quotes that exist stay.
func (s *Service) SetQuotePolicy(ctx context.Context, actor *store.Account, id store.StatusID, p store.QuotePolicy) (*store.Status, error) {
	var st *store.Status
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		var err error
		if st, err = ownStatus(ctx, tx, actor, id); err != nil {
			return err
		}
		changed, err := setQuotePolicy(ctx, tx, st, &p)
		if !changed || err != nil {
			return err
		}
		tx.Emit(store.StatusEdited{Status: st})
		return addEditToOutbox(ctx, tx, st)
	})
	return st, err
}

// setQuotePolicy changes the quote policy of st, unless p is nil.
func setQuotePolicy(ctx context.Context, tx *store.Tx, st *store.Status, p *store.QuotePolicy) (changed bool, err error) {
	if p == nil || *p == st.QuotePolicy {
		return false, nil
	}
	st.QuotePolicy = *p
	return true, tx.SetQuotePolicy(ctx, st.ID, *p)
}

// quoteLink returns the link below the content of a quote, for clients without quotes. Others recognize it by its class.
func quoteLink(quoted *store.Status) string {
	address := html.EscapeString(cmp.Or(quoted.URL, quoted.URI))
	return `<span class="quote-inline"><br/><br/>RE: <a href="` + address + `">` + address + `</a></span>`
}

// withQuoteLink returns content with the link of a quote below its text, within its last paragraph.
func withQuoteLink(content string, quoted *store.Status) string {
	if within, ok := strings.CutSuffix(content, "</p>"); ok {
		return within + quoteLink(quoted) + "</p>"
	}
	return content + quoteLink(quoted)
}

// withoutQuoteLink returns content without the link of a quote.
func withoutQuoteLink(content string, quoted *store.Status) string {
	if within, ok := strings.CutSuffix(content, quoteLink(quoted)+"</p>"); ok {
		return within + "</p>"
	}
	return strings.TrimSuffix(content, quoteLink(quoted))
}

// quotedStatus returns the status that a stored status quotes, nil if none or deleted.
func quotedStatus(ctx context.Context, r statusReader, st *store.Status) (*store.Status, error) {
	if st.QuoteOfID == nil {
		return nil, nil
	}
	quoted, err := r.Status(ctx, *st.QuoteOfID)
	return quoted, errs.IgnoreNotFound(err)
}

// maxQuoteAuthorizations is how many posts of a remote account may quote one status.
const maxQuoteAuthorizations = 20

// QuoteRequest is a remote account's request to quote a local status.
type QuoteRequest struct {
	URI      string // of the request
	QuoteURI string // of the quoting post
	Quoted   store.StatusID
}

// ReceiveQuoteRequest accepts a request for a public or unlisted status, unless its author blocks the requester, does not allow quotes
// (design 13), or has revoked this one; else it rejects it. A request for a status that the requester cannot see is not answered. A repeated request gets the same answer.
func (s *Service) ReceiveQuoteRequest(ctx context.Context, requester *store.Account, q QuoteRequest) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		st, err := visibleOriginal(ctx, tx, requester.ID, q.Quoted)
		if err != nil || !st.Local() {
			return err
		}
		allowed, err := allowsQuote(ctx, tx, requester, st)
		if err != nil {
			return err
		}
		if quote, err := tx.StatusByURI(ctx, q.QuoteURI); err != nil {
			return err
		} else if quote != nil && quote.QuoteState == store.QuoteStateRevoked {
			allowed = false
		}
		a, err := tx.QuoteAuthorizationOf(ctx, q.QuoteURI, st.ID)
		if err != nil {
			return err
		}
		if a == nil && allowed {
			if a, err = authorizeQuote(ctx, tx, requester, st, q); err != nil {
				return err
			}
		} else if a != nil && a.AccountID == requester.ID {
			a.RequestURI = q.URI
			if err := tx.SetQuoteRequest(ctx, a); err != nil {
				return err
			}
		}
		if !allowed || a == nil || a.AccountID != requester.ID {
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
	if allowed, err := followsQuotePolicy(ctx, tx, requester.ID, st); !allowed || err != nil {
		return false, err
	}
	blocked, err := tx.BlockBetween(ctx, st.AccountID, requester.ID)
	if err == nil && !blocked {
		blocked, err = blocksDomainOfUnfollowed(ctx, tx, st.AccountID, requester)
	}
	return !blocked, err
}

// authorizeQuote stores an authorization to quote a status, or returns nil if requester has too many for it.
func authorizeQuote(ctx context.Context, tx *store.Tx, requester *store.Account, st *store.Status, q QuoteRequest) (*store.QuoteAuthorization, error) {
	n, err := tx.CountQuoteAuthorizations(ctx, requester.ID, st.ID, maxQuoteAuthorizations)
	if err != nil || n >= maxQuoteAuthorizations {
		return nil, err
	}
	a := &store.QuoteAuthorization{StatusID: st.ID, AccountID: requester.ID, QuoteURI: q.QuoteURI, RequestURI: q.URI}
	return a, tx.AddQuoteAuthorization(ctx, a)
}

// revokeQuotes revokes all authorizations of a remote account to quote statuses of a local actor.
func revokeQuotes(ctx context.Context, tx *store.Tx, actor, account *store.Account) error {
	if !actor.Local() || account.Local() {
		return nil
	}
	const limit = 1000
	list, err := tx.QuoteAuthorizationsBetween(ctx, account.ID, actor.ID, limit)
	if err != nil {
		return err
	}
	for _, a := range list {
		if err := revokeAuthorization(ctx, tx, actor.ID, a); err != nil {
			return err
		}
	}
	return nil
}

// revokeAuthorization deletes an authorization to quote a status of author's, and tells the server of the quote.
func revokeAuthorization(ctx context.Context, tx *store.Tx, author store.AccountID, a *store.QuoteAuthorization) error {
	if err := tx.RemoveQuoteAuthorization(ctx, a.ID); err != nil {
		return err
	}
	return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.QuoteRevoked, ActorID: author, TargetID: a.AccountID, RowID: int64(a.ID)})
}

// RevokeQuote removes a quote of a status of author's, and returns the status that quoted it. Its author cannot restore the quote.
func (s *Service) RevokeQuote(ctx context.Context, author *store.Account, id, quoteID store.StatusID) (*store.Status, error) {
	var quote *store.Status
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		quoted, err := ownStatus(ctx, tx, author, id)
		if err != nil {
			return err
		}
		if quote, err = tx.VisibleStatus(ctx, author.ID, quoteID); err != nil {
			return err
		}
		if quote.QuoteOfID == nil || *quote.QuoteOfID != quoted.ID {
			return errs.ErrRecordNotFound
		}
		a, err := tx.QuoteAuthorizationOf(ctx, quote.URI, quoted.ID)
		if err != nil {
			return err
		}
		if a != nil {
			if err := revokeAuthorization(ctx, tx, author.ID, a); err != nil {
				return err
			}
		}
		return unquote(ctx, tx, quote, quoted, store.QuoteStateRevoked)
	})
	return quote, err
}

// Quotes by remote statuses need no authorization if the policy of the quoted status allows them, but a revoked one removes the quote.

// incomingQuoted returns the status that an incoming status quotes, nil if it is deleted or must not be quoted.
func incomingQuoted(ctx context.Context, tx *store.Tx, st *store.Status, id store.StatusID, authorization string) (*store.Status, error) {
	if id == 0 {
		return nil, nil
	}
	quoted, err := tx.Status(ctx, id)
	if err != nil {
		return nil, errs.IgnoreNotFound(err)
	}
	if allowed, err := mayQuote(ctx, tx, st, quoted, authorization); !allowed || err != nil {
		return nil, err
	}
	return quoted, nil
}

// mayQuote returns true if a remote status may quote another: a public or unlisted one whose policy allows it or which it has an
// authorization for, or its author's own private one. A revoked authorization allows nothing.
func mayQuote(ctx context.Context, tx *store.Tx, st, quoted *store.Status, authorization string) (bool, error) {
	if quoted.Visibility > store.Unlisted && (quoted.AccountID != st.AccountID || quoted.Visibility != store.Private) {
		return false, nil
	}
	if quoted.Local() { // otherwise it is a matter of their servers
		allowed, err := followsQuotePolicy(ctx, tx, st.AccountID, quoted)
		if err != nil {
			return false, err
		}
		if !allowed {
			a, err := tx.QuoteAuthorizationOf(ctx, st.URI, quoted.ID)
			if a == nil || err != nil {
				return false, err
			}
		}
	}
	if authorization == "" {
		return true, nil
	}
	author, err := tx.Account(ctx, quoted.AccountID)
	if err != nil {
		return false, err
	}
	state, err := tx.StatusURIState(ctx, authorization, author.URI)
	return !state.Deleted, err
}

// setQuoteAuthorization stores the authorization of a quote, which usually arrives in an edit (FEP-044f). If it is already revoked, the
// quote is removed.
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
	if allowed, err := mayQuote(ctx, tx, st, quoted, authorization); allowed || err != nil {
		return err
	}
	return unquote(ctx, tx, st, quoted, store.QuoteStateRevoked)
}

// obtainQuoteConsent asks the remote author of the status that c quotes for consent, or stores that of a local one, so that other servers
// show the quote (FEP-044f). Meanwhile it is shown here, because servers without this protocol never answer.
func obtainQuoteConsent(ctx context.Context, tx *store.Tx, c *Composed) error {
	quoted := c.Quoted
	switch {
	case quoted == nil, quoted.AccountID == c.AccountID, !c.Local():
		return nil
	case c.Visibility > store.Unlisted, quoted.Visibility > store.Unlisted: // the quoted author need not be among the recipients
		return nil
	case quoted.Local():
		return tx.AddQuoteAuthorization(ctx, &store.QuoteAuthorization{StatusID: quoted.ID, AccountID: c.AccountID, QuoteURI: c.URI})
	}
	return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.QuoteRequested, ActorID: c.AccountID, StatusID: c.ID, TargetID: quoted.AccountID})
}

// ReceiveQuoteAccept stores the authorization of author for a local status to quote one of author's, and federates it. The answer to
// another request is ignored.
func (s *Service) ReceiveQuoteAccept(ctx context.Context, author *store.Account, id store.StatusID, authorization string) error {
	return s.answeredQuote(ctx, author, id, func(tx *store.Tx, quote, _ *store.Status) error {
		o, err := tx.RemoteStatus(ctx, id)
		if err != nil || o != nil && o.Authorization == authorization {
			return err
		}
		if err := setQuoteAuthorization(ctx, tx, quote, authorization); err != nil {
			return err
		}
		return addEditToOutbox(ctx, tx, quote)
	})
}

// ReceiveQuoteReject removes the quote of a status of author's from a local status.
func (s *Service) ReceiveQuoteReject(ctx context.Context, author *store.Account, id store.StatusID) error {
	return s.answeredQuote(ctx, author, id, func(tx *store.Tx, quote, quoted *store.Status) error {
		return unquote(ctx, tx, quote, quoted, store.QuoteStateRejected)
	})
}

// answeredQuote calls fn if a local status quotes one of author's.
func (s *Service) answeredQuote(ctx context.Context, author *store.Account, id store.StatusID, fn func(tx *store.Tx, quote, quoted *store.Status) error) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		quote, err := tx.Status(ctx, id)
		if err != nil || !quote.Local() {
			return errs.IgnoreNotFound(err)
		}
		quoted, err := quotedStatus(ctx, tx, quote)
		if quoted == nil || err != nil || quoted.AccountID != author.ID {
			return err
		}
		return fn(tx, quote, quoted)
	})
}

// revokeReceivedQuotes removes the quotes of author's statuses by an authorization that author has deleted.
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
		if err := unquote(ctx, tx, st, quoted, store.QuoteStateRevoked); err != nil {
			return err
		}
	}
	return nil
}

// unquote removes the quote of a status, because it was revoked or rejected, with the link to the quoted status and the notifications.
func unquote(ctx context.Context, tx *store.Tx, st, quoted *store.Status, state store.QuoteState) error {
	st.Content = withoutQuoteLink(st.Content, quoted)
	if err := tx.UnlinkQuote(ctx, st, state); err != nil {
		return err
	}
	if err := removeQuoteNotifications(ctx, tx, st, quoted); err != nil {
		return err
	}
	st.QuoteOfID, st.QuoteState = nil, state
	tx.Emit(store.StatusEdited{Status: st})
	return addEditToOutbox(ctx, tx, st)
}

package federation

import (
	"context"

	"svc/federation/inbox"
	"svc/internal/activity"
	"svc/social"
	"svc/store"
)

// handleQuoteRequest answers who asks whether a post of theirs may quote one of here (FEP-044f).
func (r *Receiver) handleQuoteRequest(ctx context.Context, in *inbox.Activity) error {
	ref, err := objectRef(in)
	if err != nil {
		return err
	}
	instrument := in.Ref("instrument")
	if !activity.SameHost(instrument, in.Actor.URI, r.AllowLoopback) {
		return Refuse("the quote is not of its actor's host")
	}
	st, err := r.db.StatusByURI(ctx, ref)
	if err != nil || st == nil || !st.Local() {
		return err
	}
	return r.social.ReceiveQuoteRequest(ctx, in.Actor, social.QuoteRequest{URI: in.URI, QuoteURI: instrument, Quoted: st.ID})
}

// quoteAuthorizationPath is where the authorizations to quote posts of here are.
const quoteAuthorizationPath = "/quote_authorizations/"

func (s *Service) quoteAuthorizationURI(id store.QuoteAuthorizationID) string {
	return s.BaseURL + quoteAuthorizationPath + id.String()
}

// QuoteAuthorization returns the document that says that a post elsewhere may quote one of here. It can be read by everybody, like the
// post that it is about, and is gone with that.
func (s *Service) QuoteAuthorization(ctx context.Context, id store.QuoteAuthorizationID) ([]byte, error) {
	a, err := s.db.QuoteAuthorization(ctx, id)
	if err != nil {
		return nil, err
	}
	st, err := s.db.VisibleStatus(ctx, 0, a.StatusID)
	if err != nil {
		return nil, err
	}
	author, err := s.db.Account(ctx, st.AccountID)
	if err != nil {
		return nil, err
	}
	o := withContext(activity.Object{
		"id": s.quoteAuthorizationURI(a.ID), "type": "QuoteAuthorization", "attributedTo": author.URI,
		"interactingObject": a.QuoteURI, "interactionTarget": st.URI,
	})
	return o.Bytes()
}

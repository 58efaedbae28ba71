package federation

import (
	"context"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/social"
	"svc/store"
)

// handleQuoteRequest answers a request to quote a local status (FEP-044f).
func (r *Receiver) handleQuoteRequest(ctx context.Context, in *inbox.Activity) error {
	ref, err := objectRef(in)
	if err != nil {
		return err
	}
	instrument := in.Ref("instrument")
	if !activity.SameHost(instrument, in.Actor.URI, r.AllowLoopback) {
		return remote.Refuse("quoting status is on another host than the actor")
	}
	st, err := r.db.StatusByURI(ctx, ref)
	if err != nil || st == nil || !st.Local() {
		return err
	}
	return r.social.ReceiveQuoteRequest(ctx, in.Actor, social.QuoteRequest{URI: in.URI, QuoteURI: instrument, Quoted: st.ID})
}

// quoteAuthorizationPath is the path of authorizations to quote local statuses.
const quoteAuthorizationPath = "/quote_authorizations/"

func (d *Documents) quoteAuthorizationURI(id store.QuoteAuthorizationID) string {
	return d.BaseURL + quoteAuthorizationPath + id.String()
}

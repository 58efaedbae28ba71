package federation

import (
	"context"
	"strings"

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
	if !activity.SameHost(instrument, in.Actor.URI, r.Settings.AllowLoopback) {
		return remote.Refuse("quoting status is on another host than the actor")
	}
	st, err := r.db.StatusByURI(ctx, ref)
	if err != nil || st == nil || !st.Local() {
		return err
	}
	return r.social.ReceiveQuoteRequest(ctx, in.Actor, social.QuoteRequest{URI: in.URI, QuoteURI: instrument, Quoted: st.ID})
}

// quoteRequestPath begins the path in the id of a request to quote a remote status; the id of the quote follows.
const quoteRequestPath = "/quote_requests/"

// handleQuoteAnswer stores or removes the consent to a local quote. It returns false if the activity answers something else.
func (r *Receiver) handleQuoteAnswer(ctx context.Context, in *inbox.Activity) (bool, error) {
	text, ok := strings.CutPrefix(in.Ref("object"), r.Settings.BaseURL+quoteRequestPath)
	id := store.ParseID[store.StatusID](text)
	if inner := in.Object.Object("object"); !ok && inner != nil && inner.Is("QuoteRequest") { // some servers do not keep ids
		var err error
		if id, err = r.local.statusIDByURI(ctx, inner.Ref("instrument")); err != nil {
			return true, err
		}
		ok = true
	}
	switch authorization := in.Ref("result"); {
	case !ok:
		return false, nil
	case in.Type == "Reject":
		return true, r.social.ReceiveQuoteReject(ctx, in.Actor, id)
	case !activity.SameHost(authorization, in.Actor.URI, r.Settings.AllowLoopback):
		return true, remote.Refuse("quote authorization is on another host than the actor")
	default:
		return true, r.social.ReceiveQuoteAccept(ctx, in.Actor, id, authorization)
	}
}

// quoteAuthorizationPath is the path of authorizations to quote local statuses.
const quoteAuthorizationPath = "/quote_authorizations/"

func (d *Documents) quoteAuthorizationURI(id store.QuoteAuthorizationID) string {
	return d.Settings.BaseURL + quoteAuthorizationPath + id.String()
}

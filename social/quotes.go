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

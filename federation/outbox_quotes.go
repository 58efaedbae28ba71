package federation

import (
	"context"

	"svc/internal/activity"
	"svc/store"
)

// buildQuoteAccepted sends the Accept of a QuoteRequest, with the id of the authorization.
func (b *Outbox) buildQuoteAccepted(ctx context.Context, author *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	q, err := b.db.QuoteAuthorization(ctx, store.QuoteAuthorizationID(e.RowID))
	if err != nil {
		return nil, err
	}
	a, err := b.quoteAnswer(ctx, author, e, "Accept", q.StatusID, q.RequestURI, q.QuoteURI)
	if err != nil {
		return nil, err
	}
	a["result"] = b.documents.quoteAuthorizationURI(q.ID)
	return b.toTarget(ctx, e, a, 0, store.ReplaceNothing)
}

func (b *Outbox) buildQuoteRejected(ctx context.Context, author *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	a, err := b.quoteAnswer(ctx, author, e, "Reject", e.StatusID, e.URI, e.Object)
	if err != nil {
		return nil, err
	}
	return b.toTarget(ctx, e, a, 0, store.ReplaceNothing)
}

// quoteAnswer makes the Accept or Reject of a QuoteRequest, and embeds the request.
func (b *Outbox) quoteAnswer(ctx context.Context, author *store.Account, e store.OutboxEntry, activityType string, id store.StatusID, request, quote string) (activity.Object, error) {
	st, err := b.db.Status(ctx, id)
	if err != nil {
		return nil, err
	}
	to, err := b.db.Account(ctx, e.TargetID)
	if err != nil {
		return nil, err
	}
	asked := jsonMap{"id": request, "type": "QuoteRequest", "actor": to.URI, "object": st.URI, "instrument": quote}
	return b.newActivity(e, activityType, author, asked, []string{to.URI}, nil), nil
}

// buildQuoteRevoked sends the Delete of a quote authorization to the author of the quote.
func (b *Outbox) buildQuoteRevoked(ctx context.Context, author *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	to, err := b.db.Account(ctx, e.TargetID)
	if err != nil {
		return nil, err
	}
	gone := jsonMap{"id": b.documents.quoteAuthorizationURI(store.QuoteAuthorizationID(e.RowID)), "type": "Tombstone"}
	return b.toTarget(ctx, e, b.newActivity(e, "Delete", author, gone, []string{to.URI}, nil), 0, store.ReplaceNothing)
}

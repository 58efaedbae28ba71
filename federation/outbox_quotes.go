package federation

import (
	"context"

	"svc/internal/activity"
	"svc/store"
)

// buildQuoteAccepted tells who asked to quote a post that they may, and where that is written.
func (b *Outbox) buildQuoteAccepted(ctx context.Context, author *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	q, err := b.db.QuoteAuthorization(ctx, store.QuoteAuthorizationID(d.RowID))
	if err != nil {
		return nil, err
	}
	a, err := b.quoteAnswer(ctx, author, d, "Accept", q.StatusID, q.RequestURI, q.QuoteURI)
	if err != nil {
		return nil, err
	}
	a["result"] = b.documents.quoteAuthorizationURI(q.ID)
	return b.toTarget(ctx, d, a, 0, store.ReplaceNothing)
}

// buildQuoteRejected tells who asked to quote a post that they may not.
func (b *Outbox) buildQuoteRejected(ctx context.Context, author *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	a, err := b.quoteAnswer(ctx, author, d, "Reject", d.StatusID, d.URI, d.Object)
	if err != nil {
		return nil, err
	}
	return b.toTarget(ctx, d, a, 0, store.ReplaceNothing)
}

// quoteAnswer says yes or no to a QuoteRequest, with the whole of that in it.
func (b *Outbox) quoteAnswer(ctx context.Context, author *store.Account, d store.OutboxEntry, verb string, id store.StatusID, request, quote string) (activity.Object, error) {
	st, err := b.db.Status(ctx, id)
	if err != nil {
		return nil, err
	}
	to, err := b.db.Account(ctx, d.TargetID)
	if err != nil {
		return nil, err
	}
	asked := jsonMap{"id": request, "type": "QuoteRequest", "actor": to.URI, "object": st.URI, "instrument": quote}
	return b.newActivity(d, verb, author, asked, []string{to.URI}, nil), nil
}

// buildQuoteRevoked tells who was allowed to quote a post that they are not any more.
func (b *Outbox) buildQuoteRevoked(ctx context.Context, author *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	to, err := b.db.Account(ctx, d.TargetID)
	if err != nil {
		return nil, err
	}
	gone := jsonMap{"id": b.documents.quoteAuthorizationURI(store.QuoteAuthorizationID(d.RowID)), "type": "Tombstone"}
	return b.toTarget(ctx, d, b.newActivity(d, "Delete", author, gone, []string{to.URI}, nil), 0, store.ReplaceNothing)
}

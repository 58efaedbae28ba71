package federation

import (
	"context"

	"svc/internal/activity"
	"svc/store"
)

// buildQuoteAccepted tells who asked to quote a post that they may, and where that is written.
func (s *Service) buildQuoteAccepted(ctx context.Context, author *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	q, err := s.db.QuoteAuthorization(ctx, store.QuoteAuthorizationID(d.RowID))
	if err != nil {
		return nil, err
	}
	a, err := s.quoteAnswer(ctx, author, d, "Accept", q.StatusID, q.RequestURI, q.QuoteURI)
	if err != nil {
		return nil, err
	}
	a["result"] = s.quoteAuthorizationURI(q.ID)
	return s.toTarget(ctx, d, a, 0, store.ReplaceNothing)
}

// buildQuoteRejected tells who asked to quote a post that they may not.
func (s *Service) buildQuoteRejected(ctx context.Context, author *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	a, err := s.quoteAnswer(ctx, author, d, "Reject", d.StatusID, d.URI, d.Object)
	if err != nil {
		return nil, err
	}
	return s.toTarget(ctx, d, a, 0, store.ReplaceNothing)
}

// quoteAnswer says yes or no to a QuoteRequest, with the whole of that in it.
func (s *Service) quoteAnswer(ctx context.Context, author *store.Account, d store.OutboxEntry, verb string, id store.StatusID, request, quote string) (activity.Object, error) {
	st, err := s.db.Status(ctx, id)
	if err != nil {
		return nil, err
	}
	to, err := s.db.Account(ctx, d.TargetID)
	if err != nil {
		return nil, err
	}
	asked := jsonMap{"id": request, "type": "QuoteRequest", "actor": to.URI, "object": st.URI, "instrument": quote}
	return s.newActivity(d, verb, author, asked, []string{to.URI}, nil), nil
}

// buildQuoteRevoked tells who was allowed to quote a post that they are not any more.
func (s *Service) buildQuoteRevoked(ctx context.Context, author *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	to, err := s.db.Account(ctx, d.TargetID)
	if err != nil {
		return nil, err
	}
	gone := jsonMap{"id": s.quoteAuthorizationURI(store.QuoteAuthorizationID(d.RowID)), "type": "Tombstone"}
	return s.toTarget(ctx, d, s.newActivity(d, "Delete", author, gone, []string{to.URI}, nil), 0, store.ReplaceNothing)
}

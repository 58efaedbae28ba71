package federation

import (
	"context"

	"svc/internal/activity"
	"svc/store"
)

// tellAcceptedQuote tells who asked to quote a post that they may, and where that is written.
func (s *Service) tellAcceptedQuote(ctx context.Context, author *store.Account, d store.Deed) ([]*telling, error) {
	q, err := s.db.QuoteAuthorization(ctx, store.QuoteAuthorizationID(d.RowID))
	if err != nil {
		return nil, err
	}
	a, err := s.answerToQuote(ctx, author, d, "Accept", q.StatusID, q.RequestURI, q.QuoteURI)
	if err != nil {
		return nil, err
	}
	a["result"] = s.quoteAuthorizationURI(q.ID)
	return s.toTarget(ctx, d, a, 0, store.ReplaceNothing)
}

// tellRejectedQuote tells who asked to quote a post that they may not.
func (s *Service) tellRejectedQuote(ctx context.Context, author *store.Account, d store.Deed) ([]*telling, error) {
	a, err := s.answerToQuote(ctx, author, d, "Reject", d.StatusID, d.URI, d.Object)
	if err != nil {
		return nil, err
	}
	return s.toTarget(ctx, d, a, 0, store.ReplaceNothing)
}

// answerToQuote says yes or no to a QuoteRequest, with the whole of that in it.
func (s *Service) answerToQuote(ctx context.Context, author *store.Account, d store.Deed, verb string, id store.StatusID, request, quote string) (activity.Object, error) {
	st, err := s.db.Status(ctx, id)
	if err != nil {
		return nil, err
	}
	to, err := s.db.Account(ctx, d.TargetID)
	if err != nil {
		return nil, err
	}
	asked := part{"id": request, "type": "QuoteRequest", "actor": to.URI, "object": st.URI, "instrument": quote}
	return s.newActivity(d, verb, author, asked, []string{to.URI}, nil), nil
}

// tellRevokedQuote tells who was allowed to quote a post that they are not any more.
func (s *Service) tellRevokedQuote(ctx context.Context, author *store.Account, d store.Deed) ([]*telling, error) {
	to, err := s.db.Account(ctx, d.TargetID)
	if err != nil {
		return nil, err
	}
	gone := part{"id": s.quoteAuthorizationURI(store.QuoteAuthorizationID(d.RowID)), "type": "Tombstone"}
	return s.toTarget(ctx, d, s.newActivity(d, "Delete", author, gone, []string{to.URI}, nil), 0, store.ReplaceNothing)
}

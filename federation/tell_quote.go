package federation

import (
	"context"

	"svc/internal/activity"
	"svc/store"
)

func init() {
	tellers[store.AcceptedQuote] = one((*Service).tellAcceptedQuote)
	tellers[store.RejectedQuote] = one((*Service).tellRejectedQuote)
	tellers[store.RevokedQuote] = one((*Service).tellRevokedQuote)
}

// tellAcceptedQuote tells who asked to quote a post that they may, and where that is written.
func (s *Service) tellAcceptedQuote(ctx context.Context, author *store.Account, d store.Deed) (*telling, error) {
	a, err := s.db.QuoteAuthorization(ctx, store.QuoteAuthorizationID(d.RowID))
	if err != nil {
		return nil, err
	}
	t, err := s.answerQuote(ctx, author, d, "Accept", a.StatusID, a.RequestURI, a.QuoteURI)
	if err == nil {
		t.activity["result"] = s.quoteAuthorizationURI(a.ID)
	}
	return t, err
}

// tellRejectedQuote tells who asked to quote a post that they may not.
func (s *Service) tellRejectedQuote(ctx context.Context, author *store.Account, d store.Deed) (*telling, error) {
	return s.answerQuote(ctx, author, d, "Reject", d.StatusID, d.URI, d.Object)
}

func (s *Service) answerQuote(ctx context.Context, author *store.Account, d store.Deed, verb string, id store.StatusID, request, quote string) (*telling, error) {
	st, err := s.db.Status(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.tellOne(ctx, author, d, activity.Object{
		"type": verb, "object": activity.Object{"id": request, "type": "QuoteRequest", "actor": nil, "object": st.URI, "instrument": quote},
	})
}

// tellRevokedQuote tells who was allowed to quote a post that they are not any more.
func (s *Service) tellRevokedQuote(ctx context.Context, author *store.Account, d store.Deed) (*telling, error) {
	return s.tellOne(ctx, author, d, activity.Object{
		"type": "Delete", "object": activity.Object{"id": s.quoteAuthorizationURI(store.QuoteAuthorizationID(d.RowID)), "type": "Tombstone"},
	})
}

// tellOne completes an activity for the target of a deed.
func (s *Service) tellOne(ctx context.Context, actor *store.Account, d store.Deed, o activity.Object) (*telling, error) {
	to, err := s.db.Account(ctx, d.TargetID)
	if err != nil {
		return nil, err
	}
	at, err := s.db.Actor(ctx, d.TargetID)
	if err != nil {
		return nil, err
	}
	if inner, ok := o["object"].(activity.Object); ok && inner["type"] == "QuoteRequest" {
		inner["actor"] = to.URI
	}
	o = quoteTerms(o)
	o["id"] = s.BaseURL + "/activities/" + d.ID.String()
	o["actor"], o["to"], o["cc"] = actor.URI, []any{to.URI}, []any{}
	return &telling{activity: o, priority: store.FirstPriority, inboxes: []string{at.Inbox}}, nil
}

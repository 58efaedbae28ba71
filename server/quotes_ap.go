package server

import (
	"net/http"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

// quoteAuthorizationRoutes show other servers which posts may be quoted by which.
var quoteAuthorizationRoutes = routes{
	"GET /quote_authorizations/:id": {anyone, (*Server).showQuoteAuthorization},
}

// showQuoteAuthorization returns the document that a post elsewhere may quote one of here, under the address that its server was told.
func (s *Server) showQuoteAuthorization(r *Request) (any, error) {
	if s.federation == nil {
		return nil, errs.ErrRecordNotFound
	}
	var id store.QuoteAuthorizationID
	id.UnmarshalText([]byte(r.Param("id")))
	b, err := s.federation.QuoteAuthorization(r.Context(), id)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", activity.ContentType)
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Write(b)
	}), nil
}

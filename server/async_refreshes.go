package server

import (
	"fmt"

	"svc/federation/remote"
	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
)

// asyncRefreshes serves the state of fetches that go on after an answer.
type asyncRefreshes struct{ *parts }

func (h *asyncRefreshes) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1_alpha/async_refreshes/:id": {rest.User("read").Answers("AsyncRefreshes"), h.showAsyncRefresh},
	}
}

const asyncRefreshRetry = 3 // seconds until a client asks again

// sendAsyncRefresh names a running refresh in the header of an answer.
func sendAsyncRefresh(r *rest.Request, refresh remote.Refresh) {
	r.ResponseHeader().Set(rest.AsyncRefreshHeader, fmt.Sprintf(`id="%s", retry=%d, result_count=%d`, refresh.ID, asyncRefreshRetry, refresh.Found))
}

// showAsyncRefresh returns whether a refresh is running, and how many posts it has found.
func (h *asyncRefreshes) showAsyncRefresh(r *rest.Request) (any, error) {
	if h.Federation == nil {
		return nil, errs.ErrRecordNotFound
	}
	refresh, found := h.Federation.Backfill.Refresh(r.Param("id"))
	if !found {
		return nil, errs.ErrRecordNotFound
	}
	return entity.NewAsyncRefresh(refresh.ID, refresh.Running, refresh.Found), nil
}

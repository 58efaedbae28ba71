package staff

import (
	"strings"

	"svc/federation"
	"svc/internal/errs"
	"svc/server/rest"
)

// deliveryRoutes are the queues of deliveries and of incoming activities.
func (h *Handlers) deliveryRoutes() rest.Routes {
	read, write := rest.Admin("admin:read"), rest.Admin("admin:write")
	return rest.Routes{
		"GET /api/v1/svc/admin/federation/deliveries":        {read.Answers("QueueStatus"), h.showDeliveries},
		"POST /api/v1/svc/admin/federation/deliveries/retry": {write.Answers("RetryResult"), h.retryDeliveries},
		"POST /api/v1/svc/admin/federation/deliveries/drop":  {write.Deletes().Answers("RetryResult"), h.dropDeliveries},
		"GET /api/v1/svc/admin/federation/explain":           {read.Answers("object"), h.explain},
	}
}

// showDeliveries shows what waits for each host, and with host or failed single deliveries.
func (h *Handlers) showDeliveries(r *rest.Request) (any, error) {
	var p struct {
		Host   string `param:"host"`
		Failed bool   `param:"failed"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	return h.Federation.Operator.QueueStatus(r.Context(), federation.QueueQuery{Host: p.Host, Failed: p.Failed})
}

// bindDeliveries returns the deliveries that a change is about: those of a host, one by its id, or all.
func bindDeliveries(r *rest.Request) (q federation.RetryQuery, err error) {
	var p struct {
		Host string `param:"host"`
		ID   int64  `param:"id"`
		All  bool   `param:"all"`
	}
	if err := r.Bind(&p); err != nil {
		return q, err
	}
	q = federation.RetryQuery{Host: strings.TrimSpace(p.Host), ID: p.ID, All: p.All}
	selectors := 0
	for _, set := range []bool{q.Host != "", q.ID != 0, q.All} {
		if set {
			selectors++
		}
	}
	if selectors != 1 {
		return q, errs.BadRequest("Give one of host, id and all.")
	}
	return q, nil
}

// retryDeliveries makes deliveries and incoming activities due now.
func (h *Handlers) retryDeliveries(r *rest.Request) (any, error) {
	q, err := bindDeliveries(r)
	if err != nil {
		return nil, err
	}
	return h.Federation.Operator.As(r.Viewer).Retry(r.Context(), q)
}

// dropDeliveries deletes deliveries, and incoming activities that failed.
func (h *Handlers) dropDeliveries(r *rest.Request) (any, error) {
	q, err := bindDeliveries(r)
	if err != nil {
		return nil, err
	}
	return h.Federation.Operator.As(r.Viewer).Drop(r.Context(), q)
}

// explain returns what is known of a post, an account, an activity or a host.
func (h *Handlers) explain(r *rest.Request) (any, error) {
	var p struct {
		Address string `param:"address,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	return h.Federation.Operator.Explain(r.Context(), strings.TrimSpace(p.Address))
}

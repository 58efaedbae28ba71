package staff

import (
	"svc/internal/config"
	"svc/server/rest"
)

// instanceRoutes act on all that is stored of another server.
func (h *Handlers) instanceRoutes() rest.Routes {
	return rest.Routes{
		"DELETE /api/v1/svc/admin/instances/:instance": {
			rest.Privileged(config.InstancesDelete, "admin:write:accounts", "admin:write:statuses").Answers("string"), h.purgeInstance,
		},
	}
}

// purgeInstance makes a job remove all accounts and posts of another server. It returns the host.
func (h *Handlers) purgeInstance(r *rest.Request) (any, error) {
	purge, err := h.as(r).PurgeInstance(r.Context(), r.Param("instance"))
	if err != nil {
		return nil, err
	}
	return purge.Host, nil
}

package staff

import (
	"svc/internal/errs"
	"svc/server/rest"
)

// serverRoutes are the state of the server itself: its storage, the checks of svc doctor, and new versions of the program.
func (h *Handlers) serverRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/admin/storage":        {rest.Admin("admin:read").Answers("Storage"), h.showStorage},
		"POST /api/v1/svc/admin/storage/prune": {rest.Admin("admin:write").Deletes().Answers("empty"), h.pruneStorage},
		"POST /api/v1/svc/admin/doctor":        {rest.Admin("admin:read").Answers("object"), h.runDoctor},
		"GET /api/v1/svc/admin/update":         {rest.Admin("admin:read").Answers("UpdateState"), h.showUpdate},
	}
}

// showStorage shows what the data directory takes, by class.
func (h *Handlers) showStorage(r *rest.Request) (any, error) {
	return h.Admin.StorageUsage(r.Context(), struct{}{})
}

// pruneStorage starts the job that removes unused files. It answers before the job ends.
func (h *Handlers) pruneStorage(r *rest.Request) (any, error) {
	return struct{}{}, h.as(r).StartMediaPrune(r.Context())
}

var errDoctorBusy = errs.Conflict("The checks are running already. Try again in a minute.")

// runDoctor runs the checks of svc doctor, once at a time, because they send large requests to the server itself.
func (h *Handlers) runDoctor(r *rest.Request) (any, error) {
	if !h.examining.TryLock() {
		return nil, errDoctorBusy
	}
	defer h.examining.Unlock()
	return h.Doctor(r.Context()), nil
}

// showUpdate shows which version of the program runs, and whether a newer one is available.
func (h *Handlers) showUpdate(*rest.Request) (any, error) { return h.Admin.UpdateState(), nil }

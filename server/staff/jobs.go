package staff

import (
	"strconv"

	"svc/server/rest"
	"svc/store"
)

// Pages of parked jobs.
const (
	jobsPage    = 40
	maxJobsPage = 200
)

// jobRoutes are the background jobs of the server.
func (h *Handlers) jobRoutes() rest.Routes {
	read, write := rest.Admin("admin:read"), rest.Admin("admin:write")
	return rest.Routes{
		"GET /api/v1/svc/admin/jobs":            {read.Answers("JobQueue"), h.listJobs},
		"DELETE /api/v1/svc/admin/jobs":         {write.Answers("ChangedJobs"), h.dropJobs},
		"DELETE /api/v1/svc/admin/jobs/:id":     {write.Answers("ChangedJobs"), h.dropJobs},
		"POST /api/v1/svc/admin/jobs/retry":     {write.Answers("ChangedJobs"), h.retryJobs},
		"POST /api/v1/svc/admin/jobs/:id/retry": {write.Answers("ChangedJobs"), h.retryJobs},
	}
}

// listJobs counts the jobs by kind, and lists parked ones, newest first.
func (h *Handlers) listJobs(r *rest.Request) (any, error) {
	page := r.Page(jobsPage, maxJobsPage)
	q, err := h.Admin.JobQueue(r.Context(), store.JobID(page.MaxID), page.Limit)
	if err != nil {
		return nil, err
	}
	r.LinkPage(page, len(q.Parked), func(i int) string { return strconv.FormatInt(int64(q.Parked[i].ID), 10) })
	return q, nil
}

// jobID returns the job that the path names, 0 if it names none.
func jobID(r *rest.Request) (store.JobID, error) {
	text := r.Param("id")
	if text == "" {
		return 0, nil
	}
	n := store.ParseDecimal(text)
	if n == 0 {
		return 0, errNotFound
	}
	return store.JobID(n), nil
}

// retryJobs makes a parked job due now, or all of them.
func (h *Handlers) retryJobs(r *rest.Request) (any, error) {
	id, err := jobID(r)
	if err != nil {
		return nil, err
	}
	n, err := h.as(r).RetryParkedJobs(r.Context(), id)
	return changedJobs{n}, notFound(err)
}

// dropJobs deletes a parked job, or all of them.
func (h *Handlers) dropJobs(r *rest.Request) (any, error) {
	id, err := jobID(r)
	if err != nil {
		return nil, err
	}
	n, err := h.as(r).DropParkedJobs(r.Context(), id)
	return changedJobs{n}, notFound(err)
}

// changedJobs is the answer to a change of parked jobs.
type changedJobs struct {
	Jobs int64 `json:"jobs"`
}

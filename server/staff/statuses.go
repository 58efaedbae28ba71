package staff

import (
	"svc/admin"
	"svc/internal/config"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// statusRoutes list posts of any audience, change and delete them.
func (h *Handlers) statusRoutes() rest.Routes {
	read := rest.Privileged(config.MessagesRead, "admin:read:statuses")
	write := rest.Privileged(config.MessagesDelete, "admin:write:statuses")
	return rest.Routes{
		"GET /api/v1/svc/admin/statuses":                       {read.Answers("[]StaffStatus"), h.listStatuses},
		"GET /api/v1/svc/admin/statuses/:id":                   {read.Answers("StaffStatus"), h.showStatus},
		"PUT /api/v1/svc/admin/statuses/:id":                   {write.Answers("Status|ChangedStatus"), h.updateStatus},
		"DELETE /api/v1/svc/admin/statuses/:id":                {write.Answers("empty"), h.deleteStatus},
		"GET /api/v1/svc/admin/users/:nickname_or_id/statuses": {read.Answers("StaffStatuses"), h.listStatusesOfUser},
		"GET /api/v1/svc/admin/instances/:instance/statuses":   {read.Answers("StaffStatuses"), h.listStatusesOfInstance},
		"GET /api/v1/svc/admin/stats":                          {rest.Privileged(config.StatisticsRead, "admin:read").Answers("StatusCounts"), h.showStatistics},
	}
}

// statusQuery binds the parameters of the lists of posts.
func statusQuery(r *rest.Request) (admin.StatusQuery, error) {
	var p struct {
		LocalOnly   bool `param:"local_only"`
		Godmode     bool `param:"godmode"`
		WithReblogs bool `param:"with_reblogs"`
	}
	if err := r.Bind(&p); err != nil {
		return admin.StatusQuery{}, err
	}
	page := pageOf(r, 20)
	page.size = min(page.size, maxStatusPage)
	return admin.StatusQuery{
		LocalOnly: p.LocalOnly, Godmode: p.Godmode, WithReblogs: p.WithReblogs, Limit: page.size, Offset: page.offset(),
	}, nil
}

// maxStatusPage bounds the pages of statuses.
const maxStatusPage = 100

// listStatuses lists the posts of all accounts.
func (h *Handlers) listStatuses(r *rest.Request) (any, error) {
	q, err := statusQuery(r)
	if err != nil {
		return nil, err
	}
	found, err := h.as(r).Statuses(r.Context(), q)
	if err != nil {
		return nil, err
	}
	return h.firstStatuses(r, found.IDs)
}

// firstStatuses renders statuses of a list that is paged by number, as many as an answer may have.
func (h *Handlers) firstStatuses(r *rest.Request, ids []store.StatusID) (entity.List[*entity.Status], error) {
	list, _, err := rest.Fit(r, ids, false, func(ids []store.StatusID) (entity.List[*entity.Status], error) {
		return h.Entities.StaffStatuses(r.Context(), r.Viewer, ids)
	})
	return list, err
}

// statusList is a page of the posts of an account or an instance.
type statusList struct {
	Total      int                         `json:"total"`
	Activities entity.List[*entity.Status] `json:"activities"`
}

// listStatusesOfUser returns the statuses of an account, the newest first.
func (h *Handlers) listStatusesOfUser(r *rest.Request) (any, error) {
	q, err := statusQuery(r)
	q.Account = r.Param("nickname_or_id")
	return h.statusPage(r, q, err)
}

// listStatusesOfInstance lists the posts of an instance. An unknown one has none.
func (h *Handlers) listStatusesOfInstance(r *rest.Request) (any, error) {
	q, err := statusQuery(r)
	q.Instance = r.Param("instance")
	return h.statusPage(r, q, err)
}

func (h *Handlers) statusPage(r *rest.Request, q admin.StatusQuery, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	found, err := h.as(r).Statuses(r.Context(), q)
	if err != nil {
		return nil, notFound(err)
	}
	statuses, err := h.firstStatuses(r, found.IDs)
	return statusList{found.Total, statuses}, err
}

// showStatus returns a status of any visibility.
func (h *Handlers) showStatus(r *rest.Request) (any, error) {
	st, err := h.as(r).ShowStatus(r.Context(), r.Param("id"))
	if err != nil {
		return nil, notFound(err)
	}
	status, err := h.Entities.StaffStatus(r.Context(), r.Viewer, st.ID)
	return status, notFound(err)
}

// updateStatus changes whether a post is sensitive, and its visibility.
func (h *Handlers) updateStatus(r *rest.Request) (any, error) {
	var p struct {
		Sensitive  *bool   `param:"sensitive"`
		Visibility *string `param:"visibility,word"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if p.Visibility != nil && *p.Visibility == "" {
		p.Visibility = nil
	}
	mayRead := h.Entities.HasPrivilege(r.User, config.MessagesRead)
	st, err := h.as(r).UpdateStatus(r.Context(), admin.StatusChange{
		ID: r.Param("id"), Sensitive: p.Sensitive, Visibility: p.Visibility, NoWider: !mayRead,
	})
	if err != nil {
		return nil, notFound(err)
	}
	if st.Visibility > store.Unlisted && !mayRead {
		return changedStatus{st.ID, st.Sensitive, st.Visibility}, nil
	}
	return h.Entities.Status(r.Context(), r.Viewer, st.ID)
}

// changedStatus is a restricted status for staff that may change but not read it.
type changedStatus struct {
	ID         store.StatusID   `json:"id"`
	Sensitive  bool             `json:"sensitive"`
	Visibility store.Visibility `json:"visibility"`
}

// deleteStatus deletes a status of any local account, or the copy of a remote one.
func (h *Handlers) deleteStatus(r *rest.Request) (any, error) {
	if _, err := h.as(r).DeleteStatus(r.Context(), r.Param("id")); err != nil {
		return nil, notFound(err)
	}
	return struct{}{}, nil
}

// showStatistics counts posts by visibility, of an instance or of all.
func (h *Handlers) showStatistics(r *rest.Request) (any, error) {
	counts, err := h.Admin.CountVisibilities(r.Context(), r.Query("instance"))
	return map[string]any{"status_visibility": counts}, err
}

package staff

import (
	"svc/admin"
	"svc/internal/config"
	"svc/server/entity"
	"svc/server/rest"
)

// moderationLogRoutes are the log of what staff changed.
func (h *Handlers) moderationLogRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/admin/moderation_log": {rest.Privileged(config.ModerationLogRead, "admin:read"), h.moderationLog},
	}
}

// moderationLog lists entries of the moderation log, newest first.
func (h *Handlers) moderationLog(r *rest.Request) (any, error) {
	p := pageOf(r, 50)
	rows, err := h.Admin.Log(r.Context(), admin.LogQuery{
		User: r.Query("user_id"), From: r.Query("start_date"), Until: r.Query("end_date"), Search: r.Query("search"),
		Limit: p.size, Offset: p.offset(),
	})
	list := make([]*entity.LogEntry, 0, len(rows))
	for _, row := range rows {
		list = append(list, entity.NewLogEntry(row))
	}
	return list, err
}

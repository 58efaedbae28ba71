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
		"GET /api/v1/svc/admin/moderation_log": {rest.Privileged(config.ModerationLogRead, "admin:read").Answers("[]LogEntry|LogEntries"), h.moderationLog},
	}
}

// moderationLog lists entries of the moderation log, newest first (spec 4.5). A compatible server puts the page into an object.
func (h *Handlers) moderationLog(r *rest.Request) (any, error) {
	p := pageOf(r, 50)
	query := admin.LogQuery{
		User: r.Query("user_id"), From: r.Query("start_date"), Until: r.Query("end_date"), Search: r.Query("search"), About: r.Query("account_id"),
		Limit: p.size, Offset: p.offset(),
	}
	rows, err := h.Admin.Log(r.Context(), query)
	if err != nil {
		return nil, err
	}
	list := make([]*entity.LogEntry, 0, len(rows))
	for _, row := range rows {
		list = append(list, entity.NewLogEntry(row))
	}
	if !h.compatible() {
		return list, nil
	}
	total, err := h.Admin.CountLog(r.Context(), query)
	return map[string]any{"items": list, "total": total}, err
}

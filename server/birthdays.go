package server

import (
	"svc/internal/errs"
	"svc/server/rest"
)

// birthdayRoutes list followed accounts whose birthday it is.
func (h *accounts) birthdayRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/birthdays": {rest.User("read:accounts"), h.listBirthdays},
	}
}

// maxBirthdays bounds the list, which has no pages.
const maxBirthdays = 100

// listBirthdays lists the followed accounts that show a birthday on the requested day and month.
func (h *accounts) listBirthdays(r *rest.Request) (any, error) {
	var p struct {
		Day   int `param:"day,required"`
		Month int `param:"month,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if p.Month < 1 || p.Month > 12 || p.Day < 1 || p.Day > 31 {
		return nil, errs.BadRequest("Invalid day")
	}
	ids, err := h.db.Birthdays(r.Context(), r.Viewer.ID, p.Month, p.Day, maxBirthdays)
	if err != nil {
		return nil, err
	}
	return h.entities.Accounts(r.Context(), ids)
}

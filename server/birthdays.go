package server

import (
	"svc/internal/errs"
	"svc/server/rest"
)

// birthdayRoutes are whom there is to congratulate.
func (h *accounts) birthdayRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/birthdays": {rest.User("read:accounts"), h.listBirthdays},
	}
}

// maxBirthdays is how many accounts are listed: who follows more people born on one day does not read on.
const maxBirthdays = 100

// listBirthdays returns those whom the viewer follows and who show that they were born on a day of the year.
func (h *accounts) listBirthdays(r *rest.Request) (any, error) {
	var p struct {
		Day   int `param:"day,required"`
		Month int `param:"month,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if p.Month < 1 || p.Month > 12 || p.Day < 1 || p.Day > 31 {
		return nil, errs.BadRequest("There is no such day")
	}
	ids, err := h.db.Birthdays(r.Context(), r.Viewer.ID, p.Month, p.Day, maxBirthdays)
	if err != nil {
		return nil, err
	}
	return h.entities.Accounts(r.Context(), ids)
}

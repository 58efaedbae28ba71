package staff

import (
	"time"

	"svc/admin"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
)

// measureRoutes are the statistics of the reference API.
func (h *Handlers) measureRoutes() rest.Routes {
	read := rest.Privileged(config.StatisticsRead, "admin:read")
	return rest.Routes{
		"POST /api/v1/admin/measures":   {read, h.showMeasures},
		"POST /api/v1/admin/dimensions": {read, h.showDimensions},
		"POST /api/v1/admin/retention":  {read, h.showRetention},
	}
}

// periodForm has the parameters of a period.
type periodForm struct {
	StartAt string `param:"start_at,required"`
	EndAt   string `param:"end_at,required"`
}

func (f *periodForm) period() (p admin.Period, err error) {
	if p.Start, err = parseDay("start_at", f.StartAt); err == nil {
		p.End, err = parseDay("end_at", f.EndAt)
	}
	return p, err
}

func parseDay(name, value string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, value); err == nil {
			return at, nil
		}
	}
	return time.Time{}, errs.BadRequest("%s - Invalid format. Expected date-time.", name)
}

// showMeasures returns numbers by days, with those of the time before.
func (h *Handlers) showMeasures(r *rest.Request) (any, error) {
	var p periodForm
	var keys struct {
		Keys []string `param:"keys,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if err := r.Bind(&keys); err != nil {
		return nil, err
	}
	period, err := p.period()
	if err != nil {
		return nil, err
	}
	list, err := h.Admin.Measures(r.Context(), keys.Keys, period)
	return entity.Map(list, entity.NewMeasure), err
}

// showDimensions returns tables of facts.
func (h *Handlers) showDimensions(r *rest.Request) (any, error) {
	var p struct {
		Keys  []string `param:"keys,required"`
		Limit int      `param:"limit"`
	}
	p.Limit = 10
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	list, err := h.Admin.Dimensions(r.Context(), p.Keys, h.Entities.Version, p.Limit)
	return entity.Map(list, entity.NewDimension), err
}

// showRetention returns how many of the users who registered in a day or month were active later.
func (h *Handlers) showRetention(r *rest.Request) (any, error) {
	var p periodForm
	var f struct {
		Frequency string `param:"frequency,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if err := r.Bind(&f); err != nil {
		return nil, err
	}
	period, err := p.period()
	switch {
	case err != nil:
		return nil, err
	case f.Frequency != "day" && f.Frequency != "month":
		return nil, errs.BadRequest("%s - Invalid value for enum.", f.Frequency)
	}
	list, err := h.Admin.Retention(r.Context(), period, f.Frequency == "month")
	return entity.Map(list, func(c *admin.Cohort) entity.Cohort { return entity.NewCohort(c, f.Frequency) }), err
}

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
		"POST /api/v1/admin/measures":   {read.Answers("[]Measure"), h.showMeasures},
		"POST /api/v1/admin/dimensions": {read.Answers("[]Dimension"), h.showDimensions},
		"POST /api/v1/admin/retention":  {read.Answers("[]Cohort"), h.showRetention},
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

// subjectForm has the hashtag or domain of a measure or dimension.
type subjectForm struct {
	ID     string `param:"id,word"`
	Domain string `param:"domain,word"`
}

// subjectForms are those of all measures and dimensions that have one.
type subjectForms struct {
	TagAccounts       subjectForm `param:"tag_accounts"`
	TagUses           subjectForm `param:"tag_uses"`
	TagServers        subjectForm `param:"tag_servers"`
	TagLanguages      subjectForm `param:"tag_languages"`
	InstanceAccounts  subjectForm `param:"instance_accounts"`
	InstanceMedia     subjectForm `param:"instance_media_attachments"`
	InstanceReports   subjectForm `param:"instance_reports"`
	InstanceStatuses  subjectForm `param:"instance_statuses"`
	InstanceFollows   subjectForm `param:"instance_follows"`
	InstanceFollowers subjectForm `param:"instance_followers"`
	InstanceLanguages subjectForm `param:"instance_languages"`
}

func (f *subjectForms) subjects() admin.Subjects {
	return admin.Subjects{
		"tag_accounts": f.TagAccounts.ID, "tag_uses": f.TagUses.ID, "tag_servers": f.TagServers.ID, "tag_languages": f.TagLanguages.ID,
		"instance_accounts": f.InstanceAccounts.Domain, "instance_media_attachments": f.InstanceMedia.Domain, "instance_reports": f.InstanceReports.Domain,
		"instance_statuses": f.InstanceStatuses.Domain, "instance_follows": f.InstanceFollows.Domain, "instance_followers": f.InstanceFollowers.Domain,
		"instance_languages": f.InstanceLanguages.Domain,
	}
}

// showMeasures returns numbers by days, with those of the time before.
func (h *Handlers) showMeasures(r *rest.Request) (any, error) {
	var p periodForm
	var f subjectForms
	var keys struct {
		Keys []string `param:"keys,required"`
	}
	for _, form := range []any{&keys, &p, &f} {
		if err := r.Bind(form); err != nil {
			return nil, err
		}
	}
	period, err := p.period()
	if err != nil {
		return nil, err
	}
	list, err := h.Admin.Measures(r.Context(), admin.MeasureQuery{Keys: keys.Keys, Subjects: f.subjects(), Period: period})
	return entity.Map(list, entity.NewMeasure), err
}

// showDimensions returns tables of facts.
func (h *Handlers) showDimensions(r *rest.Request) (any, error) {
	var f subjectForms
	var p struct {
		Keys    []string `param:"keys,required"`
		StartAt string   `param:"start_at,word"`
		EndAt   string   `param:"end_at,word"`
		Limit   int      `param:"limit"`
	}
	p.Limit = 10
	for _, form := range []any{&p, &f} {
		if err := r.Bind(form); err != nil {
			return nil, err
		}
	}
	q := admin.DimensionQuery{Keys: p.Keys, Subjects: f.subjects(), Limit: p.Limit}
	var err error
	if p.StartAt != "" {
		q.Period.Start, err = parseDay("start_at", p.StartAt)
	}
	if p.EndAt != "" && err == nil {
		q.Period.End, err = parseDay("end_at", p.EndAt)
	}
	if err != nil {
		return nil, err
	}
	list, err := h.Admin.Dimensions(r.Context(), q)
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

package server

import (
	"strconv"

	"svc/internal/errs"
	"svc/server/rest"
)

// annualReports serves the annual reports of the reference API. This server makes none: no account is eligible, so the lists are empty and
// apps offer none.
type annualReports struct{ *parts }

func (h *annualReports) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/annual_reports":                 {rest.User("read:accounts").Answers("AnnualReports"), h.list},
		"GET /api/v1/annual_reports/:year":           {rest.User("read:accounts").Answers("empty"), h.noReport},
		"GET /api/v1/annual_reports/:year/state":     {rest.User("read:accounts").Answers("AnnualReportState"), h.state},
		"POST /api/v1/annual_reports/:year/generate": {rest.User("write:accounts").Answers("empty"), h.generate},
		"POST /api/v1/annual_reports/:year/read":     {rest.User("write:accounts").Answers("empty"), h.noReport},
	}
}

// list returns the viewer's reports, with the accounts and statuses in them.
func (h *annualReports) list(*rest.Request) (any, error) {
	return map[string]any{"annual_reports": []any{}, "accounts": []any{}, "statuses": []any{}}, nil
}

// noReport answers requests for a report.
func (h *annualReports) noReport(*rest.Request) (any, error) { return nil, errs.ErrRecordNotFound }

// state returns whether the viewer may have a report of the year.
func (h *annualReports) state(r *rest.Request) (any, error) {
	if err := checkYear(r); err != nil {
		return nil, err
	}
	return map[string]string{"state": "ineligible"}, nil
}

// generate starts nothing, as the reference does for an account that is not eligible.
func (h *annualReports) generate(r *rest.Request) (any, error) { return nil, checkYear(r) }

// checkYear returns an error if the year of the path is no year.
func checkYear(r *rest.Request) error {
	if year := r.Param("year"); len(year) != 4 {
		return errs.ErrRecordNotFound
	} else if _, err := strconv.ParseUint(year, 10, 16); err != nil {
		return errs.ErrRecordNotFound
	}
	return nil
}

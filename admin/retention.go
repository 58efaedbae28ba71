package admin

import (
	"context"
	"time"

	"svc/internal/errs"
	"svc/store"
)

const maxCohorts = 31

// Cohort is the users who registered in a day or month.
type Cohort struct {
	Period time.Time
	Data   []CohortRow
}

// CohortRow is how many users of a cohort were active in a later day or month, or after it. Only the last activity of a user is stored.
type CohortRow struct {
	Date  time.Time
	Rate  float64
	Value int
}

// Retention returns the cohorts of a period by day or month.
func (s *Service) Retention(ctx context.Context, p Period, byMonth bool) ([]*Cohort, error) {
	begins, end, err := cohortBegins(p, byMonth)
	if err != nil {
		return nil, err
	}
	counts, err := s.db.RegisteredActive(ctx, store.At(begins[0]), store.At(end))
	if err != nil {
		return nil, err
	}
	list := make([]*Cohort, len(begins))
	for i, from := range begins {
		list[i] = &Cohort{Period: from}
		for _, since := range begins[i:] {
			list[i].Data = append(list[i].Data, CohortRow{Date: since})
		}
	}
	for _, c := range counts {
		i := lastBegin(begins, c.Registered)
		for k := range list[i].Data {
			if k == 0 || c.Active >= dayNumber(begins[i+k]) {
				list[i].Data[k].Value += c.Count
			}
		}
	}
	for _, c := range list {
		if size := c.Data[0].Value; size > 0 {
			for k := range c.Data {
				c.Data[k].Rate = float64(c.Data[k].Value) / float64(size)
			}
		}
	}
	return list, nil
}

// cohortBegins returns when the cohorts of a period begin, and when the last one ends.
func cohortBegins(p Period, byMonth bool) (begins []time.Time, end time.Time, err error) {
	if p.End.Before(p.Start) {
		return nil, end, errs.Invalid("Validation failed: end_at is before start_at")
	}
	next := func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }
	start := p.Start.UTC().Truncate(day)
	if byMonth {
		next = func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }
		start = time.Date(start.Year(), start.Month(), 1, 0, 0, 0, 0, time.UTC)
	}
	if start.Before(time.UnixMilli(0)) {
		return nil, end, errs.Invalid("Validation failed: start_at is before 1970")
	}
	for end = start; !end.After(p.End); end = next(end) {
		if len(begins) == maxCohorts {
			return nil, end, errs.Invalid("Validation failed: There are more than %d cohorts", maxCohorts)
		}
		begins = append(begins, end)
	}
	return begins, end, nil
}

// dayNumber returns the days from 1970 to the day that begins at t.
func dayNumber(t time.Time) int64 { return t.Unix() / int64(day/time.Second) }

// lastBegin returns the index of the last time that is not after the beginning of a day.
func lastBegin(begins []time.Time, number int64) int {
	for i := len(begins) - 1; i > 0; i-- {
		if dayNumber(begins[i]) <= number {
			return i
		}
	}
	return 0
}

package admin

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"time"

	"svc/internal/errs"
	"svc/store"
)

const (
	maxMeasures      = 20 // in one request
	maxMeasuredDays  = 92
	maxCohorts       = 31
	maxDimensionRows = 20
)

// Period is the time of measures: whole days in UTC, both included.
type Period struct{ Start, End time.Time }

// check returns the period with whole days, or why it cannot be measured.
func (p Period) check() (Period, error) {
	p.Start, p.End = p.Start.UTC().Truncate(24*time.Hour), p.End.UTC().Truncate(24*time.Hour)
	switch {
	case p.End.Before(p.Start):
		return p, errs.Invalid("Validation failed: end_at is before start_at")
	case p.days() > maxMeasuredDays:
		return p, errs.Invalid("Validation failed: The period has more than %d days", maxMeasuredDays)
	}
	return p, nil
}

func (p Period) days() int { return int(p.End.Sub(p.Start)/(24*time.Hour)) + 1 }

// Measured is a measure in a period. Previous is that of as many days before.
type Measured struct {
	Key             string
	Total, Previous int
	Days            []DayCount
}

// DayCount is the number of a day.
type DayCount struct {
	Date  time.Time
	Value int
}

// Measures returns measures in a period. Unknown ones are left out.
func (s *Service) Measures(ctx context.Context, keys []string, p Period) ([]*Measured, error) {
	p, err := p.check()
	if err != nil {
		return nil, err
	}
	list := []*Measured{}
	for _, key := range keys[:min(len(keys), maxMeasures)] {
		measure := store.Measure(key)
		if !measure.Known() || slices.ContainsFunc(list, func(m *Measured) bool { return m.Key == key }) {
			continue
		}
		m := &Measured{Key: key}
		for day := range p.days() {
			at := p.Start.AddDate(0, 0, day)
			n, err := s.db.Measured(ctx, measure, at, at.AddDate(0, 0, 1))
			if err != nil {
				return nil, err
			}
			m.Days = append(m.Days, DayCount{at, n})
			m.Total += n
		}
		if m.Previous, err = s.db.Measured(ctx, measure, p.Start.AddDate(0, 0, -p.days()), p.Start); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// Dimension is a table of facts.
type Dimension struct {
	Key  string
	Rows []DimensionRow
}

// DimensionRow is a row of a Dimension. Value is a number or a text.
type DimensionRow struct {
	Key, Name, Value string
	Unit             string // "": none
}

// Dimensions returns tables: languages of users, space_usage, and software_versions. Unknown ones are left out.
func (s *Service) Dimensions(ctx context.Context, keys []string, version string, limit int) ([]*Dimension, error) {
	list := []*Dimension{}
	for _, key := range keys[:min(len(keys), maxMeasures)] {
		d := &Dimension{Key: key}
		var err error
		switch key {
		case "languages":
			d.Rows, err = s.languages(ctx, limit)
		case "space_usage":
			d.Rows, err = s.spaceUsage(ctx)
		case "software_versions":
			d.Rows = []DimensionRow{{Key: "svc", Name: s.apiName, Value: version}, {Key: "go", Name: "Go", Value: runtime.Version()}}
		default:
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

func (s *Service) languages(ctx context.Context, limit int) ([]DimensionRow, error) {
	rows, err := s.db.UserLocales(ctx, min(max(limit, 1), maxDimensionRows))
	var list []DimensionRow
	for _, row := range rows {
		name := row.Name
		if name == "" {
			name = "und" // RFC 5646: not known
		}
		list = append(list, DimensionRow{Key: name, Name: name, Value: strconv.FormatInt(row.Count, 10)})
	}
	return list, err
}

func (s *Service) spaceUsage(ctx context.Context) ([]DimensionRow, error) {
	size, err := s.db.Size(ctx)
	if err != nil {
		return nil, err
	}
	usage, err := s.db.StorageUsage(ctx)
	if err != nil {
		return nil, err
	}
	media := int64(0)
	for _, u := range usage {
		media += u.Bytes
	}
	return []DimensionRow{
		{Key: "sqlite", Name: "SQLite", Value: strconv.FormatInt(size.File+size.Log, 10), Unit: "bytes"},
		{Key: "media", Name: "Media", Value: strconv.FormatInt(media, 10), Unit: "bytes"},
	}, nil
}

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
	if p.End.Before(p.Start) {
		return nil, errs.Invalid("Validation failed: end_at is before start_at")
	}
	next := func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }
	start := p.Start.UTC().Truncate(24 * time.Hour)
	if byMonth {
		next = func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }
		start = time.Date(start.Year(), start.Month(), 1, 0, 0, 0, 0, time.UTC)
	}
	var begins []time.Time
	for at := start; !at.After(p.End); at = next(at) {
		if len(begins) == maxCohorts {
			return nil, errs.Invalid("Validation failed: There are more than %d cohorts", maxCohorts)
		}
		begins = append(begins, at)
	}
	list := []*Cohort{}
	for i, from := range begins {
		c := &Cohort{Period: from}
		size := 0
		for _, since := range begins[i:] {
			n, err := s.db.CountRegisteredActive(ctx, from, next(from), since)
			if err != nil {
				return nil, err
			}
			if since.Equal(from) {
				size = n
			}
			row := CohortRow{Date: since, Value: n}
			if size > 0 {
				row.Rate = float64(n) / float64(size)
			}
			c.Data = append(c.Data, row)
		}
		list = append(list, c)
	}
	return list, nil
}

package entity

import (
	"strconv"

	"svc/admin"
	"svc/internal/text"
	"svc/store"
)

// Measure is a number over time, for staff.
type Measure struct {
	Key           string       `json:"key"`
	Unit          *string      `json:"unit"` // bytes; nil: none
	Total         string       `json:"total"`
	HumanValue    *string      `json:"human_value,omitempty"`    // of a total with a unit
	PreviousTotal *string      `json:"previous_total,omitempty"` // nil: the total is that of all time
	Data          []MeasureDay `json:"data"`
}

// MeasureDay is the number of a day.
type MeasureDay struct {
	Date  store.Time `json:"date"`
	Value string     `json:"value"`
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// NewMeasure renders a measure.
func NewMeasure(m *admin.Measured) Measure {
	e := Measure{
		Key: m.Key, Total: decimal(m.Total), Data: Map(m.Days, func(d admin.DayCount) MeasureDay { return MeasureDay{store.At(d.Date), decimal(d.Value)} }),
	}
	if m.Unit != "" {
		e.Unit, e.HumanValue = &m.Unit, new(text.Bytes(m.Total))
	}
	if m.Previous != nil {
		e.PreviousTotal = new(decimal(*m.Previous))
	}
	return e
}

// Dimension is a table of facts, for staff.
type Dimension struct {
	Key  string         `json:"key"`
	Data []DimensionRow `json:"data"`
}

// DimensionRow is a row of a Dimension.
type DimensionRow struct {
	Key        string `json:"key"`
	HumanKey   string `json:"human_key"`
	Value      string `json:"value"`
	Unit       string `json:"unit,omitempty"`
	HumanValue string `json:"human_value"`
}

// NewDimension renders a table of facts.
func NewDimension(d *admin.Dimension) Dimension {
	return Dimension{d.Key, Map(d.Rows, func(r admin.DimensionRow) DimensionRow {
		row := DimensionRow{Key: r.Key, HumanKey: r.Name, Value: r.Value, Unit: r.Unit, HumanValue: r.Value}
		if n, err := strconv.ParseInt(r.Value, 10, 64); err == nil && r.Unit != "" {
			row.HumanValue = text.Bytes(n)
		}
		return row
	})}
}

// Cohort is the users who registered in a day or month, and how many of them stayed.
type Cohort struct {
	Period    store.Time  `json:"period"`
	Frequency string      `json:"frequency"` // day or month
	Data      []CohortRow `json:"data"`
}

// CohortRow is how many users of a cohort were active in a day or month, or after it.
type CohortRow struct {
	Date  store.Time `json:"date"`
	Rate  float64    `json:"rate"`
	Value string     `json:"value"`
}

// NewCohort renders a cohort.
func NewCohort(c *admin.Cohort, frequency string) Cohort {
	return Cohort{store.At(c.Period), frequency, Map(c.Data, func(r admin.CohortRow) CohortRow {
		return CohortRow{store.At(r.Date), r.Rate, strconv.Itoa(r.Value)}
	})}
}

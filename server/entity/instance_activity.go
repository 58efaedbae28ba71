package entity

import (
	"context"
	"strconv"
	"time"
)

const (
	activityWeeks = 12
	activityTTL   = time.Hour // counting statuses is slow on large servers
)

// weekActivity is the activity of a week, with numbers as texts.
type weekActivity struct {
	Week          string `json:"week"` // Unix time in seconds
	Statuses      string `json:"statuses"`
	Logins        string `json:"logins"`
	Registrations string `json:"registrations"`
}

// Activity returns the activity of the last weeks, the current one first.
func (i *Instance) Activity(ctx context.Context) (Appender, error) {
	return i.activity.Load(i.db.Now(), activityTTL, func() (object, error) {
		rows, err := i.db.WeeklyActivity(ctx, activityWeeks)
		if err != nil {
			return nil, err
		}
		weeks := make([]weekActivity, 0, len(rows))
		for _, w := range rows {
			weeks = append(weeks, weekActivity{
				Week: strconv.FormatInt(w.Week.Time().Unix(), 10), Statuses: strconv.Itoa(w.Statuses),
				Logins: strconv.Itoa(w.ActiveUsers), Registrations: strconv.Itoa(w.Registrations),
			})
		}
		return marshal(weeks)
	})
}

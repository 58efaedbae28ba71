package command

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"svc/internal/text"
)

func (a *cli) table(headings ...string) *tabwriter.Writer {
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join(headings, "\t"))
	return table
}

// row adds a row to a table. An empty cell is a dash.
func row(table *tabwriter.Writer, cells ...any) {
	for i, cell := range cells {
		if i > 0 {
			fmt.Fprint(table, "\t")
		}
		text := printable(fmt.Sprint(cell))
		if text == "" {
			text = "-"
		}
		fmt.Fprint(table, text)
	}
	fmt.Fprintln(table)
}

// ago formats the time since t.
func ago(t *time.Time) string {
	if t == nil || t.IsZero() || t.UnixMilli() == 0 {
		return "never"
	}
	return formatDuration(time.Since(*t)) + " ago"
}

// until formats the time until t.
func until(t *time.Time) string {
	switch {
	case t == nil:
		return ""
	case time.Until(*t) <= 0:
		return "now"
	}
	return "in " + formatDuration(time.Until(*t))
}

func since(t *time.Time) string {
	if t == nil {
		return ""
	}
	return "for " + formatDuration(time.Since(*t))
}

func nextAttempt(t *time.Time, parked bool) string {
	if parked {
		return "parked"
	}
	return until(t)
}

// formatDuration formats a duration in its largest unit.
func formatDuration(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return text.Count(int(d.Hours()/24), "day")
}

// printJSON prints a value. A list without entries is [], not null.
func (a *cli) printJSON(v any) error {
	if list := reflect.ValueOf(v); list.Kind() == reflect.Slice && list.IsNil() {
		v = []any{}
	}
	e := json.NewEncoder(a.out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// printable replaces control characters, so that remote text cannot send terminal escape sequences.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}

func formatTime(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func day(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Format(time.DateOnly)
}

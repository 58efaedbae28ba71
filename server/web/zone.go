package web

import (
	"bytes"
	_ "embed"
	"net/http"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // zones must be known where the system has no files of them

	"svc/internal/errs"
)

// zoneNames are the time zones that a user can choose, by their names in the IANA database, one a line.
//
//go:embed zones.txt
var zoneNames string

// ZoneNames returns the names of the time zones that a user can choose.
func ZoneNames() []string { return strings.Fields(zoneNames) }

// ZoneCookie is the cookie in which the script stores the browser's time zone, for pages that are read without it.
const ZoneCookie = "tz"

// zones loads each time zone once. Its keys are the names that a user can choose, so that nobody can fill the memory with others.
var zones = sync.OnceValue(func() map[string]func() *time.Location {
	m := make(map[string]func() *time.Location)
	for _, name := range ZoneNames() {
		m[name] = sync.OnceValue(func() *time.Location {
			zone, err := time.LoadLocation(name)
			if err != nil {
				return time.UTC // a test finds it
			}
			return zone
		})
	}
	return m
})

// ErrUnknownZone is the error for a time zone that nobody can choose.
var ErrUnknownZone = errs.Invalid("This time zone is not known.")

var errSkippedTime = errs.Invalid("This time does not exist in your time zone, because the clocks are put forward then.")

// Zone returns a time zone by its name.
func Zone(name string) (*time.Location, error) {
	load, ok := zones()[name]
	if !ok {
		return nil, ErrUnknownZone
	}
	return load(), nil
}

// userZone returns the time zone that a user has chosen, else that of the browser, else UTC.
func userZone(r *http.Request, choice string) *time.Location {
	if zone, err := Zone(choice); err == nil {
		return zone
	}
	if c, err := r.Cookie(ZoneCookie); err == nil {
		if zone, err := Zone(c.Value); err == nil {
			return zone
		}
	}
	return time.UTC
}

// localLayouts are how browsers write the value of a field for a date and time.
var localLayouts = []string{"2006-01-02T15:04", "2006-01-02T15:04:05"}

// LocalInput returns a time as a field for a date and time has it.
func LocalInput(t time.Time, zone *time.Location) string {
	t = t.In(orUTC(zone))
	if t.Second() != 0 {
		return t.Format(localLayouts[1])
	}
	return t.Format(localLayouts[0])
}

// ParseLocal returns the time that was entered in a field for a date and time. ok is false for a text in another form. When the clocks
// are put back, a time happens twice: it is the first one. When they are put forward, some times do not exist: they are an error.
func ParseLocal(text string, zone *time.Location) (at time.Time, ok bool, err error) {
	for _, layout := range localLayouts {
		at, err := time.ParseInLocation(layout, text, orUTC(zone))
		if err != nil {
			continue
		}
		if at.Format(layout) != text {
			return time.Time{}, true, errSkippedTime
		}
		if earlier := at.Add(-time.Hour); earlier.Format(layout) == text {
			at = earlier
		}
		return at.UTC(), true, nil
	}
	return time.Time{}, false, nil
}

func orUTC(zone *time.Location) *time.Location {
	if zone == nil {
		return time.UTC
	}
	return zone
}

// Date returns the day of a time in UTC, as it is written in the language.
func (m *Messages) Date(t time.Time) string { return t.UTC().Format(m.Text("times.date")) }

// DateTime returns a time with its zone, as it is written in the language. zone is nil for UTC.
func (m *Messages) DateTime(t time.Time, zone *time.Location) string {
	return t.In(orUTC(zone)).Format(m.Text("times.datetime") + " MST")
}

var (
	timeStart = []byte(`datetime="`)
	timeEnd   = []byte("</time>")
	inUTC     = []byte(" UTC")
)

// isoLength is the length of a time in the attribute of a time element.
const isoLength = len("2006-01-02T15:04:05Z")

// localTimes rewrites the times of a page, which its templates write in UTC, in the zone of its viewer. Posts are kept as HTML for all viewers,
// so their times cannot be written in a zone before.
func localTimes(page []byte, m *Messages, zone *time.Location) []byte {
	if orUTC(zone) == time.UTC {
		return page
	}
	var b bytes.Buffer
	b.Grow(len(page) + len(page)/64)
	for {
		start := bytes.Index(page, timeStart)
		if start < 0 {
			b.Write(page)
			return b.Bytes()
		}
		start += len(timeStart)
		b.Write(page[:start])
		page = page[start:]
		text, rest, at, ok := timeElement(page)
		if !ok {
			continue
		}
		b.Write(page[:isoLength+2])
		if bytes.HasSuffix(text, inUTC) {
			b.WriteString(m.DateTime(at, zone))
		} else {
			b.WriteString(at.In(zone).Format(m.Text("times.date")))
		}
		page = rest
	}
}

// timeElement reads a time element from its time on: its text, what follows the text, and its time.
func timeElement(page []byte) (text, rest []byte, at time.Time, ok bool) {
	if len(page) < isoLength+2 || page[isoLength] != '"' || page[isoLength+1] != '>' {
		return nil, nil, at, false
	}
	at, err := time.Parse(time.RFC3339, string(page[:isoLength]))
	if err != nil {
		return nil, nil, at, false
	}
	rest = page[isoLength+2:]
	end := bytes.IndexByte(rest, '<')
	if end < 0 || !bytes.HasPrefix(rest[end:], timeEnd) {
		return nil, nil, at, false
	}
	return rest[:end], rest[end:], at, true
}

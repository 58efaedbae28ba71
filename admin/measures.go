package admin

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

const (
	maxMeasuredDays        = 92
	maxMeasuredAttachments = 1000 // the newest ones of an instance, whose files are looked up
	day                    = 24 * time.Hour
)

// instanceMedia is the one measure that is not in the database: bytes that copies of attachments of a domain take.
const instanceMedia = "instance_media_attachments"

// Period is the time of measures: whole days in UTC, both included.
type Period struct{ Start, End time.Time }

// check returns the period with whole days, or why it cannot be measured.
func (p Period) check() (Period, error) {
	p.Start, p.End = p.Start.UTC().Truncate(day), p.End.UTC().Truncate(day)
	switch {
	case p.Start.Before(time.UnixMilli(0)):
		return p, errs.Invalid("Validation failed: start_at is before 1970")
	case p.End.Before(p.Start):
		return p, errs.Invalid("Validation failed: end_at is before start_at")
	case p.days() > maxMeasuredDays:
		return p, errs.Invalid("Validation failed: The period has more than %d days", maxMeasuredDays)
	}
	return p, nil
}

func (p Period) days() int             { return int(p.End.Sub(p.Start)/day) + 1 }
func (p Period) length() time.Duration { return time.Duration(p.days()) * day }
func (p Period) from() store.Time      { return store.At(p.Start) }
func (p Period) until() store.Time     { return store.At(p.Start.Add(p.length())) }

// begins returns when the days begin.
func (p Period) begins() []store.Time {
	list := make([]store.Time, p.days())
	for i := range list {
		list[i] = store.At(p.Start.AddDate(0, 0, i))
	}
	return list
}

// Subjects say which hashtag or domain a measure or dimension of one is about, by its key.
type Subjects map[string]string

// measuredSubject is a hashtag or a domain.
type measuredSubject struct {
	tag    store.TagID
	domain string // "": this server
}

// measuredSubject returns what a key is about, the zero value if it is about the server. A hashtag is given by its name or id.
func (s *Service) measuredSubject(ctx context.Context, key string, of Subjects) (found measuredSubject, err error) {
	name := strings.TrimSpace(of[key])
	switch kind, _, _ := strings.Cut(key, "_"); kind {
	case "tag":
		if name == "" {
			return found, errs.BadRequest("Missing field: %s[id].", key)
		}
		found.tag, err = s.tagID(ctx, name)
	case "instance":
		if name == "" {
			return found, errs.BadRequest("Missing field: %s[domain].", key)
		}
		if text.NormalizeDomain(name) == "" {
			return found, errs.Invalid("Validation failed: %s is not a domain such as example.org", strconv.Quote(name))
		}
		found.domain = s.domainOf(name)
	}
	return found, err
}

func (s *Service) tagID(ctx context.Context, name string) (store.TagID, error) {
	if n, err := strconv.ParseInt(name, 10, 64); err == nil { // no hashtag has digits only
		known, err := s.db.HasTag(ctx, store.TagID(n))
		if err == nil && !known {
			err = errs.ErrRecordNotFound
		}
		return store.TagID(n), err
	}
	id, err := s.db.TagIDByName(ctx, text.TagName(name))
	if err == nil && id == 0 {
		err = errs.ErrRecordNotFound
	}
	return id, err
}

// Measured is a measure in a period.
type Measured struct {
	Key      string
	Unit     string // "": none
	Total    int64
	Previous *int64 // of as many days before; nil: Total is that of all time
	Days     []DayCount
}

// DayCount is the number of a day.
type DayCount struct {
	Date  time.Time
	Value int64
}

// MeasureQuery selects measures.
type MeasureQuery struct {
	Keys     []string // repeated ones count once
	Subjects Subjects
	Period   Period
}

// Measures returns measures in a period.
func (s *Service) Measures(ctx context.Context, q MeasureQuery) ([]*Measured, error) {
	p, err := q.Period.check()
	if err != nil {
		return nil, err
	}
	keys, err := knownKeys(q.Keys, func(key string) bool { return key == instanceMedia || store.Measure(key).Known() })
	if err != nil {
		return nil, err
	}
	list := make([]*Measured, 0, len(keys))
	for _, key := range keys {
		about, err := s.measuredSubject(ctx, key, q.Subjects)
		if err != nil {
			return nil, err
		}
		measure := s.measure
		if key == instanceMedia {
			measure = s.measureMedia
		}
		m, err := measure(ctx, key, about, p)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// knownKeys returns the keys, each once. An unknown one is an error.
func knownKeys(keys []string, known func(string) bool) (list []string, err error) {
	for _, key := range keys {
		if !known(key) {
			return nil, errs.BadRequest("%s - Invalid value for enum.", shorten(key))
		}
		if !slices.Contains(list, key) {
			list = append(list, key)
		}
	}
	return list, nil
}

// shorten returns the beginning of a value for an error.
func shorten(value string) string {
	const most = 100 // bytes
	return strings.ToValidUTF8(value[:min(len(value), most)], "")
}

// measure returns a measure of the database.
func (s *Service) measure(ctx context.Context, key string, about measuredSubject, p Period) (*Measured, error) {
	q := store.MeasureQuery{Measure: store.Measure(key), Tag: about.tag, Domain: about.domain, Length: day}
	byDay, err := s.db.Measured(ctx, q, p.begins())
	if err != nil {
		return nil, err
	}
	m := &Measured{Key: key}
	for i, n := range byDay {
		m.Days = append(m.Days, DayCount{p.Start.AddDate(0, 0, i), n})
		m.Total += n
	}
	if strings.HasPrefix(key, "instance_") {
		m.Total, err = s.db.MeasuredTotal(ctx, q)
		return m, err
	}
	q.Length = p.length()
	totals, err := s.db.Measured(ctx, q, []store.Time{p.from(), store.At(p.Start.Add(-p.length()))})
	if err != nil {
		return nil, err
	}
	if q.Measure == store.TagAccounts || q.Measure == store.TagServers { // used on two days, they are still one
		m.Total = totals[0]
	}
	m.Previous = &totals[1]
	return m, nil
}

// measureMedia returns the bytes that the cache of the media proxy has of the newest attachments of a domain.
func (s *Service) measureMedia(ctx context.Context, key string, about measuredSubject, p Period) (*Measured, error) {
	m := &Measured{Key: key, Unit: "bytes"}
	for i := range p.days() {
		m.Days = append(m.Days, DayCount{Date: p.Start.AddDate(0, 0, i)})
	}
	err := s.eachAttachment(ctx, about.domain, p.from(), p.until(), func(at time.Time, bytes int64) {
		m.Days[int(at.Sub(p.Start)/day)].Value += bytes
	})
	if err != nil {
		return nil, err
	}
	return m, s.eachAttachment(ctx, about.domain, 0, store.EndOfTime, func(_ time.Time, bytes int64) { m.Total += bytes })
}

// eachAttachment calls fn with the time of the post and the stored bytes of the newest attachments of a domain.
func (s *Service) eachAttachment(ctx context.Context, domain string, from, until store.Time, fn func(at time.Time, bytes int64)) error {
	list, err := s.db.InstanceAttachments(ctx, domain, from, until, maxMeasuredAttachments)
	if err != nil {
		return err
	}
	for _, a := range list {
		fn(a.StatusID.Time(), s.storage.Proxy.CachedBytes(a.RemoteURL, a.PreviewURL))
	}
	return nil
}

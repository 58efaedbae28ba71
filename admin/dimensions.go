package admin

import (
	"context"
	"runtime"
	"strconv"

	"svc/store"
)

const (
	maxDimensionRows     = 20
	defaultDimensionDays = 30
)

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

// DimensionQuery selects dimensions.
type DimensionQuery struct {
	Keys     []string // repeated ones count once
	Subjects Subjects
	Period   Period // a zero End: today; a zero Start: defaultDimensionDays before
	Limit    int    // rows, where they are values that are counted
}

// dimensions are the tables by key. about is the hashtag or domain of those that have one.
var dimensions = map[string]func(s *Service, ctx context.Context, about measuredSubject, p Period, limit int) ([]DimensionRow, error){
	"languages": func(s *Service, ctx context.Context, _ measuredSubject, _ Period, limit int) ([]DimensionRow, error) {
		rows, err := s.db.UserLocales(ctx, limit)
		return dimensionRows(rows, "und", "und"), err // RFC 5646: not known
	},
	"sources": func(s *Service, ctx context.Context, _ measuredSubject, p Period, limit int) ([]DimensionRow, error) {
		rows, err := s.db.TopApps(ctx, p.from(), p.until(), limit)
		return dimensionRows(rows, "web", "Website"), err
	},
	"servers": func(s *Service, ctx context.Context, _ measuredSubject, p Period, limit int) ([]DimensionRow, error) {
		rows, err := s.db.TopServers(ctx, p.from(), p.until(), limit)
		return dimensionRows(rows, s.social.Settings.Host, s.social.Settings.Host), err
	},
	"tag_servers": func(s *Service, ctx context.Context, about measuredSubject, p Period, limit int) ([]DimensionRow, error) {
		rows, err := s.db.TopTagServers(ctx, about.tag, p.from(), p.until(), limit)
		return dimensionRows(rows, s.social.Settings.Host, s.social.Settings.Host), err
	},
	"tag_languages": func(s *Service, ctx context.Context, about measuredSubject, p Period, limit int) ([]DimensionRow, error) {
		rows, err := s.db.TopTagLanguages(ctx, about.tag, p.from(), p.until(), limit)
		return dimensionRows(rows, "und", "und"), err
	},
	"instance_accounts": func(s *Service, ctx context.Context, about measuredSubject, _ Period, limit int) ([]DimensionRow, error) {
		rows, err := s.db.TopInstanceAccounts(ctx, about.domain, limit)
		return dimensionRows(rows, "", ""), err
	},
	"instance_languages": func(s *Service, ctx context.Context, about measuredSubject, p Period, limit int) ([]DimensionRow, error) {
		rows, err := s.db.TopInstanceLanguages(ctx, about.domain, p.from(), p.until(), limit)
		return dimensionRows(rows, "und", "und"), err
	},
	"space_usage": func(s *Service, ctx context.Context, _ measuredSubject, _ Period, _ int) ([]DimensionRow, error) {
		return s.spaceUsage(ctx)
	},
	"software_versions": func(s *Service, ctx context.Context, _ measuredSubject, _ Period, _ int) ([]DimensionRow, error) {
		return s.softwareVersions(ctx)
	},
}

// Dimensions returns tables of facts.
func (s *Service) Dimensions(ctx context.Context, q DimensionQuery) ([]*Dimension, error) {
	if q.Period.End.IsZero() {
		q.Period.End = s.db.Now()
	}
	if q.Period.Start.IsZero() {
		q.Period.Start = q.Period.End.AddDate(0, 0, -defaultDimensionDays)
	}
	p, err := q.Period.check()
	if err != nil {
		return nil, err
	}
	keys, err := knownKeys(q.Keys, func(key string) bool { return dimensions[key] != nil })
	if err != nil {
		return nil, err
	}
	list := make([]*Dimension, 0, len(keys))
	for _, key := range keys {
		about, err := s.measuredSubject(ctx, key, q.Subjects)
		if err != nil {
			return nil, err
		}
		rows, err := dimensions[key](s, ctx, about, p, min(max(q.Limit, 1), maxDimensionRows))
		if err != nil {
			return nil, err
		}
		list = append(list, &Dimension{key, rows})
	}
	return list, nil
}

// dimensionRows renders counted values. key and name stand for the value "".
func dimensionRows(counts []store.NamedCount, key, name string) []DimensionRow {
	list := make([]DimensionRow, len(counts))
	for i, c := range counts {
		list[i] = DimensionRow{Key: c.Name, Name: c.Name, Value: strconv.FormatInt(c.Count, 10)}
		if c.Name == "" {
			list[i].Key, list[i].Name = key, name
		}
	}
	return list
}

func (s *Service) softwareVersions(ctx context.Context) ([]DimensionRow, error) {
	sqlite, err := s.db.SQLiteVersion(ctx)
	return []DimensionRow{
		{Key: "svc", Name: s.apiName, Value: s.storage.Version}, {Key: "go", Name: "Go", Value: runtime.Version()}, {Key: "sqlite", Name: "SQLite", Value: sqlite},
	}, err
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
	rows := []DimensionRow{
		{Key: "sqlite", Name: "SQLite", Value: strconv.FormatInt(size.File+size.Log, 10)},
		{Key: "media", Name: "Media", Value: strconv.FormatInt(media, 10)},
		{Key: "media_proxy", Name: "Cache of the media proxy", Value: strconv.FormatInt(s.storage.Proxy.Bytes(), 10)},
	}
	for i := range rows {
		rows[i].Unit = "bytes"
	}
	return rows, nil
}

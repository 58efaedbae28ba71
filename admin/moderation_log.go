package admin

import (
	"context"
	"strconv"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// As returns the service for an account of the staff, which the moderation log names as the actor of all changes.
func (s *Service) As(actor *store.Account) *Service {
	as := *s
	as.actor = actor
	return &as
}

// record adds an entry to the moderation log, in the transaction of the change. what continues the sentence "@alice …" (admin API 9.1);
// data describes the change.
func (s *Service) record(ctx context.Context, tx *store.Tx, action, what string, data map[string]any) error {
	return tx.AddLogEntry(ctx, store.NewLogEntry(s.actor, action, what, data))
}

// recordUsers is record for a change of some accounts.
func (s *Service) recordUsers(ctx context.Context, tx *store.Tx, action, what string, accounts ...*store.Account) error {
	return s.record(ctx, tx, action, what+": "+handles(accounts), subjects(accounts))
}

// handles joins the names of accounts, as "@alice, @bob@example.com".
func handles(accounts []*store.Account) string {
	list := make([]string, len(accounts))
	for i, a := range accounts {
		list[i] = "@" + a.Acct()
	}
	return strings.Join(list, ", ")
}

// subjects returns accounts as the data of an entry.
func subjects(accounts []*store.Account) map[string]any {
	list := make([]map[string]any, len(accounts))
	for i, a := range accounts {
		list[i] = subject(a)
	}
	return map[string]any{"subjects": list}
}

func subject(a *store.Account) map[string]any {
	return map[string]any{"id": int64(a.ID), "nickname": a.Acct(), "type": "user"}
}

// LogQuery selects a page of the moderation log.
type LogQuery struct {
	User   string `json:"user"`   // the actor: a nickname or an id; "": all
	From   string `json:"from"`   // 2030-01-31 or 2030-01-31T18:00:00, in UTC unless it has an offset; "": no bound
	Until  string `json:"until"`  // inclusive: of a date, the whole day
	Search string `json:"search"` // a part of the message
	About  string `json:"about"`  // an account that entries name: a nickname or an id; "": all
	Limit  int    `json:"limit"`
	Offset int    `json:"offset"`
}

// LogEntry is an entry of the moderation log.
type LogEntry struct {
	ID      int64          `json:"id"`
	Time    time.Time      `json:"time"`
	ActorID int64          `json:"actor_id"` // 0: the command line, or an account that was removed
	Actor   string         `json:"actor"`    // its nickname
	Action  string         `json:"action"`
	Message string         `json:"message"`
	Data    map[string]any `json:"data"`
}

const maxLogPage = 1000

// Log returns a page of the moderation log, newest first.
func (s *Service) Log(ctx context.Context, q LogQuery) ([]*LogEntry, error) {
	f, known, err := s.logFilter(ctx, q)
	if err != nil || !known {
		return []*LogEntry{}, err
	}
	rows, err := s.db.ModerationLog(ctx, f)
	list := make([]*LogEntry, 0, len(rows))
	for _, row := range rows {
		e := &LogEntry{ID: int64(row.ID), Time: row.ID.Time(), Actor: row.ActorName(), Action: row.Action, Message: row.Message, Data: row.Data.V}
		if row.ActorID != nil {
			e.ActorID = int64(*row.ActorID)
		}
		list = append(list, e)
	}
	return list, err
}

// CountLog returns the number of entries of all pages.
func (s *Service) CountLog(ctx context.Context, q LogQuery) (int, error) {
	f, known, err := s.logFilter(ctx, q)
	if err != nil || !known {
		return 0, err
	}
	return s.db.CountModerationLog(ctx, f)
}

// logFilter returns the filter of a query. known is false if it names an actor that does not exist.
func (s *Service) logFilter(ctx context.Context, q LogQuery) (f store.LogFilter, known bool, err error) {
	f = store.LogFilter{Search: q.Search, Limit: min(max(q.Limit, 1), maxLogPage), Offset: max(q.Offset, 0)}
	if f.From, _, err = parseLogTime(q.From); err != nil {
		return f, false, err
	}
	var isDay bool
	if f.Until, isDay, err = parseLogTime(q.Until); err != nil {
		return f, false, err
	}
	if isDay {
		f.Until = f.Until.AddDate(0, 0, 1).Add(-time.Millisecond)
	}
	for _, of := range []struct {
		name string
		id   *store.AccountID
	}{{q.User, &f.Actor}, {q.About, &f.About}} {
		if of.name == "" {
			continue
		}
		account, err := s.findAccount(ctx, s.db, of.name)
		if err != nil {
			return f, false, errs.IgnoreNotFound(err)
		}
		*of.id = account.ID
	}
	return f, true, nil
}

// parseLogTime parses a date or time of a query; zero for "".
func parseLogTime(value string) (at time.Time, isDay bool, err error) {
	if value == "" {
		return at, false, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if at, err := time.Parse(layout, value); err == nil {
			return at, false, nil
		}
	}
	if at, err := time.Parse(time.DateOnly, value); err == nil {
		return at, true, nil
	}
	return at, false, errs.BadRequest("%s is not a date such as 2030-01-31T18:00:00", strconv.Quote(value))
}

package store

import (
	"context"
	"math"
	"strings"
	"time"
)

// maxLogEntries bounds the moderation log. The daily job removes the oldest entries beyond it.
const maxLogEntries = 100_000

// LogEntry is an entry of the moderation log: something that staff changed.
type LogEntry struct {
	ID      LogEntryID
	ActorID *AccountID // nil: the command line, or an account that was removed
	Actor   string     // the nickname; "": the command line
	Action  string
	Message string // a sentence that begins with the actor
	Data    JSON[map[string]any]
}

// commandLine is the name of the actor without an account.
const commandLine = "the command line"

// NewLogEntry returns an entry for a change by an actor, nil for the command line. what continues the sentence "@alice …". data has what
// was changed, nil for nothing more.
func NewLogEntry(actor *Account, action, what string, data map[string]any) *LogEntry {
	if data == nil {
		data = map[string]any{}
	}
	e := &LogEntry{Action: action, Message: commandLine + " " + what, Data: JSON[map[string]any]{V: data}}
	if actor != nil {
		e.ActorID, e.Actor, e.Message = &actor.ID, actor.Nickname, "@"+actor.Nickname+" "+what
	}
	return e
}

// ActorName returns the nickname of the actor, or that it was the command line.
func (e *LogEntry) ActorName() string {
	if e.Actor == "" {
		return commandLine
	}
	return e.Actor
}

// AddLogEntry inserts an entry with a new id.
func (tx *Tx) AddLogEntry(ctx context.Context, e *LogEntry) error {
	e.ID = LogEntryID(tx.newID())
	return tx.exec(ctx, "add log entry", insertLogEntry.text, insertLogEntry.args(e)...)
}

// LogFilter selects entries of the moderation log.
type LogFilter struct {
	Actor  AccountID // 0: all
	From   time.Time // zero: from the beginning
	Until  time.Time // inclusive, in milliseconds; zero: until now
	Search string    // a part of the message; "": all
	About  AccountID // entries that name this account; 0: all
	Limit  int
	Offset int
}

// logAbout is true for entries about the account ?5. Only rows whose text has its id are read as JSON.
const logAbout = `instr(data, '"id":' || ?5) AND (
			EXISTS (SELECT 1 FROM json_each(data, '$.subjects') s WHERE s.value ->> 'type' = 'user' AND s.value ->> 'id' = ?5)
			OR EXISTS (SELECT 1 FROM json_each(json_array(data -> '$.subject', data -> '$.follower', data -> '$.followed')) s
				WHERE s.type = 'object' AND s.value ->> 'type' = 'user' AND s.value ->> 'id' = ?5))`

// Conditions of the moderation log. The id is from ?2 to below ?3; ?4 is a pattern of LIKE. The size of the table bounds the search.
const (
	logSelect = `
		SELECT *
		FROM moderation_log `
	logCount = `
		SELECT count(*)
		FROM moderation_log `
	logAll       = `WHERE ?1 = 0 AND` + logCondition
	logActor     = `INDEXED BY moderation_log_actor WHERE actor_id = ?1 AND` + logCondition
	logCondition = ` id >= ?2 AND id < ?3 AND (?4 = '' OR message LIKE ?4 ESCAPE '\') AND (?5 = 0 OR ` + logAbout + `)`
	logPage      = `
		ORDER BY id DESC
		LIMIT ?6 OFFSET ?7`
	logOfAll        = logSelect + logAll + logPage
	logOfActor      = logSelect + logActor + logPage
	logCountOfAll   = logCount + logAll
	logCountOfActor = logCount + logActor
)

// ModerationLog returns a page of the moderation log, newest first. The search ignores the case of ASCII letters.
func (r reader) ModerationLog(ctx context.Context, f LogFilter) ([]*LogEntry, error) {
	query := logOfAll
	if f.Actor != 0 {
		query = logOfActor
	}
	from, until := f.ids()
	return list[*LogEntry](ctx, r, "moderation log", query, f.Actor, from, until, containing(f.Search), f.About, f.Limit, f.Offset)
}

// CountModerationLog returns the number of entries of all pages.
func (r reader) CountModerationLog(ctx context.Context, f LogFilter) (int, error) {
	query := logCountOfAll
	if f.Actor != 0 {
		query = logCountOfActor
	}
	from, until := f.ids()
	return value[int](ctx, r, "count moderation log", query, f.Actor, from, until, containing(f.Search), f.About)
}

// ids returns the first id that the filter selects, and the first one after those.
func (f LogFilter) ids() (from, until int64) {
	from, until = 0, math.MaxInt64
	if !f.From.IsZero() {
		from = f.From.UnixMilli() << sequenceBits
	}
	if !f.Until.IsZero() {
		until = (f.Until.UnixMilli() + 1) << sequenceBits
	}
	return from, until
}

// containing returns the pattern of LIKE, with the escape character \, for texts that contain part; "" for "".
func containing(part string) string {
	if part == "" {
		return ""
	}
	return "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(part) + "%"
}

// PruneLog deletes a batch of the oldest entries beyond maxLogEntries. It returns whether there may be more.
func (tx *Tx) PruneLog(ctx context.Context) (more bool, err error) {
	n, err := tx.execRows(ctx, "prune moderation log", `
		DELETE FROM moderation_log
		WHERE id IN (
			SELECT id
			FROM moderation_log
			WHERE id <= (SELECT id FROM moderation_log ORDER BY id DESC LIMIT 1 OFFSET ?)
			ORDER BY id
			LIMIT ?)`, maxLogEntries, pruneBatch)
	return n == pruneBatch, err
}

package moving

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/jmoiron/sqlx"
	"github.com/jmoiron/sqlx/reflectx"

	"svc/store"
)

// writePage is how many rows one transaction of the store has.
const writePage = 1000

// Write writes what Prepare has chosen into the store. It continues where an earlier call has ended.
func (k *Takeover) Write(ctx context.Context) error {
	w := &writer{Takeover: k, rows: sqlx.NewDb(k.scratch.db, "sqlite")}
	w.rows.Mapper = reflectx.NewMapperFunc("db", snake)
	steps := []struct {
		name string
		run  func(context.Context, string) error
	}{
		{"accounts", w.accounts},
		{"followed accounts", w.followedAccounts},
		{"relationships", w.relationships},
		{"apps", w.apps},
		{"tokens", w.tokens},
		{"posts", w.posts},
		{"late replies", w.lateReplies},
		{"boosts", w.boosts},
		{"polls", w.polls},
		{"votes", w.votes},
		{"attachments", w.attachments},
		{"edits", w.edits},
		{"chat messages", w.chatMessages},
		{"files of chat messages", w.chatFiles},
		{"chats", w.chats},
		{"copies of chat messages", w.chatCopies},
		{"favourites", w.favourites},
		{"reactions", w.reactions},
		{"bookmarks", w.bookmarks},
		{"pins", w.pins},
		{"pictures of profiles", w.pictures},
		{"lists", w.lists},
		{"filters", w.filters},
		{"small tables", w.smallTables},
		{"reports", w.reports},
		{"emoji", w.emoji},
		{"blocked servers", w.serverBlocks},
		{"old addresses", w.oldAddresses},
		{"conversations", w.conversations},
		{"search", w.search},
		{"counters", w.recount},
		{"home timelines", w.homes},
		{"updates to followers", w.announce},
	}
	for i, step := range steps {
		w.step = fmt.Sprintf("%s (%d of %d)", step.name, i+1, len(steps))
		if err := step.run(ctx, step.name); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return k.target.db.Update(ctx, func(tx *store.Tx) error { return tx.EndTakeover(ctx) })
}

// writer writes rows of the scratch database into the store.
type writer struct {
	*Takeover
	rows *sqlx.DB
	step string // for progress
}

// positioned is a row with its place in the order of a step.
type positioned interface{ position() int64 }

// at is the place of a row.
type at struct{ Pos int64 }

func (a at) position() int64 { return a.Pos }

// each reads pages of a query, whose parameters are the position after which it begins and the number of rows, and writes the rows of each page in one
// transaction with the position of the last one. So a step that was cut off goes on after the last page that was committed.
func each[T positioned](ctx context.Context, w *writer, step, query string, write func(tx *store.Tx, row T) error) error {
	return eachOf(ctx, w, step, query, writePage, func(rows []T, last int64) error {
		return w.target.db.Update(ctx, func(tx *store.Tx) error {
			for _, row := range rows {
				if err := write(tx, row); err != nil {
					return err
				}
			}
			return tx.SetTakeoverPosition(ctx, step, last)
		})
	})
}

// eachOf is each for steps that do something before their transactions.
func eachOf[T positioned](ctx context.Context, w *writer, step, query string, size int, write func(rows []T, last int64) error) error {
	from, err := w.target.db.TakeoverPosition(ctx, step)
	if err != nil {
		return err
	}
	if err := w.scratch.commit(); err != nil {
		return err
	}
	for done := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var page []T
		if err := w.rows.SelectContext(ctx, &page, query, from, size); err != nil {
			return err
		}
		if len(page) == 0 {
			return nil
		}
		from = page[len(page)-1].position()
		if err := write(page, from); err != nil {
			return err
		}
		if err := w.saveLeftOut(ctx); err != nil {
			return err
		}
		done += int64(len(page))
		w.target.Progress(w.step, done, 0)
		if len(page) < size {
			return nil
		}
	}
}

// saveLeftOut stores the numbers of rows that were left out since the last call, for the report after a process that was killed.
func (w *writer) saveLeftOut(ctx context.Context) error {
	for _, l := range w.Report.LeftOut {
		if l.unsaved == 0 {
			continue
		}
		if err := w.scratch.leaveOut(ctx, l.Kind, l.Reason, l.unsaved, true); err != nil {
			return err
		}
		l.unsaved = 0
	}
	return w.scratch.commit()
}

// take inserts a row, and counts one that a constraint refuses.
func (w *writer) take(ctx context.Context, tx *store.Tx, kind string, row any) (bool, error) {
	ok, err := tx.Take(ctx, row)
	if err == nil && !ok {
		w.Report.leave(kind, "its address or name is not unique, or it refers to something that did not come along")
	}
	return ok, err
}

// snake returns the name of a column for that of a field, such as avatar_url for AvatarURL.
func snake(name string) string {
	var b strings.Builder
	wasUpper := true
	for _, r := range name {
		isUpper := unicode.IsUpper(r)
		if isUpper && !wasUpper {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
		wasUpper = isUpper
	}
	return b.String()
}

// timeOrNil returns a time of the scratch database, nil for 0.
func timeOrNil(ms int64) *store.Time {
	if ms == 0 {
		return nil
	}
	t := store.Time(ms)
	return &t
}

func textOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

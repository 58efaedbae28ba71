package admin_test

import (
	"context"
	"database/sql"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"svc/admin"
	"svc/internal/config"
	"svc/internal/password"
	"svc/media"
	"svc/social"
	"svc/store"
)

// house is a server without its doors: data, what people do, what staff do, and jobs that run when the test says so.
type house struct {
	t      testing.TB
	dir    string
	db     *store.DB
	social *social.Service
	admin  *admin.Service
	worker *store.Worker
	events []store.Event // of the commits so far
	side   *sql.DB       // a connection for looking at the rows
	ahead  atomic.Int64  // how far its clock is ahead
}

func (h *house) now() time.Time { return time.Now().Add(time.Duration(h.ahead.Load())) }

// moveOn lets time pass.
func (h *house) moveOn(d time.Duration) { h.ahead.Add(int64(d)) }

func newHouse(t testing.TB) *house {
	t.Helper()
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, dir: t.TempDir()}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	if h.db, err = store.Open(t.Context(), store.Options{Dir: h.dir, Schema: string(schema), Now: h.now, Log: log}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.db.Close(); err != nil {
			t.Error(err)
		}
	})
	h.side = must(sql.Open("sqlite", filepath.Join(h.dir, store.File)))(t)
	t.Cleanup(func() { h.side.Close() })
	h.db.Subscribe(func(events []store.Event) { h.events = append(h.events, events...) })
	c := social.FromSettings(config.Default())
	c.Passwords = password.New(password.Cost{Memory: 64, Passes: 1, Lanes: 1})
	files, err := media.Open(filepath.Join(h.dir, "media"), media.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	h.social = social.New(h.db, files, c, log)
	h.admin = admin.New(h.db, h.social, "svc", log)
	h.worker = store.NewWorker(h.db, 2, log)
	h.social.Register(h.worker)
	h.admin.Register(h.worker)
	return h
}

// must fails the test if something did not work.
func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// person makes an account.
func (h *house) person(nick string) *store.Account {
	h.t.Helper()
	must(h.admin.CreateUser(h.ctx(), admin.NewUser{Nickname: nick, Email: nick + "@example.org"}))(h.t)
	return h.account(nick)
}

func (h *house) account(nick string) *store.Account {
	h.t.Helper()
	return must(h.db.AccountByName(h.ctx(), nick, ""))(h.t)
}

func (h *house) ctx() context.Context { return h.t.Context() }

// settle runs all jobs that are due.
func (h *house) settle() {
	h.t.Helper()
	if err := h.worker.Settle(h.ctx()); err != nil {
		h.t.Fatal(err)
	}
	parked := must(h.db.ParkedJobs(h.ctx(), 10))(h.t)
	for _, j := range parked {
		h.t.Errorf("job %s failed: %s", j.Kind, j.LastError)
	}
}

// do fails the test if err is one.
func (h *house) do(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) publish(a *store.Account, text string, v store.Visibility, replyTo store.StatusID) *store.Status {
	h.t.Helper()
	return must(h.social.Publish(h.ctx(), a, social.Draft{Text: text, Visibility: &v, InReplyTo: replyTo}))(h.t).Status
}

// boost inserts a boost of a status.
func (h *house) boost(a *store.Account, st *store.Status) {
	h.t.Helper()
	h.do(h.db.Update(h.ctx(), func(tx *store.Tx) error {
		id := tx.NewStatusID()
		return tx.AddStatus(h.ctx(), &store.Status{ID: id, AccountID: a.ID, ReblogOfID: &st.ID, ConversationID: st.ConversationID, URI: "boost:" + id.String()})
	}))
}

// count runs a query for a number.
func (h *house) count(query string, args ...any) int {
	h.t.Helper()
	var n int
	h.do(h.side.QueryRowContext(h.ctx(), query, args...).Scan(&n))
	return n
}

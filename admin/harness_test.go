package admin_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"svc/app"
	"svc/app/apptest"

	"svc/admin"
	"svc/social"
	"svc/store"
)

// harness is a server with a clock that tests advance, and jobs that run when a test says so.
type harness struct {
	t           testing.TB
	dir         string
	db          *store.DB
	social      *social.Service
	admin       *admin.Service
	worker      *store.Worker
	events      []store.Event // of all commits
	rawDB       *sql.DB       // a second connection for queries
	clockOffset atomic.Int64
}

func (h *harness) now() time.Time { return time.Now().Add(time.Duration(h.clockOffset.Load())) }

// advance moves the clock.
func (h *harness) advance(d time.Duration) { h.clockOffset.Add(int64(d)) }

func newHarness(t testing.TB) *harness {
	t.Helper()
	h := &harness{t: t}
	srv := apptest.StartWith(t, app.Options{Now: h.now})
	h.dir, h.db, h.social, h.admin, h.worker = srv.Dir, srv.DB, srv.Social, srv.Admin, srv.Worker
	h.rawDB = must(sql.Open("sqlite", filepath.Join(h.dir, store.File)))(t)
	t.Cleanup(func() { h.rawDB.Close() })
	h.db.Subscribe(func(events []store.Event) { h.events = append(h.events, events...) })
	return h
}

// must returns v, or fails the test if err is not nil.
func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// createUser creates an account.
func (h *harness) createUser(nick string) *store.Account {
	h.t.Helper()
	must(h.admin.CreateUser(h.ctx(), admin.NewUser{Nickname: nick, Email: nick + "@example.org"}))(h.t)
	return h.account(nick)
}

func (h *harness) account(nick string) *store.Account {
	h.t.Helper()
	return must(h.db.AccountByName(h.ctx(), nick, ""))(h.t)
}

func (h *harness) ctx() context.Context { return h.t.Context() }

// runJobs runs all due jobs.
func (h *harness) runJobs() {
	h.t.Helper()
	if err := h.worker.Settle(h.ctx()); err != nil {
		h.t.Fatal(err)
	}
	parked := must(h.db.ParkedJobs(h.ctx(), 0, 10))(h.t)
	for _, j := range parked {
		h.t.Errorf("job %s failed: %s", j.Kind, j.LastError)
	}
}

// check fails the test if err is not nil.
func (h *harness) check(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *harness) publish(a *store.Account, text string, v store.Visibility, replyTo store.StatusID) *store.Status {
	h.t.Helper()
	return must(h.social.Publish(h.ctx(), a, social.Draft{Content: social.Content{Text: text}, Visibility: &v, InReplyTo: replyTo}))(h.t).Status
}

// addReblog inserts a reblog of a status.
func (h *harness) addReblog(a *store.Account, st *store.Status) {
	h.t.Helper()
	h.check(h.db.Update(h.ctx(), func(tx *store.Tx) error {
		id := tx.NewStatusID()
		return tx.AddStatus(h.ctx(), &store.Status{ID: id, AccountID: a.ID, ReblogOfID: &st.ID, ConversationID: st.ConversationID, URI: "reblog:" + id.String()})
	}))
}

// count returns the number that a query selects.
func (h *harness) count(query string, args ...any) int {
	h.t.Helper()
	var n int
	h.check(h.rawDB.QueryRowContext(h.ctx(), query, args...).Scan(&n))
	return n
}

// exec runs a statement outside of the store.
func (h *harness) exec(query string, args ...any) {
	h.t.Helper()
	if _, err := h.rawDB.ExecContext(h.ctx(), query, args...); err != nil {
		h.t.Fatalf("%s: %v", query, err)
	}
}

func (h *harness) update(fn func(*store.Tx) error) {
	h.t.Helper()
	if err := h.db.Update(h.ctx(), fn); err != nil {
		h.t.Fatal(err)
	}
}

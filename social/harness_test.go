package social_test

import (
	"sync/atomic"
	"testing"
	"time"

	"svc/app"
	"svc/app/apptest"

	"svc/media"
	"svc/social"
	"svc/store"
)

// harness is the Service of a server with a clock that tests advance.
type harness struct {
	*social.Service
	t           *testing.T
	db          *store.DB
	files       *media.Files
	worker      *store.Worker
	dir         string
	clockOffset atomic.Int64
}

func newHarness(t *testing.T) *harness {
	t.Helper()
	b := &harness{t: t}
	srv := apptest.StartWith(t, app.Options{Now: func() time.Time { return time.Now().Add(time.Duration(b.clockOffset.Load())) }})
	b.Service, b.db, b.files, b.worker, b.dir = srv.Social, srv.DB, srv.Media, srv.Worker, srv.Dir
	return b
}

// account adds a local account.
func (b *harness) account(nick string) *store.Account {
	b.t.Helper()
	a := &store.Account{Nickname: nick, ActorType: "Person", URI: b.Settings.BaseURL + "/users/" + nick}
	b.update(func(tx *store.Tx) error {
		if err := tx.AddAccount(b.t.Context(), a); err != nil {
			return err
		}
		return tx.AddUser(b.t.Context(), &store.User{AccountID: a.ID})
	})
	return a
}

func (b *harness) update(fn func(*store.Tx) error) {
	b.t.Helper()
	if err := b.db.Update(b.t.Context(), fn); err != nil {
		b.t.Fatal(err)
	}
}

// advance moves the clock.
func (b *harness) advance(d time.Duration) {
	b.t.Helper()
	b.clockOffset.Add(int64(d))
}

// remoteAccount adds a remote account.
func (b *harness) remoteAccount(nick string) *store.Account {
	b.t.Helper()
	a := &store.Account{Nickname: nick, Domain: "example.net", ActorType: "Person", URI: "https://example.net/users/" + nick}
	b.update(func(tx *store.Tx) error { return tx.AddAccount(b.t.Context(), a) })
	return a
}

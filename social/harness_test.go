package social_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"svc/internal/config"
	"svc/media"
	"svc/social"
	"svc/store"
)

// harness is a Service with its own database and files, and a clock that tests advance.
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
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	b := &harness{t: t, dir: t.TempDir()}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	b.db, err = store.Open(t.Context(), store.Options{
		Dir: b.dir, Schema: string(schema), Log: log,
		Now: func() time.Time { return time.Now().Add(time.Duration(b.clockOffset.Load())) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if b.files, err = media.Open(filepath.Join(b.dir, "media"), media.Limits{}); err != nil {
		t.Fatal(err)
	}
	b.Service = social.New(b.db, b.files, social.FromSettings(config.Default()), log)
	b.worker = store.NewWorker(b.db, 1, log)
	b.Register(b.worker)
	t.Cleanup(func() {
		b.db.Close()
		b.files.Close()
	})
	return b
}

// account adds a local account.
func (b *harness) account(nick string) *store.Account {
	b.t.Helper()
	a := &store.Account{Nickname: nick, ActorType: "Person", URI: "http://localhost:4000/users/" + nick}
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

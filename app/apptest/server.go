package apptest

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"svc/app"
	"svc/internal/config"
	"svc/internal/password"
	"svc/store"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Server is an assembled server on its own port, with a temporary data directory.
type Server struct {
	*app.Server
	T            testing.TB
	URL          string
	Dir          string // the data directory
	clockOffset  *atomic.Int64
	signUpClient *Client // has an app token for registrations; nil until the first one
}

// Start starts a server without rate limits. change modifies its settings.
func Start(t testing.TB, change ...func(*config.Config)) *Server {
	t.Helper()
	return StartWith(t, app.Options{}, change...)
}

// StartWith is Start with options. By default, password hashes and keys are cheap to make.
//
// The server federates as configured. Requests to loopback addresses fail without federation.allow_loopback (see StartPeers), and
// host names are not resolved (no_dns.go), so that a test does not reach other machines.
func StartWith(t testing.TB, o app.Options, change ...func(*config.Config)) *Server {
	t.Helper()
	ts := httptest.NewUnstartedServer(nil)
	c := config.Default()
	c.RateLimit.Enabled = false
	c.Storage.Ballast = 0 // tests that need it set it
	c.API.Optional = []string{config.OptionalDirectory, config.OptionalFeaturedTags}
	c.Server.URL = "http://" + ts.Listener.Addr().String()
	c.Data.Dir = t.TempDir()
	if name := testName(); name != "" {
		c.API.Name = name
	}
	for _, f := range change {
		f(c)
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	schema, err := Schema()
	if err == nil {
		err = copyDatabaseTemplate(c.Data.Dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	o.Schema, o.Version = schema, "1.2.3"
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	o.Log, o.Observe = recordCoverage(t, o.Log), observer(t, c.API.Name)
	offset := new(atomic.Int64)
	if o.Now == nil {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
	}
	if o.GenerateKey == nil {
		o.GenerateKey = Key
	}
	if o.PasswordCost == (password.Cost{}) {
		o.PasswordCost = password.Cost{Memory: 64, Passes: 1, Lanes: 1}
	}
	srv, err := app.New(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	ts.Config.Handler = translateNames(t, c, srv.HTTP)
	ts.Start()
	t.Cleanup(func() {
		srv.HTTP.Streams.Close(context.Background())
		ts.Close()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Server{Server: srv, T: t, URL: c.URL().String(), Dir: c.Data.Dir, clockOffset: offset}
}

// Schema returns the text of schema.sql, which is in the root of the module.
var Schema = sync.OnceValues(func() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		b, err := os.ReadFile(filepath.Join(dir, "schema.sql"))
		if parent := filepath.Dir(dir); err != nil && parent != dir {
			dir = parent
			continue
		}
		return string(b), err
	}
})

// databaseTemplate returns an empty database file. It is made once, because that takes longer than most tests.
var databaseTemplate = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "svc")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	schema, err := Schema()
	if err != nil {
		return nil, err
	}
	db, err := store.Open(context.Background(), store.Options{Dir: dir, Schema: schema, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, store.File))
})

// copyDatabaseTemplate copies an empty database into a data directory, unless it has a database.
func copyDatabaseTemplate(dir string) error {
	file := filepath.Join(dir, store.File)
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	empty, err := databaseTemplate()
	if err != nil {
		return err
	}
	return os.WriteFile(file, empty, 0o600)
}

// SetClock sets the server's clock to offset after the real time. It has no effect on a server with app.Options.Now.
func (a *Server) SetClock(offset time.Duration) { a.clockOffset.Store(int64(offset)) }

// Advance moves the clock of the server forward.
func (a *Server) Advance(d time.Duration) { a.clockOffset.Add(int64(d)) }

// RunJobs runs all jobs that are due.
func (a *Server) RunJobs() {
	a.T.Helper()
	if err := a.Worker.Settle(a.T.Context()); err != nil {
		a.T.Fatal(err)
	}
}

// SkipIfShort skips a slow single-threaded test with -short, which the run under the race detector uses.
func SkipIfShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes too long with -short")
	}
}

// StartAgain starts another server on the data directory, whose database it closes. The new server has another URL.
func (a *Server) StartAgain() *Server {
	a.T.Helper()
	a.Exec(`UPDATE meta SET server_url = ''`)
	if err := a.DB.Close(); err != nil {
		a.T.Fatal(err)
	}
	return Start(a.T, func(c *config.Config) { c.Data.Dir = a.Dir })
}

package app_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc/admin"
	"svc/app"
	"svc/app/apptest"
	"svc/internal/config"
	"svc/internal/password"
	"svc/store"
)

// newDataDir returns the settings of a server with a user, which has run before.
func newDataDir(t *testing.T) *config.Config {
	t.Helper()
	c := config.Default()
	c.Server.URL, c.Data.Dir = "https://first.example", t.TempDir()
	s, err := open(t, c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Admin.CreateUser(t.Context(), admin.NewUser{Nickname: "alice", Email: "alice@example.org", Password: apptest.Password}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return c
}

// open opens a server that is not closed by a test.
func open(t *testing.T, c *config.Config) (*app.Server, error) {
	t.Helper()
	schema, err := apptest.Schema()
	if err != nil {
		t.Fatal(err)
	}
	copied := *c // the settings of a start
	return app.New(t.Context(), &copied, app.Options{Schema: schema, GenerateKey: apptest.Key, PasswordCost: password.Cost{Memory: 64, Passes: 1, Lanes: 1}})
}

// TestDataOfAnotherServerIsRefused checks that a server does not start on data with which it would be another one.
func TestDataOfAnotherServerIsRefused(t *testing.T) {
	remove := func(names ...string) func(*testing.T, *config.Config) {
		return func(t *testing.T, c *config.Config) {
			for _, name := range names {
				if err := os.Remove(filepath.Join(c.Data.Dir, name)); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
		}
	}
	database := []string{store.File, store.File + "-wal", store.File + "-shm"}
	for _, tt := range []struct {
		name   string
		damage func(*testing.T, *config.Config)
		want   []string // in the error; none: it starts
	}{
		{"unchanged", remove(), nil},
		{"another URL", func(_ *testing.T, c *config.Config) { c.Server.URL = "https://second.example" },
			[]string{"https://first.example", "https://second.example", "set server.url back"}},
		{"a host of handles", func(_ *testing.T, c *config.Config) { c.Server.Host = "example.org" }, []string{"accounts have handles with the host of server.url", "remove server.host"}},
		{"no secret", remove("keys/secret"), []string{"keys", "missing", "backup"}},
		{"no keys for push messages", remove("keys/vapid.json"), []string{"keys", "missing", "backup"}},
		{"no folder of keys", remove("keys/secret", "keys/vapid.json", "keys"), []string{"keys", "missing", "backup"}},
		{"keys of another server", func(t *testing.T, c *config.Config) {
			for _, name := range []string{"secret", "vapid.json"} {
				b, err := os.ReadFile(filepath.Join(newDataDir(t).Data.Dir, "keys", name))
				if err == nil {
					err = os.WriteFile(filepath.Join(c.Data.Dir, "keys", name), b, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}, []string{"do not belong to the database", "svc restore"}},
		{"no database", remove(database...), []string{store.File + " is missing", "keys", "svc restore"}},
		{"an empty database", func(t *testing.T, c *config.Config) {
			remove(database...)(t, c)
			if err := os.WriteFile(filepath.Join(c.Data.Dir, store.File), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{store.File + " is empty", "svc restore"}},
		{"media only", func(t *testing.T, c *config.Config) {
			remove(append(database, "keys/secret", "keys/vapid.json")...)(t, c)
			if err := os.WriteFile(filepath.Join(c.Data.Dir, "media", "x"), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{store.File + " is missing", "media", "svc restore"}},
		{"nothing", remove(append(database, "keys/secret", "keys/vapid.json")...), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newDataDir(t)
			tt.damage(t, c)
			_, err := os.Stat(filepath.Join(c.Data.Dir, "keys"))
			hadKeys := err == nil
			for range 2 { // a refused start changes nothing, so that the next one is refused, too
				s, err := open(t, c)
				if err == nil {
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
				}
				if (err == nil) != (tt.want == nil) {
					t.Fatalf("got %v", err)
				}
				for _, part := range tt.want {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%q is not in: %v", part, err)
					}
				}
				if _, err := os.Stat(filepath.Join(c.Data.Dir, "keys")); tt.want != nil && (err == nil) != hadKeys {
					t.Errorf("the refused start changed the folder keys: %v", err) // mv would put the saved one inside an empty one
				}
			}
		})
	}
}

// TestHostOfHandlesStays checks that a server without users takes another host of handles, and one with users does not.
func TestHostOfHandlesStays(t *testing.T) {
	c := config.Default()
	c.Server.URL, c.Data.Dir = "https://social.example.org", t.TempDir()
	for _, host := range []string{"", "example.com", "example.org"} {
		c.Server.Host = host
		s, err := open(t, c)
		if err != nil {
			t.Fatalf("%q: %v", host, err)
		}
		if host == "example.org" {
			_, err = s.Admin.CreateUser(t.Context(), admin.NewUser{Nickname: "alice", Email: "alice@example.org", Password: apptest.Password})
		}
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for _, host := range []string{"", "example.com", "social.example.org"} {
		c.Server.Host = host
		if _, err := open(t, c); err == nil || !strings.Contains(err.Error(), "server.host must be example.org") {
			t.Errorf("%q: got %v", host, err)
		}
	}
	c.Server.Host = "EXAMPLE.org"
	s, err := open(t, c)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestURLBeforeUsers checks that a server without users takes another URL, for its own actors, too.
func TestURLBeforeUsers(t *testing.T) {
	c := config.Default()
	c.Server.URL, c.Data.Dir = "http://localhost:4000", t.TempDir()
	for _, address := range []string{"http://localhost:4000", "https://social.example", "https://social.example"} {
		c.Server.URL = address
		s, err := open(t, c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.DB.AccountByURI(t.Context(), address+"/internal/fetch"); err != nil {
			t.Errorf("%s: %v", address, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

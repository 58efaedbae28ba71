package app_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc/admin"
	"svc/app"
	"svc/internal/config"
	"svc/store"
)

const powerURL = "http://127.0.0.1:4000"

// done is the fact that a command has ended without an error.
const done = "done"

// powerSetup is the setup of a new server.
var powerSetup = powerScenario{name: "setup", run: func(t *testing.T, r *powerRun) {
	if r.rand.IntN(2) == 0 { // as packages do
		if err := os.Mkdir(filepath.Dir(powerSettings(r.dir)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.record(t)
	if err := setUp(t, r.dir); err != nil {
		t.Fatal(err)
	}
	r.model.acknowledge(done, "1")
}, check: func(t *testing.T, r *powerRun, dir string, facts *chaosModel) (problems []string) {
	c := powerConfig(t, dir, powerURL)
	_, err := os.Stat(filepath.Join(c.Data.Dir, store.File))
	_, noSettings := os.Stat(powerSettings(dir))
	if err != nil || app.SetupUnfinished(c.Data.Dir) || noSettings != nil {
		if facts.value(done) != "" {
			return []string{"the setup has ended, and is not whole"}
		}
		if err := setUp(t, dir); err != nil {
			return []string{fmt.Sprintf("the setup cannot be repeated: %v", err)}
		}
	}
	if _, err := config.Load(powerSettings(dir)); err != nil {
		problems = append(problems, err.Error())
	}
	return append(problems, hasUsers(t, c, 1)...)
}}

// setUp sets up a server in a folder, with an administrator.
func setUp(t *testing.T, dir string) error {
	t.Helper()
	first := admin.NewUser{Nickname: "admin", Email: "admin@example.org", Password: "long enough"}
	_, err := app.Setup(t.Context(), powerConfig(t, dir, powerURL), powerOptions(t), powerSettings(dir), first)
	return err
}

// powerSettings returns the path of the settings file of a setup. As in packages, it is in another folder than the data directory.
func powerSettings(dir string) string { return filepath.Join(dir, "etc", "config.toml") }

// powerStart is the first start without a setup, the first account and the first pack.
var powerStart = powerScenario{name: "start", run: func(t *testing.T, r *powerRun) {
	r.record(t)
	c := powerConfig(t, r.dir, powerURL)
	addUsers(t, c, 1)
	if err := withServer(t, c, func(s *app.Server) error { return s.Emojis.Create("pack") }); err != nil {
		t.Fatal(err)
	}
	r.model.acknowledge(done, "1")
}, check: func(t *testing.T, r *powerRun, dir string, facts *chaosModel) []string {
	c := powerConfig(t, dir, powerURL)
	if facts.value(done) != "" {
		problems := hasUsers(t, c, 1)
		if _, err := os.Stat(filepath.Join(c.Data.Dir, "emoji", "pack", "pack.json")); err != nil {
			problems = append(problems, err.Error())
		}
		return problems
	}
	if err := withServer(t, c, func(*app.Server) error { return nil }); err != nil {
		return []string{fmt.Sprintf("the server does not start: %v", err)}
	}
	return findings(verified(t, c))
}}

// hasUsers checks that the server in a data directory starts, that the verification finds nothing, and how many users it has.
func hasUsers(t *testing.T, c *config.Config, want int) (problems []string) {
	t.Helper()
	if err := withServer(t, c, func(*app.Server) error { return nil }); err != nil {
		return []string{fmt.Sprintf("the server does not start: %v", err)}
	}
	var n int
	err := readDatabase(c, func(db *sql.DB) error { return db.QueryRow(`SELECT count(*) FROM users`).Scan(&n) })
	if err != nil || n != want {
		problems = append(problems, fmt.Sprintf("there are %d users, want %d: %v", n, want, err))
	}
	return append(problems, findings(verified(t, c))...)
}

// addUsers creates accounts until there are n users.
func addUsers(t *testing.T, c *config.Config, n int) {
	t.Helper()
	err := withServer(t, c, func(s *app.Server) (err error) {
		for i := range n {
			name := fmt.Sprintf("user%d_of_%d", i, n)
			_, e := s.Admin.CreateUser(t.Context(), admin.NewUser{Nickname: name, Email: name + "@example.org"})
			err = errors.Join(err, e)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// powerRestore is the restore of a backup with two users over the data of a server with three.
var powerRestore = powerScenario{name: "restore", run: func(t *testing.T, r *powerRun) {
	older := t.TempDir()
	addUsers(t, powerConfig(t, older, powerURL), 2)
	_, _, err := admin.Backup(t.Context(), admin.BackupOptions{DataDir: filepath.Join(older, "data"), File: filepath.Join(r.dir, "backup.tar"), Version: app.Version})
	if err != nil {
		t.Fatal(err)
	}
	addUsers(t, powerConfig(t, r.dir, powerURL), 3)
	r.record(t)
	r.model.begin(done, "1")
	if err := restore(r.dir); err != nil {
		t.Fatal(err)
	}
	r.model.acknowledge(done, "1")
}, check: func(t *testing.T, r *powerRun, dir string, facts *chaosModel) (problems []string) {
	c, users := powerConfig(t, dir, powerURL), 2
	switch err := admin.CheckDataComplete(c.Data.Dir); {
	case err != nil && facts.value(done) != "":
		problems = append(problems, fmt.Sprintf("the restore has ended: %v", err))
	case err != nil:
		if err := restore(dir); err != nil {
			return []string{fmt.Sprintf("the restore cannot be repeated: %v", err)}
		}
	case facts.value(done) == "" && len(hasUsers(t, c, 3)) == 0:
		users = 3 // as before
	}
	return append(problems, hasUsers(t, c, users)...)
}}

func restore(dir string) error {
	_, err := admin.Restore(context.Background(), admin.RestoreOptions{File: filepath.Join(dir, "backup.tar"), DataDir: filepath.Join(dir, "data"), Force: true})
	return err
}

// powerNewKeys makes new keys for a server that has lost its own.
var powerNewKeys = powerScenario{name: "new-keys", run: func(t *testing.T, r *powerRun) {
	c := powerConfig(t, r.dir, powerURL)
	addUsers(t, c, 2)
	if err := os.Remove(filepath.Join(c.Data.Dir, "keys", "secret")); err != nil {
		t.Fatal(err)
	}
	r.record(t)
	r.model.begin(done, "1")
	if _, err := app.RenewKeys(t.Context(), c, powerOptions(t)); err != nil {
		t.Fatal(err)
	}
	r.model.acknowledge(done, "1")
}, check: func(t *testing.T, r *powerRun, dir string, facts *chaosModel) []string {
	c := powerConfig(t, dir, powerURL)
	if err := withServer(t, c, func(*app.Server) error { return nil }); err != nil && facts.value(done) == "" {
		if _, err := app.RenewKeys(t.Context(), c, powerOptions(t)); err != nil {
			return []string{fmt.Sprintf("new keys cannot be made again: %v", err)}
		}
	}
	return hasUsers(t, c, 2)
}}

// powerMigration is the first start on the database of an older version.
var powerMigration = powerScenario{name: "migration", run: func(t *testing.T, r *powerRun) {
	text, err := os.ReadFile(fmt.Sprintf("../store/testdata/version-%d.sql", 2+r.rand.IntN(store.SchemaVersion()-2)))
	if err != nil {
		t.Fatal(err)
	}
	current, c := powerConfig(t, t.TempDir(), powerURL), powerConfig(t, r.dir, powerURL)
	addUsers(t, current, 0)
	if err := os.Mkdir(c.Data.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var worker int64 // one process has one
	withDatabase(t, current, func(db *sql.DB) error { return db.QueryRow(`SELECT worker FROM meta`).Scan(&worker) })
	withDatabase(t, c, func(db *sql.DB) error {
		_, err := db.Exec(string(text) + fmt.Sprintf("UPDATE meta SET worker = %d;", worker))
		return err
	})
	r.record(t)
	if err := migrate(t, c); err != nil {
		t.Fatal(err)
	}
	copies, _ := filepath.Glob(filepath.Join(c.Data.Dir, "svc.db.schema-*"))
	for _, path := range copies {
		r.model.acknowledge("copy "+filepath.Base(path), "1")
	}
}, check: func(t *testing.T, r *powerRun, dir string, facts *chaosModel) (problems []string) {
	c := powerConfig(t, dir, powerURL)
	for key := range facts.facts {
		if name, ok := strings.CutPrefix(key, "copy "); ok {
			if err := checkCopy(filepath.Join(c.Data.Dir, name)); err != nil {
				problems = append(problems, fmt.Sprintf("%s: %v", name, err))
			}
		}
	}
	if err := migrate(t, c); err != nil {
		return append(problems, fmt.Sprintf("the upgrade cannot be repeated: %v", err))
	}
	err := readDatabase(c, func(db *sql.DB) error {
		found, err := damage(db)
		if err != nil {
			return err
		}
		problems = append(problems, slices.DeleteFunc(found, func(p string) bool { return strings.HasPrefix(p, "wrong ") })...) // the rows are no real ones
		accounts, err := texts(db, `SELECT nickname FROM accounts`)
		if len(accounts) == 0 {
			problems = append(problems, "there is no account")
		}
		return err
	})
	if err != nil {
		problems = append(problems, err.Error())
	}
	return problems
}}

// checkCopy checks that a file is a database.
func checkCopy(path string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		return err
	}
	defer db.Close()
	list, err := texts(db, `PRAGMA integrity_check`)
	if err == nil && strings.Join(list, "") != "ok" {
		err = errors.New(list[0])
	}
	return err
}

// migrate opens and closes the database.
func migrate(t *testing.T, c *config.Config) error {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{Dir: c.Data.Dir, Schema: powerOptions(t).Schema})
	if err != nil {
		return err
	}
	return db.Close()
}

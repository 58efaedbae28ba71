package app_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/admin"
	"svc/app"
	"svc/internal/config"
	"svc/social"
	"svc/store"
)

const (
	powerImported = 40 // accounts that an import blocks
	powerPurged   = 30 // accounts of a server that is purged
	powerHost     = "remote.example"
)

// powerImport is an import of blocks: its job goes on after a power failure.
var powerImport = powerScenario{name: "import", run: func(t *testing.T, r *powerRun) {
	c := powerConfig(t, r.dir, powerURL)
	addUsers(t, c, powerImported+1)
	var list strings.Builder
	for i := range powerImported {
		fmt.Fprintf(&list, "user%d_of_%d@%s\n", i+1, powerImported+1, strings.TrimPrefix(powerURL, "http://"))
	}
	r.record(t)
	err := withServer(t, c, func(s *app.Server) error {
		i, err := s.Admin.StartImport(t.Context(), admin.ImportList{Name: importingUser(), Kind: store.ImportBlocks, List: list.String()})
		if err != nil {
			return err
		}
		r.model.acknowledge(fmt.Sprint("import ", i.ID), "1")
		return s.Worker.Settle(t.Context())
	})
	if err != nil {
		t.Fatal(err)
	}
}, check: func(t *testing.T, r *powerRun, dir string, facts *chaosModel) (problems []string) {
	c := powerConfig(t, dir, powerURL)
	err := withServer(t, c, func(s *app.Server) error {
		imports, err := s.Admin.Imports(t.Context(), importingUser())
		if err != nil {
			return err
		}
		if len(imports) == 0 {
			if len(facts.facts) > 0 {
				problems = append(problems, "the import is lost")
			}
			return nil
		}
		return settled(t, s, func() (bool, error) {
			i, err := s.DB.Import(t.Context(), store.ImportID(imports[0].ID))
			if err != nil || i.FinishedAt == nil {
				return false, err
			}
			if i.Imported != powerImported {
				problems = append(problems, fmt.Sprintf("%d entries were imported, want %d", i.Imported, powerImported))
			}
			return true, checkCount(c, powerImported, `SELECT count(*) FROM blocks`)
		})
	})
	return append(append(problems, texted(err)...), findings(verified(t, c))...)
}}

func importingUser() string { return fmt.Sprintf("user0_of_%d", powerImported+1) }

// powerPurge removes the accounts and posts of another server.
var powerPurge = powerScenario{name: "purge", run: func(t *testing.T, r *powerRun) {
	c := powerConfig(t, r.dir, powerURL)
	addUsers(t, c, 1)
	r.record(t)
	err := withServer(t, c, func(s *app.Server) error {
		if err := addRemotePosts(t.Context(), s); err != nil {
			return err
		}
		r.model.acknowledge("posts", "1")
		r.model.begin("posts", "")
		if _, err := s.Admin.PurgeInstance(t.Context(), powerHost); err != nil {
			return err
		}
		r.model.acknowledge("posts", "")
		return s.Worker.Settle(t.Context())
	})
	if err != nil {
		t.Fatal(err)
	}
}, check: func(t *testing.T, r *powerRun, dir string, facts *chaosModel) (problems []string) {
	c := powerConfig(t, dir, powerURL)
	err := withServer(t, c, func(s *app.Server) error {
		purge, err := s.DB.InstancePurge(t.Context(), powerHost)
		switch values, known := facts.facts["posts"]; {
		case err != nil:
			return err
		case purge == nil && known && !slices.Contains(values, "1"):
			problems = append(problems, "the purge is lost")
		case purge == nil && known:
			return checkCount(c, powerPurged, `SELECT count(*) FROM statuses WHERE uri LIKE 'https://remote.example/%'`)
		case purge != nil:
			return settled(t, s, func() (bool, error) {
				purge, err := s.DB.InstancePurge(t.Context(), powerHost)
				if err != nil || purge.FinishedAt == nil {
					return false, err
				}
				return true, checkCount(c, 0, `SELECT (SELECT count(*) FROM statuses WHERE uri LIKE 'https://remote.example/%') + (SELECT count(*) FROM accounts WHERE domain = 'remote.example')`)
			})
		}
		return nil
	})
	return append(append(problems, texted(err)...), findings(verified(t, c))...)
}}

// addRemotePosts adds accounts of another server, each with a post.
func addRemotePosts(ctx context.Context, s *app.Server) error {
	return s.DB.Update(ctx, func(tx *store.Tx) error {
		for i := range powerPurged {
			uri := fmt.Sprintf("https://%s/users/%d", powerHost, i)
			name := fmt.Sprint("remote", i)
			a := &store.Account{Nickname: name, NicknameKey: name, Domain: powerHost, URI: uri, URL: uri, ActorType: "Person"}
			if err := tx.AddAccount(ctx, a); err != nil {
				return err
			}
			id := tx.NewStatusID()
			st := &store.Status{ID: id, AccountID: a.ID, URI: uri + "/post", Content: "<p>words</p>", ConversationID: store.ConversationID(id)}
			if err := tx.AddStatus(ctx, st); err != nil {
				return err
			}
			tx.IndexStatus(st, &store.SearchDocument{Texts: []string{"words"}})
		}
		return nil
	})
}

// powerSalvage makes a new database of what can be read in one, here of all.
var powerSalvage = powerScenario{name: "salvage", run: func(t *testing.T, r *powerRun) {
	c := powerConfig(t, r.dir, powerURL)
	addUsers(t, c, 3)
	r.record(t)
	s, err := salvageData(t, c)
	if err != nil {
		t.Fatal(err)
	}
	r.model.acknowledge(done, filepath.Base(s.Damaged))
}, check: func(t *testing.T, r *powerRun, dir string, facts *chaosModel) (problems []string) {
	c := powerConfig(t, dir, powerURL)
	if name := facts.value(done); name != "" {
		if err := checkCopy(filepath.Join(c.Data.Dir, name)); err != nil {
			problems = append(problems, fmt.Sprintf("the damaged database: %v", err))
		}
	} else if err := withServer(t, c, func(*app.Server) error { return nil }); err != nil {
		if _, err := salvageData(t, c); err != nil {
			return []string{fmt.Sprintf("the salvage cannot be repeated: %v", err)}
		}
	}
	err := withServer(t, c, func(s *app.Server) error {
		for part := (social.Recount{ClearSearch: true}); ; { // as the salvage advises
			result, err := s.Admin.RecountData(t.Context(), part)
			if err != nil || result.Next == "" {
				return err
			}
			part = social.Recount{From: result.Next}
		}
	})
	return append(append(problems, texted(err)...), hasUsers(t, c, 3)...)
}}

func salvageData(t *testing.T, c *config.Config) (*store.Salvaged, error) {
	return store.Salvage(t.Context(), store.SalvageOptions{Dir: c.Data.Dir, Schema: powerOptions(t).Schema})
}

// settled runs jobs until something is so, for at most 20 seconds.
func settled(t *testing.T, s *app.Server, is func() (bool, error)) error {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if err := s.Worker.Settle(t.Context()); err != nil {
			return err
		}
		if ok, err := is(); ok || err != nil {
			return err
		}
	}
	return errors.New("the job does not end")
}

// checkCount compares a number in the database.
func checkCount(c *config.Config, want int, query string) error {
	var got int
	err := readDatabase(c, func(db *sql.DB) error { return db.QueryRow(query).Scan(&got) })
	if err == nil && got != want {
		err = fmt.Errorf("%d instead of %d: %s", got, want, query)
	}
	return err
}

// texted returns the text of an error.
func texted(err error) []string {
	if err == nil {
		return nil
	}
	return []string{err.Error()}
}

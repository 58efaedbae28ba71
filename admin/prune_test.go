package admin_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"svc/store"
)

func (h *house) update(fn func(*store.Tx) error) {
	h.t.Helper()
	if err := h.db.Update(h.ctx(), fn); err != nil {
		h.t.Fatal(err)
	}
}

// prune runs the job.
func (h *house) prune() {
	h.t.Helper()
	h.update(func(tx *store.Tx) error { return tx.Enqueue(h.ctx(), store.Prune{}) })
	if err := h.worker.Settle(h.ctx()); err != nil {
		h.t.Fatal(err)
	}
	if parked := must(h.db.JobCounts(h.ctx()))(h.t); len(parked) > 0 && parked[0].Parked > 0 {
		h.t.Fatalf("jobs: %v", parked)
	}
}

func (h *house) app(name string) *store.App {
	h.t.Helper()
	a := &store.App{ClientID: name, ClientSecret: "x", Name: name, RedirectURIs: "x", Scopes: store.Scopes{"read"}, Trusted: name == "trusted"}
	h.update(func(tx *store.Tx) error { return tx.AddApp(h.ctx(), a) })
	return a
}

func TestPruneApps(t *testing.T) {
	h := newHouse(t)
	alice := h.person("alice").ID
	h.app("forgotten")
	h.app("trusted")
	owned, own, user, asked := h.app("owned"), h.app("own token"), h.app("user token"), h.app("code")
	h.update(func(tx *store.Tx) error {
		if err := tx.ClaimApp(h.ctx(), owned.ID, alice); err != nil {
			return err
		}
		if err := tx.AddToken(h.ctx(), &store.Token{Hash: []byte("1"), AppID: &own.ID}); err != nil {
			return err
		}
		return tx.AddToken(h.ctx(), &store.Token{Hash: []byte("2"), AppID: &user.ID, AccountID: &alice})
	})
	wantApps := func(want map[string]bool) {
		t.Helper()
		for name, want := range want {
			if a := must(h.db.AppByClientID(h.ctx(), name))(t); (a != nil) != want {
				t.Errorf("%s is there: %v, want %v", name, a != nil, want)
			}
		}
	}
	h.prune()
	wantApps(map[string]bool{"forgotten": true})
	h.moveOn(31 * 24 * time.Hour)
	h.app("new")
	h.update(func(tx *store.Tx) error {
		return tx.AddCode(h.ctx(), &store.Code{Hash: []byte("c"), AppID: asked.ID, AccountID: alice})
	})
	h.prune()
	wantApps(map[string]bool{"forgotten": false, "trusted": true, "owned": true, "own token": true, "user token": true, "code": true, "new": true})
	h.moveOn(31 * 24 * time.Hour) // the code is over
	h.prune()
	wantApps(map[string]bool{"trusted": true, "owned": true, "own token": true, "user token": true, "code": false, "new": false})
}

// TestPruneExpired has more to remove than one batch holds.
func TestPruneExpired(t *testing.T) {
	h := newHouse(t)
	alice, app := h.person("alice").ID, h.app("app").ID
	const many = 1203
	h.update(func(tx *store.Tx) error {
		for i := range many {
			if err := tx.AddCode(h.ctx(), &store.Code{Hash: []byte(strconv.Itoa(i)), AppID: app, AccountID: alice}); err != nil {
				return err
			}
			if err := tx.RememberIdempotent(h.ctx(), alice, strconv.Itoa(i), 1); err != nil {
				return err
			}
		}
		return tx.SetOneTimeToken(h.ctx(), &store.OneTimeToken{
			Hash: []byte("x"), Kind: store.ResetPassword, AccountID: alice, ExpiresAt: store.At(h.now().Add(time.Hour)),
		})
	})
	more := func() (more bool) {
		t.Helper()
		h.update(func(tx *store.Tx) (err error) {
			more, err = tx.PruneExpired(h.ctx())
			return err
		})
		return more
	}
	if more() {
		t.Error("there is something to remove before the time")
	}
	first := must(h.db.Code(h.ctx(), []byte("0")))(t)
	h.moveOn(store.IdempotencyTime + time.Second)
	if !more() {
		t.Error("one batch was enough")
	}
	h.prune()
	last := must(h.db.Code(h.ctx(), []byte(strconv.Itoa(many-1))))(t)
	if first == nil || last != nil || more() {
		t.Errorf("codes before and after: %v, %v", first, last)
	}
	h.moveOn(-store.IdempotencyTime - time.Second)
	if token := must(h.db.OneTimeToken(h.ctx(), store.ResetPassword, []byte("x")))(t); token != nil {
		t.Error("the link is there still")
	}
}

// TestPruneStrangers meets accounts of others, each with one thing that ties it to here, and one with none.
func TestPruneStrangers(t *testing.T) {
	h := newHouse(t)
	alice := h.person("alice").ID
	met := make(map[string]store.AccountID)
	meet := func(name string) store.AccountID {
		t.Helper()
		a := &store.Account{Nickname: name, Domain: "example.org", URI: "https://example.org/" + name, ActorType: "Person"}
		h.update(func(tx *store.Tx) error { return tx.AddAccount(h.ctx(), a) })
		met[name] = a.ID
		return a.ID
	}
	side := func(query string, args ...any) {
		t.Helper()
		if _, err := h.side.ExecContext(h.ctx(), query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	for name, query := range map[string]string{
		"follower": `INSERT INTO follows (id, follower_id, target_id, pending, follower_local) VALUES (1, ?2, ?1, 0, 0)`,
		"followed": `INSERT INTO follows (id, follower_id, target_id, pending, follower_local) VALUES (2, ?1, ?2, 1, 1)`,
		"blocked":  `INSERT INTO blocks (account_id, target_id) VALUES (?1, ?2)`,
		"blocks":   `INSERT INTO blocks (account_id, target_id) VALUES (?2, ?1)`,
		"muted":    `INSERT INTO mutes (account_id, target_id) VALUES (?1, ?2)`,
		"noted":    `INSERT INTO account_notes (account_id, target_id, comment) VALUES (?1, ?2, 'x')`,
		"withheld": `UPDATE accounts SET withheld = 1 WHERE id = ?2 AND ?1`,
		"deleted":  `UPDATE accounts SET deleted_at = 1 WHERE id = ?2 AND ?1`,
		"relay":    `INSERT INTO relays (id, address, inbox, account_id, litepub, follow_uri) SELECT 3, 'x', 'x', ?2, 1, 'x' WHERE ?1`,
		"author":   `INSERT INTO statuses (id, account_id, visibility, conversation_id, domain, created_at, uri, content) SELECT 4, ?2, 0, 4, 'example.org', 4, 'x', '' WHERE ?1`,
		"reported": `INSERT INTO reports (id, account_id, target_id, category, comment, forwarded) VALUES (5, ?1, ?2, 'spam', '', 0)`,
		"moved to": `UPDATE accounts SET moved_to_id = ?2 WHERE id = ?1`,
		"read now": `INSERT INTO actors (account_id, inbox, fetched_at, tried_at) SELECT ?2, 'x', 9000000000000, 0 WHERE ?1`,
	} {
		side(query, alice, meet(name))
	}
	meet("stranger")
	wantThere := func(without ...string) {
		t.Helper()
		for name, id := range met {
			_, err := h.db.Account(h.ctx(), id)
			if got, want := err == nil, !slices.Contains(without, name); got != want {
				t.Errorf("%s is there: %v, want %v", name, got, want)
			}
		}
	}
	h.prune()
	wantThere()
	h.moveOn(31 * 24 * time.Hour)
	meet("new")
	h.prune()
	wantThere("stranger")
}

// TestPruneHosts knows servers of which something was heard at some time, and in some ways.
func TestPruneHosts(t *testing.T) {
	h := newHouse(t)
	now := h.db.Now()
	old, fresh := store.At(now.Add(-91*24*time.Hour)), store.At(now.Add(-89*24*time.Hour))
	side := func(query string, args ...any) {
		t.Helper()
		if _, err := h.side.ExecContext(h.ctx(), query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	for i := range 600 { // more than are looked at in one transaction
		side(`INSERT INTO hosts (domain, signature, signature_at) VALUES (?, 'neither', ?)`, fmt.Sprintf("host%d.example", i), old)
	}
	side(`INSERT INTO hosts (domain, last_success_at) VALUES ('zz-reached', ?)`, fresh)
	side(`INSERT INTO hosts (domain, unreachable_since) VALUES ('zz-lost', ?)`, fresh)
	side(`INSERT INTO hosts (domain, checked_at) VALUES ('zz-asked', ?)`, fresh)
	side(`INSERT INTO hosts (domain, due_at) VALUES ('zz-due', ?)`, old)
	side(`INSERT INTO hosts (domain, checked_at) VALUES ('zz-known', ?)`, old)
	h.update(func(tx *store.Tx) error {
		return tx.AddAccount(h.ctx(), &store.Account{Nickname: "bob", Domain: "zz-known", URI: "https://zz-known/bob", ActorType: "Person"})
	})
	h.prune()
	left := must(h.db.Hosts(h.ctx(), "", 1000))(t)
	var names []string
	for _, host := range left {
		names = append(names, host.Domain)
	}
	if want := []string{"zz-asked", "zz-due", "zz-known", "zz-lost", "zz-reached"}; !slices.Equal(names, want) {
		t.Errorf("%v are left, want %v", names, want)
	}
}

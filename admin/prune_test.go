package admin_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"svc/social"
	"svc/store"
)

// prune runs the prune job.
func (h *harness) prune() {
	h.t.Helper()
	h.update(func(tx *store.Tx) error { return tx.Enqueue(h.ctx(), store.Prune{}) })
	if err := h.worker.Settle(h.ctx()); err != nil {
		h.t.Fatal(err)
	}
	if parked := must(h.db.JobCounts(h.ctx()))(h.t); len(parked) > 0 && parked[0].Parked > 0 {
		h.t.Fatalf("jobs: %v", parked)
	}
}

func (h *harness) app(name string) *store.App {
	h.t.Helper()
	a := &store.App{ClientID: name, ClientSecret: "x", Name: name, RedirectURIs: "x", Scopes: store.Scopes{"read"}, Trusted: name == "trusted"}
	h.update(func(tx *store.Tx) error { return tx.AddApp(h.ctx(), a) })
	return a
}

func TestPruneApps(t *testing.T) {
	h := newHarness(t)
	alice := h.createUser("alice").ID
	h.app("forgotten")
	h.app("trusted")
	owned, own, user, asked, used := h.app("owned"), h.app("own token"), h.app("user token"), h.app("code"), h.app("used token")
	usedToken := &store.Token{Hash: []byte("3"), AppID: &used.ID}
	h.update(func(tx *store.Tx) error {
		if err := tx.ClaimApp(h.ctx(), owned.ID, alice); err != nil {
			return err
		}
		if err := tx.AddToken(h.ctx(), &store.Token{Hash: []byte("1"), AppID: &own.ID}); err != nil {
			return err
		}
		if err := tx.AddToken(h.ctx(), usedToken); err != nil {
			return err
		}
		return tx.AddToken(h.ctx(), &store.Token{Hash: []byte("2"), AppID: &user.ID, AccountID: &alice})
	})
	wantApps := func(want map[string]bool) {
		t.Helper()
		for name, want := range want {
			if a := must(h.db.AppByClientID(h.ctx(), name))(t); (a != nil) != want {
				t.Errorf("%s exists: %v, want %v", name, a != nil, want)
			}
		}
	}
	h.prune()
	wantApps(map[string]bool{"forgotten": true})
	h.advance(31 * 24 * time.Hour)
	h.app("new")
	h.update(func(tx *store.Tx) error {
		if err := tx.MarkTokenUsed(h.ctx(), usedToken.ID); err != nil {
			return err
		}
		return tx.AddAuthorizationCode(h.ctx(), &store.AuthorizationCode{Hash: []byte("c"), AppID: asked.ID, AccountID: alice})
	})
	h.prune()
	wantApps(map[string]bool{"forgotten": false, "trusted": true, "owned": true, "own token": false, "used token": true, "user token": true, "code": true, "new": true})
	h.advance(31 * 24 * time.Hour) // the code has expired
	h.prune()
	wantApps(map[string]bool{"trusted": true, "owned": true, "used token": false, "user token": true, "code": false, "new": false})
}

// TestPruneExpired removes more rows than one batch has.
func TestPruneExpired(t *testing.T) {
	h := newHarness(t)
	alice, app := h.createUser("alice").ID, h.app("app").ID
	const many = 1203
	h.update(func(tx *store.Tx) error {
		for i := range many {
			if err := tx.AddAuthorizationCode(h.ctx(), &store.AuthorizationCode{Hash: []byte(strconv.Itoa(i)), AppID: app, AccountID: alice}); err != nil {
				return err
			}
			if err := tx.SaveIdempotencyKey(h.ctx(), alice, strconv.Itoa(i), 1); err != nil {
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
		t.Error("rows are removed too early")
	}
	first := must(h.db.AuthorizationCode(h.ctx(), []byte("0")))(t)
	h.advance(store.IdempotencyTTL + time.Second)
	if !more() {
		t.Error("one batch is enough")
	}
	h.prune()
	last := must(h.db.AuthorizationCode(h.ctx(), []byte(strconv.Itoa(many-1))))(t)
	if first == nil || last != nil || more() {
		t.Errorf("codes before and after: %v, %v", first, last)
	}
	h.advance(-store.IdempotencyTTL - time.Second)
	if token := must(h.db.OneTimeToken(h.ctx(), store.ResetPassword, []byte("x")))(t); token != nil {
		t.Error("the token still exists")
	}
}

// TestPruneRemoteAccounts adds remote accounts, each with one row that refers to it, and one without any.
func TestPruneRemoteAccounts(t *testing.T) {
	h := newHarness(t)
	alice := h.createUser("alice").ID
	accounts := make(map[string]store.AccountID)
	add := func(name string) store.AccountID {
		t.Helper()
		a := &store.Account{Nickname: name, Domain: "example.org", URI: "https://example.org/" + name, ActorType: "Person"}
		h.update(func(tx *store.Tx) error { return tx.AddAccount(h.ctx(), a) })
		accounts[name] = a.ID
		return a.ID
	}
	for name, query := range map[string]string{
		"follower":    `INSERT INTO follows (id, follower_id, target_id, pending, follower_local) VALUES (1, ?2, ?1, 0, 0)`,
		"followed":    `INSERT INTO follows (id, follower_id, target_id, pending, follower_local) VALUES (2, ?1, ?2, 1, 1)`,
		"blocked":     `INSERT INTO blocks (account_id, target_id) VALUES (?1, ?2)`,
		"blocks":      `INSERT INTO blocks (account_id, target_id) VALUES (?2, ?1)`,
		"muted":       `INSERT INTO mutes (account_id, target_id) VALUES (?1, ?2)`,
		"noted":       `INSERT INTO account_notes (account_id, target_id, comment) VALUES (?1, ?2, 'x')`,
		"unavailable": `UPDATE accounts SET unavailable = 1 WHERE id = ?2 AND ?1`,
		"deleted":     `UPDATE accounts SET deleted_at = 1 WHERE id = ?2 AND ?1`,
		"relay":       `INSERT INTO relays (id, address, inbox, account_id, litepub, follow_uri) SELECT 3, 'x', 'x', ?2, 1, 'x' WHERE ?1`,
		"author":      `INSERT INTO statuses (id, account_id, visibility, conversation_id, domain, created_at, uri, content) SELECT 4, ?2, 0, 4, 'example.org', 4, 'x', '' WHERE ?1`,
		"reported":    `INSERT INTO reports (id, account_id, target_id, category, comment, forwarded) VALUES (5, ?1, ?2, 'spam', '', 0)`,
		"moved to":    `UPDATE accounts SET moved_to_id = ?2 WHERE id = ?1`,
		"read now":    `INSERT INTO actors (account_id, inbox, fetched_at, attempted_at) SELECT ?2, 'x', 9000000000000, 0 WHERE ?1`,
	} {
		h.exec(query, alice, add(name))
	}
	add("unrelated")
	wantAccounts := func(without ...string) {
		t.Helper()
		for name, id := range accounts {
			_, err := h.db.Account(h.ctx(), id)
			if got, want := err == nil, !slices.Contains(without, name); got != want {
				t.Errorf("%s exists: %v, want %v", name, got, want)
			}
		}
	}
	h.prune()
	wantAccounts()
	h.advance(31 * 24 * time.Hour)
	add("new")
	h.prune()
	wantAccounts("unrelated")
}

// TestPruneLeftovers prunes hosts, thread URIs and tombstones.
func TestPruneLeftovers(t *testing.T) {
	h := newHarness(t)
	alice := h.createUser("alice").ID
	const day = 24 * time.Hour
	wantRows := func(column, table string, want ...string) {
		t.Helper()
		rows, err := h.rawDB.QueryContext(h.ctx(), "SELECT "+column+" FROM "+table+" WHERE "+column+" NOT LIKE '%.many' ORDER BY 1")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var got []string
		for rows.Next() {
			var s string
			if err := rows.Scan(&s); err != nil {
				t.Fatal(err)
			}
			got = append(got, s)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", table, got, want)
		}
	}
	now := h.now().UnixMilli()
	h.update(func(tx *store.Tx) error {
		a := &store.Account{Nickname: "a", Domain: "away.example", URI: "https://away.example/a", ActorType: "Person"}
		return tx.AddAccount(h.ctx(), a)
	})
	h.exec(`INSERT INTO follows (id, follower_id, target_id, pending, follower_local) SELECT 1, ?, id, 0, 1 FROM accounts WHERE domain = 'away.example'`, alice)
	h.exec(`INSERT INTO hosts (domain, signature_at) VALUES ('signed.example', ?)`, now)
	h.exec(`INSERT INTO hosts (domain, last_success_at) VALUES ('met.example', ?)`, now)
	h.exec(`INSERT INTO hosts (domain, last_success_at) VALUES ('new.example', ?)`, now+61*day.Milliseconds())
	h.exec(`INSERT INTO hosts (domain, due_at) VALUES ('due.example', ?)`, now)
	h.exec(`INSERT INTO hosts (domain, unreachable_since) VALUES ('away.example', ?), ('gone.example', ?)`, now, now)
	h.exec(`INSERT INTO statuses (id, account_id, visibility, conversation_id, domain, created_at, uri, content) VALUES (7, ?, 0, 7, '', 4, 'x', '')`, alice)
	h.exec(`INSERT INTO threads (conversation_id, uri) VALUES (7, 'https://a.example/used'), (8, 'https://a.example/unused')`)
	own := h.social.Settings.BaseURL + "/objects/1"
	h.exec(`INSERT INTO tombstones (uri, deleted_at, kind) VALUES (?, ?, 'status'), ('https://a.example/old', ?, 'status'), ('https://a.example/new', ?, 'status')`, own, now, now, now+366*day.Milliseconds())
	h.update(func(tx *store.Tx) error {
		for i := range 1200 {
			id := store.SeenID{Key: store.NewSeenKey(fmt.Sprint("https://a.example/", i)), Source: store.ProcessedFrom("a.example")}
			if err := tx.MarkSeen(h.ctx(), id); err != nil {
				return err
			}
		}
		row := &store.QueuedActivity{SignerID: alice, Body: "{}", Attempts: 7}
		if err := tx.AddQueuedActivity(h.ctx(), row); err != nil {
			return err
		}
		_, err := tx.RecordQueuedActivityFailure(h.ctx(), row, errors.New("trouble"))
		return err
	})
	wantSeen := func(want bool) {
		t.Helper()
		for _, i := range []int{0, 1199} {
			if seen := must(h.db.SeenActivity(h.ctx(), fmt.Sprint("https://a.example/", i)))(t); seen != want {
				t.Errorf("activity %d is seen: %v, want %v", i, seen, want)
			}
		}
		if state := must(h.db.QueuedActivityCounts(h.ctx(), 10))(t); (state.Parked == 1) != want {
			t.Errorf("%d activities are parked", state.Parked)
		}
	}
	for _, query := range []string{ // more than one batch
		`INSERT INTO hosts (domain, checked_at) SELECT i || '.many', 1 FROM n`,
		`INSERT INTO threads (conversation_id, uri) SELECT 1000 + i, i || '.many' FROM n`,
		`INSERT INTO tombstones (uri, deleted_at, kind) SELECT i || '.many', 1, 'status' FROM n`,
	} {
		h.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200) ` + query)
	}
	h.advance(29 * day)
	h.prune()
	wantSeen(true)
	wantRows("domain", "hosts", "away.example", "due.example", "gone.example", "met.example", "new.example", "signed.example")
	wantRows("uri", "threads", "https://a.example/used")
	wantRows("uri", "tombstones", own, "https://a.example/new", "https://a.example/old")
	h.advance(32 * day)
	h.prune()
	wantSeen(false)
	wantRows("domain", "hosts", "away.example", "due.example", "new.example")
	h.advance(305 * day)
	h.prune()
	wantRows("uri", "tombstones", own, "https://a.example/new")
	for _, table := range []string{"hosts WHERE domain", "threads WHERE uri", "tombstones WHERE uri"} {
		n := 0
		if err := h.rawDB.QueryRowContext(h.ctx(), "SELECT count(*) FROM "+table+" LIKE '%.many'").Scan(&n); err != nil || n > 0 {
			t.Errorf("%s: %d are left, %v", table, n, err)
		}
	}
}

// TestBounded adds more rows than the limits of tables that remote servers can fill.
func TestBounded(t *testing.T) {
	h := newHarness(t)
	alice := h.createUser("alice").ID
	t.Run("refusals", func(t *testing.T) {
		for range 15 {
			h.update(func(tx *store.Tx) error {
				for range 1000 {
					if err := tx.AddRefusal(h.ctx(), &store.Refusal{URI: "x", Reason: "x"}); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if n := h.count(`SELECT count(*) FROM refusals`); n < 10_000 || n > 11_001 {
			t.Errorf("%d are stored", n)
		}
		h.prune()
		if n := h.count(`SELECT count(*) FROM refusals`); n != 10_000 {
			t.Errorf("%d are left", n)
		}
	})
	t.Run("parked activities", func(t *testing.T) {
		h.update(func(tx *store.Tx) error {
			for range 2100 {
				row := &store.QueuedActivity{SignerID: alice, Body: "{}"}
				if err := tx.AddQueuedActivity(h.ctx(), row); err != nil {
					return err
				}
				row.Attempts = 7
				if at, err := tx.RecordQueuedActivityFailure(h.ctx(), row, errors.New("trouble")); err != nil || !at.IsZero() {
					t.Fatal(at, err)
				}
			}
			return nil
		})
		if n := h.count(`SELECT count(*) FROM queued_activities`); n != 2000 {
			t.Errorf("%d are stored", n)
		}
	})
	t.Run("versions", func(t *testing.T) {
		st := &store.Status{AccountID: alice, URI: "https://a.example/1", Content: "x"}
		h.update(func(tx *store.Tx) error {
			st.ID = tx.NewStatusID()
			st.ConversationID = store.ConversationID(st.ID)
			if err := tx.AddStatus(h.ctx(), st); err != nil {
				return err
			}
			for i := range 300 {
				m := &store.Media{AccountID: alice, StatusID: &st.ID, Position: -1, RemoteURL: fmt.Sprint("https://a.example/picture", i), Type: "image"}
				if err := tx.AddMedia(h.ctx(), m); err != nil {
					return err
				}
				v := st.AsEdit([]*store.Media{m}, nil)
				v.CreatedAt = store.Time(i)
				if err := tx.AddStatusEdit(h.ctx(), v); err != nil {
					return err
				}
			}
			return nil
		})
		versions := must(h.db.StatusEdits(h.ctx(), st.ID, 1000))(t)
		if len(versions) != 200 || versions[0].CreatedAt != 0 || versions[1].CreatedAt != 101 || versions[199].CreatedAt != 299 {
			t.Errorf("%d are stored", len(versions))
		}
		if n := h.count(`SELECT count(*) FROM media WHERE status_id IS NOT NULL`); n != 200 {
			t.Errorf("%d attachments are kept", n)
		}
	})
}

func TestPruneUnconfirmedAccounts(t *testing.T) {
	h := newHarness(t)
	register := func(nick string) {
		t.Helper()
		g := social.Registration{Nickname: nick, Email: nick + "@example.org", Password: "correct horse", Approved: true, Confirmed: nick == "confirmed"}
		if _, _, err := h.social.SignUp(h.ctx(), g); err != nil {
			t.Fatal(err)
		}
	}
	exists := func(nick string) bool {
		_, err := h.db.AccountByName(h.ctx(), nick, "")
		return err == nil
	}
	register("confirmed")
	register("late")
	register("used")
	used := must(h.db.AccountByName(h.ctx(), "used", ""))(t)
	h.update(func(tx *store.Tx) error { return tx.MarkActive(h.ctx(), used.ID) })
	h.advance(13 * 24 * time.Hour)
	register("new")
	h.prune()
	for _, nick := range []string{"confirmed", "late", "used", "new"} {
		if !exists(nick) {
			t.Errorf("%s was removed after 13 days", nick)
		}
	}
	h.advance(2 * 24 * time.Hour)
	h.prune()
	for nick, want := range map[string]bool{"confirmed": true, "late": false, "used": true, "new": true} {
		if exists(nick) != want {
			t.Errorf("after 15 days, %s exists: %v, want %v", nick, !want, want)
		}
	}
	register("late") // nickname and address are free again
}

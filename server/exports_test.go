package server_test

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/social"
	"svc/store"
)

// exportOf returns the rows of an export, sorted as they come.
func exportOf(c *apptest.Client, kind string) []string {
	c.Server.T.Helper()
	a := c.Get("/api/v1/svc/exports/" + kind + ".csv").Want(200)
	if got := a.Header.Get("Content-Type"); got != "text/csv; charset=utf-8" {
		c.Server.T.Errorf("%s has the type %s", kind, got)
	}
	if got := a.Header.Get("Content-Disposition"); !strings.HasPrefix(got, `attachment; filename="`) {
		c.Server.T.Errorf("%s has the disposition %s", kind, got)
	}
	if got := a.Header.Get("Cache-Control"); !strings.Contains(got, "no-store") {
		c.Server.T.Errorf("%s may be cached: %q", kind, got)
	}
	rows, err := csv.NewReader(strings.NewReader(string(a.Body))).ReadAll()
	if err != nil {
		c.Server.T.Fatal(err)
	}
	var lines []string
	for _, row := range rows {
		lines = append(lines, strings.Join(row, "|"))
	}
	return lines
}

// TestExports exports what one account has, imports all of it into another one, and exports that.
func TestExports(t *testing.T) {
	peers := apptest.StartPeers(t, 2)
	here, there := peers[0], peers[1]
	alice, bob := here.SignUp("alice"), here.SignUp("bob")
	carol, dora := there.SignUp("carol"), there.SignUp("dora")
	second := here.SignUp("second")
	a, b := apptest.MustHost(t, here.URL), apptest.MustHost(t, there.URL)

	alice.Post("/api/v1/accounts/"+bob.ID+"/follow", "reblogs", "false", "notify", "true", "languages[]", "de", "languages[]", "en").Want(200)
	alice.AccountAction(alice.FindRemote(carol), "follow")
	alice.AccountAction(alice.FindRemote(dora), "mute", "notifications", "false")
	eve := here.SignUp("eve")
	alice.AccountAction(eve.ID, "block")
	alice.Post("/api/v1/domain_blocks", "domain", "spam.example").Want(200)
	list := alice.AddList(`Friends, "old" and new`, nil, bob)
	alice.AddList("Empty", nil)
	alice.Post("/api/v1/lists/"+list+"/accounts", "account_ids[]", alice.FindRemote(carol)).Want(200)
	post := bob.Publish("to keep")
	alice.Post("/api/v1/statuses/" + post.ID() + "/bookmark").Want(200)
	apptest.Settle(here, there)

	want := map[string][]string{
		"follows":       {"Account address|Show boosts|Notify on new posts|Languages", "bob@" + a + "|false|true|de, en", "carol@" + b + "|true|false|"},
		"mutes":         {"Account address|Hide notifications", "dora@" + b + "|false"},
		"blocks":        {"eve@" + a},
		"domain_blocks": {"spam.example"},
		"lists":         {`Friends, "old" and new|bob@` + a, `Friends, "old" and new|carol@` + b},
		"bookmarks":     {post.Str("uri")},
	}
	for kind, rows := range want {
		apptest.WantList(t, kind, exportOf(alice.Client, kind), rows...)
		if rows := exportOf(bob.Client, kind); len(rows) > 1 || strings.Contains(fmt.Sprint(rows), "@") {
			t.Errorf("bob has no rows and exports %s %q", kind, rows)
		}
		account, err := here.DB.Account(t.Context(), second.AccountID())
		if err != nil {
			t.Fatal(err)
		}
		content := string(alice.Get("/api/v1/svc/exports/" + kind + ".csv").Want(200).Body)
		if _, err := here.Social.StartImport(t.Context(), account, store.ImportKind(kind), content, true); err != nil {
			t.Fatal(err)
		}
	}
	apptest.Settle(here, there)
	for kind, rows := range want {
		apptest.WantList(t, kind+" of the second account", exportOf(second.Client, kind), rows...)
	}
}

// TestExportPages exports more rows than are read at a time.
func TestExportPages(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	const n = 1203
	id := int64(alice.AccountID())
	srv.Exec(fmt.Sprintf(`
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO accounts (id, nickname, nickname_key, domain, uri, url, created_at)
		SELECT i, 'x' || i, 'x' || i, 'x.example', 'https://x.example/' || i, '', 1 FROM n`, n))
	srv.Exec(fmt.Sprintf(`INSERT INTO blocks (account_id, target_id) SELECT %d, id FROM accounts WHERE domain = 'x.example'`, id))
	srv.Exec(fmt.Sprintf(`INSERT INTO follows (id, follower_id, target_id) SELECT id, %d, id FROM accounts WHERE domain = 'x.example'`, id))
	lists := []string{alice.AddList("one", nil), alice.AddList("two", nil)}
	for i := range lists {
		srv.Exec(fmt.Sprintf(`INSERT INTO list_members (list_id, account_id) SELECT (SELECT id FROM lists ORDER BY id LIMIT 1 OFFSET %d), id FROM accounts WHERE domain = 'x.example'`, i))
	}
	for kind, want := range map[string]int{"blocks": n, "follows": n + 1, "lists": 2 * n} {
		seen := make(map[string]bool)
		for _, row := range exportOf(alice.Client, kind) {
			seen[row] = true
		}
		if len(seen) != want {
			t.Errorf("%s have %d different rows, want %d", kind, len(seen), want)
		}
	}
	if _, _, err := srv.Social.Export(t.Context(), alice.AccountID(), "nonsense", social.ExportCursor{}); err == nil {
		t.Error("an unknown kind is exported")
	}
}

func TestExportAccess(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	scopes := map[string]string{
		"follows": "read:follows", "blocks": "read:blocks", "mutes": "read:mutes", "lists": "read:lists", "bookmarks": "read:bookmarks", "domain_blocks": "read:blocks",
	}
	clients := make(map[string]*apptest.Client)
	for _, scope := range scopes {
		if clients[scope] == nil {
			clients[scope] = srv.NewToken(alice, scope)
		}
	}
	for kind, needed := range scopes {
		path := "/api/v1/svc/exports/" + kind + ".csv"
		srv.As(nil).Get(path).WantError(403, "Invalid credentials.")
		for scope, c := range clients {
			want := 403
			if scope == needed {
				want = 200
			}
			c.Get(path).Want(want)
		}
	}
	alice.Get("/api/v1/svc/exports/chats.csv").Want(404)
}

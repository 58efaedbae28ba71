package command_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestDatabaseCommands runs each command with and without a server.
func TestDatabaseCommands(t *testing.T) {
	p := newWorkspace(t)
	p.run("db", "check").fails(1, "no database")
	p.run("user", "create", "alice", "--email", "alice@example.org", "--password", "secret-password").ok()
	for _, running := range []bool{false, true} {
		if running {
			p.serve()
		}
		if got := p.run("db", "check").ok(); got != "The database is intact.\n" {
			t.Errorf("check: %q", got)
		}
		if got := p.run("db", "stats").ok(); !strings.Contains(got, "\naccounts ") || !strings.HasPrefix(got, "Database: ") {
			t.Errorf("stats: %q", got)
		}
		var sizes struct {
			Bytes  int64
			Tables []struct{ Bytes, Entries int64 }
		}
		if err := json.Unmarshal([]byte(p.run("db", "stats", "--json").ok()), &sizes); err != nil || len(sizes.Tables) < 50 || sizes.Bytes < sizes.Tables[0].Bytes {
			t.Errorf("stats as JSON: %+v, %v", sizes, err)
		}
		for _, name := range []string{"prune", "vacuum"} {
			if got := p.run("db", name).ok(); !strings.HasPrefix(got, "Database: ") {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
	p.run("db", "shrink").fails(2, "unknown command")
}

// TestDamagedDatabase checks a database with a row that refers to a missing one.
func TestDamagedDatabase(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org", "--password", "secret-password").ok()
	p.query(new(int), `INSERT INTO oauth_tokens (hash, account_id, scopes, created_at, last_used_at) VALUES (x'00', 12345, 'read', 0, 0) RETURNING 1`)
	for _, flags := range [][]string{nil, {"--json"}} {
		r := p.run(append([]string{"db", "check"}, flags...)...)
		if r.code != 1 || !strings.Contains(r.out, "oauth_tokens refers to a missing row") || !strings.Contains(r.errOut, "restore a backup") {
			t.Errorf("%d %q %q", r.code, r.out, r.errOut)
		}
	}
}

func TestFederationFetch(t *testing.T) {
	loopback := []string{"[federation]", "allow_loopback = true"}
	here, there := newWorkspace(t, loopback...), newWorkspace(t, loopback...)
	there.run("user", "create", "alice", "--email", "alice@example.org", "--password", "secret-password").ok()
	there.addToken("alice", "token")
	there.serve()
	here.serve()
	host := strings.TrimPrefix(there.url, "http://")
	for range 2 { // known, the second time
		if got, want := here.run("federation", "fetch", "alice@"+host).ok(), "Account alice@"+host+" is up to date.\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	var post struct{ ID, URI string }
	_, body := there.get("/api/v1/statuses/"+there.post("token", "hello"), "token")
	if err := json.Unmarshal([]byte(body), &post); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, want := here.run("federation", "fetch", post.URI).ok(), "Post "+post.URI+" is up to date.\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if status, _, err := there.request(t.Context(), "DELETE", "/api/v1/statuses/"+post.ID, "token", nil); status != 200 || err != nil {
		t.Fatal(status, err)
	}
	// The fetch deletes the post, unless the Delete of its server has done so already.
	if r := here.run("federation", "fetch", post.URI); !strings.Contains(r.out, "is gone, and deleted here") && !strings.Contains(r.errOut, "status 410") {
		t.Errorf("a deleted post: %d %q %q", r.code, r.out, r.errOut)
	}
	here.run("federation", "fetch", post.URI).fails(1, "status 410")
	here.run("federation", "fetch", "nobody@"+host).fails(1, "")
	here.run("federation", "fetch").fails(2, "ADDRESS is missing")
}

func TestUserTokens(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org", "--password", "secret-password").ok()
	p.addToken("alice", "first")
	p.addToken("alice", "second")
	p.serve()
	type token struct {
		ID     int64
		Scopes string
	}
	tokens := func() (list []token) {
		t.Helper()
		if err := json.Unmarshal([]byte(p.run("user", "tokens", "alice", "--json").ok()), &list); err != nil {
			t.Fatal(err)
		}
		return list
	}
	list := tokens()
	if len(list) != 2 || list[0].Scopes == "" {
		t.Fatalf("%+v", list)
	}
	if got := p.run("user", "tokens", "alice").ok(); strings.Count(got, "\n") != 3 {
		t.Errorf("%q", got)
	}
	want := func(token string, status int) {
		t.Helper()
		if got, _ := p.get("/api/v1/accounts/verify_credentials", token); got != status {
			t.Errorf("the token %q: %d, want %d", token, got, status)
		}
	}
	want("second", 200)
	id := jsonText(list[0].ID) // the newest one
	p.run("user", "revoke-token", "alice", id).ok()
	want("second", 401)
	want("first", 200)
	p.run("user", "revoke-token", "alice", id).fails(1, "@alice has no token "+id)
	p.run("user", "revoke-token", "alice", "x").fails(2, `"x" is not the id of a token`)
	p.run("user", "revoke-token", "alice").fails(2, "ID")
	if got := p.run("user", "sign-out", "alice").ok(); got != "alice is signed out everywhere.\n" {
		t.Errorf("%q", got)
	}
	want("first", 401)
	if got := p.run("user", "sign-out", "alice").ok(); got != "alice was not signed in.\n" {
		t.Errorf("%q", got)
	}
	p.run("user", "tokens", "nobody").fails(1, "nobody")
	log := p.run("log", "moderation", "list").ok()
	for _, entry := range []string{"revoked a token of users: @alice", "signed out users: @alice"} {
		if strings.Count(log, entry) != 1 {
			t.Errorf("the moderation log has not %q once:\n%s", entry, log)
		}
	}
}

func jsonText(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

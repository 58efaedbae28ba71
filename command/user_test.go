package command_test

import (
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestUserCommands runs the same commands with and without a server: they must answer alike.
func TestUserCommands(t *testing.T) {
	steps := []struct {
		args string
		code int
		want string // in the output, or in the error
	}{
		{"user create alice --email alice@example.org --admin --password correct-horse", 0, "Created the account alice (URL/@alice).\n"},
		{"user create bob --email bob@example.org", 0, "Password: "},
		{"user create Alice --email other@example.org", 1, "There is an account Alice already"},
		{"user create carol --email BOB@example.org", 1, "email has already been taken"},
		{"user create ca.rol --email carol@example.org", 1, "nickname has invalid format"},
		{"user create oauth --email carol@example.org", 1, "The nickname oauth is reserved"},
		{"user create carol --email carol", 1, "email has invalid format"},
		{"user create carol", 2, "--email"},
		{"user create", 2, "NICK is missing"},
		{"user create a b --email a@example.org", 2, `unexpected argument "b"`},
		{"user create a --email a@example.org --password x --ask-password", 2, "use either"},
		{"user list", 0, "alice"},
		{"user list", 0, "bob@example.org"},
		{"user list extra", 2, `unexpected argument "extra"`},
		{"user show @alice", 0, "role:         admin\n"},
		{"user show BOB", 0, "state:        active\n"},
		{"user show nobody", 1, `There is no account "nobody"`},
		{"user set bob --moderator --locked --email new@example.org", 0, "role:         moderator\n"},
		{"user show bob", 0, "locked:       yes\n"},
		{"user show bob", 0, "e-mail:       new@example.org\n"},
		{"user set bob --moderator=false", 0, "role:         user\n"},
		{"user set bob --email alice@example.org", 1, "Email has already been taken"},
		{"user set bob --email nonsense", 1, "Email has invalid format"},
		{"user set bob", 2, "name what to change"},
		{"user set bob --admin=perhaps", 2, "must be true or false"},
		{"user set alice --admin=false", 1, "This is the last admin"},
		{"user confirm bob", 0, "bob is already confirmed.\n"},
		{"user reset-mfa bob", 0, "bob has no second factor.\n"},
		{"user approve bob", 0, "bob is already approved.\n"},
		{"user activate bob", 0, "bob is already active.\n"},
		{"user deactivate bob", 0, "bob is deactivated.\n"},
		{"user deactivate bob", 0, "bob is already deactivated.\n"},
		{"user show bob", 0, "state:        deactivated\n"},
		{"user activate bob", 0, "bob is active.\n"},
		{"user deactivate alice", 1, "This is the last admin"},
		{"user delete alice --yes", 1, "This is the last admin"},
		{"user reset-password bob", 0, "URL/api/v1/svc/password_reset/"},
		{"user reset-password bob --password another-horse", 0, "sessions are signed out"},
		{"user reset-password nobody", 1, "There is no account"},
		{"user delete bob", 2, "--yes"},
		{"user delete bob --yes", 0, "bob is deleted.\n"},
		{"user delete bob --yes", 1, "There is no account"},
		{"user create bob --email bob@example.org", 1, "belonged to an account that was deleted"},
		{"user invite", 0, "Created invite 1 (works once):\nURL/registration/"},
		{"user invite --max-use 3 --expires-at 2100-01-31", 0, "Created invite 2 (works 3 times, until the end of 2100-01-31):\nURL/registration/"},
		{"user invite --expires-at 2100-01-31", 0, "works any number of times, until"},
		{"user invite --max-use 0", 2, "--max-use must be 1 or more"},
		{"user invite --max-use 99999", 1, "1 to 10000 times"},
		{"user invite --expires-at yesterday", 1, "is not a date"},
		{"user invite --expires-at 2001-01-31", 1, "in the past"},
		{"user invite --email a@example.org --max-use 2", 2, "works once"},
		{"user invite --email a@example.org", 1, "`registrations_open` option to false"},
		{"user invite extra", 2, `unexpected argument "extra"`},
		{"user invites", 0, "reusable_date_limited  open   0     3         2100-01-31  URL/registration/"},
		{"user revoke-invite 2", 0, "Invite 2 is revoked.\n"},
		{"user revoke-invite 9", 1, `There is no invite "9"`},
		{"user revoke-invite", 2, "ID is missing"},
		{"user invites", 0, "used"},
		{"user frobnicate", 2, `unknown command "frobnicate" for "svc user"`},
		{"user crate", 2, `did you mean "create"?`},
		{"usr", 2, `did you mean "user"?`},
		{"user list --nonsense", 2, "unknown flag: --nonsense"},
	}
	secret := regexp.MustCompile(`Password: \S+|registration/\S+|password_reset/\S+|id: +\w+ \(\d+\)`)
	var outputs [2][]string
	for i, name := range []string{"without a server", "with a server"} {
		t.Run(name, func(t *testing.T) {
			p := newWorkspace(t)
			if i == 1 {
				p.serve()
			}
			for _, tt := range steps {
				r := p.run(strings.Fields(tt.args)...)
				if tt.code != 0 {
					r.fails(tt.code, tt.want)
				} else if got := strings.ReplaceAll(r.ok(), p.url, "URL"); !strings.Contains(got, tt.want) {
					t.Errorf("svc %s: got %q, want %q in it", tt.args, got, tt.want)
				}
				outputs[i] = append(outputs[i], secret.ReplaceAllString(strings.ReplaceAll(r.out+r.errOut, p.url, "URL"), "…"))
			}
		})
	}
	for i, tt := range steps {
		if len(outputs[0]) > i && len(outputs[1]) > i && outputs[0][i] != outputs[1][i] {
			t.Errorf("svc %s: without a server %q, with one %q", tt.args, outputs[0][i], outputs[1][i])
		}
	}
}

// TestUserByID finds an account by the id that stands in the log.
func TestUserByID(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	s := p.serve()
	_, body := p.get("/api/v1/accounts/alice", "")
	var account struct{ ID string }
	if err := json.Unmarshal([]byte(body), &account); err != nil {
		t.Fatal(err)
	}
	if got := p.run("user", "show", account.ID).ok(); !strings.Contains(got, "nickname:     alice\n") || !strings.Contains(got, account.ID+" (") {
		t.Errorf("got %q", got)
	}
	s.stop()
	p.run("user", "deactivate", account.ID).ok()
	p.run("user", "show", account.ID+"x").fails(1, "There is no account")
}

func TestUserChangesCountAtOnce(t *testing.T) {
	p := newWorkspace(t)
	for _, nick := range []string{"alice", "bob"} {
		p.run("user", "create", nick, "--email", nick+"@example.org").ok()
		p.addToken(nick, nick)
	}
	p.serve()
	id := p.post("bob", "here I am")
	wants := func(token, path string, want int) {
		t.Helper()
		if got, body := p.get(path, token); got != want {
			t.Errorf("%s: got %d %s, want %d", path, got, body, want)
		}
	}
	wants("bob", "/api/v1/timelines/home", 200)
	wants("alice", "/api/v1/statuses/"+id, 200)
	p.run("user", "rebuild-home", "bob").ok()
	wants("bob", "/api/v1/timelines/home", 200)
	p.run("user", "rebuild-home", "nobody").fails(1, "nobody")
	p.run("user", "deactivate", "bob").ok()
	wants("bob", "/api/v1/timelines/home", 401)
	wants("alice", "/api/v1/statuses/"+id, 404)
	p.run("user", "activate", "bob").ok()
	wants("bob", "/api/v1/timelines/home", 401) // the user has to sign in again
	wants("alice", "/api/v1/statuses/"+id, 200)
	p.addToken("bob", "bob")
	wants("bob", "/api/v1/timelines/home", 200)
	p.run("user", "reset-password", "bob", "--password", "another-horse").ok()
	wants("bob", "/api/v1/timelines/home", 401)
	p.run("user", "delete", "bob", "--yes").ok()
	wants("alice", "/api/v1/statuses/"+id, 404)
}

func TestPasswordFromStandardInput(t *testing.T) {
	p := newWorkspace(t)
	apptest.CreateData(t, p.dir)
	r := p.runWithInput("correct horse battery\n", "user", "create", "alice", "--email", "alice@example.org", "--ask-password")
	if got := r.ok(); strings.Contains(got, "correct") || strings.Contains(got, "Password") {
		t.Errorf("the password is printed: %q", got)
	}
	before := p.passwordHash("alice")
	p.runWithInput("battery horse correct", "user", "reset-password", "alice", "--ask-password").ok()
	if p.passwordHash("alice") == before {
		t.Error("the password is the old one")
	}
	p.serve()
	for password, want := range map[string]int{"battery horse correct": 200, "correct horse battery": 401} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", p.url+"/api/v1/accounts/verify_credentials", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth("alice", password)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("signing in with %q: got %d, want %d", password, resp.StatusCode, want)
		}
	}
	if r := p.runWithInput("", "user", "reset-password", "alice", "--ask-password"); r.code != 1 {
		t.Errorf("without an answer: exit code %d", r.code)
	}
	if r := p.runWithInput("\n", "user", "reset-password", "alice", "--ask-password"); r.code != 1 {
		t.Errorf("with an empty answer: exit code %d", r.code)
	}
}

func TestResetLinkIsStoredAsHash(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	lines := strings.Fields(p.run("user", "reset-password", "alice").ok())
	token := lines[len(lines)-1]
	token = token[strings.LastIndex(token, "/")+1:]
	hash := sha256.Sum256([]byte(token))
	var kind string
	p.query(&kind, `SELECT kind FROM one_time_tokens WHERE hash = ?`, hash[:])
	if kind != "reset" {
		t.Errorf("got a token for %q", kind)
	}
}

func (p *workspace) passwordHash(nick string) (hash string) {
	p.t.Helper()
	p.query(&hash, `SELECT password_hash FROM users JOIN accounts ON id = account_id WHERE nickname = ?`, nick)
	return hash
}

// query reads one value from the database. No server may run.
func (p *workspace) query(value any, query string, args ...any) {
	p.t.Helper()
	db, err := sql.Open("sqlite", p.path("data", "svc.db"))
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query, args...).Scan(value); err != nil {
		p.t.Fatal(err)
	}
}

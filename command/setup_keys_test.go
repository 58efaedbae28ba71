package command_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestNewKeys loses the keys of a server in several ways. svc setup --new-keys brings it back: users and sessions stay, and what was sealed is named.
func TestNewKeys(t *testing.T) {
	for _, tt := range []struct {
		name string
		lose func(*workspace)
		kept bool // the rest of the old keys
	}{
		{"all", func(p *workspace) { p.remove("data/keys") }, false},
		{"one file", func(p *workspace) { p.remove("data/keys/secret") }, true},
		{"damaged", func(p *workspace) { p.writeFile("data/keys/vapid.json", "{}") }, true},
		{"of another server", func(p *workspace) { p.writeFile("data/keys/secret", strings.Repeat("x", 32)) }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newWorkspace(t)
			p.run("user", "create", "alice", "--email", "alice@example.org", "--password", apptest.Password).ok()
			s := p.serve()
			before := p.actorKey("alice")
			p.run("setup", "--new-keys", "--yes").fails(1, "in use")
			s.stop()
			p.run("setup", "--new-keys", "--yes").fails(1, "belong to the database")

			tt.lose(p)
			p.run("user", "list").fails(1, "svc setup --new-keys")
			p.run("setup", "--new-keys", "--yes", "--admin", "bob").fails(2, "leave out --admin")
			if r := p.runWithInput("n\n", "setup", "--new-keys"); r.code != 1 || !strings.Contains(r.errOut, "nothing was changed") {
				t.Errorf("declined: got %d, %s", r.code, r.errOut)
			}
			out := p.runWithInput("y\n", "setup", "--new-keys").ok()
			if !strings.Contains(out, "signing keys of accounts: ") || strings.Contains(out, "signing keys of accounts: 0") || strings.Contains(out, "What was there is in") != tt.kept {
				t.Errorf("got %s", out)
			}
			p.run("setup", "--new-keys", "--yes").fails(1, "belong to the database")

			s = p.serve()
			if got := p.run("user", "list").ok(); !strings.Contains(got, "alice") {
				t.Errorf("the users are %s", got)
			}
			after := p.actorKey("alice")
			if after == before || after == "" {
				t.Errorf("the key is still %s", after)
			}
			if v := p.verify(0); len(v.Findings) > 0 {
				t.Errorf("got %+v", v)
			}
			s.stop()
		})
	}
}

// TestNewKeysNeedData checks that new keys are for a server that exists.
func TestNewKeysNeedData(t *testing.T) {
	p := newWorkspace(t)
	p.run("setup", "--new-keys", "--yes").fails(1, "there is no server in")
	if _, err := os.Stat(p.path("data")); err == nil {
		t.Error("a data directory was made")
	}
}

// actorKey returns the id and the text of the public key in the document of an account.
func (p *workspace) actorKey(nick string) string {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), "GET", p.url+"/@"+nick, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Accept", "application/activity+json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	var actor struct {
		PublicKey struct{ ID, PublicKeyPem string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&actor); err != nil || resp.StatusCode != 200 || actor.PublicKey.ID == "" {
		p.t.Fatalf("the actor of %s: %d, %v, %+v", nick, resp.StatusCode, err, actor)
	}
	return actor.PublicKey.ID + actor.PublicKey.PublicKeyPem
}

func (p *workspace) remove(name string) {
	p.t.Helper()
	if err := os.RemoveAll(p.path(name)); err != nil {
		p.t.Fatal(err)
	}
}

package command_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"svc/app/apptest"
)

// TestGoodbyeQuestions checks that a server is closed only if its domain is typed.
func TestGoodbyeQuestions(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	domain := strings.TrimPrefix(p.url, "http://")
	for _, tt := range []struct {
		name, input string
		args        []string
		want        string
	}{
		{"without anything", "", nil, "add --yes --domain DOMAIN"},
		{"without --yes", domain + "\n", []string{"--domain", domain}, "add --yes --domain DOMAIN"},
		{"without the domain", "", []string{"--yes"}, "the domain is missing"},
		{"an empty line", "\n", []string{"--yes"}, "the domain of this server is " + domain},
		{"another domain", "", []string{"--yes", "--domain", "other.example"}, `the domain of this server is ` + domain + `, not "other.example"`},
		{"another domain as text", "other.example\n", []string{"--yes"}, "nothing was changed"},
		{"an argument", "", []string{domain, "--yes"}, "unexpected argument"},
		{"--status and --cancel", "", []string{"--status", "--cancel"}, "go with no other flag"},
		{"--status and --yes", "", []string{"--status", "--yes"}, "go with no other flag"},
	} {
		r := p.runWithInput(tt.input, append([]string{"federation", "goodbye"}, tt.args...)...)
		if r.code != 2 || !strings.Contains(r.errOut, tt.want) || r.out != "" {
			t.Errorf("%s: exit code %d, %q, want 2 and %q", tt.name, r.code, r.errOut, tt.want)
		}
	}
	p.run("federation", "goodbye", "--cancel").fails(1, "this server is not being closed")
	if got := p.run("federation", "goodbye", "--status").ok(); got != domain+" is not being closed.\n" {
		t.Errorf("--status prints %q", got)
	}
	if got := p.runWithInput(domain+"\n", "federation", "goodbye", "--yes").ok(); !strings.Contains(got, "is being closed") || !strings.Contains(got, "svc serve") {
		t.Errorf("the domain as text: it prints %q", got)
	}
	p.run("user", "create", "bob", "--email", "bob@example.org").ok() // commands of the machine work
	if got := p.run("federation", "goodbye", "--cancel").ok(); !strings.Contains(got, "is open again") {
		t.Errorf("--cancel prints %q", got)
	}
	p.run("federation", "goodbye", "--yes", "--domain", domain).ok()
	p.run("federation", "goodbye").ok() // a second call asks nothing
	if got := p.run("log", "moderation", "list").ok(); strings.Count(got, "the command line closed this server permanently") != 2 ||
		strings.Count(got, "the command line canceled the closing of this server") != 1 {
		t.Errorf("the moderation log is %q", got)
	}

	off := newWorkspace(t, "[federation]\nenabled = false")
	off.run("user", "create", "alice", "--email", "alice@example.org").ok()
	off.run("federation", "goodbye", "--yes", "--domain", strings.TrimPrefix(off.url, "http://")).fails(1, "federation is disabled")
}

// TestGoodbyeAfterKill kills a server while it tells others that it is closed. It continues after the next start, and says so.
func TestGoodbyeAfterKill(t *testing.T) {
	apptest.SkipIfShort(t)
	in := startInboxServer(t, 3)
	var up atomic.Bool
	in.reply = func(host int, w http.ResponseWriter) {
		if host == 2 && !up.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}
	p := newFederatedWorkspace(t, in)
	s := p.serve()
	var actors []string
	for i := range 12 { // more than are queued at a time
		nick := fmt.Sprintf("user%d", i)
		p.run("user", "create", nick, "--email", nick+"@example.org").ok()
		r, err := http.NewRequestWithContext(t.Context(), "GET", p.url+"/users/"+nick, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "application/activity+json")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var actor struct{ ID string }
		if err := json.NewDecoder(resp.Body).Decode(&actor); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		actors = append(actors, actor.ID)
	}
	domain := strings.TrimPrefix(p.url, "http://")
	p.run("federation", "goodbye", "--yes", "--domain", domain).ok()
	s.waitUntil("the first Delete", func() bool { return in.has(actors[0], 0, 2) > 0 })
	s.signal(syscall.SIGKILL)
	<-s.done
	if in.has(actors[11], 0, 3) > 0 {
		t.Fatal("all Deletes had arrived before the kill")
	}

	s = p.serve()
	s.waitForLog("this server is being closed permanently")
	if status, body := p.get("/api/v1/instance", ""); status != http.StatusGone || !strings.Contains(body, "This server is closed") {
		t.Errorf("after the restart, the API answers %d %s", status, body)
	}
	s.waitUntil("the Deletes at the servers that are up", func() bool {
		for _, actor := range actors {
			if in.has(actor, 0, 2) < 2 {
				return false
			}
		}
		return true
	})
	up.Store(true)
	p.openDatabase(func(db *sql.DB) error {
		_, err := db.Exec(`UPDATE deliveries SET run_at = 1000`)
		return err
	})
	p.run("federation", "retry", "--all").ok()
	s.waitUntil("the Deletes at the server that was down", func() bool {
		p.run("federation", "retry", "--all").ok()
		return in.has(actors[11], 2, 3) == 1
	})
	p.run("federation", "retry", "--all").ok() // or the job waits for up to a minute before it finds out
	if got := p.run("federation", "goodbye", "--wait").ok(); got != domain+" is closed: 3 servers were reached, 0 could not be reached. You may stop the server now.\n" {
		t.Errorf("in the end it prints %q", got)
	}
	s.waitForLog("you may stop it now")
	var state struct {
		State   string
		Servers int
		Reached int
	}
	if err := json.Unmarshal([]byte(p.run("federation", "goodbye", "--status", "--json").ok()), &state); err != nil || state.State != "closed" || state.Reached != 3 || state.Servers != 3 {
		t.Errorf("--status --json prints %+v, %v", state, err)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	for host, got := range in.got[:2] {
		for _, actor := range actors {
			if got[actor] > 2 { // those in flight during the kill are sent again
				t.Errorf("server %d got the Delete of %s %d times", host, actor, got[actor])
			}
		}
	}
	s.signal(syscall.SIGTERM)
	s.waitExit(0)
}

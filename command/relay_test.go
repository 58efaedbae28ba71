package command_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// startRelay starts something that looks like a relay, and returns its address. deliveries counts what it is sent.
func startRelay(t *testing.T) (address string, deliveries *atomic.Int32) {
	t.Helper()
	deliveries = new(atomic.Int32)
	ts := httptest.NewUnstartedServer(nil)
	base := "http://" + ts.Listener.Addr().String()
	ts.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			deliveries.Add(1)
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusAccepted)
		case r.URL.Path == "/actor":
			w.Header().Set("Content-Type", "application/activity+json")
			json.NewEncoder(w).Encode(map[string]any{
				"@context": "https://www.w3.org/ns/activitystreams", "id": base + "/actor", "type": "Application", "preferredUsername": "relay",
				"inbox": base + "/inbox",
			})
		default:
			http.NotFound(w, r)
		}
	})
	ts.Start()
	t.Cleanup(ts.Close)
	return base + "/actor", deliveries
}

// TestFederationCommands runs commands without and with a server.
func TestFederationCommands(t *testing.T) {
	for name, running := range map[string]bool{"without a server": false, "with a server": true} {
		t.Run(name, func(t *testing.T) {
			address, deliveries := startRelay(t)
			host := strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/actor")
			p := newWorkspace(t, "[federation]", "allow_loopback = true")
			p.run("relay", "list").fails(1, "there is no database")
			p.run("user", "create", "alice", "--email", "alice@example.org").ok()
			if running {
				p.serve()
			}
			for _, step := range []struct {
				args string
				code int
				want string
			}{
				{"relay follow", 2, "URL is missing"},
				{"relay follow nonsense", 1, "is not the URL of a relay"},
				{"relay follow " + address + "s", 1, "could not be fetched"},
				{"relay follow " + address, 0, "Follow request sent"},
				{"relay list", 0, address + "  pending\n"},
				{"relay unfollow " + address + "s", 1, "No relay has the URL"},
				{"relay unfollow " + address, 0, "Unfollowed"},
				{"federation explain", 2, "URL or HANDLE is missing"},
				{"federation explain nonsense", 1, "has no account"},
				{"federation explain http:nonsense", 1, "is not a URL"},
				{"federation explain " + address, 0, "accepted as an account"},
				{"federation explain " + address + " --json", 0, `"type": "Application"`},
				{"federation deliveries --json", 0, `"received"`},
				{"federation deliveries", 0, "Incoming activities queued: 0"},
				{"federation deliveries --failed", 0, "No deliveries are queued"},
				{"federation peers", 0, host},
				{"federation peers --json --unreachable", 0, "[]"},
				{"federation retry", 2, "name what to retry"},
				{"federation retry --host x --all", 2, "name what to retry"},
				{"federation retry --id 5", 1, "No queued delivery or activity has the id 5"},
				{"federation retry --all", 0, "Retrying now: "},
				{"federation drop", 2, "name what to drop"},
				{"federation drop --id 5", 1, "No queued delivery or activity has the id 5"},
				{"federation drop --all", 0, "Dropped: "},
				{"user rotate-keys", 2, "NICK or --server"},
				{"user rotate-keys alice --server", 2, "NICK or --server"},
				{"user rotate-keys nobody", 1, "There is no account"},
				{"user rotate-keys alice", 0, "#"},
				{"user rotate-keys --server", 0, "/internal/fetch#key-2\n"},
			} {
				r := p.run(strings.Fields(step.args)...)
				if step.code != 0 {
					r.fails(step.code, step.want)
				} else if out := r.ok(); !strings.Contains(out, step.want) {
					t.Errorf("svc %s: %q is not in %q", step.args, step.want, out)
				}
			}
			if n := deliveries.Load(); !running && n > 0 {
				t.Errorf("%d deliveries were made without a server", n)
			}
		})
	}
}

// TestFederationCommandsOff checks that commands fetch nothing while federation is off.
func TestFederationCommandsOff(t *testing.T) {
	address, _ := startRelay(t)
	p := newWorkspace(t, "[federation]", "allow_loopback = true", "enabled = false")
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.run("relay", "follow", address).fails(1, "Federation is off")
	if out := p.run("federation", "explain", address).ok(); !strings.Contains(out, "federation.enabled is off") || strings.Contains(out, "fetch now") {
		t.Errorf("explained: %s", out)
	}
	p.run("federation", "explain", "bob@example.org").fails(1, "federation.enabled is off")
	if out := p.run("relay", "list").ok(); strings.Contains(out, "http") {
		t.Errorf("relays: %s", out)
	}
}

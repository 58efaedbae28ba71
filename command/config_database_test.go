package command_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
	"time"
)

const fromDatabase = "[instance]\nconfigurable_from_database = true\n"

// TestConfigInDatabase changes settings by command, with and without a running server.
func TestConfigInDatabase(t *testing.T) {
	p := newWorkspace(t, fromDatabase+"[mail]\npassword = \"hush\"\n")
	p.run("user", "create", "alice", "--email", "alice@example.org", "--admin").ok()
	name := func() string { return strings.TrimSpace(p.run("config", "get", "instance.name").ok()) }
	check := func(state string) {
		t.Helper()
		p.run("config", "set", "instance.name", state).ok()
		if got := name(); got != `"`+state+`"` {
			t.Errorf("%s: the name is %s", state, got)
		}
		p.run("config", "set", "statuses.max_length", "0").fails(1, "statuses.max_length")
		p.run("config", "set", "statuses.max_length", "many").fails(2, "statuses.max_length")
		p.run("config", "set", "instance.nam", "x").fails(1, "did you mean instance.name?")
		p.run("config", "set", "server.listen", ":1").fails(1, "server.listen can only be changed in the settings file")
		p.run("config", "set", "polls.max_options", "7").ok()
		if got := p.run("config", "set", "media.upload_limit", map[string]string{"stopped": "2_000_000", "running": "3_000_000"}[state]).ok(); !strings.Contains(got, "restart") {
			t.Errorf("%s: set upload_limit printed %q", state, got)
		}
		p.run("config", "set", "mail.password", "sesame").ok()
		exported := p.run("config", "export").ok()
		for _, out := range []string{exported, p.run("config", "get").ok(), p.run("config", "get", "mail.password").ok(), p.run("log", "moderation", "list").ok()} {
			if strings.Contains(out, "sesame") || strings.Contains(out, "hush") {
				t.Errorf("%s: a secret is printed: %s", state, out)
			}
		}
		p.write("settings.json", exported)
		p.run("config", "unset", "instance.name").ok()
		if got := name(); got != `"svc"` {
			t.Errorf("%s: the name is %s after unset", state, got)
		}
		p.run("config", "import", "settings.json").ok()
		if got := name(); got != `"`+state+`"` {
			t.Errorf("%s: the name is %s after an import", state, got)
		}
		p.write("wrong.json", `{"configs":[{"group":":svc","key":":instance","value":[{"tuple":[":name",""]}]}]}`)
		p.run("config", "import", "wrong.json").fails(1, "instance.name")
		p.write("wrong.json", `{"settings":[]}`)
		p.run("config", "import", "wrong.json").fails(1, "configs")
		if out := p.run("log", "moderation", "list").ok(); !strings.Contains(out, "changed settings: :svc :instance :name") {
			t.Errorf("%s: the log is %s", state, out)
		}
	}
	check("stopped")
	p.serve()
	if _, body := p.get("/api/v1/instance", ""); !strings.Contains(body, `"title":"stopped"`) {
		t.Errorf("a change without a server has no effect: %s", body)
	}
	check("running")
	if _, body := p.get("/api/v1/instance", ""); !strings.Contains(body, `"title":"running"`) {
		t.Errorf("a change has no effect: %s", body)
	}
	off := newWorkspace(t)
	off.run("user", "create", "alice", "--email", "alice@example.org", "--admin").ok()
	off.run("config", "set", "instance.name", "x").fails(1, "configurable_from_database")
}

// TestSavedSaysRestart checks that a change says that it needs a restart only if it does, whatever else waits for one.
func TestSavedSaysRestart(t *testing.T) {
	p := newWorkspace(t, fromDatabase)
	p.run("user", "create", "alice", "--email", "alice@example.org", "--admin").ok()
	p.serve()
	p.write("names.json", `{"configs":[{"group":":svc","key":":instance","value":[{"tuple":[":name","z"]}]}]}`)
	p.write("limits.json", `{"configs":[{"group":":svc","key":":instance","value":[{"tuple":[":upload_limit",5000000]}]}]}`)
	for _, tt := range []struct {
		args    []string
		restart bool
	}{
		{[]string{"set", "instance.name", "x"}, false},
		{[]string{"set", "media.upload_limit", "2_000_000"}, true},
		{[]string{"set", "instance.name", "y"}, false},
		{[]string{"set", "media.upload_limit", "3_000_000"}, true},
		{[]string{"import", "names.json"}, false},
		{[]string{"import", "limits.json"}, true},
		{[]string{"unset", "media.upload_limit"}, false},
		{[]string{"set", "rate_limit.timeline", "4/1s"}, true},
		{[]string{"unset", "instance.name"}, false},
		{[]string{"unset", "rate_limit.timeline"}, false},
	} {
		out := p.run(append([]string{"config"}, tt.args...)...).ok()
		if got := strings.Contains(out, "restart"); got != tt.restart {
			t.Errorf("%v printed %q", tt.args, out)
		}
	}
}

// TestRestartInPlace restarts a server by the admin API: streams end, the listener comes back, and settings that need a restart are in effect.
func TestRestartInPlace(t *testing.T) {
	p := newWorkspace(t, fromDatabase)
	p.run("user", "create", "alice", "--email", "alice@example.org", "--password", "long enough", "--admin").ok()
	s := p.serve()
	request := func(method, path string) *http.Response {
		t.Helper()
		r, err := http.NewRequest(method, p.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth("alice", "long enough")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	stream := request("GET", "/api/v1/streaming/public")
	defer stream.Body.Close()
	p.run("config", "set", "media.upload_limit", "1_234_567").ok()
	p.run("config", "set", "instance.name", "Again").ok()
	if resp := request("POST", "/api/v1/svc/admin/restart"); resp.StatusCode != 200 {
		t.Fatalf("restart: %s", resp.Status)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
		}
	}()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the stream has not ended")
	}
	s.waitForLog("restarting")
	deadline := time.Now().Add(30 * time.Second)
	for strings.Count(s.log.String(), "svc is running") < 2 {
		if time.Now().After(deadline) {
			t.Fatalf("the server has not come back:\n%s", s.log)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if _, body := p.get("/api/v1/instance", ""); !strings.Contains(body, `"title":"Again"`) || !strings.Contains(body, `"upload_limit":1234567`) {
		t.Errorf("settings after the restart: %s", body)
	}
	again := request("GET", "/api/v1/streaming/public")
	again.Body.Close()
	if again.StatusCode != 200 {
		t.Errorf("a stream after the restart: %s", again.Status)
	}
	s.stop()
}

package command_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

func TestMetricsListener(t *testing.T) {
	address := freeAddress(t)
	p := newWorkspace(t, "[metrics]", "enabled = true", fmt.Sprintf("listen = %q", address))
	s := p.serve()
	page := func() string { return wantPage(t, "http://"+address+"/metrics", 200) }
	const counter = `svc_http_requests_total{method="GET",route="/api/v1/instance",status="200"}`
	if strings.Contains(page(), counter) {
		t.Error("a request was counted before the first one")
	}
	p.get("/api/v1/instance", "")
	p.get("/api/v1/instance", "")
	if !strings.Contains(page(), "\n"+counter+" 2\n") {
		t.Error("the requests were not counted")
	}
	wantPage(t, "http://"+address+"/", 404)
	if status, _ := p.get("/metrics", ""); status != 404 {
		t.Errorf("the address of the server answers with %d", status)
	}
	s.stop()
	if conn, err := net.Dial("tcp", address); err == nil {
		conn.Close()
		t.Error("the listener is open after the end")
	}

	// An address in use ends the start, because nobody would notice that metrics are missing.
	ln, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	p.run("serve").failsAfterLog("metrics.listen: ")
}

// failsAfterLog fails the test unless the command failed and the last line of its stderr contains text.
func (r *result) failsAfterLog(text string) {
	r.t.Helper()
	lines := strings.Split(strings.TrimSpace(r.errOut), "\n")
	if r.code != 1 || !strings.Contains(lines[len(lines)-1], text) {
		r.t.Errorf("%s: got exit code %d and %q, want 1 and %q at the end", r.what, r.code, r.errOut, text)
	}
}

// wantPage requests a URL and returns the body.
func wantPage(t *testing.T, url string, status int) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status {
		t.Fatalf("GET %s: %d, %v", url, resp.StatusCode, err)
	}
	return string(body)
}

func TestLogLevel(t *testing.T) {
	p := newWorkspace(t)
	p.run("log", "level").fails(1, "no database")
	s := p.serve()
	for _, tt := range []struct{ args, want string }{
		{"", "Level: info (log.level: info).\n"},
		{"debug", "Level: debug (log.level: info).\n"},
		{"", "Level: debug (log.level: info).\n"},
	} {
		if got := p.run(append([]string{"log", "level"}, strings.Fields(tt.args)...)...).ok(); got != tt.want {
			t.Errorf("level %s: got %q, want %q", tt.args, got, tt.want)
		}
	}
	p.get("/api/v1/instance", "")
	s.waitForLog("route=/api/v1/instance")
	if got := p.run("log", "level", "warn", "--json").ok(); !strings.Contains(got, `"level": "warn"`) {
		t.Errorf("got %s", got)
	}
	before := strings.Count(s.log.String(), "level=INFO")
	p.get("/api/v2/instance", "")
	s.stop() // writes a line of the level info, unless that is not logged
	if n := strings.Count(s.log.String(), "level=INFO"); n != before || strings.Contains(s.log.String(), "route=/api/v2/instance") {
		t.Errorf("the level warn logs other levels:\n%s", s.log)
	}
	p.run("log", "level", "loud").fails(2, `"loud" is not a level`)
	p.run("log", "level", "debug").fails(1, "the server does not run")
}

func TestAccessLog(t *testing.T) {
	p := newWorkspace(t)
	s := p.serve()
	p.get("/api/v1/instance?secret=1", "")
	s.stop()
	if strings.Contains(s.log.String(), "msg=request") {
		t.Error("the access log is on by default")
	}
	p = newWorkspace(t, "[log]", "access = true")
	s = p.serve()
	p.get("/api/v1/instance?secret=1", "")
	s.waitForLog("msg=request ")
	if log := s.log.String(); !strings.Contains(log, "method=GET route=/api/v1/instance status=200 ") || strings.Contains(log, "secret") {
		t.Errorf("the log:\n%s", log)
	}
	s.stop()
}

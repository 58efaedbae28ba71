package command_test

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// postAs posts as alice with a client, and returns the status and the id.
func (s *server) postAs(client *http.Client, text string) (status int, id string) {
	s.t.Helper()
	body, _ := json.Marshal(map[string]string{"status": text})
	req, err := http.NewRequestWithContext(s.t.Context(), "POST", s.url+"/api/v1/statuses", bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer t")
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	var posted struct{ ID string }
	json.NewDecoder(resp.Body).Decode(&posted) // an error has no id
	return resp.StatusCode, posted.ID
}

func (s *server) statusOf(path string) int {
	s.t.Helper()
	resp, err := http.Get(s.url + path)
	if err != nil {
		s.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// TestServeOnFullDisk starts a server on a full disk, with and without a ballast: it serves what there is, says so, writes few lines to its
// log, and stores posts again when there is room.
func TestServeOnFullDisk(t *testing.T) {
	for name, settings := range map[string]string{"with a ballast": `ballast = "16MiB"`, "without": "ballast = 0"} {
		t.Run(name, func(t *testing.T) {
			p := newWorkspace(t, "[storage]\nmin_free = 0\n"+settings+"\n[rate_limit]\nenabled = false\n")
			if err := os.Mkdir(p.path("data"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := unix.Mount("tmpfs", p.path("data"), "tmpfs", 0, "size=64m"); err != nil {
				t.Skip("file systems cannot be mounted here: ", err)
			}
			t.Cleanup(func() { unix.Unmount(p.path("data"), unix.MNT_DETACH) })
			p.run("user", "create", "alice", "--email", "alice@example.org").ok()
			p.addToken("alice", "t")
			s := p.serve()
			_, old := s.postAs(http.DefaultClient, "hello")
			ballast := name == "with a ballast"
			s.waitUntil("the ballast", func() bool { _, err := os.Stat(p.path("data", "ballast")); return !ballast || err == nil })
			s.stop()
			f, err := os.Create(p.path("data", "filler"))
			if err != nil {
				t.Fatal(err)
			}
			for err == nil {
				_, err = f.Write(make([]byte, 4096))
			}
			f.Close()

			s = p.serve()
			long := strings.Repeat("long ", 900)
			s.waitUntil("a post to be refused", func() bool { status, _ := s.postAs(http.DefaultClient, long); return status == 507 })
			for range 50 {
				if status, _ := s.postAs(http.DefaultClient, long); status != 507 {
					t.Errorf("a post got %d", status)
				}
			}
			if got := s.statusOf("/api/v1/statuses/" + old); got != 200 {
				t.Errorf("the old post got %d", got)
			}
			if got := s.statusOf("/health"); got != 503 {
				t.Errorf("the health check got %d", got)
			}
			if text := p.run("doctor", "--json"); text.code != 1 || !strings.Contains(text.out, "nothing is stored: The server's disk is full") {
				t.Errorf("svc doctor: %d, %s", text.code, text.out)
			}
			if err := os.Remove(p.path("data", "filler")); err != nil {
				t.Fatal(err)
			}
			s.waitUntil("writing to go on", func() bool { status, _ := s.postAs(http.DefaultClient, "room"); return status == 200 })
			s.stop()
			if lines := strings.Count(s.log.String(), "\n"); lines > 40 || !strings.Contains(s.log.String(), "the disk is full: posts are read") {
				t.Errorf("%d lines:\n%s", lines, s.log)
			}
		})
	}
}

// TestFewOpenFiles opens more connections than a server may have files open: requests on open connections are answered and stored, the log names
// the cause, and new connections are accepted after others have ended.
func TestFewOpenFiles(t *testing.T) {
	p := newWorkspace(t, "[rate_limit]\nenabled = false\n")
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.addToken("alice", "t")
	p.openFiles = 256
	s := p.serve()
	p.openFiles = 0
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	if status, _ := s.postAs(client, "first"); status != 200 {
		t.Fatalf("got %d", status)
	}
	var conns []net.Conn
	for range 400 {
		c, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if err != nil {
			break
		}
		conns = append(conns, c)
	}
	s.waitForLog("too many files are open")
	for range 20 {
		if status, _ := s.postAs(client, "while others wait"); status != 200 {
			t.Errorf("got %d", status)
		}
	}
	for _, c := range conns {
		c.Close()
	}
	s.waitUntil("new connections", func() bool { return s.statusOf("/health") == 200 })
	s.stop()
}

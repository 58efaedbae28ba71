package command_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

func TestServeUnprepared(t *testing.T) {
	p := newWorkspace(t)
	s := p.serve()
	if status, body := p.get("/api/v1/timelines/public", ""); status != 200 || body != "[]" {
		t.Errorf("public timeline: got %d %s", status, body)
	}
	if status, body := p.get("/api/v1/nothing", ""); status != 404 || !strings.Contains(body, "error") {
		t.Errorf("an unknown path: got %d %s", status, body)
	}
	link := regexp.MustCompile(regexp.QuoteMeta(p.url) + `(/setup/[\w-]+)`).FindStringSubmatch(s.log.String())
	if link == nil {
		t.Fatalf("the log has no setup URL:\n%s", s.log)
	}
	if status, body := p.get(link[1], ""); status != 200 || !strings.Contains(body, "<form") {
		t.Errorf("the setup page: got %d %s", status, body)
	}
	for _, want := range []string{"svc user create NICK --email ADDRESS --admin", "data=./data"} {
		if !strings.Contains(s.log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, s.log)
		}
	}
	err := filepath.WalkDir(p.path("data"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is accessible to others: mode %o", path, info.Mode().Perm())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"media", "emoji", "cache", "static", "imports", "backups", "keys"} {
		if _, err := os.Stat(p.path("data", dir)); err != nil {
			t.Error(err)
		}
	}
	s.stop()
	if _, err := os.Stat(p.path("data", "control.sock")); err == nil {
		t.Error("the control socket is still there")
	}
	p.run("user", "create", "alice", "--email", "alice@example.org", "--admin").ok()
	if again := p.serve(); strings.Contains(again.log.String(), "there is no administrator yet") {
		t.Error("the log asks for an admin although there is one")
	}
	if status, _ := p.get(link[1], ""); status != 410 {
		t.Errorf("the setup page after the setup: got %d", status)
	}
}

// TestServeNamesItsSettings checks that the command in the log has the flags of this server.
func TestServeNamesItsSettings(t *testing.T) {
	p := newWorkspace(t)
	if err := os.Rename(p.config, p.path("other.toml")); err != nil {
		t.Fatal(err)
	}
	p.serve("--config", "other.toml").waitForLog("svc user create NICK --email ADDRESS --admin --config other.toml")
}

func TestSecondServerRefuses(t *testing.T) {
	p := newWorkspace(t)
	p.serve()
	other := newWorkspace(t, fmt.Sprintf("[data]\ndir = %q", p.path("data")))
	r := other.run("serve")
	last := r.errOut[strings.LastIndex(strings.TrimSpace(r.errOut), "\n")+1:]
	if r.code != 1 || !strings.Contains(last, "the data directory is in use by another svc process") {
		t.Errorf("got exit code %d and %q", r.code, r.errOut)
	}
	if status, _ := p.get("/api/v1/timelines/public", ""); status != 200 {
		t.Errorf("the first server returned %d", status)
	}
}

func TestServeFails(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, tt := range []struct {
		name, settings, want string
		code                 int
	}{
		{"a taken port", fmt.Sprintf("[server]\nlisten = %q", taken.Addr()), "server.listen", 1},
		{"a misspelt setting", "[server]\nlitsen = \":1\"", "did you mean server.listen?", 1},
		{"not TOML", "server", "line 1", 1},
		{"a data folder that is a file", "[data]\ndir = \"config.toml/data\"", "data directory", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newWorkspace(t)
			p.write("config.toml", tt.settings)
			r := p.run("serve")
			last := strings.TrimSpace(r.errOut)
			last = last[strings.LastIndex(last, "\n")+1:]
			if r.code != tt.code || !strings.HasPrefix(last, "svc: ") || !strings.Contains(last, tt.want) {
				t.Errorf("got exit code %d and %q, want %d and %q", r.code, r.errOut, tt.code, tt.want)
			}
		})
	}
	newWorkspace(t).run("serve", "--config", "nowhere.toml").fails(1, "nowhere.toml")
}

func TestServeOnASocket(t *testing.T) {
	p := newWorkspace(t)
	dir, err := os.MkdirTemp("", "svc") // the name of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "svc.sock")
	p.write("config.toml", fmt.Sprintf("[server]\nlisten = %q\nurl = %q", socket, p.url))
	s := p.serve()
	s.signal(syscall.SIGKILL) // and leaves its sockets
	<-s.done
	p.serve()
	for path, want := range map[string]fs.FileMode{socket: 0o660, p.path("data/control.sock"): 0o600} {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode(); got != fs.ModeSocket|want {
			t.Errorf("%s has the mode %v, want %v", path, got, want)
		}
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	resp, err := client.Get(p.url + "/api/v1/timelines/public")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("got %d", resp.StatusCode)
	}
	p.run("user", "list").ok()
}

func TestServeTLS(t *testing.T) {
	p := newWorkspace(t)
	https, plain := freeAddress(t), freeAddress(t)
	p.write("config.toml", fmt.Sprintf("[server]\nlisten = %q\nurl = \"https://social.example.org\"\n[server.tls]\nenabled = true\nhttp_listen = %q", https, plain))
	p.serve()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Get("http://" + plain + "/@alice?a=b")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := resp.Header.Get("Location"); resp.StatusCode != 301 || got != "https://social.example.org/@alice?a=b" {
		t.Errorf("plain http: got %d to %q", resp.StatusCode, got)
	}
	// No certificate is requested for another host, so the test makes no connection to the internet.
	_, err = tls.Dial("tcp", https, &tls.Config{ServerName: "other.example.com", InsecureSkipVerify: true})
	if err == nil || !strings.Contains(err.Error(), "remote error") {
		t.Errorf("TLS for another host: got %v, want the server to refuse", err)
	}
}

// startRequest sends the beginning of a request that posts a status. It returns the rest of the body.
func (p *workspace) startRequest(token string) (conn net.Conn, rest string) {
	p.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { conn.Close() })
	const first, second = "status=he", "llo"
	fmt.Fprintf(conn, "POST /api/v1/statuses HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nExpect: 100-continue\r\n"+
		"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n", token, len(first+second))
	line, err := bufio.NewReader(conn).ReadString('\n') // comes when the server begins to read the body
	if err != nil || !strings.Contains(line, "100 Continue") {
		p.t.Fatalf("got %q, %v", line, err)
	}
	fmt.Fprint(conn, first)
	return conn, second
}

func TestStopFinishesRequests(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.addToken("alice", "t")
	s := p.serve()
	conn, rest := p.startRequest("t")
	s.signal(syscall.SIGTERM)
	s.waitForLog("stopping")
	s.waitUntil("the port to be closed", func() bool {
		c, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	fmt.Fprint(conn, rest)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("the running request got no response: %v", err)
	}
	if resp.StatusCode != 200 {
		t.Errorf("the running request got %d", resp.StatusCode)
	}
	s.waitExit(0)
}

func TestSecondSignalExits(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.addToken("alice", "t")
	s := p.serve()
	p.startRequest("t")
	s.signal(syscall.SIGINT)
	s.waitForLog("stopping")
	start := time.Now()
	s.waitUntil("the process to exit", func() bool {
		s.cmd.Process.Signal(syscall.SIGINT)
		select {
		case <-s.done:
			return true
		default:
			return false
		}
	})
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("it took %v", took)
	}
}

// addToken adds an access token of an account. No server may run.
func (p *workspace) addToken(nick, token string) {
	p.t.Helper()
	db, err := sql.Open("sqlite", p.path("data", "svc.db"))
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close()
	hash := sha256.Sum256([]byte(token))
	if _, err := db.Exec(`
		INSERT INTO oauth_tokens (hash, account_id, scopes, created_at, last_used_at)
		SELECT ?, id, 'read write follow', 0, 0
		FROM accounts
		WHERE nickname = ?`, hash[:], nick); err != nil {
		p.t.Fatal(err)
	}
}

// post publishes a status and returns its id, "" if the request failed.
func (p *workspace) post(token, text string) (id string) {
	status, body, err := p.request(context.Background(), "POST", "/api/v1/statuses", token, strings.NewReader(url.Values{"status": {text}}.Encode()))
	if err != nil || status != 200 {
		return ""
	}
	var st struct{ ID string }
	if err := json.Unmarshal([]byte(body), &st); err != nil {
		return ""
	}
	return st.ID
}

// startWriters posts from several goroutines until stop is called. stop returns the texts of acknowledged posts by id.
func (p *workspace) startWriters(token string, n int) (stop func() map[string]string) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	posted := make(map[string]string)
	quit := make(chan struct{})
	for w := range n {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-quit:
					return
				default:
				}
				text := fmt.Sprintf("post %d of writer %d", i, w)
				if id := p.post(token, text); id != "" {
					mu.Lock()
					posted[id] = text
					mu.Unlock()
				}
			}
		})
	}
	return func() map[string]string {
		close(quit)
		wg.Wait()
		return posted
	}
}

func TestStopUnderLoad(t *testing.T) {
	p := newWorkspace(t, "[rate_limit]\nenabled = false")
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.addToken("alice", "t")
	s := p.serve()
	stop := p.startWriters("t", 8)
	s.waitUntil("some posts", func() bool { _, body := p.get("/api/v1/timelines/home", "t"); return strings.Count(body, `"id"`) > 20 })
	s.stop()
	posted := stop()
	if len(posted) < 10 {
		t.Fatalf("only %d posts", len(posted))
	}
	p.serve()
	for id, text := range posted {
		if status, body := p.get("/api/v1/statuses/"+id, "t"); status != 200 || !strings.Contains(body, text) {
			t.Errorf("%q was acknowledged but is missing: %d", text, status)
		}
	}
}

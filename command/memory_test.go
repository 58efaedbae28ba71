package command_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Of the thread and the clients of TestLongContexts.
const (
	threadReplies  = 4400
	contextClients = 64
	memoryLimit    = 200 // MiB
)

// TestLongContexts has many clients of one account fetch a thread of thousands of long posts at the same time. The server answers all of them,
// some at the second or third time, with the replies that are nearest to the post, up to 4 MiB, and stays below data.memory_limit.
func TestLongContexts(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the memory of a process is not known here")
	}
	p := newWorkspace(t, fmt.Sprintf("[data]\nmemory_limit = \"%dMiB\"", memoryLimit), "[rate_limit]\nenabled = false")
	p.run("user", "create", "alice", "--email", "alice@example.org", "--password", "a long password").ok()
	s := p.serve()
	token := s.signIn("alice", "a long password")
	root := s.publish(token, "the root of the thread", "")
	first := s.publish(token, "the first reply", root)
	var posting sync.WaitGroup
	for client := range 16 {
		posting.Go(func() {
			for i := client; i < threadReplies; i += 16 {
				s.publish(token, fmt.Sprintf("reply %d %s", i, strings.Repeat("of the river and the lamp ", 12)), first)
			}
		})
	}
	posting.Wait()
	before := s.peakMemory()
	path := "/api/v1/statuses/" + root + "/context"

	// Clients that ask and do not read hold nothing.
	for range contextClients {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", path, token)
	}
	began := time.Now()
	var clients sync.WaitGroup
	for range contextClients {
		clients.Go(func() {
			if n, nearest := s.contextSize(t.Context(), path, token); n < 1000 || n > 2000 || nearest != first {
				t.Errorf("got %d descendants, the first is %s", n, nearest)
			}
		})
	}
	clients.Wait()
	took := time.Since(began)
	if n, nearest := s.contextSize(t.Context(), path, ""); n != 60 || nearest != first {
		t.Errorf("without an account: got %d descendants, the first is %s", n, nearest)
	}
	peak := s.peakMemory()
	t.Logf("%d clients, a context of %d replies: %v, peak memory %d MiB (%d MiB before)", contextClients, threadReplies, took.Round(time.Millisecond), peak>>20, before>>20)
	if peak > memoryLimit<<20 {
		t.Errorf("the server has used %d MiB, data.memory_limit is %d MiB", peak>>20, memoryLimit)
	}
}

// signIn returns a token of an account.
func (p *workspace) signIn(nick, password string) string {
	p.t.Helper()
	var app struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
	}
	p.postForm("/api/v1/apps", "", &app, "client_name", "test", "redirect_uris", "urn:ietf:wg:oauth:2.0:oob", "scopes", "read write")
	var token struct {
		AccessToken string `json:"access_token"`
	}
	p.postForm("/oauth/token", "", &token, "grant_type", "password", "username", nick, "password", password,
		"client_id", app.ClientID, "client_secret", app.ClientSecret, "scope", "read write")
	return token.AccessToken
}

// publish posts a status and returns its id.
func (p *workspace) publish(token, text, inReplyTo string) string {
	p.t.Helper()
	var status struct {
		ID string `json:"id"`
	}
	p.postForm("/api/v1/statuses", token, &status, "status", text, "in_reply_to_id", inReplyTo)
	return status.ID
}

// postForm posts a form and decodes the answer.
func (p *workspace) postForm(path, token string, answer any, params ...string) {
	p.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(params); i += 2 {
		form.Set(params[i], params[i+1])
	}
	req, err := http.NewRequestWithContext(p.t.Context(), "POST", p.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Error(err)
		return
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Error(err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 || json.Unmarshal(body, answer) != nil {
		p.t.Errorf("POST %s: %d %s %v", path, resp.StatusCode, body, err)
	}
}

// contextSize returns how many descendants a context has, and the id of the first. It asks again if the server is busy.
func (p *workspace) contextSize(ctx context.Context, path, token string) (n int, first string) {
	for range 20 {
		var status int
		if status, n, first = p.context(ctx, path, token); status != http.StatusServiceUnavailable {
			return n, first
		}
	}
	p.t.Errorf("GET %s: the server is always busy", path)
	return 0, ""
}

func (p *workspace) context(ctx context.Context, path, token string) (status, n int, first string) {
	req, err := http.NewRequestWithContext(ctx, "GET", p.url+path, nil)
	if err != nil {
		p.t.Error(err)
		return 0, 0, ""
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Error(err)
		return 0, 0, ""
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusServiceUnavailable {
		return resp.StatusCode, 0, ""
	}
	var answer struct {
		Descendants []struct {
			ID string `json:"id"`
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || len(answer.Descendants) == 0 {
		p.t.Errorf("GET %s: %d, %v", path, resp.StatusCode, err)
		return 0, 0, ""
	}
	return resp.StatusCode, len(answer.Descendants), answer.Descendants[0].ID
}

// peakMemory returns the most memory that the server has held so far, in bytes.
func (s *server) peakMemory() int64 {
	s.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n << 10
		}
	}
	s.t.Fatal("the peak memory is not known")
	return 0
}

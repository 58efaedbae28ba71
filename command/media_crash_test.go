package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// crashClient uploads files, attaches them to posts and deletes both, until the server does not answer.
type crashClient struct {
	p *workspace

	mu      sync.Mutex
	uploads map[string]bool // ids that were answered; false: deleting was begun
	posts   map[string]bool // likewise
}

// post sends a request, and returns the id in the answer. ok is false if the server was killed.
func (c *crashClient) post(path, contentType string, body io.Reader) (id string, ok bool) {
	req, err := http.NewRequestWithContext(context.Background(), "POST", c.p.url+path, body)
	if err != nil {
		return "", false
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Authorization", "Bearer t")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", false
	}
	defer resp.Body.Close()
	var o struct{ ID string }
	return o.ID, json.NewDecoder(resp.Body).Decode(&o) == nil && resp.StatusCode == 200
}

func (c *crashClient) set(which map[string]bool, id string, kept bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	which[id] = kept
}

// run repeats an upload and what may follow it, until there is no answer.
func (c *crashClient) run() {
	for {
		var b bytes.Buffer
		form := multipart.NewWriter(&b)
		part, _ := form.CreateFormFile("file", "a.mp3")
		part.Write(sound(2000))
		form.Close()
		upload, ok := c.post("/api/v1/media", form.FormDataContentType(), &b)
		if !ok {
			return
		}
		c.set(c.uploads, upload, true)
		switch rand.IntN(4) {
		case 0: // it stays as it is
		case 1:
			c.set(c.uploads, upload, false)
			if _, _, err := c.p.request(context.Background(), "DELETE", "/api/v1/media/"+upload, "t", nil); err != nil {
				return
			}
		default:
			values := url.Values{"status": {"a post"}, "media_ids[]": {upload}}
			post, ok := c.post("/api/v1/statuses", "application/x-www-form-urlencoded", strings.NewReader(values.Encode()))
			if !ok {
				return
			}
			c.set(c.posts, post, true)
			if rand.IntN(2) == 0 {
				c.set(c.posts, post, false)
				c.set(c.uploads, upload, false)
				if _, _, err := c.p.request(context.Background(), "DELETE", "/api/v1/statuses/"+post, "t", nil); err != nil {
					return
				}
			}
		}
	}
}

// TestKilledWhileUploading kills the server at any moment of uploads, of attaching them, and of deleting: whatever was answered has its file, no
// row is without one, and after the clean-up no file is without a row.
func TestKilledWhileUploading(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	p := newWorkspace(t, "[rate_limit]\nenabled = false\n")
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.addToken("alice", "t")
	c := &crashClient{p: p, uploads: make(map[string]bool), posts: make(map[string]bool)}
	s := p.serve()
	for range 8 {
		var clients sync.WaitGroup
		for range 4 {
			clients.Go(c.run)
		}
		time.Sleep(time.Duration(50+rand.IntN(250)) * time.Millisecond) // the moment of the crash is random
		s.signal(syscall.SIGKILL)
		<-s.done
		clients.Wait()
		s = p.serve()
		if report := p.verifyMedia(); report["unused_file"] != len(report.all()) {
			t.Fatalf("problems after a crash: %v", report)
		}
	}
	for id, kept := range c.uploads {
		if status, body := p.get("/api/v1/media/"+id, "t"); kept && status != 200 {
			t.Errorf("upload %s was answered: %d %s", id, status, body)
		}
	}
	for id, kept := range c.posts {
		status, body := p.get("/api/v1/statuses/"+id, "t")
		if !kept {
			continue
		}
		var st struct {
			Attachments []struct{ URL string } `json:"media_attachments"`
		}
		if err := json.Unmarshal([]byte(body), &st); err != nil || status != 200 || len(st.Attachments) != 1 {
			t.Errorf("post %s was answered: %d %s", id, status, body)
			continue
		}
		if status, _ := p.get(strings.TrimPrefix(st.Attachments[0].URL, p.url), ""); status != 200 {
			t.Errorf("the file of post %s: %d", id, status)
		}
	}
	if len(c.uploads) < 50 || len(c.posts) < 10 {
		t.Errorf("only %d uploads and %d posts were answered", len(c.uploads), len(c.posts))
	}
	p.ageFiles()
	p.run("media", "prune").ok()
	if report := p.verifyMedia(); len(report.all()) != 0 {
		t.Errorf("problems after the clean-up: %v", report)
	}
	if left, _ := os.ReadDir(p.path("data", "media", "tmp")); len(left) != 0 {
		t.Errorf("%d unfinished files are left", len(left))
	}
}

// mediaProblems are how many problems of each kind svc media verify reports.
type mediaProblems map[string]int

func (m mediaProblems) all() (list []string) {
	for kind, n := range m {
		for range n {
			list = append(list, kind)
		}
	}
	return list
}

func (p *workspace) verifyMedia() mediaProblems {
	p.t.Helper()
	r := p.run("media", "verify", "--json")
	var report struct{ Problems []struct{ Kind string } }
	if err := json.Unmarshal([]byte(r.out), &report); err != nil {
		p.t.Fatalf("%s: %v %s", r.what, err, r.errOut)
	}
	m := make(mediaProblems)
	for _, problem := range report.Problems {
		m[problem.Kind]++
	}
	return m
}

// ageFiles makes all stored files two days old, so that the clean-up removes those that nothing refers to.
func (p *workspace) ageFiles() {
	p.t.Helper()
	old := time.Now().Add(-48 * time.Hour)
	err := filepath.WalkDir(p.path("data", "media"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(path, old, old)
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

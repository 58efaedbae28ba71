package command_test

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ballast makes a file in the data directory that has no blocks, but whose size counts.
func (p *workspace) ballast(name string, size int64) {
	p.t.Helper()
	path := p.path("data", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	f, err := os.Create(path)
	if err == nil {
		err = f.Truncate(size)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	f.Close()
}

// usage is the output of svc media usage --json.
type usage struct {
	Total    int64 `json:"total"`
	Limit    int64 `json:"limit"`
	Full     bool  `json:"full"`
	Critical bool  `json:"critical"`
	Classes  []struct {
		Name  string `json:"name"`
		Count int64  `json:"count"`
		Bytes int64  `json:"bytes"`
		Limit int64  `json:"limit"`
	} `json:"classes"`
	RemotePosts map[string]int64 `json:"remote_posts"`
}

func (p *workspace) usage() (u usage) {
	p.t.Helper()
	if err := json.Unmarshal([]byte(p.run("media", "usage", "--json").ok()), &u); err != nil {
		p.t.Fatal(err)
	}
	return u
}

func (u usage) class(name string) int64 {
	for _, c := range u.Classes {
		if c.Name == name {
			return c.Bytes
		}
	}
	return -1
}

// TestMediaUsage checks that svc media usage counts each class, and that the sum is what the folder takes.
func TestMediaUsage(t *testing.T) {
	for _, name := range []string{"without a server", "with a server"} {
		t.Run(name, func(t *testing.T) {
			p := newWorkspace(t, "[storage]\nlimit = \"300MiB\"\nemoji = 5_000_000\n")
			p.run("user", "create", "alice", "--email", "alice@example.org").ok()
			if name == "with a server" {
				p.serve()
			}
			before := p.usage()
			var names []string
			for _, c := range before.Classes {
				names = append(names, c.Name)
			}
			if got := strings.Join(names, " "); got != "uploads profiles proxy_cache emoji backups database ballast other" {
				t.Errorf("classes %s", got)
			}
			if before.Limit != 300<<20 || before.Full || before.Critical || before.class("database") < 100_000 || before.class("uploads") != 0 || before.RemotePosts["count"] != 0 {
				t.Errorf("usage %+v", before)
			}
			for file, class := range map[string]string{
				"emoji/pets/cat.png": "emoji", "backups/old.tar": "backups", "imports/list.csv": "other", "frontends/x/y/index.html": "other", "unknown": "other",
			} {
				old := p.usage().class(class)
				p.ballast(file, 1<<20)
				if got := p.usage().class(class) - old; got < 1<<20 || got > 1<<20+20_000 { // with new folders
					t.Errorf("%s adds %d bytes to %s", file, got, class)
				}
			}
			u := p.usage()
			sum, disk := int64(0), int64(0)
			for _, c := range u.Classes {
				sum += c.Bytes
			}
			err := filepath.WalkDir(p.path("data"), func(_ string, d os.DirEntry, err error) error {
				if err != nil {
					return err
				}
				info, err := d.Info()
				if err == nil {
					disk += (info.Size() + 4095) / 4096 * 4096
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := disk - u.Total; u.Total != sum || diff < -1<<20 || diff > 1<<20 { // the write-ahead log changes
				t.Errorf("total %d, sum of the classes %d, on disk %d", u.Total, sum, disk)
			}
			text := p.run("media", "usage").ok()
			for _, want := range []string{"proxy_cache", "314.6 MB", "Remote posts in the database: 0", "Free on the disk"} {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			p.ballast("imports/more", 295<<20)
			if u := p.usage(); !u.Full || !u.Critical {
				t.Errorf("usage of a full folder: %+v", u)
			}
			if text := p.run("media", "usage").ok(); !strings.Contains(text, "Uploads are refused: ") || !strings.Contains(text, "Posts of other servers are refused, too") {
				t.Errorf("got\n%s", text)
			}
			p.run("media", "usage", "x").fails(2, "")
		})
	}
}

// TestUnusedFilesCount checks that files without a row, which a crash can leave, count for the first upload after the start.
func TestUnusedFilesCount(t *testing.T) {
	p := newWorkspace(t, "[storage]\nlimit = \"256MiB\"\n[rate_limit]\nenabled = false\n")
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.addToken("alice", "t")
	p.ballast("media/ab/"+strings.Repeat("ab", 32)+".png", 250<<20)
	p.serve()
	if status := p.upload("t", sound(1000)); status != 507 {
		t.Errorf("the first upload: %d", status)
	}
}

// upload uploads a sound and returns the status.
func (p *workspace) upload(token string, content []byte) int {
	p.t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	part, _ := form.CreateFormFile("file", "a.mp3")
	part.Write(content)
	form.Close()
	req, err := http.NewRequestWithContext(p.t.Context(), "POST", p.url+"/api/v1/media", &b)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

// TestBackupWithinLimit checks that backups in the data directory respect storage.limit: a running server deletes copies of remote media for them.
func TestBackupWithinLimit(t *testing.T) {
	p := newWorkspace(t, "[storage]\nlimit = \"256MiB\"\nballast = 0\n")
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	copies := func() (n int) {
		filepath.WalkDir(p.path("data", "cache"), func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !strings.Contains(path, "tmp") {
				n++
			}
			return nil
		})
		return n
	}
	p.ballast("imports/much", 174<<20)
	p.ballast("cache/ab/"+strings.Repeat("ab", 32), 40<<20)
	p.run("backup").fails(1, "storage.limit leaves")
	p.run("backup", "outside.tar").ok()

	s := p.serve()
	s.waitUntil("the cache to be counted", func() bool { return p.usage().class("proxy_cache") >= 40<<20 })
	p.run("backup").ok()
	if n := copies(); n != 0 {
		t.Errorf("%d copies are left", n)
	}
	if u := p.usage(); u.class("backups") < 100_000 || u.Total > 216<<20 {
		t.Errorf("usage %+v", u)
	}
	p.ballast("imports/more", 40<<20)
	p.usage() // measures the folder
	p.run("backup", p.path("data", "backups", "second.tar")).fails(1, "The server has no space left for files: its storage limit is reached")
	p.run("backup", "outside2.tar").ok()
	if files, _ := os.ReadDir(p.path("data", "backups")); len(files) != 2 { // with accounts
		t.Errorf("%d files in backups", len(files))
	}
}

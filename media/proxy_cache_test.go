package media_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"

	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc/media"
	"svc/store"
)

// The cache never exceeds its size, and keeps the most recently used copies, also after a restart.
func TestProxyEviction(t *testing.T) {
	const size = 100_000
	p, site := startProxy(t, func(c *media.ProxyConfig) { c.Settings.Load().MediaProxy.CacheSize = 10 * 1 << 17 }), startRemote(t)
	content := pngOf(size)
	var addresses []string
	for i := range 30 {
		addresses = append(addresses, site.addFile(fmt.Sprintf("/%d.png", i), "image/png", content))
	}
	for i, a := range addresses[:10] {
		p.get(a).want(t, 200, content)
		name := p.fileOf(i + 1)
		ago := time.Now().Add(-time.Duration(20-i) * time.Minute)
		if err := os.Chtimes(name, ago, ago); err != nil {
			t.Fatal(err)
		}
	}
	p.restart()
	site.asked.Store(0)
	for _, a := range addresses[10:14] {
		p.get(a).want(t, 200, content)
		if _, size := p.cached(); size > p.config.Settings.Load().MediaProxy.CacheSize {
			t.Errorf("the cache has %d bytes, it may have %d", size, p.config.Settings.Load().MediaProxy.CacheSize)
		}
	}
	site.wantRequests(t, 4)
	for _, a := range addresses[8:14] { // the last that were used
		p.get(a).want(t, 200, content)
	}
	site.wantRequests(t, 0)
	p.get(addresses[0]).want(t, 200, content) // the first had to go
	site.wantRequests(t, 1)
	for _, a := range addresses {
		p.get(a).want(t, 200, content)
	}
	if _, size := p.cached(); size > p.config.Settings.Load().MediaProxy.CacheSize {
		t.Errorf("the cache has %d bytes, it may have %d", size, p.config.Settings.Load().MediaProxy.CacheSize)
	}
	// Unused copies expire.
	p.restart()
	filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, _ error) error {
		old := time.Now().Add(-31 * 24 * time.Hour)
		return os.Chtimes(path, old, old)
	})
	if err := p.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if files, _ := p.cached(); files != 0 {
		t.Errorf("%d copies are left", files)
	}
}

// fileOf returns the newest file once there are n.
func (p *proxy) fileOf(n int) (name string) {
	p.t.Helper()
	eventually(p.t, "a copy", func() bool {
		var latest time.Time
		count := 0
		filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasPrefix(path, filepath.Join(p.dir, "tmp")) {
				return nil
			}
			info, err := d.Info()
			if err != nil {
				return nil
			}
			if count++; info.ModTime().After(latest) {
				name, latest = path, info.ModTime()
			}
			return nil
		})
		return count == n
	})
	return name
}

// A cache filled by running downloads accepts no more, and is empty afterwards.
func TestProxyFull(t *testing.T) {
	p, site := startProxy(t, func(c *media.ProxyConfig) {
		c.Settings.Load().MediaProxy.CacheSize, c.Settings.Load().MediaProxy.MaxFile = 300_000, 200_000
	}), startRemote(t)
	content := pngOf(190_000)
	d := site.addSlowFile("/a.png", len(content))
	go func() { d.more <- content[:180_000] }()
	first := p.begin(t.Context(), d.address)
	if _, err := io.ReadFull(first.Body, make([]byte, 180_000)); err != nil {
		t.Fatal(err)
	}
	other := site.addFile("/b.png", "image/png", content)
	if r := p.get(other); r.err == nil && r.status == 200 {
		t.Error("there was room for more than there is")
	}
	if _, size := p.cached(); size > 300_000 {
		t.Errorf("the cache has %d bytes", size)
	}
	d.more <- content[180_000:]
	close(d.more)
	if _, err := io.ReadAll(first.Body); err != nil {
		t.Error(err)
	}
	eventually(t, "room again", func() bool { r := p.get(other); return r.err == nil && r.status == 200 })
}

// Incomplete files of a crash are not copies.
func TestProxyCrash(t *testing.T) {
	p, site := startProxy(t), startRemote(t)
	content := pngOf(5000)
	address := site.addFile("/a.png", "image/png", content)
	p.get(address).want(t, 200, content)
	name := p.fileOf(1)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	site.asked.Store(0)
	for what, left := range map[string][]byte{
		"nothing":          {},
		"zeros":            make([]byte, len(whole)),
		"half":             whole[:len(whole)/2],
		"too much":         append(slices.Clip(whole), 0),
		"less than a line": whole[:10],
		"another type":     bytes.Replace(slices.Clone(whole), []byte(" png "), []byte(" htm "), 1),
	} {
		p.restart() // completes the last copy
		if err := os.WriteFile(name, left, 0o600); err != nil {
			t.Fatal(err)
		}
		os.WriteFile(filepath.Join(p.dir, "tmp", "half"), []byte("x"), 0o600)
		p.restart()
		if r := p.get(address); r.status != 200 || r.body != content {
			t.Errorf("%s: got %d, %d bytes", what, r.status, len(r.body))
		}
		site.wantRequests(t, 1)
		eventually(t, "there is one file", func() bool { files, _ := p.cached(); return files == 1 })
	}
	p.restart()
	p.get(address).want(t, 200, content)
	site.wantRequests(t, 0)
}

// Disk errors are not reported as errors of the remote server, and available files are still served.
func TestProxyDisk(t *testing.T) {
	p, site := startProxy(t), startRemote(t)
	content := pngOf(5000)
	for i := range 256 { // where copies belong
		if err := os.WriteFile(filepath.Join(p.dir, fmt.Sprintf("%02x", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.get(site.addFile("/a.png", "image/png", content)).want(t, 500, "")
	for i := range 256 {
		os.Remove(filepath.Join(p.dir, fmt.Sprintf("%02x", i)))
	}
	os.RemoveAll(filepath.Join(p.dir, "tmp"))
	address := site.addFile("/b.png", "image/png", content)
	p.get(address).want(t, 500, "")
	if err := p.Purge([]string{address}); err != nil {
		t.Fatal(err)
	}
	os.Mkdir(filepath.Join(p.dir, "tmp"), 0o700)
	p.get(address).want(t, 200, content)
}

// A copy is fetched again after two weeks. If that fails, it is still served, unless the file is known to be gone.
func TestProxyAge(t *testing.T) {
	p, site := startProxy(t), startRemote(t)
	var status atomic.Int32
	status.Store(200)
	content := pngOf(2000)
	site.mux.HandleFunc("/a.png", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		w.WriteHeader(int(status.Load()))
		io.WriteString(w, content)
	})
	address := site.URL + "/a.png"
	p.get(address).want(t, 200, content)
	for _, tt := range []struct {
		site, want int32
		asked      int32
	}{{200, 200, 1}, {500, 200, 1}, {410, 404, 1}} {
		p.restart() // completes the last copy
		name := p.fileOf(1)
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var fetched int64
		fmt.Sscanf(string(text), "svc-proxy-1 png 2000 %d", &fetched)
		text = bytes.Replace(text, fmt.Append(nil, fetched), fmt.Append(nil, fetched-15*24*3600), 1)
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		p.restart() // what failed is forgotten
		site.asked.Store(0)
		status.Store(tt.site)
		p.get(address).want(t, int(tt.want), content)
		site.wantRequests(t, tt.asked)
	}
	eventually(t, "the copy has gone", func() bool { files, _ := p.cached(); return files == 0 })
}

// ban bans the file at an address.
func (p *proxy) ban(address, sum string) {
	p.t.Helper()
	if err := p.db.Update(p.t.Context(), func(tx *store.Tx) error {
		_, err := tx.AddMediaBan(p.t.Context(), address, sum)
		return err
	}); err != nil {
		p.t.Fatal(err)
	}
}

func TestProxyBans(t *testing.T) {
	p, site := startProxy(t), startRemote(t)
	one, two := site.addFile("/One.png", "image/png", pngOf(0)), site.addFile("/two.png", "image/png", pngOf(0))
	p.get(one).want(t, 200, pngOf(0))
	p.fileOf(1)
	site.asked.Store(0)
	p.ban(one, "")
	p.ban(two, "")
	p.get(one).want(t, 404, "")
	p.get(two).want(t, 404, "")
	p.Warm(t.Context(), two)
	site.wantRequests(t, 0)
}

func TestPurge(t *testing.T) {
	p, site := startProxy(t), startRemote(t)
	one, two := site.addFile("/one.png", "image/png", pngOf(0)), site.addFile("/two.png", "image/png", pngOf(0))
	p.get(one).want(t, 200, pngOf(0))
	p.get(two).want(t, 200, pngOf(0))
	p.fileOf(2)
	if err := p.Purge([]string{p.URL(one), one, "https://never.example/"}); err != nil {
		t.Fatal(err)
	}
	p.fileOf(1)
	p.get(one).want(t, 200, pngOf(0))
	p.get(two).want(t, 200, pngOf(0))
	site.wantRequests(t, 3)

	missing := site.URL + "/missing.png"
	p.get(missing).want(t, 404, "")
	if err := p.Purge([]string{missing}); err != nil { // it may be there by now
		t.Fatal(err)
	}
	site.addFile("/missing.png", "image/png", pngOf(0))
	p.get(missing).want(t, 200, pngOf(0))
}

// TestCopySum checks that the content of copies and of uploads is known, and of nothing else.
func TestCopySum(t *testing.T) {
	p, site := startProxy(t), startRemote(t)
	cached, other := site.addFile("/one.png", "image/png", pngOf(3<<20/4)), site.addFile("/two.png", "image/png", pngOf(0))
	p.get(cached).want(t, 200, pngOf(3<<20/4))
	p.fileOf(1)
	hash := strings.Repeat("ab", 32)
	for address, want := range map[string]string{
		cached: fmt.Sprintf("%x", sha256.Sum256([]byte(pngOf(3<<20/4)))), other: "",
		p.config.Settings.BaseURL + "/media/ab/" + hash + ".png": hash, p.config.Settings.BaseURL + "/media/ab/x.png": "", "https://other.example/media/ab/" + hash + ".png": "",
		"::": "",
	} {
		if got, err := p.CopySum(t.Context(), address); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", address, got, err, want)
		}
	}
	site.wantRequests(t, 1)
}

func TestProxyOff(t *testing.T) {
	p, site := startProxy(t), startRemote(t)
	address := site.addFile("/a.png", "image/png", pngOf(0))
	shown := p.URL(address)
	p.get(address).want(t, 200, pngOf(0))
	p.fileOf(1)
	p.config.Settings.Load().MediaProxy.Enabled = false
	p.restart()
	if got := p.URL(address); got != address {
		t.Errorf("shown at %s", got)
	}
	p.do("GET", shown).want(t, 404, "")
	eventually(t, "its copies go", func() bool { files, _ := p.cached(); return files == 0 })
}

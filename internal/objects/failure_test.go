package objects_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"svc/internal/objects"
	"svc/internal/objects/objectstest"
)

// operations are all that ask a place for something. The object "object" is there.
var operations = map[string]func(*testing.T, objects.Store) error{
	"put": func(t *testing.T, s objects.Store) error {
		_, err := s.Put(t.Context(), "new", strings.NewReader("new"), 3, objects.PutOptions{})
		return err
	},
	"put in parts": func(t *testing.T, s objects.Store) error {
		_, err := s.Put(t.Context(), "new", zeros(30<<20), -1, objects.PutOptions{})
		return err
	},
	"put new": func(t *testing.T, s objects.Store) error {
		_, err := s.Put(t.Context(), "new", strings.NewReader("new"), 3, objects.PutOptions{IfNone: true})
		return err
	},
	"get": func(t *testing.T, s objects.Store) error {
		body, _, err := s.Get(t.Context(), "object", 0, -1)
		if err != nil {
			return err
		}
		defer body.Close()
		_, err = io.Copy(io.Discard, body)
		return err
	},
	"stat":   func(t *testing.T, s objects.Store) error { _, err := s.Stat(t.Context(), "object"); return err },
	"list":   func(t *testing.T, s objects.Store) error { _, err := s.List(t.Context(), "", "", 10); return err },
	"delete": func(t *testing.T, s objects.Store) error { return s.Delete(t.Context(), "missing") },
	"sweep":  func(t *testing.T, s objects.Store) error { _, err := s.Sweep(t.Context(), 0); return err },
}

// TestNobodyListens has an address without a server.
func TestNobodyListens(t *testing.T) {
	eachServer(t, func(t *testing.T, p place) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		if _, err := p.through(l.Addr().String()).tryOpen(t); !errors.Is(err, objects.ErrUnreachable) {
			t.Error(err)
		}
	})
}

// TestHangs has a server that sends nothing more: at once, and in the middle of a large object.
func TestHangs(t *testing.T) {
	eachServer(t, func(t *testing.T, p place) {
		direct := p.open(t)
		if _, err := direct.Put(t.Context(), "object", zeros(20<<20), 20<<20, objects.PutOptions{}); err != nil {
			t.Fatal(err)
		}
		proxy := newProxy(t, p.server)
		p.options.Stall = stall
		s := p.through(proxy.address).open(t)
		for name, operation := range operations {
			t.Run(name, func(t *testing.T) {
				after := int64(0)
				if name == "get" || name == "put in parts" {
					after = 5 << 20
				}
				if err := direct.Delete(t.Context(), "new"); err != nil {
					t.Fatal(err)
				}
				proxy.fail(hangs, after, after)
				defer proxy.heal()
				begin := time.Now()
				err := operation(t, s)
				if took := time.Since(begin); !errors.Is(err, objects.ErrUnreachable) || took < stall || took > 20*stall {
					t.Errorf("after %s: %v", took, err)
				}
				if _, err := direct.Stat(t.Context(), "new"); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("something of a Put that failed is visible: %v", err)
				}
			})
		}
		if got := len(get(t, s, "object")); got != 20<<20 { // the store goes on
			t.Errorf("the object has %d bytes", got)
		}
	})
}

// TestCut has a server that closes the connection in the middle.
func TestCut(t *testing.T) {
	eachServer(t, func(t *testing.T, p place) {
		direct := p.open(t)
		if _, err := direct.Put(t.Context(), "object", zeros(20<<20), 20<<20, objects.PutOptions{}); err != nil {
			t.Fatal(err)
		}
		proxy := newProxy(t, p.server)
		s := p.through(proxy.address).open(t)
		for _, name := range []string{"get", "put in parts"} {
			proxy.fail(cuts, 5<<20, 5<<20)
			if err := operations[name](t, s); !errors.Is(err, objects.ErrUnreachable) {
				t.Errorf("%s: %v", name, err)
			}
			proxy.heal()
			if _, err := direct.Stat(t.Context(), "new"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("something of a Put that failed is visible: %v", err)
			}
		}
		// What could not be removed, because the connection was cut, Sweep removes.
		if n, err := direct.Sweep(t.Context(), time.Hour); n != 0 || err != nil {
			t.Errorf("Sweep removed what is younger: %d, %v", n, err)
		}
		if n, err := direct.Sweep(t.Context(), 0); n != 1 || err != nil {
			t.Errorf("Sweep removed %d, %v", n, err)
		}
		wantNothingElse(t, p, direct, 1)
	})
}

// TestRepeats cuts connections at the first attempts: what is safe to repeat is repeated, and at most twice.
func TestRepeats(t *testing.T) {
	eachServer(t, func(t *testing.T, p place) {
		proxy := newProxy(t, p.server)
		s := p.through(proxy.address).open(t)
		put(t, s, "object", "x")
		for name, operation := range operations {
			if name == "put new" {
				continue
			}
			proxy.refused.Store(1)
			proxy.closeAll()
			err := operation(t, s)
			if name == "put in parts" && p.name == "s3" { // its beginning is not repeated
				if !errors.Is(err, objects.ErrUnreachable) {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		proxy.refused.Store(1 << 20)
		proxy.closeAll()
		before := proxy.opened.Load()
		if err := operations["stat"](t, s); !errors.Is(err, objects.ErrUnreachable) {
			t.Error(err)
		}
		if n := proxy.opened.Load() - before; n > 6 { // the HTTP client repeats a request on a connection that was idle
			t.Errorf("%d connections for one question", n)
		}
	})
}

func TestWrongCredentials(t *testing.T) {
	const wrong = "a-wrong-secret-word"
	eachServer(t, func(t *testing.T, p place) {
		p.open(t)
		p.options.Password, p.options.SecretKey = wrong, wrong
		if strings.HasSuffix(t.Name(), "tests") {
			p.options.AccessKey = "somebodyelse" // it does not verify signatures
		}
		_, err := p.tryOpen(t)
		if !errors.Is(err, objects.ErrRefused) || errors.Is(err, objects.ErrUnreachable) {
			t.Fatal(err)
		}
		if text := fmt.Sprintf("%v %+v %#v", err, p.options, p.options); strings.Contains(text, wrong) || strings.Contains(text, testSecret) {
			t.Errorf("a secret is in %s", text)
		}
	})
}

// TestFull has a disk without space.
func TestFull(t *testing.T) {
	dir := func(t *testing.T) string {
		dir := t.TempDir()
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
			t.Skip("a full disk needs the rights to mount one: ", err)
		}
		t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
		return dir
	}
	for name, make := range map[string]func(*testing.T) place{
		"folder": func(t *testing.T) place { return place{name: "folder", location: dir(t)} },
		"sftp":   func(t *testing.T) place { return sftpPlaceIn(t, dir(t)) },
		"sftp of OpenSSH": func(t *testing.T) place {
			program := objectstest.OpenSSH(t)
			p, s := sftpServerIn(t, dir(t))
			s.Program = program
			return p
		},
		"s3": func(t *testing.T) place { return realPlaceIn(t, dir(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			p := make(t)
			s := p.open(t)
			put(t, s, "small", "x")
			if _, err := s.Put(t.Context(), "large", zeros(10<<20), 10<<20, objects.PutOptions{}); !errors.Is(err, objects.ErrFull) {
				t.Errorf("put: %v", err)
			}
			wantNothingElse(t, p, s, 1)
			put(t, s, "small", "space again")
		})
	}
}

// TestStatus has an S3 server that answers Puts with an error.
func TestStatus(t *testing.T) {
	for _, tt := range []struct {
		status int
		code   string
		want   error
		count  int // of requests
	}{
		{507, "InsufficientStorage", objects.ErrFull, 1},
		{507, "Whatever", objects.ErrFull, 1},
		{403, "QuotaExceeded", objects.ErrFull, 1},
		{403, "AccessDenied", objects.ErrRefused, 1},
		{401, "Whatever", objects.ErrRefused, 1},
		{404, "NoSuchKey", fs.ErrNotExist, 1},
		{500, "InternalError", objects.ErrUnreachable, 3},
		{503, "SlowDown", objects.ErrUnreachable, 3},
		{501, "NotImplemented", errors.ErrUnsupported, 1},
	} {
		server := objectstest.New(t)
		s := s3Place(server.Address).open(t)
		server.Status, server.Code, server.Requests = tt.status, tt.code, nil
		if err := operations["put"](t, s); !errors.Is(err, tt.want) || len(server.Requests) != tt.count {
			t.Errorf("%d %s: %v after %q", tt.status, tt.code, err, server.Requests)
		}
	}
	server := objectstest.New(t)
	p := s3Place(server.Address)
	p.location = strings.Replace(p.location, "bucket", "another", 1)
	if _, err := p.tryOpen(t); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a bucket that is missing: %v", err)
	}
}

// TestRedirect has an S3 server that redirects to another host, which must not get a request.
func TestRedirect(t *testing.T) {
	asked := make(chan string, 100)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Header.Get("Authorization") }))
	defer other.Close()
	for _, status := range []int{301, 302, 307, 308} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+r.URL.Path, status)
		}))
		_, err := s3Place(server.Listener.Addr().String()).tryOpen(t)
		if err == nil || !strings.Contains(err.Error(), "redirects") {
			t.Errorf("%d: %v", status, err)
		}
		server.Close()
	}
	if len(asked) > 0 {
		t.Errorf("the other host was asked with %q", <-asked)
	}
}

// TestMemory puts large bodies of unknown size and many small ones, and watches the heap.
func TestMemory(t *testing.T) {
	const limit, size = 16 << 20, 200 << 20
	places := map[string]place{"folder": folderPlace(t), "sftp": sftpPlace(t)}
	server := objectstest.New(t)
	server.Discard = true
	places["s3"] = s3Place(server.Address)
	for name, p := range places {
		s := p.open(t)
		body := &heapWatch{Reader: zeros(size)}
		body.measure()
		base := body.most
		if _, err := s.Put(t.Context(), "large", body, -1, objects.PutOptions{}); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.1f MiB", name, float64(body.most-base)/(1<<20))
		if body.most > base+limit {
			t.Errorf("%s needs %d bytes for a Put", name, body.most-base)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range 20 {
			put(t, s, fmt.Sprint(i), "small")
		}
		runtime.ReadMemStats(&after)
		if each := (after.TotalAlloc - before.TotalAlloc) / 20; each > 3<<20 {
			t.Errorf("%s allocates %d bytes for a small Put", name, each)
		}
		if err := s.Delete(t.Context(), "large"); err != nil {
			t.Fatal(err)
		}
	}
}

// heapWatch is a body that measures what is reachable every 8 MiB.
type heapWatch struct {
	io.Reader
	left int
	most uint64 // bytes
}

func (h *heapWatch) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if h.left -= n; h.left < 0 {
		h.left = 8 << 20
		h.measure()
	}
	return n, err
}

func (h *heapWatch) measure() {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	h.most = max(h.most, m.HeapAlloc)
}

// TestSyncs looks into the log of OpenSSH's server: a Put syncs the file before it renames it.
func TestSyncs(t *testing.T) {
	program := objectstest.OpenSSH(t)
	p, server := sftpServerIn(t, t.TempDir())
	server.Program = program
	put(t, p.open(t), "object", "x")
	synced, renamed := -1, -1
	waitFor(t, "rename", func() bool {
		synced, renamed = strings.Index(server.Log.String(), "fsync (handle"), strings.Index(server.Log.String(), "posix-rename old")
		return renamed > 0
	})
	if synced < 0 || synced > renamed {
		t.Errorf("the log is %s", server.Log.String())
	}
}

// TestFolderRefused has a folder in which nothing may be written, and one whose name a file has.
func TestFolderRefused(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (place{location: file}).tryOpen(t); err == nil {
		t.Error("a file is opened as a folder")
	}
	s := place{location: dir}.open(t)
	if _, err := s.Put(t.Context(), "file/below", strings.NewReader(""), 0, objects.PutOptions{}); !errors.Is(err, objects.ErrName) {
		t.Error(err)
	}
	if err := os.Symlink("/etc", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Get(t.Context(), "link/hostname", 0, -1); err == nil {
		t.Error("a symbolic link leads out of the folder")
	}
}

package replica_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/internal/disk"
	"svc/internal/objects"
	"svc/internal/replica"
)

const passphrase = "correct horse battery"

// memory is a place in memory that can fail, and counts what runs at once.
type memory struct {
	mu      sync.Mutex
	objects map[string][]byte
	times   map[string]time.Time
	fail    error
	block   chan struct{} // not nil: a Put waits until it is closed

	puts, large       int // that run
	maxPuts, maxLarge int
}

func newMemory() *memory {
	return &memory{objects: make(map[string][]byte), times: make(map[string]time.Time)}
}

func (m *memory) set(fail error, block chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail, m.block = fail, block
}

func (m *memory) begin(size int64) (chan struct{}, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.puts++; size > replica.LargeFile {
		m.large++
	}
	m.maxPuts, m.maxLarge = max(m.maxPuts, m.puts), max(m.maxLarge, m.large)
	return m.block, m.fail
}

func (m *memory) Put(ctx context.Context, name string, body io.Reader, size int64, _ objects.PutOptions) (objects.Object, error) {
	block, err := m.begin(size)
	if block != nil {
		select {
		case <-block:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	var content []byte
	if err == nil {
		content, err = io.ReadAll(body)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.puts--; size > replica.LargeFile {
		m.large--
	}
	if err == nil && int64(len(content)) != size {
		err = objects.ErrSize
	}
	if err != nil {
		return objects.Object{}, err
	}
	m.objects[name], m.times[name] = content, time.Now()
	return objects.Object{Name: name, Size: size}, nil
}

func (m *memory) Get(_ context.Context, name string, _, _ int64) (io.ReadCloser, objects.Object, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.objects[name]
	if !ok {
		return nil, objects.Object{}, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(b)), objects.Object{Name: name, Size: int64(len(b))}, m.fail
}

func (m *memory) Stat(_ context.Context, name string) (objects.Object, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.objects[name]
	if !ok {
		return objects.Object{}, fs.ErrNotExist
	}
	return objects.Object{Name: name, Size: int64(len(b)), Modified: m.times[name]}, m.fail
}

func (m *memory) List(_ context.Context, prefix, after string, limit int) (page []objects.Object, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(m.objects)) {
		if strings.HasPrefix(name, prefix) && name > after && len(page) < limit {
			page = append(page, objects.Object{Name: name, Size: int64(len(m.objects[name])), Modified: m.times[name]})
		}
	}
	return page, m.fail
}

func (m *memory) Delete(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, name)
	return m.fail
}

func (m *memory) Sweep(context.Context, time.Duration) (int, error) { return 0, nil }
func (m *memory) Close() error                                      { return nil }

// files returns what files/ has.
func (m *memory) files() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	files := make(map[string]string)
	for name, b := range m.objects {
		if name, ok := strings.CutPrefix(name, "files/"); ok {
			files[name] = string(b)
		}
	}
	return files
}

// server is a data directory with a Copier.
type server struct {
	*replica.Copier
	t     *testing.T
	dir   string
	place *memory
	mu    sync.Mutex
	ahead time.Duration
	stop  func()
}

// rowed is an upload that a row names.
const rowed = "aa/rowed.png"

func newServer(t *testing.T, place *memory) *server {
	s := &server{t: t, dir: t.TempDir(), place: place}
	for _, dir := range []string{"media", "emoji", "static", "keys"} {
		if err := disk.MakeFolder(s.path(dir)); err != nil {
			t.Fatal(err)
		}
	}
	s.write("keys/secret", "the secret")
	s.write("passphrase", passphrase+"\n")
	s.write("config.toml", "[server]\n")
	t.Cleanup(func() { s.end() })
	return s
}

func (s *server) path(name string) string { return filepath.Join(s.dir, name) }

func (s *server) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.ahead)
}

// pass lets time pass.
func (s *server) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead += d
}

// begin runs a Copier.
func (s *server) begin() {
	s.t.Helper()
	c, end, err := replica.New(replica.Config{
		Dir: s.dir, Folders: []string{"emoji", "static", "media"}, Settings: s.path("config.toml"), PassphraseFile: s.path("passphrase"),
		Open: func(context.Context) (objects.Store, error) { return s.place, nil }, Keep: 24 * time.Hour, Now: s.now, Log: slog.New(slog.DiscardHandler),
		HasRow: func(_ context.Context, name string) (bool, error) { return name == rowed, nil },
	})
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(ctx)
	}()
	s.Copier = c
	s.stop = func() {
		cancel()
		<-done
		end()
	}
}

// end stops the Copier.
func (s *server) end() {
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

func (s *server) write(name, text string) {
	s.t.Helper()
	if err := disk.MakeFolder(filepath.Dir(s.path(name))); err != nil {
		s.t.Fatal(err)
	}
	if err := disk.ReplaceText(s.path(name), text); err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// until waits for a condition.
func (s *server) until(what string, is func() bool) {
	s.t.Helper()
	for begin := time.Now(); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > 30*time.Second {
			s.t.Fatalf("not after 30 s: %s; %+v", what, s.Status())
		}
	}
}

// settle waits until nothing is queued and the place was compared.
func (s *server) settle() {
	s.t.Helper()
	s.until("nothing is queued", func() bool {
		st := s.Status()
		return st.Pending == 0 && !st.Compared.IsZero() && !st.Sealed.IsZero()
	})
}

// want compares the place with what it must have, given as names and contents.
func (s *server) want(files map[string]string) {
	s.t.Helper()
	s.settle()
	if got := s.place.files(); !maps.Equal(got, files) {
		s.t.Errorf("the place has %v, want %v", short(got), short(files))
	}
}

func short(files map[string]string) string {
	text := ""
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if text += fmt.Sprintf(" %s=%.10q", name, files[name]); len(text) > 1000 {
			return text + "…"
		}
	}
	return text
}

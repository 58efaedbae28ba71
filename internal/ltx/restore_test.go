package ltx_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash"
	"hash/crc64"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	format "github.com/superfly/ltx"

	"svc/internal/ltx"
	"svc/internal/objects"
)

func newChecksum() hash.Hash64 { return crc64.New(crc64.MakeTable(crc64.ISO)) }

// at is level, first and last transaction of a file.
type at [3]int

// TestRestore restores from places with files of several levels. The database grows, shrinks and gets another page size.
func TestRestore(t *testing.T) {
	t.Parallel()
	sizes := []int{3, 3, 9, 12, 5, 5, 20, 21, 21, 30} // pages after each transaction
	const vacuumed = 9
	for _, tt := range []struct {
		name    string
		files   []at
		until   time.Duration // of the time of the first transaction; 0: the newest
		want    int           // transaction
		wantErr error
		object  string // in the error
	}{
		{"one file", []at{{0, 1, 1}}, 0, 1, nil, ""},
		{"level 0 only", []at{{0, 1, 1}, {0, 2, 2}, {0, 3, 3}, {0, 4, 4}, {0, 5, 5}}, 0, 5, nil, ""},
		{"three levels", []at{{9, 1, 4}, {1, 5, 6}, {0, 7, 7}, {0, 8, 8}}, 0, 8, nil, ""},
		{"overlapping", []at{{9, 1, 4}, {2, 3, 6}, {1, 5, 7}, {0, 7, 7}, {0, 8, 8}}, 0, 8, nil, ""},
		{"without a snapshot", []at{{3, 1, 3}, {2, 4, 5}, {1, 6, 8}}, 0, 8, nil, ""},
		{"only snapshots", []at{{9, 1, 2}, {9, 1, 6}}, 0, 6, nil, ""},
		{"the snapshot is the newest", []at{{9, 1, 8}, {0, 7, 7}, {1, 1, 4}}, 0, 8, nil, ""},
		{"shrunk", []at{{9, 1, 4}, {0, 5, 5}}, 0, 5, nil, ""},
		{"shrunk and grown in one file", []at{{9, 1, 3}, {1, 4, 7}}, 0, 7, nil, ""},
		{"another page size", []at{{9, 1, 8}, {0, 9, 9}, {0, 10, 10}}, 0, 10, nil, ""},
		{"another page size, not all pages", []at{{9, 1, 8}, {0, 10, 10}}, 0, 0, ltx.ErrGap, "000a.ltx"},
		{"empty", nil, 0, 0, ltx.ErrNone, `"db/"`},
		{"a gap", []at{{9, 1, 4}, {0, 6, 6}}, 0, 0, ltx.ErrGap, "ltx/0/0000000000000006-0000000000000006.ltx"},
		{"a gap in level 1", []at{{9, 1, 2}, {1, 3, 4}, {1, 6, 7}, {0, 8, 8}}, 0, 0, ltx.ErrGap, "ltx/1/0000000000000006-0000000000000007.ltx"},
		{"no beginning", []at{{0, 3, 3}, {0, 4, 4}}, 0, 0, ltx.ErrGap, "ltx/0/0000000000000003-0000000000000003.ltx"},
		{"at the time of a transaction", []at{{9, 1, 2}, {0, 3, 3}, {0, 4, 4}, {0, 5, 5}}, 4 * time.Second, 4, nil, ""},
		{"between two", []at{{9, 1, 2}, {0, 3, 3}, {0, 4, 4}, {0, 5, 5}}, 4500 * time.Millisecond, 4, nil, ""},
		{"before the newest snapshot", []at{{9, 1, 2}, {9, 1, 7}, {1, 1, 3}, {1, 4, 6}, {0, 8, 8}}, 6 * time.Second, 6, nil, ""},
		{"as fine as files are", []at{{9, 1, 2}, {1, 3, 6}, {0, 7, 7}}, 5 * time.Second, 2, nil, ""},
		{"far future", []at{{9, 1, 2}, {0, 3, 3}, {0, 4, 4}}, 90 * 365 * 24 * time.Hour, 4, nil, ""},
		{"before all", []at{{9, 1, 2}, {0, 3, 3}}, time.Second, 0, ltx.ErrNone, "2030-01-02T03:04:06Z"},
	} {
		for _, layout := range []string{"db/ltx/%d/", "db/%04x/"} {
			t.Run(tt.name+" "+layout, func(t *testing.T) {
				h := newHistory(t)
				h.layout = layout
				for i, n := range sizes {
					if i+1 == vacuumed {
						h.vacuum(1024, n)
					} else {
						h.commit(n)
					}
				}
				for _, f := range tt.files {
					h.put(f[0], f[1], f[2])
				}
				if len(tt.files) > 0 { // what else can be there
					h.write(h.name(0, 1, 1)+".tmp", []byte("half a file"))
					h.write("db/note.txt", []byte("by hand"))
				}
				dir := t.TempDir()
				to := filepath.Join(dir, "svc.db")
				var until time.Time
				if tt.until > 0 {
					until = begin.Add(tt.until)
				}
				p, err := ltx.Restore(t.Context(), h.store, "db/", to, until)
				if tt.wantErr != nil {
					object := strings.Replace(tt.object, "ltx/", strings.TrimSuffix(layout, "%d/"), 1)
					if layout != "db/ltx/%d/" {
						object = tt.object[max(strings.LastIndex(tt.object, "/"), 0):]
					}
					if !errors.Is(err, tt.wantErr) || !strings.Contains(err.Error(), object) {
						t.Errorf("the error is %v, want %v with %s", err, tt.wantErr, object)
					}
					wantOnly(t, dir)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				h.wantImage(to, p, tt.want)
				wantOnly(t, dir, "svc.db")
			})
		}
	}
}

// TestRestoreKeeps checks that a failed restoration leaves the file that is there, and that one with a write-ahead log is not replaced.
func TestRestoreKeeps(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.commit(5)
	h.put(0, 1, 1)
	dir := t.TempDir()
	to := filepath.Join(dir, "svc.db")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(to, "old")
	write(to+"-wal", "")
	if _, err := ltx.Restore(t.Context(), h.store, "db/", to, time.Time{}); err == nil || !strings.Contains(err.Error(), "-wal") {
		t.Errorf("a write-ahead log is no error: %v", err)
	}
	if err := os.Remove(to + "-wal"); err != nil {
		t.Fatal(err)
	}
	file := h.file(1, 1)
	h.write(h.name(0, 1, 1), file[:len(file)-1])
	if _, err := ltx.Restore(t.Context(), h.store, "db/", to, time.Time{}); !errors.Is(err, ltx.ErrDamaged) {
		t.Errorf("a torn file is no error: %v", err)
	}
	if b, _ := os.ReadFile(to); string(b) != "old" {
		t.Errorf("the file is %.20q after errors", b)
	}
	wantOnly(t, dir, "svc.db")
	h.put(0, 1, 1)
	p, err := ltx.Restore(t.Context(), h.store, "db/", to, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	h.wantImage(to, p, 1)
}

// TestDamage changes a file in all ways: each is ErrDamaged with the name of the object.
func TestDamage(t *testing.T) {
	t.Parallel()
	for _, old := range []bool{false, true} {
		h := newHistory(t)
		h.commit(3)
		h.commit(4)
		h.put(9, 1, 1)
		file := h.file(2, 2)
		if old {
			file = h.framed(2, 2)
		}
		name := h.name(0, 2, 2)
		to := filepath.Join(t.TempDir(), "svc.db")
		check := func(what string, at int, content []byte) {
			t.Helper()
			h.write(name, content)
			p, err := ltx.Restore(t.Context(), h.store, "db/", to, time.Time{})
			if err == nil && old { // frames have bits that mean nothing
				h.wantImage(to, p, 2)
				return
			}
			if !errors.Is(err, ltx.ErrDamaged) || !strings.Contains(err.Error(), name) {
				t.Errorf("old form %v, %s at %d: %v", old, what, at, err)
			}
		}
		for i := 0; i < len(file); i += 1 + len(file)/60*min(i/format.HeaderSize, 1) {
			changed := bytes.Clone(file)
			changed[i] ^= 0x41
			check("changed", i, changed)
			if i%5 == 0 {
				check("cut", i, file[:i])
			}
		}
		check("longer", len(file), append(bytes.Clone(file), 0))
		check("another one", 0, h.file(1, 1))
		h.write(name, file)
		p, err := ltx.Restore(t.Context(), h.store, "db/", to, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		h.wantImage(to, p, 2)
	}
}

// TestBounds restores from files that name sizes that they do not have.
func TestBounds(t *testing.T) {
	h := newHistory(t)
	h.commit(3)
	file := h.file(1, 1)
	for _, tt := range []struct {
		name   string
		offset int
		value  uint32
	}{
		{"page of 4 GiB", format.HeaderSize + format.PageHeaderSize, 0xffff_fff0},
		{"page of 2 GiB", format.HeaderSize + format.PageHeaderSize, 0x7fff_ffff},
		{"4 billion pages", 12, 0xffff_ffff},
		{"pages of 2 GiB", 8, 1 << 31},
	} {
		t.Run(tt.name, func(t *testing.T) {
			changed := bytes.Clone(file)
			binary.BigEndian.PutUint32(changed[tt.offset:], tt.value)
			h.write(h.name(0, 1, 1), changed)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := ltx.Restore(t.Context(), h.store, "db/", filepath.Join(t.TempDir(), "svc.db"), time.Time{})
			runtime.ReadMemStats(&after)
			if !errors.Is(err, ltx.ErrDamaged) {
				t.Errorf("the error is %v", err)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
				t.Errorf("%d bytes were allocated", n)
			}
		})
	}
}

// unsteady is a store whose connection is lost after some bytes.
type unsteady struct {
	objects.Store
	bytes int64
	onGet func(name string)
	lost  atomic.Int64
}

func (u *unsteady) Get(ctx context.Context, name string, offset, length int64) (io.ReadCloser, objects.Object, error) {
	if u.onGet != nil {
		u.onGet(name)
	}
	body, o, err := u.Store.Get(ctx, name, offset, length)
	if err != nil || u.bytes == 0 {
		return body, o, err
	}
	return &lossy{body, u, u.bytes}, o, nil
}

type lossy struct {
	io.ReadCloser
	from *unsteady
	left int64
}

func (l *lossy) Read(b []byte) (int, error) {
	if l.left == 0 {
		l.from.lost.Add(1)
		return 0, objects.ErrUnreachable
	}
	n, err := l.ReadCloser.Read(b[:min(int64(len(b)), l.left)])
	l.left -= int64(n)
	return n, err
}

// TestLostConnections checks that a file is read on where the connection was lost, unless it was changed, and that a place without progress is an error.
func TestLostConnections(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.commit(100)
	h.put(0, 1, 1)
	u := &unsteady{Store: h.store, bytes: 10_000}
	to := filepath.Join(t.TempDir(), "svc.db")
	p, err := ltx.Restore(t.Context(), u, "db/", to, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	h.wantImage(to, p, 1)
	if n := u.lost.Load(); n < 10 {
		t.Errorf("the connection was lost %d times", n)
	}
	gets := 0
	u.onGet = func(string) {
		if gets++; gets == 3 {
			h.put(0, 1, 1)
		}
	}
	if _, err := ltx.Restore(t.Context(), u, "db/", to, time.Time{}); !errors.Is(err, ltx.ErrDamaged) || !strings.Contains(err.Error(), "changed") {
		t.Errorf("a file that is replaced meanwhile: %v", err)
	}
	u.bytes, u.onGet = -1, nil
	if _, err := ltx.Restore(t.Context(), &dead{h.store}, "db/", to, time.Time{}); !errors.Is(err, objects.ErrUnreachable) {
		t.Errorf("a place without an answer: %v", err)
	}
}

// dead is a store whose objects have no bytes.
type dead struct{ objects.Store }

func (d *dead) Get(ctx context.Context, name string, offset, length int64) (io.ReadCloser, objects.Object, error) {
	body, o, err := d.Store.Get(ctx, name, offset, length)
	if err != nil {
		return nil, o, err
	}
	return &lossy{body, &unsteady{}, 0}, o, nil
}

// TestCompactedMeanwhile checks that a restoration begins again if a file was compacted after it was listed.
func TestCompactedMeanwhile(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	for range 6 {
		h.commit(10)
	}
	h.put(9, 1, 3)
	for i := 4; i <= 6; i++ {
		h.put(0, i, i)
	}
	once := false
	u := &unsteady{Store: h.store, onGet: func(name string) {
		if name == h.name(0, 5, 5) && !once {
			once = true
			h.put(1, 4, 5)
			h.remove(0, 4, 4)
			h.remove(0, 5, 5)
		}
	}}
	to := filepath.Join(t.TempDir(), "svc.db")
	p, err := ltx.Restore(t.Context(), u, "db/", to, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	h.wantImage(to, p, 6)
	if !once {
		t.Error("nothing was compacted meanwhile")
	}
}

package ltx_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pierrec/lz4/v4"
	format "github.com/superfly/ltx"

	"svc/internal/ltx"
	"svc/internal/objects"
)

// begin is the time of the first transaction. Each is a second later.
var begin = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// history is a database with all its states, and a place with LTX files of them.
type history struct {
	t      *testing.T
	store  objects.Store
	dir    string // of the store
	layout string
	random *rand.Rand
	states []state // of transaction 1, 2 …
}

// state is a database after a transaction.
type state struct {
	pageSize int
	pages    [][]byte
	changed  map[int]bool // pages, from 1 on
}

func newHistory(t *testing.T) *history {
	t.Helper()
	dir := t.TempDir()
	l, err := objects.ParseLocation(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := objects.Open(t.Context(), l, objects.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &history{t: t, store: s, dir: dir, layout: "db/ltx/%d/", random: rand.New(rand.NewPCG(1, 2))}
}

// commit makes a transaction after which the database has so many pages. New pages and some others are changed.
func (h *history) commit(pages int) {
	last := state{pageSize: 4096}
	if len(h.states) > 0 {
		last = h.states[len(h.states)-1]
	}
	h.states = append(h.states, h.next(last.pageSize, slices.Clone(last.pages), pages))
}

// vacuum makes a transaction after which the database has another page size.
func (h *history) vacuum(pageSize, pages int) {
	h.states = append(h.states, h.next(pageSize, nil, pages))
}

func (h *history) next(pageSize int, old [][]byte, pages int) state {
	s := state{pageSize: pageSize, pages: old[:min(len(old), pages)], changed: map[int]bool{}}
	for len(s.pages) < pages {
		s.pages = append(s.pages, nil)
		s.changed[len(s.pages)] = true
	}
	for range 1 + pages/4 {
		s.changed[1+h.random.IntN(pages)] = true
	}
	for n := range s.changed {
		page := make([]byte, pageSize)
		for i := range pageSize / 2 { // the other half can be compressed
			page[i] = byte(h.random.Uint32())
		}
		s.pages[n-1] = page
	}
	return s
}

// image returns the content of the database after a transaction.
func (h *history) image(txid int) []byte { return bytes.Join(h.states[txid-1].pages, nil) }

func (h *history) name(level, low, high int) string {
	return fmt.Sprintf(h.layout, level) + format.FormatFilename(format.TXID(low), format.TXID(high))
}

// file returns the file of some transactions.
func (h *history) file(low, high int) []byte {
	h.t.Helper()
	last := h.states[high-1]
	changed := map[int]bool{}
	for _, s := range h.states[low-1 : high] {
		if s.pageSize != last.pageSize {
			h.t.Fatalf("the page size changes between %d and %d", low, high)
		}
		maps.Copy(changed, s.changed)
	}
	if low == 1 {
		for n := range last.pages {
			changed[n+1] = true
		}
	}
	var b bytes.Buffer
	enc, err := format.NewEncoder(&b)
	if err != nil {
		h.t.Fatal(err)
	}
	if err := enc.EncodeHeader(h.header(low, high)); err != nil {
		h.t.Fatal(err)
	}
	for _, n := range slices.Sorted(maps.Keys(changed)) {
		if n > len(last.pages) {
			continue
		}
		if err := enc.EncodePage(format.PageHeader{Pgno: uint32(n)}, last.pages[n-1]); err != nil {
			h.t.Fatal(err)
		}
	}
	if err := enc.Close(); err != nil {
		h.t.Fatal(err)
	}
	return b.Bytes()
}

func (h *history) header(low, high int) format.Header {
	last := h.states[high-1]
	return format.Header{
		Version: format.Version, Flags: format.HeaderFlagNoChecksum, PageSize: uint32(last.pageSize), Commit: uint32(len(last.pages)),
		MinTXID: format.TXID(low), MaxTXID: format.TXID(high), Timestamp: h.time(high).UnixMilli(),
	}
}

// time returns the time of a transaction.
func (h *history) time(txid int) time.Time { return begin.Add(time.Duration(txid) * time.Second) }

// put writes the file of some transactions to the place.
func (h *history) put(level, low, high int) {
	h.t.Helper()
	h.write(h.name(level, low, high), h.file(low, high))
}

// write writes an object, without the synchronisations of a Put.
func (h *history) write(name string, content []byte) {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600)); err != nil {
		h.t.Fatal(err)
	}
}

func (h *history) remove(level, low, high int) {
	h.t.Helper()
	if err := os.Remove(filepath.Join(h.dir, h.name(level, low, high))); err != nil {
		h.t.Fatal(err)
	}
}

// wantImage checks that a file is the database after a transaction.
func (h *history) wantImage(path string, p ltx.Position, txid int) {
	h.t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		h.t.Fatal(err)
	}
	if p.TXID != uint64(txid) || !p.Time.Equal(h.time(txid)) {
		h.t.Errorf("the position is %d of %s, want %d of %s", p.TXID, p.Time, txid, h.time(txid))
	}
	if !bytes.Equal(got, h.image(txid)) {
		h.t.Errorf("the database has %d bytes that are not those of transaction %d, which has %d", len(got), txid, len(h.image(txid)))
	}
}

// wantOnly checks that a folder has nothing but some files.
func wantOnly(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("%s has %q, want %q", filepath.Base(dir), got, want)
	}
}

// framed returns a file in the form of older versions, whose pages are compressed as frames.
func (h *history) framed(low, high int) []byte {
	h.t.Helper()
	file := h.file(low, high)
	dec := format.NewDecoder(bytes.NewReader(file))
	if err := dec.DecodeHeader(); err != nil {
		h.t.Fatal(err)
	}
	out := bytes.NewBuffer(slices.Clone(file[:format.HeaderSize]))
	sum := newChecksum()
	sum.Write(out.Bytes())
	page := make([]byte, dec.Header().PageSize)
	for {
		var ph format.PageHeader
		if err := dec.DecodePage(&ph, page); err != nil {
			break
		}
		ph.Flags = 0
		b, err := ph.MarshalBinary()
		if err != nil {
			h.t.Fatal(err)
		}
		out.Write(b)
		sum.Write(b)
		w := lz4.NewWriter(out)
		if err := w.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.CompressionLevelOption(lz4.Fast)); err != nil {
			h.t.Fatal(err)
		}
		if _, err := w.Write(page); err != nil {
			h.t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			h.t.Fatal(err)
		}
		sum.Write(page)
	}
	tail := make([]byte, format.PageHeaderSize+1+8+format.ChecksumSize) // no more pages, an empty index, no checksum of the database
	out.Write(tail)
	sum.Write(tail)
	trailer := format.Trailer{FileChecksum: format.ChecksumFlag | format.Checksum(sum.Sum64())}
	b, err := trailer.MarshalBinary()
	if err != nil {
		h.t.Fatal(err)
	}
	out.Write(b[format.TrailerChecksumOffset:])
	return out.Bytes()
}

package apptest

import (
	"encoding/gob"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"

	"svc/internal/disk"
)

// RecordedDisk is the disk of a folder, with all that this process changes in it, in order. So a test learns what a power failure at any moment
// would have left: see PowerCut.
type RecordedDisk struct {
	dir     string
	initial []savedFile // folders before their files

	mu      sync.Mutex // held during a change, so that the order is that on disk
	entries []diskEntry
	stopped bool
}

// diskEntry is a change, or something that a test notes between two.
type diskEntry struct {
	Change disk.Change
	Site   string // where a synchronisation comes from
	Note   any    // nil: it is a change
}

// savedFile is a file or a folder.
type savedFile struct {
	Path    string // below the recorded folder
	Folder  bool
	Content []byte
}

// RecordDisk records the changes of a folder and all in it, until the test ends or Stop is called. Files that are there count as being on disk. One folder
// is recorded at a time.
func RecordDisk(t testing.TB, dir string) *RecordedDisk {
	t.Helper()
	d := &RecordedDisk{dir: dir}
	if err := d.load(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(disk.Intercept(d.change))
	interceptSQLite(t, dir, &sqliteFiles{change: func(name string, c *disk.Change, do func() int32) int32 {
		d.mu.Lock()
		defer d.mu.Unlock()
		rc := do()
		if rc == sqlite3.SQLITE_OK {
			d.record(*c, "SQLite: "+kindOfFile(name))
		}
		return rc
	}})
	return d
}

// load reads the folder. Sockets and other things that are no files are left out.
func (d *RecordedDisk) load() error {
	return filepath.WalkDir(d.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == d.dir || !e.IsDir() && !e.Type().IsRegular() {
			return err
		}
		f := savedFile{Folder: e.IsDir()}
		if !f.Folder {
			f.Content, err = os.ReadFile(path)
		}
		if err == nil {
			f.Path, err = filepath.Rel(d.dir, path)
		}
		d.initial = append(d.initial, f)
		return err
	})
}

// savedDisk is a record in a file.
type savedDisk struct {
	Dir     string
	Initial []savedFile
	Entries []diskEntry
}

// Save writes the record to a file. The types of notes must be known to gob.
func (d *RecordedDisk) Save(w io.Writer) error {
	return gob.NewEncoder(w).Encode(savedDisk{d.dir, d.initial, d.entries})
}

// LoadRecord reads what Save has written.
func LoadRecord(r io.Reader) (*RecordedDisk, error) {
	var s savedDisk
	if err := gob.NewDecoder(r).Decode(&s); err != nil {
		return nil, err
	}
	return &RecordedDisk{dir: s.Dir, initial: s.Initial, entries: s.Entries, stopped: true}, nil
}

// kindOfFile returns which of the files of a database a name is.
func kindOfFile(name string) string {
	for _, end := range []string{"-wal", "-journal"} {
		if strings.HasSuffix(name, end) {
			return "*" + end
		}
	}
	return "database"
}

func (d *RecordedDisk) change(c *disk.Change, do func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := do()
	if err == nil {
		site := ""
		if c.Kind == disk.Synced || c.Kind == disk.AllSynced {
			site = caller() + kindOfSync(c)
		}
		d.record(*c, site)
	}
	return err
}

// kindOfSync returns what a synchronisation puts on disk: the content of a file, or names.
func kindOfSync(c *disk.Change) string {
	if c.Kind == disk.AllSynced {
		return ""
	}
	if info, err := os.Stat(c.Path); c.File == 0 && (err != nil || info.IsDir()) {
		return " names"
	}
	return " content"
}

// record adds a change. d.mu is held.
func (d *RecordedDisk) record(c disk.Change, site string) {
	if d.stopped {
		return
	}
	c.Data = slices.Clone(c.Data)
	d.entries = append(d.entries, diskEntry{Change: c, Site: site})
}

// Note adds something to the record, at the place of now. A test notes which changes the server has confirmed.
func (d *RecordedDisk) Note(note any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.stopped {
		d.entries = append(d.entries, diskEntry{Note: note})
	}
}

// Stop ends the record.
func (d *RecordedDisk) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
}

// Len returns the number of changes and notes.
func (d *RecordedDisk) Len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.entries)
}

// Moments returns the numbers of entries after each of which the power may fail: those of changes other than SQLite's, and of notes. They are few, compared with
// all entries.
func (d *RecordedDisk) Moments() (list []int) {
	for i, e := range d.entries {
		if e.Note != nil || e.Site != "" && !strings.HasPrefix(e.Site, "SQLite") || e.Change.Kind == disk.Renamed || e.Change.Kind == disk.Removed {
			list = append(list, i+1)
		}
	}
	return list
}

// SyncSites returns the places in the program from which the disk was synchronised, in order.
func (d *RecordedDisk) SyncSites() []string {
	found := make(map[string]bool)
	for _, e := range d.entries {
		if e.isSync() {
			found[e.Site] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func (e *diskEntry) isSync() bool {
	return e.Note == nil && (e.Change.Kind == disk.Synced || e.Change.Kind == disk.AllSynced)
}

// caller returns the function that has called package disk, and its line.
func caller() string {
	var pcs [24]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if !strings.Contains(f.Function, "internal/disk.") && !strings.Contains(f.Function, "apptest.") {
			_, name, _ := strings.Cut(f.Function, "svc/")
			return name + ":" + strconv.Itoa(f.Line)
		}
		if !more {
			return "unknown"
		}
	}
}

// under returns the elements of a path in the folder, false if it is not in it.
func (d *RecordedDisk) under(path string) ([]string, bool) {
	rel, err := filepath.Rel(d.dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, false
	}
	if rel == "." {
		return nil, true
	}
	return strings.Split(rel, string(filepath.Separator)), true
}

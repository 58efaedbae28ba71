package replica

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"svc/internal/disk"
	"svc/internal/objects"
)

const (
	// deletedFile remembers the deleted files in the data directory, a line a change. A comparison finds lost lines again.
	deletedFile = "replica-deleted.jsonl"
	// maxDeleted is how many deleted files are remembered. The next comparison finds others.
	maxDeleted = 50_000
	// maxDeletedBytes is the size of the largest list that is read.
	maxDeletedBytes = 64 << 20
	// deletedSlack is how many lines a file has beyond the names, before it is written anew.
	deletedSlack = 1000
)

// deletedLine is a change: a file was deleted, or is there again.
type deletedLine struct {
	Name string    `json:"name"`
	At   time.Time `json:"at"` // zero: there again
}

// deleted remembers which files were deleted, and when.
type deleted struct {
	path string

	mu      sync.Mutex
	names   map[string]time.Time
	file    *disk.File // nil: not open
	lines   int        // of file
	found   bool       // there was a file
	changed bool       // since it was copied
	failed  error      // of writing
}

func newDeleted(path string) *deleted {
	return &deleted{path: path, names: make(map[string]time.Time)}
}

// read reads the file.
func (d *deleted) read() error {
	f, err := os.Open(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.found = true
	d.lines, err = readDeleted(f, d.names)
	return err
}

// readDeleted applies the lines of a list. The last line may be half of one.
func readDeleted(r io.Reader, names map[string]time.Time) (lines int, err error) {
	s := bufio.NewScanner(io.LimitReader(r, maxDeletedBytes))
	for s.Scan() {
		var line deletedLine
		if json.Unmarshal(s.Bytes(), &line) != nil {
			continue
		}
		lines++
		if line.At.IsZero() {
			delete(names, line.Name)
		} else if len(names) < maxDeleted {
			names[line.Name] = line.At
		}
	}
	return lines, s.Err()
}

func (d *deleted) at(name string) (time.Time, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, ok := d.names[name]
	return at, ok
}

func (d *deleted) len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.names)
}

// before returns the names of files that were deleted before a time.
func (d *deleted) before(t time.Time) (names []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, at := range d.names {
		if at.Before(t) {
			names = append(names, name)
		}
	}
	return names
}

func (d *deleted) remember(name string, at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.names[name]; known || len(d.names) >= maxDeleted {
		return
	}
	d.names[name] = at.UTC()
	d.write(deletedLine{name, at.UTC()})
}

func (d *deleted) forget(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.names[name]; known {
		delete(d.names, name)
		d.write(deletedLine{Name: name})
	}
}

// write appends a line, or writes the file anew if most of it is out of date.
func (d *deleted) write(line deletedLine) {
	d.changed = true
	if d.failed = d.append(line); d.failed != nil {
		return
	}
	if d.lines > 2*len(d.names)+deletedSlack {
		d.failed = d.rewrite()
	}
}

func (d *deleted) append(line deletedLine) error {
	if d.file == nil {
		f, err := disk.OpenFile(d.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		d.file = f
	}
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	d.lines++
	_, err = d.file.Write(append(text, '\n'))
	return err
}

func (d *deleted) rewrite() error {
	err := disk.ReplaceText(d.path, string(d.text()))
	if err != nil {
		return err
	}
	d.lines = len(d.names)
	err, d.file = d.file.Close(), nil
	return err
}

// text returns the list as lines.
func (d *deleted) text() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	for name, at := range d.names {
		e.Encode(deletedLine{name, at}) // a bytes.Buffer has no errors
	}
	return b.Bytes()
}

// copyDeleted writes the list to the place, if it has changed: a restoration leaves these files out.
func (k *Copier) copyDeleted(ctx context.Context) error {
	d := k.deleted
	d.mu.Lock()
	changed, text, err := d.changed, []byte(nil), d.failed
	if changed {
		text, d.changed = d.text(), false
	}
	d.mu.Unlock()
	if err != nil {
		k.failed(fmt.Errorf("list of deleted files: %w", err))
	}
	if !changed {
		return nil
	}
	store, err := k.place(ctx)
	if err == nil {
		_, err = store.Put(ctx, deletedObject, bytes.NewReader(text), int64(len(text)), objects.PutOptions{})
	}
	if err != nil {
		d.mu.Lock()
		d.changed = true
		d.mu.Unlock()
	}
	return err
}

// adoptDeleted reads the list of the place if the data directory has none, because it was restored.
func (k *Copier) adoptDeleted(ctx context.Context, store objects.Store) error {
	k.deleted.mu.Lock()
	found := k.deleted.found
	k.deleted.found = true
	k.deleted.mu.Unlock()
	if found {
		return nil
	}
	names, err := placedDeleted(ctx, store)
	for name, at := range names {
		k.deleted.remember(name, at)
	}
	return err
}

// placedDeleted returns the files that the place keeps although they are deleted.
func placedDeleted(ctx context.Context, store objects.Store) (map[string]time.Time, error) {
	names := make(map[string]time.Time)
	body, _, err := store.Get(ctx, deletedObject, 0, -1)
	if errors.Is(err, fs.ErrNotExist) {
		return names, nil
	}
	if err != nil {
		return nil, err
	}
	defer body.Close()
	_, err = readDeleted(body, names)
	return names, err
}

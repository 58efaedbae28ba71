package mail

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"svc/internal/disk"
)

const (
	maxFiles      = 1000
	fileExtension = ".eml"
)

// Files is a Sender that writes each mail into a file.
type Files struct {
	from string
	dir  string
	now  func() time.Time
}

// NewFiles returns a Sender that writes mail from an address into the directory dir. now is nil for the current time.
func NewFiles(dir, from string, now func() time.Time) *Files {
	if now == nil {
		now = time.Now
	}
	return &Files{from: from, dir: dir, now: now}
}

// Send writes a mail and returns the path of the file. The names of files sort by time.
func (f *Files) Send(_ context.Context, m *Message) (string, error) {
	now := f.now()
	msg, err := compose(f.from, m, now)
	if err != nil {
		return "", err
	}
	data, err := render(msg)
	if err != nil {
		return "", err
	}
	path := filepath.Join(f.dir, now.UTC().Format("20060102-150405.000000000")+"-"+strings.ToLower(rand.Text()[:8])+fileExtension)
	if err := f.write(path, data); err != nil {
		return "", fmt.Errorf("write mail: %w", err)
	}
	return path, f.removeOldest()
}

// write writes a file that only its owner can read. It appears with its whole content.
func (f *Files) write(path string, data []byte) error {
	if err := disk.MakeFolder(f.dir); err != nil {
		return err
	}
	return disk.ReplaceText(path, string(data))
}

// removeOldest removes the oldest files over the limit.
func (f *Files) removeOldest() error {
	entries, err := os.ReadDir(f.dir) // sorted by name
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return filepath.Ext(e.Name()) != fileExtension })
	for _, e := range entries[:max(0, len(entries)-maxFiles)] {
		if err := disk.Remove(filepath.Join(f.dir, e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

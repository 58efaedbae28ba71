package admin

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"svc/store"
)

// A backup is a tar archive without compression, because most of it is pictures: config.toml (optional), svc.db, the folders in
// backupDirs, and last manifest.json with the SHA-256 of the others. Lists of files are not held in memory, because there may be
// hundreds of thousands.

const (
	manifestFile   = "manifest.json"
	settingsFile   = "config.toml"
	mediaDir       = "media"
	keysDir        = "keys"
	manifestFormat = 1
)

// FileDirs are the folders of the data directory that backups and continuous copies contain, besides the keys.
var FileDirs = []string{"emoji", "static", "frontends", mediaDir}

// backupDirs are the folders of the data directory that a backup contains.
var backupDirs = append([]string{keysDir}, FileDirs...)

// Manifest describes a backup.
type Manifest struct {
	Format    int       `json:"format"`
	Version   string    `json:"version"` // of the program
	CreatedAt time.Time `json:"created_at"`
	Schema    int       `json:"schema"` // version of the database schema
	Media     bool      `json:"media"`  // includes uploads
}

// fileEntry is a file of a backup.
type fileEntry struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// isBackupPath returns true if a backup may contain a file of this name.
func isBackupPath(name string) bool {
	dir, _, nested := strings.Cut(name, "/")
	if !nested {
		return name == store.File || name == settingsFile || name == manifestFile
	}
	return fs.ValidPath(name) && slices.Contains(backupDirs, dir)
}

// manifestWriter writes a manifest while files are added.
type manifestWriter struct {
	w     *bufio.Writer
	comma string
}

func newManifestWriter(w io.Writer, m Manifest) (*manifestWriter, error) {
	head, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	mw := &manifestWriter{w: bufio.NewWriter(w)}
	_, err = fmt.Fprintf(mw.w, "%s,\"files\":[", strings.TrimSuffix(string(head), "}"))
	return mw, err
}

func (mw *manifestWriter) add(f fileEntry) error {
	line, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	_, err = fmt.Fprintf(mw.w, "%s\n%s", mw.comma, line)
	mw.comma = ","
	return err
}

func (mw *manifestWriter) close() error {
	mw.w.WriteString("\n]}\n") // Flush returns its error
	return mw.w.Flush()
}

// readManifest calls each for every file of a manifest.
func readManifest(r io.Reader, each func(fileEntry) error) (*Manifest, error) {
	d := json.NewDecoder(bufio.NewReader(r))
	if err := expectDelim(d, json.Delim('{')); err != nil {
		return nil, err
	}
	head := make(map[string]json.RawMessage)
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		if key != "files" {
			var value json.RawMessage
			if err := d.Decode(&value); err != nil {
				return nil, err
			}
			head[fmt.Sprint(key)] = value
			continue
		}
		if err := expectDelim(d, json.Delim('[')); err != nil {
			return nil, err
		}
		for d.More() {
			var f fileEntry
			if err := d.Decode(&f); err != nil {
				return nil, err
			}
			if err := each(f); err != nil {
				return nil, err
			}
		}
		if err := expectDelim(d, json.Delim(']')); err != nil {
			return nil, err
		}
	}
	if err := expectDelim(d, json.Delim('}')); err != nil {
		return nil, err
	}
	m := new(Manifest)
	text, err := json.Marshal(head)
	if err == nil {
		err = json.Unmarshal(text, m)
	}
	if err != nil {
		return nil, err
	}
	if m.Format != manifestFormat {
		return nil, fmt.Errorf("the backup has format %d, this version reads %d", m.Format, manifestFormat)
	}
	return m, nil
}

func expectDelim(d *json.Decoder, want json.Delim) error {
	got, err := d.Token()
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	return nil
}

// Progress is called with the number of processed bytes and the total. It may be nil.
type Progress func(done, all int64)

// progressWriter counts and reports written bytes.
type progressWriter struct {
	done, total int64
	report      Progress
}

func (m *progressWriter) Write(b []byte) (int, error) {
	m.done += int64(len(b))
	if m.report != nil {
		m.report(min(m.done, m.total), m.total)
	}
	return len(b), nil
}

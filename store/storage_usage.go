package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// FileClass is what a stored file is for.
type FileClass string

const (
	UploadedFile FileClass = "uploads"  // attachment or mascot, or a thumbnail of one
	ProfileFile  FileClass = "profiles" // avatar, header, background, or a thumbnail of one
)

// RemotePosts is the class of storage_usage that counts remote posts and boosts.
const RemotePosts = "remote_posts"

// StoredFile is a file in the media folder that belongs to an upload or a profile.
type StoredFile struct {
	Name   string
	Class  FileClass // of its first use
	Bytes  int64     // on disk
	SHA256 string    // of the content, hexadecimal; "": unknown
}

// StorageUsage is what a class of data takes.
type StorageUsage struct {
	Class string
	Count int64 // files, or remote posts
	Bytes int64 // on disk; 0 for remote posts
}

// StorageUsage returns the sums of all classes that the database counts. A class that was never used is not among them.
func (r reader) StorageUsage(ctx context.Context) ([]StorageUsage, error) {
	return list[StorageUsage](ctx, r, "storage usage", `SELECT * FROM storage_usage`)
}

// AddStoredFiles records files, in the transaction of the row that refers to them. A file that is recorded already is not counted again.
func (tx *Tx) AddStoredFiles(ctx context.Context, files []StoredFile) error {
	for _, f := range files {
		n, err := tx.execRows(ctx, "add stored file", `
			INSERT INTO stored_files (name, class, bytes, sha256) VALUES (?, ?, ?, ?)
			ON CONFLICT DO NOTHING`, f.Name, f.Class, f.Bytes, f.SHA256)
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		if err := tx.countUsage(ctx, string(f.Class), 1, f.Bytes); err != nil {
			return err
		}
	}
	return nil
}

// StoredSum returns the hexadecimal SHA-256 of the content of a stored file, "" if it is not known.
func (r reader) StoredSum(ctx context.Context, name string) (string, error) {
	sum, err := one[string](ctx, r, "SHA-256 of a stored file", `SELECT sha256 FROM stored_files WHERE name = ?`, name)
	if err != nil {
		return "", err
	}
	if sum == nil || *sum == "" {
		return sumInName(name), nil
	}
	return *sum, nil
}

// HasStoredFile returns true if a file is recorded.
func (r reader) HasStoredFile(ctx context.Context, name string) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM stored_files WHERE name = ?`, name)
}

// sumInName returns the SHA-256 that is the name of a file from before names were keyed, "" for other files.
func sumInName(name string) string {
	_, file, _ := strings.Cut(name, "/")
	sum, _, _ := strings.Cut(file, ".")
	if len(sum) != 64 {
		return ""
	}
	return sum
}

// RemoveStoredFiles removes the records of those of the files that no upload has. The caller excludes pictures of profiles, and removes the
// files after the commit.
func (tx *Tx) RemoveStoredFiles(ctx context.Context, names []string) error {
	removed, err := list[StoredFile](ctx, tx.reader, "remove stored files", `
		DELETE FROM stored_files
		WHERE name IN (SELECT value FROM json_each(?))
			AND NOT EXISTS (SELECT 1 FROM media m WHERE m.file = stored_files.name AND m.file <> '')
			AND NOT EXISTS (SELECT 1 FROM media m WHERE m.thumbnail = stored_files.name AND m.thumbnail <> '')
		RETURNING *`, jsonTexts(names))
	if err != nil {
		return err
	}
	for _, f := range removed {
		if err := tx.countUsage(ctx, string(f.Class), -1, -f.Bytes); err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) countUsage(ctx context.Context, class string, count, bytes int64) error {
	return tx.exec(ctx, "count storage", countUsage, class, count, bytes)
}

const countUsage = `
	INSERT INTO storage_usage (class, count, bytes) VALUES (?1, ?2, ?3)
	ON CONFLICT (class) DO UPDATE SET count = count + excluded.count, bytes = bytes + excluded.bytes`

// countRemotePosts writes the changes of the number of remote posts that a group has made, all at once.
func (w *writer) countRemotePosts(group []*request) error {
	n := 0
	for _, r := range group {
		if r.err == nil {
			n += r.tx.remotePosts
		}
	}
	if n == 0 {
		return nil
	}
	if _, err := w.q.ExecContext(context.Background(), countUsage, RemotePosts, n, 0); err != nil {
		return fmt.Errorf("count remote posts: %w", err)
	}
	return nil
}

// remotePostRows is what a remote post takes beside its texts: the other columns, indexes, and rows in other tables.
const remotePostRows = 1000

// RemotePostSize returns an estimate of the bytes that a remote post takes in the database: the texts of the newest ones, stored twice
// because the search index has them too, and remotePostRows.
func (r reader) RemotePostSize(ctx context.Context) (int64, error) {
	texts, err := value[int64](ctx, r, "size of remote posts", `
		SELECT CAST(ifnull(avg(length(content) + length(spoiler_text) + length(uri) + length(url)), 0) AS INTEGER)
		FROM (
			SELECT content, spoiler_text, uri, url
			FROM statuses INDEXED BY statuses_remote
			WHERE visibility IN (0, 2) AND reblog_of_id IS NULL AND domain <> ''
			ORDER BY id DESC
			LIMIT 100)`)
	return 2*texts + remotePostRows, err
}

// DatabaseSize is what the database takes.
type DatabaseSize struct {
	File int64
	Log  int64 // the write-ahead log and its index
	Free int64 // bytes of File that are not used
}

// Size returns the sizes of the files of the database. It does not open them (see LogSize).
func (db *DB) Size(ctx context.Context) (s DatabaseSize, err error) {
	for suffix, at := range map[string]*int64{"": &s.File, "-wal": &s.Log, "-shm": &s.Log} {
		if info, err := os.Stat(filepath.Join(db.options.Dir, File+suffix)); err == nil {
			*at += info.Size()
		}
	}
	pages, err := value[int64](ctx, db.reader, "pages", `SELECT page_count * page_size FROM pragma_page_count, pragma_page_size`)
	if err != nil {
		return s, err
	}
	s.File = max(s.File, pages) // until the next checkpoint the file may be smaller
	s.Free, err = value[int64](ctx, db.reader, "free pages", `SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size`)
	return s, err
}

// StorageAlert is why files are refused for lack of storage.
type StorageAlert struct {
	ID         int64
	Reason     string
	NotifiedAt Time
}

// StorageAlert returns the alert that staff were notified of, nil if there is none.
func (r reader) StorageAlert(ctx context.Context) (*StorageAlert, error) {
	return one[StorageAlert](ctx, r, "storage alert", `SELECT * FROM storage_alerts WHERE id = 1`)
}

// SetStorageAlert records an alert; "" removes it.
func (tx *Tx) SetStorageAlert(ctx context.Context, reason string) error {
	if reason == "" {
		return tx.exec(ctx, "end storage alert", `DELETE FROM storage_alerts`)
	}
	return tx.exec(ctx, "storage alert", `
		INSERT OR REPLACE INTO storage_alerts (id, reason, notified_at) VALUES (1, ?, ?)`, reason, At(tx.db.now()))
}

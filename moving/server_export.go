package moving

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"svc/internal/disk"
	"svc/internal/keys"
	"svc/internal/replica"
	"svc/internal/text"
	"svc/media"
	"svc/store"
)

// exportFormat is the number of the form of an export. It changes when a program that reads exports would have to.
const exportFormat = 1

// unfinishedExport begins the name of the folder of an export that is being written.
const unfinishedExport = ".svc-export-"

// mediaFolder is the folder of uploads, in the data directory and in an export.
const mediaFolder = "media"

// ServerExport writes all of a server into a folder, in a plain form: JSON lines and files (docs/moving.md, "Out again").
type ServerExport struct {
	DataDir string
	Dir     string // is made, or has to be empty
	URL     string // of the server
	Host    string // of handles
	Version string // of this program
	Secrets bool
	Media   bool
	Bucket  *media.Bucket // with uploads; nil: they are on disk

	Progress func(done, total int64) // bytes of files; nil: not reported
}

// Exported is server.json, which describes an export.
type Exported struct {
	Format    int              `json:"format"`
	Program   string           `json:"program"`
	Version   string           `json:"version"`
	Schema    int              `json:"schema"`
	CreatedAt time.Time        `json:"created_at"`
	URL       string           `json:"url"`
	Host      string           `json:"host"`
	Secrets   bool             `json:"secrets"`
	Tables    map[string]int64 `json:"tables"` // rows
	Files     int              `json:"files"`  // in the folders
	Bytes     int64            `json:"bytes"`  // of these
}

// Run writes the export. The server may run meanwhile: the tables have the state at the beginning, and files that are removed later may be missing. The
// folder has its name only when it is complete.
func (x *ServerExport) Run(ctx context.Context) (*Exported, error) {
	if err := x.checkFolder(); err != nil {
		return nil, err
	}
	parent := filepath.Dir(filepath.Clean(x.Dir))
	work, err := disk.MkdirTemp(parent, unfinishedExport)
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	defer disk.RemoveAll(work)
	w := &serverExporter{ServerExport: x, work: work, out: Exported{
		Format: exportFormat, Program: "svc", Version: x.Version, CreatedAt: time.Now().UTC().Truncate(time.Second),
		URL: x.URL, Host: x.Host, Secrets: x.Secrets, Tables: map[string]int64{},
	}}
	if err := w.write(ctx); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	if err := disk.SyncEverything(); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	if err := disk.Remove(x.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // it was empty
		return nil, fmt.Errorf("export: %w", err)
	}
	if err := disk.Rename(work, x.Dir); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return &w.out, disk.SyncPath(parent)
}

// checkFolder refuses a folder with something in it, and a data directory without a database.
func (x *ServerExport) checkFolder() error {
	if _, err := os.Stat(filepath.Join(x.DataDir, store.File)); err != nil {
		return fmt.Errorf("there is no server in %s: %w", x.DataDir, err)
	}
	entries, err := os.ReadDir(x.Dir)
	if err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty: name a new folder", x.Dir)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// serverExporter writes one export.
type serverExporter struct {
	*ServerExport
	work  string
	out   Exported
	sums  *disk.File // SHA256SUMS
	total int64      // bytes of files
}

func (w *serverExporter) path(name string) string {
	return filepath.Join(w.work, filepath.FromSlash(name))
}

func (w *serverExporter) write(ctx context.Context) (err error) {
	if w.sums, err = disk.OpenFile(w.path("SHA256SUMS"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	defer w.sums.Close()
	if err := w.tables(ctx); err != nil {
		return err
	}
	if err := w.files(ctx); err != nil {
		return err
	}
	description, err := json.MarshalIndent(w.out, "", "  ")
	if err != nil {
		return err
	}
	for name, content := range map[string]string{"server.json": string(description) + "\n", "README.txt": w.readMe()} {
		if err := w.add(name, strings.NewReader(content)); err != nil {
			return err
		}
	}
	return nil
}

// tables writes the tables of a copy of the database, and removes the copy.
func (w *serverExporter) tables(ctx context.Context) (err error) {
	database := w.path(".svc.db")
	if w.out.Schema, err = store.Copy(ctx, w.DataDir, database); err != nil {
		return err
	}
	defer disk.Remove(database)
	e := &store.PlainExport{Secrets: w.Secrets, Create: func(table string) (io.WriteCloser, error) { return w.create(table + ".jsonl") }}
	if w.Secrets {
		secrets, err := keys.Read(filepath.Join(w.DataDir, "keys"))
		if err != nil {
			return fmt.Errorf("private keys cannot be read without the keys of the server (--no-secrets leaves them out): %w", err)
		}
		e.Unseal = func(private []byte) (string, error) { return privateKey(secrets, private) }
	}
	written, err := e.Run(ctx, database)
	for _, t := range written {
		w.out.Tables[t.Table] = t.Rows
	}
	return err
}

// privateKey returns a private key of an account in PEM (PKCS 8).
func privateKey(secrets *keys.Keys, sealed []byte) (string, error) {
	der, err := secrets.Unseal(keys.ActorKeys, sealed)
	if err == nil {
		_, err = x509.ParsePKCS8PrivateKey(der)
	}
	if err != nil {
		return "", fmt.Errorf("private key: %w", err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), nil
}

// summedFile is a file whose sum is written when it is closed.
type summedFile struct {
	io.Writer
	file *disk.File
	end  func() error
}

func (f *summedFile) Close() error { return errors.Join(f.file.Close(), f.end()) }

// create makes a file of the export.
func (w *serverExporter) create(name string) (io.WriteCloser, error) {
	file, err := disk.OpenFile(w.path(name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	return &summedFile{io.MultiWriter(file, sum), file, func() error {
		_, err := fmt.Fprintf(w.sums, "%s  %s\n", hex.EncodeToString(sum.Sum(nil)), name)
		return err
	}}, nil
}

// add writes a file of the export.
func (w *serverExporter) add(name string, content io.Reader) error {
	if err := disk.MakeFolder(filepath.Dir(w.path(name))); err != nil {
		return err
	}
	file, err := w.create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

// readMe returns README.txt.
func (w *serverExporter) readMe() string {
	secrets := "It has password hashes, private keys and second factors: keep it private.\n"
	if !w.Secrets {
		secrets = "It has no password hashes, private keys and second factors, but mail addresses and direct messages: keep it private.\n"
	}
	return fmt.Sprintf(`Everything of the server %s, written by svc %s at %s.

server.json   what this is, and how many rows each table has
TABLE.jsonl   the rows of a table, an object a line
media/        uploads and profile pictures, by the names in media.jsonl and accounts.jsonl
emoji/        packs of custom emoji
static/       the documents of the server
SHA256SUMS    sums of all files: sha256sum -c SHA256SUMS

%sThe form is described in docs/moving.md of svc, "Out again".
%s, %s.
`, w.Host, w.Version, w.out.CreatedAt.Format(time.RFC3339), secrets, text.Count(w.out.Files, "file"), text.Count(int(w.out.Bytes), "byte"))
}

// files copies uploads, emoji and documents.
func (w *serverExporter) files(ctx context.Context) error {
	if !w.Media {
		return nil
	}
	measure := func(_ string, size int64, _ func() (io.ReadCloser, error)) error { w.total += size; return nil }
	if err := w.walk(ctx, measure); err != nil {
		return err
	}
	return w.walk(ctx, func(name string, size int64, open func() (io.ReadCloser, error)) error {
		content, err := open()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // deleted meanwhile
		}
		if err != nil {
			return err
		}
		defer content.Close()
		if err := w.add(name, content); err != nil {
			return err
		}
		w.out.Files++
		w.out.Bytes += size
		if w.Progress != nil {
			w.Progress(w.out.Bytes, w.total)
		}
		return nil
	})
}

// walk calls fn for the files that are exported: those in the data directory, and then uploads that are only in the bucket.
func (w *serverExporter) walk(ctx context.Context, fn func(name string, size int64, open func() (io.ReadCloser, error)) error) error {
	for _, folder := range []string{mediaFolder, "emoji", "static"} {
		if err := w.walkFolder(ctx, folder, fn); err != nil {
			return err
		}
	}
	if w.Bucket == nil {
		return nil
	}
	files, err := media.OpenToCheck(filepath.Join(w.DataDir, mediaFolder), w.Bucket)
	if err != nil {
		return err
	}
	defer files.Close()
	return files.WalkBucket(ctx, func(e media.Entry) error {
		return fn(path.Join(mediaFolder, e.Name), e.Size, func() (io.ReadCloser, error) { return files.OpenFile(ctx, e.Name) })
	})
}

// walkFolder calls fn for the files of a folder of the data directory, which may be a link, without those that are being written.
func (w *serverExporter) walkFolder(ctx context.Context, folder string, fn func(name string, size int64, open func() (io.ReadCloser, error)) error) error {
	top, err := filepath.EvalSymlinks(filepath.Join(w.DataDir, folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		rel, err := filepath.Rel(top, file)
		if err != nil {
			return err
		}
		name := path.Join(folder, filepath.ToSlash(rel))
		if d.IsDir() && replica.IsUnfinished(name) {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() || replica.IsUnfinished(name) {
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return fn(name, info.Size(), func() (io.ReadCloser, error) { return os.Open(file) })
	})
}

package admin

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"svc/internal/disk"
	"svc/internal/replica"
	"svc/media"
	"svc/social"
	"svc/store"
)

// BackupOptions are the contents and the destination of a backup.
type BackupOptions struct {
	DataDir  string
	Settings string        // the settings file; "": none
	File     string        // must not exist; with Place the name of the backup there
	Place    *BackupPlace  // nil: File is a path
	NoMedia  bool          // exclude uploads
	Bucket   *media.Bucket // with uploads; nil: they are on disk
	Version  string        // of this program
	Progress Progress

	// Reserve makes room for a number of bytes on the disk of File, or of the data directory; nil: there is no limit.
	Reserve func(ctx context.Context, bytes int64) (release func(), err error)
}

// ErrNoDatabase is returned if the data directory has no database.
var ErrNoDatabase = errors.New("there is no database")

// NoDatabase returns the error for a data directory without a database: where it was looked for, and what to do.
func NoDatabase(dir string) error {
	if path, err := filepath.Abs(dir); err == nil {
		dir = path
	}
	where := "%w in %s"
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		where = "%w: there is no data directory %s"
	}
	return fmt.Errorf(where+"; name the settings file of the server with --config FILE, or make a server first with svc setup or svc serve", ErrNoDatabase, dir)
}

// Backup writes database, keys, settings, emoji, static files and uploads into one file. The server may run meanwhile and is not blocked.
// The copy of the database and each file are checked: a damaged database or key is an error, damaged and missing uploads are findings. The
// file gets its name after it is complete and synced.
func Backup(ctx context.Context, o BackupOptions) (*Manifest, *Verification, error) {
	if _, err := os.Stat(filepath.Join(o.DataDir, store.File)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, NoDatabase(o.DataDir)
	}
	work, err := o.workFolder()
	if err != nil {
		return nil, nil, fmt.Errorf("backup: %w", err)
	}
	defer work.remove()
	total, room, err := o.estimateSize(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := checkFreeSpace(work.dir, room); err != nil {
		return nil, nil, err
	}
	if o.Reserve != nil {
		release, err := o.Reserve(ctx, room)
		if err != nil {
			return nil, nil, err
		}
		defer release()
	}
	b := &backup{BackupOptions: o, ctx: ctx, work: work, meter: &progressWriter{total: total, report: o.Progress}, found: NewVerification()}
	m, err := b.run()
	if err != nil {
		return nil, nil, fmt.Errorf("backup: %w", err)
	}
	return m, b.found, nil
}

// workFolder makes the folder for unfinished files: beside the backup, or in the data directory for one that goes to a place.
func (o *BackupOptions) workFolder() (*workFolder, error) {
	if o.Place == nil {
		if _, err := os.Lstat(o.File); err == nil {
			return nil, fmt.Errorf("%s already exists", o.File)
		}
		return newWorkFolder(filepath.Dir(o.File), backupWork)
	}
	dir := filepath.Join(o.DataDir, backupsDir)
	if err := disk.MakeFolder(dir); err != nil {
		return nil, err
	}
	return newWorkFolder(dir, backupWork)
}

// estimateSize returns about how many bytes are processed, the database twice and the rest once, and how many of them need room on the disk.
func (o *BackupOptions) estimateSize(ctx context.Context) (total, room int64, err error) {
	for _, name := range []string{store.File, store.File + "-wal"} {
		if info, err := os.Stat(filepath.Join(o.DataDir, name)); err == nil {
			total += 2 * info.Size()
		}
	}
	room = total / 2
	err = o.walkFiles(ctx, func(_, _ string, info fs.FileInfo) error {
		total += info.Size()
		return nil
	})
	if err == nil {
		err = o.walkBucket(ctx, func(e media.Entry) error {
			total += e.Size
			return nil
		})
	}
	if o.Place == nil {
		room = total
	}
	return total, room, err
}

// walkFiles calls fn for the files of backupDirs, with the name in the backup and the path.
func (o *BackupOptions) walkFiles(ctx context.Context, fn func(name, path string, info fs.FileInfo) error) error {
	for _, dir := range backupDirs {
		if o.NoMedia && dir == mediaDir {
			continue
		}
		if err := o.walkDir(ctx, dir, fn); err != nil {
			return err
		}
	}
	return nil
}

// walkDir is walkFiles for one of backupDirs.
func (o *BackupOptions) walkDir(ctx context.Context, dir string, fn func(name, path string, info fs.FileInfo) error) error {
	top, err := filepath.EvalSymlinks(filepath.Join(o.DataDir, dir)) // media may be a link to another disk
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // deleted meanwhile
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		rel, err := filepath.Rel(top, p)
		if err != nil {
			return err
		}
		name := path.Join(dir, filepath.ToSlash(rel))
		if d.IsDir() && replica.IsUnfinished(name) {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return fn(name, p, info)
	})
}

// walkBucket calls fn for the uploads that are only in the bucket.
func (o *BackupOptions) walkBucket(ctx context.Context, fn func(media.Entry) error) error {
	if o.NoMedia || o.Bucket == nil {
		return nil
	}
	files, err := media.OpenToCheck(filepath.Join(o.DataDir, mediaDir), o.Bucket)
	if err != nil {
		return err
	}
	defer files.Close()
	return files.WalkBucket(ctx, fn)
}

// backup is a backup in progress.
type backup struct {
	BackupOptions
	ctx      context.Context
	work     *workFolder
	meter    *progressWriter
	tar      *tar.Writer
	manifest *manifestWriter
	media    packedFiles
	into     *packedFiles // to which uploads are added
	found    *Verification
}

func (b *backup) run() (*Manifest, error) {
	b.into = &b.media
	db := b.work.path(store.File)
	schema, err := store.Copy(b.ctx, b.DataDir, db)
	if err != nil {
		return nil, err
	}
	if err := store.Check(b.ctx, db); err != nil {
		return nil, fmt.Errorf("check of the copy: %w", err)
	}
	if info, err := os.Stat(db); err == nil {
		b.meter.done += info.Size()
	}
	m := &Manifest{Format: manifestFormat, Version: b.Version, CreatedAt: time.Now().UTC().Truncate(time.Second), Schema: schema, Media: !b.NoMedia}
	archive := func(out io.Writer) error {
		b.tar = tar.NewWriter(out)
		if err := b.write(m, db); err != nil {
			return err
		}
		if err := b.verify(db, m.CreatedAt); err != nil {
			return err
		}
		return b.tar.Close()
	}
	if b.Place != nil {
		return m, b.Place.Put(b.ctx, b.File, archive)
	}
	unfinished := b.work.path("backup.tar")
	out, err := disk.OpenFile(unfinished, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	if err := archive(out); err != nil {
		return nil, err
	}
	if err := out.Sync(); err != nil {
		return nil, err
	}
	if err := disk.Rename(unfinished, b.File); err != nil {
		return nil, err
	}
	return m, disk.SyncPath(filepath.Dir(b.File))
}

// write fills the archive.
func (b *backup) write(m *Manifest, db string) error {
	list, err := disk.OpenFile(b.work.path(manifestFile), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer list.Close()
	if b.manifest, err = newManifestWriter(list, *m); err != nil {
		return err
	}
	if b.Settings != "" { // first, because restore reads the data directory from it
		if err := b.add(settingsFile, b.Settings); err != nil {
			return err
		}
	}
	if err := b.add(store.File, db); err != nil {
		return err
	}
	err = b.walkFiles(b.ctx, func(name, path string, _ fs.FileInfo) error {
		err := b.add(name, path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err == nil {
		err = b.addBucket()
	}
	if err != nil {
		return err
	}
	if err := b.manifest.close(); err != nil {
		return err
	}
	b.manifest = nil
	return b.add(manifestFile, list.Name())
}

// addBucket adds the uploads that are in the bucket, and then those that were moved to the disk since the walk through its folders.
func (b *backup) addBucket() error {
	if b.NoMedia || b.Bucket == nil {
		return nil
	}
	files, err := media.OpenToCheck(filepath.Join(b.DataDir, mediaDir), b.Bucket)
	if err != nil {
		return err
	}
	defer files.Close()
	var far packedFiles // a list of its own, so that the other one stays sorted
	b.into = &far
	err = files.WalkBucket(b.ctx, func(e media.Entry) error {
		if b.media.find(e.Name) != nil {
			return nil // moved after it was read from the disk
		}
		content, err := files.OpenFile(b.ctx, e.Name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // deleted meanwhile
		}
		if err != nil {
			return err
		}
		defer content.Close()
		return b.addContent(mediaDir+"/"+e.Name, content)
	})
	b.into = &b.media
	b.media.addAll(&far)
	if err != nil {
		return err
	}
	var moved []string
	o := b.BackupOptions
	err = o.walkDir(b.ctx, mediaDir, func(name, _ string, _ fs.FileInfo) error {
		if b.media.find(strings.TrimPrefix(name, mediaDir+"/")) == nil {
			moved = append(moved, name)
		}
		return nil
	})
	for _, name := range moved {
		if err == nil && isUpload(name) {
			err = b.add(name, filepath.Join(b.DataDir, name))
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return err
}

// isUpload returns whether a name in the backup is that of an upload. Others are found by the first walk.
func isUpload(name string) bool {
	_, _, ok := media.NameHash(strings.TrimPrefix(name, mediaDir+"/"))
	return ok
}

// add adds a file to the archive and the manifest. An upload that cannot be read becomes a finding, so that it does not prevent the backup of
// all others.
func (b *backup) add(name, path string) error {
	dir, _, _ := strings.Cut(name, "/")
	f, err := os.Open(path)
	if err != nil {
		return b.unreadable(dir, name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return b.unreadable(dir, name, err)
	}
	return b.addContent(name, &media.Content{ReadSeekCloser: f, Size: info.Size(), ModTime: info.ModTime()})
}

func (b *backup) addContent(name string, f *media.Content) error {
	dir, file, _ := strings.Cut(name, "/")
	head := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: f.Size, Mode: 0o600, ModTime: f.ModTime, Format: tar.FormatPAX}
	if err := b.tar.WriteHeader(head); err != nil {
		return err
	}
	sum := sha256.New()
	out := io.MultiWriter(b.tar, sum, b.meter)
	n, err := io.Copy(out, io.LimitReader(b.reader(f), f.Size))
	if err != nil {
		if err := b.unreadable(dir, name, fmt.Errorf("%s: %w", name, err)); err != nil {
			return err
		}
	}
	if n < f.Size {
		if dir != mediaDir {
			return fmt.Errorf("%s/%s became shorter while it was read; try again", b.DataDir, name)
		}
		if _, err := io.CopyN(out, zeros{}, f.Size-n); err != nil { // the archive has its size already
			return err
		}
	}
	if b.manifest == nil {
		return nil
	}
	if dir == mediaDir {
		b.into.add(file, f.Size, sum.Sum(nil), f.ModTime)
	}
	return b.manifest.add(fileEntry{Name: name, Size: f.Size, SHA256: hex.EncodeToString(sum.Sum(nil))})
}

// unreadable adds a finding for an upload that cannot be read. The error is that of any other file, of a file that was removed meanwhile, and of a bucket
// that does not answer, without which most uploads would be missing.
func (b *backup) unreadable(dir, name string, err error) error {
	if dir != mediaDir || b.ctx.Err() != nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, media.ErrBucket) {
		return err
	}
	b.found.add(PartMedia, social.UnreadableFile, name, "%v", err)
	return nil
}

// verify compares the copy of the database with the files in the archive. Of uploads that were deleted since it was copied nothing is missing.
func (b *backup) verify(db string, at time.Time) error {
	v := &verifier{Verification: NewVerification(), ctx: b.ctx}
	s, err := store.OpenSnapshot(b.ctx, db, true)
	if err != nil {
		return err
	}
	defer s.Close()
	v.keys(s, filepath.Join(b.DataDir, keysDir))
	if v.Damaged(PartKeys) {
		return fmt.Errorf("%s/%s: %s", b.DataDir, keysDir, v.Findings[0].Detail)
	}
	if !s.Current() || b.NoMedia {
		return nil
	}
	if err := v.media(s, true, &b.media, at, true); err != nil {
		return err
	}
	now, err := store.OpenSnapshot(b.ctx, filepath.Join(b.DataDir, store.File), false)
	if err != nil {
		return err
	}
	defer now.Close()
	for _, f := range v.Findings {
		if f.Kind == social.MissingFile || f.Kind == social.MissingThumbnail || f.Kind == social.MissingPicture {
			used, err := social.UsesFile(b.ctx, now, f.What)
			if err != nil {
				return err
			}
			if !used {
				continue
			}
		}
		if !f.Harmless {
			b.found.Add(f)
		}
	}
	b.found.Left += v.Omitted
	b.found.Omitted += v.Omitted
	return nil
}

// reader returns a reader of a file that ends with the context.
func (b *backup) reader(f io.Reader) io.Reader { return contextReader{b.ctx, f} }

// zeros reads as zero bytes.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// IsInside returns whether a folder is another one or below it. It returns false if one of them does not exist.
func IsInside(dir, top string) (bool, error) {
	for _, at := range []*string{&dir, &top} {
		real, err := filepath.EvalSymlinks(*at)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err == nil {
			*at, err = filepath.Abs(real)
		}
		if err != nil {
			return false, fmt.Errorf("backup: %w", err)
		}
	}
	rel, err := filepath.Rel(top, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../"), nil
}

// contextReader reads until its context ends.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (s contextReader) Read(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.Reader.Read(b)
}

// checkFreeSpace returns an error if a folder has less free space than this and 16 MiB.
func checkFreeSpace(dir string, bytes int64) error {
	const spare = 16 << 20
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return fmt.Errorf("free space of %s: %w", dir, err)
	}
	if free := uint64(st.Bavail) * uint64(st.Bsize); free < uint64(bytes+spare) {
		return fmt.Errorf("not enough space in %s: %d MiB needed, %d MiB free", dir, (bytes+spare)>>20, free>>20)
	}
	return nil
}

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

	"svc/internal/control"
	"svc/internal/disk"
	"svc/internal/objects"
	"svc/moving"
	"svc/store"
)

// RestoreOptions are the source and the destination of a restore.
type RestoreOptions struct {
	File     string
	Source   *BackupSource // instead of File
	DataDir  string
	Force    bool // move existing data aside
	Damaged  bool // leave out damaged and missing files, other than database and keys
	Progress Progress
}

// Restored is the result of a restore.
type Restored struct {
	Manifest
	Settings    []byte   // the settings file in the backup; nil: none
	PreviousDir string   // the folder of the data before the restore; "": none
	Left        []string // damaged and missing files that were left out
}

// Names in the data directory during a restore. While unfinishedDir exists, the data are incomplete.
const (
	unpackingDir   = "restore.tmp"
	unfinishedDir  = "restore.unfinished"
	previousPrefix = "before-restore-"
	lockFile       = "lock"
	backupsDir     = "backups"
	cacheDir       = "cache" // the media proxy's cache, which is valid with any database
)

// ErrRestoreUnfinished is returned by CheckDataComplete.
var ErrRestoreUnfinished = errors.New("a restore was interrupted and the data are incomplete: run it again with --force")

// CheckDataComplete returns an error if a restore into the data directory was interrupted while it moved files, or a salvage while it replaced the
// database.
func CheckDataComplete(dataDir string) error {
	if _, err := os.Lstat(filepath.Join(dataDir, unfinishedDir)); err == nil {
		return fmt.Errorf("%w (%s)", ErrRestoreUnfinished, dataDir)
	}
	if err := moving.CheckFinished(dataDir); err != nil {
		return err
	}
	return store.CheckSalvageFinished(dataDir)
}

// Settings returns the settings file in a backup, nil if there is none.
func (s *BackupSource) Settings() ([]byte, error) {
	f, err := s.open()
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	defer f.Close()
	r := tar.NewReader(f)
	head, err := r.Next()
	if isCutOff(err) {
		return nil, s.cutError()
	}
	if err != nil {
		return nil, invalidBackup(s.Name, err)
	}
	if head.Name != settingsFile {
		return nil, nil
	}
	const maxSettings = 1 << 20
	text, err := io.ReadAll(io.LimitReader(r, maxSettings))
	if isCutOff(err) {
		return nil, s.cutError()
	}
	return text, err
}

// Restore restores a backup into a data directory that no server uses. It first unpacks the whole backup beside the data and verifies the
// hash of each file and the database. Until then the data are unchanged.
func Restore(ctx context.Context, o RestoreOptions) (*Restored, error) {
	if o.Source == nil {
		source, err := OpenBackup(ctx, o.File, time.Time{}, objects.Options{})
		if err != nil {
			return nil, fmt.Errorf("restore: %w", err)
		}
		defer source.Close()
		o.Source = source
	}
	o.File = o.Source.Name
	unpacked, end, err := beginRestore(o.DataDir, o.Force, o.Source.Size)
	if err != nil {
		return nil, err
	}
	defer end()
	r := &restore{RestoreOptions: o, ctx: ctx, dir: unpacked, meter: &progressWriter{total: 2 * o.Source.Size, report: o.Progress}}
	restored, err := r.unpack()
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	if err := r.install(restored); err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	return restored, nil
}

// beginRestore locks a data directory, and makes an empty folder in it for a restoration of so many bytes. force: there may be data.
func beginRestore(dataDir string, force bool, bytes int64) (unpacked string, end func(), err error) {
	if err := disk.MakeFolder(dataDir); err != nil {
		return "", nil, fmt.Errorf("restore: %w", err)
	}
	lock, err := store.Lock(dataDir)
	if err != nil {
		return "", nil, err
	}
	defer func() {
		if err != nil {
			lock.Close()
		}
	}()
	if !force {
		found, err := findExistingData(dataDir)
		if err == nil && found != "" {
			err = fmt.Errorf("%s already contains data (%s): choose another folder with --data-dir, or move the old data into a folder beside it with --force", dataDir, found)
		}
		if err != nil {
			return "", nil, err
		}
	}
	if err := checkFreeSpace(dataDir, bytes); err != nil {
		return "", nil, err
	}
	unpacked = filepath.Join(dataDir, unpackingDir)
	if err := disk.RemoveAll(unpacked); err != nil {
		return "", nil, fmt.Errorf("restore: %w", err)
	}
	if err := disk.Mkdir(unpacked, 0o700); err != nil {
		return "", nil, fmt.Errorf("restore: %w", err)
	}
	return unpacked, func() {
		disk.RemoveAll(unpacked) // what stays is removed by the next one
		lock.Close()
	}, nil
}

// findExistingData returns the path of a file that a restore would overwrite, "" if there is none.
func findExistingData(dataDir string) (found string, err error) {
	err = filepath.WalkDir(dataDir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dataDir, p)
		if err != nil {
			return err
		}
		switch top, _, _ := strings.Cut(filepath.ToSlash(rel), "/"); {
		case top == lockFile, top == control.SocketName, top == unpackingDir:
		case top == backupsDir, top == cacheDir, strings.HasPrefix(top, previousPrefix):
			return fs.SkipDir
		case rel == unfinishedDir, !d.IsDir():
			found = rel
			return fs.SkipAll
		}
		return nil
	})
	return found, err
}

// restore is a restore in progress.
type restore struct {
	RestoreOptions
	ctx   context.Context
	dir   string // where the backup is unpacked
	meter *progressWriter
	left  []string
}

// unpack unpacks and verifies the backup.
func (r *restore) unpack() (*Restored, error) {
	root, err := disk.OpenRoot(r.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files, err := r.extract(root)
	if isCutOff(err) {
		return nil, r.Source.cutError()
	}
	if err != nil {
		return nil, err
	}
	if r.Damaged {
		for _, name := range neededFiles() {
			if _, err := root.Stat(name); errors.Is(err, fs.ErrNotExist) && name != manifestFile {
				return nil, r.Source.cutError()
			}
		}
	}
	m, err := r.verify(root, files)
	if err != nil {
		return nil, err
	}
	if err := store.Check(r.ctx, filepath.Join(r.dir, store.File)); err != nil {
		return nil, err
	}
	restored := &Restored{Manifest: *m, Left: r.left}
	if restored.Settings, err = root.ReadFile(settingsFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, name := range []string{manifestFile, settingsFile} {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return restored, nil
}

// extract writes the files of the archive and returns their number, without the manifest.
func (r *restore) extract(root *disk.Root) (files int, err error) {
	in, err := r.Source.open()
	if err != nil {
		return 0, err
	}
	defer in.Close()
	archive := tar.NewReader(in)
	for {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil && r.Damaged && r.ctx.Err() == nil {
			r.left = append(r.left, fmt.Sprintf("everything after byte %d", r.meter.done))
			return files, nil
		}
		if err != nil {
			return 0, invalidBackup(r.File, err)
		}
		if head.Typeflag != tar.TypeReg || !isBackupPath(head.Name) {
			return 0, invalidBackup(r.File, fmt.Errorf("unexpected file %q", head.Name))
		}
		if err := r.extractFile(root, head.Name, archive); err != nil {
			if r.Damaged && errors.Is(err, io.ErrUnexpectedEOF) {
				r.left = append(r.left, head.Name)
				return files, root.Remove(head.Name)
			}
			return 0, err
		}
		if head.Name != manifestFile {
			files++
		}
	}
}

func (r *restore) extractFile(root *disk.Root, name string, content io.Reader) error {
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.Copy(io.MultiWriter(f, r.meter), contextReader{r.ctx, content}); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = invalidBackup(r.File, err)
		}
		return err
	}
	return f.Close()
}

// verify compares the unpacked files with the manifest.
func (r *restore) verify(root *disk.Root, files int) (*Manifest, error) {
	list, err := root.Open(manifestFile)
	if errors.Is(err, fs.ErrNotExist) && r.Damaged {
		return &Manifest{Format: manifestFormat, Media: true}, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, r.Source.cutError()
	}
	if err != nil {
		return nil, err
	}
	defer list.Close()
	hasDatabase := false
	m, err := readManifest(list, func(want fileEntry) error {
		files--
		hasDatabase = hasDatabase || want.Name == store.File
		err := r.verifyFile(root, want)
		if err == nil || !r.Damaged || r.ctx.Err() != nil || want.Name == store.File || strings.HasPrefix(want.Name, keysDir+"/") || !isBackupPath(want.Name) {
			return err
		}
		r.left = append(r.left, want.Name)
		if err := root.Remove(want.Name); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, invalidBackup(r.File, err)
	case files != 0 && !r.Damaged:
		return nil, invalidBackup(r.File, errors.New("its files differ from its manifest"))
	case !hasDatabase:
		return nil, invalidBackup(r.File, errors.New("the database is missing"))
	}
	return m, nil
}

func (r *restore) verifyFile(root *disk.Root, want fileEntry) error {
	if !isBackupPath(want.Name) {
		return fmt.Errorf("unexpected file %q", want.Name)
	}
	f, err := root.Open(want.Name)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(sum, r.meter), contextReader{r.ctx, f})
	if err != nil {
		return err
	}
	if n != want.Size || hex.EncodeToString(sum.Sum(nil)) != want.SHA256 {
		return fmt.Errorf("%s is damaged", want.Name)
	}
	return nil
}

// install moves the unpacked files to their places, the database last.
func (r *restore) install(restored *Restored) error {
	if err := disk.SyncEverything(); err != nil { // because one unpacked file after the other takes long on slow disks
		return err
	}
	placing := filepath.Join(r.DataDir, unfinishedDir)
	if err := disk.RemoveAll(placing); err != nil {
		return err
	}
	if err := disk.Rename(r.dir, placing); err != nil {
		return err
	}
	if err := disk.SyncPath(r.DataDir); err != nil {
		return err
	}
	if r.Force {
		previous, err := r.moveExistingData()
		if err != nil {
			return err
		}
		restored.PreviousDir = previous
	}
	for _, name := range append(backupDirs[:len(backupDirs):len(backupDirs)], store.File) {
		from, to := filepath.Join(placing, name), filepath.Join(r.DataDir, name)
		if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := disk.RemoveAll(to); err != nil { // only empty folders are left
			return err
		}
		if err := disk.Rename(from, to); err != nil {
			return err
		}
	}
	if err := disk.SyncPath(r.DataDir); err != nil {
		return err
	}
	if err := disk.RemoveAll(placing); err != nil {
		return err
	}
	return disk.SyncPath(r.DataDir)
}

// moveExistingData moves the contents of the data directory, except for backups, into a folder in it.
func (r *restore) moveExistingData() (previous string, err error) {
	entries, err := os.ReadDir(r.DataDir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case name == lockFile, name == control.SocketName, name == unfinishedDir, name == backupsDir, name == cacheDir, strings.HasPrefix(name, previousPrefix):
			continue
		default:
			if previous == "" {
				if previous, err = r.makePreviousDir(); err != nil {
					return "", err
				}
			}
			if err := disk.Rename(filepath.Join(r.DataDir, name), filepath.Join(previous, name)); err != nil {
				return "", err
			}
		}
	}
	return previous, nil
}

// makePreviousDir makes a folder named after the current second. A number follows if another restore in this second has made one.
func (r *restore) makePreviousDir() (string, error) {
	name := filepath.Join(r.DataDir, previousPrefix+time.Now().UTC().Format("20060102T150405Z"))
	dir := name
	for n := 2; ; n++ {
		err := disk.Mkdir(dir, 0o700)
		if !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
		dir = fmt.Sprintf("%s-%d", name, n)
	}
}

func invalidBackup(file string, err error) error {
	return fmt.Errorf("%s is not a complete backup: %w", file, err)
}

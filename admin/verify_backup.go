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
	"path/filepath"
	"slices"
	"strings"
	"time"

	"svc/internal/config"
	"svc/internal/disk"
	"svc/internal/objects"
	"svc/store"
)

// VerifyBackup checks a backup: each file against the manifest, the database, keys and counters, and each upload. It unpacks only the database
// and the keys, into a temporary folder beside the backup, or in the first of dirs where that is possible.
func VerifyBackup(ctx context.Context, file string, dirs []string, progress StepProgress) (*Verification, error) {
	source, err := OpenBackup(ctx, file, time.Time{}, objects.Options{})
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	defer source.Close()
	return VerifySource(ctx, source, dirs, progress)
}

// VerifySource is VerifyBackup of a backup that is open. dirs are needed for one at a place.
func VerifySource(ctx context.Context, source *BackupSource, dirs []string, progress StepProgress) (*Verification, error) {
	in, err := source.open()
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	defer in.Close()
	if dir := source.folder(); dir != "" {
		dirs = append([]string{dir}, dirs...)
	} else {
		dirs = append(dirs, ".")
	}
	work, err := verifyFolder(dirs)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	defer work.remove()
	b := &packed{
		verifier: &verifier{Verification: NewVerification(), ctx: ctx, progress: progress}, file: source.Name, work: work,
		others: make(map[string]packedSum),
		meter:  &progressWriter{total: source.Size, report: func(done, all int64) { progress.report(PartBackup, done, all) }},
	}
	if err := b.read(in); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	b.addMissing()
	if err := b.check(); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	return b.Verification, nil
}

// Bounds of the keys and settings that are unpacked.
const (
	maxSmallFile  = 1 << 20
	maxSmallFiles = 100
)

// verifyFolder makes a work folder in one of dirs. It is not that of the system, which may be in memory.
func verifyFolder(dirs []string) (*workFolder, error) {
	var errList []error
	for _, dir := range dirs {
		work, err := newWorkFolder(dir, verifyWork)
		if err == nil {
			return work, nil
		}
		errList = append(errList, err)
	}
	return nil, fmt.Errorf("no folder for the database of the backup: %w", errors.Join(errList...))
}

// packedSum is what a file of a backup contains.
type packedSum struct {
	size int64
	sum  hash
}

// packed is the verification of a backup.
type packed struct {
	*verifier
	file     string
	work     *workFolder
	meter    *progressWriter
	media    packedFiles
	others   map[string]packedSum // files that are no uploads
	manifest *Manifest
	whole    bool // the database was read to its end
	small    int  // files that were unpacked
}

// read reads the archive. An end that is missing is a finding.
func (b *packed) read(in io.Reader) error {
	archive := tar.NewReader(io.TeeReader(contextReader{b.ctx, in}, b.meter))
	for {
		head, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case b.ctx.Err() != nil:
			return b.ctx.Err()
		case errors.Is(err, objects.ErrUnreachable):
			return err
		case err != nil:
			b.add(PartBackup, Damaged, b.file, "it ends too early, or is no backup: %v", err)
			return nil
		case head.Typeflag != tar.TypeReg || !isBackupPath(head.Name):
			b.add(PartBackup, Damaged, head.Name, "a backup contains no such file")
			continue
		case b.manifest != nil:
			b.add(PartBackup, Damaged, head.Name, "it is behind the list of files, which must be last")
			continue
		}
		if err := b.readFile(head, archive); errors.Is(err, io.ErrUnexpectedEOF) {
			b.add(PartBackup, Damaged, head.Name, "the backup ends in the middle of it")
			return nil
		} else if err != nil {
			return err
		}
	}
}

// addMissing adds what every backup has and this one lacks. The uploads and keys that a whole database needs are checked with it.
func (b *packed) addMissing() {
	for _, name := range neededFiles() {
		_, found := b.others[name]
		switch {
		case found, strings.HasPrefix(name, keysDir+"/") && b.whole:
		case name == manifestFile:
			if b.manifest == nil {
				b.add(PartBackup, Missing, name, "the backup is not complete")
			}
		case name == store.File:
			b.add(PartBackup, Missing, name, "there is nothing to restore")
		default:
			b.add(PartBackup, Missing, name, "")
		}
	}
}

// Restorable returns true if svc restore can bring back what is intact: the database and the keys are there.
func (v *Verification) Restorable() bool {
	return !slices.ContainsFunc(v.Findings, func(f *Finding) bool {
		return f.Kind == Missing && (f.What == store.File || f.What == keysDir || strings.HasPrefix(f.What, keysDir+"/"))
	})
}

func (b *packed) readFile(head *tar.Header, content io.Reader) error {
	if head.Name == manifestFile {
		return b.readManifest(content)
	}
	var out io.Writer = io.Discard
	switch dir, _, _ := strings.Cut(head.Name, "/"); {
	case dir != keysDir && head.Name != store.File && head.Name != settingsFile:
	case head.Name != store.File && (head.Size > maxSmallFile || b.small == maxSmallFiles):
		b.add(PartBackup, Damaged, head.Name, "it is too large, or there are too many such files")
	default:
		b.small++
		to := b.work.path(head.Name)
		if err := disk.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if head.Name == store.File {
			if err := checkFreeSpace(b.work.dir, head.Size); err != nil {
				return err
			}
		}
		f, err := disk.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			b.add(PartBackup, Damaged, head.Name, "the backup contains it twice")
			return nil
		}
		if err != nil {
			return err
		}
		defer f.Close()
		out = f
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, sum), content)
	if err != nil {
		return err
	}
	b.whole = b.whole || head.Name == store.File
	if dir, name, _ := strings.Cut(head.Name, "/"); dir == mediaDir {
		before := len(b.media.list)
		if b.media.add(name, n, sum.Sum(nil), head.ModTime); len(b.media.list) > before {
			return nil
		}
	}
	if _, twice := b.others[head.Name]; twice {
		b.add(PartBackup, Damaged, head.Name, "the backup contains it twice")
	}
	b.others[head.Name] = packedSum{n, hash(sum.Sum(nil))}
	return nil
}

// readManifest compares the files before the manifest with it.
func (b *packed) readManifest(content io.Reader) error {
	left := len(b.others) + len(b.media.list)
	m, err := readManifest(content, func(f fileEntry) error {
		is, found := b.sum(f.Name)
		switch {
		case !found:
			b.add(PartBackup, Missing, f.Name, "")
		case is.size != f.Size || hex.EncodeToString(is.sum[:]) != f.SHA256:
			b.add(PartBackup, Damaged, f.Name, "its content is not that which was backed up")
		}
		if found {
			left--
		}
		return nil
	})
	switch {
	case b.ctx.Err() != nil:
		return b.ctx.Err()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return err
	case err != nil:
		b.add(PartBackup, Damaged, manifestFile, "%v", err)
		m = new(Manifest)
	case left != 0:
		b.add(PartBackup, Damaged, manifestFile, "it does not list all files, or lists some twice")
	}
	b.manifest = m
	return nil
}

func (b *packed) sum(name string) (packedSum, bool) {
	if dir, file, _ := strings.Cut(name, "/"); dir == mediaDir {
		if f := b.media.find(file); f != nil {
			return packedSum{f.size, f.content}, true
		}
	}
	s, found := b.others[name]
	return s, found
}

// check checks the unpacked database and keys, and the uploads.
func (b *packed) check() error {
	if text, err := os.ReadFile(b.work.path(settingsFile)); err == nil {
		if _, err := config.Parse(string(text)); err != nil {
			b.add(PartBackup, Damaged, settingsFile, "%v", err)
		}
	}
	if !b.whole {
		return nil
	}
	return b.database(b.work.path(store.File), true, func(s *store.Snapshot) error {
		b.keys(s, b.work.path(keysDir))
		if err := b.counters(s); err != nil {
			return err
		}
		if b.manifest != nil && !b.manifest.Media && b.manifest.Format != 0 {
			return nil // made with --no-media
		}
		info, err := os.Stat(b.work.path(store.File))
		if err != nil {
			return err
		}
		at := info.ModTime()
		if b.manifest != nil && !b.manifest.CreatedAt.IsZero() {
			at = b.manifest.CreatedAt
		}
		return b.verifier.media(s, s.Current(), &b.media, at, true)
	})
}

package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"time"

	"svc/internal/disk"
	"svc/internal/ltx"
	"svc/internal/objects"
	"svc/internal/replica"
	"svc/media"
	"svc/store"
)

// ErrNoReplica means that a place has no continuous copy.
var ErrNoReplica = errors.New("there is no continuous copy")

// Replica is a continuous copy of a server at a place, which is read.
type Replica struct {
	location objects.Location
	store    objects.Store
}

// OpenReplica opens the copy at a place. The error is ErrNoReplica if Litestream has written nothing there. The caller must Close it.
func OpenReplica(ctx context.Context, where string, o objects.Options) (*Replica, error) {
	if _, name := splitBackup(where); name != "" {
		return nil, fmt.Errorf("%w: %s is a backup", ErrNoReplica, where)
	}
	location, err := objects.ParseLocation(where)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	if location.Kind == objects.Folder {
		if info, err := os.Stat(location.Path); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("%w: %s is no folder", ErrNoReplica, where)
		}
	}
	o.NoCreate = true
	place, err := objects.Open(ctx, location, o)
	if err != nil {
		return nil, explainPlace(err)
	}
	has, err := replica.HasDatabase(ctx, place)
	if err == nil && !has {
		err = fmt.Errorf("%w in %s", ErrNoReplica, location)
	}
	if err != nil {
		return nil, errors.Join(err, place.Close())
	}
	return &Replica{location, place}, nil
}

// Close ends connections.
func (r *Replica) Close() error { return r.store.Close() }

// String returns the location.
func (r *Replica) String() string { return r.location.String() }

// Secrets returns settings and keys of a time, the newest ones if it is zero.
func (r *Replica) Secrets(ctx context.Context, passphrase string, at time.Time) (replica.Secrets, error) {
	return replica.OpenSecrets(ctx, r.store, passphrase, at)
}

// ReplicaOptions select the state and the place of a restoration.
type ReplicaOptions struct {
	DataDir  string
	Force    bool      // move existing data aside
	At       time.Time // the state of that time, or the newest before it; zero: the newest
	Secrets  replica.Secrets
	Bucket   *media.Bucket // where uploads are that are not on disk; nil: there is none
	Progress StepProgress
}

// RestoredReplica is the result of a restoration.
type RestoredReplica struct {
	At          time.Time // the state that was restored, by the clock of the server
	Files       int       // besides the database and the keys
	Bytes       int64
	PreviousDir string        // the folder of the data before the restore; "": none
	Found       *Verification // files that are missing or damaged
}

// Restore restores a copy into a data directory that no server uses. It first writes all into a folder beside the data and verifies it. Until then the
// data are unchanged. Damage of the database or the keys is an error, missing files are findings.
func (r *Replica) Restore(ctx context.Context, o ReplicaOptions) (*RestoredReplica, error) {
	room, err := r.room(ctx)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	dir, end, err := beginRestore(o.DataDir, o.Force, room)
	if err != nil {
		return nil, err
	}
	defer end()
	restored, err := r.fetch(ctx, dir, o)
	if err != nil {
		return nil, fmt.Errorf("restore %s: %w", r, err)
	}
	installed := new(Restored)
	to := restore{RestoreOptions: RestoreOptions{DataDir: o.DataDir, Force: o.Force}, ctx: ctx, dir: dir}
	if err := to.install(installed); err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	restored.PreviousDir = installed.PreviousDir
	return restored, nil
}

// room returns about how many bytes a restoration needs on the disk. The files of Litestream are compressed.
func (r *Replica) room(ctx context.Context) (int64, error) {
	files, database, err := replica.Size(ctx, r.store)
	return files + 2*database, err
}

// fetch writes the copy into an empty folder and verifies it.
func (r *Replica) fetch(ctx context.Context, dir string, o ReplicaOptions) (*RestoredReplica, error) {
	root, err := disk.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	o.Progress.report(PartDatabase, 0, 1)
	position, err := ltx.Restore(ctx, r.store, replica.DatabasePrefix, filepath.Join(dir, store.File), o.At)
	if err != nil {
		return nil, err
	}
	if err := writeKeys(root, o.Secrets); err != nil {
		return nil, err
	}
	total, _, err := replica.Size(ctx, r.store)
	if err != nil {
		return nil, err
	}
	meter := &progressWriter{total: total, report: func(done, all int64) { o.Progress.report("files", done, all) }}
	files, err := replica.FetchFiles(ctx, r.store, root, FileDirs, o.At, meter)
	if err != nil {
		return nil, err
	}
	found, err := VerifyData(ctx, VerifyOptions{DataDir: dir, Bucket: o.Bucket, Progress: o.Progress, isCopy: true})
	if err != nil {
		return nil, err
	}
	for _, f := range found.Findings {
		switch {
		case f.Kind == NewerVersion || f.Kind == OtherSchema:
			return nil, errors.New(f.Detail)
		case f.Part == PartDatabase && f.Kind == Damaged, f.Part == PartKeys && (f.Kind == Damaged || f.Kind == Missing):
			return nil, fmt.Errorf("%s is damaged at the copy: %s: %s", f.Part, f.What, f.Detail)
		}
	}
	return &RestoredReplica{At: position.Time, Files: files.Files, Bytes: files.Bytes, Found: found}, nil
}

// writeKeys writes the keys into a data directory.
func writeKeys(root *disk.Root, secrets replica.Secrets) error {
	if err := root.MkdirAll(keysDir, 0o700); err != nil {
		return err
	}
	for name, content := range secrets {
		if path.Dir(name) != keysDir {
			continue
		}
		f, err := root.Create(name)
		if err != nil {
			return err
		}
		if _, err := f.Write(content); err != nil {
			return errors.Join(err, f.Close())
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// Rehearse restores a copy into a temporary folder in dir, verifies and removes it. It fails if the disk has too little space. Of the options it uses Secrets and Bucket.
func (s *Service) Rehearse(ctx context.Context, r *Replica, dir string, o ReplicaOptions) (*RestoredReplica, error) {
	work, err := newWorkFolder(dir, verifyWork)
	if err != nil {
		return nil, err
	}
	defer work.remove()
	room, err := r.room(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkFreeSpace(work.dir, room); err != nil {
		return nil, err
	}
	release, err := s.reserveBackup(ctx, room)
	if err != nil {
		return nil, err
	}
	defer release()
	var restored *RestoredReplica
	err = atLowPriority(func() (err error) {
		restored, err = r.fetch(ctx, work.dir, o)
		return err
	})
	return restored, err
}

// PrintFindings writes the missing and damaged parts of a restored copy, at most limit lines, and the number of the others.
func (r *RestoredReplica) PrintFindings(w io.Writer, limit int) {
	printed := 0
	for _, f := range r.Found.Findings {
		if f.Repaired || f.Harmless {
			continue
		}
		if printed++; printed <= limit {
			fmt.Fprintf(w, "%s: %s %s %s\n", f.Kind, f.Part, f.What, f.Detail)
		}
	}
	if more := r.Found.Left - min(printed, limit); more > 0 {
		fmt.Fprintf(w, "and %d more\n", more)
	}
}

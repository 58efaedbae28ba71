package media

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/netip"
	"path"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"svc/internal/config"
	"svc/internal/disk"
	"svc/internal/errs"
	"svc/internal/objects"
	"svc/store"
)

const (
	parallelMoves = 4
	movePoll      = 200 * time.Millisecond
	maxMoveLogs   = 100 // files that could not be moved, of one run, that are logged
)

// Move says where a move of all files goes to, and how far it is.
type Move struct {
	To       string     `json:"to"` // config.MediaOnDisk or config.MediaInBucket; "": none since the server was started
	Running  bool       `json:"running"`
	Done     int64      `json:"done"`  // files of this run; those that were moved before an interruption do not count
	Total    int64      `json:"total"` // of this run
	Bytes    int64      `json:"bytes"` // that were moved
	Failed   int64      `json:"failed"`
	Problem  string     `json:"problem,omitempty"` // why it was interrupted; it is continued later
	Finished *time.Time `json:"finished_at"`
}

// Mover moves uploads and archives between the disk and the bucket while both are served. A moved file is gone from its old place, so a move that was
// interrupted at any point continues when it is run again. A file is removed from its old place when the copy has the same
// SHA-256; one in the bucket is read again for that.
type Mover struct {
	files    *Files
	archives *Archives
	db       *store.DB
	settings *config.Live
	log      *slog.Logger

	running sync.Mutex // held by a run
	mu      sync.Mutex
	state   Move
}

// NewMover returns the mover of files and archives.
func NewMover(files *Files, archives *Archives, db *store.DB, settings *config.Live, log *slog.Logger) *Mover {
	return &Mover{files: files, archives: archives, db: db, settings: settings, log: log}
}

// Register registers the job.
func (m *Mover) Register(w *store.Worker) {
	store.Handle(w, func(ctx context.Context, _ store.MoveMedia) error { return m.run(ctx) })
}

// Start queues a move to the place where new files are stored, unless one is queued.
func (m *Mover) Start(ctx context.Context, to string) (*Move, error) {
	c := m.settings.Load().Media
	switch {
	case to != config.MediaOnDisk && to != config.MediaInBucket:
		return nil, errs.Invalid("Media can be moved to %q or %q", config.MediaOnDisk, config.MediaInBucket)
	case m.files.bucket == nil:
		return nil, errs.Conflict("There is no bucket: set media.bucket in the settings file and restart the server")
	case c.Storage != to:
		return nil, errs.Conflict("New files go to the other place: set media.storage = %q in the settings file and restart the server first", to)
	}
	err := m.db.Update(ctx, func(tx *store.Tx) error {
		return tx.EnqueueUnlessQueued(ctx, m.db.Now(), store.MoveMediaKey, store.MoveMedia{})
	})
	if err != nil {
		return nil, err
	}
	return m.Status(ctx)
}

// Status returns how far the last move is. Running is set while one is queued, too.
func (m *Mover) Status(ctx context.Context) (*Move, error) {
	queued, err := m.db.HasJob(ctx, store.MoveMediaKey)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.state
	s.Running = s.Running || queued
	if s.To == "" && queued {
		s.To = m.settings.Load().Media.Storage
	}
	return &s, nil
}

// Wait waits for the end of a move, at most d. If no worker does, it runs it.
func (m *Mover) Wait(ctx context.Context, d time.Duration, worker bool) (*Move, error) {
	for until := time.Now().Add(d); ; {
		s, err := m.Status(ctx)
		if err != nil || !s.Running || s.Problem != "" || time.Now().After(until) {
			return s, err
		}
		if !worker {
			if err := m.run(ctx); err != nil {
				return nil, err
			}
			if err := m.db.Update(ctx, func(tx *store.Tx) error { return tx.DropJob(ctx, store.MoveMediaKey) }); err != nil {
				return nil, err
			}
			continue
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(movePoll):
		}
	}
}

// run moves the files of the place where new ones do not go. An error means that it has to be continued.
func (m *Mover) run(ctx context.Context) (err error) {
	m.running.Lock()
	defer m.running.Unlock()
	if m.files.bucket == nil {
		return nil // the setting was removed meanwhile
	}
	to := m.settings.Load().Media.Storage
	m.set(func(s *Move) { *s = Move{To: to, Running: true} })
	defer func() {
		m.set(func(s *Move) {
			s.Running = false
			if err != nil {
				s.Problem = err.Error()
				return
			}
			now := m.db.Now()
			s.Finished = &now
			m.log.Info("moved media", "to", to, "files", s.Done, "bytes", s.Bytes, "failed", s.Failed)
		})
	}()
	list := m.files.walkDisk
	if to == config.MediaOnDisk {
		list = func(ctx context.Context, fn func(Entry) error) error {
			return m.eachInBucket(ctx, mediaObjects, validName, fn)
		}
	}
	archives := func(ctx context.Context, fn func(Entry) error) error {
		return m.archives.walk(func(name string, info fs.FileInfo) error {
			if !validArchive(name) {
				return nil
			}
			return fn(Entry{Name: name, Size: info.Size(), ModTime: info.ModTime()})
		})
	}
	if to == config.MediaOnDisk {
		archives = func(ctx context.Context, fn func(Entry) error) error {
			return m.eachInBucket(ctx, archiveObjects, validArchive, fn)
		}
	}
	for _, walk := range []func(context.Context, func(Entry) error) error{list, archives} {
		if err := walk(ctx, func(Entry) error { m.set(func(s *Move) { s.Total++ }); return ctx.Err() }); err != nil {
			return err
		}
	}
	if err := m.moveAll(ctx, list, m.filePlace(), to); err != nil {
		return err
	}
	return m.moveAll(ctx, archives, m.archivePlace(), to)
}

func (m *Mover) set(change func(*Move)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(&m.state)
}

// eachInBucket calls fn for objects with valid names.
func (m *Mover) eachInBucket(ctx context.Context, prefix string, valid func(string) bool, fn func(Entry) error) error {
	return m.files.bucket.each(ctx, prefix, "", func(name string, o objects.Object) error {
		if !valid(name) {
			return nil
		}
		return fn(Entry{Name: name, Size: o.Size, ModTime: o.Modified, InBucket: true})
	})
}

// movedPlace is what differs between uploads and archives.
type movedPlace struct {
	root   *disk.Root
	bucket *inBucket
	prefix string // of objects
	temp   func() (*disk.File, string, error)
	rename func(temp, name string) error
	remove func(name string) error                                // from the disk
	sum    func(ctx context.Context, name string) (string, error) // that the content must have; "": not known
	typ    func(name string) string
}

func (m *Mover) filePlace() movedPlace {
	f := m.files
	return movedPlace{
		root: f.root, bucket: f.bucket, prefix: mediaObjects, typ: typeOf, sum: m.db.StoredSum,
		temp: func() (*disk.File, string, error) {
			t, err := f.newTemp()
			if err != nil {
				return nil, "", err
			}
			return t.File, t.path, nil
		},
		rename: func(temp, name string) error {
			if err := f.ensureDir(path.Dir(name)); err != nil {
				return err
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			if err := f.root.Rename(temp, name); err != nil {
				return err
			}
			return f.root.Sync(path.Dir(name))
		},
		remove: func(name string) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.remove(name)
		},
	}
}

func (m *Mover) archivePlace() movedPlace {
	a := m.archives
	return movedPlace{
		root: a.root, bucket: a.bucket, prefix: archiveObjects,
		typ: func(string) string { return archiveType },
		sum: func(context.Context, string) (string, error) { return "", nil },
		temp: func() (*disk.File, string, error) {
			name := rand.Text() + partSuffix // the next start removes it after an interruption
			file, err := a.root.Create(name)
			if err != nil {
				return nil, "", writeError(err)
			}
			return file, name, nil
		},
		rename: func(temp, name string) error {
			if err := a.root.Rename(temp, name); err != nil {
				return err
			}
			return a.root.Sync(".")
		},
		remove: func(name string) error {
			if err := a.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return nil
		},
	}
}

// moveAll moves the files of a walk. A file that is damaged or cannot be read stays where it is; without the bucket, or without space, the move ends.
func (m *Mover) moveAll(ctx context.Context, walk func(context.Context, func(Entry) error) error, p movedPlace, to string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelMoves)
	err := walk(ctx, func(e Entry) error {
		group.Go(func() error {
			move := p.toBucket
			if to == config.MediaOnDisk {
				move = p.toDisk
			}
			err := move(ctx, e, m)
			var refused *errs.Error
			switch {
			case err == nil:
				m.set(func(s *Move) { s.Done++; s.Bytes += e.Size })
			case ctx.Err() != nil, errors.Is(err, ErrBucket), errors.As(err, &refused):
				return err
			default:
				m.failed(e.Name, err)
			}
			return nil
		})
		return ctx.Err()
	})
	return errors.Join(group.Wait(), ignoreCanceled(err))
}

// ignoreCanceled returns nil for the end of a walk whose group has an error of its own.
func ignoreCanceled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// failed counts and logs a file that stays where it is.
func (m *Mover) failed(name string, err error) {
	m.set(func(s *Move) {
		s.Failed++
		if s.Failed <= maxMoveLogs {
			m.log.Error("a file cannot be moved and stays where it is: check it with svc media verify", "file", name, "err", err)
		}
	})
}

// toBucket moves a file from the disk to the bucket.
func (p movedPlace) toBucket(ctx context.Context, e Entry, _ *Mover) error {
	release, err := p.bucket.names.Take(ctx, e.Name)
	if err != nil {
		return busy(ctx, err)
	}
	defer release()
	file, err := p.root.Open(e.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted meanwhile
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	sum, err := sumOfContent(ctx, file)
	if err == nil {
		err = p.checkSum(ctx, e.Name, sum)
	}
	if err != nil {
		return err
	}
	body := io.NewSectionReader(readerAt{ctx, file}, 0, info.Size())
	if err := p.bucket.put(ctx, p.prefix+e.Name, body, info.Size(), p.typ(e.Name)); err != nil {
		return err
	}
	content, err := p.bucket.open(ctx, netip.Addr{}, p.prefix+e.Name, true)
	if err != nil {
		return err
	}
	defer content.Close()
	got, err := sumOfContent(ctx, content)
	if err != nil {
		return err
	}
	if got != sum || content.Size != info.Size() {
		return fmt.Errorf("the bucket has other content than was stored there: %d bytes with the SHA-256 %s instead of %d with %s", content.Size, got, info.Size(), sum)
	}
	return p.remove(e.Name)
}

// checkSum returns an error for content that is not that of its row.
func (p movedPlace) checkSum(ctx context.Context, name, sum string) error {
	want, err := p.sum(ctx, name)
	if err == nil && want != "" && want != sum {
		err = fmt.Errorf("the content is damaged: it has the SHA-256 %s instead of %s", sum, want)
	}
	return err
}

// toDisk moves a file from the bucket to the disk.
func (p movedPlace) toDisk(ctx context.Context, e Entry, m *Mover) error {
	release, err := p.bucket.names.Take(ctx, e.Name)
	if err != nil {
		return busy(ctx, err)
	}
	defer release()
	if err := m.files.budget.Load().CheckDisk(e.Size); err != nil {
		return err
	}
	content, err := p.bucket.open(ctx, netip.Addr{}, p.prefix+e.Name, true)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted meanwhile
	}
	if err != nil {
		return err
	}
	defer content.Close()
	file, temp, err := p.temp()
	if err != nil {
		return err
	}
	defer func() {
		file.Close()
		p.root.Remove(temp) // gone after a rename
	}()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(file, sum), content)
	if err != nil {
		return writeOrRead(err)
	}
	if n != e.Size {
		return fmt.Errorf("the bucket has %d bytes of it instead of %d", n, e.Size)
	}
	if err := p.checkSum(ctx, e.Name, hex.EncodeToString(sum.Sum(nil))); err != nil {
		return err
	}
	if err := p.root.Chtimes(temp, time.Time{}, e.ModTime); err != nil { // so that unused files are not kept for longer
		return writeError(err)
	}
	if err := file.Sync(); err != nil {
		return writeError(err)
	}
	if err := p.rename(temp, e.Name); err != nil {
		return writeError(err)
	}
	return p.bucket.remove(ctx, p.prefix+e.Name)
}

// writeOrRead returns the error of a copy: that of the bucket, or that of the disk.
func writeOrRead(err error) error {
	if errors.Is(err, ErrBucket) {
		return err
	}
	return writeError(err)
}

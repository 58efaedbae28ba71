// Package replica keeps a copy of the files of a data directory at a place, as they are written, and reads it back. Litestream copies the database to the
// same place, and is not part of this program.
//
// At the place, files/ has the files of the data directory under their names, sealed/ the settings file and the keys, encrypted with a passphrase, and
// deleted.jsonl the files that are deleted but kept for a while, so that an earlier state of the database finds them. db/ is what Litestream writes.
//
// Two rules. Nobody waits for the copy: a change is queued, and what does not fit into the queue is found by comparing the place with the folders, which
// also happens at the start and once a day. Nothing is deleted at the place before Config.Keep is over, as long as a row names it, and not if most files are
// gone at once, because then a disk is not mounted.
//
// Limits: 20 000 queued names, 4 transfers at once, of which one of a file larger than 4 MiB, 50 000 deleted files that are remembered, 1 MiB of settings
// and keys. A transfer that fails is repeated with pauses of up to a minute. Memory: one folder's names, and 30 MiB of bodies at most.
package replica

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"svc/internal/disk"
	"svc/internal/objects"
)

// Names at the place.
const (
	DatabasePrefix = "db/" // of what Litestream writes
	filesPrefix    = "files/"
	sealedPrefix   = "sealed/"
	deletedObject  = "deleted.jsonl"
)

const (
	transfers     = 4
	largeFile     = 4 << 20 // bytes; of such files one is transferred at a time
	compareEvery  = 24 * time.Hour
	tickEvery     = 30 * time.Second // between two checks of keys, settings and the list of deleted files
	firstPause    = time.Second      // after a transfer that failed, doubled each time
	longestPause  = time.Minute
	stopTime      = time.Second // for the queued files when the server stops
	minPassphrase = 12          // bytes
	maxSkipped    = 1000        // files that cannot be copied, of which so many are counted
	maxExamples   = 10          // of these, in a Status
)

// unfinishedPrefixes begin the names of files that are being written, and of folders of front ends and packs that are being unpacked or removed.
var unfinishedPrefixes = []string{disk.TempPrefix, ".old-", ".incoming-"}

// Config is what a Copier copies, and where.
type Config struct {
	Dir      string   // the data directory
	Folders  []string // of it, whose files are copied
	Settings string   // the settings file; "": none

	Open           func(context.Context) (objects.Store, error) // opens the place; the Copier closes it
	PassphraseFile string
	Keep           time.Duration // of deleted files
	// HasRow returns whether the database names an upload, by its name in ContentNamed. Such a file is never removed at the place, because the disk has
	// lost it. nil: no database is asked.
	HasRow func(ctx context.Context, name string) (bool, error)
	Now    func() time.Time
	Log    *slog.Logger
}

// Copier keeps the copy up to date while it runs.
type Copier struct {
	Config
	dir     string // absolute
	queue   *queue
	deleted *deleted
	large   chan struct{} // has an element while a large file is transferred
	sealing sync.Mutex
	kick    chan struct{} // has an element when a key has changed

	mu      sync.Mutex
	store   objects.Store // nil: not open
	status  Status
	skipped map[string]string // why files cannot be copied, by name
}

// Status is the state of the copy. Times are zero if there was none.
type Status struct {
	Pending  int       `json:"pending"`  // files that are to be copied, or removed
	Oldest   time.Time `json:"oldest"`   // since when one of them waits
	Compared time.Time `json:"compared"` // when the place was last compared with the folders, to the end
	Copied   int64     `json:"copied"`   // files since the start
	Bytes    int64     `json:"bytes"`    // of these
	Success  time.Time `json:"success"`  // of the last transfer, or comparison
	Sealed   time.Time `json:"sealed"`   // when keys and settings were last seen at the place as they are
	Failures int64     `json:"failures"` // since the start
	Error    string    `json:"error"`    // of the last failure since Success; "": none
	Unsealed string    `json:"unsealed"` // why keys and settings are not at the place; "": they are
	Missing  string    `json:"missing"`  // why deletions are not followed; "": they are
	Deleted  int       `json:"deleted"`  // files that are kept at the place only
	Skipped  int       `json:"skipped"`  // files that cannot be copied, 1 000 at most
	Examples []string  `json:"examples"` // of these, with the reason
}

// New returns a Copier that sees changes from now on. Close must be called.
func New(c Config) (*Copier, func(), error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, nil, fmt.Errorf("copy: %w", err)
	}
	k := &Copier{Config: c, dir: dir, queue: newQueue(c.Now), deleted: newDeleted(filepath.Join(dir, deletedFile)), large: make(chan struct{}, 1), kick: make(chan struct{}, 1), skipped: make(map[string]string)}
	return k, disk.Observe(k.observe), nil
}

// observe queues a file that changed.
func (k *Copier) observe(path string, tree bool) {
	rel, err := filepath.Rel(k.dir, path)
	if err != nil {
		return
	}
	name := filepath.ToSlash(rel)
	switch {
	case k.copies(name):
		k.queue.add(name, tree)
	case strings.HasPrefix(name, keysDir+"/"):
		select {
		case k.kick <- struct{}{}:
		default: // there is one already
		}
	}
}

// copies returns true if a file or folder of this name is copied, and false for files that are not complete.
func (k *Copier) copies(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	return slices.Contains(k.Folders, top) && !IsUnfinished(name)
}

// IsUnfinished returns true if a name in the data directory is that of a file that is being written or removed, such as an upload.
func IsUnfinished(name string) bool {
	if name == ContentNamed+"/tmp" || strings.HasPrefix(name, ContentNamed+"/tmp/") {
		return true
	}
	for segment := range strings.SplitSeq(name, "/") {
		for _, prefix := range unfinishedPrefixes {
			if strings.HasPrefix(segment, prefix) {
				return true
			}
		}
	}
	return false
}

func (k *Copier) path(name string) string { return filepath.Join(k.dir, filepath.FromSlash(name)) }

// Run copies until ctx ends, and then the queued files for a moment longer.
func (k *Copier) Run(ctx context.Context) {
	defer k.closePlace()
	if err := k.deleted.read(); err != nil {
		k.Log.Warn("the list of deleted files that are kept at the copy could not be read: they are kept longer", "err", err)
	}
	copying, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var running sync.WaitGroup
	for range transfers {
		running.Go(func() { k.work(copying) })
	}
	running.Go(func() { k.compareOften(ctx) })
	running.Go(func() { k.tick(ctx) })
	<-ctx.Done()
	for until := time.Now().Add(stopTime); k.queue.len() > 0 && time.Now().Before(until); {
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	k.queue.close()
	running.Wait()
}

// tick does the work that is not done file by file, every tickEvery and when a key has changed.
func (k *Copier) tick(ctx context.Context) {
	timer := time.NewTicker(tickEvery)
	defer timer.Stop()
	for {
		k.lookAround(ctx)
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-k.kick:
		}
	}
}

// lookAround seals keys and settings that have changed, copies the list of deleted files, and queues those that need not be kept any more.
func (k *Copier) lookAround(ctx context.Context) {
	if err := k.seal(ctx); err != nil && ctx.Err() == nil {
		k.failed(fmt.Errorf("keys and settings: %w", err))
	}
	if err := k.copyDeleted(ctx); err != nil && ctx.Err() == nil {
		k.failed(fmt.Errorf("list of deleted files: %w", err))
	}
	for _, name := range k.deleted.before(k.Now().Add(-k.Keep)) {
		k.queue.add(name, false)
	}
}

// work transfers queued files until ctx ends.
func (k *Copier) work(ctx context.Context) {
	for {
		i := k.queue.take(ctx)
		if i == nil {
			return
		}
		err := k.process(ctx, i)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			k.unskip(i.name)
			k.queue.done(i)
		case isOfFile(err):
			k.skip(i.name, err)
			k.queue.done(i)
		default:
			k.failed(fmt.Errorf("%s: %w", i.name, err))
			k.queue.retry(i)
		}
	}
}

// isOfFile returns true for an error that the next attempt has, too.
func isOfFile(err error) bool {
	var local localError
	return errors.Is(err, objects.ErrName) || errors.As(err, &local)
}

// localError is an error of a file of the data directory.
type localError struct{ error }

func (e localError) Unwrap() error { return e.error }

// place opens the place if it is not open.
func (k *Copier) place(ctx context.Context) (objects.Store, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.store == nil {
		store, err := k.Open(ctx)
		if err != nil {
			return nil, err
		}
		k.store = store
	}
	return k.store, nil
}

func (k *Copier) closePlace() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.store != nil {
		if err := k.store.Close(); err != nil {
			k.Log.Warn("the place of the copy could not be closed", "err", err)
		}
		k.store = nil
	}
}

func (k *Copier) succeeded(bytes int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.status.Copied++
	k.status.Bytes += bytes
	k.status.Success, k.status.Error = k.Now(), ""
}

// failed remembers an error, and logs it if it is the first since a success.
func (k *Copier) failed(err error) {
	k.mu.Lock()
	first := k.status.Error == ""
	k.status.Failures++
	k.status.Error = err.Error()
	k.mu.Unlock()
	if first {
		k.Log.Warn("the copy at the other place does not follow; it is tried again", "err", err)
	}
}

// skip remembers a file that cannot be copied.
func (k *Copier) skip(name string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, known := k.skipped[name]; known || len(k.skipped) < maxSkipped {
		k.skipped[name] = fmt.Sprintf("%.200q: %v", name, err)
	}
}

// unskip forgets a file that was copied, or is gone.
func (k *Copier) unskip(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.skipped, name)
}

// Status returns the state.
func (k *Copier) Status() Status {
	pending, oldest := k.queue.state()
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.status
	s.Pending, s.Oldest, s.Deleted = pending, oldest, k.deleted.len()
	s.Skipped, s.Examples = len(k.skipped), []string{}
	for _, name := range slices.Sorted(maps.Keys(k.skipped))[:min(len(k.skipped), maxExamples)] {
		s.Examples = append(s.Examples, k.skipped[name])
	}
	return s
}

// Lag returns for how long the oldest queued file waits.
func (s Status) Lag(now time.Time) time.Duration {
	if s.Oldest.IsZero() {
		return 0
	}
	return max(0, now.Sub(s.Oldest))
}

// stat describes a file of the data directory; nil: there is none.
func (k *Copier) stat(name string) (fs.FileInfo, error) {
	info, err := os.Lstat(k.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, localError{err}
	}
	return info, nil
}

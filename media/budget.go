package media

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/store"
)

// Class is a kind of data in the data directory.
type Class string

const (
	Uploads    Class = "uploads" // attachments
	Profiles   Class = "profiles"
	ProxyCache Class = "proxy_cache"
	EmojiPacks Class = "emoji"
	Backups    Class = "backups"
	Database   Class = "database"
	Ballast    Class = "ballast" // see store.BallastFile
	OtherFiles Class = "other"   // front ends, static files, imports, mail, keys, and files that nothing refers to any more
)

// BudgetConfig configures a Budget.
type BudgetConfig struct {
	Settings *config.Live                    // the data directory, and the limits
	Free     func(dir string) (int64, error) // bytes that are free on the disk of a directory; nil: by statfs
}

const (
	reservedFraction = 20       // one part of Limit is kept for the database
	minReserved      = 16 << 20 // bytes, at least
	logReserve       = 24 << 20 // the write-ahead log counts as this at least, because one large deletion can make it as large
	measureEvery     = time.Second
	walkEvery        = 10 * time.Minute
)

// Budget keeps the data directory within storage.limit, and the disk from filling up. Each writer of files reserves room first. The cache of
// the media proxy gives way to everything else. A nil Budget has no limits. It is safe for concurrent use.
type Budget struct {
	BudgetConfig
	dir   string // the data directory
	db    *store.DB
	files *Files
	proxy *Proxy

	measuring sync.Mutex // held during a measurement

	mu       sync.Mutex
	last     measurement
	walkedAt time.Time
	folders  map[Class]classSize // of classes that are measured by walking through folders
	reserved map[Class]int64
}

// archivesDir has the archives of accounts.
const archivesDir = "backups/accounts"

// measurement is what cannot be counted while it changes.
type measurement struct {
	at       time.Time
	database store.DatabaseSize
	ballast  int64
	recorded []store.StorageUsage
	archives int64 // of accounts, if they may be in a bucket; otherwise they are in folders
	free     int64 // on the disk
}

type classSize struct{ Count, Bytes int64 }

// OpenBudget returns the budget of a data directory, and makes files, archives and the proxy observe it.
func OpenBudget(db *store.DB, c BudgetConfig, files *Files, archives *Archives, proxy *Proxy) *Budget {
	if c.Free == nil {
		c.Free = store.FreeSpace
	}
	b := &Budget{BudgetConfig: c, dir: c.Settings.Load().Data.Dir, db: db, files: files, proxy: proxy, reserved: make(map[Class]int64)}
	files.budget.Store(b)
	archives.budget.Store(b)
	proxy.budget.Store(b)
	return b
}

// measure returns a measurement that is not older than age.
func (b *Budget) measure(ctx context.Context, age time.Duration) (measurement, error) {
	if m, ok := b.measuredWithin(age); ok {
		return m, nil
	}
	b.measuring.Lock()
	defer b.measuring.Unlock()
	if m, ok := b.measuredWithin(age); ok {
		return m, nil
	}
	var err error
	if l := b.limits(); l.Limit > 0 || l.Uploads > 0 {
		err = b.files.countOnce(ctx) // files without a record, too, which a crash can leave
	}
	if err != nil {
		return measurement{}, err
	}
	m := measurement{at: time.Now(), ballast: b.db.BallastSize()}
	if m.database, err = b.db.Size(ctx); err != nil {
		return m, err
	}
	if m.recorded, err = b.db.StorageUsage(ctx); err != nil {
		return m, err
	}
	if b.files.HasBucket() {
		if m.archives, err = b.db.AccountBackupsSize(ctx); err != nil {
			return m, err
		}
	}
	if m.free, err = b.Free(b.dir); err != nil {
		return m, err
	}
	b.mu.Lock()
	walk := time.Since(b.walkedAt) > walkEvery
	b.last = m
	b.mu.Unlock()
	if walk {
		err = b.walk(ctx)
	}
	return m, err
}

func (b *Budget) measuredWithin(age time.Duration) (measurement, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last, !b.last.at.IsZero() && time.Since(b.last.at) < age
}

// walk measures the folders that others may change, too: emoji packs, backups, front ends and the like.
func (b *Budget) walk(ctx context.Context) error {
	folders := make(map[Class]classSize)
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if os.IsNotExist(err) {
			return nil // removed meanwhile
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(b.dir, path)
		if err != nil {
			return err
		}
		top, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		class := OtherFiles
		switch {
		case top == "media", top == "cache":
			return fs.SkipDir // counted by Files and Proxy
		case b.files.HasBucket() && filepath.ToSlash(rel) == archivesDir:
			return fs.SkipDir // counted by their rows
		case strings.HasPrefix(top, store.File) && !d.IsDir():
			return nil
		case top == store.BallastFile:
			return nil // in the reserve of the database
		case top == "emoji":
			class = EmojiPacks
		case top == "backups":
			class = Backups
		}
		info, err := d.Info()
		if err != nil {
			return nil // removed meanwhile
		}
		size := folders[class]
		size.Bytes += diskUsage(info.Size())
		if !d.IsDir() {
			size.Count++
		}
		folders[class] = size
		return nil
	})
	if err != nil {
		return fmt.Errorf("measure data directory: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.folders, b.walkedAt = folders, time.Now()
	return nil
}

// sums are what the data directory takes, without the cache of the media proxy.
type sums struct {
	fixed   int64 // everything but the cache, with reservations
	uploads int64 // the media folder, with reservations
	emoji   int64 // with reservations
	free    int64 // on the disk, less reservations
}

func (b *Budget) sums(m measurement) sums {
	files := b.files.Bytes(recordedFiles(m.recorded))
	b.mu.Lock()
	defer b.mu.Unlock()
	s := sums{fixed: m.database.File + max(m.database.Log, logReserve) + m.ballast + files + m.archives, free: m.free}
	for _, f := range b.folders {
		s.fixed += f.Bytes
	}
	for _, n := range b.reserved {
		s.fixed += n
		s.free -= n
	}
	s.uploads = files + b.reserved[Uploads]
	s.emoji = b.folders[EmojiPacks].Bytes + b.reserved[EmojiPacks]
	return s
}

// recordedFiles returns what files take by their records.
func recordedFiles(classes []store.StorageUsage) int64 {
	total := int64(0)
	for _, c := range classes {
		total += c.Bytes
	}
	return total
}

// limits are the limits of the moment.
type limits struct{ config.Storage }

func (b *Budget) limits() limits { return limits{b.Settings.Load().Storage} }

// ceiling is what the directory may take before files are refused.
func (l limits) ceiling() int64 {
	if l.Limit == 0 {
		return math.MaxInt64
	}
	return l.Limit - l.databaseReserve()
}

// databaseReserve returns what of Limit is kept for the database.
func (l limits) databaseReserve() int64 { return max(l.Limit/reservedFraction, minReserved) }

// cacheRoom returns what the cache of the media proxy may take now; it is never negative.
func (b *Budget) cacheRoom(ctx context.Context, cached int64) (int64, error) {
	m, err := b.measure(ctx, measureEvery)
	if err != nil {
		return 0, err
	}
	s, l := b.sums(m), b.limits()
	return max(0, min(l.ceiling()-s.fixed, cached+s.free-l.MinFree)), nil
}

var (
	errStorageFull = errs.New(507, "The server has no space left for files: its storage limit is reached")
	errDiskFull    = errs.New(507, "The server has no space left for files: its disk is almost full")
	errUploadsFull = errs.New(507, "The server has no space left for uploads: their storage limit is reached")
	errEmojiFull   = errs.New(507, "The server has no space left for emoji: their storage limit is reached")
)

// check returns an error if there is no space for the reservations of a class, even without the cache of the media proxy. It shrinks the cache
// as needed.
func (b *Budget) check(ctx context.Context, class Class) error {
	m, err := b.measure(ctx, measureEvery)
	if err != nil {
		return err
	}
	s, cached, l := b.sums(m), b.proxy.Bytes(), b.limits()
	switch {
	case class == Uploads && l.Uploads > 0 && s.uploads > l.Uploads:
		return errUploadsFull
	case class == EmojiPacks && l.Emoji > 0 && s.emoji > l.Emoji:
		return errEmojiFull
	case s.fixed > l.ceiling():
		return errStorageFull
	case s.free+cached < l.MinFree:
		return errDiskFull
	case s.fixed+cached > l.ceiling(), s.free < l.MinFree:
		return b.proxy.Shrink(ctx)
	}
	return nil
}

// Check returns an error if there is no space for files of a class at all.
func (b *Budget) Check(ctx context.Context, class Class) error {
	if b == nil {
		return nil
	}
	return b.check(ctx, class)
}

// CheckDisk returns an error of status 507 if so many bytes more would leave too little space on the disk.
func (b *Budget) CheckDisk(bytes int64) error {
	if b == nil {
		return nil
	}
	free, err := b.Free(b.dir)
	if err == nil && free-bytes < b.limits().MinFree {
		err = errDiskFull
	}
	return err
}

// Reserve returns an empty reservation. The caller ends it with Release or Commit.
func (b *Budget) Reserve(class Class) *Reservation { return &Reservation{budget: b, class: class} }

// Reservation is room for data that is being written.
type Reservation struct {
	budget *Budget
	class  Class
	n      int64
}

// Grow reserves room for n more bytes. The error is one for clients, of status 507, if there is none.
func (r *Reservation) Grow(ctx context.Context, n int64) error {
	if r.budget == nil {
		return nil
	}
	r.add(n)
	if err := r.budget.check(ctx, r.class); err != nil {
		r.add(-n)
		return err
	}
	return nil
}

func (r *Reservation) add(n int64) {
	r.n += n
	r.budget.mu.Lock()
	defer r.budget.mu.Unlock()
	r.budget.reserved[r.class] += n
}

// Release ends the reservation, because the data was not kept or is counted by Files.
func (r *Reservation) Release() {
	if r.budget != nil && r.n != 0 {
		r.add(-r.n)
		r.budget.forget()
	}
}

// Commit ends the reservation and counts the data as part of its folder.
func (r *Reservation) Commit() {
	if r.budget == nil || r.n == 0 {
		return
	}
	r.budget.mu.Lock()
	if size, ok := r.budget.folders[r.class]; ok {
		size.Count++
		size.Bytes += diskUsage(r.n)
		r.budget.folders[r.class] = size
	}
	r.budget.mu.Unlock()
	r.Release()
}

// Remeasure makes the next check measure folders again, because files were removed.
func (b *Budget) Remeasure() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.walkedAt, b.last.at = time.Time{}, time.Time{}
}

// forget makes the next check measure the disk again.
func (b *Budget) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last.at = time.Time{}
}

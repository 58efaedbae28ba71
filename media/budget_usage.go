package media

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/store"
)

// Usage is what the data directory takes, in bytes on disk.
type Usage struct {
	Total       int64        `json:"total"`
	Limit       int64        `json:"limit"` // storage.limit; 0: none
	DiskFree    int64        `json:"disk_free"`
	MinFree     int64        `json:"min_free"` // storage.min_free
	Full        bool         `json:"full"`     // uploads, backups and emoji packs are refused
	Reason      string       `json:"reason,omitempty"`
	Critical    bool         `json:"critical"` // remote posts are refused, too, until there is room
	Classes     []ClassUsage `json:"classes"`
	RemotePosts RemotePosts  `json:"remote_posts"`
}

// ClassUsage is what one class takes.
type ClassUsage struct {
	Name  Class `json:"name"`
	Count int64 `json:"count"` // files
	Bytes int64 `json:"bytes"`
	Limit int64 `json:"limit"` // 0: none of its own
}

// RemotePosts are part of the database. Their size is estimated by the newest ones.
type RemotePosts struct {
	Count          int64 `json:"count"` // with boosts
	EstimatedBytes int64 `json:"estimated_bytes"`
	Limit          int64 `json:"limit"` // storage.remote_posts
}

// Usage returns what the data directory takes. Folders that others may change are measured every walkEvery, and at once if fresh is set.
func (b *Budget) Usage(ctx context.Context, fresh bool) (*Usage, error) {
	age := measureEvery
	if fresh {
		age = 0
		b.Remeasure()
	}
	if err := b.files.countOnce(ctx); err != nil {
		return nil, err
	}
	if err := b.proxy.waitCounted(ctx); err != nil {
		return nil, err
	}
	m, err := b.measure(ctx, age)
	if err != nil {
		return nil, err
	}
	l := b.limits()
	u := &Usage{Limit: l.Limit, DiskFree: m.free, MinFree: l.MinFree}
	u.Classes, u.RemotePosts = b.classes(m, l)
	size, err := b.db.RemotePostSize(ctx)
	if err != nil {
		return nil, err
	}
	u.RemotePosts.EstimatedBytes = u.RemotePosts.Count * size
	for _, c := range u.Classes {
		u.Total += c.Bytes
	}
	u.Critical = b.critical(m)
	if full := b.full(m); full != nil {
		u.Full, u.Reason = true, full.Error()
	}
	return u, nil
}

// classes returns the classes in the order in which they are shown.
func (b *Budget) classes(m measurement, l limits) ([]ClassUsage, RemotePosts) {
	recorded := make(map[string]store.StorageUsage)
	for _, r := range m.recorded {
		recorded[r.Class] = r
	}
	uploads, profiles := recorded[string(store.UploadedFile)], recorded[string(store.ProfileFile)]
	unused := max(0, b.files.Bytes(uploads.Bytes+profiles.Bytes)-uploads.Bytes-profiles.Bytes)
	b.mu.Lock()
	defer b.mu.Unlock()
	other := b.folders[OtherFiles]
	return []ClassUsage{
		{Uploads, uploads.Count, uploads.Bytes, l.Uploads},
		{Profiles, profiles.Count, profiles.Bytes, 0},
		{ProxyCache, 0, b.proxy.Bytes(), b.proxy.cacheSize()},
		{EmojiPacks, b.folders[EmojiPacks].Count, b.folders[EmojiPacks].Bytes, l.Emoji},
		{Backups, b.folders[Backups].Count, b.folders[Backups].Bytes + m.archives, 0},
		{Database, 0, m.database.File + m.database.Log, 0},
		{Ballast, 0, m.ballast, 0},
		{OtherFiles, other.Count, other.Bytes + unused, 0},
	}, RemotePosts{Count: recorded[store.RemotePosts].Count}
}

// full returns why files are refused, nil if they are not.
func (b *Budget) full(m measurement) error {
	s, l := b.sums(m), b.limits()
	switch {
	case s.fixed > l.ceiling():
		return errStorageFull
	case s.free+b.proxy.Bytes() < l.MinFree:
		return errDiskFull
	case l.Uploads > 0 && s.uploads >= l.Uploads:
		return errUploadsFull
	}
	return nil
}

// Pressure says how much has to be deleted to keep within the limits.
type Pressure struct {
	Bytes    int64 // to be freed in the database; 0: none
	FreeSize int64 // of these, in pages of the database that are not used
	Refusing error // why files are refused, nil if they are not
}

// Pressure shrinks the cache, and returns what else has to be deleted.
func (b *Budget) Pressure(ctx context.Context) (*Pressure, error) {
	if err := b.proxy.Shrink(ctx); err != nil {
		return nil, err
	}
	m, err := b.measure(ctx, measureEvery)
	if err != nil {
		return nil, err
	}
	s, l := b.sums(m), b.limits()
	p := &Pressure{FreeSize: m.database.Free, Refusing: b.full(m)}
	short := l.MinFree - s.free - b.proxy.Bytes()
	if l.Limit > 0 {
		short = max(short, s.fixed-l.ceiling())
	}
	p.Bytes = max(0, short)
	return p, nil
}

// criticalFraction is the part of the reserve of the database, and of MinFree, below which remote posts are refused. Local accounts may use it.
const criticalFraction = 2

// Critical returns whether so little room is left, although everything was deleted that may be, that remote posts must wait. They are asked for
// after local files are refused: deleting old remote posts has failed to make room by then.
func (b *Budget) Critical(ctx context.Context) (bool, error) {
	if b == nil {
		return false, nil
	}
	m, err := b.measure(ctx, measureEvery)
	if err != nil {
		return false, err
	}
	return b.critical(m), nil
}

func (b *Budget) critical(m measurement) bool {
	s, l := b.sums(m), b.limits()
	return l.Limit > 0 && s.fixed > l.Limit-l.databaseReserve()/criticalFraction || s.free+b.proxy.Bytes() < l.MinFree/criticalFraction
}

// CheckSpace returns an error if more bytes would exceed the limits of the data directory. It is for a process other than the server, and counts
// files only.
func CheckSpace(ctx context.Context, c *config.Config, bytes int64) error {
	dir, l := c.Data.Dir, limits{c.Storage}
	used := int64(0)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if path == filepath.Join(dir, store.BallastFile) {
			return nil
		}
		if info, err := d.Info(); err == nil { // else removed meanwhile
			used += diskUsage(info.Size())
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("measure data directory: %w", err)
	}
	if room := l.ceiling() - logReserve - used; bytes > room {
		return errs.New(507, "%d MiB are needed, but storage.limit leaves %d MiB of the data directory: write to another folder", bytes>>20, max(room, 0)>>20)
	}
	free, err := store.FreeSpace(dir)
	if err == nil && free-bytes < l.MinFree {
		err = errs.New(507, "%d MiB are needed, but storage.min_free leaves %d MiB of the disk: write to another disk", bytes>>20, max(free-l.MinFree, 0)>>20)
	}
	return err
}

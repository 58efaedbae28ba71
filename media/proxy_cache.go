package media

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"svc/store"
)

// Copies are files named by the SHA-256 of their address. They begin with a header of one line, which tells a complete copy from one that
// a power failure cut off: copies are not synced to disk, because they can be fetched again. The modification time of the file is the
// time of the last use, to the hour.
const (
	copyHeader = 64
	copyFormat = "svc-proxy-1 %s %d %d" // extension, bytes, Unix time at which it was fetched

	copyTTL       = 14 * 24 * time.Hour // after that a copy is fetched again; if that fails it is still served
	maxUnused     = 30 * 24 * time.Hour // after that a copy is removed
	useResolution = time.Hour
)

// proxyKey is the hash of an address.
type proxyKey [sha256.Size]byte

func keyOf(address string) proxyKey { return sha256.Sum256([]byte(address)) }

// file returns the name of the copy.
func (k proxyKey) file() string {
	h := hex.EncodeToString(k[:])
	return h[:2] + "/" + h
}

// copyUsage returns the bytes that a copy of a size takes on disk.
func copyUsage(size int64) int64 { return diskUsage(size + copyHeader) }

// cachedCopy is an open copy.
type cachedCopy struct {
	*io.SectionReader
	file    *os.File
	format  *format
	fetched time.Time
}

func (c *cachedCopy) Close() error { return c.file.Close() }

// isFresh returns false if the copy is to be fetched again.
func (c *cachedCopy) isFresh(now time.Time) bool { return store.At(c.fetched).Age(now) < copyTTL }

// openCopy opens the copy of an address and records its use. It returns nil if there is none.
func (p *Proxy) openCopy(key proxyKey, now time.Time) (*cachedCopy, error) {
	file, err := p.root.Open(key.file())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open copy: %w", err)
	}
	c, used, err := readCopy(file)
	if err != nil {
		file.Close()
		return nil, p.remove(key)
	}
	if now.Sub(used) > useResolution {
		if err := p.root.Chtimes(key.file(), now, now); err != nil && !errors.Is(err, fs.ErrNotExist) {
			p.log.Warn("use of a copy could not be recorded", "err", err)
		}
	}
	return c, nil
}

var errNoCopy = errors.New("not a copy")

// readCopy reads the header of a copy and the time of its last use.
func readCopy(file *os.File) (c *cachedCopy, used time.Time, err error) {
	info, err := file.Stat()
	if err != nil {
		return nil, used, err
	}
	var line [copyHeader]byte
	if _, err := file.ReadAt(line[:], 0); err != nil {
		return nil, used, err
	}
	var ext string
	var size, fetched int64
	if _, err := fmt.Sscanf(string(line[:]), copyFormat, &ext, &size, &fetched); err != nil {
		return nil, used, err
	}
	f := formatOf(ext)
	if f == nil || info.Size() != copyHeader+size {
		return nil, used, errNoCopy
	}
	return &cachedCopy{io.NewSectionReader(file, copyHeader, size), file, f, time.Unix(fetched, 0)}, info.ModTime(), nil
}

func formatOf(ext string) *format {
	for _, f := range formats {
		if f.ext == ext {
			return f
		}
	}
	return nil
}

// remove removes a copy if there is one.
func (p *Proxy) remove(key proxyKey) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, err := p.removeFile(key.file())
	p.cachedBytes -= n
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove copy: %w", err)
	}
	return nil
}

// removeFile removes a file of the cache and returns its disk usage.
func (p *Proxy) removeFile(name string) (int64, error) {
	info, err := p.root.Stat(name)
	if err == nil {
		err = p.root.Remove(name)
	}
	if err != nil {
		return 0, err
	}
	return diskUsage(info.Size()), nil
}

// writeHeader completes the file of a download.
func (d *download) writeHeader() error {
	line := fmt.Sprintf(copyFormat, d.format.ext, d.received, d.fetched.Unix())
	if _, err := fmt.Fprintf(io.NewOffsetWriter(d.file, 0), "%-*s\n", copyHeader-1, line); err != nil {
		return writeError(err)
	}
	return nil
}

// addCopy makes the file of a download a copy. p.mu is held.
func (p *Proxy) addCopy(d *download) error {
	name := d.key.file()
	err := p.root.Mkdir(path.Dir(name), 0o700)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if n, err := p.removeFile(name); err == nil {
		p.cachedBytes -= n
	}
	if err := p.root.Rename(d.temp, name); err != nil {
		return err
	}
	p.cachedBytes += copyUsage(d.received)
	if p.addedDuringSweep != nil {
		p.addedDuringSweep[name] = copyUsage(d.received)
	}
	return nil
}

var errNoRoom = errors.New("running downloads fill the cache")

// reserve makes room for n more bytes of a download.
func (p *Proxy) reserve(ctx context.Context, n int64) error {
	p.mu.Lock()
	p.downloadingBytes += n
	p.mu.Unlock()
	if err := p.Shrink(ctx); err != nil {
		return err
	}
	limit, err := p.limit(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.downloadingBytes > limit && limit < p.cacheSize():
		return errStorageFull
	case p.cachedBytes+p.downloadingBytes > limit:
		return errNoRoom
	}
	return nil
}

// checkRoom returns an error if a download of a size would fail for lack of room, before anything is sent to the client. It reserves nothing, so
// that a wrong size evicts no copies.
func (p *Proxy) checkRoom(ctx context.Context, size int64) error {
	limit, err := p.limit(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.downloadingBytes+size <= limit:
		return nil
	case limit < p.cacheSize():
		return errStorageFull
	}
	return errNoRoom
}

// Shrink removes copies if the cache is larger than it may be now.
func (p *Proxy) Shrink(ctx context.Context) error {
	fits, err := p.fits(ctx)
	if fits || err != nil {
		return err
	}
	p.sweeping.Lock()
	defer p.sweeping.Unlock()
	if fits, err := p.fits(ctx); fits || err != nil { // others have made room meanwhile
		return err
	}
	return p.sweep(ctx)
}

func (p *Proxy) fits(ctx context.Context) (bool, error) {
	limit, err := p.limit(ctx)
	return err == nil && p.Bytes() <= limit, err
}

// limit returns what the cache may take now: cacheSize, or what the rest of the data directory leaves.
func (p *Proxy) limit(ctx context.Context) (int64, error) {
	b := p.budget.Load()
	if b == nil {
		return p.cacheSize(), nil
	}
	room, err := b.cacheRoom(ctx, p.Bytes())
	return min(p.cacheSize(), room), err
}

// waitCounted waits until the size of the cache is known.
func (p *Proxy) waitCounted(ctx context.Context) error {
	select {
	case <-p.counted:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Bytes returns what the cache takes on disk, with running downloads.
func (p *Proxy) Bytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cachedBytes + p.downloadingBytes
}

// Sweep removes copies that were not used for maxUnused, and the least recently used ones if the cache is too large.
func (p *Proxy) Sweep(ctx context.Context) error {
	p.sweeping.Lock()
	defer p.sweeping.Unlock()
	return p.sweep(ctx)
}

// sweep walks through the cache twice: first to sum up the bytes by the minute of their last use, then to remove the copies of the minutes
// that do not fit. Its memory does not depend on the number of copies. If the cache is too large, it leaves a tenth free, so that the next
// sweep is not needed at once.
func (p *Proxy) sweep(ctx context.Context) error {
	p.mu.Lock()
	p.addedDuringSweep = make(map[string]int64)
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.addedDuringSweep = nil
		p.mu.Unlock()
	}()
	now := time.Now()
	var used [maxUnused/time.Minute + 1]int64
	all := int64(0)
	err := p.walk(ctx, func(_ string, info fs.FileInfo) error {
		used[minutesSince(info.ModTime(), now)] += diskUsage(info.Size())
		all += diskUsage(info.Size())
		return nil
	})
	if err != nil {
		return err
	}
	limit, err := p.limit(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	room := limit - p.downloadingBytes
	for _, n := range p.addedDuringSweep {
		room -= n
	}
	p.mu.Unlock()
	oldest, inOldest := len(used)-1, int64(0) // remove older copies, and those of this age except inOldest bytes
	if all > room {
		room -= limit / 10
		for oldest = 0; oldest < len(used)-1 && used[oldest] <= room; oldest++ {
			room -= used[oldest]
		}
		if oldest < len(used)-1 {
			inOldest = max(room, 0)
		}
	}
	removed, files := int64(0), 0
	err = p.walk(ctx, func(name string, info fs.FileInfo) error {
		n := diskUsage(info.Size())
		switch age := minutesSince(info.ModTime(), now); {
		case age < oldest:
			return nil
		case age == oldest && n <= inOldest:
			inOldest -= n
			return nil
		}
		if _, err := p.removeFile(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		removed += n
		files++
		return nil
	})
	p.mu.Lock()
	p.cachedBytes = all - removed
	for _, n := range p.addedDuringSweep {
		p.cachedBytes += n
	}
	p.mu.Unlock()
	if files > 0 {
		p.log.Debug("removed copies from the media cache", "files", files, "bytes", removed)
	}
	return err
}

// minutesSince returns the age in minutes, at most maxUnused.
func minutesSince(t, now time.Time) int {
	return int(min(max(now.Sub(t), 0), maxUnused) / time.Minute)
}

// walk calls fn for every copy that was not added during the sweep.
func (p *Proxy) walk(ctx context.Context, fn func(name string, info fs.FileInfo) error) error {
	err := walkFolders(ctx, p.root, func(name string, info fs.FileInfo) error {
		if !info.Mode().IsRegular() || p.wasAddedDuringSweep(name) {
			return nil
		}
		return fn(name, info)
	})
	if err != nil {
		return fmt.Errorf("walk through media cache: %w", err)
	}
	return nil
}

func (p *Proxy) wasAddedDuringSweep(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.addedDuringSweep[name]
	return ok
}

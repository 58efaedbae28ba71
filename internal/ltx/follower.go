package ltx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"svc/internal/disk"
	"svc/internal/objects"
)

const (
	// positionSuffix is what the file with the position of a database is named with, behind the name of the database.
	positionSuffix = "-position"
	newSuffix      = "-new"
	// maxApplied is how many files are applied between two synchronisations.
	maxApplied = 1000
	// otherLevels is how often the other levels are listed while level 0 has nothing new.
	otherLevels = time.Minute
	maxPosition = 4 << 10 // bytes of the file
)

// ErrBehind means that the place has nothing as new as the database that follows it: it was emptied, or is another one.
var ErrBehind = errors.New("place is behind")

// Follower keeps a database up to date that nothing else may have open. Its position is in a file beside it, so that it goes on after a
// restart. It is not safe for concurrent use.
type Follower struct {
	store        objects.Store
	prefix, path string
	place        *place // nil: it is not known yet how files are named
	file         *disk.File
	image        image
	state        followed
	listed       time.Time // all levels, for the last time
}

// followed is the content of the file beside the database.
type followed struct {
	Position
	// Applying is the last transaction of files that were about to be applied: if it is not that of the position, the database can be torn, until
	// they are applied again.
	Applying uint64 `json:"applying"`
	PageSize uint32 `json:"page_size"`
	Pages    uint32 `json:"pages"`
}

// Follow opens a database that a Follower has written, or restores the newest state if there is none.
func Follow(ctx context.Context, store objects.Store, prefix, path string) (*Follower, error) {
	f := &Follower{store: store, prefix: prefix, path: path}
	err := f.open()
	if errors.Is(err, fs.ErrNotExist) {
		err = f.restore(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("follow %s: %w", prefix, err), f.Close())
	}
	return f, nil
}

// Close closes the database.
func (f *Follower) Close() error {
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}

// Position returns up to where the database is.
func (f *Follower) Position() Position { return f.state.Position }

// Whole returns false if a part of a file was applied, so that the database cannot be used before the next Update has succeeded.
func (f *Follower) Whole() bool { return f.file != nil && f.state.Applying == f.state.TXID }

// Update applies new files of the place, and returns the position then. If files that it needs are gone, it restores the database anew. Each file is
// verified as a whole before it changes the database.
func (f *Follower) Update(ctx context.Context) (Position, error) {
	err := f.update(ctx)
	if gone(err) { // compacted meanwhile
		err = f.update(ctx)
	}
	if errors.Is(err, ErrGap) || gone(err) {
		if err = f.restore(ctx); gone(err) {
			err = fmt.Errorf("%w: %w", ErrGap, err)
		}
	}
	if err != nil {
		return f.state.Position, fmt.Errorf("follow %s: %w", f.prefix, err)
	}
	return f.state.Position, nil
}

func (f *Follower) update(ctx context.Context) error {
	if f.file == nil { // a restoration failed
		return f.restore(ctx)
	}
	if f.place == nil {
		p, err := openPlace(ctx, f.store, f.prefix)
		if err != nil {
			return err
		}
		f.place = p
	}
	for {
		files, err := f.next(ctx)
		if err != nil || len(files) == 0 {
			return err
		}
		if err := f.applyAll(ctx, files); err != nil {
			return err
		}
	}
}

// next returns files that come next, or none if there is nothing new.
func (f *Follower) next(ctx context.Context) ([]file, error) {
	files, err := f.place.list(ctx, 0, f.state.TXID+1, f.state.TXID)
	if err != nil {
		return nil, err
	}
	if f.Whole() && len(files) > 0 {
		if chain, err := f.place.chain(files, f.state.TXID); err == nil {
			return chain[:min(len(chain), maxApplied)], nil
		}
	}
	if f.Whole() && len(files) == 0 && time.Since(f.listed) < otherLevels {
		return nil, nil
	}
	all, _, err := f.place.behind(ctx, f.state.TXID, time.Time{})
	if err != nil {
		return nil, err
	}
	chain, err := f.place.chain(all, f.state.TXID)
	if err != nil {
		return nil, err
	}
	if len(chain) == 0 {
		return nil, f.caughtUp(ctx)
	}
	return chain[:min(len(chain), maxApplied)], nil
}

// caughtUp checks that the place ends where the database does.
func (f *Follower) caughtUp(ctx context.Context) error {
	last := uint64(0)
	for _, level := range []int{0, snapshots} {
		files, err := f.place.list(ctx, level, 0, 0)
		if err != nil {
			return err
		}
		for _, file := range files {
			last = max(last, file.max)
		}
	}
	switch {
	case last < f.state.TXID:
		return fmt.Errorf("%w: it ends with transaction %d, and %s has %d: if the place was emptied on purpose, remove the database and its file %s, so that it is restored anew",
			ErrBehind, last, f.path, f.state.TXID, positionSuffix)
	case last > f.state.TXID || !f.Whole(): // only a snapshot is newer
		return fmt.Errorf("%w: no file follows transaction %d", ErrGap, f.state.TXID)
	}
	f.listed = time.Now()
	return nil
}

// applyAll applies files that follow each other.
func (f *Follower) applyAll(ctx context.Context, files []file) error {
	state := f.state
	state.Applying = max(state.Applying, files[len(files)-1].max)
	if err := f.save(state); err != nil {
		return err
	}
	var failure error
	for _, file := range files {
		position, err := f.applyVerified(ctx, file)
		if err != nil {
			failure = err
			break
		}
		state.Position, state.PageSize, state.Pages = position, f.image.pageSize, f.image.commit
	}
	if err := f.file.Sync(); err != nil {
		return errors.Join(failure, err)
	}
	return errors.Join(failure, f.save(state))
}

// applyVerified copies a file beside the database, verifies it and applies it.
func (f *Follower) applyVerified(ctx context.Context, file file) (Position, error) {
	copied, err := disk.Unnamed(filepath.Dir(f.path))
	if err != nil {
		return Position{}, err
	}
	defer copied.Close()
	b, err := f.place.open(ctx, file)
	if err != nil {
		return Position{}, err
	}
	defer b.Close()
	r, err := newReader(io.TeeReader(b, copied), file)
	if err == nil {
		err = f.image.verify(r)
	}
	if err != nil {
		return Position{}, fmt.Errorf("%s: %w", b.name, err)
	}
	if _, err := copied.Seek(0, io.SeekStart); err != nil {
		return Position{}, err
	}
	if r, err = newReader(copied, file); err == nil {
		err = f.image.apply(r)
	}
	if err != nil {
		return Position{}, fmt.Errorf("%s: %w", b.name, err)
	}
	return Position{TXID: file.max, Time: headerTime(r.header)}, nil
}

// restore writes the database anew. The one that is there stays until the new one is whole.
func (f *Follower) restore(ctx context.Context) error {
	anew := f.path + newSuffix
	position, target, err := restore(ctx, f.store, f.prefix, anew, time.Time{})
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := f.save(followed{Applying: math.MaxUint64}); err != nil { // until the new one has its name, the position is of the old one
		return err
	}
	if err := disk.Rename(anew, f.path); err != nil {
		return err
	}
	if err := disk.SyncPath(filepath.Dir(f.path)); err != nil {
		return err
	}
	if err := f.save(followed{position, position.TXID, target.pageSize, target.commit}); err != nil {
		return err
	}
	return f.open()
}

// open opens a database that was restored. The error is fs.ErrNotExist if it or the file with its position is missing.
func (f *Follower) open() error {
	if _, err := os.Lstat(f.path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s has a write-ahead log: it was opened by a server, and cannot follow", f.path)
	}
	state, err := readState(f.path)
	if err != nil {
		return err
	}
	if state.TXID == 0 {
		return fmt.Errorf("%s was not restored completely: %w", f.path, fs.ErrNotExist)
	}
	file, err := disk.OpenFile(f.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	f.file, f.state, f.listed = file, state, time.Time{}
	f.image = image{file: file, pageSize: state.PageSize, commit: state.Pages}
	return nil
}

// readState reads the file beside a database.
func readState(path string) (followed, error) {
	var s followed
	file, err := os.Open(path + positionSuffix)
	if err != nil {
		return s, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxPosition))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w: remove it and the database, so that it is restored anew", path+positionSuffix, err)
	}
	return s, nil
}

func (f *Follower) save(s followed) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := disk.ReplaceText(f.path+positionSuffix, string(text)+"\n"); err != nil {
		return err
	}
	f.state = s
	return nil
}

// IsWhole returns true if a database that a Follower has written, and that is not open, is in the state of a transaction.
func IsWhole(path string) (bool, error) {
	s, err := readState(path)
	return err == nil && s.TXID > 0 && s.Applying == s.TXID, err
}

// Forget removes what a Follower remembers of a database, which is then like any other.
func Forget(path string) error {
	if err := disk.Remove(path + positionSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

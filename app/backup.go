package app

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"svc/admin"
	"svc/internal/config"
	"svc/internal/control"
	"svc/internal/errs"
	"svc/media"
)

// The operations of the running server that keep a backup in the data directory within its limits.
var (
	reserveBackup = newCall("reserve room for a backup", (*Server).reserveBackup)
	releaseBackup = newCall("release room of a backup", (*Server).releaseBackup)
)

const (
	backupRoomTime = time.Hour // after that the command is taken for dead
	maxBackupRooms = 4
)

// Backup writes a backup. If its file is in the data directory, it is refused if it would exceed storage.limit or storage.min_free. A
// running server deletes copies of remote media to make room.
func Backup(ctx context.Context, c *config.Config, o admin.BackupOptions) (*admin.Manifest, *admin.Verification, error) {
	inside := o.Place != nil // then the copy of the database is there
	if !inside {
		var err error
		if inside, err = admin.IsInside(filepath.Dir(o.File), c.Data.Dir); err != nil {
			return nil, nil, err
		}
	}
	if inside && (c.Storage.Limit > 0 || c.Storage.MinFree > 0) {
		o.Reserve = func(ctx context.Context, bytes int64) (release func(), err error) { return reserveRoom(ctx, c, bytes) }
	}
	var err error
	if o.Bucket, err = media.OpenBucket(ctx, c, nil); err != nil {
		return nil, nil, err
	}
	defer o.Bucket.Close()
	return admin.Backup(ctx, o)
}

// reserveRoom reserves room in the running server. If none runs, it only compares sizes and does not open the database, because that could
// change it before the backup.
func reserveRoom(ctx context.Context, c *config.Config, bytes int64) (release func(), err error) {
	var id int64
	err = control.Call(ctx, c.Data.Dir, reserveBackup.name, bytes, &id)
	if errors.Is(err, control.ErrNotRunning) {
		return func() {}, media.CheckSpace(ctx, c, bytes)
	}
	return func() { // if that fails, the room is released after backupRoomTime
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		control.Call(ctx, c.Data.Dir, releaseBackup.name, id, new(struct{}))
	}, err
}

// backupRooms is the room that is reserved for backups that commands write.
type backupRooms struct {
	mu    sync.Mutex
	last  int64
	rooms map[int64]*media.Reservation
}

func (s *Server) reserveBackup(ctx context.Context, bytes int64) (int64, error) {
	b := &s.backupRooms
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.rooms) >= maxBackupRooms {
		return 0, errs.Conflict("%d backups are being made already", len(b.rooms))
	}
	room := s.Budget.Reserve(media.Backups)
	if err := room.Grow(ctx, bytes); err != nil {
		return 0, err
	}
	if b.rooms == nil {
		b.rooms = make(map[int64]*media.Reservation)
	}
	b.last++
	id := b.last
	b.rooms[id] = room
	time.AfterFunc(backupRoomTime, func() { b.release(id) })
	return id, nil
}

func (s *Server) releaseBackup(_ context.Context, id int64) (struct{}, error) {
	s.Budget.Remeasure() // counts the backup
	s.backupRooms.release(id)
	return struct{}{}, nil
}

func (b *backupRooms) release(id int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if room := b.rooms[id]; room != nil {
		room.Release()
		delete(b.rooms, id)
	}
}

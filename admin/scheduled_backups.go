package admin

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"svc/internal/config"
	"svc/internal/disk"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/media"
	"svc/store"
)

const (
	backupCheckEvery = 5 * time.Second
	backupRetryAfter = time.Hour // after a failure, unless the schedule is shorter
	backupJobKey     = "back up server"

	// Names of backups contain the time, so that they sort by it. Only those that the server has made itself are removed.
	backupTime       = "20060102T150405Z"
	backupPrefix     = "svc-"
	autoBackupPrefix = "svc-auto-"
	backupSuffix     = ".tar"
)

// BackupDir returns the folder of the backups of a server.
func BackupDir(c *config.Config) string {
	if c.Backup.Dir != "" {
		return c.Backup.Dir
	}
	return filepath.Join(c.Data.Dir, backupsDir)
}

// BackupName returns the name of a new backup. auto: it is removed when there are enough newer ones.
func BackupName(at time.Time, auto bool) string {
	prefix := backupPrefix
	if auto {
		prefix = autoBackupPrefix
	}
	return prefix + at.UTC().Format(backupTime) + backupSuffix
}

// ScheduleBackups queues a backup whenever one is due, until ctx ends. settingsFile is the file of the settings, "" if there is none. At first
// it removes what killed backups have left.
func (s *Service) ScheduleBackups(ctx context.Context, settingsFile string) {
	if err := RemoveUnfinished(BackupDir(s.storage.Settings.Load())); err != nil {
		s.log.Error("unfinished backups could not be removed", "err", err)
	}
	for {
		if err := s.QueueDueBackup(ctx, settingsFile); err != nil && ctx.Err() == nil {
			s.log.Error("backups could not be scheduled", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(backupCheckEvery):
		}
	}
}

// QueueDueBackup queues a backup if one is due.
func (s *Service) QueueDueBackup(ctx context.Context, settingsFile string) error {
	schedule := s.storage.Settings.Load().Backup.Schedule
	if schedule == 0 {
		return nil
	}
	state, err := s.db.ServerBackups(ctx)
	if now := s.db.Now(); err != nil || now.Before(nextBackup(state, schedule, now)) {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		return tx.EnqueueUnlessQueued(ctx, s.db.Now(), backupJobKey, store.BackUpServer{Settings: settingsFile})
	})
}

// nextBackup returns when a backup is due: at once if the last one was made while the clock was ahead.
func nextBackup(state *store.ServerBackups, schedule time.Duration, now time.Time) time.Time {
	last := store.Time(0)
	switch {
	case state == nil:
		return time.Time{}
	case state.LastError != "":
		last, schedule = state.AttemptedAt, min(schedule, backupRetryAfter)
	case state.SucceededAt != nil:
		last = *state.SucceededAt
	}
	if last == 0 || last.Age(now) == math.MaxInt64 {
		return time.Time{}
	}
	return last.Time().Add(schedule)
}

// backUp is the job that makes a scheduled backup. It stores a failure and sends mail to staff, and the next
// backup is due soon. The job itself does not fail, because failing jobs are parked in the end.
func (s *Service) backUp(ctx context.Context, job store.BackUpServer) error {
	c := s.storage.Settings.Load()
	if c.Backup.Schedule == 0 {
		return nil
	}
	state, err := s.db.ServerBackups(ctx)
	if err != nil {
		return err
	}
	if state == nil {
		state = new(store.ServerBackups)
	}
	if s.db.Now().Before(nextBackup(state, c.Backup.Schedule, s.db.Now())) {
		return nil // made by a run before, which was interrupted before the job was finished
	}
	err = explainReadOnly(s.makeBackup(ctx, c, job.Settings, state), BackupDir(c))
	if ctx.Err() != nil {
		return ctx.Err() // the server stops: the job runs again
	}
	state.AttemptedAt, state.LastError = store.At(s.db.Now()), ""
	if err != nil {
		state.LastError = err.Error()
	}
	reason := backupProblem(state)
	tell := reason != "" && !state.Notified
	state.Notified = reason != ""
	if reason != "" {
		s.log.Error("the scheduled backup has failed, or lacks uploads: "+reason, "see", "svc doctor")
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		if tell {
			if err := s.social.MailBackupFailedIn(ctx, tx, reason); err != nil {
				return err
			}
		}
		return tx.SetServerBackups(ctx, state)
	})
}

// backupProblem returns the problem of the last scheduled backup, "" if there is none.
func backupProblem(state *store.ServerBackups) string {
	switch {
	case state.LastError != "":
		return state.LastError
	case state.Damaged > 0:
		return fmt.Sprintf("damaged or missing in %s: %s", state.File, text.Count(state.Damaged, "upload"))
	}
	return ""
}

// explainReadOnly adds what to do to the error of a folder that cannot be written, although its permissions allow it.
func explainReadOnly(err error, dir string) error {
	if !errors.Is(err, syscall.EROFS) {
		return err
	}
	return fmt.Errorf("%w (the file system is read-only for the server: if systemd runs it, add ReadWritePaths=%s to its unit)", err, dir)
}

// makeBackup makes a backup, reads it again, and then removes the ones that are not kept. It fills in the state of a complete one.
func (s *Service) makeBackup(ctx context.Context, c *config.Config, settingsFile string, state *store.ServerBackups) error {
	o := BackupOptions{DataDir: c.Data.Dir, Settings: settingsFile, File: BackupName(s.db.Now(), true), Version: s.storage.Version, NoMedia: !c.Backup.Media}
	var err error
	if o.Bucket, err = media.OpenBucket(ctx, c, s.log); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	defer o.Bucket.Close()
	keep := func() ([]string, error) { return KeepBackups(BackupDir(c), KeepOf(c)) }
	where := filepath.Join(BackupDir(c), o.File)
	if c.Backup.Place != "" {
		place, _, err := OpenBackupPlace(ctx, c.Backup.Place, c.PlaceOptions())
		if err != nil {
			return fmt.Errorf("backup: %w", err)
		}
		defer place.Close()
		o.Place, o.Reserve, where = place, s.reserveBackup, place.nameOf(o.File)
		keep = func() ([]string, error) { return place.Keep(ctx, KeepOf(c)) }
		if err := place.Sweep(ctx); err != nil {
			s.log.Warn("what interrupted backups have left could not be removed", "place", place.String(), "err", err)
		}
	} else {
		if err := disk.MakeFolder(BackupDir(c)); err != nil {
			return fmt.Errorf("backup: %w", err)
		}
		o.File = where
		inside, err := IsInside(BackupDir(c), c.Data.Dir)
		if err != nil {
			return err
		}
		if inside {
			o.Reserve = s.reserveBackup
		}
	}
	started := time.Now()
	made, err := backUpSlowly(ctx, o, where, c)
	if err != nil {
		return err
	}
	now := store.At(s.db.Now())
	state.SucceededAt, state.File, state.Damaged, state.Bytes = &now, where, made.damaged, made.bytes
	state.Duration = time.Since(started).Milliseconds()
	s.log.Info("made a backup", "file", where, "bytes", state.Bytes, "duration", time.Since(started).Round(time.Millisecond))
	removed, err := keep()
	if len(removed) > 0 {
		s.log.Info("removed old backups", "files", removed)
	}
	s.storage.Budget.Remeasure()
	return err
}

// madeBackup is a complete backup.
type madeBackup struct {
	bytes   int64
	damaged int // uploads that are damaged or missing
}

// backUpSlowly makes a backup at low priority. where is its path or location.
func backUpSlowly(ctx context.Context, o BackupOptions, where string, c *config.Config) (made madeBackup, err error) {
	err = atLowPriority(func() error {
		_, found, err := Backup(ctx, o)
		if err != nil {
			return err
		}
		made.damaged = found.Left
		made.bytes, err = readAgain(ctx, where, c)
		return err
	})
	return made, err
}

// atLowPriority calls fn in a thread of low priority, so that requests do not wait for it.
func atLowPriority(fn func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for ever: the thread ends with the goroutine, and its priority with it
		lowerPriority()
		done <- errs.CatchPanic(fn) // whoever calls this recovers only in their own goroutine
	}()
	return <-done
}

// readAgain reads a new backup again, unless the settings say otherwise, and returns its size. Damage to uploads was there before, and is no error.
func readAgain(ctx context.Context, where string, c *config.Config) (int64, error) {
	source, err := OpenBackup(ctx, where, time.Time{}, c.PlaceOptions())
	if err != nil {
		return 0, fmt.Errorf("the new backup: %w", err)
	}
	defer source.Close()
	if !c.Backup.Verify {
		return source.Size, nil
	}
	found, err := VerifySource(ctx, source, []string{filepath.Join(c.Data.Dir, backupsDir)}, nil)
	if err != nil {
		return 0, fmt.Errorf("the new backup: %w", err)
	}
	for _, f := range found.Findings {
		if f.Part == PartBackup || f.Part == PartDatabase || f.Part == PartKeys {
			return 0, fmt.Errorf("the new backup %s differs from the data: %s %s: %s", where, f.What, f.Kind, f.Detail)
		}
	}
	return source.Size, nil
}

// reserveBackup makes room for a backup in the data directory.
func (s *Service) reserveBackup(ctx context.Context, bytes int64) (release func(), err error) {
	room := s.storage.Budget.Reserve(media.Backups)
	if err := room.Grow(ctx, bytes); err != nil {
		return nil, err
	}
	return room.Release, nil
}

// BackupStatus is the state of scheduled backups, for health checks, metrics and svc doctor.
type BackupStatus struct {
	Last     *store.Time // of the last complete one; nil: none
	Bytes    int64
	Duration time.Duration
	Problem  string // "": the last one is intact
}

// BackupStatus returns the state of the scheduled backups, nil if none are scheduled.
func (s *Service) BackupStatus(ctx context.Context) (*BackupStatus, error) {
	schedule := s.storage.Settings.Load().Backup.Schedule
	if schedule == 0 {
		return nil, nil
	}
	state, err := s.db.ServerBackups(ctx)
	if err != nil {
		return nil, err
	}
	if state == nil {
		return new(BackupStatus), nil
	}
	b := &BackupStatus{
		Last: state.SucceededAt, Bytes: state.Bytes, Duration: time.Duration(state.Duration) * time.Millisecond, Problem: backupProblem(state),
	}
	now := s.db.Now()
	next := nextBackup(state, schedule, now)
	if late := now.Sub(next); b.Problem == "" && !next.IsZero() && late > max(schedule, backupRetryAfter) {
		b.Problem = fmt.Sprintf("it is late by %s", late.Round(time.Minute))
	}
	return b, nil
}

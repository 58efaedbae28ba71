package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"svc/admin"
	"svc/internal/config"
	"svc/internal/control"
	"svc/internal/disk"
	"svc/internal/ltx"
	"svc/internal/objects"
	"svc/internal/replica"
	"svc/store"
)

const (
	standbyDir      = "standby" // in the data directory: the database that follows
	standbyInterval = 5 * time.Second
	standbyFiles    = 5 * time.Minute  // between two looks for new files, each of which lists the place; a promotion looks, too
	standbyLimit    = 2 * time.Minute  // for the database, in one go
	standbySettled  = time.Second      // without a new transaction, after the server before has stopped
	standbyLast     = 10 * time.Second // for the last transactions
)

// StandbyOptions are the inputs of OpenStandby that are not settings.
type StandbyOptions struct {
	Version  string
	Interval time.Duration // between two looks for new transactions; 0: 5 seconds
	Log      *slog.Logger
}

// Standby keeps the data of another server up to date in its data directory, from the place of the replica, until it takes over.
type Standby struct {
	StandbyOptions
	settings   *config.Config
	passphrase string
	lock       *disk.File
	store      objects.Store // nil: the place is not reached
	follower   *ltx.Follower // nil: the database was not restored yet
	promotions chan struct{} // has an element when a promotion was requested

	mu     sync.Mutex
	status StandbyStatus
}

// StandbyStatus is what a standby knows of itself.
type StandbyStatus struct {
	Place     string    `json:"place"`
	Ready     bool      `json:"ready"`     // it could take over
	Written   time.Time `json:"written"`   // time of the newest transaction, by the clock of the other machine
	Checked   time.Time `json:"checked"`   // when the place had nothing newer
	Files     time.Time `json:"files"`     // when all files were there
	Problem   string    `json:"problem"`   // of the last attempt; "": none
	Promoting bool      `json:"promoting"` // it takes over
	Differ    []string  `json:"differ"`    // names of settings in the settings file that are not those of the server
	Unread    string    `json:"unread"`    // why the settings file of the server could not be compared; "": it was, or there is none
}

// Lag returns how old the data can be, as seen at the place; negative if the data were never complete.
func (s StandbyStatus) Lag(now time.Time) time.Duration {
	if s.Checked.IsZero() {
		return -1
	}
	return max(now.Sub(s.Checked), 0)
}

// IsPromoted returns true if the data directory was that of a standby, and is that of a server now.
func IsPromoted(c *config.Config) bool {
	for _, name := range []string{standbyDir, leaseFile, store.File} {
		if _, err := os.Stat(dataPath(c, name)); err != nil {
			return false
		}
	}
	return true
}

// checkNoStandby fails for the data directory of a standby that was not promoted: a server in it would be a new one.
func checkNoStandby(c *config.Config) error {
	if _, err := os.Stat(dataPath(c, standbyDir)); err != nil {
		return nil
	}
	if _, err := os.Stat(dataPath(c, store.File)); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("%s is the data directory of a standby: run svc standby, and svc standby --promote to make it the server", c.Data.Dir)
}

// OpenStandby checks what a standby needs, and locks the data directory, which must be empty or that of a standby. The place need not be reached.
func OpenStandby(ctx context.Context, c *config.Config, o StandbyOptions) (s *Standby, err error) {
	o.Interval, o.Version = cmp.Or(o.Interval, standbyInterval), cmp.Or(o.Version, Version)
	if c.Replica.Place == "" {
		return nil, errors.New("replica.place names no place: use the settings file of the server that this machine stands by for")
	}
	if !c.Replica.Enabled {
		return nil, errors.New("replica.enabled is false: after taking over, nothing would keep two servers apart; use the settings file of the server that this machine stands by for")
	}
	passphrase, err := replica.ReadPassphrase(c.Replica.PassphraseFile)
	if err != nil {
		return nil, fmt.Errorf("replica.passphrase_file: %w", err)
	}
	if err := disk.MakeFolder(c.Data.Dir); err != nil {
		return nil, dataDirError(c.Data.Dir, err)
	}
	lock, err := store.Lock(c.Data.Dir)
	if err != nil {
		return nil, dataDirError(c.Data.Dir, err)
	}
	if _, err := os.Lstat(dataPath(c, store.File)); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("%s has the data of a server (%s): a standby needs a data directory of its own", c.Data.Dir, store.File), lock.Close())
	}
	if err := disk.MakeFolder(dataPath(c, standbyDir)); err != nil {
		return nil, errors.Join(dataDirError(c.Data.Dir, err), lock.Close())
	}
	return &Standby{
		StandbyOptions: o, settings: c, passphrase: passphrase, lock: lock, promotions: make(chan struct{}, 1),
		status: StandbyStatus{Place: c.Replica.Place, Problem: "the data were not restored yet"},
	}, nil
}

// Close releases the data directory.
func (s *Standby) Close() error {
	var err error
	if s.follower != nil {
		err = s.follower.Close()
	}
	s.closeStore()
	return errors.Join(err, s.lock.Close())
}

func (s *Standby) closeStore() {
	if s.store != nil {
		s.store.Close() // it was only read
		s.store = nil
	}
}

// Status returns what the standby knows of itself.
func (s *Standby) Status() StandbyStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// Run follows until ctx ends, or until a promotion has succeeded: then it returns true, and a server can be started with the data directory once the
// standby is closed.
func (s *Standby) Run(ctx context.Context) (promoted bool, err error) {
	calls, err := control.Listen(s.settings.Data.Dir)
	if err != nil {
		return false, err
	}
	defer calls.Close()
	ln, closeListeners, err := listen(s.settings, s.Log)
	if err != nil {
		return false, err
	}
	defer closeListeners()
	manager := serviceManager{s.Log}
	ctx, stop := context.WithCancel(ctx)
	var background sync.WaitGroup
	defer background.Wait()
	defer stop()
	background.Go(func() { control.Serve(ctx, s.settings.Data.Dir, calls, s.commands(), s.Log) })
	background.Go(func() { s.serveHealth(ctx, ln) })
	s.Log.Info("svc stands by", "version", s.Version, "place", s.settings.Replica.Place, "data", s.settings.Data.Dir, "listen", ln.Addr().String())
	manager.notify(daemon.SdNotifyReady)
	for {
		s.noted(s.follow(ctx, false))
		select {
		case <-ctx.Done():
			return false, nil
		case <-s.promotions:
			err := s.promote(ctx)
			if err == nil {
				return true, nil
			}
			s.Log.Error("this standby could not take over", "err", err)
			s.noted(err)
			s.setPromoting(false)
		case <-time.After(s.Interval):
		}
	}
}

func (s *Standby) setPromoting(is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Promoting = is
}

// noted remembers and logs a problem, or that there is none any more.
func (s *Standby) noted(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.status.Problem
	s.status.Problem = ""
	if err != nil {
		s.status.Problem = err.Error()
	}
	switch {
	case err != nil && s.status.Problem != before:
		s.Log.Warn("the standby does not follow", "err", err)
	case err == nil && before != "":
		s.Log.Info("the standby follows")
	}
}

// follow applies new transactions and files of the place. With all it looks for files even if it did not long ago.
func (s *Standby) follow(ctx context.Context, all bool) error {
	err := s.followIn(ctx, all)
	if err != nil {
		s.closeStore() // it is opened anew; a Follower is, too
		if s.follower != nil {
			err = errors.Join(err, s.follower.Close())
			s.follower = nil
		}
	}
	return err
}

func (s *Standby) followIn(ctx context.Context, all bool) (err error) {
	if s.store == nil {
		if s.store, err = openReplica(ctx, s.settings); err != nil {
			return err
		}
	}
	if time.Since(s.Status().Files) > standbyFiles || all {
		if err := s.fetchFiles(ctx); err != nil {
			return err
		}
	}
	limited, cancel := context.WithTimeout(ctx, standbyLimit)
	defer cancel()
	if s.follower == nil {
		if s.follower, err = ltx.Follow(ctx, s.store, replica.DatabasePrefix, s.database()); err != nil { // it takes as long as it takes
			return err
		}
	}
	before := s.follower.Position()
	position, err := s.follower.Update(limited)
	if err != nil {
		return err
	}
	now := time.Now()
	if position != before || !s.Status().Ready {
		if err := s.checkSchema(ctx); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Ready, s.status.Written, s.status.Checked = true, position.Time, now
	return nil
}

func (s *Standby) database() string {
	return dataPath(s.settings, filepath.Join(standbyDir, store.File))
}

// unready remembers that it could not take over.
func (s *Standby) unready() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Ready = false
}

// checkSchema fails if this program cannot use the database, such as one that a newer version has written.
func (s *Standby) checkSchema(ctx context.Context) error {
	snapshot, err := store.OpenSnapshot(ctx, s.database(), true)
	if err != nil {
		s.unready()
		if errors.Is(err, store.ErrNewerDatabase) || errors.Is(err, store.ErrOtherSchema) {
			err = fmt.Errorf("this version of svc cannot take over: %w: install the version of the other server here", err)
		}
		return err
	}
	return snapshot.Close()
}

// fetchFiles fetches the files that are new at the place, and keys.
func (s *Standby) fetchFiles(ctx context.Context) error {
	start := time.Now()
	root, err := disk.OpenRoot(s.settings.Data.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	secrets, err := replica.OpenSecrets(ctx, s.store, s.passphrase, time.Time{})
	if err != nil {
		return err
	}
	if err := s.compareSettings(secrets); err != nil {
		s.unready()
		return err
	}
	if err := s.writeKeys(secrets); err != nil {
		return err
	}
	if _, err := replica.UpdateFiles(ctx, s.store, root, admin.FileDirs); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Files = start
	return nil
}

// writeKeys writes the keys that have changed. The settings of this machine are its own.
func (s *Standby) writeKeys(secrets replica.Secrets) error {
	for name, content := range secrets {
		if !filepath.IsLocal(name) || filepath.Dir(name) != "keys" {
			continue
		}
		path := dataPath(s.settings, name)
		if old, err := os.ReadFile(path); err == nil && string(old) == string(content) {
			continue
		}
		if err := disk.MakeFolder(filepath.Dir(path)); err != nil {
			return err
		}
		if err := disk.ReplaceText(path, string(content)); err != nil {
			return err
		}
	}
	return nil
}

// promote takes the lease, applies what the server before has written last, and makes the data directory one of a server.
func (s *Standby) promote(ctx context.Context) error {
	start := time.Now()
	s.Log.Warn("this standby takes over")
	if err := s.follow(ctx, false); err != nil {
		s.noted(err)
	}
	if status := s.Status(); !status.Ready {
		return errors.New(cmp.Or(status.Problem, "the data were not restored yet"))
	}
	held, err := takeLease(ctx, s.settings, s.Version, true, s.Log)
	if err != nil {
		return err
	}
	defer held.Release(ctx) // the server takes it again
	if err := s.followLast(ctx); err != nil {
		return err
	}
	if err := s.install(); err != nil {
		return err
	}
	status := s.Status()
	s.Log.Warn("this machine is the server now", "newest_transaction", status.Written.UTC(), "took", time.Since(start).Round(time.Millisecond))
	return nil
}

// followLast applies the last transactions, until none comes for a while. If the place is not reached any more, a whole database is good enough.
func (s *Standby) followLast(ctx context.Context) error {
	settled := time.Now()
	for deadline := time.Now().Add(standbyLast); time.Now().Before(deadline) && time.Since(settled) < standbySettled; {
		before := s.Status().Written
		err := s.follow(ctx, before.IsZero())
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			s.Log.Warn("the last data could not be fetched: trying again", "err", err)
			settled = time.Now()
		} else if s.Status().Written != before {
			settled = time.Now()
		}
		time.Sleep(standbySettled / 4)
	}
	if err := s.fetchFiles(ctx); err != nil {
		s.Log.Warn("the last files could not be fetched: svc verify lists the missing ones", "err", err)
	}
	whole, err := ltx.IsWhole(s.database())
	if err == nil && !whole {
		err = errors.New("the database is not whole, because the place was lost while transactions were applied: try again when it can be reached")
	}
	return err
}

// install gives the database its name.
func (s *Standby) install() error {
	if s.follower != nil {
		if err := s.follower.Close(); err != nil {
			return err
		}
		s.follower = nil
	}
	if err := disk.SyncEverything(); err != nil { // files were fetched without
		return err
	}
	if err := disk.Rename(s.database(), dataPath(s.settings, store.File)); err != nil {
		return err
	}
	if err := ltx.Forget(s.database()); err != nil {
		return err
	}
	if err := disk.SyncPath(dataPath(s.settings, standbyDir)); err != nil {
		return err
	}
	return disk.SyncPath(s.settings.Data.Dir)
}

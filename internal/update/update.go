package update

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"svc/internal/disk"
	"svc/internal/release"
)

// Limits of how long a new version may take until it works, unless the operator says otherwise.
const (
	startTime     = time.Minute
	migrationTime = 10 * time.Minute
	healthPause   = 500 * time.Millisecond
)

// Options are the inputs of Run.
type Options struct {
	Binary         string // without symbolic links
	SettingsFile   string // "": none
	DataDir        string
	Database       string // its file
	URL, Key       string // of releases
	Version        string // of the binary
	Schema         int
	AllowDowngrade bool
	NoBackup       bool
	InContainer    bool
	Restart, Stop  string        // commands; "": those of systemd, if it runs the server
	Wait           time.Duration // until the new version works; 0: a minute, or ten if it migrates the database

	Running func(context.Context) (version string, err error) // of the server that uses the data
	Say     func(format string, args ...any)                  // gets each step
}

// update is an update in progress.
type update struct {
	Options
	service  service
	old, new program
	to       *release.Manifest
	stopped  bool   // the server was stopped for the backup
	saved    string // the backup; "": none
}

// Run updates the binary to the release in the folder. It returns nil if that has the same version. After the swap, it does not stop when ctx ends.
func Run(ctx context.Context, o Options) error {
	u := &update{Options: o}
	as := dataOwner(o.DataDir)
	u.old, u.new = program{o.Binary, o.SettingsFile, as}, program{o.Binary + newSuffix, o.SettingsFile, as}
	if err := u.checkPlace(ctx); err != nil {
		return err
	}
	locked, err := lock(filepath.Dir(o.Binary))
	if err != nil {
		return err
	}
	defer locked.Close()
	for _, suffix := range []string{newSuffix, backSuffix} { // of an update that was killed
		if err := disk.Remove(o.Binary + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	folder, err := Open(o.URL)
	if err != nil {
		return err
	}
	if u.to, err = folder.Manifest(ctx, o.Key); err != nil {
		return err
	}
	u.service = findService(ctx, o.Binary, o.Restart, o.Stop)
	c := release.Compare(u.to.Version, o.Version)
	switch {
	case c == 0:
		u.sayUpToDate(ctx)
		return nil
	case c < 0 && !o.AllowDowngrade:
		return fmt.Errorf("the release has the version %s, older than %s: --allow-downgrade installs it", u.to.Version, o.Version)
	case u.to.Schema < o.Schema:
		return fmt.Errorf("svc %s cannot read the database: it knows schema %d, the database has %d; install it by hand and restore a backup of that version", u.to.Version, u.to.Schema, o.Schema)
	}
	defer disk.Remove(u.new.path)
	if err := u.prepare(ctx, folder); err != nil {
		return errors.Join(err, u.startAgain())
	}
	return u.install(context.WithoutCancel(ctx))
}

// checkPlace returns an error if the binary is not this user's to replace.
func (u *update) checkPlace(ctx context.Context) error {
	if !u.InContainer {
		if err := checkContainer(); err != nil {
			return err
		}
	}
	if err := checkPackage(ctx, u.Binary); err != nil {
		return err
	}
	return checkWritable(filepath.Dir(u.Binary))
}

// sayUpToDate says that there is nothing to do. An update that was killed after the swap may have left another version running.
func (u *update) sayUpToDate(ctx context.Context) {
	u.Say("svc %s is up to date.", u.Version)
	if running, err := u.Running(ctx); err == nil && running != u.Version {
		u.Say("The running server is svc %s: restart it.", running)
	}
}

// migrates returns true if the new version changes the database at its first start.
func (u *update) migrates() bool { return u.to.Schema > u.Schema }

// prepare downloads and tries the new binary, and makes a backup. It changes neither the binary nor the data.
func (u *update) prepare(ctx context.Context, folder *Folder) error {
	target := runtime.GOOS + "/" + runtime.GOARCH
	file := u.to.Find(release.Binary, target)
	if file == nil {
		return fmt.Errorf("the release of svc %s has no binary for %s", u.to.Version, target)
	}
	u.Say("Downloading %s (%.1f MiB).", file.Name, float64(file.Size)/(1<<20))
	if err := folder.Download(ctx, file, u.new.path); err != nil {
		return err
	}
	if err := likeOld(u.new.path, u.Binary); err != nil {
		return err
	}
	if err := u.new.check(ctx, u.to); err != nil {
		return err
	}
	u.Say("Its signature and sum are right, and it runs.")
	if _, err := os.Stat(u.Database); errors.Is(err, fs.ErrNotExist) || u.NoBackup {
		return nil
	}
	if u.migrates() && u.service.stop != "" {
		u.Say("The new version changes the database (schema %d to %d): stopping the server, so that the backup has everything.", u.Schema, u.to.Schema)
		u.stopped = true
		if err := u.service.run(ctx, u.service.stop); err != nil {
			return fmt.Errorf("stop the server: %w", err)
		}
	}
	u.Say("Making a backup.")
	saved, warning, err := u.old.backup(ctx)
	if err != nil {
		return err
	}
	u.saved = saved
	u.Say("The backup is %s.", saved)
	if warning != "" {
		u.Say("Warning: %s", warning)
	}
	return nil
}

// startAgain starts a server that was stopped for a backup, after an error.
func (u *update) startAgain() error {
	if !u.stopped || u.service.restart == "" {
		return nil
	}
	u.Say("Starting the server again.")
	if err := u.service.run(context.Background(), u.service.restart); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	return nil
}

// install swaps the binaries and restarts the server. If the new version does not work, it takes both back.
func (u *update) install(ctx context.Context) error {
	if err := swap(u.Binary); err != nil {
		return errors.Join(err, u.startAgain())
	}
	u.old.path, u.new.path = u.Binary+oldSuffix, u.Binary
	u.Say("Installed svc %s as %s. svc %s stays as %s.", u.to.Version, u.Binary, u.Version, u.old.path)
	if u.service.restart == "" {
		u.sayHowToRestart(ctx)
		return nil
	}
	u.Say("Restarting the server.")
	err := u.service.run(ctx, u.service.restart)
	if err == nil {
		err = u.wait(ctx, u.new, u.to.Version)
	}
	if err == nil {
		u.Say("svc %s works.", u.to.Version)
		return nil
	}
	u.Say("svc %s does not work: %v", u.to.Version, err)
	if back := u.takeBack(ctx); back != nil {
		return fmt.Errorf("svc %s does not work, and going back to svc %s failed: %w", u.to.Version, u.Version, back)
	}
	return fmt.Errorf("svc %s does not work, svc %s runs again: %w", u.to.Version, u.Version, err)
}

// sayHowToRestart says that a server that something unknown has started runs on with the old version.
func (u *update) sayHowToRestart(ctx context.Context) {
	if running, err := u.Running(ctx); err == nil {
		u.Say("The running server is still svc %s, and systemd has not started it: restart it as you started it, or update with --restart COMMAND.", running)
		return
	}
	u.Say("No server runs: nothing was restarted.")
}

// wait waits until the server of a version works.
func (u *update) wait(ctx context.Context, p program, version string) error {
	wait := u.Wait
	if wait == 0 {
		wait = startTime
		if u.migrates() && version == u.to.Version {
			wait = migrationTime
		}
	}
	for deadline := time.Now().Add(wait); ; time.Sleep(healthPause) {
		err := p.health(ctx)
		if err == nil {
			running, failed := u.Running(ctx)
			if failed == nil && running == version {
				return nil
			}
			err = fmt.Errorf("the running server is svc %s, not %s", running, version)
			if failed != nil {
				err = failed
			}
		}
		if time.Now().After(deadline) || u.service.failed(ctx) {
			return err
		}
	}
}

// takeBack puts the old binary and, if the new one has changed it, the old database back.
func (u *update) takeBack(ctx context.Context) error {
	if u.migrates() {
		if err := u.takeDatabaseBack(ctx); err != nil {
			return err
		}
	}
	if err := swapBack(u.Binary); err != nil {
		return err
	}
	u.Say("Put svc %s back as %s, and restarting the server.", u.Version, u.Binary)
	if err := u.service.run(ctx, u.service.restart); err != nil {
		return err
	}
	u.old.path = u.Binary
	return u.wait(ctx, u.old, u.Version)
}

// takeDatabaseBack restores the backup if the old version cannot use the database any more. The binary is still the new one, which can.
func (u *update) takeDatabaseBack(ctx context.Context) error {
	if u.service.stop != "" {
		if err := u.service.run(ctx, u.service.stop); err != nil {
			return fmt.Errorf("stop the server: %w", err)
		}
	}
	if _, err := u.Running(ctx); err == nil {
		return fmt.Errorf("the server still runs: stop it, restore the backup (%s restore --force %s) and start %s", u.old.path, u.saved, u.old.path)
	}
	if err := u.old.fits(ctx); err == nil {
		return nil // the new version did not come as far as to the database
	} else if u.saved == "" {
		return fmt.Errorf("the database was changed and there is no backup of this update: %w", err)
	}
	u.Say("Restoring the backup, because the new version has changed the database.")
	return u.old.restore(ctx, u.saved)
}

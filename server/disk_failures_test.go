package server_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
	sqlite3 "modernc.org/sqlite/lib"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

// smallDisk mounts a file system of a size, or skips the test where that is not allowed.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skip("file systems cannot be mounted here: ", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// fillDisk writes a file until the disk is full.
func fillDisk(t *testing.T, file string) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{1 << 20, 4096} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
}

func wantState(t *testing.T, srv *apptest.Server, state store.State, status int) {
	t.Helper()
	o := srv.As(nil).Get("/api/v1/svc/healthcheck").Want(status).Object()
	if got := o.Str("database.state"); got != string(state) || o.Bool("healthy") != (status == 200) {
		t.Errorf("the health check says %v, healthy %v; want %s", o.At("database"), o.At("healthy"), state)
	}
	srv.As(nil).Get("/health").Want(status)
	ready := 200 // it serves what there is
	if state == store.Failed {
		ready = 503
	}
	srv.As(nil).Get("/ready").Want(ready)
}

// TestFullDisk fills the disk of a running server: posts are read, nothing is stored, the health check says so, posts can be deleted, and
// writing goes on by itself when there is room.
func TestFullDisk(t *testing.T) {
	dir := smallDisk(t, "64m")
	srv := apptest.Start(t, func(c *config.Config) { c.Data.Dir, c.Storage.Ballast, c.Storage.MinFree = dir, 16<<20, 0 })
	alice := srv.SignUp("alice")
	old := alice.Publish("an old post")
	ballast := func() int64 {
		info, err := os.Stat(filepath.Join(dir, store.BallastFile))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	apptest.WaitFor(t, "the ballast", func() bool { return ballast() == 16<<20 })
	u, err := srv.Budget.Usage(t.Context(), true)
	if err != nil || u.Classes[6].Name != "ballast" || u.Classes[6].Bytes != 16<<20 {
		t.Errorf("usage %+v, %v", u, err)
	}

	filler := filepath.Join(dir, "filler")
	fillDisk(t, filler)
	var refused *apptest.Response
	apptest.WaitFor(t, "a post to be refused", func() bool { // the log of the database has some room left
		refused = alice.Post("/api/v1/statuses", "status", strings.Repeat("long ", 900))
		return refused.Status != 200
	})
	refused.WantError(507, "The server's disk is full: nothing can be stored until there is room")
	if refused.Header.Get("Retry-After") != "600" || ballast() != 0 {
		t.Errorf("Retry-After is %q, the ballast has %d bytes", refused.Header.Get("Retry-After"), ballast())
	}
	wantState(t, srv, store.DiskFull, 503)
	alice.Get("/api/v1/timelines/home").Want(200)
	alice.Post("/api/v1/statuses", "status", "refused").Want(507)
	alice.Post("/api/v1/statuses/" + old.ID() + "/favourite").Want(507)
	alice.Do("DELETE", "/api/v1/statuses/"+old.ID(), "", nil).Want(200)
	alice.Get("/api/v1/statuses/" + old.ID()).Want(404)

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	apptest.WaitFor(t, "writing to go on", func() bool { return srv.DB.Condition().State == store.Writable })
	alice.Publish("there is room again")
	if ballast() != 16<<20 {
		t.Errorf("the ballast has %d bytes", ballast())
	}
}

// TestLimitsOnFullDisk checks that storage limits are kept on a full disk: staff learn that files are refused.
func TestLimitsOnFullDisk(t *testing.T) {
	dir := smallDisk(t, "64m")
	srv := apptest.Start(t, func(c *config.Config) {
		c.Data.Dir, c.Storage.Ballast, c.Storage.MinFree = dir, 16<<20, 24<<20
	})
	alice := srv.SignUp("alice")
	apptest.WaitFor(t, "the ballast", func() bool {
		info, err := os.Stat(filepath.Join(dir, store.BallastFile))
		return err == nil && info.Size() == 16<<20
	})
	fillDisk(t, filepath.Join(dir, "filler"))
	apptest.WaitFor(t, "the disk to be full", func() bool {
		alice.Post("/api/v1/statuses", "status", strings.Repeat("long ", 900))
		return srv.DB.Condition().State == store.DiskFull
	})
	ctx, cancel := context.WithCancel(t.Context())
	var keeper sync.WaitGroup
	keeper.Go(func() { srv.Admin.KeepStorageLimits(ctx) })
	apptest.WaitFor(t, "the alert", func() bool {
		alert, err := srv.DB.StorageAlert(t.Context())
		return err == nil && alert != nil
	})
	cancel()
	keeper.Wait()
}

// startOnFaultyDisk starts a server whose disk answers operations of a kind with an error code of SQLite while faulty is set.
func startOnFaultyDisk(t *testing.T, kind apptest.DiskOperation, code int) (srv *apptest.Server, dir string, faulty *atomic.Bool) {
	t.Helper()
	dir, faulty = t.TempDir(), new(atomic.Bool)
	apptest.FaultyDisk(t, dir, func(op apptest.DiskOperation, _ string) int {
		if op == kind && faulty.Load() {
			return code
		}
		return 0
	})
	return apptest.Start(t, func(c *config.Config) { c.Data.Dir = dir }), dir, faulty
}

// TestReadOnlyDisk makes the disk of a server read-only: posts are read, nothing is stored, and writing goes on later.
func TestReadOnlyDisk(t *testing.T) {
	srv, dir, readOnly := startOnFaultyDisk(t, apptest.DiskWrite, sqlite3.SQLITE_READONLY)
	alice := srv.SignUp("alice")
	old := alice.Publish("hello")
	readOnly.Store(true)
	if err := os.Chmod(dir, 0o500); err != nil || os.Geteuid() == 0 {
		unix.Mount(dir, dir, "", unix.MS_BIND, "")
		if err := unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			t.Skip("folders cannot be made read-only here: ", err)
		}
		t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	}
	alice.Post("/api/v1/statuses", "status", "refused").WantError(503, "The server's disk is read-only: nothing can be stored at the moment")
	wantState(t, srv, store.ReadOnly, 503)
	alice.Get("/api/v1/timelines/home").Want(200)
	alice.Get("/api/v1/statuses/" + old.ID()).Want(200)
	alice.Do("DELETE", "/api/v1/statuses/"+old.ID(), "", nil).Want(503)

	readOnly.Store(false)
	os.Chmod(dir, 0o700)
	unix.Unmount(dir, unix.MNT_DETACH)
	apptest.WaitFor(t, "writing to go on", func() bool { return srv.DB.Condition().State == store.Writable })
	alice.Publish("writable again")
	wantState(t, srv, store.Writable, 200)
}

// TestDamagedDatabase fails a sync of the disk of a running server: nothing is written any more, reads go on, and the health check says so.
func TestDamagedDatabase(t *testing.T) {
	srv, _, damaged := startOnFaultyDisk(t, apptest.DiskSync, sqlite3.SQLITE_IOERR_FSYNC)
	alice := srv.SignUp("alice")
	old := alice.Publish("hello")
	wantState(t, srv, store.Writable, 200)
	damaged.Store(true)
	const message = "The server's database is damaged: nothing can be stored until its operator has repaired it"
	alice.Post("/api/v1/statuses", "status", "lost").WantError(http.StatusServiceUnavailable, message)
	damaged.Store(false)
	wantState(t, srv, store.Failed, 503)
	alice.Post("/api/v1/statuses", "status", "lost").WantError(503, message)
	alice.Do("DELETE", "/api/v1/statuses/"+old.ID(), "", nil).WantError(503, message)
	alice.Get("/api/v1/statuses/" + old.ID()).Want(200)
}

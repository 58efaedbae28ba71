package admin_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"svc/admin"
)

// TestBackupAndRestoreAreInterrupted cancels both at their first progress. They must leave nothing behind.
func TestBackupAndRestoreAreInterrupted(t *testing.T) {
	h := newHarness(t)
	h.createUser("alice")
	work := t.TempDir()
	file := filepath.Join(work, "svc.tar")

	ctx, cancel := context.WithCancel(h.ctx())
	options := admin.BackupOptions{DataDir: h.dir, File: file, Version: "0.0.0", Progress: func(int64, int64) { cancel() }}
	if _, _, err := admin.Backup(ctx, options); !errors.Is(err, context.Canceled) {
		t.Errorf("backup: got %v", err)
	}
	if entries := must(os.ReadDir(work))(t); len(entries) > 0 {
		t.Errorf("the backup left %v", entries)
	}

	var last, all int64
	options.Progress = func(done, of int64) { last, all = done, of }
	m, found, err := admin.Backup(h.ctx(), options)
	if err != nil || found.Left > 0 {
		t.Fatalf("backup: %v, %+v", err, found)
	}
	if m.Version != "0.0.0" || !m.Media || all == 0 || last > all {
		t.Errorf("got %+v, progress %d of %d", m, last, all)
	}

	dir := filepath.Join(work, "data")
	ctx, cancel = context.WithCancel(h.ctx())
	restore := admin.RestoreOptions{File: file, DataDir: dir, Progress: func(int64, int64) { cancel() }}
	if _, err := admin.Restore(ctx, restore); !errors.Is(err, context.Canceled) {
		t.Errorf("restore: got %v", err)
	}
	if entries := must(os.ReadDir(dir))(t); len(entries) != 1 || entries[0].Name() != "lock" {
		t.Errorf("the restore left %v", entries)
	}
	restore.Progress = nil
	must(admin.Restore(h.ctx(), restore))(t)
}

package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

// backUp runs the scheduled backup if it is due, and returns the names of the files in a folder.
func backUp(srv *apptest.Server, dir string) []string {
	srv.T.Helper()
	if err := srv.Admin.QueueDueBackup(srv.T.Context(), ""); err != nil {
		srv.T.Fatal(err)
	}
	srv.RunJobs()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		srv.T.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != "accounts" && e.Name() != ".svc-tmp" { // backups of accounts, and the folder for unfinished files at a place
			names = append(names, e.Name())
		}
	}
	return names
}

// backupMails returns how many mails about failed backups were written.
func backupMails(srv *apptest.Server) (n int) {
	srv.T.Helper()
	for _, m := range srv.Mails() {
		if strings.Contains(m.Subject, "backup of") {
			n++
		}
	}
	return n
}

func TestScheduledBackups(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		apptest.WithMail(c)
		c.Backup.Schedule, c.Backup.Keep = 24*time.Hour, 2
	})
	srv.SignUpAdmin()
	dir := filepath.Join(srv.Dir, "backups")
	apptest.WriteDataFile(srv, "backups/svc-20200101T000000Z.tar", "made by hand")
	apptest.WriteDataFile(srv, "backups/.svc-backup-1/lock", "")
	apptest.WriteDataFile(srv, "backups/.svc-backup-1/backup.tar", "half")

	kept := backUpForDays(srv, dir)

	// A folder that is a file: no backup, one mail, and none of the old ones is removed.
	srv.Advance(25 * time.Hour)
	next := *srv.Live.Load()
	blocked := filepath.Join(srv.Dir, "blocked")
	apptest.WriteDataFile(srv, "blocked", "")
	next.Backup.Dir = blocked
	srv.Live.Store(&next)
	for range 3 {
		srv.Advance(61 * time.Minute)
		backUp(srv, dir)
	}
	if b, err := srv.Admin.BackupStatus(t.Context()); err != nil || !strings.Contains(b.Problem, "blocked") {
		t.Errorf("state after a failure: %+v, %v", b, err)
	}
	if n := backupMails(srv); n != 1 {
		t.Errorf("%d mails about the failure", n)
	}
	if h := srv.As(nil).Get("/api/v1/svc/healthcheck").Want(200).Object(); h.Bool("backup.healthy") || h.Str("backup.last_at") == "" || strings.Contains(fmt.Sprint(h.Fields), blocked) {
		t.Errorf("health after a failure: %v", h.Fields)
	}
	if parked := srv.Count(`SELECT count(*) FROM jobs WHERE kind = 'back_up_server'`); parked != 0 {
		t.Errorf("%d jobs are left", parked)
	}
	next.Backup.Dir = ""
	good := next
	srv.Live.Store(&good)
	srv.Advance(61 * time.Minute)
	if names := backUp(srv, dir); len(names) != 3 || names[2] == kept[2] {
		t.Errorf("after the failure: %v", names)
	}
	if b, err := srv.Admin.BackupStatus(t.Context()); err != nil || b.Problem != "" {
		t.Errorf("state after the next one: %+v, %v", b, err)
	}
	good.Backup.Schedule = 0
	off := good
	srv.Live.Store(&off)
	srv.Advance(48 * time.Hour)
	if b, err := srv.Admin.BackupStatus(t.Context()); err != nil || b != nil {
		t.Errorf("state without a schedule: %+v, %v", b, err)
	}
}

// backUpForDays makes scheduled backups, of which two are kept, beside one that was made by hand, and returns the names of the files.
func backUpForDays(srv *apptest.Server, dir string) []string {
	t := srv.T
	t.Helper()
	first := backUp(srv, dir)
	if len(first) != 2 || !strings.HasPrefix(first[1], "svc-auto-") {
		t.Fatalf("the first backup: %v", first)
	}
	if b, err := srv.Admin.BackupStatus(t.Context()); err != nil || b.Last == nil || b.Problem != "" || b.Bytes < 100_000 {
		t.Errorf("state %+v, %v", b, err)
	}
	if again := backUp(srv, dir); !slices.Equal(again, first) {
		t.Errorf("before it is due: %v", again)
	}
	for range 3 {
		srv.Advance(24*time.Hour + time.Minute)
		backUp(srv, dir)
	}
	kept := backUp(srv, dir)
	if len(kept) != 3 || kept[0] != "svc-20200101T000000Z.tar" || slices.Contains(kept, first[1]) {
		t.Errorf("kept are %v", kept)
	}
	return kept
}

// TestScheduledBackupsAtPlace makes scheduled backups on an SFTP server: the old ones go there, too, and none goes while the place refuses new ones.
func TestScheduledBackupsAtPlace(t *testing.T) {
	dir := t.TempDir()
	place := apptest.StartSFTP(t, dir)
	srv := apptest.Start(t, func(c *config.Config) {
		apptest.WithMail(c)
		c.Backup.Schedule, c.Backup.Keep, c.Backup.Place = 24*time.Hour, 2, place
		c.SFTP.PasswordFile = filepath.Join(c.Data.Dir, "password")
	})
	srv.SignUpAdmin()
	apptest.WriteDataFile(srv, "password", apptest.SFTPPassword)
	byHand := filepath.Join(dir, "svc-20200101T000000Z.tar")
	if err := os.WriteFile(byHand, []byte("made by hand"), 0o600); err != nil {
		t.Fatal(err)
	}
	kept := backUpForDays(srv, dir)

	apptest.WriteDataFile(srv, "password", "wrong")
	for range 3 {
		srv.Advance(25 * time.Hour)
		if names := backUp(srv, dir); !slices.Equal(names, kept) {
			t.Errorf("while the place refuses the password: %v", names)
		}
	}
	b, err := srv.Admin.BackupStatus(t.Context())
	if err != nil || !strings.Contains(b.Problem, "sftp") || strings.Contains(b.Problem, "wrong") {
		t.Errorf("state after a failure: %+v, %v", b, err)
	}
	if n := backupMails(srv); n != 1 {
		t.Errorf("%d mails about the failure", n)
	}
	apptest.WriteDataFile(srv, "password", apptest.SFTPPassword)
	srv.Advance(25 * time.Hour)
	if names := backUp(srv, dir); len(names) != 3 || names[2] == kept[2] {
		t.Errorf("after the failure: %v", names)
	}
	if left, _ := filepath.Glob(filepath.Join(srv.Dir, "backups", "*.tar")); len(left) > 0 {
		t.Errorf("in the data directory is left %q", left)
	}
}

// TestScheduledBackupWithDamage checks that staff get one mail about uploads that are missing in a backup.
func TestScheduledBackupWithDamage(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.Backup.Schedule, c.Backup.Dir = time.Hour, filepath.Join(t.TempDir(), "far", "away")
		apptest.WithMail(c)
	})
	srv.SignUpAdmin()
	srv.Exec(`
		INSERT INTO media (id, account_id, is_mascot, type, mime, file, size, created_at)
		SELECT 1, id, 1, 'image', 'image/png', 'aa/` + strings.Repeat("a", 64) + `.png', 5, 1000 FROM accounts WHERE domain = '' LIMIT 1`)
	dir := srv.Settings.Backup.Dir
	for range 2 {
		if names := backUp(srv, dir); len(names) == 0 {
			t.Fatal("no backup")
		}
		srv.Advance(time.Hour + time.Minute)
	}
	b, err := srv.Admin.BackupStatus(t.Context())
	if err != nil || !strings.Contains(b.Problem, "damaged or missing in ") {
		t.Errorf("state %+v, %v", b, err)
	}
	if n := backupMails(srv); n != 1 {
		t.Errorf("%d mails", n)
	}
}

// TestBackupMetrics checks the metrics of scheduled backups.
func TestBackupMetrics(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Backup.Schedule, c.Metrics.Enabled = time.Hour, true })
	backUp(srv, filepath.Join(srv.Dir, "backups"))
	metricsPage := func(srv *apptest.Server) string {
		w := httptest.NewRecorder()
		srv.Metrics.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return w.Body.String()
	}
	page := metricsPage(srv)
	for _, want := range []string{"\nsvc_backup_failed 0\n", "\nsvc_backup_last_bytes ", "\nsvc_backup_last_success_timestamp_seconds ", "\nsvc_backup_last_duration_seconds "} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the metrics", want)
		}
	}
	if h := srv.As(nil).Get("/api/v1/svc/healthcheck").Want(200).Object(); !h.Bool("backup.healthy") || h.Str("backup.last_at") == "" {
		t.Errorf("health: %v", h.Fields)
	}
	srv.Advance(5 * time.Hour)
	if !strings.Contains(metricsPage(srv), "\nsvc_backup_failed 1\n") {
		t.Error("a late backup is not in the metrics")
	}
}

package server_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/store"
)

const ownAccount = "/api/v1/accounts/verify_credentials"

// TestDeletionResumes interrupts the job that deletes the rest of an account after its first transaction, and runs it again.
func TestDeletionResumes(t *testing.T) {
	srv := apptest.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	interrupting := false
	srv.DB.Subscribe(func([]store.Event) {
		if interrupting {
			cancel()
		}
	})
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	alice.Publish("a picture", "media_ids[]", alice.Upload(pngOf(t, 10, 20, 20)).ID())
	alice.Upload(pngOf(t, 60, 20, 20))
	alice.SendForm("PUT", "/api/v1/svc/mascot", fileOf("file", "a.png", pngOf(t, 110, 20, 20))).Want(200)
	alice.SendForm("PATCH", apptest.UpdateCredentials, fileOf("avatar", "a.png", pngOf(t, 160, 20, 20))).Want(200)
	alice.Post("/api/v1/statuses/" + bob.Publish("hello").ID() + "/favourite").Want(200)
	kept := bob.Upload(pngOf(t, 60, 20, 20)).Str("url") // the same content, which is another file
	files := storedFiles(t, srv)
	if len(files) != 5 {
		t.Fatalf("%d files are stored: %v", len(files), files)
	}

	if err := srv.Social.DeleteAccount(t.Context(), alice.AccountID()); err != nil {
		t.Fatal(err)
	}
	rest := func() int {
		return srv.Count(`SELECT (SELECT count(*) FROM statuses WHERE account_id = ?1) + (SELECT count(*) FROM favourites WHERE account_id = ?1)
			+ (SELECT count(*) FROM media WHERE account_id = ?1)`, alice.AccountID())
	}
	before := rest()
	interrupting = true
	if err := srv.Worker.Settle(ctx); err == nil {
		t.Error("the worker was not interrupted")
	}
	interrupting = false
	if n := rest(); n == 0 || n == before {
		t.Errorf("after the interruption %d rows of %d are left", n, before)
	}
	srv.RunJobs()
	if n := rest(); n != 0 {
		t.Errorf("%d rows are left", n)
	}

	srv.As(nil).Get(kept).Want(200)
	ageFiles(t, srv)
	srv.Exec(`UPDATE jobs SET run_at = 1000 WHERE kind = 'remove_files'`)
	srv.RunJobs()
	srv.As(nil).Get(kept).Want(200)
	if left := storedFiles(t, srv); len(left) != 1 {
		t.Errorf("%d files are left: %v", len(left), left)
	}
}

// ageFiles makes the media files look as if they were stored days ago.
func ageFiles(t *testing.T, srv *apptest.Server) {
	t.Helper()
	for _, f := range storedFiles(t, srv) {
		if err := os.Chtimes(f, time.Time{}, time.Now().Add(-72*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
}

// storedFiles returns the paths of all media files.
func storedFiles(t *testing.T, srv *apptest.Server) (files []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(srv.Dir, "media"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

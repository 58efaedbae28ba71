package moving_test

import (
	"archive/zip"
	"compress/gzip"
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"testing"

	"svc/admin"
	"svc/app"
	"svc/internal/keys"
	"svc/internal/password"
	"svc/moving"
	"svc/store"
)

// goToSocial returns the database and the files that .ci/clients/takeover.py has made with GoToSocial 0.20.
func goToSocial(t *testing.T) moving.Source {
	t.Helper()
	dir := t.TempDir()
	f, err := os.Open("testdata/gotosocial.sql.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	script, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "sqlite.db")
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(script)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	files := filepath.Join(dir, "storage")
	archive, err := zip.OpenReader("testdata/gotosocial.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	if err := os.CopyFS(files, archive); err != nil {
		t.Fatal(err)
	}
	return moving.Source{Database: path, Media: files, Admins: []string{"alice"}}
}

func TestGoToSocial(t *testing.T) {
	c := settings(t, "http://localhost:18080")
	c.Federation.AllowLoopback = true
	srv, report := takeOver(t, c, goToSocial(t))
	ctx := t.Context()
	alice, err := srv.DB.AccountByName(ctx, "alice", "")
	if err != nil {
		t.Fatal(err)
	}
	if alice.URI != "http://localhost:18080/users/alice" || alice.DisplayName != "Alice of old" || alice.FollowersCount != 1 || alice.FollowingCount != 2 || alice.Avatar == "" {
		t.Errorf("alice is %+v", alice)
	}
	user, err := srv.DB.User(ctx, alice.ID)
	if err != nil || !user.IsAdmin || !user.CanSignIn() {
		t.Errorf("the user is %+v, %v", user, err)
	}
	slot, err := password.New(password.DefaultCost).Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer slot.Release()
	if ok, outdated := slot.Verify(user.PasswordHash, "correct horse battery staple 7"); !ok || !outdated {
		t.Errorf("the password: %v, %v", ok, outdated)
	}
	list, err := srv.DB.ActorKeys(ctx, alice.ID)
	if err != nil || len(list) != 1 || list[0].URI != alice.URI+"/main-key" {
		t.Errorf("the keys are %v, %v", list, err)
	} else if _, err := srv.Keys.Unseal(keys.ActorKeys, list[0].Private); err != nil {
		t.Error(err)
	}
	newest, err := srv.DB.OldestStatuses(ctx, alice.ID, 20)
	if err != nil || len(newest) != 6 {
		t.Fatalf("alice has %d posts, %v", len(newest), err)
	}
	first := newest[0]
	if first.SpoilerText != "a warning" || !first.HasMedia || first.FavouritesCount != 1 || first.ReblogsCount != 1 || first.RepliesCount != 1 {
		t.Errorf("the first post is %+v", first)
	}
	media, err := srv.DB.MediaOf(ctx, []store.StatusID{first.ID})
	if err != nil || len(media) != 1 || media[0].Description != "a picture" || media[0].Blurhash == "" {
		t.Errorf("the attachments are %v, %v", media, err)
	}
	if len(report.LeftOut) != 1 {
		t.Errorf("left out: %+v", report.LeftOut)
	}
	v, err := app.VerifyData(ctx, c, admin.VerifyOptions{DataDir: c.Data.Dir})
	if err != nil || v.Left != 0 {
		t.Errorf("the verification has %v, %v", v, err)
	}
}

package moving_test

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/social"
	"svc/store"
)

// damage returns the path of a copy of a zip in which the compressed content of a file is overwritten.
func damage(t *testing.T, path, name string) string {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		if f.Name != name {
			continue
		}
		at, err := f.DataOffset()
		if err != nil {
			t.Fatal(err)
		}
		for i := range f.CompressedSize64 {
			b[at+int64(i)] = 0xff
		}
	}
	return write(t, "damaged.zip", b)
}

// TestDamagedFiles imports archives whose files cannot be unpacked: a picture is skipped, and a list ends the import with a reason.
func TestDamagedFiles(t *testing.T) {
	srv, _, _ := start(t)
	f := mastodon(note("1", "2019-01-01T10:00:00Z", "<p>picture</p>", toAll, `"attachment":[{"type":"Document","mediaType":"image/png","url":"/a.png"}]`))
	f["a.png"] = string(apptest.PNG(64, 64))
	row := importArchive(t, srv, "alice", damage(t, f.zip(t), "a.png"))
	if row.State != store.ArchiveComplete || row.Imported != 1 || row.Skipped != 1 {
		t.Errorf("with a damaged picture: %+v", row)
	}
	row = importArchive(t, srv, "alice", damage(t, mastodon(note("2", "2019-01-01T10:00:00Z", "<p>second</p>", toAll)).zip(t), "outbox.json"))
	if row.State != store.ArchiveFailed || !strings.Contains(row.Error, "outbox.json") {
		t.Errorf("with a damaged list: %+v", row)
	}
}

// TestUnreadablePost imports a post with more parts than are read, which is listed as skipped.
func TestUnreadablePost(t *testing.T) {
	srv, _, _ := start(t)
	options := strings.Repeat(`{"type":"Note","name":"x"},`, 20_000)
	row := importArchive(t, srv, "alice", mastodon(
		note("1", "2019-01-01T10:00:00Z", "poll", toAll, `"type":"Question"`, `"oneOf":[`+options+`7]`), note("2", "2019-01-01T10:00:00Z", "good", toAll)).tar(t))
	if row.State != store.ArchiveComplete || row.Imported != 1 || row.Skipped != 1 {
		t.Errorf("archive: %+v", row)
	}
}

// TestManyArchives imports an archive into an account that had as many as are listed: one without posts makes room.
func TestManyArchives(t *testing.T) {
	srv, _, _ := start(t)
	importArchive(t, srv, "alice", plain().zip(t))
	srv.Exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 45)
		INSERT INTO archives (id, account_id, file, uploaded, by_staff, public, state)
		SELECT a.id - i * 1024, a.account_id, 'x', 0, 0, 0, 'undone' FROM archives a, n`)
	row := importArchive(t, srv, "alice", mastodon(note("2", "2019-01-01T10:00:00Z", "<p>second</p>", toAll)).zip(t))
	if row.State != store.ArchiveComplete || row.Imported != 1 {
		t.Errorf("archive: %+v", row)
	}
	if n := srv.Count(`SELECT count(*) FROM imported_statuses`); n != 2 {
		t.Errorf("%d posts", n)
	}
}

// TestInactiveDuringImport stores a part of an archive whose account was deleted after the import began.
func TestInactiveDuringImport(t *testing.T) {
	srv, alice, _ := start(t)
	account, err := srv.DB.AccountByName(t.Context(), "alice", "")
	if err != nil {
		t.Fatal(err)
	}
	a, err := srv.Social.AddArchive(t.Context(), account, social.NewArchive{File: "x", ByStaff: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Social.DeleteAccount(t.Context(), account.ID); err != nil {
		t.Fatal(err)
	}
	part := social.ImportedBatch{Position: 1, Posts: []social.ImportedPost{{URI: oldActor + "/statuses/1", URL: oldActor + "/statuses/1", Published: time.Now().Add(-time.Hour), Content: "x"}}}
	if err := srv.Social.ImportPosts(t.Context(), a.ID, part); !errors.Is(err, social.ErrInactiveImport) {
		t.Errorf("got %v", err)
	}
	if n := srv.Count(`SELECT count(*) FROM statuses`); n != 0 {
		t.Errorf("%d posts of %s", n, alice.ID)
	}
	srv.RunJobs()
	if n := srv.Count(`SELECT count(*) FROM archives`); n != 0 {
		t.Errorf("%d archives of a deleted account", n)
	}
}

// TestArchiveWithoutRoom uploads archives to a server whose data directory may not take them.
func TestArchiveWithoutRoom(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Storage.Limit, c.Storage.Ballast = 1<<30, 0 })
	alice := srv.SignUp("alice")
	alice.Post("/api/v1/svc/archives", "size", "2000000000").WantError(507, "The server has no space left for files: its storage limit is reached")
	id := alice.Post("/api/v1/svc/archives", "size", "1000000").Want(200).Object().ID()
	full := filepath.Join(srv.Settings.Data.Dir, "static", "full")
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(full, 1<<30); err != nil {
		t.Fatal(err)
	}
	srv.Media.RemeasureOther()
	piece := apptest.FormPart{Name: "piece", Filename: "x", IsFile: true, Content: "x"}
	alice.SendForm("PUT", "/api/v1/svc/archives/"+id, piece).WantError(507, "The server has no space left for files: its storage limit is reached")
	srv.Exec(`UPDATE archives SET state = 'undone'`)
	row := importArchive(t, srv, "alice", plain().tar(t))
	if row.State != store.ArchiveFailed || !strings.Contains(row.Error, "no space left") {
		t.Errorf("a tar.gz: %+v", row)
	}
}

package server_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/app"
	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

// download fetches a file of the server by its URL.
func download(c *apptest.Client, address string) *apptest.Response {
	c.Server.T.Helper()
	u, err := url.Parse(address)
	if err != nil {
		c.Server.T.Fatal(err)
	}
	return c.Get(u.Path)
}

// unzip returns the files of an archive.
func unzip(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name] != nil {
			t.Errorf("%s is there twice", f.Name)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// collectionItems returns the items of an OrderedCollection, and checks its other members.
func collectionItems(t *testing.T, files map[string][]byte, name string) []any {
	t.Helper()
	var c struct {
		Context      any `json:"@context"`
		ID, Type     string
		OrderedItems []any
		TotalItems   int
	}
	if err := json.Unmarshal(files[name], &c); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if c.Context == nil || c.ID != name || c.Type != "OrderedCollection" || c.TotalItems != len(c.OrderedItems) {
		t.Errorf("%s is %s", name, files[name])
	}
	return c.OrderedItems
}

// backupFiles returns the names in the folder of backups.
func backupFiles(t *testing.T, srv *apptest.Server) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(srv.Dir, "backups", "accounts"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestBackup(t *testing.T) {
	peers := apptest.StartPeers(t, 2)
	here, there := peers[0], peers[1]
	alice, bob, carol := here.SignUp("alice"), here.SignUp("bob"), there.SignUp("carol")
	picture, avatar := apptest.PNG(4, 3), apptest.PNG(5, 5)
	alice.SendForm("PATCH", "/api/v1/accounts/update_credentials", apptest.FormPart{Name: "avatar", Content: string(avatar), Filename: "a.png", Type: "image/png", IsFile: true}).Want(200)
	attachment := alice.Upload(picture)
	alice.Upload(picture) // the same file again, attached to nothing
	alice.Publish("with a picture", "media_ids[]", attachment.ID())
	alice.Publish("for this server only", "visibility", "local")
	alice.Publish("psst", "visibility", "direct")
	alice.PublishPoll([]string{"a", "b"})
	post := bob.Publish("hello")
	alice.Post("/api/v1/statuses/" + post.ID() + "/reblog").Want(200)
	alice.Post("/api/v1/statuses/" + post.ID() + "/favourite").Want(200)
	alice.Post("/api/v1/statuses/" + post.ID() + "/bookmark").Want(200)
	alice.AccountAction(alice.FindRemote(carol), "follow")
	bob.AccountAction(alice.ID, "follow")
	alice.Post("/api/v1/collections", "name", "Cats", "discoverable", "false").Want(200)
	apptest.Settle(here, there)

	list := alice.Post("/api/v1/svc/backups").Want(200).List()
	if len(list) != 1 {
		t.Fatalf("%d backups", len(list))
	}
	b := list[0]
	if b.Bool("processed") || b.Int("file_size") != 0 || b.Str("content_type") != "application/zip" || b.Str("state") != "pending" {
		t.Errorf("new backup is %v", b.Fields)
	}
	if at, err := time.Parse(time.RFC3339, b.Str("inserted_at")); err != nil || time.Since(at) > time.Minute {
		t.Errorf("inserted_at is %v", b.At("inserted_at"))
	}
	if !strings.HasPrefix(b.Str("url"), here.URL+"/media/backups/archive-alice-") || len(b.Str("url")) < len(here.URL)+80 {
		t.Errorf("url is %s", b.Str("url"))
	}
	download(here.As(nil), b.Str("url")).Want(404)
	apptest.Settle(here, there)

	b = alice.Get("/api/v1/svc/backups").Want(200).List()[0]
	a := download(here.As(nil), b.Str("url")).Want(200)
	if !b.Bool("processed") || b.Int("file_size") != len(a.Body) || b.Str("state") != "complete" {
		t.Errorf("backup of %d bytes is %v", len(a.Body), b.Fields)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/zip", "Content-Disposition": `attachment; filename="archive-alice-`, "Cache-Control": "private, no-store", "X-Robots-Tag": "noindex",
	} {
		if got := a.Header.Get(name); !strings.HasPrefix(got, want) {
			t.Errorf("%s is %q", name, got)
		}
	}

	files := unzip(t, a.Body)
	var actor map[string]any
	if err := json.Unmarshal(files["actor.json"], &actor); err != nil {
		t.Fatal(err)
	}
	if actor["id"] != alice.URI() || actor["likes"] != "likes.json" || actor["bookmarks"] != "bookmarks.json" || actor["@context"] == nil {
		t.Errorf("actor is %s", files["actor.json"])
	}
	if icon := actor["icon"].(map[string]any)["url"].(string); len(files[icon]) == 0 {
		t.Errorf("the avatar %s is not in the backup", icon)
	}
	var kinds []string
	outbox := collectionItems(t, files, "outbox.json")
	for _, item := range outbox {
		kinds = append(kinds, item.(map[string]any)["type"].(string))
	}
	apptest.WantList(t, "outbox", kinds, "Create", "Create", "Create", "Create", "Announce")
	attached := outbox[0].(map[string]any)["object"].(map[string]any)["attachment"].([]any)[0].(map[string]any)["url"].(string)
	if len(files[attached]) == 0 {
		t.Errorf("the attachment %s is not in the backup", attached)
	}
	if text := string(files["outbox.json"]); !strings.Contains(text, "for this server only") || !strings.Contains(text, "psst") {
		t.Error("local or direct posts are missing")
	}
	if boosted := outbox[4].(map[string]any)["object"]; boosted != post.Str("uri") {
		t.Errorf("the boost is of %v", boosted)
	}
	for name, want := range map[string]string{
		"likes.json": post.Str("uri"), "bookmarks.json": post.Str("uri"), "followers.json": bob.URI(), "following.json": carol.URI(),
	} {
		if got := collectionItems(t, files, name); fmt.Sprint(got) != fmt.Sprint([]any{want}) {
			t.Errorf("%s has %v, want %s", name, got, want)
		}
	}
	packs := collectionItems(t, files, "collections.json")
	if len(packs) != 1 || packs[0].(map[string]any)["name"] != "Cats" {
		t.Errorf("the collections of accounts are %v", packs)
	}
	if n := len(files); n != 15 {
		t.Errorf("the backup has %d files, want 15", n)
	}
	if strings.Contains(string(files["actor.json"]), "private") || bytes.Contains(a.Body, []byte("alice@example.org")) {
		t.Error("the backup has a private key or the e-mail address")
	}
}

func TestBackupAccess(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	for _, method := range []string{"GET", "POST"} {
		srv.As(nil).Do(method, "/api/v1/svc/backups", "", nil).WantError(403, "Invalid credentials.")
		srv.NewToken(alice, "write:accounts "+method).Do(method, "/api/v1/svc/backups", "", nil).Want(403)
	}
	srv.NewToken(alice, "read:backups").Post("/api/v1/svc/backups").Want(200)
	srv.RunJobs()
	if n := len(bob.Get("/api/svc/backups").Want(200).List()); n != 0 {
		t.Errorf("bob sees %d backups", n)
	}
	address := alice.Get("/api/v1/svc/backups").Want(200).List()[0].Str("url")
	for _, path := range []string{"/media/backups/", "/media/backups", "/media/backups/archive-alice.zip", "/media/backups/..%2f..%2fsvc.db", address[len(srv.URL):] + ".part", address[len(srv.URL) : len(address)-5]} {
		srv.As(nil).Get(path).Want(404)
	}
	download(bob.Client, address).Want(200) // the name is what protects it
}

// TestBackupLimits checks how often a user may make backups, and that old ones are removed.
func TestBackupLimits(t *testing.T) {
	now := time.Now()
	srv := apptest.StartWith(t, app.Options{Now: func() time.Time { return now }})
	alice := srv.SignUp("alice")
	address := func() string { return alice.Get("/api/v1/svc/backups").Want(200).List()[0].Str("url") }
	alice.Post("/api/v1/svc/backups").Want(200)
	first := address()
	alice.Post("/api/v1/svc/backups").WantError(400, "Last export was less than 7 days ago")
	srv.RunJobs()
	alice.Post("/api/v1/svc/backups").WantError(400, "Last export was less than 7 days ago")
	if n := len(alice.Get("/api/v1/svc/backups").Want(200).List()); n != 1 {
		t.Errorf("%d backups", n)
	}

	b, err := srv.Admin.BackupAccount(t.Context(), "alice") // not limited
	if err != nil {
		t.Fatal(err)
	}
	if again, err := srv.Admin.BackupAccount(t.Context(), "alice"); err != nil || again.ID != b.ID {
		t.Errorf("a second request while one is pending gives %v, %v", again, err)
	}
	if got := alice.Get("/api/v1/svc/backups").Want(200).List(); len(got) != 2 || got[0].Str("url") != b.URL {
		t.Errorf("backups are %v", got)
	}
	srv.RunJobs()
	download(srv.As(nil), first).Want(404) // the new one replaces it
	download(srv.As(nil), b.URL).Want(200)
	if got := backupFiles(t, srv); len(got) != 1 {
		t.Errorf("files of backups are %v", got)
	}

	now = now.Add(7*24*time.Hour + time.Minute)
	alice.Post("/api/v1/svc/backups").Want(200)
	srv.RunJobs()
	last := address()
	now = now.Add(30*24*time.Hour + time.Minute)
	download(srv.As(nil), last).Want(404) // also before the job has removed it
	apptest.WriteDataFile(srv, "backups/accounts/archive-nobody.zip", "x")
	old := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(filepath.Join(srv.Dir, "backups/accounts/archive-nobody.zip"), old, old); err != nil {
		t.Fatal(err)
	}
	err = srv.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.Enqueue(t.Context(), store.ExpireBackups{}) })
	if err != nil {
		t.Fatal(err)
	}
	srv.RunJobs()
	if got := backupFiles(t, srv); len(got) != 0 {
		t.Errorf("old backups stay: %v", got)
	}
	if n := len(alice.Get("/api/v1/svc/backups").Want(200).List()); n != 0 {
		t.Errorf("%d old backups are listed", n)
	}
}

// TestBackupRoom checks that backups stay within the bytes of the settings.
func TestBackupRoom(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.Accounts.BackupSizeLimit, c.Accounts.BackupStorageLimit, c.Accounts.BackupInterval = 2000, 3000, 24*time.Hour
	})
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	small, large := alice.Upload(apptest.PNG(8, 8)), alice.Upload(apptest.PNG(60, 60))
	alice.Publish("pictures", "media_ids[]", small.ID(), "media_ids[]", large.ID())
	alice.Post("/api/v1/svc/backups").Want(200)
	alice.Post("/api/v1/svc/backups").WantError(400, "Last export was less than a day ago")
	srv.RunJobs()
	b := alice.Get("/api/v1/svc/backups").Want(200).List()[0]
	files := unzip(t, download(srv.As(nil), b.Str("url")).Want(200).Body)
	if got := string(files["omitted.txt"]); !strings.HasPrefix(got, "media/") || !strings.HasSuffix(got, " (size limit)\n") || strings.Count(got, "\n") != 1 {
		t.Errorf("omitted files are %q", got)
	}
	bob.Post("/api/v1/svc/backups").WantError(507, "Not enough storage for backups")
}

// TestBackupFails checks that a backup that cannot be made leaves no file, does not count, and is reported.
func TestBackupFails(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	srv.Exec(`UPDATE actor_keys SET private = x'00', public = ''`)
	srv.Exec(`DELETE FROM actor_keys`)
	dir := filepath.Join(srv.Dir, "backups", "accounts")
	alice.Post("/api/v1/svc/backups").Want(200)
	if err := os.Mkdir(filepath.Join(dir, nameOf(alice.Get("/api/v1/svc/backups").List()[0].Str("url"))), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		srv.RunJobs()
		srv.Exec(`UPDATE jobs SET run_at = 1000 WHERE kind = 'make_backup'`)
	}
	b := alice.Get("/api/v1/svc/backups").Want(200).List()[0]
	if b.Bool("processed") || b.Str("state") != "failed" || b.Int("file_size") != 0 {
		t.Errorf("failed backup is %v", b.Fields)
	}
	if slices.ContainsFunc(backupFiles(t, srv), func(name string) bool { return strings.HasSuffix(name, ".part") }) {
		t.Error("an incomplete file is left")
	}
	alice.Post("/api/v1/svc/backups").Want(200)
	srv.RunJobs()
	if list := alice.Get("/api/v1/svc/backups").Want(200).List(); len(list) != 1 || !list[0].Bool("processed") {
		t.Errorf("backups after the failure are %v", list)
	}
}

// TestBackupTakesTooLong checks that attempts beyond the time limit fail, so that the user can request another backup.
func TestBackupTakesTooLong(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	limit := srv.Federation.Archiver.Timeout
	if limit < time.Hour {
		t.Errorf("the limit is %s", limit)
	}
	srv.Federation.Archiver.Timeout = time.Nanosecond
	alice.Post("/api/v1/svc/backups").Want(200)
	for range 5 {
		srv.RunJobs()
		srv.Exec(`UPDATE jobs SET run_at = 1000 WHERE kind = 'make_backup'`)
	}
	if b := alice.Get("/api/v1/svc/backups").Want(200).List()[0]; b.Str("state") != "failed" || len(backupFiles(t, srv)) != 0 {
		t.Errorf("got %v and the files %v", b.Fields, backupFiles(t, srv))
	}
	srv.Federation.Archiver.Timeout = limit
	alice.Post("/api/v1/svc/backups").Want(200)
	srv.RunJobs()
	if b := alice.Get("/api/v1/svc/backups").Want(200).List()[0]; !b.Bool("processed") {
		t.Errorf("got %v", b.Fields)
	}
}

func nameOf(address string) string { return address[strings.LastIndex(address, "/")+1:] }

// TestBackupAfterRestart checks that an interrupted backup starts over, and that a complete one stays.
func TestBackupAfterRestart(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	bob.Post("/api/v1/svc/backups").Want(200)
	srv.RunJobs()
	alice.Post("/api/v1/svc/backups").Want(200)
	name := nameOf(alice.Get("/api/v1/svc/backups").Want(200).List()[0].Str("url"))
	apptest.WriteDataFile(srv, "backups/accounts/"+name+".part", "as an interrupted job leaves it")
	again := srv.StartAgain()
	if got := backupFiles(t, again); len(got) != 1 {
		t.Errorf("files after the start are %v", got)
	}
	alice.Client.Server, bob.Client.Server = again, again
	if b := alice.Get("/api/v1/svc/backups").Want(200).List()[0]; b.Bool("processed") {
		t.Error("the interrupted backup is processed")
	}
	again.RunJobs()
	for _, m := range []*apptest.User{alice, bob} {
		b := m.Get("/api/v1/svc/backups").Want(200).List()[0]
		if a := download(again.As(nil), b.Str("url")).Want(200); !b.Bool("processed") || len(a.Body) != b.Int("file_size") {
			t.Errorf("backup of %d bytes is %v", len(a.Body), b.Fields)
		}
	}
}

// TestBackupOfDeletedAccount checks that backups are deleted with their account.
func TestBackupOfDeletedAccount(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	alice.Post("/api/v1/svc/backups").Want(200)
	srv.RunJobs()
	address := alice.Get("/api/v1/svc/backups").Want(200).List()[0].Str("url")
	srv.DeleteOrDeactivate(alice, true)
	download(srv.As(nil), address).Want(404)
	srv.RunJobs()
	if got := backupFiles(t, srv); len(got) != 0 {
		t.Errorf("files of the deleted account stay: %v", got)
	}
}

// TestBackupMail checks that a mail brings the link of a complete backup.
func TestBackupMail(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Mail.Enabled, c.Mail.Adapter = true, "file" })
	alice := srv.SignUp("alice")
	alice.Post("/api/v1/svc/backups").Want(200)
	srv.RunJobs()
	link := alice.Get("/api/v1/svc/backups").Want(200).List()[0].Str("url")
	mails, err := filepath.Glob(filepath.Join(srv.Dir, "mail", "*.eml"))
	if err != nil || len(mails) != 1 {
		t.Fatalf("mails are %v, %v", mails, err)
	}
	body, err := os.ReadFile(mails[0])
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(strings.ReplaceAll(string(body), "=\r\n", ""), "=\n", "")
	if !strings.Contains(text, "alice@example.org") || !strings.Contains(text, link) {
		t.Errorf("the mail is %s", body)
	}
}

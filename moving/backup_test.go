package moving_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/store"
)

// TestBackup exports an account, imports the backup into an account of another server that names the first as its alias, and compares all posts.
func TestBackup(t *testing.T) {
	peers := apptest.StartPeers(t, 2)
	here, there := peers[0], peers[1]
	alice, bob := here.SignUp("alice"), here.SignUp("bob")
	picture := alice.SendForm("POST", "/api/v2/media", apptest.FormPart{Name: "file", Content: string(apptest.PNG(9, 7)), Filename: "a.png", Type: "image/png", IsFile: true},
		apptest.FormPart{Name: "description", Content: "a square"}, apptest.FormPart{Name: "focus", Content: "0.5,-0.25"}).Want(200).Object().ID()
	first := alice.Post("/api/v1/statuses", "status", "first **version** #Cats", "content_type", "text/markdown", "language", "en", "spoiler_text", "beware").Want(200).Object().ID()
	alice.Post("/api/v1/statuses", "status", "a reply", "in_reply_to_id", first, "media_ids[]", picture, "visibility", "unlisted").Want(200)
	poll := alice.Post("/api/v1/statuses", "status", "which?", "poll[options][]", "a", "poll[options][]", "b", "poll[expires_in]", "3600", "poll[hide_totals]", "true").Want(200).Object()
	alice.Post("/api/v1/statuses", "status", "for me", "visibility", "direct").Want(200)
	bob.Post("/api/v1/polls/"+poll.Str("poll.id")+"/votes", "choices[]", "1").Want(200)
	alice.Do("PUT", "/api/v1/statuses/"+first, "application/json", strings.NewReader(`{"status":"second *version* #Cats","content_type":"text/markdown","spoiler_text":"beware"}`)).Want(200)
	alice.Post("/api/v1/statuses/" + first + "/pin").Want(200)
	liked := bob.Post("/api/v1/statuses", "status", "liked").Want(200).Object().ID()
	alice.Post("/api/v1/statuses/" + liked + "/favourite").Want(200)
	alice.Post("/api/v1/statuses/" + liked + "/bookmark").Want(200)
	alice.Post("/api/v1/accounts/" + bob.ID + "/follow").Want(200)
	list := alice.Post("/api/v1/lists", "title", "friends").Want(200).Object().ID()
	alice.Post("/api/v1/lists/"+list+"/accounts", "account_ids[]", bob.ID).Want(200)
	alice.Post("/api/v2/filters", "title", "Endings", "context[]", "home", "filter_action", "hide", "keywords_attributes[][keyword]", "finale", "keywords_attributes[][whole_word]", "true").Want(200)
	filter := alice.Post("/api/v2/filters", "title", "Posts", "context[]", "thread").Want(200).Object().ID()
	for _, id := range []string{first, liked} {
		alice.Post("/api/v2/filters/"+filter+"/statuses", "status_id", id).Want(200)
	}
	here.EndPoll(poll)

	alice.Post("/api/v1/svc/backups").Want(200)
	here.RunJobs()
	backups, err := filepath.Glob(filepath.Join(here.Dir, "backups", "accounts", "*.zip"))
	if err != nil || len(backups) != 1 {
		found, _ := filepath.Glob(filepath.Join(here.Dir, "*", "*", "*.zip"))
		t.Fatalf("backups: %v, %v; %v", backups, err, found)
	}
	ann := there.SignUp("ann")
	there.Exec(`UPDATE accounts SET also_known_as = json_array(?) WHERE id = ?`, alice.URI(), ann.AccountID())
	account, err := there.DB.Account(t.Context(), ann.AccountID())
	if err != nil {
		t.Fatal(err)
	}
	upload := uploadArchive(t, ann, backups[0], "public", "true")
	there.RunJobs()
	row := archiveRow(t, there, upload)
	if row.State != store.ArchiveComplete || row.Imported != 4 || row.Files != 1 || row.Skipped != 0 {
		t.Errorf("archive: %+v", row)
	}
	got, want := describe(ann), describe(alice)
	if !slices.Equal(got, want) {
		t.Errorf("imported\n%s\nexported\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	properties := `SELECT count(*) FROM media WHERE focus_x = 0.5 AND focus_y = -0.25 AND width = 9 AND height = 7 AND status_id IS NOT NULL`
	if n, m := there.Count(properties), here.Count(properties); n != 1 || m != 1 {
		t.Errorf("%d and %d attachments with their properties", n, m)
	}
	if got, want := filtersOf(ann), "Endings hide [home] [finale] 0, Posts warn [thread] [] 1"; got != want { // the post of bob is not known there yet
		t.Errorf("filters: %s, want %s", got, want)
	}
	apptest.Settle(here, there)
	for what, n := range map[string]int{
		"favourites": there.Count(`SELECT count(*) FROM favourites WHERE account_id = ?`, account.ID), "bookmarks": there.Count(`SELECT count(*) FROM bookmarks WHERE account_id = ?`, account.ID),
		"follows": there.Count(`SELECT count(*) FROM follows WHERE follower_id = ?`, account.ID), "list members": there.Count(`SELECT count(*) FROM list_members`),
	} {
		if n != 1 {
			t.Errorf("%d %s", n, what)
		}
	}
	if left := leftovers(t, there); len(left) != 0 {
		t.Errorf("left in imports: %q", left)
	}
}

// filtersOf describes the filters of a user.
func filtersOf(m *apptest.User) string {
	var list []string
	for _, f := range m.Get("/api/v2/filters").Want(200).List() {
		list = append(list, fmt.Sprintf("%s %s %v %v %d", f.Str("title"), f.Str("filter_action"), f.Find("context"), apptest.ListField(f, "keywords", "keyword"), len(f.Find("statuses").([]any))))
	}
	return strings.Join(list, ", ")
}

// describe returns what a user's posts have in common with those of another server.
func describe(m *apptest.User) (list []string) {
	m.Server.T.Helper()
	for _, p := range m.Get("/api/v1/accounts/"+m.ID+"/statuses", "limit", "40").Want(200).List() {
		text := fmt.Sprintf("%s %s %s edited %v %q %v %s pinned %v reply %v", p.Str("created_at"), p.Str("visibility"), strings.ReplaceAll(p.Str("content"), m.Server.URL, ""), p.Find("edited_at"),
			p.Str("spoiler_text"), p.Find("language"), apptest.ListField(p, "tags", "name"), p.Find("pinned"), p.Find("in_reply_to_id") != nil)
		for _, path := range []string{
			"media_attachments.0.description",
			"poll.expired", "poll.votes_count", "poll.voters_count", "poll.options.0.title", "poll.options.1.votes_count",
		} {
			text += fmt.Sprint(" ", p.Find(path))
		}
		for _, v := range m.Get("/api/v1/statuses/" + p.ID() + "/history").Want(200).List() {
			text += " | " + strings.ReplaceAll(v.Str("content"), m.Server.URL, "") + " " + v.Str("created_at")
		}
		source := m.Get("/api/v1/statuses/" + p.ID() + "/source").Want(200).Object()
		list = append(list, text+" "+source.Str("text"))
	}
	return list
}

// uploadArchive uploads an archive in two pieces, and returns its id.
func uploadArchive(t *testing.T, m *apptest.User, file string, params ...string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a := m.Post("/api/v1/svc/archives", append(params, "size", fmt.Sprint(len(content)))...).Want(200).Object()
	half := len(content) / 2
	path := "/api/v1/svc/archives/" + a.ID()
	sendPiece(m, path, 0, content[:half]).Want(200)
	sendPiece(m, path, 0, content[:half]).WantError(409, fmt.Sprintf("The upload goes on at byte %d, not at 0", half))
	if got := m.Get(path).Want(200).Object(); got.Int("received") != half || got.Str("state") != "uploading" {
		t.Errorf("half of the upload: %v", got.Fields)
	}
	if got := sendPiece(m, path, half, content[half:]).Want(200).Object(); got.Str("state") != "queued" {
		t.Errorf("the upload: %v", got.Fields)
	}
	sendPiece(m, path, len(content), []byte("x")).WantError(409, "The upload has ended")
	return a.ID()
}

func sendPiece(m *apptest.User, path string, offset int, content []byte) *apptest.Response {
	return m.SendForm("PUT", path, apptest.FormPart{Name: "offset", Content: fmt.Sprint(offset)},
		apptest.FormPart{Name: "piece", Content: string(content), Filename: "piece", Type: "application/octet-stream", IsFile: true})
}

// TestUploads checks the bounds of uploads, and that nobody else can see or change them.
func TestUploads(t *testing.T) {
	srv, alice, bob := start(t)
	for _, tt := range []struct {
		size   string
		status int
		want   string
	}{
		{"0", 422, "Validation failed: size - must be the bytes of the archive"},
		{"-1", 422, "Validation failed: size - must be the bytes of the archive"},
		{"99999999999", 413, "The archive has 99999999999 bytes, the limit is 10000000000"},
	} {
		alice.Post("/api/v1/svc/archives", "size", tt.size).WantError(tt.status, tt.want)
	}
	id := alice.Post("/api/v1/svc/archives", "size", "10").Want(200).Object().ID()
	path := "/api/v1/svc/archives/" + id
	alice.Post("/api/v1/svc/archives", "size", "10").Want(409)
	sendPiece(alice, path, 0, []byte("more than ten")).WantError(413, "The piece has more than 10 bytes")
	bob.Get(path).Want(404)
	sendPiece(bob, path, 0, []byte("x")).Want(404)
	bob.Do("DELETE", path, "", nil).Want(404)
	sendPiece(alice, path, 0, []byte("no archive")).Want(422)
	if got := alice.Get(path).Want(200).Object(); got.Str("state") != "failed" || !strings.Contains(got.Str("error"), "not an archive") {
		t.Errorf("after the upload: %v", got.Fields)
	}
	small := alice.SendForm("POST", "/api/v1/svc/archives", apptest.FormPart{Name: "file", Content: readFile(t, plain().zip(t)), Filename: "a.zip", Type: "application/zip", IsFile: true})
	small.WantError(403, "The archive is of @alice@old.example, which is no alias of this account: add it as an alias in the settings first")
	id = alice.Post("/api/v1/svc/archives", "size", "10").Want(200).Object().ID()
	sendPiece(alice, "/api/v1/svc/archives/"+id, 0, []byte("half")).Want(200)
	srv.Advance(50 * 3600e9)
	if err := srv.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.Enqueue(t.Context(), store.PruneUploads{}) }); err != nil {
		t.Fatal(err)
	}
	srv.RunJobs()
	if left := leftovers(t, srv); len(left) != 0 {
		t.Errorf("left in imports: %q", left)
	}
	if n := len(alice.Get("/api/v1/svc/archives").Want(200).List()); n != 3 {
		t.Errorf("%d archives", n)
	}
	alice.Get("/api/v1/svc/archives/" + id + "/skipped").Want(200)
	alice.Do("DELETE", "/api/v1/svc/archives/"+id, "", nil).Want(200)
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestStaffImports names a file in the folder imports.
func TestStaffImports(t *testing.T) {
	srv, alice, _ := start(t)
	root := srv.SignUpAdmin()
	if err := os.WriteFile(filepath.Join(srv.Dir, "imports", "a.zip"), []byte(readFile(t, plain().zip(t))), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"../svc.db", "/etc/passwd", "b.zip", ".", ""} {
		if a := root.Post("/api/v1/svc/admin/archives", "nickname", "alice", "file", file); a.Status/100 != 4 {
			t.Errorf("%q: %d", file, a.Status)
		}
	}
	alice.Post("/api/v1/svc/admin/archives", "nickname", "alice", "file", "a.zip").Want(403)
	root.Post("/api/v1/svc/admin/archives", "nickname", "alice", "file", "a.zip").Want(200)
	srv.RunJobs()
	if n := srv.Count(`SELECT count(*) FROM imported_statuses`); n != 1 {
		t.Errorf("%d posts", n)
	}
	if n := srv.Count(`SELECT count(*) FROM moderation_log WHERE action = 'import_archive'`); n != 1 {
		t.Errorf("%d entries in the log", n)
	}
	if left := leftovers(t, srv); len(left) != 1 {
		t.Errorf("in imports: %q", left)
	}
}

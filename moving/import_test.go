package moving_test

import (
	"slices"
	"strings"
	"testing"

	"svc/admin"
	"svc/app/apptest"
	"svc/moving"
	"svc/store"
)

// start starts a server that federates, with alice, who has a remote follower, so that everything that is federated becomes a job.
func start(t *testing.T) (srv *apptest.Server, alice, bob *apptest.User) {
	srv = apptest.StartWithLoopback(t)
	alice, bob = srv.SignUp("alice"), srv.SignUp("bob")
	addRemoteFollow(t, srv, "rita", alice)
	bob.Post("/api/v1/accounts/" + alice.ID + "/follow").Want(200)
	srv.RunJobs()
	return srv, alice, bob
}

// addRemoteFollow adds a remote follower of a user.
func addRemoteFollow(t *testing.T, srv *apptest.Server, nick string, of *apptest.User) {
	t.Helper()
	srv.AddRemoteAccount(nick, "remote.example")
	account, err := srv.DB.AccountByName(t.Context(), nick, "remote.example")
	if err != nil {
		t.Fatal(err)
	}
	srv.AddRemoteFollow(account, of, false)
}

// importArchive imports an archive for a user as an administrator does, and returns its row.
func importArchive(t *testing.T, srv *apptest.Server, nick, file string, change ...func(*admin.ArchiveImport)) *store.Archive {
	t.Helper()
	i := admin.ArchiveImport{Name: nick, File: file}
	for _, f := range change {
		f(&i)
	}
	a, err := srv.ImportedArchives.Start(t.Context(), i)
	if err != nil {
		t.Fatal(err)
	}
	srv.RunJobs()
	return archiveRow(t, srv, a.ID)
}

func archiveRow(t *testing.T, srv *apptest.Server, id string) *store.Archive {
	t.Helper()
	row, err := srv.DB.Archive(t.Context(), store.ParseID[store.ArchiveID](id))
	if err != nil {
		t.Fatal(err)
	}
	return row
}

func keepPublic(i *admin.ArchiveImport) { i.Public = true }

// aMastodon is an archive with one of everything.
func aMastodon() files {
	f := mastodon(
		note("1", "2019-01-01T10:00:00Z", `<p>first :blobcat: <a href="https://old.example/tags/cats" class="mention hashtag">#<span>cats</span></a></p><script>x</script>`, toAll,
			`"tag":[{"type":"Hashtag","name":"#Cats","href":"https://old.example/tags/cats"},
				{"type":"Emoji","name":":blobcat:","icon":{"type":"Image","url":"https://old.example/emoji/blobcat.png"}},{"type":"Emoji","name":":a b:","icon":7}]`),
		note("2", "2019-02-01T10:00:00Z", "<p>second</p>", toAll, `"inReplyTo":"`+oldActor+`/statuses/1"`, `"summary":"beware"`, `"sensitive":true`),
		note("3", "2019-03-01T10:00:00Z", "<p>quiet</p>", unlisted),
		note("4", "2019-04-01T10:00:00Z", "<p>followers</p>", toFew),
		note("5", "2019-05-01T10:00:00Z", "<p>direct</p>", toOne),
		note("6", "2019-06-01T10:00:00Z", "<p>picture</p>", toAll, `"attachment":[
			{"type":"Document","mediaType":"image/png","url":"/media_attachments/files/1/original/a.png","name":"a square","focalPoint":[0.5,-0.25],"blurhash":"x"},
			{"type":"Document","mediaType":"image/png","url":"/media_attachments/files/2/original/gone.png","name":null},
			{"type":"Document","mediaType":"image/png","url":"/media_attachments/files/3/original/bad.png","name":null}]`),
		note("7", "2019-07-01T10:00:00Z", "<p>poll</p>", toAll, `"type":"Question"`, `"endTime":"2019-07-02T10:00:00Z"`, `"votersCount":5`,
			`"oneOf":[{"type":"Note","name":"yes","replies":{"type":"Collection","totalItems":3}},{"type":"Note","name":"no","replies":{"type":"Collection","totalItems":2}}]`),
		note("8", "2019-08-01T10:00:00Z", "<p>to another</p>", toAll, `"inReplyTo":"https://other.example/notes/9"`),
		`{"id":"`+oldActor+`/statuses/9/activity","type":"Announce","actor":"`+oldActor+`","published":"2019-09-01T10:00:00Z",`+toAll+`,"object":"https://other.example/notes/1"}`,
		note("10", "2019-10-01T10:00:00Z", "<p>of another</p>", toAll, `"attributedTo":"https://other.example/users/eve"`),
	)
	f["media_attachments/files/1/original/a.png"] = string(apptest.PNG(8, 8))
	f["media_attachments/files/3/original/bad.png"] = "no picture"
	f["likes.json"] = `{"@context":"https://www.w3.org/ns/activitystreams","id":"likes.json","type":"OrderedCollection","orderedItems":["https://other.example/notes/1"]}`
	f["bookmarks.json"] = `{"@context":"https://www.w3.org/ns/activitystreams","id":"bookmarks.json","type":"OrderedCollection","orderedItems":["https://other.example/notes/2"]}`
	return f
}

// TestImport imports an archive of Mastodon in each packing, and looks at all that it has.
func TestImport(t *testing.T) {
	for _, tt := range []struct {
		name string
		pack func(files, *testing.T) string
	}{
		{"zip", files.zip}, {"tar.gz", files.tar}, {"folder", files.folder},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, alice, bob := start(t)
			jobs := srv.Count(`SELECT count(*) FROM jobs WHERE kind IN ('outbox', 'push')`)
			row := importArchive(t, srv, "alice", tt.pack(aMastodon(), t), keepPublic)
			if row.State != store.ArchiveComplete || row.Imported != 8 || row.Files != 1 || row.Skipped != 3 || row.Total != 10 || row.Position != 10 || row.Origin != "alice@old.example" {
				t.Errorf("archive: %+v", row)
			}
			want := []string{
				"public 2019-08-01 <p>↪ <a href=\"https://other.example/notes/9\"", "public 2019-07-01 <p>poll</p>", "public 2019-06-01 <p>picture</p>",
				"unlisted 2019-03-01 <p>quiet</p>", "public 2019-02-01 <p>second</p>", "public 2019-01-01 <p>first ",
			}
			same := func(got, want string) bool { return strings.HasPrefix(got, want) }
			if got := posts(bob.Client, alice); !slices.EqualFunc(got, want, same) {
				t.Errorf("bob sees\n%s", strings.Join(got, "\n"))
			}
			if got := posts(alice.Client, alice); len(got) != 8 {
				t.Errorf("alice sees\n%s", strings.Join(got, "\n"))
			}
			checkParts(t, srv, alice, bob)
			for what, query := range map[string]string{
				"home rows": `SELECT count(*) FROM home WHERE status_id IN (SELECT status_id FROM imported_statuses)`, "notifications": `SELECT count(*) FROM notifications WHERE type <> 'follow'`,
				"conversations": `SELECT count(*) FROM direct_conversations`, "recipients": `SELECT count(*) FROM recipients`,
			} {
				if n := srv.Count(query); n != 0 {
					t.Errorf("%d %s", n, what)
				}
			}
			if n := srv.Count(`SELECT count(*) FROM jobs WHERE kind IN ('outbox', 'push')`) - jobs; n != 0 {
				t.Errorf("%d jobs that send something", n)
			}
			if n := srv.Count(`SELECT count(*) FROM imports WHERE kind IN ('likes', 'bookmarks')`); n != 2 {
				t.Errorf("%d imports of lists", n)
			}
			if left := leftovers(t, srv); len(left) != 0 {
				t.Errorf("left in imports: %q", left)
			}
		})
	}
}

// checkParts looks at the parts of the imported posts of aMastodon.
func checkParts(t *testing.T, srv *apptest.Server, alice, bob *apptest.User) {
	t.Helper()
	list := bob.Get("/api/v1/accounts/"+alice.ID+"/statuses", "limit", "40").Want(200).List()
	picture, poll, first, second := list[2], list[1], list[5], list[4]
	apptest.WantFields(t, "poll", poll, apptest.Doc{"poll.votes_count": 5.0, "poll.expired": true, "poll.voters_count": 5.0})
	apptest.WantFields(t, "second", second, apptest.Doc{"in_reply_to_id": first.ID(), "spoiler_text": "beware", "sensitive": true, "language": "en"})
	apptest.WantFields(t, "origin", first, apptest.Doc{"svc.imported_from.acct": "alice@old.example", "svc.imported_from.url": "https://old.example/@alice/1"})
	for _, tt := range []struct {
		of   *apptest.Object
		path string
		want any
	}{
		{picture, "media_attachments.0.description", "a square"}, {picture, "media_attachments.1", nil},
		{poll, "poll.options.0.votes_count", 3.0}, {first, "tags.0.name", "cats"}, {first, "emojis.0.shortcode", "blobcat"}, {first, "emojis.1", nil},
	} {
		if got := tt.of.Find(tt.path); got != tt.want {
			t.Errorf("%s is %v, want %v: %v", tt.path, got, tt.want, tt.of.Find("media_attachments.0"))
		}
	}
	if n := srv.Count(`SELECT count(*) FROM media WHERE focus_x = 0.5 AND focus_y = -0.25 AND width = 8 AND blurhash <> ''`); n != 1 {
		t.Errorf("%d attachments with their properties", n)
	}
	if strings.Contains(first.Str("content"), "script") {
		t.Errorf("first: %s", first.Str("content"))
	}
	if n := bob.Get("/api/v1/accounts/" + alice.ID).Want(200).Object().Int("statuses_count"); n != 6 {
		t.Errorf("%d statuses", n)
	}
	if n := length(bob.Get("/api/v2/search", "q", "picture", "type", "statuses").Want(200).Object(), "statuses"); n != 1 {
		t.Errorf("search finds %d posts", n)
	}
	if n := length(bob.Get("/api/v1/statuses/"+first.ID()+"/context").Want(200).Object(), "descendants"); n != 1 {
		t.Errorf("%d descendants", n)
	}
}

// TestImportTwice imports an archive again, which changes nothing, and then undoes the import.
func TestImportTwice(t *testing.T) {
	srv, alice, _ := start(t)
	file := aMastodon().zip(t)
	rows := func() int { return srv.Count(`SELECT (SELECT count(*) FROM statuses) + (SELECT count(*) FROM media)`) }
	before := rows()
	first := importArchive(t, srv, "alice", file)
	imported := rows()
	if again := importArchive(t, srv, "alice", file); again.Imported != 0 || rows() != imported {
		t.Errorf("the second time: %+v", again)
	}
	if n := srv.Count(`SELECT count(*) FROM statuses WHERE visibility = 0`); n != 0 {
		t.Errorf("%d posts are public", n)
	}
	gone := alice.Get("/api/v1/accounts/" + alice.ID + "/statuses").Want(200).List()[0].ID()
	alice.Do("DELETE", "/api/v1/statuses/"+gone, "", nil).Want(200)
	imported = rows()
	if again := importArchive(t, srv, "alice", file); again.Imported != 0 || rows() != imported {
		t.Errorf("a post came back that was deleted here: %+v", again)
	}
	if _, err := srv.ImportedArchives.Undo(t.Context(), first.ID.String()); err != nil {
		t.Fatal(err)
	}
	srv.RunJobs()
	if row := archiveRow(t, srv, first.ID.String()); row.State != store.ArchiveUndone || rows() != before {
		t.Errorf("undone: %+v, %d rows instead of %d", row, rows(), before)
	}
	if n := alice.Get("/api/v1/accounts/" + alice.ID).Want(200).Object().Int("statuses_count"); n != 0 {
		t.Errorf("%d statuses", n)
	}
	if n := srv.Count(`SELECT count(*) FROM tombstones`); n != 0 {
		t.Errorf("%d tombstones", n)
	}
	if again := importArchive(t, srv, "alice", file); again.Imported != first.Imported {
		t.Errorf("imported again after it was undone: %+v", again)
	}
}

// TestImportedPosts does with an imported post what can be done with any, and checks that nothing of it leaves the server.
func TestImportedPosts(t *testing.T) {
	srv, alice, bob := start(t)
	addRemoteFollow(t, srv, "ron", bob)
	importArchive(t, srv, "alice", mastodon(note("1", "2019-01-01T10:00:00Z", "<p>first</p>", toAll), note("2", "2019-01-02T10:00:00Z", "<p>second</p>", toAll)).zip(t), keepPublic)
	list := alice.Get("/api/v1/accounts/" + alice.ID + "/statuses").Want(200).List()
	id := list[1].ID()
	sent := func() int { return srv.Count(`SELECT count(*) FROM jobs WHERE kind = 'outbox'`) }
	before := sent()
	path := "/api/v1/statuses/" + id
	bob.Post(path + "/favourite").Want(200)
	bob.Post(path + "/reblog").Want(200)
	bob.Post(path + "/bookmark").Want(200)
	alice.Post(path + "/pin").Want(200)
	alice.Do("PUT", path, "application/json", strings.NewReader(`{"status":"edited @bob"}`)).Want(200)
	if n := sent() - before; n != 0 {
		t.Errorf("%d activities", n)
	}
	if n := srv.Count(`SELECT count(*) FROM notifications WHERE type = 'mention'`); n != 0 {
		t.Errorf("the edit mentions %d accounts", n)
	}
	for _, document := range []string{"/objects/" + id, "/activities/" + id} {
		srv.GetDocument(document).Want(404)
	}
	outbox := "/users/" + alice.ID + "/outbox"
	if n := srv.GetDocument(outbox).Want(200).Object().Int("totalItems"); n != 0 {
		t.Errorf("the outbox counts %d", n)
	}
	if n := length(srv.GetDocument(outbox+"?page=true").Want(200).Object(), "orderedItems"); n != 0 {
		t.Errorf("the outbox has %d", n)
	}
	if n := length(srv.GetDocument("/users/"+alice.ID+"/collections/featured").Want(200).Object(), "orderedItems"); n != 0 {
		t.Errorf("%d are featured", n)
	}
	reply := bob.Post("/api/v1/statuses", "status", "@alice yes", "in_reply_to_id", id).Want(200).Object().ID()
	if doc := srv.GetDocument("/objects/" + reply).Want(200).Document(); doc["inReplyTo"] != nil {
		t.Errorf("the reply names its parent: %v", doc["inReplyTo"])
	}
	before = sent()
	bob.Post(path + "/unreblog").Want(200)
	alice.Do("DELETE", path, "", nil).Want(200)
	if n := sent() - before; n != 0 {
		t.Errorf("%d activities for deletions", n)
	}
	if err := srv.Social.RebuildHome(t.Context(), bob.AccountID(), 100); err != nil {
		t.Fatal(err)
	}
	if n := srv.Count(`SELECT count(*) FROM home WHERE status_id IN (SELECT status_id FROM imported_statuses)`); n != 0 {
		t.Errorf("%d imported posts in a rebuilt home", n)
	}
}

// TestThreads imports an archive that begins with its newest posts.
func TestThreads(t *testing.T) {
	srv, alice, _ := start(t)
	importArchive(t, srv, "alice", mastodon(
		note("3", "2019-01-03T10:00:00Z", "<p>third</p>", toAll, `"inReplyTo":"`+oldActor+`/statuses/2"`),
		note("2", "2019-01-02T10:00:00Z", "<p>second</p>", toAll, `"inReplyTo":"`+oldActor+`/statuses/1"`),
		note("1", "2019-01-01T10:00:00Z", "<p>first</p>", toAll),
	).zip(t))
	list := alice.Get("/api/v1/accounts/" + alice.ID + "/statuses").Want(200).List()
	context := alice.Get("/api/v1/statuses/" + list[2].ID() + "/context").Want(200)
	if n := len(context.Object().At("descendants").([]any)); n != 2 || strings.Contains(list[0].Str("content"), "href") {
		t.Errorf("%d descendants, %s", n, list[0].Str("content"))
	}
}

// TestWhose checks of which accounts a user may import an archive.
func TestWhose(t *testing.T) {
	srv, alice, _ := start(t)
	file := mastodon(note("1", "2019-01-01T10:00:00Z", "<p>first</p>", toAll)).zip(t)
	account := func() *store.Account {
		a, err := srv.DB.Account(t.Context(), alice.AccountID())
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if _, err := srv.Importer.Start(t.Context(), account(), moving.NewImport{File: file}); err == nil || !strings.Contains(err.Error(), "no alias of this account") {
		t.Errorf("without an alias: %v", err)
	}
	srv.Exec(`UPDATE accounts SET also_known_as = json_array(?) WHERE id = ?`, oldActor, alice.AccountID())
	if _, err := srv.Importer.Start(t.Context(), account(), moving.NewImport{File: file}); err != nil {
		t.Error(err)
	}
	srv.RunJobs()
	if n := srv.Count(`SELECT count(*) FROM imported_statuses`); n != 1 {
		t.Errorf("%d posts", n)
	}
}

// length returns the length of a list.
func length(o *apptest.Object, list string) int { return len(o.At(list).([]any)) }

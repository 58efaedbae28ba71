package server_test

import (
	"net/url"
	"testing"

	"svc/app/apptest"
	"svc/store"
)

// TestFedibirdReactions reacts by the paths of Fedibird.
func TestFedibirdReactions(t *testing.T) {
	srv := apptest.Start(t)
	srv.AddEmoji("pets", map[string]string{"cat": "cat.png"})
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	id := alice.Publish("hello").ID()
	for _, tt := range []struct {
		as            *apptest.Client
		method, emoji string
		want, count   int
	}{
		{bob.Client, "PUT", "🔥", 200, 1},
		{bob.Client, "PUT", "🔥", 200, 1},
		{bob.Client, "PUT", "cat", 200, 2},
		{bob.Client, "PUT", "dog", 400, 2},
		{srv.As(nil), "PUT", "🔥", 401, 2},
		{bob.Client, "DELETE", "🔥", 200, 1},
		{bob.Client, "DELETE", "🔥", 400, 1},
	} {
		a := tt.as.Do(tt.method, "/api/v1/statuses/"+id+"/emoji_reactions/"+url.PathEscape(tt.emoji), "", nil).Want(tt.want)
		if tt.want == 200 {
			WantEntity(t, tt.emoji, a, "Status")
		}
		if n := len(bob.Get("/api/v1/statuses/" + id).Want(200).Object().At("svc.emoji_reactions").([]any)); n != tt.count {
			t.Errorf("%s %s: there are %d reactions, want %d", tt.method, tt.emoji, n, tt.count)
		}
	}
}

// TestActivityPubIDs checks the ids of quoted posts and of parents, which only those get who may see them.
func TestActivityPubIDs(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	parent := alice.Publish("hello")
	reply := bob.Publish("hi", "in_reply_to_id", parent.ID())
	quote := bob.Publish("look", "quoted_status_id", parent.ID())
	dora := srv.SignUp("dora")
	alice.Post("/api/v1/accounts/" + dora.ID + "/block").Want(200)
	boost := carol.Post("/api/v1/statuses/" + reply.ID() + "/reblog").Want(200).Object().ID()
	for _, tt := range []struct {
		name, id     string
		as           *apptest.User
		reply, quote any
	}{
		{"a post", parent.ID(), carol, nil, nil},
		{"a reply", reply.ID(), carol, parent.Str("uri"), nil},
		{"a reply, anonymous", reply.ID(), nil, parent.Str("uri"), nil},
		{"a quote", quote.ID(), carol, nil, parent.Str("uri")},
		{"a reply, for an account that may not see its parent", reply.ID(), dora, nil, nil},
		{"a boost", boost, carol, parent.Str("uri"), nil},
	} {
		o := srv.As(tt.as).Get("/api/v1/statuses/" + tt.id).Want(200).Object()
		apptest.WantFields(t, tt.name, o, apptest.Doc{"svc.in_reply_to_apid": tt.reply, "svc.quote_apid": tt.quote})
	}
}

// TestFamilyAddresses checks the addresses of posts and feeds that servers of the family have.
func TestFamilyAddresses(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	st := alice.Publish("hello")
	secret := alice.Publish("psst", "visibility", "private").ID()
	remote := srv.AddRemoteStatus(srv.Account(t, srv.AddRemoteAccount("eve", "remote.example")), func(*store.Status) {}).ID.String()
	b := srv.Browser()
	for _, tt := range []struct {
		path, to string // "": 404
	}{
		{"/notice/" + st.ID(), st.Str("url")},
		{"/notice/" + secret, ""},
		{"/notice/" + remote, ""},
		{"/notice/x", ""},
		{"/users/alice/feed", srv.URL + "/@alice.atom"},
		{"/users/alice/feed.atom", srv.URL + "/@alice.atom"},
		{"/users/alice/feed.rss", srv.URL + "/@alice.rss"},
		{"/users/nobody/feed", ""},
		{"/users/eve@remote.example/feed", ""},
	} {
		page := b.Get(tt.path)
		if tt.to == "" {
			page.Want(404)
			continue
		}
		if to, _ := page.Location(); page.Status != 302 || to != tt.to {
			t.Errorf("%s: got %d to %s, want %s", tt.path, page.Status, to, tt.to)
		}
	}
	if got := srv.GetDocument("/notice/" + st.ID()).Document()["id"]; got != st.Str("uri") {
		t.Errorf("the document of the notice is %v", got)
	}
	srv.GetDocument("/notice/" + secret).Want(404)
}

// TestInstallArchive installs packs from archives.
func TestInstallArchive(t *testing.T) {
	site := apptest.StartFake(t)
	site.Respond("/pets.zip", 200, "application/zip", zipFile(t, "dog.png"))
	srv := apptest.Start(t, apptest.AllowLoopback)
	admin, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	const path = packsPath + "/download_zip"
	upload := func(name string, content []byte) []apptest.FormPart {
		return []apptest.FormPart{apptest.ValuePart("name", name), {Name: "file", Filename: "x.zip", Content: string(content), IsFile: true}}
	}
	fetch := func(name, address string) []apptest.FormPart {
		return []apptest.FormPart{apptest.ValuePart("name", name), apptest.ValuePart("url", address)}
	}
	for _, tt := range []struct {
		name  string
		as    *apptest.Client
		parts []apptest.FormPart
		want  int
	}{
		{"an upload", admin.Client, upload("cats", zipFile(t, "cat.png", "sub/blobcat.png")), 200},
		{"the same name", admin.Client, upload("cats", zipFile(t, "other.png")), 409},
		{"an address", admin.Client, fetch("dogs", site.URL+"/pets.zip"), 200},
		{"the name of a fetched one", admin.Client, fetch("dogs", site.URL+"/pets.zip"), 409},
		{"nothing there", admin.Client, fetch("none", site.URL+"/none.zip"), 400},
		{"neither", admin.Client, []apptest.FormPart{apptest.ValuePart("name", "none")}, 400},
		{"no name", admin.Client, upload(" ", zipFile(t, "cat.png")), 400},
		{"a hostile name", admin.Client, upload("../up", zipFile(t, "cat.png")), 400},
		{"a hostile archive", admin.Client, upload("up", zipFile(t, "../../up.png")), 422},
		{"no archive", admin.Client, upload("text", []byte("hello")), 422},
		{"a user", alice.Client, upload("mine", zipFile(t, "cat.png")), 403},
		{"anonymous", srv.As(nil), upload("mine", zipFile(t, "cat.png")), 403},
	} {
		if a := tt.as.SendForm("POST", path, tt.parts...); a.Status != tt.want {
			t.Errorf("%s: got %d %s, want %d", tt.name, a.Status, a.Body, tt.want)
		}
	}
	if n := site.Fetches(site.URL + "/pets.zip"); n != 1 {
		t.Errorf("the archive was fetched %d times", n)
	}
	emoji := srv.As(nil).Get("/api/v1/svc/emoji").Want(200).Document()
	for _, code := range []string{"cat", "blobcat", "dog"} {
		if emoji[code] == nil {
			t.Errorf("there is no %s", code)
		}
	}
	if len(emoji) != 3 {
		t.Errorf("there are %d emoji", len(emoji))
	}
}

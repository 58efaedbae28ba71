package server_test

import (
	"fmt"
	"net/url"
	"testing"

	"svc/app/apptest"
)

// TestAnnouncementReactions reacts to announcements, and checks counts, errors, the limit and the stream.
func TestAnnouncementReactions(t *testing.T) {
	srv := apptest.Start(t)
	admin, alice, bob := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob")
	srv.AddEmoji("blobs", map[string]string{"blobcat": "cat.png"})
	id := admin.SendJSON("POST", "/api/v1/svc/admin/announcements", apptest.Doc{"content": "Hello"}).Want(200).Object().ID()
	later := admin.SendJSON("POST", "/api/v1/svc/admin/announcements", apptest.Doc{"content": "Later", "starts_at": apptest.FromNow(3600e9), "ends_at": apptest.FromNow(7200e9)}).Want(200).Object().ID()
	stream := srv.OpenStream(alice.Client, "stream", "user")
	react := func(as *apptest.Client, method, id, emoji string) *apptest.Response {
		t.Helper()
		return as.Do(method, "/api/v1/announcements/"+id+"/reactions/"+url.PathEscape(emoji), "", nil)
	}
	for _, tt := range []struct {
		what       string
		as         *apptest.Client
		method     string
		id, emoji  string
		want       int
		wantCounts string // of alice
	}{
		{"a Unicode emoji", alice.Client, "PUT", id, "👍", 200, "👍 1 true"},
		{"the same again", alice.Client, "PUT", id, "👍", 200, "👍 1 true"},
		{"of another", bob.Client, "PUT", id, "👍", 200, "👍 2 true"},
		{"a custom emoji", bob.Client, "PUT", id, "blobcat", 200, "👍 2 true, blobcat 1 false"},
		{"in colons", alice.Client, "PUT", id, ":blobcat:", 200, "👍 2 true, blobcat 2 true"},
		{"an unknown emoji", alice.Client, "PUT", id, "nocat", 422, "👍 2 true, blobcat 2 true"},
		{"one of another server", alice.Client, "PUT", id, "cat@remote.example", 422, "👍 2 true, blobcat 2 true"},
		{"a text", alice.Client, "PUT", id, "Hello you", 422, "👍 2 true, blobcat 2 true"},
		{"not announced yet", alice.Client, "PUT", later, "👍", 404, "👍 2 true, blobcat 2 true"},
		{"no announcement", alice.Client, "PUT", "x", "👍", 404, "👍 2 true, blobcat 2 true"},
		{"anonymous", srv.As(nil), "PUT", id, "👍", 401, "👍 2 true, blobcat 2 true"},
		{"remove", alice.Client, "DELETE", id, "👍", 200, "👍 1 false, blobcat 2 true"},
		{"remove again", alice.Client, "DELETE", id, "👍", 404, "👍 1 false, blobcat 2 true"},
		{"remove the last", bob.Client, "DELETE", id, "👍", 200, "blobcat 2 true"},
	} {
		react(tt.as, tt.method, tt.id, tt.emoji).Want(tt.want)
		got := ""
		for i, r := range alice.Get("/api/v1/announcements").Want(200).List()[0].At("reactions").([]any) {
			if i > 0 {
				got += ", "
			}
			m := r.(map[string]any)
			got += fmt.Sprint(m["name"], " ", m["count"], " ", m["me"])
			if (m["url"] != nil) != (m["name"] == "blobcat") {
				t.Errorf("%s: %v has the picture %v", tt.what, m["name"], m["url"])
			}
		}
		if got != tt.wantCounts {
			t.Errorf("%s: got %s, want %s", tt.what, got, tt.wantCounts)
		}
	}
	for _, count := range []int{1, 2} {
		stream.WaitFor(func(e apptest.StreamEvent) bool {
			return e.Event == "announcement.reaction" && e.Payload != nil && *e.Payload == fmt.Sprintf(`{"name":"👍","count":%d,"announcement_id":"%s"}`, count, id)
		})
	}
	for _, emoji := range []string{"❤️", "😀", "🎉", "🔥", "🐈", "🐕", "🌍"} {
		react(alice.Client, "PUT", id, emoji).Want(200)
	}
	react(alice.Client, "PUT", id, "🚲").WantError(422, "Validation failed: Limit of different reactions reached")
	react(bob.Client, "PUT", id, "🌍").Want(200)
	srv.NewToken(alice, "read").Do("PUT", "/api/v1/announcements/"+id+"/reactions/x", "", nil).Want(403)
}

package federation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/store"
)

// TestLargeRowsAreCut checks that rows that an earlier version stored are small when they are shown, and that the job cuts what is stored.
func TestLargeRowsAreCut(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	tags, _ := hostileEmojis(peer)
	note := peer.Note(bob, "old", apptest.Doc{
		"type": "Question", "oneOf": []any{apptest.Doc{"type": "Note", "name": "a"}, apptest.Doc{"type": "Note", "name": "b"}}, "tag": tags,
		"attachment": []any{apptest.Doc{"type": "Document", "mediaType": "image/png", "url": peer.URL + "/a.png"}},
	})
	send(t, peer, srv, peer.Create(note))
	st := alice.WantPost(note["id"])
	edit := apptest.With(note, apptest.Doc{"content": "new", "updated": time.Now().UTC().Add(time.Second).Format(time.RFC3339Nano)})
	send(t, peer, srv, peer.Activity("Update", bob, edit))
	send(t, peer, srv, peer.ChatMessage(bob, alice.URI()))

	long, quotes := "<p>"+strings.Repeat("&amp;", 400_000)+"</p>", strings.Repeat(`"`, 100_000)
	emojis, use := []store.RemoteEmoji{}, ""
	for i := range 200 {
		emojis = append(emojis, store.RemoteEmoji{Shortcode: fmt.Sprint("e", i), URL: "https://x.example/" + strings.Repeat("e", 1900) + fmt.Sprint(i)})
		use += fmt.Sprintf(":e%d: ", i)
	}
	list := string(apptest.MustJSON(emojis))
	field := string(apptest.MustJSON([]store.Field{{Name: quotes, Value: quotes}, {Name: use, Value: use}}))
	srv.Exec(`UPDATE statuses SET content = ?, spoiler_text = ?, emojis = ? WHERE domain <> ''`, use+long, quotes, list)
	srv.Exec(`UPDATE status_edits SET content = ?, spoiler_text = ?`, long, quotes)
	srv.Exec(`UPDATE polls SET options = ?`, string(apptest.MustJSON([]store.PollOption{{Title: quotes}, {Title: use}})))
	srv.Exec(`UPDATE media SET description = ?, mime = ? WHERE file = ''`, strings.Repeat("\x01", 50_000), "image/"+quotes)
	srv.Exec(`UPDATE accounts SET note = ?, fields = ?, emojis = ?, display_name = ?, also_known_as = ? WHERE domain <> ''`, use+long, field, list, use, `["`+strings.Repeat("a", 100_000)+`"]`)
	srv.Exec(`UPDATE chat_messages SET content = ?, emojis = ?`, use+long, list)
	srv.Entities.InvalidateAll()

	chat := alice.Get("/api/v2/svc/chats").Want(200).List()[0].ID()
	check := func() {
		t.Helper()
		path := "/api/v1/statuses/" + st.ID()
		for _, path := range []string{path, path + "/history", path + "/source", "/api/v1/timelines/home", "/api/v1/accounts/" + st.Str("account.id"), "/api/v1/svc/chats/" + chat + "/messages"} {
			wantSmallEntities(t, path, alice.Get(path).Want(200).Body)
		}
	}
	check()
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.Enqueue(t.Context(), store.CutLargeRows{}) })
	if err != nil {
		t.Fatal(err)
	}
	left := func() int {
		return srv.Count(`SELECT (SELECT count(*) FROM statuses WHERE length(content) > 64000 OR length(spoiler_text) > 5000 OR length(emojis) > 20000)
			+ (SELECT count(*) FROM status_edits WHERE length(content) > 64000 OR length(spoiler_text) > 5000)
			+ (SELECT count(*) FROM polls WHERE length(options) > 17000)
			+ (SELECT count(*) FROM media WHERE length(description) > 20000 OR length(mime) > 255)
			+ (SELECT count(*) FROM accounts WHERE length(note) > 12000 OR length(fields) > 12000 OR length(emojis) > 6000 OR length(also_known_as) > 8000 OR length(display_name) > 1000)
			+ (SELECT count(*) FROM chat_messages WHERE length(content) > 64000 OR length(emojis) > 20000)`)
	}
	if left() == 0 {
		t.Error("no row is too large before the job")
	}
	for range 20 {
		srv.Advance(2 * time.Second)
		srv.RunJobs()
	}
	if n := left(); n > 0 {
		t.Errorf("%d rows are still too large", n)
	}
	check()
}

package federation_test

import (
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"svc/app/apptest"
)

// TestIncomingManyMentions checks that a post with hundreds of mentions notifies nobody (case 73).
func TestIncomingManyMentions(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice, carol := srv.SignUp("alice"), srv.SignUp("carol")
	bob := peer.AddActor("bob")
	carol.FollowRemote(bob)
	var tags []any
	to := []any{apptest.Public, alice.URI(), carol.URI()}
	for _, uri := range []string{alice.URI(), carol.URI()} {
		tags = append(tags, apptest.Doc{"type": "Mention", "href": uri})
	}
	for i := range 500 {
		tags = append(tags, apptest.Doc{"type": "Mention", "href": fmt.Sprintf("%s/users/x%d", peer.URL, i)})
	}
	note := peer.Note(bob, "hey", apptest.Doc{"tag": tags, "to": to})
	peer.PostAndSettle(srv, peer.Create(note))
	alice.WantPost(note["id"])
	if len(alice.NotificationTypes()) != 0 || len(carol.NotificationTypes()) != 1 {
		t.Errorf("notifications %v and %v, want only those of the follower", alice.NotificationTypes(), carol.NotificationTypes())
	}
	if n := peer.AllFetches(); n > 60 {
		t.Errorf("%d requests for those mentioned", n)
	}
}

// TestNotificationsOfLatePosts checks that posts that arrive late notify, and that old posts that were fetched do not.
func TestNotificationsOfLatePosts(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice, bob := srv.SignUp("alice"), peer.AddActor("bob")
	notified := func(want int) {
		t.Helper()
		if got := alice.Notifications(); len(got) != want {
			t.Errorf("notifications %q, want %d", got, want)
		}
	}
	late := apptest.Doc{"published": apptest.FromNow(-60 * time.Hour), "to": []any{apptest.Public, alice.URI()}, "tag": []any{apptest.Doc{"type": "Mention", "href": alice.URI()}}}
	fetched := peer.Note(bob, "to be found", late)
	peer.Serve(fetched)
	alice.Get("/api/v2/search", "q", fetched["id"].(string), "resolve", "true").Want(200)
	alice.WantPost(fetched["id"])
	notified(0)
	peer.PostAndSettle(srv, peer.Create(peer.Note(bob, "delivered", late)))
	notified(1)
	st := alice.Publish("boost me")
	peer.PostAndSettle(srv, peer.Activity("Announce", bob, st.Str("uri"), apptest.Doc{"to": []any{apptest.Public}, "published": apptest.FromNow(-60 * time.Hour)}))
	notified(2)
}

// TestMentionNotificationLimit checks the limit on mention notifications caused by unfollowed accounts, and its absence for followed
// ones (federation 5.7).
func TestMentionNotificationLimit(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice, carol := srv.SignUp("alice"), srv.SignUp("carol")
	bob, dora := peer.AddActor("bob"), peer.AddActor("dora")
	carol.FollowRemote(bob)
	mentioning := func(by string, changes ...apptest.Doc) apptest.Doc {
		return peer.Note(by, "hey", append([]apptest.Doc{{"to": []any{apptest.Public, alice.URI(), carol.URI()}, "tag": []any{
			apptest.Doc{"type": "Mention", "href": alice.URI()}, apptest.Doc{"type": "Mention", "href": carol.URI()},
		}}}, changes...)...)
	}
	notified := func(m *apptest.User) int {
		t.Helper()
		apptest.Settle(srv)
		return srv.Count(`SELECT count(*) FROM notifications n JOIN accounts a ON a.id = n.account_id WHERE a.nickname = ? AND n.type = 'mention'`, m.Nickname)
	}
	const posts, limit = 20, 30 / 2 // each mentions two
	for range posts {
		peer.Post(srv, peer.Create(mentioning(bob)))
	}
	if a, c := notified(alice), notified(carol); a != limit || c != posts {
		t.Errorf("%d notifications of alice, want %d, and %d of carol, want %d", a, limit, c, posts)
	}
	if n := srv.Count(`SELECT count(*) FROM statuses WHERE domain <> ''`); n != posts {
		t.Errorf("%d posts are stored, want %d", n, posts)
	}
	plain := peer.Note(bob, "hey", apptest.Doc{"to": []any{apptest.Public, alice.URI()}, "published": apptest.FromNow(-time.Hour)})
	peer.PostAndSettle(srv, peer.Create(plain))
	peer.PostAndSettle(srv, peer.Activity("Update", bob, mentioning(bob, apptest.Doc{"id": plain["id"], "updated": apptest.FromNow(0)})))
	if a := notified(alice); a != limit {
		t.Errorf("%d notifications of alice after an edit, want %d", a, limit)
	}
	peer.Post(srv, peer.Create(mentioning(dora)))
	if a := notified(alice); a != limit+1 {
		t.Errorf("%d notifications of alice after posts of others, want %d", a, limit+1)
	}
}

// TestDirectWithoutTags checks that a message to a local account is shown and announced like one that mentions it, as Misskey and Lemmy send
// them; other posts that only address an account are not.
func TestDirectWithoutTags(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice, carol := srv.SignUp("alice"), srv.SignUp("carol")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	for _, tt := range []struct {
		name      string
		note      apptest.Doc
		mentioned []string
	}{
		{"to one", apptest.Doc{"to": []any{alice.URI()}, "cc": []any{}}, []string{"alice"}},
		{"to one as text", apptest.Doc{"to": alice.URI(), "cc": nil}, []string{"alice"}},
		{"to two", apptest.Doc{"to": []any{alice.URI(), carol.URI()}, "cc": []any{}}, []string{"alice", "carol"}},
		{"to one who is mentioned", apptest.Doc{"to": []any{alice.URI()}, "cc": nil, "tag": []any{apptest.Doc{"type": "Mention", "href": alice.URI()}}}, []string{"alice"}},
		{"a copy", apptest.Doc{"to": []any{alice.URI()}, "cc": []any{carol.URI()}}, []string{"alice"}},
		{"for followers", apptest.Doc{"to": []any{bob + "/followers", alice.URI()}, "cc": nil}, nil},
		{"public", apptest.Doc{"to": []any{apptest.Public, alice.URI()}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := srv.Count(`SELECT count(*) FROM notifications WHERE type = 'mention'`)
			note := peer.Note(bob, "<p>hello</p>", tt.note)
			peer.PostAndSettle(srv, peer.Create(note))
			if got := srv.Count(`SELECT count(*) FROM notifications WHERE type = 'mention'`) - before; got != len(tt.mentioned) {
				t.Errorf("%d notifications, want %d", got, len(tt.mentioned))
			}
			found := alice.Get("/api/v2/search?q=" + url.QueryEscape(note["id"].(string))).Want(200).Object()
			if got := found.Find("statuses.0.uri"); got != note["id"] {
				t.Fatalf("found %v", got)
			}
			var mentioned []string
			for i := range 3 {
				if acct, ok := found.Find(fmt.Sprintf("statuses.0.mentions.%d.acct", i)).(string); ok {
					mentioned = append(mentioned, acct)
				}
			}
			slices.Sort(mentioned)
			apptest.WantList(t, "mentions", mentioned, tt.mentioned...)
		})
	}
}

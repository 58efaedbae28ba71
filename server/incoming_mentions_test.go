package server_test

import (
	"fmt"
	"testing"
	"time"
)

// Case 73: who mentions hundreds tells nobody.
func TestIncomingManyMentions(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice, carol := srv.signUp("alice"), srv.signUp("carol")
	bob := peer.actor("bob")
	carol.follows(bob)
	var tags []any
	to := []any{toPublic, alice.uri(), carol.uri()}
	for _, uri := range []string{alice.uri(), carol.uri()} {
		tags = append(tags, doc{"type": "Mention", "href": uri})
	}
	for i := range 500 {
		tags = append(tags, doc{"type": "Mention", "href": fmt.Sprintf("%s/users/x%d", peer.url, i)})
	}
	note := peer.note(bob, "hey", doc{"tag": tags, "to": to})
	peer.receive(srv, peer.create(note))
	alice.wantPost(note["id"])
	if len(alice.told()) != 0 || len(carol.told()) != 1 {
		t.Errorf("told %v and %v, want only who follows", alice.told(), carol.told())
	}
	if n := peer.askedAll(); n > 60 {
		t.Errorf("%d requests for those mentioned", n)
	}
}

// Who was away for days, or whose server was, is told of what comes late; but not of old posts that were fetched.
func TestIncomingLate(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice, bob := srv.signUp("alice"), peer.actor("bob")
	told := func(want int) {
		t.Helper()
		if got := alice.notified(); len(got) != want {
			t.Errorf("told of %q, want %d", got, want)
		}
	}
	late := doc{"published": fromNow(-60 * time.Hour), "to": []any{toPublic, alice.uri()}, "tag": []any{doc{"type": "Mention", "href": alice.uri()}}}
	fetched := peer.note(bob, "to be found", late)
	peer.serve(fetched)
	alice.get("/api/v2/search", "q", fetched["id"].(string), "resolve", "true").want(200)
	alice.wantPost(fetched["id"])
	told(0)
	peer.receive(srv, peer.create(peer.note(bob, "delivered", late)))
	told(1)
	st := alice.publish("boost me")
	peer.receive(srv, peer.activity("Announce", bob, st.str("uri"), doc{"to": []any{toPublic}, "published": fromNow(-60 * time.Hour)}))
	told(2)
}

// Federation 5.7: strangers who mention people of here again and again have them told of some of it; who follows them is told of all.
func TestIncomingMentionsOften(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice, carol := srv.signUp("alice"), srv.signUp("carol")
	bob, dora := peer.actor("bob"), peer.actor("dora")
	carol.follows(bob)
	mentioning := func(by string, changes ...doc) doc {
		return peer.note(by, "hey", append([]doc{{"to": []any{toPublic, alice.uri(), carol.uri()}, "tag": []any{
			doc{"type": "Mention", "href": alice.uri()}, doc{"type": "Mention", "href": carol.uri()},
		}}}, changes...)...)
	}
	told := func(m *member) int {
		t.Helper()
		settle(srv)
		return srv.count(`SELECT count(*) FROM notifications n JOIN accounts a ON a.id = n.account_id WHERE a.nickname = ? AND n.type = 'mention'`, m.nick)
	}
	const posts, most = 20, 30 / 2 // each mentions two
	for range posts {
		peer.post(srv, peer.create(mentioning(bob)))
	}
	if a, c := told(alice), told(carol); a != most || c != posts {
		t.Errorf("alice is told of %d, want %d, and carol of %d, want %d", a, most, c, posts)
	}
	if n := srv.count(`SELECT count(*) FROM statuses WHERE domain <> ''`); n != posts {
		t.Errorf("%d posts are here, want %d", n, posts)
	}
	plain := peer.note(bob, "hey", doc{"to": []any{toPublic, alice.uri()}, "published": fromNow(-time.Hour)})
	peer.receive(srv, peer.create(plain))
	peer.receive(srv, peer.activity("Update", bob, mentioning(bob, doc{"id": plain["id"], "updated": fromNow(0)})))
	if a := told(alice); a != most {
		t.Errorf("alice is told of an edit: %d, want %d", a, most)
	}
	peer.post(srv, peer.create(mentioning(dora)))
	if a := told(alice); a != most+1 {
		t.Errorf("alice is not told of what others say: %d, want %d", a, most+1)
	}
}

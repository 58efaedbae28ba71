package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Cases 90 to 92: boosts.
func TestIncomingAnnounce(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice, carol := srv.signUp("alice"), srv.signUp("carol")
	other := startFake(t)
	bob, eve, group := peer.actor("bob"), peer.actor("eve"), peer.actor("group", doc{"type": "Group"})
	dan := other.actor("dan")
	alice.follows(bob)
	alice.follows(group)
	announce := func(by string, object any, changes ...doc) doc {
		return peer.activity("Announce", by, object, append([]doc{{"to": []any{toPublic}, "cc": []any{by + "/followers"}, "published": fromNow(0)}}, changes...)...)
	}
	boosts := func(m *member, of any) int {
		n := 0
		for _, st := range m.get("/api/v1/timelines/home", "limit", "40").list() {
			if st.dig("reblog.uri") == of {
				n++
			}
		}
		return n
	}
	t.Run("of what is fetched", func(t *testing.T) {
		note := other.note(dan, "far away")
		other.serve(note)
		peer.receive(srv, announce(bob, note["id"]))
		peer.receive(srv, announce(bob, note["id"]))
		if n := boosts(alice, note["id"]); n != 1 {
			t.Errorf("%d boosts in home, want 1", n)
		}
		if st := alice.wantPost(note["id"]); st.str("account.acct") != "dan@"+other.host || st.num("reblogs_count") != 1 {
			t.Errorf("got %v", st.m)
		}
		if n := other.asked(note["id"].(string)); n != 1 {
			t.Errorf("it was asked for %d times", n)
		}
	})
	t.Run("of a post of here", func(t *testing.T) {
		st := carol.publish("mine")
		peer.receive(srv, announce(eve, st.str("uri")))
		if told := carol.told(); !slices.Equal(told, []string{"reblog"}) {
			t.Errorf("the author was told %v", told)
		}
		peer.receive(srv, announce(bob, doc{"id": st.str("uri"), "type": "Note", "content": "forged"}))
		if n, content := boosts(alice, st.str("uri")), alice.wantPost(st.str("uri")).str("content"); n != 1 || content != st.str("content") {
			t.Errorf("%d boosts in home, of %q", n, content)
		}
		carol.post("/api/v1/notifications/clear").want(200)
	})
	t.Run("by a stranger, of a stranger", func(t *testing.T) {
		note := other.note(dan, "of no interest")
		other.serve(note)
		peer.receive(srv, announce(eve, note["id"]))
		if alice.postOf(note["id"]) != nil || other.asked(note["id"].(string)) != 0 {
			t.Error("it was fetched")
		}
	})
	t.Run("of what is not for all", func(t *testing.T) {
		secret := carol.publish("secret", "visibility", "private")
		note := peer.note(eve, "for followers", doc{"to": []any{eve + "/followers"}, "cc": nil})
		peer.serve(note)
		for _, uri := range []any{secret.str("uri"), note["id"]} {
			peer.receive(srv, announce(bob, uri))
			if boosts(alice, uri) != 0 {
				t.Errorf("a boost of %v is in home", uri)
			}
		}
		if len(carol.told()) != 0 {
			t.Errorf("told %v", carol.told())
		}
	})
	t.Run("of one's own for followers, sent along", func(t *testing.T) {
		note := peer.note(bob, "for followers", doc{"to": []any{bob + "/followers"}, "cc": nil})
		peer.receive(srv, announce(bob, note))
		if n := boosts(alice, note["id"]); n != 1 {
			t.Errorf("%d boosts in the home of a follower, want 1", n)
		}
		if carol.postOf(note["id"]) != nil {
			t.Error("who does not follow sees it")
		}
		if boost := alice.get("/api/v1/timelines/home", "limit", "1").list()[0]; boost.str("visibility") != "private" {
			t.Errorf("the boost is %s", boost.str("visibility"))
		}
	})
	t.Run("by a group, of what somebody did", func(t *testing.T) {
		page := other.note(dan, "<p>real</p>", doc{"type": "Page", "name": "Title"})
		other.serve(page)
		forged := with(page, doc{"content": "forged"})
		peer.receive(srv, announce(group, doc{"id": other.id("activities"), "type": "Create", "actor": dan, "object": forged}))
		if boosts(alice, page["id"]) != 1 {
			t.Error("there is no boost by the group")
		}
		if got := alice.wantPost(page["id"]).str("content"); !strings.Contains(got, "real") || strings.Contains(got, "forged") {
			t.Errorf("got %q", got)
		}
		peer.receive(srv, announce(group, doc{"id": other.id("activities"), "type": "Like", "actor": dan, "object": page["id"]}))
		peer.receive(srv, announce(group, doc{"id": other.id("activities"), "type": "Delete", "actor": dan, "object": page["id"]}))
		if got := alice.wantPost(page["id"]); got.num("favourites_count") != 0 {
			t.Error("what a group says of favourites counts")
		}
		other.remove(page["id"].(string), http.StatusGone)
		peer.receive(srv, announce(group, doc{"id": other.id("activities"), "type": "Delete", "actor": dan, "object": page["id"]}))
		if alice.postOf(page["id"]) != nil {
			t.Error("what is gone is here")
		}
	})
	t.Run("of an activity", func(t *testing.T) {
		note := other.note(dan, "behind its Create")
		other.serve(note)
		created := other.create(note)
		other.serve(created)
		peer.receive(srv, announce(bob, created["id"]))
		if boosts(alice, note["id"]) != 1 {
			t.Error("there is no boost")
		}
	})
	t.Run("of several", func(t *testing.T) {
		var ids []any
		for range 3 {
			note := other.note(dan, "one of several")
			other.serve(note)
			ids = append(ids, note["id"])
		}
		peer.receive(srv, announce(bob, ids))
		for _, id := range ids {
			if boosts(alice, id) != 1 {
				t.Errorf("there is no boost of %v", id)
			}
		}
	})
	t.Run("of an account", func(t *testing.T) {
		a := announce(bob, dan)
		peer.receive(srv, a)
		if srv.refusals(a["id"]) == "" {
			t.Error("it is not noted that it was refused")
		}
	})
	t.Run("case 93: taken back by another", func(t *testing.T) {
		st := carol.publish("mine yet")
		a := announce(bob, st.str("uri"))
		peer.receive(srv, a)
		anonymous := with(a, nil)
		delete(anonymous, "actor")
		for _, undone := range []any{a["id"], a, with(a, doc{"actor": eve}), anonymous} {
			peer.receive(srv, peer.activity("Undo", eve, undone))
			if boosts(alice, st.str("uri")) != 1 {
				t.Errorf("another has taken it back by %v", undone)
			}
		}
		peer.receive(srv, peer.activity("Undo", bob, a))
		if boosts(alice, st.str("uri")) != 0 {
			t.Error("the boost is here")
		}
	})
	t.Run("taken back by a deletion", func(t *testing.T) {
		st := carol.publish("again")
		a := announce(bob, st.str("uri"))
		peer.receive(srv, a)
		peer.receive(srv, peer.activity("Delete", bob, a["id"]))
		if boosts(alice, st.str("uri")) != 0 || alice.wantPost(st.str("uri")).num("reblogs_count") != 0 {
			t.Error("the boost is here")
		}
		late := announce(bob, st.str("uri"))
		peer.receive(srv, peer.activity("Delete", bob, late["id"]))
		peer.receive(srv, late)
		if alice.wantPost(st.str("uri")).num("reblogs_count") != 0 {
			t.Error("a boost that was deleted before it came is here")
		}
	})
}

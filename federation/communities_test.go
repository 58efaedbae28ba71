package federation_test

import (
	"slices"
	"testing"

	"svc/app/apptest"
)

// TestCommunityThreads checks that what users do in the thread of a group is addressed and delivered to it once, wherever the author of the
// parent lives, and at any depth (FEP-1b12).
func TestCommunityThreads(t *testing.T) {
	for _, tt := range []struct {
		name string
		post func(group, dan string) apptest.Doc // changes of the post
	}{
		{"by its audience", func(group, dan string) apptest.Doc { return apptest.Doc{"audience": group} }},
		{"by its addressing", func(group, dan string) apptest.Doc { return apptest.Doc{"to": []any{group, apptest.Public}} }},
		{"by the announcement", func(group, dan string) apptest.Doc { return apptest.Doc{} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, peer := apptest.StartWithFake(t)
			other, third := apptest.StartFake(t), apptest.StartFake(t)
			alice := srv.SignUp("alice")
			group, dan, eve := peer.AddActor("cats", apptest.Doc{"type": "Group"}), other.AddActor("dan"), third.AddActor("eve")
			alice.FollowRemote(group)
			page := other.Note(dan, "<p>About cats</p>", tt.post(group, dan))
			other.Serve(page)
			peer.PostAndSettle(srv, peer.Activity("Announce", group, page["id"], apptest.Doc{"to": []any{apptest.Public}, "cc": []any{group + "/followers"}}))
			root := alice.FindPost(page["id"])
			if root == nil {
				t.Fatal("the post is unknown")
			}
			got := func(p *apptest.FakeServer, kind string) apptest.Doc {
				t.Helper()
				apptest.Settle(srv)
				list := p.Delivered(kind)
				if len(list) != 1 {
					t.Fatalf("%s got %d times %s, want 1", p.Host, len(list), kind)
				}
				p.ClearDelivered()
				return list[0]
			}
			clear := func() {
				apptest.Settle(srv)
				for _, p := range []*apptest.FakeServer{peer, other, third} {
					p.ClearDelivered()
				}
			}
			clear()
			reply := alice.Publish("I like cats", "in_reply_to_id", root.ID())
			d := got(peer, "Create")
			object := d["object"].(apptest.Doc)
			for _, o := range []apptest.Doc{d, object} {
				if cc, _ := o["cc"].([]any); o["audience"] != group || !slices.Contains(cc, any(group)) {
					t.Errorf("audience is %v, cc is %v, want %s in both", o["audience"], o["cc"], group)
				}
			}
			got(other, "Create")

			// A reply from a server that does not know groups, and a reply to that.
			deep := third.Note(eve, "<p>me too</p>", apptest.Doc{"inReplyTo": reply.Str("uri"), "cc": []any{alice.URI()}})
			third.PostAndSettle(srv, third.Create(deep))
			clear()
			answer := alice.Publish("indeed", "in_reply_to_id", alice.FindPost(deep["id"]).ID())
			if d := got(peer, "Create"); d["audience"] != group {
				t.Errorf("audience at depth is %v", d["audience"])
			}
			got(third, "Create")
			alice.EditStatus(answer.ID(), map[string]any{"status": "indeed!"}).Want(200)
			if d := got(peer, "Update"); d["audience"] != group {
				t.Errorf("audience of the edit is %v", d["audience"])
			}
			alice.Do("DELETE", "/api/v1/statuses/"+answer.ID(), "", nil).Want(200)
			got(peer, "Delete")

			clear()
			alice.Post("/api/v1/statuses/" + root.ID() + "/favourite").Want(200)
			if d := got(peer, "Like"); d["audience"] != group {
				t.Errorf("audience of the Like is %v", d["audience"])
			}
			got(other, "Like")
			alice.Post("/api/v1/statuses/" + root.ID() + "/unfavourite").Want(200)
			got(peer, "Undo")
			got(other, "Undo")

			// Posts for fewer readers do not go to the group.
			alice.Publish("@dan@"+other.Host+" psst", "in_reply_to_id", root.ID(), "visibility", "direct")
			alice.Publish("for followers", "in_reply_to_id", root.ID(), "visibility", "private")
			apptest.Settle(srv)
			if list := peer.Delivered("Create"); len(list) != 0 {
				t.Errorf("the group got %v", list)
			}
		})
	}
}

// TestCommunityOnOneServer checks that the server of a group gets one copy if the author is on it, too.
func TestCommunityOnOneServer(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	group, dan := peer.AddActor("cats", apptest.Doc{"type": "Group"}), peer.AddActor("dan")
	alice.FollowRemote(group)
	page := peer.Note(dan, "<p>About cats</p>", apptest.Doc{"audience": group})
	peer.Serve(page)
	peer.PostAndSettle(srv, peer.Activity("Announce", group, page["id"], apptest.Doc{"to": []any{apptest.Public}}))
	root := alice.FindPost(page["id"])
	peer.ClearDelivered()
	alice.Publish("I like cats", "in_reply_to_id", root.ID())
	alice.Post("/api/v1/statuses/" + root.ID() + "/favourite").Want(200)
	apptest.Settle(srv)
	for _, kind := range []string{"Create", "Like"} {
		if got := peer.Delivered(kind); len(got) != 1 {
			t.Errorf("%d times %s, want 1", len(got), kind)
		}
	}
	if account := alice.Get("/api/v1/accounts/lookup?acct=cats@" + peer.Host).Want(200).Object(); account.Bool("bot") || !account.Bool("group") {
		t.Errorf("the group is a bot: %v", account.Fields)
	}
}

// TestAnnouncedLikes checks that a Like which a group announces counts, and its Undo, if a server confirms it.
func TestAnnouncedLikes(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	other := apptest.StartFake(t)
	alice, carl := srv.SignUp("alice"), srv.SignUp("carl")
	group, dan, eve := peer.AddActor("cats", apptest.Doc{"type": "Group"}), peer.AddActor("dan"), other.AddActor("eve")
	carl.FollowRemote(group)
	st := alice.Publish("hello")
	announce := func(o apptest.Doc) {
		t.Helper()
		peer.PostAndSettle(srv, peer.Activity("Announce", group, o, apptest.Doc{"to": []any{apptest.Public}}))
	}
	for _, tt := range []struct {
		name  string
		like  apptest.Doc
		serve bool
		want  int
	}{
		{"of the group's server", peer.Activity("Like", dan, st.Str("uri")), false, 1},
		{"of another server that confirms it", other.Activity("Like", eve, st.Str("uri")), true, 1},
		{"of another server that does not", other.Activity("Like", eve, st.Str("uri")), false, 0},
		{"whose id is on another server", peer.Activity("Like", eve, st.Str("uri")), true, 0},
		{"a dislike", peer.Activity("Dislike", dan, st.Str("uri")), false, 0},
		{"of a local account", peer.Activity("Like", carl.URI(), st.Str("uri")), false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.serve {
				other.Serve(tt.like)
			}
			announce(tt.like)
			if got := alice.Favourites(st.ID()); got != tt.want {
				t.Errorf("%d favourites, want %d", got, tt.want)
			}
			undo := peer.Activity("Undo", tt.like["actor"].(string), tt.like)
			if tt.serve && tt.want == 1 {
				undo = other.Activity("Undo", eve, tt.like)
				other.Serve(undo)
			}
			announce(undo)
			if got := alice.Favourites(st.ID()); got != 0 {
				t.Errorf("%d favourites after the Undo, want 0", got)
			}
		})
	}
	before := other.AllFetches()
	page := peer.Note(dan, "<p>About cats</p>", apptest.Doc{"audience": group})
	peer.Serve(page)
	announce(page)
	announce(peer.Activity("Like", dan, page["id"]))
	announce(other.Activity("Like", other.AddActor("fay"), page["id"]))
	if got := alice.FindPost(page["id"]).Int("favourites_count"); got != 1 {
		t.Errorf("the page has %d favourites, want 1", got)
	}
	if got := other.AllFetches() - before; got != 0 {
		t.Errorf("likes of a remote post caused %d requests", got)
	}
}

// TestContainers checks that a post which the owner of a thread adds to it is read (FEP-171b), and nothing else.
func TestContainers(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	other := apptest.StartFake(t)
	alice := srv.SignUp("alice")
	bob, dan := peer.AddActor("bob"), other.AddActor("dan")
	alice.FollowRemote(bob)
	thread := peer.URL + "/contexts/1"
	root := peer.Note(bob, "<p>root</p>", apptest.Doc{"context": thread})
	peer.Serve(root)
	peer.PostAndSettle(srv, peer.Create(root))
	reply := func(changes apptest.Doc) apptest.Doc {
		note := other.Note(dan, "<p>reply</p>", apptest.Doc{"inReplyTo": root["id"], "context": thread}, changes)
		other.Serve(note)
		return note
	}
	one, two, three, unrelated, foreign := reply(nil), reply(nil), reply(nil), reply(apptest.Doc{"inReplyTo": nil}), reply(nil)
	create := other.Create(three)
	other.Serve(create)
	for _, tt := range []struct {
		name         string
		note, object any
		target       string
		want         bool
	}{
		{"a post by its id", one["id"], one["id"], thread, true},
		{"a Create", two["id"], other.Create(two), thread, true},
		{"a Create by its id", three["id"], create["id"], thread, true},
		{"a post of another thread", unrelated["id"], unrelated["id"], thread, false},
		{"a post to an unknown thread", foreign["id"], foreign["id"], peer.URL + "/contexts/2", false},
		{"a post to a thread of another server", foreign["id"], foreign["id"], other.URL + "/contexts/1", false},
	} {
		peer.PostAndSettle(srv, peer.Activity("Add", bob, tt.object, apptest.Doc{"target": tt.target, "to": []any{apptest.Public}}))
		if got := alice.FindPost(tt.note); (got != nil) != tt.want {
			t.Errorf("%s: found is %v", tt.name, got != nil)
		}
	}
	if got := alice.Get("/api/v1/statuses/" + alice.FindPost(root["id"]).ID() + "/context").Want(200).Object().At("descendants").([]any); len(got) != 3 {
		t.Errorf("%d replies, want 3", len(got))
	}
}

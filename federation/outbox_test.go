package federation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

// TestCreateRecipients checks where posts of each visibility are delivered, and their addressing (federation 3.1, 4.1; cases 41 to 44).
func TestCreateRecipients(t *testing.T) {
	srv, alice, home := apptest.StartWithInboxServer(t)
	near, far := apptest.StartInboxServer(t), apptest.StartInboxServer(t)
	for _, nick := range []string{"f1", "f2", "f3"} {
		home.AddFollower(srv, nick, true, alice)
	}
	far.AddFollower(srv, "solitary", false, alice)
	bob := near.AddAccount(srv, "bob", true)
	near.AddAccount(srv, "bea", true)
	carl := near.AddAccount(srv, "carl", true)
	local := srv.SignUp("local")
	if err := srv.Social.Block(t.Context(), srv.Account(t, alice.ID), carl.ID); err != nil {
		t.Fatal(err)
	}
	followers := alice.URI() + "/followers"
	handle := func(nick string, l *apptest.InboxServer) string { return "@" + nick + "@" + l.Host }
	for _, tt := range []struct {
		name       string
		text       string
		visibility string
		to, cc     []string
		home, far  int    // deliveries
		near       string // the remote inbox, "" if none
	}{
		{"public", "hello", "public", []string{apptest.Public}, []string{followers}, 1, 1, ""},
		{"public with mention", "hello " + handle("bob", near), "public", []string{apptest.Public, bob.URI}, []string{followers}, 1, 1, "/inbox"},
		{"unlisted", "hello", "unlisted", []string{followers}, []string{apptest.Public}, 1, 1, ""},
		{"private", "hello " + handle("bob", near), "private", []string{followers, bob.URI}, nil, 1, 1, "/inbox"},
		{"local", "hello " + handle("bob", near), "local", nil, nil, 0, 0, ""},
		{"direct to one", "psst " + handle("bob", near), "direct", []string{bob.URI}, nil, 0, 0, "/users/bob/inbox"},
		{"direct to two", "psst " + handle("bob", near) + " " + handle("bea", near), "direct", []string{bob.URI, near.URL + "/users/bea"}, nil, 0, 0, "/inbox"},
		{"direct to a remote and a local account", "psst " + handle("bob", near) + " @local", "direct", []string{bob.URI, local.URI()}, nil, 0, 0, "/inbox"},
		{"direct to a local account", "psst @local", "direct", nil, nil, 0, 0, ""},
		{"to a blocked account", "hello " + handle("carl", near), "public", []string{apptest.Public, carl.URI}, []string{followers}, 1, 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := alice.Publish(tt.text, "visibility", tt.visibility)
			apptest.Settle(srv)
			letters := map[*apptest.InboxServer][]apptest.Delivery{home: home.Take(), far: far.Take(), near: near.Take()}
			want := map[*apptest.InboxServer]int{home: tt.home, far: tt.far}
			if tt.near != "" {
				want[near] = 1
			}
			for l, list := range letters {
				if len(list) != want[l] {
					t.Fatalf("%d deliveries, want %d", len(list), want[l])
				}
				for _, m := range list {
					m.WantActivity(t, srv)
					to, cc := apptest.Addresses(m.Object)
					if m.Object.Str("type") != "Create" || m.Object.Str("object.id") != srv.URL+"/objects/"+st.ID() || !slices.Equal(to, tt.to) || !slices.Equal(cc, tt.cc) {
						t.Errorf("got %s to %v cc %v, want to %v cc %v", m.Object.Str("type"), to, cc, tt.to, tt.cc)
					}
					if direct := m.Object.Has("directMessage") && m.Object.Bool("directMessage"); direct != (tt.visibility == "direct") {
						t.Errorf("directMessage is %v", direct)
					}
				}
			}
			if tt.near != "" && letters[near][0].Path != tt.near {
				t.Errorf("delivered to %s, want %s", letters[near][0].Path, tt.near)
			}
			if len(letters[home]) == 1 && (letters[home][0].Path != "/inbox" || letters[far][0].Path != "/users/solitary/inbox") {
				t.Errorf("delivered to %s and %s", letters[home][0].Path, letters[far][0].Path)
			}
		})
	}
	if n := srv.Count(`SELECT (SELECT count(*) FROM activities) + (SELECT count(*) FROM deliveries)`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// TestListPosts checks that the addressing of a list post names to each server only its own accounts (case 43).
func TestListPosts(t *testing.T) {
	srv, alice, near := apptest.StartWithInboxServer(t)
	far, home := apptest.StartInboxServer(t), apptest.StartInboxServer(t)
	home.AddFollower(srv, "follower", true, alice)
	bob, bea, cyd := near.AddAccount(srv, "bob", true), near.AddAccount(srv, "bea", true), far.AddAccount(srv, "cyd", true)
	list := alice.SendJSON("POST", "/api/v1/lists", apptest.Doc{"title": "Few"}).Want(200).Object().ID()
	for _, who := range []*store.Account{bob, bea, cyd} {
		srv.Exec(`INSERT INTO list_members (list_id, account_id) SELECT id, ? FROM lists`, who.ID)
	}
	st := alice.Publish("among us", "visibility", "list:"+list)
	check := func(kind string) {
		t.Helper()
		apptest.Settle(srv)
		for l, want := range map[*apptest.InboxServer][]string{near: {bob.URI, bea.URI}, far: {cyd.URI}} {
			m := l.TakeOne(kind)
			m.WantActivity(t, srv)
			if to, cc := apptest.Addresses(m.Object); len(to) != 0 || !slices.Equal(cc, want) {
				t.Errorf("%s is for %v and %v, want %v", kind, to, cc, want)
			}
			for _, other := range []*store.Account{bob, bea, cyd} {
				if strings.Contains(m.Raw, other.URI+`"`) != slices.Contains(want, other.URI) {
					t.Errorf("%s to %v: %s", kind, want, m.Raw)
				}
			}
			if kind != "Delete" && (m.Object.Str("listMessage") == "" || m.Object.Str("object.listMessage") == "") {
				t.Errorf("%s does not say that it is for a list", kind)
			}
		}
		if got := home.Take(); len(got) > 0 {
			t.Errorf("a follower got %s", apptest.DeliveredTypes(got))
		}
	}
	check("Create")
	alice.EditStatus(st.ID(), apptest.Doc{"status": "among ourselves"}).Want(200)
	check("Update")
	alice.Do("DELETE", "/api/v1/statuses/"+st.ID(), "", nil).Want(200)
	check("Delete")
}

// TestEveryOutboxType performs every action that other servers receive, and checks the activities.
func TestEveryOutboxType(t *testing.T) {
	srv, alice, home := apptest.StartWithInboxServer(t, func(c *config.Config) { c.Federation.SendBlocks = true })
	bob := home.AddAccount(srv, "bob", true)
	note := srv.AddRemoteStatus(bob)
	id, bobID := note.ID.String(), bob.ID.String()
	var st, boost string
	inbox := "/users/bob/inbox"
	received := func(kind, path string) *apptest.Object {
		t.Helper()
		apptest.Settle(srv)
		m := home.TakeOne(kind)
		m.WantActivity(t, srv)
		if m.Path != path {
			t.Errorf("%s was sent to %s, want %s", kind, m.Path, path)
		}
		return m.Object
	}
	is := func(o *apptest.Object, path, want string) {
		t.Helper()
		if got := o.Str(path); got != want {
			t.Errorf("%s of %s: got %q, want %q", path, o.Str("type"), got, want)
		}
	}
	undone := func(kind string, of *apptest.Object) {
		t.Helper()
		o := received("Undo", inbox)
		is(o, "object.type", kind)
		is(o, "object.id", of.Str("id"))
		is(o, "object.actor", alice.URI())
		is(o, "object.object", of.Str("object"))
		if o.Str("id") == of.Str("id") {
			t.Error("an Undo has the id of the undone activity")
		}
	}

	alice.Post("/api/v1/statuses/" + id + "/favourite").Want(200)
	like := received("Like", inbox)
	is(like, "object", note.URI)
	alice.Post("/api/v1/statuses/" + id + "/unfavourite").Want(200)
	undone("Like", like)

	alice.ReactWith(id, "🔥")
	react := received("EmojiReact", inbox)
	is(react, "content", "🔥")
	alice.React("DELETE", id, "🔥").Want(200)
	undone("EmojiReact", react)

	alice.AccountAction(bobID, "follow")
	follow := received("Follow", inbox)
	is(follow, "object", bob.URI)
	alice.AccountAction(bobID, "unfollow")
	undone("Follow", follow)

	alice.AccountAction(bobID, "unblock") // nothing
	alice.AccountAction(bobID, "block")
	block := received("Block", inbox)
	is(block, "object", bob.URI)
	alice.AccountAction(bobID, "unblock")
	undone("Block", block)

	// Cases 96, 100: Accept and Reject embed the received Follow.
	followURI := bob.URI + "/follows/" + alice.ID
	srv.AddRemoteFollow(bob, alice, true)
	alice.Post("/api/v1/follow_requests/" + bobID + "/authorize").Want(200)
	accept := received("Accept", inbox)
	is(accept, "object.id", followURI)
	is(accept, "object.actor", bob.URI)
	is(accept, "object.object", alice.URI())
	alice.AccountAction(bobID, "remove_from_followers")
	reject := received("Reject", inbox)
	is(reject, "object.id", followURI)
	is(reject, "object.type", "Follow")

	alice.Post("/api/v1/reports", "account_id", bobID, "status_ids[]", id, "comment", "spam", "forward", "true").Want(200)
	apptest.Settle(srv)
	flag := home.TakeOne("Flag")
	flag.WantActivity(t, srv)
	is(flag.Object, "actor", srv.URL+"/internal/fetch")
	is(flag.Object, "content", "spam")
	if about := fmt.Sprint(flag.Object.At("object")); about != fmt.Sprint([]string{bob.URI, note.URI}) || strings.Contains(flag.Raw, alice.ID) {
		t.Errorf("the report is %s", flag.Raw)
	}

	// Case 82: a Create for each option, for the author only.
	srv.Exec(`UPDATE statuses SET has_poll = 1 WHERE id = ?`, note.ID)
	srv.Exec(`INSERT INTO polls (id, status_id, multiple, options) VALUES (77, ?, 1, '[{"title":"tea","votes":0},{"title":"coffee","votes":0},{"title":"water","votes":0}]')`, note.ID)
	alice.Vote(alice.Get("/api/v1/statuses/"+id).Want(200).Object(), 0, 2).Want(200)
	apptest.Settle(srv)
	votes := home.Take()
	if len(votes) != 2 || votes[0].Object.Str("id") == votes[1].Object.Str("id") || votes[0].Object.Str("object.id") == votes[1].Object.Str("object.id") {
		t.Fatalf("got %s, want two votes", apptest.DeliveredTypes(votes))
	}
	for i, name := range []string{"tea", "water"} {
		v := votes[i]
		v.WantActivity(t, srv)
		is(v.Object, "type", "Create")
		is(v.Object, "object.name", name)
		is(v.Object, "object.inReplyTo", note.URI)
		if to, cc := apptest.Addresses(v.Object); !slices.Equal(to, []string{bob.URI}) || len(cc) != 0 || v.Path != inbox || strings.Contains(v.Raw, `"content"`) {
			t.Errorf("a vote was sent to %s: %s", v.Path, v.Raw)
		}
	}

	chat := alice.Post("/api/v1/svc/chats/by-account-id/" + bobID).Want(200).Object().ID()
	said := alice.SendChat(chat, "hello there")
	create := received("Create", inbox)
	is(create, "object.type", "ChatMessage")
	is(create, "object.content", "hello there")
	alice.Do("DELETE", "/api/v1/svc/chats/"+chat+"/messages/"+said.ID(), "", nil).Want(200)
	is(received("Delete", inbox), "object.id", create.Str("object.id"))

	boost = alice.Post("/api/v1/statuses/" + id + "/reblog").Want(200).Object().ID()
	announce := received("Announce", "/inbox")
	is(announce, "object", note.URI)
	is(announce, "id", srv.URL+"/activities/"+boost)
	alice.Post("/api/v1/statuses/" + id + "/unreblog").Want(200)
	undo := received("Undo", "/inbox")
	is(undo, "object.id", announce.Str("id"))
	is(undo, "object.object", note.URI)

	// From here on bob follows.
	srv.AddRemoteFollow(bob, alice, false)
	st = alice.Publish("first").ID()
	is(received("Create", "/inbox"), "object.content", "<p>first</p>")
	alice.EditStatus(st, apptest.Doc{"status": "second"}).Want(200)
	update := received("Update", "/inbox")
	is(update, "object.content", "<p>second</p>")
	if update.Str("object.updated") == "" || update.Str("id") == "" {
		t.Error("an edit does not say when it was")
	}
	alice.Post("/api/v1/statuses/" + st + "/pin").Want(200)
	add := received("Add", "/inbox")
	is(add, "object", srv.URL+"/objects/"+st)
	is(add, "target", alice.URI()+"/collections/featured")
	alice.Post("/api/v1/statuses/" + st + "/unpin").Want(200)
	received("Remove", "/inbox")
	alice.Do("DELETE", "/api/v1/statuses/"+st, "", nil).Want(200)
	gone := received("Delete", "/inbox")
	is(gone, "object.type", "Tombstone")
	is(gone, "object.id", srv.URL+"/objects/"+st)

	alice.UpdateProfile(apptest.Doc{"display_name": "Alice A."})
	srv.RunDelayedJobs()
	profile := received("Update", "/inbox")
	is(profile, "object.name", "Alice A.")
	is(profile, "object.id", alice.URI())

	twin := home.AddAccount(srv, "twin", true)
	srv.Exec(`UPDATE accounts SET also_known_as = json_array(?) WHERE id = ?`, alice.URI(), twin.ID)
	if err := srv.Social.Move(t.Context(), alice.AccountID(), twin.ID); err != nil {
		t.Fatal(err)
	}
	apptest.Settle(srv)
	moved := home.Take()
	if len(moved) != 2 || moved[0].Object.Str("type") != "Update" || moved[0].Object.Str("object.movedTo") != twin.URI {
		t.Fatalf("got %s, want a profile with movedTo, and a Move", apptest.DeliveredTypes(moved))
	}
	moved[1].WantActivity(t, srv)
	is(moved[1].Object, "type", "Move")
	is(moved[1].Object, "object", alice.URI())
	is(moved[1].Object, "target", twin.URI)
	if to, _ := apptest.Addresses(moved[1].Object); !slices.Equal(to, []string{alice.URI() + "/followers"}) {
		t.Errorf("the Move is for %v", to)
	}
	srv.RunDelayedJobs()
	apptest.Settle(srv)
	home.Take() // the profile again

	// All known servers receive the Delete of an account, also those without followers; the deleted account signs it.
	other := apptest.StartInboxServer(t)
	other.AddAccount(srv, "unrelated", true)
	alone := apptest.StartInboxServer(t)
	alone.AddAccount(srv, "hermit", false)
	lonely := apptest.StartInboxServer(t)
	lonely.AddFollower(srv, "lonely", false, alice)
	srv.DeleteOrDeactivate(alice, true)
	left := received("Delete", "/inbox")
	is(left, "object", alice.URI())
	other.TakeOne("Delete").WantActivity(t, srv)
	alone.TakeOne("Delete")
	if m := lonely.TakeOne("Delete"); m.Path != "/users/lonely/inbox" {
		t.Errorf("a follower's server without a shared inbox received it at %s", m.Path)
	}
}

// TestQuoteDeleted checks that the author of a quoted post receives the quote's Delete, without following or being mentioned.
func TestQuoteDeleted(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	note := peer.Note(bob, "quote me")
	peer.PostAndSettle(srv, peer.Create(note))
	st := alice.Publish("look", "quote_id", alice.WantPost(note["id"]).ID())
	apptest.Settle(srv)
	apptest.WantField(t, peer.OneDelivered("Create"), note["id"], "object", "quoteUrl")
	alice.Do("DELETE", "/api/v1/statuses/"+st.ID(), "", nil).Want(200)
	apptest.Settle(srv)
	apptest.WantField(t, peer.OneDelivered("Delete"), st.Str("uri"), "object", "id")
}

// TestDirectReplyDeleted checks that the author of a post receives neither a direct reply to others nor its Delete.
func TestDirectReplyDeleted(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	other := apptest.StartFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	srv.FetchActor(other.AddActor("carol"))
	note := peer.Note(bob, "discuss")
	peer.PostAndSettle(srv, peer.Create(note))
	about := alice.WantPost(note["id"]).ID()
	for _, visibility := range []string{"direct", "private"} {
		st := alice.Publish("look at him", "visibility", visibility, "in_reply_to_id", about, "quote_id", about, "to[]", "carol@"+other.Host)
		apptest.Settle(srv)
		alice.Do("DELETE", "/api/v1/statuses/"+st.ID(), "", nil).Want(200)
		apptest.Settle(srv)
		if got := peer.Delivered(); len(got) > 0 {
			t.Errorf("%s: bob's server received it: %v", visibility, got)
		}
		other.OneDelivered("Create")
		other.OneDelivered("Delete")
		other.ClearDelivered()
	}
}

// TestEditAfterUnfollow checks that accounts that interacted with a post receive its Update without following its author, if it is not
// private. All that may have a copy receive the Delete.
func TestEditAfterUnfollow(t *testing.T) {
	for _, tt := range []struct {
		visibility string
		followed   bool // by another account
		updates    int
	}{{"private", true, 0}, {"private", false, 0}, {"unlisted", true, 1}, {"unlisted", false, 1}} {
		t.Run(fmt.Sprint(tt.visibility, " ", tt.followed), func(t *testing.T) {
			srv, peer := apptest.StartWithFake(t)
			alice := srv.SignUp("alice")
			bob := peer.AddActor("bob")
			follow := peer.Activity("Follow", bob, alice.URI())
			peer.PostAndSettle(srv, follow)
			if tt.followed {
				other := apptest.StartFake(t)
				other.PostAndSettle(srv, other.Activity("Follow", other.AddActor("carol"), alice.URI()))
			}
			st := alice.Publish("us", "visibility", tt.visibility)
			apptest.Settle(srv)
			peer.PostAndSettle(srv, peer.Activity("Like", bob, st.Str("uri")))
			peer.PostAndSettle(srv, peer.Activity("Undo", bob, follow))
			peer.ClearDelivered()
			alice.EditStatus(st.ID(), apptest.Doc{"status": "us only"}).Want(200)
			apptest.Settle(srv)
			if n := len(peer.Delivered("Update")); n != tt.updates {
				t.Errorf("%d edits were delivered, want %d", n, tt.updates)
			}
			alice.Do("DELETE", "/api/v1/statuses/"+st.ID(), "", nil).Want(200)
			apptest.Settle(srv)
			apptest.WantField(t, peer.OneDelivered("Delete"), st.Str("uri"), "object", "id")
		})
	}
}

// TestNotSent performs actions that no other server receives.
func TestNotSent(t *testing.T) {
	srv, alice, home := apptest.StartWithInboxServer(t)
	bob := home.AddAccount(srv, "bob", true)
	bobID := bob.ID.String()
	alice.AccountAction(bobID, "block")
	alice.AccountAction(bobID, "unblock")
	alice.AccountAction(bobID, "mute")
	alice.Publish("nobody follows me")
	st := alice.Publish("deleted before it was sent", "visibility", "direct")
	alice.Do("DELETE", "/api/v1/statuses/"+st.ID(), "", nil).Want(200)
	alice.Post("/api/v1/reports", "account_id", bobID, "comment", "only for here").Want(200)
	alice.UpdateProfile(apptest.Doc{"display_name": "Nobody"})
	srv.RunDelayedJobs()
	apptest.Settle(srv)
	if got := home.Take(); len(got) > 0 {
		t.Errorf("got %s", apptest.DeliveredTypes(got))
	}

	// Activities undone before they are built are not sent; the Undo may be.
	home.AddFollower(srv, "follower", true, alice)
	st = alice.Publish("oops")
	alice.Do("DELETE", "/api/v1/statuses/"+st.ID(), "", nil).Want(200)
	alice.AccountAction(bobID, "follow")
	alice.AccountAction(bobID, "unfollow")
	apptest.Settle(srv)
	for _, m := range home.Take() {
		if kind := m.Object.Str("type"); kind == "Create" || kind == "Follow" {
			t.Errorf("sent %s that was undone", kind)
		}
	}

	// Nothing new is sent for a deactivated account.
	alice.Publish("one more")
	srv.DeleteOrDeactivate(alice, false)
	apptest.Settle(srv)
	for _, m := range home.Take() {
		t.Errorf("sent %s of a deactivated account", m.Object.Str("type"))
	}
}

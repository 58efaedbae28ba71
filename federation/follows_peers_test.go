package federation_test

import (
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestRelationshipsBetweenServers covers the relationships between accounts of two servers.
func TestRelationshipsBetweenServers(t *testing.T) {
	peers := apptest.StartPeers(t, 2, func(c *config.Config) { c.Federation.SendBlocks, c.Federation.SendListens = true, true })
	here, there := peers[0], peers[1]
	alice, staff := here.SignUp("alice"), here.SignUp("staff")
	here.SetRole(staff, true, false)
	bob, carol := there.SignUp("bob"), there.SignUp("carol")
	atBob, atAlice := bob.FindRemote(alice), alice.FindRemote(bob)
	both := func(bobs, alices []string) {
		t.Helper()
		apptest.Settle(here, there)
		bob.Relationship(atBob).WantTrue(apptest.RelationshipFlags, bobs...)
		alice.Relationship(atAlice).WantTrue(apptest.RelationshipFlags, alices...)
	}
	list := func(s ...string) []string { return s }

	bob.AccountAction(atBob, "follow")
	both(list("following"), list("followed_by"))
	bob.AccountAction(atBob, "unfollow")
	both(nil, nil)
	bob.AccountAction(atBob, "follow")
	both(list("following"), list("followed_by"))
	alice.AccountAction(atAlice, "remove_from_followers")
	both(nil, nil)
	alice.Lock()
	apptest.Settle(here, there)
	bob.AccountAction(atBob, "follow")
	both(list("requested"), list("requested_by"))
	alice.Post("/api/v1/follow_requests/" + atAlice + "/reject").Want(200)
	both(nil, nil)
	bob.AccountAction(atBob, "follow")
	both(list("requested"), list("requested_by"))
	alice.Post("/api/v1/follow_requests/" + atAlice + "/authorize").Want(200)
	both(list("following"), list("followed_by"))
	alice.AccountAction(atAlice, "follow")
	both(list("following", "followed_by"), list("following", "followed_by"))

	// Favourites, reactions, votes.
	st := alice.Publish("a post for followers", "visibility", "private", "poll[options][]", "yes", "poll[options][]", "no", "poll[expires_in]", "86400")
	apptest.Settle(here, there)
	seen := bob.Get("/api/v1/timelines/home").Want(200).List()[0]
	bob.Post("/api/v1/statuses/" + seen.ID() + "/favourite").Want(200)
	bob.ReactWith(seen.ID(), "🔥")
	bob.Vote(seen, 1).Want(200)
	apptest.Settle(here, there)
	if n := alice.Get("/api/v1/statuses/" + st.ID()).Object().Int("favourites_count"); n != 1 || reactionSummary(alice, st.ID()) != "🔥 1" || voteCounts(alice, st) != "yes 0, no 1" {
		t.Errorf("alice has %d favourites, the reactions %s, and the votes %s", n, reactionSummary(alice, st.ID()), voteCounts(alice, st))
	}
	here.Exec(`UPDATE jobs SET run_at = 1 WHERE unique_key = ?`, "tally:"+st.ID())
	apptest.Settle(here, there)
	if got := voteCounts(bob, seen); got != "yes 0, no 1" {
		t.Errorf("bob sees the votes %s", got)
	}
	bob.Post("/api/v1/statuses/" + seen.ID() + "/unfavourite").Want(200)
	bob.React("DELETE", seen.ID(), "🔥").Want(200)
	apptest.Settle(here, there)
	if n := alice.Get("/api/v1/statuses/" + st.ID()).Object().Int("favourites_count"); n != 0 || reactionSummary(alice, st.ID()) != "" {
		t.Errorf("after bob has taken them back: %d favourites, reactions %s", n, reactionSummary(alice, st.ID()))
	}

	// Chats.
	chat := bob.Post("/api/v1/svc/chats/by-account-id/" + atBob).Want(200).Object().ID()
	said := bob.SendChat(chat, "hello alice")
	apptest.Settle(here, there)
	own := alice.Post("/api/v1/svc/chats/by-account-id/" + atAlice).Want(200).Object().ID()
	apptest.WantList(t, "alice reads", alice.ChatMessages(own), "hello alice")
	alice.SendChat(own, "hello bob")
	apptest.Settle(here, there)
	apptest.WantList(t, "bob reads", bob.ChatMessages(chat), "hello bob", "hello alice")
	bob.Do("DELETE", "/api/v1/svc/chats/"+chat+"/messages/"+said.ID(), "", nil).Want(200)
	apptest.Settle(here, there)
	apptest.WantList(t, "alice reads then", alice.ChatMessages(own), "hello bob")

	// Pins, scrobbles, reports.
	top := alice.Publish("on top")
	alice.Post("/api/v1/statuses/" + top.ID() + "/pin").Want(200)
	alice.Post("/api/v1/svc/scrobble", "title", "a song").Want(200)
	apptest.Settle(here, there)
	pinned := bob.Get("/api/v1/accounts/"+atBob+"/statuses", "pinned", "true").Want(200).List()
	if len(pinned) != 1 || pinned[0].Str("uri") != top.Str("uri") {
		t.Errorf("bob sees pinned: %v", pinned)
	}
	apptest.WantList(t, "alice's songs", bob.Scrobbles(atBob), "a song")
	alice.Post("/api/v1/statuses/" + top.ID() + "/unpin").Want(200)
	bob.SendJSON("POST", "/api/v1/reports", map[string]any{"account_id": atBob, "status_ids": []string{pinned[0].ID()}, "comment": "rude", "forward": true}).Want(200)
	apptest.Settle(here, there)
	if n := len(bob.Get("/api/v1/accounts/"+atBob+"/statuses", "pinned", "true").Want(200).List()); n > 0 {
		t.Errorf("it is pinned yet")
	}
	reports := staff.Get("/api/v1/notifications", "types[]", "svc:report").Want(200).List()
	if len(reports) != 1 || reports[0].Str("report.account.id") != alice.ID || reports[0].Str("report.content") != "rude" || len(reports[0].At("report.statuses").([]any)) != 1 {
		t.Errorf("reports: %v", reports)
	}

	// A block, and its end.
	alice.AccountAction(atAlice, "block")
	both(list("blocked_by"), list("blocking"))
	bob.Post("/api/v1/accounts/" + atBob + "/follow").Want(403)
	alice.AccountAction(atAlice, "unblock")
	both(nil, nil)
	bob.AccountAction(atBob, "follow")
	both(list("requested"), list("requested_by"))
	alice.Post("/api/v1/follow_requests/" + atAlice + "/authorize").Want(200)

	// Alice becomes carol, of bob's server.
	carol.SendJSON("PUT", "/api/v1/svc/aliases", map[string]any{"alias": "alice@" + apptest.MustHost(t, here.URL)}).Want(200)
	apptest.Settle(here, there)
	alice.Post("/api/v1/svc/move_account", "password", apptest.Password, "target_account", "carol@"+apptest.MustHost(t, there.URL)).Want(200)
	apptest.Settle(here, there)
	bob.Relationship(carol.ID).WantTrue(apptest.RelationshipFlags, "following")
	bob.Relationship(atBob).WantTrue(apptest.RelationshipFlags)
	if got := bob.NotificationTypes(); got[0] != "move" {
		t.Errorf("notifications of bob: %q", got)
	}
}

// TestUnavailableAccountsBetweenServers covers withdrawn follow requests, deactivated accounts and deleted ones between two servers.
func TestUnavailableAccountsBetweenServers(t *testing.T) {
	peers := apptest.StartPeers(t, 2)
	here, there := peers[0], peers[1]
	alice, bob := here.SignUp("alice"), there.SignUp("bob")
	atBob, atAlice := bob.FindRemote(alice), alice.FindRemote(bob)
	both := func(bobs, alices []string) {
		t.Helper()
		apptest.Settle(here, there)
		bob.Relationship(atBob).WantTrue(apptest.RelationshipFlags, bobs...)
		alice.Relationship(atAlice).WantTrue(apptest.RelationshipFlags, alices...)
	}
	counts := func(m *apptest.User, id string, followers, following float64) {
		t.Helper()
		if o := m.Get("/api/v1/accounts/" + id).Want(200).Object(); o.Int("followers_count") != int(followers) || o.Int("following_count") != int(following) {
			t.Errorf("%s has %d followers and follows %d, want %v and %v", o.Str("acct"), o.Int("followers_count"), o.Int("following_count"), followers, following)
		}
	}
	list := func(s ...string) []string { return s }
	alice.Lock()
	apptest.Settle(here, there)
	bob.AccountAction(atBob, "follow")
	both(list("requested"), list("requested_by"))
	apptest.WantList(t, "notifications of alice", alice.NotificationTypes(), "follow_request")
	bob.AccountAction(atBob, "unfollow")
	both(nil, nil)
	apptest.WantList(t, "notifications of alice after it is undone", alice.NotificationTypes())
	apptest.WantList(t, "requests", alice.Get("/api/v1/follow_requests").Want(200).IDs())
	carol := there.SignUp("carol")
	carol.AccountAction(carol.FindRemote(alice), "follow")
	apptest.Settle(here, there)
	there.DeleteOrDeactivate(carol, false)
	apptest.Settle(here, there)
	apptest.WantList(t, "requests of a deactivated account", alice.Get("/api/v1/follow_requests").Want(200).IDs())
	bob.AccountAction(atBob, "follow")
	both(list("requested"), list("requested_by"))
	alice.Post("/api/v1/follow_requests/" + atAlice + "/authorize").Want(200)
	alice.AccountAction(atAlice, "follow")
	both(list("following", "followed_by"), list("following", "followed_by"))
	counts(alice, alice.ID, 1, 1)
	counts(bob, bob.ID, 1, 1)

	// While an account is deactivated it receives no posts, and its follows are restored afterwards.
	there.DeleteOrDeactivate(bob, false)
	apptest.Settle(here, there)
	alice.Publish("while bob is deactivated")
	apptest.Settle(here, there)
	counts(alice, alice.ID, 1, 1)
	if _, err := there.Admin.ActivateUsers(t.Context(), []string{bob.ID}); err != nil {
		t.Fatal(err)
	}
	bob.Client = there.NewToken(bob, "read write follow push")
	both(list("following", "followed_by"), list("following", "followed_by"))

	// Of a deleted account only the posts of others stay.
	last := bob.Publish("my last words")
	apptest.Settle(here, there)
	if n := len(alice.Get("/api/v1/timelines/home").Want(200).List()); n != 2 {
		t.Errorf("alice reads %d posts", n)
	}
	there.DeleteOrDeactivate(bob, true)
	apptest.Settle(here, there)
	counts(alice, alice.ID, 0, 0)
	alice.Get("/api/v1/accounts/" + atAlice).Want(404)
	if alice.FindPost(last.Str("uri")) != nil {
		t.Error("posts of a deleted account are stored")
	}
	if n := here.Count(`SELECT count(*) FROM follows`) + there.Count(`SELECT count(*) FROM follows`); n > 0 {
		t.Errorf("%d follows are left", n)
	}
}

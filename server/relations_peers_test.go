package server_test

import (
	"net/url"
	"testing"

	"svc/internal/config"
)

// find returns the id that a member of another server has on this one, which is looked for if it is not known.
func (m *member) find(who *member) string {
	m.api.t.Helper()
	u, err := url.Parse(who.api.url)
	if err != nil {
		m.api.t.Fatal(err)
	}
	found := m.get("/api/v2/search", "q", "@"+who.nick+"@"+u.Host, "resolve", "true", "type", "accounts").want(200).object().at("accounts").([]any)
	if len(found) != 1 {
		m.api.t.Fatalf("%s finds %d accounts of %s", m.nick, len(found), who.nick)
	}
	return found[0].(map[string]any)["id"].(string)
}

// TestRelationsOfPeers has people of two servers do with each other what there is between people.
func TestRelationsOfPeers(t *testing.T) {
	peers := startPeers(t, 2, func(c *config.Config) { c.Federation.SendBlocks, c.Federation.SendListens = true, true })
	here, there := peers[0], peers[1]
	alice, staff := here.signUp("alice"), here.signUp("staff")
	here.promote(staff, true, false)
	bob, carol := there.signUp("bob"), there.signUp("carol")
	atBob, atAlice := bob.find(alice), alice.find(bob)
	both := func(bobs, alices []string) {
		t.Helper()
		settle(here, there)
		bob.relationship(atBob).wantTruths(relations, bobs...)
		alice.relationship(atAlice).wantTruths(relations, alices...)
	}
	list := func(s ...string) []string { return s }

	bob.to(atBob, "follow")
	both(list("following"), list("followed_by"))
	bob.to(atBob, "unfollow")
	both(nil, nil)
	bob.to(atBob, "follow")
	both(list("following"), list("followed_by"))
	alice.to(atAlice, "remove_from_followers")
	both(nil, nil)
	alice.lock()
	settle(here, there)
	bob.to(atBob, "follow")
	both(list("requested"), list("requested_by"))
	alice.post("/api/v1/follow_requests/" + atAlice + "/reject").want(200)
	both(nil, nil)
	bob.to(atBob, "follow")
	both(list("requested"), list("requested_by"))
	alice.post("/api/v1/follow_requests/" + atAlice + "/authorize").want(200)
	both(list("following"), list("followed_by"))
	alice.to(atAlice, "follow")
	both(list("following", "followed_by"), list("following", "followed_by"))

	// Favourites, reactions, votes.
	st := alice.publish("a post for followers", "visibility", "private", "poll[options][]", "yes", "poll[options][]", "no", "poll[expires_in]", "86400")
	settle(here, there)
	seen := bob.get("/api/v1/timelines/home").want(200).list()[0]
	bob.post("/api/v1/statuses/" + seen.id() + "/favourite").want(200)
	bob.reactWith(seen.id(), "🔥")
	bob.vote(seen, 1).want(200)
	settle(here, there)
	if n := alice.get("/api/v1/statuses/" + st.id()).object().num("favourites_count"); n != 1 || alice.shown(st.id()) != "🔥 1" || alice.tally(st) != "yes 0, no 1" {
		t.Errorf("alice has %d favourites, the reactions %s, and the votes %s", n, alice.shown(st.id()), alice.tally(st))
	}
	here.insert(`UPDATE jobs SET run_at = 1 WHERE unique_key = ?`, "tally:"+st.id())
	settle(here, there)
	if got := bob.tally(seen); got != "yes 0, no 1" {
		t.Errorf("bob sees the votes %s", got)
	}
	bob.post("/api/v1/statuses/" + seen.id() + "/unfavourite").want(200)
	bob.react("DELETE", seen.id(), "🔥").want(200)
	settle(here, there)
	if n := alice.get("/api/v1/statuses/" + st.id()).object().num("favourites_count"); n != 0 || alice.shown(st.id()) != "" {
		t.Errorf("after bob has taken them back: %d favourites, reactions %s", n, alice.shown(st.id()))
	}

	// Chats.
	chat := bob.post("/api/v1/svc/chats/by-account-id/" + atBob).want(200).object().id()
	said := bob.say(chat, "hello alice")
	settle(here, there)
	own := alice.post("/api/v1/svc/chats/by-account-id/" + atAlice).want(200).object().id()
	wantList(t, "alice reads", alice.messages(own), "hello alice")
	alice.say(own, "hello bob")
	settle(here, there)
	wantList(t, "bob reads", bob.messages(chat), "hello bob", "hello alice")
	bob.do("DELETE", "/api/v1/svc/chats/"+chat+"/messages/"+said.id(), "", nil).want(200)
	settle(here, there)
	wantList(t, "alice reads then", alice.messages(own), "hello bob")

	// Pins, scrobbles, reports.
	top := alice.publish("on top")
	alice.post("/api/v1/statuses/" + top.id() + "/pin").want(200)
	alice.post("/api/v1/svc/scrobble", "title", "a song").want(200)
	settle(here, there)
	pinned := bob.get("/api/v1/accounts/"+atBob+"/statuses", "pinned", "true").want(200).list()
	if len(pinned) != 1 || pinned[0].str("uri") != top.str("uri") {
		t.Errorf("bob sees pinned: %v", pinned)
	}
	wantList(t, "alice's songs", bob.scrobbles(atBob), "a song")
	alice.post("/api/v1/statuses/" + top.id() + "/unpin").want(200)
	bob.send("POST", "/api/v1/reports", map[string]any{"account_id": atBob, "status_ids": []string{pinned[0].id()}, "comment": "rude", "forward": true}).want(200)
	settle(here, there)
	if n := len(bob.get("/api/v1/accounts/"+atBob+"/statuses", "pinned", "true").want(200).list()); n > 0 {
		t.Errorf("it is pinned yet")
	}
	reports := staff.get("/api/v1/notifications", "types[]", "svc:report").want(200).list()
	if len(reports) != 1 || reports[0].str("report.account.id") != alice.id || reports[0].str("report.content") != "rude" || len(reports[0].at("report.statuses").([]any)) != 1 {
		t.Errorf("reports: %v", reports)
	}

	// A block, and its end.
	alice.to(atAlice, "block")
	both(list("blocked_by"), list("blocking"))
	bob.post("/api/v1/accounts/" + atBob + "/follow").want(403)
	alice.to(atAlice, "unblock")
	both(nil, nil)
	bob.to(atBob, "follow")
	both(list("requested"), list("requested_by"))
	alice.post("/api/v1/follow_requests/" + atAlice + "/authorize").want(200)

	// Alice becomes carol, of bob's server.
	carol.send("PUT", "/api/v1/svc/aliases", map[string]any{"alias": "alice@" + mustHost(t, here.url)}).want(200)
	settle(here, there)
	alice.post("/api/v1/svc/move_account", "password", testPassword, "target_account", "carol@"+mustHost(t, there.url)).want(200)
	settle(here, there)
	bob.relationship(carol.id).wantTruths(relations, "following")
	bob.relationship(atBob).wantTruths(relations)
	if got := bob.told(); got[0] != "move" {
		t.Errorf("bob is told %q", got)
	}
}

func mustHost(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// TestLeaversOfPeers: requests that are taken back, accounts that are away for a while, and such as are gone for good.
func TestLeaversOfPeers(t *testing.T) {
	peers := startPeers(t, 2)
	here, there := peers[0], peers[1]
	alice, bob := here.signUp("alice"), there.signUp("bob")
	atBob, atAlice := bob.find(alice), alice.find(bob)
	both := func(bobs, alices []string) {
		t.Helper()
		settle(here, there)
		bob.relationship(atBob).wantTruths(relations, bobs...)
		alice.relationship(atAlice).wantTruths(relations, alices...)
	}
	counts := func(m *member, id string, followers, following float64) {
		t.Helper()
		if o := m.get("/api/v1/accounts/" + id).want(200).object(); o.num("followers_count") != int(followers) || o.num("following_count") != int(following) {
			t.Errorf("%s has %d followers and follows %d, want %v and %v", o.str("acct"), o.num("followers_count"), o.num("following_count"), followers, following)
		}
	}
	list := func(s ...string) []string { return s }
	alice.lock()
	settle(here, there)
	bob.to(atBob, "follow")
	both(list("requested"), list("requested_by"))
	wantList(t, "alice is told", alice.told(), "follow_request")
	bob.to(atBob, "unfollow")
	both(nil, nil)
	wantList(t, "alice is told after it is taken back", alice.told())
	wantList(t, "requests", alice.get("/api/v1/follow_requests").want(200).ids())
	carol := there.signUp("carol")
	carol.to(carol.find(alice), "follow")
	settle(here, there)
	there.leave(carol, false)
	settle(here, there)
	wantList(t, "requests, of who is away", alice.get("/api/v1/follow_requests").want(200).ids())
	bob.to(atBob, "follow")
	both(list("requested"), list("requested_by"))
	alice.post("/api/v1/follow_requests/" + atAlice + "/authorize").want(200)
	alice.to(atAlice, "follow")
	both(list("following", "followed_by"), list("following", "followed_by"))
	counts(alice, alice.id, 1, 1)
	counts(bob, bob.id, 1, 1)

	// Away: what is written meanwhile does not come, and the follows are there afterwards.
	there.leave(bob, false)
	settle(here, there)
	alice.publish("for who is away")
	settle(here, there)
	counts(alice, alice.id, 1, 1)
	if _, err := there.social.Activate(t.Context(), bob.accountID()); err != nil {
		t.Fatal(err)
	}
	bob.caller = there.newToken(bob, "read write follow push")
	both(list("following", "followed_by"), list("following", "followed_by"))

	// Gone: nothing of it stays but what others have written.
	told := bob.publish("my last words")
	settle(here, there)
	if n := len(alice.get("/api/v1/timelines/home").want(200).list()); n != 2 {
		t.Errorf("alice reads %d posts", n)
	}
	there.leave(bob, true)
	settle(here, there)
	counts(alice, alice.id, 0, 0)
	alice.get("/api/v1/accounts/" + atAlice).want(404)
	if alice.postOf(told.str("uri")) != nil {
		t.Error("the posts of who is gone are there")
	}
	if n := here.count(`SELECT count(*) FROM follows`) + there.count(`SELECT count(*) FROM follows`); n > 0 {
		t.Errorf("%d follows are left", n)
	}
}

package server_test

import (
	"slices"
	"testing"
)

func TestReblog(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol, dave := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol"), srv.signUp("dave")
	srv.letFollow(bob, alice)
	srv.letFollow(carol, bob)
	list := srv.letList(alice, bob)
	post := func(v string) string { return alice.publish(v+" @bob", "visibility", v).id() }
	public, unlisted, local, private, direct, listed := post("public"), post("unlisted"), post("local"), post("private"), post("direct"), post("list:"+list)
	srv.insert(`DELETE FROM notifications`)
	for _, tt := range []struct {
		name   string
		as     *member
		id     string
		params []string
		want   int
		v      string
	}{
		{"public", bob, public, nil, 200, "public"},
		{"again, otherwise", bob, public, []string{"visibility", "private"}, 200, "public"},
		{"public, for followers", carol, public, []string{"visibility", "private"}, 200, "private"},
		{"public, by its author", alice, public, []string{"visibility", "unlisted"}, 200, "unlisted"},
		{"public, with a word", dave, public, []string{"visibility", "direct"}, 200, "public"},
		{"unlisted", bob, unlisted, []string{"visibility", "everyone"}, 200, "public"},
		{"local", bob, local, []string{"visibility", "public"}, 200, "local"},
		{"private", bob, private, nil, 404, ""},
		{"one's own private", alice, private, []string{"visibility", "public"}, 200, "private"},
		{"direct", bob, direct, nil, 404, ""},
		{"one's own direct", alice, direct, nil, 404, ""},
		{"of a list", bob, listed, nil, 404, ""},
		{"one's own of a list", alice, listed, nil, 404, ""},
		{"invisible", carol, private, nil, 404, ""},
		{"unknown", bob, "nothing", nil, 404, ""},
		{"without a token", nil, public, nil, 401, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := srv.as(tt.as).post("/api/v1/statuses/"+tt.id+"/reblog", tt.params...).want(tt.want)
			if tt.want != 200 {
				return
			}
			o := a.object()
			if o.str("reblog.id") != tt.id || o.id() == tt.id || o.str("visibility") != tt.v || o.str("account.id") != tt.as.id || !o.truth("reblogged") ||
				!o.truth("reblog.reblogged") || o.str("reblog.account.id") != alice.id || o.at("reblog.reblog") != nil || o.str("content") != o.str("reblog.content") {
				t.Errorf("not that boost: %v", o.m)
			}
			if !o.truth("svc.local") || !o.truth("reblog.svc.local") {
				t.Error("no extension on both levels")
			}
		})
	}
	if got, want := alice.notified(), []string{"reblog bob", "reblog bob", "reblog dave", "reblog carol", "reblog bob"}; !slices.Equal(got, want) {
		t.Errorf("alice is told %v, want %v", got, want)
	}
	if n := alice.get("/api/v1/statuses/" + public).object().num("reblogs_count"); n != 4 {
		t.Errorf("reblogs_count is %d", n)
	}
}

func TestUnreblog(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	srv.letFollow(carol, bob)
	srv.letFollow(alice, bob)
	st := alice.publish("hello").id()
	reblog := func(id string) string { return bob.post("/api/v1/statuses/" + id + "/reblog").want(200).object().id() }
	boost := reblog(st)
	if again := reblog(boost); again != boost {
		t.Errorf("boosting the boost made %s", again)
	}
	wantIDs(t, "the home of who follows", carol.get("/api/v1/timelines/home"), boost)
	wantIDs(t, "the home of who boosted", bob.get("/api/v1/timelines/home"), boost)
	wantIDs(t, "the home of who is boosted", alice.get("/api/v1/timelines/home"), st)
	if n := bob.get("/api/v1/accounts/bob/statuses").list()[0].num("account.statuses_count"); n != 1 {
		t.Errorf("statuses_count is %d", n)
	}
	// What is done with a boost is done with what it boosts.
	if o := carol.post("/api/v1/statuses/" + boost + "/favourite").want(200).object(); o.id() != st || o.num("favourites_count") != 1 {
		t.Errorf("favourite of the boost: %v", o.m)
	}
	for _, id := range []string{st, boost} {
		carol.post("/api/v1/statuses/" + id + "/unreblog").want(200)
		carol.get("/api/v1/statuses/" + boost).want(200)
	}
	o := bob.post("/api/v1/statuses/" + boost + "/unreblog").want(200).object()
	if o.id() != st || o.truth("reblogged") || o.num("reblogs_count") != 0 {
		t.Errorf("not the original: %v", o.m)
	}
	bob.post("/api/v1/statuses/" + st + "/unreblog").want(200)
	bob.get("/api/v1/statuses/" + boost).want(404)
	wantIDs(t, "the home of who follows", carol.get("/api/v1/timelines/home"))
	if got := alice.notified(); !slices.Equal(got, []string{"favourite carol"}) {
		t.Errorf("alice is told %v", got)
	}
	// Deleting the boost takes it back, too.
	boost = reblog(st)
	if o := bob.do("DELETE", "/api/v1/statuses/"+boost, "", nil).want(200).object(); o.id() != boost || o.str("reblog.id") != st {
		t.Errorf("not the boost: %v", o.m)
	}
	if n := bob.get("/api/v1/statuses/" + st).want(200).object().num("reblogs_count"); n != 0 {
		t.Errorf("reblogs_count is %d", n)
	}
	if got := alice.notified(); !slices.Equal(got, []string{"favourite carol"}) {
		t.Errorf("alice is told %v", got)
	}
}

// What somebody did can be taken back after the status has become invisible, but the answer tells nothing of it.
func TestUndoOfTheInvisible(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	st := alice.publish("hello").id()
	path := "/api/v1/statuses/" + st
	for _, do := range []string{"/favourite", "/reblog", "/bookmark", "/mute"} {
		bob.post(path + do).want(200)
	}
	srv.letBlock(alice, bob)
	for _, do := range []string{"/favourite", "/reblog", "/bookmark", "/mute", "/unfavourite", "/unreblog", "/unbookmark", "/unmute", "/pin", "/unpin"} {
		bob.post(path+do).wantError(404, "Record not found")
	}
	srv.insert(`DELETE FROM blocks`)
	o := bob.get(path).want(200).object()
	for _, flag := range []string{"favourited", "reblogged", "bookmarked", "muted"} {
		if o.truth(flag) {
			t.Errorf("still %s", flag)
		}
	}
	if o.num("favourites_count") != 0 || o.num("reblogs_count") != 0 {
		t.Errorf("still counted: %v", o.m)
	}
}

func TestRebloggedBy(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	st := alice.publish("hello").id()
	var want []string
	for _, m := range crowdOf(srv, 9) {
		m.post("/api/v1/statuses/" + st + "/reblog").want(200)
		want = append([]string{m.id}, want...)
	}
	path := "/api/v1/statuses/" + st + "/reblogged_by"
	wantPages(t, bob, path+"?limit=4", want)
	secret := srv.signUp("secret")
	boost := secret.post("/api/v1/statuses/"+st+"/reblog", "visibility", "private").want(200).object().id()
	wantIDs(t, "with a boost for followers", bob.get(path), want...)
	srv.letFollow(carol, secret)
	wantIDs(t, "who follows", carol.get(path), append([]string{secret.id}, want...)...)
	wantIDs(t, "the boost's own", carol.get("/api/v1/statuses/"+boost+"/reblogged_by"), append([]string{secret.id}, want...)...)
	wantIDs(t, "the anonymous", srv.as(nil).get(path), want...)
}

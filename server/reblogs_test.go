package server_test

import (
	"slices"
	"svc/app/apptest"
	"testing"
)

func TestReblog(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol, dave := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol"), srv.SignUp("dave")
	srv.AddFollow(bob, alice)
	srv.AddFollow(carol, bob)
	list := srv.AddList(alice, bob)
	post := func(v string) string { return alice.Publish(v+" @bob", "visibility", v).ID() }
	public, unlisted, local, private, direct, listed := post("public"), post("unlisted"), post("local"), post("private"), post("direct"), post("list:"+list)
	srv.Exec(`DELETE FROM notifications`)
	for _, tt := range []struct {
		name   string
		as     *apptest.User
		id     string
		params []string
		want   int
		v      string
	}{
		{"public", bob, public, nil, 200, "public"},
		{"again, with another visibility", bob, public, []string{"visibility", "private"}, 200, "public"},
		{"public, for followers", carol, public, []string{"visibility", "private"}, 200, "private"},
		{"public, by its author", alice, public, []string{"visibility", "unlisted"}, 200, "unlisted"},
		{"public, with a visibility that boosts do not have", dave, public, []string{"visibility", "direct"}, 422, ""},
		{"public, with an unknown visibility", dave, public, []string{"visibility", "everyone"}, 422, ""},
		{"public, for this server", dave, public, []string{"visibility", "local"}, 200, "local"},
		{"unlisted", bob, unlisted, []string{"visibility", ""}, 200, "public"},
		{"local", bob, local, []string{"visibility", "public"}, 200, "local"},
		{"private", bob, private, nil, 404, ""},
		{"the viewer's private", alice, private, []string{"visibility", "public"}, 200, "private"},
		{"direct", bob, direct, nil, 404, ""},
		{"the viewer's direct", alice, direct, nil, 404, ""},
		{"of a list", bob, listed, nil, 404, ""},
		{"the viewer's, of a list", alice, listed, nil, 404, ""},
		{"invisible", carol, private, nil, 404, ""},
		{"unknown", bob, "nothing", nil, 404, ""},
		{"without a token", nil, public, nil, 401, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := srv.As(tt.as).Post("/api/v1/statuses/"+tt.id+"/reblog", tt.params...).Want(tt.want)
			if tt.want != 200 {
				return
			}
			o := a.Object()
			if o.Str("reblog.id") != tt.id || o.ID() == tt.id || o.Str("visibility") != tt.v || o.Str("account.id") != tt.as.ID || !o.Bool("reblogged") ||
				!o.Bool("reblog.reblogged") || o.Str("reblog.account.id") != alice.ID || o.At("reblog.reblog") != nil || o.Str("content") != o.Str("reblog.content") {
				t.Errorf("the boost is %v", o.Fields)
			}
			if !o.Bool("svc.local") || !o.Bool("reblog.svc.local") {
				t.Error("the extension is missing in the boost or the boosted status")
			}
		})
	}
	if got, want := alice.Notifications(), []string{"reblog bob", "reblog bob", "reblog dave", "reblog carol", "reblog bob"}; !slices.Equal(got, want) {
		t.Errorf("alice has the notifications %v, want %v", got, want)
	}
	if n := alice.Get("/api/v1/statuses/" + public).Object().Int("reblogs_count"); n != 4 {
		t.Errorf("reblogs_count is %d", n)
	}
}

func TestUnreblog(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	srv.AddFollow(carol, bob)
	srv.AddFollow(alice, bob)
	st := alice.Publish("hello").ID()
	reblog := func(id string) string { return bob.Post("/api/v1/statuses/" + id + "/reblog").Want(200).Object().ID() }
	boost := reblog(st)
	if again := reblog(boost); again != boost {
		t.Errorf("boosting the boost created %s", again)
	}
	apptest.WantIDs(t, "home of a follower", carol.Get("/api/v1/timelines/home"), boost)
	apptest.WantIDs(t, "home of the booster", bob.Get("/api/v1/timelines/home"), boost)
	apptest.WantIDs(t, "home of the boosted author", alice.Get("/api/v1/timelines/home"), st)
	if n := bob.Get("/api/v1/accounts/bob/statuses").List()[0].Int("account.statuses_count"); n != 1 {
		t.Errorf("statuses_count is %d", n)
	}
	// Actions on a boost apply to the boosted status.
	if o := carol.Post("/api/v1/statuses/" + boost + "/favourite").Want(200).Object(); o.ID() != st || o.Int("favourites_count") != 1 {
		t.Errorf("favourite of the boost: %v", o.Fields)
	}
	for _, id := range []string{st, boost} {
		carol.Post("/api/v1/statuses/" + id + "/unreblog").Want(200)
		carol.Get("/api/v1/statuses/" + boost).Want(200)
	}
	o := bob.Post("/api/v1/statuses/" + boost + "/unreblog").Want(200).Object()
	if o.ID() != st || o.Bool("reblogged") || o.Int("reblogs_count") != 0 {
		t.Errorf("got %v, want the boosted status", o.Fields)
	}
	bob.Post("/api/v1/statuses/" + st + "/unreblog").Want(200)
	bob.Get("/api/v1/statuses/" + boost).Want(404)
	apptest.WantIDs(t, "home of a follower", carol.Get("/api/v1/timelines/home"))
	if got := alice.Notifications(); !slices.Equal(got, []string{"favourite carol"}) {
		t.Errorf("alice has the notifications %v", got)
	}
	// Deleting the boost also removes it.
	boost = reblog(st)
	if o := bob.Do("DELETE", "/api/v1/statuses/"+boost, "", nil).Want(200).Object(); o.ID() != boost || o.Str("reblog.id") != st {
		t.Errorf("got %v, want the boost", o.Fields)
	}
	if n := bob.Get("/api/v1/statuses/" + st).Want(200).Object().Int("reblogs_count"); n != 0 {
		t.Errorf("reblogs_count is %d", n)
	}
	if got := alice.Notifications(); !slices.Equal(got, []string{"favourite carol"}) {
		t.Errorf("alice has the notifications %v", got)
	}
}

// TestUndoOnInvisibleStatus checks that actions can be undone after the status became invisible, with the response for an unknown status.
func TestUndoOnInvisibleStatus(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	st := alice.Publish("hello").ID()
	path := "/api/v1/statuses/" + st
	for _, do := range []string{"/favourite", "/reblog", "/bookmark", "/mute"} {
		bob.Post(path + do).Want(200)
	}
	srv.AddBlock(alice, bob)
	for _, do := range []string{"/favourite", "/reblog", "/bookmark", "/mute", "/unfavourite", "/unreblog", "/unbookmark", "/unmute", "/pin", "/unpin"} {
		bob.Post(path+do).WantError(404, "Record not found")
	}
	srv.Exec(`DELETE FROM blocks`)
	o := bob.Get(path).Want(200).Object()
	for _, flag := range []string{"favourited", "reblogged", "bookmarked", "muted"} {
		if o.Bool(flag) {
			t.Errorf("still %s", flag)
		}
	}
	if o.Int("favourites_count") != 0 || o.Int("reblogs_count") != 0 {
		t.Errorf("still counted: %v", o.Fields)
	}
}

func TestRebloggedBy(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	st := alice.Publish("hello").ID()
	var want []string
	for _, m := range apptest.SignUpMany(srv, 9) {
		m.Post("/api/v1/statuses/" + st + "/reblog").Want(200)
		want = append([]string{m.ID}, want...)
	}
	path := "/api/v1/statuses/" + st + "/reblogged_by"
	apptest.WantPages(t, bob, path+"?limit=4", want)
	secret := srv.SignUp("secret")
	boost := secret.Post("/api/v1/statuses/"+st+"/reblog", "visibility", "private").Want(200).Object().ID()
	apptest.WantIDs(t, "with a boost for followers", bob.Get(path), want...)
	srv.AddFollow(carol, secret)
	apptest.WantIDs(t, "a follower of the booster", carol.Get(path), append([]string{secret.ID}, want...)...)
	apptest.WantIDs(t, "of the boost", carol.Get("/api/v1/statuses/"+boost+"/reblogged_by"), append([]string{secret.ID}, want...)...)
	apptest.WantIDs(t, "an anonymous client", srv.As(nil).Get(path), want...)
}

package server_test

import (
	"fmt"
	"slices"
	"svc/app/apptest"
	"testing"
)

// TestReplyVisibility checks the values of reply_visibility: following omits replies that neither answer nor mention the viewer or an
// account that the viewer follows.
func TestReplyVisibility(t *testing.T) {
	srv := apptest.Start(t)
	author, friend, unfollowed, viewer := srv.SignUp("author"), srv.SignUp("friend"), srv.SignUp("unfollowed"), srv.SignUp("viewer")
	viewer.AccountAction(author.ID, "follow")
	viewer.AccountAction(friend.ID, "follow")
	otherPost, friendsPost := unfollowed.Publish("a post").ID(), friend.Publish("another").ID()
	reply := func(text, parent string) string { return author.Publish(text, "in_reply_to_id", parent).ID() }
	toUnfollowed, naming := reply("hello", otherPost), reply("@friend look", otherPost)
	toFriend, toViewer := reply("hello", friendsPost), reply("@viewer look", otherPost)
	for choice, want := range map[string][]string{
		"":          {toViewer, toFriend, naming, toUnfollowed, friendsPost},
		"following": {toViewer, toFriend, naming, friendsPost},
		"self":      {toViewer, friendsPost},
	} {
		apptest.WantIDs(t, choice, viewer.Get("/api/v1/timelines/home", "reply_visibility", choice), want...)
	}
}

func TestTimelines(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	name := map[string]string{}
	post := func(as *apptest.User, key, text string, params ...string) string {
		id := as.Publish(text, params...).ID()
		name[id] = key
		return id
	}
	root := post(alice, "public", "one #Trains #tea")
	post(alice, "unlisted", "two #trains", "visibility", "unlisted")
	post(alice, "local", "three #trains #coffee", "visibility", "local")
	post(alice, "private", "four #trains", "visibility", "private")
	post(alice, "direct", "five @bob #trains", "visibility", "direct")
	post(bob, "reply", "six #tea", "in_reply_to_id", root)
	post(alice, "self-reply", "seven", "in_reply_to_id", root)
	for _, tt := range []struct {
		path   string
		params []string
		as     *apptest.User
		want   []string
	}{
		{"/api/v1/timelines/public", nil, nil, []string{"self-reply", "reply", "public"}},
		{"/api/v1/timelines/public", nil, carol, []string{"self-reply", "reply", "local", "public"}},
		{"/api/v1/timelines/public", []string{"local", "true"}, carol, []string{"self-reply", "reply", "local", "public"}},
		{"/api/v1/timelines/public", []string{"remote", "true"}, carol, []string{}},
		{"/api/v1/timelines/public", []string{"only_media", "true"}, carol, []string{}},
		{"/api/v1/timelines/public", []string{"instance", "other.example"}, carol, []string{}},
		{"/api/v1/timelines/public", []string{"instance", "exa:99999"}, carol, []string{}}, // not a host
		{"/api/v1/timelines/public", []string{"exclude_visibilities[]", "local"}, carol, []string{"self-reply", "reply", "public"}},
		{"/api/v1/timelines/public", []string{"reply_visibility", "self"}, carol, []string{"local", "public"}},
		{"/api/v1/timelines/public", []string{"reply_visibility", "self"}, alice, []string{"self-reply", "reply", "local", "public"}},
		{"/api/v1/timelines/public", []string{"reply_visibility", "following"}, carol, []string{"local", "public"}},
		{"/api/v1/timelines/tag/TRAINS", nil, nil, []string{"public"}},
		{"/api/v1/timelines/tag/trains", nil, bob, []string{"local", "public"}},
		{"/api/v1/timelines/tag/trains", []string{"any[]", "tea"}, bob, []string{"reply", "local", "public"}},
		{"/api/v1/timelines/tag/trains", []string{"all[]", "tea"}, bob, []string{"public"}},
		{"/api/v1/timelines/tag/trains", []string{"all[]", "tea", "all[]", "coffee"}, bob, []string{}},
		{"/api/v1/timelines/tag/trains", []string{"none[]", "Coffee"}, bob, []string{"public"}},
		{"/api/v1/timelines/tag/trains", []string{"all[]", "unused"}, bob, []string{}},
		{"/api/v1/timelines/tag/unused", nil, bob, []string{}},
		{"/api/v1/timelines/direct", nil, alice, []string{"direct"}},
		{"/api/v1/timelines/direct", nil, bob, []string{"direct"}},
		{"/api/v1/timelines/direct", nil, carol, []string{}},
		{"/api/v1/timelines/home", nil, alice, []string{"self-reply", "direct", "private", "local", "unlisted", "public"}},
		{"/api/v1/timelines/home", nil, bob, []string{"reply", "direct"}},
		{"/api/v1/timelines/home", []string{"exclude_visibilities[]", "direct"}, bob, []string{"reply"}},
		{"/api/v1/timelines/home", []string{"exclude_visibilities", "private"}, alice, []string{"self-reply", "direct", "local", "unlisted", "public"}},
		{"/api/v1/accounts/" + alice.ID + "/statuses", nil, nil, []string{"self-reply", "unlisted", "public"}},
		{"/api/v1/accounts/alice/statuses", nil, carol, []string{"self-reply", "local", "unlisted", "public"}},
		{"/api/v1/accounts/alice/statuses", nil, bob, []string{"self-reply", "direct", "local", "unlisted", "public"}},
		{"/api/v1/accounts/alice/statuses", []string{"tagged", "Coffee"}, bob, []string{"local"}},
		{"/api/v1/accounts/bob/statuses", []string{"exclude_replies", "true"}, nil, []string{}},
		{"/api/v1/accounts/alice/statuses", []string{"exclude_replies", "true"}, nil, []string{"self-reply", "unlisted", "public"}},
		{"/api/v1/accounts/alice/statuses", []string{"pinned", "true"}, nil, []string{}},
		{"/api/v1/accounts/alice/statuses", []string{"only_media", "1"}, nil, []string{}},
	} {
		t.Run(fmt.Sprint(tt.path, tt.params, tt.as != nil), func(t *testing.T) {
			got := []string{}
			for _, id := range srv.As(tt.as).Get(tt.path, tt.params...).Want(200).IDs() {
				got = append(got, name[id])
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	for _, path := range []string{"/api/v1/timelines/home", "/api/v1/timelines/direct", "/api/v1/timelines/list/x"} {
		srv.As(nil).Get(path).WantError(401, "The access token is invalid")
	}
	alice.Get("/api/v1/timelines/list/000000000000000000").WantError(404, "Record not found")
	alice.Get("/api/v1/accounts/nobody/statuses").WantError(404, "Record not found")
}

func TestTimelinePaging(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	var want []string
	for i := range 45 {
		want = append(want, alice.Publish(fmt.Sprintf("post %d #paged", i)).ID())
	}
	slices.Reverse(want)
	for _, path := range []string{
		"/api/v1/timelines/home?limit=7",
		"/api/v1/timelines/public?local=true&limit=10",
		"/api/v1/timelines/tag/paged?any[]=other&limit=9",
		"/api/v1/accounts/alice/statuses?limit=40&exclude_reblogs=true",
	} {
		t.Run(path, func(t *testing.T) { apptest.WantPages(t, alice, path, want) })
	}
	home := func(params ...string) []string { return alice.Get("/api/v1/timelines/home", params...).Want(200).IDs() }
	for _, tt := range []struct {
		name string
		got  []string
		want []string
	}{
		{"the default limit", home(), want[:20]},
		{"the highest limit", home("limit", "200"), want[:40]},
		{"older than", home("max_id", want[10], "limit", "3"), want[11:14]},
		{"the newest that are newer", home("since_id", want[10], "limit", "3"), want[:3]},
		{"the oldest that are newer", home("min_id", want[10], "limit", "3"), want[7:10]},
		{"between", home("max_id", want[3], "since_id", want[7]), want[4:7]},
		{"from the lower end", home("max_id", want[3], "min_id", want[9], "limit", "2"), want[7:9]},
		{"an empty max_id", home("max_id", "", "limit", "2"), want[:2]},
		{"an invalid id", home("max_id", "what?"), []string{}},
		{"newer than the newest", home("since_id", want[0]), []string{}},
	} {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}

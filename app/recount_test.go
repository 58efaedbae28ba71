package app_test

import (
	"testing"

	"svc/app/apptest"
)

// TestCountersAfterOperations checks that a recount finds nothing after operations that count, and after they were undone.
func TestCountersAfterOperations(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	as := srv.As
	status := func(m *apptest.User, params ...string) string {
		return as(m).Post("/api/v1/statuses", params...).Want(200).Object().ID()
	}
	post := status(alice, "status", "hello #tag")
	local := status(alice, "status", "local #tag", "visibility", "local")
	poll := status(alice, "status", "which?", "poll[options][]", "a", "poll[options][]", "b", "poll[expires_in]", "3600")
	var reply, quote string
	for _, step := range []struct {
		name string
		run  func()
	}{
		{"posts", func() {}},
		{"a reply", func() { reply = status(bob, "status", "@alice yes #tag", "in_reply_to_id", post) }},
		{"a private reply", func() { status(bob, "status", "@alice no", "in_reply_to_id", post, "visibility", "direct") }},
		{"a reply to a local post", func() { status(bob, "status", "@alice here", "in_reply_to_id", local) }},
		{"a quote", func() { quote = status(bob, "status", "look", "quote_id", post) }},
		{"a boost", func() { as(bob).Post("/api/v1/statuses/" + post + "/reblog").Want(200) }},
		{"a favourite", func() { as(bob).Post("/api/v1/statuses/" + post + "/favourite").Want(200) }},
		{"a reaction", func() { as(bob).Do("PUT", "/api/v1/svc/statuses/"+post+"/reactions/🔥", "", nil).Want(200) }},
		{"a vote", func() {
			id := as(bob).Get("/api/v1/statuses/" + poll).Object().Str("poll.id")
			as(bob).Post("/api/v1/polls/"+id+"/votes", "choices[]", "1").Want(200)
		}},
		{"a follow", func() { as(bob).Post("/api/v1/accounts/" + alice.ID + "/follow").Want(200) }},
		{"a deleted reply", func() { as(bob).Do("DELETE", "/api/v1/statuses/"+reply, "", nil).Want(200) }},
		{"a deleted quote", func() { as(bob).Do("DELETE", "/api/v1/statuses/"+quote, "", nil).Want(200) }},
		{"no boost", func() { as(bob).Post("/api/v1/statuses/" + post + "/unreblog").Want(200) }},
		{"no favourite", func() { as(bob).Post("/api/v1/statuses/" + post + "/unfavourite").Want(200) }},
		{"a boost again", func() { as(bob).Post("/api/v1/statuses/" + post + "/reblog").Want(200) }},
		{"a deleted post", func() { as(alice).Do("DELETE", "/api/v1/statuses/"+post, "", nil).Want(200) }},
		{"a deleted account", func() {
			if _, err := srv.Admin.DeleteUsers(t.Context(), []string{"bob"}); err != nil {
				t.Fatal(err)
			}
			srv.RunJobs()
		}},
	} {
		step.run()
		for cursor := ""; ; {
			found, next, err := srv.DB.Recount(t.Context(), cursor)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range found {
				t.Errorf("after %s: %+v", step.name, m)
			}
			if cursor = next; cursor == "" {
				break
			}
		}
	}
}

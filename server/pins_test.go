package server_test

import (
	"fmt"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

func TestPin(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Statuses.MaxPinned = 2 })
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	post := func(v string) string { return alice.Publish(v, "visibility", v).ID() }
	public, unlisted, third := post("public"), post("unlisted"), post("public")
	theirs := bob.Publish("hello").ID()
	boost := alice.Post("/api/v1/statuses/" + theirs + "/reblog").Want(200).Object().ID()
	for _, tt := range []struct {
		name  string
		as    *apptest.User
		id    string
		want  int
		error string
	}{
		{"public", alice, public, 200, ""},
		{"unlisted", alice, unlisted, 200, ""},
		{"again, at the limit", alice, public, 200, ""},
		{"one too many", alice, third, 422, "You have already pinned the maximum number of statuses"},
		{"local", alice, post("local"), 422, "Non-public status cannot be pinned"},
		{"private", alice, post("private"), 422, "Non-public status cannot be pinned"},
		{"direct", alice, post("direct"), 422, "Non-public status cannot be pinned"},
		{"of another user", alice, theirs, 422, "Someone else's status cannot be pinned"},
		{"a boost", alice, boost, 422, "Someone else's status cannot be pinned"},
		{"invisible", bob, post("private"), 404, "Record not found"},
		{"unknown", alice, "nothing", 404, "Record not found"},
		{"without a token", nil, public, 401, "The access token is invalid"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := srv.As(tt.as).Post("/api/v1/statuses/" + tt.id + "/pin")
			if tt.error != "" {
				a.WantError(tt.want, tt.error)
				return
			}
			if o := a.Want(tt.want).Object(); !o.Bool("pinned") || o.Str("svc.pinned_at") == "" {
				t.Errorf("not pinned: %v", o.Fields)
			}
		})
	}
	pinned := func() string {
		return fmt.Sprint(bob.Get("/api/v1/accounts/alice/statuses", "pinned", "true").Want(200).IDs())
	}
	if got, want := pinned(), fmt.Sprint([]string{unlisted, public}); got != want {
		t.Errorf("pinned are %s, want %s", got, want)
	}
	if o := srv.As(nil).Get("/api/v1/statuses/" + public).Object(); o.Bool("pinned") || o.At("svc.pinned_at") == nil {
		t.Errorf("anonymous viewers see %v", o.Fields)
	}
	bob.Post("/api/v1/statuses/" + public + "/unpin").Want(200) // another user's pin: no effect
	for range 2 {
		if o := alice.Post("/api/v1/statuses/" + unlisted + "/unpin").Want(200).Object(); o.Bool("pinned") || o.At("svc.pinned_at") != nil {
			t.Errorf("still pinned: %v", o.Fields)
		}
	}
	alice.Post("/api/v1/statuses/" + third + "/pin").Want(200)
	alice.Do("DELETE", "/api/v1/statuses/"+public, "", nil).Want(200)
	if got, want := pinned(), fmt.Sprint([]string{third}); got != want {
		t.Errorf("pinned are %s, want %s", got, want)
	}
}

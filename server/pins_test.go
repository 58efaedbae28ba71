package server_test

import (
	"fmt"
	"testing"

	"svc/internal/config"
)

func TestPin(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) { c.Statuses.MaxPinned = 2 })
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	post := func(v string) string { return alice.publish(v, "visibility", v).id() }
	public, unlisted, third := post("public"), post("unlisted"), post("public")
	theirs := bob.publish("hello").id()
	boost := alice.post("/api/v1/statuses/" + theirs + "/reblog").want(200).object().id()
	for _, tt := range []struct {
		name  string
		as    *member
		id    string
		want  int
		error string
	}{
		{"public", alice, public, 200, ""},
		{"unlisted", alice, unlisted, 200, ""},
		{"again, with no room left", alice, public, 200, ""},
		{"one too many", alice, third, 422, "You have already pinned the maximum number of statuses"},
		{"local", alice, post("local"), 422, "Non-public status cannot be pinned"},
		{"private", alice, post("private"), 422, "Non-public status cannot be pinned"},
		{"direct", alice, post("direct"), 422, "Non-public status cannot be pinned"},
		{"somebody else's", alice, theirs, 422, "Someone else's status cannot be pinned"},
		{"a boost", alice, boost, 422, "Someone else's status cannot be pinned"},
		{"invisible", bob, post("private"), 404, "Record not found"},
		{"unknown", alice, "nothing", 404, "Record not found"},
		{"without a token", nil, public, 401, "The access token is invalid"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := srv.as(tt.as).post("/api/v1/statuses/" + tt.id + "/pin")
			if tt.error != "" {
				a.wantError(tt.want, tt.error)
				return
			}
			if o := a.want(tt.want).object(); !o.truth("pinned") || o.str("svc.pinned_at") == "" {
				t.Errorf("not pinned: %v", o.m)
			}
		})
	}
	pinned := func() string {
		return fmt.Sprint(bob.get("/api/v1/accounts/alice/statuses", "pinned", "true").want(200).ids())
	}
	if got, want := pinned(), fmt.Sprint([]string{unlisted, public}); got != want {
		t.Errorf("pinned are %s, want %s", got, want)
	}
	if o := srv.as(nil).get("/api/v1/statuses/" + public).object(); o.truth("pinned") || o.at("svc.pinned_at") == nil {
		t.Errorf("the anonymous see %v", o.m)
	}
	bob.post("/api/v1/statuses/" + public + "/unpin").want(200) // not theirs to unpin: nothing happens
	for range 2 {
		if o := alice.post("/api/v1/statuses/" + unlisted + "/unpin").want(200).object(); o.truth("pinned") || o.at("svc.pinned_at") != nil {
			t.Errorf("still pinned: %v", o.m)
		}
	}
	alice.post("/api/v1/statuses/" + third + "/pin").want(200)
	alice.do("DELETE", "/api/v1/statuses/"+public, "", nil).want(200)
	if got, want := pinned(), fmt.Sprint([]string{third}); got != want {
		t.Errorf("pinned are %s, want %s", got, want)
	}
}

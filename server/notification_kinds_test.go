package server_test

import (
	"slices"
	"strings"
	"testing"
)

// TestNotificationKinds does what people are told of, and undoes it where that can be (extension API 21).
func TestNotificationKinds(t *testing.T) {
	for _, tt := range []struct {
		name   string
		do     func(alice, bob *member) (undo func())
		told   []string // alice, newest first
		undone []string // what is left after undo
	}{
		{"mention, deleted", func(alice, bob *member) func() {
			id := bob.publish("@alice hello").id()
			return func() { bob.do("DELETE", "/api/v1/statuses/"+id, "", nil).want(200) }
		}, []string{"mention bob"}, nil},
		{"favourite", func(alice, bob *member) func() {
			id := alice.publish("mine").id()
			bob.post("/api/v1/statuses/" + id + "/favourite").want(200)
			bob.post("/api/v1/statuses/" + id + "/favourite").want(200)
			return func() { bob.post("/api/v1/statuses/" + id + "/unfavourite").want(200) }
		}, []string{"favourite bob"}, nil},
		{"reblog", func(alice, bob *member) func() {
			id := alice.publish("mine").id()
			bob.post("/api/v1/statuses/" + id + "/reblog").want(200)
			bob.post("/api/v1/statuses/" + id + "/reblog").want(200)
			return func() { bob.post("/api/v1/statuses/" + id + "/unreblog").want(200) }
		}, []string{"reblog bob"}, nil},
		{"own deeds", func(alice, bob *member) func() {
			id := alice.publish("@alice mine").id()
			alice.post("/api/v1/statuses/" + id + "/favourite").want(200)
			alice.post("/api/v1/statuses/" + id + "/reblog").want(200)
			return nil
		}, nil, nil},
		{"follow", func(alice, bob *member) func() {
			bob.to(alice.id, "follow")
			bob.to(alice.id, "follow", "reblogs", "false")
			return func() { bob.to(alice.id, "unfollow") }
		}, []string{"follow bob"}, nil},
		{"follow request, taken back", func(alice, bob *member) func() {
			alice.lock()
			bob.to(alice.id, "follow")
			return func() { bob.to(alice.id, "unfollow") }
		}, []string{"follow_request bob"}, nil},
		{"follow request, rejected", func(alice, bob *member) func() {
			alice.lock()
			bob.to(alice.id, "follow")
			return func() { alice.post("/api/v1/follow_requests/" + bob.id + "/reject").want(200) }
		}, []string{"follow_request bob"}, nil},
		{"follow request, accepted", func(alice, bob *member) func() {
			alice.lock()
			bob.to(alice.id, "follow")
			return func() { alice.post("/api/v1/follow_requests/" + bob.id + "/authorize").want(200) }
		}, []string{"follow_request bob"}, []string{"follow bob"}},
		{"posts of a subscription", func(alice, bob *member) func() {
			alice.post("/api/v1/svc/accounts/" + bob.id + "/subscribe").want(200)
			first := bob.publish("one")
			bob.publish("a reply to himself", "in_reply_to_id", first.id())
			theirs := alice.publish("something")
			bob.publish("a reply", "in_reply_to_id", theirs.id(), "to[]", "bob")
			bob.post("/api/v1/statuses/" + bob.publish("two", "visibility", "unlisted").id() + "/reblog").want(200)
			bob.publish("@alice by name")
			bob.publish("not for her", "visibility", "private")
			bob.publish("nor this", "visibility", "direct")
			return func() {
				alice.post("/api/v1/svc/accounts/" + bob.id + "/unsubscribe").want(200)
				bob.publish("three")
			}
		}, []string{"mention bob", "status bob", "status bob"}, []string{"mention bob", "status bob", "status bob"}},
		{"edits of what was boosted", func(alice, bob *member) func() {
			id := bob.publish("one").id()
			alice.post("/api/v1/statuses/" + id + "/reblog").want(200)
			bob.send("PUT", "/api/v1/statuses/"+id, map[string]any{"status": "two"}).want(200)
			bob.send("PUT", "/api/v1/statuses/"+id, map[string]any{"status": "three"}).want(200)
			return func() { bob.do("DELETE", "/api/v1/statuses/"+id, "", nil).want(200) }
		}, []string{"update bob"}, nil},
		{"strangers who are not heard", func(alice, bob *member) func() {
			alice.send("PUT", "/api/svc/notification_settings", map[string]any{"block_from_strangers": true}).want(200)
			bob.publish("@alice hello")
			bob.to(alice.id, "follow")
			bob.post("/api/v1/statuses/" + alice.publish("mine").id() + "/favourite").want(200)
			return func() {
				alice.to(bob.id, "follow")
				bob.publish("@alice hello again")
			}
		}, nil, []string{"mention bob"}},
		{"a follow request of a stranger who is not heard", func(alice, bob *member) func() {
			alice.lock()
			alice.send("PUT", "/api/svc/notification_settings", map[string]any{"block_from_strangers": true}).want(200)
			bob.to(alice.id, "follow")
			return nil
		}, nil, nil},
		{"the blocked", func(alice, bob *member) func() {
			bob.publish("@alice before")
			alice.to(bob.id, "block")
			bob.publish("@alice after")
			return nil
		}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := startAPI(t)
			alice, bob := srv.signUp("alice"), srv.signUp("bob")
			undo := tt.do(alice, bob)
			if got := alice.notified(); !slices.Equal(got, tt.told) && len(got)+len(tt.told) > 0 {
				t.Errorf("told of %q, want %q", got, tt.told)
			}
			if undo == nil {
				return
			}
			undo()
			if got := alice.notified(); !slices.Equal(got, tt.undone) && len(got)+len(tt.undone) > 0 {
				t.Errorf("told of %q in the end, want %q", got, tt.undone)
			}
		})
	}
}

// lock has others ask before they follow.
func (m *member) lock() {
	m.api.t.Helper()
	m.send("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"locked": true}).want(200)
}

// Filters on the type and on the status work together, and leave alone what they do not speak of.
func TestNotificationFiltersTogether(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	bob.to(alice.id, "follow")
	bob.publish("@alice all", "visibility", "public")
	bob.publish("@alice few", "visibility", "private")
	bob.publish("@alice one", "visibility", "direct")
	bob.post("/api/v1/statuses/" + alice.publish("mine", "visibility", "unlisted").id() + "/favourite").want(200)
	for _, tt := range []struct {
		query string
		want  string
	}{
		{"", "favourite mention mention mention follow"},
		{"exclude_visibilities[]=direct", "favourite mention mention follow"},
		{"exclude_visibilities[]=direct&exclude_visibilities[]=unlisted&exclude_visibilities[]=none", "mention mention follow"},
		{"exclude_visibilities[]=public&exclude_visibilities[]=private&exclude_visibilities[]=direct&types[]=mention", ""},
		{"types[]=mention&types[]=follow&exclude_types[]=follow", "mention mention mention"},
		{"types[]=follow&include_types[]=mention", "follow"},
		{"include_types[]=follow&include_types[]=svc:chat_mention&account_id=" + bob.id, "follow"},
		{"exclude_types[]=follow&exclude_types[]=mention&exclude_types[]=nonsense", "favourite"},
		{"exclude_types[]=follow&limit=2", "favourite mention"},
		{"types=follow", "follow"},
		{"account_id=" + alice.id, ""},
	} {
		t.Run(tt.query, func(t *testing.T) {
			if got := strings.Join(types(alice.get("/api/v1/notifications?"+tt.query).want(200)), " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

package server_test

import (
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
)

// TestLocalOnly checks other servers' words for a post that must not leave this server. It is local, or direct to local accounts; an audience
// that may be elsewhere is refused.
func TestLocalOnly(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	srv.AddRemoteAccount("rita", "far.example")
	list := alice.AddList("l", nil, bob)
	private := bob.Publish("@alice", "visibility", "private").ID()
	direct := bob.Publish("@alice", "visibility", "direct").ID()
	const narrow = "local_only - cannot be combined with this visibility"
	for _, tt := range []struct {
		name   string
		params apptest.Doc
		want   string // the visibility, or the error
	}{
		{"local_only", apptest.Doc{"local_only": true}, "local"},
		{"a text", apptest.Doc{"local_only": "true"}, "local"},
		{"federated=false", apptest.Doc{"federated": false}, "local"},
		{"federated=0", apptest.Doc{"federated": "0"}, "local"},
		{"neither", apptest.Doc{"local_only": false, "federated": true}, "public"},
		{"one of them", apptest.Doc{"local_only": false, "federated": false}, "local"},
		{"public", apptest.Doc{"local_only": true, "visibility": "public"}, "local"},
		{"unlisted", apptest.Doc{"federated": false, "visibility": "unlisted"}, "local"},
		{"local", apptest.Doc{"local_only": true, "visibility": "local"}, "local"},
		{"private", apptest.Doc{"local_only": true, "visibility": "private"}, narrow},
		{"a list", apptest.Doc{"federated": false, "visibility": "list:" + list}, narrow},
		{"direct", apptest.Doc{"local_only": true, "visibility": "direct"}, "direct"},
		{"direct, to another server", apptest.Doc{"local_only": true, "visibility": "direct", "to": []string{"bob", "rita@far.example"}}, "local_only - the post is addressed to accounts on other servers"},
		{"a reply to a private post", apptest.Doc{"local_only": true, "in_reply_to_id": private}, narrow},
		{"a reply to a direct post", apptest.Doc{"federated": false, "in_reply_to_id": direct}, "direct"},
		{"scheduled", apptest.Doc{"local_only": true, "scheduled_at": apptest.FromNow(time.Hour)}, "scheduled local"},
		{"scheduled, private", apptest.Doc{"local_only": true, "visibility": "private", "scheduled_at": apptest.FromNow(time.Hour)}, narrow},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.params["status"] = "hello @bob"
			before := srv.Count(`SELECT count(*) FROM jobs WHERE kind = 'outbox'`)
			a := alice.SendJSON("POST", "/api/v1/statuses", tt.params)
			switch {
			case a.Status == 422:
				if text := a.Object().Str("error"); !strings.HasPrefix(text, tt.want) {
					t.Errorf("got %s", text)
				}
			case tt.params["scheduled_at"] != nil:
				if v := a.Want(200).Object().Str("params.visibility"); "scheduled "+v != tt.want {
					t.Errorf("got %s", a.Body)
				}
			default:
				if v := a.Want(200).Object().Str("visibility"); v != tt.want {
					t.Errorf("got %s, want %s", v, tt.want)
				}
			}
			if n := srv.Count(`SELECT count(*) FROM jobs WHERE kind = 'outbox'`); tt.want != "public" && n != before {
				t.Errorf("%d entries of the outbox", n-before)
			}
		})
	}
	alice.UpdateProfile(apptest.Doc{"default_scope": "private"})
	if text := alice.Post("/api/v1/statuses", "status", "x", "local_only", "true").Want(422).Object().Str("error"); !strings.HasPrefix(text, narrow) {
		t.Errorf("by default private: got %s", text)
	}
}

package server_test

import (
	"slices"
	"strings"
	"svc/app/apptest"
	"testing"
)

// TestNotificationKinds performs all actions that cause notifications, and undoes them where that is possible (extension API 21).
func TestNotificationKinds(t *testing.T) {
	for _, tt := range []struct {
		name       string
		do         func(alice, bob *apptest.User) (undo func())
		want       []string // alice, newest first
		wantUndone []string // alice's after undo
	}{
		{"mention, deleted", func(alice, bob *apptest.User) func() {
			id := bob.Publish("@alice hello").ID()
			return func() { bob.Do("DELETE", "/api/v1/statuses/"+id, "", nil).Want(200) }
		}, []string{"mention bob"}, nil},
		{"favourite", func(alice, bob *apptest.User) func() {
			id := alice.Publish("mine").ID()
			bob.Post("/api/v1/statuses/" + id + "/favourite").Want(200)
			bob.Post("/api/v1/statuses/" + id + "/favourite").Want(200)
			return func() { bob.Post("/api/v1/statuses/" + id + "/unfavourite").Want(200) }
		}, []string{"favourite bob"}, nil},
		{"reblog", func(alice, bob *apptest.User) func() {
			id := alice.Publish("mine").ID()
			bob.Post("/api/v1/statuses/" + id + "/reblog").Want(200)
			bob.Post("/api/v1/statuses/" + id + "/reblog").Want(200)
			return func() { bob.Post("/api/v1/statuses/" + id + "/unreblog").Want(200) }
		}, []string{"reblog bob"}, nil},
		{"own actions", func(alice, bob *apptest.User) func() {
			id := alice.Publish("@alice mine").ID()
			alice.Post("/api/v1/statuses/" + id + "/favourite").Want(200)
			alice.Post("/api/v1/statuses/" + id + "/reblog").Want(200)
			return nil
		}, nil, nil},
		{"follow", func(alice, bob *apptest.User) func() {
			bob.AccountAction(alice.ID, "follow")
			bob.AccountAction(alice.ID, "follow", "reblogs", "false")
			return func() { bob.AccountAction(alice.ID, "unfollow") }
		}, []string{"follow bob"}, nil},
		{"follow request, withdrawn", func(alice, bob *apptest.User) func() {
			alice.Lock()
			bob.AccountAction(alice.ID, "follow")
			return func() { bob.AccountAction(alice.ID, "unfollow") }
		}, []string{"follow_request bob"}, nil},
		{"follow request, rejected", func(alice, bob *apptest.User) func() {
			alice.Lock()
			bob.AccountAction(alice.ID, "follow")
			return func() { alice.Post("/api/v1/follow_requests/" + bob.ID + "/reject").Want(200) }
		}, []string{"follow_request bob"}, nil},
		{"follow request, accepted", func(alice, bob *apptest.User) func() {
			alice.Lock()
			bob.AccountAction(alice.ID, "follow")
			return func() { alice.Post("/api/v1/follow_requests/" + bob.ID + "/authorize").Want(200) }
		}, []string{"follow_request bob"}, []string{"follow bob"}},
		{"posts of a subscription", func(alice, bob *apptest.User) func() {
			alice.Post("/api/v1/svc/accounts/" + bob.ID + "/subscribe").Want(200)
			first := bob.Publish("one")
			bob.Publish("a reply to himself", "in_reply_to_id", first.ID())
			theirs := alice.Publish("something")
			bob.Publish("a reply", "in_reply_to_id", theirs.ID(), "to[]", "bob")
			bob.Post("/api/v1/statuses/" + bob.Publish("two", "visibility", "unlisted").ID() + "/reblog").Want(200)
			bob.Publish("@alice by name")
			bob.Publish("not for her", "visibility", "private")
			bob.Publish("nor this", "visibility", "direct")
			return func() {
				alice.Post("/api/v1/svc/accounts/" + bob.ID + "/unsubscribe").Want(200)
				bob.Publish("three")
			}
		}, []string{"mention bob", "status bob", "status bob"}, []string{"mention bob", "status bob", "status bob"}},
		{"edits of a boosted status", func(alice, bob *apptest.User) func() {
			id := bob.Publish("one").ID()
			alice.Post("/api/v1/statuses/" + id + "/reblog").Want(200)
			bob.SendJSON("PUT", "/api/v1/statuses/"+id, map[string]any{"status": "two"}).Want(200)
			bob.SendJSON("PUT", "/api/v1/statuses/"+id, map[string]any{"status": "three"}).Want(200)
			return func() { bob.Do("DELETE", "/api/v1/statuses/"+id, "", nil).Want(200) }
		}, []string{"update bob"}, nil},
		{"a quote, deleted", func(alice, bob *apptest.User) func() {
			id := bob.Publish("look", "quote_id", alice.Publish("mine").ID()).ID()
			return func() { bob.Do("DELETE", "/api/v1/statuses/"+id, "", nil).Want(200) }
		}, []string{"quote bob"}, nil},
		{"a quote, revoked", func(alice, bob *apptest.User) func() {
			mine := alice.Publish("mine").ID()
			id := bob.Publish("look", "quoted_status_id", mine).ID()
			return func() { alice.Post("/api/v1/statuses/" + mine + "/quotes/" + id + "/revoke").Want(200) }
		}, []string{"quote bob"}, nil},
		{"a quote that mentions her", func(alice, bob *apptest.User) func() {
			bob.Publish("look, @alice", "quote_id", alice.Publish("mine").ID())
			return nil
		}, []string{"quote bob", "mention bob"}, nil},
		{"quotes that she cannot see", func(alice, bob *apptest.User) func() {
			id := alice.Publish("mine").ID()
			bob.Publish("for followers", "quote_id", id, "visibility", "private")
			bob.Publish("@bob for me", "quote_id", id, "visibility", "direct")
			return func() {
				alice.AccountAction(bob.ID, "follow")
				bob.Publish("for followers", "quote_id", id, "visibility", "private")
			}
		}, nil, []string{"quote bob"}},
		{"a quote for followers, while she follows", func(alice, bob *apptest.User) func() {
			alice.AccountAction(bob.ID, "follow")
			bob.Publish("for followers", "quote_id", alice.Publish("mine").ID(), "visibility", "private")
			return func() { alice.AccountAction(bob.ID, "unfollow") }
		}, []string{"quote bob"}, nil},
		{"her own quote", func(alice, bob *apptest.User) func() {
			id := alice.Publish("mine").ID()
			alice.Publish("look", "quote_id", id)
			alice.SendJSON("PUT", "/api/v1/statuses/"+id, map[string]any{"status": "two"}).Want(200)
			return nil
		}, nil, nil},
		{"edits of a quoted status", func(alice, bob *apptest.User) func() {
			id := bob.Publish("one").ID()
			alice.Publish("look", "quote_id", id)
			alice.Publish("look again", "quote_id", id)
			bob.SendJSON("PUT", "/api/v1/statuses/"+id, map[string]any{"status": "two"}).Want(200)
			bob.SendJSON("PUT", "/api/v1/statuses/"+id, map[string]any{"status": "three"}).Want(200)
			bob.SendJSON("PUT", "/api/v1/statuses/"+id, map[string]any{"status": "three"}).Want(200)
			return nil
		}, []string{"quoted_update bob"}, nil},
		{"an edit of a quoted status, the quote revoked", func(alice, bob *apptest.User) func() {
			id := bob.Publish("one").ID()
			quote := alice.Publish("look", "quote_id", id).ID()
			bob.SendJSON("PUT", "/api/v1/statuses/"+id, map[string]any{"status": "two"}).Want(200)
			return func() {
				bob.Post("/api/v1/statuses/" + id + "/quotes/" + quote + "/revoke").Want(200)
				bob.SendJSON("PUT", "/api/v1/statuses/"+id, map[string]any{"status": "three"}).Want(200)
			}
		}, []string{"quoted_update bob"}, nil},
		{"notifications of accounts that she does not follow are disabled", func(alice, bob *apptest.User) func() {
			alice.SendJSON("PUT", "/api/svc/notification_settings", map[string]any{"block_from_strangers": true}).Want(200)
			bob.Publish("@alice hello")
			bob.AccountAction(alice.ID, "follow")
			bob.Post("/api/v1/statuses/" + alice.Publish("mine").ID() + "/favourite").Want(200)
			return func() {
				alice.AccountAction(bob.ID, "follow")
				bob.Publish("@alice hello again")
			}
		}, nil, []string{"mention bob"}},
		{"a follow request while notifications of accounts that she does not follow are disabled", func(alice, bob *apptest.User) func() {
			alice.Lock()
			alice.SendJSON("PUT", "/api/svc/notification_settings", map[string]any{"block_from_strangers": true}).Want(200)
			bob.AccountAction(alice.ID, "follow")
			return nil
		}, nil, nil},
		{"a blocked account", func(alice, bob *apptest.User) func() {
			bob.Publish("@alice before")
			alice.AccountAction(bob.ID, "block")
			bob.Publish("@alice after")
			return nil
		}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := apptest.Start(t)
			alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
			undo := tt.do(alice, bob)
			if got := alice.Notifications(); !slices.Equal(got, tt.want) && len(got)+len(tt.want) > 0 {
				t.Errorf("notifications are %q, want %q", got, tt.want)
			}
			if undo == nil {
				return
			}
			undo()
			if got := alice.Notifications(); !slices.Equal(got, tt.wantUndone) && len(got)+len(tt.wantUndone) > 0 {
				t.Errorf("notifications after undo are %q, want %q", got, tt.wantUndone)
			}
		})
	}
}

// TestNotificationFiltersTogether combines filters on types, visibilities and accounts.
func TestNotificationFiltersTogether(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	bob.AccountAction(alice.ID, "follow")
	bob.Publish("@alice all", "visibility", "public")
	bob.Publish("@alice few", "visibility", "private")
	bob.Publish("@alice one", "visibility", "direct")
	bob.Post("/api/v1/statuses/" + alice.Publish("mine", "visibility", "unlisted").ID() + "/favourite").Want(200)
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
		{"include_types[]=follow&include_types[]=svc:chat_mention&account_id=" + bob.ID, "follow"},
		{"exclude_types[]=follow&exclude_types[]=mention&exclude_types[]=nonsense", "favourite"},
		{"exclude_types[]=follow&limit=2", "favourite mention"},
		{"types=follow", "follow"},
		{"account_id=" + alice.ID, ""},
	} {
		t.Run(tt.query, func(t *testing.T) {
			if got := strings.Join(apptest.EntityTypes(alice.Get("/api/v1/notifications?"+tt.query).Want(200)), " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestQuoteNotifications checks which status notifications of quotes are about, that they form no groups, and that a block removes them.
func TestQuoteNotifications(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	mine := alice.Publish("mine").ID()
	stream := srv.OpenStream(alice.Client, "stream", "user:notification")
	quote := bob.Publish("look", "quote_id", mine).ID()
	stream.WantEvents("a quote", "user:notification: notification quote")
	alice.SendJSON("PUT", "/api/v1/statuses/"+mine, map[string]any{"status": "mine, edited"}).Want(200)
	for _, tt := range []struct {
		name   string
		of     *apptest.User
		kind   string
		from   *apptest.User
		quoted string
	}{
		{"of the quoted author", alice, "quote", bob, mine},
		{"of the quoter", bob, "quoted_update", alice, mine},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list := tt.of.Get("/api/v1/notifications", "types[]", tt.kind).Want(200).List()
			if len(list) != 1 {
				t.Fatalf("%d notifications, want 1", len(list))
			}
			n := list[0]
			for key, want := range map[string]string{"type": tt.kind, "account.id": tt.from.ID, "status.id": quote, "status.quote.quoted_status.id": tt.quoted, "group_key": "ungrouped-" + n.ID()} {
				if got := n.Str(key); got != want {
					t.Errorf("%s is %q, want %q", key, got, want)
				}
			}
			groups := tt.of.Get("/api/v2/notifications", "grouped_types[]", tt.kind).Want(200).Object()
			if got := groups.Find("notification_groups.0.group_key"); got != "ungrouped-"+n.ID() {
				t.Errorf("its group is %v", got)
			}
			if got := groups.Find("notification_groups.0.status_id"); got != quote {
				t.Errorf("the status of its group is %v, want the quote", got)
			}
		})
	}
	alice.AccountAction(bob.ID, "mute")
	bob.Publish("look again", "quote_id", mine)
	if got := alice.Get("/api/v1/notifications").Want(200).List(); len(got) > 0 {
		t.Errorf("of a muted account: %d notifications", len(got))
	}
	alice.AccountAction(bob.ID, "block")
	alice.AccountAction(bob.ID, "unblock")
	if got := alice.Notifications(); len(got) > 0 {
		t.Errorf("after a block: %q", got)
	}
}

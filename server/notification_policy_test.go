package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
)

// setPolicy changes a policy for notifications.
func setPolicy(m *apptest.User, kind, action string) {
	m.Server.T.Helper()
	m.SendJSON("PATCH", "/api/v2/notifications/policy", map[string]any{kind: action}).Want(200)
}

// requestNames returns the accounts of the notification requests to an account, newest first, with the count of each.
func requestNames(m *apptest.User) string {
	m.Server.T.Helper()
	var names []string
	for _, q := range m.Get("/api/v1/notifications/requests").Want(200).List() {
		names = append(names, q.Str("account.acct")+" "+q.Str("notifications_count"))
	}
	return strings.Join(names, ", ")
}

// TestNotificationPolicy checks which notifications each kind of policy concerns, and that they are filtered or dropped.
func TestNotificationPolicy(t *testing.T) {
	const all = "follow favourite reblog quote mention direct answer"
	for _, tt := range []struct {
		kind     string
		relation string // of the sender to the recipient
		held     string // notifications that become requests
	}{
		{"for_not_following", "", all},
		{"for_not_following", "followed", ""},
		{"for_not_following", "staff", ""},
		{"for_not_followers", "followed", "favourite reblog quote mention direct answer"}, // and the follow makes a follower
		{"for_not_followers", "follower", ""},
		{"for_new_accounts", "", all},
		{"for_new_accounts", "old", ""},
		{"for_new_accounts", "followed", ""},
		{"for_private_mentions", "", "direct"},
		{"for_private_mentions", "followed", ""},
		{"for_limited_accounts", "", ""},
		{"for_limited_accounts", "limited", all},
		{"for_limited_accounts", "limited followed", ""},
	} {
		for _, action := range []string{"filter", "drop"} {
			if tt.kind == "for_not_following" && action == "drop" && tt.relation == "staff" {
				continue // the setting block_from_strangers knows no exemption
			}
			t.Run(tt.kind+" "+action+" "+tt.relation, func(t *testing.T) {
				srv := apptest.Start(t)
				alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
				for _, relation := range strings.Fields(tt.relation) {
					switch relation {
					case "followed":
						srv.AddFollow(alice, bob)
					case "follower":
						srv.AddFollow(bob, alice)
					case "staff":
						srv.SetRole(bob, false, true)
					case "old":
						srv.Exec(`UPDATE accounts SET created_at = created_at - 31 * 86400000 WHERE nickname = 'bob'`)
					case "limited":
						srv.Exec(`UPDATE accounts SET tags = '["mrf_tag:force-unlisted"]' WHERE nickname = 'bob'`)
					}
				}
				st, private := alice.Publish("hello"), alice.Publish("@bob hello", "visibility", "direct")
				setPolicy(alice, tt.kind, action)
				held, l := []string{}, srv.OpenStream(alice.Client, "stream", "user:notification")
				for _, step := range []struct {
					name string
					do   func()
				}{
					{"favourite", func() { bob.Post("/api/v1/statuses/" + st.ID() + "/favourite").Want(200) }},
					{"reblog", func() { bob.Post("/api/v1/statuses/" + st.ID() + "/reblog").Want(200) }},
					{"quote", func() { bob.Publish("look", "quote_id", st.ID()) }},
					{"mention", func() { bob.Publish("@alice hello") }},
					{"direct", func() { bob.Publish("@alice psst", "visibility", "direct") }},
					{"answer", func() {
						bob.Publish("@alice yes", "visibility", map[bool]string{true: "direct", false: "public"}[tt.kind == "for_private_mentions"], "in_reply_to_id",
							map[bool]string{true: private.ID(), false: st.ID()}[tt.kind == "for_private_mentions"])
					}},
					{"follow", func() { bob.AccountAction(alice.ID, "follow") }},
				} {
					before := len(alice.NotificationTypes())
					step.do()
					if len(alice.NotificationTypes()) == before && (step.name != "follow" || tt.relation != "follower") {
						held = append(held, step.name)
					}
					if received := len(l.Events()) > 0; received != (len(alice.NotificationTypes()) > before) {
						t.Errorf("%s: the stream has a notification: %v", step.name, received)
					}
				}
				slices.Sort(held)
				want := strings.Fields(tt.held)
				slices.Sort(want)
				if !slices.Equal(held, want) {
					t.Errorf("held back: %v, want %v", held, want)
				}
				requests, hidden := "", len(want)
				if action == "filter" && hidden > 0 {
					requests = fmt.Sprint("bob ", hidden)
				}
				if got := requestNames(alice); got != requests {
					t.Errorf("requests: %q, want %q", got, requests)
				}
			})
		}
	}
}

// TestChangeNotificationPolicy changes the policy in both versions, beside the setting of the extension API.
func TestChangeNotificationPolicy(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	settings := func() bool {
		return alice.Get("/api/v1/accounts/verify_credentials").Want(200).Object().Bool("svc.notification_settings.block_from_strangers")
	}
	want := func(what, v2, v1 string, blocks bool) {
		t.Helper()
		o := alice.Get("/api/v2/notifications/policy").Want(200).Object()
		got := []string{}
		for _, kind := range []string{"following", "followers"} {
			got = append(got, o.Str("for_not_"+kind))
		}
		got = append(got, o.Str("for_new_accounts"), o.Str("for_private_mentions"), o.Str("for_limited_accounts"))
		if got := strings.Join(got, " "); got != v2 {
			t.Errorf("%s: %s, want %s", what, got, v2)
		}
		o = alice.Get("/api/v1/notifications/policy").Want(200).Object()
		if got := fmt.Sprint(o.Bool("filter_not_following"), o.Bool("filter_not_followers"), o.Bool("filter_new_accounts"), o.Bool("filter_private_mentions")); got != v1 {
			t.Errorf("%s: version 1 is %s, want %s", what, got, v1)
		}
		if settings() != blocks {
			t.Errorf("%s: block_from_strangers is %v", what, settings())
		}
	}
	want("at first", "accept accept accept accept accept", "false false false false", false)
	setPolicy(alice, "for_new_accounts", "filter")
	setPolicy(alice, "for_limited_accounts", "drop")
	want("two changes", "accept accept filter accept drop", "false false true false", false)
	setPolicy(alice, "for_not_following", "drop")
	want("drop", "drop accept filter accept drop", "true false true false", true)
	alice.Do("PUT", "/api/svc/notification_settings?block_from_strangers=false", "", nil).Want(200)
	want("the setting off", "accept accept filter accept drop", "false false true false", false)
	alice.Do("PUT", "/api/svc/notification_settings?block_from_strangers=true", "", nil).Want(200)
	want("the setting on", "drop accept filter accept drop", "true false true false", true)
	alice.SendJSON("PATCH", "/api/v1/notifications/policy", map[string]any{"filter_not_following": true, "filter_private_mentions": true, "filter_new_accounts": false}).Want(200)
	want("version 1", "filter accept accept filter drop", "true false false true", false)
	for _, kind := range []string{"for_not_following", "for_private_mentions", "for_limited_accounts"} {
		setPolicy(alice, kind, "accept")
	}
	want("all accepted", "accept accept accept accept accept", "false false false false", false)
	if n := srv.Count(`SELECT count(*) FROM notification_policies`); n != 0 {
		t.Errorf("%d rows for a policy that accepts everything", n)
	}
	alice.SendJSON("PUT", "/api/v2/notifications/policy", map[string]any{"for_not_followers": "drop"}).Want(200)
	want("by PUT", "accept drop accept accept accept", "false true false false", false)
	alice.SendJSON("PUT", "/api/v1/notifications/policy", map[string]any{"filter_not_followers": false}).Want(200)
	want("version 1 by PUT", "accept accept accept accept accept", "false false false false", false)
	for _, kind := range []string{"for_not_following", "for_not_followers", "for_new_accounts", "for_private_mentions", "for_limited_accounts"} {
		alice.SendJSON("PATCH", "/api/v2/notifications/policy", map[string]any{kind: "block"}).Want(422)
		alice.SendJSON("PUT", "/api/v2/notifications/policy", map[string]any{kind: "block"}).Want(422)
	}
	writer, reader := srv.NewToken(alice, "write"), srv.NewToken(alice, "read")
	for _, v := range []string{"v1", "v2"} {
		path := "/api/" + v + "/notifications/policy"
		srv.As(nil).Get(path).Want(401)
		writer.Get(path).Want(403)
		for _, method := range []string{"PATCH", "PUT"} {
			srv.As(nil).SendJSON(method, path, map[string]any{}).Want(401)
			reader.SendJSON(method, path, map[string]any{}).Want(403)
		}
	}
	want("after errors", "accept accept accept accept accept", "false false false false", false)
}

// TestNotificationRequests accepts and dismisses the requests of accounts whose notifications are filtered.
func TestNotificationRequests(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	setPolicy(alice, "for_not_following", "filter")
	status, members := signUpCrowd(t, srv, alice, "bob", "carol", "dave", "erin")
	if got := requestNames(alice); got != "erin 4, dave 4, carol 4, bob 4" {
		t.Fatalf("requests: %s", got)
	}
	if got := alice.NotificationTypes(); len(got) != 0 {
		t.Errorf("the list has %v", got)
	}
	if got := alice.Get("/api/v1/notifications/unread_count").Object().Int("count"); got != 0 {
		t.Errorf("%d are unread", got)
	}
	if got := alice.Get("/api/v1/markers", "timeline[]", "notifications").Want(200).Object().Int("notifications.svc.unread_count"); got != 0 {
		t.Errorf("the marker counts %d unread notifications", got)
	}
	if got := alice.Get("/api/v1/accounts/verify_credentials").Want(200).Object().Int("svc.unread_notifications_count"); got != 0 {
		t.Errorf("the account counts %d unread notifications", got)
	}
	if got := groupList(t, alice.Get("/api/v2/notifications")); len(got) != 0 {
		t.Errorf("the groups are %v", got)
	}
	if got := alice.Get("/api/v1/notifications", "include_filtered", "true", "account_id", members[0].ID).Want(200).List(); len(got) != 4 {
		t.Errorf("on request the list has %d", len(got))
	}
	summary := func() string {
		o := alice.Get("/api/v2/notifications/policy").Want(200).Object()
		return fmt.Sprint(o.Int("summary.pending_requests_count"), " ", o.Int("summary.pending_notifications_count"))
	}
	if got := summary(); got != "4 16" {
		t.Errorf("the summary is %s", got)
	}
	list := alice.Get("/api/v1/notifications/requests")
	WantEntity(t, "alice", list, "[]NotificationRequest")
	ids := list.IDs() // of erin, dave, carol, bob
	apptest.WantPages(t, alice, "/api/v1/notifications/requests?limit=3", ids)
	one := alice.Get("/api/v1/notifications/requests/" + ids[3])
	WantEntity(t, "alice", one, "NotificationRequest")
	if o := one.Object(); o.Str("account.acct") != "bob" || !strings.Contains(o.Str("last_status.content"), "hello") {
		t.Errorf("the request is of %s with %v", o.Str("account.acct"), o.At("last_status"))
	}

	// A request is the recipient's only.
	path := "/api/v1/notifications/requests/"
	bob := members[0]
	bob.Get(path + ids[3]).Want(404)
	for _, what := range []string{"/accept", "/dismiss"} {
		bob.Post(path + ids[3] + what).Want(404)
		alice.Post(path + "x" + what).Want(404)
		alice.Post(path + "7" + what).Want(404)
		bob.Post("/api/v1/notifications/requests"+what, "id[]", ids[3]).Want(200)
		srv.As(nil).Post(path + ids[3] + what).Want(401)
		many := []string{}
		for range 101 {
			many = append(many, "id[]", ids[3])
		}
		alice.Post("/api/v1/notifications/requests"+what, many...).Want(400)
	}
	if got := requestNames(alice); got != "erin 4, dave 4, carol 4, bob 4" {
		t.Fatalf("after refused changes: %s", got)
	}

	l := srv.OpenStream(alice.Client, "stream", "user:notification")
	alice.Post(path + ids[3] + "/accept").Want(200)
	l.WantEvents("an accepted request", "user:notification: notifications_merged")
	alice.Post(path + ids[3] + "/accept").Want(404)
	alice.Get(path + ids[3]).Want(404)
	if got := alice.Get("/api/v1/notifications/requests/merged").Want(200).Object().Bool("merged"); !got {
		t.Error("not merged")
	}
	if got := alice.Get("/api/v1/notifications").List(); len(got) != 4 || got[0].Str("account.acct") != "bob" {
		t.Errorf("the list has %d", len(got))
	}
	bob.Publish("@alice thanks")
	if got := len(alice.NotificationTypes()); got != 5 {
		t.Errorf("after acceptance the list has %d", got)
	}
	members[1].Publish("@alice and me")
	if got := requestNames(alice); got != "erin 4, dave 4, carol 5" {
		t.Errorf("requests: %s", got)
	}

	alice.Post(path + ids[2] + "/dismiss").Want(200)
	alice.Post(path + ids[2] + "/dismiss").Want(404)
	if got := requestNames(alice); got != "erin 4, dave 4" {
		t.Errorf("after one is dismissed: %s", got)
	}
	members[1].Publish("@alice please")
	if got := requestNames(alice); got != "carol 1, erin 4, dave 4" {
		t.Errorf("after another mention: %s", got)
	}
	alice.AccountAction(members[1].ID, "block")
	if got := requestNames(alice); got != "erin 4, dave 4" {
		t.Errorf("after a block: %s", got)
	}
	alice.Post("/api/v1/notifications/requests/accept", "id[]", ids[0], "id[]", ids[3], "id[]", "7").Want(200)
	for _, action := range []string{"accept", "dismiss"} { // nothing is selected, and nothing changes
		path := "/api/v1/notifications/requests/" + action
		for _, a := range []*apptest.Response{alice.Post(path), alice.SendJSON("POST", path, map[string]any{"id": []string{}})} {
			if string(a.Want(200).Body) != "{}" {
				t.Errorf("%s without ids: %s", action, a.Body)
			}
		}
	}
	alice.Post("/api/v1/notifications/requests/dismiss", "id[]", ids[1], "id[]", ids[2]).Want(200)
	if got := requestNames(alice) + summary(); got != "0 0" {
		t.Errorf("after all are answered: %s", got)
	}
	if got := len(alice.NotificationTypes()); got != 9 {
		t.Errorf("the list has %d, want bob's and erin's", got)
	}

	// A request ends with its last notification.
	frank := srv.SignUp("frank")
	frank.Post("/api/v1/statuses/" + status + "/favourite").Want(200)
	if got := requestNames(alice); got != "frank 1" {
		t.Errorf("requests: %s", got)
	}
	frank.Post("/api/v1/statuses/" + status + "/unfavourite").Want(200)
	if got := requestNames(alice) + summary(); got != "0 0" {
		t.Errorf("after the favourite is undone: %s", got)
	}
}

package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
)

// groupList returns groups of notifications in short: the type, the count, and who caused the newest, by name.
func groupList(t *testing.T, a *apptest.Response) []string {
	t.Helper()
	o := a.Want(200).Document()
	nameOf := map[any]string{}
	for _, list := range []string{"accounts", "partial_accounts"} {
		accounts, _ := o[list].([]any)
		for _, account := range accounts {
			account := account.(map[string]any)
			nameOf[account["id"]] = account["acct"].(string)
		}
	}
	groups := []string{}
	for _, g := range o["notification_groups"].([]any) {
		g := g.(map[string]any)
		text := fmt.Sprint(g["type"], " ", g["notifications_count"])
		for _, id := range g["sample_account_ids"].([]any) {
			text += " " + nameOf[id]
		}
		groups = append(groups, text)
	}
	return groups
}

// groupKey returns the key of the first group of a type.
func groupKey(t *testing.T, m *apptest.User, kind string) string {
	t.Helper()
	for _, g := range m.Get("/api/v2/notifications").Want(200).Object().At("notification_groups").([]any) {
		if g := g.(map[string]any); g["type"] == kind {
			return g["group_key"].(string)
		}
	}
	t.Fatalf("no group of type %s", kind)
	return ""
}

// signUpCrowd signs up accounts, each of which favourites and boosts a status of alice, follows alice and mentions her.
func signUpCrowd(t *testing.T, srv *apptest.Server, alice *apptest.User, names ...string) (status string, members []*apptest.User) {
	t.Helper()
	status = alice.Publish("popular").ID()
	for _, name := range names {
		m := srv.SignUp(name)
		m.Post("/api/v1/statuses/" + status + "/favourite").Want(200)
		m.Post("/api/v1/statuses/" + status + "/reblog").Want(200)
		m.AccountAction(alice.ID, "follow")
		m.Publish("@alice hello")
		members = append(members, m)
	}
	return status, members
}

func TestNotificationGroups(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	status, members := signUpCrowd(t, srv, alice, "bob", "carol", "dave")
	for _, tt := range []struct {
		name   string
		params []string
		want   string
	}{
		{"all", nil, "mention 1 dave, follow 3 dave carol bob, reblog 3 dave carol bob, favourite 3 dave carol bob, mention 1 carol, mention 1 bob"},
		{"some types", []string{"types[]", "follow", "types[]", "mention"}, "mention 1 dave, follow 3 dave carol bob, mention 1 carol, mention 1 bob"},
		{"without types", []string{"exclude_types[]", "mention"}, "follow 3 dave carol bob, reblog 3 dave carol bob, favourite 3 dave carol bob"},
		{"grouping one", []string{"grouped_types[]", "reblog", "exclude_types[]", "mention"},
			"follow 1 dave, reblog 3 dave carol bob, favourite 1 dave, follow 1 carol, favourite 1 carol, follow 1 bob, favourite 1 bob"},
		{"grouping what cannot be", []string{"grouped_types[]", "mention", "types[]", "mention"}, "mention 1 dave, mention 1 carol, mention 1 bob"},
		{"of an account", []string{"account_id", members[0].ID, "types[]", "favourite", "types[]", "mention"}, "mention 1 bob, favourite 1 bob"},
		{"a short page", []string{"limit", "2"}, "mention 1 dave, follow 3 dave carol bob"},
		{"in part", []string{"limit", "2", "expand_accounts", "partial_avatars"}, "mention 1 dave, follow 3 dave carol bob"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := alice.Get("/api/v2/notifications", tt.params...)
			if got := strings.Join(groupList(t, a), ", "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			WantEntity(t, "alice", a, "GroupedNotifications")
		})
	}
	all := alice.Get("/api/v2/notifications").Object()
	if n := len(all.At("statuses").([]any)); n != 4 {
		t.Errorf("%d statuses, want each once", n)
	}
	partial := alice.Get("/api/v2/notifications", "expand_accounts", "partial_avatars", "types[]", "follow").Object()
	if full, rest := len(partial.At("accounts").([]any)), len(partial.At("partial_accounts").([]any)); full != 1 || rest != 2 {
		t.Errorf("%d accounts in full and %d in part", full, rest)
	}
	alice.Get("/api/v2/notifications", "expand_accounts", "some").Want(400)
	srv.As(nil).Get("/api/v2/notifications").Want(401)
	srv.NewToken(alice, "write").Get("/api/v2/notifications").Want(403)

	key := groupKey(t, alice, "favourite")
	one := alice.Get("/api/v2/notifications/" + key)
	WantEntity(t, "alice", one, "NotificationGroups")
	if got := strings.Join(groupList(t, one), ", "); got != "favourite 3 dave carol bob" || one.Object().At("notification_groups").([]any)[0].(map[string]any)["status_id"] != status {
		t.Errorf("the group is %s", got)
	}
	if got := alice.Get("/api/v1/notifications", "types[]", "favourite").List()[0].Str("group_key"); got != key {
		t.Errorf("the key is %s in version 1, %s in version 2", got, key)
	}
	accounts := alice.Get("/api/v2/notifications/" + key + "/accounts").Want(200)
	if got := accounts.IDs(); !slices.Equal(got, []string{members[2].ID, members[1].ID, members[0].ID}) {
		t.Errorf("the accounts are %v", got)
	}
	for _, bad := range []string{"x", "favourite-x-1", "favourite-" + status, "favourite-" + status + "-1", "follow-0", "mention-1", "ungrouped-1", "ungrouped-x", "follow-99999999999999"} {
		for _, path := range []string{"", "/accounts"} {
			alice.Get("/api/v2/notifications/" + bad + path).Want(404)
		}
		alice.Post("/api/v2/notifications/" + bad + "/dismiss").Want(404)
	}
	members[0].Get("/api/v2/notifications/" + key).Want(404)
	members[0].Post("/api/v2/notifications/" + key + "/dismiss").Want(404)

	// Counts and accounts leave out notifications that are hidden from the recipient.
	alice.AccountAction(members[1].ID, "mute")
	if got := groupList(t, alice.Get("/api/v2/notifications", "types[]", "reblog")); !slices.Equal(got, []string{"reblog 2 dave bob"}) {
		t.Errorf("with a muted account: %v", got)
	}
	alice.AccountAction(members[1].ID, "unmute")

	alice.Post("/api/v2/notifications/" + key + "/dismiss").Want(200)
	alice.Post("/api/v2/notifications/" + key + "/dismiss").Want(404)
	alice.Get("/api/v2/notifications/" + key).Want(404)
	if got := groupList(t, alice.Get("/api/v2/notifications", "exclude_types[]", "mention")); len(got) != 2 {
		t.Errorf("after one of three is dismissed: %v", got)
	}
	alice.Post("/api/v2/notifications/clear").Want(200)
	if got := groupList(t, alice.Get("/api/v2/notifications")); len(got) != 0 {
		t.Errorf("after all are cleared: %v", got)
	}
}

// TestNotificationGroupPages pages through groups in both directions. A group that goes on in the next page has its part there.
func TestNotificationGroupPages(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	signUpCrowd(t, srv, alice, "bob", "carol", "dave")
	var down [][]string
	path := "/api/v2/notifications?limit=2"
	var last *apptest.Response
	for path != "" {
		a := alice.Get(path)
		down = append(down, groupList(t, a))
		path, last = a.Links()["next"], a
	}
	want := "[[mention 1 dave follow 3 dave carol bob] [reblog 3 dave carol bob favourite 3 dave carol bob] [mention 1 carol follow 2 carol bob] " +
		"[reblog 2 carol bob favourite 2 carol bob] [mention 1 bob follow 1 bob] [reblog 1 bob favourite 1 bob]]"
	if got := fmt.Sprint(down); got != want {
		t.Errorf("down: got  %s\nwant %s", got, want)
	}
	var up [][]string
	for a := last; ; {
		a = alice.Get(a.Links()["prev"]).Want(200)
		groups := groupList(t, a)
		if len(groups) == 0 {
			break
		}
		up = append(up, groups)
	}
	if got, want := fmt.Sprint(up), "[[follow 1 bob mention 1 bob]"; !strings.HasPrefix(got, "[[mention 1 bob follow 1 bob]") {
		t.Errorf("up: got %s, want it to begin with %s", got, want)
	}

	// Old notifications form a group of their own.
	srv.Exec(`UPDATE notifications SET id = id - (43200000 << 10) WHERE type = 'follow' AND from_id = (SELECT id FROM accounts WHERE nickname = 'bob')`)
	if got := groupList(t, alice.Get("/api/v2/notifications", "types[]", "follow")); !slices.Equal(got, []string{"follow 2 dave carol", "follow 1 bob"}) {
		t.Errorf("with an old follow: %v", got)
	}
}

func TestUnreadCount(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	_, members := signUpCrowd(t, srv, alice, "bob", "carol")
	count := func(path string, params ...string) int {
		t.Helper()
		return alice.Get("/api/"+path+"/notifications/unread_count", params...).Want(200).Object().Int("count")
	}
	want := func(what string, single, groups int, params ...string) {
		t.Helper()
		if got := count("v1", params...); got != single {
			t.Errorf("%s: %d are unread, want %d", what, got, single)
		}
		if got := count("v2", params...); got != groups {
			t.Errorf("%s: %d groups are unread, want %d", what, got, groups)
		}
	}
	want("all", 8, 5)
	want("a type", 2, 1, "types[]", "favourite")
	want("without a type", 6, 4, "exclude_types[]", "favourite")
	want("an account", 4, 4, "account_id", members[0].ID)
	want("a limit", 3, 3, "limit", "3")
	want("nothing grouped", 2, 2, "grouped_types[]", "mention", "types[]", "favourite")
	ids := alice.Get("/api/v1/notifications").IDs()
	alice.SendJSON("POST", "/api/v1/markers", map[string]any{"notifications": map[string]any{"last_read_id": ids[2]}}).Want(200)
	want("after reading", 2, 2)
	alice.AccountAction(members[1].ID, "mute")
	want("after muting", 0, 0)
	writer := srv.NewToken(alice, "write")
	for _, path := range []string{"/api/v1/notifications/unread_count", "/api/v2/notifications/unread_count"} {
		srv.As(nil).Get(path).Want(401)
		writer.Get(path).Want(403)
		alice.Get(path, "account_id", "nonsense").Want(404)
	}
}

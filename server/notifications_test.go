package server_test

import (
	"fmt"
	"slices"
	"strconv"
	"svc/app/apptest"
	"testing"
)

func TestNotificationEntity(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	st := bob.Publish("hello @alice")
	list := alice.Get("/api/v1/notifications").Want(200).List()
	if len(list) != 1 {
		t.Fatalf("got %d notifications, want 1", len(list))
	}
	n := list[0]
	if _, err := strconv.ParseInt(n.ID(), 10, 64); err != nil {
		t.Errorf("the id is not decimal: %v", err)
	}
	if got := n.Str("type"); got != "mention" {
		t.Errorf("type is %q", got)
	}
	if got := n.Str("account.id"); got != bob.ID {
		t.Errorf("account is %q, want %q", got, bob.ID)
	}
	if got := n.Str("status.id"); got != st.ID() {
		t.Errorf("status is %q, want %q", got, st.ID())
	}
	if n.Bool("svc.is_seen") {
		t.Error("seen before it was read")
	}
	one := alice.Get("/api/v1/notifications/" + n.ID()).Want(200).Object()
	if one.ID() != n.ID() {
		t.Errorf("got %q, want %q", one.ID(), n.ID())
	}
	bob.Get("/api/v1/notifications/"+n.ID()).WantError(404, "Record not found")
	alice.Get("/api/v1/notifications/nonsense").WantError(404, "Record not found")
	srv.As(nil).Get("/api/v1/notifications").Want(401)
}

func TestNotificationFilters(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	own := alice.Publish("mine")
	bob.Publish("public @alice")
	bob.Publish("direct @alice", "visibility", "direct")
	carol.Post("/api/v1/statuses/" + own.ID() + "/favourite").Want(200)
	for _, tt := range []struct {
		name   string
		params []string
		want   []string
	}{
		{"all", nil, []string{"favourite", "mention", "mention"}},
		{"types", []string{"types[]", "favourite"}, []string{"favourite"}},
		{"include_types", []string{"include_types[]", "mention"}, []string{"mention", "mention"}},
		{"only unknown types", []string{"types[]", "annual_report"}, []string{}},
		{"unknown beside known", []string{"types[]", "annual_report", "types[]", "favourite"}, []string{"favourite"}},
		{"exclude_types", []string{"exclude_types[]", "mention"}, []string{"favourite"}},
		{"exclude_visibilities", []string{"exclude_visibilities[]", "direct"}, []string{"favourite", "mention"}},
		{"account", []string{"account_id", carol.ID}, []string{"favourite"}},
		{"reports are for staff", []string{"types[]", "svc:report"}, []string{}},
		{"limit", []string{"limit", "1"}, []string{"favourite"}},
		{"a malformed limit", []string{"limit", "many"}, []string{"favourite", "mention", "mention"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := apptest.EntityTypes(alice.Get("/api/v1/notifications", tt.params...).Want(200)); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	alice.Get("/api/v1/notifications", "account_id", "000000000000000000").WantError(404, "Account is not found")
}

func TestNotificationPaging(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	for i := range 25 {
		bob.Publish(fmt.Sprintf("@alice %d", i))
	}
	want := alice.Get("/api/v1/notifications").Want(200).IDs()
	if len(want) != 25 || !slices.IsSortedFunc(want, func(a, b string) int { return -compareNumbers(a, b) }) {
		t.Fatalf("got %v, want 25 in order", want)
	}
	apptest.WantPages(t, alice, "/api/v1/notifications?limit=10&exclude_types[]=poll", want)
	newest, _ := strconv.Atoi(want[24])
	if got := alice.Get("/api/v1/notifications", "min_id", strconv.Itoa(newest-1), "limit", "1").IDs(); !slices.Equal(got, want[24:]) {
		t.Errorf("min_id one below an id got %v, want %v", got, want[24:])
	}
	if a := alice.Get("/api/v1/notifications", "since_id", want[0]).Want(200); len(a.IDs()) != 0 || a.Header.Get("Link") != "" {
		t.Errorf("nothing is newer than the newest: %s, Link %q", a.Body, a.Header.Get("Link"))
	}
}

func compareNumbers(a, b string) int {
	x, _ := strconv.ParseInt(a, 10, 64)
	y, _ := strconv.ParseInt(b, 10, 64)
	return int(x - y)
}

func TestDismissNotifications(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	for i := range 6 {
		bob.Publish(fmt.Sprintf("@alice %d", i))
	}
	alice.Publish("@bob hi")
	ids := alice.Get("/api/v1/notifications").IDs()
	theirs := bob.Get("/api/v1/notifications").IDs()[0]
	for _, tt := range []struct {
		name   string
		do     func() *apptest.Response
		status int
		left   []string
	}{
		{"one by its path", func() *apptest.Response { return alice.Post("/api/v1/notifications/" + ids[0] + "/dismiss") }, 200, ids[1:]},
		{"again", func() *apptest.Response { return alice.Post("/api/v1/notifications/" + ids[0] + "/dismiss") }, 404, ids[1:]},
		{"one by parameter", func() *apptest.Response { return alice.Post("/api/v1/notifications/dismiss", "id", ids[1]) }, 200, ids[2:]},
		{"of another user", func() *apptest.Response { return alice.Post("/api/v1/notifications/" + theirs + "/dismiss") }, 404, ids[2:]},
		{"several, in the query, with a slash", func() *apptest.Response {
			return alice.Do("DELETE", "/api/v1/notifications/destroy_multiple/?ids[]="+ids[2]+"&ids[]="+theirs, "", nil)
		}, 200, ids[3:]},
		{"several, in a JSON body", func() *apptest.Response {
			return alice.SendJSON("DELETE", "/api/v1/notifications/destroy_multiple", map[string]any{"ids": []string{ids[3]}})
		}, 200, ids[4:]},
		{"several, without ids", func() *apptest.Response {
			return alice.SendJSON("DELETE", "/api/v1/notifications/destroy_multiple", nil)
		}, 400, ids[4:]},
		{"all", func() *apptest.Response { return alice.Post("/api/v1/notifications/clear") }, 200, ids[6:]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.do().Want(tt.status)
			if got := alice.Get("/api/v1/notifications").IDs(); !slices.Equal(got, tt.left) {
				t.Errorf("remaining are %v, want %v", got, tt.left)
			}
		})
	}
	if got := bob.Get("/api/v1/notifications").IDs(); len(got) != 1 {
		t.Errorf("bob's notifications are %v, want one", got)
	}
}

func TestReadNotificationsAndMarkers(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	for i := range 4 {
		bob.Publish(fmt.Sprintf("@alice %d", i))
	}
	ids := alice.Get("/api/v1/notifications").IDs()
	unread := func() int {
		return alice.Get("/api/v1/markers", "timeline[]", "notifications").Want(200).Object().Int("notifications.svc.unread_count")
	}
	if got := alice.Get("/api/v1/markers", "timeline", "notifications").Object().Str("notifications.last_read_id"); got != "0" {
		t.Errorf("the unset marker is %q, want 0", got)
	}
	if got := unread(); got != 4 {
		t.Errorf("%d unread, want 4", got)
	}
	if n := alice.Post("/api/v1/svc/notifications/read", "id", ids[0]).Want(200).Object(); !n.Bool("svc.is_seen") || n.ID() != ids[0] {
		t.Errorf("not read: %v", n.Fields)
	}
	if got := alice.Post("/api/svc/notifications/read", "max_id", ids[2]).Want(200).IDs(); !slices.Equal(got, ids[2:]) {
		t.Errorf("read %v, want %v", got, ids[2:])
	}
	if got := unread(); got != 1 {
		t.Errorf("%d unread, want 1", got)
	}
	alice.Post("/api/v1/svc/notifications/read").Want(400)
	bob.Post("/api/v1/svc/notifications/read", "id", ids[1]).WantError(400, "Cannot get notification")

	marker := func(body map[string]any) *apptest.Object {
		return alice.SendJSON("POST", "/api/v1/markers", body).Want(200).Object()
	}
	m := marker(map[string]any{"notifications": map[string]any{"last_read_id": ids[1]}})
	if got := m.Str("notifications.last_read_id"); got != ids[1] {
		t.Errorf("marker is at %q, want %q", got, ids[1])
	}
	if got := unread(); got != 0 {
		t.Errorf("%d unread after the marker passed, want 0", got)
	}
	back := marker(map[string]any{"notifications": map[string]any{"last_read_id": ids[3]}})
	if got := back.Str("notifications.last_read_id"); got != ids[1] {
		t.Errorf("the marker moved back to %q", got)
	}
	st := bob.Publish("at home").ID()
	home := marker(map[string]any{"home": map[string]any{"last_read_id": st}})
	if got := home.Str("home.last_read_id"); got != st || home.Has("notifications") {
		t.Errorf("home marker is %q, want %q; %v", got, st, home.Fields)
	}

	// A request with an invalid id changes no marker.
	alice.SendJSON("POST", "/api/v1/markers", map[string]any{"home": map[string]any{"last_read_id": "no id"}}).Want(422)
	alice.SendJSON("POST", "/api/v1/markers", map[string]any{
		"home": map[string]any{"last_read_id": bob.Publish("later").ID()}, "notifications": map[string]any{"last_read_id": "no id"},
	}).Want(422)
	if got := alice.Get("/api/v1/markers", "timeline", "home").Object().Str("home.last_read_id"); got != st {
		t.Errorf("home marker is %q, want %q", got, st)
	}
}

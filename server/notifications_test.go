package server_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
)

// types returns the types of a page of notifications.
func types(a *answer) []string {
	a.t.Helper()
	list := []string{}
	for _, n := range a.list() {
		list = append(list, n.str("type"))
	}
	return list
}

func TestNotificationEntity(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	st := bob.publish("hello @alice")
	list := alice.get("/api/v1/notifications").want(200).list()
	if len(list) != 1 {
		t.Fatalf("got %d notifications, want 1", len(list))
	}
	n := list[0]
	if _, err := strconv.ParseInt(n.id(), 10, 64); err != nil {
		t.Errorf("the id is not decimal: %v", err)
	}
	if got := n.str("type"); got != "mention" {
		t.Errorf("type is %q", got)
	}
	if got := n.str("account.id"); got != bob.id {
		t.Errorf("account is %q, want %q", got, bob.id)
	}
	if got := n.str("status.id"); got != st.id() {
		t.Errorf("status is %q, want %q", got, st.id())
	}
	if n.truth("svc.is_seen") {
		t.Error("seen before it was read")
	}
	one := alice.get("/api/v1/notifications/" + n.id()).want(200).object()
	if one.id() != n.id() {
		t.Errorf("got %q, want %q", one.id(), n.id())
	}
	bob.get("/api/v1/notifications/"+n.id()).wantError(404, "Record not found")
	alice.get("/api/v1/notifications/nonsense").wantError(404, "Record not found")
	srv.as(nil).get("/api/v1/notifications").want(401)
}

func TestNotificationFilters(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	own := alice.publish("mine")
	bob.publish("public @alice")
	bob.publish("direct @alice", "visibility", "direct")
	carol.post("/api/v1/statuses/" + own.id() + "/favourite").want(200)
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
		{"account", []string{"account_id", carol.id}, []string{"favourite"}},
		{"reports are for staff", []string{"types[]", "svc:report"}, []string{}},
		{"limit", []string{"limit", "1"}, []string{"favourite"}},
		{"a malformed limit", []string{"limit", "many"}, []string{"favourite", "mention", "mention"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := types(alice.get("/api/v1/notifications", tt.params...).want(200)); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	alice.get("/api/v1/notifications", "account_id", "000000000000000000").wantError(404, "Account is not found")
}

func TestNotificationPaging(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	for i := range 25 {
		bob.publish(fmt.Sprintf("@alice %d", i))
	}
	want := alice.get("/api/v1/notifications").want(200).ids()
	if len(want) != 25 || !slices.IsSortedFunc(want, func(a, b string) int { return -compareNumbers(a, b) }) {
		t.Fatalf("not 25 in order: %v", want)
	}
	wantPages(t, alice, "/api/v1/notifications?limit=10&exclude_types[]=poll", want)
	newest, _ := strconv.Atoi(want[24])
	if got := alice.get("/api/v1/notifications", "min_id", strconv.Itoa(newest-1), "limit", "1").ids(); !slices.Equal(got, want[24:]) {
		t.Errorf("min_id one below an id got %v, want %v", got, want[24:])
	}
	if a := alice.get("/api/v1/notifications", "since_id", want[0]).want(200); len(a.ids()) != 0 || a.header.Get("Link") != "" {
		t.Errorf("nothing is newer than the newest: %s, Link %q", a.body, a.header.Get("Link"))
	}
}

func compareNumbers(a, b string) int {
	x, _ := strconv.ParseInt(a, 10, 64)
	y, _ := strconv.ParseInt(b, 10, 64)
	return int(x - y)
}

func TestDismissNotifications(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	for i := range 6 {
		bob.publish(fmt.Sprintf("@alice %d", i))
	}
	alice.publish("@bob hi")
	ids := alice.get("/api/v1/notifications").ids()
	theirs := bob.get("/api/v1/notifications").ids()[0]
	for _, tt := range []struct {
		name   string
		do     func() *answer
		status int
		left   []string
	}{
		{"one by its path", func() *answer { return alice.post("/api/v1/notifications/" + ids[0] + "/dismiss") }, 200, ids[1:]},
		{"again", func() *answer { return alice.post("/api/v1/notifications/" + ids[0] + "/dismiss") }, 404, ids[1:]},
		{"one by parameter", func() *answer { return alice.post("/api/v1/notifications/dismiss", "id", ids[1]) }, 200, ids[2:]},
		{"not one's own", func() *answer { return alice.post("/api/v1/notifications/" + theirs + "/dismiss") }, 404, ids[2:]},
		{"several, in the query, with a slash", func() *answer {
			return alice.do("DELETE", "/api/v1/notifications/destroy_multiple/?ids[]="+ids[2]+"&ids[]="+theirs, "", nil)
		}, 200, ids[3:]},
		{"several, in a JSON body", func() *answer {
			return alice.send("DELETE", "/api/v1/notifications/destroy_multiple", map[string]any{"ids": []string{ids[3]}})
		}, 200, ids[4:]},
		{"several, but none named", func() *answer { return alice.send("DELETE", "/api/v1/notifications/destroy_multiple", nil) }, 400, ids[4:]},
		{"all", func() *answer { return alice.post("/api/v1/notifications/clear") }, 200, ids[6:]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.do().want(tt.status)
			if got := alice.get("/api/v1/notifications").ids(); !slices.Equal(got, tt.left) {
				t.Errorf("left are %v, want %v", got, tt.left)
			}
		})
	}
	if got := bob.get("/api/v1/notifications").ids(); len(got) != 1 {
		t.Errorf("bob has %v left, want his one", got)
	}
}

func TestReadNotificationsAndMarkers(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	for i := range 4 {
		bob.publish(fmt.Sprintf("@alice %d", i))
	}
	ids := alice.get("/api/v1/notifications").ids()
	unread := func() int {
		return alice.get("/api/v1/markers", "timeline[]", "notifications").want(200).object().num("notifications.svc.unread_count")
	}
	if got := alice.get("/api/v1/markers", "timeline", "notifications").object().str("notifications.last_read_id"); got != "0" {
		t.Errorf("a marker never set is %q, want 0", got)
	}
	if got := unread(); got != 4 {
		t.Errorf("%d unread, want 4", got)
	}
	if n := alice.post("/api/v1/svc/notifications/read", "id", ids[0]).want(200).object(); !n.truth("svc.is_seen") || n.id() != ids[0] {
		t.Errorf("not read: %v", n.m)
	}
	if got := alice.post("/api/svc/notifications/read", "max_id", ids[2]).want(200).ids(); !slices.Equal(got, ids[2:]) {
		t.Errorf("read %v, want %v", got, ids[2:])
	}
	if got := unread(); got != 1 {
		t.Errorf("%d unread, want 1", got)
	}
	alice.post("/api/v1/svc/notifications/read").want(400)
	bob.post("/api/v1/svc/notifications/read", "id", ids[1]).wantError(400, "Cannot get notification")

	marker := func(body map[string]any) *object {
		return alice.send("POST", "/api/v1/markers", body).want(200).object()
	}
	m := marker(map[string]any{"notifications": map[string]any{"last_read_id": ids[1]}})
	if got := m.str("notifications.last_read_id"); got != ids[1] {
		t.Errorf("marker is at %q, want %q", got, ids[1])
	}
	if got := unread(); got != 0 {
		t.Errorf("%d unread after the marker passed, want 0", got)
	}
	back := marker(map[string]any{"notifications": map[string]any{"last_read_id": ids[3]}})
	if got := back.str("notifications.last_read_id"); got != ids[1] {
		t.Errorf("the marker moved back to %q", got)
	}
	st := bob.publish("at home").id()
	home := marker(map[string]any{"home": map[string]any{"last_read_id": st}})
	if got := home.str("home.last_read_id"); got != st || home.has("notifications") {
		t.Errorf("home marker is %q, want %q; %v", got, st, home.m)
	}

	// What is not understood moves nothing.
	alice.send("POST", "/api/v1/markers", map[string]any{"home": map[string]any{"last_read_id": "no id"}}).want(422)
	alice.send("POST", "/api/v1/markers", map[string]any{
		"home": map[string]any{"last_read_id": bob.publish("later").id()}, "notifications": map[string]any{"last_read_id": "no id"},
	}).want(422)
	if got := alice.get("/api/v1/markers", "timeline", "home").object().str("home.last_read_id"); got != st {
		t.Errorf("home marker is %q, want %q", got, st)
	}
}

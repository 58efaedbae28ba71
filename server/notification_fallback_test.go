package server_test

import (
	"net/url"
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestNotificationFallbacks checks which notifications have a text for apps that do not know their type.
func TestNotificationFallbacks(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	st := alice.Publish("hello").ID()
	bob.ReactWith(st, "🔥")
	bob.Post("/api/v1/statuses/" + st + "/favourite").Want(200)
	for _, tt := range []struct {
		name  string
		query url.Values
		want  string // of the reaction
		fav   bool
	}{
		{"not requested", nil, "", false},
		{"no type is known", url.Values{"supported_types[]": {""}}, "@bob reacted with 🔥", false},
		{"others are known", url.Values{"supported_types[]": {"mention", "nonsense"}}, "@bob reacted with 🔥", false},
		{"it is known", url.Values{"supported_types[]": {"favourite", "svc:emoji_reaction"}}, "", false},
	} {
		title := func(o *apptest.Object) string {
			if !o.Has("fallback") {
				return ""
			}
			if summary := o.Str("fallback.summary"); !strings.Contains(summary, srv.URL+"/web/notifications") || o.At("fallback.details") != nil {
				t.Errorf("%s: summary %q, details %v", tt.name, summary, o.At("fallback.details"))
			}
			return o.Str("fallback.title")
		}
		check := func(where string, list []*apptest.Object) {
			t.Helper()
			if len(list) != 2 {
				t.Fatalf("%s: %s has %d entries", tt.name, where, len(list))
			}
			for _, o := range list {
				want := ""
				if o.Str("type") == "svc:emoji_reaction" {
					want = tt.want
				}
				if got := title(o); got != want {
					t.Errorf("%s: %s: %s has the fallback %q, want %q", tt.name, where, o.Str("type"), got, want)
				}
			}
		}
		list := alice.Get("/api/v1/notifications?" + tt.query.Encode()).Want(200)
		WantEntity(t, tt.name, list, "[]Notification")
		check("the list", list.List())
		groups := alice.Get("/api/v2/notifications?" + tt.query.Encode()).Want(200)
		WantEntity(t, tt.name, groups, "GroupedNotifications")
		var grouped []*apptest.Object
		for _, g := range groups.Object().At("notification_groups").([]any) {
			grouped = append(grouped, &apptest.Object{T: t, Fields: g.(map[string]any)})
		}
		check("the groups", grouped)
		for _, o := range list.List() {
			one := alice.Get("/api/v1/notifications/" + o.ID() + "?" + tt.query.Encode()).Want(200).Object()
			if title(one) != title(o) {
				t.Errorf("%s: the notification by itself has the fallback %q", tt.name, title(one))
			}
			alice.Get("/api/v2/notifications/" + o.Str("group_key") + "?" + tt.query.Encode()).Want(200)
		}
	}
}

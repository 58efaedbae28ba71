package federation_test

import (
	"fmt"
	"strings"
	"svc/app/apptest"
	"testing"
)

// TestIncomingReport covers the forms of a Flag, most of which are sent by instance actors (case 103).
func TestIncomingReport(t *testing.T) {
	apptest.SkipIfShort(t)
	for _, tt := range []struct {
		name   string
		object func(alice *apptest.User, a, b *apptest.Object) any
		more   apptest.Doc
		want   string // names of the posts reported; "-": no report
		text   string
	}{
		{"the account alone", func(alice *apptest.User, a, b *apptest.Object) any { return alice.URI() }, nil, "", "spam"},
		{"the account as an object", func(alice *apptest.User, a, b *apptest.Object) any {
			return apptest.Doc{"id": alice.URI(), "type": "Person"}
		}, nil, "", "spam"},
		{"a list", func(alice *apptest.User, a, b *apptest.Object) any {
			return []any{alice.URI(), a.Str("uri"), b.Str("uri")}
		}, nil, "a b", "spam"},
		{"a list of objects", func(alice *apptest.User, a, b *apptest.Object) any {
			return []any{apptest.Doc{"id": a.Str("uri"), "type": "Note"}, apptest.Doc{"id": alice.URI()}}
		}, nil, "a", "spam"},
		{"posts alone", func(_ *apptest.User, a, b *apptest.Object) any {
			return []any{b.Str("uri"), b.Str("uri"), a.Str("uri")}
		}, nil, "b a", "spam"},
		{"with unknown posts", func(alice *apptest.User, a, b *apptest.Object) any {
			return []any{alice.URI(), alice.Server.URL + "/objects/1", "https://other.example/1", a.Str("uri")}
		}, nil, "a", "spam"},
		{"addresses in the text", func(alice *apptest.User, a, b *apptest.Object) any { return []any{alice.URI()} }, apptest.Doc{"content": "CONTENT"}, "a b", "CONTENT"},
		{"without an id", func(alice *apptest.User, a, b *apptest.Object) any { return alice.URI() }, apptest.Doc{"id": nil}, "", "spam"},
		{"a summary", func(alice *apptest.User, a, b *apptest.Object) any { return a.Str("uri") }, apptest.Doc{"content": nil, "summary": "rude"}, "a", "rude"},
		{"without a word", func(alice *apptest.User, a, b *apptest.Object) any { return alice.URI() }, apptest.Doc{"content": nil}, "", ""},
		{"too many words", func(alice *apptest.User, a, b *apptest.Object) any { return alice.URI() }, apptest.Doc{"content": strings.Repeat("ä", 6000)}, "", strings.Repeat("ä", 5000)},
		{"a remote account", func(*apptest.User, *apptest.Object, *apptest.Object) any { return "https://other.example/users/x" }, nil, "-", ""},
		{"a remote account and its post", func(*apptest.User, *apptest.Object, *apptest.Object) any {
			return []any{"https://other.example/users/x", "https://other.example/1"}
		}, nil, "-", ""},
		{"nothing", func(*apptest.User, *apptest.Object, *apptest.Object) any { return nil }, nil, "-", ""},
		{"the actor that fetches", func(alice *apptest.User, _, _ *apptest.Object) any { return alice.Server.URL + "/internal/fetch" }, nil, "-", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, peer := apptest.StartWithFake(t)
			alice, staff := srv.SignUp("alice"), srv.SignUp("staff")
			srv.SetRole(staff, true, false)
			a, b := alice.Publish("a"), alice.Publish("b", "visibility", "private")
			instance := peer.AddActor("instance.actor", apptest.Doc{"type": "Application"})
			d := peer.Activity("Flag", instance, tt.object(alice, a, b), apptest.Doc{"content": "spam", "to": []any{alice.URI()}})
			for key, v := range tt.more {
				if d[key] = v; v == nil {
					delete(d, key)
				}
			}
			if d["content"] == "CONTENT" {
				tt.text = "look at " + a.Str("uri") + ", and (" + srv.URL + "/@alice/" + b.ID() + ")."
				d["content"] = tt.text
			}
			peer.PostAndSettle(srv, d)
			list := staff.Get("/api/v1/notifications", "types[]", "svc:report").Want(200).List()
			if tt.want == "-" {
				if len(list) > 0 {
					t.Errorf("there is a report: %v", list[0].Fields)
				}
				return
			}
			if len(list) != 1 {
				t.Fatalf("%d notifications, want 1", len(list))
			}
			got := []string{}
			for _, v := range list[0].At("report.statuses").([]any) {
				got = append(got, map[string]string{a.ID(): "a", b.ID(): "b"}[v.(map[string]any)["id"].(string)])
			}
			want := strings.Fields(tt.want)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("about %q, want %q", got, want)
			}
			rows := len(strings.Fields(tt.want))
			if is, err := srv.HasRow(`SELECT 1 FROM reports r WHERE ? = (SELECT count(*) FROM report_statuses s WHERE s.report_id = r.id)`, rows); !is || err != nil {
				t.Errorf("not %d posts are reported: %v", rows, err)
			}
			for path, want := range map[string]any{"report.account.id": alice.ID, "report.actor.id": srv.KnownID(instance), "report.content": tt.text, "report.state": "open"} {
				if got := list[0].At(path); got != want {
					t.Errorf("%s: got %.100v, want %.100v", path, got, want)
				}
			}
			if got := peer.Delivered(); len(got) > 0 {
				t.Errorf("it was answered: %v", got)
			}
			apptest.WantList(t, "notifications of alice", alice.NotificationTypes())
		})
	}
}

// TestIncomingReportsBounded checks that equal reports are merged for a day, and that the reports of a server are limited.
func TestIncomingReportsBounded(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice, carol := srv.SignUp("alice"), srv.SignUp("carol")
	post := alice.Publish("a")
	one, two := peer.AddActor("one"), peer.AddActor("two")
	reports := func() int {
		t.Helper()
		return srv.Count(`SELECT count(*) FROM reports`)
	}
	flag := peer.Activity("Flag", one, []any{alice.URI(), post.Str("uri")}, apptest.Doc{"content": "x"})
	peer.PostAndSettle(srv, flag)
	peer.PostAndSettle(srv, peer.Activity("Flag", one, []any{post.Str("uri"), alice.URI()}, apptest.Doc{"content": "y"}))
	if n := reports(); n != 1 {
		t.Errorf("the same twice: %d reports, want 1", n)
	}
	peer.PostAndSettle(srv, peer.Activity("Flag", one, alice.URI()))
	peer.PostAndSettle(srv, peer.Activity("Flag", one, carol.URI()))
	peer.PostAndSettle(srv, peer.Activity("Flag", two, []any{alice.URI(), post.Str("uri")}))
	if n := reports(); n != 4 {
		t.Errorf("others: %d reports, want 4", n)
	}
	srv.Exec(`PRAGMA foreign_keys = 0; UPDATE reports SET id = id - (25 * 3600 * 1000 << 10);
		UPDATE report_statuses SET report_id = report_id - (25 * 3600 * 1000 << 10)`)
	peer.PostAndSettle(srv, peer.Activity("Flag", one, []any{alice.URI(), post.Str("uri")}))
	if n := reports(); n != 5 {
		t.Errorf("a day later: %d reports, want 5", n)
	}
	for range 70 {
		peer.Post(srv, peer.Activity("Flag", two, alice.Publish("b").Str("uri")))
	}
	apptest.Settle(srv)
	if n := reports(); n != 4+60 {
		t.Errorf("%d reports, want 60 in an hour", n-4)
	}
}

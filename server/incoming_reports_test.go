package server_test

import (
	"fmt"
	"strings"
	"testing"
)

// Case 103: what is reported comes in many shapes, from the actors of servers mostly.
func TestIncomingReport(t *testing.T) {
	for _, tt := range []struct {
		name   string
		object func(alice *member, a, b *object) any
		more   doc
		want   string // names of the posts reported; "-": no report
		text   string
	}{
		{"the account alone", func(alice *member, a, b *object) any { return alice.uri() }, nil, "", "spam"},
		{"the account as an object", func(alice *member, a, b *object) any { return doc{"id": alice.uri(), "type": "Person"} }, nil, "", "spam"},
		{"a list", func(alice *member, a, b *object) any { return []any{alice.uri(), a.str("uri"), b.str("uri")} }, nil, "a b", "spam"},
		{"a list of objects", func(alice *member, a, b *object) any {
			return []any{doc{"id": a.str("uri"), "type": "Note"}, doc{"id": alice.uri()}}
		}, nil, "a", "spam"},
		{"posts alone", func(_ *member, a, b *object) any { return []any{b.str("uri"), b.str("uri"), a.str("uri")} }, nil, "b a", "spam"},
		{"with posts that are not there", func(alice *member, a, b *object) any {
			return []any{alice.uri(), alice.api.url + "/objects/1", "https://elsewhere.example/1", a.str("uri")}
		}, nil, "a", "spam"},
		{"addresses in the text", func(alice *member, a, b *object) any { return []any{alice.uri()} }, doc{"content": "CONTENT"}, "a b", "CONTENT"},
		{"without an id", func(alice *member, a, b *object) any { return alice.uri() }, doc{"id": nil}, "", "spam"},
		{"a summary", func(alice *member, a, b *object) any { return a.str("uri") }, doc{"content": nil, "summary": "rude"}, "a", "rude"},
		{"without a word", func(alice *member, a, b *object) any { return alice.uri() }, doc{"content": nil}, "", ""},
		{"too many words", func(alice *member, a, b *object) any { return alice.uri() }, doc{"content": strings.Repeat("ä", 6000)}, "", strings.Repeat("ä", 5000)},
		{"somebody elsewhere", func(*member, *object, *object) any { return "https://elsewhere.example/users/x" }, nil, "-", ""},
		{"somebody elsewhere and a post there", func(*member, *object, *object) any {
			return []any{"https://elsewhere.example/users/x", "https://elsewhere.example/1"}
		}, nil, "-", ""},
		{"nothing", func(*member, *object, *object) any { return nil }, nil, "-", ""},
		{"the actor that fetches", func(alice *member, _, _ *object) any { return alice.api.url + "/internal/fetch" }, nil, "-", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, peer := startWithPeer(t)
			alice, staff := srv.signUp("alice"), srv.signUp("staff")
			srv.promote(staff, true, false)
			a, b := alice.publish("a"), alice.publish("b", "visibility", "private")
			instance := peer.actor("instance.actor", doc{"type": "Application"})
			d := peer.activity("Flag", instance, tt.object(alice, a, b), doc{"content": "spam", "to": []any{alice.uri()}})
			for key, v := range tt.more {
				if d[key] = v; v == nil {
					delete(d, key)
				}
			}
			if d["content"] == "CONTENT" {
				tt.text = "look at " + a.str("uri") + ", and (" + srv.url + "/@alice/" + b.id() + ")."
				d["content"] = tt.text
			}
			peer.receive(srv, d)
			list := staff.get("/api/v1/notifications", "types[]", "svc:report").want(200).list()
			if tt.want == "-" {
				if len(list) > 0 {
					t.Errorf("there is a report: %v", list[0].m)
				}
				return
			}
			if len(list) != 1 {
				t.Fatalf("%d notifications, want 1", len(list))
			}
			got := []string{}
			for _, v := range list[0].at("report.statuses").([]any) {
				got = append(got, map[string]string{a.id(): "a", b.id(): "b"}[v.(map[string]any)["id"].(string)])
			}
			want := strings.Fields(tt.want)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("about %q, want %q", got, want)
			}
			rows := len(strings.Fields(tt.want))
			if is, err := srv.has(`SELECT 1 FROM reports r WHERE ? = (SELECT count(*) FROM report_statuses s WHERE s.report_id = r.id)`, rows); !is || err != nil {
				t.Errorf("not %d posts are reported: %v", rows, err)
			}
			for path, want := range map[string]any{"report.account.id": alice.id, "report.actor.id": srv.known(instance), "report.content": tt.text, "report.state": "open"} {
				if got := list[0].at(path); got != want {
					t.Errorf("%s: got %.100v, want %.100v", path, got, want)
				}
			}
			if got := peer.delivered(); len(got) > 0 {
				t.Errorf("it was answered: %v", got)
			}
			wantList(t, "alice is told", alice.told())
		})
	}
}

// The same complaint is one for a day, and no server fills the desk.
func TestIncomingReportsBounded(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice, carol := srv.signUp("alice"), srv.signUp("carol")
	post := alice.publish("a")
	one, two := peer.actor("one"), peer.actor("two")
	reports := func() int {
		t.Helper()
		return srv.count(`SELECT count(*) FROM reports`)
	}
	flag := peer.activity("Flag", one, []any{alice.uri(), post.str("uri")}, doc{"content": "x"})
	peer.receive(srv, flag)
	peer.receive(srv, peer.activity("Flag", one, []any{post.str("uri"), alice.uri()}, doc{"content": "y"}))
	if n := reports(); n != 1 {
		t.Errorf("the same twice: %d reports, want 1", n)
	}
	peer.receive(srv, peer.activity("Flag", one, alice.uri()))
	peer.receive(srv, peer.activity("Flag", one, carol.uri()))
	peer.receive(srv, peer.activity("Flag", two, []any{alice.uri(), post.str("uri")}))
	if n := reports(); n != 4 {
		t.Errorf("others: %d reports, want 4", n)
	}
	srv.insert(`PRAGMA foreign_keys = 0; UPDATE reports SET id = id - (25 * 3600 * 1000 << 10);
		UPDATE report_statuses SET report_id = report_id - (25 * 3600 * 1000 << 10)`)
	peer.receive(srv, peer.activity("Flag", one, []any{alice.uri(), post.str("uri")}))
	if n := reports(); n != 5 {
		t.Errorf("a day later: %d reports, want 5", n)
	}
	for range 70 {
		peer.post(srv, peer.activity("Flag", two, alice.publish("b").str("uri")))
	}
	settle(srv)
	if n := reports(); n != 4+60 {
		t.Errorf("%d reports, want 60 in an hour", n-4)
	}
}

package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/store"
)

// TestWhoHearsOfEdits edits posts that are not for everybody: of those who had to do with one, or have asked for it, only those hear of
// it who may still see it.
func TestWhoHearsOfEdits(t *testing.T) {
	for _, tt := range []struct {
		visibility string
		audience   []string // who gets it at first
		after      []string // and once two of them do not see it any more
	}{
		{"public", []string{"follower", "former", "named", "blocked"}, []string{"follower", "former", "named", "blocked", "reader"}},
		{"private", []string{"follower", "former", "named", "blocked"}, []string{"follower", "named"}},
		{"direct", []string{"named", "blocked"}, []string{"named"}},
		{"list", []string{"former", "named", "blocked"}, []string{"former", "named"}},
	} {
		t.Run(tt.visibility, func(t *testing.T) {
			srv, alice, _ := startOutbox(t)
			boxes := make(map[string]*letterbox)
			people := make(map[string]*store.Account)
			for _, nick := range []string{"follower", "former", "named", "blocked", "reader"} {
				l := startLetterbox(t)
				boxes[nick], people[nick] = l, l.person(srv, nick, true)
			}
			heard := func(kind string) (nicks []string) {
				t.Helper()
				settle(srv)
				for nick, l := range boxes {
					for _, m := range l.take() {
						if got := m.doc.str("type"); got != kind {
							t.Errorf("%s got %s, want %s", nick, got, kind)
						}
						nicks = append(nicks, nick)
					}
				}
				slices.Sort(nicks)
				return slices.Compact(nicks)
			}
			for _, nick := range []string{"follower", "former"} {
				srv.followFrom(people[nick], alice, false)
			}
			visibility := tt.visibility
			if visibility == "list" {
				visibility = "list:" + srv.listWith(alice, people["former"].URI, people["named"].URI, people["blocked"].URI)
			}
			text := " @named@" + boxes["named"].host + " @blocked@" + boxes["blocked"].host
			st := alice.publish("one"+text, "visibility", visibility).id()
			want := slices.Sorted(slices.Values(tt.audience))
			if got := heard("Create"); !slices.Equal(got, want) {
				t.Fatalf("it went to %v, want %v", got, want)
			}
			for _, nick := range tt.audience {
				if _, err := srv.social.ReceiveFavourite(t.Context(), people[nick], statusID(st), people[nick].URI+"/like"); err != nil {
					t.Fatal(err)
				}
				srv.insert(`INSERT INTO readers (status_id, inbox) VALUES (?, ?)`, statusID(st), boxes[nick].url+"/inbox")
			}
			if tt.visibility == "public" {
				srv.insert(`INSERT INTO readers (status_id, inbox) VALUES (?, ?)`, statusID(st), boxes["reader"].url+"/inbox")
			}
			alice.to(people["former"].ID.String(), "remove_from_followers")
			alice.to(people["blocked"].ID.String(), "block")
			settle(srv)
			for _, l := range boxes {
				l.take()
			}
			alice.edit(st, jsonBody{"status": "two" + text}).want(200)
			want = slices.Sorted(slices.Values(tt.after))
			if got := heard("Update"); !slices.Equal(got, want) {
				t.Errorf("the edit went to %v, want %v", got, want)
			}
			// All that have it hear that it is gone.
			alice.do("DELETE", "/api/v1/statuses/"+st, "", nil).want(200)
			want = slices.Compact(slices.Sorted(slices.Values(append(tt.audience, tt.after...))))
			if got := heard("Delete"); !slices.Equal(got, want) {
				t.Errorf("the end went to %v, want %v", got, want)
			}
		})
	}
}

// TestDeadAmongMany looks at something that is told in several activities, one of which is for a server that has been away for long: the
// others are delivered.
func TestDeadAmongMany(t *testing.T) {
	srv, alice, _ := startOutbox(t)
	boxes := []*letterbox{startLetterbox(t), startLetterbox(t), startLetterbox(t)}
	slices.SortFunc(boxes, func(a, b *letterbox) int { return strings.Compare(a.host, b.host) })
	var members []string
	for _, l := range boxes {
		members = append(members, l.person(srv, "bob", true).URI)
	}
	list := srv.listWith(alice, members...)
	boxes[0].answer(503)
	alice.publish("one", "visibility", "list:"+list)
	settle(srv)
	srv.insert(`UPDATE hosts SET unreachable_since = ? WHERE domain = ?`, store.At(time.Now().Add(-8*24*time.Hour)), boxes[0].host)
	for _, l := range boxes {
		l.take()
	}
	alice.publish("two", "visibility", "list:"+list)
	settle(srv)
	for _, l := range boxes[1:] {
		l.one("Create")
	}
	if got := boxes[0].take(); len(got) > 0 {
		t.Errorf("the server that is away got %s", kinds(got))
	}
}

// TestWhoDoesNotHearOfAnswers answers somebody in private, without them: they hear neither of the answer nor of its end.
func TestWhoDoesNotHearOfAnswers(t *testing.T) {
	srv, alice, home := startOutbox(t)
	away := startLetterbox(t)
	bob := home.person(srv, "bob", true)
	away.person(srv, "carol", true)
	note := srv.foreign(bob).ID.String()
	for _, visibility := range []string{"direct", "private"} {
		st := alice.publish("what a bore", "visibility", visibility, "in_reply_to_id", note, "to[]", "carol@"+away.host).id()
		settle(srv)
		away.one("Create")
		alice.edit(st, jsonBody{"status": "what a dreadful bore"}).want(200)
		settle(srv)
		away.one("Update")
		alice.do("DELETE", "/api/v1/statuses/"+st, "", nil).want(200)
		settle(srv)
		if m := away.one("Delete"); strings.Contains(m.raw, bob.URI) {
			t.Errorf("the end of a %s answer is for %s", visibility, m.raw)
		}
		if got := home.take(); len(got) > 0 {
			t.Errorf("who was answered without being addressed got %s of a %s post", kinds(got), visibility)
		}
	}
}

// TestWhoHearsOfBoosts boosts for everybody and for followers only: whose post it is hears of both.
func TestWhoHearsOfBoosts(t *testing.T) {
	srv, alice, home := startOutbox(t)
	away := startLetterbox(t)
	away.follower(srv, "follower", true, alice)
	bob := home.person(srv, "bob", true)
	note := srv.foreign(bob).ID.String()
	for _, visibility := range []string{"public", "unlisted", "private"} {
		alice.post("/api/v1/statuses/"+note+"/reblog", "visibility", visibility).want(200)
		settle(srv)
		for _, l := range []*letterbox{home, away} {
			m := l.one("Announce")
			if to, cc := addresses(m.doc); !slices.Contains(cc, bob.URI) || slices.Contains(append(to, cc...), toPublic) == (visibility == "private") {
				t.Errorf("the %s boost is for %v and %v", visibility, to, cc)
			}
		}
		alice.post("/api/v1/statuses/" + note + "/unreblog").want(200)
		settle(srv)
		for _, l := range []*letterbox{home, away} {
			l.one("Undo")
		}
	}
}

// TestManyInboxes tells more inboxes of something than are queued at once: each hears of it once, also if the job is done again.
func TestManyInboxes(t *testing.T) {
	srv, alice, home := startOutbox(t)
	const many = 510
	for i := range many {
		home.follower(srv, fmt.Sprint("fan", i), false, alice)
	}
	alice.publish("hello")
	srv.insert(`INSERT INTO jobs (id, kind, payload, run_at) SELECT id + 1, kind, payload, run_at + 86400000 FROM jobs WHERE kind = 'deed'`)
	srv.settle()
	for range 2 {
		if n := srv.count(`SELECT count(DISTINCT inbox) FROM deliveries`); n != many {
			t.Errorf("queued for %d inboxes", n)
		}
		if n := srv.count(`SELECT count(*) FROM deliveries`); n != many {
			t.Errorf("%d deliveries", n)
		}
		srv.soon()
		srv.settle()
	}
	settle(srv)
	if got := home.take(); len(got) != many {
		t.Errorf("%d deliveries, want %d", len(got), many)
	}
	if n := srv.count(`SELECT (SELECT count(*) FROM deliveries) + (SELECT count(*) FROM activities)`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

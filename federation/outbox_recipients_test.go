package federation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/store"
)

// TestUpdateRecipients checks that an Update of a post that is not public reaches only those of its earlier recipients that may still
// see it.
func TestUpdateRecipients(t *testing.T) {
	for _, tt := range []struct {
		visibility string
		audience   []string // recipients of the Create
		after      []string // recipients once two of them cannot see it any more
	}{
		{"public", []string{"follower", "former", "named", "blocked"}, []string{"follower", "former", "named", "blocked", "reader"}},
		{"private", []string{"follower", "former", "named", "blocked"}, []string{"follower", "named"}},
		{"direct", []string{"named", "blocked"}, []string{"named"}},
		{"list", []string{"former", "named", "blocked"}, []string{"former", "named"}},
	} {
		t.Run(tt.visibility, func(t *testing.T) {
			srv, alice, _ := apptest.StartWithInboxServer(t)
			boxes := make(map[string]*apptest.InboxServer)
			accounts := make(map[string]*store.Account)
			for _, nick := range []string{"follower", "former", "named", "blocked", "reader"} {
				l := apptest.StartInboxServer(t)
				boxes[nick], accounts[nick] = l, l.AddAccount(srv, nick, true)
			}
			received := func(kind string) (nicks []string) {
				t.Helper()
				apptest.Settle(srv)
				for nick, l := range boxes {
					for _, m := range l.Take() {
						if got := m.Object.Str("type"); got != kind {
							t.Errorf("%s got %s, want %s", nick, got, kind)
						}
						nicks = append(nicks, nick)
					}
				}
				slices.Sort(nicks)
				return slices.Compact(nicks)
			}
			for _, nick := range []string{"follower", "former"} {
				srv.AddRemoteFollow(accounts[nick], alice, false)
			}
			visibility := tt.visibility
			if visibility == "list" {
				visibility = "list:" + addListWithRemote(srv, alice, accounts["former"].URI, accounts["named"].URI, accounts["blocked"].URI)
			}
			text := " @named@" + boxes["named"].Host + " @blocked@" + boxes["blocked"].Host
			st := alice.Publish("one"+text, "visibility", visibility).ID()
			want := slices.Sorted(slices.Values(tt.audience))
			if got := received("Create"); !slices.Equal(got, want) {
				t.Fatalf("it went to %v, want %v", got, want)
			}
			for _, nick := range tt.audience {
				if _, err := srv.Social.ReceiveFavourite(t.Context(), accounts[nick], apptest.StatusID(st), accounts[nick].URI+"/like", ""); err != nil {
					t.Fatal(err)
				}
				srv.Exec(`INSERT INTO status_fetchers (status_id, inbox) VALUES (?, ?)`, apptest.StatusID(st), boxes[nick].URL+"/inbox")
			}
			if tt.visibility == "public" {
				srv.Exec(`INSERT INTO status_fetchers (status_id, inbox) VALUES (?, ?)`, apptest.StatusID(st), boxes["reader"].URL+"/inbox")
			}
			alice.AccountAction(accounts["former"].ID.String(), "remove_from_followers")
			alice.AccountAction(accounts["blocked"].ID.String(), "block")
			apptest.Settle(srv)
			for _, l := range boxes {
				l.Take()
			}
			alice.EditStatus(st, apptest.Doc{"status": "two" + text}).Want(200)
			want = slices.Sorted(slices.Values(tt.after))
			if got := received("Update"); !slices.Equal(got, want) {
				t.Errorf("the edit went to %v, want %v", got, want)
			}
			// All that have it receive the Delete.
			alice.Do("DELETE", "/api/v1/statuses/"+st, "", nil).Want(200)
			want = slices.Compact(slices.Sorted(slices.Values(append(tt.audience, tt.after...))))
			if got := received("Delete"); !slices.Equal(got, want) {
				t.Errorf("the end went to %v, want %v", got, want)
			}
		})
	}
}

// TestUnreachableHostAmongRecipients checks an entry with several activities, one of which is for an unreachable host: the others are
// delivered.
func TestUnreachableHostAmongRecipients(t *testing.T) {
	srv, alice, _ := apptest.StartWithInboxServer(t)
	boxes := []*apptest.InboxServer{apptest.StartInboxServer(t), apptest.StartInboxServer(t), apptest.StartInboxServer(t)}
	slices.SortFunc(boxes, func(a, b *apptest.InboxServer) int { return strings.Compare(a.Host, b.Host) })
	var members []string
	for _, l := range boxes {
		members = append(members, l.AddAccount(srv, "bob", true).URI)
	}
	list := addListWithRemote(srv, alice, members...)
	boxes[0].Respond(503)
	alice.Publish("one", "visibility", "list:"+list)
	apptest.Settle(srv)
	srv.Exec(`UPDATE hosts SET unreachable_since = ? WHERE domain = ?`, store.At(time.Now().Add(-8*24*time.Hour)), boxes[0].Host)
	for _, l := range boxes {
		l.Take()
	}
	alice.Publish("two", "visibility", "list:"+list)
	apptest.Settle(srv)
	for _, l := range boxes[1:] {
		l.TakeOne("Create")
	}
	if got := boxes[0].Take(); len(got) > 0 {
		t.Errorf("the server that is away got %s", apptest.DeliveredTypes(got))
	}
}

// TestPrivateReplyRecipients checks that the author of a post receives neither a private reply that does not mention them nor its
// Delete.
func TestPrivateReplyRecipients(t *testing.T) {
	srv, alice, home := apptest.StartWithInboxServer(t)
	away := apptest.StartInboxServer(t)
	bob := home.AddAccount(srv, "bob", true)
	away.AddAccount(srv, "carol", true)
	note := srv.AddRemoteStatus(bob).ID.String()
	for _, visibility := range []string{"direct", "private"} {
		st := alice.Publish("what a bore", "visibility", visibility, "in_reply_to_id", note, "to[]", "carol@"+away.Host).ID()
		apptest.Settle(srv)
		away.TakeOne("Create")
		alice.EditStatus(st, apptest.Doc{"status": "what a dreadful bore"}).Want(200)
		apptest.Settle(srv)
		away.TakeOne("Update")
		alice.Do("DELETE", "/api/v1/statuses/"+st, "", nil).Want(200)
		apptest.Settle(srv)
		if m := away.TakeOne("Delete"); strings.Contains(m.Raw, bob.URI) {
			t.Errorf("the end of a %s answer is for %s", visibility, m.Raw)
		}
		if got := home.Take(); len(got) > 0 {
			t.Errorf("the unaddressed author of the parent got %s of a %s post", apptest.DeliveredTypes(got), visibility)
		}
	}
}

// TestAnnounceRecipients checks that the author receives the Announce of public and of private boosts.
func TestAnnounceRecipients(t *testing.T) {
	srv, alice, home := apptest.StartWithInboxServer(t)
	away := apptest.StartInboxServer(t)
	away.AddFollower(srv, "follower", true, alice)
	bob := home.AddAccount(srv, "bob", true)
	note := srv.AddRemoteStatus(bob).ID.String()
	for _, visibility := range []string{"public", "unlisted", "private"} {
		alice.Post("/api/v1/statuses/"+note+"/reblog", "visibility", visibility).Want(200)
		apptest.Settle(srv)
		for _, l := range []*apptest.InboxServer{home, away} {
			m := l.TakeOne("Announce")
			if to, cc := apptest.Addresses(m.Object); !slices.Contains(cc, bob.URI) || slices.Contains(append(to, cc...), apptest.Public) == (visibility == "private") {
				t.Errorf("the %s boost is for %v and %v", visibility, to, cc)
			}
		}
		alice.Post("/api/v1/statuses/" + note + "/unreblog").Want(200)
		apptest.Settle(srv)
		for _, l := range []*apptest.InboxServer{home, away} {
			l.TakeOne("Undo")
		}
	}
}

// TestManyInboxes checks that an activity for more inboxes than one batch reaches each once, also if the job is repeated.
func TestManyInboxes(t *testing.T) {
	srv, alice, home := apptest.StartWithInboxServer(t)
	const many = 510
	for i := range many {
		home.AddFollower(srv, fmt.Sprint("fan", i), false, alice)
	}
	alice.Publish("hello")
	srv.Exec(`INSERT INTO jobs (id, kind, payload, run_at) SELECT id + 1, kind, payload, run_at + 86400000 FROM jobs WHERE kind = 'outbox'`)
	srv.RunJobs()
	for range 2 {
		if n := srv.Count(`SELECT count(DISTINCT inbox) FROM deliveries`); n != many {
			t.Errorf("queued for %d inboxes", n)
		}
		if n := srv.Count(`SELECT count(*) FROM deliveries`); n != many {
			t.Errorf("%d deliveries", n)
		}
		srv.RunDelayedJobs()
		srv.RunJobs()
	}
	apptest.Settle(srv)
	if got := home.Take(); len(got) != many {
		t.Errorf("%d deliveries, want %d", len(got), many)
	}
	if n := srv.Count(`SELECT (SELECT count(*) FROM deliveries) + (SELECT count(*) FROM activities)`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

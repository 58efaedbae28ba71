package federation_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

// outbox serves the outbox of an actor with a first page of items.
func outbox(peer *apptest.FakeServer, actor string, items []any) {
	first := actor + "/outbox?page=true"
	peer.Serve(apptest.Doc{"id": actor + "/outbox", "type": "OrderedCollection", "totalItems": len(items), "first": first})
	peer.ServeAt(first, apptest.Doc{"id": first, "type": "OrderedCollectionPage", "orderedItems": items})
}

// posts returns public notes of an actor, the newest first.
func posts(peer *apptest.FakeServer, actor string, n int) (notes []apptest.Doc) {
	for i := range n {
		note := peer.Note(actor, fmt.Sprintf("<p>post %d</p>", i), apptest.Doc{"published": apptest.FromNow(-time.Duration(i) * time.Hour)})
		peer.Serve(note)
		notes = append(notes, note)
	}
	return notes
}

// TestProfilePosts checks that a profile which a user opens or follows is not empty, and what that may cost.
func TestProfilePosts(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	other := apptest.StartFake(t)
	alice, carl := srv.SignUp("alice"), srv.SignUp("carl")
	known := func(nick string) (actor, id string) {
		t.Helper()
		actor = peer.AddActor(nick)
		found := alice.Get("/api/v2/search?type=accounts&resolve=true&q=" + nick + "@" + peer.Host).Want(200).Object()
		return actor, found.Find("accounts.0.id").(string)
	}
	shown := func(id string) int {
		return len(alice.Get("/api/v1/accounts/"+id+"/statuses", "limit", "40").Want(200).IDs())
	}

	t.Run("embedded", func(t *testing.T) {
		bob, id := known("bob")
		dora := other.AddActor("dora")
		var items []any
		for _, note := range posts(peer, bob, 25) {
			items = append(items, peer.Create(note))
		}
		bad := []any{
			peer.Activity("Announce", bob, other.Note(dora, "a boost")["id"]),
			other.Create(other.Note(dora, "of another server")),
			peer.Create(peer.Note(dora, "of another author")),
			peer.Create(peer.Note(bob, "for followers", apptest.Doc{"to": []any{bob + "/followers"}, "cc": nil})),
			"not a URL", 5, nil, apptest.Doc{"type": "Create"},
			peer.Create(peer.Note(bob, "hello", apptest.Doc{"to": []any{apptest.Public, alice.URI()}, "tag": []any{apptest.Doc{"type": "Mention", "href": alice.URI()}}})),
		}
		outbox(peer, bob, append(bad, items...))
		srv.As(nil).Get("/api/v1/accounts/" + id).Want(200)
		srv.As(nil).Get("/@bob@" + peer.Host)
		apptest.Settle(srv)
		if n := peer.Fetches("/users/bob/outbox"); n > 1 { // of which the counters need one
			t.Errorf("a visitor caused %d requests", n)
		}
		before := other.AllFetches()
		alice.Get("/api/v1/accounts/" + id).Want(200)
		apptest.Settle(srv)
		if got := shown(id); got != 20 {
			t.Errorf("the profile shows %d posts, want 20", got)
		}
		if n := peer.Fetches("/users/bob/outbox?page=true"); n > 2 {
			t.Errorf("%d requests for the page", n)
		}
		if got := other.AllFetches() - before; got != 0 {
			t.Errorf("%d requests to another server", got)
		}
		apptest.WantList(t, "notifications", alice.NotificationTypes())
		if got := alice.Get("/api/v1/timelines/home").Want(200).List(); len(got) != 0 {
			t.Errorf("home has %d posts", len(got))
		}
		pages := peer.Fetches("/users/bob/outbox?page=true")
		carl.Get("/api/v1/accounts/" + id).Want(200)
		apptest.Settle(srv)
		if got := peer.Fetches("/users/bob/outbox?page=true"); got != pages {
			t.Error("it is fetched twice on a day")
		}
	})
	t.Run("ids only", func(t *testing.T) {
		dan, id := known("dan")
		var items []any
		for _, note := range posts(peer, dan, 30) {
			items = append(items, note["id"])
		}
		outbox(peer, dan, items)
		alice.Post("/api/v1/accounts/" + id + "/follow").Want(200)
		apptest.Settle(srv)
		if got := shown(id); got != 12 {
			t.Errorf("the profile shows %d posts, want 12", got)
		}
	})
	t.Run("listed", func(t *testing.T) {
		frank, id := known("frank")
		outbox(peer, frank, []any{peer.Create(posts(peer, frank, 1)[0])})
		list := "/api/v1/accounts/" + id + "/statuses"
		for _, tt := range []struct {
			name string
			as   *apptest.Client
			path string
			want int
		}{
			{"by a visitor", srv.As(nil), list, 0},
			{"the pinned ones", alice.Client, list + "?pinned=true", 0},
			{"older ones", alice.Client, list + "?max_id=1", 0},
			{"by a user", alice.Client, list, 1},
		} {
			tt.as.Get(tt.path)
			apptest.Settle(srv)
			if got := srv.Count(`SELECT count(*) FROM statuses s JOIN accounts a ON a.id = s.account_id WHERE a.uri = ?`, frank); got != tt.want {
				t.Errorf("%s: %d posts are known, want %d", tt.name, got, tt.want)
			}
		}
	})
	t.Run("a page on another host", func(t *testing.T) {
		eve, id := known("eve")
		first := other.URL + "/page"
		other.ServeAt(first, apptest.Doc{"id": first, "type": "OrderedCollectionPage", "orderedItems": []any{}})
		peer.Serve(apptest.Doc{"id": eve + "/outbox", "type": "OrderedCollection", "first": first})
		before := other.Fetches("/page")
		alice.Get("/api/v1/accounts/" + id).Want(200)
		apptest.Settle(srv)
		if got := other.Fetches("/page") - before; got != 0 {
			t.Errorf("%d requests", got)
		}
	})
}

// TestDeliveryAfterProfile checks that a post which a user's look at a profile brought before its delivery still notifies, and reaches homes and
// streams, once.
func TestDeliveryAfterProfile(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice, carl := srv.SignUp("alice"), srv.SignUp("carl")
	bob := peer.AddActor("bob")
	carl.FollowRemote(bob)
	parent := carl.Post("/api/v1/statuses", "status", "a question").Want(200).Object()
	mention := peer.Note(bob, "hello", apptest.Doc{"to": []any{apptest.Public, carl.URI()}, "tag": []any{apptest.Doc{"type": "Mention", "href": carl.URI()}}})
	answer := peer.Note(bob, "an answer", apptest.Doc{"to": []any{apptest.Public, carl.URI()}, "inReplyTo": parent.Str("uri")})
	var items []any
	for _, note := range []apptest.Doc{answer, mention} {
		peer.Serve(note)
		items = append(items, peer.Create(note))
	}
	outbox(peer, bob, items)
	home := func() int { return len(carl.Get("/api/v1/timelines/home").Want(200).List()) - 1 }
	alice.Get("/api/v1/accounts/" + srv.KnownID(bob)).Want(200)
	apptest.Settle(srv)
	if n := srv.Count(`SELECT count(*) FROM statuses WHERE domain <> ''`); n != 2 || home() != 0 {
		t.Fatalf("%d posts are known, %d in home", n, home())
	}
	apptest.WantList(t, "notifications before the deliveries", carl.NotificationTypes())
	stream := srv.OpenStream(carl.Client, "stream", "user")
	for range 2 {
		for _, note := range []apptest.Doc{mention, answer} {
			peer.PostAndSettle(srv, peer.Create(note))
		}
		if n := home(); n != 2 {
			t.Errorf("home has %d posts, want 2", n)
		}
		apptest.WantList(t, "notifications", carl.NotificationTypes(), "mention", "mention")
	}
	var got []string
	for _, e := range stream.Events() {
		got = append(got, e.Event)
	}
	slices.Sort(got)
	apptest.WantList(t, "events", got, "notification", "notification", "update", "update")
}

// TestProfilePostsOff checks that the setting federation.fetch_profiles does what it says.
func TestProfilePostsOff(t *testing.T) {
	srv, peer := apptest.StartWithFake(t, func(c *config.Config) { c.Federation.FetchProfiles = false })
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	outbox(peer, bob, []any{peer.Create(posts(peer, bob, 1)[0])})
	alice.FollowRemote(bob)
	alice.Get("/api/v1/accounts/" + srv.KnownID(bob)).Want(200)
	apptest.Settle(srv)
	if n := srv.Count(`SELECT count(*) FROM statuses`); n != 0 {
		t.Errorf("%d posts are known", n)
	}
}

// TestProfilesPerUser checks that one user fills 30 profiles an hour at most.
func TestProfilesPerUser(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	for i := range 32 {
		nick := fmt.Sprintf("bob%d", i)
		bob := peer.AddActor(nick)
		outbox(peer, bob, []any{peer.Create(posts(peer, bob, 1)[0])})
		id := alice.Get("/api/v2/search?type=accounts&resolve=true&q=" + nick + "@" + peer.Host).Want(200).Object().Find("accounts.0.id").(string)
		alice.Get("/api/v1/accounts/" + id).Want(200)
	}
	apptest.Settle(srv)
	if n := srv.Count(`SELECT count(*) FROM statuses`); n != 30 {
		t.Errorf("%d profiles have posts, want 30", n)
	}
}

// knownActor makes an actor known in such a way that a look at its profile causes nothing but the fetch of its posts.
func knownActor(srv *apptest.Server, peer *apptest.FakeServer, nick string) (actor, id string) {
	actor = peer.AddActor(nick)
	id = srv.FetchActor(actor)
	srv.Exec(`UPDATE actors SET collections_fetched_at = ?`, srv.DB.Now().UnixMilli())
	return actor, id
}

// profileDelay bounds how long the posts of a profile may take to be there after the last answer of its server.
const profileDelay = 10 * time.Second

// TestProfilePostsAreSoonThere measures when the posts of a profile are there, with 20 embedded ones and with 12 that are fetched one by one. On an idle
// machine it is far less than the two seconds that users are promised.
func TestProfilePostsAreSoonThere(t *testing.T) {
	for _, tt := range []struct {
		name     string
		embedded bool
		want     int
	}{{"embedded", true, 20}, {"ids only", false, 12}} {
		t.Run(tt.name, func(t *testing.T) {
			srv, peer := apptest.StartWithFake(t)
			alice := srv.SignUp("alice")
			bob, id := knownActor(srv, peer, "bob")
			var items []any
			for _, note := range posts(peer, bob, 25) {
				if tt.embedded {
					items = append(items, peer.Create(note))
				} else {
					items = append(items, note["id"])
				}
			}
			outbox(peer, bob, items)
			var answered atomic.Int64
			peer.OnRequest("/", func(*http.Request) { answered.Store(time.Now().UnixNano()) })
			runWorker(t, srv)
			began := time.Now()
			alice.Get("/api/v1/accounts/" + id).Want(200)
			waitFor(t, "posts", func() bool { return srv.Count(`SELECT count(*) FROM statuses`) == tt.want })
			took := time.Since(time.Unix(0, answered.Load()))
			t.Logf("%d posts were there %v after the last answer, %v after the profile was opened", tt.want, took.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
			if took > profileDelay {
				t.Errorf("they took %v", took)
			}
		})
	}
}

// TestSlowProfiles checks that profiles whose servers do not answer keep neither the jobs of others waiting nor their profiles for longer than that.
func TestSlowProfiles(t *testing.T) {
	srv, good := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	end := make(chan struct{})
	var waiting atomic.Int32 // requests
	open := func(peer *apptest.FakeServer) {
		bob, id := knownActor(srv, peer, "bob")
		outbox(peer, bob, []any{peer.Create(posts(peer, bob, 1)[0])})
		if peer != good {
			peer.OnRequest("/users/bob/outbox", func(r *http.Request) {
				waiting.Add(1)
				select {
				case <-end:
				case <-r.Context().Done():
				}
			})
		}
		alice.Get("/api/v1/accounts/" + id).Want(200)
	}
	for range 4 {
		open(apptest.StartFake(t))
	}
	runWorker(t, srv)
	waitFor(t, "four profiles at a time", func() bool { return waiting.Load() == 4 })
	open(good)
	waitFor(t, "a fifth profile is put off", func() bool {
		return srv.Count(`SELECT count(*) FROM jobs WHERE kind = 'fetch_profile_posts' AND delayed = 1 AND attempts = 0`) > 0
	})
	close(end)
	waitFor(t, "posts", func() bool { return srv.Count(`SELECT count(*) FROM statuses WHERE domain = ?`, good.Host) == 1 })
}

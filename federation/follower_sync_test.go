package federation_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/app/apptest/peers"
	"svc/internal/activity"
	"svc/internal/config"
	"svc/internal/httpsig"
	"svc/store"
)

const syncHeader = "Collection-Synchronization"

// digestOf is the digest of FEP-8fcf, calculated by hand.
func digestOf(uris ...string) string {
	var sum [sha256.Size]byte
	for _, uri := range uris {
		one := sha256.Sum256([]byte(uri))
		for i := range sum {
			sum[i] ^= one[i]
		}
	}
	return fmt.Sprintf("%x", sum)
}

// headersOf makes a server record the synchronization headers of deliveries, by the type of the activity. Those that the signature does not
// cover have a mark.
func headersOf(p *apptest.FakeServer) (received func() []string) {
	var mu sync.Mutex
	var list []string
	p.Check = func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
		if r.Method != http.MethodPost {
			return true
		}
		text := r.Header.Get(syncHeader)
		if text != "" && !strings.Contains(r.Header.Get("Signature"), "collection-synchronization") {
			text = "not signed: " + text
		}
		mu.Lock()
		defer mu.Unlock()
		list = append(list, text)
		return true
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		some := list
		list = nil
		return some
	}
}

// TestSendSynchronization checks which deliveries have a digest of the followers on the recipient's host, and the list that the header names.
func TestSendSynchronization(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	alice := srv.SignUp("alice")
	near, far := apptest.StartFake(t), apptest.StartFake(t)
	ben, cleo, dora, eve := near.AddActor("ben"), near.AddActor("cleo"), far.AddActor("dora"), far.AddActor("eve")
	for _, f := range []struct {
		p  *apptest.FakeServer
		by string
	}{{near, ben}, {near, cleo}, {far, dora}} {
		f.p.PostAndSettle(srv, f.p.Activity("Follow", f.by, alice.URI()))
	}
	srv.FetchActor(eve)
	atNear, atFar := headersOf(near), headersOf(far)
	list := alice.URI() + "/followers_synchronization"
	header := func(uris ...string) string {
		return fmt.Sprintf(`collectionId="%s/followers", url="%s", digest="%s"`, alice.URI(), list, digestOf(uris...))
	}
	publish := func(params ...string) {
		t.Helper()
		alice.Publish("hello", params...)
		apptest.Settle(srv)
	}

	publish()
	apptest.WantList(t, "headers of a public post", atNear(), "")
	atFar()
	publish("visibility", "private")
	apptest.WantList(t, "headers of a post for followers", atNear(), header(ben, cleo))
	apptest.WantList(t, "headers on another host", atFar(), header(dora))
	alice.Publish("hi @eve@"+far.Host, "visibility", "direct")
	apptest.Settle(srv)
	apptest.WantList(t, "headers of a direct post", atFar(), "")
	near.PostAndSettle(srv, near.Activity("Undo", cleo, near.Activity("Follow", cleo, alice.URI())))
	atNear()
	publish("visibility", "private")
	apptest.WantList(t, "headers after an unfollow", atNear(), header(ben))
	atFar()
	far.PostAndSettle(srv, far.Activity("Undo", dora, far.Activity("Follow", dora, alice.URI())))
	publish("visibility", "private", "status", "hello @dora@"+far.Host)
	apptest.WantList(t, "headers for a host without followers", atFar(), header())
	if got := digestOf(); got != strings.Repeat("0", 64) {
		t.Errorf("the digest of nobody is %s", got)
	}

	alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"hide_followers": true}).Want(200)
	far.Check, near.Check = nil, nil
	path := "/users/" + alice.ID + "/followers_synchronization"
	items := func(p *apptest.FakeServer, signer string) []any {
		t.Helper()
		doc := p.FetchAs(srv, path, signer, apptest.ActivityJSON).Want(200).Document()
		if doc["id"] != list || doc["type"] != "OrderedCollection" {
			t.Errorf("the list is %v", doc)
		}
		return doc["orderedItems"].([]any)
	}
	if got := items(near, ben); len(got) != 1 || got[0] != ben {
		t.Errorf("the followers on the host are %v", got)
	}
	if got := items(near, near.AddActor("instance")); len(got) != 1 { // an unknown actor of a host with followers
		t.Errorf("an unknown actor gets %v", got)
	}
	if got := items(far, dora); len(got) != 0 {
		t.Errorf("another host gets %v", got)
	}
	far.FetchAs(srv, path, far.AddActor("unknown"), apptest.ActivityJSON).Want(401)
	if n := far.Fetches(far.URL + "/users/unknown"); n != 0 {
		t.Errorf("an unknown key of a host without followers is fetched %d times", n)
	}
	near.FetchAs(srv, path, "", apptest.ActivityJSON).Want(401)
	near.FetchAs(srv, "/users/nobody/followers_synchronization", ben, apptest.ActivityJSON).Want(404)
	srv.BlockHost(near.Host, config.RejectHost)
	near.FetchAs(srv, path, ben, apptest.ActivityJSON).Want(403)
}

// TestReceiveSynchronization checks which headers cause the list of followers to be fetched.
func TestReceiveSynchronization(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	other := apptest.StartFake(t)
	n := 0
	for _, tt := range []struct {
		name     string
		header   string // ACTOR, URL and DIGEST stand for the right ones; WRONG for another digest
		unsigned bool
		list     apptest.Doc // members of the list of followers, which has alice only
		want     string      // who follows afterwards
		fetches  int
	}{
		{"the same digest", `collectionId="ACTOR/followers", url="URL", digest="DIGEST"`, false, nil, "alice bob", 0},
		{"another digest", `collectionId="ACTOR/followers", url="URL", digest="WRONG"`, false, nil, "alice", 1},
		{"names in another case", `COLLECTIONID="ACTOR/followers",url="URL",Digest="WRONG"`, false, nil, "alice", 1},
		{"not covered by the signature", `collectionId="ACTOR/followers", url="URL", digest="WRONG"`, true, nil, "alice bob", 0},
		{"another collection", `collectionId="ACTOR/following", url="URL", digest="WRONG"`, false, nil, "alice bob", 0},
		{"another host", `collectionId="ACTOR/followers", url="` + other.URL + `/list", digest="WRONG"`, false, nil, "alice bob", 0},
		{"this host", `collectionId="ACTOR/followers", url="` + srv.URL + `/list", digest="WRONG"`, false, nil, "alice bob", 0},
		{"no URL", `collectionId="ACTOR/followers", digest="WRONG"`, false, nil, "alice bob", 0},
		{"a short digest", `collectionId="ACTOR/followers", url="URL", digest="00"`, false, nil, "alice bob", 0},
		{"a long digest", `collectionId="ACTOR/followers", url="URL", digest="WRONG00"`, false, nil, "alice bob", 0},
		{"a digest that is not hexadecimal", `collectionId="ACTOR/followers", url="URL", digest="` + strings.Repeat("x", 64) + `"`, false, nil, "alice bob", 0},
		{"malformed", `collectionId="ACTOR/followers`, false, nil, "alice bob", 0},
		{"a list with more pages", `collectionId="ACTOR/followers", url="URL", digest="WRONG"`, false, apptest.Doc{"next": "URL?page=2"}, "alice bob", 1},
		{"a list without items", `collectionId="ACTOR/followers", url="URL", digest="WRONG"`, false, apptest.Doc{"orderedItems": nil, "first": "URL?page=1"}, "alice bob", 1},
		{"a list with another id", `collectionId="ACTOR/followers", url="URL", digest="WRONG"`, false, apptest.Doc{"id": other.URL + "/list"}, "alice bob", 1},
		{"an embedded page", `collectionId="ACTOR/followers", url="URL", digest="WRONG"`, false,
			apptest.Doc{"orderedItems": nil, "first": apptest.Doc{"type": "OrderedCollectionPage", "orderedItems": []any{alice.URI()}}}, "alice", 1},
		{"an empty list", `collectionId="ACTOR/followers", url="URL", digest="WRONG"`, false, apptest.Doc{"orderedItems": []any{}}, "", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n++
			ben := peer.AddActor(fmt.Sprint("ben", n))
			alice.FollowRemote(ben)
			bob.FollowRemote(ben)
			list := ben + "/followers_synchronization"
			peer.ServeAt(list, peers.Copy(apptest.Doc{
				"@context": activity.Context, "id": list, "type": "OrderedCollection", "orderedItems": []any{alice.URI()},
			}, tt.list))
			replacer := strings.NewReplacer("ACTOR", ben, "URL", list, "DIGEST", digestOf(alice.URI(), bob.URI()), "WRONG", digestOf(alice.URI()))
			postSynchronized(t, srv, peer, ben, replacer.Replace(tt.header), !tt.unsigned)
			var following []string
			for _, u := range []*apptest.User{alice, bob} {
				if u.Relationship(srv.KnownID(ben)).At("following") == true {
					following = append(following, u.Nickname)
				}
			}
			if got := strings.Join(following, " "); got != tt.want {
				t.Errorf("%q follow, want %q", got, tt.want)
			}
			if got := peer.Fetches(list); got != tt.fetches {
				t.Errorf("the list is fetched %d times, want %d", got, tt.fetches)
			}
		})
	}
	if n := other.AllFetches(); n != 0 {
		t.Errorf("%d fetches from a host that is not the actor's", n)
	}
}

// postSynchronized delivers a post for followers with a synchronization header.
func postSynchronized(t *testing.T, srv *apptest.Server, peer *apptest.FakeServer, actor, header string, signed bool) {
	t.Helper()
	note := peer.Note(actor, "for my followers", apptest.Doc{"to": []any{actor + "/followers"}, "cc": []any{}})
	body := apptest.MustJSON(peer.Create(note))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/inbox", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/activity+json")
	req.Header.Set(syncHeader, header)
	options := httpsig.Options{Scheme: peer.Scheme, Now: srv.DB.Now()}
	if signed {
		options.Also = []string{"collection-synchronization"}
	}
	if err := peer.Signer(actor).Sign(req, body, options); err != nil {
		t.Fatal(err)
	}
	srv.As(nil).DoRequest(req).Want(http.StatusAccepted)
	apptest.Settle(srv)
}

// TestSynchronizationLimits checks that an account causes a fetch an hour at most, and a list a hundred activities.
func TestSynchronizationLimits(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	ben := peer.AddActor("ben")
	alice.FollowRemote(ben)
	list := ben + "/followers_synchronization"
	items := []any{alice.URI(), "https://example.org/users/x", srv.URL + "/users/nobody"}
	for i := range 120 {
		name := fmt.Sprintf("user%03d", i)
		err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
			uri := srv.URL + "/users/" + name
			items = append(items, uri)
			return tx.AddAccount(t.Context(), &store.Account{Nickname: name, URI: uri, URL: uri, ActorType: "Person"})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	peer.Serve(apptest.Doc{"@context": activity.Context, "id": list, "type": "OrderedCollection", "orderedItems": items})
	header := fmt.Sprintf(`collectionId="%s/followers", url="%s", digest="%s"`, ben, list, digestOf("x"))
	postSynchronized(t, srv, peer, ben, header, true)
	if got := len(peer.Delivered("Undo")); got != 100 {
		t.Errorf("%d Undos are sent, want 100", got)
	}
	postSynchronized(t, srv, peer, ben, header, true)
	if got := peer.Fetches(list); got != 1 {
		t.Errorf("the list is fetched %d times within an hour", got)
	}
	srv.Advance(time.Hour)
	postSynchronized(t, srv, peer, ben, header, true)
	if got := peer.Fetches(list); got != 2 {
		t.Errorf("the list is fetched %d times in two hours", got)
	}
}

// TestManyFollowersAreNotSynchronized checks the limit of followers: in the list of another server, and of a local account.
func TestManyFollowersAreNotSynchronized(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	ben := peer.AddFollower(srv, "ben", alice)
	alice.FollowRemote(ben)
	list := ben + "/followers_synchronization"
	items := make([]any, 20_001)
	for i := range items {
		items[i] = fmt.Sprint("https://a.example/", i)
	}
	peer.Serve(apptest.Doc{"@context": activity.Context, "id": list, "type": "OrderedCollection", "orderedItems": items})
	postSynchronized(t, srv, peer, ben, fmt.Sprintf(`collectionId="%s/followers", url="%s", digest="%s"`, ben, list, digestOf("x")), true)
	if alice.Relationship(srv.KnownID(ben)).At("following") != true || peer.Fetches(list) != 1 {
		t.Errorf("a list that is too long counts, or was fetched %d times", peer.Fetches(list))
	}

	srv.Exec(`
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
		INSERT INTO accounts (id, nickname, nickname_key, domain, uri, url, created_at)
		SELECT 1000 + i, 'x' || i, 'x' || i, 'many.example', 'https://many.example/' || i, '', 0
		FROM n`)
	received := headersOf(peer)
	path := "/users/" + alice.ID + "/followers_synchronization"
	for _, tt := range []struct{ followers, status, headers int }{{20_000, 200, 1}, {20_001, 404, 0}} {
		srv.Exec(`INSERT OR IGNORE INTO follows (id, follower_id, target_id, follower_local) SELECT id, id, ?, 0 FROM accounts WHERE domain = 'many.example' LIMIT ?`,
			alice.AccountID(), tt.followers-1)
		alice.Publish("hello", "visibility", "private")
		srv.RunJobs()
		if err := srv.Federation.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := slices.DeleteFunc(received(), func(h string) bool { return h == "" }); len(got) != tt.headers {
			t.Errorf("with %d followers the headers are %q", tt.followers, got)
		}
		peer.FetchAs(srv, path, ben, apptest.ActivityJSON).Want(tt.status)
	}
}

// TestFollowersSynchronization checks that two servers agree again on the followers of an account: a lost Undo, a lost Accept, and a lost Reject
// are made up for with the next post for followers.
func TestFollowersSynchronization(t *testing.T) {
	here, there, alice, bob, carol := apptest.StartTwo(t)
	dave, erin := there.SignUp("dave"), there.SignUp("erin")
	for _, u := range []*apptest.User{dave, erin} {
		u.AccountAction(u.FindRemote(alice), "follow")
	}
	apptest.Settle(here, there)
	change := func(srv *apptest.Server, follower, target string, fn func(context.Context, *store.Tx, *store.Follow) error) {
		t.Helper()
		err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
			a, err := tx.AccountByURI(t.Context(), follower)
			if err != nil {
				return err
			}
			b, err := tx.AccountByURI(t.Context(), target)
			if err != nil {
				return err
			}
			f, err := tx.FollowOf(t.Context(), a.ID, b.ID)
			if err != nil {
				return err
			}
			return fn(t.Context(), tx, f)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	remove := func(ctx context.Context, tx *store.Tx, f *store.Follow) error { return tx.RemoveFollow(ctx, f) }
	change(here, bob.URI(), alice.URI(), remove)    // there, bob follows
	change(there, carol.URI(), alice.URI(), remove) // here, carol follows
	change(there, dave.URI(), alice.URI(), func(ctx context.Context, tx *store.Tx, f *store.Follow) error {
		if err := tx.RemoveFollow(ctx, f); err != nil {
			return err
		}
		f.Pending = true
		return tx.AddFollow(ctx, f)
	})
	want := func(what string, u *apptest.User, flags ...string) {
		t.Helper()
		relationship := u.Relationship(there.KnownID(alice.URI()))
		for _, flag := range []string{"following", "requested"} {
			if relationship.At(flag) != slices.Contains(flags, flag) {
				t.Errorf("%s: %s of %s is %v", what, flag, u.Nickname, relationship.At(flag))
			}
		}
	}
	followers := func(what string, names ...string) {
		t.Helper()
		var got []string
		for _, a := range alice.Get("/api/v1/accounts/" + alice.ID + "/followers").Want(200).List() {
			got = append(got, a.Str("username"))
		}
		slices.Sort(got)
		apptest.WantList(t, what, got, names...)
	}
	want("before", bob, "following")
	want("before", dave, "requested")
	followers("followers before", "carol", "dave", "erin")

	alice.Publish("hello")
	apptest.Settle(here, there)
	followers("followers after a public post", "carol", "dave", "erin")

	alice.Publish("for my followers", "visibility", "private")
	apptest.Settle(here, there)
	want("after", bob)
	want("after", carol)
	want("after", dave, "following")
	want("after", erin, "following")
	followers("followers after a post for them", "dave", "erin")
	if got := bob.Get("/api/v1/timelines/home").Want(200).List(); len(got) > 0 {
		t.Errorf("%d posts are left in the home timeline of one who does not follow", len(got))
	}
}

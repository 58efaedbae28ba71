package federation_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"svc/app/apptest"
)

// boostDelay bounds how long servers that answer slowly may delay the boosts of others: until the domains of the slow ones are demoted.
const boostDelay = 20 * time.Second

// TestSlowPeersDelayNobody has twelve servers send posts by id that they do not serve in time, each of them many. The boosts of another server
// arrive soon all the same, and a Create makes the server fetch three objects at most.
func TestSlowPeersDelayNobody(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, good := apptest.StartWithFake(t)
	alice, bob := srv.SignUp("alice"), good.AddActor("bob")
	alice.FollowRemote(bob)
	srv.RunFederation()
	end := make(chan struct{})
	var slow []*apptest.FakeServer
	for range 12 {
		peer := apptest.StartFake(t)
		defer peer.Close()
		mallory := peer.AddActor("mallory")
		var ids []any
		for i := range 20 {
			note := peer.Note(mallory, fmt.Sprint("slow ", i))
			ids = append(ids, note["id"])
			peer.Remove(note["id"].(string), http.StatusNotFound) // after a while, so that the next one is fetched
			peer.OnRequest(note["id"].(string)[len(peer.URL):], func(r *http.Request) {
				select {
				case <-end:
				case <-r.Context().Done():
				case <-time.After(9 * time.Second):
				}
			})
		}
		peer.Post(srv, peer.Activity("Create", mallory, ids, apptest.Doc{"to": []any{apptest.Public}}))
		slow = append(slow, peer)
	}
	defer close(end)
	apptest.WaitFor(t, "the slow fetches", func() bool { return slow[0].Fetches(slow[0].URL+"/users/mallory") > 0 })
	other := apptest.StartFake(t)
	note := other.Note(other.AddActor("dan"), "from afar")
	other.Serve(note)
	began := time.Now()
	good.Post(srv, good.Activity("Announce", bob, note["id"], apptest.Doc{"to": []any{apptest.Public}, "published": apptest.FromNow(0)}))
	for {
		list := alice.Get("/api/v1/timelines/home").List()
		if len(list) > 0 && list[0].Find("reblog.uri") == note["id"] {
			break
		}
		if time.Since(began) > boostDelay {
			t.Fatalf("the boost has not arrived after %v", boostDelay)
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Logf("the boost arrived after %v", time.Since(began).Round(10*time.Millisecond))
}

// TestCreateFetchesFew sends a Create of many posts by their ids.
func TestCreateFetchesFew(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice, bob := srv.SignUp("alice"), peer.AddActor("bob")
	alice.FollowRemote(bob)
	var ids []any
	for i := range 20 {
		note := peer.Note(bob, fmt.Sprint("post ", i))
		peer.Serve(note)
		ids = append(ids, note["id"])
	}
	peer.PostAndSettle(srv, peer.Activity("Create", bob, ids, apptest.Doc{"to": []any{apptest.Public}}))
	fetched := 0
	for _, id := range ids {
		fetched += peer.Fetches(id.(string))
	}
	if fetched != 3 {
		t.Errorf("%d posts were fetched, want 3", fetched)
	}
}

package federation_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"svc/app/apptest"
)

// threadDelay bounds how long servers that answer slowly may delay the threads of others: until their domains are demoted.
const threadDelay = 20 * time.Second

// TestSlowPeersDelayNoJobs has six servers send many replies to posts that they do not serve in time. The post that a reply of
// another server refers to is fetched soon all the same.
func TestSlowPeersDelayNoJobs(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, good := apptest.StartWithFake(t)
	alice, bob := srv.SignUp("alice"), good.AddActor("bob")
	alice.FollowRemote(bob)
	slow := make(map[*apptest.FakeServer]string)
	for range 6 {
		peer := apptest.StartFake(t)
		defer peer.Close()
		slow[peer] = peer.AddActor("mallory")
		alice.FollowRemote(slow[peer])
	}
	end := make(chan struct{})
	for peer, mallory := range slow {
		for i := range 20 {
			parent := fmt.Sprintf("%s/parents/%d", peer.URL, i)
			peer.Remove(parent, http.StatusNotFound) // after a while, so that the next one is fetched
			peer.OnRequest(parent[len(peer.URL):], func(r *http.Request) {
				select {
				case <-end:
				case <-r.Context().Done():
				case <-time.After(9 * time.Second):
				}
			})
			peer.Post(srv, peer.Create(peer.Note(mallory, "reply", apptest.Doc{"inReplyTo": parent})))
		}
	}
	defer close(end)
	parent := good.Note(bob, "the beginning")
	good.Serve(parent)
	good.Post(srv, good.Create(good.Note(bob, "the reply", apptest.Doc{"inReplyTo": parent["id"]})))
	if err := srv.Federation.Settle(t.Context()); err != nil { // without the jobs
		t.Fatal(err)
	}
	if n := srv.Count(`SELECT count(*) FROM jobs WHERE kind = 'fetch_references'`); n != 121 {
		t.Fatalf("%d threads are fetched, want 121", n)
	}
	began := time.Now()
	runWorker(t, srv)
	for srv.Count(`SELECT count(*) FROM statuses WHERE uri = ?`, parent["id"]) == 0 {
		if time.Since(began) > threadDelay {
			t.Fatalf("the post has not been fetched after %v", threadDelay)
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Logf("the post was fetched after %v", time.Since(began).Round(10*time.Millisecond))
}

// runWorker runs the jobs of a server, several at a time, until the test ends.
func runWorker(t *testing.T, srv *apptest.Server) {
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() { defer close(done); srv.Worker.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
}

// waitFor waits until a condition is true, and fails the test if it is not within a minute.
func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

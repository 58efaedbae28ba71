package federation_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/internal/httpsig"
	"svc/store"
)

// BenchmarkInbound measures the time until the object of a signed activity is visible: from 20 actors with five local followers each
// over 32 connections, or a mention by an unknown actor each. It also reports processor time.
func BenchmarkInbound(b *testing.B) {
	for _, kind := range []string{"Create", "Like", "Announce", "Mention"} {
		b.Run(kind, func(b *testing.B) { benchmarkInbound(b, kind) })
	}
}

func benchmarkInbound(b *testing.B, kind string) {
	srv := apptest.StartPeers(b, 1, func(c *config.Config) { c.Cards.Enabled = false })[0]
	peer := apptest.StartFake(b)
	var users []*apptest.User
	for i := range 5 {
		users = append(users, srv.SignUp(fmt.Sprintf("p%d", i)))
	}
	var actors []string
	for i := range 20 {
		actors = append(actors, peer.AddActor(fmt.Sprintf("actor%d", i)))
	}
	if kind == "Mention" {
		for i := range b.N {
			actors = append(actors, peer.AddActor(fmt.Sprintf("unknown%d", i)))
		}
		actors = actors[20:]
	} else {
		for i := range 5 * len(actors) {
			users[i%5].FollowRemote(actors[i/5])
		}
	}
	posts := func(n int) []string {
		var uris []string
		for i := range n {
			uris = append(uris, users[i%5].Publish(fmt.Sprintf("post %d", i)).Str("uri"))
		}
		return uris
	}
	var own []string
	if kind == "Like" || kind == "Announce" {
		own = posts(b.N/len(actors) + 1)
	}
	var requests []*http.Request
	for i := range b.N {
		actor := actors[i%len(actors)]
		var a apptest.Doc
		switch kind {
		case "Create":
			a = peer.Create(peer.Note(actor, fmt.Sprintf(`<p>Post number %d of the <a href="https://example.org/%d" rel="nofollow">river</a> and the lamp in the quiet garden</p>`, i, i), apptest.Doc{
				"context": fmt.Sprintf("%s/contexts/%d", peer.URL, i), "tag": []any{apptest.Doc{"type": "Hashtag", "name": "#bench", "href": peer.URL + "/tags/bench"}},
			}))
		case "Mention":
			a = peer.Create(peer.Note(actor, "hi", apptest.Doc{"cc": []any{users[0].URI()}, "tag": []any{apptest.Doc{"type": "Mention", "href": users[0].URI()}}}))
		case "Like":
			a = peer.Activity("Like", actor, own[i/len(actors)])
		case "Announce":
			a = peer.Activity("Announce", actor, own[i/len(actors)], apptest.Doc{"to": []any{apptest.Public}, "cc": []any{actor + "/followers"}})
		}
		body, err := json.Marshal(a)
		if err != nil {
			b.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, srv.URL+"/inbox", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/activity+json")
		if err := peer.Signer(actor).Sign(r, body, httpsig.Options{Scheme: httpsig.Cavage, Now: time.Now()}); err != nil {
			b.Fatal(err)
		}
		requests = append(requests, r)
	}
	ctx, stop := context.WithCancel(b.Context())
	var running sync.WaitGroup
	running.Go(func() { srv.Federation.Run(ctx) })
	defer running.Wait()
	defer stop()

	seen := make(chan struct{}, 1<<20)
	srv.DB.Subscribe(func(events []store.Event) {
		for _, e := range events {
			switch e.(type) {
			case store.StatusPosted, store.NotificationAdded:
				select {
				case seen <- struct{}{}:
				default:
				}
			}
		}
	})
	work := make(chan *http.Request)
	var senders sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	began := processorTime()
	for range 32 {
		senders.Go(func() {
			for r := range work {
				w := httptest.NewRecorder()
				srv.HTTP.ServeHTTP(w, r)
				if w.Code != http.StatusAccepted {
					b.Errorf("answered with %d: %s", w.Code, w.Body)
				}
			}
		})
	}
	for _, r := range requests {
		work <- r
	}
	close(work)
	senders.Wait()
	wanted := b.N
	if kind == "Announce" || kind == "Mention" {
		wanted *= 2 // the boost or the post, and its notification
	}
	for range wanted {
		select {
		case <-seen:
		case <-time.After(20 * time.Second):
			b.Fatal("some objects are not visible")
		}
	}
	b.ReportMetric(float64(processorTime()-began)/float64(b.N)/1e6, "cpu-ms/op")
	b.StopTimer()
}

// BenchmarkInbox measures activities that ten known actors sign: until they are queued, and until they are processed. cpu-µs/op is the
// processor time of the process, without making the requests.
func BenchmarkInbox(b *testing.B) {
	for _, tt := range []struct {
		name string
		done bool
		make func(p *apptest.FakeServer, actor, post string) apptest.Doc
	}{
		{"queued", false, func(p *apptest.FakeServer, actor, post string) apptest.Doc { return p.Activity("Like", actor, post) }},
		{"of no effect", true, func(p *apptest.FakeServer, actor, post string) apptest.Doc { return p.Activity("Move", actor, actor) }},
		{"create", true, func(p *apptest.FakeServer, actor, post string) apptest.Doc {
			return p.Create(p.Note(actor, "<p>hello world</p>"))
		}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			b.ReportAllocs()
			srv, peer := apptest.StartPeers(b, 1)[0], apptest.StartFake(b)
			alice := srv.SignUp("alice")
			st := alice.Publish("a post").Str("uri")
			var actors []string
			for i := range 10 {
				actors = append(actors, peer.AddActor(fmt.Sprint("bob", i)))
				target, err := srv.Federation.Actors.Actor(b.Context(), actors[i])
				if err != nil {
					b.Fatal(err)
				}
				err = srv.DB.Update(b.Context(), func(tx *store.Tx) error {
					me, err := tx.AccountByName(b.Context(), "alice", "")
					if err != nil {
						return err
					}
					return tx.AddFollow(b.Context(), &store.Follow{FollowerID: me.ID, TargetID: target.ID, FollowerLocal: true, ShowReblogs: true})
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			requests := make([]*http.Request, b.N)
			for i := range requests {
				actor := actors[i%len(actors)]
				body := apptest.MustJSON(tt.make(peer, actor, st))
				requests[i] = incomingRequest(SignedByHand(b, srv.URL+"/inbox", body, apptest.Signing{KeyID: actor + "#main-key", Key: peer.Keys[actor]}), body)
			}
			if tt.done {
				srv.RunFederation()
			}
			before := processorTime()
			b.ResetTimer()
			var next atomic.Int64
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						w := &recorder{header: make(http.Header)}
						srv.HTTP.ServeHTTP(w, requests[i-1])
						if w.status != http.StatusAccepted {
							b.Errorf("answered %d: %s", w.status, w.body.Bytes())
						}
					}
				})
			}
			all.Wait()
			if tt.done {
				srv.WantEmptyInbox()
			}
			b.StopTimer()
			b.ReportMetric(float64((processorTime()-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

// processorTime returns the processor time that the process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

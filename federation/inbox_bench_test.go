package federation_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/store"
)

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
				requests[i] = incomingRequest(SignedByHand(b, srv.URL+"/inbox", body, Signing{keyID: actor + "#main-key", key: peer.Keys[actor]}), body)
			}
			if tt.done {
				srv.RunFederation()
			}
			before := cpuTime()
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
			b.ReportMetric(float64((cpuTime()-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

// cpuTime returns the processor time that the process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

package server_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"svc/store"
)

// BenchmarkInbox measures what it costs to take in activities, signed by ten actors that are known: until they are queued, and until they
// are done. cpu-µs/op is what the whole process needs for one; the making of requests is not counted.
func BenchmarkInbox(b *testing.B) {
	for _, tt := range []struct {
		name string
		done bool
		make func(p *fakePeer, actor, post string) doc
	}{
		{"queued", false, func(p *fakePeer, actor, post string) doc { return p.activity("Like", actor, post) }},
		{"of no effect", true, func(p *fakePeer, actor, post string) doc { return p.activity("Move", actor, actor) }},
		{"create", true, func(p *fakePeer, actor, post string) doc {
			return p.create(p.note(actor, "<p>hello world</p>"))
		}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			b.ReportAllocs()
			srv, peer := startPeers(b, 1)[0], startFake(b)
			alice := srv.signUp("alice")
			st := alice.publish("a post").str("uri")
			var actors []string
			for i := range 10 {
				actors = append(actors, peer.actor(fmt.Sprint("bob", i)))
				target, err := srv.fed.Actor(b.Context(), actors[i])
				if err != nil {
					b.Fatal(err)
				}
				err = srv.db.Update(b.Context(), func(tx *store.Tx) error {
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
				body := mustJSON(tt.make(peer, actor, st))
				requests[i] = serverSide(handSigned(b, srv.url+"/inbox", body, signing{keyID: actor + "#main-key", key: peer.keys[actor]}), body)
			}
			if tt.done {
				srv.running()
			}
			before := cpuTime()
			b.ResetTimer()
			var next atomic.Int64
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						w := &recorded{header: make(http.Header)}
						srv.handler.ServeHTTP(w, requests[i-1])
						if w.status != http.StatusAccepted {
							b.Errorf("answered %d: %s", w.status, w.body.Bytes())
						}
					}
				})
			}
			all.Wait()
			if tt.done {
				srv.wantEmptyInbox()
			}
			b.StopTimer()
			b.ReportMetric(float64((cpuTime()-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

// cpuTime is what the process has used of the processors.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

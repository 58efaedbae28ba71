package stream_test

import (
	"fmt"
	"net/url"
	"runtime"
	"sync"
	"testing"
	"time"

	"svc/app/apptest"
)

// BenchmarkIdleSockets measures the memory and goroutines of an idle socket. It counts the client's end too, which is only a connection.
func BenchmarkIdleSockets(b *testing.B) {
	srv := apptest.Start(b)
	alice := srv.SignUp("alice")
	const n = 400
	measure := func() (bytes, goroutines int) {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapInuse + m.StackInuse), runtime.NumGoroutine()
	}
	for b.Loop() {
		bytes, goroutines := measure()
		var open []*apptest.StreamClient
		for range n {
			l := srv.DialStream(alice.Client, "stream", "user")
			l.Input = nil
			open = append(open, l)
		}
		moreBytes, moreGoroutines := measure()
		b.ReportMetric(float64(moreBytes-bytes)/n, "B/socket")
		b.ReportMetric(float64(moreGoroutines-goroutines)/n, "goroutines/socket")
		for _, l := range open {
			l.Conn.Close()
		}
		for clients := 1; clients > 0; clients, _ = srv.HTTP.Streams.Count() {
			time.Sleep(time.Millisecond)
		}
	}
}

// BenchmarkFanOut measures a post until 200 sockets got it: sockets of one account, of ten, of 200, and anonymous ones.
func BenchmarkFanOut(b *testing.B) {
	for _, accounts := range []int{1, 10, 200, 0} {
		b.Run(fmt.Sprint(accounts, "_accounts"), func(b *testing.B) {
			srv := apptest.Start(b)
			author := srv.SignUp("author")
			users := apptest.SignUpMany(srv, accounts)
			post := url.Values{"status": {"a post with a #hashtag and some words"}}.Encode()
			var received sync.WaitGroup
			for i := range 200 {
				c := srv.As(nil)
				if accounts > 0 {
					c = users[i%accounts].Client
				}
				l := srv.DialStream(c, "stream", "public")
				l.Conn.SetDeadline(time.Time{})
				go func() {
					for _, _, err := l.ReadFrame(); err == nil; _, _, err = l.ReadFrame() {
						received.Done()
					}
				}()
			}
			for b.Loop() {
				received.Add(200)
				srv.BenchRequest(b, "POST", "/api/v1/statuses", author.Token, post)
				received.Wait()
			}
			b.StopTimer()
		})
	}
}

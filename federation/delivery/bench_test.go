package delivery_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"svc/app/apptest"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkPostTo200Hosts measures a post until 200 hosts of the same process have it, for profiles. BenchmarkDeliveries measures the
// server alone.
func BenchmarkPostTo200Hosts(b *testing.B) {
	srv, alice, _ := apptest.StartWithInboxServer(b)
	var n atomic.Int64
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusAccepted)
		n.Add(1)
	})
	for i := range 200 {
		ln, err := net.Listen("tcp", fmt.Sprintf("127.2.0.%d:0", i+1))
		if err != nil {
			b.Fatal(err)
		}
		host := &http.Server{Handler: handler}
		go host.Serve(ln)
		b.Cleanup(func() { host.Close() })
		l := &apptest.InboxServer{T: b, URL: "http://" + ln.Addr().String(), Host: ln.Addr().String()}
		l.AddFollower(srv, "fan", true, alice)
	}
	srv.RunFederation()
	for b.Loop() {
		want := n.Load() + 200
		alice.Publish("hello to all")
		srv.RunJobs()
		for n.Load() < want {
			time.Sleep(time.Millisecond)
		}
	}
	b.ReportMetric(float64(b.N*200)/b.Elapsed().Seconds(), "deliveries/s")
}

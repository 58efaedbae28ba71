package server_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"svc/app/apptest"
)

// TestCardsOfSlowDomain posts links to pages of a server that does not answer. Two of them are fetched at a time, and the card of another server's
// page arrives meanwhile.
func TestCardsOfSlowDomain(t *testing.T) {
	srv, site := apptest.Start(t, apptest.AllowLoopback), apptest.StartSite(t)
	var now, most atomic.Int32
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		<-r.Context().Done()
	}))
	t.Cleanup(func() { slow.CloseClientConnections(); slow.Close() })
	alice := srv.SignUp("alice")
	for i := range 4 {
		alice.Publish(fmt.Sprintf("%s/%d", slow.URL, i))
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() { defer close(done); srv.Worker.Run(ctx) }()
	defer func() { stop(); <-done }()
	apptest.WaitFor(t, "the first page", func() bool { return now.Load() > 0 })
	id := alice.Publish(site.URL + "/page").ID()
	apptest.WaitFor(t, "the card of another page", func() bool {
		return apptest.CardTitle(alice.Get("/api/v1/statuses/"+id).Want(200).Object()) != ""
	})
	if now.Load() > 2 || most.Load() > 2 {
		t.Errorf("%d pages of the slow server were fetched at a time", most.Load())
	}
}

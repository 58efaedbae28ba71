package media_test

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"svc/internal/fetch"
	"svc/media"
)

// addTrickle adds files that arrive at 4 kB a second, and returns how many of them are being sent.
func (e *remoteServer) addTrickle() *atomic.Int32 {
	sending := new(atomic.Int32)
	e.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		sending.Add(1)
		defer sending.Add(-1)
		w.Header().Set("Content-Type", "image/png")
		content := pngOf(1 << 20)
		for len(content) > 0 {
			if _, err := w.Write([]byte(content[:2000])); err != nil {
				return
			}
			content = content[2000:]
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(500 * time.Millisecond):
			}
		}
	})
	return sending
}

// request begins a request for an address and leaves the answer unread until ctx ends.
func (p *proxy) request(ctx context.Context, address string) {
	req, _ := http.NewRequestWithContext(ctx, "GET", p.URL(address), nil)
	go func() {
		if resp, err := http.DefaultTransport.RoundTrip(req); err == nil {
			defer resp.Body.Close()
			<-ctx.Done()
		}
	}()
}

// TestProxySlowDomains has the proxy fetch as many slow files as it can, from many domains. The pictures of others arrive soon all the same, and
// so do those of the next minutes.
func TestProxySlowDomains(t *testing.T) {
	p := startProxy(t, func(c *media.ProxyConfig) {
		c.Fetch = fetch.New(fetch.Options{AllowLoopback: true, MaxRequests: 36})
	})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var slow []*remoteServer
	for range 8 {
		site := startRemote(t)
		site.addTrickle()
		slow = append(slow, site)
		for i := range 10 {
			p.request(ctx, fmt.Sprintf("%s/%d.png", site.URL, i))
		}
	}
	eventually(t, "many transfers", func() bool {
		n := int32(0)
		for _, site := range slow {
			n += site.asked.Load()
		}
		return n >= 12 // half of the common ones
	})
	other := startRemote(t)
	longest := time.Duration(0)
	for i := range 5 {
		began := time.Now()
		p.get(other.addFile(fmt.Sprintf("/%d.png", i), "image/png", pngOf(i))).want(t, 200, pngOf(i))
		longest = max(longest, time.Since(began))
		for j := range 6 { // more of them
			p.request(ctx, fmt.Sprintf("%s/%d-%d.png", slow[j].URL, i, j))
		}
	}
	t.Logf("the slowest picture of another server took %v", longest.Round(time.Millisecond))
	if longest > 15*time.Second {
		t.Errorf("a picture of another server took %v", longest)
	}
}

// TestProxyAbandoned checks that a slow transfer ends soon after its last client has left.
func TestProxyAbandoned(t *testing.T) {
	p, site := startProxy(t, func(c *media.ProxyConfig) { c.AbandonAfter = 100 * time.Millisecond }), startRemote(t)
	sending := site.addTrickle()
	ctx, hangUp := context.WithCancel(t.Context())
	p.begin(ctx, site.URL+"/a.png")
	staying := p.begin(t.Context(), site.URL+"/b.png")
	eventually(t, "two transfers", func() bool { return sending.Load() == 2 })
	hangUp()
	eventually(t, "one has ended", func() bool { return sending.Load() == 1 })
	if staying.Body.Close(); staying.StatusCode != 200 {
		t.Errorf("got %d", staying.StatusCode)
	}
	eventually(t, "both have ended", func() bool { return sending.Load() == 0 })
}

// TestProxyClientLimit checks that one client receives 8 files at the same time while they are fetched, and that it can have others that are cached.
func TestProxyClientLimit(t *testing.T) {
	p := startProxy(t)
	p.client = netip.MustParseAddr("192.0.2.1")
	cached := startRemote(t).addFile("/a.png", "image/png", pngOf(0))
	p.get(cached).want(t, 200, pngOf(0))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var sending []*atomic.Int32
	for range 3 {
		site := startRemote(t)
		sending = append(sending, site.addTrickle())
		for i := range 5 {
			p.request(ctx, fmt.Sprintf("%s/%d.png", site.URL, i))
		}
	}
	n := func() (n int32) {
		for _, s := range sending {
			n += s.Load()
		}
		return n
	}
	eventually(t, "eight transfers", func() bool { return n() == 8 })
	p.get(cached).want(t, 200, pngOf(0))
	if n() > 8 {
		t.Errorf("%d transfers for one client", n())
	}
}

// TestProxyUnknownDomains has the proxy fetch from fifty slow domains that it does not know. A known one is answered at once, an unknown one when
// its turn comes, and it is known then.
func TestProxyUnknownDomains(t *testing.T) {
	// Who waits for a slow transfer waits until it is found to be slow.
	const slowAfter, limit = 5 * time.Second, 4 * time.Second
	p := startProxy(t, func(c *media.ProxyConfig) {
		c.Fetch, c.AbandonAfter, c.SlowAfter = fetch.New(fetch.Options{AllowLoopback: true, MaxRequests: media.MaxTransfers}), time.Minute, slowAfter
	})
	known, unknown := startRemote(t), startRemote(t)
	p.get(known.addFile("/first.png", "image/png", pngOf(0))).want(t, 200, pngOf(0))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var slow []*remoteServer
	fill := func(round int) {
		for i, site := range slow {
			for j := range 4 {
				p.request(ctx, fmt.Sprintf("%s/%d-%d-%d.png", site.URL, round, i, j))
			}
		}
	}
	asked := func() (n int32) {
		for _, site := range slow {
			n += site.asked.Load()
		}
		return n
	}
	for range 50 {
		site := startRemote(t)
		site.addTrickle()
		slow = append(slow, site)
	}
	fill(0)
	eventually(t, "slow transfers", func() bool { return asked() >= 12 })
	if n := asked(); n > 12 {
		t.Errorf("unknown domains have %d transfers before it is known that they are slow, want half of 24", n)
	}
	began, longest := time.Now(), time.Duration(0)
	for i := 0; time.Since(began) < slowAfter+time.Second; i++ { // while they are found to be slow, and others take their turns
		start := time.Now()
		p.get(known.addFile(fmt.Sprintf("/%d.png", i), "image/png", pngOf(i))).want(t, 200, pngOf(i))
		longest = max(longest, time.Since(start))
		time.Sleep(20 * time.Millisecond)
	}
	if longest > limit {
		t.Errorf("a picture of a known domain took %v", longest)
	}
	eventually(t, "a picture of an unknown domain", func() bool {
		return p.get(unknown.addFile(fmt.Sprintf("/%d.png", time.Now().UnixNano()), "image/png", pngOf(1))).status == 200
	})
	fill(1)
	start := time.Now()
	p.get(unknown.addFile("/second.png", "image/png", pngOf(2))).want(t, 200, pngOf(2))
	if took := time.Since(start); took > limit {
		t.Errorf("a picture of a domain that was fast before took %v", took)
	}
}

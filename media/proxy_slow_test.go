package media_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc/media"
)

// slowFile is a file that is sent in steps.
type slowFile struct {
	more    chan string // closed: the end
	address string
}

func (e *remoteServer) addSlowFile(path string, size int) *slowFile {
	d := &slowFile{make(chan string), e.URL + path}
	e.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		if size > 0 {
			w.Header().Set("Content-Length", fmt.Sprint(size))
		}
		w.(http.Flusher).Flush()
		for {
			select {
			case piece, ok := <-d.more:
				if !ok {
					return
				}
				io.WriteString(w, piece)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	return d
}

// begin sends a request and returns its answer with an open body.
func (p *proxy) begin(ctx context.Context, address string) *http.Response {
	p.t.Helper()
	req, _ := http.NewRequestWithContext(ctx, "GET", p.URL(address), nil)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// Received bytes are sent to all clients of a download before it is complete.
func TestProxyStreams(t *testing.T) {
	for name, size := range map[string]int{"known": 50_000, "unknown": 0} {
		t.Run(name, func(t *testing.T) {
			p, site := startProxy(t), startRemote(t)
			content := pngOf(50_000)
			d := site.addSlowFile("/a.png", size)
			sent := make(chan struct{})
			go func() { d.more <- content[:20_000]; close(sent) }()
			first := p.begin(t.Context(), d.address)
			<-sent
			got := make([]byte, 10_000)
			if _, err := io.ReadFull(first.Body, got); err != nil || string(got) != content[:10_000] {
				t.Fatalf("the beginning: %v", err)
			}
			second := p.begin(t.Context(), d.address)
			if _, err := io.ReadFull(second.Body, got); err != nil || string(got) != content[:10_000] {
				t.Fatalf("the beginning, for another: %v", err)
			}
			// One client disconnects. The others continue.
			ctx, hangUp := context.WithCancel(t.Context())
			p.begin(ctx, d.address)
			hangUp()
			first.Body.Close()
			d.more <- content[20_000:]
			close(d.more)
			rest, err := io.ReadAll(second.Body)
			if err != nil || string(rest) != content[10_000:] {
				t.Errorf("the rest: %d bytes, %v", len(rest), err)
			}
			p.get(d.address).want(t, 200, content)
			site.wantRequests(t, 1)
		})
	}
}

// A download continues when its client has disconnected.
func TestProxyClientDisconnects(t *testing.T) {
	p, site := startProxy(t), startRemote(t)
	content := pngOf(50_000)
	d := site.addSlowFile("/a.png", len(content))
	ctx, hangUp := context.WithCancel(t.Context())
	go func() { d.more <- content[:10_000] }()
	p.begin(ctx, d.address)
	hangUp()
	d.more <- content[10_000:]
	close(d.more)
	eventually(t, "a copy", func() bool { files, size := p.cached(); return files == 1 && size > int64(len(content)) })
	p.get(d.address).want(t, 200, content)
	site.wantRequests(t, 1)
}

func TestProxyConcurrentRequests(t *testing.T) {
	p, site := startProxy(t), startRemote(t)
	content := pngOf(300_000)
	address := site.addFile("/a.png", "image/png", content)
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() { p.get(address).want(t, 200, content) })
	}
	all.Wait()
	site.wantRequests(t, 1)
}

func TestProxySlow(t *testing.T) {
	p, site := startProxy(t, func(c *media.ProxyConfig) { c.Timeout, c.StallTimeout = 400*time.Millisecond, 100*time.Millisecond }), startRemote(t)
	silent := site.addSlowFile("/silent.png", 1000)
	site.mux.HandleFunc("/mute.png", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	site.mux.HandleFunc("/trickle.png", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		for _, c := range []byte(pngOf(100_000)) {
			if _, err := w.Write([]byte{c}); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond)
		}
	})
	for _, address := range []string{silent.address, site.URL + "/mute.png", site.URL + "/trickle.png"} {
		began := time.Now()
		r := p.get(address)
		if took := time.Since(began); r.err == nil && r.status != 504 || took > 5*time.Second {
			t.Errorf("%s: got %d after %v", address, r.status, took)
		}
	}
	eventually(t, "nothing is left", func() bool { files, _ := p.cached(); return files == 0 })
}

// One slow host does not block requests to others.
func TestProxySlowHost(t *testing.T) {
	p, site, other := startProxy(t), startRemote(t), startRemote(t)
	site.mux.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var refused atomic.Int32
	for i := range 60 {
		all.Go(func() {
			req, _ := http.NewRequestWithContext(ctx, "GET", p.URL(fmt.Sprintf("%s/%d.png", site.URL, i)), nil)
			if resp, err := http.DefaultTransport.RoundTrip(req); err == nil {
				if resp.StatusCode == 503 && resp.Header.Get("Retry-After") != "" {
					refused.Add(1)
				}
				resp.Body.Close()
			}
		})
	}
	eventually(t, "some are refused", func() bool { return refused.Load() == 60-32 })
	p.get(other.addFile("/a.png", "image/png", pngOf(0))).want(t, 200, pngOf(0))
	stop()
	all.Wait()
}

package stream_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestPings checks that the server pings clients and disconnects those that do not answer.
func TestPings(t *testing.T) {
	srv := apptest.Start(t)
	srv.HTTP.Streams.SetPings(20*time.Millisecond, time.Second)
	alive, dead := srv.DialStream(nil), srv.DialStream(nil)
	dead.IgnorePings = true
	go alive.Read()
	go dead.Read()
	if got := dead.WaitEnd(); got != -1 {
		t.Errorf("the stream ended with %d", got)
	}
	alive.WaitPings(15)
	if dead.Pings() == 0 {
		t.Error("disconnected without a ping")
	}
}

// TestClientPings checks that the server answers pings and close frames.
func TestClientPings(t *testing.T) {
	srv := apptest.Start(t)
	l := srv.DialStream(nil)
	l.WriteFrame(apptest.OpPing, []byte("are you there"))
	if kind, payload, err := l.ReadFrame(); kind != apptest.OpPong || string(payload) != "are you there" {
		t.Errorf("got %d %q %v", kind, payload, err)
	}
	l.WriteFrame(apptest.OpClose, []byte{3, 232})
	if kind, payload, err := l.ReadFrame(); kind != apptest.OpClose || len(payload) < 2 {
		t.Errorf("got %d %q %v", kind, payload, err)
	}
	for {
		if clients, topics := srv.HTTP.Streams.Count(); clients == 0 && topics == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
}

// TestStreamLimits opens one stream more than each limit allows.
func TestStreamLimits(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.Streaming = config.Streaming{MaxStreams: 6, MaxStreamsPerAccount: 2, MaxStreamsPerAddress: 2}
		c.Server.TrustedProxies = []string{"127.0.0.1"}
	})
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	late := srv.OpenStream(nil)
	for i, tt := range []struct {
		address string
		as      *apptest.Client
		want    int
	}{
		{"192.0.2.1", nil, 101}, {"192.0.2.1", nil, 101}, {"192.0.2.1", nil, 429}, {"192.0.2.1", alice.Client, 429},
		{"192.0.2.2", alice.Client, 101}, {"192.0.2.3", alice.Client, 101}, {"192.0.2.4", alice.Client, 429},
		{"192.0.2.5", bob.Client, 101}, {"192.0.2.6", nil, 503},
	} {
		if got := streamFrom(srv, tt.address, tt.as); got != tt.want {
			t.Errorf("stream %d: got %d, want %d", i, got, tt.want)
		}
	}
	if got := late.Ask("type", "svc:authenticate", "token", alice.Token); got != "error unauthorized" {
		t.Errorf("one stream too many: %s", got)
	}
	if got := late.Ask("type", "svc:authenticate", "token", bob.Token); got != "success" {
		t.Error(got)
	}
	for range 2 { // they end two streams without an account
		srv.OpenStream(carol.Client)
	}
	dave := srv.SignUp("dave")
	srv.As(dave).Get("/api/v1/streaming/user").WantBusy(503, "The server has too many open streams")
	late.Conn.Close()
	for {
		if n, _ := srv.HTTP.Streams.Count(); n < 6 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	srv.OpenStream(dave.Client)
}

// streamFrom opens a stream by the proxy of an address, and returns the status of the answer.
func streamFrom(srv *apptest.Server, address string, c *apptest.Client) int {
	headers := []string{"X-Forwarded-For", address}
	if c != nil {
		headers = append(headers, "Authorization", "Bearer "+c.Token)
	}
	_, _, resp := srv.StreamHandshake(url.Values{}, headers...)
	return resp.StatusCode
}

// TestAnonymousStreams opens as many streams without an account as it can, by many addresses. They take half of the streams, and end when
// accounts need theirs, oldest first.
func TestAnonymousStreams(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.Streaming.MaxStreams = 40
		c.Server.TrustedProxies = []string{"127.0.0.1"}
	})
	oldest := srv.OpenStream(nil)
	app := &apptest.Client{Server: srv, Token: srv.Grant(srv.RegisterApp(), "client_credentials").Want(200).Object().Str("access_token")}
	for i := range 100 {
		as, want := (*apptest.Client)(nil), 101
		if i%2 == 1 {
			as = app // anybody can register one
		}
		if i >= 19 {
			want = 503
		}
		if got := streamFrom(srv, fmt.Sprintf("192.0.2.%d", i), as); got != want {
			t.Errorf("stream %d: got %d, want %d", i, got, want)
		}
	}
	var streams []*apptest.StreamClient
	for i := range 2 {
		user := srv.SignUp(fmt.Sprintf("user%d", i))
		for range 20 {
			streams = append(streams, srv.OpenStream(user.Client))
		}
		if got := streamFrom(srv, "198.51.100.1", user.Client); i == 0 && got != 429 {
			t.Errorf("stream 21 of an account by default: got %d, want 429", got)
		}
	}
	if got := oldest.WaitEnd(); got != 1013 {
		t.Errorf("the oldest stream without an account ended with %d", got)
	}
	if clients, _ := srv.HTTP.Streams.Count(); clients != 40 {
		t.Errorf("%d streams are open", clients)
	}
	if got := streamFrom(srv, "198.51.100.1", nil); got != 503 {
		t.Errorf("without an account, while accounts have all streams: got %d", got)
	}
	for _, s := range streams {
		if s.Ask("type", "subscribe", "stream", "public") != "success" {
			t.Error("a stream of an account has ended")
		}
	}
}

// TestMessageRateLimit checks that the server ends a stream whose client sends too many messages.
func TestMessageRateLimit(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.AllAnonymous = config.Rate{Count: 20, Window: time.Hour}
	})
	l := srv.OpenStream(nil)
	for range 30 {
		l.Send(`{"type":"dance"}`)
	}
	if got := l.WaitEnd(); got != 1008 {
		t.Errorf("the stream ended with %d", got)
	}
}

// TestStreamsAtShutdown stops a server that has open streams. They end at once, so that clients reconnect, and do not delay the shutdown.
func TestStreamsAtShutdown(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv.URL = "http://" + ln.Addr().String()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() { done <- srv.HTTP.Serve(ctx, ln) }()
	socket, stuck := srv.OpenStream(alice.Client, "stream", "user"), srv.DialStream(nil)
	events := openSSE(srv, alice.Client, "/api/v1/streaming/user")
	began := time.Now()
	stop()
	if got := socket.WaitEnd(); got != 1012 {
		t.Errorf("the stream ended with %d", got)
	}
	events.WaitEnd()
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("the streams ended after %v", took)
	}
	stuck.Conn.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

package server_test

import (
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/app"
	"svc/app/apptest"
	"svc/internal/config"
	"svc/server/stream"
	"svc/store"
)

// TestTwoHundredSockets has a post heard by all who may see it, on 200 sockets, and by none who may not.
func TestTwoHundredSockets(t *testing.T) {
	srv := apptest.Start(t)
	author := srv.SignUp("author")
	people := apptest.SignUpMany(srv, 20)
	for i, p := range people {
		if i%2 == 0 {
			p.AccountAction(author.ID, "follow")
		}
		if i%5 == 0 {
			p.AccountAction(author.ID, "mute")
		}
	}
	type ear struct {
		*apptest.StreamClient
		who int // the number of who listens, -1 the anonymous
	}
	var ears []ear
	for i := range 200 {
		switch who := i % 20; {
		case i%4 == 3:
			ears = append(ears, ear{srv.OpenStream(nil, "stream", "public"), -1})
		case i%4 == 2:
			ears = append(ears, ear{srv.OpenStream(people[who].Client, "stream", "public"), who})
		default:
			ears = append(ears, ear{srv.OpenStream(people[who].Client, "stream", "user"), who})
		}
	}
	for _, visibility := range []string{"public", "private"} {
		id := author.Publish("hello", "visibility", visibility).ID()
		for i, e := range ears {
			open := i%4 > 1
			want := open && visibility == "public" || !open && e.who%2 == 0
			if e.who >= 0 && e.who%5 == 0 {
				want = false
			}
			got := e.Events()
			if (len(got) == 1 && PayloadID(got[0]) == id) != want || len(got) > 1 {
				t.Errorf("socket %d heard %v of the %s post, want %v", i, got, visibility, want)
			}
		}
	}
}

// TestSlowListener cuts off who does not read, while the others hear everything in order, and nobody waits.
func TestSlowListener(t *testing.T) {
	srv := apptest.Start(t)
	author := srv.SignUp("author")
	slow, fast := srv.DialStream(nil, "stream", "public"), srv.OpenStream(nil, "stream", "public")
	var want []string
	text := strings.Repeat("a long text ", 400)
	for {
		want = append(want, "public: update "+author.Publish(text).ID())
		srv.HTTP.Streams.Settle()
		if listeners, _ := srv.HTTP.Streams.Count(); listeners == 1 {
			break
		}
		if len(want) > 5000 {
			t.Fatal("who does not read is still there")
		}
	}
	fast.WantEvents("who reads", want...)
	go slow.Read()
	if got := slow.WaitEnd(); got != 1013 && got != -1 {
		t.Errorf("the slow stream ended with %d", got)
	}
	events := slow.Unread()
	if len(events) >= len(want) {
		t.Error("who was cut off has heard everything")
	}
	for i, s := range events {
		if s.String() != want[i] {
			t.Fatalf("frame %d of the slow stream is %s, want %s", i, s, want[i])
		}
	}
}

// TestManySlowListeners has many clients that do not read, each with another label for the same stream, so that they share no frames. All
// together they hold no more than the limit, and clients that read get everything. One round of frames for all of them fits between the soft
// limit and the hard one, so that the result does not depend on how fast the server's goroutines run.
func TestManySlowListeners(t *testing.T) {
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})) // says why streams were closed
	srv := apptest.StartWith(t, app.Options{Log: log})
	author := srv.SignUp("author")
	const n = 64
	var slow []*apptest.StreamClient
	for i := range n {
		tag := []byte("abcdef")
		for bit := range tag {
			tag[bit] -= byte(i >> bit & 1 * 32)
		}
		l := srv.DialStream(nil, "stream", "hashtag", "tag", string(tag))
		l.Conn.(*net.TCPConn).SetReadBuffer(1)
		slow = append(slow, l)
	}
	reader := srv.SignUp("reader")
	eventReader := srv.SignUp("eventreader")
	fast, events := srv.OpenStream(reader.Client, "stream", "hashtag", "tag", "ABCdef"), openSSE(srv, eventReader.Client, "/api/v1/streaming/hashtag", "tag", "abcdef")
	written := func(u *apptest.User) { // until the server has noted that the user's stream has nothing queued
		for srv.HTTP.Streams.Behind(u.AccountID()) > 0 {
			time.Sleep(time.Millisecond)
		}
	}
	fast.Conn.SetDeadline(time.Time{}) // a machine that does much else takes its time
	text := strings.Repeat("e"+strings.Repeat("\u0301", 31), 2000) + " #abcdef"
	posts := 0
	for listeners := n + 2; listeners > 2; listeners, _ = srv.HTTP.Streams.Count() {
		if posts++; posts > 500 {
			t.Fatalf("%d listeners are still there", listeners)
		}
		id := author.Publish(text).ID()
		srv.HTTP.Streams.Settle()
		written(reader) // WantEvents sends another event, which must not find the status queued while the backlog is over its limit
		fast.WantEvents("who reads", "hashtag ABCdef: update "+id)
		if got := events.Next(); !strings.HasPrefix(got, `update {"id":"`+id) {
			t.Fatalf("who reads events heard %.50s", got)
		}
		if got := srv.HTTP.Streams.BacklogBytes(); got > 2*stream.SoftBacklogBytes {
			t.Fatalf("%d bytes wait after %d posts", got, posts)
		}
		written(reader)
		written(eventReader)
	}
	for _, l := range slow {
		l.Conn.Close()
	}
	for srv.HTTP.Streams.BacklogBytes() > 0 {
		time.Sleep(time.Millisecond)
	}
}

// TestStreamsFallBehind has more happen at once than can be told: everybody is sent away, to come back and look for themselves.
func TestStreamsFallBehind(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	l, events := srv.OpenStream(alice.Client, "stream", "user"), openSSE(srv, alice.Client, "/api/v1/streaming/user")
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		for range stream.MaxEvents + 1 {
			tx.Emit(store.FiltersChanged{AccountID: alice.AccountID()})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := l.WaitEnd(); got != 1013 {
		t.Errorf("the stream ended with %d", got)
	}
	events.WaitEnd()
	again := srv.OpenStream(alice.Client, "stream", "user")
	srv.EmitFiltersChanged(alice)
	again.WantEvents("after coming back", "user: filters_changed")
}

// TestOrderOfStreams has many people post at the same time: everybody hears the same, in the same order, edits after posts and deletions last.
func TestOrderOfStreams(t *testing.T) {
	srv := apptest.Start(t)
	people := apptest.SignUpMany(srv, 4)
	a, b := srv.OpenStream(nil, "stream", "public"), srv.OpenStream(people[0].Client, "stream", "public")
	var wg sync.WaitGroup
	for _, p := range people {
		wg.Go(func() {
			for range 10 {
				id := p.Publish("hello").ID()
				p.EditStatus(id, map[string]any{"status": "edited"}).Want(200)
				p.Do("DELETE", "/api/v1/statuses/"+id, "", nil).Want(200)
			}
		})
	}
	for range 20 { // who comes and goes in between
		wg.Go(func() {
			l := srv.OpenStream(people[1].Client, "stream", "user")
			l.Subscribe("public")
			l.Ask("type", "unsubscribe", "stream", "user")
			l.Conn.Close()
		})
	}
	wg.Wait()
	first, second := shorts(a.Events()), shorts(b.Events())
	// What is deleted before it can be told of is only said to be gone; that may come between the one and the other.
	common := func(list, other []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !slices.Contains(other, s) })
	}
	if one, two := common(first, second), common(second, first); !slices.Equal(one, two) {
		t.Errorf("heard\n%s\nand\n%s", one, two)
	}
	for _, list := range [][]string{first, second} {
		state, gone := map[string]int{}, 0
		for _, s := range list {
			words := strings.Fields(s) // public: EVENT ID
			n := slices.Index([]string{"update", "status.update", "delete"}, words[1]) + 1
			if n <= state[words[2]] {
				t.Errorf("%s came late", s)
			}
			if state[words[2]] = n; n == 3 {
				gone++
			}
		}
		if gone != 40 {
			t.Errorf("heard of %d of 40 deletions", gone)
		}
	}
}

func shorts(list []apptest.StreamEvent) (all []string) {
	for _, s := range list {
		all = append(all, s.String())
	}
	return all
}

// TestPings looks whether clients are looked after, and given up when they do not answer.
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
		t.Error("given up without a ping")
	}
}

// TestClientPings answers the pings of clients.
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
		if listeners, feeds := srv.HTTP.Streams.Count(); listeners == 0 && feeds == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
}

// TestStreamLimits opens as many streams as there may be, and one more.
func TestStreamLimits(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.Streaming = config.Streaming{MaxStreams: 6, MaxStreamsPerAccount: 2, MaxStreamsPerAddress: 2}
		c.Server.TrustedProxies = []string{"127.0.0.1"}
	})
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	from := func(address string, c *apptest.Client) int {
		headers := []string{"X-Forwarded-For", address}
		if c != nil {
			headers = append(headers, "Authorization", "Bearer "+c.Token)
		}
		_, _, resp := srv.StreamHandshake(url.Values{}, headers...)
		return resp.StatusCode
	}
	late := srv.OpenStream(nil)
	for i, tt := range []struct {
		address string
		as      *apptest.Client
		want    int
	}{
		{"192.0.2.1", nil, 101}, {"192.0.2.1", nil, 101}, {"192.0.2.1", nil, 429}, {"192.0.2.1", alice.Client, 429},
		{"192.0.2.2", alice.Client, 101}, {"192.0.2.3", alice.Client, 101}, {"192.0.2.4", alice.Client, 429},
		{"192.0.2.5", bob.Client, 101}, {"192.0.2.6", bob.Client, 503},
	} {
		if got := from(tt.address, tt.as); got != tt.want {
			t.Errorf("stream %d: got %d, want %d", i, got, tt.want)
		}
	}
	if got := late.Ask("type", "svc:authenticate", "token", alice.Token); got != "error unauthorized" {
		t.Errorf("one stream too many: %s", got)
	}
	srv.As(bob).Get("/api/v1/streaming/user").Want(503)
	late.Conn.Close()
	for {
		if n, _ := srv.HTTP.Streams.Count(); n < 6 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	bobs := srv.OpenStream(nil)
	if got := bobs.Ask("type", "svc:authenticate", "token", bob.Token); got != "success" {
		t.Error(got)
	}
}

// TestMessagesAreCounted ends the stream of who talks without end.
func TestMessagesAreCounted(t *testing.T) {
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

// TestStreamsAtTheStop stops a server that has streams open: they end at once, so that clients come back, and do not hold it up.
func TestStreamsAtTheStop(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	st := serve(t, srv.HTTP)
	srv.URL = "http://" + st.address
	socket, stuck := srv.OpenStream(alice.Client, "stream", "user"), srv.DialStream(nil)
	events := openSSE(srv, alice.Client, "/api/v1/streaming/user")
	began := time.Now()
	st.stop()
	if got := socket.WaitEnd(); got != 1012 {
		t.Errorf("the stream ended with %d", got)
	}
	events.WaitEnd()
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("the streams ended after %v", took)
	}
	stuck.Conn.Close()
	if err := <-st.done; err != nil {
		t.Error(err)
	}
	st.done <- nil
}

// BenchmarkIdleSockets measures what a socket costs that nobody talks on. What the test's own end of it takes is counted, too, but that
// is little: a connection.
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
		for listeners := 1; listeners > 0; listeners, _ = srv.HTTP.Streams.Count() {
			time.Sleep(time.Millisecond)
		}
	}
}

// BenchmarkFanOut measures a post until 200 sockets have it: of one person, of ten, of as many people as sockets, of nobody.
func BenchmarkFanOut(b *testing.B) {
	for _, people := range []int{1, 10, 200, 0} {
		b.Run(fmt.Sprint(people, "_people"), func(b *testing.B) {
			srv := apptest.Start(b)
			author := srv.SignUp("author")
			crowd := apptest.SignUpMany(srv, people)
			var heard sync.WaitGroup
			for i := range 200 {
				c := srv.As(nil)
				if people > 0 {
					c = crowd[i%people].Client
				}
				l := srv.DialStream(c, "stream", "public")
				l.Conn.SetDeadline(time.Time{})
				go func() {
					for _, _, err := l.ReadFrame(); err == nil; _, _, err = l.ReadFrame() {
						heard.Done()
					}
				}()
			}
			for b.Loop() {
				heard.Add(200)
				srv.BenchRequest(b, "POST", "/api/v1/statuses", author.Token, benchPost)
				heard.Wait()
			}
			b.StopTimer()
		})
	}
}

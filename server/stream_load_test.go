package server_test

import (
	"fmt"
	"net"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/internal/config"
	"svc/server"
	"svc/store"
)

// TestTwoHundredSockets has a post heard by all who may see it, on 200 sockets, and by none who may not.
func TestTwoHundredSockets(t *testing.T) {
	srv := startAPI(t)
	author := srv.signUp("author")
	people := crowdOf(srv, 20)
	for i, p := range people {
		if i%2 == 0 {
			p.to(author.id, "follow")
		}
		if i%5 == 0 {
			p.to(author.id, "mute")
		}
	}
	type ear struct {
		*listener
		who int // the number of who listens, -1 the anonymous
	}
	var ears []ear
	for i := range 200 {
		switch who := i % 20; {
		case i%4 == 3:
			ears = append(ears, ear{srv.listen(nil, "stream", "public"), -1})
		case i%4 == 2:
			ears = append(ears, ear{srv.listen(people[who].caller, "stream", "public"), who})
		default:
			ears = append(ears, ear{srv.listen(people[who].caller, "stream", "user"), who})
		}
	}
	for _, visibility := range []string{"public", "private"} {
		id := author.publish("hello", "visibility", visibility).id()
		for i, e := range ears {
			open := i%4 > 1
			want := open && visibility == "public" || !open && e.who%2 == 0
			if e.who >= 0 && e.who%5 == 0 {
				want = false
			}
			got := e.heard()
			if (len(got) == 1 && payloadID(got[0]) == id) != want || len(got) > 1 {
				t.Errorf("socket %d heard %v of the %s post, want %v", i, got, visibility, want)
			}
		}
	}
}

// TestSlowListener cuts off who does not read, while the others hear everything in order, and nobody waits.
func TestSlowListener(t *testing.T) {
	srv := startAPI(t)
	author := srv.signUp("author")
	slow, fast := srv.open(nil, "stream", "public"), srv.listen(nil, "stream", "public")
	var want []string
	text := strings.Repeat("a long text ", 400)
	for {
		want = append(want, "public: update "+author.publish(text).id())
		srv.server.SettleStreams()
		if listeners, _ := srv.server.Streams(); listeners == 1 {
			break
		}
		if len(want) > 5000 {
			t.Fatal("who does not read is still there")
		}
	}
	fast.wantHeard("who reads", want...)
	go slow.read()
	if got := slow.waitEnd(); got != 1013 && got != -1 {
		t.Errorf("the slow stream ended with %d", got)
	}
	if len(slow.got) >= len(want) {
		t.Error("who was cut off has heard everything")
	}
	for i, s := range slow.got {
		if s.String() != want[i] {
			t.Fatalf("frame %d of the slow stream is %s, want %s", i, s, want[i])
		}
	}
}

// TestManySlowListeners has many who do not read, each of whom calls a stream by another name, so that none can share what waits for
// another: all together cost no more than they may, and who reads hears everything.
func TestManySlowListeners(t *testing.T) {
	srv := startAPI(t)
	author := srv.signUp("author")
	const n = 64
	var slow []*listener
	for i := range n {
		tag := []byte("abcdef")
		for bit := range tag {
			tag[bit] -= byte(i >> bit & 1 * 32)
		}
		l := srv.open(nil, "stream", "hashtag", "tag", string(tag))
		l.conn.(*net.TCPConn).SetReadBuffer(1)
		slow = append(slow, l)
	}
	reader := srv.signUp("reader")
	fast, events := srv.listen(reader.caller, "stream", "hashtag", "tag", "ABCdef"), srv.events(reader.caller, "/api/v1/streaming/hashtag", "tag", "abcdef")
	fast.conn.SetDeadline(time.Time{}) // a machine that does much else takes its time
	text := strings.Repeat("e"+strings.Repeat("\u0301", 31), 2000) + " #abcdef"
	posts := 0
	for listeners := n + 2; listeners > 2; listeners, _ = srv.server.Streams() {
		if posts++; posts > 500 {
			t.Fatalf("%d listeners are still there", listeners)
		}
		id := author.publish(text).id()
		fast.wantHeard("who reads", "hashtag ABCdef: update "+id)
		if got := events.next(); !strings.HasPrefix(got, `update {"id":"`+id) {
			t.Fatalf("who reads events heard %.50s", got)
		}
		if got := srv.server.StreamBytes(); got > 2*server.MuchHeld {
			t.Fatalf("%d bytes wait after %d posts", got, posts)
		}
		for srv.server.StreamsBehind(reader.accountID()) > 0 { // who has read it is ahead of the server, which has yet to note that
			time.Sleep(time.Millisecond)
		}
	}
	for _, l := range slow {
		l.conn.Close()
	}
	for srv.server.StreamBytes() > 0 {
		time.Sleep(time.Millisecond)
	}
}

// TestStreamsFallBehind has more happen at once than can be told: everybody is sent away, to come back and look for themselves.
func TestStreamsFallBehind(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	l, events := srv.listen(alice.caller, "stream", "user"), srv.events(alice.caller, "/api/v1/streaming/user")
	err := srv.db.Update(t.Context(), func(tx *store.Tx) error {
		for range server.MaxEvents + 1 {
			tx.Emit(store.FiltersChanged{AccountID: alice.accountID()})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := l.waitEnd(); got != 1013 {
		t.Errorf("the stream ended with %d", got)
	}
	events.waitEnd()
	again := srv.listen(alice.caller, "stream", "user")
	srv.emitFiltersChanged(alice)
	again.wantHeard("after coming back", "user: filters_changed")
}

// TestOrderOfStreams has many people post at the same time: everybody hears the same, in the same order, edits after posts and deletions last.
func TestOrderOfStreams(t *testing.T) {
	srv := startAPI(t)
	people := crowdOf(srv, 4)
	a, b := srv.listen(nil, "stream", "public"), srv.listen(people[0].caller, "stream", "public")
	var wg sync.WaitGroup
	for _, p := range people {
		wg.Go(func() {
			for range 10 {
				id := p.publish("hello").id()
				p.edit(id, map[string]any{"status": "edited"}).want(200)
				p.do("DELETE", "/api/v1/statuses/"+id, "", nil).want(200)
			}
		})
	}
	for range 20 { // who comes and goes in between
		wg.Go(func() {
			l := srv.listen(people[1].caller, "stream", "user")
			l.subscribe("public")
			l.ask("type", "unsubscribe", "stream", "user")
			l.conn.Close()
		})
	}
	wg.Wait()
	first, second := shorts(a.heard()), shorts(b.heard())
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

func shorts(list []said) (all []string) {
	for _, s := range list {
		all = append(all, s.String())
	}
	return all
}

// TestPings looks whether clients are looked after, and given up when they do not answer.
func TestPings(t *testing.T) {
	srv := startAPI(t)
	srv.server.SetPings(20*time.Millisecond, time.Second)
	alive, dead := srv.open(nil), srv.open(nil)
	dead.mute = true
	go alive.read()
	go dead.read()
	if got := dead.waitEnd(); got != -1 {
		t.Errorf("the stream ended with %d", got)
	}
	alive.mu.Lock()
	defer alive.mu.Unlock()
	for alive.pings < 15 {
		if alive.change.Wait(); alive.code != 0 {
			t.Fatalf("the stream ended with %d", alive.code)
		}
	}
	if dead.pings == 0 {
		t.Error("given up without a ping")
	}
}

// TestClientPings answers the pings of clients.
func TestClientPings(t *testing.T) {
	srv := startAPI(t)
	l := srv.open(nil)
	l.write(opPing, []byte("are you there"))
	if kind, payload, err := l.frame(); kind != opPong || string(payload) != "are you there" {
		t.Errorf("got %d %q %v", kind, payload, err)
	}
	l.write(opClose, []byte{3, 232})
	if kind, payload, err := l.frame(); kind != opClose || len(payload) < 2 {
		t.Errorf("got %d %q %v", kind, payload, err)
	}
	for {
		if listeners, feeds := srv.server.Streams(); listeners == 0 && feeds == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
}

// TestStreamLimits opens as many streams as there may be, and one more.
func TestStreamLimits(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) {
		c.Streaming = config.Streaming{MaxStreams: 6, MaxStreamsPerAccount: 2, MaxStreamsPerAddress: 2}
		c.Server.TrustedProxies = []string{"127.0.0.1"}
	})
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	from := func(address string, c *caller) int {
		headers := []string{"X-Forwarded-For", address}
		if c != nil {
			headers = append(headers, "Authorization", "Bearer "+c.token)
		}
		_, _, resp := srv.handshake(url.Values{}, headers...)
		return resp.StatusCode
	}
	late := srv.listen(nil)
	for i, tt := range []struct {
		address string
		as      *caller
		want    int
	}{
		{"192.0.2.1", nil, 101}, {"192.0.2.1", nil, 101}, {"192.0.2.1", nil, 429}, {"192.0.2.1", alice.caller, 429},
		{"192.0.2.2", alice.caller, 101}, {"192.0.2.3", alice.caller, 101}, {"192.0.2.4", alice.caller, 429},
		{"192.0.2.5", bob.caller, 101}, {"192.0.2.6", bob.caller, 503},
	} {
		if got := from(tt.address, tt.as); got != tt.want {
			t.Errorf("stream %d: got %d, want %d", i, got, tt.want)
		}
	}
	if got := late.ask("type", "svc:authenticate", "token", alice.token); got != "error unauthorized" {
		t.Errorf("one stream too many: %s", got)
	}
	srv.as(bob).get("/api/v1/streaming/user").want(503)
	late.conn.Close()
	for {
		if n, _ := srv.server.Streams(); n < 6 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	bobs := srv.listen(nil)
	if got := bobs.ask("type", "svc:authenticate", "token", bob.token); got != "success" {
		t.Error(got)
	}
}

// TestMessagesAreCounted ends the stream of who talks without end.
func TestMessagesAreCounted(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.AllAnonymous = config.Rate{Count: 20, Window: time.Hour}
	})
	l := srv.listen(nil)
	for range 30 {
		l.say(`{"type":"dance"}`)
	}
	if got := l.waitEnd(); got != 1008 {
		t.Errorf("the stream ended with %d", got)
	}
}

// TestStreamsAtTheStop stops a server that has streams open: they end at once, so that clients come back, and do not hold it up.
func TestStreamsAtTheStop(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	st := serve(t, srv.server)
	srv.url = "http://" + st.address
	socket, stuck := srv.listen(alice.caller, "stream", "user"), srv.open(nil)
	events := srv.events(alice.caller, "/api/v1/streaming/user")
	began := time.Now()
	st.stop()
	if got := socket.waitEnd(); got != 1012 {
		t.Errorf("the stream ended with %d", got)
	}
	events.waitEnd()
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("the streams ended after %v", took)
	}
	stuck.conn.Close()
	if err := <-st.done; err != nil {
		t.Error(err)
	}
	st.done <- nil
}

// BenchmarkIdleSockets measures what a socket costs that nobody talks on. What the test's own end of it takes is counted, too, but that
// is little: a connection.
func BenchmarkIdleSockets(b *testing.B) {
	srv := startAPI(b)
	alice := srv.signUp("alice")
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
		var open []*listener
		for range n {
			l := srv.open(alice.caller, "stream", "user")
			l.input = nil
			open = append(open, l)
		}
		moreBytes, moreGoroutines := measure()
		b.ReportMetric(float64(moreBytes-bytes)/n, "B/socket")
		b.ReportMetric(float64(moreGoroutines-goroutines)/n, "goroutines/socket")
		for _, l := range open {
			l.conn.Close()
		}
		for listeners := 1; listeners > 0; listeners, _ = srv.server.Streams() {
			time.Sleep(time.Millisecond)
		}
	}
}

// BenchmarkFanOut measures a post until 200 sockets have it: of one person, of ten, of as many people as sockets, of nobody.
func BenchmarkFanOut(b *testing.B) {
	for _, people := range []int{1, 10, 200, 0} {
		b.Run(fmt.Sprint(people, "_people"), func(b *testing.B) {
			srv := startAPI(b)
			author := srv.signUp("author")
			crowd := crowdOf(srv, people)
			var heard sync.WaitGroup
			for i := range 200 {
				c := srv.as(nil)
				if people > 0 {
					c = crowd[i%people].caller
				}
				l := srv.open(c, "stream", "public")
				l.conn.SetDeadline(time.Time{})
				go func() {
					for _, _, err := l.frame(); err == nil; _, _, err = l.frame() {
						heard.Done()
					}
				}()
			}
			for b.Loop() {
				heard.Add(200)
				srv.ask(b, "POST", "/api/v1/statuses", author.token, benchPost)
				heard.Wait()
			}
			b.StopTimer()
		})
	}
}

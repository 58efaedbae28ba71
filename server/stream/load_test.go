package stream_test

import (
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/app"
	"svc/app/apptest"
	"svc/server/stream"
	"svc/store"
)

// TestManySockets opens 200 sockets: a post reaches exactly those whose accounts may see it.
func TestManySockets(t *testing.T) {
	srv := apptest.Start(t)
	author := srv.SignUp("author")
	users := apptest.SignUpMany(srv, 20)
	for i, p := range users {
		if i%2 == 0 {
			p.AccountAction(author.ID, "follow")
		}
		if i%5 == 0 {
			p.AccountAction(author.ID, "mute")
		}
	}
	type socket struct {
		*apptest.StreamClient
		user int // index in users; -1: anonymous
	}
	var sockets []socket
	for i := range 200 {
		switch user := i % 20; {
		case i%4 == 3:
			sockets = append(sockets, socket{srv.OpenStream(nil, "stream", "public"), -1})
		case i%4 == 2:
			sockets = append(sockets, socket{srv.OpenStream(users[user].Client, "stream", "public"), user})
		default:
			sockets = append(sockets, socket{srv.OpenStream(users[user].Client, "stream", "user"), user})
		}
	}
	for _, visibility := range []string{"public", "private"} {
		id := author.Publish("hello", "visibility", visibility).ID()
		for i, s := range sockets {
			open := i%4 > 1
			want := open && visibility == "public" || !open && s.user%2 == 0
			if s.user >= 0 && s.user%5 == 0 {
				want = false
			}
			got := s.Events()
			if (len(got) == 1 && payloadID(got[0]) == id) != want || len(got) > 1 {
				t.Errorf("socket %d got %v of the %s post, want %v", i, got, visibility, want)
			}
		}
	}
}

// TestSlowClient disconnects a client that does not read. Another client gets everything in order, and posting is not delayed.
func TestSlowClient(t *testing.T) {
	srv := apptest.Start(t)
	author := srv.SignUp("author")
	slow, fast := srv.DialStream(nil, "stream", "public"), srv.OpenStream(nil, "stream", "public")
	var want []string
	text := strings.Repeat("a long text ", 400)
	for {
		want = append(want, "public: update "+author.Publish(text).ID())
		srv.HTTP.Streams.Settle()
		if clients, _ := srv.HTTP.Streams.Count(); clients == 1 {
			break
		}
		if len(want) > 5000 {
			t.Fatal("the client that does not read is still connected")
		}
	}
	fast.WantEvents("the client that reads", want...)
	go slow.Read()
	if got := slow.WaitEnd(); got != 1013 && got != -1 {
		t.Errorf("the slow stream ended with %d", got)
	}
	events := slow.Unread()
	if len(events) >= len(want) {
		t.Error("the disconnected client got everything")
	}
	for i, s := range events {
		if s.String() != want[i] {
			t.Fatalf("frame %d of the slow stream is %s, want %s", i, s, want[i])
		}
	}
}

// TestManySlowClients has many clients that do not read, each with another label for the same stream, so that they share no frames. Together
// they hold no more than the limit, and clients that read get everything. One round of frames for all of them fits between the soft
// limit and the hard one, so that the result does not depend on how fast the server's goroutines run.
func TestManySlowClients(t *testing.T) {
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
	fast.Conn.SetDeadline(time.Time{}) // the machine may be busy
	text := strings.Repeat("e"+strings.Repeat("\u0301", 31), 1900) + " #abcdef"
	posts := 0
	for clients := n + 2; clients > 2; clients, _ = srv.HTTP.Streams.Count() {
		if posts++; posts > 500 {
			t.Fatalf("%d clients are still connected", clients)
		}
		id := author.Publish(text).ID()
		srv.HTTP.Streams.Settle()
		written(reader) // WantEvents sends another event, which must not find the status queued while the backlog is over its limit
		fast.WantEvents("the client that reads", "hashtag ABCdef: update "+id)
		if got := events.Next(); !strings.HasPrefix(got, `update {"id":"`+id) {
			t.Fatalf("the event stream got %.50s", got)
		}
		if got := srv.HTTP.Streams.BacklogBytes(); got > 2*stream.SoftBacklogBytes {
			t.Fatalf("%d bytes are queued after %d posts", got, posts)
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

// TestTooManyEvents commits more events than the hub queues: it ends all streams, so that clients reconnect and fetch the missed events.
func TestTooManyEvents(t *testing.T) {
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
	again.WantEvents("after reconnecting", "user: filters_changed")
}

// TestEventOrder posts from several accounts at once. All streams get the events in the same order: per status update, edit, delete.
func TestEventOrder(t *testing.T) {
	srv := apptest.Start(t)
	users := apptest.SignUpMany(srv, 4)
	a, b := srv.OpenStream(nil, "stream", "public"), srv.OpenStream(users[0].Client, "stream", "public")
	var wg sync.WaitGroup
	for _, p := range users {
		wg.Go(func() {
			for range 10 {
				id := p.Publish("hello").ID()
				p.EditStatus(id, map[string]any{"status": "edited"}).Want(200)
				p.Do("DELETE", "/api/v1/statuses/"+id, "", nil).Want(200)
			}
		})
	}
	for range 20 { // clients that connect and disconnect meanwhile
		wg.Go(func() {
			l := srv.OpenStream(users[1].Client, "stream", "user")
			l.Subscribe("public")
			l.Ask("type", "unsubscribe", "stream", "user")
			l.Conn.Close()
		})
	}
	wg.Wait()
	first, second := eventStrings(a.Events()), eventStrings(b.Events())
	// If a status is deleted before its update is sent, a stream gets the delete only. So only common events are compared.
	common := func(list, other []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !slices.Contains(other, s) })
	}
	if one, two := common(first, second), common(second, first); !slices.Equal(one, two) {
		t.Errorf("got\n%s\nand\n%s", one, two)
	}
	for _, list := range [][]string{first, second} {
		state, deleted := map[string]int{}, 0
		for _, s := range list {
			words := strings.Fields(s) // public: EVENT ID
			n := slices.Index([]string{"update", "status.update", "delete"}, words[1]) + 1
			if n <= state[words[2]] {
				t.Errorf("%s is out of order", s)
			}
			if state[words[2]] = n; n == 3 {
				deleted++
			}
		}
		if deleted != 40 {
			t.Errorf("got %d of 40 deletes", deleted)
		}
	}
}

// eventStrings returns the short forms of events.
func eventStrings(list []apptest.StreamEvent) (all []string) {
	for _, s := range list {
		all = append(all, s.String())
	}
	return all
}

package server_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/store"
)

// hurry lets what waits for its time in deliveries go now.
func (a *api) hurry() {
	a.t.Helper()
	a.insert(`UPDATE deliveries SET run_at = 1000 WHERE parked = 0`)
	a.insert(`UPDATE hosts SET rest_until = 0, due_at = 1000 WHERE domain IN (SELECT domain FROM deliveries WHERE parked = 0)`)
}

// TestDeliveryAnswers looks at what becomes of a delivery by how it is answered (federation 3.3; case 45).
func TestDeliveryAnswers(t *testing.T) {
	const kept, dropped = true, false
	for _, tt := range []struct {
		status  int
		header  string // Retry-After
		posts   int    // at first: 2 if both signatures were tried
		waits   bool
		atLeast time.Duration
	}{
		{200, "", 1, dropped, 0},
		{202, "", 1, dropped, 0},
		{301, "", 1, kept, 20 * time.Second},
		{400, "", 2, dropped, 0},
		{401, "", 2, kept, 20 * time.Second},
		{403, "", 1, dropped, 0},
		{404, "", 1, dropped, 0},
		{410, "", 1, dropped, 0},
		{413, "", 1, dropped, 0},
		{501, "", 1, dropped, 0},
		{408, "", 1, kept, 20 * time.Second},
		{429, "120", 1, kept, 119 * time.Second},
		{429, "1", 1, kept, 20 * time.Second},
		{500, "", 1, kept, 20 * time.Second},
		{503, "999999", 1, kept, 24*time.Hour - time.Second},
		{521, "", 1, kept, 20 * time.Second},
	} {
		t.Run(fmt.Sprintf("%d %s", tt.status, tt.header), func(t *testing.T) {
			srv, alice, home := startOutbox(t)
			home.follower(srv, "bob", true, alice)
			if tt.header != "" {
				home.answer(tt.status, "Retry-After", tt.header)
			} else {
				home.answer(tt.status)
			}
			start := time.Now()
			alice.publish("hello")
			settle(srv)
			if got := home.take(); len(got) != tt.posts {
				t.Errorf("%d requests, want %d", len(got), tt.posts)
			}
			if n := srv.count(`SELECT count(*) FROM deliveries`); (n == 1) != tt.waits {
				t.Fatalf("%d deliveries wait", n)
			}
			if n := srv.count(`SELECT count(*) FROM activities`); (n == 1) != tt.waits {
				t.Errorf("%d activities are left", n)
			}
			if !tt.waits {
				return
			}
			at := time.UnixMilli(int64(srv.count(`SELECT run_at FROM deliveries`)))
			if at.Before(start.Add(tt.atLeast)) || at.After(start.Add(24*time.Hour+time.Minute)) {
				t.Errorf("it is tried again %v later", at.Sub(start))
			}
			if due := srv.count(`SELECT due_at FROM hosts`); due < int(store.At(at)) {
				t.Errorf("the host is due at %d, its delivery at %d", due, store.At(at))
			}
			home.answer(202)
			srv.hurry()
			settle(srv)
			if got := home.take(); len(got) != 1 {
				t.Errorf("%d requests when it is well again", len(got))
			}
			if n := srv.count(`SELECT count(*) FROM deliveries`); n != 0 {
				t.Errorf("%d deliveries are left", n)
			}
		})
	}
}

// TestGivingUp follows a delivery to its end: growing pauses, parked after the last, forgotten in the end.
func TestGivingUp(t *testing.T) {
	srv, alice, home := startOutbox(t)
	home.follower(srv, "bob", true, alice)
	home.answer(500)
	alice.publish("hello")
	settle(srv)
	var before time.Duration
	for try := 1; srv.count(`SELECT parked FROM deliveries`) == 0; try++ {
		if n := srv.count(`SELECT attempts FROM deliveries`); n != try {
			t.Fatalf("%d tries, want %d", n, try)
		}
		wait := time.Until(time.UnixMilli(int64(srv.count(`SELECT run_at FROM deliveries`))))
		if wait <= before {
			t.Errorf("after %v it waits %v", before, wait)
		}
		before = wait
		srv.hurry()
		settle(srv)
	}
	if got := len(home.take()); got != 12 {
		t.Errorf("%d tries", got)
	}
	if n := srv.count(`SELECT count(*) FROM hosts WHERE due_at IS NOT NULL`); n != 0 {
		t.Error("the host is due though nothing waits")
	}
	prune := func() {
		t.Helper()
		if err := srv.db.Update(t.Context(), func(tx *store.Tx) error { _, err := tx.PruneDeliveries(t.Context()); return err }); err != nil {
			t.Fatal(err)
		}
	}
	prune()
	if n := srv.count(`SELECT count(*) FROM deliveries`); n != 1 {
		t.Error("a parked delivery is forgotten at once")
	}
	srv.insert(`UPDATE deliveries SET id = ?`, time.Now().Add(-31*24*time.Hour).UnixMilli()<<10)
	prune()
	if n := srv.count(`SELECT (SELECT count(*) FROM deliveries) + (SELECT count(*) FROM activities)`); n != 0 {
		t.Error("a parked delivery is never forgotten")
	}
}

// TestDoubleKnock looks at the second signature, which is tried once and then remembered (federation 2.5; case 36).
func TestDoubleKnock(t *testing.T) {
	srv, alice, home := startOutbox(t)
	home.follower(srv, "bob", true, alice)
	home.mu.Lock()
	home.reply = func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Signature-Input") == "" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}
	home.mu.Unlock()
	for _, want := range []int{2, 1, 1} {
		alice.publish("hello")
		settle(srv)
		if got := home.take(); len(got) != want || got[len(got)-1].header.Get("Signature-Input") == "" {
			t.Errorf("%d requests, want %d", len(got), want)
		}
	}
	srv.insert(`UPDATE hosts SET signature_at = 1000`) // long ago
	alice.publish("hello")
	settle(srv)
	if got := home.take(); len(got) != 2 {
		t.Errorf("%d requests when it was found out long ago, want 2", len(got))
	}

	// One that takes neither is not knocked at twice each time.
	home.answer(401)
	for _, want := range []int{2, 1} {
		alice.publish("hello")
		settle(srv)
		if got := home.take(); len(got) != want {
			t.Errorf("%d requests, want %d", len(got), want)
		}
	}
	for range 3 {
		srv.hurry()
		settle(srv)
	}
	if n := srv.count(`SELECT count(*) FROM deliveries`); n != 0 {
		t.Errorf("%d deliveries wait that were refused three times", n)
	}
}

// TestHostAway looks at a server that cannot be reached: for some time, for a week, for a month; and at its return (federation 3.5; case 46).
func TestHostAway(t *testing.T) {
	srv, alice, home := startOutbox(t)
	bob := home.follower(srv, "bob", true, alice)
	home.mu.Lock()
	home.reply = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	home.mu.Unlock()
	for range 3 {
		alice.publish("hello")
	}
	settle(srv)
	if got := len(home.take()); got != 1 {
		t.Errorf("%d deliveries were tried, want one: the others wait for the host", got)
	}
	if n := srv.count(`SELECT count(*) FROM deliveries WHERE attempts = 0`); n != 2 {
		t.Errorf("%d deliveries have not been tried", n)
	}
	alice.publish("hello again")
	settle(srv)
	if got := len(home.take()); got != 0 {
		t.Error("a new post wakes a host that rests")
	}

	// For more than a week: no more than one delivery waits, which tells when it is back.
	away := func(d time.Duration) {
		t.Helper()
		srv.insert(`UPDATE hosts SET unreachable_since = ?`, store.At(time.Now().Add(-d)))
	}
	away(8 * 24 * time.Hour)
	alice.publish("nobody hears this")
	settle(srv)
	if n := srv.count(`SELECT count(*) FROM deliveries`); n != 4 {
		t.Errorf("%d deliveries wait, want those 4 from before", n)
	}
	srv.insert(`DELETE FROM activities`)
	alice.publish("a probe")
	alice.publish("not this")
	settle(srv)
	if n := srv.count(`SELECT count(*) FROM deliveries`); n != 1 {
		t.Errorf("%d deliveries wait, want 1", n)
	}

	// It makes itself heard: what waits goes at once, and all is well.
	home.answer(202)
	err := srv.fed.Heard(t.Context(), bob.Domain)
	if err != nil {
		t.Fatal(err)
	}
	settle(srv)
	if got := home.take(); len(got) != 1 {
		t.Errorf("got %s when it was back", kinds(got))
	}
	alice.publish("welcome back")
	settle(srv)
	home.one("Create")
	if n := srv.count(`SELECT count(*) FROM hosts WHERE failures > 0 OR unreachable_since IS NOT NULL OR rest_until > 0 OR due_at IS NOT NULL`); n != 0 {
		t.Error("it counts as away still")
	}

	// After a month nothing waits for it.
	home.mu.Lock()
	home.reply = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	home.mu.Unlock()
	alice.publish("hello?")
	settle(srv)
	away(31 * 24 * time.Hour)
	if err := srv.db.Update(t.Context(), func(tx *store.Tx) error { _, err := tx.PruneDeliveries(t.Context()); return err }); err != nil {
		t.Fatal(err)
	}
	if n := srv.count(`SELECT (SELECT count(*) FROM deliveries) + (SELECT count(*) FROM activities)`); n != 0 {
		t.Errorf("%d rows wait for a server that is gone", n)
	}
}

// TestOrder looks at what happens while a server is down: it hears of one thing after another, and not of what has been overtaken
// (federation 3.4; case 48).
func TestOrder(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(alice *member, bob *store.Account)
		want string // kinds
	}{
		{"edited and deleted", func(alice *member, _ *store.Account) {
			st := alice.publish("one").id()
			settle(alice.api)
			alice.edit(st, jsonBody{"status": "two"}).want(200)
			settle(alice.api)
			alice.do("DELETE", "/api/v1/statuses/"+st, "", nil).want(200)
		}, "Delete /inbox"},
		{"edited twice", func(alice *member, _ *store.Account) {
			st := alice.publish("one").id()
			settle(alice.api)
			alice.edit(st, jsonBody{"status": "two"}).want(200)
			settle(alice.api)
			alice.edit(st, jsonBody{"status": "three"}).want(200)
		}, "Create /inbox, Update /inbox"},
		{"followed and unfollowed", func(alice *member, bob *store.Account) {
			alice.to(bob.ID.String(), "follow")
			settle(alice.api)
			alice.to(bob.ID.String(), "unfollow")
		}, "Undo /users/bob/inbox"},
		{"unfollowed and followed again", func(alice *member, bob *store.Account) {
			alice.to(bob.ID.String(), "follow")
			settle(alice.api)
			alice.to(bob.ID.String(), "unfollow")
			settle(alice.api)
			alice.to(bob.ID.String(), "follow")
		}, "Undo /users/bob/inbox, Follow /users/bob/inbox"},
		{"favourite taken back", func(alice *member, bob *store.Account) {
			st := alice.api.foreign(bob).ID.String()
			alice.post("/api/v1/statuses/" + st + "/favourite").want(200)
			settle(alice.api)
			alice.post("/api/v1/statuses/" + st + "/unfavourite").want(200)
		}, "Undo /users/bob/inbox"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, alice, home := startOutbox(t)
			bob := home.follower(srv, "bob", true, alice)
			home.answer(503)
			tt.do(alice, bob)
			settle(srv)
			home.take()
			home.answer(202)
			srv.hurry()
			settle(srv)
			if got := kinds(home.take()); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if n := srv.count(`SELECT (SELECT count(*) FROM deliveries) + (SELECT count(*) FROM activities)`); n != 0 {
				t.Errorf("%d rows are left", n)
			}
		})
	}
}

// TestReadersHear looks at who hears of the end of a post: those who have to do with it, and those who asked for it (case 47), also when
// it ends by itself (case 112).
func TestReadersHear(t *testing.T) {
	srv, alice, home := startOutbox(t)
	asked, liked, voted, relay := startLetterbox(t), startLetterbox(t), startLetterbox(t), startLetterbox(t)
	home.follower(srv, "bob", true, alice)
	fan, voter := liked.person(srv, "fan", false), voted.person(srv, "voter", true)
	st := alice.publish("short-lived", "expires_in", "7200", "poll[options][]", "yes", "poll[options][]", "no", "poll[expires_in]", "3600")
	settle(srv)
	home.one("Create")
	srv.insert(`INSERT INTO readers (status_id, inbox) VALUES (?, ?)`, statusID(st.id()), asked.url+"/users/reader/inbox")
	if _, err := srv.social.ReceiveFavourite(t.Context(), fan, statusID(st.id()), fan.URI+"/like"); err != nil {
		t.Fatal(err)
	}
	poll, err := srv.db.PollOf(t.Context(), statusID(st.id()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := srv.social.Vote(t.Context(), voter, poll.ID, []int{0}); err != nil {
		t.Fatal(err)
	}
	srv.insert(`INSERT INTO relays (id, address, inbox, litepub, follow_uri, accepted) VALUES (1, ?1, ?1, 0, ?2, 1)`, relay.url+"/inbox", srv.url+"/activities/relayfollow")
	srv.soon()
	settle(srv)
	for _, l := range []*letterbox{home, asked, liked, voted, relay} {
		if o := l.one("Update").doc; o.str("object.type") != "Question" || o.num("object.votersCount") != 1 {
			t.Errorf("the tally is %v", o.m)
		}
	}
	srv.insert(`UPDATE statuses SET expires_at = 1000 WHERE id = ?`, statusID(st.id()))
	srv.insert(`UPDATE jobs SET run_at = 1000 WHERE unique_key = ?`, "expire:"+st.id())
	settle(srv)
	for l, path := range map[*letterbox]string{
		home: "/inbox", asked: "/users/reader/inbox", liked: "/users/fan/inbox", voted: "/inbox", relay: "/inbox",
	} {
		if m := l.one("Delete"); m.path != path {
			t.Errorf("the end came to %s, want %s", m.path, path)
		}
	}
	srv.document(st.str("uri")).want(410).is(doc{"id": st.str("uri"), "type": "Tombstone", "formerType": "Question"})
}

// TestRelaysGet looks at what relays of both kinds get: public posts only (federation 6.2; case 124).
func TestRelaysGet(t *testing.T) {
	srv, alice, home := startOutbox(t)
	litepub, raw, waiting := startLetterbox(t), startLetterbox(t), startLetterbox(t)
	for i, r := range []struct {
		*letterbox
		litepub, accepted bool
	}{{litepub, true, true}, {raw, false, true}, {waiting, true, false}} {
		srv.insert(`INSERT INTO relays (id, address, inbox, litepub, follow_uri, accepted) VALUES (?1, ?2, ?2, ?3, ?4, ?5)`,
			i+1, r.url+"/inbox", r.litepub, fmt.Sprintf("%s/activities/%d", srv.url, i), r.accepted)
	}
	bob := home.person(srv, "bob", true)
	note := srv.foreign(bob).ID.String()
	for _, v := range []string{"unlisted", "private", "local", "direct"} {
		alice.publish("not for all", "visibility", v)
	}
	alice.post("/api/v1/statuses/" + note + "/reblog").want(200)
	settle(srv)
	for _, l := range []*letterbox{litepub, raw, waiting} {
		if got := l.take(); len(got) > 0 {
			t.Errorf("a relay got %s", kinds(got))
		}
	}
	st := alice.publish("for all")
	settle(srv)
	m := litepub.one("Announce")
	m.wantActivity(t, srv)
	to, _ := addresses(m.doc)
	if m.doc.str("actor") != srv.url+"/relay" || m.doc.str("object") != srv.url+"/objects/"+st.id() || len(to) != 1 || to[0] != srv.url+"/relay/followers" {
		t.Errorf("announced as %s", m.raw)
	}
	if m := raw.one("Create"); m.doc.str("actor") != srv.url+"/users/"+alice.id {
		t.Errorf("the relay got a post by %s", m.doc.str("actor"))
	}
	alice.do("DELETE", "/api/v1/statuses/"+st.id(), "", nil).want(200)
	settle(srv)
	litepub.one("Delete")
	raw.one("Delete")
	if got := waiting.take(); len(got) > 0 {
		t.Errorf("a relay that has not accepted got %s", kinds(got))
	}
}

// TestInboxGone looks at an own inbox that is gone: its owner is looked for.
func TestInboxGone(t *testing.T) {
	srv, alice, home := startOutbox(t)
	home.follower(srv, "bob", false, alice)
	var asked []string
	home.mu.Lock()
	home.reply = func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			home.mu.Lock()
			asked = append(asked, r.URL.Path)
			home.mu.Unlock()
		}
		w.WriteHeader(http.StatusGone)
	}
	home.mu.Unlock()
	alice.publish("hello")
	settle(srv)
	home.mu.Lock()
	defer home.mu.Unlock()
	if strings.Join(asked, " ") != "/users/bob" {
		t.Errorf("asked for %v", asked)
	}
}

// runCourier has a server receive and deliver in the background until the test ends, or until stop is called.
func (a *api) runCourier() (stop func()) {
	a.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(a.t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.fed.Run(ctx)
	}()
	stop = func() {
		cancel()
		<-done
	}
	a.t.Cleanup(stop)
	return stop
}

// hangingHosts makes hosts that take a connection and never answer, with a follower on each.
func hangingHosts(t *testing.T, srv *api, of *member, n int) {
	t.Helper()
	for i := range n {
		ln, err := net.Listen("tcp", fmt.Sprintf("127.3.%d.%d:0", i/200, 1+i%200))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ln.Close() })
		l := &letterbox{t: t, url: "http://" + ln.Addr().String(), host: ln.Addr().String()}
		l.follower(srv, "fan", true, of)
	}
}

// waitFor waits until something was delivered.
func (l *letterbox) waitFor(n int, most time.Duration) time.Duration {
	l.t.Helper()
	begun := time.Now()
	for {
		l.mu.Lock()
		got := len(l.letters)
		l.mu.Unlock()
		switch took := time.Since(begun); {
		case got >= n:
			return took
		case took > most:
			l.t.Fatalf("%d of %d deliveries after %v", got, n, took)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestDeadAndLiving looks at a living host among many that hang: those that have failed before, and those of which nobody knew it.
func TestDeadAndLiving(t *testing.T) {
	for _, tt := range []struct {
		name       string
		hang       int
		known, met bool // that the others hang, that the living one answers
		most       time.Duration
	}{
		{"that failed before", 300, true, false, 5 * time.Second},
		{"of which nobody knew it", 300, false, false, 10 * time.Second}, // before any of them has given up
		{"of which nobody knew it, more than there are places", 600, false, true, 5 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, alice, home := startOutbox(t)
			hangingHosts(t, srv, alice, tt.hang)
			if tt.known {
				srv.insert(`INSERT INTO hosts (domain, failures, unreachable_since) SELECT DISTINCT domain, 3, 1 FROM accounts WHERE domain <> ''`)
				srv.insert(`UPDATE hosts SET unreachable_since = ?`, store.At(time.Now()))
			}
			bob := home.follower(srv, "bob", true, alice)
			srv.insert(`INSERT INTO hosts (domain) VALUES (?)`, bob.Domain)
			if tt.met {
				srv.insert(`UPDATE hosts SET last_success_at = ? WHERE domain = ?`, store.At(time.Now()), bob.Domain)
			}
			alice.publish("hello")
			srv.settle()
			srv.insert(`UPDATE hosts SET due_at = due_at + 1 WHERE domain = ?`, bob.Domain) // it comes after the others
			stop := srv.runCourier()
			for i := range 3 {
				if i > 0 {
					alice.publish("hello")
					srv.settle()
				}
				t.Logf("post %d after %v", i, home.waitFor(i+1, tt.most))
			}
			waits := 3 * tt.hang
			for deadline := time.Now().Add(5 * time.Second); srv.count(`SELECT count(*) FROM deliveries`) > waits && time.Now().Before(deadline); {
				time.Sleep(5 * time.Millisecond) // until it is recorded
			}
			begun := time.Now()
			stop()
			if took := time.Since(begun); took > time.Second {
				t.Errorf("it took %v to stop", took)
			}
			if n := srv.count(`SELECT count(*) FROM deliveries`); n != waits {
				t.Errorf("%d deliveries wait, want %d", n, waits)
			}
		})
	}
}

// TestNoOvertaking looks at something that is taken back while it is being delivered: that waits.
func TestNoOvertaking(t *testing.T) {
	srv, alice, home := startOutbox(t)
	bob := home.person(srv, "bob", true)
	alice.post("/api/v1/statuses/" + srv.foreign(bob).ID.String() + "/favourite").want(200)
	settle(srv)
	home.one("Like") // the host is known to answer
	held := make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	t.Cleanup(release)
	home.mu.Lock()
	home.reply = func(http.ResponseWriter, *http.Request) { <-held }
	home.mu.Unlock()
	srv.runCourier()
	alice.to(bob.ID.String(), "follow")
	srv.settle()
	home.waitFor(1, 5*time.Second)
	alice.to(bob.ID.String(), "unfollow")
	srv.settle()
	note := srv.foreign(bob)
	alice.post("/api/v1/statuses/" + note.ID.String() + "/favourite").want(200)
	srv.settle()
	home.waitFor(2, 5*time.Second) // what is about something else does not wait
	if got := kinds(home.take()); got != "Follow /users/bob/inbox, Like /users/bob/inbox" {
		t.Errorf("got %s while the Follow was under way", got)
	}
	release()
	home.waitFor(1, 5*time.Second)
	home.one("Undo")
}

// TestNothingTwice has many posts delivered at the same time: each goes to each once.
func TestNothingTwice(t *testing.T) {
	srv, alice, _ := startOutbox(t)
	boxes := make([]*letterbox, 20)
	for i := range boxes {
		boxes[i] = startLetterbox(t)
		boxes[i].follower(srv, "fan", true, alice)
	}
	srv.runCourier()
	const posts = 20
	for range posts {
		alice.publish("hello")
		srv.settle()
	}
	for _, l := range boxes {
		l.waitFor(posts, 20*time.Second)
	}
	for deadline := time.Now().Add(10 * time.Second); srv.count(`SELECT count(*) FROM deliveries`) > 0 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	for _, l := range boxes {
		seen := make(map[string]bool)
		for _, m := range l.take() {
			if id := m.doc.str("id"); seen[id] {
				t.Errorf("%s came twice", id)
			} else {
				seen[id] = true
			}
		}
	}
	if n := srv.count(`SELECT (SELECT count(*) FROM deliveries) + (SELECT count(*) FROM activities)`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

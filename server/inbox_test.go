package server_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/federation"
	"svc/federation/policy"
	"svc/internal/config"
	"svc/internal/httpsig"
	"svc/store"
)

// running has what comes in done as it comes, instead of by settle, until the test ends.
func (a *api) running() {
	a.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.fed.Run(ctx)
	}()
	a.t.Cleanup(func() {
		stop()
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			a.t.Error("federation does not end")
		}
	})
}

// wantEmptyInbox waits until all is done that has come in.
func (a *api) wantEmptyInbox() {
	a.t.Helper()
	var state store.ReceivedState
	for range 2000 {
		var err error
		if state, err = a.db.ReceivedState(a.t.Context(), 100_000); err != nil {
			a.t.Fatal(err)
		}
		if state.Waiting == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	a.t.Fatalf("the inbox does not get empty: %+v", state)
}

// Cases 49 and 122: the same activity again, at another inbox, or by somebody who has recorded the request, is nothing new.
func TestInboxAgain(t *testing.T) {
	for _, running := range []bool{false, true} {
		t.Run(fmt.Sprintf("running %v", running), func(t *testing.T) {
			srv, peer := startWithPeer(t)
			second := startPeers(t, 1)[0]
			alice := srv.signUp("alice")
			bob := peer.actor("bob")
			if running {
				srv.running()
			}
			note := peer.note(bob, "hi", doc{"cc": []any{alice.uri()}, "tag": []any{doc{"type": "Mention", "href": alice.uri()}}})
			create := peer.create(note)
			body := mustJSON(create)
			var all sync.WaitGroup
			all.Go(func() { peer.post(srv, create) })
			all.Go(func() { peer.postTo(srv, alice, create) })
			all.Wait()
			sign := signing{keyID: bob + "#main-key", key: peer.keys[bob]}
			srv.as(nil).request(handSigned(t, srv.url+"/inbox", body, sign)).want(202)
			if running {
				srv.wantEmptyInbox()
			} else {
				settle(srv)
			}
			srv.as(nil).request(handSigned(t, srv.url+"/inbox", body, sign)).want(202)
			if running {
				srv.wantEmptyInbox()
			} else {
				settle(srv)
			}
			wantList(t, "alice is told", alice.told(), "mention")

			elsewhere := handSigned(t, srv.url+"/inbox", body, sign)
			elsewhere.URL.Host = strings.TrimPrefix(second.url, "http://")
			elsewhere.Host = strings.TrimPrefix(srv.url, "http://")
			second.as(nil).request(elsewhere).want(401)
		})
	}
}

// Case 50: deletions of accounts that nobody here has heard of cost nothing.
func TestInboxDeletesOfStrangers(t *testing.T) {
	srv, peer := startWithPeer(t)
	for i := range 1000 {
		id := fmt.Sprintf("%s/users/gone%d", peer.url, i)
		peer.keys[id] = fakeKeys()
		peer.post(srv, doc{"@context": "https://www.w3.org/ns/activitystreams", "id": id + "#delete", "type": "Delete", "actor": id, "object": id, "to": []any{toPublic}})
	}
	settle(srv)
	if n := peer.askedAll(); n != 0 {
		t.Errorf("%d requests, want 0", n)
	}
}

// Case 51: the deletion of an account whose key is gone with it.
func TestInboxDeleteOfGone(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	st := alice.publish("a post")
	peer.receive(srv, peer.activity("Like", bob, st.str("uri")))
	peer.rotate("bob")
	peer.remove(bob, http.StatusGone)
	peer.post(srv, peer.activity("Delete", bob, bob))
	if n := alice.liked(st.id()); n != 0 {
		t.Errorf("%d favourites of who is gone", n)
	}
	alice.get("/api/v1/accounts/" + srv.known(bob)).want(404)
}

// Cases 52, 53, 118: what is no activity, or not in the form of one.
func TestInboxForms(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	st := alice.publish("a post")
	like := func(more string) []byte {
		return fmt.Appendf(nil, `{"@context":"https://www.w3.org/ns/activitystreams","type":"Like","object":%q,%s}`, st.str("uri"), more)
	}
	actor := fmt.Sprintf(`"actor":%q`, bob)
	padding := func(n int) string { return strings.Repeat("x", n) }
	deep := strings.Repeat(`[`, 100) + strings.Repeat(`]`, 100)
	for _, tt := range []struct {
		name string
		body []byte
		want int
		done bool
	}{
		{"as it should be", like(actor + `,"id":"` + peer.id("likes") + `"`), 202, true},
		{"0.9 MB", like(actor + `,"id":"` + peer.id("likes") + `","summary":"` + padding(900_000) + `"`), 202, true},
		{"1.1 MB", like(actor + `,"id":"` + peer.id("likes") + `","summary":"` + padding(1_100_000) + `"`), 413, false},
		{"the actor twice", like(actor + `,"actor":"https://other.example/users/eve","id":"` + peer.id("likes") + `"`), 400, false},
		{"@graph", like(actor + `,"@graph":[]`), 400, false},
		{"@reverse", like(actor + `,"tag":{"@reverse":{}}`), 400, false},
		{"@included", like(actor + `,"@included":[]`), 400, false},
		{"the id an object", like(actor + `,"id":{"id":"` + peer.id("likes") + `"}`), 400, false},
		{"the id a number", like(actor + `,"id":1`), 400, false},
		{"the id a list", like(actor + `,"id":["` + peer.id("likes") + `"]`), 400, false},
		{"no id", like(actor), 202, true},
		{"the id elsewhere", like(actor + `,"id":"https://other.example/1"`), 202, false},
		{"several types", []byte(strings.Replace(string(like(actor+`,"id":"`+peer.id("likes")+`"`)), `"Like"`, `["Like","Thing"]`, 1)), 202, true},
		{"a type of no interest", []byte(strings.Replace(string(like(actor)), `"Like"`, `"Travel"`, 1)), 202, false},
		{"no type", []byte(strings.Replace(string(like(actor)), `"Like"`, `7`, 1)), 202, false},
		{"no actor", like(`"id":"` + peer.id("likes") + `"`), 400, false},
		{"two actors", like(fmt.Sprintf(`"actor":[%q,%q]`, bob, peer.url+"/users/eve")), 400, false},
		{"the actor a number", like(`"actor":1`), 400, false},
		{"the actor of this server", like(fmt.Sprintf(`"actor":%q`, alice.uri())), 400, false},
		{"the actor with a user", like(`"actor":"http://bob@` + peer.host + `/users/bob"`), 400, false},
		{"a list", []byte(`[` + string(like(actor)) + `]`), 400, false},
		{"too deep", like(actor + `,"tag":` + deep), 400, false},
		{"not JSON", []byte(`{"type":`), 400, false},
		{"not UTF-8", like(actor + ",\"name\":\"\xff\""), 400, false},
		{"nothing", nil, 400, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := alice.liked(st.id())
			peer.deliverRaw(srv, "/inbox", bob, tt.body).want(tt.want)
			if after := alice.liked(st.id()); after > before != tt.done {
				t.Errorf("%d favourites, before %d", after, before)
			}
			peer.receive(srv, peer.activity("Undo", bob, doc{"type": "Like", "actor": bob, "object": st.str("uri")}))
		})
	}
	t.Run("compressed", func(t *testing.T) {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		w.Write(make([]byte, 100<<20))
		w.Close()
		req := handSigned(t, srv.url+"/inbox", packed.Bytes(), signing{keyID: bob + "#main-key", key: peer.keys[bob]})
		req.Header.Set("Content-Encoding", "gzip")
		srv.as(nil).request(req).want(415)
	})
	t.Run("another type", func(t *testing.T) {
		for media, want := range map[string]int{"text/html": 415, "application/json": 202, `application/ld+json; profile="https://www.w3.org/ns/activitystreams"`: 202} {
			req := handSigned(t, srv.url+"/inbox", mustJSON(peer.activity("Like", bob, st.str("uri"))), signing{
				keyID: bob + "#main-key", key: peer.keys[bob], headers: "(request-target) host date digest",
			})
			req.Header.Set("Content-Type", media)
			if got := srv.as(nil).request(req).status; got != want {
				t.Errorf("%s: got %d, want %d", media, got, want)
			}
		}
	})
}

// Case 119: who is suspended or deleted here has no say, but may take back and delete.
func TestInboxOfSuspended(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob, carol := peer.actor("bob"), peer.actor("carol")
	st := alice.publish("a post")
	secret := alice.publish("for nobody else", "visibility", "private")
	read := func(actor, uri string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "GET", uri, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "application/activity+json")
		if err := peer.signerOf(actor).Sign(req, nil, httpsig.Options{Scheme: httpsig.Cavage, Now: time.Now()}); err != nil {
			t.Fatal(err)
		}
		return srv.as(nil).request(req).status
	}
	for _, actor := range []string{bob, carol} {
		peer.receive(srv, peer.activity("Like", actor, st.str("uri")))
	}
	if n := alice.liked(st.id()); n != 2 {
		t.Fatalf("%d favourites, want 2", n)
	}
	peer.post(srv, peer.activity("Announce", bob, st.str("uri"), doc{"to": []any{toPublic}})) // suspended before it is done
	withhold := func(uri string) {
		t.Helper()
		err := srv.db.Update(t.Context(), func(tx *store.Tx) error {
			a, err := tx.AccountByURI(t.Context(), uri)
			if err != nil {
				return err
			}
			return tx.SetWithheld(t.Context(), a.ID, true)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	withhold(bob)
	another := alice.publish("another")
	for _, d := range []doc{peer.activity("Like", bob, another.str("uri")), peer.activity("Announce", bob, another.str("uri"), doc{"to": []any{toPublic}})} {
		peer.receive(srv, d)
	}
	for _, st := range []*object{st, another} {
		got := alice.get("/api/v1/statuses/" + st.id()).want(200).object()
		if got.num("reblogs_count") != 0 || got.str("id") == another.id() && got.num("favourites_count") != 0 {
			t.Errorf("who is suspended has a say: %v", got.m)
		}
	}
	if got := read(bob, secret.str("uri")); got != 401 && got != 404 {
		t.Errorf("the suspended reads: %d", got)
	}
	peer.receive(srv, peer.activity("Undo", bob, doc{"type": "Like", "actor": bob, "object": st.str("uri")}))
	if n := alice.liked(st.id()); n != 1 {
		t.Errorf("%d favourites after the Undo of who is suspended, want 1", n)
	}
	peer.receive(srv, peer.activity("Delete", carol, carol))
	asked := peer.askedAll()
	for range 5 {
		peer.deliver(srv, "/inbox", carol, peer.activity("Like", carol, another.str("uri")))
	}
	settle(srv)
	if n := alice.liked(another.id()); n != 0 {
		t.Errorf("%d favourites by who is deleted", n)
	}
	if got := read(carol, secret.str("uri")); got != 401 && got != 404 {
		t.Errorf("the deleted reads: %d", got)
	}
	if n := peer.askedAll() - asked; n > 1 {
		t.Errorf("for the key of who is deleted, %d requests", n)
	}
}

// Case 35: with hosts that are rejected there are no dealings, but what they delete is deleted.
func TestInboxOfRejected(t *testing.T) {
	peer := startFake(t)
	srv := startPeers(t, 1)[0]
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	note := peer.note(bob, "hi", doc{"cc": []any{alice.uri()}, "tag": []any{doc{"type": "Mention", "href": alice.uri()}}})
	peer.receive(srv, peer.create(note))
	uri := note["id"].(string)
	st, err := srv.db.StatusByURI(t.Context(), uri)
	if err != nil || st == nil {
		t.Fatal(st, err)
	}
	other := startFake(t)
	dora := other.actor("dora")
	other.receive(srv, other.activity("Like", dora, alice.publish("a post").str("uri")))
	srv.insert(`UPDATE accounts SET domain = 'rejected.example' WHERE uri = ?`, dora) // her handle is of another host than her server
	rejecting := *srv.settings
	rejecting.MRF.Policies = []string{"SimplePolicy"}
	rejecting.MRFSimple.Reject = []config.HostReason{{Host: peer.host}, {Host: "rejected.example"}}
	srv.fed.Policies = policy.New(&rejecting, policy.Deps{Log: slog.New(slog.DiscardHandler), Now: srv.db.Now, People: srv.db})
	asked := peer.askedAll()
	other.deliver(srv, "/inbox", dora, other.activity("Like", dora, alice.publish("another").str("uri"))).want(403)
	peer.deliver(srv, "/inbox", bob, peer.create(peer.note(bob, "hi"))).want(403)
	peer.deliver(srv, "/inbox", peer.actor("eve"), peer.activity("Like", peer.url+"/users/eve", note["id"])).want(403)
	if n := peer.askedAll() - asked; n != 0 {
		t.Errorf("%d requests to a host that is rejected", n)
	}
	peer.receive(srv, peer.activity("Delete", bob, uri))
	if st, err := srv.db.StatusByURI(t.Context(), uri); err != nil || st != nil {
		t.Errorf("what a rejected host has deleted is there: %v %v", st, err)
	}
}

// What an actor sends is done in the order in which it is sent, however much that is, and others do not wait for it.
func TestInboxOrder(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob, carol := peer.actor("bob"), peer.actor("carol")
	srv.running()
	st := alice.publish("a post")
	other := alice.publish("another")
	alice.follows(bob)
	const flood = 400
	note := peer.note(bob, "version 0", doc{"published": fromNow(-time.Hour)})
	peer.post(srv, peer.create(note))
	for i := range flood {
		peer.post(srv, peer.activity("Update", bob, with(note, doc{"content": fmt.Sprint("version ", i+1), "updated": fromNow(-time.Hour + time.Duration(i+1)*time.Second)})))
		if i%2 == 0 {
			peer.post(srv, peer.activity("Like", bob, st.str("uri")))
		} else {
			peer.post(srv, peer.activity("Undo", bob, doc{"type": "Like", "actor": bob, "object": st.str("uri")}))
		}
	}
	peer.post(srv, peer.activity("Like", carol, other.str("uri")))
	srv.wantEmptyInbox()
	if got := alice.wantPost(note["id"]); got.str("content") != fmt.Sprint("version ", flood) {
		t.Errorf("the post is %q", got.str("content"))
	}
	got := alice.get("/api/v1/statuses/" + st.id()).want(200).object()
	if n := got.num("favourites_count"); n != 0 {
		t.Errorf("%d favourites, want 0", n)
	}
	if n := alice.get("/api/v1/statuses/" + other.id()).want(200).object().num("favourites_count"); n != 1 {
		t.Errorf("carol's favourite is not there: %d", n)
	}
}

// What is brief is done by the time its sender is answered, and never queued. What other servers have to be asked for is queued, and so is
// what is about the same, and all that comes while nobody works.
func TestInboxAtOnce(t *testing.T) {
	srv, peer := startWithPeer(t)
	other := startFake(t)
	alice := srv.signUp("alice")
	bob, carol := peer.actor("bob"), other.actor("carol")
	alice.follows(bob)
	st := alice.publish("a post")
	unknown := other.note(carol, "not known here")
	other.serve(unknown)
	asked, answered := make(chan struct{}, 10), make(chan struct{})
	other.answers[strings.TrimPrefix(unknown["id"].(string), other.url)].before = func(*http.Request) { asked <- struct{}{}; <-answered }
	wantQueued := func(what string, want int) {
		t.Helper()
		if n := srv.count(`SELECT count(*) FROM inbox`); n != want {
			t.Fatalf("after %s %d activities are queued, want %d", what, n, want)
		}
	}
	wantCounts := func(what string, favourites, reblogs int) {
		t.Helper()
		got := alice.get("/api/v1/statuses/" + st.id()).want(200).object()
		if f, r := got.num("favourites_count"), got.num("reblogs_count"); f != favourites || r != reblogs {
			t.Errorf("after %s there are %d favourites and %d boosts, want %d and %d", what, f, r, favourites, reblogs)
		}
	}
	boost := func(what any) doc { return peer.activity("Announce", bob, what, doc{"to": []any{toPublic}}) }

	peer.post(srv, peer.activity("Like", bob, st.str("uri")))
	wantQueued("a favourite before anybody works", 1)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { srv.fed.Run(ctx) })
	defer running.Wait()
	defer stop()
	srv.wantEmptyInbox()
	note := peer.note(bob, "hello")
	peer.post(srv, peer.create(note))
	wantQueued("a post", 0)
	alice.wantPost(note["id"])

	peer.post(srv, boost(unknown["id"]))
	wantQueued("a boost of what is not known", 1)
	<-asked
	peer.post(srv, boost(unknown["id"]))
	wantQueued("another of the same", 2)
	like := other.activity("Like", carol, st.str("uri"))
	other.post(srv, like)
	other.post(srv, like)
	wantQueued("what somebody else sends, twice", 2)
	wantCounts("that", 2, 0)
	close(answered)
	srv.wantEmptyInbox()
	alice.wantPost(unknown["id"])
	peer.post(srv, boost(st.str("uri")))
	wantQueued("a boost", 0)
	wantCounts("that", 2, 1)

	stop()
	running.Wait()
	other.post(srv, other.activity("Announce", carol, st.str("uri"), doc{"to": []any{toPublic}}))
	wantQueued("a boost when nobody works any more", 1)
	settle(srv)
	wantCounts("that", 2, 2)
}

// What fails of something that passes is tried again, and not heard of before; what is given up is shown.
func TestInboxTrouble(t *testing.T) {
	srv, peer := startWithPeer(t)
	other := startFake(t)
	alice := srv.signUp("alice")
	bob, carol := peer.actor("bob"), other.actor("carol")
	alice.follows(bob)
	note := other.note(carol, "a post")
	id := note["id"].(string)
	other.remove(id, 500)
	boost := peer.activity("Announce", bob, id, doc{"to": []any{toPublic}})
	peer.receive(srv, boost)
	if heard, err := srv.db.Heard(t.Context(), boost["id"].(string)); heard || err != nil {
		t.Fatalf("heard of what failed: %v %v", heard, err)
	}
	state, err := srv.db.ReceivedState(t.Context(), 10)
	if err != nil || state.Failed != 1 {
		t.Fatalf("got %+v %v, want one that has failed", state, err)
	}
	for range 7 { // the last of these parks it
		rows, err := srv.db.WaitingReceived(t.Context(), 0, 10)
		if err != nil || len(rows) != 1 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		err = srv.db.Update(t.Context(), func(tx *store.Tx) error {
			row, err := tx.ReceivedBy(t.Context(), rows[0].ID)
			if err != nil {
				return err
			}
			_, err = tx.PutOffReceived(t.Context(), row, fmt.Errorf("trouble"))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if state, err = srv.db.ReceivedState(t.Context(), 10); err != nil || state.Parked != 1 || state.Waiting != 0 {
		t.Fatalf("got %+v %v, want one that is given up", state, err)
	}
	other.serve(note)
	srv.running()
	if done, err := srv.fed.Explain(t.Context(), id); err != nil || len(done.Waiting) != 1 || !done.Waiting[0].GivenUp {
		t.Errorf("what was given up is not told of: %+v %v", done, err)
	}
	if _, err := srv.fed.Retry(t.Context(), federation.RetryQuery{All: true}); err != nil {
		t.Fatal(err)
	}
	srv.wantEmptyInbox()
	alice.wantPost(id)
}

// FuzzReceive sends anything to the inbox, signed and not: it answers, and never that it has failed.
func FuzzReceive(f *testing.F) {
	srv, peer := startPeers(f, 1)[0], startFake(f)
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	st := alice.publish("a post")
	note := peer.note(bob, "hi")
	for _, d := range []doc{
		peer.activity("Like", bob, st.str("uri")), peer.create(note), peer.activity("Delete", bob, bob), peer.activity("Undo", bob, doc{"type": "Follow"}),
		peer.activity("Announce", bob, st.str("uri")), peer.activity("Flag", bob, []any{alice.uri()}), peer.activity("Move", bob, bob, doc{"target": alice.uri()}),
		peer.activity("Update", bob, with(note, doc{"proof": doc{"type": "DataIntegrityProof", "proofValue": "z1"}})),
	} {
		f.Add(mustJSON(d), "application/activity+json", "", true)
	}
	f.Add([]byte(`{"type":"Like"}`), "application/json", `keyId="`+bob+`#main-key",headers="(request-target) host date digest",signature="AAAA"`, false)
	f.Add([]byte(`{"type":"Like","actor":"`+bob+`"}`), "x", `sig1=:AAAA:`, false)
	f.Fuzz(func(t *testing.T, body []byte, media, signature string, signed bool) {
		if strings.ContainsAny(media+signature, "\r\n\x00") {
			t.Skip()
		}
		req, err := http.NewRequestWithContext(t.Context(), "POST", srv.url+"/inbox", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header["Content-Type"] = []string{media}
		if signed {
			if err := peer.signerOf(bob).Sign(req, body, httpsig.Options{Scheme: httpsig.Cavage, Now: time.Now()}); err != nil {
				t.Skip()
			}
		} else {
			req.Header["Signature"] = []string{signature}
		}
		w := &recorded{header: make(http.Header)}
		srv.handler.ServeHTTP(w, serverSide(req, body))
		if w.status >= 500 && w.status != 503 {
			t.Errorf("answered %d %s to %q", w.status, w.body.Bytes(), body)
		}
		for range 3 {
			if err := srv.fed.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := srv.db.TroubledReceived(t.Context(), "", 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if strings.Contains(r.LastError, "panic") {
				t.Errorf("%s: %s", r.Body, r.LastError)
			}
		}
	})
}

// recorded is an answer.
type recorded struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorded) Header() http.Header  { return r.header }
func (r *recorded) WriteHeader(code int) { r.status = code }
func (r *recorded) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = 200
	}
	return r.body.Write(b)
}
func (r *recorded) SetReadDeadline(time.Time) error  { return nil }
func (r *recorded) SetWriteDeadline(time.Time) error { return nil }

// serverSide makes of a request what a server gets to see.
func serverSide(req *http.Request, body []byte) *http.Request {
	in := req.Clone(req.Context())
	in.RequestURI, in.RemoteAddr = req.URL.RequestURI(), "127.0.0.1:1"
	if in.Host == "" {
		in.Host = req.URL.Host
	}
	in.Body, in.ContentLength = http.NoBody, int64(len(body))
	if len(body) > 0 {
		in.Body = readCloser{bytes.NewReader(body)}
	}
	return in
}

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }

package federation_test

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

	"svc/app/apptest"
	"svc/federation"
	"svc/internal/config"
	"svc/internal/httpsig"
	"svc/policy"
	"svc/store"
)

// TestInboxDuplicates checks that an activity is processed once, also when it comes to another inbox or is replayed (cases 49 and 122).
func TestInboxDuplicates(t *testing.T) {
	for _, running := range []bool{false, true} {
		t.Run(fmt.Sprintf("running %v", running), func(t *testing.T) {
			srv, peer := apptest.StartWithFake(t)
			second := apptest.StartPeers(t, 1)[0]
			alice := srv.SignUp("alice")
			bob := peer.AddActor("bob")
			if running {
				srv.RunFederation()
			}
			note := peer.Note(bob, "hi", apptest.Doc{"cc": []any{alice.URI()}, "tag": []any{apptest.Doc{"type": "Mention", "href": alice.URI()}}})
			create := peer.Create(note)
			body := apptest.MustJSON(create)
			var all sync.WaitGroup
			all.Go(func() { peer.Post(srv, create) })
			all.Go(func() { peer.PostTo(srv, alice, create) })
			all.Wait()
			sign := apptest.Signing{KeyID: bob + "#main-key", Key: peer.Keys[bob]}
			srv.As(nil).DoRequest(SignedByHand(t, srv.URL+"/inbox", body, sign)).Want(202)
			if running {
				srv.WantEmptyInbox()
			} else {
				apptest.Settle(srv)
			}
			srv.As(nil).DoRequest(SignedByHand(t, srv.URL+"/inbox", body, sign)).Want(202)
			if running {
				srv.WantEmptyInbox()
			} else {
				apptest.Settle(srv)
			}
			apptest.WantList(t, "notifications of alice", alice.NotificationTypes(), "mention")

			replayed := SignedByHand(t, srv.URL+"/inbox", body, sign)
			replayed.URL.Host = strings.TrimPrefix(second.URL, "http://")
			replayed.Host = strings.TrimPrefix(srv.URL, "http://")
			second.As(nil).DoRequest(replayed).Want(401)
		})
	}
}

// TestInboxDeletesOfUnknownActors checks that Deletes of unknown accounts cause no requests (case 50).
func TestInboxDeletesOfUnknownActors(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	for i := range 1000 {
		id := fmt.Sprintf("%s/users/gone%d", peer.URL, i)
		peer.Keys[id] = apptest.SharedKey()
		peer.Post(srv, apptest.Doc{"@context": "https://www.w3.org/ns/activitystreams", "id": id + "#delete", "type": "Delete", "actor": id, "object": id, "to": []any{apptest.Public}})
	}
	apptest.Settle(srv)
	if n := peer.AllFetches(); n != 0 {
		t.Errorf("%d requests, want 0", n)
	}
}

// TestInboxDeleteWithGoneKey covers the Delete of an account whose key is gone, too (case 51).
func TestInboxDeleteWithGoneKey(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	st := alice.Publish("a post")
	peer.PostAndSettle(srv, peer.Activity("Like", bob, st.Str("uri")))
	peer.RotateKey("bob")
	peer.Remove(bob, http.StatusGone)
	peer.Post(srv, peer.Activity("Delete", bob, bob))
	if n := alice.Favourites(st.ID()); n != 0 {
		t.Errorf("%d favourites of a deleted account", n)
	}
	alice.Get("/api/v1/accounts/" + srv.KnownID(bob)).Want(404)
}

// TestInboxForms covers bodies that are not activities or are malformed (cases 52, 53, 118).
func TestInboxForms(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	st := alice.Publish("a post")
	like := func(more string) []byte {
		return fmt.Appendf(nil, `{"@context":"https://www.w3.org/ns/activitystreams","type":"Like","object":%q,%s}`, st.Str("uri"), more)
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
		{"as it should be", like(actor + `,"id":"` + peer.NewID("likes") + `"`), 202, true},
		{"0.9 MB", like(actor + `,"id":"` + peer.NewID("likes") + `","summary":"` + padding(900_000) + `"`), 202, true},
		{"1.1 MB", like(actor + `,"id":"` + peer.NewID("likes") + `","summary":"` + padding(1_100_000) + `"`), 413, false},
		{"the actor twice", like(actor + `,"actor":"https://other.example/users/eve","id":"` + peer.NewID("likes") + `"`), 400, false},
		{"@graph", like(actor + `,"@graph":[]`), 400, false},
		{"@reverse", like(actor + `,"tag":{"@reverse":{}}`), 400, false},
		{"@included", like(actor + `,"@included":[]`), 400, false},
		{"the id an object", like(actor + `,"id":{"id":"` + peer.NewID("likes") + `"}`), 400, false},
		{"the id a number", like(actor + `,"id":1`), 400, false},
		{"the id a list", like(actor + `,"id":["` + peer.NewID("likes") + `"]`), 400, false},
		{"no id", like(actor), 202, true},
		{"an id of another host", like(actor + `,"id":"https://other.example/1"`), 202, false},
		{"several types", []byte(strings.Replace(string(like(actor+`,"id":"`+peer.NewID("likes")+`"`)), `"Like"`, `["Like","Thing"]`, 1)), 202, true},
		{"a type of no interest", []byte(strings.Replace(string(like(actor)), `"Like"`, `"Travel"`, 1)), 202, false},
		{"no type", []byte(strings.Replace(string(like(actor)), `"Like"`, `7`, 1)), 202, false},
		{"no actor", like(`"id":"` + peer.NewID("likes") + `"`), 400, false},
		{"two actors", like(fmt.Sprintf(`"actor":[%q,%q]`, bob, peer.URL+"/users/eve")), 400, false},
		{"the actor a number", like(`"actor":1`), 400, false},
		{"the actor of this server", like(fmt.Sprintf(`"actor":%q`, alice.URI())), 400, false},
		{"the actor with a user", like(`"actor":"http://bob@` + peer.Host + `/users/bob"`), 400, false},
		{"a list", []byte(`[` + string(like(actor)) + `]`), 400, false},
		{"too deep", like(actor + `,"tag":` + deep), 400, false},
		{"not JSON", []byte(`{"type":`), 400, false},
		{"not UTF-8", like(actor + ",\"name\":\"\xff\""), 202, true},
		{"not UTF-8 in its id", like(actor + ",\"id\":\"https://a.example/\xff\""), 400, false},
		{"nothing", nil, 400, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := alice.Favourites(st.ID())
			peer.DeliverRaw(srv, "/inbox", bob, tt.body).Want(tt.want)
			if after := alice.Favourites(st.ID()); after > before != tt.done {
				t.Errorf("%d favourites, before %d", after, before)
			}
			peer.PostAndSettle(srv, peer.Activity("Undo", bob, apptest.Doc{"type": "Like", "actor": bob, "object": st.Str("uri")}))
		})
	}
	t.Run("compressed", func(t *testing.T) {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		w.Write(make([]byte, 100<<20))
		w.Close()
		req := SignedByHand(t, srv.URL+"/inbox", packed.Bytes(), apptest.Signing{KeyID: bob + "#main-key", Key: peer.Keys[bob]})
		req.Header.Set("Content-Encoding", "gzip")
		srv.As(nil).DoRequest(req).Want(415)
	})
	t.Run("another type", func(t *testing.T) {
		for media, want := range map[string]int{"text/html": 415, "application/json": 202, `application/ld+json; profile="https://www.w3.org/ns/activitystreams"`: 202} {
			req := SignedByHand(t, srv.URL+"/inbox", apptest.MustJSON(peer.Activity("Like", bob, st.Str("uri"))), apptest.Signing{
				KeyID: bob + "#main-key", Key: peer.Keys[bob], Headers: "(request-target) host date digest",
			})
			req.Header.Set("Content-Type", media)
			if got := srv.As(nil).DoRequest(req).Status; got != want {
				t.Errorf("%s: got %d, want %d", media, got, want)
			}
		}
	})
}

// TestInboxOfSuspended checks that of suspended and deleted accounts only Undo and Delete are processed (case 119).
func TestInboxOfSuspended(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob, carol := peer.AddActor("bob"), peer.AddActor("carol")
	st := alice.Publish("a post")
	secret := alice.Publish("for followers", "visibility", "private")
	read := func(actor, uri string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "GET", uri, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "application/activity+json")
		if err := peer.Signer(actor).Sign(req, nil, httpsig.Options{Scheme: httpsig.Cavage, Now: time.Now()}); err != nil {
			t.Fatal(err)
		}
		return srv.As(nil).DoRequest(req).Status
	}
	for _, actor := range []string{bob, carol} {
		peer.PostAndSettle(srv, peer.Activity("Like", actor, st.Str("uri")))
	}
	if n := alice.Favourites(st.ID()); n != 2 {
		t.Fatalf("%d favourites, want 2", n)
	}
	peer.Post(srv, peer.Activity("Announce", bob, st.Str("uri"), apptest.Doc{"to": []any{apptest.Public}})) // suspended before it is processed
	withhold := func(uri string) {
		t.Helper()
		err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
			a, err := tx.AccountByURI(t.Context(), uri)
			if err != nil {
				return err
			}
			return tx.SetUnavailable(t.Context(), a.ID, true)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	withhold(bob)
	another := alice.Publish("another")
	for _, d := range []apptest.Doc{peer.Activity("Like", bob, another.Str("uri")), peer.Activity("Announce", bob, another.Str("uri"), apptest.Doc{"to": []any{apptest.Public}})} {
		peer.PostAndSettle(srv, d)
	}
	for _, st := range []*apptest.Object{st, another} {
		got := alice.Get("/api/v1/statuses/" + st.ID()).Want(200).Object()
		if got.Int("reblogs_count") != 0 || got.Str("id") == another.ID() && got.Int("favourites_count") != 0 {
			t.Errorf("an activity of a suspended account was processed: %v", got.Fields)
		}
	}
	if got := read(bob, secret.Str("uri")); got != 401 && got != 404 {
		t.Errorf("the suspended reads: %d", got)
	}
	peer.PostAndSettle(srv, peer.Activity("Undo", bob, apptest.Doc{"type": "Like", "actor": bob, "object": st.Str("uri")}))
	if n := alice.Favourites(st.ID()); n != 1 {
		t.Errorf("%d favourites after the Undo of a suspended account, want 1", n)
	}
	peer.PostAndSettle(srv, peer.Activity("Delete", carol, carol))
	before := peer.AllFetches()
	for range 5 {
		peer.Deliver(srv, "/inbox", carol, peer.Activity("Like", carol, another.Str("uri")))
	}
	apptest.Settle(srv)
	if n := alice.Favourites(another.ID()); n != 0 {
		t.Errorf("%d favourites by a deleted account", n)
	}
	if got := read(carol, secret.Str("uri")); got != 401 && got != 404 {
		t.Errorf("the deleted reads: %d", got)
	}
	if n := peer.AllFetches() - before; n > 1 {
		t.Errorf("%d requests for the key of a deleted account", n)
	}
}

// TestInboxOfRejected checks that of rejected hosts only Delete is processed (case 35).
func TestInboxOfRejected(t *testing.T) {
	peer := apptest.StartFake(t)
	srv := apptest.StartPeers(t, 1)[0]
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	note := peer.Note(bob, "hi", apptest.Doc{"cc": []any{alice.URI()}, "tag": []any{apptest.Doc{"type": "Mention", "href": alice.URI()}}})
	peer.PostAndSettle(srv, peer.Create(note))
	uri := note["id"].(string)
	st, err := srv.DB.StatusByURI(t.Context(), uri)
	if err != nil || st == nil {
		t.Fatal(st, err)
	}
	other := apptest.StartFake(t)
	dora := other.AddActor("dora")
	other.PostAndSettle(srv, other.Activity("Like", dora, alice.Publish("a post").Str("uri")))
	srv.Exec(`UPDATE accounts SET domain = 'rejected.example' WHERE uri = ?`, dora) // her handle is of another host than her server
	rejecting := *srv.Settings
	rejecting.MRF.Policies = []string{"SimplePolicy"}
	rejecting.MRFSimple.Reject = []config.HostReason{{Host: peer.Host}, {Host: "rejected.example"}}
	*srv.Federation.Receiver.Policies = *policy.New(config.NewLive(&rejecting), policy.Deps{Log: slog.New(slog.DiscardHandler), Now: srv.DB.Now, Accounts: srv.DB})
	before := peer.AllFetches()
	other.Deliver(srv, "/inbox", dora, other.Activity("Like", dora, alice.Publish("another").Str("uri"))).Want(403)
	peer.Deliver(srv, "/inbox", bob, peer.Create(peer.Note(bob, "hi"))).Want(403)
	peer.Deliver(srv, "/inbox", peer.AddActor("eve"), peer.Activity("Like", peer.URL+"/users/eve", note["id"])).Want(403)
	if n := peer.AllFetches() - before; n != 0 {
		t.Errorf("%d requests to a host that is rejected", n)
	}
	peer.PostAndSettle(srv, peer.Activity("Delete", bob, uri))
	if st, err := srv.DB.StatusByURI(t.Context(), uri); err != nil || st != nil {
		t.Errorf("a post deleted by a rejected host is stored: %v %v", st, err)
	}
}

// TestInboxOrder checks that the activities of an actor are processed in order, and that other actors do not wait for them.
func TestInboxOrder(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob, carol := peer.AddActor("bob"), peer.AddActor("carol")
	srv.RunFederation()
	st := alice.Publish("a post")
	other := alice.Publish("another")
	alice.FollowRemote(bob)
	const flood = 400
	note := peer.Note(bob, "version 0", apptest.Doc{"published": apptest.FromNow(-time.Hour)})
	peer.Post(srv, peer.Create(note))
	for i := range flood {
		peer.Post(srv, peer.Activity("Update", bob, apptest.With(note, apptest.Doc{"content": fmt.Sprint("version ", i+1), "updated": apptest.FromNow(-time.Hour + time.Duration(i+1)*time.Second)})))
		if i%2 == 0 {
			peer.Post(srv, peer.Activity("Like", bob, st.Str("uri")))
		} else {
			peer.Post(srv, peer.Activity("Undo", bob, apptest.Doc{"type": "Like", "actor": bob, "object": st.Str("uri")}))
		}
	}
	peer.Post(srv, peer.Activity("Like", carol, other.Str("uri")))
	srv.WantEmptyInbox()
	if got := alice.WantPost(note["id"]); got.Str("content") != fmt.Sprint("version ", flood) {
		t.Errorf("the post is %q", got.Str("content"))
	}
	got := alice.Get("/api/v1/statuses/" + st.ID()).Want(200).Object()
	if n := got.Int("favourites_count"); n != 0 {
		t.Errorf("%d favourites, want 0", n)
	}
	if n := alice.Get("/api/v1/statuses/" + other.ID()).Want(200).Object().Int("favourites_count"); n != 1 {
		t.Errorf("carol's favourite is missing: %d", n)
	}
}

// TestInboxSynchronous checks that short work is done before the response and not queued. Work that needs other servers is queued, and
// so is work on the same object, and all work while no worker runs.
func TestInboxSynchronous(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	other := apptest.StartFake(t)
	alice := srv.SignUp("alice")
	bob, carol := peer.AddActor("bob"), other.AddActor("carol")
	alice.FollowRemote(bob)
	st := alice.Publish("a post")
	unknown := other.Note(carol, "unknown")
	other.Serve(unknown)
	before, answered := make(chan struct{}, 10), make(chan struct{})
	other.OnRequest(strings.TrimPrefix(unknown["id"].(string), other.URL), func(*http.Request) { before <- struct{}{}; <-answered })
	wantQueued := func(what string, want int) {
		t.Helper()
		if n := srv.Count(`SELECT count(*) FROM queued_activities`); n != want {
			t.Fatalf("after %s %d activities are queued, want %d", what, n, want)
		}
	}
	wantCounts := func(what string, favourites, reblogs int) {
		t.Helper()
		got := alice.Get("/api/v1/statuses/" + st.ID()).Want(200).Object()
		if f, r := got.Int("favourites_count"), got.Int("reblogs_count"); f != favourites || r != reblogs {
			t.Errorf("after %s there are %d favourites and %d boosts, want %d and %d", what, f, r, favourites, reblogs)
		}
	}
	boost := func(what any) apptest.Doc {
		return peer.Activity("Announce", bob, what, apptest.Doc{"to": []any{apptest.Public}})
	}

	peer.Post(srv, peer.Activity("Like", bob, st.Str("uri")))
	wantQueued("a favourite before the workers started", 1)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { srv.Federation.Run(ctx) })
	defer running.Wait()
	defer stop()
	srv.WantEmptyInbox()
	note := peer.Note(bob, "hello")
	peer.Post(srv, peer.Create(note))
	wantQueued("a post", 0)
	alice.WantPost(note["id"])

	peer.Post(srv, boost(unknown["id"]))
	wantQueued("a boost of an unknown post", 1)
	<-before
	peer.Post(srv, boost(unknown["id"]))
	wantQueued("another of the same", 2)
	like := other.Activity("Like", carol, st.Str("uri"))
	other.Post(srv, like)
	other.Post(srv, like)
	wantQueued("activities of another actor, twice", 2)
	wantCounts("that", 2, 0)
	close(answered)
	srv.WantEmptyInbox()
	alice.WantPost(unknown["id"])
	peer.Post(srv, boost(st.Str("uri")))
	wantQueued("a boost", 0)
	wantCounts("that", 2, 1)

	stop()
	running.Wait()
	other.Post(srv, other.Activity("Announce", carol, st.Str("uri"), apptest.Doc{"to": []any{apptest.Public}}))
	wantQueued("a boost after the workers stopped", 1)
	apptest.Settle(srv)
	wantCounts("that", 2, 2)
}

// TestInboxRetries checks that an activity that fails temporarily is retried without being recorded as seen, and that abandoned ones
// are listed.
func TestInboxRetries(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	other := apptest.StartFake(t)
	alice := srv.SignUp("alice")
	bob, carol := peer.AddActor("bob"), other.AddActor("carol")
	alice.FollowRemote(bob)
	note := other.Note(carol, "a post")
	id := note["id"].(string)
	other.Remove(id, 500)
	boost := peer.Activity("Announce", bob, id, apptest.Doc{"to": []any{apptest.Public}})
	peer.PostAndSettle(srv, boost)
	if seen, err := srv.DB.SeenActivity(t.Context(), boost["id"].(string)); seen || err != nil {
		t.Fatalf("a failed activity is recorded as seen: %v %v", seen, err)
	}
	state, err := srv.DB.QueuedActivityCounts(t.Context(), 10)
	if err != nil || state.Failed != 1 {
		t.Fatalf("got %+v %v, want one failed", state, err)
	}
	for range 7 { // the last of these parks it
		rows, err := srv.DB.QueuedActivityHeaders(t.Context(), 0, 10)
		if err != nil || len(rows) != 1 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		err = srv.DB.Update(t.Context(), func(tx *store.Tx) error {
			row, err := tx.QueuedActivity(t.Context(), rows[0].ID)
			if err != nil {
				return err
			}
			_, err = tx.RecordQueuedActivityFailure(t.Context(), row, fmt.Errorf("trouble"))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if state, err = srv.DB.QueuedActivityCounts(t.Context(), 10); err != nil || state.Parked != 1 || state.Queued != 0 {
		t.Fatalf("got %+v %v, want one abandoned", state, err)
	}
	other.Serve(note)
	srv.RunFederation()
	if done, err := srv.Federation.Operator.Explain(t.Context(), id); err != nil || len(done.Queued) != 1 || !done.Queued[0].Parked {
		t.Errorf("the abandoned activity is not explained: %+v %v", done, err)
	}
	if _, err := srv.Federation.Operator.Retry(t.Context(), federation.RetryQuery{All: true}); err != nil {
		t.Fatal(err)
	}
	srv.WantEmptyInbox()
	alice.WantPost(id)
}

// FuzzReceive sends anything to the inbox, signed and not, and never gets a 500.
func FuzzReceive(f *testing.F) {
	srv, peer := apptest.StartPeers(f, 1)[0], apptest.StartFake(f)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	st := alice.Publish("a post")
	note := peer.Note(bob, "hi")
	for _, d := range []apptest.Doc{
		peer.Activity("Like", bob, st.Str("uri")), peer.Create(note), peer.Activity("Delete", bob, bob), peer.Activity("Undo", bob, apptest.Doc{"type": "Follow"}),
		peer.Activity("Announce", bob, st.Str("uri")), peer.Activity("Flag", bob, []any{alice.URI()}), peer.Activity("Move", bob, bob, apptest.Doc{"target": alice.URI()}),
		peer.Activity("Update", bob, apptest.With(note, apptest.Doc{"proof": apptest.Doc{"type": "DataIntegrityProof", "proofValue": "z1"}})),
	} {
		f.Add(apptest.MustJSON(d), "application/activity+json", "", true)
	}
	f.Add([]byte(`{"type":"Like"}`), "application/json", `keyId="`+bob+`#main-key",headers="(request-target) host date digest",signature="AAAA"`, false)
	f.Add([]byte(`{"type":"Like","actor":"`+bob+`"}`), "x", `sig1=:AAAA:`, false)
	f.Fuzz(func(t *testing.T, body []byte, media, signature string, signed bool) {
		if strings.ContainsAny(media+signature, "\r\n\x00") {
			t.Skip()
		}
		req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL+"/inbox", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header["Content-Type"] = []string{media}
		if signed {
			if err := peer.Signer(bob).Sign(req, body, httpsig.Options{Scheme: httpsig.Cavage, Now: time.Now()}); err != nil {
				t.Skip()
			}
		} else {
			req.Header["Signature"] = []string{signature}
		}
		w := &recorder{header: make(http.Header)}
		srv.HTTP.ServeHTTP(w, incomingRequest(req, body))
		if w.status >= 500 && w.status != 503 {
			t.Errorf("answered %d %s to %q", w.status, w.body.Bytes(), body)
		}
		for range 3 {
			if err := srv.Federation.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := srv.DB.FailedQueuedActivities(t.Context(), "", 10)
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

// recorder records a response.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header  { return r.header }
func (r *recorder) WriteHeader(code int) { r.status = code }
func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = 200
	}
	return r.body.Write(b)
}
func (r *recorder) SetReadDeadline(time.Time) error  { return nil }
func (r *recorder) SetWriteDeadline(time.Time) error { return nil }

// incomingRequest converts an outgoing request into one as a server receives it.
func incomingRequest(req *http.Request, body []byte) *http.Request {
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

package federation_test

import (
	"encoding/json"
	"strings"
	"svc/app/apptest"
	"testing"
)

// TestQuoteRequest checks that a QuoteRequest for a public post is accepted with an authorization; others are rejected or ignored (case
// 110).
func TestQuoteRequest(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob, carol := peer.AddActor("bob"), peer.AddActor("carol")
	public, unlisted := alice.Publish("a"), alice.Publish("b", "visibility", "unlisted")
	private, direct, local := alice.Publish("c", "visibility", "private"), alice.Publish("d", "visibility", "direct"), alice.Publish("e", "visibility", "local")
	ask := func(actor string, st *apptest.Object, changes ...apptest.Doc) apptest.Doc {
		t.Helper()
		peer.ClearDelivered()
		note := peer.Note(actor, "look")
		d := peer.Activity("QuoteRequest", actor, st.Str("uri"), append([]apptest.Doc{{"instrument": note}}, changes...)...)
		peer.PostAndSettle(srv, d)
		return d
	}
	fetch := func(address string) *apptest.Response {
		t.Helper()
		if !strings.HasPrefix(address, srv.URL+"/") {
			t.Fatalf("%q is not of this server", address)
		}
		return srv.As(nil).Get(address)
	}

	request := ask(bob, public)
	accept := peer.OneDelivered("Accept")
	quote := request["instrument"].(apptest.Doc)["id"]
	apptest.WantField(t, accept, alice.URI(), "actor")
	apptest.WantField(t, accept, request["id"], "object", "id")
	apptest.WantField(t, accept, "QuoteRequest", "object", "type")
	apptest.WantField(t, accept, bob, "object", "actor")
	apptest.WantField(t, accept, public.Str("uri"), "object", "object")
	apptest.WantField(t, accept, quote, "object", "instrument")
	result, _ := accept["result"].(string)
	answer := fetch(result).Want(200)
	if got := answer.Header.Get("Content-Type"); !strings.HasPrefix(got, "application/activity+json") {
		t.Errorf("the authorization is served as %s", got)
	}
	var written apptest.Doc
	if err := json.Unmarshal(answer.Body, &written); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"id": result, "type": "QuoteAuthorization", "attributedTo": alice.URI(), "interactingObject": quote, "interactionTarget": public.Str("uri"),
	} {
		apptest.WantField(t, written, want, key)
	}
	apptest.WantList(t, "notifications of alice", alice.NotificationTypes())

	// A repeated request gets the same authorization. Another account's request for the same quote is rejected.
	again := ask(bob, public, apptest.Doc{"instrument": quote})
	apptest.WantField(t, peer.OneDelivered("Accept"), result, "result")
	apptest.WantField(t, peer.OneDelivered("Accept"), again["id"], "object", "id")
	ask(carol, public, apptest.Doc{"instrument": quote})
	peer.OneDelivered("Reject")
	ask(bob, unlisted)
	peer.OneDelivered("Accept")

	for name, st := range map[string]*apptest.Object{"private": private, "direct": direct, "local": local} {
		if ask(bob, st); len(peer.Delivered()) > 0 {
			t.Errorf("to quote a %s post: %v, want no answer, as for an unknown post", name, peer.Delivered())
		}
	}
	if ask(bob, public, apptest.Doc{"instrument": "https://other.example/1"}); len(peer.Delivered()) > 0 {
		t.Errorf("a quote on another server: %v", peer.Delivered())
	}
	if ask(bob, public, apptest.Doc{"instrument": nil}); len(peer.Delivered()) > 0 {
		t.Errorf("no quote: %v", peer.Delivered())
	}
	peer.PostAndSettle(srv, peer.Activity("Follow", bob, alice.URI()))
	refused := ask(bob, private)
	reject := peer.OneDelivered("Reject")
	apptest.WantField(t, reject, refused["id"], "object", "id")
	if reject["result"] != nil {
		t.Errorf("a Reject has a result: %v", reject)
	}

	// A block revokes authorizations, and so does the post's deletion.
	other := alice.Publish("other")
	ask(carol, other)
	carols := peer.OneDelivered("Accept")["result"].(string)
	peer.ClearDelivered()
	alice.AccountAction(srv.KnownID(bob), "block")
	apptest.Settle(srv)
	fetch(result).Want(404)
	revoked := false
	for _, d := range peer.Delivered("Delete") {
		o, _ := d["object"].(apptest.Doc)
		revoked = revoked || o["id"] == result
	}
	if !revoked {
		t.Errorf("bob receives no Delete: %v", peer.Delivered())
	}
	if ask(bob, public); len(peer.Delivered("Accept")) > 0 {
		t.Errorf("a blocked account may quote: %v", peer.Delivered())
	}
	fetch(carols).Want(200)
	alice.Do("DELETE", "/api/v1/statuses/"+other.ID(), "", nil).Want(200)
	fetch(carols).Want(404)
	fetch(srv.URL + "/quote_authorizations/nonsense").Want(404)
}

// TestQuoteRevoked checks that only the quoted author revokes an authorization, at any time, and that an edit does not change what a
// post quotes (case 110).
func TestQuoteRevoked(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	other := apptest.StartFake(t)
	alice := srv.SignUp("alice")
	bob, eve, carol := peer.AddActor("bob"), other.AddActor("eve"), other.AddActor("carol")
	for _, actor := range []string{bob, eve, carol} {
		alice.FollowRemote(actor)
	}
	revoke := func(by string, uri any) { other.PostAndSettle(srv, other.Activity("Delete", by, uri)) }
	type stage struct {
		quoted, quote, plain apptest.Doc // posts: the quoted one, the quote with its authorization, and without
		leave                string
	}
	for _, tt := range []struct {
		name string
		do   func(s stage)
		want bool // it quotes
	}{
		{"allowed", func(s stage) {
			other.PostAndSettle(srv, other.Create(s.quoted))
			peer.PostAndSettle(srv, peer.Create(s.quote))
		}, true},
		{"revoked by another account", func(s stage) {
			other.PostAndSettle(srv, other.Create(s.quoted))
			peer.PostAndSettle(srv, peer.Create(s.quote))
			revoke(carol, s.leave)
		}, true},
		{"revoked", func(s stage) {
			other.PostAndSettle(srv, other.Create(s.quoted))
			peer.PostAndSettle(srv, peer.Create(s.quote))
			revoke(eve, apptest.Doc{"id": s.leave, "type": "QuoteAuthorization"})
		}, false},
		{"revoked, then named by an edit without changes", func(s stage) {
			other.PostAndSettle(srv, other.Create(s.quoted))
			peer.PostAndSettle(srv, peer.Create(s.plain))
			peer.PostAndSettle(srv, peer.Activity("Update", bob, s.quote))
			revoke(eve, s.leave)
		}, false},
		{"revoked before that edit", func(s stage) {
			other.PostAndSettle(srv, other.Create(s.quoted))
			peer.PostAndSettle(srv, peer.Create(s.plain))
			revoke(eve, s.leave)
			peer.PostAndSettle(srv, peer.Activity("Update", bob, s.quote))
		}, false},
		{"revoked before the quote", func(s stage) {
			other.PostAndSettle(srv, other.Create(s.quoted))
			revoke(eve, s.leave)
			peer.PostAndSettle(srv, peer.Create(s.quote))
		}, false},
		{"revoked before the quoted post is stored", func(s stage) {
			peer.PostAndSettle(srv, peer.Create(s.quote))
			revoke(eve, s.leave)
			other.PostAndSettle(srv, other.Create(s.quoted))
		}, false},
		{"with an authorization of another host", func(s stage) {
			other.PostAndSettle(srv, other.Create(s.quoted))
			peer.PostAndSettle(srv, peer.Create(apptest.With(s.quote, apptest.Doc{"quoteAuthorization": "https://other.example/1"})))
			revoke(eve, s.leave)
		}, true},
		{"edited to quote another", func(s stage) {
			other.PostAndSettle(srv, other.Create(s.quoted))
			second := other.Note(carol, "not me")
			other.PostAndSettle(srv, other.Create(second))
			peer.PostAndSettle(srv, peer.Create(s.quote))
			peer.PostAndSettle(srv, peer.Activity("Update", bob, apptest.With(s.quote, apptest.Doc{"quote": second["id"], "content": "<p>another</p>", "updated": apptest.FromNow(0)})))
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := stage{quoted: other.Note(eve, "quote me"), leave: other.NewID("leaves")}
			s.plain = peer.Note(bob, "<p>look</p>", apptest.Doc{"quote": s.quoted["id"], "published": apptest.FromNow(-1000)})
			s.quote = apptest.With(s.plain, apptest.Doc{"quoteAuthorization": s.leave})
			tt.do(s)
			quote, quoted := alice.WantPost(s.quote["id"]), alice.WantPost(s.quoted["id"])
			if got := quote.At("svc.quote_id") == quoted.ID(); got != tt.want || quoted.Int("svc.quotes_count") != map[bool]int{true: 1}[tt.want] {
				t.Errorf("it quotes %v, and %d quotes are counted", quote.At("svc.quote_id"), quoted.Int("svc.quotes_count"))
			}
		})
	}
}

// TestRemoteQuoteNotification checks that a remote quote notifies the author of a local status, once, if it is a quote and visible, and
// that the edit of a remote status notifies local accounts that quoted it.
func TestRemoteQuoteNotification(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	mine := alice.Publish("mine").Str("uri")
	unquotable := alice.Publish("not for quotes", "quote_approval_policy", "nobody").Str("uri")
	toFollowers := apptest.Doc{"to": []any{bob + "/followers"}, "cc": []any{}}
	for _, tt := range []struct {
		name string
		note apptest.Doc
		want bool
	}{
		{"of a public status", peer.Note(bob, "look", apptest.Doc{"quote": mine}), true},
		{"by another name", peer.Note(bob, "look", apptest.Doc{"quoteUrl": mine}), true},
		{"of a status that nobody may quote", peer.Note(bob, "look", apptest.Doc{"quote": unquotable}), false},
		{"for followers", peer.Note(bob, "look", toFollowers, apptest.Doc{"quote": mine}), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			create := peer.Create(tt.note)
			peer.PostAndSettle(srv, peer.Activity("QuoteRequest", bob, tt.note["quote"], apptest.Doc{"instrument": tt.note}))
			peer.PostAndSettle(srv, create)
			peer.PostAndSettle(srv, create)
			want := []string{}
			if tt.want {
				want = append(want, "quote")
			}
			apptest.WantList(t, "notifications of alice", alice.NotificationTypes(), want...)
			peer.PostAndSettle(srv, peer.Activity("Delete", bob, tt.note["id"]))
			apptest.WantList(t, "notifications after the deletion", alice.NotificationTypes())
		})
	}

	alice.FollowRemote(bob)
	theirs := peer.Note(bob, "one", apptest.Doc{"published": apptest.FromNow(-1000)})
	peer.PostAndSettle(srv, peer.Create(theirs))
	quote := alice.Publish("look", "quote_id", alice.WantPost(theirs["id"]).ID())
	peer.PostAndSettle(srv, peer.Activity("Update", bob, apptest.With(theirs, apptest.Doc{"content": "<p>two</p>", "updated": apptest.FromNow(0)})))
	apptest.WantList(t, "notifications of the quoter", alice.NotificationTypes(), "quoted_update")
	if got := alice.Get("/api/v1/notifications").List()[0].Str("status.id"); got != quote.ID() {
		t.Errorf("the notification is about %s, want the quote", got)
	}
}

// TestQuotePolicyForRemote checks that a local status says who may quote it, that requests are answered accordingly, and that a quote
// without consent is not shown as one.
func TestQuotePolicyForRemote(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob, carol := peer.AddActor("bob"), peer.AddActor("carol")
	for _, actor := range []string{bob, carol} {
		alice.FollowRemote(actor)
	}
	peer.PostAndSettle(srv, peer.Activity("Follow", bob, alice.URI()))
	for _, tt := range []struct {
		policy, approval string
		bob, carol       bool // may quote
	}{
		{"public", "https://www.w3.org/ns/activitystreams#Public", true, true},
		{"followers", alice.URI() + "/followers", true, false},
		{"nobody", alice.URI(), false, false},
	} {
		t.Run(tt.policy, func(t *testing.T) {
			st := alice.Publish("quote me", "quote_approval_policy", tt.policy)
			document := srv.GetDocument(st.Str("uri")).Want(200).Object()
			if got, _ := document.At("interactionPolicy.canQuote.automaticApproval").([]any); len(got) != 1 || got[0] != tt.approval {
				t.Errorf("automaticApproval is %v, want %s", got, tt.approval)
			}
			for actor, may := range map[string]bool{bob: tt.bob, carol: tt.carol} {
				answer, want := map[bool]string{true: "Accept", false: "Reject"}[may], any(nil)
				if may {
					want = st.ID()
				}
				// Without a request, as of servers without consent.
				plain := peer.Note(actor, "look", apptest.Doc{"quoteUrl": st.Str("uri")})
				peer.PostAndSettle(srv, peer.Create(plain))
				if got := alice.WantPost(plain["id"]).At("svc.quote_id"); got != want {
					t.Errorf("a quote without a request quotes %v, want %v", got, want)
				}
				peer.ClearDelivered()
				peer.PostAndSettle(srv, peer.Activity("QuoteRequest", actor, st.Str("uri"), apptest.Doc{"instrument": peer.Note(actor, "look")}))
				peer.OneDelivered(answer)
			}
		})
	}
	// Consent outlives the policy.
	st := alice.Publish("quote me")
	note := peer.Note(carol, "look", apptest.Doc{"quote": st.Str("uri")})
	peer.PostAndSettle(srv, peer.Activity("QuoteRequest", carol, st.Str("uri"), apptest.Doc{"instrument": note["id"]}))
	alice.SendJSON("PUT", "/api/v1/statuses/"+st.ID()+"/interaction_policy", map[string]any{"quote_approval_policy": "nobody"}).Want(200)
	peer.PostAndSettle(srv, peer.Create(note))
	if got := alice.WantPost(note["id"]).At("svc.quote_id"); got != st.ID() {
		t.Errorf("a quote with consent quotes %v", got)
	}
}

// TestRevokeRemoteQuote revokes the quote of a remote status: its server receives a Reject, and cannot get consent again.
func TestRevokeRemoteQuote(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	st := alice.Publish("quote me")
	note := peer.Note(bob, "<p>look</p>", apptest.Doc{"quote": st.Str("uri")})
	ask := func() {
		peer.ClearDelivered()
		peer.PostAndSettle(srv, peer.Activity("QuoteRequest", bob, st.Str("uri"), apptest.Doc{"instrument": note["id"]}))
	}
	ask()
	authorization, _ := peer.OneDelivered("Accept")["result"].(string)
	peer.PostAndSettle(srv, peer.Create(apptest.With(note, apptest.Doc{"quoteAuthorization": authorization})))
	quote := alice.WantPost(note["id"])
	if got := quote.Str("quote.state"); got != "accepted" {
		t.Errorf("before, the quote is %s", got)
	}
	peer.ClearDelivered()
	revoked := alice.Post("/api/v1/statuses/" + st.ID() + "/quotes/" + quote.ID() + "/revoke").Want(200).Object()
	if got := revoked.Str("quote.state"); got != "revoked" {
		t.Errorf("after, the quote is %s", got)
	}
	apptest.Settle(srv)
	apptest.WantField(t, peer.OneDelivered("Delete"), authorization, "object", "id")
	srv.As(nil).Get(authorization).Want(404)
	ask()
	peer.OneDelivered("Reject")
	peer.PostAndSettle(srv, peer.Activity("Update", bob, apptest.With(note, apptest.Doc{"content": "<p>look again</p>", "updated": apptest.FromNow(0)})))
	if got := alice.WantPost(note["id"]).Str("quote.state"); got != "revoked" {
		t.Errorf("after an edit the quote is %s", got)
	}
}

// TestRequestQuote quotes a remote status: its author is asked, and the answer decides.
func TestRequestQuote(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	other := apptest.StartFake(t)
	alice := srv.SignUp("alice")
	bob, eve := peer.AddActor("bob"), other.AddActor("eve")
	for _, actor := range []string{bob, eve} {
		alice.FollowRemote(actor)
	}
	peer.PostAndSettle(srv, peer.Activity("Follow", bob, alice.URI())) // so that Updates are sent
	authorization := peer.NewID("authorizations")
	answer := func(from *apptest.FakeServer, kind, actor string, request apptest.Doc, changes apptest.Doc) {
		from.PostAndSettle(srv, from.Activity(kind, actor, map[string]any{
			"id": request["id"], "type": "QuoteRequest", "actor": request["actor"], "object": request["object"], "instrument": request["instrument"].(map[string]any)["id"],
		}, changes))
	}
	for _, tt := range []struct {
		name  string
		do    func(request apptest.Doc)
		state string
		sent  any // the authorization in the document
	}{
		{"no answer", func(apptest.Doc) {}, "accepted", nil},
		{"accepted", func(request apptest.Doc) { answer(peer, "Accept", bob, request, apptest.Doc{"result": authorization}) }, "accepted", authorization},
		{"accepted by id", func(request apptest.Doc) {
			peer.PostAndSettle(srv, peer.Activity("Accept", bob, request["id"], apptest.Doc{"result": authorization}))
		}, "accepted", authorization},
		{"accepted with another id", func(request apptest.Doc) {
			answer(peer, "Accept", bob, apptest.With(request, apptest.Doc{"id": peer.NewID("requests")}), apptest.Doc{"result": authorization})
		}, "accepted", authorization},
		{"accepted by another", func(request apptest.Doc) {
			answer(other, "Accept", eve, request, apptest.Doc{"result": other.NewID("authorizations")})
		}, "accepted", nil},
		{"accepted by an authorization on another host", func(request apptest.Doc) {
			answer(peer, "Accept", bob, request, apptest.Doc{"result": other.NewID("authorizations")})
		}, "accepted", nil},
		{"rejected by another", func(request apptest.Doc) { answer(other, "Reject", eve, request, nil) }, "accepted", nil},
		{"rejected", func(request apptest.Doc) { answer(peer, "Reject", bob, request, nil) }, "rejected", nil},
		{"accepted, then revoked", func(request apptest.Doc) {
			by := peer.NewID("authorizations")
			answer(peer, "Accept", bob, request, apptest.Doc{"result": by})
			peer.PostAndSettle(srv, peer.Activity("Delete", bob, by))
		}, "revoked", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			note := peer.Note(bob, "quote me")
			peer.PostAndSettle(srv, peer.Create(note))
			peer.ClearDelivered()
			quoted := alice.WantPost(note["id"])
			quote := alice.Publish("look", "quoted_status_id", quoted.ID())
			apptest.Settle(srv)
			request := peer.OneDelivered("QuoteRequest")
			apptest.WantField(t, request, alice.URI(), "actor")
			apptest.WantField(t, request, note["id"], "object")
			apptest.WantField(t, request, quote.Str("uri"), "instrument", "id")
			apptest.WantField(t, request, note["id"], "instrument", "quote")
			peer.ClearDelivered()
			tt.do(request)
			apptest.Settle(srv)
			now := alice.Get("/api/v1/statuses/" + quote.ID()).Want(200).Object()
			if now.Str("quote.state") != tt.state || strings.Contains(now.Str("content"), "RE:") != (tt.state == "accepted") {
				t.Errorf("the quote is %s, with content %s", now.Str("quote.state"), now.Str("content"))
			}
			document := srv.GetDocument(quote.Str("uri")).Want(200).Document()
			if document["quoteAuthorization"] != tt.sent {
				t.Errorf("the document has the authorization %v, want %v", document["quoteAuthorization"], tt.sent)
			}
			if updates := len(peer.Delivered("Update")); (updates > 0) != (tt.sent != nil || tt.state != "accepted") {
				t.Errorf("%d Updates", updates)
			}
		})
	}
	private := peer.Note(bob, "quote me")
	peer.PostAndSettle(srv, peer.Create(private))
	peer.ClearDelivered()
	alice.Publish("look here", "quoted_status_id", alice.WantPost(private["id"]).ID(), "visibility", "local")
	apptest.Settle(srv)
	if len(peer.Delivered()) > 0 {
		t.Errorf("a local quote causes %v", peer.Delivered())
	}
}

// TestLocalQuoteAuthorization quotes a local status: other servers find the authorization in the document, until it is revoked.
func TestLocalQuoteAuthorization(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	carol := peer.AddActor("carol")
	peer.PostAndSettle(srv, peer.Activity("Follow", carol, bob.URI()))
	st := alice.Publish("quote me")
	peer.ClearDelivered()
	quote := bob.Publish("look", "quoted_status_id", st.ID())
	apptest.Settle(srv)
	object := func(kind string) apptest.Doc {
		t.Helper()
		o, _ := peer.OneDelivered(kind)["object"].(apptest.Doc)
		return o
	}
	by, _ := object("Create")["quoteAuthorization"].(string)
	authorization := srv.GetDocument(by).Want(200).Document()
	apptest.WantField(t, authorization, quote.Str("uri"), "interactingObject")
	apptest.WantField(t, authorization, st.Str("uri"), "interactionTarget")
	apptest.WantField(t, authorization, alice.URI(), "attributedTo")
	peer.ClearDelivered()
	alice.Post("/api/v1/statuses/" + st.ID() + "/quotes/" + quote.ID() + "/revoke").Want(200)
	apptest.Settle(srv)
	srv.GetDocument(by).Want(404)
	if o := object("Update"); o["quote"] != nil || o["quoteAuthorization"] != nil {
		t.Errorf("the Update still quotes %v by %v", o["quote"], o["quoteAuthorization"])
	}
	own := bob.Publish("mine too", "quoted_status_id", bob.Publish("mine").ID())
	if o := srv.GetDocument(own.Str("uri")).Want(200).Document(); o["quoteAuthorization"] != nil || o["quote"] == nil {
		t.Errorf("a quote of one's own has %v", o["quoteAuthorization"])
	}
}

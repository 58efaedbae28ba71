package federation_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/httpsig"
	"svc/store"
)

// publishWithPolicy posts a status in which all interactions have one rule.
func publishWithPolicy(m *apptest.User, automatic, manual []string) *apptest.Object {
	m.Server.T.Helper()
	r := map[string]any{"automatic_approval": automatic, "manual_approval": manual}
	return m.SendJSON("POST", "/api/v1/statuses", map[string]any{
		"status": "ask me", "interaction_policy": map[string]any{"can_favourite": r, "can_reply": r, "can_reblog": r},
	}).Want(200).Object()
}

// TestPublishedPolicy checks the policy in documents of local posts.
func TestPublishedPolicy(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	srv.FetchActor(bob)
	self := alice.URI()
	for _, tt := range []struct {
		automatic, manual []string
		rule              string
		want              []any
		wantManual        any
	}{
		{[]string{"public"}, nil, "canLike", []any{apptest.Public}, nil},
		{nil, nil, "canReply", []any{self}, nil},
		{[]string{"followers", "following"}, []string{"public"}, "canAnnounce", []any{self, self + "/followers", self + "/following"}, []any{apptest.Public}},
	} {
		doc := srv.GetDocument(publishWithPolicy(alice, tt.automatic, tt.manual).Str("uri")).Want(200).Document()
		rule := doc["interactionPolicy"].(apptest.Doc)[tt.rule].(apptest.Doc)
		if fmt.Sprint(rule["automaticApproval"]) != fmt.Sprint(tt.want) || fmt.Sprint(rule["manualApproval"]) != fmt.Sprint(tt.wantManual) {
			t.Errorf("%v, %v: %s is %v", tt.automatic, tt.manual, tt.rule, rule)
		}
	}
	mentioning := alice.SendJSON("POST", "/api/v1/statuses", map[string]any{
		"status": "hey @bob@" + peer.Host, "interaction_policy": map[string]any{"can_reply": map[string]any{"automatic_approval": []string{"author"}}},
	}).Want(200).Object()
	doc := srv.GetDocument(mentioning.Str("uri")).Want(200).Document()
	rule := doc["interactionPolicy"].(apptest.Doc)["canReply"].(apptest.Doc)
	if got := fmt.Sprint(rule["automaticApproval"]); got != fmt.Sprint([]any{self, bob}) {
		t.Errorf("with a mention, automaticApproval is %s", got)
	}
}

// remoteInteractions are a favourite, a boost and a reply of an actor to a local post.
func remoteInteractions(peer *apptest.FakeServer, actor, uri, author string) (like, announce, reply apptest.Doc) {
	like = peer.Activity("Like", actor, uri)
	announce = peer.Activity("Announce", actor, uri, apptest.Doc{"to": []any{apptest.Public}, "cc": []any{author}})
	reply = peer.Note(actor, "an answer", apptest.Doc{"inReplyTo": uri, "cc": []any{author}})
	return like, announce, reply
}

// TestForbiddenInteractions checks that what a local post forbids is not stored, and that a Reject names it.
func TestForbiddenInteractions(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	st := publishWithPolicy(alice, []string{"author"}, nil)
	uri := st.Str("uri")
	like, announce, reply := remoteInteractions(peer, bob, uri, alice.URI())
	for _, tt := range []struct {
		in     apptest.Doc
		object string
	}{
		{like, like["id"].(string)}, {announce, announce["id"].(string)}, {peer.Create(reply), reply["id"].(string)},
	} {
		peer.ClearDelivered()
		peer.PostAndSettle(srv, tt.in)
		reject := peer.OneDelivered("Reject")
		apptest.WantField(t, reject, tt.object, "object")
		apptest.WantField(t, reject, alice.URI(), "actor")
	}
	// A polite request is answered with the request.
	peer.ClearDelivered()
	asked := peer.Activity("LikeRequest", bob, uri, apptest.Doc{"instrument": peer.Activity("Like", bob, uri)})
	peer.PostAndSettle(srv, asked)
	apptest.WantField(t, peer.OneDelivered("Reject"), asked["id"], "object", "id")
	apptest.WantField(t, peer.OneDelivered("Reject"), "LikeRequest", "object", "type")
	o := alice.Get("/api/v1/statuses/" + st.ID()).Want(200).Object()
	if o.Int("favourites_count")+o.Int("reblogs_count")+o.Int("replies_count") != 0 {
		t.Errorf("something is counted: %v", o)
	}
	apptest.WantList(t, "alice is notified of", alice.NotificationTypes())
}

// TestRemoteInteractionRequests checks that interactions of remote accounts wait for the approval of the local author; then they get an
// Accept with an authorization, which can be fetched until it is revoked.
func TestRemoteInteractionRequests(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	const path = "/api/v1/interaction_requests"
	for _, polite := range []bool{false, true} {
		st := publishWithPolicy(alice, nil, []string{"public"})
		uri := st.Str("uri")
		like, announce, reply := remoteInteractions(peer, bob, uri, alice.URI())
		request := map[string]apptest.Doc{}
		for kind, in := range map[string]apptest.Doc{"Like": like, "Announce": announce, "Reply": reply} {
			sent := in
			switch {
			case polite:
				sent = peer.Activity(kind+"Request", bob, uri, apptest.Doc{"instrument": in, "to": []any{alice.URI()}})
				request[kind] = sent
			case kind == "Reply":
				sent = peer.Create(in)
			}
			peer.PostAndSettle(srv, sent)
		}
		o := alice.Get("/api/v1/statuses/" + st.ID()).Want(200).Object()
		if o.Int("favourites_count")+o.Int("reblogs_count")+o.Int("replies_count") > 1 { // a boost that waits is counted
			t.Errorf("polite %v: %d favourites, %d boosts, %d replies", polite, o.Int("favourites_count"), o.Int("reblogs_count"), o.Int("replies_count"))
		}
		if got := peer.Delivered("Accept", "Reject"); len(got) > 0 {
			t.Errorf("polite %v: before the approval: %v", polite, got)
		}
		types := alice.NotificationTypes()
		slices.Sort(types)
		apptest.WantList(t, "alice is notified of", types, "pending.favourite", "pending.reblog", "pending.reply")
		waiting := alice.Get(path).Want(200).List()
		if len(waiting) != 3 {
			t.Fatalf("polite %v: %d requests", polite, len(waiting))
		}
		interactions := map[string]apptest.Doc{"favourite": like, "reblog": announce, "reply": reply}
		kinds := map[string]string{"favourite": "Like", "reblog": "Announce", "reply": "Reply"}
		for _, q := range waiting {
			kind, id := q.Str("type"), interactions[q.Str("type")]["id"]
			srv.GetDocument("/authorizations/" + q.ID()).Want(404)
			peer.ClearDelivered()
			by := alice.Post(path + "/" + q.ID() + "/authorize").Want(200).Object().Str("uri")
			apptest.Settle(srv)
			accept := peer.OneDelivered("Accept")
			apptest.WantField(t, accept, by, "result")
			if polite {
				apptest.WantField(t, accept, request[kinds[kind]]["id"], "object", "id")
				apptest.WantField(t, accept, id, "object", "instrument")
			} else {
				apptest.WantField(t, accept, id, "object")
			}
			doc := srv.GetDocument(by).Want(200).Document()
			for key, want := range map[string]any{
				"id": by, "type": kinds[kind] + "Authorization", "attributedTo": alice.URI(), "interactingObject": id, "interactionTarget": uri,
			} {
				apptest.WantField(t, doc, want, key)
			}
		}
		o = alice.Get("/api/v1/statuses/" + st.ID()).Want(200).Object()
		if o.Int("favourites_count") != 1 || o.Int("reblogs_count") != 1 || o.Int("replies_count") != 1 {
			t.Errorf("polite %v: after the approval %d favourites, %d boosts, %d replies", polite, o.Int("favourites_count"), o.Int("reblogs_count"), o.Int("replies_count"))
		}
		if thread := alice.Get("/api/v1/statuses/" + st.ID() + "/context").Want(200).Object(); len(apptest.ListField(thread, "descendants", "id")) != 1 {
			t.Errorf("polite %v: the thread has %v", polite, thread.At("descendants"))
		}
		// A repeated request gets the same answer.
		if polite {
			peer.ClearDelivered()
			again := peer.Activity("LikeRequest", bob, uri, apptest.Doc{"instrument": like})
			peer.PostAndSettle(srv, again)
			apptest.WantField(t, peer.OneDelivered("Accept"), again["id"], "object", "id")
		}
		// The author revokes all of them.
		for _, q := range waiting {
			peer.ClearDelivered()
			alice.Post(path + "/" + q.ID() + "/reject").Want(200)
			apptest.Settle(srv)
			apptest.WantField(t, peer.OneDelivered("Delete"), srv.URL+"/authorizations/"+q.ID(), "object", "id")
			srv.GetDocument("/authorizations/" + q.ID()).Want(404)
		}
		o = alice.Get("/api/v1/statuses/" + st.ID()).Want(200).Object()
		if o.Int("favourites_count")+o.Int("reblogs_count")+o.Int("replies_count") != 0 {
			t.Errorf("polite %v: after the revocation: %v", polite, o)
		}
		srv.Exec(`DELETE FROM notifications`)
		peer.ClearDelivered()
	}
}

// TestRequestsByID checks requests that only name the interaction: it is fetched, signed by the author of the post, and must be what the request
// says. A boost that is not served is for followers.
func TestRequestsByID(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob, eve := peer.AddActor("bob"), peer.AddActor("eve")
	other := apptest.StartFake(t)
	mallory := other.AddActor("mallory")
	another := alice.Publish("another").Str("uri")
	served := func(d apptest.Doc) any { // its id
		peer.Serve(d)
		return d["id"]
	}
	reply := func(p *apptest.FakeServer, by, uri string) apptest.Doc {
		_, _, d := remoteInteractions(p, by, uri, alice.URI())
		return d
	}
	boost := func(uri string, changes ...apptest.Doc) apptest.Doc {
		return peer.Activity("Announce", bob, uri, append([]apptest.Doc{{"to": []any{apptest.Public}, "cc": []any{alice.URI()}}}, changes...)...)
	}
	for _, tt := range []struct {
		name, kind string
		instrument func(uri string) any
		refused    string // part of the reason
		visibility store.Visibility
	}{
		{"a favourite", "Like", func(uri string) any { return peer.Activity("Like", bob, uri)["id"] }, "", 0},
		{"a reply", "Reply", func(uri string) any { return served(reply(peer, bob, uri)) }, "", 0},
		{"a reply in an object", "Reply", func(uri string) any { return apptest.Doc{"id": served(reply(peer, bob, uri))} }, "", 0},
		{"a boost", "Announce", func(uri string) any { return served(boost(uri)) }, "", store.Public},
		{"a boost for followers", "Announce", func(uri string) any { return served(boost(uri, apptest.Doc{"to": []any{bob + "/followers"}})) }, "", store.Private},
		{"a boost that is not served", "Announce", func(uri string) any { return boost(uri)["id"] }, "", store.Private},
		{"a reply to another post", "Reply", func(string) any { return served(reply(peer, bob, another)) }, "does not have a reply", 0},
		{"a reply that is a boost", "Reply", func(uri string) any { return served(boost(uri)) }, "does not have a reply", 0},
		{"a reply of another account", "Reply", func(uri string) any { return served(reply(peer, eve, uri)) }, "another actor", 0},
		{"a reply on another host", "Reply", func(uri string) any {
			d := reply(other, mallory, uri)
			other.Serve(d)
			return d["id"]
		}, "another host", 0},
		{"a reply that is not served", "Reply", func(string) any { return peer.URL + "/missing" }, "404", 0},
		{"a boost of another post", "Announce", func(string) any { return served(boost(another)) }, "does not have a boost", 0},
		{"nothing", "Reply", func(string) any { return nil }, "another host", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := publishWithPolicy(alice, []string{"public"}, nil)
			instrument := tt.instrument(st.Str("uri"))
			var signers []string
			peer.OnRequest("/", func(r *http.Request) { signers = append(signers, httpsig.ClaimedKeyID(r)) })
			peer.ClearDelivered()
			in := peer.Activity(tt.kind+"Request", bob, st.Str("uri"), apptest.Doc{"instrument": instrument, "to": []any{alice.URI()}})
			peer.PostAndSettle(srv, in)
			if got := srv.Refusals(in["id"]); (got != "") != (tt.refused != "") || !strings.Contains(got, tt.refused) {
				t.Fatalf("refused: %q, want %q", got, tt.refused)
			}
			o := alice.Get("/api/v1/statuses/" + st.ID()).Want(200).Object()
			counts := map[string]int{"Like": o.Int("favourites_count"), "Reply": o.Int("replies_count"), "Announce": o.Int("reblogs_count")}
			if n := counts[tt.kind]; (n == 1) != (tt.refused == "") {
				t.Errorf("%d are counted", n)
			}
			if tt.refused != "" {
				return
			}
			apptest.WantField(t, peer.OneDelivered("Accept"), in["id"], "object", "id")
			if tt.kind == "Reply" && !slices.ContainsFunc(signers, func(key string) bool { return strings.HasPrefix(key, alice.URI()) }) {
				t.Errorf("the author of the post signs no fetch, but %q", signers)
			}
			if tt.kind == "Announce" {
				if got := srv.Count(`SELECT visibility FROM statuses WHERE reblog_of_id = ?`, int64(apptest.StatusID(st.ID()))); store.Visibility(got) != tt.visibility {
					t.Errorf("the boost is %s, want %s", store.Visibility(got), tt.visibility)
				}
			}
		})
	}
}

// TestApprovedByRule checks that what a rule about followers allows gets an authorization at once, because other servers cannot check it, and
// that an Undo ends a request.
func TestApprovedByRule(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	fan := peer.AddFollower(srv, "fan", alice)
	eve := peer.AddActor("eve")
	st := publishWithPolicy(alice, []string{"followers"}, []string{"public"})
	uri := st.Str("uri")
	peer.ClearDelivered()
	like := peer.Activity("Like", fan, uri)
	peer.PostAndSettle(srv, like)
	accept := peer.OneDelivered("Accept")
	apptest.WantField(t, accept, like["id"], "object")
	srv.GetDocument(accept["result"].(string)).Want(200)
	waits := peer.Activity("Like", eve, uri)
	peer.PostAndSettle(srv, waits)
	if n := len(alice.Get("/api/v1/interaction_requests").Want(200).List()); n != 1 {
		t.Errorf("%d requests", n)
	}
	peer.PostAndSettle(srv, peer.Activity("Undo", eve, waits))
	if n := len(alice.Get("/api/v1/interaction_requests").Want(200).List()); n != 0 {
		t.Errorf("%d requests after the Undo", n)
	}
	if n := alice.Get("/api/v1/statuses/" + st.ID()).Want(200).Object().Int("favourites_count"); n != 1 {
		t.Errorf("%d favourites", n)
	}
	// A request for a post that everybody may favourite is granted.
	open := alice.Publish("for all")
	peer.ClearDelivered()
	peer.PostAndSettle(srv, peer.Activity("LikeRequest", eve, open.Str("uri"), apptest.Doc{"instrument": peer.Activity("Like", eve, open.Str("uri"))}))
	srv.GetDocument(peer.OneDelivered("Accept")["result"].(string)).Want(200)
}

// TestRevokedApproval checks that the Delete of an authorization by the remote author withdraws a local favourite, boost and reply.
func TestRevokedApproval(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob, eve := peer.AddActor("bob"), peer.AddActor("eve")
	alice.FollowRemote(bob)
	approval := rule([]any{bob}, []any{apptest.Public})
	note := peer.Note(bob, "ask me", apptest.Doc{"interactionPolicy": apptest.Doc{"canLike": approval, "canReply": approval, "canAnnounce": approval}})
	peer.PostAndSettle(srv, peer.Create(note))
	post := alice.WantPost(note["id"]).ID()
	peer.ClearDelivered()
	if o := alice.Post("/api/v1/statuses/" + post + "/favourite").Want(200).Object(); !o.Bool("svc.pending_favourite") || o.Int("favourites_count") != 0 {
		t.Errorf("a favourite that waits: pending %v, %d counted", o.Bool("svc.pending_favourite"), o.Int("favourites_count"))
	}
	boost := alice.Post("/api/v1/statuses/" + post + "/reblog").Want(200).Object().ID()
	reply := alice.Publish("an answer", "in_reply_to_id", post).ID()
	apptest.Settle(srv)
	authorizations := map[string]string{}
	for kind, ref := range map[string]any{
		"Like": peer.OneDelivered("Like")["id"], "Create": peer.OneDelivered("Create")["object"].(apptest.Doc)["id"], "Announce": peer.OneDelivered("Announce")["id"],
	} {
		authorizations[kind] = peer.NewID("authorizations")
		peer.PostAndSettle(srv, peer.Activity("Accept", bob, ref, apptest.Doc{"result": authorizations[kind]}))
	}
	if o := alice.Get("/api/v1/statuses/" + post).Want(200).Object(); o.Bool("svc.pending_favourite") || o.Int("favourites_count") != 1 {
		t.Errorf("an approved favourite: pending %v, %d counted", o.Bool("svc.pending_favourite"), o.Int("favourites_count"))
	}
	srv.As(nil).Get("/api/v1/statuses/" + reply).Want(200)
	for _, by := range authorizations {
		peer.PostAndSettle(srv, peer.Activity("Delete", eve, by)) // not the author
	}
	srv.As(nil).Get("/api/v1/statuses/" + reply).Want(200)
	alice.Get("/api/v1/statuses/" + boost).Want(200)
	for _, by := range authorizations {
		peer.PostAndSettle(srv, peer.Activity("Delete", bob, apptest.Doc{"id": by, "type": "Tombstone"}))
	}
	alice.Get("/api/v1/statuses/" + reply).Want(404)
	alice.Get("/api/v1/statuses/" + boost).Want(404)
	if o := alice.Get("/api/v1/statuses/" + post).Want(200).Object(); o.Bool("favourited") || o.Int("favourites_count") != 0 {
		t.Errorf("after the revocation: favourited %v, %d counted", o.Bool("favourited"), o.Int("favourites_count"))
	}
}

// TestPendingInteractionsAreBounded checks how many interactions of a domain and of an account wait for approval, and that old ones are rejected.
func TestPendingInteractionsAreBounded(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob, eve := peer.AddActor("bob"), peer.AddActor("eve")
	srv.FetchActor(bob)
	fill := func(n int, domain, account string) {
		t.Helper()
		srv.Exec(`
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
			INSERT INTO interaction_requests (id, author_id, status_id, account_id, domain, interaction, favourite_id, uri)
			SELECT i, s.account_id, s.id, (SELECT id FROM accounts WHERE uri = ?3), ?2, 0, NULL, ?2 || i
			FROM n CROSS JOIN (SELECT id, account_id FROM statuses ORDER BY id LIMIT 1) s`, n, domain, account)
	}
	st := publishWithPolicy(alice, nil, []string{"public"})
	like := func(actor string) int {
		t.Helper()
		peer.PostAndSettle(srv, peer.Activity("Like", actor, st.Str("uri")))
		return len(alice.Get("/api/v1/interaction_requests", "status_id", st.ID(), "limit", "80", "min_id", alice.ID).Want(200).List())
	}
	fill(100, peer.Host, bob)
	if n := like(bob); n != 0 {
		t.Errorf("%d requests beyond the limit of the account", n)
	}
	if n := like(eve); n != 1 {
		t.Errorf("%d requests of another account, want 1", n)
	}
	srv.Exec(`DELETE FROM interaction_requests WHERE id < 1000`)
	fill(299, peer.Host, alice.URI())
	if n := like(bob); n != 1 {
		t.Errorf("%d requests at the limit of the domain, want 1", n)
	}
	srv.Exec(`DELETE FROM interaction_requests WHERE id > 1000`)
	if n := like(bob); n != 1 {
		t.Errorf("%d requests below the limits, want 1", n)
	}
	srv.Exec(`DELETE FROM interaction_requests WHERE id < 1000`)
	srv.Exec(`UPDATE interaction_requests SET id = 5000`)
	peer.ClearDelivered()
	if err := srv.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.Enqueue(t.Context(), store.Prune{}) }); err != nil {
		t.Fatal(err)
	}
	apptest.Settle(srv)
	apptest.WantField(t, peer.OneDelivered("Reject"), alice.URI(), "actor")
	apptest.WantList(t, "after 30 days", alice.Get("/api/v1/interaction_requests").Want(200).IDs())
}

package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"svc/internal/config"
	"svc/store"
)

// befriend has an actor of the peer follow somebody, and returns its id.
func (p *fakePeer) befriend(srv *api, name string, m *member) string {
	p.t.Helper()
	id := p.actor(name)
	p.receive(srv, p.activity("Follow", id, srv.url+"/users/"+m.id))
	if _, err := srv.db.AccountByURI(p.t.Context(), id); err != nil {
		p.t.Fatal(err)
	}
	return id
}

// is checks the members of a document.
func (a *answer) is(members doc) *answer {
	a.t.Helper()
	var d doc
	if err := json.Unmarshal(a.body, &d); err != nil {
		a.t.Fatalf("%s: %v: %s", a.what, err, a.body)
	}
	for key, want := range members {
		if got := d[key]; fmt.Sprint(got) != fmt.Sprint(want) {
			a.t.Errorf("%s: %s is %v, want %v", a.what, key, got, want)
		}
	}
	return a
}

// document returns the answer as a document.
func (a *answer) document() doc {
	a.t.Helper()
	var d doc
	if err := json.Unmarshal(a.body, &d); err != nil {
		a.t.Fatalf("%s: %v: %s", a.what, err, a.body)
	}
	return d
}

// TestNegotiation asks for the same addresses in many ways (federation 7.2 case 7, 16).
func TestNegotiation(t *testing.T) {
	srv := startPeers(t, 1)[0]
	alice := srv.signUp("alice")
	st := alice.publish("hello").id()
	const chrome = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
	for _, tt := range []struct {
		accept   string
		document bool
	}{
		{activityJSON, true},
		{linkedJSON, true},
		{"application/ld+json", true},
		{"application/json", true},
		{`application/ld+json; profile="https://example.org/other"`, false},
		{"application/activity+json;q=0.1", true},
		{"application/activity+json;q=0", false},
		{"", false},
		{"*/*", false},
		{"image/png", false},
		{"text/html", false},
		{chrome, false},
		{"text/html, application/activity+json", false},
		{"application/activity+json, text/html", true},
		{"text/html;q=0.5, application/activity+json", true},
		{"text/html, application/activity+json;q=0.9", false},
		{"application/activity+json, " + linkedJSON, true},
		{linkedJSON + ", text/html;q=0.1", true},
		{"nonsense;;;, application/activity+json;q=x, text/html", false},
	} {
		for path, page := range map[string]string{
			"/users/" + alice.id: srv.url + "/@alice",
			"/objects/" + st:     srv.url + "/@alice/" + st,
			"/activities/" + st:  srv.url + "/@alice/" + st,
		} {
			a := srv.as(nil).request(srv.newGet(srv.url+path, tt.accept))
			if vary := a.header.Get("Vary"); !strings.Contains(vary, "Accept") || !strings.Contains(vary, "Signature") {
				t.Errorf("%s %q: Vary is %q", path, tt.accept, vary)
			}
			if origin := a.header.Get("Access-Control-Allow-Origin"); origin != "*" {
				t.Errorf("%s: Access-Control-Allow-Origin is %q", path, origin)
			}
			if !tt.document {
				if a.status != 302 || a.header.Get("Location") != page {
					t.Errorf("%s %q: got %d to %q, want %q", path, tt.accept, a.status, a.header.Get("Location"), page)
				}
				continue
			}
			if media := a.header.Get("Content-Type"); a.status != 200 || media != "application/activity+json; charset=utf-8" {
				t.Errorf("%s %q: got %d %q", path, tt.accept, a.status, media)
			}
		}
		// The pages lead who wants a document to it.
		for path, id := range map[string]string{"/@alice": "/users/" + alice.id, "/@ALICE": "/users/" + alice.id, "/@alice/" + st: "/objects/" + st} {
			a := srv.as(nil).request(srv.newGet(srv.url+path, tt.accept))
			switch {
			case tt.document && (a.status != 302 || a.header.Get("Location") != srv.url+id):
				t.Errorf("%s %q: got %d to %q", path, tt.accept, a.status, a.header.Get("Location"))
			case !tt.document && (a.status != 200 || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html")):
				t.Errorf("%s %q: got %d %q", path, tt.accept, a.status, a.header.Get("Content-Type"))
			}
			if !strings.Contains(a.header.Get("Vary"), "Accept") {
				t.Errorf("%s: Vary is %q", path, a.header.Get("Vary"))
			}
		}
	}
	// What has no page is a document for all.
	for _, path := range []string{"/internal/fetch", "/relay", "/objects/" + st + "/replies", "/contexts/" + st} {
		for _, accept := range []string{"", "*/*", activityJSON, "text/html"} {
			if a := srv.as(nil).request(srv.newGet(srv.url+path, accept)); a.status != 200 || !strings.HasPrefix(a.header.Get("Content-Type"), activityJSON) {
				t.Errorf("%s %q: got %d %q", path, accept, a.status, a.header.Get("Content-Type"))
			}
		}
	}
	// By nickname one is led to the id, by another spelling to the one that there is.
	srv.document("/users/alice").want(302).leadsTo(srv.url + "/users/" + alice.id)
	srv.document("/users/Alice/outbox?page=true").want(302).leadsTo(srv.url + "/users/" + alice.id + "/outbox?page=true")
	srv.document("/users/nobody").wantError(404, "Record not found")
	srv.document("/@nobody").wantError(404, "Record not found")

	head := srv.newGet(srv.url+"/objects/"+st, activityJSON)
	head.Method = http.MethodHead
	a := srv.as(nil).request(head).want(200)
	if len(a.body) != 0 || !strings.HasPrefix(a.header.Get("Content-Type"), activityJSON) || a.header.Get("Content-Length") == "" {
		t.Errorf("HEAD: %v %q", a.header, a.body)
	}
}

func (a *answer) leadsTo(address string) {
	a.t.Helper()
	if got := a.header.Get("Location"); got != address {
		a.t.Errorf("%s: leads to %q, want %q", a.what, got, address)
	}
}

// TestActors shows accounts of several kinds (federation 7.2 case 8, 13).
func TestActors(t *testing.T) {
	srv := startPeers(t, 1)[0]
	bot, gone, off := srv.signUp("bot"), srv.signUp("gone"), srv.signUp("off")
	old := gone.publish("old").id()
	bot.send("PATCH", "/api/v1/accounts/update_credentials", jsonBody{"actor_type": "Service", "locked": true, "accepts_chat_messages": false, "bot": true}).want(200)
	srv.document("/users/" + bot.id).want(200).is(doc{
		"type": "Service", "manuallyApprovesFollowers": true, "capabilities": doc{"acceptsChatMessages": false}, "discoverable": false,
	})
	newer := srv.signUp("newer")
	srv.changeAccount(bot, func(a *store.Account) { id := newer.accountID(); a.MovedToID = &id })
	srv.document("/users/" + bot.id).want(200).is(doc{"movedTo": srv.url + "/users/" + newer.id})

	srv.leave(off, false)
	srv.leave(gone, true)
	srv.settle()
	for _, path := range []string{"", "/outbox", "/followers", "/following", "/collections/featured"} {
		srv.document("/users/"+off.id+path).wantError(404, "Record not found")
		srv.document("/users/" + gone.id + path).want(410).is(doc{
			"id": srv.url + "/users/" + gone.id, "type": "Tombstone", "formerType": "Person",
		})
	}
	srv.document("/users/gone").want(410)
	srv.document("/objects/" + old).want(410).is(doc{"id": srv.url + "/objects/" + old, "type": "Tombstone", "formerType": "Note"})
	srv.document("/users/"+srv.remote("far", "peer.example")).wantError(404, "Record not found") // is asked for where it is
	browser := srv.as(nil).request(srv.newGet(srv.url+"/users/"+off.id, "text/html"))
	if browser.status != 404 || !strings.HasPrefix(browser.header.Get("Content-Type"), "text/html") {
		t.Errorf("a person gets %d %q", browser.status, browser.header.Get("Content-Type"))
	}
}

// TestWhoReadsObjects asks for posts of all kinds as everybody (federation 7.2 case 13, 14, 15, 120).
func TestWhoReadsObjects(t *testing.T) {
	srv := startPeers(t, 1)[0]
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	peer := startFake(t)
	follower, named, stranger := peer.befriend(srv, "follower", alice), peer.befriend(srv, "named", bob), peer.actor("stranger")
	blocked := peer.befriend(srv, "blocked", alice)
	alice.to(srv.idOf(blocked), "block")
	at := "@named@" + peer.host + " "

	posts := map[string]string{
		"public":      alice.publish(at + "hello").id(),
		"unlisted":    alice.publish("hello", "visibility", "unlisted").id(),
		"private":     alice.publish(at+"hello", "visibility", "private").id(),
		"direct":      alice.publish(at+"hello", "visibility", "direct").id(),
		"list":        alice.publish("hello", "visibility", "list:"+srv.listWith(alice, named)).id(),
		"local":       alice.publish(at+"hello", "visibility", "local").id(),
		"nothing":     store.StatusID(1 << 40).String(),
		"no flake":    "nonsense",
		"gone":        alice.publish("soon gone").id(),
		"local, gone": alice.publish("soon gone", "visibility", "local").id(),
	}
	for _, name := range []string{"gone", "local, gone"} {
		alice.send("DELETE", "/api/v1/statuses/"+posts[name], nil).want(200)
	}
	readers := []string{"", stranger, follower, named, blocked}
	want := map[string][]int{ // unsigned, signed by the stranger, the follower, the named, the blocked
		"public":      {200, 200, 200, 200, 404},
		"unlisted":    {200, 200, 200, 200, 404},
		"private":     {404, 404, 200, 200, 404},
		"direct":      {404, 404, 404, 200, 404},
		"list":        {404, 404, 404, 200, 404},
		"local":       {404, 404, 404, 404, 404},
		"nothing":     {404, 404, 404, 404, 404},
		"no flake":    {404, 404, 404, 404, 404},
		"gone":        {410, 410, 410, 410, 410},
		"local, gone": {404, 404, 404, 404, 404},
	}
	var missing *answer
	for _, name := range []string{"nothing", "public", "unlisted", "private", "direct", "list", "local", "no flake", "gone", "local, gone"} {
		for i, reader := range readers {
			for _, path := range []string{"/objects/" + posts[name], "/activities/" + posts[name]} {
				a := peer.fetchAs(srv, path, reader, activityJSON)
				if a.status != want[name][i] {
					t.Errorf("%s, %s, read by %q: got %d, want %d: %s", name, path, reader, a.status, want[name][i], a.body)
				}
				if a.status == 404 {
					if missing == nil {
						missing = a
					}
					wantSame(t, name, a, missing)
				}
				if text := string(a.body); strings.Contains(text, `"bcc"`) || strings.Contains(text, `"bto"`) {
					t.Errorf("%s tells of bcc: %s", name, text)
				}
				open := reader == "" || reader == stranger // who is not known here gets what everybody gets
				if a.status == 200 && open != (a.header.Get("Cache-Control") == "no-cache") {
					t.Errorf("%s, read by %q: Cache-Control is %q", name, reader, a.header.Get("Cache-Control"))
				}
			}
		}
		page := srv.as(nil).request(srv.newGet(srv.url+"/objects/"+posts[name], "text/html"))
		if open := name == "public" || name == "unlisted"; open != (page.status == 302) || !open && page.status != 404 {
			t.Errorf("%s: a person gets %d", name, page.status)
		}
	}

	// To and cc say whom they are for (federation 4.1), and are the same on the activity.
	me, everybody := srv.url+"/users/"+alice.id, toPublic
	for name, want := range map[string]doc{
		"public":   {"to": []any{everybody, named}, "cc": []any{me + "/followers"}, "directMessage": nil},
		"unlisted": {"to": []any{me + "/followers"}, "cc": []any{everybody}},
		"private":  {"to": []any{me + "/followers", named}, "cc": []any{}},
		"direct":   {"to": []any{named}, "cc": []any{}, "directMessage": true},
		"list":     {"to": []any{}, "cc": []any{}, "directMessage": nil},
	} {
		peer.fetchAs(srv, "/objects/"+posts[name], named, activityJSON).want(200).is(want)
		create := peer.fetchAs(srv, "/activities/"+posts[name], named, activityJSON).want(200).is(want).document()
		if object, ok := create["object"].(doc); !ok || object["id"] != srv.url+"/objects/"+posts[name] || create["type"] != "Create" || create["actor"] != me {
			t.Errorf("%s: the activity is %v", name, create)
		}
	}

	// A signature that is none, or by somebody unknown, does no harm where everybody may read; elsewhere it is refused.
	req := srv.newGet(srv.url+"/objects/"+posts["public"], activityJSON)
	req.Header.Set("Signature", `keyId="x",algorithm="rsa-sha256",headers="(request-target)",signature="eA=="`)
	srv.as(nil).request(req).want(200)
	var refused *answer
	for _, name := range []string{"private", "nothing", "local"} {
		req := srv.newGet(srv.url+"/objects/"+posts[name], activityJSON)
		req.Header.Set("Signature", `keyId="x",algorithm="rsa-sha256",headers="(request-target)",signature="eA=="`)
		a := srv.as(nil).request(req).want(401)
		if refused == nil {
			refused = a
		}
		wantSame(t, name, a, refused)
	}
	if n := peer.asked(stranger); n != 0 { // nothing is for somebody who is not known here
		t.Errorf("the stranger was asked %d times", n)
	}
	peer.rotate("named") // a new key of somebody known is asked for
	peer.fetchAs(srv, "/objects/"+posts["direct"], named, activityJSON).want(200)
}

// wantSame checks that two answers are the same, but for what differs in all (case 120).
func wantSame(t *testing.T, what string, got, want *answer) {
	t.Helper()
	if got.status != want.status || !bytes.Equal(got.body, want.body) {
		t.Errorf("%s: got %d %s, want %d %s", what, got.status, got.body, want.status, want.body)
	}
	for key := range got.header {
		if key != "X-Request-Id" && key != "Date" && got.header.Get(key) != want.header.Get(key) {
			t.Errorf("%s: %s is %q, want %q", what, key, got.header.Get(key), want.header.Get(key))
		}
	}
	if len(got.header) != len(want.header) {
		t.Errorf("%s: headers %v, want %v", what, got.header, want.header)
	}
}

// idOf returns the id here of an account elsewhere.
func (a *api) idOf(uri string) string {
	a.t.Helper()
	account, err := a.db.AccountByURI(a.t.Context(), uri)
	if err != nil {
		a.t.Fatal(err)
	}
	return account.ID.String()
}

// listWith makes a list of accounts elsewhere.
func (a *api) listWith(owner *member, uris ...string) string {
	a.t.Helper()
	id := a.letList(owner)
	for _, uri := range uris {
		a.insert(`INSERT INTO list_members (list_id, account_id) SELECT ?, id FROM accounts WHERE uri = ?`, listID(id), uri)
	}
	return id
}

func listID(text string) store.ListID {
	var id store.ListID
	id.UnmarshalText([]byte(text))
	return id
}

// TestReaders remembers who has fetched a post, unless they hear of its end anyway (federation 1.10).
func TestReaders(t *testing.T) {
	srv := startPeers(t, 1)[0]
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	near, far := startFake(t), startFake(t)
	follower := near.befriend(srv, "follower", alice)
	other := far.befriend(srv, "other", bob)
	st := alice.publish("hello")
	for range 2 {
		near.fetchAs(srv, "/objects/"+st.id(), follower, activityJSON).want(200)
		far.fetchAs(srv, "/objects/"+st.id(), other, activityJSON).want(200)
		far.fetchAs(srv, "/activities/"+st.id(), other, activityJSON).want(200)
		srv.document("/objects/" + st.id()).want(200)
	}
	readers, err := srv.db.Readers(t.Context(), statusID(st.id()), 10)
	if err != nil || !slices.Equal(readers, []string{far.url + "/inbox"}) {
		t.Errorf("readers are %v, %v", readers, err)
	}
}

// TestCollections walks the collections of an account (federation 7.2 case 10, 11, 12).
func TestCollections(t *testing.T) {
	srv := startPeers(t, 1)[0]
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	peer := startFake(t)
	follower := peer.befriend(srv, "follower", alice)
	me := srv.url + "/users/" + alice.id
	stranger := bob.publish("boost me").id()
	boost := alice.post("/api/v1/statuses/" + stranger + "/reblog").want(200).object()
	var open []string
	for i := range 45 {
		open = append(open, srv.url+"/activities/"+alice.publish(fmt.Sprint("post ", i), "visibility", []string{"public", "unlisted"}[i%2]).id())
	}
	private := alice.publish("for followers", "visibility", "private").id()
	for _, v := range []string{"local", "direct"} {
		alice.publish("hidden", "visibility", v)
	}
	again := alice.post("/api/v1/statuses/" + private + "/reblog").want(200).object()

	walk := func(path, signer string) (items []any) {
		t.Helper()
		c := peer.fetchAs(srv, path, signer, activityJSON).want(200).is(doc{"type": "OrderedCollection", "id": srv.url + path}).document()
		next, _ := c["first"].(string)
		for n := 0; next != ""; n++ {
			if n > 10 {
				t.Fatalf("%s has no end", path)
			}
			page := peer.fetchAs(srv, next, signer, activityJSON).want(200).is(doc{"type": "OrderedCollectionPage", "id": next, "partOf": srv.url + path}).document()
			items = append(items, page["orderedItems"].([]any)...)
			next, _ = page["next"].(string)
		}
		return items
	}
	ids := func(items []any) (ids []string) {
		for _, item := range items {
			ids = append(ids, item.(doc)["id"].(string))
		}
		return ids
	}
	want := append([]string{boost.str("uri")}, open...)
	slices.Reverse(want)
	if got := ids(walk("/users/"+alice.id+"/outbox", "")); !slices.Equal(got, want) {
		t.Errorf("the outbox has %v, want %v", got, want)
	}
	want = append([]string{again.str("uri"), srv.url + "/activities/" + private}, want...)
	items := walk("/users/"+alice.id+"/outbox", follower)
	if got := ids(items); !slices.Equal(got, want) {
		t.Errorf("the outbox has for a follower %v, want %v", got, want)
	}
	embedded, ok := items[0].(doc)["object"].(doc)
	if !ok || embedded["id"] != srv.url+"/objects/"+private || embedded["attributedTo"] != me { // nobody else could fetch it
		t.Errorf("the boost of a private post has %v", items[0])
	}
	if object := items[len(items)-1].(doc)["object"]; object != srv.url+"/objects/"+stranger {
		t.Errorf("the boost has %v", object)
	}
	pages := srv.document("/users/" + alice.id + "/outbox?page=true").want(200).document()
	back := srv.document(pages["prev"].(string)).want(200).document()
	if len(back["orderedItems"].([]any)) != 0 {
		t.Errorf("before the first page: %v", back)
	}

	bob.to(alice.id, "follow")
	if got := fmt.Sprint(walk("/users/"+alice.id+"/followers", "")); !strings.Contains(got, follower) || !strings.Contains(got, bob.id) {
		t.Errorf("followers are %s", got)
	}
	if got := fmt.Sprint(walk("/users/"+bob.id+"/following", "")); got != "["+me+"]" {
		t.Errorf("bob follows %s", got)
	}
	srv.document("/users/" + alice.id + "/followers").is(doc{"totalItems": 2})
	alice.send("PATCH", "/api/v1/accounts/update_credentials", jsonBody{"hide_followers": true, "hide_follows": true}).want(200)
	for _, path := range []string{"/followers", "/following"} {
		c := srv.document("/users/" + alice.id + path).want(200).document()
		if _, ok := c["first"]; ok || c["totalItems"] == nil {
			t.Errorf("hidden %s: %v", path, c)
		}
		for _, query := range []string{"?page=true", "?page=1", "?max_id=" + alice.id} {
			peer.fetchAs(srv, "/users/"+alice.id+path+query, follower, activityJSON).wantError(403, "This list is not shown")
		}
	}
	alice.send("PATCH", "/api/v1/accounts/update_credentials", jsonBody{"hide_followers_count": true, "hide_follows_count": true}).want(200)
	for _, path := range []string{"/followers", "/following"} {
		if c := srv.document("/users/" + alice.id + path).want(200).document(); c["totalItems"] != nil {
			t.Errorf("hidden count of %s: %v", path, c)
		}
	}

	first, second, third := bob.publish("one").id(), bob.publish("two", "visibility", "private").id(), bob.publish("three").id()
	for i, id := range []string{third, second, first} { // the newest pin is of the oldest post
		srv.insert(`INSERT INTO pins (status_id, account_id, pinned_at) VALUES (?, ?, ?)`, statusID(id), bob.accountID(), i)
	}
	c := peer.fetchAs(srv, "/users/"+bob.id+"/collections/featured", follower, activityJSON).want(200).is(doc{"totalItems": 2}).document()
	if got, want := ids(c["orderedItems"].([]any)), []string{srv.url + "/objects/" + first, srv.url + "/objects/" + third}; !slices.Equal(got, want) {
		t.Errorf("pinned are %v, want %v", got, want)
	}
}

// TestRepliesAndThreads reads what an author has answered to a post, and a thread.
func TestRepliesAndThreads(t *testing.T) {
	srv := startPeers(t, 1)[0]
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	root := alice.publish("root").id()
	var own, all []any
	all = append(all, srv.url+"/objects/"+root)
	for i := range 27 {
		id := alice.publish(fmt.Sprint("more ", i), "in_reply_to_id", root).id()
		own = append(own, srv.url+"/objects/"+id)
		all = append(all, srv.url+"/objects/"+id)
	}
	all = append(all, srv.url+"/objects/"+bob.publish("answer", "in_reply_to_id", root).id())
	bob.publish("whisper", "in_reply_to_id", root, "visibility", "direct")
	alice.publish("here only", "in_reply_to_id", root, "visibility", "local")
	alice.publish("for followers", "in_reply_to_id", root, "visibility", "private")

	var got []any
	c := srv.document("/objects/" + root + "/replies").want(200).is(doc{"type": "Collection"}).document()
	page := c["first"].(doc)
	for n := 0; ; n++ {
		got = append(got, page["items"].([]any)...)
		next, ok := page["next"].(string)
		if !ok || n > 10 {
			break
		}
		page = srv.document(next).want(200).is(doc{"type": "CollectionPage"}).document()
	}
	if fmt.Sprint(got) != fmt.Sprint(own) {
		t.Errorf("replies are %v, want %v", got, own)
	}
	object := srv.document("/objects/" + root).want(200).document()
	if items := object["replies"].(doc)["first"].(doc)["items"].([]any); fmt.Sprint(items) != fmt.Sprint(own[:5]) {
		t.Errorf("the post has the replies %v", items)
	}
	thread := srv.document("/contexts/" + root + "?page=true").want(200).document()
	if got := thread["orderedItems"]; fmt.Sprint(got) != fmt.Sprint(all) {
		t.Errorf("the thread is %v, want %v", got, all)
	}
	secret := bob.publish("a secret", "visibility", "private").id()
	for _, path := range []string{"/contexts/" + secret, "/contexts/nonsense", "/objects/" + secret + "/replies", "/objects/nonsense/replies"} {
		srv.document(path).wantError(404, "Record not found")
	}
}

// TestActivities reads the activities that made rows, and those on their way (federation 1.11).
func TestActivities(t *testing.T) {
	srv := startPeers(t, 1)[0]
	srv.addEmoji("blobs", map[string]string{"cat": "cat.png"})
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	peer := startFake(t)
	follower := peer.befriend(srv, "follower", alice)
	me := srv.url + "/users/" + alice.id
	st := bob.publish("like me").id()
	alice.post("/api/v1/statuses/" + st + "/favourite").want(200)
	alice.send("PUT", "/api/v1/svc/statuses/"+st+"/reactions/🔥", nil).want(200)
	row := func(query string) string {
		return srv.url + "/activities/" + store.StatusID(srv.count(query)).String()
	}
	like := row(`SELECT id FROM favourites`)
	srv.document(like).want(200).is(doc{
		"id": like, "type": "Like", "actor": me, "object": srv.url + "/objects/" + st,
		"to": []any{srv.url + "/users/" + bob.id, me + "/followers"}, "cc": []any{toPublic},
	})
	react := row(`SELECT id FROM reactions`)
	srv.document(react).want(200).is(doc{"id": react, "type": "EmojiReact", "actor": me, "content": "🔥", "object": srv.url + "/objects/" + st})

	alice.to(srv.idOf(follower), "follow")
	follow := row(`SELECT id FROM follows WHERE follower_local = 1`)
	srv.document(follow).wantError(404, "Record not found") // who follows whom is not for everybody
	peer.fetchAs(srv, follow, follower, activityJSON).want(200).is(doc{"type": "Follow", "actor": me, "object": follower, "to": []any{follower}})

	boost := alice.post("/api/v1/statuses/" + st + "/reblog").want(200).object().str("uri")
	srv.document(boost).want(200).is(doc{"type": "Announce", "to": []any{toPublic}})
	browser := srv.as(nil).request(srv.newGet(boost, "text/html"))
	browser.want(302).leadsTo(srv.url + "/@bob/" + st)
	alice.post("/api/v1/statuses/" + st + "/unreblog").want(200)
	srv.document(boost).want(410).is(doc{"id": boost, "type": "Tombstone", "formerType": "Announce"})
	bob.send("DELETE", "/api/v1/statuses/"+st, nil).want(200)
	srv.document("/activities/" + st).want(410).is(doc{"id": srv.url + "/activities/" + st, "type": "Tombstone", "formerType": "Create"})
	srv.document(like).wantError(404, "Record not found")
}

// TestAuthorizedFetch shows documents to those only who prove who they are (federation 2.6, 7.2 case 9).
func TestAuthorizedFetch(t *testing.T) {
	peer, rejected := startFake(t), startFake(t)
	srv := startPeers(t, 1, func(c *config.Config) {
		c.Federation.AuthorizedFetch = true
		c.MRFSimple.Reject = []config.HostReason{{Host: rejected.host}}
		c.MRF.Policies = append(c.MRF.Policies, "SimplePolicy")
	})[0]
	alice := srv.signUp("alice")
	st := alice.publish("hello").id()
	reader, bad := peer.actor("reader"), rejected.actor("bad")
	paths := []string{"/users/" + alice.id, "/objects/" + st, "/activities/" + st, "/contexts/" + st, "/objects/" + st + "/replies"}
	for _, c := range []string{"outbox", "outbox?page=true", "followers", "followers?page=true", "following", "collections/featured"} {
		paths = append(paths, "/users/"+alice.id+"/"+c)
	}
	for _, path := range paths {
		srv.document(path).wantError(401, "Requests have to be signed here")
		a := peer.fetchAs(srv, path, reader, activityJSON).want(200)
		if got := a.header.Get("Cache-Control"); got != "private, no-store" {
			t.Errorf("%s: Cache-Control is %q", path, got)
		}
		rejected.fetchAs(srv, path, bad, activityJSON).wantError(403, "There are no dealings with this server")
	}
	srv.document("/objects/nothing").wantError(401, "Requests have to be signed here")
	if n := rejected.askedAll(); n != 0 {
		t.Errorf("the rejected host was asked %d times", n)
	}
	for _, path := range []string{"/internal/fetch", "/relay"} {
		if key, ok := srv.document(path).want(200).document()["publicKey"].(doc); !ok || key["publicKeyPem"] == "" {
			t.Errorf("%s has no key", path)
		}
	}
	srv.as(nil).get("/.well-known/webfinger", "resource", "acct:alice@"+srv.settings.Host()).want(200)
	srv.as(nil).get("/nodeinfo/2.1.json").want(200)
	srv.as(nil).request(srv.newGet(srv.url+"/objects/"+st, "text/html")).want(302) // people still find the page

	// Who cannot show a key at the moment gets what it takes to answer them.
	away := startFake(t)
	ghost := away.actor("ghost")
	away.remove(ghost, 503)
	stub := away.fetchAs(srv, "/users/"+alice.id, ghost, activityJSON).want(200).document()
	if stub["inbox"] == nil || stub["publicKey"] == nil || stub["name"] != nil || stub["outbox"] != nil {
		t.Errorf("the stub is %v", stub)
	}
	away.fetchAs(srv, "/objects/"+st, ghost, activityJSON).want(503)
}

// TestRejectedHosts are refused where they say who they are, also where everybody may read.
func TestRejectedHosts(t *testing.T) {
	rejected := startFake(t)
	srv := startPeers(t, 1, func(c *config.Config) {
		c.MRFSimple.Reject = []config.HostReason{{Host: rejected.host}}
		c.MRF.Policies = append(c.MRF.Policies, "SimplePolicy")
	})[0]
	alice := srv.signUp("alice")
	st := alice.publish("hello").id()
	bad := rejected.actor("bad")
	for _, path := range []string{"/users/" + alice.id, "/objects/" + st, "/users/" + alice.id + "/outbox", "/objects/nothing"} {
		rejected.fetchAs(srv, path, bad, activityJSON).wantError(403, "There are no dealings with this server")
	}
	if n := rejected.askedAll(); n != 0 {
		t.Errorf("it was asked %d times", n)
	}
}

// TestInboxes sends all that is no activity (federation 3.6).
func TestInboxes(t *testing.T) {
	srv := startPeers(t, 1)[0]
	alice, off, gone := srv.signUp("alice"), srv.signUp("off"), srv.signUp("gone")
	srv.leave(off, false)
	srv.leave(gone, true)
	peer := startFake(t)
	actor := peer.actor("carol")
	follow, err := json.Marshal(peer.activity("Follow", actor, srv.url+"/users/"+alice.id))
	if err != nil {
		t.Fatal(err)
	}
	large := append(append([]byte(`{"content":"`), bytes.Repeat([]byte("x"), 1<<20)...), `"}`...)
	for _, tt := range []struct {
		name, path, media, encoding string
		body                        []byte
		want                        int
	}{
		{"unsigned", "/inbox", activityJSON, "", follow, 401},
		{"no type", "/inbox", "", "", follow, 415},
		{"text", "/inbox", "text/plain", "", follow, 415},
		{"a form", "/inbox", "application/x-www-form-urlencoded", "", []byte("a=b"), 415},
		{"compressed", "/inbox", activityJSON, "gzip", follow, 415},
		{"too large", "/inbox", activityJSON, "", large, 413},
		{"much too large", "/inbox", activityJSON, "", bytes.Repeat(large, 3), 413},
		{"no JSON", "/inbox", activityJSON, "", []byte("{"), 400},
		{"empty", "/inbox", activityJSON, "", nil, 400},
		{"a list", "/inbox", "application/json", "", []byte("[]"), 400},
		{"somebody deactivated", "/users/" + off.id + "/inbox", activityJSON, "", follow, 404},
		{"somebody deleted", "/users/" + gone.id + "/inbox", activityJSON, "", follow, 410},
		{"somebody elsewhere", "/users/" + srv.remote("far", "peer.example") + "/inbox", activityJSON, "", follow, 404},
		{"nobody", "/users/nobody/inbox", activityJSON, "", follow, 404},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.url+tt.path, bytes.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		if tt.media != "" {
			req.Header.Set("Content-Type", tt.media)
		}
		if tt.encoding != "" {
			req.Header.Set("Content-Encoding", tt.encoding)
		}
		if a := srv.as(nil).request(req); a.status != tt.want {
			t.Errorf("%s: got %d, want %d: %s", tt.name, a.status, tt.want, a.body)
		}
	}
	for _, path := range []string{"/inbox", "/users/" + alice.id + "/inbox", "/users/alice/inbox", "/internal/fetch/inbox", "/relay/inbox"} {
		a := peer.deliver(srv, path, actor, peer.activity("Follow", actor, srv.url+"/users/"+alice.id)).want(202)
		if len(a.body) != 0 {
			t.Errorf("%s: got %q", path, a.body)
		}
	}
	settle(srv)
	if got := srv.count(`SELECT count(*) FROM follows WHERE pending = 0`); got != 1 {
		t.Errorf("there are %d follows", got)
	}
}

// TestFederationOff has no documents and no inboxes, only pages for people (federation 1.10).
func TestFederationOff(t *testing.T) {
	srv := startPeers(t, 1, func(c *config.Config) { c.Federation.Enabled = false })[0]
	alice := srv.signUp("alice")
	st := alice.publish("hello").id()
	for _, path := range []string{"/users/" + alice.id, "/users/" + alice.id + "/outbox", "/objects/" + st, "/activities/" + st, "/contexts/" + st, "/internal/fetch", "/relay", "/@alice", "/@alice/" + st} {
		srv.document(path).wantError(404, "Record not found")
	}
	srv.as(nil).get("/.well-known/webfinger", "resource", "acct:alice@"+srv.settings.Host()).want(404)
	for _, path := range []string{"/inbox", "/users/" + alice.id + "/inbox", "/relay/inbox", "/internal/fetch/inbox"} {
		srv.as(nil).send("POST", path, doc{}).want(403)
	}
	srv.as(nil).request(srv.newGet(srv.url+"/objects/"+st, "text/html")).want(302)
	srv.as(nil).request(srv.newGet(srv.url+"/@alice", "text/html")).want(200)
}

// TestNoForgeries looks for what people give this server that could pass for a document of it (federation 5.3, 7.2 case 121).
func TestNoForgeries(t *testing.T) {
	srv := startPeers(t, 1)[0]
	srv.addEmoji("blobs", map[string]string{"cat": "cat.png"})
	alice := srv.signUp("alice")
	forged := []byte(`{"@context":"https://www.w3.org/ns/activitystreams","id":"` + srv.url + `/users/x","type":"Person","inbox":"x"}`)
	alice.send("PATCH", "/api/v1/accounts/update_credentials", jsonBody{"svc_settings_store": jsonBody{"app": json.RawMessage(forged)}})
	for _, content := range [][]byte{forged, []byte("<html>" + string(forged))} {
		upload := alice.form("POST", "/api/v1/media", filePart(content))
		if upload.status != 200 {
			continue // is not taken at all
		}
		a := srv.as(nil).request(srv.newGet(upload.object().str("url"), activityJSON))
		if media := a.header.Get("Content-Type"); strings.Contains(media, "json") || strings.Contains(media, "html") {
			t.Errorf("an upload is served as %q", media)
		}
	}
	picture := alice.upload(pngFile(3, 3))
	for _, address := range []string{picture.str("url"), srv.url + "/emoji/blobs/cat.png", srv.url + "/emoji/blobs/pack.json", srv.url + "/proxy/x/y", srv.url + "/api/v1/accounts/" + alice.id, srv.url + "/api/v1/instance"} {
		for _, accept := range []string{activityJSON, linkedJSON} {
			a := srv.as(nil).request(srv.newGet(address, accept))
			if media := a.header.Get("Content-Type"); strings.Contains(media, "activity+json") || strings.Contains(media, "ld+json") {
				t.Errorf("%s is served as %q", address, media)
			}
			if a.header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s may be sniffed", address)
			}
		}
	}
}

// TestFetchedOften counts documents in a bucket of their own.
func TestFetchedOften(t *testing.T) {
	srv := startPeers(t, 1, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.Federation = config.Rate{Count: 5, Window: c.RateLimit.Federation.Window}
	})[0]
	for range 5 {
		srv.document("/internal/fetch").want(200)
	}
	srv.document("/internal/fetch").wantError(429, "Throttled")
	srv.as(nil).get("/api/v1/instance").want(200) // is counted apart
}

// TestPagesOften counts the pages of profiles and posts among all that a visitor asks for.
func TestPagesOften(t *testing.T) {
	srv := startPeers(t, 1, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.AllAnonymous = config.Rate{Count: 4, Window: c.RateLimit.AllAnonymous.Window}
	})[0]
	for i := range 6 {
		path := []string{"/@alice", "/@alice/" + store.StatusID(1<<40).String()}[i%2]
		want := 404
		if i >= 4 {
			want = 429
		}
		srv.as(nil).request(srv.newGet(srv.url+path, "text/html")).want(want)
	}
}

// TestKeptDocuments changes a post in all ways, after each of which the next request sees it.
func TestKeptDocuments(t *testing.T) {
	srv := startPeers(t, 1)[0]
	srv.addEmoji("blobs", map[string]string{"cat": "cat.png"})
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	quoted := bob.publish("quote me").id()
	picture := alice.upload(pngFile(3, 3)).str("id")
	st := alice.publish("hello :dog:", "media_ids[]", picture, "quote_id", quoted).id()
	read := func() string {
		t.Helper()
		for range 2 {
			srv.document("/objects/" + st).want(200)
		}
		return string(srv.document("/objects/" + st).want(200).body)
	}
	before := read()
	changed := func(what string) {
		t.Helper()
		after := read()
		if after == before {
			t.Errorf("%s: the document is the same", what)
		}
		before = after
	}
	alice.send("PUT", "/api/v1/statuses/"+st, jsonBody{"status": "hello again :dog:", "media_ids": []string{picture}}).want(200)
	changed("edit")
	alice.send("PUT", "/api/v1/media/"+picture, jsonBody{"description": "black"}).want(200)
	changed("description")
	reply := alice.publish("more", "in_reply_to_id", st).id()
	changed("own answer")
	alice.send("DELETE", "/api/v1/statuses/"+reply, nil).want(200)
	changed("own answer deleted")
	bob.send("DELETE", "/api/v1/statuses/"+quoted, nil).want(200)
	changed("quoted post deleted")
	srv.addEmoji("dogs", map[string]string{"dog": "dog.png"})
	changed("emoji")
	srv.leave(alice, false)
	srv.document("/objects/" + st).want(404)
	if _, err := srv.social.Activate(t.Context(), alice.accountID()); err != nil {
		t.Fatal(err)
	}
	srv.document("/objects/" + st).want(200)
	srv.leave(alice, true)
	srv.document("/objects/" + st).want(404)
	srv.settle()
	srv.document("/objects/" + st).want(410)
}

// TestSuspendedReaders are nobody (federation 7.2 case 119).
func TestSuspendedReaders(t *testing.T) {
	srv := startPeers(t, 1)[0]
	alice := srv.signUp("alice")
	peer := startFake(t)
	suspended, deleted := peer.befriend(srv, "suspended", alice), peer.befriend(srv, "deleted", alice)
	open, private := alice.publish("hello").id(), alice.publish("hello", "visibility", "private").id()
	for _, reader := range []string{suspended, deleted} {
		peer.fetchAs(srv, "/objects/"+private, reader, activityJSON).want(200)
	}
	srv.insert(`UPDATE accounts SET withheld = 1 WHERE uri = ?`, suspended)
	srv.insert(`UPDATE accounts SET withheld = 1, deleted_at = 1 WHERE uri = ?`, deleted)
	for _, reader := range []string{suspended, deleted} {
		peer.fetchAs(srv, "/objects/"+private, reader, activityJSON).wantError(401, "The signature could not be verified")
		peer.fetchAs(srv, "/objects/nothing", reader, activityJSON).wantError(401, "The signature could not be verified")
		peer.fetchAs(srv, "/objects/"+open, reader, activityJSON).want(200) // as for everybody
		outbox := peer.fetchAs(srv, "/users/"+alice.id+"/outbox?page=true", reader, activityJSON).want(200)
		if strings.Contains(string(outbox.body), private) {
			t.Errorf("%s reads a private post in the outbox", reader)
		}
	}
	mine := srv.newGet(srv.url+"/objects/"+private, activityJSON) // an app's token is of no use here
	alice.request(mine).wantError(404, "Record not found")
}

package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
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
		{"no JSON, and unsigned", "/inbox", activityJSON, "", []byte("{"), 401},
		{"empty, and unsigned", "/inbox", activityJSON, "", nil, 401},
		{"a list, and unsigned", "/inbox", "application/json", "", []byte("[]"), 401},
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

package federation_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

// TestNegotiation requests the same addresses with many Accept headers (federation 7.2 cases 7, 16).
func TestNegotiation(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	alice := srv.SignUp("alice")
	st := alice.Publish("hello").ID()
	const chrome = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
	for _, tt := range []struct {
		accept   string
		document bool
	}{
		{apptest.ActivityJSON, true},
		{apptest.LinkedDataJSON, true},
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
		{"application/activity+json, " + apptest.LinkedDataJSON, true},
		{apptest.LinkedDataJSON + ", text/html;q=0.1", true},
		{"nonsense;;;, application/activity+json;q=x, text/html", false},
	} {
		for path, page := range map[string]string{
			"/users/" + alice.ID: srv.URL + "/@alice",
			"/objects/" + st:     srv.URL + "/@alice/" + st,
			"/activities/" + st:  srv.URL + "/@alice/" + st,
		} {
			a := srv.As(nil).DoRequest(srv.NewGet(srv.URL+path, tt.accept))
			if vary := a.Header.Get("Vary"); !strings.Contains(vary, "Accept") || !strings.Contains(vary, "Signature") {
				t.Errorf("%s %q: Vary is %q", path, tt.accept, vary)
			}
			if origin := a.Header.Get("Access-Control-Allow-Origin"); origin != "*" {
				t.Errorf("%s: Access-Control-Allow-Origin is %q", path, origin)
			}
			if !tt.document {
				if a.Status != 302 || a.Header.Get("Location") != page {
					t.Errorf("%s %q: got %d to %q, want %q", path, tt.accept, a.Status, a.Header.Get("Location"), page)
				}
				continue
			}
			if media := a.Header.Get("Content-Type"); a.Status != 200 || media != "application/activity+json; charset=utf-8" {
				t.Errorf("%s %q: got %d %q", path, tt.accept, a.Status, media)
			}
		}
		// Pages are the document itself if the request accepts it: a signature would not survive a redirect.
		for path, id := range map[string]string{
			"/@alice": "/users/" + alice.ID, "/@ALICE": "/users/" + alice.ID, "/users/Alice": "/users/" + alice.ID, "/@alice/" + st: "/objects/" + st,
		} {
			a := srv.As(nil).DoRequest(srv.NewGet(srv.URL+path, tt.accept))
			switch {
			case tt.document:
				if media := a.Header.Get("Content-Type"); a.Status != 200 || media != "application/activity+json; charset=utf-8" {
					t.Errorf("%s %q: got %d %q", path, tt.accept, a.Status, media)
				} else if got := a.Document()["id"]; got != srv.URL+id {
					t.Errorf("%s %q: got the document %v", path, tt.accept, got)
				}
			case path == "/users/Alice":
				wantLocation(a.Want(302), srv.URL+"/@alice")
			case a.Status != 200 || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html"):
				t.Errorf("%s %q: got %d %q", path, tt.accept, a.Status, a.Header.Get("Content-Type"))
			}
			if !strings.Contains(a.Header.Get("Vary"), "Accept") {
				t.Errorf("%s: Vary is %q", path, a.Header.Get("Vary"))
			}
		}
	}
	// Objects without a page are documents whatever the Accept header.
	for _, path := range []string{"/internal/fetch", "/relay", "/objects/" + st + "/replies", "/contexts/" + st} {
		for _, accept := range []string{"", "*/*", apptest.ActivityJSON, "text/html"} {
			if a := srv.As(nil).DoRequest(srv.NewGet(srv.URL+path, accept)); a.Status != 200 || !strings.HasPrefix(a.Header.Get("Content-Type"), apptest.ActivityJSON) {
				t.Errorf("%s %q: got %d %q", path, accept, a.Status, a.Header.Get("Content-Type"))
			}
		}
	}
	srv.GetDocument("/users/Alice/outbox?page=true").Want(200).WantFields(apptest.Doc{"partOf": srv.URL + "/users/" + alice.ID + "/outbox"})
	srv.GetDocument("/users/nobody").WantError(404, "Record not found")
	srv.GetDocument("/@nobody").WantError(404, "Record not found")

	head := srv.NewGet(srv.URL+"/objects/"+st, apptest.ActivityJSON)
	head.Method = http.MethodHead
	a := srv.As(nil).DoRequest(head).Want(200)
	if len(a.Body) != 0 || !strings.HasPrefix(a.Header.Get("Content-Type"), apptest.ActivityJSON) || a.Header.Get("Content-Length") == "" {
		t.Errorf("HEAD: %v %q", a.Header, a.Body)
	}
}

func wantLocation(a *apptest.Response, address string) {
	a.T.Helper()
	if got := a.Header.Get("Location"); got != address {
		a.T.Errorf("%s: leads to %q, want %q", a.Request, got, address)
	}
}

// TestActors reads the documents of several kinds of accounts (federation 7.2 cases 8, 13).
func TestActors(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	bot, gone, off := srv.SignUp("bot"), srv.SignUp("gone"), srv.SignUp("off")
	old := gone.Publish("old").ID()
	bot.SendJSON("PATCH", "/api/v1/accounts/update_credentials", apptest.Doc{"actor_type": "Service", "locked": true, "accepts_chat_messages": false, "bot": true}).Want(200)
	srv.GetDocument("/users/" + bot.ID).Want(200).WantFields(apptest.Doc{
		"type": "Service", "manuallyApprovesFollowers": true, "capabilities": apptest.Doc{"acceptsChatMessages": false}, "discoverable": false,
	})
	newer := srv.SignUp("newer")
	srv.ChangeAccount(bot, func(a *store.Account) { id := newer.AccountID(); a.MovedToID = &id })
	srv.GetDocument("/users/" + bot.ID).Want(200).WantFields(apptest.Doc{"movedTo": srv.URL + "/users/" + newer.ID})

	srv.DeleteOrDeactivate(off, false)
	srv.DeleteOrDeactivate(gone, true)
	srv.RunJobs()
	for _, path := range []string{"", "/outbox", "/followers", "/following", "/collections/featured"} {
		srv.GetDocument("/users/"+off.ID+path).WantError(404, "Record not found")
		srv.GetDocument("/users/" + gone.ID + path).Want(410).WantFields(apptest.Doc{
			"id": srv.URL + "/users/" + gone.ID, "type": "Tombstone", "formerType": "Person",
		})
	}
	srv.GetDocument("/users/gone").Want(410)
	srv.GetDocument("/objects/" + old).Want(410).WantFields(apptest.Doc{"id": srv.URL + "/objects/" + old, "type": "Tombstone", "formerType": "Note"})
	srv.GetDocument("/users/"+srv.AddRemoteAccount("far", "peer.example")).WantError(404, "Record not found") // is served by its own server
	browser := srv.As(nil).DoRequest(srv.NewGet(srv.URL+"/users/"+off.ID, "text/html"))
	if browser.Status != 404 || !strings.HasPrefix(browser.Header.Get("Content-Type"), "text/html") {
		t.Errorf("a person gets %d %q", browser.Status, browser.Header.Get("Content-Type"))
	}
}

// TestInboxes sends requests that are not activities (federation 3.6).
func TestInboxes(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	alice, off, gone := srv.SignUp("alice"), srv.SignUp("off"), srv.SignUp("gone")
	srv.DeleteOrDeactivate(off, false)
	srv.DeleteOrDeactivate(gone, true)
	peer := apptest.StartFake(t)
	actor := peer.AddActor("carol")
	follow, err := json.Marshal(peer.Activity("Follow", actor, srv.URL+"/users/"+alice.ID))
	if err != nil {
		t.Fatal(err)
	}
	large := append(append([]byte(`{"content":"`), bytes.Repeat([]byte("x"), 1<<20)...), `"}`...)
	for _, tt := range []struct {
		name, path, media, encoding string
		body                        []byte
		want                        int
	}{
		{"unsigned", "/inbox", apptest.ActivityJSON, "", follow, 401},
		{"no type", "/inbox", "", "", follow, 415},
		{"text", "/inbox", "text/plain", "", follow, 415},
		{"a form", "/inbox", "application/x-www-form-urlencoded", "", []byte("a=b"), 415},
		{"compressed", "/inbox", apptest.ActivityJSON, "gzip", follow, 415},
		{"too large", "/inbox", apptest.ActivityJSON, "", large, 413},
		{"much too large", "/inbox", apptest.ActivityJSON, "", bytes.Repeat(large, 3), 413},
		{"no JSON, and unsigned", "/inbox", apptest.ActivityJSON, "", []byte("{"), 401},
		{"empty, and unsigned", "/inbox", apptest.ActivityJSON, "", nil, 401},
		{"a list, and unsigned", "/inbox", "application/json", "", []byte("[]"), 401},
		{"a deactivated account", "/users/" + off.ID + "/inbox", apptest.ActivityJSON, "", follow, 404},
		{"a deleted account", "/users/" + gone.ID + "/inbox", apptest.ActivityJSON, "", follow, 410},
		{"a remote account", "/users/" + srv.AddRemoteAccount("far", "peer.example") + "/inbox", apptest.ActivityJSON, "", follow, 404},
		{"an unknown account", "/users/nobody/inbox", apptest.ActivityJSON, "", follow, 404},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+tt.path, bytes.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		if tt.media != "" {
			req.Header.Set("Content-Type", tt.media)
		}
		if tt.encoding != "" {
			req.Header.Set("Content-Encoding", tt.encoding)
		}
		if a := srv.As(nil).DoRequest(req); a.Status != tt.want {
			t.Errorf("%s: got %d, want %d: %s", tt.name, a.Status, tt.want, a.Body)
		}
	}
	for _, path := range []string{"/inbox", "/users/" + alice.ID + "/inbox", "/users/alice/inbox", "/internal/fetch/inbox", "/relay/inbox"} {
		a := peer.Deliver(srv, path, actor, peer.Activity("Follow", actor, srv.URL+"/users/"+alice.ID)).Want(202)
		if len(a.Body) != 0 {
			t.Errorf("%s: got %q", path, a.Body)
		}
	}
	apptest.Settle(srv)
	if got := srv.Count(`SELECT count(*) FROM follows WHERE pending = 0`); got != 1 {
		t.Errorf("there are %d follows", got)
	}
}

// TestFederationOff checks that there are no documents and inboxes, only pages, without federation (federation 1.10).
func TestFederationOff(t *testing.T) {
	srv := apptest.StartPeers(t, 1, func(c *config.Config) { c.Federation.Enabled = false })[0]
	alice := srv.SignUp("alice")
	st := alice.Publish("hello").ID()
	for _, path := range []string{"/users/" + alice.ID, "/users/" + alice.ID + "/outbox", "/objects/" + st, "/activities/" + st, "/contexts/" + st, "/internal/fetch", "/relay", "/@alice", "/@alice/" + st} {
		srv.GetDocument(path).WantError(404, "Record not found")
	}
	srv.As(nil).Get("/.well-known/webfinger", "resource", "acct:alice@"+srv.Settings.Host()).Want(404)
	for _, path := range []string{"/inbox", "/users/" + alice.ID + "/inbox", "/relay/inbox", "/internal/fetch/inbox"} {
		srv.As(nil).SendJSON("POST", path, apptest.Doc{}).Want(403)
	}
	srv.As(nil).DoRequest(srv.NewGet(srv.URL+"/objects/"+st, "text/html")).Want(302)
	srv.As(nil).DoRequest(srv.NewGet(srv.URL+"/@alice", "text/html")).Want(200)
}

// TestNoForgeries checks that nothing that users upload or write is served as an ActivityPub document (federation 5.3, 7.2 case 121).
func TestNoForgeries(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	srv.AddEmoji("blobs", map[string]string{"cat": "cat.png"})
	alice := srv.SignUp("alice")
	forged := []byte(`{"@context":"https://www.w3.org/ns/activitystreams","id":"` + srv.URL + `/users/x","type":"Person","inbox":"x"}`)
	alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", apptest.Doc{"svc_settings_store": apptest.Doc{"app": json.RawMessage(forged)}})
	for _, content := range [][]byte{forged, []byte("<html>" + string(forged))} {
		upload := alice.SendForm("POST", "/api/v1/media", apptest.FilePart(content))
		if upload.Status != 200 {
			continue // is refused
		}
		a := srv.As(nil).DoRequest(srv.NewGet(upload.Object().Str("url"), apptest.ActivityJSON))
		if media := a.Header.Get("Content-Type"); strings.Contains(media, "json") || strings.Contains(media, "html") {
			t.Errorf("an upload is served as %q", media)
		}
	}
	picture := alice.Upload(apptest.PNG(3, 3))
	for _, address := range []string{picture.Str("url"), srv.URL + "/emoji/blobs/cat.png", srv.URL + "/emoji/blobs/pack.json", srv.URL + "/proxy/x/y", srv.URL + "/api/v1/accounts/" + alice.ID, srv.URL + "/api/v1/instance"} {
		for _, accept := range []string{apptest.ActivityJSON, apptest.LinkedDataJSON} {
			a := srv.As(nil).DoRequest(srv.NewGet(address, accept))
			if media := a.Header.Get("Content-Type"); strings.Contains(media, "activity+json") || strings.Contains(media, "ld+json") {
				t.Errorf("%s is served as %q", address, media)
			}
			if a.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s may be sniffed", address)
			}
		}
	}
}

// TestDocumentRateLimit checks that documents have a rate limit of their own.
func TestDocumentRateLimit(t *testing.T) {
	srv := apptest.StartPeers(t, 1, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.Federation = config.Rate{Count: 5, Window: c.RateLimit.Federation.Window}
	})[0]
	for range 5 {
		srv.GetDocument("/internal/fetch").Want(200)
	}
	srv.GetDocument("/internal/fetch").WantError(429, "Throttled")
	srv.As(nil).Get("/api/v1/instance").Want(200) // is counted separately
}

// TestPageRateLimit checks that pages of profiles and posts count against the visitor's general rate limit.
func TestPageRateLimit(t *testing.T) {
	srv := apptest.StartPeers(t, 1, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.AllAnonymous = config.Rate{Count: 4, Window: c.RateLimit.AllAnonymous.Window}
	})[0]
	for i := range 6 {
		path := []string{"/@alice", "/@alice/" + store.StatusID(1<<40).String()}[i%2]
		want := 404
		if i >= 4 {
			want = 429
		}
		srv.As(nil).DoRequest(srv.NewGet(srv.URL+path, "text/html")).Want(want)
	}
}

// TestDocumentCacheInvalidation changes a post in every way, and checks that the next request sees it.
func TestDocumentCacheInvalidation(t *testing.T) {
	apptest.SkipIfShort(t)
	srv := apptest.StartPeers(t, 1)[0]
	srv.AddEmoji("blobs", map[string]string{"cat": "cat.png"})
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	quoted := bob.Publish("quote me").ID()
	picture := alice.Upload(apptest.PNG(3, 3)).Str("id")
	st := alice.Publish("hello :dog:", "media_ids[]", picture, "quote_id", quoted).ID()
	read := func() string {
		t.Helper()
		for range 2 {
			srv.GetDocument("/objects/" + st).Want(200)
		}
		return string(srv.GetDocument("/objects/" + st).Want(200).Body)
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
	alice.SendJSON("PUT", "/api/v1/statuses/"+st, apptest.Doc{"status": "hello again :dog:", "media_ids": []string{picture}}).Want(200)
	changed("edit")
	alice.SendJSON("PUT", "/api/v1/media/"+picture, apptest.Doc{"description": "black"}).Want(200)
	changed("description")
	reply := alice.Publish("more", "in_reply_to_id", st).ID()
	changed("own answer")
	alice.SendJSON("DELETE", "/api/v1/statuses/"+reply, nil).Want(200)
	changed("own answer deleted")
	bob.SendJSON("DELETE", "/api/v1/statuses/"+quoted, nil).Want(200)
	changed("quoted post deleted")
	srv.AddEmoji("dogs", map[string]string{"dog": "dog.png"})
	changed("emoji")
	srv.DeleteOrDeactivate(alice, false)
	srv.GetDocument("/objects/" + st).Want(404)
	if _, err := srv.Admin.ActivateUsers(t.Context(), []string{alice.ID}); err != nil {
		t.Fatal(err)
	}
	srv.GetDocument("/objects/" + st).Want(200)
	srv.DeleteOrDeactivate(alice, true)
	srv.GetDocument("/objects/" + st).Want(404)
	srv.RunJobs()
	srv.GetDocument("/objects/" + st).Want(410)
}

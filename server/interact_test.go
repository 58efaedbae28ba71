package server_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"svc/app/apptest"
	"testing"
)

// serveInteractionTemplate makes a peer serve WebFinger documents of an account with an interaction template.
func serveInteractionTemplate(p *apptest.FakeServer, name, template string) {
	p.T.Helper()
	body := `{"subject": "acct:` + name + `@` + p.Host + `", "links": [
		{"rel": "self", "type": "application/activity+json", "href": "` + p.URL + `/users/` + name + `"}`
	if template != "" {
		body += `, {"rel": "http://ostatus.org/schema/1.0/subscribe", "template": "` + template + `"}`
	}
	resource := url.QueryEscape("acct:" + name + "@" + p.Host)
	p.Respond("/.well-known/webfinger?resource="+resource, http.StatusOK, "application/jrd+json", []byte(body+"]}"))
	profile := url.QueryEscape(p.URL + "/@" + name)
	p.Respond("/.well-known/webfinger?resource="+profile, http.StatusOK, "application/jrd+json", []byte(body+"]}"))
}

// TestRemoteInteraction checks the redirects to the servers of remote users (extension API 27).
func TestRemoteInteraction(t *testing.T) {
	srv, p := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	post := alice.Publish("hello")
	serveInteractionTemplate(p, "bob", p.URL+"/follow?uri={uri}")
	serveInteractionTemplate(p, "plain", "")
	serveInteractionTemplate(p, "evil", "javascript:alert(1)//{uri}")
	p.Respond("/.well-known/webfinger?resource="+url.QueryEscape("acct:ill@"+p.Host), 500, "text/plain", nil)
	want := p.URL + "/follow?uri=" + url.QueryEscape(post.Str("uri"))
	for _, tt := range []struct{ profile, url, fault string }{
		{"bob@" + p.Host, want, ""},
		{"@bob@" + p.Host, want, ""},
		{" acct:bob@" + p.Host, want, ""},
		{p.URL + "/@bob", want, ""},
		{"nobody@" + p.Host, "", "Couldn't find user"},
		{"plain@" + p.Host, "", "Couldn't find user"},
		{"evil@" + p.Host, "", "Couldn't find user"},
		{"ill@" + p.Host, "", "Something went wrong"},
		{"alice@" + srv.Settings.Host(), "", "Couldn't find user"},
		{"bob", "", "Couldn't find user"},
		{"ftp://" + p.Host + "/bob", "", "Couldn't find user"},
		{strings.Repeat("x", 3000) + "@" + p.Host, "", "Couldn't find user"},
	} {
		o := srv.As(nil).SendJSON("POST", "/api/v1/svc/remote_interaction", map[string]any{"ap_id": post.Str("uri"), "profile": tt.profile}).Want(200).Object()
		if tt.fault != "" {
			if o.Str("error") != tt.fault || o.Has("url") {
				t.Errorf("%q: got %v, want the error %q", tt.profile, o.Fields, tt.fault)
			}
		} else if o.Str("url") != tt.url {
			t.Errorf("%q: got %v, want %q", tt.profile, o.Fields, tt.url)
		}
	}
	srv.As(nil).Post("/api/v1/svc/remote_interaction", "ap_id", "x").Want(400)
	srv.As(nil).SendJSON("POST", "/api/v1/svc/remote_interaction", map[string]any{"ap_id": []int{1, 2}, "profile": "bob@" + p.Host}).Want(400)

	for _, page := range []string{"/@alice", strings.TrimPrefix(post.Str("url"), srv.URL)} {
		profile := srv.Browser().Get(page).Want(200)
		address, params := profile.Submit(0, "profile", "bob@"+p.Host).Location()
		if address != p.URL+"/follow" || params.Get("uri") == "" {
			t.Errorf("%s redirects to %s, %v", page, address, params)
		}
		profile.Submit(0, "profile", "nobody@"+p.Host).Want(200, "Could not find user").Submit(0, "profile", "bob@"+p.Host).Response.Want(302)
	}
	form := srv.Browser().Get("/main/ostatus", "nickname", "alice").Want(200, "Follow @alice@"+srv.Settings.Host())
	other := srv.Browser()
	other.Origin = "https://other.example"
	other.Post("/main/ostatus", url.Values{"nickname": {"alice"}, "profile": {"bob@" + p.Host}}).Want(403)
	address, _ := srv.Browser().Post("/main/ostatus", url.Values{"user[nickname]": {"alice"}, "user[profile]": {"bob@" + p.Host}}).Location()
	if form.Forms[0].Action != "/main/ostatus" || address != p.URL+"/follow" {
		t.Errorf("the form redirects to %s", address)
	}
	secret := alice.Publish("psst", "visibility", "private")
	for _, params := range [][]string{{"nickname", "nobody"}, {"status_id", secret.ID()}, {"status_id", "x"}, {}} {
		srv.Browser().Get("/main/ostatus", params...).Want(404)
	}
}

// TestInteractBetweenPeers follows an account from its page through the user's own server, both of this software.
func TestInteractBetweenPeers(t *testing.T) {
	peers := apptest.StartPeers(t, 2)
	a, b := peers[0], peers[1]
	alice, bob := a.SignUp("alice"), b.SignUp("bob")
	page := a.Browser().Get("/@alice").Want(200).Submit(0, "profile", "bob@"+b.Settings.Host())
	address, params := page.Location()
	if address != b.URL+"/authorize_interaction" || params.Get("uri") != alice.URI() {
		t.Fatalf("it redirects to %s, %v", address, params)
	}
	browser := b.Browser()
	browser.Get("/ostatus_subscribe", "acct", alice.URI()).
		Submit(0, "authorization[name]", "bob", "authorization[password]", apptest.Password).Response.Want(302)
	browser.Get("/ostatus_subscribe", "acct", alice.URI()).Want(200, "Follow").Submit(0).Want(200)
	apptest.Settle(a, b)
	if got := bob.Get("/api/v1/accounts/" + bob.ID + "/following").Want(200).List(); len(got) != 1 || got[0].Str("acct") != "alice@"+a.Settings.Host() {
		t.Errorf("bob follows %v", got)
	}
}

// TestAuthorizeInteraction follows and replies on the page to which other servers redirect local users.
func TestAuthorizeInteraction(t *testing.T) {
	srv, p := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := p.AddActor("bob")
	note := p.Note(bob, "<p>answer me</p>")
	p.Serve(note)
	b := srv.Browser()
	address, params := b.Get("/authorize_interaction", "uri", bob).Location()
	if address != "/ostatus_subscribe" || params.Get("acct") != bob {
		t.Fatalf("it redirects to %s, %v", address, params)
	}
	login := b.Get("/ostatus_subscribe", "acct", bob).Want(200, "Sign in")
	if n := p.AllFetches(); n != 0 {
		t.Errorf("an anonymous request caused %d fetches", n)
	}
	login.Submit(0, "authorization[name]", "alice", "authorization[password]", "wrong").Want(401, "Invalid Username/Password")
	in := login.Submit(0, "authorization[name]", "alice", "authorization[password]", apptest.Password)
	address, params = in.Location()
	if address != srv.URL+"/ostatus_subscribe" || params.Get("acct") != bob {
		t.Fatalf("signing in redirects to %s, %v", address, params)
	}
	page := b.Get("/ostatus_subscribe", "acct", bob).Want(200, "@bob@"+p.Host, "Follow")
	page.Submit(0).Want(200, "You have requested to follow")
	apptest.Settle(srv)
	follow := apptest.LastDelivered(t, p, "Follow")
	p.PostAndSettle(srv, p.Activity("Accept", bob, follow))
	page = b.Get("/ostatus_subscribe", "acct", "bob@"+p.Host).Want(200, "You follow this account", "Unfollow")
	page.Submit(0).Want(200, "You do not follow this account")

	page = b.Get("/ostatus_subscribe", "acct", note["id"].(string)).Want(200, "answer me")
	said := page.Submit(0, "status", "here is one").Want(200, "Your reply is posted")
	page.Submit(0, "status", "here is one").Want(200) // the same form again
	said.Submit(0, "status", "").Want(422)
	for i, want := range []string{"favourited", "boosted", "bookmarked"} {
		page.Submit(i+1).Want(200, want)
	}
	apptest.Settle(srv)
	replies := 0
	for _, d := range p.Delivered("Create") {
		if o, _ := d["object"].(apptest.Doc); o["inReplyTo"] == note["id"] {
			replies++
		}
	}
	if replies != 1 {
		t.Errorf("%d replies were delivered: %v", replies, p.Delivered())
	}
	apptest.LastDelivered(t, p, "Like")
	if list := alice.Get("/api/v1/bookmarks").Want(200).List(); len(list) != 1 {
		t.Errorf("the bookmarks are %v", list)
	}

	own := alice.Publish("mine")
	b.Get("/ostatus_subscribe", "acct", own.Str("uri")).Want(200, "mine")
	b.Get("/ostatus_subscribe", "acct", "alice").Want(200, "@alice")
	for _, what := range []string{"nobody@" + p.Host, p.URL + "/nothing", "nobody", srv.URL + "/objects/x", "javascript:alert(1)"} {
		b.Get("/ostatus_subscribe", "acct", what).Want(404)
	}
	b.Get("/ostatus_subscribe").Want(400)

	// Other sites cannot submit the forms.
	values := url.Values{"acct": {bob}, "decision": {"follow"}}
	b.Post("/ostatus_subscribe", values).Want(403)
	form := b.Get("/ostatus_subscribe", "acct", bob).Want(200).Forms[0]
	values.Set("form_token", form.Fields.Get("form_token"))
	b.Origin = "https://other.example"
	b.Post("/ostatus_subscribe", values).Want(403)
	b.Origin = srv.URL
	b.Post("/ostatus_subscribe", values).Want(200, "You have requested")
	values.Set("decision", "switch")
	b.Post("/ostatus_subscribe", values).Want(200, "Sign in")
	b.Get("/ostatus_subscribe", "acct", bob).Want(200, "Sign in")
}

// TestInteractionWithMFA checks that this sign-in requires the second factor.
func TestInteractionWithMFA(t *testing.T) {
	srv := apptest.Start(t)
	alice, carol := srv.SignUp("alice"), srv.SignUp("carol")
	secret := alice.EnableMFA()
	b := srv.Browser()
	challenge := b.Get("/ostatus_subscribe", "acct", "carol").Want(200, "Sign in").
		Submit(0, "authorization[name]", "alice", "authorization[password]", apptest.Password).Want(200, "Two-factor")
	b.Get("/ostatus_subscribe", "acct", "carol").Want(200, "Sign in")
	challenge.Submit(0, "mfa[code]", "000000").Want(401, "Two-factor authentication failed")
	address, params := challenge.Submit(0, "mfa[code]", apptest.TOTPCode(t, secret, 0)).Location()
	if address != srv.URL+"/ostatus_subscribe" || params.Get("acct") != "carol" {
		t.Fatalf("it redirects to %s, %v", address, params)
	}
	b.Get("/ostatus_subscribe", "acct", "carol").Want(200, "Follow").Submit(0).Want(200, "You follow this account")
	if got := carol.Get("/api/v1/accounts/" + carol.ID + "/followers").Want(200).IDs(); !slices.Contains(got, alice.ID) {
		t.Errorf("the followers are %v", got)
	}
}

// TestInteractionVisibility checks that the page shows only posts that are visible to the user.
func TestInteractionVisibility(t *testing.T) {
	apptest.SkipIfShort(t)
	srv := apptest.Start(t)
	author, follower, unrelated, blocked := srv.SignUp("author"), srv.SignUp("follower"), srv.SignUp("unrelated"), srv.SignUp("blocked")
	srv.AddFollow(follower, author)
	srv.AddBlock(author, blocked)
	browsers := make(map[*apptest.User]*apptest.Browser)
	for _, m := range []*apptest.User{author, follower, unrelated, blocked} {
		b := srv.Browser()
		b.Get("/ostatus_subscribe", "acct", "author").Submit(0, "authorization[name]", m.Nickname, "authorization[password]", apptest.Password).Response.Want(302)
		browsers[m] = b
	}
	for _, tt := range []struct {
		visibility string
		sees       []*apptest.User
		remote     bool // remote users can reply to it
	}{
		{"public", []*apptest.User{author, follower, unrelated}, true},
		{"unlisted", []*apptest.User{author, follower, unrelated}, true},
		{"local", []*apptest.User{author, follower, unrelated}, false},
		{"private", []*apptest.User{author, follower}, false},
		{"direct", []*apptest.User{author}, false},
	} {
		st := author.Publish("words", "visibility", tt.visibility)
		for m, b := range browsers {
			for _, address := range []string{st.Str("uri"), st.Str("url")} {
				want := map[bool]int{true: 200, false: 404}[slices.Contains(tt.sees, m)]
				if got := b.Get("/ostatus_subscribe", "acct", address).Status; got != want {
					t.Errorf("%s sees %s: %d, want %d", m.Nickname, tt.visibility, got, want)
				}
			}
		}
		want := map[bool]int{true: 200, false: 404}[tt.remote]
		if got := srv.Browser().Get("/main/ostatus", "status_id", st.ID()).Status; got != want {
			t.Errorf("%s for remote users: %d, want %d", tt.visibility, got, want)
		}
	}
}

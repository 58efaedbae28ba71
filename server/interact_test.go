package server_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// serveTemplate has a peer say where people with an account there go on.
func (p *fakePeer) serveTemplate(name, template string) {
	p.t.Helper()
	body := `{"subject": "acct:` + name + `@` + p.host + `", "links": [
		{"rel": "self", "type": "application/activity+json", "href": "` + p.url + `/users/` + name + `"}`
	if template != "" {
		body += `, {"rel": "http://ostatus.org/schema/1.0/subscribe", "template": "` + template + `"}`
	}
	resource := url.QueryEscape("acct:" + name + "@" + p.host)
	p.respond("/.well-known/webfinger?resource="+resource, http.StatusOK, "application/jrd+json", []byte(body+"]}"))
	profile := url.QueryEscape(p.url + "/@" + name)
	p.respond("/.well-known/webfinger?resource="+profile, http.StatusOK, "application/jrd+json", []byte(body+"]}"))
}

// Where somebody with an account elsewhere goes on (extension API 27).
func TestRemoteInteraction(t *testing.T) {
	srv, p := startWithPeer(t)
	alice := srv.signUp("alice")
	post := alice.publish("hello")
	p.serveTemplate("bob", p.url+"/follow?uri={uri}")
	p.serveTemplate("plain", "")
	p.serveTemplate("evil", "javascript:alert(1)//{uri}")
	p.respond("/.well-known/webfinger?resource="+url.QueryEscape("acct:ill@"+p.host), 500, "text/plain", nil)
	want := p.url + "/follow?uri=" + url.QueryEscape(post.str("uri"))
	for _, tt := range []struct{ profile, url, fault string }{
		{"bob@" + p.host, want, ""},
		{"@bob@" + p.host, want, ""},
		{" acct:bob@" + p.host, want, ""},
		{p.url + "/@bob", want, ""},
		{"nobody@" + p.host, "", "Couldn't find user"},
		{"plain@" + p.host, "", "Couldn't find user"},
		{"evil@" + p.host, "", "Couldn't find user"},
		{"ill@" + p.host, "", "Something went wrong"},
		{"alice@" + srv.settings.Host(), "", "Couldn't find user"},
		{"bob", "", "Couldn't find user"},
		{"ftp://" + p.host + "/bob", "", "Couldn't find user"},
		{strings.Repeat("x", 3000) + "@" + p.host, "", "Couldn't find user"},
	} {
		o := srv.as(nil).send("POST", "/api/v1/svc/remote_interaction", map[string]any{"ap_id": post.str("uri"), "profile": tt.profile}).want(200).object()
		if tt.fault != "" {
			if o.str("error") != tt.fault || o.has("url") {
				t.Errorf("%q: got %v, want the error %q", tt.profile, o.m, tt.fault)
			}
		} else if o.str("url") != tt.url {
			t.Errorf("%q: got %v, want %q", tt.profile, o.m, tt.url)
		}
	}
	srv.as(nil).post("/api/v1/svc/remote_interaction", "ap_id", "x").want(400)
	srv.as(nil).send("POST", "/api/v1/svc/remote_interaction", map[string]any{"ap_id": []int{1, 2}, "profile": "bob@" + p.host}).want(400)

	for _, page := range []string{"/@alice", strings.TrimPrefix(post.str("url"), srv.url)} {
		profile := srv.browser().get(page).want(200)
		address, params := profile.submit(0, "profile", "bob@"+p.host).location()
		if address != p.url+"/follow" || params.Get("uri") == "" {
			t.Errorf("%s leads to %s, %v", page, address, params)
		}
		profile.submit(0, "profile", "nobody@"+p.host).want(200, "Could not find user").submit(0, "profile", "bob@"+p.host).answer.want(302)
	}
	form := srv.browser().get("/main/ostatus", "nickname", "alice").want(200, "Follow @alice@"+srv.settings.Host())
	other := srv.browser()
	other.origin = "https://elsewhere.example"
	other.post("/main/ostatus", url.Values{"nickname": {"alice"}, "profile": {"bob@" + p.host}}).want(403)
	address, _ := srv.browser().post("/main/ostatus", url.Values{"user[nickname]": {"alice"}, "user[profile]": {"bob@" + p.host}}).location()
	if form.forms[0].action != "/main/ostatus" || address != p.url+"/follow" {
		t.Errorf("the form leads to %s", address)
	}
	secret := alice.publish("psst", "visibility", "private")
	for _, params := range [][]string{{"nickname", "nobody"}, {"status_id", secret.id()}, {"status_id", "x"}, {}} {
		srv.browser().get("/main/ostatus", params...).want(404)
	}
}

// From one server of this kind to another.
func TestInteractBetweenPeers(t *testing.T) {
	peers := startPeers(t, 2)
	a, b := peers[0], peers[1]
	alice, bob := a.signUp("alice"), b.signUp("bob")
	page := a.browser().get("/@alice").want(200).submit(0, "profile", "bob@"+b.settings.Host())
	address, params := page.location()
	if address != b.url+"/authorize_interaction" || params.Get("uri") != alice.uri() {
		t.Fatalf("it leads to %s, %v", address, params)
	}
	there := b.browser()
	there.get("/ostatus_subscribe", "acct", alice.uri()).
		submit(0, "authorization[name]", "bob", "authorization[password]", testPassword).answer.want(302)
	there.get("/ostatus_subscribe", "acct", alice.uri()).want(200, "Follow").submit(0).want(200)
	settle(a, b)
	if got := bob.get("/api/v1/accounts/" + bob.id + "/following").want(200).list(); len(got) != 1 || got[0].str("acct") != "alice@"+a.settings.Host() {
		t.Errorf("bob follows %v", got)
	}
}

// Other servers send people here to follow and answer what they have found there.
func TestAuthorizeInteraction(t *testing.T) {
	srv, p := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := p.actor("bob")
	note := p.note(bob, "<p>answer me</p>")
	p.serve(note)
	b := srv.browser()
	address, params := b.get("/authorize_interaction", "uri", bob).location()
	if address != "/ostatus_subscribe" || params.Get("acct") != bob {
		t.Fatalf("it leads to %s, %v", address, params)
	}
	login := b.get("/ostatus_subscribe", "acct", bob).want(200, "Sign in")
	if n := p.askedAll(); n != 0 {
		t.Errorf("a stranger has had %d requests made", n)
	}
	login.submit(0, "authorization[name]", "alice", "authorization[password]", "wrong").want(401, "Invalid Username/Password")
	in := login.submit(0, "authorization[name]", "alice", "authorization[password]", testPassword)
	address, params = in.location()
	if address != srv.url+"/ostatus_subscribe" || params.Get("acct") != bob {
		t.Fatalf("who has signed in goes on at %s, %v", address, params)
	}
	page := b.get("/ostatus_subscribe", "acct", bob).want(200, "@bob@"+p.host, "Follow")
	page.submit(0).want(200, "You have asked to follow")
	settle(srv)
	follow := lastOf(t, p, "Follow")
	p.receive(srv, p.activity("Accept", bob, follow))
	page = b.get("/ostatus_subscribe", "acct", "bob@"+p.host).want(200, "You follow this account", "Unfollow")
	page.submit(0).want(200, "You do not follow this account")

	page = b.get("/ostatus_subscribe", "acct", note["id"].(string)).want(200, "answer me")
	said := page.submit(0, "status", "here is one").want(200, "Your answer is posted")
	page.submit(0, "status", "here is one").want(200) // the same form again
	said.submit(0, "status", "").want(422)
	for i, want := range []string{"favourites", "boosted", "bookmarks"} {
		page.submit(i+1).want(200, want)
	}
	settle(srv)
	answers := 0
	for _, d := range p.delivered("Create") {
		if o, _ := d["object"].(doc); o["inReplyTo"] == note["id"] {
			answers++
		}
	}
	if answers != 1 {
		t.Errorf("%d answers were delivered: %v", answers, p.delivered())
	}
	lastOf(t, p, "Like")
	if list := alice.get("/api/v1/bookmarks").want(200).list(); len(list) != 1 {
		t.Errorf("the bookmarks are %v", list)
	}

	own := alice.publish("mine")
	b.get("/ostatus_subscribe", "acct", own.str("uri")).want(200, "mine")
	b.get("/ostatus_subscribe", "acct", "alice").want(200, "@alice")
	for _, what := range []string{"nobody@" + p.host, p.url + "/nothing", "nobody", srv.url + "/objects/x", "javascript:alert(1)"} {
		b.get("/ostatus_subscribe", "acct", what).want(404)
	}
	b.get("/ostatus_subscribe").want(400)

	// Other sites cannot press the buttons.
	values := url.Values{"acct": {bob}, "decision": {"follow"}}
	b.post("/ostatus_subscribe", values).want(403)
	form := b.get("/ostatus_subscribe", "acct", bob).want(200).forms[0]
	values.Set("form_token", form.fields.Get("form_token"))
	b.origin = "https://elsewhere.example"
	b.post("/ostatus_subscribe", values).want(403)
	b.origin = srv.url
	b.post("/ostatus_subscribe", values).want(200, "You have asked")
	values.Set("decision", "switch")
	b.post("/ostatus_subscribe", values).want(200, "Sign in")
	b.get("/ostatus_subscribe", "acct", bob).want(200, "Sign in")
}

// Who has a second factor has to show it here, too.
func TestInteractionWithMFA(t *testing.T) {
	srv := startAPI(t)
	alice, carol := srv.signUp("alice"), srv.signUp("carol")
	secret := alice.enableMFA()
	b := srv.browser()
	challenge := b.get("/ostatus_subscribe", "acct", "carol").want(200, "Sign in").
		submit(0, "authorization[name]", "alice", "authorization[password]", testPassword).want(200, "Two-factor")
	b.get("/ostatus_subscribe", "acct", "carol").want(200, "Sign in")
	challenge.submit(0, "mfa[code]", "000000").want(401, "Two-factor authentication failed")
	address, params := challenge.submit(0, "mfa[code]", codeAt(t, secret, 0)).location()
	if address != srv.url+"/ostatus_subscribe" || params.Get("acct") != "carol" {
		t.Fatalf("it leads to %s, %v", address, params)
	}
	b.get("/ostatus_subscribe", "acct", "carol").want(200, "Follow").submit(0).want(200, "You follow this account")
	if got := carol.get("/api/v1/accounts/" + carol.id + "/followers").want(200).ids(); !slices.Contains(got, alice.id) {
		t.Errorf("the followers are %v", got)
	}
}

// The page shows posts to those only who may read them.
func TestInteractionVisibility(t *testing.T) {
	srv := startAPI(t)
	author, follower, stranger, blocked := srv.signUp("author"), srv.signUp("follower"), srv.signUp("stranger"), srv.signUp("blocked")
	srv.letFollow(follower, author)
	srv.letBlock(author, blocked)
	browsers := make(map[*member]*browser)
	for _, m := range []*member{author, follower, stranger, blocked} {
		b := srv.browser()
		b.get("/ostatus_subscribe", "acct", "author").submit(0, "authorization[name]", m.nick, "authorization[password]", testPassword).answer.want(302)
		browsers[m] = b
	}
	for _, tt := range []struct {
		visibility string
		sees       []*member
		remote     bool // it can be answered from elsewhere
	}{
		{"public", []*member{author, follower, stranger}, true},
		{"unlisted", []*member{author, follower, stranger}, true},
		{"local", []*member{author, follower, stranger}, false},
		{"private", []*member{author, follower}, false},
		{"direct", []*member{author}, false},
	} {
		st := author.publish("words", "visibility", tt.visibility)
		for m, b := range browsers {
			for _, address := range []string{st.str("uri"), st.str("url")} {
				want := map[bool]int{true: 200, false: 404}[slices.Contains(tt.sees, m)]
				if got := b.get("/ostatus_subscribe", "acct", address).status; got != want {
					t.Errorf("%s sees %s: %d, want %d", m.nick, tt.visibility, got, want)
				}
			}
		}
		want := map[bool]int{true: 200, false: 404}[tt.remote]
		if got := srv.browser().get("/main/ostatus", "status_id", st.id()).status; got != want {
			t.Errorf("%s from elsewhere: %d, want %d", tt.visibility, got, want)
		}
	}
}

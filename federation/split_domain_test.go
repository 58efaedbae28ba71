package federation_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// startSplit starts a server whose handles have another host, and the web server of that host, which redirects as docs/split-domain.md says.
func startSplit(t *testing.T) (srv *apptest.Server, host string) {
	var target atomic.Value
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/.well-known/webfinger", "/.well-known/host-meta", "/.well-known/host-meta.json", "/.well-known/nodeinfo":
			http.Redirect(w, r, target.Load().(string)+r.URL.RequestURI(), http.StatusMovedPermanently)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(web.Close)
	host = strings.TrimPrefix(web.URL, "http://")
	srv = apptest.StartWithLoopback(t, func(c *config.Config) { c.Server.Host = host })
	target.Store(srv.URL)
	return srv, host
}

// TestSplitDomain checks that a server with handles of another host federates in both directions, by both handles of its accounts.
func TestSplitDomain(t *testing.T) {
	srv, host := startSplit(t)
	other := apptest.StartWithLoopback(t)
	webHost, otherHost := strings.TrimPrefix(srv.URL, "http://"), strings.TrimPrefix(other.URL, "http://")
	alice, carl, bob := srv.SignUp("alice"), srv.SignUp("carl"), other.SignUp("bob")
	handles := []string{"alice@" + host, "alice@" + webHost}

	id := ""
	for _, handle := range handles {
		found := bob.Get("/api/v2/search", "q", "@"+handle, "type", "accounts", "resolve", "true").Want(200).Object()
		if got := found.Find("accounts.0.acct"); got != handles[0] {
			t.Fatalf("%s resolves to %v, want %s", handle, got, handles[0])
		}
		if id != "" && found.Find("accounts.0.id") != id {
			t.Errorf("%s is another account than %s", handle, handles[0])
		}
		id = found.Find("accounts.0.id").(string)
		local := carl.Get("/api/v2/search", "q", "@"+handle, "type", "accounts").Want(200).Object()
		if local.Find("accounts.0.id") != alice.ID {
			t.Errorf("a local search for %s finds %v", handle, local.Fields["accounts"])
		}
		if got := carl.Get("/api/v1/accounts/lookup", "acct", handle).Want(200).Object().ID(); got != alice.ID {
			t.Errorf("a lookup of %s finds %s", handle, got)
		}
	}
	bob.Post("/api/v1/accounts/" + id + "/follow").Want(200)
	theirs := alice.Get("/api/v2/search", "q", "@bob@"+otherHost, "type", "accounts", "resolve", "true").Want(200).Object().Find("accounts.0.id").(string)
	alice.Post("/api/v1/accounts/" + theirs + "/follow").Want(200)
	apptest.Settle(srv, other)
	if n := alice.Get("/api/v1/accounts/" + alice.ID).Want(200).Object(); n.Int("followers_count") != 1 || n.Int("following_count") != 1 {
		t.Errorf("%d followers, %d followed accounts, want 1 and 1", n.Int("followers_count"), n.Int("following_count"))
	}

	for _, m := range []struct {
		author *apptest.User
		handle string
	}{{bob, handles[0]}, {carl, handles[0]}, {carl, handles[1]}} {
		before := srv.Count(`SELECT count(*) FROM notifications WHERE type = 'mention'`)
		m.author.Publish("@" + m.handle + " hello")
		apptest.Settle(other, srv)
		if got := srv.Count(`SELECT count(*) FROM notifications WHERE type = 'mention'`); got != before+1 {
			t.Errorf("a mention of %s by %s causes %d notifications, want 1", m.handle, m.author.Nickname, got-before)
		}
	}
	post := alice.Publish("@bob@" + otherHost + " hello")
	apptest.Settle(srv, other)
	mention := bob.Get("/api/v1/notifications", "types[]", "mention").Want(200).List()
	if len(mention) != 1 || mention[0].Str("account.acct") != handles[0] {
		t.Fatalf("bob is mentioned by %v, want %s", mention, handles[0])
	}
	bob.Publish("hello yourself", "in_reply_to_id", mention[0].Str("status.id"))
	apptest.Settle(other, srv)
	if n := alice.Get("/api/v1/statuses/" + post.ID()).Want(200).Object().Int("replies_count"); n != 1 {
		t.Errorf("the post has %d replies, want 1", n)
	}
	bob.Get("/api/v1/statuses/" + mention[0].Str("status.id")).Want(200)
}

// TestSplitDomainAddresses checks which of the two hosts stands where, and that both are this server.
func TestSplitDomainAddresses(t *testing.T) {
	srv, host := startSplit(t)
	webHost := strings.TrimPrefix(srv.URL, "http://")
	alice := srv.SignUp("alice")
	for _, of := range []string{host, webHost} {
		finger := srv.As(nil).Get("/.well-known/webfinger", "resource", "acct:alice@"+of).Want(200).Object()
		if got, want := finger.Str("subject"), "acct:alice@"+host; got != want {
			t.Errorf("the subject of alice@%s is %s, want %s", of, got, want)
		}
		alice.Post("/api/v1/domain_blocks", "domain", of).Want(422)
	}
	if got := srv.As(nil).Get("/.well-known/webfinger", "resource", "acct:alice@other.example").Status; got != 404 {
		t.Errorf("WebFinger answers %d for another host, want 404", got)
	}
	peer := apptest.StartFake(t)
	actor := peer.FetchAs(srv, alice.URI(), "", "application/activity+json").Want(200).Object()
	for key, want := range map[string]string{"id": srv.URL + "/users/" + alice.ID, "webfinger": "alice@" + host, "preferredUsername": "alice"} {
		if got := actor.Str(key); got != want {
			t.Errorf("%s of the actor is %s, want %s", key, got, want)
		}
	}
	instance := srv.As(nil).Get("/api/v2/instance").Want(200).Object()
	if got := instance.Str("domain"); got != host {
		t.Errorf("the domain is %s, want %s", got, host)
	}
	if got := srv.As(nil).Get("/api/v1/instance").Want(200).Object().Str("uri"); got != host {
		t.Errorf("the uri is %s, want %s", got, host)
	}
	if got := srv.As(nil).Get("/.well-known/oauth-authorization-server").Want(200).Object().Str("issuer"); !strings.HasPrefix(got, srv.URL) {
		t.Errorf("the issuer is %s, want %s", got, srv.URL)
	}
	post := alice.Publish("hello")
	for _, key := range []string{"uri", "url"} {
		if got := post.Str(key); !strings.HasPrefix(got, srv.URL+"/") {
			t.Errorf("the %s of a post is %s", key, got)
		}
	}
	// references by a page of either host mean the local account
	for _, base := range []string{srv.URL, "http://" + host} {
		bob := peer.AddActor("bob" + strings.ReplaceAll(base[len("http://127.0.0.1:"):], ":", ""))
		before := srv.Count(`SELECT count(*) FROM follows`)
		peer.PostAndSettle(srv, peer.Activity("Follow", bob, base+"/@alice"))
		if got := srv.Count(`SELECT count(*) FROM follows`); got != before+1 {
			t.Errorf("a Follow of %s/@alice makes %d follows, want 1", base, got-before)
		}
	}
}

package federation_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/store"
)

// cardAuthors returns the handles of the authors in the card of a status, and checks the other members.
func cardAuthors(t *testing.T, st *apptest.Object) (handles []string) {
	t.Helper()
	card, ok := st.At("card").(map[string]any)
	if !ok {
		return nil
	}
	for _, v := range card["authors"].([]any) {
		author := v.(map[string]any)
		account := author["account"].(map[string]any)
		if author["name"] != account["display_name"] || author["url"] != account["url"] {
			t.Errorf("the author %v has name or URL of another account than %v", author, account["acct"])
		}
		handles = append(handles, account["acct"].(string))
	}
	return handles
}

// startBlog starts a site on localhost whose pages /HANDLE name an author.
func startBlog(t *testing.T) (blog *apptest.FakeServer, address string) {
	t.Helper()
	blog = apptest.StartFake(t)
	blog.Check = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<head><title>x</title><meta name="Fediverse:Creator" content=" %s "></head>`, strings.TrimPrefix(r.URL.Path, "/"))
		return false
	}
	return blog, strings.Replace(blog.URL, "127.0.0.1", "localhost", 1)
}

// TestCardAuthors checks which pages show an author: a known one or one that can be found, who lists the host.
func TestCardAuthors(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	_, address := startBlog(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	host := strings.TrimPrefix(srv.URL, "http://")
	carol := peer.AddActor("carol")
	srv.FetchActor(carol)
	dora := peer.AddActor("dora")
	peer.AddActor("erin", apptest.Doc{"type": "Note"})
	list := func(nick, domain, hosts string) {
		t.Helper()
		srv.Exec(`UPDATE accounts SET attribution_domains = ? WHERE nickname = ? AND domain = ?`, hosts, nick, domain)
	}
	posts := make(map[string]string)
	authors := func(page string) []string {
		t.Helper()
		if posts[page] == "" {
			posts[page] = bob.Publish("see " + address + "/" + page).ID()
			apptest.Settle(srv)
		}
		return cardAuthors(t, bob.Get("/api/v1/statuses/"+posts[page]).Want(200).Object())
	}
	local, known, unknown := "@alice@"+host, "@carol@"+peer.Host, "dora@"+peer.Host
	for _, page := range []string{local, known, unknown} {
		apptest.WantList(t, page+" does not list the host", authors(page))
	}
	if srv.KnownID(dora) == "" {
		t.Error("the unknown author was not looked up")
	}
	list("alice", "", `["other.example","localhost"]`)
	list("carol", peer.Host, `["localhost"]`)
	list("dora", peer.Host, `["localhost"]`)
	apptest.WantList(t, "local", authors(local), "alice")
	apptest.WantList(t, "known", authors(known), "carol@"+peer.Host)
	apptest.WantList(t, "unknown", authors(unknown), "dora@"+peer.Host)
	boost := alice.Post("/api/v1/statuses/" + posts[known] + "/reblog").Want(200).Object()
	apptest.WantList(t, "boost", cardAuthors(t, boost), "carol@"+peer.Host)
	apptest.WantList(t, "boosted", cardAuthors(t, bob.Get("/api/v1/statuses/"+boost.Str("reblog.id")).Want(200).Object()), "carol@"+peer.Host)
	apptest.WantList(t, "timeline", cardAuthors(t, srv.As(nil).Get("/api/v1/timelines/public", "local", "true").Want(200).List()[0]), "dora@"+peer.Host)
	card := bob.Get("/api/v1/statuses/" + posts[local] + "/card").Want(200).Object()
	apptest.WantList(t, "card", cardAuthors(t, &apptest.Object{T: t, Fields: map[string]any{"card": card.Fields}}), "alice")
	srv.As(nil).Get("/@bob/" + posts[local]).Want(200)
	for _, page := range []string{"@nobody@" + host, "@erin@" + peer.Host, "alice", "@alice", "@al ice@" + host, "@alice@", "https://example.org/@alice", strings.Repeat("a", 600) + "@" + host} {
		apptest.WantList(t, page, authors(page))
	}
	for hosts, want := range map[string]bool{
		`["other.example"]`: false, `["host"]`: false, `["calhost"]`: false, `["a.localhost"]`: false, `[]`: false, `["localhost"]`: true,
	} {
		list("alice", "", hosts)
		if got := len(authors(local)) == 1; got != want {
			t.Errorf("listing %s shows the author: %v", hosts, got)
		}
	}
	srv.Exec(`UPDATE cards SET card = json_set(card, '$.url', 'https://News.Blog.Example:8443/x') WHERE card <> ''`)
	for hosts, want := range map[string]bool{`["blog.example"]`: true, `["news.blog.example"]`: true, `["log.example"]`: false} {
		list("alice", "", hosts)
		if got := len(authors(local)) == 1; got != want {
			t.Errorf("listing %s shows the author of a page below it: %v", hosts, got)
		}
	}
	list("alice", "", `["blog.example"]`)
	srv.MakeUnavailable(alice)
	apptest.WantList(t, "unavailable", authors(local))
}

// TestAttributionDomains changes the setting, and checks the answers, the actor document and the refused values.
func TestAttributionDomains(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	peer.AddFollower(srv, "bob", alice)
	var many []string
	for i := range 101 {
		many = append(many, fmt.Sprintf("host%d.example", i))
	}
	stored := []any{}
	for _, tt := range []struct {
		name string
		body any
		want []any // nil: refused
	}{
		{"some", []string{"Blog.Example.", "blog.example", "ü.example", " a.b.example "}, []any{"blog.example", "xn--tda.example", "a.b.example"}},
		{"lines of a form", "a.example\r\n\r\nb.example\n", []any{"a.example", "b.example"}},
		{"null", nil, []any{"a.example", "b.example"}},
		{"a URL", []string{"https://blog.example"}, nil},
		{"a path", []string{"blog.example/x"}, nil},
		{"a port", []string{"blog.example:443"}, nil},
		{"an IP address", []string{"192.0.2.1"}, nil},
		{"an IPv6 address", []string{"[2001:db8::1]"}, nil},
		{"one label", []string{"localhost"}, nil},
		{"a handle", []string{"@alice@blog.example"}, nil},
		{"a wildcard", []string{"*.blog.example"}, nil},
		{"no name", []string{"a..example"}, nil},
		{"too long", []string{strings.Repeat("a.", 130) + "example"}, nil},
		{"a number", []any{1.5}, nil},
		{"an object", map[string]any{"a": map[string]any{}}, nil},
		{"too many", many, nil},
		{"many", many[:100], anyList(many[:100])},
		{"none", []string{}, []any{}},
	} {
		a := alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"attribution_domains": tt.body, "note": tt.name})
		if tt.want == nil && a.Status != 422 && a.Status != 400 {
			t.Errorf("%s: got %d %s, want an error", tt.name, a.Status, a.Body)
		}
		if tt.want != nil {
			a.Want(200)
			stored = tt.want
		}
		o := alice.Get("/api/v1/accounts/verify_credentials").Want(200).Object()
		if got := o.At("source.attribution_domains"); fmt.Sprint(got) != fmt.Sprint(stored) {
			t.Errorf("%s: got %v, want %v", tt.name, got, stored)
		}
		if o.Str("source.note") == tt.name != (tt.want != nil) {
			t.Errorf("%s: the refused request changed the bio", tt.name)
		}
		got := srv.GetDocument("/users/alice").Document()["attributionDomains"]
		if len(stored) == 0 && got != nil || len(stored) > 0 && fmt.Sprint(got) != fmt.Sprint(stored) {
			t.Errorf("%s: the actor has %v, want %v", tt.name, got, stored)
		}
	}
	peer.ClearDelivered()
	alice.UpdateProfile(map[string]any{"attribution_domains": []string{"blog.example"}})
	srv.Advance(time.Minute)
	apptest.Settle(srv)
	if got := peer.OneDelivered("Update")["object"].(map[string]any)["attributionDomains"]; fmt.Sprint(got) != "[blog.example]" {
		t.Errorf("the Update has attributionDomains %v", got)
	}
	if strings.Contains(string(srv.As(nil).Get("/api/v1/accounts/"+alice.ID).Want(200).Body), "attribution_domains") {
		t.Error("others see the setting in the account")
	}
}

func anyList(texts []string) (list []any) {
	for _, t := range texts {
		list = append(list, t)
	}
	return list
}

// TestRemoteAttributionDomains checks which values of actors are read.
func TestRemoteAttributionDomains(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	var many []any
	for i := range 5000 {
		many = append(many, fmt.Sprintf("host%d.example", i))
	}
	for i, tt := range []struct {
		given any
		want  int
	}{
		{[]any{"blog.example", "BLOG.example", "ü.example"}, 2},
		{"blog.example", 1},
		{[]any{"https://blog.example", "a:1", "", 5, nil, map[string]any{}, []any{"x.example"}, "192.0.2.1", "blog.example"}, 1},
		{map[string]any{"a": "b"}, 0},
		{nil, 0},
		{many, store.MaxAttributionDomains},
	} {
		id := srv.FetchActor(peer.AddActor(fmt.Sprint("bob", i), apptest.Doc{"attributionDomains": tt.given}))
		if got := srv.Account(t, id).AttributionDomains.V; len(got) != tt.want || got == nil {
			t.Errorf("of %.100v got %.5q, want %d", tt.given, got, tt.want)
		}
	}
}

// TestCardAuthorsAreBounded posts links to many pages of a host that all name other unknown authors.
func TestCardAuthorsAreBounded(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	_, address := startBlog(t)
	bob := srv.SignUp("bob")
	lookUps := 0
	peer.Check = func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
		if r.URL.Path == "/.well-known/webfinger" {
			lookUps++
		}
		return true
	}
	for i := range 15 {
		bob.Publish(fmt.Sprintf("see %s/@a%d@%s", address, i, peer.Host))
	}
	apptest.Settle(srv)
	if lookUps != 10 {
		t.Errorf("got %d look-ups of authors, want 10 in an hour", lookUps)
	}
}

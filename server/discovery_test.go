package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// resolved searches for what may be elsewhere, and returns the ids of accounts found and then of statuses.
func (m *member) resolved(q string, params ...string) []string {
	m.api.t.Helper()
	o := m.get("/api/v2/search", append([]string{"q", q, "resolve", "true"}, params...)...).want(200).object()
	return append(members(o, "accounts", "id"), members(o, "statuses", "id")...)
}

// Accounts of other servers are found by handle, by id and by the address of their page, by people who are signed in.
func TestFindElsewhere(t *testing.T) {
	srv := startPeers(t, 1)[0]
	bob := srv.signUp("bob")
	p := startFake(t)
	alice := p.actor("alice", doc{
		"name": "Alice :cat:", "summary": "<p>hi :dog: <script>x</script></p>", "type": "Service", "manuallyApprovesFollowers": true,
		"icon":       doc{"type": "Image", "url": "https://media.example/a.png"},
		"attachment": []any{doc{"type": "PropertyValue", "name": "web", "value": `<a href="https://alice.example" rel="me">alice.example</a>`}},
		"tag": []any{
			doc{"type": "Emoji", "name": ":cat:", "icon": doc{"url": "https://media.example/cat.png"}},
			doc{"type": "Emoji", "name": ":unused:", "icon": doc{"url": "https://media.example/unused.png"}},
		},
		"vcard:bday": "1990-04-01", "capabilities": doc{"acceptsChatMessages": false}, "alsoKnownAs": []any{"https://old.example/users/alice"},
	})
	p.respond("/@page", 200, "text/html", []byte(`<html><head><link rel="stylesheet" href="/x"><LINK href="/users/carol" type="application/activity+json" rel='Alternate'>`))
	p.actor("carol")
	p.respond("/@elsewhere", 200, "text/html", []byte(`<link rel="alternate" type="application/activity+json" href="https://other.example/users/carol">`))
	p.respond("/@nothing", 200, "text/html", []byte(`<link rel="alternate" type="application/atom+xml" href="/feed">`))
	handle := "alice@" + p.host

	if got := srv.as(nil).get("/api/v2/search", "q", "@"+handle, "resolve", "true").want(200).object(); len(members(got, "accounts", "id")) != 0 || p.askedAll() != 0 {
		t.Error("the anonymous have others asked")
	}
	bob.get("/api/v2/search", "q", "@"+handle).want(200)
	bob.get("/api/v1/accounts/lookup", "acct", handle).want(404)
	if p.askedAll() != 0 {
		t.Error("others are asked though nobody wants that")
	}
	ids := bob.resolved("@" + handle)
	if len(ids) != 1 {
		t.Fatalf("found %v", ids)
	}
	a := bob.get("/api/v1/accounts/" + ids[0]).want(200).object()
	for path, want := range map[string]any{
		"username": "alice", "acct": handle, "fqn": handle, "display_name": "Alice :cat:", "bot": true, "locked": true, "group": false, "uri": alice,
		"url": p.url + "/@alice", "avatar": "https://media.example/a.png", "svc.ap_id": alice, "svc.accepts_chat_messages": false, "svc.birthday": "1990-04-01",
	} {
		if got := a.at(path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	if note := a.str("note"); note != "<p>hi :dog:</p>" && note != "<p>hi :dog: </p>" {
		t.Errorf("note is %q", note)
	}
	if got := strings.Join(members(a, "emojis", "shortcode"), " "); got != "cat" {
		t.Errorf("emojis are %s", got)
	}
	if got := members(a, "emojis", "url"); got[0] != "https://media.example/cat.png" {
		t.Errorf("emojis are at %v", got)
	}
	if got := members(a, "fields", "value"); len(got) != 1 || !strings.Contains(got[0], `href="https://alice.example"`) || !strings.Contains(got[0], "me") {
		t.Errorf("fields are %v", got)
	}
	for _, q := range []string{alice, p.url + "/@alice", "alice@" + strings.ToUpper(p.host)} {
		if got := bob.resolved(q); len(got) != 1 || got[0] != ids[0] {
			t.Errorf("%s: found %v", q, got)
		}
	}
	if got := bob.resolved(p.url + "/@page"); len(got) != 1 || got[0] == ids[0] {
		t.Errorf("by a page: found %v", got)
	}
	for _, q := range []string{p.url + "/@elsewhere", p.url + "/@nothing", p.url + "/none", "nobody@" + p.host, "x@127.0.0.1:1", "https://10.0.0.1/users/x", "ftp://" + p.host + "/users/alice"} {
		if got := bob.resolved(q); len(got) != 0 {
			t.Errorf("%s: found %v", q, got)
		}
	}
	p.actor("dora")
	if got := bob.get("/api/v1/accounts/lookup", "acct", "dora@"+p.host, "skip_webfinger", "false").want(200).object(); got.str("username") != "dora" {
		t.Errorf("looked up %v", got.m)
	}
	p.actor("emil")
	if got := bob.get("/api/v1/accounts/search", "q", "@emil@"+p.host, "resolve", "true").want(200).ids(); len(got) != 1 {
		t.Errorf("account search found %v", got)
	}
	p.actor("fay")
	if got := bob.post("/api/v1/follows", "uri", "fay@"+p.host).want(200).object(); got.str("username") != "fay" {
		t.Errorf("followed %v", got.m)
	}
	old := p.actor("old", doc{"alsoKnownAs": []any{srv.url + "/users/" + bob.id}})
	bob.send("PUT", "/api/v1/svc/aliases", map[string]string{"alias": "old@" + p.host}).want(200)
	if got := bob.get("/api/v1/accounts/verify_credentials").want(200).object().at("svc.also_known_as").([]any); len(got) != 1 || got[0] != old {
		t.Errorf("aliases are %v", got)
	}
	bob.send("PUT", "/api/v1/svc/aliases", map[string]string{"alias": "nobody@" + p.host}).want(404)
}

// A profile that somebody looks at is completed in the background: counters, pins, where the account has moved, which software.
func TestProfileElsewhere(t *testing.T) {
	srv := startPeers(t, 1)[0]
	bob := srv.signUp("bob")
	p := startFake(t)
	alice := p.actor("alice", doc{"movedTo": p.url + "/users/new"})
	p.actor("new", doc{"alsoKnownAs": alice})
	collection := func(name string, total int, more doc) {
		d := doc{"id": alice + "/" + name, "type": "OrderedCollection", "totalItems": total}
		for k, v := range more {
			d[k] = v
		}
		p.serve(d)
	}
	collection("followers", 1234, doc{"first": alice + "/followers?page=1"})
	p.remove(alice+"/followers?page=1", 403)
	collection("following", 0, doc{"first": alice + "/following?page=1"})
	p.remove(alice+"/following?page=1", 403)
	collection("outbox", 99, doc{"first": alice + "/outbox?page=true"})
	p.serve(doc{"id": alice + "/outbox?page=true", "type": "OrderedCollectionPage"})
	p.respond("/.well-known/nodeinfo", 200, "application/json", []byte(`{"links":[{"rel":"http://nodeinfo.diaspora.software/ns/schema/2.0","href":"`+p.url+`/ni"}]}`))
	p.respond("/ni", 200, "application/json; profile=\"x\"", []byte(`{"software":{"name":"Snac","version":"2.1"}}`))

	id := bob.resolved("alice@" + p.host)[0]
	settle(srv)
	asked := p.askedAll()
	a := bob.get("/api/v1/accounts/" + id).want(200).object()
	for path, want := range map[string]any{
		"followers_count": 1234.0, "following_count": 0.0, "statuses_count": 99.0, "svc.hide_followers": true, "svc.hide_followers_count": false,
		"svc.hide_follows": true, "svc.hide_follows_count": true, "moved.acct": "new@" + p.host,
	} {
		if got := a.at(path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	host, err := srv.db.Host(t.Context(), p.host)
	if err != nil || host.Software != "snac" || host.Version != "2.1" {
		t.Errorf("host is %+v, %v", host, err)
	}
	for range 3 {
		bob.get("/api/v1/accounts/" + id).want(200)
		bob.get("/api/v1/accounts/lookup", "acct", "alice@"+p.host).want(200)
	}
	settle(srv)
	if got := p.askedAll(); got != asked {
		t.Errorf("%d requests more for a profile that was read a moment ago", got-asked)
	}
}

// Who is mentioned by a handle that nobody here has heard of is looked up while the post is made.
func TestMentionElsewhere(t *testing.T) {
	srv := startPeers(t, 1)[0]
	bob := srv.signUp("bob")
	p := startFake(t)
	p.actor("alice")
	st := bob.publish("hello @alice@" + p.host + " and @nobody@" + p.host + " and bob@example.org")
	if got := members(st, "mentions", "acct"); len(got) != 1 || got[0] != "alice@"+p.host {
		t.Errorf("mentions are %v", got)
	}
	if !strings.Contains(st.str("content"), "@nobody@") {
		t.Errorf("content is %s", st.str("content"))
	}
	n := p.askedAll()
	bob.publish("again @alice@" + p.host)
	if got := p.askedAll(); got != n {
		t.Errorf("%d requests for somebody known", got-n)
	}
	p.actor("carol")
	if st := bob.publish("psst", "visibility", "direct", "to[]", "carol@"+p.host); len(members(st, "mentions", "acct")) != 1 {
		t.Errorf("mentions are %v", st.at("mentions"))
	}
	p.actor("dora")
	edited := bob.send("PUT", "/api/v1/statuses/"+st.id(), map[string]any{"status": "now @dora@" + p.host}).want(200).object()
	if got := members(edited, "mentions", "acct"); len(got) != 1 || got[0] != "dora@"+p.host {
		t.Errorf("mentions of the edited are %v", got)
	}

	var many strings.Builder
	for _, c := range "abcdefghijklmnop" {
		many.WriteString("@x" + string(c) + "@" + p.host + " ")
	}
	n = p.askedAll()
	bob.publish(many.String())
	if got := p.askedAll() - n; got > 20 {
		t.Errorf("%d requests for a post", got)
	}
}

// A server that does not answer does not keep anybody from posting.
func TestMentionOfTheSlow(t *testing.T) {
	srv := startPeers(t, 1)[0]
	bob := srv.signUp("bob")
	p := startFake(t)
	release := make(chan struct{})
	defer close(release)
	p.actor("alice")
	p.mu.Lock()
	for path, a := range p.answers {
		if strings.HasPrefix(path, "/.well-known/webfinger") {
			slow := *a
			slow.before = func(r *http.Request) {
				select {
				case <-release:
				case <-r.Context().Done():
				}
			}
			p.answers[path] = &slow
		}
	}
	p.mu.Unlock()
	begin := time.Now()
	st := bob.publish("hello @alice@" + p.host)
	if took := time.Since(begin); took > 6*time.Second || len(members(st, "mentions", "acct")) != 0 {
		t.Errorf("posted after %v: %v", took, st.at("mentions"))
	}
}

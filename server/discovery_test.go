package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"svc/internal/config"
	"svc/store"
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
		"url": p.url + "/@alice", "svc.ap_id": alice, "svc.accepts_chat_messages": false, "svc.birthday": "1990-04-01",
	} {
		if got := a.at(path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	if got := a.str("avatar"); !strings.HasPrefix(got, srv.url+"/proxy/") || !strings.HasSuffix(got, "/a.png") {
		t.Errorf("avatar is %s", got)
	}
	if note := a.str("note"); note != "<p>hi :dog:</p>" && note != "<p>hi :dog: </p>" {
		t.Errorf("note is %q", note)
	}
	if got := strings.Join(members(a, "emojis", "shortcode"), " "); got != "cat" {
		t.Errorf("emojis are %s", got)
	}
	if got := members(a, "emojis", "url"); !strings.HasPrefix(got[0], srv.url+"/proxy/") || !strings.HasSuffix(got[0], "/cat.png") {
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

// Custom emoji of other servers are shown with what they came with, and those of here never with that.
func TestEmojisElsewhere(t *testing.T) {
	srv := startPeers(t, 1)[0]
	bob := srv.signUp("bob")
	p := startFake(t)
	author, err := srv.fed.Actor(t.Context(), p.actor("alice"))
	if err != nil {
		t.Fatal(err)
	}
	emojis := store.JSON[[]store.RemoteEmoji]{V: []store.RemoteEmoji{
		{Shortcode: "cat", URL: "https://media.example/cat.png"}, {Shortcode: "dog", URL: "https://media.example/dog.png"}, {Shortcode: "ox", URL: "https://media.example/ox.png"},
	}}
	me := memberAccount(t, srv, bob)
	var id store.StatusID
	var message store.MessageID
	err = srv.db.Update(t.Context(), func(tx *store.Tx) error {
		id = tx.NewStatusID()
		st := &store.Status{
			ID: id, AccountID: author.ID, Domain: author.Domain, URI: p.url + "/notes/1", ConversationID: store.ConversationID(id),
			Content: "<p>a :cat: and an :ox</p>", SpoilerText: ":dog:", HasPoll: true, Emojis: emojis,
		}
		if err := tx.AddStatus(t.Context(), st); err != nil {
			return err
		}
		poll := &store.Poll{StatusID: id}
		poll.Options.V = []store.PollOption{{Title: "yes :ox:"}, {Title: "no"}}
		if err := tx.AddPoll(t.Context(), poll); err != nil {
			return err
		}
		message = tx.NewMessageID()
		m := &store.ChatMessage{
			ID: message, AccountID: author.ID, RecipientID: me.ID, URI: p.url + "/messages/1", CreatedAt: 1, Content: "hi :dog: :bun:", Emojis: &emojis,
		}
		if err := tx.AddChatMessage(t.Context(), m); err != nil {
			return err
		}
		chat := &store.Chat{AccountID: me.ID, OtherID: author.ID}
		if err := tx.AddChat(t.Context(), chat); err != nil {
			return err
		}
		_, err := tx.AddChatCopy(t.Context(), chat, m, true)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	codes := func(list []any) string {
		var all []string
		for _, v := range list {
			e := v.(map[string]any)
			all = append(all, e["shortcode"].(string))
			if url := e["url"].(string); !strings.HasSuffix(url, "/"+e["shortcode"].(string)+".png") || e["static_url"] != url {
				t.Errorf("%v", e)
			}
		}
		return strings.Join(all, " ")
	}
	st := bob.get("/api/v1/statuses/" + id.String()).want(200).object()
	if got := codes(st.at("emojis").([]any)); got != "cat dog" {
		t.Errorf("emojis of the post are %q", got)
	}
	if got := codes(st.at("poll.emojis").([]any)); got != "ox" {
		t.Errorf("emojis of the poll are %q", got)
	}
	chat := bob.get("/api/v2/svc/chats").want(200).list()[0]
	messages := bob.get("/api/v1/svc/chats/" + chat.id() + "/messages").want(200).list()
	if got := codes(messages[0].at("emojis").([]any)); got != "dog" {
		t.Errorf("emojis of the message are %q", got)
	}
}

// An account elsewhere that its server says is gone is deleted here, with all that it has left.
func TestGoneElsewhere(t *testing.T) {
	srv := startPeers(t, 1)[0]
	bob := srv.signUp("bob")
	p := startFake(t)
	uri := p.actor("alice")
	alice, err := srv.fed.Actor(t.Context(), uri)
	if err != nil {
		t.Fatal(err)
	}
	me := memberAccount(t, srv, bob)
	own := bob.publish("hello @alice@" + p.host)
	var id store.StatusID
	err = srv.db.Update(t.Context(), func(tx *store.Tx) error {
		id = tx.NewStatusID()
		st := &store.Status{ID: id, AccountID: alice.ID, Domain: alice.Domain, URI: p.url + "/notes/1", ConversationID: store.ConversationID(id), Content: "hi"}
		if err := tx.AddStatus(t.Context(), st); err != nil {
			return err
		}
		for _, f := range []*store.Follow{{FollowerID: me.ID, TargetID: alice.ID, FollowerLocal: true}, {FollowerID: alice.ID, TargetID: me.ID}} {
			if err := tx.AddFollow(t.Context(), f); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := srv.social.Favourite(t.Context(), alice, statusID(own.id())); err != nil {
		t.Fatal(err)
	}
	bob.post("/api/v1/statuses/" + id.String() + "/bookmark").want(200)
	p.remove(uri, 410)
	err = srv.db.Update(t.Context(), func(tx *store.Tx) error {
		return tx.Enqueue(t.Context(), store.RefreshActor{AccountID: alice.ID})
	})
	if err != nil {
		t.Fatal(err)
	}
	settle(srv)
	bob.get("/api/v1/statuses/" + id.String()).want(404)
	bob.get("/api/v1/accounts/" + alice.ID.String()).want(404)
	if got := bob.get("/api/v1/statuses/" + own.id()).want(200).object().num("favourites_count"); got != 0 {
		t.Errorf("%d favourites", got)
	}
	a := bob.get("/api/v1/accounts/verify_credentials").want(200).object()
	if a.num("followers_count") != 0 || a.num("following_count") != 0 {
		t.Errorf("%d follow, %d are followed", a.num("followers_count"), a.num("following_count"))
	}
	if got := bob.get("/api/v1/notifications").want(200).ids(); len(got) != 0 {
		t.Errorf("notifications are %v", got)
	}
	if got := bob.resolved("alice@"+p.host, "type", "accounts"); len(got) != 0 {
		t.Errorf("found %v", got)
	}
}

func memberAccount(t *testing.T, a *api, m *member) *store.Account {
	t.Helper()
	account, err := a.db.AccountByName(t.Context(), m.nick, "")
	if err != nil {
		t.Fatal(err)
	}
	return account
}

// Posts of other servers are found by their address, or that of their page.
func TestFindPostElsewhere(t *testing.T) {
	srv := startPeers(t, 1)[0]
	bob := srv.signUp("bob")
	p := startFake(t)
	alice := p.actor("alice")
	note, page := p.note(alice, "<p>from afar</p>"), p.note(alice, "<p>another</p>")
	p.serve(note)
	p.serve(page)
	p.respond(strings.TrimPrefix(page["url"].(string), p.url), 200, "text/html; charset=utf-8",
		[]byte(`<!doctype html><link rel="alternate" type="application/activity+json" href="`+page["id"].(string)+`">`))
	secret := p.note(alice, "<p>psst</p>", doc{"to": []any{alice + "/followers"}, "cc": []any{}})
	p.serve(secret)
	for _, tt := range []struct {
		q    any
		want int
	}{{note["id"], 1}, {note["id"], 1}, {page["url"], 1}, {secret["id"], 0}, {p.url + "/none", 0}} {
		if got := bob.resolved(tt.q.(string)); len(got) != tt.want {
			t.Errorf("%s: found %v", tt.q, got)
		}
	}
}

// What is pinned to a profile is read when somebody looks at it, if it is open to all and the account's own.
func TestPinsElsewhere(t *testing.T) {
	srv := startPeers(t, 1)[0]
	bob := srv.signUp("bob")
	p := startFake(t)
	featured := p.url + "/users/alice/pins"
	alice, carol := p.actor("alice", doc{"featured": featured}), p.actor("carol")
	first, second := p.note(alice, "<p>first</p>", doc{"published": "2026-01-02T03:04:05Z"}), p.note(alice, "<p>second</p>", doc{"published": "2026-01-02T03:04:06Z"})
	secret := p.note(alice, "<p>psst</p>", doc{"to": []any{alice + "/followers"}, "cc": []any{}})
	others := p.note(carol, "<p>hers</p>")
	for _, n := range []doc{first, second, secret, others} {
		p.serve(n)
	}
	pin := func(items ...any) { p.serve(doc{"id": featured, "type": "OrderedCollection", "orderedItems": items}) }
	pin(first, second["id"], secret["id"], others["id"], "https://other.example/1", p.url+"/none")
	id := bob.resolved("alice@" + p.host)[0]
	settle(srv)
	pinned := func() string {
		var texts []string
		for _, st := range bob.get("/api/v1/accounts/"+id+"/statuses", "pinned", "true").want(200).list() {
			texts = append(texts, st.str("content"))
		}
		return strings.Join(texts, "")
	}
	if got := pinned(); got != "<p>second</p><p>first</p>" {
		t.Errorf("pinned are %s", got)
	}
	pin(second["id"])
	var account store.AccountID
	account.UnmarshalText([]byte(id))
	err := srv.db.Update(t.Context(), func(tx *store.Tx) error {
		return tx.Enqueue(t.Context(), store.ReadCollections{AccountID: account})
	})
	if err != nil {
		t.Fatal(err)
	}
	settle(srv)
	if got := pinned(); got != "<p>second</p>" {
		t.Errorf("pinned are %s", got)
	}
	next := featured + "?page=2" // a collection without an end is not read to its end
	p.serve(doc{"id": featured, "type": "OrderedCollection", "first": next})
	p.serve(doc{"id": next, "type": "OrderedCollectionPage", "orderedItems": []any{first["id"]}, "next": next})
	err = srv.db.Update(t.Context(), func(tx *store.Tx) error {
		return tx.Enqueue(t.Context(), store.ReadCollections{AccountID: account})
	})
	if err != nil {
		t.Fatal(err)
	}
	settle(srv)
	if got := pinned(); got != "<p>first</p>" || p.asked(next) != 1 {
		t.Errorf("pinned are %s, by %d requests", got, p.asked(next))
	}
}

// What an account elsewhere changes about itself is seen at once; what is not for it to change so is not (107).
func TestUpdateElsewhere(t *testing.T) {
	srv := startPeers(t, 1)[0]
	bob := srv.signUp("bob")
	p := startFake(t)
	alice := p.actor("alice")
	id := bob.resolved("alice@" + p.host)[0]
	settle(srv)
	asked := p.askedAll()
	changed := doc{
		"id": alice, "type": "Person", "preferredUsername": "alice", "name": "Changed", "inbox": alice + "/inbox", "summary": "new",
		"publicKey": doc{"id": alice + "#main-key", "owner": alice, "publicKeyPem": "none"},
	}
	p.receive(srv, p.activity("Update", alice, changed))
	a := bob.get("/api/v1/accounts/" + id).want(200).object()
	if a.str("display_name") != "Changed" || a.str("note") != "new" {
		t.Errorf("got %v", a.m)
	}
	if got := p.askedAll(); got != asked {
		t.Errorf("%d requests for what came whole", got-asked)
	}
	evil := startFake(t)
	eve := evil.actor("eve")
	for _, forged := range []doc{
		evil.activity("Update", eve, doc{"id": alice, "type": "Person", "preferredUsername": "alice", "name": "Forged", "inbox": alice + "/inbox"}),
		p.activity("Update", alice, doc{"id": alice, "type": "Person", "preferredUsername": "alice", "name": "Forged", "inbox": evil.url + "/inbox"}),
	} {
		sender := p
		if forged["actor"] == eve {
			sender = evil
		}
		sender.post(srv, forged)
		settle(srv)
	}
	if got := bob.get("/api/v1/accounts/" + id).want(200).object().str("display_name"); got == "Forged" {
		t.Errorf("got %s", got)
	}
}

// A mention by somebody never seen costs two requests, the work in the background included.
func TestStrangerCosts(t *testing.T) {
	srv := startPeers(t, 1)[0]
	bob := srv.signUp("bob")
	p := startFake(t)
	alice := p.actor("alice", doc{"featured": p.url + "/pins"})
	me := srv.url + "/users/" + bob.id
	p.receive(srv, p.create(p.note(alice, "<p>hello @bob</p>", doc{"to": []any{me}, "cc": []any{}, "tag": []any{doc{"type": "Mention", "href": me, "name": "@bob"}}})))
	if got := len(bob.get("/api/v1/notifications").want(200).ids()); got != 1 {
		t.Errorf("%d notifications", got)
	}
	if got := p.askedAll(); got != 2 {
		t.Errorf("%d requests: %v", got, p.requests)
	}
}

// Accounts from elsewhere pass the policies, too.
func TestPoliciesOnAccountsElsewhere(t *testing.T) {
	p, blocked := startFake(t), startFake(t)
	srv := startPeers(t, 1, func(c *config.Config) {
		c.MRF.Policies = append(c.MRF.Policies, "SimplePolicy")
		c.MRFSimple.AvatarRemoval = []config.HostReason{{Host: p.host}}
		c.MRFSimple.Reject = []config.HostReason{{Host: blocked.host}}
	})[0]
	bob := srv.signUp("bob")
	p.actor("alice", doc{"icon": doc{"url": "https://media.example/a.png"}, "image": doc{"url": "https://media.example/b.png"}})
	a := bob.get("/api/v1/accounts/" + bob.resolved("alice@" + p.host)[0]).want(200).object()
	if !strings.HasSuffix(a.str("avatar"), "/images/avi.png") || !strings.HasSuffix(a.str("header"), "/b.png") {
		t.Errorf("avatar is %s, header %s", a.str("avatar"), a.str("header"))
	}
	eve := blocked.actor("eve")
	for _, q := range []string{eve, "eve@" + blocked.host} {
		if got := bob.resolved(q); len(got) != 0 {
			t.Errorf("%s: found %v", q, got)
		}
	}
	bob.publish("hello @eve@" + blocked.host)
	if got := blocked.askedAll(); got != 0 {
		t.Errorf("a blocked server was asked %d times", got)
	}
}

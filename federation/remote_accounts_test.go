package federation_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

// searchResolved searches with resolve, and returns the ids of the accounts found and then of the statuses.
func searchResolved(m *apptest.User, q string, params ...string) []string {
	m.Server.T.Helper()
	o := m.Get("/api/v2/search", append([]string{"q", q, "resolve", "true"}, params...)...).Want(200).Object()
	return append(apptest.ListField(o, "accounts", "id"), apptest.ListField(o, "statuses", "id")...)
}

// TestResolveAccount checks that signed-in users find remote accounts by handle, id and profile address.
func TestResolveAccount(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	bob := srv.SignUp("bob")
	p := apptest.StartFake(t)
	alice := p.AddActor("alice", apptest.Doc{
		"name": "Alice :cat:", "summary": "<p>hi :dog: <script>x</script></p>", "type": "Service", "manuallyApprovesFollowers": true,
		"icon":       apptest.Doc{"type": "Image", "url": "https://media.example/a.png"},
		"attachment": []any{apptest.Doc{"type": "PropertyValue", "name": "web", "value": `<a href="https://alice.example" rel="me">alice.example</a>`}},
		"tag": []any{
			apptest.Doc{"type": "Emoji", "name": ":cat:", "icon": apptest.Doc{"url": "https://media.example/cat.png"}},
			apptest.Doc{"type": "Emoji", "name": ":unused:", "icon": apptest.Doc{"url": "https://media.example/unused.png"}},
		},
		"vcard:bday": "1990-04-01", "capabilities": apptest.Doc{"acceptsChatMessages": false}, "alsoKnownAs": []any{"https://old.example/users/alice"},
	})
	p.Respond("/@page", 200, "text/html", []byte(`<html><head><link rel="stylesheet" href="/x"><LINK href="/users/carol" type="application/activity+json" rel='Alternate'>`))
	p.AddActor("carol")
	p.Respond("/@other", 200, "text/html", []byte(`<link rel="alternate" type="application/activity+json" href="https://other.example/users/carol">`))
	p.Respond("/@nothing", 200, "text/html", []byte(`<link rel="alternate" type="application/atom+xml" href="/feed">`))
	handle := "alice@" + p.Host

	if got := srv.As(nil).Get("/api/v2/search", "q", "@"+handle, "resolve", "true").Want(200).Object(); len(apptest.ListField(got, "accounts", "id")) != 0 || p.AllFetches() != 0 {
		t.Error("an anonymous search caused requests")
	}
	bob.Get("/api/v2/search", "q", "@"+handle).Want(200)
	bob.Get("/api/v1/accounts/lookup", "acct", handle).Want(404)
	if p.AllFetches() != 0 {
		t.Error("a search without resolve caused requests")
	}
	ids := searchResolved(bob, "@"+handle)
	if len(ids) != 1 {
		t.Fatalf("found %v", ids)
	}
	a := bob.Get("/api/v1/accounts/" + ids[0]).Want(200).Object()
	for path, want := range map[string]any{
		"username": "alice", "acct": handle, "fqn": handle, "display_name": "Alice :cat:", "bot": true, "locked": true, "group": false, "uri": alice,
		"url": p.URL + "/@alice", "svc.ap_id": alice, "svc.accepts_chat_messages": false, "svc.birthday": "1990-04-01",
	} {
		if got := a.At(path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	if got := a.Str("avatar"); !strings.HasPrefix(got, srv.URL+"/proxy/") || !strings.HasSuffix(got, "/a.png") {
		t.Errorf("avatar is %s", got)
	}
	if note := a.Str("note"); note != "<p>hi :dog:</p>" && note != "<p>hi :dog: </p>" {
		t.Errorf("note is %q", note)
	}
	if got := strings.Join(apptest.ListField(a, "emojis", "shortcode"), " "); got != "cat" {
		t.Errorf("emojis are %s", got)
	}
	if got := apptest.ListField(a, "emojis", "url"); !strings.HasPrefix(got[0], srv.URL+"/proxy/") || !strings.HasSuffix(got[0], "/cat.png") {
		t.Errorf("emojis are at %v", got)
	}
	if got := apptest.ListField(a, "fields", "value"); len(got) != 1 || !strings.Contains(got[0], `href="https://alice.example"`) || !strings.Contains(got[0], "me") {
		t.Errorf("fields are %v", got)
	}
	for _, q := range []string{alice, p.URL + "/@alice", "alice@" + strings.ToUpper(p.Host)} {
		if got := searchResolved(bob, q); len(got) != 1 || got[0] != ids[0] {
			t.Errorf("%s: found %v", q, got)
		}
	}
	if got := searchResolved(bob, p.URL+"/@page"); len(got) != 1 || got[0] == ids[0] {
		t.Errorf("by a page: found %v", got)
	}
	for _, q := range []string{p.URL + "/@other", p.URL + "/@nothing", p.URL + "/none", "nobody@" + p.Host, "x@127.0.0.1:1", "https://10.0.0.1/users/x", "ftp://" + p.Host + "/users/alice"} {
		if got := searchResolved(bob, q); len(got) != 0 {
			t.Errorf("%s: found %v", q, got)
		}
	}
	p.AddActor("dora")
	if got := bob.Get("/api/v1/accounts/lookup", "acct", "dora@"+p.Host, "skip_webfinger", "false").Want(200).Object(); got.Str("username") != "dora" {
		t.Errorf("looked up %v", got.Fields)
	}
	p.AddActor("emil")
	if got := bob.Get("/api/v1/accounts/search", "q", "@emil@"+p.Host, "resolve", "true").Want(200).IDs(); len(got) != 1 {
		t.Errorf("account search found %v", got)
	}
	p.AddActor("fay")
	if got := bob.Post("/api/v1/follows", "uri", "fay@"+p.Host).Want(200).Object(); got.Str("username") != "fay" {
		t.Errorf("followed %v", got.Fields)
	}
	old := p.AddActor("old", apptest.Doc{"alsoKnownAs": []any{srv.URL + "/users/" + bob.ID}})
	bob.SendJSON("PUT", "/api/v1/svc/aliases", map[string]string{"alias": "old@" + p.Host}).Want(200)
	if got := bob.Get("/api/v1/accounts/verify_credentials").Want(200).Object().At("svc.also_known_as").([]any); len(got) != 1 || got[0] != old {
		t.Errorf("aliases are %v", got)
	}
	bob.SendJSON("PUT", "/api/v1/svc/aliases", map[string]string{"alias": "nobody@" + p.Host}).Want(404)
}

// TestProfileRefresh checks that viewing a profile refreshes its counters, pins, moved address and software in the background.
func TestProfileRefresh(t *testing.T) {
	srv := apptest.StartPeers(t, 1, func(c *config.Config) { c.Federation.FetchProfiles = false })[0]
	bob := srv.SignUp("bob")
	p := apptest.StartFake(t)
	alice := p.AddActor("alice", apptest.Doc{"movedTo": p.URL + "/users/new"})
	p.AddActor("new", apptest.Doc{"alsoKnownAs": alice})
	collection := func(name string, total int, more apptest.Doc) {
		d := apptest.Doc{"id": alice + "/" + name, "type": "OrderedCollection", "totalItems": total}
		for k, v := range more {
			d[k] = v
		}
		p.Serve(d)
	}
	collection("followers", 1234, apptest.Doc{"first": alice + "/followers?page=1"})
	p.Remove(alice+"/followers?page=1", 403)
	collection("following", 0, apptest.Doc{"first": alice + "/following?page=1"})
	p.Remove(alice+"/following?page=1", 403)
	collection("outbox", 99, apptest.Doc{"first": alice + "/outbox?page=true"})
	p.Serve(apptest.Doc{"id": alice + "/outbox?page=true", "type": "OrderedCollectionPage"})
	p.Respond("/.well-known/nodeinfo", 200, "application/json", []byte(`{"links":[{"rel":"http://nodeinfo.diaspora.software/ns/schema/2.0","href":"`+p.URL+`/ni"}]}`))
	p.Respond("/ni", 200, "application/json; profile=\"x\"", []byte(`{"software":{"name":"Snac","version":"2.1"}}`))

	id := searchResolved(bob, "alice@"+p.Host)[0]
	apptest.Settle(srv)
	before := p.AllFetches()
	a := bob.Get("/api/v1/accounts/" + id).Want(200).Object()
	for path, want := range map[string]any{
		"followers_count": 1234.0, "following_count": 0.0, "statuses_count": 99.0, "svc.hide_followers": true, "svc.hide_followers_count": false,
		"svc.hide_follows": true, "svc.hide_follows_count": true, "moved.acct": "new@" + p.Host,
	} {
		if got := a.At(path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	host, err := srv.DB.Host(t.Context(), p.Host)
	if err != nil || host.Software != "snac" || host.Version != "2.1" {
		t.Errorf("host is %+v, %v", host, err)
	}
	for range 3 {
		bob.Get("/api/v1/accounts/" + id).Want(200)
		bob.Get("/api/v1/accounts/lookup", "acct", "alice@"+p.Host).Want(200)
	}
	apptest.Settle(srv)
	if got := p.AllFetches(); got != before {
		t.Errorf("%d more requests for a profile that was just refreshed", got-before)
	}
}

// TestMentionUnknownAccount checks that an unknown handle is resolved while the post is created.
func TestMentionUnknownAccount(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	bob := srv.SignUp("bob")
	p := apptest.StartFake(t)
	p.AddActor("alice")
	st := bob.Publish("hello @alice@" + p.Host + " and @nobody@" + p.Host + " and bob@example.org")
	if got := apptest.ListField(st, "mentions", "acct"); len(got) != 1 || got[0] != "alice@"+p.Host {
		t.Errorf("mentions are %v", got)
	}
	if !strings.Contains(st.Str("content"), "@nobody@") {
		t.Errorf("content is %s", st.Str("content"))
	}
	n := p.AllFetches()
	bob.Publish("again @alice@" + p.Host)
	if got := p.AllFetches(); got != n {
		t.Errorf("%d requests for a known account", got-n)
	}
	p.AddActor("carol")
	if st := bob.Publish("psst", "visibility", "direct", "to[]", "carol@"+p.Host); len(apptest.ListField(st, "mentions", "acct")) != 1 {
		t.Errorf("mentions are %v", st.At("mentions"))
	}
	p.AddActor("dora")
	edited := bob.SendJSON("PUT", "/api/v1/statuses/"+st.ID(), map[string]any{"status": "now @dora@" + p.Host}).Want(200).Object()
	if got := apptest.ListField(edited, "mentions", "acct"); len(got) != 1 || got[0] != "dora@"+p.Host {
		t.Errorf("mentions of the edited are %v", got)
	}

	var many strings.Builder
	for _, c := range "abcdefghijklmnop" {
		many.WriteString("@x" + string(c) + "@" + p.Host + " ")
	}
	n = p.AllFetches()
	bob.Publish(many.String())
	if got := p.AllFetches() - n; got > 20 {
		t.Errorf("%d requests for a post", got)
	}
}

// TestMentionOnHangingHost checks that a server that does not answer does not delay a post for long.
func TestMentionOnHangingHost(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	bob := srv.SignUp("bob")
	p := apptest.StartFake(t)
	release := make(chan struct{})
	defer close(release)
	p.AddActor("alice")
	p.OnRequest("/.well-known/webfinger", func(r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	begin := time.Now()
	st := bob.Publish("hello @alice@" + p.Host)
	if took := time.Since(begin); took > 6*time.Second || len(apptest.ListField(st, "mentions", "acct")) != 0 {
		t.Errorf("posted after %v: %v", took, st.At("mentions"))
	}
}

// TestRemoteEmojis checks that remote objects are rendered with their own custom emoji, and local ones never.
func TestRemoteEmojis(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	bob := srv.SignUp("bob")
	p := apptest.StartFake(t)
	author, err := srv.Federation.Actors.Actor(t.Context(), p.AddActor("alice"))
	if err != nil {
		t.Fatal(err)
	}
	emojis := store.JSON[[]store.RemoteEmoji]{V: []store.RemoteEmoji{
		{Shortcode: "cat", URL: "https://media.example/cat.png"}, {Shortcode: "dog", URL: "https://media.example/dog.png"}, {Shortcode: "ox", URL: "https://media.example/ox.png"},
	}}
	me := memberAccount(t, srv, bob)
	var id store.StatusID
	var message store.MessageID
	err = srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		id = tx.NewStatusID()
		st := &store.Status{
			ID: id, AccountID: author.ID, Domain: author.Domain, URI: p.URL + "/notes/1", ConversationID: store.ConversationID(id),
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
			ID: message, AccountID: author.ID, RecipientID: me.ID, URI: p.URL + "/messages/1", CreatedAt: 1, Content: "hi :dog: :bun:", Emojis: &emojis,
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
	st := bob.Get("/api/v1/statuses/" + id.String()).Want(200).Object()
	if got := codes(st.At("emojis").([]any)); got != "cat dog" {
		t.Errorf("emojis of the post are %q", got)
	}
	if got := codes(st.At("poll.emojis").([]any)); got != "ox" {
		t.Errorf("emojis of the poll are %q", got)
	}
	chat := bob.Get("/api/v2/svc/chats").Want(200).List()[0]
	messages := bob.Get("/api/v1/svc/chats/" + chat.ID() + "/messages").Want(200).List()
	if got := codes(messages[0].At("emojis").([]any)); got != "dog" {
		t.Errorf("emojis of the message are %q", got)
	}
}

// TestGoneRemoteAccount checks that a remote account that answers 410 is deleted with all that belongs to it.
func TestGoneRemoteAccount(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	bob := srv.SignUp("bob")
	p := apptest.StartFake(t)
	uri := p.AddActor("alice")
	alice, err := srv.Federation.Actors.Actor(t.Context(), uri)
	if err != nil {
		t.Fatal(err)
	}
	me := memberAccount(t, srv, bob)
	own := bob.Publish("hello @alice@" + p.Host)
	var id store.StatusID
	err = srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		id = tx.NewStatusID()
		st := &store.Status{ID: id, AccountID: alice.ID, Domain: alice.Domain, URI: p.URL + "/notes/1", ConversationID: store.ConversationID(id), Content: "hi"}
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
	if _, err := srv.Social.Favourite(t.Context(), alice, apptest.StatusID(own.ID())); err != nil {
		t.Fatal(err)
	}
	bob.Post("/api/v1/statuses/" + id.String() + "/bookmark").Want(200)
	p.Remove(uri, 410)
	err = srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		return tx.Enqueue(t.Context(), store.RefreshActor{AccountID: alice.ID})
	})
	if err != nil {
		t.Fatal(err)
	}
	apptest.Settle(srv)
	bob.Get("/api/v1/statuses/" + id.String()).Want(404)
	bob.Get("/api/v1/accounts/" + alice.ID.String()).Want(404)
	if got := bob.Get("/api/v1/statuses/" + own.ID()).Want(200).Object().Int("favourites_count"); got != 0 {
		t.Errorf("%d favourites", got)
	}
	a := bob.Get("/api/v1/accounts/verify_credentials").Want(200).Object()
	if a.Int("followers_count") != 0 || a.Int("following_count") != 0 {
		t.Errorf("%d follow, %d are followed", a.Int("followers_count"), a.Int("following_count"))
	}
	if got := bob.Get("/api/v1/notifications").Want(200).IDs(); len(got) != 0 {
		t.Errorf("notifications are %v", got)
	}
	if got := searchResolved(bob, "alice@"+p.Host, "type", "accounts"); len(got) != 0 {
		t.Errorf("found %v", got)
	}
}

func memberAccount(t *testing.T, a *apptest.Server, m *apptest.User) *store.Account {
	t.Helper()
	account, err := a.DB.AccountByName(t.Context(), m.Nickname, "")
	if err != nil {
		t.Fatal(err)
	}
	return account
}

// TestResolveStatus checks that remote posts are found by id and by page address.
func TestResolveStatus(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	bob := srv.SignUp("bob")
	p := apptest.StartFake(t)
	alice := p.AddActor("alice")
	note, page := p.Note(alice, "<p>from afar</p>"), p.Note(alice, "<p>another</p>")
	p.Serve(note)
	p.Serve(page)
	p.Respond(strings.TrimPrefix(page["url"].(string), p.URL), 200, "text/html; charset=utf-8",
		[]byte(`<!doctype html><link rel="alternate" type="application/activity+json" href="`+page["id"].(string)+`">`))
	secret := p.Note(alice, "<p>psst</p>", apptest.Doc{"to": []any{alice + "/followers"}, "cc": []any{}})
	p.Serve(secret)
	for _, tt := range []struct {
		q    any
		want int
	}{{note["id"], 1}, {note["id"], 1}, {page["url"], 1}, {secret["id"], 0}, {p.URL + "/none", 0}} {
		if got := searchResolved(bob, tt.q.(string)); len(got) != tt.want {
			t.Errorf("%s: found %v", tt.q, got)
		}
	}
}

// TestResolveByLinkHeader checks that a page leads to its document by a Link header (RFC 8288), as by a link element.
func TestResolveByLinkHeader(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	bob := srv.SignUp("bob")
	p := apptest.StartFake(t)
	note := p.Note(p.AddActor("alice"), "<p>from afar</p>")
	p.Serve(note)
	id := note["id"].(string)
	path := strings.TrimPrefix(id, p.URL)
	const activityType = `; rel="alternate"; type="application/activity+json"`
	headers := make(map[string][]string)
	p.Check = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		w.Header()["Link"] = headers[r.URL.Path]
		return true
	}
	for i, tt := range []struct {
		name   string
		header []string
		found  bool
	}{
		{"an absolute URL", []string{"<" + id + ">" + activityType}, true},
		{"a relative URL", []string{"<" + path + ">" + activityType}, true},
		{"among others", []string{`</style.css>; rel=preload; as=style, </wp-json/>; rel="https://api.w.org/", <` + path + ">" + activityType}, true},
		{"in a header of its own", []string{`</p/1>; rel=shortlink`, "<" + path + ">" + activityType}, true},
		{"without quotes", []string{"<" + path + ">;rel=alternate ; type=application/activity+json"}, true},
		{"in capitals", []string{"<" + path + `>; TYPE="Application/Activity+JSON"; Rel="Alternate"`}, true},
		{"one of several relations", []string{"<" + path + `>; rel="canonical alternate"; type="application/activity+json"`}, true},
		{"the other type", []string{"<" + path + `>; rel="alternate"; type="application/ld+json; profile=\"https://www.w3.org/ns/activitystreams\""`}, true},
		{"behind a comma in quotes", []string{`</x>; rel="self"; title="a, <b>; \"c", <` + path + ">" + activityType}, true},
		{"another relation", []string{"<" + path + `>; rel="self"; type="application/activity+json"`}, false},
		{"another type", []string{"<" + path + `>; rel="alternate"; type="application/rss+xml"`}, false},
		{"of another page", []string{"<" + path + `>; anchor="/other"` + activityType}, false},
		{"on another host", []string{"<https://other.example/1>" + activityType}, false},
		{"in quotes", []string{`</x>; title="<` + path + ">" + strings.ReplaceAll(activityType, `"`, `\"`) + `"`}, false},
		{"broken", []string{"<" + path, `>; rel="alternate`, "<>;;=,;\"\\", "<x>=;=,"}, false},
	} {
		page := fmt.Sprintf("/pages/%d", i)
		headers[page] = tt.header
		p.Respond(page, 200, "text/html", []byte("<p>hello"))
		if got := searchResolved(bob, p.URL+page); (len(got) == 1) != tt.found {
			t.Errorf("%s: found %v", tt.name, got)
		}
	}
}

// TestRemotePins checks that a profile's pins are fetched when it is viewed, if they are public and the account's own.
func TestRemotePins(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	bob := srv.SignUp("bob")
	p := apptest.StartFake(t)
	featured := p.URL + "/users/alice/pins"
	alice, carol := p.AddActor("alice", apptest.Doc{"featured": featured}), p.AddActor("carol")
	first, second := p.Note(alice, "<p>first</p>", apptest.Doc{"published": "2026-01-02T03:04:05Z"}), p.Note(alice, "<p>second</p>", apptest.Doc{"published": "2026-01-02T03:04:06Z"})
	secret := p.Note(alice, "<p>psst</p>", apptest.Doc{"to": []any{alice + "/followers"}, "cc": []any{}})
	others := p.Note(carol, "<p>hers</p>")
	for _, n := range []apptest.Doc{first, second, secret, others} {
		p.Serve(n)
	}
	pin := func(items ...any) {
		p.Serve(apptest.Doc{"id": featured, "type": "OrderedCollection", "orderedItems": items})
	}
	pin(first, second["id"], secret["id"], others["id"], "https://other.example/1", p.URL+"/none")
	id := searchResolved(bob, "alice@"+p.Host)[0]
	apptest.Settle(srv)
	pinned := func() string {
		var texts []string
		for _, st := range bob.Get("/api/v1/accounts/"+id+"/statuses", "pinned", "true").Want(200).List() {
			texts = append(texts, st.Str("content"))
		}
		return strings.Join(texts, "")
	}
	if got := pinned(); got != "<p>second</p><p>first</p>" {
		t.Errorf("pinned are %s", got)
	}
	pin(second["id"])
	var account store.AccountID
	account.UnmarshalText([]byte(id))
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		return tx.Enqueue(t.Context(), store.RefreshCollections{AccountID: account})
	})
	if err != nil {
		t.Fatal(err)
	}
	apptest.Settle(srv)
	if got := pinned(); got != "<p>second</p>" {
		t.Errorf("pinned are %s", got)
	}
	next := featured + "?page=2" // a collection without an end is not read to its end
	p.Serve(apptest.Doc{"id": featured, "type": "OrderedCollection", "first": next})
	p.Serve(apptest.Doc{"id": next, "type": "OrderedCollectionPage", "orderedItems": []any{first["id"]}, "next": next})
	err = srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		return tx.Enqueue(t.Context(), store.RefreshCollections{AccountID: account})
	})
	if err != nil {
		t.Fatal(err)
	}
	apptest.Settle(srv)
	if got := pinned(); got != "<p>first</p>" || p.Fetches(next) != 1 {
		t.Errorf("pinned are %s, by %d requests", got, p.Fetches(next))
	}
}

// TestPinsOfUpdatedProfile checks that an Update of a profile makes its pins be fetched anew, as embedded activities as snac lists them, too.
// It fetches them at once a few times only, and not for accounts that concern nobody.
func TestPinsOfUpdatedProfile(t *testing.T) {
	srv, p := apptest.StartWithFake(t)
	bob := srv.SignUp("bob")
	featured := p.URL + "/users/alice/featured"
	alice := p.AddActor("alice", apptest.Doc{"featured": featured})
	first, second := p.Note(alice, "<p>first</p>", apptest.Doc{"published": apptest.FromNow(-time.Hour)}), p.Note(alice, "<p>second</p>")
	elsewhere := apptest.StartFake(t)
	foreign := elsewhere.Note(elsewhere.AddActor("eve"), "<p>foreign</p>")
	elsewhere.Serve(foreign)
	p.Serve(first)
	p.Serve(second)
	pin := func(items ...any) {
		p.Serve(apptest.Doc{"id": featured, "type": "OrderedCollection", "orderedItems": items})
		p.PostAndSettle(srv, p.Activity("Update", alice, apptest.Doc{
			"id": alice, "type": "Person", "preferredUsername": "alice", "inbox": alice + "/inbox", "featured": featured,
		}))
	}
	id := srv.FetchActor(alice)
	pin(first["id"])
	if n := p.Fetches(featured); n != 0 {
		t.Errorf("the pins of an unrelated account were fetched %d times", n)
	}
	bob.FollowRemote(alice)
	want := func(what string, want ...string) {
		t.Helper()
		var texts []string
		for _, st := range bob.Get("/api/v1/accounts/"+id+"/statuses", "pinned", "true").Want(200).List() {
			texts = append(texts, st.Str("content"))
		}
		apptest.WantList(t, what, texts, want...)
	}
	create := func(note apptest.Doc) apptest.Doc { // its id is not served
		return apptest.Doc{"id": note["id"].(string) + "/Create", "type": "Create", "actor": alice, "object": note, "to": note["to"]}
	}
	pin(create(first))
	want("pins in a Create", "<p>first</p>")
	pin(create(second), create(first), create(foreign), apptest.Doc{"type": "Create", "object": foreign["id"]})
	want("pins in several", "<p>second</p>", "<p>first</p>")
	pin()
	want("no pins")
	for range 8 {
		pin(second["id"])
	}
	want("pins after many Updates", "<p>second</p>")
	if n := elsewhere.Fetches(foreign["id"].(string)); n != 0 {
		t.Errorf("a status of another host was fetched %d times", n)
	}
	n := p.Fetches(featured)
	for range 8 {
		pin(first["id"])
	}
	if got := p.Fetches(featured); got != n {
		t.Errorf("%d fetches after many Updates", got-n)
	}
	srv.Exec(`UPDATE jobs SET run_at = 1`)
	apptest.Settle(srv)
	want("pins some minutes later", "<p>first</p>")
}

// TestRemoteProfileUpdate checks that an Update of a profile takes effect, and that members that it must not change stay (case 107).
func TestRemoteProfileUpdate(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	bob := srv.SignUp("bob")
	p := apptest.StartFake(t)
	alice := p.AddActor("alice")
	id := searchResolved(bob, "alice@"+p.Host)[0]
	apptest.Settle(srv)
	before := p.AllFetches()
	changed := apptest.Doc{
		"id": alice, "type": "Person", "preferredUsername": "alice", "name": "Changed", "inbox": alice + "/inbox", "summary": "new",
		"publicKey": apptest.Doc{"id": alice + "#main-key", "owner": alice, "publicKeyPem": "none"},
	}
	p.PostAndSettle(srv, p.Activity("Update", alice, changed))
	a := bob.Get("/api/v1/accounts/" + id).Want(200).Object()
	if a.Str("display_name") != "Changed" || a.Str("note") != "new" {
		t.Errorf("got %v", a.Fields)
	}
	if got := p.AllFetches(); got != before {
		t.Errorf("%d requests for a complete document", got-before)
	}
	evil := apptest.StartFake(t)
	eve := evil.AddActor("eve")
	for _, forged := range []apptest.Doc{
		evil.Activity("Update", eve, apptest.Doc{"id": alice, "type": "Person", "preferredUsername": "alice", "name": "Forged", "inbox": alice + "/inbox"}),
		p.Activity("Update", alice, apptest.Doc{"id": alice, "type": "Person", "preferredUsername": "alice", "name": "Forged", "inbox": evil.URL + "/inbox"}),
	} {
		sender := p
		if forged["actor"] == eve {
			sender = evil
		}
		sender.Post(srv, forged)
		apptest.Settle(srv)
	}
	if got := bob.Get("/api/v1/accounts/" + id).Want(200).Object().Str("display_name"); got == "Forged" {
		t.Errorf("got %s", got)
	}
}

// TestRequestsPerUnknownAuthor checks that a mention by an unknown account costs two requests, background work included.
func TestRequestsPerUnknownAuthor(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	bob := srv.SignUp("bob")
	p := apptest.StartFake(t)
	alice := p.AddActor("alice", apptest.Doc{"featured": p.URL + "/pins"})
	me := srv.URL + "/users/" + bob.ID
	p.PostAndSettle(srv, p.Create(p.Note(alice, "<p>hello @bob</p>", apptest.Doc{"to": []any{me}, "cc": []any{}, "tag": []any{apptest.Doc{"type": "Mention", "href": me, "name": "@bob"}}})))
	if got := len(bob.Get("/api/v1/notifications").Want(200).IDs()); got != 1 {
		t.Errorf("%d notifications", got)
	}
	if got := p.AllFetches(); got != 2 {
		t.Errorf("%d requests", got)
	}
}

// TestPoliciesOnRemoteAccounts checks that remote accounts pass the policies.
func TestPoliciesOnRemoteAccounts(t *testing.T) {
	p, blocked := apptest.StartFake(t), apptest.StartFake(t)
	srv := apptest.StartPeers(t, 1, func(c *config.Config) {
		c.MRF.Policies = append(c.MRF.Policies, "SimplePolicy")
		c.MRFSimple.AvatarRemoval = []config.HostReason{{Host: p.Host}}
		c.MRFSimple.Reject = []config.HostReason{{Host: blocked.Host}}
	})[0]
	bob := srv.SignUp("bob")
	p.AddActor("alice", apptest.Doc{"icon": apptest.Doc{"url": "https://media.example/a.png"}, "image": apptest.Doc{"url": "https://media.example/b.png"}})
	a := bob.Get("/api/v1/accounts/" + searchResolved(bob, "alice@"+p.Host)[0]).Want(200).Object()
	if !strings.HasSuffix(a.Str("avatar"), "/images/avi.png") || !strings.HasSuffix(a.Str("header"), "/b.png") {
		t.Errorf("avatar is %s, header %s", a.Str("avatar"), a.Str("header"))
	}
	eve := blocked.AddActor("eve")
	for _, q := range []string{eve, "eve@" + blocked.Host} {
		if got := searchResolved(bob, q); len(got) != 0 {
			t.Errorf("%s: found %v", q, got)
		}
	}
	bob.Publish("hello @eve@" + blocked.Host)
	if got := blocked.AllFetches(); got != 0 {
		t.Errorf("a blocked server received %d requests", got)
	}
}

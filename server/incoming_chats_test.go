package server_test

import (
	"strings"
	"testing"
	"time"

	"svc/store"
)

// message makes the Create of a chat message, as most servers send it. changes are other members of the message; nil removes one.
func (p *fakePeer) message(from, to string, changes ...doc) doc {
	m := doc{
		"id": p.id("messages"), "type": "ChatMessage", "attributedTo": from, "actor": from, "to": []any{to},
		"content": "hello", "published": time.Now().UTC().Format(time.RFC3339), "tag": []any{},
	}
	for _, c := range changes {
		for key, v := range c {
			if m[key] = v; v == nil {
				delete(m, key)
			}
		}
	}
	return p.activity("Create", from, m)
}

// Case 83: a message goes into the chat, and nowhere else. Its author takes it back.
func TestIncomingMessage(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob, mallory := peer.actor("bob"), peer.actor("mallory")
	stream := srv.listen(alice.caller, "stream", "user")
	sent := peer.message(bob, alice.uri(), doc{"content": `<p>hello <script>alert(1)</script><b onclick="x">you</b></p>`, "published": "2999-01-01T00:00:00Z"})
	peer.receive(srv, sent)
	again := peer.activity("Create", bob, sent["object"])
	peer.receive(srv, again)

	chats := alice.get("/api/v2/svc/chats").want(200).list()
	if len(chats) != 1 || chats[0].str("account.id") != srv.known(bob) || chats[0].num("unread") != 1 {
		t.Fatalf("chats: %v", chats)
	}
	messages := alice.get("/api/v1/svc/chats/" + chats[0].id() + "/messages").want(200).list()
	if len(messages) != 1 || messages[0].str("content") != "<p>hello <b>you</b></p>" && messages[0].str("content") != "<p>hello <strong>you</strong></p>" {
		t.Errorf("messages: %v", messages)
	}
	if at := messages[0].str("created_at"); at > time.Now().UTC().Add(time.Minute).Format("2006-01-02T15:04:05.000Z") {
		t.Errorf("the message is of %s", at)
	}
	wantList(t, "alice is told", alice.told(), "svc:chat_mention")
	stream.wantAmong("user: svc:chat_update " + chats[0].id())
	for _, path := range []string{"/api/v1/timelines/home", "/api/v1/timelines/public", "/api/v1/timelines/direct", "/api/v1/conversations"} {
		if list := alice.get(path).want(200).list(); len(list) > 0 {
			t.Errorf("%s has %v", path, list)
		}
	}

	srv.meet(mallory)
	id := sent["object"].(doc)["id"]
	peer.receive(srv, peer.activity("Delete", mallory, id))
	if got := alice.messages(chats[0].id()); len(got) != 1 {
		t.Errorf("another has deleted the message: %v", got)
	}
	peer.receive(srv, peer.activity("Delete", bob, doc{"id": id, "type": "Tombstone"}))
	peer.receive(srv, peer.activity("Create", bob, sent["object"]))
	if got := alice.messages(chats[0].id()); len(got) != 0 {
		t.Errorf("after the Delete there is %v", got)
	}
	wantList(t, "alice is told after the Delete", alice.told())
}

// What is deleted before it comes does not come; nobody else can keep it away.
func TestIncomingMessageDeletedFirst(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob, mallory := peer.actor("bob"), peer.actor("mallory")
	srv.meet(bob)
	srv.meet(mallory)
	for by, want := range map[string]int{bob: 0, mallory: 1} {
		sent := peer.message(bob, alice.uri())
		peer.receive(srv, peer.activity("Delete", by, doc{"id": sent["object"].(doc)["id"], "type": "Tombstone"}))
		peer.receive(srv, sent)
		if got := len(alice.told()); got != want {
			t.Errorf("deleted first by %s: alice is told %d times, want %d", by, got, want)
		}
		alice.post("/api/v1/notifications/clear").want(200)
	}
}

// Chats go in both directions alike: text, emoji, a file, and what takes a message back.
func TestChatOfPeers(t *testing.T) {
	here, there, alice, bob, _ := startNeighbours(t)
	chat := alice.post("/api/v1/svc/chats/by-account-id/" + alice.find(bob)).want(200).object().id()
	photo := alice.upload(jpegFile(40, 30)).id()
	alice.send("PUT", "/api/v1/media/"+photo, jsonBody{"description": "a photo"}).want(200)
	here.addEmoji("pets", map[string]string{"cat": "cat.png"})
	hello := alice.sayOnce(chat, "hello :cat:", "once").want(200).object()
	alice.sayOnce(chat, "hello again", "once").want(200)
	picture := alice.post("/api/v1/svc/chats/"+chat+"/messages", "media_id", photo).want(200).object()
	settle(here, there)
	chats := bob.get("/api/v2/svc/chats").want(200).list()
	if len(chats) != 1 || chats[0].num("unread") != 2 {
		t.Fatalf("bob has the chats %v", chats)
	}
	got := bob.get("/api/v1/svc/chats/" + chats[0].id() + "/messages").want(200).list()
	if len(got) != 2 {
		t.Fatalf("bob has the messages %v", got)
	}
	if got[1].str("content") != hello.str("content") || got[1].dig("emojis.0.shortcode") != "cat" {
		t.Errorf("bob has got %v, want %v", got[1].m, hello.m)
	}
	if got[0].at("content") != nil || got[0].str("attachment.description") != "a photo" || got[0].at("attachment.remote_url") != picture.at("attachment.url") {
		t.Errorf("bob has got %v, want %v", got[0].m, picture.m)
	}

	// Who deletes another's message does so for themselves, who deletes their own for both.
	bob.do("DELETE", "/api/v1/svc/chats/"+chats[0].id()+"/messages/"+got[1].id(), "", nil).want(200)
	settle(here, there)
	if n := len(alice.messages(chat)); n != 2 {
		t.Errorf("alice has %d messages, want 2", n)
	}
	uri := there.uriOfMessage(got[0].id())
	here.document(uri).want(404)
	alice.do("DELETE", "/api/v1/svc/chats/"+chat+"/messages/"+picture.id(), "", nil).want(200)
	settle(here, there)
	if got := bob.messages(chats[0].id()); len(got) != 0 {
		t.Errorf("bob has %q", got)
	}
	here.document(uri).want(410).is(doc{"id": uri, "type": "Tombstone", "formerType": "ChatMessage"})
	answer := bob.say(chats[0].id(), "never mind")
	settle(here, there)
	if got := alice.messages(chat); len(got) != 2 || got[0] != "never mind" {
		t.Errorf("alice has %q", got)
	}
	bob.do("DELETE", "/api/v1/svc/chats/"+chats[0].id()+"/messages/"+answer.id(), "", nil).want(200)
	settle(here, there)
	if got := alice.messages(chat); len(got) != 1 {
		t.Errorf("alice has %q", got)
	}
}

// uriOfMessage returns the ActivityPub id of a message.
func (a *api) uriOfMessage(id string) string {
	a.t.Helper()
	var copied store.ChatMessageID
	if err := copied.UnmarshalText([]byte(id)); err != nil {
		a.t.Fatal(err)
	}
	entries, err := a.db.ChatEntriesByID(a.t.Context(), []store.ChatMessageID{copied})
	if err != nil || len(entries) != 1 {
		a.t.Fatalf("%d messages %s, %v", len(entries), id, err)
	}
	m, err := a.db.ChatMessage(a.t.Context(), entries[0].MessageID)
	if err != nil {
		a.t.Fatal(err)
	}
	return m.URI
}

// The one attachment of a message comes in several shapes.
func TestIncomingMessageAttachment(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	address := peer.url + "/cat.png"
	for name, attachment := range map[string]any{
		"an object":       doc{"type": "Document", "mediaType": "image/png", "url": address, "name": "a cat"},
		"a list":          []any{doc{"type": "Document", "mediaType": "image/png", "url": address, "name": "a cat"}},
		"a list of links": doc{"type": "Document", "name": "a cat", "url": []any{doc{"type": "Link", "href": address, "mediaType": "image/png"}}},
		"an Image":        doc{"type": "Image", "url": address, "summary": "a cat"},
	} {
		peer.receive(srv, peer.message(bob, alice.uri(), doc{"content": nil, "attachment": attachment}))
		list := alice.get("/api/v1/svc/chats/" + alice.get("/api/v2/svc/chats").list()[0].id() + "/messages").want(200).list()
		newest := list[0]
		if newest.at("content") != nil || newest.str("attachment.type") != "image" || newest.str("attachment.description") != "a cat" || newest.str("attachment.remote_url") != address {
			t.Errorf("%s: %v", name, newest.m)
		}
	}
}

// Case 84, and what else is no message for somebody here.
func TestIncomingMessageRefused(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice, carol, deaf, wary, apart := srv.signUp("alice"), srv.signUp("carol"), srv.signUp("deaf"), srv.signUp("wary"), srv.signUp("apart")
	bob := peer.actor("bob")
	id := srv.meet(bob)
	deaf.send("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"accepts_chat_messages": false}).want(200)
	wary.to(id, "block")
	apart.post("/api/v1/domain_blocks", "domain", peer.host).want(200)
	other := startFake(t)
	for name, d := range map[string]doc{
		"for two":                     peer.message(bob, alice.uri(), doc{"to": []any{alice.uri(), carol.uri()}}),
		"with a cc":                   peer.message(bob, alice.uri(), doc{"cc": []any{carol.uri()}}),
		"for nobody":                  peer.message(bob, alice.uri(), doc{"to": []any{}}),
		"for everybody":               peer.message(bob, toPublic),
		"for somebody elsewhere":      peer.message(bob, peer.url+"/users/dave"),
		"for who is not there":        peer.message(bob, srv.url+"/users/nobody"),
		"for who wants none":          peer.message(bob, deaf.uri()),
		"for who blocks bob":          peer.message(bob, wary.uri()),
		"for who blocks bob's domain": peer.message(bob, apart.uri()),
		"with nothing in it":          peer.message(bob, alice.uri(), doc{"content": nil}),
		"of nothing but markup":       peer.message(bob, alice.uri(), doc{"content": "<script>x</script>"}),
		"that is too long":            peer.message(bob, alice.uri(), doc{"content": strings.Repeat("x", 100_001)}),
		"by another":                  peer.message(bob, alice.uri(), doc{"attributedTo": peer.url + "/users/dave"}),
		"without an id":               peer.message(bob, alice.uri(), doc{"id": nil}),
		"with an id of another host":  peer.message(bob, alice.uri(), doc{"id": other.url + "/messages/1"}),
		"with an id of here":          peer.message(bob, alice.uri(), doc{"id": srv.url + "/objects/1"}),
	} {
		peer.receive(srv, d)
		for _, m := range []*member{alice, carol, deaf, wary, apart} {
			if got := m.chats(); len(got) > 0 {
				t.Fatalf("a message %s: %s has a chat", name, m.nick)
			}
			if got := m.told(); len(got) > 0 {
				t.Fatalf("a message %s: %s is told %q", name, m.nick, got)
			}
		}
	}
	mixed := peer.message(bob, alice.uri())
	mixed["to"] = []any{carol.uri()}
	peer.receive(srv, mixed)
	if got := alice.chats(); len(got) > 0 {
		t.Errorf("a message whose activity is for another came")
	}
	peer.receive(srv, peer.message(bob, alice.uri()))
	if got := alice.chats(); len(got) != 1 {
		t.Errorf("one that is all right did not come")
	}
}

package federation_test

import (
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/store"
)

// TestIncomingChatMessage checks that a chat message appears in its chat only, and that its author can delete it (case 83).
func TestIncomingChatMessage(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob, mallory := peer.AddActor("bob"), peer.AddActor("mallory")
	stream := srv.OpenStream(alice.Client, "stream", "user")
	sent := peer.ChatMessage(bob, alice.URI(), apptest.Doc{"content": `<p>hello <script>alert(1)</script><b onclick="x">you</b></p>`, "published": "2999-01-01T00:00:00Z"})
	peer.PostAndSettle(srv, sent)
	again := peer.Activity("Create", bob, sent["object"])
	peer.PostAndSettle(srv, again)

	chats := alice.Get("/api/v2/svc/chats").Want(200).List()
	if len(chats) != 1 || chats[0].Str("account.id") != srv.KnownID(bob) || chats[0].Int("unread") != 1 {
		t.Fatalf("chats: %v", chats)
	}
	messages := alice.Get("/api/v1/svc/chats/" + chats[0].ID() + "/messages").Want(200).List()
	if len(messages) != 1 || messages[0].Str("content") != "<p>hello <b>you</b></p>" && messages[0].Str("content") != "<p>hello <strong>you</strong></p>" {
		t.Errorf("messages: %v", messages)
	}
	if at := messages[0].Str("created_at"); at > time.Now().UTC().Add(time.Minute).Format("2006-01-02T15:04:05.000Z") {
		t.Errorf("the message is of %s", at)
	}
	apptest.WantList(t, "notifications of alice", alice.NotificationTypes(), "svc:chat_mention")
	stream.WantEvent("user: svc:chat_update " + chats[0].ID())
	for _, path := range []string{"/api/v1/timelines/home", "/api/v1/timelines/public", "/api/v1/timelines/direct", "/api/v1/conversations"} {
		if list := alice.Get(path).Want(200).List(); len(list) > 0 {
			t.Errorf("%s has %v", path, list)
		}
	}

	srv.FetchActor(mallory)
	id := sent["object"].(apptest.Doc)["id"]
	peer.PostAndSettle(srv, peer.Activity("Delete", mallory, id))
	if got := alice.ChatMessages(chats[0].ID()); len(got) != 1 {
		t.Errorf("another has deleted the message: %v", got)
	}
	peer.PostAndSettle(srv, peer.Activity("Delete", bob, apptest.Doc{"id": id, "type": "Tombstone"}))
	peer.PostAndSettle(srv, peer.Activity("Create", bob, sent["object"]))
	if got := alice.ChatMessages(chats[0].ID()); len(got) != 0 {
		t.Errorf("after the Delete there is %v", got)
	}
	apptest.WantList(t, "notifications of alice after the Delete", alice.NotificationTypes())
}

// TestIncomingChatMessageDeletedFirst checks that a Delete that precedes its message is respected if it is from the author.
func TestIncomingChatMessageDeletedFirst(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob, mallory := peer.AddActor("bob"), peer.AddActor("mallory")
	srv.FetchActor(bob)
	srv.FetchActor(mallory)
	for by, want := range map[string]int{bob: 0, mallory: 1} {
		sent := peer.ChatMessage(bob, alice.URI())
		peer.PostAndSettle(srv, peer.Activity("Delete", by, apptest.Doc{"id": sent["object"].(apptest.Doc)["id"], "type": "Tombstone"}))
		peer.PostAndSettle(srv, sent)
		if got := len(alice.NotificationTypes()); got != want {
			t.Errorf("deleted first by %s: %d notifications of alice, want %d", by, got, want)
		}
		alice.Post("/api/v1/notifications/clear").Want(200)
	}
}

// TestChatBetweenServers sends text, emoji, a file and a deletion in both directions.
func TestChatBetweenServers(t *testing.T) {
	here, there, alice, bob, _ := apptest.StartTwo(t)
	chat := alice.Post("/api/v1/svc/chats/by-account-id/" + alice.FindRemote(bob)).Want(200).Object().ID()
	photo := alice.Upload(apptest.JPEG(40, 30)).ID()
	alice.SendJSON("PUT", "/api/v1/media/"+photo, apptest.Doc{"description": "a photo"}).Want(200)
	here.AddEmoji("pets", map[string]string{"cat": "cat.png"})
	hello := alice.SendChatOnce(chat, "hello :cat:", "once").Want(200).Object()
	alice.SendChatOnce(chat, "hello again", "once").Want(200)
	picture := alice.Post("/api/v1/svc/chats/"+chat+"/messages", "media_id", photo).Want(200).Object()
	apptest.Settle(here, there)
	chats := bob.Get("/api/v2/svc/chats").Want(200).List()
	if len(chats) != 1 || chats[0].Int("unread") != 2 {
		t.Fatalf("bob has the chats %v", chats)
	}
	got := bob.Get("/api/v1/svc/chats/" + chats[0].ID() + "/messages").Want(200).List()
	if len(got) != 2 {
		t.Fatalf("bob has the messages %v", got)
	}
	if got[1].Str("content") != hello.Str("content") || got[1].Find("emojis.0.shortcode") != "cat" {
		t.Errorf("bob has got %v, want %v", got[1].Fields, hello.Fields)
	}
	if got[0].At("content") != nil || got[0].Str("attachment.description") != "a photo" || got[0].At("attachment.remote_url") != picture.At("attachment.url") {
		t.Errorf("bob has got %v, want %v", got[0].Fields, picture.Fields)
	}

	// An account deletes a message of the other for itself only, and its own for both.
	bob.Do("DELETE", "/api/v1/svc/chats/"+chats[0].ID()+"/messages/"+got[1].ID(), "", nil).Want(200)
	apptest.Settle(here, there)
	if n := len(alice.ChatMessages(chat)); n != 2 {
		t.Errorf("alice has %d messages, want 2", n)
	}
	uri := chatMessageURI(there, got[0].ID())
	here.GetDocument(uri).Want(404)
	alice.Do("DELETE", "/api/v1/svc/chats/"+chat+"/messages/"+picture.ID(), "", nil).Want(200)
	apptest.Settle(here, there)
	if got := bob.ChatMessages(chats[0].ID()); len(got) != 0 {
		t.Errorf("bob has %q", got)
	}
	here.GetDocument(uri).Want(410).WantFields(apptest.Doc{"id": uri, "type": "Tombstone", "formerType": "ChatMessage"})
	answer := bob.SendChat(chats[0].ID(), "never mind")
	apptest.Settle(here, there)
	if got := alice.ChatMessages(chat); len(got) != 2 || got[0] != "never mind" {
		t.Errorf("alice has %q", got)
	}
	bob.Do("DELETE", "/api/v1/svc/chats/"+chats[0].ID()+"/messages/"+answer.ID(), "", nil).Want(200)
	apptest.Settle(here, there)
	if got := alice.ChatMessages(chat); len(got) != 1 {
		t.Errorf("alice has %q", got)
	}
}

// chatMessageURI returns the ActivityPub id of a message.
func chatMessageURI(a *apptest.Server, id string) string {
	a.T.Helper()
	var copied store.ChatMessageID
	if err := copied.UnmarshalText([]byte(id)); err != nil {
		a.T.Fatal(err)
	}
	entries, err := a.DB.ChatEntriesByID(a.T.Context(), []store.ChatMessageID{copied})
	if err != nil || len(entries) != 1 {
		a.T.Fatalf("%d messages %s, %v", len(entries), id, err)
	}
	m, err := a.DB.ChatMessage(a.T.Context(), entries[0].MessageID)
	if err != nil {
		a.T.Fatal(err)
	}
	return m.URI
}

// TestIncomingChatMessageAttachment covers the forms of a message's one attachment.
func TestIncomingChatMessageAttachment(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	address := peer.URL + "/cat.png"
	for name, attachment := range map[string]any{
		"an object":       apptest.Doc{"type": "Document", "mediaType": "image/png", "url": address, "name": "a cat"},
		"a list":          []any{apptest.Doc{"type": "Document", "mediaType": "image/png", "url": address, "name": "a cat"}},
		"a list of links": apptest.Doc{"type": "Document", "name": "a cat", "url": []any{apptest.Doc{"type": "Link", "href": address, "mediaType": "image/png"}}},
		"an Image":        apptest.Doc{"type": "Image", "url": address, "summary": "a cat"},
	} {
		peer.PostAndSettle(srv, peer.ChatMessage(bob, alice.URI(), apptest.Doc{"content": nil, "attachment": attachment}))
		list := alice.Get("/api/v1/svc/chats/" + alice.Get("/api/v2/svc/chats").List()[0].ID() + "/messages").Want(200).List()
		newest := list[0]
		if newest.At("content") != nil || newest.Str("attachment.type") != "image" || newest.Str("attachment.description") != "a cat" || newest.Str("attachment.remote_url") != address {
			t.Errorf("%s: %v", name, newest.Fields)
		}
	}
}

// TestIncomingChatMessageRefused covers objects that are not messages for a local account (case 84).
func TestIncomingChatMessageRefused(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice, carol, deaf, wary, apart := srv.SignUp("alice"), srv.SignUp("carol"), srv.SignUp("deaf"), srv.SignUp("wary"), srv.SignUp("apart")
	bob := peer.AddActor("bob")
	id := srv.FetchActor(bob)
	deaf.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"accepts_chat_messages": false}).Want(200)
	wary.AccountAction(id, "block")
	apart.Post("/api/v1/domain_blocks", "domain", peer.Host).Want(200)
	other := apptest.StartFake(t)
	for name, d := range map[string]apptest.Doc{
		"for two":                      peer.ChatMessage(bob, alice.URI(), apptest.Doc{"to": []any{alice.URI(), carol.URI()}}),
		"with a cc":                    peer.ChatMessage(bob, alice.URI(), apptest.Doc{"cc": []any{carol.URI()}}),
		"for no account":               peer.ChatMessage(bob, alice.URI(), apptest.Doc{"to": []any{}}),
		"for the public":               peer.ChatMessage(bob, apptest.Public),
		"for a remote account":         peer.ChatMessage(bob, peer.URL+"/users/dave"),
		"for an unknown account":       peer.ChatMessage(bob, srv.URL+"/users/nobody"),
		"for one without chats":        peer.ChatMessage(bob, deaf.URI()),
		"for one that blocks bob":      peer.ChatMessage(bob, wary.URI()),
		"for one that blocks the host": peer.ChatMessage(bob, apart.URI()),
		"with nothing in it":           peer.ChatMessage(bob, alice.URI(), apptest.Doc{"content": nil}),
		"of nothing but markup":        peer.ChatMessage(bob, alice.URI(), apptest.Doc{"content": "<script>x</script>"}),
		"that is too long":             peer.ChatMessage(bob, alice.URI(), apptest.Doc{"content": strings.Repeat("x", 100_001)}),
		"by another":                   peer.ChatMessage(bob, alice.URI(), apptest.Doc{"attributedTo": peer.URL + "/users/dave"}),
		"without an id":                peer.ChatMessage(bob, alice.URI(), apptest.Doc{"id": nil}),
		"with an id of another host":   peer.ChatMessage(bob, alice.URI(), apptest.Doc{"id": other.URL + "/messages/1"}),
		"with a local id":              peer.ChatMessage(bob, alice.URI(), apptest.Doc{"id": srv.URL + "/objects/1"}),
	} {
		peer.PostAndSettle(srv, d)
		for _, m := range []*apptest.User{alice, carol, deaf, wary, apart} {
			if got := m.Chats(); len(got) > 0 {
				t.Fatalf("a message %s: %s has a chat", name, m.Nickname)
			}
			if got := m.NotificationTypes(); len(got) > 0 {
				t.Fatalf("a message %s: notifications of %s: %q", name, m.Nickname, got)
			}
		}
	}
	mixed := peer.ChatMessage(bob, alice.URI())
	mixed["to"] = []any{carol.URI()}
	peer.PostAndSettle(srv, mixed)
	if got := alice.Chats(); len(got) > 0 {
		t.Errorf("a message whose activity is for another account is stored")
	}
	peer.PostAndSettle(srv, peer.ChatMessage(bob, alice.URI()))
	if got := alice.Chats(); len(got) != 1 {
		t.Errorf("a valid message is not stored")
	}
}

// TestIncomingChatMessageEmojis checks that a message is rendered with its own custom emoji, not with local ones of the same names.
func TestIncomingChatMessageEmojis(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	picture := peer.URL + "/emoji/cat.png"
	peer.PostAndSettle(srv, peer.ChatMessage(bob, alice.URI(), apptest.Doc{
		"content": "hello :cat: and :dog:",
		"tag":     []any{apptest.Doc{"type": "Emoji", "name": ":cat:", "icon": apptest.Doc{"type": "Image", "url": picture}}},
	}))
	chat := alice.Get("/api/v2/svc/chats").Want(200).List()[0]
	messages := alice.Get("/api/v1/svc/chats/" + chat.ID() + "/messages").Want(200).List()
	want := srv.Proxy.URL(picture)
	if got := apptest.ListField(messages[0], "emojis", "shortcode"); strings.Join(got, " ") != "cat" {
		t.Fatalf("the emoji are %q", got)
	}
	if got := apptest.ListField(messages[0], "emojis", "url"); got[0] != want {
		t.Errorf("the picture is %s, want %s", got[0], want)
	}
	if got := chat.At("last_message.emojis").([]any); len(got) != 1 {
		t.Errorf("the last message has the emoji %v", got)
	}
}

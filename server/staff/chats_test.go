package staff_test

import (
	"strings"
	"testing"

	"svc/app/apptest"
)

const chatsPath = "/api/v1/svc/admin/chats"

// TestChats checks every field of spec 2.21, and the four endpoints of chats.
func TestChats(t *testing.T) {
	srv := apptest.Start(t)
	root, alice, bob := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob")
	chat := alice.Post("/api/v1/svc/chats/by-account-id/" + bob.ID).Want(200).Object().ID()
	empty := alice.Post("/api/v1/svc/chats/by-account-id/" + root.ID).Want(200).Object().ID()
	first := alice.SendChat(chat, "hello :firefox:")
	second := alice.SendChat(chat, "again")
	theirs := bob.Get("/api/v2/svc/chats").Want(200).List()[0].ID()
	srv.AddBlock(bob, alice)

	chats := root.Get(usersPath + "/alice/chats").Want(200).List()
	if len(chats) != 2 || chats[1].ID() != empty {
		t.Fatalf("alice has the chats %v", chats)
	}
	want := apptest.Doc{
		"id": chat, "sender.id": alice.ID, "sender.nickname": "alice", "receiver.id": bob.ID, "receiver.nickname": "bob", "unread": 0.0,
		"last_message.id": second.ID(), "last_message.account_id": alice.ID, "last_message.chat_id": chat, "last_message.content": "again",
		"last_message.unread": false,
	}
	wantFields(t, "the chat in the list", chats[0], want)
	shown := root.Get(chatsPath + "/" + chat).Want(200).Object()
	wantFields(t, "the chat", shown, want)
	if shown.Str("updated_at") == "" || len(shown.At("last_message.emojis").([]any)) != 0 || shown.Str("last_message.created_at") == "" {
		t.Errorf("the chat is %v", shown.Fields)
	}
	wantFields(t, "the other side", root.Get(chatsPath+"/"+theirs).Want(200).Object(), apptest.Doc{
		"id": theirs, "sender.id": bob.ID, "receiver.id": alice.ID, "unread": 2.0, "last_message.unread": true,
	})
	wantFields(t, "a chat without messages", root.Get(chatsPath+"/"+empty).Want(200).Object(), apptest.Doc{"last_message": nil})

	path := chatsPath + "/" + chat + "/messages"
	apptest.WantIDs(t, "messages", root.Get(path), second.ID(), first.ID())
	apptest.WantIDs(t, "a page", root.Get(path, "limit", "1"), second.ID())
	apptest.WantIDs(t, "older ones", root.Get(path, "max_id", second.ID()), first.ID())
	apptest.WantIDs(t, "newer ones", root.Get(path, "min_id", first.ID()), second.ID())
	apptest.WantIDs(t, "since", root.Get(path, "since_id", second.ID()))
	apptest.WantList(t, "the log", messages(root.Client), "@root read chat #"+empty, "@root read chat #"+theirs, "@root read chat #"+chat,
		"@root listed the chats of @alice")

	for _, id := range []string{"nonsense", "0", alice.ID} {
		root.Get(chatsPath+"/"+id).WantError(404, "Not found")
		root.Get(chatsPath+"/"+id+"/messages").WantError(404, "not found")
		root.Do("DELETE", path+"/"+id, "", nil).WantError(400, "could_not_delete")
		root.Do("DELETE", chatsPath+"/"+id+"/messages/"+first.ID(), "", nil).WantError(400, "could_not_delete")
	}
	root.Get(usersPath+"/nobody/chats").WantError(404, "Not found")
	root.Do("DELETE", chatsPath+"/"+empty+"/messages/"+first.ID(), "", nil).WantError(400, "could_not_delete") // of another chat

	wantFields(t, "the deleted message", root.Do("DELETE", path+"/"+first.ID(), "", nil).Want(200).Object(), apptest.Doc{
		"id": first.ID(), "chat_id": chat, "account_id": alice.ID, "content": "hello :firefox:",
	})
	apptest.WantList(t, "messages of alice", alice.ChatMessages(chat), "again")
	if n := srv.Count("SELECT count(*) FROM chat_copies"); n != 2 {
		t.Errorf("%d copies are left, want those of the other message", n)
	}
	if got := newestLog(root.Client); !strings.HasPrefix(got, "@root deleted chat message #") {
		t.Errorf("the log has %q", got)
	}
	root.Do("DELETE", path+"/"+first.ID(), "", nil).WantError(400, "could_not_delete")
}

// TestChatMessageDeleteFederates checks that the other server receives the deletion of a local author's message.
func TestChatMessageDeleteFederates(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	bob := peer.AddActor("bob")
	peer.PostAndSettle(srv, peer.Activity("Follow", bob, alice.URI()))
	chat := alice.Post("/api/v1/svc/chats/by-account-id/" + srv.KnownID(bob)).Want(200).Object().ID()
	m := alice.SendChat(chat, "hello")
	apptest.Settle(srv)
	root.Do("DELETE", chatsPath+"/"+chat+"/messages/"+m.ID(), "", nil).Want(200)
	apptest.Settle(srv)
	delivered := peer.Delivered()
	if len(delivered) == 0 || delivered[len(delivered)-1]["type"] != "Delete" {
		t.Errorf("delivered %v", delivered)
	}
}

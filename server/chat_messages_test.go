package server_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

func TestChatContent(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Chats.MaxLength = 200 })
	srv.AddEmoji("pets", map[string]string{"cat": "cat.png"})
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	chat := openChat(alice, bob)
	mention := `<span class="h-card"><a class="u-url mention" data-user="` + carol.ID + `" href="` + srv.URL + `/@carol"`
	for _, tt := range []struct{ name, content, want string }{
		{"two lines", " one\n\ntwo \r\n three ", "one<br/><br/>two<br/> three"},
		{"markup is text", "<b>&</b> *x* [b]y[/b]", "&lt;b&gt;&amp;&lt;/b&gt; *x* [b]y[/b]"},
		{"a link", "see https://example.org/a?b=c&d", `see <a href="https://example.org/a?b=c&amp;d" rel="nofollow noopener noreferrer ugc" target="_blank">https://example.org/a?b=c&amp;d</a>`},
		{"a mention", "ask @carol and @nobody", "ask " + mention},
		{"a hashtag", "#Cats", `href="` + srv.URL + `/tags/cats"`},
		{"the maximum length", strings.Repeat("é", 200), strings.Repeat("é", 200)},
		{"an emoji", "a :cat: :dog:", "a :cat: :dog:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := alice.SendChat(chat, tt.content)
			content := got.Str("content")
			if content != tt.want && !(strings.HasPrefix(tt.name, "a ") && strings.Contains(content, tt.want)) {
				t.Errorf("got %q, want %q", content, tt.want)
			}
			shown := bob.Get("/api/v1/svc/chats/" + openChat(bob, alice)).Object()
			if shown.Str("last_message.content") != content {
				t.Errorf("the recipient sees %q", shown.Str("last_message.content"))
			}
		})
	}
	last := alice.Get("/api/v1/svc/chats/" + chat + "/messages").List()[0]
	if emojis := last.At("emojis").([]any); len(emojis) != 1 || emojis[0].(map[string]any)["shortcode"] != "cat" {
		t.Errorf("emojis are %v", emojis)
	}
	if got := alice.Get("/api/v1/svc/chats/" + chat + "/messages").Body; strings.Contains(string(got), `@nobody</a>`) {
		t.Errorf("a mention of an unknown account is a link: %s", got)
	}
	if n := len(carol.Get("/api/v1/notifications", "types[]", "svc:chat_mention", "types[]", "mention").Want(200).List()); n != 0 || len(carol.Chats()) != 0 {
		t.Error("an account that is only mentioned got a notification or chat")
	}
	bob.UpdateProfile(map[string]any{"no_rich_text": true})
	bob.Get("/api/v1/svc/chats/" + openChat(bob, alice)).Want(200)
}

func TestReadingChats(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	chat := openChat(alice, bob)
	for i := range 5 {
		alice.SendChat(chat, fmt.Sprint(i))
	}
	theirs := openChat(bob, alice)
	path := "/api/v1/svc/chats/" + theirs
	ids := bob.Get(path + "/messages").Want(200).IDs()
	read := func(want int, unread ...string) {
		t.Helper()
		if got := bob.Get(path).Want(200).Object().Int("unread"); got != want {
			t.Errorf("%d are unread, want %d", got, want)
		}
		got := []string{}
		for _, m := range bob.Get(path + "/messages").List() {
			if m.Bool("unread") {
				got = append(got, m.Str("content"))
			}
		}
		apptest.WantList(t, "unread", got, unread...)
	}
	read(5, "4", "3", "2", "1", "0")
	if o := bob.Post(path + "/messages/" + ids[2] + "/read").Want(200).Object(); o.Bool("unread") || o.Str("content") != "2" {
		t.Errorf("got %v", o.Fields)
	}
	bob.Post(path + "/messages/" + ids[2] + "/read").Want(200)
	read(4, "4", "3", "1", "0")
	if o := bob.Post(path+"/read", "last_read_id", ids[1]).Want(200).Object(); o.Int("unread") != 1 || o.ID() != theirs {
		t.Errorf("got %v", o.Fields)
	}
	read(1, "4")
	bob.Post(path+"/read", "last_read_id", ids[3]).Want(200)
	read(1, "4")
	alice.Post("/api/v1/svc/chats/"+chat+"/read", "last_read_id", ids[0]).Want(200)
	read(1, "4")
	bob.SendJSON("POST", path+"/read", map[string]any{"last_read_id": ids[0]}).Want(200)
	read(0)
	apptest.WantPages(t, bob, path+"/messages?limit=2", ids)
}

func TestDeletingMessages(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	chat := openChat(alice, bob)
	picture := alice.Upload(apptest.PNG(3, 3)).ID()
	first := alice.SendChat(chat, "", "media_id", picture)
	if first.At("content") != nil || first.Str("attachment.id") != picture || first.Str("attachment.type") != "image" {
		t.Errorf("the message is %v", first.Fields)
	}
	second := alice.SendChat(chat, "second")
	alice.SendChat(chat, "third")
	theirs := openChat(bob, alice)
	ids := bob.Get("/api/v1/svc/chats/" + theirs + "/messages").IDs()
	wantNotified := func(want int) {
		t.Helper()
		if n := len(bob.Get("/api/v1/notifications", "types[]", "svc:chat_mention").Want(200).List()); n != want {
			t.Errorf("%d notifications, want %d", n, want)
		}
	}
	wantNotified(3)
	remove := func(as *apptest.User, chat, id string) *apptest.Response {
		return as.Do("DELETE", "/api/v1/svc/chats/"+chat+"/messages/"+id, "", nil)
	}
	deleted := remove(alice, chat, first.ID()).Want(200).Object()
	if deleted.ID() != first.ID() || deleted.Str("attachment.id") != picture {
		t.Errorf("the deleted message was %v", deleted.Fields)
	}
	remove(alice, chat, first.ID()).WantError(400, "could_not_delete")
	remove(alice, chat, "nonsense").WantError(400, "could_not_delete")
	remove(alice, "nonsense", second.ID()).WantError(400, "could_not_delete")
	remove(bob, chat, second.ID()).WantError(400, "could_not_delete") // the chat is alice's
	apptest.WantList(t, "alice has", alice.ChatMessages(chat), "third", "second")
	apptest.WantList(t, "bob has", bob.ChatMessages(theirs), "third", "second")
	wantNotified(2)
	if n := bob.Get("/api/v1/svc/chats/" + theirs).Object().Int("unread"); n != 2 {
		t.Errorf("%d are unread, want 2", n)
	}
	alice.Post("/api/v1/svc/chats/"+chat+"/messages", "media_id", picture).Want(200) // it is no longer in use
	remove(alice, chat, alice.Get("/api/v1/svc/chats/" + chat + "/messages").IDs()[0]).Want(200)

	if o := remove(bob, theirs, ids[0]).Want(200).Object(); o.Str("content") != "third" {
		t.Errorf("the deleted message was %v", o.Fields)
	}
	apptest.WantList(t, "alice's messages after bob deleted one", alice.ChatMessages(chat), "third", "second")
	apptest.WantList(t, "bob's messages", bob.ChatMessages(theirs), "second")
	wantNotified(1)
	if got := bob.Get("/api/v1/svc/chats/" + theirs).Object().Str("last_message.content"); got != "second" {
		t.Errorf("the last message is %q", got)
	}
	remove(bob, theirs, ids[1]).Want(200)
	remove(alice, chat, second.ID()).Want(200)
	if got := bob.Get("/api/v1/svc/chats/" + theirs).Object(); got.At("last_message") != nil || got.Int("unread") != 0 {
		t.Errorf("an empty chat is %v", got.Fields)
	}
	wantNotified(0)
	if n := srv.Count(`SELECT count(*) FROM chat_messages WHERE content = 'second'`); n != 0 {
		t.Error("a message without copies is kept")
	}
}

func TestChatIdempotency(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	chat, other := openChat(alice, bob), openChat(alice, carol)
	first := alice.SendChatOnce(chat, "hello", "k 1").Want(200).Object()
	if got := first.Str("idempotency_key"); got != "k 1" {
		t.Errorf("the key is %q", got)
	}
	if again := alice.SendChatOnce(chat, "hello", "k 1").Want(200).Object(); again.ID() != first.ID() {
		t.Error("a repeated key sends another message")
	}
	if another := alice.SendChatOnce(chat, "hello", "k 2").Want(200).Object(); another.ID() == first.ID() {
		t.Error("another key sends no message")
	}
	if toCarol := alice.SendChatOnce(other, "hello", "k 3").Want(200).Object(); toCarol.Str("chat_id") != other {
		t.Error("a message for carol is in bob's chat")
	}
	alice.SendChatOnce(other, "hello", "k 2").Want(200)
	alice.SendChatOnce(chat, "hello", strings.Repeat("x", 256)).Want(400)
	bob.SendChatOnce(openChat(bob, alice), "hello", "k 1").Want(200)
	apptest.WantList(t, "messages", alice.ChatMessages(chat), "hello", "hello", "hello")
	apptest.WantList(t, "to carol", alice.ChatMessages(other), "hello", "hello")

	shown := alice.Get("/api/v1/svc/chats/" + chat + "/messages").List()
	if got := shown[2].Str("idempotency_key"); got != "k 1" {
		t.Errorf("the author sees the key %q", got)
	}
	if shown[0].Has("idempotency_key") {
		t.Error("the key of another user is visible")
	}
	srv.Exec(`UPDATE chat_message_keys SET created_at = created_at - ?`, (7 * time.Hour).Milliseconds())
	if late := alice.SendChatOnce(chat, "hello", "k 1").Want(200).Object(); late.ID() == first.ID() {
		t.Error("a key counts for longer than six hours")
	}
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.PruneExpired(t.Context())
		return err
	})
	if n := srv.Count(`SELECT count(*) FROM chat_message_keys`); n != 1 || err != nil {
		t.Errorf("%d keys remain, want the last one (%v)", n, err)
	}

	var wg sync.WaitGroup
	ids := make([]string, 8)
	for i := range ids {
		wg.Go(func() { ids[i] = alice.SendChatOnce(chat, "at once", "k 9").Want(200).Object().ID() })
	}
	wg.Wait()
	if slices.Sort(ids); len(slices.Compact(ids)) != 1 {
		t.Errorf("sent at once with one key: %v", ids)
	}
}

func TestChatNotification(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.API.Name = "other" })
	alice, bob, muted := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("muted")
	say := func(m *apptest.User, content string) {
		t.Helper()
		chat := m.Post("/api/v1/other/chats/by-account-id/" + alice.ID).Want(200).Object().ID()
		m.Post("/api/v1/other/chats/"+chat+"/messages", "content", content).Want(200)
	}
	alice.AccountAction(muted.ID, "mute")
	say(bob, "one")
	say(bob, "two")
	say(muted, "psst")
	apptest.WantList(t, "by default", apptest.EntityTypes(alice.Get("/api/v1/notifications").Want(200)))
	list := alice.Get("/api/v1/notifications", "types[]", "other:chat_mention").Want(200).List()
	if len(list) != 2 || list[0].Str("chat_message.content") != "two" || list[0].Str("account.id") != bob.ID || list[0].Has("status") ||
		list[0].Str("chat_message.account_id") != bob.ID || !list[0].Bool("chat_message.unread") || list[0].Bool("other.is_seen") {
		t.Fatalf("got %v", list)
	}
	one := alice.Get("/api/v1/notifications/" + list[0].ID()).Want(200).Object()
	chat := alice.Get("/api/v1/other/chats/" + one.Str("chat_message.chat_id")).Want(200).Object()
	if chat.Str("last_message.id") != one.Str("chat_message.id") {
		t.Errorf("the notification is of message %s, the chat has %v", one.Str("chat_message.id"), chat.Fields)
	}
	list = alice.Get("/api/v1/notifications", "types[]", "other:chat_mention", "with_muted", "true").Want(200).List()
	if len(list) != 3 || list[0].Str("account.id") != muted.ID || !list[0].Bool("other.is_seen") || !list[0].Bool("other.is_muted") {
		t.Errorf("with muted accounts: %v", list)
	}
	alice.AccountAction(bob.ID, "block")
	alice.AccountAction(bob.ID, "unblock")
	apptest.WantList(t, "after a block", apptest.EntityTypes(alice.Get("/api/v1/notifications", "types[]", "other:chat_mention").Want(200)))
	alice.SendJSON("PUT", "/api/v1/other/notification_settings", map[string]any{"block_from_strangers": true}).Want(200)
	say(bob, "three")
	apptest.WantList(t, "from an account that she does not follow", apptest.EntityTypes(alice.Get("/api/v1/notifications", "types[]", "other:chat_mention").Want(200)))
	features := srv.As(nil).Get("/api/v1/instance").Object().At("other.metadata.features").([]any)
	if !slices.Contains(features, any("other_chat_messages")) {
		t.Errorf("features are %v", features)
	}
}

// TestChatEvents checks that both accounts get events for a message, except an account that mutes its author.
func TestChatEvents(t *testing.T) {
	srv := apptest.Start(t)
	events := watchChats(srv)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	chat, theirs, self := openChat(alice, bob), openChat(bob, alice), openChat(alice, alice)
	apptest.WantList(t, "opening", events())
	for _, tt := range []struct {
		name string
		do   func()
		want []string
	}{
		{"a message", func() { alice.SendChat(chat, "x") }, []string{alice.ID + chat, bob.ID + theirs}},
		{"to the sender", func() { alice.SendChat(self, "x") }, []string{alice.ID + self}},
		{"reading", func() { bob.Post("/api/v1/svc/chats/"+theirs+"/read", "last_read_id", "9").Want(200) }, nil},
		{"to an account that mutes the sender", func() { bob.AccountAction(alice.ID, "mute"); alice.SendChat(chat, "x") }, []string{alice.ID + chat}},
		{"a refused one", func() { alice.Post("/api/v1/svc/chats/"+chat+"/messages", "content", "").Want(400) }, nil},
	} {
		tt.do()
		apptest.WantList(t, tt.name, events(), tt.want...)
	}
	viewer := &store.Account{ID: bob.AccountID()}
	var id store.ChatID
	id.UnmarshalText([]byte(theirs))
	c, err := srv.Entities.Chat(t.Context(), viewer, id)
	if err != nil || c.Unread != 2 || c.LastMessage == nil || c.LastMessage.ChatID != id {
		t.Errorf("the chat for a stream is %+v, %v", c, err)
	}
	viewer.ID = alice.AccountID()
	if _, err := srv.Entities.Chat(t.Context(), viewer, id); err == nil {
		t.Error("a stream gets another account's chat")
	}
}

package server_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/internal/config"
	"svc/store"
)

func TestChatContent(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) { c.Chats.MaxLength = 200 })
	srv.addEmoji("pets", map[string]string{"cat": "cat.png"})
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	chat := alice.chat(bob)
	mention := `<span class="h-card"><a class="u-url mention" data-user="` + carol.id + `" href="` + srv.url + `/@carol"`
	for _, tt := range []struct{ name, content, want string }{
		{"two lines", " one\n\ntwo \r\n three ", "one<br/><br/>two<br/> three"},
		{"markup is text", "<b>&</b> *x* [b]y[/b]", "&lt;b&gt;&amp;&lt;/b&gt; *x* [b]y[/b]"},
		{"a link", "see https://example.org/a?b=c&d", `see <a href="https://example.org/a?b=c&amp;d" rel="nofollow noopener noreferrer ugc" target="_blank">https://example.org/a?b=c&amp;d</a>`},
		{"a mention", "ask @carol and @nobody", "ask " + mention},
		{"a hashtag", "#Cats", `href="` + srv.url + `/tags/cats"`},
		{"the longest", strings.Repeat("é", 200), strings.Repeat("é", 200)},
		{"an emoji", "a :cat: :dog:", "a :cat: :dog:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := alice.say(chat, tt.content)
			content := got.str("content")
			if content != tt.want && !(strings.HasPrefix(tt.name, "a ") && strings.Contains(content, tt.want)) {
				t.Errorf("got %q, want %q", content, tt.want)
			}
			shown := bob.get("/api/v1/svc/chats/" + bob.chat(alice)).object()
			if shown.str("last_message.content") != content {
				t.Errorf("the other sees %q", shown.str("last_message.content"))
			}
		})
	}
	last := alice.get("/api/v1/svc/chats/" + chat + "/messages").list()[0]
	if emojis := last.at("emojis").([]any); len(emojis) != 1 || emojis[0].(map[string]any)["shortcode"] != "cat" {
		t.Errorf("emojis are %v", emojis)
	}
	if got := alice.get("/api/v1/svc/chats/" + chat + "/messages").body; strings.Contains(string(got), `@nobody</a>`) {
		t.Errorf("a mention of nobody is a link: %s", got)
	}
	if n := len(carol.get("/api/v1/notifications", "types[]", "svc:chat_mention", "types[]", "mention").want(200).list()); n != 0 || len(carol.chats()) != 0 {
		t.Error("who is only mentioned is told")
	}
	bob.update(map[string]any{"no_rich_text": true})
	bob.get("/api/v1/svc/chats/" + bob.chat(alice)).want(200)
}

func TestReadingChats(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	chat := alice.chat(bob)
	for i := range 5 {
		alice.say(chat, fmt.Sprint(i))
	}
	theirs := bob.chat(alice)
	path := "/api/v1/svc/chats/" + theirs
	ids := bob.get(path + "/messages").want(200).ids()
	read := func(want int, unread ...string) {
		t.Helper()
		if got := bob.get(path).want(200).object().num("unread"); got != want {
			t.Errorf("%d are unread, want %d", got, want)
		}
		got := []string{}
		for _, m := range bob.get(path + "/messages").list() {
			if m.truth("unread") {
				got = append(got, m.str("content"))
			}
		}
		wantList(t, "unread", got, unread...)
	}
	read(5, "4", "3", "2", "1", "0")
	if o := bob.post(path + "/messages/" + ids[2] + "/read").want(200).object(); o.truth("unread") || o.str("content") != "2" {
		t.Errorf("got %v", o.m)
	}
	bob.post(path + "/messages/" + ids[2] + "/read").want(200)
	read(4, "4", "3", "1", "0")
	if o := bob.post(path+"/read", "last_read_id", ids[1]).want(200).object(); o.num("unread") != 1 || o.id() != theirs {
		t.Errorf("got %v", o.m)
	}
	read(1, "4")
	bob.post(path+"/read", "last_read_id", ids[3]).want(200)
	read(1, "4")
	alice.post("/api/v1/svc/chats/"+chat+"/read", "last_read_id", ids[0]).want(200)
	read(1, "4")
	bob.send("POST", path+"/read", map[string]any{"last_read_id": ids[0]}).want(200)
	read(0)
	wantPages(t, bob, path+"/messages?limit=2", ids)
}

func TestDeletingMessages(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	chat := alice.chat(bob)
	picture := alice.upload(pngFile(3, 3)).id()
	first := alice.say(chat, "", "media_id", picture)
	if first.at("content") != nil || first.str("attachment.id") != picture || first.str("attachment.type") != "image" {
		t.Errorf("the message is %v", first.m)
	}
	second := alice.say(chat, "second")
	alice.say(chat, "third")
	theirs := bob.chat(alice)
	ids := bob.get("/api/v1/svc/chats/" + theirs + "/messages").ids()
	told := func(want int) {
		t.Helper()
		if n := len(bob.get("/api/v1/notifications", "types[]", "svc:chat_mention").want(200).list()); n != want {
			t.Errorf("%d notifications, want %d", n, want)
		}
	}
	told(3)
	remove := func(as *member, chat, id string) *answer {
		return as.do("DELETE", "/api/v1/svc/chats/"+chat+"/messages/"+id, "", nil)
	}
	gone := remove(alice, chat, first.id()).want(200).object()
	if gone.id() != first.id() || gone.str("attachment.id") != picture {
		t.Errorf("the deleted message was %v", gone.m)
	}
	remove(alice, chat, first.id()).wantError(400, "could_not_delete")
	wantList(t, "alice has", alice.messages(chat), "third", "second")
	wantList(t, "bob has", bob.messages(theirs), "third", "second")
	told(2)
	if n := bob.get("/api/v1/svc/chats/" + theirs).object().num("unread"); n != 2 {
		t.Errorf("%d are unread, want 2", n)
	}
	alice.post("/api/v1/svc/chats/"+chat+"/messages", "media_id", picture).want(200) // it is free again
	remove(alice, chat, alice.get("/api/v1/svc/chats/" + chat + "/messages").ids()[0]).want(200)

	if o := remove(bob, theirs, ids[0]).want(200).object(); o.str("content") != "third" {
		t.Errorf("the deleted message was %v", o.m)
	}
	wantList(t, "alice keeps her message", alice.messages(chat), "third", "second")
	wantList(t, "bob has lost it", bob.messages(theirs), "second")
	told(1)
	if got := bob.get("/api/v1/svc/chats/" + theirs).object().str("last_message.content"); got != "second" {
		t.Errorf("the last message is %q", got)
	}
	remove(bob, theirs, ids[1]).want(200)
	remove(alice, chat, second.id()).want(200)
	if got := bob.get("/api/v1/svc/chats/" + theirs).object(); got.at("last_message") != nil || got.num("unread") != 0 {
		t.Errorf("an empty chat is %v", got.m)
	}
	told(0)
	if n := srv.count(`SELECT count(*) FROM chat_messages WHERE content = 'second'`); n != 0 {
		t.Error("what nobody has any more is kept")
	}
}

func TestChatIdempotency(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	chat, other := alice.chat(bob), alice.chat(carol)
	first := alice.sayOnce(chat, "hello", "k 1").want(200).object()
	if got := first.str("idempotency_key"); got != "k 1" {
		t.Errorf("the key is %q", got)
	}
	if again := alice.sayOnce(chat, "hello", "k 1").want(200).object(); again.id() != first.id() {
		t.Error("a repeated key sends another message")
	}
	if another := alice.sayOnce(chat, "hello", "k 2").want(200).object(); another.id() == first.id() {
		t.Error("another key sends no message")
	}
	if elsewhere := alice.sayOnce(other, "hello", "k 3").want(200).object(); elsewhere.str("chat_id") != other {
		t.Error("a message for carol is one for bob")
	}
	alice.sayOnce(other, "hello", "k 2").want(200)
	alice.sayOnce(chat, "hello", strings.Repeat("x", 256)).want(400)
	bob.sayOnce(bob.chat(alice), "hello", "k 1").want(200)
	wantList(t, "messages", alice.messages(chat), "hello", "hello", "hello")
	wantList(t, "to carol", alice.messages(other), "hello", "hello")

	shown := alice.get("/api/v1/svc/chats/" + chat + "/messages").list()
	if got := shown[2].str("idempotency_key"); got != "k 1" {
		t.Errorf("the author is shown the key %q", got)
	}
	if shown[0].has("idempotency_key") {
		t.Error("the key of somebody else is shown")
	}
	srv.insert(`UPDATE chat_message_keys SET created_at = created_at - ?`, (7 * time.Hour).Milliseconds())
	if late := alice.sayOnce(chat, "hello", "k 1").want(200).object(); late.id() == first.id() {
		t.Error("a key counts for longer than six hours")
	}
	err := srv.db.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.PruneExpired(t.Context())
		return err
	})
	if n := srv.count(`SELECT count(*) FROM chat_message_keys`); n != 1 || err != nil {
		t.Errorf("%d keys are left, want the last one (%v)", n, err)
	}

	var wg sync.WaitGroup
	ids := make([]string, 8)
	for i := range ids {
		wg.Go(func() { ids[i] = alice.sayOnce(chat, "at once", "k 9").want(200).object().id() })
	}
	wg.Wait()
	if slices.Sort(ids); len(slices.Compact(ids)) != 1 {
		t.Errorf("sent at once with one key: %v", ids)
	}
}

func TestChatNotification(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) { c.API.Name = "other" })
	alice, bob, muted := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("muted")
	say := func(m *member, content string) {
		t.Helper()
		chat := m.post("/api/v1/other/chats/by-account-id/" + alice.id).want(200).object().id()
		m.post("/api/v1/other/chats/"+chat+"/messages", "content", content).want(200)
	}
	alice.to(muted.id, "mute")
	say(bob, "one")
	say(bob, "two")
	say(muted, "psst")
	wantList(t, "by default", types(alice.get("/api/v1/notifications").want(200)))
	list := alice.get("/api/v1/notifications", "types[]", "other:chat_mention").want(200).list()
	if len(list) != 2 || list[0].str("chat_message.content") != "two" || list[0].str("account.id") != bob.id || list[0].has("status") ||
		list[0].str("chat_message.account_id") != bob.id || !list[0].truth("chat_message.unread") || list[0].truth("other.is_seen") {
		t.Fatalf("got %v", list)
	}
	one := alice.get("/api/v1/notifications/" + list[0].id()).want(200).object()
	chat := alice.get("/api/v1/other/chats/" + one.str("chat_message.chat_id")).want(200).object()
	if chat.str("last_message.id") != one.str("chat_message.id") {
		t.Errorf("the notification is of message %s, the chat has %v", one.str("chat_message.id"), chat.m)
	}
	list = alice.get("/api/v1/notifications", "types[]", "other:chat_mention", "with_muted", "true").want(200).list()
	if len(list) != 3 || list[0].str("account.id") != muted.id || !list[0].truth("other.is_seen") || !list[0].truth("other.is_muted") {
		t.Errorf("with the muted: %v", list)
	}
	alice.to(bob.id, "block")
	alice.to(bob.id, "unblock")
	wantList(t, "after a block", types(alice.get("/api/v1/notifications", "types[]", "other:chat_mention").want(200)))
	alice.send("PUT", "/api/v1/other/notification_settings", map[string]any{"block_from_strangers": true}).want(200)
	say(bob, "three")
	wantList(t, "from a stranger", types(alice.get("/api/v1/notifications", "types[]", "other:chat_mention").want(200)))
	features := srv.as(nil).get("/api/v1/instance").object().at("other.metadata.features").([]any)
	if !slices.Contains(features, any("other_chat_messages")) {
		t.Errorf("features are %v", features)
	}
}

// Both sides' streams hear of a message, but not those of who mutes its author.
func TestChatEvents(t *testing.T) {
	srv := startAPI(t)
	events := srv.watchChats()
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	chat, theirs, self := alice.chat(bob), bob.chat(alice), alice.chat(alice)
	wantList(t, "opening", events())
	for _, tt := range []struct {
		name string
		do   func()
		want []string
	}{
		{"a message", func() { alice.say(chat, "x") }, []string{alice.id + chat, bob.id + theirs}},
		{"to oneself", func() { alice.say(self, "x") }, []string{alice.id + self}},
		{"reading", func() { bob.post("/api/v1/svc/chats/"+theirs+"/read", "last_read_id", "9").want(200) }, nil},
		{"to who mutes", func() { bob.to(alice.id, "mute"); alice.say(chat, "x") }, []string{alice.id + chat}},
		{"a refused one", func() { alice.post("/api/v1/svc/chats/"+chat+"/messages", "content", "").want(400) }, nil},
	} {
		tt.do()
		wantList(t, tt.name, events(), tt.want...)
	}
	who := &store.Account{ID: bob.accountID()}
	var id store.ChatID
	id.UnmarshalText([]byte(theirs))
	c, err := srv.entities.Chat(t.Context(), who, id)
	if err != nil || c.Unread != 2 || c.LastMessage == nil || c.LastMessage.ChatID != id {
		t.Errorf("a stream is shown %+v, %v", c, err)
	}
	who.ID = alice.accountID()
	if _, err := srv.entities.Chat(t.Context(), who, id); err == nil {
		t.Error("a stream is shown a foreign chat")
	}
}

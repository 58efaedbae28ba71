package server_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"svc/store"
)

func TestDeletingWhatIsLast(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	remove := func(m *member, st *object) {
		t.Helper()
		m.do("DELETE", "/api/v1/statuses/"+st.id(), "", nil).want(200)
	}
	first := alice.direct("@bob one")
	second := bob.direct("@alice @carol two", "in_reply_to_id", first.id())
	aside := bob.direct("@carol three", "in_reply_to_id", second.id())
	third := bob.direct("@alice four", "in_reply_to_id", second.id())
	alice.conversation().wantConversation(third.id(), true)
	remove(bob, third)
	alice.conversation().wantConversation(second.id(), true)
	bob.conversation().wantConversation(aside.id(), false)
	remove(bob, second)
	alice.conversation().wantConversation(first.id(), false) // it was her own
	carol.conversation().wantConversation(aside.id(), true)
	if got := alice.unread(); got != 0 {
		t.Errorf("after all that was unread has gone, %d are unread", got)
	}
	remove(alice, first)
	if list := alice.conversations(); len(list) != 0 {
		t.Errorf("a conversation without a post is listed: %v", list)
	}
	remove(bob, aside)
	for _, m := range []*member{bob, carol} {
		if list := m.conversations(); len(list) != 0 {
			t.Errorf("a conversation without a post is listed: %v", list)
		}
	}
	srv.wantRows("direct_conversations", 0)
}

// wantRows checks how many rows a table has.
func (a *api) wantRows(table string, want int) {
	a.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(a.dir, store.File)+"?_pragma=busy_timeout(10000)")
	if err != nil {
		a.t.Fatal(err)
	}
	defer db.Close()
	var got int
	if err := db.QueryRow(`SELECT count(*) FROM ` + table).Scan(&got); err != nil {
		a.t.Fatal(err)
	}
	if got != want {
		a.t.Errorf("%s has %d rows, want %d", table, got, want)
	}
}

func TestDeletingAConversation(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	st := alice.direct("@bob hello")
	c := bob.conversation()
	if got := bob.do("DELETE", "/api/v1/conversations/"+c.id(), "", nil).want(200).body; string(got) != "{}" {
		t.Errorf("deleting answers %s", got)
	}
	bob.do("DELETE", "/api/v1/conversations/"+c.id(), "", nil).wantError(404, "Record not found")
	if list := bob.conversations(); len(list) != 0 || bob.unread() != 0 {
		t.Errorf("%d conversations, %d unread after it was deleted", len(list), bob.unread())
	}
	if got := bob.get("/api/v1/statuses/" + st.id()).want(200).object().at("svc.direct_conversation_id"); got != nil {
		t.Errorf("the post is in %v", got)
	}
	alice.conversation().wantConversation(st.id(), false)
	again := alice.direct("@bob still there?", "in_reply_to_id", st.id())
	bob.conversation().wantConversation(again.id(), true)
}

// Who is mentioned by an edit only, is in the conversation from then on.
func TestEditIntoAConversation(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	st := alice.direct("@bob hello")
	bob.do("DELETE", "/api/v1/conversations/"+bob.conversation().id(), "", nil).want(200)
	alice.send("PUT", "/api/v1/statuses/"+st.id(), map[string]any{"status": "@bob @carol hello"}).want(200)
	carol.conversation().wantConversation(st.id(), true)
	if list := bob.conversations(); len(list) != 0 {
		t.Errorf("an edit brought back what was deleted: %v", list)
	}
}

// What goes into a conversation goes to its recipients, whoever is named, also when it is edited.
func TestEditInAConversation(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	st := alice.direct("@bob hello")
	bob.direct("@alice hi", "in_reply_to_id", st.id())
	reply := alice.publish("as to somebody", "in_reply_to_conversation_id", strconv.Itoa(st.num("svc.direct_conversation_id")))
	edited := alice.send("PUT", "/api/v1/statuses/"+reply.id(), map[string]any{"status": "as to @carol"}).want(200).object()
	if got := edited.names("mentions"); got != "bob" {
		t.Errorf("it mentions %q", got)
	}
	carol.get("/api/v1/statuses/" + reply.id()).want(404)
	if list := carol.conversations(); len(list) != 0 || len(carol.get("/api/v1/notifications").list()) != 0 {
		t.Errorf("who was only named was told: %v", list)
	}
	bob.conversation().wantConversation(reply.id(), true)
}

func TestQuietConversations(t *testing.T) {
	srv := startAPI(t)
	people := map[string]*member{}
	for _, nick := range []string{"alice", "bob", "carol"} {
		people[nick] = srv.signUp(nick)
	}
	alice, bob, carol := people["alice"], people["bob"], people["carol"]
	for _, tt := range []struct {
		name         string
		hush, unhush func(st *object)
		hidden       bool // rather than only quiet
	}{
		{
			"a mute",
			func(*object) { alice.post("/api/v1/accounts/" + bob.id + "/mute").want(200) },
			func(*object) { alice.post("/api/v1/accounts/" + bob.id + "/unmute").want(200) }, false,
		},
		{
			"a muted thread",
			func(st *object) { alice.post("/api/v1/statuses/" + st.id() + "/mute").want(200) },
			func(st *object) { alice.post("/api/v1/statuses/" + st.id() + "/unmute").want(200) }, false,
		},
		{
			"a block",
			func(*object) { alice.post("/api/v1/accounts/" + bob.id + "/block").want(200) },
			func(*object) { alice.post("/api/v1/accounts/" + bob.id + "/unblock").want(200) }, true,
		},
		{
			"being blocked",
			func(*object) { bob.post("/api/v1/accounts/" + alice.id + "/block").want(200) },
			func(*object) { bob.post("/api/v1/accounts/" + alice.id + "/unblock").want(200) }, true,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			other := carol.direct("@alice between")
			first := bob.direct("@alice hello")
			alice.conversations()[0].wantConversation(first.id(), true)
			alice.post("/api/v1/svc/conversations/read").want(200)
			tt.hush(first)
			if tt.hidden {
				alice.conversations()[0].wantConversation(other.id(), false)
			} else {
				alice.conversations()[0].wantConversation(first.id(), false)
			}
			second := bob.direct("@alice again", "in_reply_to_id", first.id())
			if tt.hidden {
				alice.conversations()[0].wantConversation(other.id(), false)
			} else {
				alice.conversations()[0].wantConversation(second.id(), false)
			}
			if got := alice.unread(); got != 0 {
				t.Errorf("%d are unread", got)
			}
			// A conversation that starts like that is quiet, too.
			if tt.name != "a muted thread" {
				start := bob.direct("@alice a new one")
				found := slices.ContainsFunc(alice.conversations(), func(c *object) bool { return c.str("last_status.id") == start.id() && !c.truth("unread") })
				if found == tt.hidden {
					t.Errorf("the new conversation is listed as read: %v", found)
				}
			}
			tt.unhush(first)
			third := bob.direct("@alice and again", "in_reply_to_id", second.id())
			alice.conversations()[0].wantConversation(third.id(), true)
			if got := alice.unread(); got != 1 {
				t.Errorf("%d are unread afterwards, want 1", got)
			}
			alice.post("/api/v1/svc/conversations/read").want(200)
		})
	}
}

// A block marks what the two share as read, and shows what came before the other's posts.
func TestBlockingInAConversation(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	mine := alice.direct("@bob @carol hello")
	carol.direct("@alice @bob hi", "in_reply_to_id", mine.id())
	bob.direct("@alice hi", "in_reply_to_id", mine.id())
	shared := alice.conversation().id()
	own := bob.direct("@alice only you")
	apart := carol.direct("@alice something else")
	if got := alice.unread(); got != 3 {
		t.Fatalf("%d are unread, want 3", got)
	}
	alice.post("/api/v1/accounts/" + bob.id + "/block").want(200)
	if got := alice.unread(); got != 1 {
		t.Errorf("%d are unread after the block, want 1", got)
	}
	list := alice.conversations()
	if len(list) != 2 {
		t.Fatalf("%d conversations are left, want 2: %v", len(list), list)
	}
	list[0].wantConversation(apart.id(), true)
	list[1].wantConversation(mine.id(), false)
	// It can still be asked for, and pages are full although what is hidden is newer.
	id := strconv.Itoa(bob.get("/api/v1/statuses/" + own.id()).want(200).object().num("svc.direct_conversation_id"))
	bob.get("/api/v1/svc/conversations/"+id).want(200).object().wantConversation(own.id(), false)
	for range 3 {
		bob.direct("@alice let me in")
	}
	if got := alice.get("/api/v1/conversations?limit=1").want(200).ids(); len(got) != 1 {
		t.Errorf("a page of one has %v", got)
	}
	wantPages(t, alice, "/api/v1/conversations?limit=1", []string{list[0].id(), shared})
	alice.post("/api/v1/accounts/" + bob.id + "/unblock").want(200)
	if got := len(alice.conversations()); got != 6 || alice.unread() != 1 {
		t.Errorf("after the end of the block: %d conversations, %d unread", got, alice.unread())
	}
}

// A deleted account takes its conversations along, and its posts out of those of others.
func TestConversationsOfTheDeleted(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	srv.signUp("carol")
	first := alice.direct("@bob @carol hello")
	bob.direct("@alice @carol hi", "in_reply_to_id", first.id())
	bob.direct("@alice only you")
	if err := srv.social.DeleteAccount(t.Context(), bob.accountID()); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		c := alice.conversation()
		c.wantConversation(first.id(), c.truth("unread"))
		if got := c.names("accounts"); got != "carol" {
			t.Errorf("%s, alice talks with %q", when, got)
		}
		if got := alice.publish("anybody?", "in_reply_to_conversation_id", c.id(), "preview", "true").names("mentions"); got != "carol" {
			t.Errorf("%s, alice writes to %q", when, got)
		}
	}
	check("before the purge")
	srv.settle()
	check("after the purge")
	if got := alice.unread(); got != 0 {
		t.Errorf("%d are unread", got)
	}
	srv.wantRows("direct_conversations", 2)
}

// The events tell each participant of each post that reaches them.
func TestConversationEvents(t *testing.T) {
	srv := startAPI(t)
	heard := make(chan store.ConversationChanged, 100)
	srv.db.Subscribe(func(events []store.Event) {
		for _, e := range events {
			if c, ok := e.(store.ConversationChanged); ok {
				heard <- c
			}
		}
	})
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	wantHeard := func(what string, want ...*member) {
		t.Helper()
		var got []store.ConversationChanged
		for len(heard) > 0 { // events are sent before the answer
			got = append(got, <-heard)
		}
		if len(got) != len(want) {
			t.Errorf("%s: got %v, want %d events", what, got, len(want))
		}
		for _, m := range want {
			if !slices.ContainsFunc(got, func(c store.ConversationChanged) bool {
				o, err := srv.entities.Conversation(t.Context(), &store.Account{ID: m.accountID()}, c.ID)
				return c.AccountID == m.accountID() && err == nil && o != nil
			}) {
				t.Errorf("%s: %s heard nothing: %v", what, m.nick, got)
			}
		}
	}
	alice.publish("hello @bob")
	wantHeard("a public post")
	st := alice.direct("hello @bob @carol")
	wantHeard("a direct post", alice, bob, carol)
	srv.letMute(bob, alice)
	alice.direct("hello again @bob @carol", "in_reply_to_id", st.id())
	wantHeard("a post by the muted", alice, carol)
	carol.direct("@alice @bob hi", "in_reply_to_id", st.id())
	wantHeard("a post by another", alice, bob, carol)
	alice.direct("once more @bob @carol", "in_reply_to_id", st.id())
	wantHeard("a post by the muted into what is unread", alice, carol)
	srv.letBlock(carol, alice)
	alice.direct("and @carol", "in_reply_to_id", st.id())
	wantHeard("a post by the blocked", alice)
}

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
	srv := Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	remove := func(m *User, st *Object) {
		t.Helper()
		m.Do("DELETE", "/api/v1/statuses/"+st.ID(), "", nil).Want(200)
	}
	first := alice.PublishDirect("@bob one")
	second := bob.PublishDirect("@alice @carol two", "in_reply_to_id", first.ID())
	aside := bob.PublishDirect("@carol three", "in_reply_to_id", second.ID())
	third := bob.PublishDirect("@alice four", "in_reply_to_id", second.ID())
	alice.Conversation().wantConversation(third.ID(), true)
	remove(bob, third)
	alice.Conversation().wantConversation(second.ID(), true)
	bob.Conversation().wantConversation(aside.ID(), false)
	remove(bob, second)
	alice.Conversation().wantConversation(first.ID(), false) // it was her own
	carol.Conversation().wantConversation(aside.ID(), true)
	if got := alice.unreadConversations(); got != 0 {
		t.Errorf("after all that was unread has gone, %d are unread", got)
	}
	remove(alice, first)
	if list := alice.Conversations(); len(list) != 0 {
		t.Errorf("a conversation without a post is listed: %v", list)
	}
	remove(bob, aside)
	for _, m := range []*User{bob, carol} {
		if list := m.Conversations(); len(list) != 0 {
			t.Errorf("a conversation without a post is listed: %v", list)
		}
	}
	srv.wantRows("direct_conversations", 0)
}

// wantRows checks how many rows a table has.
func (a *Server) wantRows(table string, want int) {
	a.T.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(a.Dir, store.File)+"?_pragma=busy_timeout(10000)")
	if err != nil {
		a.T.Fatal(err)
	}
	defer db.Close()
	var got int
	if err := db.QueryRow(`SELECT count(*) FROM ` + table).Scan(&got); err != nil {
		a.T.Fatal(err)
	}
	if got != want {
		a.T.Errorf("%s has %d rows, want %d", table, got, want)
	}
}

func TestDeletingAConversation(t *testing.T) {
	srv := Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	st := alice.PublishDirect("@bob hello")
	c := bob.Conversation()
	if got := bob.Do("DELETE", "/api/v1/conversations/"+c.ID(), "", nil).Want(200).Body; string(got) != "{}" {
		t.Errorf("deleting answers %s", got)
	}
	bob.Do("DELETE", "/api/v1/conversations/"+c.ID(), "", nil).WantError(404, "Record not found")
	if list := bob.Conversations(); len(list) != 0 || bob.unreadConversations() != 0 {
		t.Errorf("%d conversations, %d unread after it was deleted", len(list), bob.unreadConversations())
	}
	if got := bob.Get("/api/v1/statuses/" + st.ID()).Want(200).Object().At("svc.direct_conversation_id"); got != nil {
		t.Errorf("the post is in %v", got)
	}
	alice.Conversation().wantConversation(st.ID(), false)
	again := alice.PublishDirect("@bob still there?", "in_reply_to_id", st.ID())
	bob.Conversation().wantConversation(again.ID(), true)
}

// Who is mentioned by an edit only, is in the conversation from then on.
func TestEditIntoAConversation(t *testing.T) {
	srv := Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	st := alice.PublishDirect("@bob hello")
	bob.Do("DELETE", "/api/v1/conversations/"+bob.Conversation().ID(), "", nil).Want(200)
	alice.SendJSON("PUT", "/api/v1/statuses/"+st.ID(), map[string]any{"status": "@bob @carol hello"}).Want(200)
	carol.Conversation().wantConversation(st.ID(), true)
	if list := bob.Conversations(); len(list) != 0 {
		t.Errorf("an edit brought back what was deleted: %v", list)
	}
}

// What goes into a conversation goes to its recipients, whoever is named, also when it is edited.
func TestEditInAConversation(t *testing.T) {
	srv := Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	st := alice.PublishDirect("@bob hello")
	bob.PublishDirect("@alice hi", "in_reply_to_id", st.ID())
	reply := alice.Publish("as to somebody", "in_reply_to_conversation_id", strconv.Itoa(st.Int("svc.direct_conversation_id")))
	edited := alice.SendJSON("PUT", "/api/v1/statuses/"+reply.ID(), map[string]any{"status": "as to @carol"}).Want(200).Object()
	if got := edited.Usernames("mentions"); got != "bob" {
		t.Errorf("it mentions %q", got)
	}
	carol.Get("/api/v1/statuses/" + reply.ID()).Want(404)
	if list := carol.Conversations(); len(list) != 0 || len(carol.Get("/api/v1/notifications").List()) != 0 {
		t.Errorf("who was only named was told: %v", list)
	}
	bob.Conversation().wantConversation(reply.ID(), true)
}

func TestQuietConversations(t *testing.T) {
	srv := Start(t)
	people := map[string]*User{}
	for _, nick := range []string{"alice", "bob", "carol"} {
		people[nick] = srv.SignUp(nick)
	}
	alice, bob, carol := people["alice"], people["bob"], people["carol"]
	for _, tt := range []struct {
		name         string
		hush, unhush func(st *Object)
		hidden       bool // rather than only quiet
	}{
		{
			"a mute",
			func(*Object) { alice.Post("/api/v1/accounts/" + bob.ID + "/mute").Want(200) },
			func(*Object) { alice.Post("/api/v1/accounts/" + bob.ID + "/unmute").Want(200) }, false,
		},
		{
			"a muted thread",
			func(st *Object) { alice.Post("/api/v1/statuses/" + st.ID() + "/mute").Want(200) },
			func(st *Object) { alice.Post("/api/v1/statuses/" + st.ID() + "/unmute").Want(200) }, false,
		},
		{
			"a block",
			func(*Object) { alice.Post("/api/v1/accounts/" + bob.ID + "/block").Want(200) },
			func(*Object) { alice.Post("/api/v1/accounts/" + bob.ID + "/unblock").Want(200) }, true,
		},
		{
			"being blocked",
			func(*Object) { bob.Post("/api/v1/accounts/" + alice.ID + "/block").Want(200) },
			func(*Object) { bob.Post("/api/v1/accounts/" + alice.ID + "/unblock").Want(200) }, true,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			other := carol.PublishDirect("@alice between")
			first := bob.PublishDirect("@alice hello")
			alice.Conversations()[0].wantConversation(first.ID(), true)
			alice.Post("/api/v1/svc/conversations/read").Want(200)
			tt.hush(first)
			if tt.hidden {
				alice.Conversations()[0].wantConversation(other.ID(), false)
			} else {
				alice.Conversations()[0].wantConversation(first.ID(), false)
			}
			second := bob.PublishDirect("@alice again", "in_reply_to_id", first.ID())
			if tt.hidden {
				alice.Conversations()[0].wantConversation(other.ID(), false)
			} else {
				alice.Conversations()[0].wantConversation(second.ID(), false)
			}
			if got := alice.unreadConversations(); got != 0 {
				t.Errorf("%d are unread", got)
			}
			// A conversation that starts like that is quiet, too.
			if tt.name != "a muted thread" {
				start := bob.PublishDirect("@alice a new one")
				found := slices.ContainsFunc(alice.Conversations(), func(c *Object) bool { return c.Str("last_status.id") == start.ID() && !c.Bool("unread") })
				if found == tt.hidden {
					t.Errorf("the new conversation is listed as read: %v", found)
				}
			}
			tt.unhush(first)
			third := bob.PublishDirect("@alice and again", "in_reply_to_id", second.ID())
			alice.Conversations()[0].wantConversation(third.ID(), true)
			if got := alice.unreadConversations(); got != 1 {
				t.Errorf("%d are unread afterwards, want 1", got)
			}
			alice.Post("/api/v1/svc/conversations/read").Want(200)
		})
	}
}

// A block marks what the two share as read, and shows what came before the other's posts.
func TestBlockingInAConversation(t *testing.T) {
	srv := Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	mine := alice.PublishDirect("@bob @carol hello")
	carol.PublishDirect("@alice @bob hi", "in_reply_to_id", mine.ID())
	bob.PublishDirect("@alice hi", "in_reply_to_id", mine.ID())
	shared := alice.Conversation().ID()
	own := bob.PublishDirect("@alice only you")
	apart := carol.PublishDirect("@alice something else")
	if got := alice.unreadConversations(); got != 3 {
		t.Fatalf("%d are unread, want 3", got)
	}
	alice.Post("/api/v1/accounts/" + bob.ID + "/block").Want(200)
	if got := alice.unreadConversations(); got != 1 {
		t.Errorf("%d are unread after the block, want 1", got)
	}
	list := alice.Conversations()
	if len(list) != 2 {
		t.Fatalf("%d conversations are left, want 2: %v", len(list), list)
	}
	list[0].wantConversation(apart.ID(), true)
	list[1].wantConversation(mine.ID(), false)
	// It can still be asked for, and pages are full although what is hidden is newer.
	id := strconv.Itoa(bob.Get("/api/v1/statuses/" + own.ID()).Want(200).Object().Int("svc.direct_conversation_id"))
	bob.Get("/api/v1/svc/conversations/"+id).Want(200).Object().wantConversation(own.ID(), false)
	for range 3 {
		bob.PublishDirect("@alice let me in")
	}
	if got := alice.Get("/api/v1/conversations?limit=1").Want(200).IDs(); len(got) != 1 {
		t.Errorf("a page of one has %v", got)
	}
	WantPages(t, alice, "/api/v1/conversations?limit=1", []string{list[0].ID(), shared})
	alice.Post("/api/v1/accounts/" + bob.ID + "/unblock").Want(200)
	if got := len(alice.Conversations()); got != 6 || alice.unreadConversations() != 1 {
		t.Errorf("after the end of the block: %d conversations, %d unread", got, alice.unreadConversations())
	}
}

// A deleted account takes its conversations along, and its posts out of those of others.
func TestConversationsOfTheDeleted(t *testing.T) {
	srv := Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	srv.SignUp("carol")
	first := alice.PublishDirect("@bob @carol hello")
	bob.PublishDirect("@alice @carol hi", "in_reply_to_id", first.ID())
	bob.PublishDirect("@alice only you")
	if err := srv.Social.DeleteAccount(t.Context(), bob.AccountID()); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		c := alice.Conversation()
		c.wantConversation(first.ID(), c.Bool("unread"))
		if got := c.Usernames("accounts"); got != "carol" {
			t.Errorf("%s, alice talks with %q", when, got)
		}
		if got := alice.Publish("anybody?", "in_reply_to_conversation_id", c.ID(), "preview", "true").Usernames("mentions"); got != "carol" {
			t.Errorf("%s, alice writes to %q", when, got)
		}
	}
	check("before the purge")
	srv.RunJobs()
	check("after the purge")
	if got := alice.unreadConversations(); got != 0 {
		t.Errorf("%d are unread", got)
	}
	srv.wantRows("direct_conversations", 2)
}

// The events tell each participant of each post that reaches them.
func TestConversationEvents(t *testing.T) {
	srv := Start(t)
	heard := make(chan store.ConversationChanged, 100)
	srv.DB.Subscribe(func(events []store.Event) {
		for _, e := range events {
			if c, ok := e.(store.ConversationChanged); ok {
				heard <- c
			}
		}
	})
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	wantHeard := func(what string, want ...*User) {
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
				o, err := srv.Entities.Conversation(t.Context(), &store.Account{ID: m.AccountID()}, c.ID)
				return c.AccountID == m.AccountID() && err == nil && o != nil
			}) {
				t.Errorf("%s: %s heard nothing: %v", what, m.Nickname, got)
			}
		}
	}
	alice.Publish("hello @bob")
	wantHeard("a public post")
	st := alice.PublishDirect("hello @bob @carol")
	wantHeard("a direct post", alice, bob, carol)
	srv.AddMute(bob, alice)
	alice.PublishDirect("hello again @bob @carol", "in_reply_to_id", st.ID())
	wantHeard("a post by the muted", alice, carol)
	carol.PublishDirect("@alice @bob hi", "in_reply_to_id", st.ID())
	wantHeard("a post by another", alice, bob, carol)
	alice.PublishDirect("once more @bob @carol", "in_reply_to_id", st.ID())
	wantHeard("a post by the muted into what is unread", alice, carol)
	srv.AddBlock(carol, alice)
	alice.PublishDirect("and @carol", "in_reply_to_id", st.ID())
	wantHeard("a post by the blocked", alice)
}

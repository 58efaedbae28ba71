package server_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"svc/app/apptest"
	"svc/store"
)

func TestDeletingLastStatus(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	remove := func(m *apptest.User, st *apptest.Object) {
		t.Helper()
		m.Do("DELETE", "/api/v1/statuses/"+st.ID(), "", nil).Want(200)
	}
	first := publishDirect(alice, "@bob one")
	second := publishDirect(bob, "@alice @carol two", "in_reply_to_id", first.ID())
	aside := publishDirect(bob, "@carol three", "in_reply_to_id", second.ID())
	third := publishDirect(bob, "@alice four", "in_reply_to_id", second.ID())
	wantConversation(onlyConversation(alice), third.ID(), true)
	remove(bob, third)
	wantConversation(onlyConversation(alice), second.ID(), true)
	wantConversation(onlyConversation(bob), aside.ID(), false)
	remove(bob, second)
	wantConversation(onlyConversation(alice), first.ID(), false) // her own post
	wantConversation(onlyConversation(carol), aside.ID(), true)
	if got := unreadConversations(alice); got != 0 {
		t.Errorf("%d are unread after the unread posts were deleted", got)
	}
	remove(alice, first)
	if list := listConversations(alice); len(list) != 0 {
		t.Errorf("a conversation without a post is listed: %v", list)
	}
	remove(bob, aside)
	for _, m := range []*apptest.User{bob, carol} {
		if list := listConversations(m); len(list) != 0 {
			t.Errorf("a conversation without a post is listed: %v", list)
		}
	}
	wantRows(srv, "direct_conversations", 0)
}

// wantRows fails the test if a table has another number of rows.
func wantRows(a *apptest.Server, table string, want int) {
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
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	st := publishDirect(alice, "@bob hello")
	c := onlyConversation(bob)
	if got := bob.Do("DELETE", "/api/v1/conversations/"+c.ID(), "", nil).Want(200).Body; string(got) != "{}" {
		t.Errorf("the response is %s", got)
	}
	bob.Do("DELETE", "/api/v1/conversations/"+c.ID(), "", nil).WantError(404, "Record not found")
	if list := listConversations(bob); len(list) != 0 || unreadConversations(bob) != 0 {
		t.Errorf("%d conversations, %d unread after it was deleted", len(list), unreadConversations(bob))
	}
	if got := bob.Get("/api/v1/statuses/" + st.ID()).Want(200).Object().At("svc.direct_conversation_id"); got != nil {
		t.Errorf("the post is in conversation %v", got)
	}
	wantConversation(onlyConversation(alice), st.ID(), false)
	again := publishDirect(alice, "@bob still there?", "in_reply_to_id", st.ID())
	wantConversation(onlyConversation(bob), again.ID(), true)
}

// TestEditIntoAConversation checks that an account that an edit mentions gets the conversation.
func TestEditIntoAConversation(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	st := publishDirect(alice, "@bob hello")
	bob.Do("DELETE", "/api/v1/conversations/"+onlyConversation(bob).ID(), "", nil).Want(200)
	alice.SendJSON("PUT", "/api/v1/statuses/"+st.ID(), map[string]any{"status": "@bob @carol hello"}).Want(200)
	wantConversation(onlyConversation(carol), st.ID(), true)
	if list := listConversations(bob); len(list) != 0 {
		t.Errorf("an edit restored the deleted conversation: %v", list)
	}
}

// TestEditInAConversation checks that a post into a conversation goes to its recipients only, also after an edit with mentions.
func TestEditInAConversation(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	st := publishDirect(alice, "@bob hello")
	publishDirect(bob, "@alice hi", "in_reply_to_id", st.ID())
	reply := alice.Publish("no mention", "in_reply_to_conversation_id", strconv.Itoa(st.Int("svc.direct_conversation_id")))
	edited := alice.SendJSON("PUT", "/api/v1/statuses/"+reply.ID(), map[string]any{"status": "about @carol"}).Want(200).Object()
	if got := edited.Usernames("mentions"); got != "bob" {
		t.Errorf("it mentions %q", got)
	}
	carol.Get("/api/v1/statuses/" + reply.ID()).Want(404)
	if list := listConversations(carol); len(list) != 0 || len(carol.Get("/api/v1/notifications").List()) != 0 {
		t.Errorf("carol, named only in the text, received the post: %v", list)
	}
	wantConversation(onlyConversation(bob), reply.ID(), true)
}

func TestHiddenPostsInConversations(t *testing.T) {
	srv := apptest.Start(t)
	people := map[string]*apptest.User{}
	for _, nick := range []string{"alice", "bob", "carol"} {
		people[nick] = srv.SignUp(nick)
	}
	alice, bob, carol := people["alice"], people["bob"], people["carol"]
	for _, tt := range []struct {
		name         string
		hush, unhush func(st *apptest.Object)
		hidden       bool // the conversation is not listed, rather than listed as read
	}{
		{
			"a mute",
			func(*apptest.Object) { alice.Post("/api/v1/accounts/" + bob.ID + "/mute").Want(200) },
			func(*apptest.Object) { alice.Post("/api/v1/accounts/" + bob.ID + "/unmute").Want(200) }, false,
		},
		{
			"a muted thread",
			func(st *apptest.Object) { alice.Post("/api/v1/statuses/" + st.ID() + "/mute").Want(200) },
			func(st *apptest.Object) { alice.Post("/api/v1/statuses/" + st.ID() + "/unmute").Want(200) }, false,
		},
		{
			"a block",
			func(*apptest.Object) { alice.Post("/api/v1/accounts/" + bob.ID + "/block").Want(200) },
			func(*apptest.Object) { alice.Post("/api/v1/accounts/" + bob.ID + "/unblock").Want(200) }, true,
		},
		{
			"being blocked",
			func(*apptest.Object) { bob.Post("/api/v1/accounts/" + alice.ID + "/block").Want(200) },
			func(*apptest.Object) { bob.Post("/api/v1/accounts/" + alice.ID + "/unblock").Want(200) }, true,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			other := publishDirect(carol, "@alice between")
			first := publishDirect(bob, "@alice hello")
			wantConversation(listConversations(alice)[0], first.ID(), true)
			alice.Post("/api/v1/svc/conversations/read").Want(200)
			tt.hush(first)
			if tt.hidden {
				wantConversation(listConversations(alice)[0], other.ID(), false)
			} else {
				wantConversation(listConversations(alice)[0], first.ID(), false)
			}
			second := publishDirect(bob, "@alice again", "in_reply_to_id", first.ID())
			if tt.hidden {
				wantConversation(listConversations(alice)[0], other.ID(), false)
			} else {
				wantConversation(listConversations(alice)[0], second.ID(), false)
			}
			if got := unreadConversations(alice); got != 0 {
				t.Errorf("%d are unread", got)
			}
			// So is a conversation that starts afterwards.
			if tt.name != "a muted thread" {
				start := publishDirect(bob, "@alice a new one")
				found := slices.ContainsFunc(listConversations(alice), func(c *apptest.Object) bool { return c.Str("last_status.id") == start.ID() && !c.Bool("unread") })
				if found == tt.hidden {
					t.Errorf("the new conversation is listed as read: %v", found)
				}
			}
			tt.unhush(first)
			third := publishDirect(bob, "@alice and again", "in_reply_to_id", second.ID())
			wantConversation(listConversations(alice)[0], third.ID(), true)
			if got := unreadConversations(alice); got != 1 {
				t.Errorf("%d are unread afterwards, want 1", got)
			}
			alice.Post("/api/v1/svc/conversations/read").Want(200)
		})
	}
}

// TestBlockingInAConversation checks that a block marks shared conversations as read and lists them with their last visible posts.
func TestBlockingInAConversation(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	mine := publishDirect(alice, "@bob @carol hello")
	publishDirect(carol, "@alice @bob hi", "in_reply_to_id", mine.ID())
	publishDirect(bob, "@alice hi", "in_reply_to_id", mine.ID())
	shared := onlyConversation(alice).ID()
	own := publishDirect(bob, "@alice only you")
	apart := publishDirect(carol, "@alice something else")
	if got := unreadConversations(alice); got != 3 {
		t.Fatalf("%d are unread, want 3", got)
	}
	alice.Post("/api/v1/accounts/" + bob.ID + "/block").Want(200)
	if got := unreadConversations(alice); got != 1 {
		t.Errorf("%d are unread after the block, want 1", got)
	}
	list := listConversations(alice)
	if len(list) != 2 {
		t.Fatalf("%d conversations are listed, want 2: %v", len(list), list)
	}
	wantConversation(list[0], apart.ID(), true)
	wantConversation(list[1], mine.ID(), false)
	// A hidden conversation can still be requested by id. Newer hidden conversations do not shorten pages.
	id := strconv.Itoa(bob.Get("/api/v1/statuses/" + own.ID()).Want(200).Object().Int("svc.direct_conversation_id"))
	wantConversation(bob.Get("/api/v1/svc/conversations/"+id).Want(200).Object(), own.ID(), false)
	for range 3 {
		publishDirect(bob, "@alice let me in")
	}
	if got := alice.Get("/api/v1/conversations?limit=1").Want(200).IDs(); len(got) != 1 {
		t.Errorf("a page of one has %v", got)
	}
	apptest.WantPages(t, alice, "/api/v1/conversations?limit=1", []string{list[0].ID(), shared})
	alice.Post("/api/v1/accounts/" + bob.ID + "/unblock").Want(200)
	if got := len(listConversations(alice)); got != 6 || unreadConversations(alice) != 1 {
		t.Errorf("after the end of the block: %d conversations, %d unread", got, unreadConversations(alice))
	}
}

// TestConversationsOfDeletedAccounts checks that deleting an account deletes its conversations, and removes it from those of others.
func TestConversationsOfDeletedAccounts(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	srv.SignUp("carol")
	first := publishDirect(alice, "@bob @carol hello")
	publishDirect(bob, "@alice @carol hi", "in_reply_to_id", first.ID())
	publishDirect(bob, "@alice only you")
	if err := srv.Social.DeleteAccount(t.Context(), bob.AccountID()); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		c := onlyConversation(alice)
		wantConversation(c, first.ID(), c.Bool("unread"))
		if got := c.Usernames("accounts"); got != "carol" {
			t.Errorf("%s, the accounts are %q", when, got)
		}
		if got := alice.Publish("anybody?", "in_reply_to_conversation_id", c.ID(), "preview", "true").Usernames("mentions"); got != "carol" {
			t.Errorf("%s, a post mentions %q", when, got)
		}
	}
	check("before the purge")
	srv.RunJobs()
	check("after the purge")
	if got := unreadConversations(alice); got != 0 {
		t.Errorf("%d are unread", got)
	}
	wantRows(srv, "direct_conversations", 2)
}

// TestConversationEvents checks which participants get an event for a direct post.
func TestConversationEvents(t *testing.T) {
	srv := apptest.Start(t)
	changes := make(chan store.ConversationChanged, 100)
	srv.DB.Subscribe(func(events []store.Event) {
		for _, e := range events {
			if c, ok := e.(store.ConversationChanged); ok {
				changes <- c
			}
		}
	})
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	wantChanges := func(what string, want ...*apptest.User) {
		t.Helper()
		var got []store.ConversationChanged
		for len(changes) > 0 { // events are sent before the response
			got = append(got, <-changes)
		}
		if len(got) != len(want) {
			t.Errorf("%s: got %v, want %d events", what, got, len(want))
		}
		for _, m := range want {
			if !slices.ContainsFunc(got, func(c store.ConversationChanged) bool {
				o, err := srv.Entities.Conversation(t.Context(), &store.Account{ID: m.AccountID()}, c.ID)
				return c.AccountID == m.AccountID() && err == nil && o != nil
			}) {
				t.Errorf("%s: %s got no event: %v", what, m.Nickname, got)
			}
		}
	}
	alice.Publish("hello @bob")
	wantChanges("a public post")
	st := publishDirect(alice, "hello @bob @carol")
	wantChanges("a direct post", alice, bob, carol)
	srv.AddMute(bob, alice)
	publishDirect(alice, "hello again @bob @carol", "in_reply_to_id", st.ID())
	wantChanges("a post by a muted account", alice, carol)
	publishDirect(carol, "@alice @bob hi", "in_reply_to_id", st.ID())
	wantChanges("a post by another account", alice, bob, carol)
	publishDirect(alice, "once more @bob @carol", "in_reply_to_id", st.ID())
	wantChanges("a post by a muted account into an unread conversation", alice, carol)
	srv.AddBlock(carol, alice)
	publishDirect(alice, "and @carol", "in_reply_to_id", st.ID())
	wantChanges("a post by a blocked account", alice)
}

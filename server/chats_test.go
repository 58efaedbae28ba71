package server_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

// openChat returns the viewer's chat with an account, and creates it if necessary.
func openChat(m *apptest.User, with *apptest.User) string {
	m.Server.T.Helper()
	return m.Post("/api/v1/svc/chats/by-account-id/" + with.ID).Want(200).Object().ID()
}

// watchChats returns a function that returns the owners and ids of the chats with events since its last call.
func watchChats(a *apptest.Server) func() []string {
	var mu sync.Mutex
	var changed []string
	a.DB.Subscribe(func(events []store.Event) {
		mu.Lock()
		defer mu.Unlock()
		for _, e := range events {
			if c, ok := e.(store.ChatChanged); ok {
				changed = append(changed, c.AccountID.String()+c.ID.String())
			}
		}
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		defer func() { changed = nil }()
		return changed
	}
}

func TestChat(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	opened := alice.Post("/api/v1/svc/chats/by-account-id/" + bob.ID).Want(200).Object()
	chat := opened.ID()
	if opened.Str("account.id") != bob.ID || opened.Int("unread") != 0 || opened.At("last_message") != nil {
		t.Errorf("a new chat is %v", opened.Fields)
	}
	if again := openChat(alice, bob); again != chat {
		t.Errorf("opening it again returns another chat: %s, %s", chat, again)
	}
	apptest.WantList(t, "the recipient has no chat yet", bob.Chats())

	first := alice.SendChat(chat, "hello")
	if first.Str("chat_id") != chat || first.Str("account_id") != alice.ID || first.Str("content") != "hello" || first.Bool("unread") ||
		first.At("card") != nil || first.At("attachment") != nil || first.Has("idempotency_key") {
		t.Errorf("the message is %v", first.Fields)
	}
	theirs := bob.Get("/api/v2/svc/chats").Want(200).List()[0]
	if theirs.ID() == chat || theirs.Str("account.id") != alice.ID || theirs.Int("unread") != 1 || theirs.Str("last_message.content") != "hello" ||
		theirs.Str("last_message.chat_id") != theirs.ID() || !theirs.Bool("last_message.unread") || theirs.Str("last_message.account_id") != alice.ID {
		t.Errorf("the recipient's chat is %v", theirs.Fields)
	}
	if theirs.Str("last_message.id") == first.ID() {
		t.Error("both sides have the same id for the message")
	}
	if got := openChat(bob, alice); got != theirs.ID() {
		t.Errorf("bob opens chat %s, has %s", got, theirs.ID())
	}
	reply := bob.SendChat(theirs.ID(), "hi")
	mine := alice.Get("/api/v1/svc/chats/" + chat).Want(200).Object()
	if mine.Int("unread") != 1 || mine.Str("last_message.content") != "hi" || mine.Str("last_message.account_id") != bob.ID ||
		mine.Str("updated_at") < reply.Str("created_at") {
		t.Errorf("after the reply the chat is %v", mine.Fields)
	}
	apptest.WantList(t, "messages", alice.ChatMessages(chat), "hi", "hello")

	self := openChat(alice, alice)
	alice.SendChat(self, "to do")
	apptest.WantList(t, "messages to herself", alice.ChatMessages(self), "to do")
	apptest.WantList(t, "the list", alice.Chats(), "alice 0", "bob 1")
	apptest.WantList(t, "nothing in timelines", alice.Get("/api/v1/timelines/home").Want(200).IDs())
	apptest.WantList(t, "nor in conversations", alice.Get("/api/v1/timelines/direct").Want(200).IDs())
	if n := len(alice.Get("/api/v1/notifications", "include_types[]", "svc:chat_mention").Want(200).List()); n != 1 {
		t.Errorf("%d notifications, want one about the reply", n)
	}
}

func TestChatRefusals(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Chats.MaxLength = 10 })
	alice, bob, closed := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("closed")
	blocker, blocked, deleted, deactivated := srv.SignUp("blocker"), srv.SignUp("blocked"), srv.SignUp("deleted"), srv.SignUp("deactivated")
	closed.UpdateProfile(map[string]any{"accepts_chat_messages": false})
	with := map[*apptest.User]string{}
	for _, m := range []*apptest.User{alice, bob, closed, blocker, blocked, deleted, deactivated} {
		with[m] = openChat(alice, m)
	}
	blocker.AccountAction(alice.ID, "block")
	alice.AccountAction(blocked.ID, "block")
	srv.DeleteOrDeactivate(deleted, true)
	srv.DeleteOrDeactivate(deactivated, false)
	alice.UpdateProfile(map[string]any{"accepts_chat_messages": false}) // from other accounts
	others, used, free := bob.Upload(apptest.PNG(3, 3)).ID(), alice.Upload(apptest.PNG(4, 4)).ID(), alice.Upload(apptest.PNG(5, 5)).ID()
	alice.Publish("", "media_ids[]", used)
	bobsChat := openChat(bob, closed)
	for _, tt := range []struct {
		name   string
		chat   string
		params []string
		status int
		want   string // the error
	}{
		{"no content", with[bob], nil, 400, "no_content"},
		{"blanks", with[bob], []string{"content", " \n\t"}, 400, "no_content"},
		{"control characters", with[bob], []string{"content", "\x01\x02"}, 400, "no_content"},
		{"an empty attachment", with[bob], []string{"media_id", ""}, 400, "no_content"},
		{"too long", with[bob], []string{"content", strings.Repeat("x", 11)}, 400, "content_too_long"},
		{"too long beside an attachment", with[bob], []string{"content", strings.Repeat("x", 11), "media_id", free}, 400, "content_too_long"},
		{"an attachment of another user", with[bob], []string{"media_id", others}, 400, "forbidden"},
		{"an unknown attachment", with[bob], []string{"content", "x", "media_id", "0000000000000000AA"}, 400, "forbidden"},
		{"an invalid attachment id", with[bob], []string{"content", "x", "media_id", "nonsense"}, 400, "forbidden"},
		{"an attachment of a post", with[bob], []string{"media_id", used}, 400, "The attachment is in use already"},
		{"to a deactivated account", with[deactivated], []string{"content", "x"}, 400, "Recipient does not exist"},
		{"to an account that accepts no messages", with[closed], []string{"content", "x"}, 400, "The recipient does not accept your messages"},
		{"to a blocking account", with[blocker], []string{"content", "x"}, 400, "The recipient does not accept your messages"},
		{"to a blocked account", with[blocked], []string{"content", "x"}, 400, "The recipient does not accept your messages"},
		{"in a chat of another user", bobsChat, []string{"content", "x"}, 404, "Record not found"},
		{"in an unknown chat", "nonsense", []string{"content", "x"}, 404, "Record not found"},
		{"to the sender", with[alice], []string{"content", "x"}, 200, ""},
		{"to bob", with[bob], []string{"content", "x", "media_id", free}, 200, ""},
		{"with the same attachment", with[bob], []string{"content", "x", "media_id", free}, 400, "The attachment is in use already"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := alice.Post("/api/v1/svc/chats/"+tt.chat+"/messages", tt.params...)
			if tt.want != "" {
				a.WantError(tt.status, tt.want)
			} else {
				a.Want(tt.status)
			}
		})
	}
	alice.SendJSON("POST", "/api/v1/svc/chats/"+with[bob]+"/messages", map[string]any{"content": map[string]any{"a": 1}}).Want(400)
	for _, m := range []*apptest.User{closed, blocker, blocked} {
		apptest.WantList(t, m.Nickname, m.Chats())
		if n := len(m.Get("/api/v1/notifications", "types[]", "svc:chat_mention").Want(200).List()); n != 0 {
			t.Errorf("%s was notified of a refused message", m.Nickname)
		}
	}
	apptest.WantList(t, "bob", bob.Chats(), "alice 1", "closed 0")

	// Chats with blocked, deleted and deactivated accounts are not listed. A chat with a blocked account can be opened.
	apptest.WantList(t, "the list", alice.Chats(), "bob 0", "alice 0", "blocker 0", "closed 0")
	openChat(alice, blocked)
	for _, m := range []*apptest.User{deleted, deactivated} {
		alice.Post("/api/v1/svc/chats/by-account-id/"+m.ID).WantError(404, "Record not found")
		alice.Get("/api/v1/svc/chats/"+with[m]).WantError(404, "Record not found")
		alice.Get("/api/v1/svc/chats/"+with[m]+"/messages").WantError(404, "Record not found")
	}
	alice.Post("/api/v1/svc/chats/by-account-id/nonsense").WantError(404, "Record not found")
	srv.As(nil).Get("/api/v1/svc/chats").WantError(403, "Invalid credentials.")
}

// TestChatsOfOthers checks that chats and messages of other users are not found.
func TestChatsOfOthers(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, eve := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("eve")
	chat, own := openChat(alice, bob), openChat(eve, bob)
	message := alice.SendChat(chat, "psst").ID()
	theirs := openChat(bob, alice)
	copyOfBob := bob.Get("/api/v1/svc/chats/" + theirs + "/messages").IDs()[0]
	eves := eve.SendChat(own, "hello").ID()
	for _, tt := range []struct {
		as     *apptest.User
		method string
		path   string
		status int
		want   string
	}{
		{eve, "GET", chat, 404, "Record not found"},
		{eve, "GET", chat + "/messages", 404, "Record not found"},
		{eve, "POST", chat + "/messages?content=x", 404, "Record not found"},
		{eve, "POST", chat + "/read?last_read_id=" + message, 404, "Record not found"},
		{eve, "POST", chat + "/messages/" + message + "/read", 404, "Record not found"},
		{eve, "POST", own + "/messages/" + message + "/read", 404, "Record not found"},
		{eve, "DELETE", chat + "/messages/" + message, 400, "could_not_delete"},
		{eve, "DELETE", own + "/messages/" + message, 400, "could_not_delete"},
		{eve, "DELETE", chat + "/messages/" + eves, 400, "could_not_delete"},
		{bob, "GET", chat, 404, "Record not found"},
		{alice, "GET", theirs, 404, "Record not found"},
		{alice, "DELETE", chat + "/messages/" + copyOfBob, 400, "could_not_delete"},
		{bob, "DELETE", theirs + "/messages/" + message, 400, "could_not_delete"},
		{bob, "POST", theirs + "/messages/" + message + "/read", 404, "Record not found"},
		{alice, "DELETE", chat + "/messages/nonsense", 400, "could_not_delete"},
		{alice, "POST", chat + "/read", 400, "Missing field: last_read_id."},
		{alice, "POST", chat + "/read?last_read_id=", 400, "Missing field: last_read_id."},
		{alice, "POST", chat + "/read?last_read_id=non-sense", 400, "last_read_id - Invalid value."},
	} {
		tt.as.Do(tt.method, "/api/v1/svc/chats/"+tt.path, "", nil).WantError(tt.status, tt.want)
	}
	apptest.WantList(t, "alice's messages", alice.ChatMessages(chat), "psst")
	apptest.WantList(t, "bob's messages", bob.ChatMessages(theirs), "psst")
}

func TestChatList(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	people := make([]*apptest.User, 7)
	with := map[string]string{}
	ids := []string{}
	for i := range people {
		people[i] = srv.SignUp(fmt.Sprint("m", i))
		c := openChat(alice, people[i])
		with[people[i].Nickname], ids = c, append([]string{c}, ids...)
	}
	apptest.WantPages(t, alice, "/api/v2/svc/chats?limit=2", ids)
	apptest.WantPages(t, alice, "/api/v2/svc/chats?limit=2&with_muted=true", ids)
	apptest.WantList(t, "all at once", alice.Get("/api/v1/svc/chats").Want(200).IDs(), ids...)

	// New messages move chats to the top between two pages. The other chats are listed exactly once.
	page := alice.Get("/api/v2/svc/chats?limit=2").Want(200)
	got := page.IDs()
	for i := 0; ; i++ {
		next := page.Links()["next"]
		if next == "" {
			break
		}
		if i < 2 {
			people[5].SendChat(openChat(people[5], alice), "hello") // seen already
		}
		page = alice.Get(next).Want(200)
		got = append(got, page.IDs()...)
	}
	apptest.WantList(t, "pages", got, ids...)
	apptest.WantList(t, "order", alice.Get("/api/v1/svc/chats?limit=2").IDs(), with["m5"], with["m6"])

	// Clients can also page by the id of the last chat.
	got = []string{}
	for path := "/api/v2/svc/chats?limit=3"; ; {
		chats := alice.Get(path).Want(200).IDs()
		if len(chats) == 0 {
			break
		}
		got = append(got, chats...)
		path = "/api/v2/svc/chats?limit=3&max_id=" + chats[len(chats)-1]
	}
	apptest.WantList(t, "by ids", got, with["m5"], with["m6"], with["m4"], with["m3"], with["m2"], with["m1"], with["m0"])
	apptest.WantList(t, "an invalid cursor", alice.Get("/api/v2/svc/chats?max_id=nonsense").Want(200).IDs())

	alice.AccountAction(people[5].ID, "mute")
	alice.AccountAction(people[6].ID, "block")
	apptest.WantList(t, "muted and blocked", alice.Chats(), "m4 0", "m3 0", "m2 0", "m1 0", "m0 0")
	apptest.WantList(t, "with muted accounts", alice.Chats("with_muted", "true", "limit", "2"), "m5 2", "m4 0")
	srv.DeleteOrDeactivate(people[4], false)
	apptest.WantList(t, "deactivated", alice.Chats("limit", "1"), "m3 0")
	if _, err := srv.Admin.ActivateUsers(t.Context(), []string{people[4].ID}); err != nil {
		t.Fatal(err)
	}
	apptest.WantList(t, "activated", alice.Chats("limit", "1"), "m4 0")
	alice.AccountAction(people[6].ID, "unblock")
	alice.Get("/api/v2/svc/chats?limit=1").Want(200)
	apptest.WantList(t, "unblocked", alice.Chats("limit", "1"), "m6 0")
}

// TestChatOpenedAtOnce checks that concurrent requests to open a chat create one.
func TestChatOpenedAtOnce(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	var wg sync.WaitGroup
	ids := make([]string, 10)
	for i := range ids {
		wg.Go(func() {
			ids[i] = openChat(alice, bob)
			bob.SendChat(openChat(bob, alice), fmt.Sprint(i))
		})
	}
	wg.Wait()
	if slices.Sort(ids); len(slices.Compact(ids)) != 1 {
		t.Errorf("got chats %v, want one", ids)
	}
	apptest.WantList(t, "chats", alice.Chats(), "bob 10")
}

// TestChatsOfDeletedAccounts checks that deleting an account deletes its chats.
func TestChatsOfDeletedAccounts(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	picture := bob.Upload(apptest.PNG(3, 3)).ID()
	alice.SendChat(openChat(alice, bob), "to bob")
	bob.SendChat(openChat(bob, alice), "", "media_id", picture)
	alice.SendChat(openChat(alice, carol), "to carol")
	srv.DeleteOrDeactivate(bob, true)
	apptest.WantList(t, "at once", alice.Chats(), "carol 0")
	srv.RunJobs()
	apptest.WantList(t, "after the purge", alice.Chats("with_muted", "true"), "carol 0")
	apptest.WantList(t, "notifications", apptest.EntityTypes(alice.Get("/api/v1/notifications", "types[]", "svc:chat_mention")))
	for _, query := range []string{
		`SELECT count(*) FROM chats WHERE ?1 IN (account_id, other_id)`,
		`SELECT count(*) FROM chat_messages WHERE ?1 IN (account_id, recipient_id)`,
		`SELECT count(*) FROM media WHERE account_id = ?1`,
	} {
		if n := srv.Count(query, bob.AccountID()); n != 0 {
			t.Errorf("%s: %d remain", query, n)
		}
	}
	apptest.WantList(t, "carol's messages", carol.ChatMessages(openChat(carol, alice)), "to carol")
}

// addRichChats adds chats between two users, and of each with themselves, and checks the responses. It returns a chat of each.
func addRichChats(a *apptest.Server, people ...*apptest.User) (chats []string) {
	t := a.T.(*testing.T)
	t.Helper()
	one, other := people[0], people[1]
	for i, m := range people {
		path := "/api/v1/svc/chats/" + openChat(m, people[1-i])
		chats = append(chats, openChat(m, people[1-i]))
		WantEntity(t, m.Nickname, m.Post(path+"/messages", "content", "hello @rich :cat: "+a.URL, "media_id", m.Upload(apptest.PNG(9, 9)).ID()), "ChatMessage")
		WantEntity(t, m.Nickname, m.Post(path+"/messages", "media_id", m.Upload(apptest.PNG(9, 8)).ID()), "ChatMessage")
		WantEntity(t, m.Nickname, m.SendChatOnce(chats[i], "once", "key"), "ChatMessage")
		WantEntity(t, m.Nickname, m.Post("/api/v1/svc/chats/by-account-id/"+m.ID), "Chat")
	}
	path, ids := "/api/v1/svc/chats/"+chats[0], one.Get("/api/v1/svc/chats/"+chats[0]+"/messages").IDs()
	WantEntity(t, one.Nickname, one.Post(path+"/read", "last_read_id", ids[1]), "Chat")
	WantEntity(t, one.Nickname, one.Post(path+"/messages/"+ids[0]+"/read"), "ChatMessage")
	WantEntity(t, one.Nickname, one.Do("DELETE", path+"/messages/"+ids[0], "", nil), "ChatMessage")
	WantEntity(t, other.Nickname, other.Get("/api/v1/notifications", "include_types[]", "svc:chat_mention"), "[]Notification")
	return chats
}

// TestTooManyChats checks the limit on the number of chats, also of chats that others open.
func TestTooManyChats(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	alice.SendChat(openChat(alice, bob), "hello")
	numbers := `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999) `
	srv.Exec(numbers + `INSERT INTO accounts (id, nickname, nickname_key, domain, uri, url, created_at)
		SELECT i, 'x' || i, 'x' || i, 'example.net', 'https://example.net/' || i, '', 1 FROM n`)
	srv.Exec(numbers+`INSERT INTO chats (id, account_id, other_id, position, updated_at) SELECT i, ?, i, i, 1 FROM n`, alice.AccountID())
	alice.Post("/api/v1/svc/chats/by-account-id/"+carol.ID).WantError(422, "Validation failed: You cannot have more than 10000 chats")
	carol.Post("/api/v1/svc/chats/"+openChat(carol, alice)+"/messages", "content", "x").WantError(400, "The recipient does not accept your messages")
	bob.SendChat(openChat(bob, alice), "in an existing chat")
	if n := len(alice.Get("/api/v1/svc/chats").Want(200).IDs()); n != 500 {
		t.Errorf("%d chats are listed at once, want 500", n)
	}
}

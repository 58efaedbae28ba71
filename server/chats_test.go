package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"svc/internal/config"
	"svc/store"
)

// chat opens a chat with another and returns its id.
func (m *member) chat(with *member) string {
	m.api.t.Helper()
	return m.post("/api/v1/svc/chats/by-account-id/" + with.id).want(200).object().id()
}

// say sends a message in a chat and returns it.
func (m *member) say(chat, content string, params ...string) *object {
	m.api.t.Helper()
	return m.post("/api/v1/svc/chats/"+chat+"/messages", append([]string{"content", content}, params...)...).want(200).object()
}

// sayOnce is say with an Idempotency-Key.
func (m *member) sayOnce(chat, content, key string) *answer {
	m.api.t.Helper()
	req, err := http.NewRequestWithContext(m.api.t.Context(), "POST", m.api.url+"/api/v1/svc/chats/"+chat+"/messages", strings.NewReader(`{"content":"`+content+`"}`))
	if err != nil {
		m.api.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	return m.request(req)
}

// chats returns what the list of chats has, as the nicknames of the other sides with the numbers of unread messages.
func (m *member) chats(params ...string) []string {
	m.api.t.Helper()
	got := []string{}
	for _, c := range m.get("/api/v2/svc/chats", params...).want(200).list() {
		got = append(got, fmt.Sprint(c.str("account.username"), " ", c.num("unread")))
	}
	return got
}

// messages returns what a chat has, newest first.
func (m *member) messages(chat string) []string {
	m.api.t.Helper()
	got := []string{}
	for _, o := range m.get("/api/v1/svc/chats/" + chat + "/messages").want(200).list() {
		content, _ := o.at("content").(string)
		got = append(got, content)
	}
	return got
}

// leave has somebody go: for good, or for some time.
func (a *api) leave(m *member, forGood bool) {
	a.t.Helper()
	var err error
	if forGood {
		err = a.social.DeleteAccount(a.t.Context(), m.accountID())
	} else {
		_, err = a.social.Deactivate(a.t.Context(), m.accountID())
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

// watchChats returns a function that tells whose chats the streams have heard of since it was called last.
func (a *api) watchChats() func() []string {
	var mu sync.Mutex
	var heard []string
	a.db.Subscribe(func(events []store.Event) {
		mu.Lock()
		defer mu.Unlock()
		for _, e := range events {
			if c, ok := e.(store.ChatChanged); ok {
				heard = append(heard, c.AccountID.String()+c.ID.String())
			}
		}
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		defer func() { heard = nil }()
		return heard
	}
}

func wantList(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestChat(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	opened := alice.post("/api/v1/svc/chats/by-account-id/" + bob.id).want(200).object()
	chat := opened.id()
	if opened.str("account.id") != bob.id || opened.num("unread") != 0 || opened.at("last_message") != nil {
		t.Errorf("a new chat is %v", opened.m)
	}
	if again := alice.chat(bob); again != chat {
		t.Errorf("opened again, it is another: %s, %s", chat, again)
	}
	wantList(t, "the other has no chat yet", bob.chats())

	first := alice.say(chat, "hello")
	if first.str("chat_id") != chat || first.str("account_id") != alice.id || first.str("content") != "hello" || first.truth("unread") ||
		first.at("card") != nil || first.at("attachment") != nil || first.has("idempotency_key") {
		t.Errorf("the message is %v", first.m)
	}
	theirs := bob.get("/api/v2/svc/chats").want(200).list()[0]
	if theirs.id() == chat || theirs.str("account.id") != alice.id || theirs.num("unread") != 1 || theirs.str("last_message.content") != "hello" ||
		theirs.str("last_message.chat_id") != theirs.id() || !theirs.truth("last_message.unread") || theirs.str("last_message.account_id") != alice.id {
		t.Errorf("the other's chat is %v", theirs.m)
	}
	if theirs.str("last_message.id") == first.id() {
		t.Error("both sides have the same id for the message")
	}
	if got := bob.chat(alice); got != theirs.id() {
		t.Errorf("bob opens chat %s, has %s", got, theirs.id())
	}
	reply := bob.say(theirs.id(), "hi")
	mine := alice.get("/api/v1/svc/chats/" + chat).want(200).object()
	if mine.num("unread") != 1 || mine.str("last_message.content") != "hi" || mine.str("last_message.account_id") != bob.id ||
		mine.str("updated_at") < reply.str("created_at") {
		t.Errorf("after the reply the chat is %v", mine.m)
	}
	wantList(t, "messages", alice.messages(chat), "hi", "hello")

	self := alice.chat(alice)
	alice.say(self, "to do")
	wantList(t, "messages to oneself", alice.messages(self), "to do")
	wantList(t, "the list", alice.chats(), "alice 0", "bob 1")
	wantList(t, "nothing in timelines", alice.get("/api/v1/timelines/home").want(200).ids())
	wantList(t, "nor in conversations", alice.get("/api/v1/timelines/direct").want(200).ids())
	if n := len(alice.get("/api/v1/notifications", "include_types[]", "svc:chat_mention").want(200).list()); n != 1 {
		t.Errorf("%d notifications, want one, of the reply", n)
	}
}

func TestChatRefusals(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) { c.Chats.MaxLength = 10 })
	alice, bob, deaf := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("deaf")
	blocker, blocked, gone, off := srv.signUp("blocker"), srv.signUp("blocked"), srv.signUp("gone"), srv.signUp("off")
	deaf.update(map[string]any{"accepts_chat_messages": false})
	with := map[*member]string{}
	for _, m := range []*member{alice, bob, deaf, blocker, blocked, gone, off} {
		with[m] = alice.chat(m)
	}
	blocker.to(alice.id, "block")
	alice.to(blocked.id, "block")
	srv.leave(gone, true)
	srv.leave(off, false)
	alice.update(map[string]any{"accepts_chat_messages": false}) // from others, that is
	foreign, used, free := bob.upload(pngFile(3, 3)).id(), alice.upload(pngFile(4, 4)).id(), alice.upload(pngFile(5, 5)).id()
	alice.publish("", "media_ids[]", used)
	bobsChat := bob.chat(deaf)
	for _, tt := range []struct {
		name   string
		chat   string
		params []string
		status int
		want   string // the error
	}{
		{"nothing", with[bob], nil, 400, "no_content"},
		{"blanks", with[bob], []string{"content", " \n\t"}, 400, "no_content"},
		{"control characters", with[bob], []string{"content", "\x01\x02"}, 400, "no_content"},
		{"an empty attachment", with[bob], []string{"media_id", ""}, 400, "no_content"},
		{"too long", with[bob], []string{"content", strings.Repeat("x", 11)}, 400, "content_too_long"},
		{"too long beside an attachment", with[bob], []string{"content", strings.Repeat("x", 11), "media_id", free}, 400, "content_too_long"},
		{"a foreign attachment", with[bob], []string{"media_id", foreign}, 400, "forbidden"},
		{"an unknown attachment", with[bob], []string{"content", "x", "media_id", "0000000000000000AA"}, 400, "forbidden"},
		{"nonsense for an attachment", with[bob], []string{"content", "x", "media_id", "nonsense"}, 400, "forbidden"},
		{"an attachment of a post", with[bob], []string{"media_id", used}, 400, "The attachment is in use already"},
		{"to a deactivated account", with[off], []string{"content", "x"}, 400, "Recipient does not exist"},
		{"to who wants none", with[deaf], []string{"content", "x"}, 400, "The recipient does not accept your messages"},
		{"to who blocks", with[blocker], []string{"content", "x"}, 400, "The recipient does not accept your messages"},
		{"to the blocked", with[blocked], []string{"content", "x"}, 400, "The recipient does not accept your messages"},
		{"in a foreign chat", bobsChat, []string{"content", "x"}, 404, "Record not found"},
		{"in no chat", "nonsense", []string{"content", "x"}, 404, "Record not found"},
		{"to oneself", with[alice], []string{"content", "x"}, 200, ""},
		{"to bob", with[bob], []string{"content", "x", "media_id", free}, 200, ""},
		{"with the same attachment", with[bob], []string{"content", "x", "media_id", free}, 400, "The attachment is in use already"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := alice.post("/api/v1/svc/chats/"+tt.chat+"/messages", tt.params...)
			if tt.want != "" {
				a.wantError(tt.status, tt.want)
			} else {
				a.want(tt.status)
			}
		})
	}
	alice.send("POST", "/api/v1/svc/chats/"+with[bob]+"/messages", map[string]any{"content": map[string]any{"a": 1}}).want(400)
	for _, m := range []*member{deaf, blocker, blocked} {
		wantList(t, m.nick, m.chats())
		if n := len(m.get("/api/v1/notifications", "types[]", "svc:chat_mention").want(200).list()); n != 0 {
			t.Errorf("%s was told of a refused message", m.nick)
		}
	}
	wantList(t, "bob", bob.chats(), "alice 1", "deaf 0")

	// Who is blocked, gone or off is no longer in the list; a chat can be opened with the blocked.
	wantList(t, "the list", alice.chats(), "bob 0", "alice 0", "blocker 0", "deaf 0")
	alice.chat(blocked)
	for _, m := range []*member{gone, off} {
		alice.post("/api/v1/svc/chats/by-account-id/"+m.id).wantError(404, "Record not found")
		alice.get("/api/v1/svc/chats/"+with[m]).wantError(404, "Record not found")
		alice.get("/api/v1/svc/chats/"+with[m]+"/messages").wantError(404, "Record not found")
	}
	alice.post("/api/v1/svc/chats/by-account-id/nonsense").wantError(404, "Record not found")
	srv.as(nil).get("/api/v1/svc/chats").wantError(403, "Invalid credentials.")
}

// What is not one's own is not there.
func TestForeignChats(t *testing.T) {
	srv := startAPI(t)
	alice, bob, eve := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("eve")
	chat, own := alice.chat(bob), eve.chat(bob)
	message := alice.say(chat, "psst").id()
	theirs := bob.chat(alice)
	copyOfBob := bob.get("/api/v1/svc/chats/" + theirs + "/messages").ids()[0]
	eves := eve.say(own, "hello").id()
	for _, tt := range []struct {
		as     *member
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
		tt.as.do(tt.method, "/api/v1/svc/chats/"+tt.path, "", nil).wantError(tt.status, tt.want)
	}
	wantList(t, "alice's messages", alice.messages(chat), "psst")
	wantList(t, "bob's messages", bob.messages(theirs), "psst")
}

func TestChatList(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	people := make([]*member, 7)
	with := map[string]string{}
	ids := []string{}
	for i := range people {
		people[i] = srv.signUp(fmt.Sprint("m", i))
		c := alice.chat(people[i])
		with[people[i].nick], ids = c, append([]string{c}, ids...)
	}
	wantPages(t, alice, "/api/v2/svc/chats?limit=2", ids)
	wantPages(t, alice, "/api/v2/svc/chats?limit=2&with_muted=true", ids)
	wantList(t, "all at once", alice.get("/api/v1/svc/chats").want(200).ids(), ids...)

	// While somebody turns the pages, chats move to the top: of the others none is lost, and none comes twice.
	page := alice.get("/api/v2/svc/chats?limit=2").want(200)
	got := page.ids()
	for i := 0; ; i++ {
		next := page.links()["next"]
		if next == "" {
			break
		}
		if i < 2 {
			people[5].say(people[5].chat(alice), "hello") // seen already
		}
		page = alice.get(next).want(200)
		got = append(got, page.ids()...)
	}
	wantList(t, "pages", got, ids...)
	wantList(t, "order", alice.get("/api/v1/svc/chats?limit=2").ids(), with["m5"], with["m6"])

	// Clients that page by the id of the last chat get on, too.
	got = []string{}
	for path := "/api/v2/svc/chats?limit=3"; ; {
		chats := alice.get(path).want(200).ids()
		if len(chats) == 0 {
			break
		}
		got = append(got, chats...)
		path = "/api/v2/svc/chats?limit=3&max_id=" + chats[len(chats)-1]
	}
	wantList(t, "by ids", got, with["m5"], with["m6"], with["m4"], with["m3"], with["m2"], with["m1"], with["m0"])
	wantList(t, "a cursor that is none", alice.get("/api/v2/svc/chats?max_id=nonsense").want(200).ids())

	alice.to(people[5].id, "mute")
	alice.to(people[6].id, "block")
	wantList(t, "muted and blocked", alice.chats(), "m4 0", "m3 0", "m2 0", "m1 0", "m0 0")
	wantList(t, "with the muted", alice.chats("with_muted", "true", "limit", "2"), "m5 2", "m4 0")
	srv.leave(people[4], false)
	wantList(t, "deactivated", alice.chats("limit", "1"), "m3 0")
	if _, err := srv.social.Activate(t.Context(), people[4].accountID()); err != nil {
		t.Fatal(err)
	}
	wantList(t, "and back", alice.chats("limit", "1"), "m4 0")
	alice.to(people[6].id, "unblock")
	alice.get("/api/v2/svc/chats?limit=1").want(200)
	wantList(t, "unblocked", alice.chats("limit", "1"), "m6 0")
}

// Who opens a chat several times at once has one.
func TestChatOpenedAtOnce(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	var wg sync.WaitGroup
	ids := make([]string, 10)
	for i := range ids {
		wg.Go(func() {
			ids[i] = alice.chat(bob)
			bob.say(bob.chat(alice), fmt.Sprint(i))
		})
	}
	wg.Wait()
	if slices.Sort(ids); len(slices.Compact(ids)) != 1 {
		t.Errorf("got chats %v, want one", ids)
	}
	wantList(t, "chats", alice.chats(), "bob 10")
}

// An account that goes takes its chats along.
func TestChatsOfTheDeleted(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	picture := bob.upload(pngFile(3, 3)).id()
	alice.say(alice.chat(bob), "to bob")
	bob.say(bob.chat(alice), "", "media_id", picture)
	alice.say(alice.chat(carol), "to carol")
	srv.leave(bob, true)
	wantList(t, "at once", alice.chats(), "carol 0")
	srv.settle()
	wantList(t, "and later", alice.chats("with_muted", "true"), "carol 0")
	wantList(t, "notifications", types(alice.get("/api/v1/notifications", "types[]", "svc:chat_mention")))
	for _, query := range []string{
		`SELECT count(*) FROM chats WHERE ?1 IN (account_id, other_id)`,
		`SELECT count(*) FROM chat_messages WHERE ?1 IN (account_id, recipient_id)`,
		`SELECT count(*) FROM media WHERE account_id = ?1`,
	} {
		if n := srv.count(query, bob.accountID()); n != 0 {
			t.Errorf("%s: %d are left", query, n)
		}
	}
	wantList(t, "carol's messages", carol.messages(carol.chat(alice)), "to carol")
}

// enrichChats has two people chat, each with themselves too, and looks at what is answered. It returns a chat of each.
func (a *api) enrichChats(people ...*member) (chats []string) {
	t := a.t.(*testing.T)
	t.Helper()
	one, other := people[0], people[1]
	for i, m := range people {
		path := "/api/v1/svc/chats/" + m.chat(people[1-i])
		chats = append(chats, m.chat(people[1-i]))
		wantEntity(t, m.nick, m.post(path+"/messages", "content", "hello @rich :cat: "+a.url, "media_id", m.upload(pngFile(9, 9)).id()), "ChatMessage")
		wantEntity(t, m.nick, m.post(path+"/messages", "media_id", m.upload(pngFile(9, 8)).id()), "ChatMessage")
		wantEntity(t, m.nick, m.sayOnce(chats[i], "once", "key"), "ChatMessage")
		wantEntity(t, m.nick, m.post("/api/v1/svc/chats/by-account-id/"+m.id), "Chat")
	}
	path, ids := "/api/v1/svc/chats/"+chats[0], one.get("/api/v1/svc/chats/"+chats[0]+"/messages").ids()
	wantEntity(t, one.nick, one.post(path+"/read", "last_read_id", ids[1]), "Chat")
	wantEntity(t, one.nick, one.post(path+"/messages/"+ids[0]+"/read"), "ChatMessage")
	wantEntity(t, one.nick, one.do("DELETE", path+"/messages/"+ids[0], "", nil), "ChatMessage")
	wantEntity(t, other.nick, other.get("/api/v1/notifications", "include_types[]", "svc:chat_mention"), "[]Notification")
	return chats
}

// Nobody has more chats than one can, whoever began them.
func TestTooManyChats(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	alice.say(alice.chat(bob), "hello")
	numbers := `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999) `
	srv.insert(numbers + `INSERT INTO accounts (id, nickname, nickname_key, domain, uri, url, created_at)
		SELECT i, 'x' || i, 'x' || i, 'example.net', 'https://example.net/' || i, '', 1 FROM n`)
	srv.insert(numbers+`INSERT INTO chats (id, account_id, other_id, position, updated_at) SELECT i, ?, i, i, 1 FROM n`, alice.accountID())
	alice.post("/api/v1/svc/chats/by-account-id/"+carol.id).wantError(422, "Validation failed: You have as many chats as one can")
	carol.post("/api/v1/svc/chats/"+carol.chat(alice)+"/messages", "content", "x").wantError(400, "The recipient does not accept your messages")
	bob.say(bob.chat(alice), "but this goes on")
	if n := len(alice.get("/api/v1/svc/chats").want(200).ids()); n != 500 {
		t.Errorf("%d chats are listed at once, want 500", n)
	}
}

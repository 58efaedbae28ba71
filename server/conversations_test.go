package server_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

// listConversations lists the viewer's conversations by their last statuses. With recipients it returns those with exactly these
// accounts and the viewer.
func listConversations(m *apptest.User, params ...string) []*apptest.Object {
	m.Server.T.Helper()
	return m.Get("/api/v1/conversations", params...).Want(200).List()
}

// onlyConversation returns a user's only conversation.
func onlyConversation(m *apptest.User) *apptest.Object {
	m.Server.T.Helper()
	list := listConversations(m)
	if len(list) != 1 {
		m.Server.T.Fatalf("%s has %d conversations, want 1", m.Nickname, len(list))
	}
	return list[0]
}

// publishDirect publishes a direct post.
func publishDirect(m *apptest.User, text string, params ...string) *apptest.Object {
	m.Server.T.Helper()
	return m.Publish(text, append(params, "visibility", "direct")...)
}

// unreadConversations returns the number of unread conversations in a user's own account entity.
func unreadConversations(m *apptest.User) int {
	m.Server.T.Helper()
	return m.Get("/api/v1/accounts/verify_credentials").Want(200).Object().Int("svc.unread_conversation_count")
}

// wantConversation checks a conversation: its last post, and whether it is unread.
func wantConversation(o *apptest.Object, last string, unread bool) {
	o.T.Helper()
	got := "none"
	if o.At("last_status") != nil {
		got = o.Str("last_status.id")
	}
	if got != last || o.Bool("unread") != unread {
		o.T.Errorf("the last post is %s, want %s; unread is %v, want %v", got, last, o.Bool("unread"), unread)
	}
}

func TestConversation(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol, dave := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol"), srv.SignUp("dave")
	alice.Publish("a public mention of @bob")
	alice.Publish("a private mention of @bob", "visibility", "private")
	first := publishDirect(alice, "@bob @carol hello")
	for _, tt := range []struct {
		of       *apptest.User
		accounts string
		unread   bool
	}{{alice, "bob carol", false}, {bob, "alice carol", true}, {carol, "alice bob", true}} {
		c := onlyConversation(tt.of)
		wantConversation(c, first.ID(), tt.unread)
		if got := c.Usernames("accounts"); got != tt.accounts {
			t.Errorf("the accounts of %s's conversation are %q, want %q", tt.of.Nickname, got, tt.accounts)
		}
		if got, want := c.Usernames("svc.recipients"), "alice bob carol"; got != want {
			t.Errorf("the recipients of %s's conversation are %q, want %q", tt.of.Nickname, got, want)
		}
		if n, err := strconv.Atoi(c.ID()); err != nil || c.Int("last_status.svc.direct_conversation_id") != n {
			t.Errorf("the id is %q, in the status %v", c.ID(), c.At("last_status.svc.direct_conversation_id"))
		}
		want := 0
		if tt.unread {
			want = 1
		}
		if got := unreadConversations(tt.of); got != want {
			t.Errorf("%s has %d unread conversations, want %d", tt.of.Nickname, got, want)
		}
	}
	if list := listConversations(dave); len(list) != 0 {
		t.Errorf("dave has the conversations %v", list)
	}

	// A post of the thread may have other participants. Later posts do not change the recipients of a conversation.
	reply := publishDirect(bob, "@alice @dave only you two", "in_reply_to_id", first.ID())
	wantConversation(onlyConversation(alice), reply.ID(), true)
	wantConversation(onlyConversation(bob), reply.ID(), false)
	wantConversation(onlyConversation(carol), first.ID(), true)
	wantConversation(onlyConversation(dave), reply.ID(), true)
	if got, want := onlyConversation(alice).Usernames("svc.recipients"), "alice bob carol"; got != want {
		t.Errorf("the recipients of alice's conversation are %q, want %q", got, want)
	}
	if got, want := onlyConversation(dave).Usernames("svc.recipients"), "alice bob dave"; got != want {
		t.Errorf("the recipients of dave's conversation are %q, want %q", got, want)
	}

	id := onlyConversation(alice).ID()
	wantConversation(alice.Post("/api/v1/conversations/"+id+"/read").Want(200).Object(), reply.ID(), false)
	wantConversation(alice.Post("/api/v1/conversations/"+id+"/read").Want(200).Object(), reply.ID(), false)
	wantConversation(alice.Get("/api/v1/svc/conversations/"+id).Want(200).Object(), reply.ID(), false)
	if got := unreadConversations(alice); got != 0 {
		t.Errorf("after reading, %d are unread", got)
	}

	// A conversation that is marked as unread is like one with a new post.
	wantConversation(alice.Post("/api/v1/conversations/"+id+"/unread").Want(200).Object(), reply.ID(), true)
	wantConversation(alice.Post("/api/v1/conversations/"+id+"/unread").Want(200).Object(), reply.ID(), true)
	wantConversation(onlyConversation(bob), reply.ID(), false)
	if got := unreadConversations(alice); got != 1 {
		t.Errorf("after marking one as unread, %d are unread", got)
	}
	for _, tt := range []struct {
		as   *apptest.Client
		id   string
		want int
	}{{bob.Client, id, 404}, {alice.Client, "7777", 404}, {alice.Client, "x", 404}, {srv.As(nil), id, 401}, {srv.NewToken(alice, "read"), id, 403}} {
		tt.as.Post("/api/v1/conversations/" + tt.id + "/unread").Want(tt.want)
	}
	wantConversation(alice.Post("/api/v1/conversations/"+id+"/read").Want(200).Object(), reply.ID(), false)

	// Posting into a conversation marks it as read.
	carolsReply := publishDirect(carol, "@alice me too", "in_reply_to_id", first.ID())
	wantConversation(onlyConversation(carol), carolsReply.ID(), false)
	wantConversation(onlyConversation(alice), carolsReply.ID(), true)

	// A direct post without mentions.
	erin := srv.SignUp("erin")
	note := publishDirect(erin, "note to self")
	c := onlyConversation(erin)
	wantConversation(c, note.ID(), false)
	if got := c.Usernames("accounts"); got != "erin" {
		t.Errorf("accounts of a conversation without others: %q", got)
	}
}

// TestConversationPaging checks the order by the last post, and the pages.
func TestConversationPaging(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	var first []string
	for i := range 7 {
		first = append(first, publishDirect(bob, fmt.Sprintf("@alice %d", i)).ID())
	}
	publishDirect(bob, "@alice again", "in_reply_to_id", first[2])
	var want, last []string
	for _, c := range listConversations(alice) {
		want, last = append(want, c.ID()), append(last, c.Str("last_status.id"))
	}
	if len(want) != 7 || !slices.IsSortedFunc(last, func(a, b string) int { return -strings.Compare(a, b) }) {
		t.Fatalf("got %v, want seven in the order of their last posts", last)
	}
	apptest.WantPages(t, alice, "/api/v1/conversations?limit=2", want)
	for _, tt := range []struct {
		params []string
		want   []string
	}{
		{[]string{"max_id", last[2]}, want[3:]},
		{[]string{"since_id", last[2]}, want[:2]},
		{[]string{"since_id", last[3], "limit", "1"}, want[:1]},
		{[]string{"min_id", last[3], "limit", "1"}, want[2:3]},
		{[]string{"max_id", last[1], "since_id", last[4]}, want[2:4]},
		{[]string{"max_id", "nonsense"}, []string{}},
		{[]string{"limit", "0"}, want},
	} {
		if got := alice.Get("/api/v1/conversations", tt.params...).Want(200).IDs(); !slices.Equal(got, tt.want) {
			t.Errorf("%v: got %v, want %v", tt.params, got, tt.want)
		}
	}
	if links := alice.Get("/api/v1/conversations", "max_id", "1").Links(); len(links) != 0 {
		t.Errorf("an empty page has links: %v", links)
	}
}

func TestConversationsByRecipients(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	publishDirect(alice, "@bob @carol all")
	publishDirect(alice, "@bob one")
	publishDirect(bob, "@alice one more")
	publishDirect(alice, "me")
	for _, tt := range []struct {
		recipients []string
		want       int
	}{
		{[]string{bob.ID}, 2},
		{[]string{bob.ID, alice.ID, bob.ID}, 2},
		{[]string{bob.ID, carol.ID}, 1},
		{[]string{carol.ID, bob.ID}, 1},
		{[]string{carol.ID}, 0},
		{[]string{alice.ID}, 1},
		{[]string{"unknown"}, 0},
		{[]string{bob.ID, "unknown"}, 0},
		{[]string{""}, 4},
		{nil, 4},
	} {
		var params []string
		for _, id := range tt.recipients {
			params = append(params, "recipients[]", id)
		}
		if got := len(listConversations(alice, params...)); got != tt.want {
			t.Errorf("%v: got %d conversations, want %d", tt.recipients, got, tt.want)
		}
	}
	next := alice.Get("/api/v1/conversations", "recipients[]", bob.ID, "limit", "1").Want(200).Links()["next"]
	if got := alice.Get(next).Want(200).IDs(); len(got) != 1 {
		t.Errorf("the next page has %v", got)
	}
}

// TestConversationRefusals checks that unknown ids, conversations of other users and invalid parameters are refused and change nothing.
func TestConversationRefusals(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, mallory := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("mallory")
	st := publishDirect(alice, "@bob hello")
	id := onlyConversation(bob).ID()
	recipients := map[string]any{"recipients": []string{mallory.ID}}
	for _, path := range []string{id, "999", "0", "-1", "nonsense", "99999999999999999999", st.ID()} {
		for _, m := range []*apptest.User{mallory, alice} { // alice has her own conversation of the thread
			m.Get("/api/v1/svc/conversations/"+path).WantError(404, "Unknown conversation id")
			m.Get("/api/v1/svc/conversations/"+path+"/statuses").WantError(404, "Unknown conversation id")
			m.SendJSON("PATCH", "/api/v1/svc/conversations/"+path, recipients).WantError(404, "Unknown conversation id")
			m.Post("/api/v1/conversations/"+path+"/read").WantError(404, "Record not found")
			m.Do("DELETE", "/api/v1/conversations/"+path, "", nil).WantError(404, "Record not found")
			m.Post("/api/v1/statuses", "status", "refused", "in_reply_to_conversation_id", path).WantError(404, "Unknown conversation id")
			m.Post("/api/v1/statuses", "status", "refused", "in_reply_to_conversation_id", path, "preview", "true").WantError(404, "Unknown conversation id")
		}
	}
	bob.SendJSON("PATCH", "/api/v1/svc/conversations/"+id, map[string]any{}).WantError(400, "Missing field: recipients.")
	bob.SendJSON("PATCH", "/api/v1/svc/conversations/"+id, map[string]any{"recipients": []any{map[string]any{"id": mallory.ID}}}).
		WantError(400, "0 - Invalid string. Got: object.")
	c := onlyConversation(bob)
	wantConversation(c, st.ID(), true)
	if got := c.Usernames("svc.recipients"); got != "alice bob" {
		t.Errorf("recipients are %q", got)
	}
}

func TestConversationStatuses(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	ids := []string{publishDirect(alice, "@bob @carol 0").ID()}
	for i := 1; i < 7; i++ {
		m := []*apptest.User{alice, bob, carol}[i%3]
		ids = append(ids, publishDirect(m, fmt.Sprint("@alice @bob @carol ", i), "in_reply_to_id", ids[i-1]).ID())
	}
	publishDirect(carol, "@bob a secret", "in_reply_to_id", ids[4])
	publishDirect(alice, "@bob another thread")
	path := "/api/v1/svc/conversations/" + listConversations(alice)[1].ID() + "/statuses"
	if got := alice.Get(path).Want(200).IDs(); !slices.Equal(got, ids) {
		t.Errorf("got %v, want %v", got, ids)
	}
	// The pages go back in time, the oldest status of each page comes first.
	a := alice.Get(path, "limit", "3").Want(200)
	for _, want := range [][]string{ids[4:], ids[1:4], ids[:1]} {
		if got := a.IDs(); !slices.Equal(got, want) {
			t.Fatalf("got the page %v, want %v", got, want)
		}
		if next := a.Links()["next"]; next != "" {
			a = alice.Get(next).Want(200)
		}
	}
	if got := alice.Get(a.Links()["prev"]).Want(200).IDs(); !slices.Equal(got, ids[1:4]) {
		t.Errorf("the previous page is %v, want %v", got, ids[1:4])
	}
	if got := alice.Get(path, "exclude_visibilities[]", "direct").Want(200).IDs(); len(got) != 0 {
		t.Errorf("without direct posts: %v", got)
	}
	srv.AddMute(alice, bob)
	without := func(i ...int) []string {
		var rest []string
		for n, id := range ids {
			if !slices.Contains(i, n) {
				rest = append(rest, id)
			}
		}
		return rest
	}
	if got, want := alice.Get(path).Want(200).IDs(), without(1, 4); !slices.Equal(got, want) {
		t.Errorf("with a mute: got %v, want %v", got, want)
	}
	if got := alice.Get(path, "with_muted", "true").Want(200).IDs(); !slices.Equal(got, ids) {
		t.Errorf("with muted accounts: got %v, want %v", got, ids)
	}
	alice.Post("/api/v1/accounts/" + bob.ID + "/block").Want(200)
	if got, want := alice.Get(path, "with_muted", "true").Want(200).IDs(), without(1, 2, 4, 5); !slices.Equal(got, want) { // carol's posts mention bob
		t.Errorf("with a block: got %v, want %v", got, want)
	}
}

func TestConversationRecipients(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol, gone := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol"), srv.SignUp("gone")
	publishDirect(alice, "@bob hello")
	srv.MakeUnavailable(gone)
	path := "/api/v1/svc/conversations/" + onlyConversation(alice).ID()
	for _, tt := range []struct {
		name       string
		recipients any
		want       string
	}{
		{"others", []string{carol.ID}, "alice carol"},
		{"the owner, too", []string{carol.ID, alice.ID, bob.ID, bob.ID}, "alice bob carol"},
		{"unknown accounts", []string{bob.ID, "unknown", gone.ID}, "alice bob"},
		{"one", carol.ID, "alice carol"},
		{"no account", []string{}, "alice"},
		{"no account, as a text", "", "alice"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := alice.SendJSON("PATCH", path, map[string]any{"recipients": tt.recipients}).Want(200).Object()
			if got := c.Usernames("svc.recipients"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if got := alice.Get(path).Want(200).Object().Usernames("svc.recipients"); got != tt.want {
				t.Errorf("stored are %q, want %q", got, tt.want)
			}
		})
	}
	if got := onlyConversation(bob).Usernames("svc.recipients"); got != "alice bob" {
		t.Errorf("the recipients of bob's conversation are %q", got)
	}
	var many []string
	for i := range 103 {
		id := store.AccountID(i + 1)
		srv.Exec(`INSERT INTO accounts (id, nickname, nickname_key, domain, uri, url, created_at) VALUES (?1, ?1, ?1, 'example.org', 'https://example.org/' || ?1, 'https://example.org/' || ?1, 0)`, id)
		many = append(many, id.String())
	}
	alice.SendJSON("PATCH", path, map[string]any{"recipients": many[:101]}).Want(200)
	alice.SendJSON("PATCH", path, map[string]any{"recipients": many[:102]}).Want(422)
	if got := len(alice.Get(path).Want(200).Object().At("accounts").([]any)); got != 101 {
		t.Errorf("got %d recipients", got)
	}
}

func TestPostingIntoAConversation(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol, dave := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol"), srv.SignUp("dave")
	first := publishDirect(alice, "@bob @carol hello")
	second := publishDirect(bob, "@alice hi", "in_reply_to_id", first.ID())
	outside := publishDirect(alice, "@bob another conversation")
	for _, tt := range []struct {
		name    string
		params  []string
		replyTo string
		error   string
	}{
		{"alone", nil, second.ID(), ""},
		{"the visibility is ignored", []string{"visibility", "public"}, "", ""},
		{"the list is ignored", []string{"visibility", "list:1"}, "", ""},
		{"the recipients are ignored", []string{"to[]", "dave"}, "", ""},
		{"replying to a post of it", []string{"in_reply_to_id", first.ID()}, first.ID(), ""},
		{"replying to a post outside the conversation", []string{"in_reply_to_id", outside.ID()}, "", "Validation failed: The status replied to is not in the conversation"},
		{"replying to an unknown post", []string{"in_reply_to_id", "unknown"}, "", "Cannot reply to a deleted status"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := listConversations(alice)[0].Str("last_status.id")
			id := strconv.Itoa(first.Int("svc.direct_conversation_id"))
			a := alice.Post("/api/v1/statuses", append(tt.params, "status", "@dave "+tt.name, "in_reply_to_conversation_id", id)...)
			if tt.error != "" {
				a.WantError(422, tt.error)
				return
			}
			st := a.Want(200).Object()
			if tt.replyTo == "" {
				tt.replyTo = before
			}
			for path, want := range map[string]any{
				"visibility": "direct", "in_reply_to_id": tt.replyTo, "svc.conversation_id": first.At("svc.conversation_id"),
				"svc.direct_conversation_id": first.At("svc.direct_conversation_id"),
			} {
				if got := st.At(path); got != want {
					t.Errorf("%s is %v, want %v", path, got, want)
				}
			}
			if got := st.Usernames("mentions"); got != "bob carol" {
				t.Errorf("it mentions %q", got)
			}
			wantConversation(listConversations(bob)[0], st.ID(), true)
			wantConversation(listConversations(carol)[0], st.ID(), true)
			if !strings.Contains(string(alice.Get("/api/v1/statuses/"+first.ID()+"/context").Want(200).Body), st.ID()) {
				t.Error("it is not in the context of the first post")
			}
		})
	}
	if list := listConversations(dave); len(list) != 0 || len(dave.Get("/api/v1/notifications").List()) != 0 {
		t.Errorf("dave, named only in the text, received the post: %v", list)
	}
	preview := alice.Publish("@dave psst", "in_reply_to_conversation_id", strconv.Itoa(first.Int("svc.direct_conversation_id")), "preview", "true")
	if preview.Str("visibility") != "direct" || preview.Usernames("mentions") != "bob carol" {
		t.Errorf("the preview is %v", preview.Fields)
	}

	alice.SendJSON("POST", "/api/v1/statuses", map[string]any{ // a number, as in the entity of a status
		"status": "x", "in_reply_to_conversation_id": first.Int("svc.direct_conversation_id"), "in_reply_to_id": "",
	}).Want(200)
	if got := alice.Publish("y", "in_reply_to_conversation_id", "").Str("visibility"); got != "public" {
		t.Errorf("without a conversation the visibility is %s", got)
	}

	// A post into a conversation goes to its current recipients.
	c := listConversations(alice)[0]
	alice.SendJSON("PATCH", "/api/v1/svc/conversations/"+c.ID(), map[string]any{"recipients": []string{dave.ID, bob.ID}}).Want(200)
	srv.MakeUnavailable(bob)
	last := onlyConversation(carol).Str("last_status.id")
	st := alice.Publish("welcome", "in_reply_to_conversation_id", c.ID())
	wantConversation(onlyConversation(dave), st.ID(), true)
	wantConversation(onlyConversation(carol), last, true)
	if got := st.Usernames("mentions"); got != "dave" {
		t.Errorf("it mentions %q", got)
	}
	if got := onlyConversation(dave).Usernames("svc.recipients"); got != "alice dave" {
		t.Errorf("dave writes to %q", got)
	}
}

func TestReadingAllConversations(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	if got := alice.Post("/api/v1/svc/conversations/read").Want(200); len(got.List()) != 0 || got.Header.Get("Link") != "" {
		t.Errorf("got %s, want no conversations", got.Body)
	}
	for i := range 5 {
		publishDirect(bob, fmt.Sprintf("@alice %d", i))
	}
	list := listConversations(alice)
	alice.Post("/api/v1/conversations/" + list[1].ID() + "/read").Want(200)
	a := alice.Post("/api/v1/svc/conversations/read").Want(200)
	var want []string
	for i, c := range list {
		if i != 1 {
			want = append(want, c.ID())
		}
	}
	if got := a.IDs(); !slices.Equal(got, want) {
		t.Errorf("marked as read: %v, want %v", got, want)
	}
	if a.Links()["prev"] == "" {
		t.Errorf("no previous link in %q", a.Header.Get("Link"))
	}
	for _, c := range append(a.List(), listConversations(alice)...) {
		if c.Bool("unread") {
			t.Errorf("%s is unread", c.ID())
		}
	}
	if got := unreadConversations(alice); got != 0 {
		t.Errorf("%d are unread", got)
	}
	publishDirect(bob, "@alice x")
	publishDirect(bob, "@alice y")
	if got := alice.Post("/api/v1/svc/conversations/read", "limit", "1").Want(200).IDs(); len(got) != 1 || unreadConversations(alice) != 0 {
		t.Errorf("marked as read: %v, %d are unread", got, unreadConversations(alice))
	}
	for _, m := range []*apptest.User{alice, bob} {
		if got := listConversations(m); len(got) != 7 {
			t.Errorf("%s has %d", m.Nickname, len(got))
		}
	}
}

// TestNamedConversation checks that members and paths use the configured name of the API.
func TestNamedConversation(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.API.Name = "other" })
	alice := srv.SignUp("alice")
	st := publishDirect(alice, "note to self")
	c := onlyConversation(alice)
	if got := c.Usernames("other.recipients"); got != "alice" {
		t.Errorf("recipients are %q", got)
	}
	for _, prefix := range []string{"/api/v1/other", "/api/other"} {
		wantConversation(alice.Get(prefix+"/conversations/"+c.ID()).Want(200).Object(), st.ID(), false)
	}
	if c.Int("last_status.other.direct_conversation_id") == 0 {
		t.Error("direct_conversation_id is missing")
	}
}

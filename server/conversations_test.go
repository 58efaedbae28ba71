package server_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"svc/internal/config"
	"svc/store"
)

// conversations returns a member's conversations, newest first.
func (m *member) conversations(params ...string) []*object {
	m.api.t.Helper()
	return m.get("/api/v1/conversations", params...).want(200).list()
}

// conversation returns the only conversation that a member has.
func (m *member) conversation() *object {
	m.api.t.Helper()
	list := m.conversations()
	if len(list) != 1 {
		m.api.t.Fatalf("%s has %d conversations, want 1", m.nick, len(list))
	}
	return list[0]
}

// direct publishes a direct post.
func (m *member) direct(text string, params ...string) *object {
	m.api.t.Helper()
	return m.publish(text, append(params, "visibility", "direct")...)
}

// unread returns the number of unread conversations that a member is told of.
func (m *member) unread() int {
	m.api.t.Helper()
	return m.get("/api/v1/accounts/verify_credentials").want(200).object().num("svc.unread_conversation_count")
}

// names returns the usernames in a list of accounts, sorted.
func (o *object) names(path string) string {
	o.t.Helper()
	var names []string
	for _, a := range o.at(path).([]any) {
		names = append(names, a.(map[string]any)["username"].(string))
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// wantConversation checks a conversation: its last post, and whether it is unread.
func (o *object) wantConversation(last string, unread bool) {
	o.t.Helper()
	got := "none"
	if o.at("last_status") != nil {
		got = o.str("last_status.id")
	}
	if got != last || o.truth("unread") != unread {
		o.t.Errorf("the last post is %s, want %s; unread is %v, want %v", got, last, o.truth("unread"), unread)
	}
}

func TestConversation(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol, dave := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol"), srv.signUp("dave")
	alice.publish("nobody's talk @bob")
	alice.publish("followers' talk @bob", "visibility", "private")
	first := alice.direct("@bob @carol hello")
	for _, tt := range []struct {
		of       *member
		accounts string
		unread   bool
	}{{alice, "bob carol", false}, {bob, "alice carol", true}, {carol, "alice bob", true}} {
		c := tt.of.conversation()
		c.wantConversation(first.id(), tt.unread)
		if got := c.names("accounts"); got != tt.accounts {
			t.Errorf("%s talks with %q, want %q", tt.of.nick, got, tt.accounts)
		}
		if got, want := c.names("svc.recipients"), "alice bob carol"; got != want {
			t.Errorf("%s writes to %q, want %q", tt.of.nick, got, want)
		}
		if n, err := strconv.Atoi(c.id()); err != nil || c.num("last_status.svc.direct_conversation_id") != n {
			t.Errorf("the id is %q, in the status %v", c.id(), c.at("last_status.svc.direct_conversation_id"))
		}
		want := 0
		if tt.unread {
			want = 1
		}
		if got := tt.of.unread(); got != want {
			t.Errorf("%s is told of %d unread conversations, want %d", tt.of.nick, got, want)
		}
	}
	if list := dave.conversations(); len(list) != 0 {
		t.Errorf("a stranger has %v", list)
	}

	// Not everybody of the thread is in each of its posts, and later posts change nobody's recipients.
	reply := bob.direct("@alice @dave for the two of you", "in_reply_to_id", first.id())
	alice.conversation().wantConversation(reply.id(), true)
	bob.conversation().wantConversation(reply.id(), false)
	carol.conversation().wantConversation(first.id(), true)
	dave.conversation().wantConversation(reply.id(), true)
	if got, want := alice.conversation().names("svc.recipients"), "alice bob carol"; got != want {
		t.Errorf("alice writes to %q, want %q", got, want)
	}
	if got, want := dave.conversation().names("svc.recipients"), "alice bob dave"; got != want {
		t.Errorf("dave writes to %q, want %q", got, want)
	}

	id := alice.conversation().id()
	alice.post("/api/v1/conversations/"+id+"/read").want(200).object().wantConversation(reply.id(), false)
	alice.post("/api/v1/conversations/"+id+"/read").want(200).object().wantConversation(reply.id(), false)
	alice.get("/api/v1/svc/conversations/"+id).want(200).object().wantConversation(reply.id(), false)
	if got := alice.unread(); got != 0 {
		t.Errorf("after reading, %d are unread", got)
	}

	// One who writes has read what came before.
	answer := carol.direct("@alice me too", "in_reply_to_id", first.id())
	carol.conversation().wantConversation(answer.id(), false)
	alice.conversation().wantConversation(answer.id(), true)

	// Talking to oneself.
	monologue := srv.signUp("erin")
	note := monologue.direct("note to self")
	c := monologue.conversation()
	c.wantConversation(note.id(), false)
	if got := c.names("accounts"); got != "erin" {
		t.Errorf("accounts of a monologue: %q", got)
	}
}

// A new conversation comes first, and so does one that something new came into.
func TestConversationPaging(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	var first []string
	for i := range 7 {
		first = append(first, bob.direct(fmt.Sprintf("@alice %d", i)).id())
	}
	bob.direct("@alice again", "in_reply_to_id", first[2])
	var want, last []string
	for _, c := range alice.conversations() {
		want, last = append(want, c.id()), append(last, c.str("last_status.id"))
	}
	if len(want) != 7 || !slices.IsSortedFunc(last, func(a, b string) int { return -strings.Compare(a, b) }) {
		t.Fatalf("not seven in order of what came last: %v", last)
	}
	wantPages(t, alice, "/api/v1/conversations?limit=2", want)
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
		if got := alice.get("/api/v1/conversations", tt.params...).want(200).ids(); !slices.Equal(got, tt.want) {
			t.Errorf("%v: got %v, want %v", tt.params, got, tt.want)
		}
	}
	if links := alice.get("/api/v1/conversations", "max_id", "1").links(); len(links) != 0 {
		t.Errorf("an empty page has links: %v", links)
	}
}

func TestConversationsByRecipients(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	alice.direct("@bob @carol all")
	alice.direct("@bob one")
	bob.direct("@alice one more")
	alice.direct("me")
	for _, tt := range []struct {
		recipients []string
		want       int
	}{
		{[]string{bob.id}, 2},
		{[]string{bob.id, alice.id, bob.id}, 2},
		{[]string{bob.id, carol.id}, 1},
		{[]string{carol.id, bob.id}, 1},
		{[]string{carol.id}, 0},
		{[]string{alice.id}, 1},
		{[]string{"unknown"}, 0},
		{[]string{bob.id, "unknown"}, 0},
		{[]string{""}, 4},
		{nil, 4},
	} {
		var params []string
		for _, id := range tt.recipients {
			params = append(params, "recipients[]", id)
		}
		if got := len(alice.conversations(params...)); got != tt.want {
			t.Errorf("%v: got %d conversations, want %d", tt.recipients, got, tt.want)
		}
	}
	next := alice.get("/api/v1/conversations", "recipients[]", bob.id, "limit", "1").want(200).links()["next"]
	if got := alice.get(next).want(200).ids(); len(got) != 1 {
		t.Errorf("the next page has %v", got)
	}
}

// What is not there, not one's own or not understood is refused, and changes nothing.
func TestConversationRefusals(t *testing.T) {
	srv := startAPI(t)
	alice, bob, mallory := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("mallory")
	st := alice.direct("@bob hello")
	id := bob.conversation().id()
	recipients := map[string]any{"recipients": []string{mallory.id}}
	for _, path := range []string{id, "999", "0", "-1", "nonsense", "99999999999999999999", st.id()} {
		for _, m := range []*member{mallory, alice} { // alice has a conversation of her own of the thread
			m.get("/api/v1/svc/conversations/"+path).wantError(404, "Unknown conversation id")
			m.get("/api/v1/svc/conversations/"+path+"/statuses").wantError(404, "Unknown conversation id")
			m.send("PATCH", "/api/v1/svc/conversations/"+path, recipients).wantError(404, "Unknown conversation id")
			m.post("/api/v1/conversations/"+path+"/read").wantError(404, "Record not found")
			m.do("DELETE", "/api/v1/conversations/"+path, "", nil).wantError(404, "Record not found")
			m.post("/api/v1/statuses", "status", "intruding", "in_reply_to_conversation_id", path).wantError(404, "Unknown conversation id")
			m.post("/api/v1/statuses", "status", "intruding", "in_reply_to_conversation_id", path, "preview", "true").wantError(404, "Unknown conversation id")
		}
	}
	bob.send("PATCH", "/api/v1/svc/conversations/"+id, map[string]any{}).wantError(400, "Missing field: recipients.")
	bob.send("PATCH", "/api/v1/svc/conversations/"+id, map[string]any{"recipients": []any{map[string]any{"id": mallory.id}}}).
		wantError(400, "0 - Invalid string. Got: object.")
	c := bob.conversation()
	c.wantConversation(st.id(), true)
	if got := c.names("svc.recipients"); got != "alice bob" {
		t.Errorf("recipients are %q", got)
	}
}

func TestConversationStatuses(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	ids := []string{alice.direct("@bob @carol 0").id()}
	for i := 1; i < 7; i++ {
		m := []*member{alice, bob, carol}[i%3]
		ids = append(ids, m.direct(fmt.Sprint("@alice @bob @carol ", i), "in_reply_to_id", ids[i-1]).id())
	}
	carol.direct("@bob a secret", "in_reply_to_id", ids[4])
	alice.direct("@bob another thread")
	path := "/api/v1/svc/conversations/" + alice.conversations()[1].id() + "/statuses"
	if got := alice.get(path).want(200).ids(); !slices.Equal(got, ids) {
		t.Errorf("got %v, want %v", got, ids)
	}
	// The pages go back in time, each with its oldest first.
	a := alice.get(path, "limit", "3").want(200)
	for _, want := range [][]string{ids[4:], ids[1:4], ids[:1]} {
		if got := a.ids(); !slices.Equal(got, want) {
			t.Fatalf("got the page %v, want %v", got, want)
		}
		if next := a.links()["next"]; next != "" {
			a = alice.get(next).want(200)
		}
	}
	if got := alice.get(a.links()["prev"]).want(200).ids(); !slices.Equal(got, ids[1:4]) {
		t.Errorf("the page before is %v, want %v", got, ids[1:4])
	}
	if got := alice.get(path, "exclude_visibilities[]", "direct").want(200).ids(); len(got) != 0 {
		t.Errorf("without direct posts: %v", got)
	}
	srv.letMute(alice, bob)
	without := func(i ...int) []string {
		var rest []string
		for n, id := range ids {
			if !slices.Contains(i, n) {
				rest = append(rest, id)
			}
		}
		return rest
	}
	if got, want := alice.get(path).want(200).ids(), without(1, 4); !slices.Equal(got, want) {
		t.Errorf("with a mute: got %v, want %v", got, want)
	}
	if got := alice.get(path, "with_muted", "true").want(200).ids(); !slices.Equal(got, ids) {
		t.Errorf("with the muted: got %v, want %v", got, ids)
	}
	alice.post("/api/v1/accounts/" + bob.id + "/block").want(200)
	if got, want := alice.get(path, "with_muted", "true").want(200).ids(), without(1, 2, 4, 5); !slices.Equal(got, want) { // carol's name bob
		t.Errorf("with a block: got %v, want %v", got, want)
	}
}

func TestAddressingAConversation(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol, gone := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol"), srv.signUp("gone")
	alice.direct("@bob hello")
	srv.withhold(gone)
	path := "/api/v1/svc/conversations/" + alice.conversation().id()
	for _, tt := range []struct {
		name       string
		recipients any
		want       string
	}{
		{"others", []string{carol.id}, "alice carol"},
		{"the owner, too", []string{carol.id, alice.id, bob.id, bob.id}, "alice bob carol"},
		{"unknown ones", []string{bob.id, "unknown", gone.id}, "alice bob"},
		{"one", carol.id, "alice carol"},
		{"nobody", []string{}, "alice"},
		{"nobody, in a form", "", "alice"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := alice.send("PATCH", path, map[string]any{"recipients": tt.recipients}).want(200).object()
			if got := c.names("svc.recipients"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if got := alice.get(path).want(200).object().names("svc.recipients"); got != tt.want {
				t.Errorf("kept are %q, want %q", got, tt.want)
			}
		})
	}
	if got := bob.conversation().names("svc.recipients"); got != "alice bob" {
		t.Errorf("the other writes to %q", got)
	}
	var many []string
	for i := range 103 {
		id := store.AccountID(i + 1)
		srv.insert(`INSERT INTO accounts (id, nickname, nickname_key, domain, uri, url, created_at) VALUES (?1, ?1, ?1, 'example.org', ?1, '', 0)`, id)
		many = append(many, id.String())
	}
	alice.send("PATCH", path, map[string]any{"recipients": many[:101]}).want(200)
	alice.send("PATCH", path, map[string]any{"recipients": many[:102]}).want(422)
	if got := len(alice.get(path).want(200).object().at("accounts").([]any)); got != 101 {
		t.Errorf("got %d recipients", got)
	}
}

func TestPostingIntoAConversation(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol, dave := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol"), srv.signUp("dave")
	first := alice.direct("@bob @carol hello")
	second := bob.direct("@alice hi", "in_reply_to_id", first.id())
	elsewhere := alice.direct("@bob elsewhere")
	for _, tt := range []struct {
		name    string
		params  []string
		replyTo string
		error   string
	}{
		{"alone", nil, second.id(), ""},
		{"whatever the visibility", []string{"visibility", "public"}, "", ""},
		{"and list", []string{"visibility", "list:1"}, "", ""},
		{"whoever is named", []string{"to[]", "dave"}, "", ""},
		{"replying to a post of it", []string{"in_reply_to_id", first.id()}, first.id(), ""},
		{"replying to another's", []string{"in_reply_to_id", elsewhere.id()}, "", "Validation failed: The status replied to is not in the conversation"},
		{"replying to nothing", []string{"in_reply_to_id", "unknown"}, "", "Cannot reply to a deleted status"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := alice.conversations()[0].str("last_status.id")
			id := strconv.Itoa(first.num("svc.direct_conversation_id"))
			a := alice.post("/api/v1/statuses", append(tt.params, "status", "@dave "+tt.name, "in_reply_to_conversation_id", id)...)
			if tt.error != "" {
				a.wantError(422, tt.error)
				return
			}
			st := a.want(200).object()
			if tt.replyTo == "" {
				tt.replyTo = before
			}
			for path, want := range map[string]any{
				"visibility": "direct", "in_reply_to_id": tt.replyTo, "svc.conversation_id": first.at("svc.conversation_id"),
				"svc.direct_conversation_id": first.at("svc.direct_conversation_id"),
			} {
				if got := st.at(path); got != want {
					t.Errorf("%s is %v, want %v", path, got, want)
				}
			}
			if got := st.names("mentions"); got != "bob carol" {
				t.Errorf("it mentions %q", got)
			}
			bob.conversations()[0].wantConversation(st.id(), true)
			carol.conversations()[0].wantConversation(st.id(), true)
			if !strings.Contains(string(alice.get("/api/v1/statuses/"+first.id()+"/context").want(200).body), st.id()) {
				t.Error("it is not in the context of the first post")
			}
		})
	}
	if list := dave.conversations(); len(list) != 0 || len(dave.get("/api/v1/notifications").list()) != 0 {
		t.Errorf("who was only named was told: %v", list)
	}
	preview := alice.publish("@dave psst", "in_reply_to_conversation_id", strconv.Itoa(first.num("svc.direct_conversation_id")), "preview", "true")
	if preview.str("visibility") != "direct" || preview.names("mentions") != "bob carol" {
		t.Errorf("the preview is %v", preview.m)
	}

	alice.send("POST", "/api/v1/statuses", map[string]any{ // a number, as it stands in statuses
		"status": "x", "in_reply_to_conversation_id": first.num("svc.direct_conversation_id"), "in_reply_to_id": "",
	}).want(200)
	if got := alice.publish("y", "in_reply_to_conversation_id", "").str("visibility"); got != "public" {
		t.Errorf("into no conversation: %s", got)
	}

	// A conversation that was addressed anew takes in who is in it now.
	c := alice.conversations()[0]
	alice.send("PATCH", "/api/v1/svc/conversations/"+c.id(), map[string]any{"recipients": []string{dave.id, bob.id}}).want(200)
	srv.withhold(bob)
	last := carol.conversation().str("last_status.id")
	st := alice.publish("welcome", "in_reply_to_conversation_id", c.id())
	dave.conversation().wantConversation(st.id(), true)
	carol.conversation().wantConversation(last, true)
	if got := st.names("mentions"); got != "dave" {
		t.Errorf("it mentions %q", got)
	}
	if got := dave.conversation().names("svc.recipients"); got != "alice dave" {
		t.Errorf("dave writes to %q", got)
	}
}

func TestReadingAllConversations(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	if got := alice.post("/api/v1/svc/conversations/read").want(200); len(got.list()) != 0 || got.header.Get("Link") != "" {
		t.Errorf("there is nothing to read: %s", got.body)
	}
	for i := range 5 {
		bob.direct(fmt.Sprintf("@alice %d", i))
	}
	list := alice.conversations()
	alice.post("/api/v1/conversations/" + list[1].id() + "/read").want(200)
	a := alice.post("/api/v1/svc/conversations/read").want(200)
	var want []string
	for i, c := range list {
		if i != 1 {
			want = append(want, c.id())
		}
	}
	if got := a.ids(); !slices.Equal(got, want) {
		t.Errorf("read were %v, want %v", got, want)
	}
	if a.links()["prev"] == "" {
		t.Errorf("there is no link: %q", a.header.Get("Link"))
	}
	for _, c := range append(a.list(), alice.conversations()...) {
		if c.truth("unread") {
			t.Errorf("%s is unread", c.id())
		}
	}
	if got := alice.unread(); got != 0 {
		t.Errorf("%d are unread", got)
	}
	bob.direct("@alice x")
	bob.direct("@alice y")
	if got := alice.post("/api/v1/svc/conversations/read", "limit", "1").want(200).ids(); len(got) != 1 || alice.unread() != 0 {
		t.Errorf("read were %v, unread are %d", got, alice.unread())
	}
	for _, m := range []*member{alice, bob} {
		if got := m.conversations(); len(got) != 7 {
			t.Errorf("%s has %d", m.nick, len(got))
		}
	}
}

// Under another name of the API, the members and paths are called by that.
func TestNamedConversation(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) { c.API.Name = "other" })
	alice := srv.signUp("alice")
	st := alice.direct("note to self")
	c := alice.conversation()
	if got := c.names("other.recipients"); got != "alice" {
		t.Errorf("recipients are %q", got)
	}
	for _, prefix := range []string{"/api/v1/other", "/api/other"} {
		alice.get(prefix+"/conversations/"+c.id()).want(200).object().wantConversation(st.id(), false)
	}
	if c.num("last_status.other.direct_conversation_id") == 0 {
		t.Error("there is no direct_conversation_id")
	}
}

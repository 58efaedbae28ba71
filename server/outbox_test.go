package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"svc/internal/config"
	"svc/store"
)

// letterbox is a server elsewhere that takes in what is delivered to it, and makes nothing of it.
type letterbox struct {
	t    testing.TB
	url  string
	host string

	mu      sync.Mutex
	letters []letter
	reply   func(http.ResponseWriter, *http.Request) // nil: 202
}

// letter is what was delivered.
type letter struct {
	path   string
	header http.Header
	raw    string
	doc    *object
}

func startLetterbox(t testing.TB) *letterbox {
	t.Helper()
	l := &letterbox{t: t}
	ts := httptest.NewServer(l)
	t.Cleanup(ts.Close)
	l.url, l.host = ts.URL, strings.TrimPrefix(ts.URL, "http://")
	return l
}

func (l *letterbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	o := &object{t: l.t}
	if r.Method == http.MethodPost && json.Unmarshal(raw, &o.m) != nil {
		l.t.Errorf("%s: no JSON: %s", r.URL.Path, raw)
	}
	l.mu.Lock()
	if r.Method == http.MethodPost {
		l.letters = append(l.letters, letter{r.URL.Path, r.Header, string(raw), o})
	}
	reply := l.reply
	l.mu.Unlock()
	switch {
	case reply != nil:
		reply(w, r)
	case r.Method == http.MethodPost:
		w.WriteHeader(http.StatusAccepted)
	default:
		http.NotFound(w, r)
	}
}

// answer has deliveries answered with a status from now on; headers come as pairs.
func (l *letterbox) answer(status int, headers ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reply = func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
	}
}

// take returns what has been delivered since it was called last.
func (l *letterbox) take() []letter {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.letters
	l.letters = nil
	return list
}

// one returns the one thing that was delivered.
func (l *letterbox) one(kind string) letter {
	l.t.Helper()
	list := l.take()
	if len(list) != 1 || list[0].doc.str("type") != kind {
		l.t.Fatalf("got %s, want one %s", kinds(list), kind)
	}
	return list[0]
}

// kinds returns the types of what was delivered, with the paths.
func kinds(list []letter) string {
	var names []string
	for _, m := range list {
		names = append(names, m.doc.str("type")+" "+m.path)
	}
	return strings.Join(names, ", ")
}

// person has a server know somebody who lives at the letterbox, whose server has an inbox for many or has not.
func (l *letterbox) person(a *api, nick string, shared bool) *store.Account {
	a.t.Helper()
	uri := l.url + "/users/" + nick
	who := &store.Account{Nickname: nick, Domain: l.host, URI: uri, URL: uri, ActorType: "Person"}
	err := a.db.Update(a.t.Context(), func(tx *store.Tx) error {
		if err := tx.AddAccount(a.t.Context(), who); err != nil {
			return err
		}
		now := store.At(a.db.Now())
		actor := &store.Actor{AccountID: who.ID, Inbox: uri + "/inbox", FetchedAt: now, TriedAt: now}
		if shared {
			actor.SharedInbox = l.url + "/inbox"
		}
		return tx.SaveActor(a.t.Context(), actor)
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return who
}

// follower is a person who follows somebody.
func (l *letterbox) follower(a *api, nick string, shared bool, of *member) *store.Account {
	a.t.Helper()
	who := l.person(a, nick, shared)
	a.followFrom(who, of, false)
	return who
}

// followFrom has somebody elsewhere follow, or ask to follow, somebody here.
func (a *api) followFrom(who *store.Account, of *member, pending bool) {
	a.t.Helper()
	uri := who.URI + "/follows/" + of.id
	err := a.db.Update(a.t.Context(), func(tx *store.Tx) error {
		return tx.AddFollow(a.t.Context(), &store.Follow{FollowerID: who.ID, TargetID: of.accountID(), URI: &uri, Pending: pending, ShowReblogs: true})
	})
	if err != nil {
		a.t.Fatal(err)
	}
}

// post has somebody elsewhere post something public here.
func (a *api) foreign(by *store.Account, change ...func(*store.Status)) *store.Status {
	a.t.Helper()
	st := &store.Status{AccountID: by.ID, Domain: by.Domain, Content: "<p>hello</p>"}
	err := a.db.Update(a.t.Context(), func(tx *store.Tx) error {
		st.ID = tx.NewStatusID()
		st.URI = by.URI + "/notes/" + st.ID.String()
		st.ConversationID = store.ConversationID(st.ID)
		for _, f := range change {
			f(st)
		}
		return tx.AddStatus(a.t.Context(), st)
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return st
}

// wantActivity checks what all activities have (federation 4, D5, D6).
func (m letter) wantActivity(t *testing.T, a *api) {
	t.Helper()
	d := m.doc
	for _, hidden := range []string{`"bto"`, `"bcc"`} {
		if strings.Contains(m.raw, hidden) {
			t.Errorf("%s has %s", m.raw, hidden)
		}
	}
	if c, ok := d.at("@context").([]any); !ok || c[0] != "https://www.w3.org/ns/activitystreams" {
		t.Errorf("@context of %s is %v", d.str("type"), d.at("@context"))
	}
	for _, key := range []string{"id", "actor"} {
		if !strings.HasPrefix(d.str(key), a.url+"/") || strings.Contains(d.str(key), "#") {
			t.Errorf("%s of %s is %q", key, d.str("type"), d.str(key))
		}
	}
	if d.str("published") == "" {
		t.Error("there is no time")
	}
	to, cc := addresses(d)
	if o, ok := d.at("object").(map[string]any); ok && (d.str("type") == "Create" || d.str("type") == "Update" && o["attributedTo"] != nil) {
		embedded := &object{t, o}
		oto, occ := addresses(embedded)
		if !slices.Equal(to, oto) || o["cc"] != nil && !slices.Equal(cc, occ) {
			t.Errorf("the activity is for %v and %v, its object for %v and %v", to, cc, oto, occ)
		}
	}
	if !strings.HasPrefix(m.header.Get("Content-Type"), "application/activity+json") || m.header.Get("Content-Length") == "" ||
		!strings.Contains(m.header.Get("Signature"), `keyId="`+d.str("actor")+`#main-key"`) || m.header.Get("Idempotency-Key") != "" {
		t.Errorf("headers of %s: %v", d.str("type"), m.header)
	}
}

// addresses returns to and cc, which are lists of text.
func addresses(o *object) (to, cc []string) {
	o.t.Helper()
	read := func(key string) (list []string) {
		o.t.Helper()
		if !o.has(key) && key == "cc" {
			return nil // a chat message has none
		}
		values, ok := o.at(key).([]any)
		if !ok {
			o.t.Fatalf("%s of %v is no list", key, o.m)
		}
		for _, v := range values {
			list = append(list, v.(string))
		}
		return list
	}
	return read("to"), read("cc")
}

// startOutbox starts a server with somebody, and a letterbox.
func startOutbox(t testing.TB, change ...func(*config.Config)) (*api, *member, *letterbox) {
	t.Helper()
	srv := startPeers(t, 1, change...)[0]
	return srv, srv.signUp("alice"), startLetterbox(t)
}

// TestWhoGetsPosts looks at where posts of each kind go, and whom they say they are for (federation 3.1, 4.1; cases 41 to 44).
func TestWhoGetsPosts(t *testing.T) {
	srv, alice, home := startOutbox(t)
	near, far := startLetterbox(t), startLetterbox(t)
	for _, nick := range []string{"f1", "f2", "f3"} {
		home.follower(srv, nick, true, alice)
	}
	far.follower(srv, "solitary", false, alice)
	bob := near.person(srv, "bob", true)
	near.person(srv, "bea", true)
	carl := near.person(srv, "carl", true)
	local := srv.signUp("local")
	if err := srv.social.Block(t.Context(), srv.account(t, alice.id), carl.ID); err != nil {
		t.Fatal(err)
	}
	followers := alice.uri() + "/followers"
	handle := func(nick string, l *letterbox) string { return "@" + nick + "@" + l.host }
	for _, tt := range []struct {
		name       string
		text       string
		visibility string
		to, cc     []string
		home, far  int    // deliveries
		near       string // the inbox there, "" if none
	}{
		{"public", "hello", "public", []string{toPublic}, []string{followers}, 1, 1, ""},
		{"public with mention", "hello " + handle("bob", near), "public", []string{toPublic, bob.URI}, []string{followers}, 1, 1, "/inbox"},
		{"unlisted", "hello", "unlisted", []string{followers}, []string{toPublic}, 1, 1, ""},
		{"private", "hello " + handle("bob", near), "private", []string{followers, bob.URI}, nil, 1, 1, "/inbox"},
		{"local", "hello " + handle("bob", near), "local", nil, nil, 0, 0, ""},
		{"direct to one", "psst " + handle("bob", near), "direct", []string{bob.URI}, nil, 0, 0, "/users/bob/inbox"},
		{"direct to two", "psst " + handle("bob", near) + " " + handle("bea", near), "direct", []string{bob.URI, near.url + "/users/bea"}, nil, 0, 0, "/inbox"},
		{"direct to one and one here", "psst " + handle("bob", near) + " @local", "direct", []string{bob.URI, local.uri()}, nil, 0, 0, "/inbox"},
		{"direct to nobody elsewhere", "psst @local", "direct", nil, nil, 0, 0, ""},
		{"to one who is blocked", "hello " + handle("carl", near), "public", []string{toPublic, carl.URI}, []string{followers}, 1, 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := alice.publish(tt.text, "visibility", tt.visibility)
			settle(srv)
			letters := map[*letterbox][]letter{home: home.take(), far: far.take(), near: near.take()}
			want := map[*letterbox]int{home: tt.home, far: tt.far}
			if tt.near != "" {
				want[near] = 1
			}
			for l, list := range letters {
				if len(list) != want[l] {
					t.Fatalf("%d deliveries, want %d", len(list), want[l])
				}
				for _, m := range list {
					m.wantActivity(t, srv)
					to, cc := addresses(m.doc)
					if m.doc.str("type") != "Create" || m.doc.str("object.id") != srv.url+"/objects/"+st.id() || !slices.Equal(to, tt.to) || !slices.Equal(cc, tt.cc) {
						t.Errorf("got %s to %v cc %v, want to %v cc %v", m.doc.str("type"), to, cc, tt.to, tt.cc)
					}
					if direct := m.doc.has("directMessage") && m.doc.truth("directMessage"); direct != (tt.visibility == "direct") {
						t.Errorf("directMessage is %v", direct)
					}
				}
			}
			if tt.near != "" && letters[near][0].path != tt.near {
				t.Errorf("delivered to %s, want %s", letters[near][0].path, tt.near)
			}
			if len(letters[home]) == 1 && (letters[home][0].path != "/inbox" || letters[far][0].path != "/users/solitary/inbox") {
				t.Errorf("delivered to %s and %s", letters[home][0].path, letters[far][0].path)
			}
		})
	}
	if n := srv.count(`SELECT (SELECT count(*) FROM activities) + (SELECT count(*) FROM deliveries)`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// TestListPosts looks at posts for the members of a list: each server hears of those who live there only (case 43).
func TestListPosts(t *testing.T) {
	srv, alice, near := startOutbox(t)
	far, home := startLetterbox(t), startLetterbox(t)
	home.follower(srv, "follower", true, alice)
	bob, bea, cyd := near.person(srv, "bob", true), near.person(srv, "bea", true), far.person(srv, "cyd", true)
	list := alice.send("POST", "/api/v1/lists", jsonBody{"title": "Few"}).want(200).object().id()
	for _, who := range []*store.Account{bob, bea, cyd} {
		srv.insert(`INSERT INTO list_members (list_id, account_id) SELECT id, ? FROM lists`, who.ID)
	}
	st := alice.publish("among us", "visibility", "list:"+list)
	check := func(kind string) {
		t.Helper()
		settle(srv)
		for l, want := range map[*letterbox][]string{near: {bob.URI, bea.URI}, far: {cyd.URI}} {
			m := l.one(kind)
			m.wantActivity(t, srv)
			if to, cc := addresses(m.doc); len(to) != 0 || !slices.Equal(cc, want) {
				t.Errorf("%s is for %v and %v, want %v", kind, to, cc, want)
			}
			for _, other := range []*store.Account{bob, bea, cyd} {
				if strings.Contains(m.raw, other.URI+`"`) != slices.Contains(want, other.URI) {
					t.Errorf("%s to %v: %s", kind, want, m.raw)
				}
			}
			if kind != "Delete" && (m.doc.str("listMessage") == "" || m.doc.str("object.listMessage") == "") {
				t.Errorf("%s does not say that it is for a list", kind)
			}
		}
		if got := home.take(); len(got) > 0 {
			t.Errorf("a follower got %s", kinds(got))
		}
	}
	check("Create")
	alice.edit(st.id(), jsonBody{"status": "among ourselves"}).want(200)
	check("Update")
	alice.do("DELETE", "/api/v1/statuses/"+st.id(), "", nil).want(200)
	check("Delete")
}

// TestEveryDeed has somebody do all that others hear of, and looks at what they hear.
func TestEveryDeed(t *testing.T) {
	srv, alice, home := startOutbox(t, func(c *config.Config) { c.Federation.SendBlocks = true })
	bob := home.person(srv, "bob", true)
	note := srv.foreign(bob)
	id, bobID := note.ID.String(), bob.ID.String()
	var st, boost string
	inbox := "/users/bob/inbox"
	hear := func(kind, path string) *object {
		t.Helper()
		settle(srv)
		m := home.one(kind)
		m.wantActivity(t, srv)
		if m.path != path {
			t.Errorf("%s came to %s, want %s", kind, m.path, path)
		}
		return m.doc
	}
	is := func(o *object, path, want string) {
		t.Helper()
		if got := o.str(path); got != want {
			t.Errorf("%s of %s: got %q, want %q", path, o.str("type"), got, want)
		}
	}
	undone := func(kind string, of *object) {
		t.Helper()
		o := hear("Undo", inbox)
		is(o, "object.type", kind)
		is(o, "object.id", of.str("id"))
		is(o, "object.actor", alice.uri())
		is(o, "object.object", of.str("object"))
		if o.str("id") == of.str("id") {
			t.Error("an Undo has the id of what it undoes")
		}
	}

	alice.post("/api/v1/statuses/" + id + "/favourite").want(200)
	like := hear("Like", inbox)
	is(like, "object", note.URI)
	alice.post("/api/v1/statuses/" + id + "/unfavourite").want(200)
	undone("Like", like)

	alice.reactWith(id, "🔥")
	react := hear("EmojiReact", inbox)
	is(react, "content", "🔥")
	alice.react("DELETE", id, "🔥").want(200)
	undone("EmojiReact", react)

	alice.to(bobID, "follow")
	follow := hear("Follow", inbox)
	is(follow, "object", bob.URI)
	alice.to(bobID, "unfollow")
	undone("Follow", follow)

	alice.to(bobID, "block")
	is(hear("Block", inbox), "object", bob.URI)
	alice.to(bobID, "unblock")
	is(hear("Undo", inbox), "object.type", "Block")

	// Case 96, 100: answers have the Follow in them as it came.
	followURI := bob.URI + "/follows/" + alice.id
	srv.followFrom(bob, alice, true)
	alice.post("/api/v1/follow_requests/" + bobID + "/authorize").want(200)
	accept := hear("Accept", inbox)
	is(accept, "object.id", followURI)
	is(accept, "object.actor", bob.URI)
	is(accept, "object.object", alice.uri())
	alice.to(bobID, "remove_from_followers")
	reject := hear("Reject", inbox)
	is(reject, "object.id", followURI)
	is(reject, "object.type", "Follow")

	alice.post("/api/v1/reports", "account_id", bobID, "status_ids[]", id, "comment", "spam", "forward", "true").want(200)
	settle(srv)
	flag := home.one("Flag")
	flag.wantActivity(t, srv)
	is(flag.doc, "actor", srv.url+"/internal/fetch")
	is(flag.doc, "content", "spam")
	if about := fmt.Sprint(flag.doc.at("object")); about != fmt.Sprint([]string{bob.URI, note.URI}) || strings.Contains(flag.raw, alice.id) {
		t.Errorf("the report is %s", flag.raw)
	}

	// Case 82: a Create for each option, for the author only.
	srv.insert(`UPDATE statuses SET has_poll = 1 WHERE id = ?`, note.ID)
	srv.insert(`INSERT INTO polls (id, status_id, multiple, options) VALUES (77, ?, 1, '[{"title":"tea","votes":0},{"title":"coffee","votes":0},{"title":"water","votes":0}]')`, note.ID)
	alice.vote(alice.get("/api/v1/statuses/"+id).want(200).object(), 0, 2).want(200)
	settle(srv)
	votes := home.take()
	if len(votes) != 2 || votes[0].doc.str("id") == votes[1].doc.str("id") || votes[0].doc.str("object.id") == votes[1].doc.str("object.id") {
		t.Fatalf("got %s, want two votes", kinds(votes))
	}
	for i, name := range []string{"tea", "water"} {
		v := votes[i]
		v.wantActivity(t, srv)
		is(v.doc, "type", "Create")
		is(v.doc, "object.name", name)
		is(v.doc, "object.inReplyTo", note.URI)
		if to, cc := addresses(v.doc); !slices.Equal(to, []string{bob.URI}) || len(cc) != 0 || v.path != inbox || strings.Contains(v.raw, `"content"`) {
			t.Errorf("a vote came to %s: %s", v.path, v.raw)
		}
	}

	chat := alice.post("/api/v1/svc/chats/by-account-id/" + bobID).want(200).object().id()
	said := alice.say(chat, "hello there")
	create := hear("Create", inbox)
	is(create, "object.type", "ChatMessage")
	is(create, "object.content", "hello there")
	alice.do("DELETE", "/api/v1/svc/chats/"+chat+"/messages/"+said.id(), "", nil).want(200)
	is(hear("Delete", inbox), "object.id", create.str("object.id"))

	boost = alice.post("/api/v1/statuses/" + id + "/reblog").want(200).object().id()
	announce := hear("Announce", "/inbox")
	is(announce, "object", note.URI)
	is(announce, "id", srv.url+"/activities/"+boost)
	alice.post("/api/v1/statuses/" + id + "/unreblog").want(200)
	undo := hear("Undo", "/inbox")
	is(undo, "object.id", announce.str("id"))
	is(undo, "object.object", note.URI)

	// From here on bob follows.
	srv.followFrom(bob, alice, false)
	st = alice.publish("first").id()
	is(hear("Create", "/inbox"), "object.content", "<p>first</p>")
	alice.edit(st, jsonBody{"status": "second"}).want(200)
	update := hear("Update", "/inbox")
	is(update, "object.content", "<p>second</p>")
	if update.str("object.updated") == "" || update.str("id") == "" {
		t.Error("an edit does not say when it was")
	}
	alice.post("/api/v1/statuses/" + st + "/pin").want(200)
	add := hear("Add", "/inbox")
	is(add, "object", srv.url+"/objects/"+st)
	is(add, "target", alice.uri()+"/collections/featured")
	alice.post("/api/v1/statuses/" + st + "/unpin").want(200)
	hear("Remove", "/inbox")
	alice.do("DELETE", "/api/v1/statuses/"+st, "", nil).want(200)
	gone := hear("Delete", "/inbox")
	is(gone, "object.type", "Tombstone")
	is(gone, "object.id", srv.url+"/objects/"+st)

	alice.update(jsonBody{"display_name": "Alice A."})
	srv.soon()
	profile := hear("Update", "/inbox")
	is(profile, "object.name", "Alice A.")
	is(profile, "object.id", alice.uri())

	twin := home.person(srv, "twin", true)
	srv.insert(`UPDATE accounts SET also_known_as = json_array(?) WHERE id = ?`, alice.uri(), twin.ID)
	if err := srv.social.Move(t.Context(), alice.accountID(), twin.ID); err != nil {
		t.Fatal(err)
	}
	settle(srv)
	moved := home.take()
	if len(moved) != 2 || moved[0].doc.str("type") != "Update" || moved[0].doc.str("object.movedTo") != twin.URI {
		t.Fatalf("got %s, want a profile with movedTo, and a Move", kinds(moved))
	}
	moved[1].wantActivity(t, srv)
	is(moved[1].doc, "type", "Move")
	is(moved[1].doc, "object", alice.uri())
	is(moved[1].doc, "target", twin.URI)
	if to, _ := addresses(moved[1].doc); !slices.Equal(to, []string{alice.uri() + "/followers"}) {
		t.Errorf("the Move is for %v", to)
	}
	srv.soon()
	settle(srv)
	home.take() // the profile once more

	// All servers hear that somebody has left, those too where nobody followed; and it is signed by who is no more.
	other := startLetterbox(t)
	other.person(srv, "stranger", true)
	alone := startLetterbox(t)
	alone.person(srv, "hermit", false)
	lonely := startLetterbox(t)
	lonely.follower(srv, "lonely", false, alice)
	srv.leave(alice, true)
	left := hear("Delete", "/inbox")
	is(left, "object", alice.uri())
	other.one("Delete").wantActivity(t, srv)
	alone.one("Delete")
	if m := lonely.one("Delete"); m.path != "/users/lonely/inbox" {
		t.Errorf("a follower's server without a shared inbox heard of it at %s", m.path)
	}
}

// Who was told of a quote of theirs hears of its end, too, though they follow nobody and are not named.
func TestQuoteDeleted(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	alice.follows(bob)
	note := peer.note(bob, "quote me")
	peer.receive(srv, peer.create(note))
	st := alice.publish("look", "quote_id", alice.wantPost(note["id"]).id())
	settle(srv)
	wantMember(t, peer.only("Create"), note["id"], "object", "quoteUrl")
	alice.do("DELETE", "/api/v1/statuses/"+st.id(), "", nil).want(200)
	settle(srv)
	wantMember(t, peer.only("Delete"), st.str("uri"), "object", "id")
}

// What somebody writes to few about a post is none of its author's business, neither when it is written nor when it is deleted.
func TestDirectReplyDeleted(t *testing.T) {
	srv, peer := startWithPeer(t)
	other := startFake(t)
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	alice.follows(bob)
	srv.meet(other.actor("carol"))
	note := peer.note(bob, "discuss")
	peer.receive(srv, peer.create(note))
	about := alice.wantPost(note["id"]).id()
	for _, visibility := range []string{"direct", "private"} {
		st := alice.publish("look at him", "visibility", visibility, "in_reply_to_id", about, "quote_id", about, "to[]", "carol@"+other.host)
		settle(srv)
		alice.do("DELETE", "/api/v1/statuses/"+st.id(), "", nil).want(200)
		settle(srv)
		if got := peer.delivered(); len(got) > 0 {
			t.Errorf("%s: bob's server hears of it: %v", visibility, got)
		}
		other.only("Create")
		other.only("Delete")
		other.forget()
	}
}

// Who has to do with a post hears of its edits, also without following its author; but of those of a post for followers only followers do.
// Of its end all hear who may have it.
func TestEditAfterUnfollow(t *testing.T) {
	for _, tt := range []struct {
		visibility string
		followed   bool // by somebody else
		updates    int
	}{{"private", true, 0}, {"private", false, 0}, {"unlisted", true, 1}, {"unlisted", false, 1}} {
		t.Run(fmt.Sprint(tt.visibility, " ", tt.followed), func(t *testing.T) {
			srv, peer := startWithPeer(t)
			alice := srv.signUp("alice")
			bob := peer.actor("bob")
			follow := peer.activity("Follow", bob, alice.uri())
			peer.receive(srv, follow)
			if tt.followed {
				other := startFake(t)
				other.receive(srv, other.activity("Follow", other.actor("carol"), alice.uri()))
			}
			st := alice.publish("us", "visibility", tt.visibility)
			settle(srv)
			peer.receive(srv, peer.activity("Like", bob, st.str("uri")))
			peer.receive(srv, peer.activity("Undo", bob, follow))
			peer.forget()
			alice.edit(st.id(), jsonBody{"status": "us only"}).want(200)
			settle(srv)
			if n := len(peer.delivered("Update")); n != tt.updates {
				t.Errorf("%d edits were delivered, want %d", n, tt.updates)
			}
			alice.do("DELETE", "/api/v1/statuses/"+st.id(), "", nil).want(200)
			settle(srv)
			wantMember(t, peer.only("Delete"), st.str("uri"), "object", "id")
		})
	}
}

// soon has done what waits in order to be done once for several changes.
func (a *api) soon() {
	a.t.Helper()
	a.insert(`UPDATE jobs SET run_at = 1000 WHERE kind = 'deed'`)
}

// TestNotTold looks at deeds that nobody elsewhere hears of.
func TestNotTold(t *testing.T) {
	srv, alice, home := startOutbox(t)
	bob := home.person(srv, "bob", true)
	bobID := bob.ID.String()
	alice.to(bobID, "block")
	alice.to(bobID, "unblock")
	alice.to(bobID, "mute")
	alice.publish("nobody follows me")
	st := alice.publish("taken back before anybody heard", "visibility", "direct")
	alice.do("DELETE", "/api/v1/statuses/"+st.id(), "", nil).want(200)
	alice.post("/api/v1/reports", "account_id", bobID, "comment", "only for here").want(200)
	alice.update(jsonBody{"display_name": "Nobody"})
	srv.soon()
	settle(srv)
	if got := home.take(); len(got) > 0 {
		t.Errorf("got %s", kinds(got))
	}

	// What is taken back before it is told of is not told; what takes it back may be.
	home.follower(srv, "follower", true, alice)
	st = alice.publish("oops")
	alice.do("DELETE", "/api/v1/statuses/"+st.id(), "", nil).want(200)
	alice.to(bobID, "follow")
	alice.to(bobID, "unfollow")
	settle(srv)
	for _, m := range home.take() {
		if kind := m.doc.str("type"); kind == "Create" || kind == "Follow" {
			t.Errorf("told of %s that was taken back", kind)
		}
	}

	// Who is out of service tells nothing new.
	alice.publish("one more")
	srv.leave(alice, false)
	settle(srv)
	for _, m := range home.take() {
		t.Errorf("told %s of somebody who is deactivated", m.doc.str("type"))
	}
}

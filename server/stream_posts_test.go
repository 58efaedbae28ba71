package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/store"
)

// town is people of all kinds around one author, each with a socket that listens to all they can.
type town struct {
	*api
	author, booster, follower, stranger, muter, blocked, mentioned *member

	listeners map[string]*listener // by nickname; "" is the anonymous
	list      string               // of the stranger, with the author
}

func newTown(t *testing.T) *town {
	srv := startAPI(t)
	w := &town{api: srv, listeners: map[string]*listener{}}
	for nick, m := range map[string]**member{
		"author": &w.author, "booster": &w.booster, "follower": &w.follower, "stranger": &w.stranger, "muter": &w.muter,
		"blocked": &w.blocked, "mentioned": &w.mentioned,
	} {
		*m = srv.signUp(nick)
	}
	w.follower.to(w.author.id, "follow")
	w.follower.to(w.booster.id, "follow")
	w.muter.to(w.author.id, "follow")
	w.muter.to(w.author.id, "mute")
	w.author.to(w.blocked.id, "block")
	w.list = srv.letList(w.stranger, w.author)
	for _, m := range []*member{nil, w.author, w.booster, w.follower, w.stranger, w.muter, w.blocked, w.mentioned} {
		nick, l := "", srv.listen(srv.as(m))
		if m != nil {
			nick = m.nick
			l.subscribe("user").subscribe("user:notification").subscribe("direct")
		}
		if m == w.stranger {
			l.subscribe("list", "list", w.list)
		}
		for _, open := range []string{"public", "public:media", "public:local", "public:local:media", "public:remote", "public:remote:media"} {
			l.subscribe(open)
		}
		l.subscribe("hashtag", "tag", "Cats").subscribe("hashtag:local", "tag", "cats")
		w.listeners[nick] = l
	}
	return w
}

// want fails the test if, but for these, anything has been heard: by nickname, the streams, with "NAME=" before another event than the
// usual. id is of the status.
func (w *town) want(t *testing.T, what, event, id string, want map[string]string) {
	t.Helper()
	for nick, l := range w.listeners {
		got := []string{}
		for _, s := range l.heard() {
			stream := strings.Join(s.Stream, "/")
			switch {
			case s.Event == event && (event == "delete" && *s.Payload == id || event != "delete" && payloadID(s) == id):
				got = append(got, stream)
			case s.Event == "notification":
				got = append(got, s.String())
			case s.Event == "conversation": // TestStreamedOwnThings looks at these
			default:
				got = append(got, s.String()+"?")
			}
		}
		if text := strings.Join(got, ", "); text != want[nick] {
			t.Errorf("%s: %q heard %q, want %q", what, nick, text, want[nick])
		}
	}
}

func payloadID(s said) string {
	var v struct{ ID string }
	json.Unmarshal([]byte(*s.Payload), &v)
	return v.ID
}

// TestStreams has posts of all kinds made, edited and deleted, and looks who hears of it, and where.
func TestStreams(t *testing.T) {
	w := newTown(t)
	const open = "public, public:local, hashtag/Cats, hashtag:local/cats"
	const media = "public, public:media, public:local, public:local:media, hashtag/Cats, hashtag:local/cats"
	mention := "user: notification mention, user:notification: notification mention"
	list := w.letList(w.author, w.mentioned)
	for _, tt := range []struct {
		name   string
		text   string
		params []string
		want   map[string]string
		told   bool // the mentioned is notified
	}{
		{"public", "hello #cats", nil, map[string]string{
			"": open, "author": "user, " + open, "booster": open, "follower": "user, " + open, "stranger": "list/LIST, " + open, "mentioned": open,
		}, false},
		{"with a picture", "look #cats", []string{"media_ids[]", "UPLOAD"}, map[string]string{
			"": media, "author": "user, " + media, "booster": media, "follower": "user, " + media, "stranger": "list/LIST, " + media, "mentioned": media,
		}, false},
		{"without a hashtag", "hello", nil, map[string]string{
			"": "public, public:local", "author": "user, public, public:local", "booster": "public, public:local",
			"follower": "user, public, public:local", "stranger": "list/LIST, public, public:local", "mentioned": "public, public:local",
		}, false},
		{"unlisted", "hello #cats", []string{"visibility", "unlisted"}, map[string]string{
			"author": "user", "follower": "user", "stranger": "list/LIST",
		}, false},
		{"local", "hello #cats", []string{"visibility", "local"}, map[string]string{
			"author": "user, public:local, hashtag/Cats, hashtag:local/cats", "booster": "public:local, hashtag/Cats, hashtag:local/cats",
			"follower": "user, public:local, hashtag/Cats, hashtag:local/cats", "stranger": "list/LIST, public:local, hashtag/Cats, hashtag:local/cats",
			"mentioned": "public:local, hashtag/Cats, hashtag:local/cats",
		}, false},
		{"private", "hello @mentioned #cats", []string{"visibility", "private"}, map[string]string{"author": "user", "follower": "user"}, true},
		{"direct", "psst @mentioned #cats", []string{"visibility", "direct"}, map[string]string{"author": "user, direct", "mentioned": "user, direct"}, true},
		{"list", "friends #cats", []string{"visibility", "list:" + list}, map[string]string{"author": "user", "mentioned": "user"}, false},
		{"naming whom the author blocks", "hello @blocked @mentioned", []string{"visibility", "unlisted"}, map[string]string{
			"author": "user", "follower": "user", "stranger": "list/LIST",
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for nick, streams := range tt.want {
				tt.want[nick] = strings.ReplaceAll(streams, "LIST", w.list)
			}
			for i, p := range tt.params {
				if p == "UPLOAD" {
					tt.params[i] = w.letUpload(w.author)
				}
			}
			posted := map[string]string{}
			for nick, streams := range tt.want {
				posted[nick] = streams
			}
			if tt.told {
				posted["mentioned"] = strings.Trim(mention+", "+posted["mentioned"], ", ")
			}
			id := w.author.publish(tt.text, tt.params...).id()
			w.want(t, "posting", "update", id, posted)
			edit := map[string]any{"status": "edited " + tt.text}
			if strings.Contains(tt.name, "picture") {
				edit["media_ids"] = []string{tt.params[1]}
			}
			w.author.edit(id, edit).want(200)
			w.want(t, "editing", "status.update", id, tt.want)
			w.author.do("DELETE", "/api/v1/statuses/"+id, "", nil).want(200)
			w.want(t, "deleting", "delete", id, tt.want)
		})
	}
}

// TestStreamedBoosts has posts boosted, and the boosts undone or deleted with what they boost.
func TestStreamedBoosts(t *testing.T) {
	w := newTown(t)
	st := w.author.publish("hello #cats").id()
	quiet := func() {
		for _, l := range w.listeners {
			l.heard()
		}
	}
	quiet()
	homes := map[string]string{"booster": "user", "follower": "user"}
	told := map[string]string{"booster": "user", "follower": "user", "author": "user: notification reblog, user:notification: notification reblog"}

	boost := w.booster.post("/api/v1/statuses/" + st + "/reblog").want(200).object().id()
	w.want(t, "boosting", "update", boost, told)
	w.booster.post("/api/v1/statuses/" + st + "/unreblog").want(200)
	w.want(t, "undoing a boost", "delete", boost, homes)

	boost = w.booster.post("/api/v1/statuses/" + st + "/reblog").want(200).object().id()
	w.want(t, "boosting again", "update", boost, told)
	w.follower.send("POST", "/api/v1/accounts/"+w.booster.id+"/follow", map[string]any{"reblogs": false}).want(200)
	second := w.author.publish("another").id()
	quiet()
	hidden := w.booster.post("/api/v1/statuses/" + second + "/reblog").want(200).object().id()
	w.want(t, "a boost by who is not to show any", "update", hidden, map[string]string{"booster": "user", "author": told["author"]})
	w.follower.send("POST", "/api/v1/accounts/"+w.booster.id+"/follow", map[string]any{"reblogs": true}).want(200)
	quiet()

	w.author.do("DELETE", "/api/v1/statuses/"+st, "", nil).want(200)
	for nick, want := range map[string][]string{
		"follower": {"user", "public", "public:local", "hashtag Cats", "hashtag:local cats", "user (boost)"}, "booster": {"public", "public:local", "hashtag Cats", "hashtag:local cats", "user (boost)"},
	} {
		got := []string{}
		for _, s := range w.listeners[nick].heard() {
			stream := strings.Join(s.Stream, " ")
			if s.Event == "delete" && *s.Payload == boost {
				stream += " (boost)"
			}
			got = append(got, stream)
		}
		if !slices.Equal(got, want) {
			t.Errorf("deleting what was boosted: %s heard %q, want %q", nick, got, want)
		}
	}
}

// TestStreamsLookNow changes what people want to see, and what they may see, after they have subscribed.
func TestStreamsLookNow(t *testing.T) {
	srv := startAPI(t)
	author, viewer, third := srv.signUp("author"), srv.signUp("viewer"), srv.signUp("third")
	list := srv.letList(viewer, author)
	viewer.to(author.id, "follow")
	l := srv.listen(viewer.caller, "stream", "user")
	l.subscribe("list", "list", list).subscribe("public").subscribe("user:notification")
	const seen = "user list public"
	root := author.publish("the thread begins").id()
	l.heard()
	post := func() (id string) { return author.publish("hello").id() }
	reply := func() string { return author.publish("more", "in_reply_to_id", root).id() }
	boost := func() string {
		return author.post("/api/v1/statuses/" + third.publish("of a third").id() + "/reblog").want(200).object().id()
	}
	for _, tt := range []struct {
		name     string
		do, undo func()
		deed     func() string
		want     string
	}{
		{"nothing", func() {}, func() {}, post, seen},
		{"a mute", func() { viewer.to(author.id, "mute") }, func() { viewer.to(author.id, "unmute") }, post, ""},
		{"a block", func() { srv.letBlock(viewer, author) }, func() { viewer.to(author.id, "unblock") }, post, ""},
		{"being blocked", func() { srv.letBlock(author, viewer) }, func() { author.to(viewer.id, "unblock") }, post, ""},
		{"a muted thread", func() { viewer.post("/api/v1/statuses/" + root + "/mute").want(200) },
			func() { viewer.post("/api/v1/statuses/" + root + "/unmute").want(200) }, reply, ""},
		{"a mute of who is boosted", func() { viewer.to(third.id, "mute") }, func() { viewer.to(third.id, "unmute") }, boost, ""},
		{"a block of who is boosted", func() { viewer.to(third.id, "block") }, func() { viewer.to(third.id, "unblock") }, boost, ""},
		{"a block of who is mentioned", func() { viewer.to(third.id, "block") }, func() { viewer.to(third.id, "unblock") },
			func() string { return author.publish("hello @third").id() }, ""},
		{"an exclusive list", func() { viewer.send("PUT", "/api/v1/lists/"+list, map[string]any{"exclusive": true}).want(200) },
			func() { viewer.send("PUT", "/api/v1/lists/"+list, map[string]any{"exclusive": false}).want(200) }, post, "list public"},
		{"a list without the author", func() { viewer.changeList("DELETE", list, author) }, func() { viewer.changeList("POST", list, author) }, post, "user public"},
		{"another language", func() {
			viewer.send("POST", "/api/v1/accounts/"+author.id+"/follow", map[string]any{"languages": []string{"de"}}).want(200)
		}, func() {
			viewer.send("POST", "/api/v1/accounts/"+author.id+"/follow", map[string]any{"languages": []string{}}).want(200)
		}, func() string { return author.publish("hello", "language", "en").id() }, "list public"},
		{"no follow", func() { viewer.to(author.id, "unfollow") }, func() { viewer.to(author.id, "follow") }, post, "list public"},
		{"a boost", func() {}, func() {}, boost, "user list"},
		{"a muted booster", func() { viewer.to(author.id, "mute") }, func() { viewer.to(author.id, "unmute") }, boost, ""},
		{"all as before", func() {}, func() {}, post, seen},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.do()
			l.heard()
			id := tt.deed()
			got := []string{}
			for _, s := range l.heard() {
				if s.Event == "update" && payloadID(s) == id {
					got = append(got, s.Stream[0])
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("heard on %v, want %q", got, tt.want)
			}
			tt.undo()
			l.heard()
		})
	}
}

// TestStreamedConversationIsLookedAtNow has a conversation leave its owner's list before the streams tell of what came into it.
func TestStreamedConversationIsLookedAtNow(t *testing.T) {
	srv := startAPI(t)
	author, viewer := srv.signUp("author"), srv.signUp("viewer")
	l := srv.listen(viewer.caller, "stream", "direct")
	author.publish("@viewer psst", "visibility", "direct")
	said := l.heard()
	var id store.DirectConversationID
	fmt.Sscan(viewer.get("/api/v1/conversations").want(200).list()[0].id(), &id)
	again := func() {
		t.Helper()
		err := srv.db.Update(t.Context(), func(tx *store.Tx) error {
			tx.Emit(store.ConversationChanged{AccountID: viewer.accountID(), ID: id})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	again()
	l.wantHeard("as before", fmt.Sprintf("direct: conversation %d", id))
	srv.letBlock(viewer, author)
	l.heard()
	again()
	l.wantHeard("after a block")
	if len(said) != 2 {
		t.Errorf("first heard %v", said)
	}
}

// TestStreamedInTime has posts published, and a poll ended, by their time: the streams of each tell what they may see at that moment, and
// what they voted themselves.
func TestStreamedInTime(t *testing.T) {
	srv := startAPI(t)
	author, voter, follower, other := srv.signUp("author"), srv.signUp("voter"), srv.signUp("follower"), srv.signUp("other")
	for _, m := range []*member{voter, follower, other} {
		m.to(author.id, "follow")
	}
	private := author.schedule("for followers", "visibility", "private").id()
	asked := author.ask([]string{"yes", "no"}, "hide_totals", "true")
	voter.vote(asked, 1).want(200)
	ears := map[string]*listener{"nobody": srv.listen(nil, "stream", "public").subscribe("public:local")}
	for _, m := range []*member{voter, follower, other} {
		ears[m.nick] = srv.listen(m.caller, "stream", "user").subscribe("public")
	}
	srv.letBlock(author, other) // which is after they have seen the question
	for _, l := range ears {
		l.heard()
	}
	srv.due(private)
	id := follower.get("/api/v1/timelines/home", "limit", "1").want(200).list()[0].id()
	ears["voter"].wantHeard("voter", "user: update "+id)
	ears["follower"].wantHeard("follower", "user: update "+id)
	ears["other"].wantHeard("who is blocked")
	ears["nobody"].wantHeard("nobody")

	srv.endPoll(asked)
	for nick, want := range map[string]string{"voter": "true [1]", "follower": "false []", "nobody": "<nil> <nil>"} {
		found := 0
		for _, s := range ears[nick].heard() {
			if s.Event != "status.update" || payloadID(s) != asked.id() {
				continue
			}
			found++
			var st struct {
				Poll map[string]any
			}
			if err := json.Unmarshal([]byte(*s.Payload), &st); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(st.Poll["voted"], " ", st.Poll["own_votes"]); got != want || st.Poll["expired"] != true {
				t.Errorf("%s: %s of %v, want %s", nick, got, st.Poll, want)
			}
		}
		if found != 2 {
			t.Errorf("%s heard of the end of the poll %d times, want once on each stream", nick, found)
		}
	}
	ears["other"].wantHeard("who is blocked, when the poll ends")
}

// TestStreamedStatusIsTheViewers looks at what is rendered for each.
func TestStreamedStatusIsTheViewers(t *testing.T) {
	srv := startAPI(t)
	author, fan, other := srv.signUp("author"), srv.signUp("fan"), srv.signUp("other")
	id := author.publish("hello").id()
	fan.post("/api/v1/statuses/" + id + "/favourite").want(200)
	fan.post("/api/v1/statuses/" + id + "/bookmark").want(200)
	for _, c := range []*caller{author.caller, fan.caller, other.caller, srv.as(nil)} {
		l := srv.listen(c, "stream", "public")
		author.edit(id, map[string]any{"status": fmt.Sprint("version for ", c.token)}).want(200)
		s := l.wait(func(s said) bool { return s.Event == "status.update" })
		if want := string(c.get("/api/v1/statuses/" + id).want(200).body); *s.Payload != want {
			t.Errorf("streamed is %s, want %s", *s.Payload, want)
		}
	}
}

// TestStreamedNotifications looks who hears of what is done to their posts and to them.
func TestStreamedNotifications(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	st := alice.publish("hello").id()
	l := srv.listen(alice.caller, "stream", "user")
	l.subscribe("user:notification")
	both := func(kind string) []string {
		return []string{"user: notification " + kind, "user:notification: notification " + kind}
	}
	bob.post("/api/v1/statuses/" + st + "/favourite").want(200)
	l.wantHeard("favouriting", both("favourite")...)
	bob.to(alice.id, "follow")
	l.wantHeard("following", both("follow")...)
	alice.to(bob.id, "mute")
	l.heard()
	bob.post("/api/v1/statuses/" + st + "/reblog").want(200)
	l.wantHeard("a deed by who is muted")
	alice.to(bob.id, "unmute")
	alice.post("/api/v1/statuses/" + st + "/mute").want(200)
	l.heard()
	bob.publish("@alice hello", "in_reply_to_id", st)
	l.wantHeard("a reply in a muted thread")
	bob.publish("@alice hello")
	got := l.heard()
	if len(got) != 2 || got[0].Event != "notification" {
		t.Fatalf("heard %v", got)
	}
	n := alice.get("/api/v1/notifications", "limit", "1").want(200).list()[0]
	var streamed any
	if err := json.Unmarshal([]byte(*got[0].Payload), &streamed); err != nil || fmt.Sprint(streamed) != fmt.Sprint(any(n.m)) {
		t.Errorf("streamed is %v, want %v", streamed, n.m)
	}
	for _, fault := range misshapen("it", streamed, "Notification") {
		t.Error(fault)
	}
	// What is listed only on request is no news either.
	err := srv.db.Update(t.Context(), func(tx *store.Tx) error {
		n := &store.Notification{AccountID: alice.accountID(), Type: store.NotifyReport, FromID: bob.accountID()}
		_, err := tx.AddNotification(t.Context(), n)
		tx.Emit(store.Notified{Notification: n})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	l.wantHeard("a report")
	wantIDs(t, "the list without the report", alice.get("/api/v1/notifications", "limit", "1"), n.id())
}

// TestStreamedFollows looks at what a follower hears of a follow.
func TestStreamedFollows(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	l, other := srv.listen(alice.caller, "stream", "user"), srv.listen(bob.caller, "stream", "user")
	update := func(what, want string) {
		t.Helper()
		got := l.heard()
		if len(got) != 1 || got[0].Event != "svc:follow_relationships_update" {
			t.Fatalf("%s: heard %v", what, got)
		}
		if *got[0].Payload != want {
			t.Errorf("%s: heard %s, want %s", what, *got[0].Payload, want)
		}
	}
	payload := func(state string, following, followers int) string {
		return fmt.Sprintf(`{"state":%q,"follower":{"id":%q,"follower_count":0,"following_count":%d},"following":{"id":%q,"follower_count":%d,"following_count":0}}`,
			state, alice.id, following, bob.id, followers)
	}
	alice.to(bob.id, "follow")
	update("following", payload("follow_accept", 1, 1))
	other.wantHeard("being followed", "user: notification follow")
	alice.to(bob.id, "unfollow")
	l.wantHeard("ending it oneself")
	bob.update(map[string]any{"locked": true})
	alice.to(bob.id, "follow")
	update("asking", payload("follow_pending", 0, 0))
	bob.post("/api/v1/follow_requests/" + alice.id + "/reject").want(200)
	update("being rejected", payload("follow_reject", 0, 0))
	alice.to(bob.id, "follow")
	update("asking again", payload("follow_pending", 0, 0))
	bob.update(map[string]any{"hide_followers": true})
	bob.post("/api/v1/follow_requests/" + alice.id + "/authorize").want(200)
	update("being let", payload("follow_accept", 1, 0))
	bob.to(alice.id, "remove_from_followers")
	update("being removed", payload("follow_reject", 0, 0))
}

// TestStreamedOwnThings has events made that are one account's, and looks where they are heard.
func TestStreamedOwnThings(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	all := []string{"user", "user:notification", "user:svc_chat", "direct"}
	listeners := map[*member]*listener{}
	for _, m := range []*member{alice, bob} {
		l := srv.listen(m.caller)
		for _, stream := range all {
			l.subscribe(stream)
		}
		listeners[m] = l
	}
	narrow := srv.listen(srv.newToken(alice, "read:statuses"), "stream", "user")
	filter := func() {
		alice.post("/api/v1/filters", "phrase", "nonsense", "context[]", "home").want(200)
	}
	filter()
	listeners[alice].wantHeard("a filter", "user: filters_changed", "user:notification: filters_changed")
	listeners[bob].wantHeard("a filter of another")

	direct := bob.publish("@alice psst", "visibility", "direct").id()
	talks := map[*member]string{alice: alice.get("/api/v1/conversations").ids()[0], bob: bob.get("/api/v1/conversations").ids()[0]}
	listeners[alice].wantHeard("a direct post", "user: notification mention", "user:notification: notification mention",
		"user: update "+direct, "direct: update "+direct, "direct: conversation "+talks[alice])
	listeners[bob].wantHeard("a direct post of one's own", "user: update "+direct, "direct: update "+direct, "direct: conversation "+talks[bob])

	chat := bob.post("/api/v1/svc/chats/by-account-id/" + alice.id).want(200).object().id()
	bob.post("/api/v1/svc/chats/"+chat+"/messages", "content", "hello").want(200)
	hers := alice.get("/api/v1/svc/chats").ids()[0]
	listeners[alice].wantHeard("a message", "user: svc:chat_update "+hers, "user:svc_chat: svc:chat_update "+hers)
	listeners[bob].wantHeard("a message of one's own", "user: svc:chat_update "+chat, "user:svc_chat: svc:chat_update "+chat)

	narrow.heard()
	filter()
	narrow.wantHeard("without scopes for chats and notifications", "user: filters_changed")
	bob.post("/api/v1/svc/chats/"+chat+"/messages", "content", "hello").want(200)
	bob.publish("@alice hello", "visibility", "unlisted")
	narrow.wantHeard("a notification without its scope")
}

// TestStreamedAnnouncements has the staff announce something.
func TestStreamedAnnouncements(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	user, others := srv.listen(alice.caller, "stream", "user"), srv.listen(bob.caller, "stream", "public")
	later := store.At(srv.db.Now().Add(time.Hour))
	now, then := &store.Announcement{Text: "now", Content: "<p>now</p>"}, &store.Announcement{Text: "then", Content: "<p>then</p>", StartsAt: &later}
	err := srv.db.Update(t.Context(), func(tx *store.Tx) error {
		return errors.Join(tx.AddAnnouncement(t.Context(), now), tx.AddAnnouncement(t.Context(), then))
	})
	if err != nil {
		t.Fatal(err)
	}
	user.wantHeard("what is announced now", "user: announcement "+now.ID.String())
	if err := srv.db.Update(t.Context(), func(tx *store.Tx) error { return tx.DeleteAnnouncement(t.Context(), now.ID) }); err != nil {
		t.Fatal(err)
	}
	user.wantHeard("what is no longer announced", "user: announcement.delete "+now.ID.String())
	others.wantHeard("announcements elsewhere than on user")
}

// TestStreamsHideWhatFiltersHide: what a filter keeps from home is not in the stream of it either, and elsewhere it is marked.
func TestStreamsHideWhatFiltersHide(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	alice.to(bob.id, "follow")
	for word, action := range map[string]string{"secret": "hide", "boring": "warn"} {
		alice.send("POST", "/api/v2/filters", map[string]any{
			"title": word, "context": []string{"home", "notifications"}, "filter_action": action, "keywords_attributes": []any{map[string]any{"keyword": word}},
		}).want(200)
	}
	l := srv.listen(alice.caller, "stream", "user").subscribe("public")
	hidden := bob.publish("a secret @alice").id()
	l.wantHeard("what is hidden", "public: update "+hidden)
	warned := bob.publish("a boring one").id()
	for _, s := range l.heard() {
		if !strings.Contains(*s.Payload, `"keyword_matches":["boring"]`) || payloadID(s) != warned {
			t.Errorf("heard %s", *s.Payload)
		}
	}
}

// TestStreamedRemote looks at the streams of what is from elsewhere.
func TestStreamedRemote(t *testing.T) {
	srv := startAPI(t)
	viewer := srv.signUp("viewer")
	l := srv.listen(nil)
	for _, stream := range []string{"public", "public:local", "public:remote", "public:remote:media", "public:media"} {
		l.subscribe(stream)
	}
	l.subscribe("public:remote", "instance", "Far.example").subscribe("public:remote", "instance", "other.example")
	l.subscribe("hashtag", "tag", "#Far").subscribe("hashtag:local", "tag", "far")
	l.subscribe("public:remote:media", "instance", "far.example")
	mine := srv.listen(viewer.caller, "stream", "public:remote")
	var author store.AccountID
	author.UnmarshalText([]byte(srv.remote("stranger", "far.example")))
	add := func(media bool) {
		t.Helper()
		err := srv.db.Update(t.Context(), func(tx *store.Tx) error {
			st := &store.Status{ID: tx.NewStatusID(), AccountID: author, Domain: "far.example", HasMedia: media, Content: "far"}
			st.URI = "https://far.example/" + st.ID.String()
			if err := tx.AddStatus(context.Background(), st); err != nil {
				return err
			}
			tx.Emit(store.StatusPosted{Status: st})
			return tx.AddTags(context.Background(), st.ID, []string{"far"})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	streams := func(l *listener) (names []string) {
		for _, s := range l.heard() {
			names = append(names, strings.Join(s.Stream, "/"))
		}
		return names
	}
	add(false)
	if got, want := fmt.Sprint(streams(l)), "[public public:remote public:remote/Far.example hashtag/#Far]"; got != want {
		t.Errorf("heard %s, want %s", got, want)
	}
	add(true)
	want := "[public public:media public:remote public:remote:media public:remote/Far.example public:remote:media/far.example hashtag/#Far]"
	if got := fmt.Sprint(streams(l)); got != want {
		t.Errorf("heard %s, want %s", got, want)
	}
	mine.heard()
	viewer.post("/api/v1/domain_blocks", "domain", "far.example").want(200)
	add(false)
	if got := streams(mine); len(got) > 0 {
		t.Errorf("heard %v of a blocked domain", got)
	}
}

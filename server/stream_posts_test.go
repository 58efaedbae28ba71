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

	"svc/app/apptest"
	"svc/store"
)

// town is people of all kinds around one author, each with a socket that listens to all they can.
type town struct {
	*apptest.Server
	author, booster, follower, stranger, muter, blocked, mentioned *apptest.User

	listeners map[string]*apptest.StreamClient // by nickname; "" is the anonymous
	list      string                           // of the stranger, with the author
}

func newTown(t *testing.T) *town {
	srv := apptest.Start(t)
	w := &town{Server: srv, listeners: map[string]*apptest.StreamClient{}}
	for nick, m := range map[string]**apptest.User{
		"author": &w.author, "booster": &w.booster, "follower": &w.follower, "stranger": &w.stranger, "muter": &w.muter,
		"blocked": &w.blocked, "mentioned": &w.mentioned,
	} {
		*m = srv.SignUp(nick)
	}
	w.follower.AccountAction(w.author.ID, "follow")
	w.follower.AccountAction(w.booster.ID, "follow")
	w.muter.AccountAction(w.author.ID, "follow")
	w.muter.AccountAction(w.author.ID, "mute")
	w.author.AccountAction(w.blocked.ID, "block")
	w.list = srv.AddList(w.stranger, w.author)
	for _, m := range []*apptest.User{nil, w.author, w.booster, w.follower, w.stranger, w.muter, w.blocked, w.mentioned} {
		nick, l := "", srv.OpenStream(srv.As(m))
		if m != nil {
			nick = m.Nickname
			l.Subscribe("user").Subscribe("user:notification").Subscribe("direct")
		}
		if m == w.stranger {
			l.Subscribe("list", "list", w.list)
		}
		for _, open := range []string{"public", "public:media", "public:local", "public:local:media", "public:remote", "public:remote:media"} {
			l.Subscribe(open)
		}
		l.Subscribe("hashtag", "tag", "Cats").Subscribe("hashtag:local", "tag", "cats")
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
		for _, s := range l.Events() {
			stream := strings.Join(s.Stream, "/")
			switch {
			case s.Event == event && (event == "delete" && *s.Payload == id || event != "delete" && PayloadID(s) == id):
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

func PayloadID(s apptest.StreamEvent) string {
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
	list := w.AddList(w.author, w.mentioned)
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
					tt.params[i] = w.AddMedia(w.author)
				}
			}
			posted := map[string]string{}
			for nick, streams := range tt.want {
				posted[nick] = streams
			}
			if tt.told {
				posted["mentioned"] = strings.Trim(mention+", "+posted["mentioned"], ", ")
			}
			id := w.author.Publish(tt.text, tt.params...).ID()
			w.want(t, "posting", "update", id, posted)
			edit := map[string]any{"status": "edited " + tt.text}
			if strings.Contains(tt.name, "picture") {
				edit["media_ids"] = []string{tt.params[1]}
			}
			w.author.EditStatus(id, edit).Want(200)
			w.want(t, "editing", "status.update", id, tt.want)
			w.author.Do("DELETE", "/api/v1/statuses/"+id, "", nil).Want(200)
			w.want(t, "deleting", "delete", id, tt.want)
		})
	}
}

// TestStreamedBoosts has posts boosted, and the boosts undone or deleted with what they boost.
func TestStreamedBoosts(t *testing.T) {
	w := newTown(t)
	st := w.author.Publish("hello #cats").ID()
	quiet := func() {
		for _, l := range w.listeners {
			l.Events()
		}
	}
	quiet()
	homes := map[string]string{"booster": "user", "follower": "user"}
	told := map[string]string{"booster": "user", "follower": "user", "author": "user: notification reblog, user:notification: notification reblog"}

	boost := w.booster.Post("/api/v1/statuses/" + st + "/reblog").Want(200).Object().ID()
	w.want(t, "boosting", "update", boost, told)
	w.booster.Post("/api/v1/statuses/" + st + "/unreblog").Want(200)
	w.want(t, "undoing a boost", "delete", boost, homes)

	boost = w.booster.Post("/api/v1/statuses/" + st + "/reblog").Want(200).Object().ID()
	w.want(t, "boosting again", "update", boost, told)
	w.follower.SendJSON("POST", "/api/v1/accounts/"+w.booster.ID+"/follow", map[string]any{"reblogs": false}).Want(200)
	second := w.author.Publish("another").ID()
	quiet()
	hidden := w.booster.Post("/api/v1/statuses/" + second + "/reblog").Want(200).Object().ID()
	w.want(t, "a boost by who is not to show any", "update", hidden, map[string]string{"booster": "user", "author": told["author"]})
	w.follower.SendJSON("POST", "/api/v1/accounts/"+w.booster.ID+"/follow", map[string]any{"reblogs": true}).Want(200)
	quiet()

	w.author.Do("DELETE", "/api/v1/statuses/"+st, "", nil).Want(200)
	for nick, want := range map[string][]string{
		"follower": {"user", "public", "public:local", "hashtag Cats", "hashtag:local cats", "user (boost)"}, "booster": {"public", "public:local", "hashtag Cats", "hashtag:local cats", "user (boost)"},
	} {
		got := []string{}
		for _, s := range w.listeners[nick].Events() {
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
	srv := apptest.Start(t)
	author, viewer, third := srv.SignUp("author"), srv.SignUp("viewer"), srv.SignUp("third")
	list := srv.AddList(viewer, author)
	viewer.AccountAction(author.ID, "follow")
	l := srv.OpenStream(viewer.Client, "stream", "user")
	l.Subscribe("list", "list", list).Subscribe("public").Subscribe("user:notification")
	const seen = "user list public"
	root := author.Publish("the thread begins").ID()
	l.Events()
	post := func() (id string) { return author.Publish("hello").ID() }
	reply := func() string { return author.Publish("more", "in_reply_to_id", root).ID() }
	boost := func() string {
		return author.Post("/api/v1/statuses/" + third.Publish("of a third").ID() + "/reblog").Want(200).Object().ID()
	}
	for _, tt := range []struct {
		name     string
		do, undo func()
		deed     func() string
		want     string
	}{
		{"nothing", func() {}, func() {}, post, seen},
		{"a mute", func() { viewer.AccountAction(author.ID, "mute") }, func() { viewer.AccountAction(author.ID, "unmute") }, post, ""},
		{"a block", func() { srv.AddBlock(viewer, author) }, func() { viewer.AccountAction(author.ID, "unblock") }, post, ""},
		{"being blocked", func() { srv.AddBlock(author, viewer) }, func() { author.AccountAction(viewer.ID, "unblock") }, post, ""},
		{"a muted thread", func() { viewer.Post("/api/v1/statuses/" + root + "/mute").Want(200) },
			func() { viewer.Post("/api/v1/statuses/" + root + "/unmute").Want(200) }, reply, ""},
		{"a mute of who is boosted", func() { viewer.AccountAction(third.ID, "mute") }, func() { viewer.AccountAction(third.ID, "unmute") }, boost, ""},
		{"a block of who is boosted", func() { viewer.AccountAction(third.ID, "block") }, func() { viewer.AccountAction(third.ID, "unblock") }, boost, ""},
		{"a block of who is mentioned", func() { viewer.AccountAction(third.ID, "block") }, func() { viewer.AccountAction(third.ID, "unblock") },
			func() string { return author.Publish("hello @third").ID() }, ""},
		{"an exclusive list", func() { viewer.SendJSON("PUT", "/api/v1/lists/"+list, map[string]any{"exclusive": true}).Want(200) },
			func() { viewer.SendJSON("PUT", "/api/v1/lists/"+list, map[string]any{"exclusive": false}).Want(200) }, post, "list public"},
		{"a list without the author", func() { viewer.ChangeList("DELETE", list, author) }, func() { viewer.ChangeList("POST", list, author) }, post, "user public"},
		{"another language", func() {
			viewer.SendJSON("POST", "/api/v1/accounts/"+author.ID+"/follow", map[string]any{"languages": []string{"de"}}).Want(200)
		}, func() {
			viewer.SendJSON("POST", "/api/v1/accounts/"+author.ID+"/follow", map[string]any{"languages": []string{}}).Want(200)
		}, func() string { return author.Publish("hello", "language", "en").ID() }, "list public"},
		{"no follow", func() { viewer.AccountAction(author.ID, "unfollow") }, func() { viewer.AccountAction(author.ID, "follow") }, post, "list public"},
		{"a boost", func() {}, func() {}, boost, "user list"},
		{"a muted booster", func() { viewer.AccountAction(author.ID, "mute") }, func() { viewer.AccountAction(author.ID, "unmute") }, boost, ""},
		{"all as before", func() {}, func() {}, post, seen},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.do()
			l.Events()
			id := tt.deed()
			got := []string{}
			for _, s := range l.Events() {
				if s.Event == "update" && PayloadID(s) == id {
					got = append(got, s.Stream[0])
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("heard on %v, want %q", got, tt.want)
			}
			tt.undo()
			l.Events()
		})
	}
}

// TestStreamedConversationIsLookedAtNow has a conversation leave its owner's list before the streams tell of what came into it.
func TestStreamedConversationIsLookedAtNow(t *testing.T) {
	srv := apptest.Start(t)
	author, viewer := srv.SignUp("author"), srv.SignUp("viewer")
	l := srv.OpenStream(viewer.Client, "stream", "direct")
	author.Publish("@viewer psst", "visibility", "direct")
	said := l.Events()
	var id store.DirectConversationID
	fmt.Sscan(viewer.Get("/api/v1/conversations").Want(200).List()[0].ID(), &id)
	again := func() {
		t.Helper()
		err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
			tx.Emit(store.ConversationChanged{AccountID: viewer.AccountID(), ID: id})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	again()
	l.WantEvents("as before", fmt.Sprintf("direct: conversation %d", id))
	srv.AddBlock(viewer, author)
	l.Events()
	again()
	l.WantEvents("after a block")
	if len(said) != 2 {
		t.Errorf("first heard %v", said)
	}
}

// TestStreamedInTime has posts published, and a poll ended, by their time: the streams of each tell what they may see at that moment, and
// what they voted themselves.
func TestStreamedInTime(t *testing.T) {
	srv := apptest.Start(t)
	author, voter, follower, other := srv.SignUp("author"), srv.SignUp("voter"), srv.SignUp("follower"), srv.SignUp("other")
	for _, m := range []*apptest.User{voter, follower, other} {
		m.AccountAction(author.ID, "follow")
	}
	private := author.Schedule("for followers", "visibility", "private").ID()
	asked := author.PublishPoll([]string{"yes", "no"}, "hide_totals", "true")
	voter.Vote(asked, 1).Want(200)
	ears := map[string]*apptest.StreamClient{"nobody": srv.OpenStream(nil, "stream", "public").Subscribe("public:local")}
	for _, m := range []*apptest.User{voter, follower, other} {
		ears[m.Nickname] = srv.OpenStream(m.Client, "stream", "user").Subscribe("public")
	}
	srv.AddBlock(author, other) // which is after they have seen the question
	for _, l := range ears {
		l.Events()
	}
	srv.MakeDue(private)
	id := follower.Get("/api/v1/timelines/home", "limit", "1").Want(200).List()[0].ID()
	ears["voter"].WantEvents("voter", "user: update "+id)
	ears["follower"].WantEvents("follower", "user: update "+id)
	ears["other"].WantEvents("who is blocked")
	ears["nobody"].WantEvents("nobody")

	srv.EndPoll(asked)
	for nick, want := range map[string]string{"voter": "true [1]", "follower": "false []", "nobody": "<nil> <nil>"} {
		found := 0
		for _, s := range ears[nick].Events() {
			if s.Event != "status.update" || PayloadID(s) != asked.ID() {
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
	ears["other"].WantEvents("who is blocked, when the poll ends")
}

// TestStreamedStatusIsTheViewers looks at what is rendered for each.
func TestStreamedStatusIsTheViewers(t *testing.T) {
	srv := apptest.Start(t)
	author, fan, other := srv.SignUp("author"), srv.SignUp("fan"), srv.SignUp("other")
	id := author.Publish("hello").ID()
	fan.Post("/api/v1/statuses/" + id + "/favourite").Want(200)
	fan.Post("/api/v1/statuses/" + id + "/bookmark").Want(200)
	for _, c := range []*apptest.Client{author.Client, fan.Client, other.Client, srv.As(nil)} {
		l := srv.OpenStream(c, "stream", "public")
		author.EditStatus(id, map[string]any{"status": fmt.Sprint("version for ", c.Token)}).Want(200)
		s := l.WaitFor(func(s apptest.StreamEvent) bool { return s.Event == "status.update" })
		if want := string(c.Get("/api/v1/statuses/" + id).Want(200).Body); *s.Payload != want {
			t.Errorf("streamed is %s, want %s", *s.Payload, want)
		}
	}
}

// TestStreamedNotifications looks who hears of what is done to their posts and to them.
func TestStreamedNotifications(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	st := alice.Publish("hello").ID()
	l := srv.OpenStream(alice.Client, "stream", "user")
	l.Subscribe("user:notification")
	both := func(kind string) []string {
		return []string{"user: notification " + kind, "user:notification: notification " + kind}
	}
	bob.Post("/api/v1/statuses/" + st + "/favourite").Want(200)
	l.WantEvents("favouriting", both("favourite")...)
	bob.AccountAction(alice.ID, "follow")
	l.WantEvents("following", both("follow")...)
	alice.AccountAction(bob.ID, "mute")
	l.Events()
	bob.Post("/api/v1/statuses/" + st + "/reblog").Want(200)
	l.WantEvents("a deed by who is muted")
	alice.AccountAction(bob.ID, "unmute")
	alice.Post("/api/v1/statuses/" + st + "/mute").Want(200)
	l.Events()
	bob.Publish("@alice hello", "in_reply_to_id", st)
	l.WantEvents("a reply in a muted thread")
	bob.Publish("@alice hello")
	got := l.Events()
	if len(got) != 2 || got[0].Event != "notification" {
		t.Fatalf("heard %v", got)
	}
	n := alice.Get("/api/v1/notifications", "limit", "1").Want(200).List()[0]
	var streamed any
	if err := json.Unmarshal([]byte(*got[0].Payload), &streamed); err != nil || fmt.Sprint(streamed) != fmt.Sprint(any(n.Fields)) {
		t.Errorf("streamed is %v, want %v", streamed, n.Fields)
	}
	for _, fault := range shapeFaults("it", streamed, "Notification") {
		t.Error(fault)
	}
	// What is listed only on request is no news either.
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		n := &store.Notification{AccountID: alice.AccountID(), Type: store.NotifyReport, FromID: bob.AccountID()}
		_, err := tx.AddNotification(t.Context(), n)
		tx.Emit(store.NotificationAdded{Notification: n})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	l.WantEvents("a report")
	apptest.WantIDs(t, "the list without the report", alice.Get("/api/v1/notifications", "limit", "1"), n.ID())
}

// TestStreamedFollows looks at what a follower hears of a follow.
func TestStreamedFollows(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	l, other := srv.OpenStream(alice.Client, "stream", "user"), srv.OpenStream(bob.Client, "stream", "user")
	update := func(what, want string) {
		t.Helper()
		got := l.Events()
		if len(got) != 1 || got[0].Event != "svc:follow_relationships_update" {
			t.Fatalf("%s: heard %v", what, got)
		}
		if *got[0].Payload != want {
			t.Errorf("%s: heard %s, want %s", what, *got[0].Payload, want)
		}
	}
	payload := func(state string, following, followers int) string {
		return fmt.Sprintf(`{"state":%q,"follower":{"id":%q,"follower_count":0,"following_count":%d},"following":{"id":%q,"follower_count":%d,"following_count":0}}`,
			state, alice.ID, following, bob.ID, followers)
	}
	alice.AccountAction(bob.ID, "follow")
	update("following", payload("follow_accept", 1, 1))
	other.WantEvents("being followed", "user: notification follow")
	alice.AccountAction(bob.ID, "unfollow")
	l.WantEvents("ending it oneself")
	bob.UpdateProfile(map[string]any{"locked": true})
	alice.AccountAction(bob.ID, "follow")
	update("asking", payload("follow_pending", 0, 0))
	bob.Post("/api/v1/follow_requests/" + alice.ID + "/reject").Want(200)
	update("being rejected", payload("follow_reject", 0, 0))
	alice.AccountAction(bob.ID, "follow")
	update("asking again", payload("follow_pending", 0, 0))
	bob.UpdateProfile(map[string]any{"hide_followers": true})
	bob.Post("/api/v1/follow_requests/" + alice.ID + "/authorize").Want(200)
	update("being let", payload("follow_accept", 1, 0))
	bob.AccountAction(alice.ID, "remove_from_followers")
	update("being removed", payload("follow_reject", 0, 0))
}

// TestStreamedOwnThings has events made that are one account's, and looks where they are heard.
func TestStreamedOwnThings(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	all := []string{"user", "user:notification", "user:svc_chat", "direct"}
	listeners := map[*apptest.User]*apptest.StreamClient{}
	for _, m := range []*apptest.User{alice, bob} {
		l := srv.OpenStream(m.Client)
		for _, stream := range all {
			l.Subscribe(stream)
		}
		listeners[m] = l
	}
	narrow := srv.OpenStream(srv.NewToken(alice, "read:statuses"), "stream", "user")
	filter := func() {
		alice.Post("/api/v1/filters", "phrase", "nonsense", "context[]", "home").Want(200)
	}
	filter()
	listeners[alice].WantEvents("a filter", "user: filters_changed", "user:notification: filters_changed")
	listeners[bob].WantEvents("a filter of another")

	direct := bob.Publish("@alice psst", "visibility", "direct").ID()
	talks := map[*apptest.User]string{alice: alice.Get("/api/v1/conversations").IDs()[0], bob: bob.Get("/api/v1/conversations").IDs()[0]}
	listeners[alice].WantEvents("a direct post", "user: notification mention", "user:notification: notification mention",
		"user: update "+direct, "direct: update "+direct, "direct: conversation "+talks[alice])
	listeners[bob].WantEvents("a direct post of one's own", "user: update "+direct, "direct: update "+direct, "direct: conversation "+talks[bob])

	chat := bob.Post("/api/v1/svc/chats/by-account-id/" + alice.ID).Want(200).Object().ID()
	bob.Post("/api/v1/svc/chats/"+chat+"/messages", "content", "hello").Want(200)
	hers := alice.Get("/api/v1/svc/chats").IDs()[0]
	listeners[alice].WantEvents("a message", "user: svc:chat_update "+hers, "user:svc_chat: svc:chat_update "+hers)
	listeners[bob].WantEvents("a message of one's own", "user: svc:chat_update "+chat, "user:svc_chat: svc:chat_update "+chat)

	narrow.Events()
	filter()
	narrow.WantEvents("without scopes for chats and notifications", "user: filters_changed")
	bob.Post("/api/v1/svc/chats/"+chat+"/messages", "content", "hello").Want(200)
	bob.Publish("@alice hello", "visibility", "unlisted")
	narrow.WantEvents("a notification without its scope")
}

// TestStreamedAnnouncements has the staff announce something.
func TestStreamedAnnouncements(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	user, others := srv.OpenStream(alice.Client, "stream", "user"), srv.OpenStream(bob.Client, "stream", "public")
	later := store.At(srv.DB.Now().Add(time.Hour))
	now, then := &store.Announcement{Text: "now", Content: "<p>now</p>"}, &store.Announcement{Text: "then", Content: "<p>then</p>", StartsAt: &later}
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		return errors.Join(tx.AddAnnouncement(t.Context(), now), tx.AddAnnouncement(t.Context(), then))
	})
	if err != nil {
		t.Fatal(err)
	}
	user.WantEvents("what is announced now", "user: announcement "+now.ID.String())
	if err := srv.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.DeleteAnnouncement(t.Context(), now.ID) }); err != nil {
		t.Fatal(err)
	}
	user.WantEvents("what is no longer announced", "user: announcement.delete "+now.ID.String())
	others.WantEvents("announcements elsewhere than on user")
}

// TestStreamsHideWhatFiltersHide: what a filter keeps from home is not in the stream of it either, and elsewhere it is marked.
func TestStreamsHideWhatFiltersHide(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	alice.AccountAction(bob.ID, "follow")
	for word, action := range map[string]string{"secret": "hide", "boring": "warn"} {
		alice.SendJSON("POST", "/api/v2/filters", map[string]any{
			"title": word, "context": []string{"home", "notifications"}, "filter_action": action, "keywords_attributes": []any{map[string]any{"keyword": word}},
		}).Want(200)
	}
	l := srv.OpenStream(alice.Client, "stream", "user").Subscribe("public")
	hidden := bob.Publish("a secret @alice").ID()
	l.WantEvents("what is hidden", "public: update "+hidden)
	warned := bob.Publish("a boring one").ID()
	for _, s := range l.Events() {
		if !strings.Contains(*s.Payload, `"keyword_matches":["boring"]`) || PayloadID(s) != warned {
			t.Errorf("heard %s", *s.Payload)
		}
	}
}

// TestStreamedRemote looks at the streams of what is from elsewhere.
func TestStreamedRemote(t *testing.T) {
	srv := apptest.Start(t)
	viewer := srv.SignUp("viewer")
	l := srv.OpenStream(nil)
	for _, stream := range []string{"public", "public:local", "public:remote", "public:remote:media", "public:media"} {
		l.Subscribe(stream)
	}
	l.Subscribe("public:remote", "instance", "Far.example").Subscribe("public:remote", "instance", "other.example")
	l.Subscribe("hashtag", "tag", "#Far").Subscribe("hashtag:local", "tag", "far")
	l.Subscribe("public:remote:media", "instance", "far.example")
	mine := srv.OpenStream(viewer.Client, "stream", "public:remote")
	var author store.AccountID
	author.UnmarshalText([]byte(srv.AddRemoteAccount("stranger", "far.example")))
	add := func(media bool) {
		t.Helper()
		err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
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
	streams := func(l *apptest.StreamClient) (names []string) {
		for _, s := range l.Events() {
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
	mine.Events()
	viewer.Post("/api/v1/domain_blocks", "domain", "far.example").Want(200)
	add(false)
	if got := streams(mine); len(got) > 0 {
		t.Errorf("heard %v of a blocked domain", got)
	}
}

package stream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/store"
)

// audience has accounts in all relations to one author, each with a socket that subscribes to every stream.
type audience struct {
	*apptest.Server
	author, booster, follower, lister, muter, blocked, mentioned *apptest.User

	streams map[string]*apptest.StreamClient // by nickname; "": anonymous
	list    string                           // of lister, with the author
}

func newAudience(t *testing.T) *audience {
	srv := apptest.Start(t)
	w := &audience{Server: srv, streams: map[string]*apptest.StreamClient{}}
	for nick, m := range map[string]**apptest.User{
		"author": &w.author, "booster": &w.booster, "follower": &w.follower, "lister": &w.lister, "muter": &w.muter,
		"blocked": &w.blocked, "mentioned": &w.mentioned,
	} {
		*m = srv.SignUp(nick)
	}
	w.follower.AccountAction(w.author.ID, "follow")
	w.follower.AccountAction(w.booster.ID, "follow")
	w.muter.AccountAction(w.author.ID, "follow")
	w.muter.AccountAction(w.author.ID, "mute")
	w.author.AccountAction(w.blocked.ID, "block")
	w.list = srv.AddList(w.lister, w.author)
	for _, m := range []*apptest.User{nil, w.author, w.booster, w.follower, w.lister, w.muter, w.blocked, w.mentioned} {
		nick, l := "", srv.OpenStream(srv.As(m))
		if m != nil {
			nick = m.Nickname
			l.Subscribe("user").Subscribe("user:notification").Subscribe("direct")
		}
		if m == w.lister {
			l.Subscribe("list", "list", w.list)
		}
		for _, open := range []string{"public", "public:media", "public:local", "public:local:media", "public:remote", "public:remote:media"} {
			l.Subscribe(open)
		}
		l.Subscribe("hashtag", "tag", "Cats").Subscribe("hashtag:local", "tag", "cats")
		w.streams[nick] = l
	}
	return w
}

// want checks the events since the last call. want lists them by nickname: the streams of the given event about the status, and
// notifications in their short form. Any other event but those of conversations is an error.
func (w *audience) want(t *testing.T, what, event, id string, want map[string]string) {
	t.Helper()
	for nick, l := range w.streams {
		got := []string{}
		for _, s := range l.Events() {
			stream := strings.Join(s.Stream, "/")
			switch {
			case s.Event == event && (event == "delete" && *s.Payload == id || event != "delete" && payloadID(s) == id):
				got = append(got, stream)
			case s.Event == "notification":
				got = append(got, s.String())
			case s.Event == "conversation": // see TestAccountEvents
			default:
				got = append(got, s.String()+"?")
			}
		}
		if text := strings.Join(got, ", "); text != want[nick] {
			t.Errorf("%s: %q got %q, want %q", what, nick, text, want[nick])
		}
	}
}

// payloadID returns the id of the entity in an event.
func payloadID(s apptest.StreamEvent) string {
	var v struct{ ID string }
	json.Unmarshal([]byte(*s.Payload), &v)
	return v.ID
}

// TestStatusEvents posts, edits and deletes statuses of each visibility, and checks which accounts get the events on which streams.
func TestStatusEvents(t *testing.T) {
	w := newAudience(t)
	const open = "public, public:local, hashtag/Cats, hashtag:local/cats"
	const media = "public, public:media, public:local, public:local:media, hashtag/Cats, hashtag:local/cats"
	mention := "user: notification mention, user:notification: notification mention"
	list := w.AddList(w.author, w.mentioned)
	for _, tt := range []struct {
		name   string
		text   string
		params []string
		want   map[string]string
		notify bool // mentioned gets a notification
	}{
		{"public", "hello #cats", nil, map[string]string{
			"": open, "author": "user, " + open, "booster": open, "follower": "user, " + open, "lister": "list/LIST, " + open, "mentioned": open,
		}, false},
		{"with a picture", "look #cats", []string{"media_ids[]", "UPLOAD"}, map[string]string{
			"": media, "author": "user, " + media, "booster": media, "follower": "user, " + media, "lister": "list/LIST, " + media, "mentioned": media,
		}, false},
		{"without a hashtag", "hello", nil, map[string]string{
			"": "public, public:local", "author": "user, public, public:local", "booster": "public, public:local",
			"follower": "user, public, public:local", "lister": "list/LIST, public, public:local", "mentioned": "public, public:local",
		}, false},
		{"unlisted", "hello #cats", []string{"visibility", "unlisted"}, map[string]string{
			"author": "user", "follower": "user", "lister": "list/LIST",
		}, false},
		{"local", "hello #cats", []string{"visibility", "local"}, map[string]string{
			"author": "user, public:local, hashtag/Cats, hashtag:local/cats", "booster": "public:local, hashtag/Cats, hashtag:local/cats",
			"follower": "user, public:local, hashtag/Cats, hashtag:local/cats", "lister": "list/LIST, public:local, hashtag/Cats, hashtag:local/cats",
			"mentioned": "public:local, hashtag/Cats, hashtag:local/cats",
		}, false},
		{"private", "hello @mentioned #cats", []string{"visibility", "private"}, map[string]string{"author": "user", "follower": "user"}, true},
		{"direct", "psst @mentioned #cats", []string{"visibility", "direct"}, map[string]string{"author": "user, direct", "mentioned": "user, direct"}, true},
		{"list", "friends #cats", []string{"visibility", "list:" + list}, map[string]string{"author": "user", "mentioned": "user"}, false},
		{"mentioning a blocked account", "hello @blocked @mentioned", []string{"visibility", "unlisted"}, map[string]string{
			"author": "user", "follower": "user", "lister": "list/LIST",
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
			if tt.notify {
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

// TestBoostEvents boosts posts, undoes boosts, and deletes a boosted post.
func TestBoostEvents(t *testing.T) {
	w := newAudience(t)
	st := w.author.Publish("hello #cats").ID()
	discard := func() {
		for _, l := range w.streams {
			l.Events()
		}
	}
	discard()
	homes := map[string]string{"booster": "user", "follower": "user"}
	withNotification := map[string]string{"booster": "user", "follower": "user", "author": "user: notification reblog, user:notification: notification reblog"}

	boost := w.booster.Post("/api/v1/statuses/" + st + "/reblog").Want(200).Object().ID()
	w.want(t, "boosting", "update", boost, withNotification)
	w.booster.Post("/api/v1/statuses/" + st + "/unreblog").Want(200)
	w.want(t, "undoing a boost", "delete", boost, homes)

	boost = w.booster.Post("/api/v1/statuses/" + st + "/reblog").Want(200).Object().ID()
	w.want(t, "boosting again", "update", boost, withNotification)
	w.follower.SendJSON("POST", "/api/v1/accounts/"+w.booster.ID+"/follow", map[string]any{"reblogs": false}).Want(200)
	second := w.author.Publish("another").ID()
	discard()
	hidden := w.booster.Post("/api/v1/statuses/" + second + "/reblog").Want(200).Object().ID()
	w.want(t, "a boost of an account whose boosts are hidden", "update", hidden, map[string]string{"booster": "user", "author": withNotification["author"]})
	w.follower.SendJSON("POST", "/api/v1/accounts/"+w.booster.ID+"/follow", map[string]any{"reblogs": true}).Want(200)
	discard()

	w.author.Do("DELETE", "/api/v1/statuses/"+st, "", nil).Want(200)
	for nick, want := range map[string][]string{
		"follower": {"user", "public", "public:local", "hashtag Cats", "hashtag:local cats", "user (boost)"}, "booster": {"public", "public:local", "hashtag Cats", "hashtag:local cats", "user (boost)"},
	} {
		got := []string{}
		for _, s := range w.streams[nick].Events() {
			stream := strings.Join(s.Stream, " ")
			if s.Event == "delete" && *s.Payload == boost {
				stream += " (boost)"
			}
			got = append(got, stream)
		}
		if !slices.Equal(got, want) {
			t.Errorf("deleting the boosted post: %s got %q, want %q", nick, got, want)
		}
	}
}

// TestCurrentVisibility changes mutes, blocks, lists and follows after the subscription: each event follows the current state.
func TestCurrentVisibility(t *testing.T) {
	srv := apptest.Start(t)
	author, viewer, third := srv.SignUp("author"), srv.SignUp("viewer"), srv.SignUp("third")
	list := srv.AddList(viewer, author)
	viewer.AccountAction(author.ID, "follow")
	l := srv.OpenStream(viewer.Client, "stream", "user")
	l.Subscribe("list", "list", list).Subscribe("public").Subscribe("user:notification")
	const all = "user list public"
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
		post     func() string
		want     string
	}{
		{"no change", func() {}, func() {}, post, all},
		{"a mute", func() { viewer.AccountAction(author.ID, "mute") }, func() { viewer.AccountAction(author.ID, "unmute") }, post, ""},
		{"a block", func() { srv.AddBlock(viewer, author) }, func() { viewer.AccountAction(author.ID, "unblock") }, post, ""},
		{"being blocked", func() { srv.AddBlock(author, viewer) }, func() { author.AccountAction(viewer.ID, "unblock") }, post, ""},
		{"a muted thread", func() { viewer.Post("/api/v1/statuses/" + root + "/mute").Want(200) },
			func() { viewer.Post("/api/v1/statuses/" + root + "/unmute").Want(200) }, reply, ""},
		{"a mute of the boosted account", func() { viewer.AccountAction(third.ID, "mute") }, func() { viewer.AccountAction(third.ID, "unmute") }, boost, ""},
		{"a block of the boosted account", func() { viewer.AccountAction(third.ID, "block") }, func() { viewer.AccountAction(third.ID, "unblock") }, boost, ""},
		{"a block of the mentioned account", func() { viewer.AccountAction(third.ID, "block") }, func() { viewer.AccountAction(third.ID, "unblock") },
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
		{"no change in the end", func() {}, func() {}, post, all},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.do()
			l.Events()
			id := tt.post()
			got := []string{}
			for _, s := range l.Events() {
				if s.Event == "update" && payloadID(s) == id {
					got = append(got, s.Stream[0])
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got it on %v, want %q", got, tt.want)
			}
			tt.undo()
			l.Events()
		})
	}
}

// TestStatusForViewer checks that each stream gets the status as rendered for its viewer.
func TestStatusForViewer(t *testing.T) {
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

// TestFilteredEvents checks that the home stream leaves out what a hide filter hides, and that other matches are marked.
func TestFilteredEvents(t *testing.T) {
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
	l.WantEvents("a hidden post", "public: update "+hidden)
	warned := bob.Publish("a boring one").ID()
	for _, s := range l.Events() {
		if !strings.Contains(*s.Payload, `"keyword_matches":["boring"]`) || payloadID(s) != warned {
			t.Errorf("got %s", *s.Payload)
		}
	}
}

// TestRemoteStatusEvents checks on which streams remote statuses are sent.
func TestRemoteStatusEvents(t *testing.T) {
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
	author.UnmarshalText([]byte(srv.AddRemoteAccount("remote", "far.example")))
	add := func(media bool) {
		t.Helper()
		err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
			st := &store.Status{ID: tx.NewStatusID(), AccountID: author, Domain: "far.example", HasMedia: media, Content: "far"}
			st.URI = "https://far.example/" + st.ID.String()
			if err := tx.AddStatus(context.Background(), st); err != nil {
				return err
			}
			tx.Emit(store.StatusPosted{Status: st})
			return tx.AddTags(context.Background(), st, []string{"far"})
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
		t.Errorf("got %s, want %s", got, want)
	}
	add(true)
	want := "[public public:media public:remote public:remote:media public:remote/Far.example public:remote:media/far.example hashtag/#Far]"
	if got := fmt.Sprint(streams(l)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	mine.Events()
	viewer.Post("/api/v1/domain_blocks", "domain", "far.example").Want(200)
	add(false)
	if got := streams(mine); len(got) > 0 {
		t.Errorf("got %v of a blocked domain", got)
	}
}

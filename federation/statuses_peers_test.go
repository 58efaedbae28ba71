package federation_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"svc/app/apptest"
	"testing"
)

// TestPostsBetweenServers publishes every kind of post, and compares how the other server and the author see it.
func TestPostsBetweenServers(t *testing.T) {
	here, there, alice, bob, carol := apptest.StartTwo(t)
	dave := there.SignUp("dave") // follows no one
	host := apptest.MustHost(t, there.URL)
	photo := alice.Upload(apptest.JPEG(40, 30)).ID()
	alice.SendJSON("PUT", "/api/v1/media/"+photo, apptest.Doc{"description": "a photo"}).Want(200)
	list := alice.SendJSON("POST", "/api/v1/lists", apptest.Doc{"title": "friends"}).Want(200).Object().ID()
	alice.SendJSON("POST", "/api/v1/lists/"+list+"/accounts", apptest.Doc{"account_ids": []string{alice.FindRemote(bob)}}).Want(200)
	hello := bob.Publish("hello")
	apptest.Settle(here, there)
	parent := alice.WantPost(hello.Str("uri")).ID()
	direct := bob.Publish("psst @alice@"+apptest.MustHost(t, here.URL), "visibility", "direct")
	apptest.Settle(here, there)
	secret := alice.WantPost(direct.Str("uri")).ID()
	for _, tt := range []struct {
		name   string
		text   string
		params []string
		seenBy string // of bob, carol, dave and anybody
	}{
		{"plain", "hello & <world>", nil, "bob carol dave anybody"},
		{"mentions and hashtags", "@bob@" + host + " #One #two #one", nil, "bob carol dave anybody"},
		{"a warning, in a language, with a picture", "look", []string{"spoiler_text", "a < b", "language", "pt", "sensitive", "true", "media_ids[]", photo}, "bob carol dave anybody"},
		{"a poll", "what?", []string{"poll[options][]", "yes & no", "poll[options][]", "<no>", "poll[multiple]", "true", "poll[expires_in]", "86400"}, "bob carol dave anybody"},
		{"markdown", "*so* `it` is https://example.org/", []string{"content_type", "text/markdown"}, "bob carol dave anybody"},
		{"a reply", "@bob@" + host + " indeed", []string{"in_reply_to_id", parent}, "bob carol dave anybody"},
		{"a quote", "see", []string{"quote_id", parent}, "bob carol dave anybody"},
		{"unlisted", "quietly", []string{"visibility", "unlisted"}, "bob carol dave anybody"},
		{"for followers", "us", []string{"visibility", "private"}, "bob carol"},
		{"for followers and dave", "@dave@" + host + " and us", []string{"visibility", "private"}, "bob carol dave"},
		{"direct", "@dave@" + host + " psst", []string{"visibility", "direct"}, "dave"},
		{"a direct reply", "@bob@" + host + " what?", []string{"in_reply_to_id", secret, "visibility", "direct"}, "bob"},
		{"for a list", "friends", []string{"visibility", "list:" + list}, "bob"},
		{"for this server", "neighbours", []string{"visibility", "local"}, ""},
		{"for a while", "soon gone", []string{"expires_in", "86400"}, "bob carol dave anybody"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			own := alice.Publish(tt.text, tt.params...)
			apptest.Settle(here, there)
			uri := own.Str("uri")
			for name, c := range map[string]*apptest.Client{"bob": bob.Client, "carol": carol.Client, "dave": dave.Client, "anybody": there.As(nil)} {
				if got := c.FindPost(uri) != nil; got != slices.Contains(strings.Fields(tt.seenBy), name) {
					t.Errorf("%s sees it: %v", name, got)
				}
			}
			viewer := map[bool]*apptest.User{true: bob, false: dave}[strings.Contains(tt.seenBy, "bob")]
			if tt.seenBy == "" {
				return
			}
			got := viewer.WantPost(uri)
			for _, path := range []string{
				"uri", "url", "created_at", "content", "spoiler_text", "sensitive", "language", "tags", "emojis", "edited_at", "svc.content",
				"replies_count", "reblogs_count", "favourites_count", "poll.multiple", "poll.expires_at", "poll.options", "poll.votes_count", "poll.expired",
			} {
				want := fmt.Sprint(own.Find(path))
				if path == "tags" {
					want = strings.ReplaceAll(want, here.URL, there.URL)
				}
				if tt.name == "a quote" && strings.Contains(path, "content") {
					continue // the link below is for servers without quotes
				}
				if v := fmt.Sprint(got.Find(path)); v != want {
					t.Errorf("%s: got %v, want %v", path, v, want)
				}
			}
			want := own.Str("visibility")
			if v := got.Str("visibility"); v != want {
				t.Errorf("got visibility %s, want %s", v, want)
			}
			for path, want := range map[string]any{
				"account.acct": "alice@" + apptest.MustHost(t, here.URL), "application": nil, "card": nil, "svc.local": false, "svc.expires_at": nil, "text": nil,
				"favourited": false, "reblogged": false, "bookmarked": false, "muted": false, "pinned": false,
			} {
				if v := got.Find(path); v != want {
					t.Errorf("%s: got %v, want %v", path, v, want)
				}
			}
			if a, b := len(own.At("mentions").([]any)), len(got.At("mentions").([]any)); a != b {
				t.Errorf("%d are mentioned, want %d", b, a)
			}
			for i, v := range got.At("mentions").([]any) {
				m, o := v.(apptest.Doc), own.At("mentions").([]any)[i].(apptest.Doc)
				if m["username"] != o["username"] || m["url"] != o["url"] || m["acct"] == o["acct"] {
					t.Errorf("mentioned is %v, want %v", m, o)
				}
			}
			for i, v := range own.At("media_attachments").([]any) {
				o, m := v.(apptest.Doc), got.Find(fmt.Sprintf("media_attachments.%d", i)).(apptest.Doc)
				if m["type"] != o["type"] || m["description"] != o["description"] || m["remote_url"] != o["url"] || !reflect.DeepEqual(m["svc"], o["svc"]) {
					t.Errorf("got attachment %v, want %v", m, o)
				}
			}
			if v := own.At("in_reply_to_id"); v != nil && (got.At("in_reply_to_id") == nil || got.Str("svc.in_reply_to_account_acct") != "bob" || got.At("svc.parent_visible") != true) {
				t.Errorf("it replies to %v: %v", got.At("in_reply_to_id"), got.At("svc"))
			}
			if tt.name == "a quote" && (got.At("svc.quote_id") != hello.ID() || strings.Contains(got.Str("content"), "RE:")) {
				t.Errorf("it quotes %v: %s", got.At("svc.quote_id"), got.Str("content"))
			}
		})
	}
}

// TestInteractionsBetweenServers interacts with posts of another server and undoes it; the counters of both servers stay equal.
func TestInteractionsBetweenServers(t *testing.T) {
	here, there, alice, bob, carol := apptest.StartTwo(t)
	st := alice.Publish("@bob@"+apptest.MustHost(t, there.URL)+" first", "poll[options][]", "yes", "poll[options][]", "no", "poll[expires_in]", "86400")
	apptest.Settle(here, there)
	uri := st.Str("uri")
	seen := bob.WantPost(uri).ID()
	atBob := bob.FindRemote(alice)
	counted := func(what string, want string, accounts ...string) {
		t.Helper()
		apptest.Settle(here, there)
		for name, m := range map[string]*apptest.User{"here": alice, "there": bob} {
			o := m.WantPost(uri)
			got := fmt.Sprintf("replies %d, boosts %d, favourites %d, quotes %d, reactions %d", o.Int("replies_count"), o.Int("reblogs_count"),
				o.Int("favourites_count"), o.Int("svc.quotes_count"), len(o.At("svc.emoji_reactions").([]any)))
			if got != want {
				t.Errorf("after %s, %s: %s; want %s", what, name, got, want)
			}
		}
	}
	posts := func(what string, alices, bobs int) {
		t.Helper()
		for name, ids := range map[*apptest.User][2]string{alice: {alice.ID, alice.FindRemote(bob)}, bob: {atBob, bob.ID}} {
			a, b := name.Get("/api/v1/accounts/"+ids[0]).Object(), name.Get("/api/v1/accounts/"+ids[1]).Object()
			if a.Int("statuses_count") != alices || b.Int("statuses_count") != bobs || a.At("last_status_at") == nil {
				t.Errorf("after %s, %s sees %d and %d posts (last %v), want %d and %d", what, name.Nickname, a.Int("statuses_count"), b.Int("statuses_count"),
					a.At("last_status_at"), alices, bobs)
			}
		}
	}
	counted("nothing", "replies 0, boosts 0, favourites 0, quotes 0, reactions 0")
	posts("nothing", 1, 0)

	bob.Post("/api/v1/statuses/" + seen + "/favourite").Want(200)
	bob.Post("/api/v1/statuses/" + seen + "/favourite").Want(200)
	counted("a favourite", "replies 0, boosts 0, favourites 1, quotes 0, reactions 0")
	bob.Post("/api/v1/statuses/" + seen + "/reblog").Want(200)
	counted("a boost", "replies 0, boosts 1, favourites 1, quotes 0, reactions 0")
	posts("a boost", 1, 1)
	bob.ReactWith(seen, "🔥")
	counted("a reaction", "replies 0, boosts 1, favourites 1, quotes 0, reactions 1")
	reply := bob.Publish("@alice@"+apptest.MustHost(t, here.URL)+" second", "in_reply_to_id", seen)
	counted("a reply", "replies 1, boosts 1, favourites 1, quotes 0, reactions 1")
	hidden := bob.Publish("@alice@"+apptest.MustHost(t, here.URL)+" hidden", "in_reply_to_id", seen, "visibility", "private")
	counted("a private reply", "replies 1, boosts 1, favourites 1, quotes 0, reactions 1")
	quote := bob.Publish("see", "quote_id", seen)
	counted("a quote", "replies 1, boosts 1, favourites 1, quotes 1, reactions 1")
	posts("a quote", 1, 3)
	apptest.WantList(t, "notifications of alice", alice.NotificationTypes(), "quote", "mention", "mention", "svc:emoji_reaction", "reblog", "favourite", "follow", "follow")

	thread := alice.Get("/api/v1/statuses/" + st.ID() + "/context").Want(200).Object()
	if got := thread.At("descendants").([]any); len(got) != 2 || got[0].(apptest.Doc)["uri"] != reply.Str("uri") || got[1].(apptest.Doc)["uri"] != hidden.Str("uri") {
		t.Errorf("below are %v", got)
	}
	if got := carol.Get("/api/v1/statuses/" + seen + "/context").Want(200).Object().At("descendants").([]any); len(got) != 1 {
		t.Errorf("carol sees %d replies", len(got))
	}

	alice.EditStatus(st.ID(), apptest.Doc{"status": "first, edited"}).Want(200)
	counted("an edit", "replies 1, boosts 1, favourites 1, quotes 1, reactions 1")
	if got := bob.WantPost(uri); !strings.Contains(got.Str("content"), "first, edited") || got.At("edited_at") != alice.WantPost(uri).At("edited_at") || got.At("poll") != nil {
		t.Errorf("bob sees %v", got.Fields)
	}
	if got := bob.NotificationTypes()[:2]; !slices.Equal(got, []string{"quoted_update", "update"}) {
		t.Errorf("notifications of bob, who quoted and boosted it: %q", got)
	}
	if n := len(bob.Get("/api/v1/statuses/" + seen + "/history").Want(200).List()); n != 2 {
		t.Errorf("bob sees %d versions", n)
	}

	bob.Do("DELETE", "/api/v1/statuses/"+quote.ID(), "", nil).Want(200)
	counted("the end of the quote", "replies 1, boosts 1, favourites 1, quotes 0, reactions 1")
	bob.Do("DELETE", "/api/v1/statuses/"+reply.ID(), "", nil).Want(200)
	bob.Do("DELETE", "/api/v1/statuses/"+hidden.ID(), "", nil).Want(200)
	counted("the end of the replies", "replies 0, boosts 1, favourites 1, quotes 0, reactions 1")
	bob.React("DELETE", seen, "🔥").Want(200)
	counted("the end of the reaction", "replies 0, boosts 1, favourites 1, quotes 0, reactions 0")
	bob.Post("/api/v1/statuses/" + seen + "/unreblog").Want(200)
	counted("the end of the boost", "replies 0, boosts 0, favourites 1, quotes 0, reactions 0")
	bob.Post("/api/v1/statuses/" + seen + "/unfavourite").Want(200)
	counted("the end of all", "replies 0, boosts 0, favourites 0, quotes 0, reactions 0")
	posts("the end of all", 1, 0)
	apptest.WantList(t, "later notifications of alice", alice.NotificationTypes(), "follow", "follow")

	bob.Post("/api/v1/statuses/" + seen + "/reblog").Want(200)
	bob.Post("/api/v1/statuses/" + seen + "/bookmark").Want(200)
	apptest.Settle(here, there)
	alice.Do("DELETE", "/api/v1/statuses/"+st.ID(), "", nil).Want(200)
	apptest.Settle(here, there)
	if bob.FindPost(uri) != nil || len(bob.Get("/api/v1/bookmarks").List()) > 0 || len(bob.Get("/api/v1/timelines/home").List()) > 0 {
		t.Error("a deleted post of alice is still stored")
	}
	posts("the deletion", 0, 0)
	here.GetDocument(uri).Want(410)
}

// TestTimelinesBetweenServers looks for remote posts in every timeline, with and without the name of their server.
func TestTimelinesBetweenServers(t *testing.T) {
	here, there, alice, bob, _ := apptest.StartTwo(t)
	dave := there.SignUp("dave")
	host := apptest.MustHost(t, here.URL)
	alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", apptest.Doc{"indexable": true}).Want(200)
	here.RunDelayedJobs()
	apptest.Settle(here, there)
	list := bob.SendJSON("POST", "/api/v1/lists", apptest.Doc{"title": "friends"}).Want(200).Object().ID()
	bob.SendJSON("POST", "/api/v1/lists/"+list+"/accounts", apptest.Doc{"account_ids": []string{bob.FindRemote(alice)}}).Want(200)
	l := there.OpenStream(bob.Client, "stream", "user")
	for _, stream := range []string{"public", "public:local", "public:remote", "public:media", "public:remote:media"} {
		l.Subscribe(stream)
	}
	l.Subscribe("public:remote", "instance", host).Subscribe("public:remote:media", "instance", strings.ToUpper(host)).Subscribe("public:remote", "instance", "nowhere.example")
	l.Subscribe("hashtag", "tag", "cats").Subscribe("list", "list", list).Subscribe("direct")
	photo := alice.Upload(apptest.JPEG(40, 30)).ID()
	for _, tt := range []struct {
		name    string
		text    string
		params  []string
		where   string
		streams string
	}{
		{"public", "Walrus #Cats", nil, "home public remote instance tag list account search", "public public:remote public:remote/" + host + " hashtag/cats list/" + list + " user"},
		{"with a picture", "Walrus", []string{"media_ids[]", photo}, "home public remote instance media instance-media list account account-media search",
			"public public:media public:remote public:remote:media public:remote/" + host + " public:remote:media/" + strings.ToUpper(host) + " list/" + list + " user"},
		{"unlisted", "Walrus #Cats", []string{"visibility", "unlisted"}, "home list account search", "list/" + list + " user"},
		{"for followers", "Walrus #Cats", []string{"visibility", "private"}, "home list account", "list/" + list + " user"},
		{"direct", "@bob@" + apptest.MustHost(t, there.URL) + " Walrus #Cats", []string{"visibility", "direct"}, "home direct list account search", "direct list/" + list + " user"},
		{"local", "Walrus #Cats", []string{"visibility", "local"}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l.Events()
			st := alice.Publish(tt.text, tt.params...)
			apptest.Settle(here, there)
			var where []string
			for _, at := range [][]string{
				{"home", "timelines/home"}, {"public", "timelines/public"}, {"local", "timelines/public?local=true"}, {"remote", "timelines/public?remote=true"},
				{"instance", "timelines/public?instance=" + host}, {"another instance", "timelines/public?instance=nowhere.example"}, {"own", "timelines/public?instance=" + apptest.MustHost(t, there.URL)},
				{"media", "timelines/public?only_media=true"}, {"instance-media", "timelines/public?only_media=true&instance=" + host},
				{"tag", "timelines/tag/cats"}, {"local tag", "timelines/tag/cats?local=true"}, {"direct", "timelines/direct"}, {"list", "timelines/list/" + list},
				{"account", "accounts/" + bob.FindRemote(alice) + "/statuses"}, {"account-media", "accounts/" + bob.FindRemote(alice) + "/statuses?only_media=true"},
			} {
				for _, o := range bob.Get("/api/v1/" + at[1]).Want(200).List() {
					if o.Str("uri") == st.Str("uri") {
						where = append(where, at[0])
					}
				}
			}
			for _, o := range bob.Get("/api/v2/search", "q", "walrus", "type", "statuses").Want(200).Object().At("statuses").([]any) {
				if o.(apptest.Doc)["uri"] == st.Str("uri") {
					where = append(where, "search")
				}
			}
			if got := strings.Join(where, " "); got != tt.where {
				t.Errorf("it is in %q, want %q", got, tt.where)
			}
			var streams []string
			for _, s := range l.Events() {
				if s.Event == "update" {
					streams = append(streams, strings.Join(s.Stream, "/"))
				}
			}
			slices.Sort(streams)
			want := strings.Fields(tt.streams)
			slices.Sort(want)
			if !slices.Equal(streams, want) {
				t.Errorf("it went to %q, want %q", streams, want)
			}
			found := dave.Get("/api/v2/search", "q", st.Str("uri"), "resolve", "true").Want(200).Object().At("statuses").([]any)
			if open := slices.Contains(strings.Fields("public unlisted"), st.Str("visibility")); (len(found) == 1) != open {
				t.Errorf("dave finds %d by its address", len(found))
			}
		})
	}
}

package server_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// startNeighbours starts two servers: on the one is alice, whom bob and locked carol of the other follow; alice follows bob.
func startNeighbours(t *testing.T) (here, there *api, alice, bob, carol *member) {
	t.Helper()
	peers := startPeers(t, 2)
	here, there = peers[0], peers[1]
	alice, bob, carol = here.signUp("alice"), there.signUp("bob"), there.signUp("carol")
	bob.to(bob.find(alice), "follow")
	carol.to(carol.find(alice), "follow")
	alice.to(alice.find(bob), "follow")
	settle(here, there)
	return here, there, alice, bob, carol
}

// TestPostsOfPeers publishes in every way there is, and compares what is seen on the other server with what the author sees.
func TestPostsOfPeers(t *testing.T) {
	here, there, alice, bob, carol := startNeighbours(t)
	dave := there.signUp("dave") // a stranger
	host := mustHost(t, there.url)
	photo := alice.upload(jpegFile(40, 30)).id()
	alice.send("PUT", "/api/v1/media/"+photo, jsonBody{"description": "a photo"}).want(200)
	list := alice.send("POST", "/api/v1/lists", jsonBody{"title": "friends"}).want(200).object().id()
	alice.send("POST", "/api/v1/lists/"+list+"/accounts", jsonBody{"account_ids": []string{alice.find(bob)}}).want(200)
	hello := bob.publish("hello")
	settle(here, there)
	parent := alice.wantPost(hello.str("uri")).id()
	direct := bob.publish("psst @alice@"+mustHost(t, here.url), "visibility", "direct")
	settle(here, there)
	secret := alice.wantPost(direct.str("uri")).id()
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
			own := alice.publish(tt.text, tt.params...)
			settle(here, there)
			uri := own.str("uri")
			for name, c := range map[string]*caller{"bob": bob.caller, "carol": carol.caller, "dave": dave.caller, "anybody": there.as(nil)} {
				if got := c.postOf(uri) != nil; got != slices.Contains(strings.Fields(tt.seenBy), name) {
					t.Errorf("%s sees it: %v", name, got)
				}
			}
			reader := map[bool]*member{true: bob, false: dave}[strings.Contains(tt.seenBy, "bob")]
			if tt.seenBy == "" {
				return
			}
			got := reader.wantPost(uri)
			for _, path := range []string{
				"uri", "url", "created_at", "content", "spoiler_text", "sensitive", "language", "tags", "emojis", "edited_at", "svc.content",
				"replies_count", "reblogs_count", "favourites_count", "poll.multiple", "poll.expires_at", "poll.options", "poll.votes_count", "poll.expired",
			} {
				want := fmt.Sprint(own.dig(path))
				if path == "tags" {
					want = strings.ReplaceAll(want, here.url, there.url)
				}
				if tt.name == "a quote" && strings.Contains(path, "content") {
					continue // the link below is for those who do not show quotes
				}
				if v := fmt.Sprint(got.dig(path)); v != want {
					t.Errorf("%s: got %v, want %v", path, v, want)
				}
			}
			want := own.str("visibility")
			if v := got.str("visibility"); v != want {
				t.Errorf("got visibility %s, want %s", v, want)
			}
			for path, want := range map[string]any{
				"account.acct": "alice@" + mustHost(t, here.url), "application": nil, "card": nil, "svc.local": false, "svc.expires_at": nil, "text": nil,
				"favourited": false, "reblogged": false, "bookmarked": false, "muted": false, "pinned": false,
			} {
				if v := got.dig(path); v != want {
					t.Errorf("%s: got %v, want %v", path, v, want)
				}
			}
			if a, b := len(own.at("mentions").([]any)), len(got.at("mentions").([]any)); a != b {
				t.Errorf("%d are mentioned, want %d", b, a)
			}
			for i, v := range got.at("mentions").([]any) {
				m, o := v.(doc), own.at("mentions").([]any)[i].(doc)
				if m["username"] != o["username"] || m["url"] != o["url"] || m["acct"] == o["acct"] {
					t.Errorf("mentioned is %v, want %v", m, o)
				}
			}
			for i, v := range own.at("media_attachments").([]any) {
				o, m := v.(doc), got.dig(fmt.Sprintf("media_attachments.%d", i)).(doc)
				if m["type"] != o["type"] || m["description"] != o["description"] || m["remote_url"] != o["url"] || !reflect.DeepEqual(m["svc"], o["svc"]) {
					t.Errorf("got attachment %v, want %v", m, o)
				}
			}
			if v := own.at("in_reply_to_id"); v != nil && (got.at("in_reply_to_id") == nil || got.str("svc.in_reply_to_account_acct") != "bob" || got.at("svc.parent_visible") != true) {
				t.Errorf("it replies to %v: %v", got.at("in_reply_to_id"), got.at("svc"))
			}
			if tt.name == "a quote" && (got.at("svc.quote_id") != hello.id() || strings.Contains(got.str("content"), "RE:")) {
				t.Errorf("it quotes %v: %s", got.at("svc.quote_id"), got.str("content"))
			}
		})
	}
}

// TestDeedsOfPeers has people do things with posts of another server, and take them back; both servers count the same all the time.
func TestDeedsOfPeers(t *testing.T) {
	here, there, alice, bob, carol := startNeighbours(t)
	st := alice.publish("@bob@"+mustHost(t, there.url)+" first", "poll[options][]", "yes", "poll[options][]", "no", "poll[expires_in]", "86400")
	settle(here, there)
	uri := st.str("uri")
	seen := bob.wantPost(uri).id()
	atBob := bob.find(alice)
	counted := func(what string, want string, accounts ...string) {
		t.Helper()
		settle(here, there)
		for name, m := range map[string]*member{"here": alice, "there": bob} {
			o := m.wantPost(uri)
			got := fmt.Sprintf("replies %d, boosts %d, favourites %d, quotes %d, reactions %d", o.num("replies_count"), o.num("reblogs_count"),
				o.num("favourites_count"), o.num("svc.quotes_count"), len(o.at("svc.emoji_reactions").([]any)))
			if got != want {
				t.Errorf("after %s, %s: %s; want %s", what, name, got, want)
			}
		}
	}
	posts := func(what string, alices, bobs int) {
		t.Helper()
		for name, ids := range map[*member][2]string{alice: {alice.id, alice.find(bob)}, bob: {atBob, bob.id}} {
			a, b := name.get("/api/v1/accounts/"+ids[0]).object(), name.get("/api/v1/accounts/"+ids[1]).object()
			if a.num("statuses_count") != alices || b.num("statuses_count") != bobs || a.at("last_status_at") == nil {
				t.Errorf("after %s, %s sees %d and %d posts (last %v), want %d and %d", what, name.nick, a.num("statuses_count"), b.num("statuses_count"),
					a.at("last_status_at"), alices, bobs)
			}
		}
	}
	counted("nothing", "replies 0, boosts 0, favourites 0, quotes 0, reactions 0")
	posts("nothing", 1, 0)

	bob.post("/api/v1/statuses/" + seen + "/favourite").want(200)
	bob.post("/api/v1/statuses/" + seen + "/favourite").want(200)
	counted("a favourite", "replies 0, boosts 0, favourites 1, quotes 0, reactions 0")
	bob.post("/api/v1/statuses/" + seen + "/reblog").want(200)
	counted("a boost", "replies 0, boosts 1, favourites 1, quotes 0, reactions 0")
	posts("a boost", 1, 1)
	bob.reactWith(seen, "🔥")
	counted("a reaction", "replies 0, boosts 1, favourites 1, quotes 0, reactions 1")
	reply := bob.publish("@alice@"+mustHost(t, here.url)+" second", "in_reply_to_id", seen)
	counted("a reply", "replies 1, boosts 1, favourites 1, quotes 0, reactions 1")
	hidden := bob.publish("@alice@"+mustHost(t, here.url)+" hidden", "in_reply_to_id", seen, "visibility", "private")
	counted("a reply for few", "replies 1, boosts 1, favourites 1, quotes 0, reactions 1")
	quote := bob.publish("see", "quote_id", seen)
	counted("a quote", "replies 1, boosts 1, favourites 1, quotes 1, reactions 1")
	posts("a quote", 1, 3)
	wantList(t, "alice is told of", alice.told(), "mention", "mention", "svc:emoji_reaction", "reblog", "favourite", "follow", "follow")

	thread := alice.get("/api/v1/statuses/" + st.id() + "/context").want(200).object()
	if got := thread.at("descendants").([]any); len(got) != 2 || got[0].(doc)["uri"] != reply.str("uri") || got[1].(doc)["uri"] != hidden.str("uri") {
		t.Errorf("below are %v", got)
	}
	if got := carol.get("/api/v1/statuses/" + seen + "/context").want(200).object().at("descendants").([]any); len(got) != 1 {
		t.Errorf("carol sees %d replies", len(got))
	}

	alice.edit(st.id(), jsonBody{"status": "first, edited"}).want(200)
	counted("an edit", "replies 1, boosts 1, favourites 1, quotes 1, reactions 1")
	if got := bob.wantPost(uri); !strings.Contains(got.str("content"), "first, edited") || got.at("edited_at") != alice.wantPost(uri).at("edited_at") || got.at("poll") != nil {
		t.Errorf("bob sees %v", got.m)
	}
	if got := bob.told()[0]; got != "update" {
		t.Errorf("bob, who has boosted it, was told of %q", got)
	}
	if n := len(bob.get("/api/v1/statuses/" + seen + "/history").want(200).list()); n != 2 {
		t.Errorf("bob sees %d versions", n)
	}

	bob.do("DELETE", "/api/v1/statuses/"+quote.id(), "", nil).want(200)
	counted("the end of the quote", "replies 1, boosts 1, favourites 1, quotes 0, reactions 1")
	bob.do("DELETE", "/api/v1/statuses/"+reply.id(), "", nil).want(200)
	bob.do("DELETE", "/api/v1/statuses/"+hidden.id(), "", nil).want(200)
	counted("the end of the replies", "replies 0, boosts 1, favourites 1, quotes 0, reactions 1")
	bob.react("DELETE", seen, "🔥").want(200)
	counted("the end of the reaction", "replies 0, boosts 1, favourites 1, quotes 0, reactions 0")
	bob.post("/api/v1/statuses/" + seen + "/unreblog").want(200)
	counted("the end of the boost", "replies 0, boosts 0, favourites 1, quotes 0, reactions 0")
	bob.post("/api/v1/statuses/" + seen + "/unfavourite").want(200)
	counted("the end of all", "replies 0, boosts 0, favourites 0, quotes 0, reactions 0")
	posts("the end of all", 1, 0)
	wantList(t, "alice is told of then", alice.told(), "follow", "follow")

	bob.post("/api/v1/statuses/" + seen + "/reblog").want(200)
	bob.post("/api/v1/statuses/" + seen + "/bookmark").want(200)
	settle(here, there)
	alice.do("DELETE", "/api/v1/statuses/"+st.id(), "", nil).want(200)
	settle(here, there)
	if bob.postOf(uri) != nil || len(bob.get("/api/v1/bookmarks").list()) > 0 || len(bob.get("/api/v1/timelines/home").list()) > 0 {
		t.Error("what alice has deleted is there yet")
	}
	posts("the deletion", 0, 0)
	here.document(uri).want(410)
}

// TestWherePostsOfPeersAre looks for posts of another server wherever posts can be, with and without its name.
func TestWherePostsOfPeersAre(t *testing.T) {
	here, there, alice, bob, _ := startNeighbours(t)
	dave := there.signUp("dave")
	host := mustHost(t, here.url)
	list := bob.send("POST", "/api/v1/lists", jsonBody{"title": "friends"}).want(200).object().id()
	bob.send("POST", "/api/v1/lists/"+list+"/accounts", jsonBody{"account_ids": []string{bob.find(alice)}}).want(200)
	l := there.listen(bob.caller, "stream", "user")
	for _, stream := range []string{"public", "public:local", "public:remote", "public:media", "public:remote:media"} {
		l.subscribe(stream)
	}
	l.subscribe("public:remote", "instance", host).subscribe("public:remote:media", "instance", strings.ToUpper(host)).subscribe("public:remote", "instance", "nowhere.example")
	l.subscribe("hashtag", "tag", "cats").subscribe("list", "list", list).subscribe("direct")
	photo := alice.upload(jpegFile(40, 30)).id()
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
		{"direct", "@bob@" + mustHost(t, there.url) + " Walrus #Cats", []string{"visibility", "direct"}, "home direct list account search", "direct list/" + list + " user"},
		{"local", "Walrus #Cats", []string{"visibility", "local"}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l.heard()
			st := alice.publish(tt.text, tt.params...)
			settle(here, there)
			var where []string
			for _, at := range [][]string{
				{"home", "timelines/home"}, {"public", "timelines/public"}, {"local", "timelines/public?local=true"}, {"remote", "timelines/public?remote=true"},
				{"instance", "timelines/public?instance=" + host}, {"elsewhere", "timelines/public?instance=nowhere.example"}, {"own", "timelines/public?instance=" + mustHost(t, there.url)},
				{"media", "timelines/public?only_media=true"}, {"instance-media", "timelines/public?only_media=true&instance=" + host},
				{"tag", "timelines/tag/cats"}, {"local tag", "timelines/tag/cats?local=true"}, {"direct", "timelines/direct"}, {"list", "timelines/list/" + list},
				{"account", "accounts/" + bob.find(alice) + "/statuses"}, {"account-media", "accounts/" + bob.find(alice) + "/statuses?only_media=true"},
			} {
				for _, o := range bob.get("/api/v1/" + at[1]).want(200).list() {
					if o.str("uri") == st.str("uri") {
						where = append(where, at[0])
					}
				}
			}
			for _, o := range bob.get("/api/v2/search", "q", "walrus", "type", "statuses").want(200).object().at("statuses").([]any) {
				if o.(doc)["uri"] == st.str("uri") {
					where = append(where, "search")
				}
			}
			if got := strings.Join(where, " "); got != tt.where {
				t.Errorf("it is in %q, want %q", got, tt.where)
			}
			var streams []string
			for _, s := range l.heard() {
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
			found := dave.get("/api/v2/search", "q", st.str("uri"), "resolve", "true").want(200).object().at("statuses").([]any)
			if open := slices.Contains(strings.Fields("public unlisted"), st.str("visibility")); (len(found) == 1) != open {
				t.Errorf("dave finds %d by its address", len(found))
			}
		})
	}
}

package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/server"
	"svc/store"
)

// found returns the ids of the posts that a search finds.
func (c *caller) found(q string, params ...string) []string {
	c.api.t.Helper()
	return members(c.get("/api/v2/search", append([]string{"q", q, "type", "statuses"}, params...)...).want(200).object(), "statuses", "id")
}

// wantFound fails the test if a search finds other posts than those; each is a name in names.
func wantFound(t *testing.T, as *caller, names map[string]string, q string, want ...string) {
	t.Helper()
	var got []string
	for _, id := range as.found(q) {
		got = append(got, names[id])
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q finds %q, want %q", q, got, want)
	}
}

// TestSearchQueries looks for posts by all that one can type.
func TestSearchQueries(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	name := map[string]string{}
	post := func(as *member, key, text string, params ...string) string {
		id := as.publish(text, params...).id()
		name[id] = key
		return id
	}
	fox := post(alice, "fox", "The quick brown fox doesn't jump.", "language", "en")
	post(bob, "dog", "A quick dog jumps over a brown log #Dogs_only https://example.com/page", "language", "pt-BR")
	post(alice, "cafe", "Meet me at the CAFÉ, @bob", "spoiler_text", "breakfast plans")
	picture := bob.upload(pngFile(3, 3), valuePart("description", "a sleeping cat")).id()
	post(bob, "cat", "look", "media_ids[]", picture, "sensitive", "true")
	post(bob, "reply", "an answer to that", "in_reply_to_id", fox)
	post(alice, "tokyo", "東京タワーへ行きました")
	post(alice, "kyoto", "京都は楽しい。天気も良かった")
	post(alice, "seoul", "서울에서 만나요")
	post(alice, "thai", "ภาษาไทยเขียนไม่เว้นวรรค")
	post(alice, "beijing", "我爱北京天安门")
	post(alice, "party", "it is a 🎉 day")
	poll := post(alice, "poll", "which tea?", "poll[options][]", "oolong", "poll[options][]", "rooibos", "poll[expires_in]", "3600")
	year := "2026"
	if st, err := srv.db.Status(t.Context(), statusID(fox)); err == nil {
		year = st.CreatedAt.String()[:4]
	}
	host := strings.TrimPrefix(srv.url, "http://")
	for q, want := range map[string][]string{
		"quick":                        {"dog", "fox"},
		"QUICK brown":                  {"dog", "fox"},
		`"quick brown"`:                {"fox"},
		"“quick brown”":                {"fox"},
		`"quick brown`:                 {"fox"},
		"quick -fox":                   {"dog"},
		`brown -"brown fox"`:           {"dog"},
		"doesn't":                      {"fox"},
		"doesn’t":                      {"fox"},
		"jump":                         {"fox"},
		"#dogs_only":                   {"dog"},
		"cafe":                         {"cafe"},
		"Cafe\u0301":                   {"cafe"},
		"@bob":                         {"cafe"},
		"@bob@" + host:                 {"cafe"},
		"@bob@elsewhere.example":       nil,
		"breakfast":                    {"cafe"},
		`"bob breakfast"`:              nil,
		"sleeping cat":                 {"cat"},
		"example.com":                  {"dog"},
		"from:bob":                     {"reply", "cat", "dog"},
		"from:@bob":                    {"reply", "cat", "dog"},
		"from:@bob@" + host + " quick": {"dog"},
		"from:alice from:bob quick":    {"dog", "fox"},
		"quick -from:alice":            {"dog"},
		"from:me quick":                {"fox"},
		"from:nobody quick":            nil,
		"quick -from:nobody":           {"dog", "fox"},
		"has:media":                    {"cat"},
		"has:image":                    {"cat"},
		"has:video":                    nil,
		"has:poll":                     {"poll"},
		"oolong rooibos":               {"poll"},
		"has:link":                     {"dog"},
		"quick -has:link":              {"fox"},
		"is:reply":                     {"reply"},
		"from:bob -is:reply":           {"cat", "dog"},
		"is:sensitive":                 {"cat"},
		"from:bob -is:sensitive":       {"reply", "dog"},
		"language:pt":                  {"dog"},
		"language:pt-BR":               {"dog"},
		"language:en":                  {"fox"},
		"quick before:2001-01-01":      nil,
		"quick after:2001-01-01":       {"dog", "fox"},
		"quick during:" + year:         {"dog", "fox"},
		"quick after:" + year:          nil,
		"in:library quick":             {"fox"},
		"東京":                           {"tokyo"},
		"京都":                           {"kyoto"},
		"タワー 東京":                       {"tokyo"},
		"京":                            {"beijing", "kyoto", "tokyo"},
		"天気":                           {"kyoto"},
		"サワー":                          nil,
		"서울":                           {"seoul"},
		"北京":                           {"beijing"},
		"ไทย":                          {"thai"},
		"🎉":                            {"party"},
		"nosuch:thing":                 nil,
		"has:everything":               nil,
		`"`:                            nil,
		"-":                            nil,
		"?!":                           nil,
		"quick AND NOT fox":            nil, // words like any other
		"quick*":                       {"dog", "fox"},
		"body:quick":                   nil,
		"by" + fmt.Sprint(1):           nil,
		"here":                         nil,
		"\x00quick\x00":                {"dog", "fox"},
		strings.Repeat("quick ", 1000): {"dog", "fox"},
	} {
		wantFound(t, alice.caller, name, q, want...)
	}
	wantFound(t, srv.as(nil), name, "from:me")
	wantFound(t, srv.as(nil), name, "in:library")
	if got := alice.found("from:me", "limit", "1"); len(got) != 1 || name[got[0]] != "poll" {
		t.Errorf("from:me finds %v", got)
	}
	alice.send("PUT", "/api/v1/statuses/"+poll, map[string]any{"status": "which tea?", "poll": map[string]any{"options": []string{"sencha", "rooibos"}, "expires_in": 3600}}).want(200)
	wantFound(t, alice.caller, name, "oolong")
	wantFound(t, alice.caller, name, "sencha", "poll")
	if got := alice.found("quick", "account_id", bob.id); len(got) != 1 || name[got[0]] != "dog" {
		t.Errorf("of one account: %v", got)
	}
	if got := alice.found("quick", "account_id", "nonsense"); len(got) != 0 {
		t.Errorf("of no account: %v", got)
	}
}

// TestSearchFollowsPosts edits and deletes what can be found.
func TestSearchFollowsPosts(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	picture := alice.upload(pngFile(3, 3), valuePart("description", "zebra")).id()
	st := alice.publish("marmalade @bob", "media_ids[]", picture)
	want := func(q string, ids ...string) {
		t.Helper()
		if got := bob.found(q); !slices.Equal(got, ids) {
			t.Errorf("%q finds %v, want %v", q, got, ids)
		}
	}
	want("marmalade zebra", st.id())
	bob.post("/api/v1/statuses/" + st.id() + "/reblog").want(200)
	want("marmalade", st.id()) // the boost is not found beside it
	want("from:bob")
	alice.send("PUT", "/api/v1/media/"+picture, map[string]any{"description": "giraffe"}).want(200)
	want("zebra")
	want("giraffe marmalade", st.id())
	alice.send("PUT", "/api/v1/statuses/"+st.id(), map[string]any{"status": "honey", "media_ids": []string{picture}}).want(200)
	want("marmalade")
	want("honey giraffe has:media", st.id())
	alice.send("PUT", "/api/v1/statuses/"+st.id(), map[string]any{"status": "honey"}).want(200)
	want("honey has:media")
	want("giraffe")
	alice.do("DELETE", "/api/v1/statuses/"+st.id(), "", nil).want(200)
	want("honey")
	brief := alice.publish("gone in a moment").id()
	alice.post("/api/v1/statuses", "status", "only a look", "preview", "true").want(200)
	want("only a look")
	want("moment", brief)
	if err := srv.social.DeleteAccount(t.Context(), alice.accountID()); err != nil {
		t.Fatal(err)
	}
	want("moment")
	srv.settle()
	if n := srv.count(`SELECT count(*) FROM statuses_fts_docsize`); n != 0 {
		t.Errorf("%d posts are still in the index", n)
	}
}

// TestSearchAudience looks for posts as everybody who may find some.
func TestSearchAudience(t *testing.T) {
	srv := startAPI(t)
	author, follower, mentioned, fan := srv.signUp("author"), srv.signUp("follower"), srv.signUp("mentioned"), srv.signUp("fan")
	stranger, blocked, muting := srv.signUp("stranger"), srv.signUp("blocked"), srv.signUp("muting")
	for _, m := range []*member{follower, fan, blocked} {
		m.post("/api/v1/accounts/" + author.id + "/follow").want(200)
	}
	name := map[string]string{}
	for _, v := range []string{"public", "unlisted", "local", "private", "direct"} {
		id := author.publish("@mentioned @blocked needle", "visibility", v).id()
		name[id] = v
		fan.post("/api/v1/statuses/" + id + "/bookmark")
	}
	author.post("/api/v1/accounts/" + blocked.id + "/block").want(200)
	muting.post("/api/v1/accounts/" + author.id + "/mute").want(200)
	wantFound(t, srv.as(nil), name, "needle", "unlisted", "public")
	for _, tt := range []struct {
		as   *member
		want []string
	}{
		{author, []string{"direct", "private", "local", "unlisted", "public"}},
		{mentioned, []string{"direct", "private", "local", "unlisted", "public"}},
		{fan, []string{"private", "local", "unlisted", "public"}},
		{follower, []string{"local", "unlisted", "public"}}, // private ones are for reading, not for finding
		{stranger, []string{"local", "unlisted", "public"}},
		{blocked, nil},
		{muting, nil},
	} {
		t.Run(tt.as.nick, func(t *testing.T) { wantFound(t, tt.as.caller, name, "needle", tt.want...) })
	}
	wantFound(t, muting.caller, name, "needle from:author", "local", "unlisted", "public")
	wantFound(t, fan.caller, name, "in:library", "private", "local", "unlisted", "public")
	fan.post("/api/v1/accounts/" + author.id + "/unfollow").want(200)
	wantFound(t, fan.caller, name, "needle", "local", "unlisted", "public")
	follower.post("/api/v1/accounts/" + author.id + "/block").want(200)
	wantFound(t, follower.caller, name, "needle")
	wantFound(t, follower.caller, name, "needle from:author")
	srv.withhold(author)
	wantFound(t, stranger.caller, name, "needle")
	wantFound(t, mentioned.caller, name, "needle")
}

// TestSearchSettings finds less and more, as the settings say.
func TestSearchSettings(t *testing.T) {
	for _, wide := range []bool{false, true} {
		srv := startAPI(t, func(c *config.Config) { c.Search.AnonymousRemote, c.Search.DiscoverableOnly = wide, wide })
		shy, open, reader := srv.signUp("shy"), srv.signUp("open"), srv.signUp("reader")
		open.send("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"discoverable": true}).want(200)
		name := map[string]string{}
		shown := open.publish("needle").id()
		hidden := shy.publish("needle").id()
		told := shy.publish("needle @reader").id()
		liked := shy.publish("needle").id()
		away := srv.remotePost(t, "needle", "https://remote.example/objects/1")
		reader.post("/api/v1/statuses/" + liked + "/favourite").want(200)
		for id, n := range map[string]string{shown: "shown", hidden: "hidden", told: "told", liked: "liked", away: "away"} {
			name[id] = n
		}
		if wide {
			wantFound(t, srv.as(nil), name, "needle", "away", "shown")
			wantFound(t, reader.caller, name, "needle", "away", "liked", "told", "shown")
			wantFound(t, shy.caller, name, "needle", "away", "liked", "told", "hidden", "shown")
		} else {
			wantFound(t, srv.as(nil), name, "needle", "liked", "told", "hidden", "shown")
			wantFound(t, reader.caller, name, "needle", "away", "liked", "told", "hidden", "shown")
		}
		accounts := members(srv.as(nil).get("/api/v2/search", "q", "faraway").want(200).object(), "accounts", "acct")
		if got := len(accounts) == 1; got != wide {
			t.Errorf("with %v the anonymous find %v", wide, accounts)
		}
	}
}

// remotePost stores a public post by somebody elsewhere, as federation would.
func (a *api) remotePost(t *testing.T, text, uri string) string {
	t.Helper()
	var id store.StatusID
	err := a.db.Update(t.Context(), func(tx *store.Tx) error {
		author := &store.Account{
			Nickname: "faraway", Domain: "remote.example", URI: "https://remote.example/users/1", URL: "https://remote.example/@faraway",
			ActorType: "Person", Discoverable: true,
		}
		if err := tx.AddAccount(t.Context(), author); err != nil {
			return err
		}
		id = tx.NewStatusID()
		st := &store.Status{
			ID: id, AccountID: author.ID, Domain: author.Domain, URI: uri, URL: "https://remote.example/@faraway/1",
			ConversationID: store.ConversationID(id), Content: "<p>" + text + "</p>",
		}
		if err := tx.AddStatus(t.Context(), st); err != nil {
			return err
		}
		tx.IndexStatus(st, &store.Indexed{Texts: []string{text}})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return id.String()
}

// TestSearchPaging walks what a search finds, by offset and by id.
func TestSearchPaging(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	var want []string
	for i := range 45 {
		want = append(want, alice.publish(fmt.Sprintf("needle %d", i)).id())
	}
	slices.Reverse(want)
	for _, tt := range []struct {
		name string
		got  []string
		want []string
	}{
		{"the standard", alice.found("needle"), want[:20]},
		{"the most", alice.found("needle", "limit", "200"), want[:40]},
		{"by offset", alice.found("needle", "limit", "10", "offset", "40"), want[40:]},
		{"past the end", alice.found("needle", "offset", "45"), nil},
		{"far past the end", alice.found("needle", "offset", "99999999"), nil},
		{"older than", alice.found("needle", "max_id", want[10], "limit", "3"), want[11:14]},
		{"the oldest that are newer", alice.found("needle", "min_id", want[10], "limit", "3"), want[7:10]},
		{"between", alice.found("needle", "max_id", want[3], "min_id", want[7]), want[4:7]},
		{"by no id", alice.found("needle", "max_id", "what?"), nil},
		{"by an id of nothing", alice.found("needle", "max_id", "0"), nil},
		{"the anonymous", srv.as(nil).found("needle", "limit", "2"), want[:2]},
		{"the anonymous turning pages", srv.as(nil).found("needle", "limit", "2", "offset", "2"), nil},
		{"the anonymous turning pages by id", srv.as(nil).found("needle", "max_id", want[1]), nil},
	} {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}

// TestSearchAddresses looks for the one thing that an address names, in all forms that it has.
func TestSearchAddresses(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	st := alice.publish("hello").id()
	secret := alice.publish("psst", "visibility", "private").id()
	bob.publish("see " + srv.url + "/@alice and " + srv.url + "/objects/" + st)
	away := srv.remotePost(t, "from afar", "https://remote.example/objects/1")
	remote := members(bob.get("/api/v2/search", "q", "@faraway@remote.example").want(200).object(), "accounts", "id")[0]
	for address, want := range map[string]string{
		"/objects/" + st:                     st,
		"/@alice/" + st:                      st,
		"/@alice/" + st + "/":                st,
		"/@alice/" + st + "?x=y#z":           st,
		"/objects/" + secret:                 "",
		"/objects/nonsense":                  "",
		"/@alice":                            alice.id,
		"/@Alice/":                           alice.id,
		"/users/alice":                       alice.id,
		"/users/" + alice.id:                 alice.id,
		"/@faraway@remote.example":           remote,
		"/@nobody":                           "",
		"/users/nobody":                      "",
		"/about":                             "",
		"/":                                  "",
		"https://remote.example/objects/1":   away,
		"https://remote.example/@faraway/1":  away,
		"https://remote.example/users/1":     remote,
		"https://remote.example/@faraway":    remote,
		"https://remote.example/@faraway/2":  "",
		"https://elsewhere.example/@alice":   "",
		"https://":                           "",
		"http://[::1":                        "",
		"https://remote.example/objects/1#x": away,
	} {
		if strings.HasPrefix(address, "/") {
			address = srv.url + address
		}
		found := bob.get("/api/v2/search", "q", address).want(200).object()
		got := append(members(found, "accounts", "id"), members(found, "statuses", "id")...)
		if want == "" && len(got) > 0 || want != "" && !slices.Equal(got, []string{want}) {
			t.Errorf("%s finds %v, want %s", address, got, want)
		}
		if tags := members(found, "hashtags", "name"); len(tags) > 0 {
			t.Errorf("%s finds hashtags %v", address, tags)
		}
	}
	if got := bob.found(srv.url + "/@alice"); len(got) != 0 {
		t.Errorf("an account is found among the statuses: %v", got)
	}
	if got := bob.found(`"` + srv.url + `/@alice"`); len(got) != 1 {
		t.Errorf("the post with an address in it is not found: %v", got)
	}
}

// TestSearchResolves has other servers asked for what is not known here, but only by those who may have that done.
func TestSearchResolves(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	away := srv.remotePost(t, "from afar", "https://remote.example/objects/1")
	var remote store.AccountID
	remote.UnmarshalText([]byte(members(alice.get("/api/v2/search", "q", "@faraway@remote.example").want(200).object(), "accounts", "id")[0]))
	var asked []string
	handler := server.New(server.Config{
		Settings: srv.settings, DB: srv.db, Social: srv.social, Entities: srv.entities, Emojis: srv.emojis, Keys: srv.keys,
		Resolve: func(_ context.Context, viewer *store.Account, what string) (server.Resolved, error) {
			asked = append(asked, viewer.Nickname+" "+what)
			switch what {
			case "https://other.example/notes/1":
				return server.Resolved{Status: statusID(away)}, nil
			case "https://other.example/people/1", "new@other.example":
				return server.Resolved{Account: remote}, nil
			case "https://broken.example/":
				return server.Resolved{}, errors.New("broken")
			}
			return server.Resolved{}, errs.ErrRecordNotFound
		},
	})
	ts := httptest.NewServer(handler)
	defer ts.Close()
	other := *srv
	other.url = ts.URL
	for _, tt := range []struct {
		q, resolve string
		as         *member
		want       string
		asks       bool
	}{
		{"https://other.example/notes/1", "true", alice, away, true},
		{"https://other.example/notes/1", "false", alice, "", false},
		{"https://other.example/notes/1", "true", nil, "", false},
		{"https://other.example/people/1", "true", alice, remote.String(), true},
		{"https://remote.example/objects/1", "true", alice, away, false},
		{"https://gone.example/", "true", alice, "", true},
		{"https://broken.example/", "true", alice, "", true},
		{srv.url + "/@nobody", "true", alice, "", false},
		{"@new@other.example", "true", alice, remote.String(), true},
		{"@new@other.example", "true", nil, "", false},
		{"new", "true", alice, "", false},
		{"@alice@" + strings.TrimPrefix(srv.url, "http://"), "true", alice, alice.id, false},
	} {
		asked = nil
		c := &caller{api: &other}
		if tt.as != nil {
			c.token = tt.as.token
		}
		found := c.get("/api/v2/search?" + url.Values{"q": {tt.q}, "resolve": {tt.resolve}}.Encode()).want(200).object()
		got := append(members(found, "accounts", "id"), members(found, "statuses", "id")...)
		if strings.Join(got, " ") != tt.want || (len(asked) == 1) != tt.asks || len(asked) > 1 {
			t.Errorf("%s (resolve=%s): found %v, want %q; asked %v", tt.q, tt.resolve, got, tt.want, asked)
		}
	}
}

// TestSearchV1 has hashtags as texts.
func TestSearchV1(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	st := alice.publish("hello #Trains").id()
	found := alice.get("/api/v1/search", "q", "#trains").want(200).object()
	if got := fmt.Sprint(found.at("hashtags"), members(found, "statuses", "id"), found.at("accounts")); got != fmt.Sprint([]string{"trains"}, []string{st}, []string{}) {
		t.Errorf("got %s", got)
	}
	alice.get("/api/v1/search").want(400)
}

// TestSearchHashtags finds hashtags that the viewer may know of.
func TestSearchHashtags(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	alice.publish("#rail #railway #Zug")
	alice.publish("#railsecret", "visibility", "private")
	alice.publish("#raillocal", "visibility", "local")
	bob.post("/api/v1/tags/zug/follow").want(200)
	for _, tt := range []struct {
		as   *member
		q    string
		want []string
	}{
		{bob, "rail", []string{"rail", "raillocal", "railway"}},
		{nil, "rail", []string{"rail", "railway"}},
		{alice, "rail", []string{"rail", "raillocal", "railsecret", "railway"}},
		{bob, "#Unused", []string{"unused"}},
		{bob, "rail and zug", []string{"rail", "zug", "RailAndZug"}},
		{bob, "big #unused things", []string{"unused", "BigUnusedThings"}},
		{bob, "railsecret zug", []string{"zug", "RailsecretZug"}},
		{bob, "rail, zug", []string{"zug"}},
		{bob, "not-a-tag", nil},
		{bob, "@rail", nil},
		{bob, "a b c d e f g h i j k", nil},
	} {
		found := srv.as(tt.as).get("/api/v2/search", "q", tt.q, "type", "hashtags").want(200).object()
		if got := members(found, "hashtags", "name"); !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %v, want %v", tt.q, got, tt.want)
		}
	}
	page := bob.get("/api/v2/search", "q", "rail", "type", "hashtags", "limit", "1", "offset", "2").want(200).object()
	if got := members(page, "hashtags", "name"); !slices.Equal(got, []string{"railway"}) {
		t.Errorf("by offset: got %v", got)
	}
	tags := bob.get("/api/v2/search", "q", "zug rail", "type", "hashtags").want(200).object().at("hashtags").([]any)
	for i, want := range []bool{true, false, false} {
		if got := tags[i].(map[string]any)["following"]; got != want {
			t.Errorf("%v is followed: %v", tags[i], got)
		}
	}
}

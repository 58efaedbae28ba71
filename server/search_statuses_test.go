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

	"svc/app/apptest"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/server"
	"svc/store"
)

// searchStatuses returns the ids of the posts that a search finds.
func searchStatuses(c *apptest.Client, q string, params ...string) []string {
	c.Server.T.Helper()
	return apptest.ListField(c.Get("/api/v2/search", append([]string{"q", q, "type", "statuses"}, params...)...).Want(200).Object(), "statuses", "id")
}

// wantFound fails the test if a search finds other posts than want; names has the name of each id.
func wantFound(t *testing.T, as *apptest.Client, names map[string]string, q string, want ...string) {
	t.Helper()
	var got []string
	for _, id := range searchStatuses(as, q) {
		got = append(got, names[id])
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q finds %q, want %q", q, got, want)
	}
}

// TestSearchQueries searches posts with all operators, several languages and malformed queries.
func TestSearchQueries(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	name := map[string]string{}
	post := func(as *apptest.User, key, text string, params ...string) string {
		id := as.Publish(text, params...).ID()
		name[id] = key
		return id
	}
	fox := post(alice, "fox", "The quick brown fox doesn't jump.", "language", "en")
	post(bob, "dog", "A quick dog jumps over a brown log #Dogs_only https://example.com/page", "language", "pt-BR")
	post(alice, "cafe", "Meet me at the CAFÉ, @bob", "spoiler_text", "breakfast plans")
	picture := bob.Upload(apptest.PNG(3, 3), apptest.ValuePart("description", "a sleeping cat")).ID()
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
	if st, err := srv.DB.Status(t.Context(), apptest.StatusID(fox)); err == nil {
		year = st.CreatedAt.String()[:4]
	}
	host := strings.TrimPrefix(srv.URL, "http://")
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
		"@bob@third.example":           nil,
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
		"quick AND NOT fox":            nil, // ordinary words, not operators
		"quick*":                       {"dog", "fox"},
		"body:quick":                   nil,
		"by" + fmt.Sprint(1):           nil,
		"here":                         nil,
		"\x00quick\x00":                {"dog", "fox"},
		strings.Repeat("quick ", 1000): {"dog", "fox"},
	} {
		wantFound(t, alice.Client, name, q, want...)
	}
	wantFound(t, srv.As(nil), name, "from:me")
	wantFound(t, srv.As(nil), name, "in:library")
	if got := searchStatuses(alice.Client, "from:me", "limit", "1"); len(got) != 1 || name[got[0]] != "poll" {
		t.Errorf("from:me finds %v", got)
	}
	alice.SendJSON("PUT", "/api/v1/statuses/"+poll, map[string]any{"status": "which tea?", "poll": map[string]any{"options": []string{"sencha", "rooibos"}, "expires_in": 3600}}).Want(200)
	wantFound(t, alice.Client, name, "oolong")
	wantFound(t, alice.Client, name, "sencha", "poll")
	if got := searchStatuses(alice.Client, "quick", "account_id", bob.ID); len(got) != 1 || name[got[0]] != "dog" {
		t.Errorf("with account_id: %v", got)
	}
	if got := searchStatuses(alice.Client, "quick", "account_id", "nonsense"); len(got) != 0 {
		t.Errorf("with an invalid account_id: %v", got)
	}
}

// TestSearchFollowsPosts checks that edits and deletions of posts change what a search finds.
func TestSearchFollowsPosts(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	picture := alice.Upload(apptest.PNG(3, 3), apptest.ValuePart("description", "zebra")).ID()
	st := alice.Publish("marmalade @bob", "media_ids[]", picture)
	want := func(q string, ids ...string) {
		t.Helper()
		if got := searchStatuses(bob.Client, q); !slices.Equal(got, ids) {
			t.Errorf("%q finds %v, want %v", q, got, ids)
		}
	}
	want("marmalade zebra", st.ID())
	bob.Post("/api/v1/statuses/" + st.ID() + "/reblog").Want(200)
	want("marmalade", st.ID()) // but not its boost
	want("from:bob")
	alice.SendJSON("PUT", "/api/v1/media/"+picture, map[string]any{"description": "giraffe"}).Want(200)
	want("zebra")
	want("giraffe marmalade", st.ID())
	alice.SendJSON("PUT", "/api/v1/statuses/"+st.ID(), map[string]any{"status": "honey", "media_ids": []string{picture}}).Want(200)
	want("marmalade")
	want("honey giraffe has:media", st.ID())
	alice.SendJSON("PUT", "/api/v1/statuses/"+st.ID(), map[string]any{"status": "honey"}).Want(200)
	want("honey has:media")
	want("giraffe")
	alice.Do("DELETE", "/api/v1/statuses/"+st.ID(), "", nil).Want(200)
	want("honey")
	expiring := alice.Publish("deleted in a moment").ID()
	alice.Post("/api/v1/statuses", "status", "previewed", "preview", "true").Want(200)
	want("previewed")
	want("moment", expiring)
	if err := srv.Social.DeleteAccount(t.Context(), alice.AccountID()); err != nil {
		t.Fatal(err)
	}
	want("moment")
	srv.RunJobs()
	if n := srv.Count(`SELECT count(*) FROM statuses_fts_docsize`); n != 0 {
		t.Errorf("%d posts are still in the index", n)
	}
}

// TestSearchAudience checks which viewers find posts of which visibility.
func TestSearchAudience(t *testing.T) {
	srv := apptest.Start(t)
	author, follower, mentioned, fan := srv.SignUp("author"), srv.SignUp("follower"), srv.SignUp("mentioned"), srv.SignUp("fan")
	unrelated, blocked, muting := srv.SignUp("unrelated"), srv.SignUp("blocked"), srv.SignUp("muting")
	for _, m := range []*apptest.User{follower, fan, blocked} {
		m.Post("/api/v1/accounts/" + author.ID + "/follow").Want(200)
	}
	name := map[string]string{}
	for _, v := range []string{"public", "unlisted", "local", "private", "direct"} {
		id := author.Publish("@mentioned @blocked needle", "visibility", v).ID()
		name[id] = v
		fan.Post("/api/v1/statuses/" + id + "/bookmark")
	}
	author.Post("/api/v1/accounts/" + blocked.ID + "/block").Want(200)
	muting.Post("/api/v1/accounts/" + author.ID + "/mute").Want(200)
	wantFound(t, srv.As(nil), name, "needle", "unlisted", "public")
	for _, tt := range []struct {
		as   *apptest.User
		want []string
	}{
		{author, []string{"direct", "private", "local", "unlisted", "public"}},
		{mentioned, []string{"direct", "private", "local", "unlisted", "public"}},
		{fan, []string{"private", "local", "unlisted", "public"}},
		{follower, []string{"local", "unlisted", "public"}}, // followers see private posts but do not find them
		{unrelated, []string{"local", "unlisted", "public"}},
		{blocked, nil},
		{muting, nil},
	} {
		t.Run(tt.as.Nickname, func(t *testing.T) { wantFound(t, tt.as.Client, name, "needle", tt.want...) })
	}
	wantFound(t, muting.Client, name, "needle from:author", "local", "unlisted", "public")
	wantFound(t, fan.Client, name, "in:library", "private", "local", "unlisted", "public")
	fan.Post("/api/v1/accounts/" + author.ID + "/unfollow").Want(200)
	wantFound(t, fan.Client, name, "needle", "local", "unlisted", "public")
	follower.Post("/api/v1/accounts/" + author.ID + "/block").Want(200)
	wantFound(t, follower.Client, name, "needle")
	wantFound(t, follower.Client, name, "needle from:author")
	srv.MakeUnavailable(author)
	wantFound(t, unrelated.Client, name, "needle")
	wantFound(t, mentioned.Client, name, "needle")
}

// TestSearchSettings checks the settings search.anonymous_remote and search.discoverable_only.
func TestSearchSettings(t *testing.T) {
	for _, wide := range []bool{false, true} {
		srv := apptest.Start(t, func(c *config.Config) { c.Search.AnonymousRemote, c.Search.DiscoverableOnly = wide, wide })
		shy, open, viewer := srv.SignUp("shy"), srv.SignUp("open"), srv.SignUp("viewer")
		open.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"discoverable": true}).Want(200)
		name := map[string]string{}
		shown := open.Publish("needle").ID()
		hidden := shy.Publish("needle").ID()
		mentioning := shy.Publish("needle @viewer").ID()
		liked := shy.Publish("needle").ID()
		remotePost := addRemotePost(srv, t, "needle", "https://remote.example/objects/1")
		viewer.Post("/api/v1/statuses/" + liked + "/favourite").Want(200)
		for id, n := range map[string]string{shown: "shown", hidden: "hidden", mentioning: "mentioning", liked: "liked", remotePost: "remote"} {
			name[id] = n
		}
		if wide {
			wantFound(t, srv.As(nil), name, "needle", "remote", "shown")
			wantFound(t, viewer.Client, name, "needle", "remote", "liked", "mentioning", "shown")
			wantFound(t, shy.Client, name, "needle", "remote", "liked", "mentioning", "hidden", "shown")
		} else {
			wantFound(t, srv.As(nil), name, "needle", "liked", "mentioning", "hidden", "shown")
			wantFound(t, viewer.Client, name, "needle", "remote", "liked", "mentioning", "hidden", "shown")
		}
		accounts := apptest.ListField(srv.As(nil).Get("/api/v2/search", "q", "faraway").Want(200).Object(), "accounts", "acct")
		if got := len(accounts) == 1; got != wide {
			t.Errorf("with %v anonymous clients find %v", wide, accounts)
		}
	}
}

// addRemotePost stores a public post by a remote account, as federation does.
func addRemotePost(a *apptest.Server, t *testing.T, text, uri string) string {
	t.Helper()
	var id store.StatusID
	err := a.DB.Update(t.Context(), func(tx *store.Tx) error {
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
		tx.IndexStatus(st, &store.SearchDocument{Texts: []string{text}})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return id.String()
}

// TestSearchPaging requests pages of search results by offset and by id.
func TestSearchPaging(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	var want []string
	for i := range 45 {
		want = append(want, alice.Publish(fmt.Sprintf("needle %d", i)).ID())
	}
	slices.Reverse(want)
	for _, tt := range []struct {
		name string
		got  []string
		want []string
	}{
		{"the default limit", searchStatuses(alice.Client, "needle"), want[:20]},
		{"the highest limit", searchStatuses(alice.Client, "needle", "limit", "200"), want[:40]},
		{"by offset", searchStatuses(alice.Client, "needle", "limit", "10", "offset", "40"), want[40:]},
		{"past the end", searchStatuses(alice.Client, "needle", "offset", "45"), nil},
		{"far past the end", searchStatuses(alice.Client, "needle", "offset", "99999999"), nil},
		{"older than", searchStatuses(alice.Client, "needle", "max_id", want[10], "limit", "3"), want[11:14]},
		{"the oldest that are newer", searchStatuses(alice.Client, "needle", "min_id", want[10], "limit", "3"), want[7:10]},
		{"between", searchStatuses(alice.Client, "needle", "max_id", want[3], "min_id", want[7]), want[4:7]},
		{"by an invalid id", searchStatuses(alice.Client, "needle", "max_id", "what?"), nil},
		{"by an unknown id", searchStatuses(alice.Client, "needle", "max_id", "0"), nil},
		{"an anonymous client", searchStatuses(srv.As(nil), "needle", "limit", "2"), want[:2]},
		{"anonymous, by offset", searchStatuses(srv.As(nil), "needle", "limit", "2", "offset", "2"), nil},
		{"anonymous, by id", searchStatuses(srv.As(nil), "needle", "max_id", want[1]), nil},
	} {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}

// TestSearchURLs searches accounts and statuses by all forms of their URLs.
func TestSearchURLs(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	st := alice.Publish("hello").ID()
	secret := alice.Publish("psst", "visibility", "private").ID()
	bob.Publish("see " + srv.URL + "/@alice and " + srv.URL + "/objects/" + st)
	remotePost := addRemotePost(srv, t, "from afar", "https://remote.example/objects/1")
	remote := apptest.ListField(bob.Get("/api/v2/search", "q", "@faraway@remote.example").Want(200).Object(), "accounts", "id")[0]
	for address, want := range map[string]string{
		"/objects/" + st:                     st,
		"/@alice/" + st:                      st,
		"/@alice/" + st + "/":                st,
		"/@alice/" + st + "?x=y#z":           st,
		"/objects/" + secret:                 "",
		"/objects/nonsense":                  "",
		"/@alice":                            alice.ID,
		"/@Alice/":                           alice.ID,
		"/users/alice":                       alice.ID,
		"/users/" + alice.ID:                 alice.ID,
		"/@faraway@remote.example":           remote,
		"/@nobody":                           "",
		"/users/nobody":                      "",
		"/about":                             "",
		"/":                                  "",
		"https://remote.example/objects/1":   remotePost,
		"https://remote.example/@faraway/1":  remotePost,
		"https://remote.example/users/1":     remote,
		"https://remote.example/@faraway":    remote,
		"https://remote.example/@faraway/2":  "",
		"https://third.example/@alice":       "",
		"https://":                           "",
		"http://[::1":                        "",
		"https://remote.example/objects/1#x": remotePost,
		"HTTPS://Remote.Example/objects/1":   remotePost,
		"HTTPS://remote.example/@faraway":    remote,
	} {
		if strings.HasPrefix(address, "/") {
			address = srv.URL + address
		}
		found := bob.Get("/api/v2/search", "q", address).Want(200).Object()
		got := append(apptest.ListField(found, "accounts", "id"), apptest.ListField(found, "statuses", "id")...)
		if want == "" && len(got) > 0 || want != "" && !slices.Equal(got, []string{want}) {
			t.Errorf("%s finds %v, want %s", address, got, want)
		}
		if tags := apptest.ListField(found, "hashtags", "name"); len(tags) > 0 {
			t.Errorf("%s finds hashtags %v", address, tags)
		}
	}
	if got := searchStatuses(bob.Client, srv.URL+"/@alice"); len(got) != 0 {
		t.Errorf("an account is found among the statuses: %v", got)
	}
	if got := searchStatuses(bob.Client, `"`+srv.URL+`/@alice"`); len(got) != 1 {
		t.Errorf("the post with an address in it is not found: %v", got)
	}
}

// TestSearchResolves checks that unknown URLs and handles are resolved for signed-in users only.
func TestSearchResolves(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	remotePost := addRemotePost(srv, t, "from afar", "https://remote.example/objects/1")
	var remote store.AccountID
	remote.UnmarshalText([]byte(apptest.ListField(alice.Get("/api/v2/search", "q", "@faraway@remote.example").Want(200).Object(), "accounts", "id")[0]))
	var resolved []string
	handler := server.New(server.Config{
		Settings: srv.Live, DB: srv.DB, Social: srv.Social, Entities: srv.Entities, Emojis: srv.Emojis, Keys: srv.Keys,
		Resolve: func(_ context.Context, viewer *store.Account, what string) (server.Resolved, error) {
			resolved = append(resolved, viewer.Nickname+" "+what)
			switch what {
			case "https://other.example/notes/1":
				return server.Resolved{Status: apptest.StatusID(remotePost)}, nil
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
	other.URL = ts.URL
	for _, tt := range []struct {
		q, resolve string
		as         *apptest.User
		want       string
		resolves   bool
	}{
		{"https://other.example/notes/1", "true", alice, remotePost, true},
		{"https://other.example/notes/1", "false", alice, "", false},
		{"https://other.example/notes/1", "true", nil, "", false},
		{"https://other.example/people/1", "true", alice, remote.String(), true},
		{"https://remote.example/objects/1", "true", alice, remotePost, false},
		{"https://gone.example/", "true", alice, "", true},
		{"https://broken.example/", "true", alice, "", true},
		{srv.URL + "/@nobody", "true", alice, "", false},
		{"@new@other.example", "true", alice, remote.String(), true},
		{"@new@other.example", "true", nil, "", false},
		{"new", "true", alice, "", false},
		{"@alice@" + strings.TrimPrefix(srv.URL, "http://"), "true", alice, alice.ID, false},
	} {
		resolved = nil
		c := &apptest.Client{Server: &other}
		if tt.as != nil {
			c.Token = tt.as.Token
		}
		found := c.Get("/api/v2/search?" + url.Values{"q": {tt.q}, "resolve": {tt.resolve}}.Encode()).Want(200).Object()
		got := append(apptest.ListField(found, "accounts", "id"), apptest.ListField(found, "statuses", "id")...)
		if strings.Join(got, " ") != tt.want || (len(resolved) == 1) != tt.resolves || len(resolved) > 1 {
			t.Errorf("%s (resolve=%s): found %v, want %q; resolved %v", tt.q, tt.resolve, got, tt.want, resolved)
		}
	}
}

// TestSearchV1 checks that hashtags are plain texts in version 1 of the API.
func TestSearchV1(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	st := alice.Publish("hello #Trains").ID()
	found := alice.Get("/api/v1/search", "q", "#trains").Want(200).Object()
	if got := fmt.Sprint(found.At("hashtags"), apptest.ListField(found, "statuses", "id"), found.At("accounts")); got != fmt.Sprint([]string{"trains"}, []string{st}, []string{}) {
		t.Errorf("got %s", got)
	}
	alice.Get("/api/v1/search").Want(400)
}

// TestSearchHashtags checks that only hashtags of visible posts are found.
func TestSearchHashtags(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	alice.Publish("#rail #railway #Zug")
	alice.Publish("#railAndZug #railsecretZug", "visibility", "private")
	alice.Publish("#railsecret", "visibility", "private")
	alice.Publish("#raillocal", "visibility", "local")
	bob.Post("/api/v1/tags/zug/follow").Want(200)
	for _, tt := range []struct {
		as   *apptest.User
		q    string
		want []string
	}{
		{bob, "rail", []string{"rail", "raillocal", "railway"}},
		{nil, "rail", []string{"rail", "railway"}},
		{alice, "railsec", []string{"railsecret", "railsecretzug"}},
		{alice, "railsecret", []string{"railsecret", "railsecretzug"}},
		{bob, "railsecret", nil},
		{bob, "#Unused", nil},
		{bob, "#zug", []string{"zug"}},
		{bob, "rail rail zug", []string{"rail", "zug"}},
		{bob, "rail and zug", []string{"rail", "zug"}},
		{alice, "rail and zug", []string{"rail", "zug", "RailAndZug"}},
		{bob, "big #unused things", nil},
		{bob, "railsecret zug", []string{"zug"}},
		{bob, "rail, zug", []string{"zug"}},
		{bob, "not-a-tag", nil},
		{bob, "@rail", nil},
		{bob, "a b c d e f g h i j k", nil},
	} {
		found := srv.As(tt.as).Get("/api/v2/search", "q", tt.q, "type", "hashtags").Want(200).Object()
		if got := apptest.ListField(found, "hashtags", "name"); !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %v, want %v", tt.q, got, tt.want)
		}
	}
	page := bob.Get("/api/v2/search", "q", "rail", "type", "hashtags", "limit", "1", "offset", "2").Want(200).Object()
	if got := apptest.ListField(page, "hashtags", "name"); !slices.Equal(got, []string{"railway"}) {
		t.Errorf("by offset: got %v", got)
	}
	tags := bob.Get("/api/v2/search", "q", "zug rail", "type", "hashtags").Want(200).Object().At("hashtags").([]any)
	for i, want := range []bool{true, false} {
		if got := tags[i].(map[string]any)["following"]; got != want {
			t.Errorf("%v is followed: %v", tags[i], got)
		}
	}
}

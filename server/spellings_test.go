package server_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/store"
)

// TestSpellingsOfHashtags checks that spellings of a hashtag are one hashtag, each shown as it was typed.
func TestSpellingsOfHashtags(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	remote := peer.AddActor("carol")
	alice.FollowRemote(remote)
	if tag := bob.Post("/api/v1/tags/CATALA/follow").Want(200).Object(); tag.Str("name") != "catala" || !tag.Bool("following") {
		t.Errorf("followed: %v", tag.Fields)
	}
	stream := srv.OpenStream(bob.Client, "stream", "hashtag", "tag", "catalá")
	one, other := alice.Publish("viu #Català #catala"), alice.Publish("viva #Catala")
	note := peer.Note(remote, `<p>viu <a href="https://peer.example/tags/catala" rel="tag">#CATALÁ</a></p>`, apptest.Doc{
		"tag": []any{apptest.Doc{"type": "Hashtag", "name": "#CATALÁ", "href": "https://peer.example/tags/catala"}},
	})
	peer.PostAndSettle(srv, peer.Create(note))
	third := alice.WantPost(note["id"])
	update := "hashtag catalá: update "
	stream.WantEvents("the stream of a spelling", update+one.ID(), update+other.ID(), update+third.ID())
	for _, tt := range []struct {
		post       *apptest.Object
		text, name string
	}{{one, "#Català<", "català"}, {other, "#Catala<", "catala"}, {third, "#CATALÁ<", "catalá"}} {
		st := alice.Get("/api/v1/statuses/" + tt.post.ID()).Want(200).Object()
		if names := apptest.ListField(st, "tags", "name"); !slices.Equal(names, []string{tt.name}) || !strings.Contains(st.Str("content"), tt.text) {
			t.Errorf("hashtags %v of %s, want %s as in %s", names, st.Str("content"), tt.name, tt.text)
		}
	}
	all := []string{third.ID(), other.ID(), one.ID()}
	for _, name := range []string{"català", "CATALA", "catalá"} {
		name = url.PathEscape(name)
		apptest.WantIDs(t, "timeline of "+name, bob.Get("/api/v1/timelines/tag/"+name), all...)
		if tag := bob.Get("/api/v1/tags/" + name).Want(200).Object(); !tag.Bool("following") {
			t.Errorf("%s: %v", name, tag.Fields)
		}
	}
	apptest.WantIDs(t, "all of two spellings", bob.Get("/api/v1/timelines/tag/català", "all[]", "catala", "all[]", "català"), all...)
	apptest.WantIDs(t, "none of another spelling", bob.Get("/api/v1/timelines/tag/català", "none[]", "catala"))
	apptest.WantIDs(t, "posts of an account", bob.Get("/api/v1/accounts/"+alice.ID+"/statuses", "tagged", "catala"), all[1:]...)
	apptest.WantIDs(t, "home of a follower", bob.Get("/api/v1/timelines/home"), all...)
	for _, q := range []string{"#catal", "català", "＃Catala"} {
		found := bob.Get("/api/v2/search", "q", q, "type", "hashtags").Want(200).Object()
		if got := apptest.ListField(found, "hashtags", "name"); !slices.Equal(got, []string{"catala"}) {
			t.Errorf("search for %s finds %v", q, got)
		}
	}
	first := alice.Post("/api/v1/featured_tags", "name", "català").Want(200).Object()
	if again := alice.Post("/api/v1/featured_tags", "name", "catala").Want(200).Object(); again.ID() != first.ID() || again.Str("statuses_count") != "2" {
		t.Errorf("featured: %v, then %v", first.Fields, again.Fields)
	}
	alice.Get("/tags/catal%C3%A0").Want(200)
	bob.Post("/api/v1/tags/catal%C3%A0/unfollow").Want(200)
	apptest.WantIDs(t, "home afterwards", bob.Get("/api/v1/timelines/home"))
}

// TestSearchFoldings checks that accounts and posts are found by the same words.
func TestSearchFoldings(t *testing.T) {
	srv := apptest.Start(t)
	viewer := srv.SignUp("viewer")
	for i, tt := range []struct {
		written string
		finds   []string
		not     []string
	}{
		{"日本太郎", []string{"太郎", "日本", "本太"}, []string{"太本"}},
		{"𝓐𝓵𝓲𝓬𝓮 Ｗｉｄｅ", []string{"alice", "wide", "ＡＬＩＣＥ"}, nil},
		{"Łódź Đorđe Øre Straße Ilık Æsir œuvre Þór Ħal", []string{"lodz", "łódź", "dorde", "ore", "strasse", "STRASSE", "ilik", "aesir", "oeuvre", "thor", "hal"}, nil},
		{"Пётр Ёлкин мой", []string{"петр", "пётр", "елкин", "мой"}, []string{"мои"}},
		{"שָׁלוֹם كِتَاب", []string{"שלום", "كتاب", "שָׁלוֹם"}, nil},
		{"ﾊﾟﾝﾀﾞ", []string{"パンダ", "ﾊﾟﾝﾀﾞ"}, []string{"ハンダ"}},
		{"หิรัญ हिन्दी", []string{"หิรัญ", "हिन्दी"}, nil},
		{"train🚆ride", []string{"🚆", "train", "ride"}, nil},
	} {
		m := srv.SignUp("person" + string(rune('a'+i)))
		m.UpdateProfile(map[string]any{"display_name": tt.written})
		post := m.Publish(tt.written).ID()
		check := func(q string, found bool) {
			t.Helper()
			result := viewer.Get("/api/v2/search", "q", q).Want(200).Object()
			if got := apptest.ListField(result, "accounts", "id"); slices.Contains(got, m.ID) != found {
				t.Errorf("%q finds the account %s: %v", q, tt.written, !found)
			}
			if got := apptest.ListField(result, "statuses", "id"); slices.Contains(got, post) != found {
				t.Errorf("%q finds the post %s: %v", q, tt.written, !found)
			}
		}
		for _, q := range tt.finds {
			check(q, true)
		}
		for _, q := range tt.not {
			check(q, false)
		}
	}
}

// TestRefold checks that rows of schema 5 are found as new ones are.
func TestRefold(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	alice.UpdateProfile(map[string]any{"display_name": "日本太郎"})
	accented, plain, both := alice.Publish("viu #català").ID(), alice.Publish("viu #catala").ID(), alice.Publish("#català i #catala").ID()
	lone, quiet := alice.Publish("#łódź").ID(), alice.Publish("Straße", "spoiler_text", "ł").ID()
	bob.Post("/api/v1/tags/catala/follow").Want(200)
	alice.Post("/api/v1/tags/catala/follow").Want(200)
	bob.Post("/api/v1/tags/catala/feature").Want(200)

	// A hashtag for each spelling, with a follow of both by bob, and indexes without the words.
	srv.Exec(`UPDATE tags SET name = 'catala', key = 'catala' WHERE key = 'catala'`)
	srv.Exec(`UPDATE tags SET key = name WHERE key = 'lodz'`)
	srv.Exec(`INSERT INTO tags (id, name, key) VALUES (1000, 'català', 'català')`)
	srv.Exec(`UPDATE status_tags SET name = ''`)
	srv.Exec(`UPDATE status_tags SET tag_id = 1000 WHERE status_id IN (SELECT id FROM statuses WHERE content LIKE '%>#català<%' AND content NOT LIKE '%#catala<%')`)
	srv.Exec(`INSERT INTO status_tags (tag_id, status_id, position, visibility) SELECT 1000, status_id, 0, visibility FROM status_tags t
		WHERE tag_id <> 1000 AND status_id IN (SELECT id FROM statuses WHERE content LIKE '%>#català<%')`)
	srv.Exec(`INSERT INTO tag_follows (id, account_id, tag_id) SELECT id + 1, account_id, 1000 FROM tag_follows`)
	srv.Exec(`DELETE FROM tag_follows WHERE tag_id <> 1000 AND account_id <> (SELECT account_id FROM featured_tags)`)
	srv.Exec(`UPDATE featured_tags SET tag_id = 1000`)
	srv.Exec(`DELETE FROM account_tags`)
	srv.Exec(`INSERT INTO account_tags (account_id, tag_id, statuses_count, last_status_id)
		SELECT s.account_id, t.tag_id, count(*), max(s.id) FROM status_tags t JOIN statuses s ON s.id = t.status_id GROUP BY 1, 2`)
	srv.Exec(`DELETE FROM accounts_fts WHERE rowid IN (SELECT id FROM accounts WHERE display_name = '日本太郎')`)
	srv.Exec(`INSERT INTO statuses_fts (statuses_fts) VALUES ('delete-all')`)
	if n := srv.Count(`SELECT count(*) FROM status_tags WHERE tag_id = 1000`); n != 2 {
		t.Fatalf("%d posts have the old hashtag", n)
	}

	if err := srv.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.Enqueue(t.Context(), store.Refold{}) }); err != nil {
		t.Fatal(err)
	}
	srv.RunJobs()
	for _, name := range []string{"catal%C3%A0", "catala"} {
		apptest.WantIDs(t, name, bob.Get("/api/v1/timelines/tag/"+name), both, plain, accented)
	}
	apptest.WantIDs(t, "a hashtag without another spelling", bob.Get("/api/v1/timelines/tag/lodz"), lone)
	for id, want := range map[string]string{accented: "català", plain: "catala", lone: "łódź"} {
		if got := apptest.ListField(alice.Get("/api/v1/statuses/"+id).Want(200).Object(), "tags", "name"); !slices.Equal(got, []string{want}) {
			t.Errorf("hashtags %v, want %s", got, want)
		}
	}
	for query, want := range map[string]int{
		`SELECT count(*) FROM tags WHERE id = 1000`:                                                            0,
		`SELECT count(*) FROM tag_follows`:                                                                     2,
		`SELECT count(*) FROM featured_tags f JOIN tags t ON t.id = f.tag_id WHERE t.key = 'catala'`:           1,
		`SELECT sum(statuses_count) FROM account_tags a JOIN tags t ON t.id = a.tag_id WHERE t.key = 'catala'`: 3,
		`SELECT count(*) FROM pragma_foreign_key_check`:                                                        0,
		`SELECT count(*) FROM tags t WHERE t.key GLOB '*[^ -~]*'`:                                              0,
	} {
		if got := srv.Count(query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	if got := apptest.ListField(bob.Get("/api/v2/search", "q", "太郎").Want(200).Object(), "accounts", "id"); !slices.Equal(got, []string{alice.ID}) {
		t.Errorf("accounts: %v", got)
	}
	if got := searchStatuses(bob.Client, "strasse"); !slices.Equal(got, []string{quiet}) {
		t.Errorf("posts: %v", got)
	}
	if found, _, err := srv.DB.Recount(t.Context(), "accounts:0"); err != nil || len(found) > 0 {
		t.Errorf("mismatches %v, %v", found, err)
	}
}

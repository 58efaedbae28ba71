package server_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/social"
	"svc/store"
)

// reactionsIn returns the reactions in the entity of a status, such as "🔥 2 me".
func reactionsIn(st *apptest.Object) []string {
	st.T.Helper()
	list := []string{}
	for _, r := range st.At("svc.emoji_reactions").([]any) {
		list = append(list, reactionLine(&apptest.Object{T: st.T, Fields: r.(map[string]any)}))
	}
	return list
}

func reactionLine(o *apptest.Object) string {
	line := fmt.Sprint(o.Str("name"), " ", o.Int("count"))
	if o.Bool("me") {
		line += " me"
	}
	return line
}

// reactionsAt returns the reactions in the list at a path, such as "🔥 2 me: bob alice".
func reactionsAt(c *apptest.Client, path string, params ...string) []string {
	c.Server.T.Helper()
	list := []string{}
	for _, o := range c.Get("/api/v1/svc/statuses/"+path, params...).Want(200).List() {
		line := reactionLine(o) + ":"
		for _, a := range o.At("accounts").([]any) {
			line += " " + a.(map[string]any)["acct"].(string)
		}
		list = append(list, line)
	}
	return list
}

// wantReactions fails the test if the entity or the list of reactions of a status has other reactions than want.
func wantReactions(c *apptest.Client, what, id string, want ...string) {
	t := c.Server.T
	t.Helper()
	if got := reactionsAt(c, id+"/reactions"); !slices.Equal(got, want) {
		t.Errorf("%s: the list has %q, want %q", what, got, want)
	}
	short := []string{}
	for _, line := range want {
		line, _, _ = strings.Cut(line, ": ")
		short = append(short, line)
	}
	if got := reactionsIn(c.Get("/api/v1/statuses/" + id).Want(200).Object()); !slices.Equal(got, short) {
		t.Errorf("%s: the status has %q, want %q", what, got, short)
	}
}

// notifiedReactions returns an account's notifications of reactions, such as "bob 🔥", the newest first.
func notifiedReactions(m *apptest.User) []string {
	m.Server.T.Helper()
	list := []string{}
	for _, n := range m.Get("/api/v1/notifications", "types[]", "svc:emoji_reaction", "with_muted", "true").Want(200).List() {
		list = append(list, n.Str("account.acct")+" "+n.Str("emoji"))
	}
	return list
}

func TestReact(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	hello, secret := alice.Publish("hello").ID(), alice.Publish("psst", "visibility", "direct").ID()
	boost := alice.Post("/api/v1/statuses/" + hello + "/reblog").Want(200).Object().ID()
	const add, remove = "Could not add reaction emoji", "Could not remove reaction emoji"
	for _, tt := range []struct {
		name   string
		as     *apptest.User
		method string
		id     string
		emoji  string
		want   string // the reactions, or the error
	}{
		{"an emoji", bob, "PUT", hello, "🔥", "🔥 1 me"},
		{"again", bob, "PUT", hello, "🔥", "🔥 1 me"},
		{"another one, without its selector", bob, "PUT", hello, "❤", "🔥 1 me, ❤️ 1 me"},
		{"the same with its selector", bob, "PUT", hello, "❤️", "🔥 1 me, ❤️ 1 me"},
		{"another user", alice, "PUT", hello, "❤", "🔥 1, ❤️ 2 me"},
		{"a boost", alice, "PUT", boost, "👍🏽", "🔥 1, ❤️ 2 me, 👍🏽 1 me"},
		{"a regional indicator", alice, "PUT", hello, "🇦", "🔥 1, ❤️ 2 me, 👍🏽 1 me, 🇦 1 me"},
		{"a keycap", alice, "PUT", hello, "#️⃣", "🔥 1, ❤️ 2 me, 👍🏽 1 me, 🇦 1 me, #️⃣ 1 me"},
		{"removed", alice, "DELETE", hello, "#⃣", "🔥 1, ❤️ 2 me, 👍🏽 1 me, 🇦 1 me"},
		{"removed twice", alice, "DELETE", hello, "#⃣", remove},
		{"one of two removed", bob, "DELETE", hello, "❤️", "🔥 1 me, ❤️ 1, 👍🏽 1, 🇦 1"},
		{"a reaction of another user, removed", bob, "DELETE", hello, "👍🏽", remove},
		{"removed from a boost", alice, "DELETE", boost, "👍🏽", "🔥 1, ❤️ 1 me, 🇦 1 me"},
		{"the first one removed", bob, "DELETE", hello, "🔥", "❤️ 1, 🇦 1"},
		{"added again, last", bob, "PUT", hello, "🔥", "❤️ 1, 🇦 1, 🔥 1 me"},

		{"a word, not an emoji", bob, "PUT", hello, "hello", add},
		{"two emoji", bob, "PUT", hello, "🔥🔥", add},
		{"an unknown custom emoji", bob, "PUT", hello, ":cat:", add},
		{"an unknown remote custom emoji", bob, "PUT", hello, "cat@remote.example", add},
		{"a long text", bob, "PUT", hello, strings.Repeat("🔥", 500), add},
		{"a word, removed", bob, "DELETE", hello, "hello", remove},
		{"an invisible status", bob, "PUT", secret, "🔥", add},
		{"an invisible status, removed", bob, "DELETE", secret, "🔥", remove},
		{"an unknown id", bob, "PUT", "0000000000000000AA", "🔥", add},
		{"an unknown id, removed", bob, "DELETE", "0000000000000000AA", "🔥", remove},
		{"an invalid id", bob, "PUT", "x", "🔥", add},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := tt.as.React(tt.method, tt.id, tt.emoji)
			if tt.want == add || tt.want == remove {
				a.WantError(400, tt.want)
				return
			}
			st := a.Want(200).Object()
			if st.ID() != hello {
				t.Errorf("the response is status %s, want %s", st.ID(), hello)
			}
			if got := strings.Join(reactionsIn(st), ", "); got != tt.want {
				t.Errorf("reactions are %s, want %s", got, tt.want)
			}
		})
	}
	bob.React("PUT", hello, "\xff\xfe").WantError(404, "Record not found") // the path is not valid UTF-8
	srv.As(nil).React("PUT", hello, "🔥").WantError(403, "Invalid credentials.")
	wantReactions(srv.As(nil), "an anonymous client", hello, "❤️ 1: alice", "🇦 1: alice", "🔥 1: bob")
	if got := reactionsIn(nestedObject(bob.Get("/api/v1/statuses/"+boost).Want(200).Object(), "reblog")); len(got) != 3 || got[2] != "🔥 1 me" {
		t.Errorf("the boosted status has %v", got)
	}
	if got := notifiedReactions(alice); !slices.Equal(got, []string{"bob 🔥"}) {
		t.Errorf("alice has the notifications %v", got)
	}
	if got := notifiedReactions(bob); len(got) > 0 {
		t.Errorf("bob has the notifications %v", got)
	}
	scoped := srv.NewToken(bob, "read write:favourites")
	scoped.React("PUT", hello, "👍").WantError(403, "Insufficient permissions: write:statuses.")
}

// nestedObject returns a member that is an object.
func nestedObject(o *apptest.Object, path string) *apptest.Object {
	o.T.Helper()
	return &apptest.Object{T: o.T, Fields: o.At(path).(map[string]any)}
}

// TestReactionsShown checks that reactions of blocked, muted, blocking and unavailable accounts are neither counted nor listed.
func TestReactionsShown(t *testing.T) {
	srv := apptest.Start(t)
	alice, viewer := srv.SignUp("alice"), srv.SignUp("viewer")
	people := apptest.SignUpMany(srv, 6)
	st := alice.Publish("hello").ID()
	for _, p := range people {
		p.ReactWith(st, "🔥")
	}
	people[0].ReactWith(st, "❤️")
	viewer.ReactWith(st, "🔥")
	wantReactions(viewer.Client, "before blocks and mutes", st, "🔥 7 me: viewer p5 p4 p3 p2 p1 p0", "❤️ 1: p0")

	viewer.AccountAction(people[0].ID, "block")
	people[1].AccountAction(viewer.ID, "block")
	viewer.AccountAction(people[2].ID, "mute")
	srv.DeleteOrDeactivate(people[3], false)
	wantReactions(viewer.Client, "after blocks and mutes", st, "🔥 3 me: viewer p5 p4")
	wantReactions(alice.Client, "alice", st, "🔥 6: viewer p5 p4 p2 p1 p0", "❤️ 1: p0")
	wantReactions(srv.As(nil), "an anonymous client", st, "🔥 6: viewer p5 p4 p2 p1 p0", "❤️ 1: p0")
	if got := reactionsAt(viewer.Client, st+"/reactions", "with_muted", "true"); !slices.Equal(got, []string{"🔥 4 me: viewer p5 p4 p2"}) {
		t.Errorf("with muted accounts: %v", got)
	}
	for path, want := range map[string]string{
		"/reactions/🔥": "🔥 3 me: viewer p5 p4", "/reactions/%F0%9F%94%A5": "🔥 3 me: viewer p5 p4", "/reactions/❤": "", "/reactions/👍": "", "/reactions/x": "",
	} {
		if got := strings.Join(reactionsAt(viewer.Client, st+path), ", "); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if got := strings.Join(reactionsAt(alice.Client, st+"/reactions/❤"), ", "); got != "❤️ 1: p0" {
		t.Errorf("a heart without its selector: %q", got)
	}
	alice.Get("/api/v1/svc/statuses/"+st+"/reactions", "with_muted", "maybe?").Want(200)
	wantReactions(alice.Client, "none", alice.Publish("none").ID())
	if got := reactionsAt(alice.Client, "nothing/reactions"); len(got) > 0 {
		t.Errorf("reactions to an invalid id: %v", got)
	}

	viewer.AccountAction(people[0].ID, "unblock")
	viewer.AccountAction(people[2].ID, "unmute")
	if _, err := srv.Admin.ActivateUsers(t.Context(), []string{people[3].ID}); err != nil {
		t.Fatal(err)
	}
	wantReactions(viewer.Client, "all but one", st, "🔥 6 me: viewer p5 p4 p3 p2 p0", "❤️ 1: p0")
	srv.DeleteOrDeactivate(people[4], true)
	srv.RunJobs()
	wantReactions(alice.Client, "one is deleted", st, "🔥 6: viewer p5 p3 p2 p1 p0", "❤️ 1: p0")
	if n := srv.Count(`SELECT sum(count) FROM reaction_counts`); n != 7 || n != srv.Count(`SELECT count(*) FROM reactions`) {
		t.Errorf("%d reactions are counted, there are %d", n, srv.Count(`SELECT count(*) FROM reactions`))
	}
	alice.Do("DELETE", "/api/v1/statuses/"+st, "", nil).Want(200)
	wantRows(srv, "reactions", 0)
	wantRows(srv, "reaction_counts", 0)
}

// TestReactionsOfDeletedAccounts deletes an account whose post has more reactions than one batch of deletions removes.
func TestReactionsOfDeletedAccounts(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	many, few := alice.Publish("many").ID(), bob.Publish("few").ID()
	srv.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
		INSERT INTO accounts (id, nickname, nickname_key, domain, uri, url, created_at) SELECT i, 'r' || i, 'r' || i, 'remote.example', 'https://remote.example/' || i, 'https://remote.example/' || i, 0 FROM n`)
	srv.Exec(`INSERT INTO reactions (id, account_id, status_id, emoji, url) SELECT id, id, ?, '🔥', '' FROM accounts WHERE id <= 250`, apptest.StatusID(many))
	srv.Exec(`INSERT INTO reaction_counts (status_id, emoji, url, count, first_id) VALUES (?, '🔥', '', 250, 1)`, apptest.StatusID(many))
	if got := reactionsIn(bob.Get("/api/v1/statuses/" + many).Want(200).Object()); !slices.Equal(got, []string{"🔥 250"}) {
		t.Errorf("the status has %v", got)
	}
	if n := len(strings.Fields(reactionsAt(bob.Client, many+"/reactions")[0])); n != 2+80 {
		t.Errorf("%d accounts are listed", n-2)
	}
	alice.ReactWith(few, "🔥", "👍", "❤")
	bob.ReactWith(few, "👍")
	srv.DeleteOrDeactivate(alice, true)
	srv.RunJobs()
	wantReactions(bob.Client, "remaining", few, "👍 1 me: bob")
	wantRows(srv, "reactions", 1)
	wantRows(srv, "reaction_counts", 1)
	if got := notifiedReactions(bob); len(got) > 0 {
		t.Errorf("bob has the notifications %v", got)
	}
}

func TestCustomReactions(t *testing.T) {
	srv := apptest.Start(t)
	srv.AddEmoji("pets", map[string]string{"cat": "cat.png", "dog": "dog.gif"})
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	st, other := alice.Publish("hello").ID(), alice.Publish("more").ID()
	far := srv.Account(t, srv.AddRemoteAccount("far", "remote.example"))
	picture := "https://remote.example/emoji/cat.png"
	if _, err := srv.Social.React(t.Context(), far, apptest.StatusID(st), social.Emoji{Name: "cat", URL: picture}, "https://remote.example/1"); err != nil {
		t.Fatal(err)
	}
	bob.ReactWith(st, ":cat:", "dog")
	alice.ReactWith(st, "cat")
	alice.React("PUT", other, "cat@remote.example").WantError(400, "Could not add reaction emoji")
	alice.ReactWith(st, "cat@remote.example")
	wantReactions(alice.Client, "custom emoji", st, "cat@remote.example 2 me: alice far@remote.example", "cat 2 me: alice bob", "dog 1: bob")
	var urls []any
	for _, r := range alice.Get("/api/v1/svc/statuses/" + st + "/reactions").Want(200).List() {
		urls = append(urls, r.At("url"))
	}
	if want := []any{srv.Proxy.URL(picture), srv.URL + "/emoji/pets/cat.png", srv.URL + "/emoji/pets/dog.gif"}; !slices.Equal(urls, want) {
		t.Errorf("pictures are %v, want %v", urls, want)
	}
	if got := strings.Join(reactionsAt(bob.Client, st+"/reactions/:cat:"), ", "); got != "cat 2 me: alice bob" {
		t.Errorf("one emoji: %s", got)
	}
	var notified []string
	for _, n := range alice.Get("/api/v1/notifications").Want(200).List() {
		notified = append(notified, fmt.Sprint(n.Str("account.acct"), " ", n.Str("emoji"), " ", n.At("emoji_url")))
	}
	if want := []string{"bob :dog: " + urls[2].(string), "bob :cat: " + urls[1].(string), "far@remote.example :cat: " + srv.Proxy.URL(picture)}; !slices.Equal(notified, want) {
		t.Errorf("alice has the notifications %q, want %q", notified, want)
	}

	// A reaction with an emoji that was removed from its pack has no picture, and can be removed.
	srv.AddEmoji("pets", map[string]string{"dog": "dog.gif"})
	srv.Entities.InvalidateAll()
	if got := alice.Get("/api/v1/svc/statuses/" + st + "/reactions/cat").Want(200).List()[0].At("url"); got != nil {
		t.Errorf("the picture is %v", got)
	}
	bob.React("DELETE", st, ":cat:").Want(200)
	alice.React("DELETE", st, "cat@remote.example").Want(200)
	wantReactions(alice.Client, "remaining", st, "cat@remote.example 1: far@remote.example", "cat 1 me: alice", "dog 1: bob")
}

// TestRemoteReactions adds and removes reactions of remote accounts.
func TestRemoteReactions(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	far, follower := srv.Account(t, srv.AddRemoteAccount("far", "remote.example")), srv.Account(t, srv.AddRemoteAccount("follower", "remote.example"))
	blocked := srv.Account(t, srv.AddRemoteAccount("blocked", "remote.example"))
	srv.Exec(`INSERT INTO follows (id, follower_id, target_id) VALUES (1, ?, ?)`, follower.ID, alice.AccountID())
	srv.Exec(`INSERT INTO blocks (account_id, target_id) VALUES (?, ?)`, alice.AccountID(), blocked.ID)
	id := map[string]string{}
	for _, v := range []string{"public", "private", "local", "direct"} {
		id[v] = alice.Publish("hello", "visibility", v).ID()
	}
	custom := func(name, address string) social.Emoji { return social.Emoji{Name: name, URL: address} }
	for _, tt := range []struct {
		name  string
		by    *store.Account
		to    string
		emoji social.Emoji
		uri   string
		want  string // the reactions afterwards, "" if the reaction is refused
	}{
		{"an emoji", far, "public", social.Emoji{Name: "❤"}, "1", "❤️ 1"},
		{"in another form, by another activity", far, "public", social.Emoji{Name: "❤️"}, "2", "❤️ 1"},
		{"another emoji by the same activity", far, "public", social.Emoji{Name: "🔥"}, "1", "❤️ 1"},
		{"a picture", far, "public", custom("blob_cat", "https://Media.Remote.Example:443/cat.png"), "3", "❤️ 1, blob_cat@media.remote.example 1"},
		{"another picture of the same name", follower, "public", custom("blob_cat", "https://media.remote.example/2.png"), "4", "❤️ 1, blob_cat@media.remote.example 2"},
		{"a host with a port", far, "public", custom("cat", "https://127.0.0.1:8080/cat.png"), "5", "❤️ 1, blob_cat@media.remote.example 2, cat@127.0.0.1:8080 1"},
		{"a private post, by a follower", follower, "private", social.Emoji{Name: "🔥"}, "6", "🔥 1"},
		{"a private post, not by a follower", far, "private", social.Emoji{Name: "🔥"}, "7", ""},
		{"a local post", follower, "local", social.Emoji{Name: "🔥"}, "8", ""},
		{"a direct post", follower, "direct", social.Emoji{Name: "🔥"}, "9", ""},
		{"by a blocked account", blocked, "public", social.Emoji{Name: "🔥"}, "10", ""},
		{"no emoji", far, "public", social.Emoji{Name: "hi"}, "11", ""},
		{"nothing", far, "public", social.Emoji{}, "12", ""},
		{"an invalid name", far, "public", custom("a b", "https://remote.example/cat.png"), "13", ""},
		{"a name with a host", far, "public", custom("cat@evil.example", "https://remote.example/cat.png"), "14", ""},
		{"an emoji with a picture", far, "public", custom("🔥", "https://remote.example/cat.png"), "15", ""},
		{"a script for a picture", far, "public", custom("cat", "javascript:alert(1)"), "16", ""},
		{"data for a picture", far, "public", custom("cat", "data:image/png;base64,aaaa"), "17", ""},
		{"a picture without a host", far, "public", custom("cat", "https:///cat.png"), "18", ""},
		{"a picture with a password", far, "public", custom("cat", "https://a:b@remote.example/cat.png"), "19", ""},
		{"a very long address", far, "public", custom("cat", "https://remote.example/"+strings.Repeat("a", 3000)), "20", ""},
		{"a very long name", far, "public", custom(strings.Repeat("a", 100), "https://remote.example/cat.png"), "21", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := srv.Count(`SELECT count(*) FROM reactions`)
			_, err := srv.Social.React(t.Context(), tt.by, apptest.StatusID(id[tt.to]), tt.emoji, "https://remote.example/"+tt.uri)
			if tt.want == "" {
				if !errors.Is(err, social.ErrAddReaction) {
					t.Errorf("got %v", err)
				}
				if n := srv.Count(`SELECT count(*) FROM reactions`); n != before {
					t.Errorf("%d reactions were added", n-before)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(reactionsIn(alice.Get("/api/v1/statuses/"+id[tt.to]).Want(200).Object()), ", "); got != tt.want {
				t.Errorf("reactions are %s, want %s", got, tt.want)
			}
		})
	}
	r, err := srv.DB.ReactionByURI(t.Context(), "https://remote.example/3")
	if err != nil || r == nil || r.AccountID != far.ID || r.Emoji != "blob_cat@media.remote.example" {
		t.Fatalf("the reaction of the activity is %+v, %v", r, err)
	}
	for _, e := range []social.Emoji{{Name: r.Emoji}, custom("cat", "https://127.0.0.1:8080/other.png"), {Name: "❤"}} {
		if _, err := srv.Social.Unreact(t.Context(), far, r.StatusID, e); err != nil {
			t.Errorf("%v cannot be removed: %v", e, err)
		}
		if _, err := srv.Social.Unreact(t.Context(), far, r.StatusID, e); !errors.Is(err, social.ErrRemoveReaction) {
			t.Errorf("%v removed twice: %v", e, err)
		}
	}
	wantReactions(bob.Client, "remaining", id["public"], "blob_cat@media.remote.example 1: follower@remote.example")
	// An account that no longer sees a post can still remove its reaction, but gets the same error as without a reaction.
	srv.Exec(`DELETE FROM follows`)
	if _, err := srv.Social.Unreact(t.Context(), follower, apptest.StatusID(id["private"]), social.Emoji{Name: "🔥"}); !errors.Is(err, social.ErrRemoveReaction) {
		t.Errorf("invisible to follower: %v", err)
	}
	if got := notifiedReactions(alice); !slices.Equal(got, []string{"follower@remote.example :blob_cat:"}) {
		t.Errorf("alice has the notifications %v", got)
	}
}

// TestReactionsAreBounded checks the number of emoji per account and status, and of different emoji per status.
func TestReactionsAreBounded(t *testing.T) {
	apptest.SkipIfShort(t)
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	st := alice.Publish("hello").ID()
	emoji := func(n int) string { return string(rune('🌰' + n)) }
	for n := range 20 {
		alice.ReactWith(st, emoji(n))
	}
	alice.ReactWith(st, emoji(3))
	alice.React("PUT", st, emoji(20)).WantError(400, "You have reacted with 20 different emoji already")
	alice.React("DELETE", st, emoji(0)).Want(200)
	alice.ReactWith(st, emoji(20))
	var emojis []social.Emoji
	for n := range 76 {
		emojis = append(emojis, social.Emoji{Name: emoji(n)})
	}
	for n := range 24 {
		emojis = append(emojis, social.Emoji{Name: fmt.Sprint("e", n), URL: fmt.Sprint("https://remote.example/", n)})
	}
	for n, e := range emojis {
		by := srv.Account(t, srv.AddRemoteAccount(fmt.Sprint("r", n), "remote.example"))
		if _, err := srv.Social.React(t.Context(), by, apptest.StatusID(st), e, ""); err != nil {
			t.Fatal(n, err)
		}
	}
	bob := srv.SignUp("bob")
	if n := len(reactionsAt(bob.Client, st+"/reactions")); n != 100 {
		t.Fatalf("%d different emoji, want 100", n)
	}
	bob.React("PUT", st, "👍").WantError(400, "There are reactions with 100 different emoji already")
	bob.ReactWith(st, emoji(5))
}

// TestConcurrentReactions checks the counters when several accounts add and remove the same reactions concurrently.
func TestConcurrentReactions(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	st := alice.Publish("hello").ID()
	people := apptest.SignUpMany(srv, 4)
	var wg sync.WaitGroup
	for _, p := range people {
		for range 3 {
			wg.Go(func() { p.React("PUT", st, "🔥") })
			wg.Go(func() { p.React("PUT", st, "❤️") })
		}
	}
	wg.Wait()
	got := reactionsIn(alice.Get("/api/v1/statuses/" + st).Want(200).Object())
	slices.Sort(got)
	if !slices.Equal(got, []string{"❤️ 4", "🔥 4"}) {
		t.Errorf("reactions are %v", got)
	}
	for _, p := range people {
		for range 3 {
			wg.Go(func() { p.React("DELETE", st, "🔥") })
		}
	}
	wg.Wait()
	if got := reactionsIn(alice.Get("/api/v1/statuses/" + st).Want(200).Object()); !slices.Equal(got, []string{"❤️ 4"}) {
		t.Errorf("after the removals reactions are %v", got)
	}
	if got := notifiedReactions(alice); len(got) != 4 {
		t.Errorf("alice has the notifications %v", got)
	}
}

// TestReactionsInStreams checks that the author's stream gets a notification, and that other streams get no event.
func TestReactionsInStreams(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	st := alice.Publish("hello").ID()
	l, public := srv.OpenStream(alice.Client, "stream", "user"), srv.OpenStream(bob.Client, "stream", "public")
	kiss := "👩\u200d❤️\u200d💋\u200d👨"
	bob.ReactWith(st, kiss)
	s := l.WaitFor(func(s apptest.StreamEvent) bool { return s.Event == "notification" })
	if !strings.Contains(*s.Payload, `"type":"svc:emoji_reaction"`) || !strings.Contains(*s.Payload, `"emoji":"`+kiss+`","emoji_url":null`) {
		t.Errorf("the stream sent %s", *s.Payload)
	}
	if events := public.Events(); len(events) > 0 {
		t.Errorf("the public stream sent %v", events)
	}
}

func TestReactionsAreLimited(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.StatusActions.Count = 5
	})
	alice := srv.SignUp("alice")
	st := alice.Publish("hello").ID()
	alice.ReactWith(st, "🔥", "❤", "👍", "🎉")
	alice.React("PUT", st, "🐈").Want(429)
}

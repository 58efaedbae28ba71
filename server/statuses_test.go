package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/internal/config"
	"svc/store"
)

func TestPostParameters(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	mine, theirs := srv.letUpload(alice), srv.letUpload(bob)
	list := srv.letList(alice, carol)
	public := bob.publish("hello").id()
	direct := bob.publish("psst @alice", "visibility", "direct").id()
	local := bob.publish("neighbours", "visibility", "local").id()
	gone := bob.publish("soon gone").id()
	bob.do("DELETE", "/api/v1/statuses/"+gone, "", nil).want(200)
	foreign := bob.publish("not for alice", "visibility", "private").id()
	soon := time.Now().Add(4 * time.Minute).Format(time.RFC3339)
	for _, tt := range []struct {
		name   string
		params []string
		want   int
		error  string
		check  func(*object) string // what is wrong
	}{
		{"text", []string{"status", " hi \n\nthere "}, 200, "", memberIs("content", "<p>hi</p><p>there</p>")},
		{"nothing", []string{"status", " \n"}, 422, "Cannot post an empty status without attachments", nil},
		{"no parameters", nil, 422, "Cannot post an empty status without attachments", nil},
		{"a subject alone", []string{"spoiler_text", "news\nof today"}, 200, "", memberIs("spoiler_text", "news of today")},
		{"too long", []string{"status", strings.Repeat("a", 4998), "spoiler_text", "abc"}, 422, "The status is over the character limit", nil},
		{"just not too long", []string{"status", strings.Repeat("ö", 4998), "spoiler_text", "ab"}, 200, "", nil},
		{"markdown", []string{"status", "*hi*", "content_type", "text/markdown"}, 200, "", memberIs("content", "<p><em>hi</em></p>")},
		{"an unknown content type", []string{"status", "*hi*", "content_type", "text/x"}, 200, "", memberIs("content", "<p>*hi*</p>")},
		{"media", []string{"media_ids[]", mine, "media_ids[]", theirs, "media_ids[]", mine, "media_ids[]", "x"}, 200, "", func(o *object) string {
			if m := o.at("media_attachments").([]any); len(m) != 1 || o.truth("sensitive") {
				return fmt.Sprint(m, o.truth("sensitive"))
			}
			return ""
		}},
		{"media that is attached already", []string{"media_ids[]", mine}, 422, "Cannot post an empty status without attachments", nil},
		{"sensitive", []string{"status", "x", "sensitive", "1"}, 200, "", memberIs("sensitive", true)},
		{"nsfw", []string{"status", "x #NSFW"}, 200, "", memberIs("sensitive", true)},
		{"not sensitive", []string{"status", "x", "sensitive", "false"}, 200, "", memberIs("sensitive", false)},
		{"language", []string{"status", "x", "language", "pt-BR"}, 200, "", memberIs("language", "pt-BR")},
		{"no language", []string{"status", "x", "language", "klingon"}, 200, "", memberIs("language", nil)},
		{"unlisted", []string{"status", "x", "visibility", "unlisted"}, 200, "", memberIs("visibility", "unlisted")},
		{"an unknown visibility", []string{"status", "x", "visibility", "everybody"}, 200, "", memberIs("visibility", "public")},
		{"list without a list", []string{"status", "x", "visibility", "list"}, 200, "", memberIs("visibility", "public")},
		{"list", []string{"status", "x", "visibility", "list:" + list}, 200, "", func(o *object) string {
			if o.str("visibility") != "list" || o.str("svc.list_id") != list {
				return fmt.Sprint(o.m)
			}
			return ""
		}},
		{"an unknown list", []string{"status", "x", "visibility", "list:000000000000000000"}, 404, "Record not found", nil},
		{"no list at all", []string{"status", "x", "visibility", "list:friends"}, 404, "Record not found", nil},
		{"reply", []string{"status", "x", "in_reply_to_id", public}, 200, "", func(o *object) string {
			if o.str("in_reply_to_id") != public || o.str("in_reply_to_account_id") != bob.id || !o.truth("svc.parent_visible") ||
				o.str("svc.in_reply_to_account_acct") != "bob" || len(o.at("mentions").([]any)) != 1 {
				return fmt.Sprint(o.m)
			}
			return ""
		}},
		{"reply to nothing", []string{"status", "x", "in_reply_to_id", ""}, 200, "", memberIs("in_reply_to_id", nil)},
		{"reply to a deleted one", []string{"status", "x", "in_reply_to_id", gone}, 422, "Cannot reply to a deleted status", nil},
		{"reply to an invisible one", []string{"status", "x", "in_reply_to_id", foreign}, 422, "Cannot reply to a deleted status", nil},
		{"reply to no id", []string{"status", "x", "in_reply_to_id", "17"}, 422, "Cannot reply to a deleted status", nil},
		{"reply to a direct one", []string{"status", "x", "in_reply_to_id", direct}, 200, "", func(o *object) string {
			if o.str("visibility") != "direct" || len(o.at("mentions").([]any)) != 1 {
				return fmt.Sprint(o.m)
			}
			return ""
		}},
		{"a wider reply to a direct one", []string{"status", "x", "in_reply_to_id", direct, "visibility", "private"}, 422, "The message visibility must be direct", nil},
		{"reply to a local one", []string{"status", "x", "in_reply_to_id", local}, 200, "", memberIs("visibility", "local")},
		{"a wider reply to a local one", []string{"status", "x", "in_reply_to_id", local, "visibility", "public"}, 200, "", memberIs("visibility", "local")},
		{"a direct reply to a public one", []string{"status", "@carol look", "in_reply_to_id", public, "visibility", "direct"}, 200, "", func(o *object) string {
			if m := o.at("mentions").([]any); len(m) != 1 || m[0].(map[string]any)["username"] != "carol" {
				return fmt.Sprint("its author was told: ", m)
			}
			return ""
		}},
		{"to", []string{"status", "@bob hi", "to[]", "carol", "to[]", "nobody", "to[]", "@@"}, 200, "", func(o *object) string {
			if m := o.at("mentions").([]any); len(m) != 1 || m[0].(map[string]any)["username"] != "carol" || !strings.Contains(o.str("content"), "u-url mention") {
				return fmt.Sprint(m, o.str("content"))
			}
			return ""
		}},
		{"to nobody", []string{"status", "@bob hi", "to[]", ""}, 200, "", func(o *object) string {
			if m := o.at("mentions").([]any); len(m) != 0 {
				return fmt.Sprint(m)
			}
			return ""
		}},
		{"the same mentioned twice", []string{"status", "@bob @bob @Bob"}, 200, "", func(o *object) string {
			if m := o.at("mentions").([]any); len(m) != 1 {
				return fmt.Sprint(m)
			}
			return ""
		}},
		{"expires too soon", []string{"status", "x", "expires_in", "3600"}, 422, "Expiry date is too soon", nil},
		{"expires at once", []string{"status", "x", "expires_in", "0"}, 422, "Expiry date is too soon", nil},
		{"expired", []string{"status", "x", "expires_in", "-9223372036854775808"}, 422, "Expiry date is too soon", nil},
		{"expires", []string{"status", "x", "expires_in", "3601"}, 200, "", func(o *object) string {
			at, err := time.Parse(time.RFC3339, o.str("svc.expires_at"))
			if d := time.Until(at); err != nil || d < 59*time.Minute || d > 61*time.Minute {
				return fmt.Sprint(d, err)
			}
			return ""
		}},
		{"expires in ages", []string{"status", "x", "expires_in", "9223372036854775807"}, 200, "", nil},
		{"expires some day", []string{"status", "x", "expires_in", "tomorrow"}, 400, "expires_in - Invalid integer. Got: string.", nil},
		{"scheduled for soon", []string{"status", "x", "scheduled_at", soon}, 200, "", nil},
		{"scheduled for no time", []string{"status", "x", "scheduled_at", "later"}, 400, "scheduled_at - Invalid format. Expected date-time.", nil},
		{"into an unknown conversation", []string{"status", "x", "in_reply_to_conversation_id", "12"}, 404, "Unknown conversation id", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := alice.post("/api/v1/statuses", tt.params...)
			if tt.error != "" {
				a.wantError(tt.want, tt.error)
				return
			}
			if o := a.want(tt.want).object(); tt.check != nil {
				if wrong := tt.check(o); wrong != "" {
					t.Error(wrong)
				}
			}
		})
	}
	srv.as(nil).post("/api/v1/statuses", "status", "x").wantError(401, "The access token is invalid")
}

// memberIs checks one member of a status.
func memberIs(path string, want any) func(*object) string {
	return func(o *object) string {
		if got := o.at(path); got != want {
			return fmt.Sprintf("%s is %q, want %q", path, got, want)
		}
		return ""
	}
}

// All forms of a request make the same status.
func TestPostForms(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	picture := func() string { return srv.letUpload(alice) }
	urlencoded := func(body string) *answer {
		return alice.do("POST", "/api/v1/statuses", "application/x-www-form-urlencoded", strings.NewReader(body))
	}
	for name, a := range map[string]*answer{
		"media_ids[]":  urlencoded("status=x&sensitive=on&media_ids[]=" + picture()),
		"media_ids[0]": urlencoded("status=x&sensitive=t&media_ids[0]=" + picture()),
		"media_ids":    urlencoded("status=x&sensitive=1&media_ids=" + picture()),
		"JSON": alice.send("POST", "/api/v1/statuses", map[string]any{
			"status": "x", "sensitive": true, "media_ids": []string{picture()}, "in_reply_to_id": nil, "spoiler_text": "", "poll": nil,
		}),
		"the query":        alice.do("POST", "/api/v1/statuses?status=x&sensitive=true&media_ids[]="+picture(), "", nil),
		"a trailing slash": alice.do("POST", "/api/v1/statuses/?status=x&sensitive=true&media_ids[]="+picture(), "", nil),
	} {
		o := a.want(200).object()
		if len(o.at("media_attachments").([]any)) != 1 || !o.truth("sensitive") || o.str("content") != "<p>x</p>" {
			t.Errorf("%s: %v", name, o.m)
		}
	}
}

func TestPostDefaults(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	srv.insert(`UPDATE users SET default_visibility = 3, default_sensitive = 1, default_language = 'de' WHERE account_id = ?`, alice.accountID())
	st := alice.publish("x")
	if st.str("visibility") != "private" || !st.truth("sensitive") || st.str("language") != "de" {
		t.Errorf("not the defaults: %v", st.m)
	}
	wide := bob.publish("x", "visibility", "unlisted").id()
	if v := bob.publish("y", "in_reply_to_id", wide).str("visibility"); v != "unlisted" {
		t.Errorf("a reply to an unlisted status is %s", v)
	}
	if v := alice.publish("y", "in_reply_to_id", wide).str("visibility"); v != "private" {
		t.Errorf("a reply by somebody whose default is private is %s", v)
	}
	list := srv.letList(bob, alice)
	members := bob.publish("x", "visibility", "list:"+list).id()
	reply := alice.publish("y", "in_reply_to_id", members)
	if v := reply.str("visibility"); v != "direct" {
		t.Errorf("a reply to a list status is %s", v)
	}
	bob.get("/api/v1/statuses/" + reply.id()).want(200) // or it would be for nobody
	if got, want := bob.notified(), []string{"mention alice"}; !slices.Equal(got, want) {
		t.Errorf("the author of the list status was told %v, want %v", got, want)
	}
}

func TestPreview(t *testing.T) {
	for _, name := range []string{"svc", "garden"} {
		t.Run(name, func(t *testing.T) {
			srv := startAPI(t, func(c *config.Config) { c.API.Name = name })
			alice, bob := srv.signUp("alice"), srv.signUp("bob")
			root := bob.publish("hi").id()
			picture := srv.letUpload(alice)
			st := alice.post("/api/v1/statuses", "status", "**hello** @bob #Tag", "content_type", "text/markdown", "preview", "true",
				"in_reply_to_id", root, "media_ids[]", picture).want(200).object()
			for path, want := range map[string]any{
				"id": name + ":fakeid", "uri": name + ":fake_object_id", "account.id": alice.id, "in_reply_to_id": root, "visibility": "public",
				"favourites_count": 0.0, "reblog": nil, "url": nil, name + ".parent_visible": true, name + ".local": true,
			} {
				if got := st.at(path); got != want {
					t.Errorf("%s is %v, want %v", path, got, want)
				}
			}
			if c := st.str("content"); !strings.Contains(c, "<strong>hello</strong>") || !strings.Contains(c, srv.url+"/@bob") {
				t.Errorf("content is %s", c)
			}
			for _, list := range []string{"mentions", "tags", "media_attachments"} {
				if got := st.at(list).([]any); len(got) != 1 {
					t.Errorf("%s: %v", list, got)
				}
			}
			wantIDs(t, "stored after a preview", alice.get("/api/v1/accounts/alice/statuses"))
			if got := bob.notified(); len(got) != 0 {
				t.Errorf("bob was told: %v", got)
			}
			alice.post("/api/v1/statuses", "preview", "true").wantError(422, "Cannot post an empty status without attachments")
			alice.post("/api/v1/statuses", "preview", "true", "status", "x", "expires_in", "60").wantError(422, "Expiry date is too soon")
			alice.publish("with the picture", "media_ids[]", picture)
		})
	}
}

func TestIdempotency(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	post := func(as *member, key, text string) *answer {
		req, err := http.NewRequestWithContext(t.Context(), "POST", srv.url+"/api/v1/statuses?status="+text, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Idempotency-Key", key)
		return as.request(req)
	}
	ids := make([]string, 20)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() { ids[i] = post(alice, "key", "hello").want(200).object().id() })
	}
	wg.Wait()
	if ids = slices.Compact(ids); len(ids) != 1 {
		t.Fatalf("one key made %d statuses", len(ids))
	}
	if id := post(bob, "key", "hello").want(200).object().id(); id == ids[0] {
		t.Error("bob got what alice posted with the same key")
	}
	if id := post(alice, "another", "hello").want(200).object().id(); id == ids[0] {
		t.Error("another key made no other status")
	}
	post(alice, "failing", "").want(422)
	post(alice, "failing", "works").want(200)
	long := strings.Repeat("k", 5000)
	if a, b := post(alice, long, "x").want(200).object().id(), post(alice, long, "x").want(200).object().id(); a != b {
		t.Error("a long key made two statuses")
	}
	srv.insert(`UPDATE idempotency_keys SET created_at = created_at - 7 * 3600000`)
	if id := post(alice, "key", "hello").want(200).object().id(); id == ids[0] {
		t.Error("a key counts after seven hours")
	}
}

func TestListStatusesByID(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	var ids []string
	for i := range 101 {
		ids = append(ids, alice.publish(fmt.Sprint(i)).id())
	}
	secret := alice.publish("psst", "visibility", "direct").id()
	for _, tt := range []struct {
		name   string
		as     *member
		params []string
		want   []string
	}{
		{"ids", bob, []string{"ids[]", ids[0], "ids[]", ids[2], "ids[]", ids[1]}, []string{ids[2], ids[1], ids[0]}},
		{"id", nil, []string{"id[]", ids[0], "id[]", ids[2]}, []string{ids[2], ids[0]}},
		{"one", bob, []string{"ids", ids[0]}, []string{ids[0]}},
		{"twice", bob, []string{"ids[]", ids[0], "ids[]", ids[0]}, []string{ids[0]}},
		{"invisible and unknown", bob, []string{"ids[]", secret, "ids[]", ids[5], "ids[]", "x", "ids[]", "000000000000000000"}, []string{ids[5]}},
		{"one's own", alice, []string{"ids[]", secret}, []string{secret}},
		{"none", bob, []string{"ids[]", ""}, []string{}},
	} {
		wantIDs(t, tt.name, srv.as(tt.as).get("/api/v1/statuses", tt.params...), tt.want...)
	}
	var many []string
	for _, id := range ids {
		many = append(many, "ids[]", id)
	}
	if got := bob.get("/api/v1/statuses", many...).want(200).ids(); len(got) != 100 {
		t.Errorf("asked for 101, got %d", len(got))
	}
	bob.get("/api/v1/statuses").wantError(400, "Missing field: ids.")
}

func TestDeleteStatus(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	picture := srv.letUpload(alice)
	root := bob.publish("root").id()
	st := alice.publish("*hello* @bob", "content_type", "text/markdown", "spoiler_text", "cw", "media_ids[]", picture, "in_reply_to_id", root).id()
	reply := bob.publish("answer", "in_reply_to_id", st).id()
	boost := bob.post("/api/v1/statuses/" + st + "/reblog").want(200).object().id()
	bob.post("/api/v1/statuses/" + st + "/bookmark").want(200)
	path := "/api/v1/statuses/" + st
	if n := bob.get("/api/v1/statuses/" + root).object().num("replies_count"); n != 1 {
		t.Errorf("replies_count is %d", n)
	}
	before := alice.get("/api/v1/accounts/alice/statuses").want(200).list()[0].num("account.statuses_count")

	srv.as(nil).do("DELETE", path, "", nil).wantError(401, "The access token is invalid")
	bob.do("DELETE", path, "", nil).wantError(404, "Record not found")
	o := alice.do("DELETE", path, "", nil).want(200).object()
	if o.str("text") != "*hello* @bob" || o.str("spoiler_text") != "cw" || len(o.at("media_attachments").([]any)) != 1 || o.num("replies_count") != 1 {
		t.Errorf("not what it was: %v", o.m)
	}
	alice.do("DELETE", path, "", nil).wantError(404, "Record not found")
	for _, gone := range []string{st, boost} {
		bob.get("/api/v1/statuses/"+gone).wantError(404, "Record not found")
	}
	if n := bob.get("/api/v1/statuses/" + root).object().num("replies_count"); n != 0 {
		t.Errorf("replies_count is still %d", n)
	}
	left := bob.get("/api/v1/statuses/" + reply).want(200).object()
	if left.at("in_reply_to_id") != nil || left.truth("svc.parent_visible") || left.str("in_reply_to_account_id") != alice.id {
		t.Errorf("the reply still knows its parent: %v", left.m)
	}
	wantIDs(t, "bookmarks", bob.get("/api/v1/bookmarks"))
	wantIDs(t, "home", bob.get("/api/v1/timelines/home"), reply, root)
	if got := bob.notified(); len(got) != 0 {
		t.Errorf("bob is still told %v", got)
	}
	if got := alice.notified(); !slices.Equal(got, []string{"mention bob"}) { // of the reply, which is still there
		t.Errorf("alice is told %v", got)
	}
	again := alice.publish("hello again", "media_ids[]", picture)
	if len(again.at("media_attachments").([]any)) != 1 {
		t.Error("the picture could not be used again")
	}
	if n := again.num("account.statuses_count"); n != before {
		t.Errorf("statuses_count is %d, want %d", n, before)
	}
}

func TestExpiry(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	post := func() string { return alice.publish("x", "expires_in", "3601").id() }
	expired, pinned, unpinned, later := post(), post(), post(), post()
	if got := bob.get("/api/v1/statuses/" + later).object().at("svc.expires_at"); got != nil {
		t.Errorf("others see when it expires: %v", got)
	}
	for _, id := range []string{pinned, unpinned} {
		if got := alice.post("/api/v1/statuses/" + id + "/pin").want(200).object().at("svc.expires_at"); got != nil {
			t.Errorf("what is pinned expires: %v", got)
		}
	}
	srv.insert(`UPDATE statuses SET expires_at = 1 WHERE expires_at IS NOT NULL AND id <> ?`, statusID(later))
	srv.insert(`UPDATE jobs SET run_at = 1 WHERE unique_key <> ?`, "expire:"+later)
	srv.settle()
	alice.get("/api/v1/statuses/"+expired).wantError(404, "Record not found")
	for _, id := range []string{pinned, unpinned, later} {
		alice.get("/api/v1/statuses/" + id).want(200)
	}
	alice.post("/api/v1/statuses/" + unpinned + "/unpin").want(200)
	err := srv.db.Update(t.Context(), func(tx *store.Tx) error { // a job that was under way when the status was pinned
		return tx.Enqueue(t.Context(), store.ExpireStatus{StatusID: statusID(pinned)})
	})
	if err != nil {
		t.Fatal(err)
	}
	srv.settle()
	alice.get("/api/v1/statuses/"+unpinned).wantError(404, "Record not found")
	alice.get("/api/v1/statuses/" + pinned).want(200)
}

func statusID(text string) store.StatusID {
	var id store.StatusID
	id.UnmarshalText([]byte(text))
	return id
}

// Subscribers are told of each post that is no reply and that they may see.
func TestSubscribers(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	srv.letSubscribe(bob, alice)
	srv.letSubscribe(carol, alice)
	srv.letFollow(carol, alice)
	root := alice.publish("public").id()
	alice.publish("private", "visibility", "private")
	alice.publish("direct @carol", "visibility", "direct")
	alice.publish("public @carol")
	alice.publish("reply", "in_reply_to_id", root)
	bob.post("/api/v1/statuses/" + root + "/reblog").want(200)
	if got, want := bob.notified(), []string{"status alice", "status alice"}; !slices.Equal(got, want) {
		t.Errorf("bob is told %v, want %v", got, want)
	}
	if got, want := carol.notified(), []string{"mention alice", "mention alice", "status alice", "status alice"}; !slices.Equal(got, want) {
		t.Errorf("carol is told %v, want %v", got, want)
	}
	srv.letBlock(alice, bob)
	alice.publish("not for bob @bob")
	srv.insert(`DELETE FROM blocks`)
	if got := len(bob.notified()); got != 2 {
		t.Errorf("the blocked was told: %v", bob.notified())
	}
}

// The number of replies tells nothing of those that are not for everybody.
func TestRepliesCount(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	root := alice.publish("root").id()
	replies := map[string]string{}
	for _, v := range []string{"public", "unlisted", "local", "private", "direct"} {
		replies[v] = bob.publish("@alice "+v, "visibility", v, "in_reply_to_id", root).id()
	}
	count := func() int { return alice.get("/api/v1/statuses/" + root).want(200).object().num("replies_count") }
	if n := count(); n != 3 {
		t.Errorf("replies_count is %d, want 3", n)
	}
	for v, want := range map[string]int{"direct": 3, "private": 3} {
		bob.do("DELETE", "/api/v1/statuses/"+replies[v], "", nil).want(200)
		if n := count(); n != want {
			t.Errorf("without the %s reply replies_count is %d, want %d", v, n, want)
		}
	}
	bob.do("DELETE", "/api/v1/statuses/"+replies["local"], "", nil).want(200)
	if n := count(); n != 2 {
		t.Errorf("without the local reply replies_count is %d, want 2", n)
	}
}

// What is counted is exact, whoever else does the same at the same time.
func TestCountersUnderConcurrency(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	st := alice.publish("count me").id()
	path := "/api/v1/statuses/" + st
	people := crowdOf(srv, 25)
	counts := func() [3]int {
		o := alice.get(path).want(200).object()
		return [3]int{o.num("favourites_count"), o.num("reblogs_count"), o.num("replies_count")}
	}
	all := func(do func(*member)) {
		var wg sync.WaitGroup
		for _, p := range people {
			for range 2 {
				wg.Go(func() { do(p) })
			}
		}
		wg.Wait()
	}
	all(func(p *member) {
		p.post(path + "/favourite").want(200)
		p.post(path + "/reblog").want(200)
		p.publish("me, too", "in_reply_to_id", st)
	})
	if got, want := counts(), [3]int{25, 25, 50}; got != want {
		t.Errorf("counted %v, want %v", got, want)
	}
	if n := people[0].get("/api/v1/accounts/p0/statuses").list()[0].num("account.statuses_count"); n != 3 {
		t.Errorf("statuses_count is %d, want 3", n)
	}
	all(func(p *member) {
		p.post(path + "/unfavourite").want(200)
		p.post(path + "/unreblog").want(200)
	})
	if got, want := counts(), [3]int{0, 0, 50}; got != want {
		t.Errorf("left %v, want %v", got, want)
	}
	if got := len(alice.notified()); got != 40 { // a page of the mentions: nothing of what was taken back
		t.Errorf("%d notifications", got)
	}
}

// Open streams hear of all that comes and goes.
func TestStatusEvents(t *testing.T) {
	srv := startAPI(t)
	var events []string
	srv.db.Subscribe(func(list []store.Event) {
		for _, e := range list {
			switch e := e.(type) {
			case store.StatusPosted:
				events = append(events, "posted "+e.Status.ID.String())
			case store.StatusEdited:
				events = append(events, "edited "+e.Status.Text)
			case store.StatusDeleted:
				events = append(events, "deleted "+e.Status.ID.String())
			case store.Notified:
				events = append(events, "notified "+string(e.Notification.Type))
			}
		}
	})
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	want := []string{}
	check := func(more ...string) {
		t.Helper()
		if want = append(want, more...); !slices.Equal(events, want) {
			t.Fatalf("events are %v, want %v", events, want)
		}
	}
	st := alice.publish("one").id()
	check("posted " + st)
	alice.post("/api/v1/statuses", "status", "x", "preview", "1").want(200)
	boost := bob.post("/api/v1/statuses/" + st + "/reblog").want(200).object().id()
	check("notified reblog", "posted "+boost)
	bob.post("/api/v1/statuses/" + st + "/reblog").want(200)
	check()
	alice.edit(st, map[string]any{"status": "two"}).want(200)
	check("notified update", "edited two")
	alice.edit(st, map[string]any{"status": "two"}).want(200)
	check()
	bob.post("/api/v1/statuses/" + st + "/unreblog").want(200)
	check("deleted " + boost)
	boost = bob.post("/api/v1/statuses/" + st + "/reblog").want(200).object().id()
	check("notified reblog", "posted "+boost)
	alice.do("DELETE", "/api/v1/statuses/"+st, "", nil).want(200)
	check("deleted "+st, "deleted "+boost)
}

// Accounts and statuses from elsewhere are like any other.
func TestRemoteStatuses(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	carol := &store.Account{Nickname: "carol", Domain: "example.com", ActorType: "Person", URI: "https://example.com/users/carol", URL: "https://example.com/@carol"}
	st := &store.Status{
		URI: "https://example.com/1", URL: "https://example.com/@carol/1", Domain: carol.Domain, ContentType: "text/html", Content: "<p>hello <b>there</b></p>",
	}
	err := srv.db.Update(t.Context(), func(tx *store.Tx) error {
		if err := tx.AddAccount(t.Context(), carol); err != nil {
			return err
		}
		st.ID, st.AccountID = tx.NewStatusID(), carol.ID
		st.ConversationID = store.ConversationID(st.ID)
		return tx.AddStatus(t.Context(), st)
	})
	if err != nil {
		t.Fatal(err)
	}
	path := "/api/v1/statuses/" + st.ID.String()
	if o := alice.get(path).want(200).object(); o.str("account.acct") != "carol@example.com" || o.truth("svc.local") || o.str("url") != st.URL {
		t.Errorf("not the status: %v", o.m)
	}
	reply := alice.publish("@carol@example.com hi", "in_reply_to_id", st.ID.String())
	mentions := reply.at("mentions").([]any)
	if len(mentions) != 1 || mentions[0].(map[string]any)["acct"] != "carol@example.com" || mentions[0].(map[string]any)["url"] != carol.URL ||
		!strings.Contains(reply.str("content"), `href="`+carol.URL+`"`) {
		t.Errorf("mentions are %v in %s", mentions, reply.str("content"))
	}
	for _, deed := range []string{"favourite", "reblog", "bookmark", "mute"} {
		alice.post(path + "/" + deed).want(200)
	}
	if o := alice.get(path + "/source").want(200).object(); o.str("text") != "hello there" || o.str("content_type") != "text/plain" {
		t.Errorf("source: %v", o.m)
	}
	alice.post(path+"/pin").wantError(422, "Someone else's status cannot be pinned")
}

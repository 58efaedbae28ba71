package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

func TestPostParameters(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	mine, theirs := srv.AddMedia(alice), srv.AddMedia(bob)
	list := srv.AddList(alice, carol)
	public := bob.Publish("hello").ID()
	direct := bob.Publish("psst @alice", "visibility", "direct").ID()
	local := bob.Publish("neighbours", "visibility", "local").ID()
	deleted := bob.Publish("to be deleted").ID()
	bob.Do("DELETE", "/api/v1/statuses/"+deleted, "", nil).Want(200)
	invisible := bob.Publish("not for alice", "visibility", "private").ID()
	soon := time.Now().Add(4 * time.Minute).Format(time.RFC3339)
	for _, tt := range []struct {
		name   string
		params []string
		want   int
		error  string
		check  func(*apptest.Object) string // returns "" or a message
	}{
		{"text", []string{"status", " hi \n\nthere "}, 200, "", fieldIs("content", "<p>hi</p><p>there</p>")},
		{"an empty status", []string{"status", " \n"}, 422, "Cannot post an empty status without attachments", nil},
		{"no parameters", nil, 422, "Cannot post an empty status without attachments", nil},
		{"only a subject", []string{"spoiler_text", "news\nof today"}, 200, "", fieldIs("spoiler_text", "news of today")},
		{"too long", []string{"status", strings.Repeat("a", 4998), "spoiler_text", "abc"}, 422, "The status is over the character limit", nil},
		{"as long as possible", []string{"status", strings.Repeat("ö", 4998), "spoiler_text", "ab"}, 200, "", nil},
		{"markdown", []string{"status", "*hi*", "content_type", "text/markdown"}, 200, "", fieldIs("content", "<p><em>hi</em></p>")},
		{"an unknown content type", []string{"status", "*hi*", "content_type", "text/x"}, 200, "", fieldIs("content", "<p>*hi*</p>")},
		{"media of another account", []string{"status", "x", "media_ids[]", mine, "media_ids[]", theirs}, 422, "Media not found or already attached to another post", nil},
		{"unknown media", []string{"status", "x", "media_ids[]", mine, "media_ids[]", "0000000000000000AA"}, 422, "Media not found or already attached to another post", nil},
		{"media ids that are none", []string{"status", "x", "media_ids[]", "x", "media_ids[]", "y"}, 422, "Media not found or already attached to another post", nil},
		{"repeated media", []string{"status", "x", "media_ids[]", mine, "media_ids[]", mine}, 422, "Media attached more than once", nil},
		{"a preview with unknown media", []string{"status", "x", "preview", "true", "media_ids[]", "x"}, 422, "Media not found or already attached to another post", nil},
		{"no media", []string{"status", "x", "media_ids[]", ""}, 200, "", nil},
		{"media", []string{"media_ids[]", mine}, 200, "", func(o *apptest.Object) string {
			if m := o.At("media_attachments").([]any); len(m) != 1 || o.Bool("sensitive") {
				return fmt.Sprint(m, o.Bool("sensitive"))
			}
			return ""
		}},
		{"media that is attached already", []string{"status", "x", "media_ids[]", mine}, 422, "Media not found or already attached to another post", nil},
		{"sensitive", []string{"status", "x", "sensitive", "1"}, 200, "", fieldIs("sensitive", true)},
		{"nsfw", []string{"status", "x #NSFW"}, 200, "", fieldIs("sensitive", true)},
		{"not sensitive", []string{"status", "x", "sensitive", "false"}, 200, "", fieldIs("sensitive", false)},
		{"language", []string{"status", "x", "language", "pt-BR"}, 200, "", fieldIs("language", "pt-BR")},
		{"an unknown language", []string{"status", "x", "language", "klingon"}, 200, "", fieldIs("language", nil)},
		{"unlisted", []string{"status", "x", "visibility", "unlisted"}, 200, "", fieldIs("visibility", "unlisted")},
		{"an unknown visibility", []string{"status", "x", "visibility", "everybody"}, 422, `visibility - Invalid value "everybody": must be public, unlisted, local, private, direct or list:ID.`, nil},
		{"list without a list", []string{"status", "x", "visibility", "list"}, 422, `visibility - Invalid value "list": must be public, unlisted, local, private, direct or list:ID.`, nil},
		{"list", []string{"status", "x", "visibility", "list:" + list}, 200, "", func(o *apptest.Object) string {
			if o.Str("visibility") != "list" || o.Str("svc.list_id") != list {
				return fmt.Sprint(o.Fields)
			}
			return ""
		}},
		{"an unknown list", []string{"status", "x", "visibility", "list:000000000000000000"}, 404, "Record not found", nil},
		{"not a list id", []string{"status", "x", "visibility", "list:friends"}, 404, "Record not found", nil},
		{"reply", []string{"status", "x", "in_reply_to_id", public}, 200, "", func(o *apptest.Object) string {
			if o.Str("in_reply_to_id") != public || o.Str("in_reply_to_account_id") != bob.ID || !o.Bool("svc.parent_visible") ||
				o.Str("svc.in_reply_to_account_acct") != "bob" || len(o.At("mentions").([]any)) != 1 {
				return fmt.Sprint(o.Fields)
			}
			return ""
		}},
		{"reply to nothing", []string{"status", "x", "in_reply_to_id", ""}, 200, "", fieldIs("in_reply_to_id", nil)},
		{"reply to a deleted one", []string{"status", "x", "in_reply_to_id", deleted}, 422, "Cannot reply to a deleted status", nil},
		{"reply to an invisible one", []string{"status", "x", "in_reply_to_id", invisible}, 422, "Cannot reply to a deleted status", nil},
		{"reply to an invalid id", []string{"status", "x", "in_reply_to_id", "17"}, 422, "Cannot reply to a deleted status", nil},
		{"reply to a direct one", []string{"status", "x", "in_reply_to_id", direct}, 200, "", func(o *apptest.Object) string {
			if o.Str("visibility") != "direct" || len(o.At("mentions").([]any)) != 1 {
				return fmt.Sprint(o.Fields)
			}
			return ""
		}},
		{"a wider reply to a direct one", []string{"status", "x", "in_reply_to_id", direct, "visibility", "private"}, 422, "The message visibility must be direct", nil},
		{"reply to a local one", []string{"status", "x", "in_reply_to_id", local}, 200, "", fieldIs("visibility", "local")},
		{"a wider reply to a local one", []string{"status", "x", "in_reply_to_id", local, "visibility", "public"}, 200, "", fieldIs("visibility", "local")},
		{"a direct reply to a public one", []string{"status", "@carol look", "in_reply_to_id", public, "visibility", "direct"}, 200, "", func(o *apptest.Object) string {
			if m := o.At("mentions").([]any); len(m) != 1 || m[0].(map[string]any)["username"] != "carol" {
				return fmt.Sprint("mentions are ", m)
			}
			return ""
		}},
		{"recipients", []string{"status", "@bob hi", "to[]", "carol", "to[]", "nobody", "to[]", "@@"}, 200, "", func(o *apptest.Object) string {
			if m := o.At("mentions").([]any); len(m) != 1 || m[0].(map[string]any)["username"] != "carol" || !strings.Contains(o.Str("content"), "u-url mention") {
				return fmt.Sprint(m, o.Str("content"))
			}
			return ""
		}},
		{"no recipients", []string{"status", "@bob hi", "to[]", ""}, 200, "", func(o *apptest.Object) string {
			if m := o.At("mentions").([]any); len(m) != 0 {
				return fmt.Sprint(m)
			}
			return ""
		}},
		{"the same mentioned twice", []string{"status", "@bob @bob @Bob"}, 200, "", func(o *apptest.Object) string {
			if m := o.At("mentions").([]any); len(m) != 1 {
				return fmt.Sprint(m)
			}
			return ""
		}},
		{"expires too soon", []string{"status", "x", "expires_in", "3600"}, 422, "Expiry date is too soon", nil},
		{"expires at once", []string{"status", "x", "expires_in", "0"}, 422, "Expiry date is too soon", nil},
		{"expired", []string{"status", "x", "expires_in", "-9223372036854775808"}, 422, "Expiry date is too soon", nil},
		{"expires", []string{"status", "x", "expires_in", "3601"}, 200, "", func(o *apptest.Object) string {
			at, err := time.Parse(time.RFC3339, o.Str("svc.expires_at"))
			if d := time.Until(at); err != nil || d < 59*time.Minute || d > 61*time.Minute {
				return fmt.Sprint(d, err)
			}
			return ""
		}},
		{"expires much later", []string{"status", "x", "expires_in", "9223372036854775807"}, 200, "", nil},
		{"an invalid duration", []string{"status", "x", "expires_in", "tomorrow"}, 400, "expires_in - Invalid integer. Got: string.", nil},
		{"scheduled for soon", []string{"status", "x", "scheduled_at", soon}, 200, "", nil},
		{"scheduled for an invalid time", []string{"status", "x", "scheduled_at", "later"}, 400, "scheduled_at - Invalid format. Expected date-time.", nil},
		{"into an unknown conversation", []string{"status", "x", "in_reply_to_conversation_id", "12"}, 404, "Unknown conversation id", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := alice.Post("/api/v1/statuses", tt.params...)
			if tt.error != "" {
				a.WantError(tt.want, tt.error)
				return
			}
			if o := a.Want(tt.want).Object(); tt.check != nil {
				if fault := tt.check(o); fault != "" {
					t.Error(fault)
				}
			}
		})
	}
	srv.As(nil).Post("/api/v1/statuses", "status", "x").WantError(401, "The access token is invalid")
}

// fieldIs returns a check of one member of a status.
func fieldIs(path string, want any) func(*apptest.Object) string {
	return func(o *apptest.Object) string {
		if got := o.At(path); got != want {
			return fmt.Sprintf("%s is %q, want %q", path, got, want)
		}
		return ""
	}
}

// TestPostForms sends the same parameters in all encodings.
func TestPostForms(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	picture := func() string { return srv.AddMedia(alice) }
	urlencoded := func(body string) *apptest.Response {
		return alice.Do("POST", "/api/v1/statuses", "application/x-www-form-urlencoded", strings.NewReader(body))
	}
	for name, a := range map[string]*apptest.Response{
		"media_ids[]":  urlencoded("status=x&sensitive=on&media_ids[]=" + picture()),
		"media_ids[0]": urlencoded("status=x&sensitive=t&media_ids[0]=" + picture()),
		"media_ids":    urlencoded("status=x&sensitive=1&media_ids=" + picture()),
		"JSON": alice.SendJSON("POST", "/api/v1/statuses", map[string]any{
			"status": "x", "sensitive": true, "media_ids": []string{picture()}, "in_reply_to_id": nil, "spoiler_text": "", "poll": nil,
		}),
		"the query":        alice.Do("POST", "/api/v1/statuses?status=x&sensitive=true&media_ids[]="+picture(), "", nil),
		"a trailing slash": alice.Do("POST", "/api/v1/statuses/?status=x&sensitive=true&media_ids[]="+picture(), "", nil),
	} {
		o := a.Want(200).Object()
		if len(o.At("media_attachments").([]any)) != 1 || !o.Bool("sensitive") || o.Str("content") != "<p>x</p>" {
			t.Errorf("%s: %v", name, o.Fields)
		}
	}
}

func TestPostDefaults(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	srv.Exec(`UPDATE users SET default_visibility = 3, default_sensitive = 1, default_language = 'de' WHERE account_id = ?`, alice.AccountID())
	st := alice.Publish("x")
	if st.Str("visibility") != "private" || !st.Bool("sensitive") || st.Str("language") != "de" {
		t.Errorf("not the defaults: %v", st.Fields)
	}
	wide := bob.Publish("x", "visibility", "unlisted").ID()
	if v := bob.Publish("y", "in_reply_to_id", wide).Str("visibility"); v != "unlisted" {
		t.Errorf("a reply to an unlisted status is %s", v)
	}
	if v := alice.Publish("y", "in_reply_to_id", wide).Str("visibility"); v != "private" {
		t.Errorf("a reply by a user with the default private is %s", v)
	}
	list := srv.AddList(bob, alice)
	members := bob.Publish("x", "visibility", "list:"+list).ID()
	reply := alice.Publish("y", "in_reply_to_id", members)
	if v := reply.Str("visibility"); v != "direct" {
		t.Errorf("a reply to a list status is %s", v)
	}
	bob.Get("/api/v1/statuses/" + reply.ID()).Want(200) // the reply is visible to the author of the list status
	if got, want := bob.Notifications(), []string{"mention alice"}; !slices.Equal(got, want) {
		t.Errorf("the author of the list status has the notifications %v, want %v", got, want)
	}
}

func TestPreview(t *testing.T) {
	for _, name := range []string{"svc", "garden"} {
		t.Run(name, func(t *testing.T) {
			srv := apptest.Start(t, func(c *config.Config) { c.API.Name = name })
			alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
			root := bob.Publish("hi").ID()
			picture := srv.AddMedia(alice)
			st := alice.Post("/api/v1/statuses", "status", "**hello** @bob #Tag", "content_type", "text/markdown", "preview", "true",
				"in_reply_to_id", root, "media_ids[]", picture).Want(200).Object()
			for path, want := range map[string]any{
				"id": name + ":fakeid", "uri": name + ":fake_object_id", "account.id": alice.ID, "in_reply_to_id": root, "visibility": "public",
				"favourites_count": 0.0, "reblog": nil, "url": nil, name + ".parent_visible": true, name + ".local": true,
			} {
				if got := st.At(path); got != want {
					t.Errorf("%s is %v, want %v", path, got, want)
				}
			}
			if c := st.Str("content"); !strings.Contains(c, "<strong>hello</strong>") || !strings.Contains(c, srv.URL+"/@bob") {
				t.Errorf("content is %s", c)
			}
			for _, list := range []string{"mentions", "tags", "media_attachments"} {
				if got := st.At(list).([]any); len(got) != 1 {
					t.Errorf("%s: %v", list, got)
				}
			}
			apptest.WantIDs(t, "stored after a preview", alice.Get("/api/v1/accounts/alice/statuses"))
			if got := bob.Notifications(); len(got) != 0 {
				t.Errorf("bob was notified: %v", got)
			}
			alice.Post("/api/v1/statuses", "preview", "true").WantError(422, "Cannot post an empty status without attachments")
			alice.Post("/api/v1/statuses", "preview", "true", "status", "x", "expires_in", "60").WantError(422, "Expiry date is too soon")
			alice.Publish("with the picture", "media_ids[]", picture)
		})
	}
}

func TestIdempotency(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	post := func(as *apptest.User, key, text string) *apptest.Response {
		req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL+"/api/v1/statuses?status="+text, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Idempotency-Key", key)
		return as.DoRequest(req)
	}
	ids := make([]string, 20)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() { ids[i] = post(alice, "key", "hello").Want(200).Object().ID() })
	}
	wg.Wait()
	if ids = slices.Compact(ids); len(ids) != 1 {
		t.Fatalf("one key made %d statuses", len(ids))
	}
	if id := post(bob, "key", "hello").Want(200).Object().ID(); id == ids[0] {
		t.Error("bob got what alice posted with the same key")
	}
	if id := post(alice, "another", "hello").Want(200).Object().ID(); id == ids[0] {
		t.Error("another key made no other status")
	}
	post(alice, "failing", "").Want(422)
	post(alice, "failing", "works").Want(200)
	long := strings.Repeat("k", 5000)
	if a, b := post(alice, long, "x").Want(200).Object().ID(), post(alice, long, "x").Want(200).Object().ID(); a != b {
		t.Error("a long key made two statuses")
	}
	srv.Exec(`UPDATE idempotency_keys SET created_at = created_at - 7 * 3600000`)
	if id := post(alice, "key", "hello").Want(200).Object().ID(); id == ids[0] {
		t.Error("a key counts after seven hours")
	}
}

func TestListStatusesByID(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	var ids []string
	for i := range 101 {
		ids = append(ids, alice.Publish(fmt.Sprint(i)).ID())
	}
	secret := alice.Publish("psst", "visibility", "direct").ID()
	for _, tt := range []struct {
		name   string
		as     *apptest.User
		params []string
		want   []string
	}{
		{"ids", bob, []string{"ids[]", ids[0], "ids[]", ids[2], "ids[]", ids[1]}, []string{ids[2], ids[1], ids[0]}},
		{"id", nil, []string{"id[]", ids[0], "id[]", ids[2]}, []string{ids[2], ids[0]}},
		{"one", bob, []string{"ids", ids[0]}, []string{ids[0]}},
		{"twice", bob, []string{"ids[]", ids[0], "ids[]", ids[0]}, []string{ids[0]}},
		{"invisible and unknown", bob, []string{"ids[]", secret, "ids[]", ids[5], "ids[]", "x", "ids[]", "000000000000000000"}, []string{ids[5]}},
		{"of the viewer", alice, []string{"ids[]", secret}, []string{secret}},
		{"none", bob, []string{"ids[]", ""}, []string{}},
	} {
		apptest.WantIDs(t, tt.name, srv.As(tt.as).Get("/api/v1/statuses", tt.params...), tt.want...)
	}
	var many []string
	for _, id := range ids {
		many = append(many, "ids[]", id)
	}
	if got := bob.Get("/api/v1/statuses", many...).Want(200).IDs(); len(got) != 100 {
		t.Errorf("requested 101, got %d", len(got))
	}
	bob.Get("/api/v1/statuses").WantError(400, "Missing field: ids.")
}

func TestDeleteStatus(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	picture := srv.AddMedia(alice)
	root := bob.Publish("root").ID()
	st := alice.Publish("*hello* @bob", "content_type", "text/markdown", "spoiler_text", "cw", "media_ids[]", picture, "in_reply_to_id", root).ID()
	reply := bob.Publish("answer", "in_reply_to_id", st).ID()
	boost := bob.Post("/api/v1/statuses/" + st + "/reblog").Want(200).Object().ID()
	bob.Post("/api/v1/statuses/" + st + "/bookmark").Want(200)
	path := "/api/v1/statuses/" + st
	if n := bob.Get("/api/v1/statuses/" + root).Object().Int("replies_count"); n != 1 {
		t.Errorf("replies_count is %d", n)
	}
	before := alice.Get("/api/v1/accounts/alice/statuses").Want(200).List()[0].Int("account.statuses_count")

	srv.As(nil).Do("DELETE", path, "", nil).WantError(401, "The access token is invalid")
	bob.Do("DELETE", path, "", nil).WantError(404, "Record not found")
	o := alice.Do("DELETE", path, "", nil).Want(200).Object()
	if o.Str("text") != "*hello* @bob" || o.Str("spoiler_text") != "cw" || len(o.At("media_attachments").([]any)) != 1 || o.Int("replies_count") != 1 {
		t.Errorf("the deleted status was returned as %v", o.Fields)
	}
	alice.Do("DELETE", path, "", nil).WantError(404, "Record not found")
	for _, deleted := range []string{st, boost} {
		bob.Get("/api/v1/statuses/"+deleted).WantError(404, "Record not found")
	}
	if n := bob.Get("/api/v1/statuses/" + root).Object().Int("replies_count"); n != 0 {
		t.Errorf("replies_count is still %d", n)
	}
	left := bob.Get("/api/v1/statuses/" + reply).Want(200).Object()
	if left.At("in_reply_to_id") != nil || left.Bool("svc.parent_visible") || left.Str("in_reply_to_account_id") != alice.ID {
		t.Errorf("the reply still has a parent: %v", left.Fields)
	}
	apptest.WantIDs(t, "bookmarks", bob.Get("/api/v1/bookmarks"))
	apptest.WantIDs(t, "home", bob.Get("/api/v1/timelines/home"), reply, root)
	if got := bob.Notifications(); len(got) != 0 {
		t.Errorf("bob still has the notifications %v", got)
	}
	if got := alice.Notifications(); !slices.Equal(got, []string{"mention bob"}) { // by the reply, which still exists
		t.Errorf("alice has the notifications %v", got)
	}
	unused := srv.AddMedia(alice)
	gone := alice.Publish("with a picture", "media_ids[]", unused).ID()
	bob.Do("DELETE", "/api/v1/statuses/"+gone+"?delete_media=true", "", nil).Want(404)
	if o := alice.Do("DELETE", "/api/v1/statuses/"+gone+"?delete_media=true", "", nil).Want(200).Object(); len(o.At("media_attachments").([]any)) != 1 {
		t.Errorf("the deleted status was returned as %v", o.Fields)
	}
	alice.Get("/api/v1/media/" + unused).Want(404)
	again := alice.Publish("hello again", "media_ids[]", picture)
	if len(again.At("media_attachments").([]any)) != 1 {
		t.Error("the picture could not be used again")
	}
	if n := again.Int("account.statuses_count"); n != before {
		t.Errorf("statuses_count is %d, want %d", n, before)
	}
}

func TestExpiry(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	post := func() string { return alice.Publish("x", "expires_in", "3601").ID() }
	expired, pinned, unpinned, later := post(), post(), post(), post()
	if got := bob.Get("/api/v1/statuses/" + later).Object().At("svc.expires_at"); got != nil {
		t.Errorf("bob sees the expiry: %v", got)
	}
	for _, id := range []string{pinned, unpinned} {
		if got := alice.Post("/api/v1/statuses/" + id + "/pin").Want(200).Object().At("svc.expires_at"); got != nil {
			t.Errorf("the pinned status expires: %v", got)
		}
	}
	srv.Exec(`UPDATE statuses SET expires_at = 1 WHERE expires_at IS NOT NULL AND id <> ?`, apptest.StatusID(later))
	srv.Exec(`UPDATE jobs SET run_at = 1 WHERE unique_key <> ?`, "expire:"+later)
	srv.RunJobs()
	alice.Get("/api/v1/statuses/"+expired).WantError(404, "Record not found")
	for _, id := range []string{pinned, unpinned, later} {
		alice.Get("/api/v1/statuses/" + id).Want(200)
	}
	alice.Post("/api/v1/statuses/" + unpinned + "/unpin").Want(200)
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error { // a job that was under way when the status was pinned
		return tx.Enqueue(t.Context(), store.ExpireStatus{StatusID: apptest.StatusID(pinned)})
	})
	if err != nil {
		t.Fatal(err)
	}
	srv.RunJobs()
	alice.Get("/api/v1/statuses/"+unpinned).WantError(404, "Record not found")
	alice.Get("/api/v1/statuses/" + pinned).Want(200)
}

// TestSubscribers checks that subscribers get a notification of each post that is not a reply and that is visible to them.
func TestSubscribers(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	srv.AddSubscription(bob, alice)
	srv.AddSubscription(carol, alice)
	srv.AddFollow(carol, alice)
	root := alice.Publish("public").ID()
	alice.Publish("private", "visibility", "private")
	alice.Publish("direct @carol", "visibility", "direct")
	alice.Publish("public @carol")
	alice.Publish("reply", "in_reply_to_id", root)
	bob.Post("/api/v1/statuses/" + root + "/reblog").Want(200)
	if got, want := bob.Notifications(), []string{"status alice", "status alice"}; !slices.Equal(got, want) {
		t.Errorf("bob has the notifications %v, want %v", got, want)
	}
	if got, want := carol.Notifications(), []string{"mention alice", "mention alice", "status alice", "status alice"}; !slices.Equal(got, want) {
		t.Errorf("carol has the notifications %v, want %v", got, want)
	}
	srv.AddBlock(alice, bob)
	alice.Publish("not for bob @bob")
	srv.Exec(`DELETE FROM blocks`)
	if got := len(bob.Notifications()); got != 2 {
		t.Errorf("the blocked account has the notifications %v", bob.Notifications())
	}
}

// TestRepliesCount checks that replies_count includes only replies that everybody can see.
func TestRepliesCount(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	root := alice.Publish("root").ID()
	replies := map[string]string{}
	for _, v := range []string{"public", "unlisted", "local", "private", "direct"} {
		replies[v] = bob.Publish("@alice "+v, "visibility", v, "in_reply_to_id", root).ID()
	}
	left := 2
	for _, v := range []string{"", "direct", "private", "local", "unlisted"} {
		if v != "" {
			bob.Do("DELETE", "/api/v1/statuses/"+replies[v], "", nil).Want(200)
		}
		if v == "unlisted" {
			left--
		}
		if n := alice.Get("/api/v1/statuses/" + root).Want(200).Object().Int("replies_count"); n != left {
			t.Errorf("without the %s reply replies_count is %d, want %d", v, n, left)
		}
	}
}

// TestLocalStatusesAreNotCounted checks that counters do not reveal local-only posts to those outside of the server.
func TestLocalStatusesAreNotCounted(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	root := alice.Publish("root").ID()
	counts := func() string {
		account := srv.As(nil).Get("/api/v1/accounts/" + alice.ID).Want(200).Object()
		status := srv.As(nil).Get("/api/v1/statuses/" + root).Want(200).Object()
		outbox := srv.GetDocument("/users/" + alice.ID + "/outbox").Want(200).Object()
		return fmt.Sprint(account.Int("statuses_count"), account.Str("last_status_at"), status.Int("replies_count"), status.Int("quotes_count"), outbox.Int("totalItems"),
			srv.As(nil).Get("/nodeinfo/2.0").Want(200).Object().Find("usage.localPosts"))
	}
	before := counts()
	srv.SetClock(48 * time.Hour)
	alice.Publish("local", "visibility", "local", "in_reply_to_id", root)
	quote := alice.Publish("local", "visibility", "local", "quoted_status_id", root)
	if got := counts(); got != before {
		t.Errorf("the counters are %s, before local posts %s", got, before)
	}
	alice.Do("DELETE", "/api/v1/statuses/"+quote.ID(), "", nil).Want(200)
	if got := counts(); got != before {
		t.Errorf("the counters are %s after a deletion, before %s", got, before)
	}
}

// TestCountersUnderConcurrency checks that counters are exact when many accounts change them concurrently.
func TestCountersUnderConcurrency(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	st := alice.Publish("count me").ID()
	path := "/api/v1/statuses/" + st
	people := apptest.SignUpMany(srv, 25)
	counts := func() [3]int {
		o := alice.Get(path).Want(200).Object()
		return [3]int{o.Int("favourites_count"), o.Int("reblogs_count"), o.Int("replies_count")}
	}
	all := func(do func(*apptest.User)) {
		var wg sync.WaitGroup
		for _, p := range people {
			for range 2 {
				wg.Go(func() { do(p) })
			}
		}
		wg.Wait()
	}
	all(func(p *apptest.User) {
		p.Post(path + "/favourite").Want(200)
		p.Post(path + "/reblog").Want(200)
		p.Publish("me, too", "in_reply_to_id", st)
	})
	if got, want := counts(), [3]int{25, 25, 50}; got != want {
		t.Errorf("counted %v, want %v", got, want)
	}
	if n := people[0].Get("/api/v1/accounts/p0/statuses").List()[0].Int("account.statuses_count"); n != 3 {
		t.Errorf("statuses_count is %d, want 3", n)
	}
	all(func(p *apptest.User) {
		p.Post(path + "/unfavourite").Want(200)
		p.Post(path + "/unreblog").Want(200)
	})
	if got, want := counts(), [3]int{0, 0, 50}; got != want {
		t.Errorf("counted %v after the removals, want %v", got, want)
	}
	if got := len(alice.Notifications()); got != 40 { // one page, all of them mentions: the other notifications were removed
		t.Errorf("%d notifications", got)
	}
}

// TestStatusEvents checks the store events of posts, edits, boosts and deletions.
func TestStatusEvents(t *testing.T) {
	srv := apptest.Start(t)
	var events []string
	srv.DB.Subscribe(func(list []store.Event) {
		for _, e := range list {
			switch e := e.(type) {
			case store.StatusPosted:
				events = append(events, "posted "+e.Status.ID.String())
			case store.StatusEdited:
				events = append(events, "edited "+e.Status.Text)
			case store.StatusRemoved:
				events = append(events, "deleted "+e.Status.ID.String())
			case store.NotificationAdded:
				events = append(events, "notified "+string(e.Notification.Type))
			}
		}
	})
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	want := []string{}
	check := func(more ...string) {
		t.Helper()
		if want = append(want, more...); !slices.Equal(events, want) {
			t.Fatalf("events are %v, want %v", events, want)
		}
	}
	st := alice.Publish("one").ID()
	check("posted " + st)
	alice.Post("/api/v1/statuses", "status", "x", "preview", "1").Want(200)
	boost := bob.Post("/api/v1/statuses/" + st + "/reblog").Want(200).Object().ID()
	check("notified reblog", "posted "+boost)
	bob.Post("/api/v1/statuses/" + st + "/reblog").Want(200)
	check()
	alice.EditStatus(st, map[string]any{"status": "two"}).Want(200)
	check("notified update", "edited two")
	alice.EditStatus(st, map[string]any{"status": "two"}).Want(200)
	check()
	bob.Post("/api/v1/statuses/" + st + "/unreblog").Want(200)
	check("deleted " + boost)
	boost = bob.Post("/api/v1/statuses/" + st + "/reblog").Want(200).Object().ID()
	check("notified reblog", "posted "+boost)
	alice.Do("DELETE", "/api/v1/statuses/"+st, "", nil).Want(200)
	check("deleted "+st, "deleted "+boost)
}

// TestRemoteStatuses checks that a remote status is rendered, and can be replied to, favourited and boosted, like a local one.
func TestRemoteStatuses(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	carol := &store.Account{Nickname: "carol", Domain: "example.com", ActorType: "Person", URI: "https://example.com/users/carol", URL: "https://example.com/@carol"}
	st := &store.Status{
		URI: "https://example.com/1", URL: "https://example.com/@carol/1", Domain: carol.Domain, ContentType: "text/html", Content: "<p>hello <b>there</b></p>",
	}
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
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
	if o := alice.Get(path).Want(200).Object(); o.Str("account.acct") != "carol@example.com" || o.Bool("svc.local") || o.Str("url") != st.URL {
		t.Errorf("not the status: %v", o.Fields)
	}
	reply := alice.Publish("@carol@example.com hi", "in_reply_to_id", st.ID.String())
	mentions := reply.At("mentions").([]any)
	if len(mentions) != 1 || mentions[0].(map[string]any)["acct"] != "carol@example.com" || mentions[0].(map[string]any)["url"] != carol.URL ||
		!strings.Contains(reply.Str("content"), `href="`+carol.URL+`"`) {
		t.Errorf("mentions are %v in %s", mentions, reply.Str("content"))
	}
	for _, action := range []string{"favourite", "reblog", "bookmark", "mute"} {
		alice.Post(path + "/" + action).Want(200)
	}
	if o := alice.Get(path + "/source").Want(200).Object(); o.Str("text") != "hello there" || o.Str("content_type") != "text/plain" {
		t.Errorf("source: %v", o.Fields)
	}
	alice.Post(path+"/pin").WantError(422, "Someone else's status cannot be pinned")
}

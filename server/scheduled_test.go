package server_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/store"
)

func TestSchedule(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	srv.AddFollow(carol, alice)
	picture, theirs := srv.AddMedia(alice), srv.AddMedia(bob)
	root := bob.Publish("root").ID()
	at := time.Now().Add(6 * time.Minute).Truncate(time.Millisecond)
	o := alice.SendJSON("POST", "/api/v1/statuses", apptest.Doc{
		"status": "**hello** @bob #later", "spoiler_text": "cw", "content_type": "text/markdown", "media_ids": []string{picture},
		"in_reply_to_id": root, "visibility": "unlisted", "language": "de", "expires_in": 7200, "scheduled_at": at,
		"poll": apptest.Doc{"options": []string{"a", " b", "b", ""}, "expires_in": 600, "multiple": true},
	}).Want(200).Object()
	for _, got := range []*apptest.Object{o, alice.Get("/api/v1/scheduled_statuses").Want(200).List()[0], alice.Get("/api/v1/scheduled_statuses/" + o.ID()).Want(200).Object()} {
		apptest.WantFields(t, "scheduled", got, apptest.Doc{
			"id": o.ID(), "scheduled_at": store.At(at).String(), "params.text": "**hello** @bob #later", "params.spoiler_text": "cw",
			"params.media_ids": []any{picture}, "params.in_reply_to_id": root, "params.visibility": "unlisted", "params.language": "de",
			"params.expires_in": 7200.0, "params.scheduled_at": nil, "params.sensitive": true, "params.idempotency": nil, "params.with_rate_limit": false,
			"params.poll": apptest.Doc{"options": []any{"a", "b"}, "expires_in": 600.0, "multiple": true, "hide_totals": false},
		})
		if m := got.At("media_attachments").([]any); len(m) != 1 || m[0].(map[string]any)["id"] != picture {
			t.Errorf("media_attachments: %v", m)
		}
	}
	plain := alice.Schedule("plain")
	apptest.WantFields(t, "a plain one", plain, apptest.Doc{
		"params.media_ids": nil, "media_attachments": []any{}, "params.poll": nil, "params.expires_in": nil, "params.in_reply_to_id": nil,
		"params.visibility": "public", "params.language": nil, "params.sensitive": false,
	})

	// The status is not visible yet. Its picture cannot be attached to another status and is not removed as unused.
	apptest.WantIDs(t, "alice's statuses", bob.Get("/api/v1/accounts/alice/statuses"))
	if got := bob.Notifications(); len(got) != 0 {
		t.Errorf("bob has the notifications %v", got)
	}
	for name, ids := range map[string][]string{"scheduled already": {picture}, "of another account": {theirs}, "unknown": {"x"}} {
		for _, later := range []any{nil, at} {
			a := alice.SendJSON("POST", "/api/v1/statuses", apptest.Doc{"status": "x", "media_ids": ids, "scheduled_at": later})
			if a.WantError(422, "Media not found or already attached to another post"); t.Failed() {
				t.Fatalf("a picture that is %s, at %v", name, later)
			}
		}
	}
	for range 2 { // the first job marks unused media, the second removes them
		srv.Exec(`UPDATE media SET detached_at = 1000 WHERE detached_at IS NOT NULL`)
		err := srv.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.Enqueue(t.Context(), store.SweepMedia{}) })
		if err != nil {
			t.Fatal(err)
		}
		srv.RunJobs()
	}
	alice.Get("/api/v1/media/" + picture).Want(200)
	bob.Get("/api/v1/media/"+theirs).WantError(404, "Record not found")

	srv.Exec(`UPDATE users SET default_visibility = 3, default_sensitive = 1 WHERE account_id = ?`, alice.AccountID()) // the scheduled status keeps the defaults of its creation
	srv.MakeDue(o.ID(), plain.ID())
	posted := bob.Get("/api/v1/accounts/alice/statuses").Want(200).List()
	if len(posted) != 2 {
		t.Fatalf("statuses are %v", posted)
	}
	slices.SortFunc(posted, func(a, b *apptest.Object) int { return strings.Compare(a.Str("spoiler_text"), b.Str("spoiler_text")) })
	apptest.WantFields(t, "the plain one", posted[0], apptest.Doc{"content": "<p>plain</p>", "visibility": "public", "sensitive": false})
	st := posted[1]
	apptest.WantFields(t, "posted", st, apptest.Doc{
		"visibility": "unlisted", "spoiler_text": "cw", "in_reply_to_id": root, "language": "de", "sensitive": true, "poll.multiple": true,
		"application.name": "Test",
	})
	if c := st.Str("content"); !strings.Contains(c, "<strong>hello</strong>") || len(st.At("media_attachments").([]any)) != 1 || len(st.At("tags").([]any)) != 1 {
		t.Errorf("posted: %v", st.Fields)
	}
	if got := apptest.PollOptions(apptest.PollOf(st)); got != "a 0, b 0" {
		t.Errorf("options are %q", got)
	}
	// Durations start at the publication.
	own := alice.Get("/api/v1/statuses/" + st.ID()).Object()
	for path, want := range map[string]time.Duration{"created_at": 0, "svc.expires_at": 2 * time.Hour, "poll.expires_at": 10 * time.Minute} {
		at, err := time.Parse(time.RFC3339, own.Str(path))
		if d := time.Until(at) - want; err != nil || d < -time.Minute || d > time.Second {
			t.Errorf("%s is off by %v, %v", path, d, err)
		}
	}
	if got := bob.Notifications(); !slices.Equal(got, []string{"mention alice"}) {
		t.Errorf("bob has the notifications %v", got)
	}
	apptest.WantIDs(t, "carol's home", carol.Get("/api/v1/timelines/home", "limit", "1"), bob.Get("/api/v1/accounts/alice/statuses").IDs()[0])
	alice.Get("/api/v1/scheduled_statuses/"+o.ID()).WantError(404, "Record not found")
	if left, err := srv.HasRow(`SELECT 1 FROM jobs WHERE kind = 'publish_scheduled' AND run_at < ?`, time.Now().UnixMilli()); left || err != nil {
		t.Errorf("a job remains: %v", err)
	}
}

// TestScheduleParameters checks that invalid parameters are refused when scheduling, and that times in less than five minutes post at once.
func TestScheduleParameters(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	direct := bob.Publish("psst @alice", "visibility", "direct").ID()
	for _, tt := range []struct {
		name   string
		at     string
		params []string
		want   int
		error  string
		now    bool
	}{
		{"in six minutes", apptest.FromNow(6 * time.Minute), nil, 200, "", false},
		{"in the year 9999", "9999-12-31T23:59:59Z", nil, 200, "", false},
		{"in another zone", time.Now().Add(time.Hour).In(time.FixedZone("", 5*3600)).Format(time.RFC3339), nil, 200, "", false},
		{"without a zone", time.Now().UTC().Add(time.Hour).Format("2006-01-02T15:04:05"), nil, 200, "", false},
		{"in four minutes", apptest.FromNow(4 * time.Minute), nil, 200, "", true},
		{"in five minutes", apptest.FromNow(5 * time.Minute), nil, 200, "", true},
		{"long ago", "1970-01-01T00:00:00Z", nil, 200, "", true},
		{"without a time", "", nil, 200, "", true},
		{"a preview", apptest.FromNow(time.Hour), []string{"preview", "true"}, 200, "", true},
		{"not a time", "later", nil, 400, "scheduled_at - Invalid format. Expected date-time.", false},
		{"a number", "1700000000", nil, 400, "scheduled_at - Invalid format. Expected date-time.", false},
		{"an empty status", apptest.FromNow(time.Hour), []string{"status", " "}, 422, "Cannot post an empty status without attachments", false},
		{"too long", apptest.FromNow(time.Hour), []string{"status", strings.Repeat("a", 5001)}, 422, "The status is over the character limit", false},
		{"a poll of one option", apptest.FromNow(time.Hour), []string{"poll[options][]", "a", "poll[expires_in]", "60"}, 422, "Poll must contain at least 2 options", false},
		{"expires too soon", apptest.FromNow(time.Hour), []string{"expires_in", "3600"}, 422, "Expiry date is too soon", false},
		{"a reply to an unknown status", apptest.FromNow(time.Hour), []string{"in_reply_to_id", "000000000000000000"}, 422, "Cannot reply to a deleted status", false},
		{"a public reply to a direct status", apptest.FromNow(time.Hour), []string{"in_reply_to_id", direct, "visibility", "public"}, 422, "The message visibility must be direct", false},
		{"for an unknown list", apptest.FromNow(time.Hour), []string{"visibility", "list:000000000000000000"}, 404, "Record not found", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := alice.Post("/api/v1/statuses", append([]string{"status", "x", "scheduled_at", tt.at}, tt.params...)...)
			if tt.error != "" {
				a.WantError(tt.want, tt.error)
			} else if o := a.Want(tt.want).Object(); o.Has("content") != tt.now || o.Has("scheduled_at") == tt.now {
				t.Errorf("got %v", o.Fields)
			}
		})
	}
	apptest.WantIDs(t, "scheduled", bob.Get("/api/v1/scheduled_statuses"))
	if n := len(alice.Get("/api/v1/scheduled_statuses").Want(200).List()); n != 4 {
		t.Errorf("%d are scheduled, want 4", n)
	}
	srv.As(nil).Post("/api/v1/statuses", "status", "x", "scheduled_at", apptest.FromNow(time.Hour)).WantError(401, "The access token is invalid")
}

// TestScheduledIsBounded checks that a stored draft is no larger than a status can be.
func TestScheduledIsBounded(t *testing.T) {
	apptest.SkipIfShort(t)
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	long, blank := strings.Repeat("x", 100_000), strings.Repeat(" ", 100_000)
	to := []string{blank + "@bob" + blank, long, "no handle", "@carol@" + srv.Settings.Host()}
	for len(to) < 900 {
		to = append(to, "nobody")
	}
	o := alice.SendJSON("POST", "/api/v1/statuses", apptest.Doc{
		"status": blank + "**hello**" + blank, "spoiler_text": blank + "cw\x00", "content_type": long, "language": long, "visibility": "direct", "to": to,
		"scheduled_at": apptest.FromNow(time.Hour),
	}).Want(200).Object()
	apptest.WantFields(t, "scheduled", o, apptest.Doc{"params.text": "**hello**", "params.spoiler_text": "cw", "params.language": nil})
	if ok, err := srv.HasRow(`SELECT 1 FROM scheduled_statuses WHERE length(draft) < 2000`); !ok || err != nil {
		t.Errorf("the draft is too long: %v", err)
	}
	srv.MakeDue(o.ID())
	for _, m := range []*apptest.User{bob, carol} {
		if st := onlyConversation(m).At("last_status").(map[string]any); st["content"] != "<p>**hello**</p>" || st["spoiler_text"] != "cw" {
			t.Errorf("%s got %v", m.Nickname, st)
		}
	}
	none := alice.SendJSON("POST", "/api/v1/statuses", apptest.Doc{"status": "@bob", "visibility": "direct", "to": []string{}, "scheduled_at": apptest.FromNow(time.Hour)}).Want(200).Object()
	srv.MakeDue(none.ID())
	if n := len(bob.Get("/api/v1/timelines/direct").Want(200).List()); n != 1 {
		t.Errorf("a post without recipients was delivered to the account in its text: %d posts", n)
	}
}

func TestScheduledStatuses(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	var ids []string
	for i := range 24 {
		ids = append([]string{alice.Schedule(fmt.Sprint(i), "scheduled_at", apptest.FromNow(time.Duration(i+24)*time.Hour)).ID()}, ids...)
	}
	others := bob.Schedule("bob's").ID()
	apptest.WantPages(t, alice, "/api/v1/scheduled_statuses?limit=5", ids)
	if got := alice.Get("/api/v1/scheduled_statuses"); len(got.IDs()) != 20 {
		t.Errorf("a page has %d", len(got.IDs()))
	}
	path := "/api/v1/scheduled_statuses/" + ids[0]
	for _, tt := range []struct {
		name, method, id string
		as               *apptest.User
		at               any
		want             int
		error            string
	}{
		{"show", "GET", ids[0], alice, nil, 200, ""},
		{"show another's", "GET", others, alice, nil, 404, "Record not found"},
		{"show an invalid id", "GET", "x", alice, nil, 404, "Record not found"},
		{"show without a token", "GET", ids[0], nil, nil, 401, "The access token is invalid"},
		{"move", "PUT", ids[0], alice, apptest.FromNow(6 * time.Minute), 200, ""},
		{"move another's", "PUT", others, alice, apptest.FromNow(time.Hour), 404, "Record not found"},
		{"move an unknown id", "PUT", "000000000000000000", alice, apptest.FromNow(time.Hour), 404, "Record not found"},
		{"move to soon", "PUT", ids[0], alice, apptest.FromNow(4 * time.Minute), 422, "must be at least 5 minutes from now"},
		{"move to yesterday", "PUT", ids[0], alice, apptest.FromNow(-24 * time.Hour), 422, "must be at least 5 minutes from now"},
		{"move to an invalid time", "PUT", ids[0], alice, "some time", 400, "scheduled_at - Invalid format. Expected date-time."},
		{"move without a time", "PUT", ids[0], alice, nil, 400, "Missing field: scheduled_at."},
		{"delete another's", "DELETE", others, alice, nil, 404, "Record not found"},
		{"delete", "DELETE", ids[1], alice, nil, 200, ""},
		{"delete again", "DELETE", ids[1], alice, nil, 404, "Record not found"},
		{"move a deleted one", "PUT", ids[1], alice, apptest.FromNow(time.Hour), 404, "Record not found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := srv.As(tt.as).SendJSON(tt.method, "/api/v1/scheduled_statuses/"+tt.id, apptest.Doc{"scheduled_at": tt.at})
			if tt.error != "" {
				a.WantError(tt.want, tt.error)
				return
			}
			if o := a.Want(200).Object(); o.ID() != tt.id {
				t.Errorf("got %v", o.Fields)
			}
		})
	}
	moved, err := time.Parse(time.RFC3339, alice.Get(path).Object().Str("scheduled_at"))
	if d := time.Until(moved); err != nil || d < 5*time.Minute || d > 6*time.Minute {
		t.Errorf("moved to %v, %v", d, err)
	}

	// picture is a parameter with a file, a picture in a data: URL, or an empty text, which removes the picture.
	picture := srv.AddMedia(alice)
	cancelled := alice.Schedule("never", "media_ids[]", picture, "scheduled_at", apptest.FromNow(100*time.Hour)).ID()
	alice.Do("DELETE", "/api/v1/scheduled_statuses/"+cancelled, "", nil).Want(200)
	srv.MakeDue(cancelled)
	srv.Exec(`UPDATE jobs SET run_at = 1000 WHERE unique_key = ?`, "publish:"+ids[2]) // a job that runs too early
	srv.RunJobs()
	apptest.WantIDs(t, "posted", alice.Get("/api/v1/accounts/alice/statuses"))
	alice.Get("/api/v1/scheduled_statuses/" + ids[2]).Want(200)
	alice.Publish("with the picture", "media_ids[]", picture)
	job := `SELECT 1 FROM jobs WHERE unique_key = ? AND run_at < ?`
	if soon, err := srv.HasRow(job, "publish:"+ids[0], time.Now().Add(7*time.Minute).UnixMilli()); !soon || err != nil {
		t.Errorf("the job has not been moved: %v", err)
	}
}

func TestScheduleLimits(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	day := time.Now().UTC().AddDate(0, 0, 3).Truncate(24 * time.Hour)
	for i := range 25 {
		alice.Schedule("x", "scheduled_at", day.Add(time.Duration(i)*24*time.Hour/24-time.Duration(i/24)*time.Millisecond).Format(time.RFC3339Nano))
	}
	first := alice.Get("/api/v1/scheduled_statuses", "limit", "40").IDs()[24]
	for _, tt := range []struct {
		name  string
		as    *apptest.User
		at    time.Time
		error string
	}{
		{"one more on that day", alice, day.Add(12 * time.Hour), "daily limit exceeded"},
		{"its first moment", alice, day, "daily limit exceeded"},
		{"its last moment", alice, day.Add(24*time.Hour - time.Millisecond), "daily limit exceeded"},
		{"the day after", alice, day.Add(24 * time.Hour), ""},
		{"the day before", alice, day.Add(-time.Millisecond), ""},
		{"another user", bob, day, ""},
	} {
		a := tt.as.Post("/api/v1/statuses", "status", "x", "scheduled_at", tt.at.Format(time.RFC3339Nano))
		if tt.error == "" {
			a.Want(200)
			continue
		}
		t.Run(tt.name, func(t *testing.T) { a.WantError(422, tt.error) })
	}
	after := alice.Schedule("x", "scheduled_at", day.Add(30*time.Hour).Format(time.RFC3339)).ID()
	move := func(id string, to time.Time) *apptest.Response {
		return alice.SendJSON("PUT", "/api/v1/scheduled_statuses/"+id, apptest.Doc{"scheduled_at": to})
	}
	move(after, day).WantError(422, "daily limit exceeded")
	move(first, day.Add(time.Hour)).Want(200) // within the day
	srv.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 272)
		INSERT INTO scheduled_statuses (id, account_id, scheduled_at, draft) SELECT i, ?, 1000, '{}' FROM n`, alice.AccountID())
	post := func() *apptest.Response {
		return alice.Post("/api/v1/statuses", "status", "x", "scheduled_at", day.AddDate(1, 0, 0).Format(time.RFC3339))
	}
	last := post()
	last.WantError(422, "total limit exceeded") // 25 + 3 + 272
	move(after, day.AddDate(1, 0, 0)).Want(200)
	alice.Do("DELETE", "/api/v1/scheduled_statuses/"+after, "", nil).Want(200)
	post().Want(200)
	post().WantError(422, "total limit exceeded")
}

// TestScheduledThatCannotBePublished checks that a status that cannot be published at its time is kept and not changed.
func TestScheduledThatCannotBePublished(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	root, list, picture := bob.Publish("root").ID(), srv.AddList(alice, bob), srv.AddMedia(alice)
	orphan := alice.Schedule("yes", "in_reply_to_id", root, "media_ids[]", picture).ID()
	listless := alice.Schedule("friends", "visibility", "list:"+list)
	apptest.WantFields(t, "for a list", listless, apptest.Doc{"params.visibility": "list:" + list})
	fine := alice.Schedule("fine").ID()
	bob.Do("DELETE", "/api/v1/statuses/"+root, "", nil).Want(200)
	alice.Do("DELETE", "/api/v1/lists/"+list, "", nil).Want(200)
	srv.MakeDue(orphan, listless.ID(), fine)
	if posted := alice.Get("/api/v1/accounts/alice/statuses").List(); len(posted) != 1 || posted[0].Str("content") != "<p>fine</p>" {
		t.Errorf("posted: %v", posted)
	}
	apptest.WantIDs(t, "remaining", alice.Get("/api/v1/scheduled_statuses"), listless.ID(), orphan)
	left := alice.Get("/api/v1/scheduled_statuses/" + orphan).Object()
	apptest.WantFields(t, "left", left, apptest.Doc{"scheduled_at": "1970-01-01T00:00:01.000Z", "params.media_ids": []any{picture}})
	if len(left.At("media_attachments").([]any)) != 1 {
		t.Errorf("the picture is no longer attached: %v", left.Fields)
	}
	if waiting, err := srv.HasRow(`SELECT 1 FROM jobs WHERE kind = 'publish_scheduled'`); waiting || err != nil {
		t.Errorf("a failed publication is retried: %v", err)
	}
	alice.Do("DELETE", "/api/v1/scheduled_statuses/"+orphan, "", nil).Want(200)
	alice.Publish("again", "media_ids[]", picture)

	// Statuses of a deactivated user are kept, too. The user can schedule them again after the activation.
	away := bob.Schedule("away").ID()
	if _, err := srv.Social.Deactivate(t.Context(), bob.AccountID()); err != nil {
		t.Fatal(err)
	}
	srv.MakeDue(away)
	if _, err := srv.Admin.ActivateUsers(t.Context(), []string{bob.ID}); err != nil {
		t.Fatal(err)
	}
	bob.Client = srv.NewToken(bob, "read write") // the deactivation has revoked the other one
	apptest.WantIDs(t, "bob's statuses", bob.Get("/api/v1/accounts/bob/statuses"))
	bob.SendJSON("PUT", "/api/v1/scheduled_statuses/"+away, apptest.Doc{"scheduled_at": apptest.FromNow(time.Hour)}).Want(200)
	srv.MakeDue(away)
	if posted := bob.Get("/api/v1/accounts/bob/statuses").List(); len(posted) != 1 {
		t.Errorf("bob posted %v", posted)
	}

	// Deleting an account deletes its scheduled statuses.
	gone := bob.Schedule("gone").ID()
	if err := srv.Social.DeleteAccount(t.Context(), bob.AccountID()); err != nil {
		t.Fatal(err)
	}
	srv.MakeDue(gone)
	for _, query := range []string{`SELECT 1 FROM scheduled_statuses WHERE account_id = ?`, `SELECT 1 FROM statuses WHERE account_id = ?`} {
		if left, err := srv.HasRow(query, bob.AccountID()); left || err != nil {
			t.Errorf("rows remain: %s, %v", query, err)
		}
	}
	if left, err := srv.HasRow(`SELECT 1 FROM jobs WHERE kind = 'publish_scheduled'`); left || err != nil {
		t.Errorf("a job remains: %v", err)
	}
}

// TestScheduledWithoutItsApp checks that a scheduled status is published after its app was deleted.
func TestScheduledWithoutItsApp(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	if alice.Schedule("x").Int("params.application_id") == 0 {
		t.Error("there is no app")
	}
	id := alice.Get("/api/v1/scheduled_statuses").IDs()[0]
	srv.Exec(`UPDATE oauth_tokens SET app_id = NULL`)
	srv.Exec(`DELETE FROM oauth_apps`)
	apptest.WantFields(t, "scheduled", alice.Get("/api/v1/scheduled_statuses/"+id).Object(), apptest.Doc{"params.application_id": nil})
	srv.MakeDue(id)
	apptest.WantFields(t, "posted", alice.Get("/api/v1/accounts/alice/statuses").List()[0], apptest.Doc{"application": nil})
}

// TestScheduledIdempotency checks that a key creates one scheduled status and returns the published status later.
func TestScheduledIdempotency(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	post := func(as *apptest.User, key string, at string) *apptest.Object {
		req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL+"/api/v1/statuses?status=x&scheduled_at="+url.QueryEscape(at), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Idempotency-Key", key)
		return as.DoRequest(req).Want(200).Object()
	}
	for _, key := range []string{"key", strings.Repeat("k", 5000), "no UTF-8: \xff"} {
		at := apptest.FromNow(time.Hour)
		ids := make([]string, 10)
		var wg sync.WaitGroup
		for i := range ids {
			wg.Go(func() { ids[i] = post(alice, key, at).ID() })
		}
		wg.Wait()
		if ids = slices.Compact(ids); len(ids) != 1 {
			t.Fatalf("one key created %d scheduled statuses", len(ids))
		}
		if shown := alice.Get("/api/v1/scheduled_statuses/" + ids[0]).Object().Str("params.idempotency"); key == "key" && shown != key || len(shown) > 255 {
			t.Errorf("the key is shown as %q", shown)
		}
		if post(bob, key, at).ID() == ids[0] {
			t.Error("bob got what alice scheduled")
		}
		if o := post(alice, key, apptest.FromNow(time.Minute)); o.ID() != ids[0] || !o.Has("params") {
			t.Errorf("the same key with an earlier time posted a status: %v", o.Fields)
		}
		srv.MakeDue(ids[0])
		posted := alice.Get("/api/v1/accounts/alice/statuses").IDs()[0]
		if o := post(alice, key, at); o.ID() != posted || !o.Has("content") {
			t.Errorf("the published status was scheduled again: %v", o.Fields)
		}
	}
	if n := len(alice.Get("/api/v1/accounts/alice/statuses").IDs()); n != 3 {
		t.Errorf("alice posted %d", n)
	}
}

// TestScheduledIsPublishedOnce checks that concurrent and repeated jobs publish a scheduled status once.
func TestScheduledIsPublishedOnce(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	id := alice.Schedule("once").ID()
	srv.Exec(`UPDATE scheduled_statuses SET scheduled_at = 1000`)
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		for range 3 {
			if err := tx.Enqueue(t.Context(), store.PublishScheduled{ScheduledID: apptest.ScheduledID(id)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(srv.RunJobs)
	}
	wg.Wait()
	srv.RunJobs()
	if n := len(alice.Get("/api/v1/accounts/alice/statuses").IDs()); n != 1 {
		t.Errorf("it was posted %d times", n)
	}
}

// TestScheduledQuotePolicy checks that a scheduled status has the policy that was in force when it was sent, also if its author's default changes.
func TestScheduledQuotePolicy(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	later := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	schedule := func(params apptest.Doc) *apptest.Object {
		params["status"], params["scheduled_at"] = "x", later
		return alice.SendJSON("POST", "/api/v1/statuses", params).Want(200).Object()
	}
	alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", apptest.Doc{"source": apptest.Doc{"quote_policy": "followers"}}).Want(200)
	byDefault, own := schedule(apptest.Doc{}), schedule(apptest.Doc{"quote_approval_policy": "nobody"})
	alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", apptest.Doc{"source": apptest.Doc{"quote_policy": "public"}}).Want(200)
	for _, tt := range []struct {
		o    *apptest.Object
		want string
	}{{byDefault, "followers"}, {own, "nobody"}} {
		shown := alice.Get("/api/v1/scheduled_statuses/" + tt.o.ID()).Want(200).Object()
		if got := shown.Str("params.quote_approval_policy"); got != tt.want {
			t.Errorf("the policy is %s, want %s", got, tt.want)
		}
	}
}

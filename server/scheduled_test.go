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

	"svc/store"
)

// in returns a time from now on, as clients send it.
func in(d time.Duration) string { return time.Now().Add(d).Format(time.RFC3339Nano) }

// schedule schedules a status for an hour from now on, with more parameters as pairs.
func (m *member) schedule(text string, more ...string) *object {
	m.api.t.Helper()
	o := m.post("/api/v1/statuses", append([]string{"status", text, "scheduled_at", in(time.Hour)}, more...)...).want(200).object()
	o.str("params.text") // it is no status
	return o
}

// due has the time of scheduled statuses come.
func (a *api) due(ids ...string) {
	a.t.Helper()
	for _, id := range ids {
		a.insert(`UPDATE scheduled_statuses SET scheduled_at = 1000 WHERE id = ?`, int64(scheduledID(id)))
		a.insert(`UPDATE jobs SET run_at = 1000 WHERE unique_key = ?`, "publish:"+id)
	}
	a.settle()
}

func scheduledID(text string) store.ScheduledID {
	var id store.ScheduledID
	id.UnmarshalText([]byte(text))
	return id
}

func TestSchedule(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	srv.letFollow(carol, alice)
	picture, theirs := srv.letUpload(alice), srv.letUpload(bob)
	root := bob.publish("root").id()
	at := time.Now().Add(6 * time.Minute).Truncate(time.Millisecond)
	o := alice.send("POST", "/api/v1/statuses", jsonBody{
		"status": "**hello** @bob #later", "spoiler_text": "cw", "content_type": "text/markdown", "media_ids": []string{picture, theirs, picture},
		"in_reply_to_id": root, "visibility": "unlisted", "language": "de", "expires_in": 7200, "scheduled_at": at,
		"poll": jsonBody{"options": []string{"a", " b", "b", ""}, "expires_in": 600, "multiple": true},
	}).want(200).object()
	for _, got := range []*object{o, alice.get("/api/v1/scheduled_statuses").want(200).list()[0], alice.get("/api/v1/scheduled_statuses/" + o.id()).want(200).object()} {
		wantMembers(t, "scheduled", got, jsonBody{
			"id": o.id(), "scheduled_at": store.At(at).String(), "params.text": "**hello** @bob #later", "params.spoiler_text": "cw",
			"params.media_ids": []any{picture}, "params.in_reply_to_id": root, "params.visibility": "unlisted", "params.language": "de",
			"params.expires_in": 7200.0, "params.scheduled_at": nil, "params.sensitive": true, "params.idempotency": nil, "params.with_rate_limit": false,
			"params.poll": jsonBody{"options": []any{"a", "b"}, "expires_in": 600.0, "multiple": true, "hide_totals": false},
		})
		if m := got.at("media_attachments").([]any); len(m) != 1 || m[0].(map[string]any)["id"] != picture {
			t.Errorf("media_attachments: %v", m)
		}
	}
	plain := alice.schedule("plain")
	wantMembers(t, "a plain one", plain, jsonBody{
		"params.media_ids": nil, "media_attachments": []any{}, "params.poll": nil, "params.expires_in": nil, "params.in_reply_to_id": nil,
		"params.visibility": "public", "params.language": nil, "params.sensitive": false,
	})

	// Nothing of it is to be seen yet, and its picture cannot go anywhere else, nor be swept away.
	wantIDs(t, "alice's statuses", bob.get("/api/v1/accounts/alice/statuses"))
	if got := bob.notified(); len(got) != 0 {
		t.Errorf("bob is told %v", got)
	}
	alice.post("/api/v1/statuses", "media_ids[]", picture).wantError(422, "Cannot post an empty status without attachments")
	if got := alice.schedule("x", "media_ids[]", picture); got.at("params.media_ids") != nil {
		t.Errorf("the picture is scheduled twice: %v", got.m)
	}
	for range 2 { // what comes loose is noted by the first, and removed by the second
		srv.insert(`UPDATE media SET loose_since = 1000 WHERE loose_since IS NOT NULL`)
		err := srv.db.Update(t.Context(), func(tx *store.Tx) error { return tx.Enqueue(t.Context(), store.SweepMedia{}) })
		if err != nil {
			t.Fatal(err)
		}
		srv.settle()
	}
	alice.get("/api/v1/media/" + picture).want(200)
	bob.get("/api/v1/media/"+theirs).wantError(404, "Record not found")

	srv.insert(`UPDATE users SET default_visibility = 3, default_sensitive = 1 WHERE account_id = ?`, alice.accountID()) // not as it was meant
	srv.due(o.id(), plain.id())
	posted := bob.get("/api/v1/accounts/alice/statuses").want(200).list()
	if len(posted) != 2 {
		t.Fatalf("there are %v", posted)
	}
	slices.SortFunc(posted, func(a, b *object) int { return strings.Compare(a.str("spoiler_text"), b.str("spoiler_text")) })
	wantMembers(t, "the plain one", posted[0], jsonBody{"content": "<p>plain</p>", "visibility": "public", "sensitive": false})
	st := posted[1]
	wantMembers(t, "posted", st, jsonBody{
		"visibility": "unlisted", "spoiler_text": "cw", "in_reply_to_id": root, "language": "de", "sensitive": true, "poll.multiple": true,
		"application.name": "Test",
	})
	if c := st.str("content"); !strings.Contains(c, "<strong>hello</strong>") || len(st.at("media_attachments").([]any)) != 1 || len(st.at("tags").([]any)) != 1 {
		t.Errorf("posted: %v", st.m)
	}
	if got := pollOptions(pollOf(st)); got != "a 0, b 0" {
		t.Errorf("options are %q", got)
	}
	// Times count from its publication.
	own := alice.get("/api/v1/statuses/" + st.id()).object()
	for path, want := range map[string]time.Duration{"created_at": 0, "svc.expires_at": 2 * time.Hour, "poll.expires_at": 10 * time.Minute} {
		at, err := time.Parse(time.RFC3339, own.str(path))
		if d := time.Until(at) - want; err != nil || d < -time.Minute || d > time.Second {
			t.Errorf("%s is off by %v, %v", path, d, err)
		}
	}
	if got := bob.notified(); !slices.Equal(got, []string{"mention alice"}) {
		t.Errorf("bob is told %v", got)
	}
	wantIDs(t, "carol's home", carol.get("/api/v1/timelines/home", "limit", "1"), bob.get("/api/v1/accounts/alice/statuses").ids()[0])
	alice.get("/api/v1/scheduled_statuses/"+o.id()).wantError(404, "Record not found")
	if left, err := srv.has(`SELECT 1 FROM jobs WHERE kind = 'publish_scheduled' AND run_at < ?`, time.Now().UnixMilli()); left || err != nil {
		t.Errorf("a job is left: %v", err)
	}
}

// What is bad is refused at once, and what is to be posted soon is posted at once.
func TestScheduleParameters(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	direct := bob.publish("psst @alice", "visibility", "direct").id()
	for _, tt := range []struct {
		name   string
		at     string
		params []string
		want   int
		error  string
		now    bool
	}{
		{"in six minutes", in(6 * time.Minute), nil, 200, "", false},
		{"in ages", "9999-12-31T23:59:59Z", nil, 200, "", false},
		{"in another zone", time.Now().Add(time.Hour).In(time.FixedZone("", 5*3600)).Format(time.RFC3339), nil, 200, "", false},
		{"without a zone", time.Now().UTC().Add(time.Hour).Format("2006-01-02T15:04:05"), nil, 200, "", false},
		{"in four minutes", in(4 * time.Minute), nil, 200, "", true},
		{"in just five minutes", in(5 * time.Minute), nil, 200, "", true},
		{"long ago", "1970-01-01T00:00:00Z", nil, 200, "", true},
		{"at no time", "", nil, 200, "", true},
		{"a preview", in(time.Hour), []string{"preview", "true"}, 200, "", true},
		{"later", "later", nil, 400, "scheduled_at - Invalid format. Expected date-time.", false},
		{"a number", "1700000000", nil, 400, "scheduled_at - Invalid format. Expected date-time.", false},
		{"nothing", in(time.Hour), []string{"status", " "}, 422, "Cannot post an empty status without attachments", false},
		{"too long", in(time.Hour), []string{"status", strings.Repeat("a", 5001)}, 422, "The status is over the character limit", false},
		{"a poll of one option", in(time.Hour), []string{"poll[options][]", "a", "poll[expires_in]", "60"}, 422, "Poll must contain at least 2 options", false},
		{"gone too soon", in(time.Hour), []string{"expires_in", "3600"}, 422, "Expiry date is too soon", false},
		{"an answer to nothing", in(time.Hour), []string{"in_reply_to_id", "000000000000000000"}, 422, "Cannot reply to a deleted status", false},
		{"too wide an answer", in(time.Hour), []string{"in_reply_to_id", direct, "visibility", "public"}, 422, "The message visibility must be direct", false},
		{"for no list", in(time.Hour), []string{"visibility", "list:000000000000000000"}, 404, "Record not found", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := alice.post("/api/v1/statuses", append([]string{"status", "x", "scheduled_at", tt.at}, tt.params...)...)
			if tt.error != "" {
				a.wantError(tt.want, tt.error)
			} else if o := a.want(tt.want).object(); o.has("content") != tt.now || o.has("scheduled_at") == tt.now {
				t.Errorf("got %v", o.m)
			}
		})
	}
	wantIDs(t, "scheduled", bob.get("/api/v1/scheduled_statuses"))
	if n := len(alice.get("/api/v1/scheduled_statuses").want(200).list()); n != 4 {
		t.Errorf("%d are scheduled, want 4", n)
	}
	srv.as(nil).post("/api/v1/statuses", "status", "x", "scheduled_at", in(time.Hour)).wantError(401, "The access token is invalid")
}

// What is kept of one is bounded by what a status can be, whatever was sent with it.
func TestScheduledIsBounded(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	long, blank := strings.Repeat("x", 100_000), strings.Repeat(" ", 100_000)
	to := []string{blank + "@bob" + blank, long, "no handle", "@carol@" + srv.settings.Host()}
	for len(to) < 900 {
		to = append(to, "nobody")
	}
	o := alice.send("POST", "/api/v1/statuses", jsonBody{
		"status": blank + "**hello**" + blank, "spoiler_text": blank + "cw\x00", "content_type": long, "language": long, "visibility": "direct", "to": to,
		"scheduled_at": in(time.Hour),
	}).want(200).object()
	wantMembers(t, "scheduled", o, jsonBody{"params.text": "**hello**", "params.spoiler_text": "cw", "params.language": nil})
	if ok, err := srv.has(`SELECT 1 FROM scheduled_statuses WHERE length(draft) < 2000`); !ok || err != nil {
		t.Errorf("the draft is long: %v", err)
	}
	srv.due(o.id())
	for _, m := range []*member{bob, carol} {
		if st := m.conversation().at("last_status").(map[string]any); st["content"] != "<p>**hello**</p>" || st["spoiler_text"] != "cw" {
			t.Errorf("%s got %v", m.nick, st)
		}
	}
	none := alice.send("POST", "/api/v1/statuses", jsonBody{"status": "@bob", "visibility": "direct", "to": []string{}, "scheduled_at": in(time.Hour)}).want(200).object()
	srv.due(none.id())
	if n := len(bob.get("/api/v1/timelines/direct").want(200).list()); n != 1 {
		t.Errorf("what is for nobody came to who is named in it: %d posts", n)
	}
}

func TestScheduledStatuses(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	var ids []string
	for i := range 24 {
		ids = append([]string{alice.schedule(fmt.Sprint(i), "scheduled_at", in(time.Duration(i+24)*time.Hour)).id()}, ids...)
	}
	foreign := bob.schedule("bob's").id()
	wantPages(t, alice, "/api/v1/scheduled_statuses?limit=5", ids)
	if got := alice.get("/api/v1/scheduled_statuses"); len(got.ids()) != 20 {
		t.Errorf("a page has %d", len(got.ids()))
	}
	path := "/api/v1/scheduled_statuses/" + ids[0]
	for _, tt := range []struct {
		name, method, id string
		as               *member
		at               any
		want             int
		error            string
	}{
		{"show", "GET", ids[0], alice, nil, 200, ""},
		{"show another's", "GET", foreign, alice, nil, 404, "Record not found"},
		{"show none", "GET", "x", alice, nil, 404, "Record not found"},
		{"show without a token", "GET", ids[0], nil, nil, 401, "The access token is invalid"},
		{"move", "PUT", ids[0], alice, in(6 * time.Minute), 200, ""},
		{"move another's", "PUT", foreign, alice, in(time.Hour), 404, "Record not found"},
		{"move none", "PUT", "000000000000000000", alice, in(time.Hour), 404, "Record not found"},
		{"move to soon", "PUT", ids[0], alice, in(4 * time.Minute), 422, "must be at least 5 minutes from now"},
		{"move to yesterday", "PUT", ids[0], alice, in(-24 * time.Hour), 422, "must be at least 5 minutes from now"},
		{"move to some time", "PUT", ids[0], alice, "some time", 400, "scheduled_at - Invalid format. Expected date-time."},
		{"move to nowhere", "PUT", ids[0], alice, nil, 400, "Missing field: scheduled_at."},
		{"delete another's", "DELETE", foreign, alice, nil, 404, "Record not found"},
		{"delete", "DELETE", ids[1], alice, nil, 200, ""},
		{"delete again", "DELETE", ids[1], alice, nil, 404, "Record not found"},
		{"move what is gone", "PUT", ids[1], alice, in(time.Hour), 404, "Record not found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := srv.as(tt.as).send(tt.method, "/api/v1/scheduled_statuses/"+tt.id, jsonBody{"scheduled_at": tt.at})
			if tt.error != "" {
				a.wantError(tt.want, tt.error)
				return
			}
			if o := a.want(200).object(); o.id() != tt.id {
				t.Errorf("got %v", o.m)
			}
		})
	}
	moved, err := time.Parse(time.RFC3339, alice.get(path).object().str("scheduled_at"))
	if d := time.Until(moved); err != nil || d < 5*time.Minute || d > 6*time.Minute {
		t.Errorf("moved to %v, %v", d, err)
	}

	// A deleted one never goes out, and its picture is free again. Moving one moves its job too.
	picture := srv.letUpload(alice)
	cancelled := alice.schedule("never", "media_ids[]", picture, "scheduled_at", in(100*time.Hour)).id()
	alice.do("DELETE", "/api/v1/scheduled_statuses/"+cancelled, "", nil).want(200)
	srv.due(cancelled)
	srv.insert(`UPDATE jobs SET run_at = 1000 WHERE unique_key = ?`, "publish:"+ids[2]) // a job that comes too soon
	srv.settle()
	wantIDs(t, "posted", alice.get("/api/v1/accounts/alice/statuses"))
	alice.get("/api/v1/scheduled_statuses/" + ids[2]).want(200)
	alice.publish("with the picture", "media_ids[]", picture)
	job := `SELECT 1 FROM jobs WHERE unique_key = ? AND run_at < ?`
	if soon, err := srv.has(job, "publish:"+ids[0], time.Now().Add(7*time.Minute).UnixMilli()); !soon || err != nil {
		t.Errorf("the job has not been moved: %v", err)
	}
}

func TestScheduleLimits(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	day := time.Now().UTC().AddDate(0, 0, 3).Truncate(24 * time.Hour)
	for i := range 25 {
		alice.schedule("x", "scheduled_at", day.Add(time.Duration(i)*24*time.Hour/24-time.Duration(i/24)*time.Millisecond).Format(time.RFC3339Nano))
	}
	first := alice.get("/api/v1/scheduled_statuses", "limit", "40").ids()[24]
	for _, tt := range []struct {
		name  string
		as    *member
		at    time.Time
		error string
	}{
		{"one more on that day", alice, day.Add(12 * time.Hour), "daily limit exceeded"},
		{"its first moment", alice, day, "daily limit exceeded"},
		{"its last moment", alice, day.Add(24*time.Hour - time.Millisecond), "daily limit exceeded"},
		{"the day after", alice, day.Add(24 * time.Hour), ""},
		{"the day before", alice, day.Add(-time.Millisecond), ""},
		{"somebody else", bob, day, ""},
	} {
		a := tt.as.post("/api/v1/statuses", "status", "x", "scheduled_at", tt.at.Format(time.RFC3339Nano))
		if tt.error == "" {
			a.want(200)
			continue
		}
		t.Run(tt.name, func(t *testing.T) { a.wantError(422, tt.error) })
	}
	after := alice.schedule("x", "scheduled_at", day.Add(30*time.Hour).Format(time.RFC3339)).id()
	move := func(id string, to time.Time) *answer {
		return alice.send("PUT", "/api/v1/scheduled_statuses/"+id, jsonBody{"scheduled_at": to})
	}
	move(after, day).wantError(422, "daily limit exceeded")
	move(first, day.Add(time.Hour)).want(200) // within the day
	srv.insert(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 272)
		INSERT INTO scheduled_statuses (id, account_id, scheduled_at, draft) SELECT i, ?, 1000, '{}' FROM n`, alice.accountID())
	post := func() *answer {
		return alice.post("/api/v1/statuses", "status", "x", "scheduled_at", day.AddDate(1, 0, 0).Format(time.RFC3339))
	}
	last := post()
	last.wantError(422, "total limit exceeded") // 25 + 3 + 272
	move(after, day.AddDate(1, 0, 0)).want(200)
	alice.do("DELETE", "/api/v1/scheduled_statuses/"+after, "", nil).want(200)
	post().want(200)
	post().wantError(422, "total limit exceeded")
}

// What cannot be published any more when its time comes is not posted as something else, and not lost either.
func TestScheduledThatCannotBePublished(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	root, list, picture := bob.publish("root").id(), srv.letList(alice, bob), srv.letUpload(alice)
	orphan := alice.schedule("yes", "in_reply_to_id", root, "media_ids[]", picture).id()
	listless := alice.schedule("friends", "visibility", "list:"+list)
	wantMembers(t, "for a list", listless, jsonBody{"params.visibility": "list:" + list})
	fine := alice.schedule("fine").id()
	bob.do("DELETE", "/api/v1/statuses/"+root, "", nil).want(200)
	alice.do("DELETE", "/api/v1/lists/"+list, "", nil).want(200)
	srv.due(orphan, listless.id(), fine)
	if posted := alice.get("/api/v1/accounts/alice/statuses").list(); len(posted) != 1 || posted[0].str("content") != "<p>fine</p>" {
		t.Errorf("posted: %v", posted)
	}
	wantIDs(t, "what is left", alice.get("/api/v1/scheduled_statuses"), listless.id(), orphan)
	left := alice.get("/api/v1/scheduled_statuses/" + orphan).object()
	wantMembers(t, "left", left, jsonBody{"scheduled_at": "1970-01-01T00:00:01.000Z", "params.media_ids": []any{picture}})
	if len(left.at("media_attachments").([]any)) != 1 {
		t.Errorf("the picture has come loose: %v", left.m)
	}
	if waiting, err := srv.has(`SELECT 1 FROM jobs WHERE kind = 'publish_scheduled'`); waiting || err != nil {
		t.Errorf("it is tried again and again: %v", err)
	}
	alice.do("DELETE", "/api/v1/scheduled_statuses/"+orphan, "", nil).want(200)
	alice.publish("again", "media_ids[]", picture)

	// So it is with those of somebody who is out of service. Who comes back can give them another time.
	away := bob.schedule("away").id()
	if _, err := srv.social.Deactivate(t.Context(), bob.accountID()); err != nil {
		t.Fatal(err)
	}
	srv.due(away)
	if _, err := srv.social.Activate(t.Context(), bob.accountID()); err != nil {
		t.Fatal(err)
	}
	wantIDs(t, "bob's statuses", bob.get("/api/v1/accounts/bob/statuses"))
	bob.send("PUT", "/api/v1/scheduled_statuses/"+away, jsonBody{"scheduled_at": in(time.Hour)}).want(200)
	srv.due(away)
	if posted := bob.get("/api/v1/accounts/bob/statuses").list(); len(posted) != 1 {
		t.Errorf("bob posted %v", posted)
	}

	// A deleted account leaves none behind.
	gone := bob.schedule("gone").id()
	if err := srv.social.DeleteAccount(t.Context(), bob.accountID()); err != nil {
		t.Fatal(err)
	}
	srv.due(gone)
	for _, query := range []string{`SELECT 1 FROM scheduled_statuses WHERE account_id = ?`, `SELECT 1 FROM statuses WHERE account_id = ?`} {
		if left, err := srv.has(query, bob.accountID()); left || err != nil {
			t.Errorf("left: %s, %v", query, err)
		}
	}
	if left, err := srv.has(`SELECT 1 FROM jobs WHERE kind = 'publish_scheduled'`); left || err != nil {
		t.Errorf("a job is left: %v", err)
	}
}

// An app that is gone takes nothing with it.
func TestScheduledWithoutItsApp(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	if alice.schedule("x").num("params.application_id") == 0 {
		t.Error("there is no app")
	}
	id := alice.get("/api/v1/scheduled_statuses").ids()[0]
	srv.insert(`UPDATE oauth_tokens SET app_id = NULL`)
	srv.insert(`DELETE FROM oauth_apps`)
	wantMembers(t, "scheduled", alice.get("/api/v1/scheduled_statuses/"+id).object(), jsonBody{"params.application_id": nil})
	srv.due(id)
	wantMembers(t, "posted", alice.get("/api/v1/accounts/alice/statuses").list()[0], jsonBody{"application": nil})
}

// A key makes one scheduled status, and stands for what comes of it.
func TestScheduledIdempotency(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	post := func(as *member, key string, at string) *object {
		req, err := http.NewRequestWithContext(t.Context(), "POST", srv.url+"/api/v1/statuses?status=x&scheduled_at="+url.QueryEscape(at), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Idempotency-Key", key)
		return as.request(req).want(200).object()
	}
	for _, key := range []string{"key", strings.Repeat("k", 5000), "no UTF-8: \xff"} {
		at := in(time.Hour)
		ids := make([]string, 10)
		var wg sync.WaitGroup
		for i := range ids {
			wg.Go(func() { ids[i] = post(alice, key, at).id() })
		}
		wg.Wait()
		if ids = slices.Compact(ids); len(ids) != 1 {
			t.Fatalf("one key made %d", len(ids))
		}
		if shown := alice.get("/api/v1/scheduled_statuses/" + ids[0]).object().str("params.idempotency"); key == "key" && shown != key || len(shown) > 255 {
			t.Errorf("the key is shown as %q", shown)
		}
		if post(bob, key, at).id() == ids[0] {
			t.Error("bob got what alice scheduled")
		}
		if o := post(alice, key, in(time.Minute)); o.id() != ids[0] || !o.has("params") {
			t.Errorf("the time has come nearer, and it was posted: %v", o.m)
		}
		srv.due(ids[0])
		posted := alice.get("/api/v1/accounts/alice/statuses").ids()[0]
		if o := post(alice, key, at); o.id() != posted || !o.has("content") {
			t.Errorf("what was posted is scheduled again: %v", o.m)
		}
	}
	if n := len(alice.get("/api/v1/accounts/alice/statuses").ids()); n != 3 {
		t.Errorf("alice posted %d", n)
	}
}

// However often the job runs, and whoever else is at it, a scheduled status goes out once.
func TestScheduledGoesOutOnce(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	id := alice.schedule("once").id()
	srv.insert(`UPDATE scheduled_statuses SET scheduled_at = 1000`)
	err := srv.db.Update(t.Context(), func(tx *store.Tx) error {
		for range 3 {
			if err := tx.Enqueue(t.Context(), store.PublishScheduled{ScheduledID: scheduledID(id)}); err != nil {
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
		wg.Go(srv.settle)
	}
	wg.Wait()
	srv.settle()
	if n := len(alice.get("/api/v1/accounts/alice/statuses").ids()); n != 1 {
		t.Errorf("it was posted %d times", n)
	}
}

package staff_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/store"
)

// TestMeasures checks the numbers of measures, their days, and the time before.
func TestMeasures(t *testing.T) {
	srv := apptest.Start(t)
	root, alice, bob := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob")
	st := bob.Publish("hello")
	alice.Post("/api/v1/statuses/" + st.ID() + "/favourite").Want(200)
	alice.ReactWith(st.ID(), "🔥")
	first := report(alice, bob, "a")
	report(alice, bob, "b")
	setState(root, first, "resolved")
	today := time.Now().UTC().Truncate(24 * time.Hour)
	day := func(n int) string { return today.AddDate(0, 0, n).Format(time.DateOnly) }
	body := apptest.Doc{
		"keys": list{"new_users", "interactions", "opened_reports", "resolved_reports", "active_users", "new_users"}, "start_at": day(-1), "end_at": day(0),
	}
	measures := root.SendJSON("POST", "/api/v1/admin/measures", body).Want(200).List()
	if len(measures) != 5 {
		t.Fatalf("%d measures, want each once", len(measures))
	}
	for i, want := range []struct{ key, total string }{{"new_users", "3"}, {"interactions", "2"}, {"opened_reports", "2"}, {"resolved_reports", "1"}} {
		wantFields(t, want.key, measures[i], apptest.Doc{
			"key": want.key, "unit": nil, "total": want.total, "previous_total": "0", "data.0.value": "0", "data.1.value": want.total,
			"data.1.date": day(0) + "T00:00:00.000Z",
		})
	}
	body["start_at"], body["end_at"] = day(1)+"T12:00:00Z", day(1)+"T13:00:00Z"
	wantFields(t, "the days before", root.SendJSON("POST", "/api/v1/admin/measures", body).Want(200).List()[0], apptest.Doc{"total": "0", "previous_total": "3"})
	for _, tt := range []struct {
		change apptest.Doc
		code   int
		error  string
	}{
		{apptest.Doc{"keys": nil}, 400, "Missing field: keys."},
		{apptest.Doc{"start_at": nil}, 400, "Missing field: start_at."},
		{apptest.Doc{"keys": list{"new_users", "old_users"}}, 400, "old_users - Invalid value for enum."},
		{apptest.Doc{"start_at": "0001-01-01", "end_at": "0001-01-02"}, 422, "Validation failed: start_at is before 1970"},
		{apptest.Doc{"end_at": "tomorrow"}, 400, "end_at - Invalid format. Expected date-time."},
		{apptest.Doc{"end_at": day(-9)}, 422, "Validation failed: end_at is before start_at"},
		{apptest.Doc{"end_at": day(100)}, 422, "Validation failed: The period has more than 92 days"},
	} {
		bad := apptest.Doc{"keys": list{"new_users"}, "start_at": day(0), "end_at": day(0)}
		for k, v := range tt.change {
			if bad[k] = v; v == nil {
				delete(bad, k)
			}
		}
		root.SendJSON("POST", "/api/v1/admin/measures", bad).WantError(tt.code, tt.error)
	}
}

// measuredServer has posts with hashtags and follows on two servers. They are of today.
func measuredServer(t *testing.T) (srv *apptest.Server, root *apptest.User) {
	srv = apptest.Start(t)
	root, alice, bob := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob")
	far, farther := srv.Account(t, srv.AddRemoteAccount("far", "example.com")), srv.Account(t, srv.AddRemoteAccount("farther", "example.com"))
	srv.AddRemoteAccount("other", "example.net")
	alice.Publish("one #Cats", "language", "de")
	alice.Publish("two #cats", "language", "de")
	bob.Publish("three #cats", "language", "en")
	bob.Publish("secret #cats", "visibility", "private")
	st := srv.AddRemoteStatus(far)
	srv.AddRemoteStatus(farther, func(st *store.Status) { st.Language = "fr" })
	srv.AddRemoteStatus(farther, func(st *store.Status) { st.Language, st.Visibility = "fr", store.Private })
	srv.Exec("INSERT INTO status_tags (tag_id, status_id, position, visibility) SELECT id, ?, 0, 0 FROM tags WHERE name = 'cats'", int64(st.ID))
	alice.AccountAction(far.ID.String(), "follow")
	bob.AccountAction(far.ID.String(), "follow")
	bob.AccountAction(farther.ID.String(), "follow")
	srv.Exec("UPDATE follows SET pending = 0")
	srv.AddRemoteFollow(far, alice, false)
	srv.AddRemoteFollow(far, bob, true)
	alice.SendJSON("POST", "/api/v1/reports", apptest.Doc{"account_id": far.ID.String()}).Want(200)
	return srv, root
}

// TestSubjectMeasures checks the measures of hashtags and instances.
func TestSubjectMeasures(t *testing.T) {
	srv, root := measuredServer(t)
	today := time.Now().UTC()
	day := func(n int) string { return today.AddDate(0, 0, n).Format(time.DateOnly) }
	tag := strconv.Itoa(srv.Count("SELECT id FROM tags WHERE name = 'cats'"))
	const path = "/api/v1/admin/measures"
	for _, tt := range []struct {
		key, parameter, subject string
		total                   string
		previous                any // nil: not in the answer
	}{
		{"tag_accounts", "id", tag, "3", "0"},
		{"tag_accounts", "id", "Cats", "3", "0"},
		{"tag_uses", "id", tag, "4", "0"},
		{"tag_servers", "id", "#cats", "1", "0"},
		{"instance_accounts", "domain", "Example.com", "2", nil},
		{"instance_accounts", "domain", "unknown.example", "0", nil},
		{"instance_reports", "domain", "example.com", "1", nil},
		{"instance_reports", "domain", "example.net", "0", nil},
		{"instance_statuses", "domain", "example.com", "3", nil},
		{"instance_follows", "domain", "example.com", "3", nil},
		{"instance_followers", "domain", "example.com", "1", nil},
	} {
		m := root.Post(path, "keys[]", tt.key, tt.key+"["+tt.parameter+"]", tt.subject, "start_at", day(-1), "end_at", day(0)).Want(200).List()[0]
		wantFields(t, tt.key+" of "+tt.subject, m, apptest.Doc{"key": tt.key, "unit": nil, "total": tt.total, "data.0.value": "0", "data.1.value": tt.total})
		if got, has := m.Fields["previous_total"]; got != tt.previous || has != (tt.previous != nil) {
			t.Errorf("%s: previous_total is %v", tt.key, got)
		}
		if _, has := m.Fields["human_value"]; has {
			t.Errorf("%s has a human_value", tt.key)
		}
		before := root.Post(path, "keys[]", tt.key, tt.key+"["+tt.parameter+"]", tt.subject, "start_at", day(-3), "end_at", day(-2)).Want(200).List()[0]
		total := tt.total
		if tt.previous != nil {
			total = "0"
		}
		wantFields(t, tt.key+" of other days", before, apptest.Doc{"total": total, "data.0.value": "0", "data.1.value": "0"})
	}
	for _, tt := range []struct {
		key, parameter, subject string
		code                    int
		error                   string
	}{
		{"tag_uses", "id", "", 400, "Missing field: tag_uses[id]."},
		{"tag_uses", "domain", "example.com", 400, "Missing field: tag_uses[id]."},
		{"tag_servers", "id", "dogs", 404, "Record not found"},
		{"tag_servers", "id", "999999", 404, "Record not found"},
		{"instance_follows", "domain", " ", 400, "Missing field: instance_follows[domain]."},
		{"instance_follows", "domain", "not a domain", 422, `Validation failed: "not a domain" is not a domain such as example.org`},
	} {
		root.Post(path, "keys[]", tt.key, tt.key+"["+tt.parameter+"]", tt.subject, "start_at", day(0), "end_at", day(0)).WantError(tt.code, tt.error)
	}
	root.SendJSON("POST", path, apptest.Doc{"keys": list{"tag_uses"}, "tag_uses": "cats", "start_at": day(0), "end_at": day(0)}).
		WantError(400, "tag_uses - Invalid object. Got: string.")
}

// TestInstanceMedia checks the bytes that the cache of the media proxy has of attachments of a server.
func TestInstanceMedia(t *testing.T) {
	site := startFiles(t, map[string][]byte{"/1.png": apptest.PNG(8, 8), "/2.png": apptest.PNG(9, 9)})
	srv := apptest.Start(t, apptest.AllowLoopback)
	root := srv.SignUpAdmin()
	far := srv.Account(t, srv.AddRemoteAccount("far", "example.com"))
	for _, name := range []string{"/1.png", "/2.png", "/3.png"} {
		post := srv.AddRemoteStatus(far, func(st *store.Status) { st.HasMedia = true })
		err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
			return tx.AddMedia(t.Context(), &store.Media{AccountID: far.ID, StatusID: &post.ID, Type: "image", Mime: "image/png", RemoteURL: site.URL + name})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	day := func(n int) string { return time.Now().UTC().AddDate(0, 0, n).Format(time.DateOnly) }
	measure := func(domain string) *apptest.Object {
		t.Helper()
		return root.Post("/api/v1/admin/measures", "keys[]", "instance_media_attachments", "instance_media_attachments[domain]", domain, "start_at", day(-1), "end_at", day(0)).
			Want(200).List()[0]
	}
	wantFields(t, "nothing is cached", measure("example.com"), apptest.Doc{"unit": "bytes", "total": "0", "human_value": "0 B"})
	for _, name := range []string{"/1.png", "/2.png"} {
		srv.As(nil).Get(srv.Proxy.URL(site.URL + name)).Want(200)
	}
	apptest.WaitFor(t, "both pictures in the cache", func() bool { // a file is stored after its last byte was sent
		n := srv.Proxy.CachedBytes(site.URL+"/1.png", site.URL+"/2.png")
		return n > srv.Proxy.CachedBytes(site.URL+"/1.png") && n == srv.Proxy.Bytes()
	})
	bytes := strconv.FormatInt(srv.Proxy.Bytes(), 10)
	wantFields(t, "two pictures", measure("example.com"), apptest.Doc{"unit": "bytes", "total": bytes, "human_value": "8.2 KB", "data.0.value": "0", "data.1.value": bytes})
	wantFields(t, "another server", measure("example.net"), apptest.Doc{"total": "0"})
}

// TestDimensions checks the tables of facts about the server.
func TestDimensions(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	srv.SignUp("alice")
	srv.Exec("UPDATE users SET locale = 'de' WHERE is_admin = 1")
	const path = "/api/v1/admin/dimensions"
	tables := root.SendJSON("POST", path, apptest.Doc{"keys": list{"languages", "software_versions", "space_usage", "sources", "languages"}}).Want(200).List()
	if len(tables) != 4 {
		t.Fatalf("%d tables", len(tables))
	}
	if n := len(tables[0].At("data").([]any)); n != 2 {
		t.Errorf("%d languages", n)
	}
	wantFields(t, "versions", tables[1], apptest.Doc{"key": "software_versions", "data.0.key": "svc", "data.1.human_key": "Go", "data.2.key": "sqlite"})
	wantFields(t, "space", tables[2], apptest.Doc{
		"key": "space_usage", "data.0.key": "sqlite", "data.0.unit": "bytes", "data.1.key": "media", "data.1.value": "0", "data.1.human_value": "0 B", "data.2.key": "media_proxy",
	})
	wantFields(t, "sources", tables[3], apptest.Doc{"key": "sources", "data.0.value": "2"})
	for _, tt := range []struct {
		change apptest.Doc
		code   int
		error  string
	}{
		{apptest.Doc{"keys": nil}, 400, "Missing field: keys."},
		{apptest.Doc{"keys": list{"unknown"}}, 400, "unknown - Invalid value for enum."},
		{apptest.Doc{"keys": list{"tag_servers"}}, 400, "Missing field: tag_servers[id]."},
		{apptest.Doc{"keys": list{"tag_languages"}, "tag_languages": apptest.Doc{"id": "dogs"}}, 404, "Record not found"},
		{apptest.Doc{"keys": list{"instance_languages"}, "instance_languages": apptest.Doc{"domain": "a b"}}, 422, `Validation failed: "a b" is not a domain such as example.org`},
		{apptest.Doc{"start_at": "soon"}, 400, "start_at - Invalid format. Expected date-time."},
		{apptest.Doc{"start_at": "2020-01-01"}, 422, "Validation failed: The period has more than 92 days"},
		{apptest.Doc{"end_at": "2020-01-01", "start_at": "2020-01-02"}, 422, "Validation failed: end_at is before start_at"},
	} {
		bad := apptest.Doc{"keys": list{"languages"}}
		for k, v := range tt.change {
			if bad[k] = v; v == nil {
				delete(bad, k)
			}
		}
		root.SendJSON("POST", path, bad).WantError(tt.code, tt.error)
	}
}

// TestSubjectDimensions checks the tables about servers, hashtags and instances, in their order, and the limit.
func TestSubjectDimensions(t *testing.T) {
	srv, root := measuredServer(t)
	srv.Exec("UPDATE oauth_tokens SET app_id = NULL WHERE account_id = (SELECT account_id FROM users WHERE is_admin = 1)")
	here := strings.TrimPrefix(srv.URL, "http://")
	long := time.Now().UTC().AddDate(0, 0, -60).Format(time.DateOnly)
	for _, tt := range []struct {
		key, parameter, subject, want, before string
	}{
		{"servers", "", "", here + "=3 example.com=2", ""},
		{"sources", "", "", "Test=2 web=1", ""},
		{"tag_servers", "id", "cats", here + "=3 example.com=1", ""},
		{"tag_languages", "id", "cats", "de=2 und=1 en=1", ""},
		{"instance_accounts", "domain", "example.com", "far=2 farther=1", "far=2 farther=1"},
		{"instance_languages", "domain", "example.com", "und=1 fr=1", ""},
	} {
		for end, want := range map[string]string{"": tt.want, long: tt.before} {
			table := root.Post("/api/v1/admin/dimensions", "keys[]", tt.key, tt.key+"["+tt.parameter+"]", tt.subject, "end_at", end).Want(200).List()[0]
			var got []string
			for _, row := range table.At("data").([]any) {
				row := row.(map[string]any)
				got = append(got, row["key"].(string)+"="+row["value"].(string))
			}
			if table.Str("key") != tt.key || strings.Join(got, " ") != want {
				t.Errorf("%s until %q: got %q, want %q", tt.key, end, got, want)
			}
		}
	}
	one := root.Post("/api/v1/admin/dimensions", "keys[]", "servers", "limit", "1").Want(200).List()[0]
	wantFields(t, "the human key", one, apptest.Doc{"data.0.human_key": here})
	if n := len(one.At("data").([]any)); n != 1 {
		t.Errorf("%d servers with limit 1", n)
	}
}

// TestRetention checks the cohorts of days and months.
func TestRetention(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	srv.SignUp("alice")
	today := time.Now().UTC().Truncate(24 * time.Hour)
	srv.Exec("UPDATE users SET last_active_at = CASE is_admin WHEN 1 THEN ? ELSE 0 END", today.AddDate(0, 0, 1).UnixMilli())
	day := func(n int) string { return today.AddDate(0, 0, n).Format(time.DateOnly) }
	const path = "/api/v1/admin/retention"
	cohorts := root.SendJSON("POST", path, apptest.Doc{"start_at": day(0), "end_at": day(2), "frequency": "day"}).Want(200).List()
	if len(cohorts) != 3 {
		t.Fatalf("%d cohorts", len(cohorts))
	}
	wantFields(t, "the first day", cohorts[0], apptest.Doc{
		"frequency": "day", "period": day(0) + "T00:00:00.000Z", "data.0.value": "2", "data.0.rate": 1.0, "data.1.value": "1", "data.1.rate": 0.5, "data.2.value": "0",
		"data.2.rate": 0.0, "data.2.date": day(2) + "T00:00:00.000Z",
	})
	wantFields(t, "a day without registrations", cohorts[2], apptest.Doc{"data.0.value": "0", "data.0.rate": 0.0})
	if got := root.SendJSON("POST", path, apptest.Doc{"start_at": day(0), "end_at": day(0), "frequency": "month"}).Want(200).List(); len(got) != 1 || got[0].Str("frequency") != "month" {
		t.Errorf("by month: %v", got)
	}
	root.SendJSON("POST", path, apptest.Doc{"start_at": day(0), "end_at": day(60), "frequency": "day"}).WantError(422, "Validation failed: There are more than 31 cohorts")
	root.SendJSON("POST", path, apptest.Doc{"start_at": day(0), "end_at": day(-2), "frequency": "day"}).WantError(422, "Validation failed: end_at is before start_at")
	root.SendJSON("POST", path, apptest.Doc{"start_at": day(0), "end_at": day(0), "frequency": "week"}).WantError(400, "week - Invalid value for enum.")
	root.SendJSON("POST", path, apptest.Doc{"start_at": day(0), "end_at": day(0)}).WantError(400, "Missing field: frequency.")
}

package staff_test

import (
	"testing"
	"time"

	"svc/app/apptest"
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
		"keys": list{"new_users", "interactions", "opened_reports", "resolved_reports", "active_users", "unknown", "new_users"}, "start_at": day(-1), "end_at": day(0),
	}
	measures := root.SendJSON("POST", "/api/v1/admin/measures", body).Want(200).List()
	if len(measures) != 5 {
		t.Fatalf("%d measures, want the known ones once", len(measures))
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

// TestDimensions checks the tables of facts.
func TestDimensions(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	srv.SignUp("alice")
	srv.Exec("UPDATE users SET locale = 'de' WHERE is_admin = 1")
	tables := root.SendJSON("POST", "/api/v1/admin/dimensions", apptest.Doc{"keys": list{"languages", "software_versions", "space_usage", "unknown"}}).Want(200).List()
	if len(tables) != 3 {
		t.Fatalf("%d tables", len(tables))
	}
	if n := len(tables[0].At("data").([]any)); n != 2 {
		t.Errorf("%d languages", n)
	}
	wantFields(t, "versions", tables[1], apptest.Doc{"key": "software_versions", "data.0.key": "svc", "data.1.human_key": "Go"})
	wantFields(t, "space", tables[2], apptest.Doc{"key": "space_usage", "data.0.key": "sqlite", "data.0.unit": "bytes", "data.1.value": "0", "data.1.human_value": "0"})
	if n := len(root.SendJSON("POST", "/api/v1/admin/dimensions", apptest.Doc{"keys": list{"languages"}, "limit": 1}).Want(200).List()[0].At("data").([]any)); n != 1 {
		t.Errorf("%d languages with limit 1", n)
	}
	root.SendJSON("POST", "/api/v1/admin/dimensions", apptest.Doc{}).WantError(400, "Missing field: keys.")
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

package server_test

import (
	"testing"

	"svc/app/apptest"
)

// TestAnnualReports checks that no account has a report or may have one.
func TestAnnualReports(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	const path = "/api/v1/annual_reports"
	if got := string(alice.Get(path).Want(200).Body); got != `{"accounts":[],"annual_reports":[],"statuses":[]}` {
		t.Errorf("got %s", got)
	}
	if got := alice.Get(path + "/2025/state").Want(200).Object().Str("state"); got != "ineligible" {
		t.Errorf("the state is %s", got)
	}
	alice.Get(path+"/2025").WantError(404, "Record not found")
	alice.Post(path+"/2025/read").WantError(404, "Record not found")
	if got := string(alice.Post(path + "/2025/generate").Want(200).Body); got != "{}" {
		t.Errorf("generate: %s", got)
	}
	for _, year := range []string{"0", "x", "20255", "-202", "2o25"} {
		alice.Get(path + "/" + year + "/state").Want(404)
		alice.Post(path + "/" + year + "/generate").Want(404)
	}
	srv.As(nil).Get(path).Want(401)
	srv.As(nil).Get(path + "/2025").Want(401)
	srv.As(nil).Post(path + "/2025/generate").Want(401)
	srv.NewToken(alice, "read").Post(path + "/2025/generate").Want(403)
}

package staff_test

import (
	"fmt"
	"testing"

	"svc/app/apptest"
)

const jobsPath = "/api/v1/svc/admin/jobs"

// addParkedJobs adds n jobs that have failed, with the ids from first on.
func addParkedJobs(srv *apptest.Server, first, n int) {
	srv.T.Helper()
	for id := first; id < first+n; id++ {
		srv.Exec(`INSERT INTO jobs (id, kind, payload, run_at, attempts, parked, last_error) VALUES (?, 'import', '{}', 1000, 8, 1, ?)`,
			id, fmt.Sprintf("line %d is wrong", id))
	}
}

// TestJobs lists parked jobs, and retries and drops them.
func TestJobs(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	addParkedJobs(srv, 1, 5)
	srv.Exec(`INSERT INTO jobs (id, kind, payload, run_at) VALUES (9, 'import', '{}', 1000)`)
	remove := func(path string) *apptest.Response { return root.Do("DELETE", path, "", nil) }
	state := func(o *apptest.Object) (queued, parked any) {
		for _, kind := range o.At("kinds").([]any) {
			if k := kind.(map[string]any); k["kind"] == "import" {
				return k["queued"], k["parked"]
			}
		}
		return 0.0, 0.0
	}
	listed := root.Get(jobsPath, "limit", "2").Want(200)
	wantFields(t, "the jobs", listed.Object(), apptest.Doc{
		"parked.0.id": 5.0, "parked.0.kind": "import", "parked.0.attempts": 8.0, "parked.0.last_error": "line 5 is wrong", "parked.1.id": 4.0, "parked.2": nil,
	})
	if queued, parked := state(listed.Object()); queued != 1.0 || parked != 5.0 {
		t.Errorf("%v are queued, %v are parked", queued, parked)
	}
	if overdue := listed.Object().At("overdue_seconds").(float64); overdue < 1e6 {
		t.Errorf("overdue for %v seconds", overdue)
	}
	wantFields(t, "the second page", root.Get(listed.Links()["next"]).Want(200).Object(), apptest.Doc{"parked.0.id": 3.0, "parked.1.id": 2.0, "parked.2": nil})

	wantFields(t, "a retry", root.Post(jobsPath+"/1/retry").Want(200).Object(), apptest.Doc{"jobs": 1.0})
	wantLog(t, root.Client, "@root retried job #1")
	wantFields(t, "a drop", remove(jobsPath+"/2").Want(200).Object(), apptest.Doc{"jobs": 1.0})
	wantLog(t, root.Client, "@root dropped job #2")
	for _, path := range []string{"/1", "/2", "/9", "/x", "/-1"} { // queued again, gone, never parked, and no ids
		root.Post(jobsPath+path+"/retry").WantError(404, "Not found")
		remove(jobsPath+path).WantError(404, "Not found")
	}
	remove(jobsPath + "/3").Want(200)
	wantFields(t, "a retry of all", root.Post(jobsPath+"/retry").Want(200).Object(), apptest.Doc{"jobs": 2.0})
	wantLog(t, root.Client, "@root retried all 2 parked jobs")
	wantFields(t, "a drop of none", remove(jobsPath).Want(200).Object(), apptest.Doc{"jobs": 0.0})
	addParkedJobs(srv, 20, 3)
	wantFields(t, "a drop of all", remove(jobsPath).Want(200).Object(), apptest.Doc{"jobs": 3.0})
	wantLog(t, root.Client, "@root dropped all 3 parked jobs")
	if _, parked := state(root.Get(jobsPath).Want(200).Object()); parked != 0.0 {
		t.Errorf("%v are parked", parked)
	}
}

// TestServerStateIsForAdmins requests what shows and changes the state of the server as a moderator, a user and without a token.
func TestServerStateIsForAdmins(t *testing.T) {
	srv := apptest.Start(t)
	moderator, user := srv.SignUp("moderator"), srv.SignUp("user")
	srv.SetRole(moderator, false, true)
	for _, request := range [][2]string{
		{"GET", jobsPath}, {"DELETE", jobsPath}, {"POST", jobsPath + "/retry"}, {"GET", deliveriesPath}, {"POST", deliveriesPath + "/retry"}, {"POST", deliveriesPath + "/drop"},
		{"GET", explainPath}, {"GET", storagePath}, {"POST", storagePath + "/prune"}, {"POST", doctorPath}, {"GET", previewPath}, {"GET", updatePath},
	} {
		for _, who := range []*apptest.Client{moderator.Client, user.Client} {
			who.Do(request[0], request[1], "", nil).Want(403)
		}
		srv.As(nil).Do(request[0], request[1], "", nil).Want(403)
	}
}

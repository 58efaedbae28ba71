package staff_test

import (
	"sync"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

const (
	storagePath = "/api/v1/svc/admin/storage"
	doctorPath  = "/api/v1/svc/admin/doctor"
	previewPath = "/api/v1/svc/admin/domain_blocks/preview"
	updatePath  = "/api/v1/svc/admin/update"
)

// TestStorage shows the classes of files with their limits, and starts the removal of unused files.
func TestStorage(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Storage.Limit, c.Storage.Uploads, c.Storage.MinFree = 20<<30, 10<<30, 1 })
	root := srv.SignUpAdmin()
	root.Upload(apptest.PNG(64, 64))
	usage := root.Get(storagePath).Want(200).Object()
	wantFields(t, "the storage", usage, apptest.Doc{
		"limit": float64(20 << 30), "min_free": 1.0, "full": false, "critical": false, "classes.0.name": "uploads", "classes.0.count": 1.0, "classes.0.limit": float64(10 << 30),
		"remote_posts.count": 0.0, "remote_posts.estimated_bytes": 0.0,
	})
	if usage.Find("classes.0.bytes") == 0.0 || usage.Find("total") == 0.0 || usage.Find("disk_free") == 0.0 {
		t.Errorf("sizes are missing: %v", usage.Fields)
	}
	root.Post(storagePath + "/prune").Want(200)
	wantLog(t, root.Client, "@root started the removal of unused files")
	root.Post(storagePath + "/prune").Want(200) // it is the same job
	if jobs := srv.Count(`SELECT count(*) FROM jobs WHERE kind = 'sweep_media'`); jobs != 1 {
		t.Errorf("%d jobs", jobs)
	}
	srv.RunJobs()
	if due := srv.Count(`SELECT count(*) FROM jobs WHERE kind = 'sweep_media' AND run_at < unixepoch() * 1000 + 3600000`); due > 0 {
		t.Error("the job did not run")
	}
}

// TestDoctorEndpoint runs the checks, once at a time.
func TestDoctorEndpoint(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	report := root.Post(doctorPath).Want(200).Object()
	names := apptest.ListField(report, "results", "name")
	if len(names) < 10 || report.Find("results.0.status") == nil || report.Find("results.0.seen") == "" {
		t.Errorf("the report is %v", report.Fields)
	}
	var running sync.WaitGroup
	status := make(chan int, 4)
	for range cap(status) {
		running.Go(func() { status <- root.Post(doctorPath).Status })
	}
	running.Wait()
	close(status)
	found := map[int]int{}
	for s := range status {
		found[s]++
	}
	if found[200] == 0 || found[409] == 0 || found[200]+found[409] != 4 {
		t.Errorf("at the same time: %v", found)
	}
}

// TestBlockPreview counts what a block would concern, with subdomains and without other hosts.
func TestBlockPreview(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	for nick, domain := range map[string]string{"a": "bad.example", "b": "bad.example", "c": "sub.bad.example", "d": "notbad.example"} {
		srv.AddRemoteAccount(nick, domain)
	}
	srv.Exec(`INSERT INTO follows (id, follower_id, target_id, follower_local) SELECT 1, r.id, l.id, 0 FROM accounts r, accounts l WHERE r.nickname = 'a' AND l.nickname = 'root'`)
	srv.Exec(`INSERT INTO follows (id, follower_id, target_id, follower_local) SELECT 2, l.id, r.id, 1 FROM accounts r, accounts l WHERE r.nickname = 'c' AND l.nickname = 'root'`)
	list := root.Get(previewPath, "domain", " Bad.example ").Want(200).List()
	if len(list) != 2 {
		t.Fatalf("%d hosts", len(list))
	}
	wantFields(t, "the host", list[0], apptest.Doc{"host": "bad.example", "accounts": 2.0, "posts": 0.0, "followers": 1.0, "following": 0.0})
	wantFields(t, "the subdomain", list[1], apptest.Doc{"host": "sub.bad.example", "accounts": 1.0, "posts": 0.0, "followers": 0.0, "following": 1.0})
	if got := string(root.Get(previewPath, "domain", "unknown.example").Want(200).Body); got != "[]\n" && got != "[]" {
		t.Errorf("an unknown host: %q", got)
	}
	root.Get(previewPath).WantError(422, "Validation failed: Domain can't be blank")
	root.Get(previewPath, "domain", "not a host").Want(422)
	if n := srv.Count(`SELECT count(*) FROM host_blocks`); n > 0 {
		t.Error("the preview blocks")
	}
}

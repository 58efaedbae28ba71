package staff_test

import (
	"net/http"
	"testing"

	"svc/app/apptest"
)

const (
	deliveriesPath = "/api/v1/svc/admin/federation/deliveries"
	explainPath    = "/api/v1/svc/admin/federation/explain"
)

// TestDeliveries shows what waits for a host that fails, explains the post, and retries and drops.
func TestDeliveries(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	peer.AddFollower(srv, "bob", alice)
	peer.RefuseDeliveries(http.StatusServiceUnavailable)
	first := alice.Publish("hello")
	apptest.Settle(srv)

	shown := root.Get(deliveriesPath).Want(200).Object()
	wantFields(t, "the queue", shown, apptest.Doc{
		"hosts.0.host": peer.Host, "hosts.0.queued": 1.0, "hosts.0.parked": 0.0, "hosts.0.last_error": "responded with status 503", "hosts.0.attempts": 1.0,
		"hosts.0.peer.failures": 1.0, "deliveries": []any{}, "failed": []any{}, "received.queued": 0.0, "received.failed": 0.0, "received.parked": 0.0,
	})
	one := root.Get(deliveriesPath, "host", peer.Host).Want(200).Object()
	wantFields(t, "the host", one, apptest.Doc{
		"deliveries.0.host": peer.Host, "deliveries.0.type": "Create", "deliveries.0.attempts": 1.0, "deliveries.0.parked": false,
		"deliveries.0.last_error": "responded with status 503", "deliveries.1": nil,
	})
	wantFields(t, "what failed", root.Get(deliveriesPath, "failed", "true").Want(200).Object(), apptest.Doc{"hosts": []any{}, "deliveries": []any{}})
	root.Get(deliveriesPath, "host", "not a host").WantError(400, `"not a host" is not a host; give one like example.org`)
	wantFields(t, "the post", root.Get(explainPath, "address", first.Str("url")).Want(200).Object(), apptest.Doc{
		"local": true, "status.author": "alice", "recipients.0.host": peer.Host, "recipients.0.state": "queued",
		"recipients.0.last_error": "responded with status 503", "recipients.1": nil,
	})
	root.Get(explainPath).WantError(400, "Missing field: address.")
	root.Get(explainPath, "address", "@nobody@").Want(400)
	root.Get(explainPath, "address", "nobody").Want(404)

	for _, change := range []string{"/retry", "/drop"} {
		root.Post(deliveriesPath+change).WantError(400, "Give one of host, id and all.")
		root.Post(deliveriesPath+change, "host", peer.Host, "all", "true").WantError(400, "Give one of host, id and all.")
		root.Post(deliveriesPath+change, "id", "5").WantError(404, "No queued delivery or activity has the id 5")
		root.Post(deliveriesPath+change, "host", "https://x").Want(400)
		root.Post(deliveriesPath+change, "id", "many").Want(400)
		wantFields(t, "another host", root.Post(deliveriesPath+change, "host", "other.example").Want(200).Object(), apptest.Doc{"deliveries": 0.0, "received": 0.0})
	}
	id := one.Find("deliveries.0.id")
	wantFields(t, "a retry", root.SendJSON("POST", deliveriesPath+"/retry", apptest.Doc{"id": id}).Want(200).Object(), apptest.Doc{"deliveries": 1.0})
	wantFields(t, "a retry of the host", root.Post(deliveriesPath+"/retry", "host", peer.Host).Want(200).Object(), apptest.Doc{"received": 0.0})
	apptest.Settle(srv)
	wantFields(t, "a drop", root.SendJSON("POST", deliveriesPath+"/drop", apptest.Doc{"id": id}).Want(200).Object(), apptest.Doc{"deliveries": 1.0})
	if got := newestLog(root.Client); got[:len("@root dropped delivery #")] != "@root dropped delivery #" {
		t.Errorf("the log has %q", got)
	}
	alice.Publish("hello again")
	alice.Publish("and again")
	apptest.Settle(srv)
	srv.Exec(`UPDATE deliveries SET parked = 1 WHERE id = (SELECT min(id) FROM deliveries)`)
	wantFields(t, "a drop of the host", root.Post(deliveriesPath+"/drop", "host", peer.Host).Want(200).Object(), apptest.Doc{"deliveries": 2.0})
	wantLog(t, root.Client, "@root dropped deliveries (2) and incoming activities (0) for "+peer.Host)
	if left := srv.Count(`SELECT count(*) FROM deliveries`) + srv.Count(`SELECT count(*) FROM activities`) + srv.Count(`SELECT count(*) FROM hosts WHERE due_at IS NOT NULL`); left > 0 {
		t.Errorf("%d rows are left", left)
	}
	alice.Publish("once more")
	apptest.Settle(srv)
	peer.RefuseDeliveries(0)
	wantFields(t, "a retry of all", root.Post(deliveriesPath+"/retry", "all", "true").Want(200).Object(), apptest.Doc{"deliveries": 1.0})
	wantLog(t, root.Client, "@root retried deliveries (1) and incoming activities (0) for all servers")
	apptest.Settle(srv)
	wantFields(t, "the queue", root.Get(deliveriesPath).Want(200).Object(), apptest.Doc{"hosts": []any{}})
}

// TestDroppedActivities drops parked incoming activities, and leaves others.
func TestDroppedActivities(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	peer.AddFollower(srv, "bob", alice)
	for id, parked := range map[int]int{1: 1, 2: 1, 3: 0} {
		srv.Exec(`INSERT INTO queued_activities (id, signer_id, received_at, run_at, attempts, parked, last_error, body)
			SELECT ?, id, 1000, 4000000000000, 8, ?, 'no such object', '{"type":"Like","id":"https://x/1"}' FROM accounts WHERE nickname = 'bob'`, id, parked)
	}
	wantFields(t, "what failed", root.Get(deliveriesPath, "failed", "true").Want(200).Object(), apptest.Doc{"received.parked": 2.0, "failed.0.type": "Like", "failed.0.last_error": "no such object"})
	root.Post(deliveriesPath+"/drop", "id", "3").Want(404)
	wantFields(t, "a drop", root.Post(deliveriesPath+"/drop", "id", "1").Want(200).Object(), apptest.Doc{"received": 1.0})
	wantLog(t, root.Client, "@root dropped incoming activity #1")
	wantFields(t, "a drop of the host", root.Post(deliveriesPath+"/drop", "host", peer.Host).Want(200).Object(), apptest.Doc{"received": 1.0})
	if left := srv.Count(`SELECT count(*) FROM queued_activities`); left != 1 {
		t.Errorf("%d are left", left)
	}
}

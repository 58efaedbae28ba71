package stream_test

import (
	"slices"
	"testing"

	"svc/app/apptest"
	"svc/store"
)

// TestPushToStaff checks the alerts admin.sign_up and admin.report: who gets them, and who may read these notifications.
func TestPushToStaff(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	service := apptest.StartPushService(t)
	root, alice, bob := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob")
	moderator := srv.SignUp("mod")
	srv.SetRole(moderator, false, true)
	srv.RunJobs()
	root.Post("/api/v1/notifications/clear").Want(200)
	devices := map[*apptest.User]*apptest.Device{
		root: root.SubscribePush(service, "admin.sign_up", "admin.report"), moderator: moderator.SubscribePush(service, "admin.report"),
		alice: alice.SubscribePush(service, "admin.sign_up", "admin.report"),
	}
	root.SendJSON("POST", "/api/v1/svc/admin/users", apptest.Doc{"users": []apptest.Doc{
		{"nickname": "carol", "email": "carol@example.org", "password": "a long password"}}}).Want(200)
	alice.Post("/api/v1/reports", "account_id", bob.ID).Want(200)
	srv.RunJobs()
	for m, want := range map[*apptest.User][]string{
		root: {"@carol signed up", "@alice reported an account"}, moderator: {"@alice reported an account"}, alice: {},
	} {
		if got := apptest.MessageBodies(devices[m].Messages()); !slices.Equal(got, want) {
			t.Errorf("%s got %q, want %q", m.Nickname, got, want)
		}
	}

	// The notification of a new account is listed on request, to staff who still have the privilege.
	signUps := func(m *apptest.User) []*apptest.Object {
		return m.Get("/api/v1/notifications", "types[]", "admin.sign_up").Want(200).List()
	}
	if got := signUps(root); len(got) != 1 || got[0].Str("account.username") != "carol" {
		t.Errorf("the admin's notifications are %v", got)
	}
	root.SignedIn().Get("/web/notifications").Want(200, "signed up")
	if got := apptest.EntityTypes(root.Get("/api/v1/notifications").Want(200)); len(got) != 0 {
		t.Errorf("without a request the admin gets %v", got)
	}
	if got := signUps(alice); len(got) != 0 {
		t.Errorf("a user gets %v", got)
	}
	srv.SetRole(root, false, false)
	if got := signUps(root); len(got) != 0 {
		t.Errorf("a former admin gets %v", got)
	}
	if n := srv.Count(`SELECT count(*) FROM notifications WHERE type = ? AND account_id = ?`, string(store.NotifySignUp), int64(root.AccountID())); n != 1 {
		t.Errorf("there are %d notifications", n)
	}
}

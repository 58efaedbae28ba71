package staff_test

import (
	"fmt"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

// TestUserActivation checks toggle_activation, activate and deactivate, of local and remote accounts.
func TestUserActivation(t *testing.T) {
	srv := apptest.Start(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	srv.AddRemoteAccount("far", "example.com")
	both := apptest.Doc{"nicknames": list{"alice", "far@example.com"}}
	for _, tt := range []struct {
		path        string
		deactivated bool
		log         string
	}{
		{"/deactivate", true, "@root deactivated users: @alice, @far@example.com"},
		{"/activate", false, "@root activated users: @alice, @far@example.com"},
	} {
		for range 2 { // the second time changes nothing
			users := root.SendJSON("PATCH", usersPath+tt.path, both).Want(200).Object()
			for i, nick := range []string{"alice", "far@example.com"} {
				wantFields(t, tt.path, users, apptest.Doc{
					fmt.Sprintf("users.%d.nickname", i): nick, fmt.Sprintf("users.%d.deactivated", i): tt.deactivated, fmt.Sprintf("users.%d.is_active", i): !tt.deactivated,
				})
			}
		}
		wantLog(t, root.Client, tt.log)
	}
	if n := len(messages(root.Client)); n != 2 {
		t.Errorf("%d entries in the log, want 2", n)
	}
	alice.Get("/api/v1/accounts/verify_credentials").Want(401) // the tokens were revoked
	for _, deactivated := range []bool{true, false} {
		o := root.Do("PATCH", usersPath+"/alice/toggle_activation", "", nil).Want(200).Object()
		wantFields(t, "toggle_activation", o, apptest.Doc{"nickname": "alice", "deactivated": deactivated, "id": float64(alice.AccountID())})
	}
	wantLog(t, root.Client, "@root activated users: @alice")
	root.Do("PATCH", usersPath+"/nobody/toggle_activation", "", nil).WantError(404, "Not found")
	root.Do("PATCH", usersPath+"/root/toggle_activation", "", nil).WantError(409, "This is the last admin: make another account an admin first")
}

// TestUserLists checks what all endpoints for several accounts have in common: missing and unknown names.
func TestUserLists(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	srv.SignUp("alice")
	srv.AddRemoteAccount("far", "example.com")
	for path, localOnly := range map[string]bool{
		"/activate": false, "/deactivate": false, "/approve": true, "/suggest": false, "/unsuggest": false, "/confirm_email": true,
		"/resend_confirmation_email": true, "/force_password_reset": true,
	} {
		root.SendJSON("PATCH", usersPath+path, apptest.Doc{}).WantError(400, "Missing field: nicknames.")
		root.SendJSON("PATCH", usersPath+path, apptest.Doc{"nicknames": list{}}).WantError(400, "Missing field: nicknames.")
		root.SendJSON("PATCH", usersPath+path, apptest.Doc{"nicknames": apptest.Doc{"a": 1}}).Want(400)
		root.SendJSON("PATCH", usersPath+path, apptest.Doc{"nicknames": list{"alice", "nobody"}}).WantError(404, "Not found")
		if localOnly {
			root.SendJSON("PATCH", usersPath+path, apptest.Doc{"nicknames": list{"alice", "far@example.com"}}).WantError(404, "Not found")
		}
	}
	if log := messages(root.Client); len(log) > 0 {
		t.Errorf("logged %q", log)
	}
	if u := root.Get(usersPath + "/alice").Want(200).Object(); !u.Bool("is_active") || u.Bool("is_suggested") {
		t.Errorf("changed: %v", u.Fields)
	}
}

// TestUserApproval checks approve, confirm_email and resend_confirmation_email.
func TestUserApproval(t *testing.T) {
	srv := apptest.Start(t, apptest.WithMail, func(c *config.Config) {
		c.Instance.AccountActivationRequired, c.Instance.AccountApprovalRequired = true, true
	})
	root := srv.SignUpAdmin()
	app := srv.Grant(srv.RegisterApp(), "client_credentials").Want(200).Object().Str("access_token")
	(&apptest.Client{Server: srv, Token: app}).Post("/api/v1/accounts", "username", "alice", "email", "alice@example.org", "password", apptest.Password,
		"agreement", "true", "reason", "please").Want(200)
	names := apptest.Doc{"nicknames": list{"alice"}}
	if got := string(root.SendJSON("PATCH", usersPath+"/resend_confirmation_email", names).Want(200).Body); got != `["alice"]` {
		t.Errorf("got %s", got)
	}
	wantLog(t, root.Client, "@root re-sent confirmation email for users: @alice")
	if got := string(root.SendJSON("PATCH", usersPath+"/confirm_email", names).Want(200).Body); got != `["alice"]` {
		t.Errorf("got %s", got)
	}
	wantLog(t, root.Client, "@root confirmed email for users: @alice")
	u := root.Get(usersPath + "/alice").Want(200).Object()
	wantFields(t, "the confirmed account", u, apptest.Doc{"confirmation_pending": false, "approval_pending": true, "registration_reason": "please"})
	root.SendJSON("PATCH", usersPath+"/resend_confirmation_email", names).Want(200)
	root.SendJSON("PATCH", usersPath+"/confirm_email", names).Want(200)
	approved := root.SendJSON("PATCH", usersPath+"/approve", names).Want(200).Object()
	wantFields(t, "the approved account", approved, apptest.Doc{"users.0.approval_pending": false, "users.0.is_approved": true})
	root.SendJSON("PATCH", usersPath+"/approve", names).Want(200)
	apptest.WantList(t, "the log", messages(root.Client),
		"@root approved users: @alice", "@root confirmed email for users: @alice", "@root re-sent confirmation email for users: @alice")
	srv.Grant(srv.RegisterApp(), "password", "username", "alice", "password", apptest.Password).Want(200)
}

// TestSuggestedUsers checks suggest and unsuggest, and that clients are shown the suggestions.
func TestSuggestedUsers(t *testing.T) {
	srv := apptest.Start(t)
	root, bob := srv.SignUpAdmin(), srv.SignUp("bob")
	alice := srv.SignUp("alice")
	names := apptest.Doc{"nicknames": list{"alice", "bob"}}
	o := root.SendJSON("PATCH", usersPath+"/suggest", names).Want(200).Object()
	wantFields(t, "suggest", o, apptest.Doc{"users.0.is_suggested": true, "users.1.nickname": "bob"})
	wantLog(t, root.Client, "@root added suggested users: @alice, @bob")
	suggestions := func(m *apptest.User) list {
		t.Helper()
		found := list{}
		for _, s := range m.Get("/api/v2/suggestions").Want(200).List() {
			found = append(found, s.Str("source")+" "+s.Str("account.acct"))
		}
		return found
	}
	apptest.WantList(t, "for root", suggestions(root), "staff alice", "staff bob")
	apptest.WantList(t, "for bob, a suggested account himself", suggestions(bob), "staff alice")
	bob.Post("/api/v1/accounts/" + alice.ID + "/follow").Want(200)
	apptest.WantList(t, "for bob, who follows the other", suggestions(bob))
	root.SendJSON("PATCH", usersPath+"/unsuggest", names).Want(200)
	wantLog(t, root.Client, "@root removed suggested users: @alice, @bob")
	apptest.WantList(t, "for root", suggestions(root))
}

// TestPermissionGroups checks the roles: both forms, unknown groups, own rights.
func TestPermissionGroups(t *testing.T) {
	srv := apptest.Start(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	srv.SignUp("bob")
	srv.AddRemoteAccount("far", "example.com")
	one, many := usersPath+"/alice/permission_group", usersPath+"/permission_group"
	none := apptest.Doc{"is_admin": false, "is_moderator": false}
	wantFields(t, "alice", root.Get(one).Want(200).Object(), none)
	for _, role := range []string{"admin", "moderator"} {
		wantFields(t, role, root.Get(one+"/"+role).Want(200).Object(), none)
		// The web client sends the text of an object.
		o := root.Do("POST", one+"/"+role, "text/plain", nil).Want(200).Object()
		wantFields(t, role, o, apptest.Doc{"is_" + role: true, "roles." + role: true, "nickname": "alice"})
		wantLog(t, root.Client, "@root made @alice "+role)
		wantFields(t, role, root.Get(one).Want(200).Object(), apptest.Doc{"is_" + role: true})
		o = root.Do("DELETE", one+"/"+role, "", nil).Want(200).Object()
		wantFields(t, role, o, apptest.Doc{"is_" + role: false, "roles." + role: false})
		wantLog(t, root.Client, "@root revoked "+role+" role from @alice")

		names := apptest.Doc{"nicknames": list{"alice", "bob"}}
		o = root.SendJSON("POST", many+"/"+role, names).Want(200).Object()
		wantFields(t, role, o, apptest.Doc{"is_" + role: true, "users.0.nickname": "alice", "users.1.roles." + role: true})
		wantLog(t, root.Client, "@root made @alice, @bob "+role)
		o = root.SendJSON("DELETE", many+"/"+role, names).Want(200).Object()
		wantFields(t, role, o, apptest.Doc{"is_" + role: false, "users.1.roles." + role: false})
		wantLog(t, root.Client, "@root revoked "+role+" role from @alice, @bob")

		root.SendJSON("DELETE", many+"/"+role, apptest.Doc{"nicknames": list{"bob", "root"}}).WantError(403, "You can't revoke your own admin/moderator status.")
		root.Do("DELETE", usersPath+"/root/permission_group/"+role, "", nil).WantError(403, "You can't revoke your own admin status.")
	}
	for _, method := range []string{"GET", "POST", "DELETE"} {
		root.Do(method, one+"/king", "", nil).WantError(404, "No such permission_group")
		root.Do(method, usersPath+"/nobody/permission_group/admin", "", nil).WantError(404, "Not found")
	}
	for _, method := range []string{"POST", "DELETE"} {
		root.SendJSON(method, many+"/king", apptest.Doc{"nicknames": list{"alice"}}).WantError(404, "No such permission_group")
		root.SendJSON(method, many+"/admin", apptest.Doc{}).WantError(400, "Missing field: nicknames.")
		root.SendJSON(method, many+"/admin", apptest.Doc{"nicknames": list{"far@example.com"}}).WantError(404, "Not found")
	}
	root.Get(usersPath+"/nobody/permission_group").WantError(404, "Not found")

	// A new role needs no new token.
	all := srv.NewToken(alice, "admin")
	all.Get(one).WantError(403, "User is not a staff member.")
	root.Do("POST", one+"/moderator", "", nil).Want(200)
	all.Get(one).WantError(403, "User is not an admin.")
	root.Do("POST", one+"/admin", "", nil).Want(200)
	all.Get(one).Want(200)
}

// TestModeratorsCannotChangeAdmins checks that privileges do not let moderators take over accounts of admins.
func TestModeratorsCannotChangeAdmins(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.Instance.ModeratorPrivileges = list{"users_manage_credentials", "users_delete", "users_manage_activation_state", "users_manage_tags"}
	})
	srv.SignUpAdmin()
	srv.ChangeUser("root", func(u *store.User) { u.Email = "root@example.org" })
	m := srv.SignUp("moderator")
	srv.SetRole(m, false, true)
	moderator := srv.NewToken(m, "admin")
	names := apptest.Doc{"nicknames": list{"root"}, "tags": list{"x"}}
	const refused = "Only an admin may change the account of an admin."
	for _, tt := range []struct{ method, path string }{
		{"DELETE", ""}, {"PATCH", "/deactivate"}, {"PATCH", "/force_password_reset"}, {"PUT", "/tag"}, {"PATCH", "/confirm_email"},
		{"PATCH", "/root/toggle_activation"}, {"GET", "/root/password_reset"},
	} {
		moderator.SendJSON(tt.method, usersPath+tt.path, names).WantError(403, refused)
	}
	moderator.SendJSON("PATCH", usersPath+"/root/credentials", apptest.Doc{"email": "x@example.org"}).WantError(403, refused)
	moderator.SendJSON("PUT", usersPath+"/disable_mfa", apptest.Doc{"nickname": "root"}).WantError(403, refused)
	moderator.Get(usersPath + "/moderator/password_reset").Want(200)
}

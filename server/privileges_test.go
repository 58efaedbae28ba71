package server_test

import (
	"slices"
	"testing"

	"svc/app/apptest"
	"svc/server"
)

// TestPrivileges checks that a privilege is listed once the endpoints of its screens are served, and not before: front ends show an
// error instead of the screen, and some sign the admin out.
func TestPrivileges(t *testing.T) {
	endpoints := map[string]string{
		"users_read":                         "GET /api/v1/svc/admin/users",
		"users_manage_invites":               "GET /api/v1/svc/admin/users/invites",
		"users_manage_activation_state":      "PATCH /api/v1/svc/admin/users/deactivate",
		"users_manage_tags":                  "PUT /api/v1/svc/admin/users/tag",
		"users_manage_credentials":           "PATCH /api/v1/svc/admin/users/:nickname/credentials",
		"users_delete":                       "DELETE /api/v1/svc/admin/users",
		"messages_read":                      "GET /api/v1/svc/admin/statuses",
		"messages_delete":                    "DELETE /api/v1/svc/admin/statuses/:id",
		"instances_delete":                   "DELETE /api/v1/svc/admin/instances/:instance",
		"reports_manage_reports":             "PATCH /api/v1/svc/admin/reports",
		"moderation_log_read":                "GET /api/v1/svc/admin/moderation_log",
		"announcements_manage_announcements": "POST /api/v1/svc/admin/announcements",
		"emoji_manage_emoji":                 "POST /api/v1/svc/emoji/pack",
		"statistics_read":                    "GET /api/v1/svc/admin/stats",
	}
	var served []string
	for _, r := range server.Routes() {
		served = append(served, r.Method+" "+r.Path)
	}
	srv := apptest.Start(t)
	listed := srv.SignUpAdmin().Get(ownAccount).Want(200).Object().At("svc.privileges").([]any)
	for name, endpoint := range endpoints {
		if slices.Contains(listed, any(name)) != slices.Contains(served, endpoint) {
			t.Errorf("privilege %s: listed %v, endpoint %s served %v", name, slices.Contains(listed, any(name)), endpoint, slices.Contains(served, endpoint))
		}
	}
	for _, name := range listed {
		if endpoints[name.(string)] == "" {
			t.Errorf("privilege %v is not known to this test", name)
		}
	}
	moderator := srv.SignUp("moderator")
	srv.SetRole(moderator, false, true)
	for _, name := range moderator.Get(ownAccount).Want(200).Object().At("svc.privileges").([]any) {
		if !slices.Contains(listed, name) {
			t.Errorf("a moderator has the privilege %v, an admin has not", name)
		}
	}
	if got := srv.SignUp("alice").Get(ownAccount).Want(200).Object().At("svc.privileges").([]any); len(got) > 0 {
		t.Errorf("a user has the privileges %v", got)
	}
}

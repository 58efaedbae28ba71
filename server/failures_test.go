package server_test

import (
	"testing"

	"svc/app/apptest"
)

// TestUnexpectedFailures checks what endpoints answer to unexpected failures for which the spec names a status (section 7).
func TestUnexpectedFailures(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	publishDirect(alice, "hello")
	id := onlyConversation(alice).ID()
	for _, table := range []string{"imports", "direct_conversations"} {
		srv.Exec("ALTER TABLE " + table + " RENAME TO missing_" + table)
	}
	for _, tt := range []struct {
		send    *apptest.Response
		status  int
		message string
	}{
		{alice.Post("/api/v1/svc/follow_import", "list", "bob"), 500, "Something went wrong"},
		{alice.Post("/api/v1/svc/blocks_import", "list", "bob"), 500, "Something went wrong"},
		{alice.Post("/api/v1/svc/mutes_import", "list", "bob"), 500, "Something went wrong"},
		{alice.Get("/api/v1/svc/conversations/" + id), 503, "Conversations are unavailable"},
		{alice.Get("/api/v1/svc/conversations/" + id + "/statuses"), 503, "Conversations are unavailable"},
		{alice.SendJSON("PATCH", "/api/v1/svc/conversations/"+id, apptest.Doc{"recipients": []string{alice.ID}}), 503, "Conversations are unavailable"},
		{alice.Post("/api/v1/svc/conversations/read"), 503, "Conversations are unavailable"},
	} {
		tt.send.WantError(tt.status, tt.message)
	}
}

package server_test

import (
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestWriteScopesRevealNothing checks that the answers to writes have nothing beyond what was written that only a read scope may see.
func TestWriteScopesRevealNothing(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	chat := bob.Post("/api/v1/svc/chats/by-account-id/" + alice.ID).Want(200).Object().ID()
	bob.SendChat(chat, "the secret message")
	own := alice.Get("/api/v1/svc/chats").Want(200).List()[0].ID()
	t.Run("backups", func(t *testing.T) {
		writer, reader := srv.NewToken(alice, "write:backups"), srv.NewToken(alice, "read:backups")
		made := writer.Post("/api/v1/svc/backups").Want(200)
		if len(made.List()) != 1 || made.List()[0].Str("url") != "" || strings.Contains(string(made.Body), "archive-") {
			t.Errorf("the writer gets %s", made.Body)
		}
		if list := reader.Get("/api/v1/svc/backups").Want(200).List(); len(list) != 1 || !strings.Contains(list[0].Str("url"), "/media/backups/") {
			t.Errorf("the reader gets %v", list)
		}
		writer.Get("/api/v1/svc/backups").Want(403)
		again := writer.Post("/api/v1/svc/backups")
		if strings.Contains(string(again.Body), "/media/backups/") {
			t.Errorf("the writer gets %s", again.Body)
		}
	})
	t.Run("chats", func(t *testing.T) {
		writer, reader := srv.NewToken(alice, "write:chats"), srv.NewToken(alice, "read:chats write:chats")
		for path, params := range map[string][]string{
			"/api/v1/svc/chats/by-account-id/" + bob.ID: nil, "/api/v1/svc/chats/" + own + "/read": {"last_read_id", "0"},
		} {
			if a := writer.Post(path, params...).Want(200); strings.Contains(string(a.Body), "secret") || a.Object().Str("account.id") != bob.ID {
				t.Errorf("%s: the writer gets %s", path, a.Body)
			}
			if a := reader.Post(path, params...).Want(200); !strings.Contains(string(a.Body), "the secret message") {
				t.Errorf("%s: the reader gets %s", path, a.Body)
			}
		}
	})
}

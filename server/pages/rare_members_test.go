package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestRareMembers opens pages whose answers have members that nothing else in the tests of this package causes.
func TestRareMembers(t *testing.T) {
	srv := apptest.Start(t, apptest.AllowLoopback, func(c *config.Config) { c.Media.Describe = true })
	admin, alice, bob, fresh := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("fresh")
	picture := alice.Upload(apptest.PNG(40, 30)).ID()
	alice.SendJSON("PUT", "/api/v1/media/"+picture, map[string]string{"focus": "0.5,-0.5"}).Want(200)
	described := alice.Publish("a picture", "media_ids[]", picture).ID()
	linked := alice.Publish("look at " + apptest.StartSite(t).URL + "/page").ID()
	srv.RunJobs()
	browser := alice.SignedIn()
	browser.Get("/@alice/"+described).Want(200, "a picture")
	browser.Get("/@alice/"+linked).Want(200, "What it is about")

	bob.SendChat(bob.Post("/api/v1/svc/chats/by-account-id/"+alice.ID).Want(200).Object().ID(), "a chat message")
	browser.Get("/web/notifications").Want(200, "a chat message")
	bob.Post("/api/v1/reports", "account_id", alice.ID, "comment", "She is rude").Want(200)
	admin.SignedIn().Get("/web/notifications").Want(200, "bob sent a report")

	alice.Post("/api/v1/accounts/" + bob.ID + "/follow").Want(200)
	fresh.SendJSON("PUT", "/api/v1/svc/aliases", map[string]string{"alias": "bob"}).Want(200)
	bob.Post("/api/v1/svc/move_account", "password", apptest.Password, "target_account", "fresh").Want(200)
	srv.RunJobs()
	browser.Get("/web/notifications").Want(200, "@fresh")
	browser.Get("/@bob").Want(200, "@fresh")
}

// TestCardAuthor shows the author of a linked page.
func TestCardAuthor(t *testing.T) {
	srv := apptest.Start(t, apptest.AllowLoopback)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"display_name": "Alice Writes"}).Want(200)
	srv.Exec(`UPDATE accounts SET attribution_domains = '["localhost"]' WHERE nickname = 'alice'`)
	blog := apptest.StartFake(t)
	blog.Respond("/page", 200, "text/html", []byte(`<title>A page</title><meta name="fediverse:creator" content="@alice@`+strings.TrimPrefix(srv.URL, "http://")+`">`))
	link := strings.Replace(blog.URL, "127.0.0.1", "localhost", 1) + "/page"
	st := bob.Publish("read " + link).ID()
	alice.UpdateProfile(apptest.Doc{"discoverable": true})
	bob.UpdateProfile(apptest.Doc{"discoverable": true})
	alice.Publish("I wrote " + link)
	srv.RunJobs()
	alice.SignedIn().Get("/web/explore?show=links").Want(200, "A page", "Alice Writes")
	alice.SignedIn().Get("/@bob/"+st).Want(200, "A page", "Alice Writes")
	alice.SignedIn().Get("/web/accounts/"+bob.ID+"/report").Want(200, "/page")
}

// TestInstanceTexts shows the texts that the operator has written.
func TestInstanceTexts(t *testing.T) {
	srv := apptest.Start(t)
	admin := srv.SignUpAdmin()
	for _, name := range []string{"terms-of-service", "privacy-policy"} {
		admin.SendForm("PATCH", "/api/v1/svc/admin/instance_document/"+name, apptest.FilePart([]byte("<p>Be fair: "+name+"</p>"))).Want(200)
	}
	srv.Browser().Get("/terms").Want(200, "Be fair: terms-of-service")
	srv.Browser().Get("/privacy").Want(200, "Be fair: privacy-policy")
}

// TestReportOfOldPost reports a post that is not among the latest ones of the account.
func TestReportOfOldPost(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	old := bob.Publish("the rude post").ID()
	for i := range 20 {
		bob.Publish(fmt.Sprint("later post ", i))
	}
	alice.SignedIn().Get("/web/accounts/"+bob.ID+"/report", "status", old).Want(200, "the rude post", "later post 19")
}

// TestReportOfImportedPost reports a post that came from an archive, and one that quotes such a post.
func TestReportOfImportedPost(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	bob.Post("/api/v1/svc/archives", "size", "1000").Want(200)
	old := bob.Publish("the old post").ID()
	bob.Publish("I wrote this", "quoted_status_id", old)
	srv.Exec(`UPDATE archives SET origin = 'bob@old.example'`)
	srv.Exec(`UPDATE statuses SET unfederated = 1`)
	srv.Exec(`INSERT INTO imported_statuses (status_id, account_id, archive_id, original_uri, original_url)
		SELECT s.id, s.account_id, a.id, 'https://old.example/' || s.id, 'https://old.example/' || s.id FROM statuses s, archives a`)
	alice.SignedIn().Get("/web/accounts/"+bob.ID+"/report").Want(200, "the old post", "I wrote this")
}

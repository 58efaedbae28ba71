package server_test

import (
	"fmt"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/store"
)

// writes are requests of alice, an admin, about objects that contain the word secret. "{name}" is replaced by an id that the fixture
// made, and every answer to a token that may read has the word.
var writes = []struct {
	request, body string
	once          bool
}{
	{request: "POST /api/v1/statuses", body: "status=look&quoted_status_id={own}&visibility=private"},
	{request: "POST /api/v1/statuses", body: "status=look&quoted_status_id={own}&visibility=private&preview=true"},
	{request: "PUT /api/v1/statuses/{own}", body: "status=secret"},
	{request: "PUT /api/v1/statuses/{own}/interaction_policy", body: "quote_approval_policy=nobody"},
	{request: "POST /api/v1/statuses/{own}/unpin"},
	{request: "POST /api/v1/statuses/{own}/quotes/{quote}/revoke", once: true},
	{request: "POST /api/v1/statuses/{bobs}/favourite"},
	{request: "POST /api/v1/statuses/{bobs}/unfavourite"},
	{request: "POST /api/v1/statuses/{bobs}/bookmark"},
	{request: "POST /api/v1/statuses/{bobs}/unbookmark"},
	{request: "POST /api/v1/statuses/{bobs}/mute"},
	{request: "POST /api/v1/statuses/{bobs}/unmute"},
	{request: "POST /api/v1/statuses/{bobs}/unreblog"},
	{request: "PUT /api/v1/svc/statuses/{bobs}/reactions/👍"},
	{request: "DELETE /api/v1/svc/statuses/{bobs}/reactions/👍", once: true},
	{request: "POST /api/v1/polls/{poll}/votes", body: "choices[]=0", once: true},
	{request: "PUT /api/v1/scheduled_statuses/{scheduled}", body: "scheduled_at=2099-01-01T00:00:00Z"},
	{request: "POST /api/v1/conversations/{conversation}/read"},
	{request: "POST /api/v1/conversations/{conversation}/unread"},
	{request: "POST /api/v1/svc/conversations/read", once: true},
	{request: "PATCH /api/v1/svc/conversations/{conversation}", body: "recipients[]={bob}"},
	{request: "POST /api/v1/svc/notifications/read", body: "max_id=9999999999999", once: true},
	{request: "POST /api/v1/svc/chats/by-account-id/{bob}"},
	{request: "POST /api/v1/svc/chats/{chat}/read", body: "last_read_id=0"},
	{request: "POST /api/v1/svc/chats/{chat}/messages/{chat_message}/read"},
	{request: "PUT /api/v1/filters/{keyword}", body: "phrase=secret&context[]=home"},
	{request: "PUT /api/v2/filters/{filter}"},
	{request: "PUT /api/v2/filters/keywords/{keyword}", body: "keyword=secret"},
	{request: "PUT /api/v1/lists/{list}", body: "replies_policy=none"},
	{request: "PATCH /api/v1/svc/bookmark_folders/{folder}", body: "emoji=👍"},
	{request: "PATCH /api/v1/collections/{collection}", body: "sensitive=true"},
	{request: "PATCH /api/v1/svc/settings/other", body: `{"a":"b"}`},
	{request: "PATCH /api/v1/accounts/update_credentials", body: "bot=false"},
	{request: "POST /api/v1/accounts/{bob}/follow"},
	{request: "POST /api/v1/svc/accounts/{bob}/subscribe"},
	{request: "POST /api/v1/svc/accounts/{bob}/unsubscribe"},
	{request: "POST /api/v1/accounts/{bob}/endorse"},
	{request: "POST /api/v1/accounts/{bob}/unendorse"},
	{request: "POST /api/v1/accounts/{bob}/pin"},
	{request: "POST /api/v1/accounts/{bob}/unpin"},
	{request: "POST /api/v1/accounts/{bob}/mute"},
	{request: "POST /api/v1/accounts/{bob}/unmute"},
	{request: "POST /api/v1/accounts/{bob}/block"},
	{request: "POST /api/v1/accounts/{bob}/unblock"},
	{request: "POST /api/v1/accounts/{bob}/unfollow"},
	{request: "POST /api/v1/accounts/{bob}/remove_from_followers"},
	{request: "POST /api/v1/accounts/{bob}/note", body: "comment=secret"},

	{request: "PUT /api/v1/svc/admin/statuses/{message_to_carol}"},
	{request: "PUT /api/v1/admin/reports/{report}", body: "category=spam"},
	{request: "POST /api/v1/admin/reports/{report}/assign_to_self"},
	{request: "POST /api/v1/admin/reports/{report}/unassign"},
	{request: "POST /api/v1/admin/reports/{report}/resolve"},
	{request: "POST /api/v1/admin/reports/{report}/reopen"},
	{request: "POST /api/v1/admin/accounts/{carol}/enable"},
	{request: "POST /api/v1/admin/accounts/{carol}/unsilence"},
	{request: "POST /api/v1/admin/accounts/{carol}/unsensitive"},
	{request: "PATCH /api/v1/svc/admin/users/activate", body: "nicknames[]=carol"},
	{request: "PATCH /api/v1/svc/admin/users/approve", body: "nicknames[]=carol"},
	{request: "PATCH /api/v1/svc/admin/users/suggest", body: "nicknames[]=carol"},
	{request: "PATCH /api/v1/svc/admin/users/unsuggest", body: "nicknames[]=carol"},
	{request: "PATCH /api/v1/svc/admin/users/deactivate", body: "nicknames[]=carol"},
	{request: "PATCH /api/v1/svc/admin/oauth_app/{app}", body: "website=https://far.example"},
	{request: "PATCH /api/v1/svc/admin/announcements/{announcement}", body: `{"all_day":false}`},
	{request: "PATCH /api/v1/svc/admin/rules/{rule}", body: "priority=1"},
	{request: "PUT /api/v1/admin/domain_blocks/{block}", body: "severity=silence"},
	{request: "PUT /api/v1/admin/ip_blocks/{ip}", body: "severity=no_access"},

	{request: "DELETE /api/v1/statuses/{own}", once: true},
}

// addSecrets stores what the requests of writes are about. It returns the values of the names in them, with braces, as pairs.
func addSecrets(srv *apptest.Server) (alice *apptest.User, names []string) {
	alice, bob, carol := srv.SignUpAdmin(), srv.SignUp("bob"), srv.SignUp("carol")
	for _, m := range []*apptest.User{alice, bob, carol} {
		srv.ChangeUser(m.Nickname, func(u *store.User) { u.Email = "secret-" + m.ID + "@mail.example" })
	}
	name := func(key, value string) { names = append(names, "{"+key+"}", value) }
	post := func(key, path string, body apptest.Doc) {
		name(key, fmt.Sprint(alice.SendJSON("POST", path, body).Want(200).Object().Find("id")))
	}
	name("bob", bob.ID)
	name("carol", carol.ID)
	alice.AccountAction(bob.ID, "follow")
	bob.AccountAction(alice.ID, "follow")
	alice.AccountAction(bob.ID, "note", "comment", "a secret note")

	own := alice.Publish("a secret post", "visibility", "private").ID()
	name("own", own)
	name("quote", alice.Publish("a secret quote", "visibility", "private", "quoted_status_id", own).ID())
	name("bobs", bob.Publish("a secret post", "visibility", "private").ID())
	name("poll", bob.PublishPoll([]string{"a secret", "b"}, "visibility", "private").Str("poll.id"))
	name("scheduled", alice.Schedule("a secret post").ID())
	name("message_to_carol", bob.Publish("a secret for @carol", "visibility", "direct").ID())
	bob.Publish("a secret for @"+alice.Nickname, "visibility", "direct")
	name("conversation", alice.Get("/api/v1/conversations").Want(200).IDs()[0])
	bob.SendChat(bob.Post("/api/v1/svc/chats/by-account-id/"+alice.ID).Want(200).Object().ID(), "a secret message")
	chat := alice.Get("/api/v1/svc/chats").Want(200).List()[0]
	name("chat", chat.ID())
	name("chat_message", chat.Str("last_message.id"))

	post("filter", "/api/v2/filters", apptest.Doc{"title": "secret", "context": []string{"home"}, "keywords_attributes": []apptest.Doc{{"keyword": "secret"}}})
	name("keyword", alice.Get("/api/v1/filters").Want(200).IDs()[0])
	post("list", "/api/v1/lists", apptest.Doc{"title": "secret"})
	name("collection", alice.Post("/api/v1/collections", "name", "secret").Want(200).Object().Str("collection.id"))
	post("folder", "/api/v1/svc/bookmark_folders", apptest.Doc{"name": "secret"})
	alice.SendJSON("PATCH", "/api/v1/svc/settings/other", apptest.Doc{"c": "secret"}).Want(200)

	post("report", "/api/v1/reports", apptest.Doc{"account_id": bob.ID, "comment": "secret"})
	post("app", "/api/v1/svc/admin/oauth_app", apptest.Doc{"name": "secret", "redirect_uris": "https://app.example", "scopes": []string{"read"}})
	post("announcement", "/api/v1/svc/admin/announcements", apptest.Doc{"content": "secret"})
	post("rule", "/api/v1/svc/admin/rules", apptest.Doc{"text": "secret"})
	post("block", "/api/v1/admin/domain_blocks", apptest.Doc{"domain": "bad.example", "severity": "silence", "private_comment": "secret"})
	post("ip", "/api/v1/admin/ip_blocks", apptest.Doc{"ip": "192.0.2.7", "severity": "no_access", "comment": "secret"})
	return alice, names
}

// TestWriteScopesRevealNothing sends writes with tokens that may not read. The answers show nothing that was stored before.
func TestWriteScopesRevealNothing(t *testing.T) {
	srv := apptest.Start(t)
	alice, names := addSecrets(srv)
	named := strings.NewReplacer(names...)
	tokens := map[bool]*apptest.Client{false: srv.NewToken(alice, "write admin:write"), true: srv.NewToken(alice, "read write admin")}
	send := func(reads bool, request, body string) *apptest.Response {
		method, path, _ := strings.Cut(named.Replace(request), " ")
		contentType := "application/x-www-form-urlencoded"
		if strings.HasPrefix(body, "{\"") {
			contentType = "application/json"
		}
		return tokens[reads].Do(method, path, contentType, strings.NewReader(named.Replace(body)))
	}
	for _, w := range writes {
		a := send(false, w.request, w.body)
		if a.Status != 200 || strings.Contains(string(a.Body), "secret") {
			t.Errorf("%s: a token that only writes gets %s", w.request, a.Body)
		}
		if w.once {
			continue
		}
		if a := send(true, w.request, w.body); a.Status != 200 || !strings.Contains(string(a.Body), "secret") {
			t.Errorf("%s: a token that also reads gets %s", w.request, a.Body)
		}
	}
}

// TestWriteScopesRevealNoBackup checks that a token that may only make archives does not get their addresses, which are all that a download needs.
func TestWriteScopesRevealNoBackup(t *testing.T) {
	alice := apptest.Start(t).SignUp("alice")
	srv := alice.Server
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
}

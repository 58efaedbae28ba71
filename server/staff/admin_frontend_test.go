package staff_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// adminFrontend makes the requests of an admin front end. Names of values in braces stand for them in paths and bodies.
type adminFrontend struct {
	*apptest.Client
	t      *testing.T
	prefix string // of the admin API
	values map[string]string
	after  func(method, path string) // is called after each request that succeeded; nil: nothing
}

// adminCall is a request of an admin front end and its expected answer.
type adminCall struct {
	request string      // METHOD PATH; "A" is the prefix of the admin API, "P" that of the extension API
	body    any         // a string is a form, a list of parts a multipart form, anything else JSON; nil: none
	status  int         // 0: 200
	want    apptest.Doc // members by path; "list" is a list, "text" a text
	keep    list        // names of values, each with the path of the member to keep it from: "id=users.0.id"
}

// expectation is what a member has to be if its value is not known.
type expectation string

const (
	anything  expectation = "there"
	something expectation = "a list or object with elements"
)

func (f *adminFrontend) fill(text string) string {
	return regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllStringFunc(text, func(name string) string {
		value, ok := f.values[name[1:len(name)-1]]
		if !ok {
			f.t.Fatalf("%s is not known", name)
		}
		return value
	})
}

func (f *adminFrontend) send(c adminCall) *apptest.Response {
	f.t.Helper()
	method, path, _ := strings.Cut(f.fill(c.request), " ")
	extension := strings.TrimSuffix(f.prefix, "/admin")
	if path = regexp.MustCompile(`^A\b`).ReplaceAllString(path, f.prefix); strings.HasPrefix(path, "P/") {
		path = extension + path[1:]
	}
	switch body := c.body.(type) {
	case nil:
		return f.Do(method, path, "", nil)
	case string:
		return f.Do(method, path, "application/x-www-form-urlencoded", strings.NewReader(f.fill(body)))
	case []apptest.FormPart:
		return f.SendForm(method, path, body...)
	default:
		b, err := json.Marshal(body)
		if err != nil {
			f.t.Fatal(err)
		}
		return f.Do(method, path, "application/json;charset=utf-8", strings.NewReader(f.fill(string(b))))
	}
}

// walk makes the requests in their order.
func (f *adminFrontend) walk(page string, calls []adminCall) {
	f.t.Helper()
	for _, c := range calls {
		if c.status == 0 {
			c.status = 200
		}
		a := f.send(c)
		what := page + ": " + f.fill(c.request)
		if a.Status != c.status {
			f.t.Fatalf("%s: status %d, want %d: %.300s", what, a.Status, c.status, a.Body)
		}
		if f.after != nil && a.Status < 300 {
			method, path, _ := strings.Cut(a.Request, " ")
			f.after(method, path)
		}
		o := &apptest.Object{T: f.t, Fields: map[string]any{}}
		var v any
		if json.Unmarshal(a.Body, &v) != nil {
			v = string(a.Body)
		}
		switch v := v.(type) {
		case map[string]any:
			o.Fields = v
		case []any:
			o.Fields["list"] = v
		default:
			o.Fields["text"] = v
		}
		for path, want := range c.want {
			got := o.Find(path)
			switch text, isText := want.(string); {
			case want == anything && got == nil, want == something && isEmpty(got):
				f.t.Errorf("%s: %s is %v, want it %s: %.300s", what, path, got, want, a.Body)
			case want == anything, want == something:
			case isText && got != f.fill(text), !isText && !reflect.DeepEqual(got, want):
				f.t.Errorf("%s: %s is %v, want %v", what, path, got, want)
			}
		}
		for _, k := range c.keep {
			name, path, _ := strings.Cut(k, "=")
			value := o.Find(path)
			if n, ok := value.(float64); ok {
				value = int64(n)
			}
			f.values[name] = fmt.Sprint(value)
		}
	}
}

func isEmpty(v any) bool {
	rv := reflect.ValueOf(v)
	return !rv.IsValid() || (rv.Kind() != reflect.Slice && rv.Kind() != reflect.Map) || rv.Len() == 0
}

// TestAdminFrontend makes the requests of the start and of every page of an admin front end (admin API 16.2) in their form, under both
// prefixes.
func TestAdminFrontend(t *testing.T) {
	for name, prefix := range map[string]string{"prefix": "/api/v1/svc/admin", "old prefix": "/api/svc/admin"} {
		t.Run(name, func(t *testing.T) {
			f, _ := newAdminFrontend(t, prefix)
			f.walk("users", adminUsersPage)
			f.walk("a user", adminUserPage)
			f.walk("reports", adminReportsPage)
			f.walk("statuses", adminStatusesPage)
			f.walk("invites", adminInvitesPage)
			f.walk("relays", adminRelaysPage)
			f.walk("media proxy", adminMediaPage)
			f.walk("emoji packs", adminEmojiPage)
			f.walk("settings", adminSettingsPage)
			if name == "prefix" {
				f.postAllSettings()
			}
			f.walk("moderation log", adminLogPage)
		})
	}
}

// newAdminFrontend starts a server and another one, fills it, and signs an administrator in.
func newAdminFrontend(t *testing.T, prefix string) (f *adminFrontend, alice *apptest.User) {
	t.Helper()
	peers := apptest.StartPeers(t, 2, configurable, apptest.WithMail, func(c *config.Config) {
		c.Instance.RegistrationsOpen, c.Instance.InvitesEnabled, c.MediaProxy.Enabled = false, true, true
	})
	srv := peers[0]
	root, bob := srv.SignUpAdmin(), srv.SignUp("bob")
	alice = srv.SignUp("alice")
	rude, other := bob.Publish("rude"), bob.Publish("fine", "visibility", "private")
	chat := alice.Post("/api/v1/svc/chats/by-account-id/" + bob.ID).Want(200).Object().ID()
	message := alice.SendChat(chat, "hello")
	relay := apptest.StartFake(t).AddActor("relay", apptest.Doc{"type": "Application", "endpoints": nil})
	srv.AddRemoteAccount("far", "far.example")
	apptest.WriteDataFile(peers[1], "emoji/cats/blobcat.png", string(apptest.PNG(4, 4)))
	apptest.WriteDataFile(peers[1], "emoji/cats/pack.json", `{"files":{"blobcat":"blobcat.png"},"pack":{"share-files":true}}`)
	if err := peers[1].Emojis.Reload(); err != nil {
		t.Fatal(err)
	}
	apptest.WriteDataFile(srv, "emoji/loose/dog.png", "picture of a dog")
	imported := apptest.Zip(t, map[string]string{"dist/index.html": "built"})
	apptest.WriteDataFile(srv, "imports/fe.zip", string(imported))
	f = &adminFrontend{Client: &apptest.Client{Server: srv}, t: t, prefix: prefix, values: map[string]string{
		"root": root.ID, "alice": alice.ID, "bob": bob.ID, "rude": rude.ID(), "other": other.ID(), "chat": chat, "message": message.ID(),
		"relay": relay, "remote": peers[1].URL, "rule": root.Post("/api/v1/svc/admin/rules", "text", "Be kind").Want(200).Object().ID(),
	}}
	f.values["password"] = apptest.Password
	f.walk("start", adminStart)
	f.Token = f.values["token"]
	f.values["report"] = alice.SendJSON("POST", "/api/v1/reports", apptest.Doc{
		"account_id": bob.ID, "status_ids": list{rude.ID()}, "comment": "look at this", "rule_ids": list{f.values["rule"]},
	}).Want(200).Object().ID()
	return f, alice
}

var adminStart = []adminCall{
	{request: "GET /nodeinfo/2.0.json", want: apptest.Doc{"metadata.invitesEnabled": true, "metadata.mailerEnabled": true, "metadata.federation.mrf_policies": anything}},
	{request: "POST /api/v1/apps", body: apptest.Doc{"client_name": "AdminFE_1", "redirect_uris": "http://localhost/oauth-callback", "scopes": "read write follow push admin"},
		want: apptest.Doc{"client_id": anything, "client_secret": anything}, keep: list{"client=client_id", "secret=client_secret"}},
	{request: "POST /oauth/token", body: apptest.Doc{"client_id": "{client}", "client_secret": "{secret}", "grant_type": "password", "username": "root", "password": "{password}"},
		want: apptest.Doc{"access_token": anything, "token_type": "Bearer"}, keep: list{"token=access_token"}},
}

var adminUsersPage = []adminCall{
	{request: "GET /api/v1/accounts/verify_credentials", want: apptest.Doc{"svc.is_admin": true, "svc.privileges": something, "username": "root"}},
	{request: "GET A/users?page=1&filters=local,active&query=&page_size=50", want: apptest.Doc{"count": 3.0, "page_size": 50.0, "users.0.nickname": anything, "users.0.roles.admin": anything}},
	{request: "GET A/users?page=1&filters=external&query=far", want: apptest.Doc{"count": 1.0, "users.0.nickname": "far@far.example", "users.0.local": false}},
	{request: "GET A/users?page=1&filters=local&actor_types[]=Person&query=ali", want: apptest.Doc{"count": 1.0, "users.0.id": anything, "users.0.is_active": true}},
	{request: "GET A/users?page=9&filters=&query=", want: apptest.Doc{"users": []any{}}},
	{request: "POST A/users", body: apptest.Doc{"users": []apptest.Doc{{"nickname": "carol", "email": "carol@example.org", "password": "a long password"}}},
		want: apptest.Doc{"list.0.type": "success", "list.0.code": 200.0, "list.0.data.nickname": "carol", "list.0.data.email": "carol@example.org"}},
	{request: "POST A/users", body: apptest.Doc{"users": []apptest.Doc{{"nickname": "carol", "email": "c@example.org", "password": "a long password"}}}, status: 409,
		want: apptest.Doc{"list.0.type": "error", "list.0.code": 409.0, "list.0.error": "nickname has already been taken"}},
	{request: "PATCH A/users/deactivate", body: apptest.Doc{"nicknames": list{"carol"}}, want: apptest.Doc{"users.0.is_active": false, "users.0.deactivated": true}},
	{request: "PATCH A/users/activate", body: apptest.Doc{"nicknames": list{"carol"}}, want: apptest.Doc{"users.0.is_active": true}},
	{request: "PATCH A/users/carol/toggle_activation", want: apptest.Doc{"deactivated": true, "nickname": "carol", "id": anything}},
	{request: "PATCH A/users/carol/toggle_activation", want: apptest.Doc{"deactivated": false}},
	{request: "PATCH A/users/approve", body: apptest.Doc{"nicknames": list{"carol"}}, want: apptest.Doc{"users.0.is_approved": true}},
	{request: "PATCH A/users/confirm_email", body: apptest.Doc{"nicknames": list{"carol"}}, want: apptest.Doc{"list.0": "carol"}},
	{request: "PATCH A/users/resend_confirmation_email", body: apptest.Doc{"nicknames": list{"carol"}}, want: apptest.Doc{"list.0": "carol"}},
	{request: "POST A/users/permission_group/moderator", body: apptest.Doc{"nicknames": list{"carol"}}, want: apptest.Doc{"is_moderator": true}},
	{request: "DELETE A/users/permission_group/moderator", body: apptest.Doc{"nicknames": list{"carol"}}, want: apptest.Doc{"is_moderator": false}},
	{request: "PUT A/users/tag", body: apptest.Doc{"nicknames": list{"carol"}, "tags": list{"mrf_tag:media-force-nsfw"}}, status: 204},
	{request: "GET A/users/carol", want: apptest.Doc{"tags.0": "mrf_tag:media-force-nsfw", "nickname": "carol", "roles.moderator": false}},
	{request: "DELETE A/users/tag", body: apptest.Doc{"nicknames": list{"carol"}, "tags": list{"mrf_tag:media-force-nsfw"}}, status: 204},
	{request: "PATCH A/users/force_password_reset", body: apptest.Doc{"nicknames": list{"carol"}}, status: 204},
	{request: "PUT A/users/disable_mfa", body: apptest.Doc{"nickname": "carol"}, want: apptest.Doc{"text": "carol"}},
	{request: "DELETE A/users", body: apptest.Doc{"nicknames": list{"carol"}}, want: apptest.Doc{"list.0": "carol"}},
}

var adminUserPage = []adminCall{
	{request: "GET A/users/{bob}", want: apptest.Doc{"nickname": "bob", "id": anything, "avatar": anything, "display_name": anything, "local": true}},
	{request: "GET A/users/bob/credentials", want: apptest.Doc{"email": "bob@example.org", "raw_fields": anything, "svc_settings_store": anything, "actor_type": "Person", "banner": anything}},
	{request: "PATCH A/users/bob/credentials", body: apptest.Doc{"name": "Bob B.", "bio": "short", "raw_fields": []apptest.Doc{{"name": "a", "value": "b"}}},
		want: apptest.Doc{"status": "success"}},
	{request: "PATCH A/users/bob/credentials", body: apptest.Doc{"actor_type": "Nonsense"}, status: 400, want: apptest.Doc{"errors.actor_type": "is invalid"}},
	{request: "GET A/users/bob/credentials", want: apptest.Doc{"name": "Bob B.", "raw_fields.0.name": "a", "fields.0.value": "b"}},
	{request: "GET A/users/bob/statuses?godmode=true&page_size=20&with_reblogs=true", want: apptest.Doc{"total": 2.0, "activities.0.id": "{other}", "activities.0.account.nickname": "bob"}},
	{request: "GET A/users/bob/statuses?godmode=false", want: apptest.Doc{"total": 1.0, "activities.0.id": "{rude}"}},
	{request: "GET A/users/bob/chats", want: apptest.Doc{"list.0.sender.nickname": "bob", "list.0.receiver.nickname": "alice", "list.0.last_message.content": "hello"}},
	{request: "GET A/chats/{chat}", want: apptest.Doc{"id": "{chat}", "sender.nickname": "alice", "receiver.nickname": "bob"}},
	{request: "GET A/chats/{chat}/messages", want: apptest.Doc{"list.0.content": "hello", "list.0.account_id": "{alice}", "list.0.chat_id": "{chat}"}},
	{request: "DELETE A/chats/{chat}/messages/{message}", want: apptest.Doc{"id": "{message}"}},
	{request: "GET A/users/bob/password_reset", want: apptest.Doc{"token": anything, "link": anything}},
	{request: "GET A/users/nobody", status: 404, want: apptest.Doc{"error": "Not found"}},
}

var adminReportsPage = []adminCall{
	{request: "GET A/reports?page=1&page_size=50&state=open", want: apptest.Doc{"total": 1.0, "reports.0.id": "{report}", "reports.0.state": "open",
		"reports.0.account.nickname": "bob", "reports.0.account.is_active": true, "reports.0.account.tags": anything, "reports.0.account.local": true,
		"reports.0.account.roles.admin": false, "reports.0.actor.nickname": "alice", "reports.0.statuses.0.id": "{rude}", "reports.0.statuses.0.account.nickname": "bob",
		"reports.0.content": "look at this", "reports.0.notes": []any{}, "reports.0.rules.0.text": "Be kind"}},
	{request: "POST A/reports/{report}/notes", body: apptest.Doc{"content": "seen"}, status: 204},
	{request: "GET A/reports/{report}", want: apptest.Doc{"notes.0.user.nickname": "root", "notes.0.content": "seen", "notes.0.id": anything, "notes.0.created_at": anything},
		keep: list{"note=notes.0.id"}},
	{request: "DELETE A/reports/{report}/notes/{note}", status: 204},
	{request: "PATCH A/reports", body: apptest.Doc{"reports": []apptest.Doc{{"id": "{report}", "state": "resolved"}}}, status: 204},
	{request: "PATCH A/reports", body: apptest.Doc{"reports": []apptest.Doc{{"id": "{report}", "state": "nonsense"}}}, status: 400, want: apptest.Doc{"list.0.id": "{report}", "list.0.error": anything}},
	{request: "GET A/reports?page=1&page_size=50&state=resolved", want: apptest.Doc{"total": 1.0, "reports.0.state": "resolved"}},
	{request: "GET A/grouped_reports", want: apptest.Doc{"reports": anything}},
}

var adminStatusesPage = []adminCall{
	{request: "GET /api/v1/instance/peers", want: apptest.Doc{"list": anything}},
	{request: "GET A/stats?instance=", want: apptest.Doc{"status_visibility.public": 1.0, "status_visibility.private": 1.0, "status_visibility.direct": 0.0, "status_visibility.unlisted": 0.0}},
	{request: "GET A/instances/far.example/statuses?page=1&page_size=20", want: apptest.Doc{"total": 0.0, "activities": []any{}}},
	{request: "GET A/statuses?godmode=true&local_only=true&with_reblogs=false&page=1&page_size=20", want: apptest.Doc{"list.0.id": "{other}", "list.1.id": "{rude}", "list.0.account.nickname": "bob"}},
	{request: "GET A/statuses/{rude}", want: apptest.Doc{"id": "{rude}", "account.nickname": "bob", "account.is_active": true}},
	{request: "PUT A/statuses/{rude}", body: apptest.Doc{"sensitive": "true", "visibility": "unlisted"}, want: apptest.Doc{"sensitive": true, "visibility": "unlisted"}},
	{request: "PUT A/statuses/{rude}", body: apptest.Doc{"sensitive": false, "visibility": "list"}, status: 400, want: apptest.Doc{"error": "Unsupported visibility"}},
	{request: "DELETE A/statuses/{rude}", want: apptest.Doc{"error": nil}},
	{request: "GET A/statuses/{rude}", status: 404, want: apptest.Doc{"error": "Not found"}},
}

var adminInvitesPage = []adminCall{
	{request: "POST A/users/invite_token", body: apptest.Doc{"max_use": 1, "expires_at": nil}, want: apptest.Doc{"invite_type": "reusable", "used": false, "uses": 0.0, "max_use": 1.0},
		keep: list{"invite=token"}},
	{request: "POST A/users/invite_token", body: apptest.Doc{"max_use": "3", "expires_at": "2099-01-31"}, want: apptest.Doc{"invite_type": "reusable_date_limited", "expires_at": "2099-01-31"}},
	{request: "GET A/users/invites", want: apptest.Doc{"invites.0.token": "{invite}", "invites.1.max_use": 3.0}},
	{request: "POST A/users/revoke_invite", body: apptest.Doc{"token": "{invite}"}, want: apptest.Doc{"used": true, "token": "{invite}"}},
	{request: "POST A/users/email_invite", body: apptest.Doc{"email": "new@example.org", "name": ""}, status: 204},
	{request: "POST A/users/email_invite", body: apptest.Doc{"email": "nonsense"}, status: 400, want: apptest.Doc{"list.0.error": anything}},
}

var adminRelaysPage = []adminCall{
	{request: "POST A/relay", body: apptest.Doc{"relay_url": "{relay}"}, want: apptest.Doc{"actor": "{relay}", "followed_back": false}},
	{request: "GET A/relay", want: apptest.Doc{"list.0.actor": "{relay}", "list.0.followed_back": false}},
	{request: "DELETE A/relay", body: apptest.Doc{"relay_url": "{relay}", "force": true}, want: apptest.Doc{"text": "{relay}"}},
	{request: "GET A/relay", want: apptest.Doc{"list": []any{}}},
}

var adminMediaPage = []adminCall{
	{request: "POST A/media_proxy_caches/purge", body: apptest.Doc{"urls": list{"https://far.example/a.png"}, "ban": true}, want: apptest.Doc{"error": nil}},
	{request: "GET A/media_proxy_caches?page=1&page_size=50&query=a.png", want: apptest.Doc{"count": 1.0, "page_size": 50.0, "urls.0": anything}},
	{request: "POST A/media_proxy_caches/delete", body: apptest.Doc{"urls": list{"https://far.example/a.png"}}, want: apptest.Doc{"error": nil}},
	{request: "GET A/media_proxy_caches?page=1&page_size=50", want: apptest.Doc{"count": 0.0, "urls": []any{}}},
}

var adminEmojiPage = []adminCall{
	{request: "GET P/emoji/packs?page=1&page_size=10", want: apptest.Doc{"count": anything, "packs": anything}},
	{request: "GET P/emoji/packs/import", want: apptest.Doc{"list.0": "loose"}},
	{request: "GET P/emoji/pack?name=loose&page=1&page_size=30", want: apptest.Doc{"files.dog": "dog.png", "files_count": 1.0, "pack.can-download": false}},
	{request: "POST P/emoji/pack?name=own", want: apptest.Doc{"text": "ok"}},
	{request: "POST P/emoji/pack?name=own", status: 409, want: apptest.Doc{"error": anything}},
	{request: "PATCH P/emoji/pack?name=own", body: apptest.Doc{"metadata": apptest.Doc{"license": "CC0", "homepage": "", "description": "mine", "fallback-src": "", "fallback-src-sha256": "", "share-files": true}},
		want: apptest.Doc{"license": "CC0", "share-files": true}},
	{request: "POST P/emoji/packs/files?name=own", body: []apptest.FormPart{
		{Name: "file", Content: string(apptest.PNG(4, 4)), Filename: "sun.png", Type: "image/png", IsFile: true}, apptest.ValuePart("shortcode", ""), apptest.ValuePart("filename", "")},
		want: apptest.Doc{"sun": "sun.png"}},
	{request: "PATCH P/emoji/packs/files?name=own", body: apptest.Doc{"shortcode": "sun", "new_shortcode": "star", "new_filename": "star.png", "force": true}, want: apptest.Doc{"star": "star.png", "sun": nil}},
	{request: "DELETE P/emoji/packs/files?name=own&shortcode=star", want: apptest.Doc{"star": nil}},
	{request: "GET P/emoji/packs/remote?url={remote}&page=1&page_size=50", want: apptest.Doc{"cats.files.blobcat": "blobcat.png"}},
	{request: "POST P/emoji/packs/download", body: apptest.Doc{"url": "{remote}", "name": "cats", "as": "mycats"}, want: apptest.Doc{"text": "ok"}},
	{request: "POST A/reload_emoji", want: apptest.Doc{"text": "ok"}},
	{request: "GET P/emoji/pack?name=mycats", want: apptest.Doc{"files.blobcat": "blobcat.png"}},
	{request: "DELETE P/emoji/pack?name=own", want: apptest.Doc{"text": "ok"}},
	{request: "GET P/emoji/pack?name=own", status: 404, want: apptest.Doc{"error": anything}},
}

var adminSettingsPage = []adminCall{
	{request: "GET A/config/descriptions", want: apptest.Doc{"list.0.group": ":svc", "list.0.type": "group", "list.0.children": something}},
	{request: "GET A/config", want: apptest.Doc{"configs": something, "need_reboot": false}},
	{request: "GET A/need_reboot", want: apptest.Doc{"need_reboot": false}},
	{request: "GET A/instance_document/instance-panel", want: apptest.Doc{"text": anything}},
	{request: "PATCH A/instance_document/terms-of-service", body: []apptest.FormPart{{Name: "file", Content: "<p>our terms</p>", Filename: "blob", Type: "text/html", IsFile: true}},
		want: apptest.Doc{"url": anything}},
	{request: "GET A/instance_document/terms-of-service", want: apptest.Doc{"text": "<p>our terms</p>"}},
	{request: "DELETE A/instance_document/terms-of-service", want: apptest.Doc{"url": anything}},
	{request: "GET A/frontends", want: apptest.Doc{"list.0.name": anything, "list.0.installed": false, "list.0.installed_refs": []any{}}},
	{request: "POST A/frontends/install", body: apptest.Doc{"name": "fe", "ref": "main", "file": "fe.zip"}, want: apptest.Doc{"list": something}},
	{request: "POST A/config", body: apptest.Doc{"configs": []apptest.Doc{{"group": ":svc", "key": ":frontends", "value": []apptest.Doc{
		{"tuple": []any{":primary", apptest.Doc{"name": "fe", "ref": "main"}}}}}}}, want: apptest.Doc{"configs.0.key": ":frontends", "configs.0.db.0": ":primary", "need_reboot": false}},
	{request: "GET /main/all", want: apptest.Doc{"text": "built"}},
	{request: "POST A/config", body: apptest.Doc{"configs": []apptest.Doc{{"group": ":svc", "key": ":frontends", "delete": true, "subkeys": list{":primary"}}}}, want: apptest.Doc{"configs": []any{}}},
	{request: "GET A/oauth_app?page=1&page_size=50&trusted=false", want: apptest.Doc{"apps.0.name": anything, "count": anything, "page_size": 50.0}},
	{request: "POST A/oauth_app", body: apptest.Doc{"name": "own", "redirect_uris": "https://a.example/cb", "scopes": list{"read"}, "trusted": true},
		want: apptest.Doc{"trusted": true, "client_id": anything, "client_secret": anything}, keep: list{"app=id"}},
	{request: "PATCH A/oauth_app/{app}", body: apptest.Doc{"name": "renamed"}, want: apptest.Doc{"name": "renamed"}},
	{request: "DELETE A/oauth_app/{app}", status: 204},
}

var adminLogPage = []adminCall{
	{request: "GET A/users?filters=is_admin", want: apptest.Doc{"users.0.nickname": "root"}},
	{request: "GET A/users?filters=is_moderator", want: apptest.Doc{"users": []any{}}},
	{request: "GET A/moderation_log?page=1&page_size=5&user_id={root}&start_date=2020-01-01T00:00:00&search=", want: apptest.Doc{
		"list.4.message": anything, "list.4.time": anything, "list.4.data.actor.nickname": "root", "list.4.data.action": anything}},
	{request: "GET A/moderation_log?page=1&page_size=50&search=renamed%20emoji", want: apptest.Doc{"list.1": nil}},
	{request: "POST A/config", body: apptest.Doc{"configs": []apptest.Doc{{"group": ":svc", "key": ":instance", "value": []apptest.Doc{{"tuple": []any{":upload_limit", 2000000}}}}}},
		want: apptest.Doc{"need_reboot": true}},
	{request: "GET A/need_reboot", want: apptest.Doc{"need_reboot": true}},
	{request: "GET A/restart", want: apptest.Doc{"error": nil}},
}

// postAllSettings sends each group of settings back as the tabs of a front end do, then all switches with the other value, and reads them
// back.
func (f *adminFrontend) postAllSettings() {
	f.t.Helper()
	read := func() map[string]any {
		values := make(map[string]any)
		for _, e := range f.Get(f.prefix + "/config").Want(200).Object().At("configs").([]any) {
			e := e.(map[string]any)
			values[e["key"].(string)] = e["value"]
		}
		return values
	}
	post := func(key string, value any) *apptest.Object {
		a := f.SendJSON("POST", f.prefix+"/config", apptest.Doc{"configs": []apptest.Doc{{"group": ":svc", "key": key, "value": value}}})
		if a.Status != 200 {
			f.t.Errorf("%s: %d %s", key, a.Status, a.Body)
			return &apptest.Object{T: f.t, Fields: map[string]any{"need_reboot": false}}
		}
		return a.Object()
	}
	before := read()
	tabs := f.Get(f.prefix + "/config/descriptions").Want(200).List()
	if len(tabs) < 30 {
		f.t.Errorf("%d groups of settings are described", len(tabs))
	}
	switches, deletes := make(map[string][]any), []apptest.Doc{}
	for _, tab := range tabs {
		key := tab.Str("key")
		value, ok := before[key]
		if !ok {
			f.t.Errorf("GET config lacks %s, which is described", key)
			continue
		}
		if post(key, value).Bool("need_reboot") {
			f.t.Fatalf("%s, sent back, needs a restart", key)
		}
		deletes = append(deletes, apptest.Doc{"group": ":svc", "key": key, "delete": true})
		for _, child := range tab.At("children").([]any) {
			child := child.(map[string]any)
			name, _ := child["key"].(string)
			now, ok := tupleValue(value, name).(bool)
			if ok && child["type"] == "boolean" && !strings.Contains(child["description"].(string), "Only the settings file") {
				switches[key] = append(switches[key], apptest.Doc{"tuple": []any{name, !now}})
			}
		}
	}
	if after := read(); !reflect.DeepEqual(after, before) {
		f.t.Error("the settings that were sent back are not as before")
	}
	delete(switches, "Svc.Emails.Mailer") // other settings require mail
	for key, pairs := range switches {
		post(key, pairs)
	}
	after := read()
	for key, pairs := range switches {
		for _, s := range pairs {
			if pair := s.(apptest.Doc)["tuple"].([]any); tupleValue(after[key], pair[0].(string)) != pair[1] {
				f.t.Errorf("%s %s was not saved", key, pair[0])
			}
		}
	}
	f.SendJSON("POST", f.prefix+"/config", apptest.Doc{"configs": deletes}).Want(200)
	if after := read(); !reflect.DeepEqual(after, before) {
		f.t.Error("the settings are not as before")
	}
}

// tupleValue returns the value of a subkey of a keyword list.
func tupleValue(keyword any, subkey string) any {
	tuples, _ := keyword.([]any)
	for _, e := range tuples {
		e, _ := e.(map[string]any)
		if pair, _ := e["tuple"].([]any); len(pair) == 2 && pair[0] == subkey {
			return pair[1]
		}
	}
	return nil
}

package staff_test

import (
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

const moderatedAccounts = "/api/v1/admin/accounts"

// TestModeratedAccount checks every field of an account of the reference API.
func TestModeratedAccount(t *testing.T) {
	srv := apptest.Start(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	remote := srv.AddRemoteAccount("far", "example.com")
	srv.ChangeUser("alice", func(u *store.User) {
		u.RegistrationReason, u.Locale, u.ApprovedAt, u.IsModerator = "because", "de", nil, true
	})
	wantFields(t, "a local account", root.Get(moderatedAccounts+"/"+alice.ID).Want(200).Object(), apptest.Doc{
		"id": alice.ID, "username": "alice", "domain": nil, "email": "alice@example.org", "ip": nil, "ips": []any{}, "locale": "de",
		"invite_request": "because", "role.name": "Moderator", "confirmed": true, "approved": false, "disabled": false, "suspended": false,
		"silenced": false, "sensitized": false, "account.id": alice.ID, "account.acct": "alice",
		"created_at": alice.Get("/api/v1/accounts/" + alice.ID).Want(200).Object().Str("created_at"),
	})
	wantFields(t, "a remote account", root.Get(moderatedAccounts+"/"+remote).Want(200).Object(), apptest.Doc{
		"username": "far", "domain": "example.com", "email": "", "role": nil, "confirmed": true, "approved": true, "invite_request": nil,
	})
	for _, id := range []string{"0", "nonsense", "alice"} {
		root.Get(moderatedAccounts+"/"+id).WantError(404, "Record not found")
	}
}

// TestListModeratedAccounts checks the filters of both versions, and paging.
func TestListModeratedAccounts(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	users := map[string]*apptest.User{"root": root}
	for _, nick := range []string{"alice", "bob", "carol", "dave"} {
		users[nick] = srv.SignUp(nick)
	}
	srv.SetRole(users["alice"], false, true)
	srv.ChangeUser("bob", func(u *store.User) { u.ApprovedAt = nil })
	srv.MakeUnavailable(users["bob"])
	srv.AddRemoteAccount("far", "example.com")
	srv.ChangeAccount(users["dave"], func(a *store.Account) { a.DisplayName = "The Digger" })
	root.SendJSON("PATCH", usersPath+"/deactivate", apptest.Doc{"nicknames": list{"carol"}}).Want(200)
	root.SendJSON("PUT", usersPath+"/tag", apptest.Doc{"nicknames": list{"dave"}, "tags": list{"mrf_tag:force-unlisted"}}).Want(204)
	root.SendJSON("PUT", usersPath+"/tag", apptest.Doc{"nicknames": list{"dave", "alice"}, "tags": list{"mrf_tag:media-force-nsfw"}}).Want(204)
	for _, tt := range []struct {
		v1, v2 list // nil: not in this version
		want   string
	}{
		{list{}, list{}, "far dave carol bob alice root"},
		{list{"local", "true"}, list{"origin", "local"}, "dave carol bob alice root"},
		{list{"remote", "true"}, list{"origin", "remote"}, "far"},
		{list{"local", "true", "remote", "true"}, nil, ""},
		{list{"active", "true"}, list{"status", "active"}, "far dave alice root"},
		{list{"pending", "true"}, list{"status", "pending"}, "bob"},
		{list{"disabled", "true"}, list{"status", "disabled"}, "carol"},
		{list{"suspended", "true"}, list{"status", "suspended"}, "carol"},
		{list{"silenced", "true"}, list{"status", "silenced"}, "dave"},
		{list{"sensitized", "true"}, list{"status", "sensitized"}, "dave alice"},
		{list{"sensitized", "true", "silenced", "true"}, nil, "dave"},
		{list{"staff", "true"}, list{"permissions", "staff"}, "alice root"},
		{nil, list{"role_ids[]", "3"}, "root"},
		{nil, list{"role_ids[]", "2"}, "alice"},
		{nil, list{"role_ids[]", "2", "role_ids[]", "3"}, "alice root"},
		{nil, list{"invited_by", "1"}, ""},
		{list{"username", "AL"}, list{"username", "AL"}, "alice"},
		{list{"username", "lice"}, nil, ""},
		{list{"display_name", "digger"}, list{"display_name", "digger"}, "dave"},
		{list{"by_domain", "Example.com"}, list{"by_domain", "example.com"}, "far"},
		{list{"email", "BOB@example.org"}, list{"email", "bob@example.org"}, "bob"},
		{list{"email", "x@example.org"}, nil, ""},
		{list{"ip", "127.0.0.1"}, list{"ip", "127.0.0.1"}, ""},
		{list{"limit", "2"}, list{"limit", "2"}, "far dave"},
		{list{"limit", "2", "max_id", users["dave"].ID}, nil, "carol bob"},
		{list{"limit", "2", "min_id", users["alice"].ID}, nil, "carol bob"},
		{list{"since_id", users["carol"].ID}, nil, "far dave"},
	} {
		for path, params := range map[string]list{moderatedAccounts: tt.v1, "/api/v2/admin/accounts": tt.v2} {
			if params == nil {
				continue
			}
			var got []string
			for _, a := range root.Get(path, params...).Want(200).List() {
				got = append(got, a.Str("username"))
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%s %v: got %v, want %q", path, params, got, tt.want)
			}
		}
	}
	root.Get("/api/v2/admin/accounts", "status", "nice").WantError(400, "nice - Invalid value for enum.")
	if next := root.Get(moderatedAccounts, "limit", "2").Links()["next"]; !strings.Contains(next, "max_id="+users["dave"].ID) {
		t.Errorf("the next page is %q", next)
	}
}

// TestApproveRejectDelete checks what happens to accounts that await approval, and to suspended ones.
func TestApproveRejectDelete(t *testing.T) {
	srv := apptest.Start(t)
	root, alice, bob := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob")
	for _, nick := range []string{"alice", "bob"} {
		srv.ChangeUser(nick, func(u *store.User) { u.ApprovedAt = nil })
	}
	if !root.Post(moderatedAccounts + "/" + alice.ID + "/approve").Want(200).Object().Bool("approved") {
		t.Error("alice is not approved")
	}
	root.Post(moderatedAccounts+"/"+alice.ID+"/approve").WantError(403, "This action is not allowed")
	root.Post(moderatedAccounts+"/"+alice.ID+"/reject").WantError(403, "This action is not allowed")
	root.Post(moderatedAccounts + "/" + srv.AddRemoteAccount("far", "example.com") + "/approve").Want(404)
	wantFields(t, "the rejected account", root.Post(moderatedAccounts+"/"+bob.ID+"/reject").Want(200).Object(), apptest.Doc{"username": "bob", "approved": false})
	root.Get(moderatedAccounts + "/" + bob.ID).Want(404)

	root.Do("DELETE", moderatedAccounts+"/"+alice.ID, "", nil).WantError(403, "This action is not allowed")
	root.Post(moderatedAccounts+"/"+alice.ID+"/action", "type", "suspend").Want(200)
	wantFields(t, "the deleted account", root.Do("DELETE", moderatedAccounts+"/"+alice.ID, "", nil).Want(200).Object(), apptest.Doc{"username": "alice", "suspended": true})
	root.Do("DELETE", moderatedAccounts+"/"+alice.ID, "", nil).Want(404)
	wantLog(t, root.Client, "@root deleted users: @alice")
}

// TestModeratedReports checks every field of a report of the reference API, the filters, and all operations on it.
func TestModeratedReports(t *testing.T) {
	srv := apptest.Start(t)
	root, alice, bob := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob")
	root.SendJSON("POST", "/api/v1/svc/admin/rules", apptest.Doc{"text": "Be nice", "hint": "to all", "priority": 7}).Want(200)
	st := bob.Publish("rude")
	const path = "/api/v1/admin/reports"
	answer := alice.SendJSON("POST", "/api/v1/reports", apptest.Doc{
		"account_id": bob.ID, "status_ids": list{st.ID()}, "comment": "look", "category": "violation", "rule_ids": list{"1", "9"},
	}).Want(200).Object()
	wantFields(t, "the answer to the reporter", answer, apptest.Doc{"rule_ids": []any{"1"}})
	id := answer.ID()
	rule := map[string]any{"id": "1", "text": "Be nice", "hint": "to all", "priority": 7.0}
	shown := root.Get(path + "/" + id).Want(200).Object()
	wantFields(t, "the report", shown, apptest.Doc{
		"id": id, "action_taken": false, "action_taken_at": nil, "category": "violation", "comment": "look", "forwarded": false,
		"account.username": "alice", "account.account.id": alice.ID, "target_account.username": "bob", "assigned_account": nil,
		"action_taken_by_account": nil, "statuses.0.id": st.ID(), "rules.0": rule, "updated_at": shown.Str("created_at"),
	})
	wantFields(t, "the other endpoint", root.Get(reportsPath+"/"+id).Want(200).Object(), apptest.Doc{"rules.0": rule})
	for params, n := range map[string]int{"rule_id=1": 1, "rule_id=2": 0, "rule_id=x": 0} {
		if got := root.Get(reportsPath + "?" + params).Want(200).Object().Int("total"); got != n {
			t.Errorf("%s: %d reports, want %d", params, got, n)
		}
	}

	wantFields(t, "taken", root.Post(path+"/"+id+"/assign_to_self").Want(200).Object(), apptest.Doc{"assigned_account.username": "root"})
	wantLog(t, root.Client, "@root assigned to themselves report #"+id)
	wantFields(t, "released", root.Post(path+"/"+id+"/unassign").Want(200).Object(), apptest.Doc{"assigned_account": nil})
	wantFields(t, "changed", root.SendJSON("PUT", path+"/"+id, apptest.Doc{"category": "spam", "rule_ids": list{}}).Want(200).Object(), apptest.Doc{"category": "spam", "rules": []any{}})
	wantLog(t, root.Client, "@root changed the reason of report #"+id)
	root.SendJSON("PUT", path+"/"+id, apptest.Doc{"category": "nice"}).Want(422)
	resolved := root.Post(path + "/" + id + "/resolve").Want(200).Object()
	wantFields(t, "resolved", resolved, apptest.Doc{"action_taken": true, "action_taken_by_account.username": "root", "updated_at": resolved.At("action_taken_at")})
	if at, err := time.Parse("2006-01-02T15:04:05.000Z", resolved.Str("action_taken_at")); err != nil || time.Since(at) > time.Minute {
		t.Errorf("action_taken_at is %v", resolved.At("action_taken_at"))
	}
	apptest.WantIDs(t, "resolved ones", root.Get(path, "resolved", "true"), id)
	apptest.WantIDs(t, "open ones", root.Get(path))
	wantFields(t, "open again", root.Post(path+"/"+id+"/reopen").Want(200).Object(), apptest.Doc{"action_taken": false, "action_taken_by_account": nil})
	for _, tt := range []struct {
		params list
		found  bool
	}{
		{nil, true}, {list{"resolved", "true"}, false}, {list{"account_id", alice.ID}, true}, {list{"account_id", bob.ID}, false},
		{list{"target_account_id", bob.ID}, true}, {list{"target_account_id", "nonsense"}, false}, {list{"by_target_domain", "example.com"}, false},
		{list{"by_target_domain", strings.TrimPrefix(srv.URL, "http://")}, true}, {list{"max_id", id}, false}, {list{"min_id", "0"}, true},
	} {
		if got := len(root.Get(path, tt.params...).Want(200).List()) == 1; got != tt.found {
			t.Errorf("%v: found %v", tt.params, got)
		}
	}
	for _, what := range []string{"assign_to_self", "unassign", "resolve", "reopen"} {
		root.Post(path+"/nonsense/"+what).WantError(404, "Record not found")
	}
	root.Get(path+"/nonsense").WantError(404, "Record not found")
	for _, what := range []string{"tags", "statuses", "links", "links/publishers"} {
		if got := string(root.Get("/api/v1/admin/trends/" + what).Want(200).Body); got != "[]" {
			t.Errorf("trends: %s", got)
		}
	}
}

// TestModerationAccess checks who may call the endpoints of this area: the table of routes has one privilege and scope for each.
func TestModerationAccess(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.Instance.AdminPrivileges = []string{"messages_read", "messages_delete", "statistics_read", "users_read", "reports_manage_reports"}
		c.Instance.ModeratorPrivileges = []string{"reports_manage_reports"}
	})
	root, alice, moderator := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("moderator")
	srv.SetRole(moderator, false, true)
	tokens := make(map[string]*apptest.Client)
	token := func(m *apptest.User, scopes string) *apptest.Client {
		key := scopes
		if m != nil {
			key += m.Nickname
		}
		if tokens[key] == nil {
			tokens[key] = srv.NewToken(m, scopes)
		}
		return tokens[key]
	}
	for path, scope := range map[string]string{
		statusesPath: "admin:read:statuses", statusesPath + "/1": "admin:read:statuses", usersPath + "/alice/statuses": "admin:read:statuses",
		"/api/v1/svc/admin/instances/x/statuses": "admin:read:statuses", statsPath: "admin:read",
		usersPath + "/alice/chats": "admin:read:chats", chatsPath + "/1": "admin:read:chats", chatsPath + "/1/messages": "admin:read:chats",
		reportsPath: "admin:read:reports", reportsPath + "/1": "admin:read:reports", groupedPath: "admin:read:reports",
		moderatedAccounts: "admin:read:accounts", "/api/v1/admin/reports": "admin:read:reports",
	} {
		mayModerator := strings.Contains(path, "report")
		plain := strings.HasPrefix(path, "/api/v1/admin")
		for _, tt := range []struct {
			name   string
			client *apptest.Client
			ok     bool
		}{
			{"anonymous", srv.As(nil), false},
			{"an app", token(nil, "admin"), false},
			{"a user", token(alice, "admin"), false},
			{"a moderator", token(moderator, "admin"), mayModerator},
			{"an admin", token(root, scope), true},
			{"an admin with another scope", token(root, "admin:read:invites read"), false},
		} {
			a := tt.client.Get(path)
			if got := a.Status == 200 || a.Status == 404; got != tt.ok || !tt.ok && !plain && a.Status != 403 {
				t.Errorf("%s by %s: %d %s", path, tt.name, a.Status, a.Body)
			}
		}
	}
}

// TestReferencePrivileges checks that each privilege opens its endpoints of the reference API to a moderator, and no others.
func TestReferencePrivileges(t *testing.T) {
	const account, report = moderatedAccounts + "/0", "/api/v1/admin/reports/0"
	action := func(measure string) string { return "POST " + account + "/action?type=" + measure }
	endpoints := map[string][]string{
		"users_read":                    {"GET " + moderatedAccounts, "GET /api/v2/admin/accounts", "GET " + account},
		"users_manage_activation_state": {"POST " + account + "/enable", "POST " + account + "/unsuspend", action("disable"), action("suspend")},
		"users_manage_tags":             {"POST " + account + "/unsilence", "POST " + account + "/unsensitive", action("silence"), action("sensitive")},
		"users_manage_invites":          {"POST " + account + "/approve", "POST " + account + "/reject"},
		"users_delete":                  {"DELETE " + account},
		"reports_manage_reports": {
			"GET /api/v1/admin/reports", "GET " + report, "PUT " + report, "POST " + report + "/assign_to_self", "POST " + report + "/unassign",
			"POST " + report + "/resolve", "POST " + report + "/reopen", action("none"),
		},
		"statistics_read": {"POST /api/v1/admin/measures", "POST /api/v1/admin/dimensions", "POST /api/v1/admin/retention"},
	}
	for privilege := range endpoints {
		t.Run(privilege, func(t *testing.T) {
			srv := apptest.Start(t, func(c *config.Config) { c.Instance.ModeratorPrivileges = []string{privilege} })
			moderator := srv.SignUp("moderator")
			srv.SetRole(moderator, false, true)
			client, wrong := srv.NewToken(moderator, "admin"), srv.NewToken(moderator, "admin:write:invites admin:read:invites")
			for owner, list := range endpoints {
				for _, endpoint := range list {
					method, path, _ := strings.Cut(endpoint, " ")
					a := client.Do(method, path, "", nil)
					if owner != privilege {
						a.WantError(403, "User isn't privileged.")
						continue
					}
					if a.Status == 401 || a.Status == 403 {
						t.Errorf("%s: %d %s", endpoint, a.Status, a.Body)
					}
					wrong.Do(method, path, "", nil).WantError(403, "This action is outside the authorized scopes")
				}
			}
			for _, path := range []string{"domain_blocks", "domain_allows", "email_domain_blocks", "canonical_email_blocks", "ip_blocks"} {
				client.Get("/api/v1/admin/"+path).WantError(403, "User is not an admin.")
			}
		})
	}
}

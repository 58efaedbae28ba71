package pages_test

import (
	"net/url"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestActionsAskFirst takes each action against a local and a remote account. Nothing happens before the answer, and the page says what the action
// does to this account.
func TestActionsAskFirst(t *testing.T) {
	srv, admin, browser := staff(t)
	remote := srv.AddRemoteAccount("eve", "far.example")
	for _, tt := range []struct {
		action, question string
		remote           bool
		says             []string
		state            string // member of the account that it makes true
	}{
		{"sensitive", "Mark its media as sensitive?", false, []string{"Media in its new posts are marked as sensitive.", "This can be undone"}, "sensitized"},
		{"silence", "Limit the account?", false, []string{"Its 1 follower stays", "Posts that are already here stay"}, "silenced"},
		{"disable", "Deactivate the account?", false, []string{"1 post are hidden", "Its 1 follower is kept", "stops following 0 accounts", "Other servers keep the copies"}, "disabled"},
		{"suspend", "Suspend the account?", false, []string{"and cannot sign in", "the profile and the posts are visible again"}, "suspended"},
		{"silence", "Limit the account?", true, []string{"Its 0 followers stay"}, "silenced"},
		{"suspend", "Suspend the account?", true, []string{"What it sends to this server is ignored.", "Nothing changes on its own server"}, "suspended"},
	} {
		t.Run(tt.action, func(t *testing.T) {
			id := remote
			if !tt.remote {
				bob := srv.SignUp("bob" + tt.action)
				bob.Publish("hello")
				srv.SignUp("fan" + tt.action).Post("/api/v1/accounts/" + bob.ID + "/follow").Want(200)
				id = bob.ID
			}
			state := func() bool { return admin.Get("/api/v1/admin/accounts/" + id).Want(200).Object().Bool(tt.state) }
			asked := browser.Get("/web/admin/accounts/"+id).Want(200).Press("Act on the account", "type", tt.action, "text", "<why>")
			asked.Want(200, append(tt.says, tt.question, "Cancel")...)
			if state() {
				t.Fatal("it happened before the answer")
			}
			asked.Press(tt.question).Follow().Want(200, "Saved.", "Reason: <why>", "@admin ")
			if !state() {
				t.Error("it did not happen")
			}
		})
	}
	page := browser.Get("/web/admin/accounts/" + remote).Want(200)
	if strings.Contains(string(page.Body), `value="disable"`) {
		t.Error("a remote account can be deactivated")
	}
	page.Press("Delete the account").Want(200, "Delete the account?", "The copies of its profile").Press("Delete the account?").Follow().Want(200, "Deleted.")
	token := between(t, string(page.Body), `name="form_token" value="`, `"`)
	for _, tt := range []struct {
		path, action string
		want         int
	}{
		{"none", "suspend", 404}, {"none", "delete", 404}, {srv.SignUp("carol").ID, "explode", 422}, {srv.SignUp("dave").ID, "", 422},
	} {
		browser.Post("/web/admin/accounts/"+tt.path, url.Values{"form_token": {token}, "type": {tt.action}}).Want(tt.want)
	}
}

// TestAccountPageShows checks what the page of an account has, of a local and of a remote one, and the pages behind its lists.
func TestAccountPageShows(t *testing.T) {
	srv, _, browser := staff(t)
	bob, alice := srv.SignUp("bob"), srv.SignUp("alice")
	for range 21 {
		bob.Publish("a public post")
	}
	secret := bob.Publish("a secret post", "visibility", "private")
	alice.Post("/api/v1/reports", "account_id", bob.ID, "comment", "He is rude").Want(200)
	bob.Post("/api/v1/reports", "account_id", alice.ID, "comment", "She is not").Want(200)
	path := "/web/admin/accounts/" + bob.ID
	page := browser.Get(path).Want(200, "21 posts", "1 report about it", "1 open", "1 report by it", "He is rude", "a public post", "This server does not store them.", "Last seen", "bob@")
	if n := strings.Count(string(page.Body), "<article"); n != 10 || strings.Contains(page.Text, "a secret post") {
		t.Errorf("%d posts: %s", n, page.Text)
	}
	browser.Get(path+"/posts", "restricted", "true").Want(200, "a secret post", "The moderation log says that you looked.")
	if n := strings.Count(string(browser.Get(path+"/posts", "page", "2").Want(200).Body), "<article"); n != 1 {
		t.Errorf("%d posts on the second page", n)
	}
	browser.Get("/web/admin/log").Want(200, "listed restricted statuses of @bob")
	page.Press("Mark as sensitive").Follow().Want(200, "Saved.", "End the sensitive mark")
	posts := browser.Get(path+"/posts", "restricted", "true")
	asked := posts.Press("Delete the post").Want(200, "Delete the post?")
	bob.Get("/api/v1/statuses/" + secret.ID()).Want(200)
	asked.Press("Delete the post?").Follow().Want(200, "Deleted.")
	bob.Get("/api/v1/statuses/" + secret.ID()).Want(404)

	browser.Get("/web/admin/reports", "target_account_id", bob.ID).Want(200, "He is rude")
	if page := browser.Get("/web/admin/reports", "account_id", bob.ID).Want(200, "She is not"); strings.Contains(page.Text, "He is rude") {
		t.Errorf("the reports are %s", page.Text)
	}
	page = browser.Get(path)
	page.Press("Act on the account", "type", "silence").Press("Limit the account?").Follow()
	if page := browser.Get("/web/admin/log", "account_id", bob.ID).Want(200, "added tags"); strings.Contains(page.Text, "listed restricted") {
		t.Errorf("the log about the account is %s", page.Text)
	}
	browser.Get("/web/admin/log", "account_id", alice.ID).Want(200, "Nothing here.")
	eve := srv.AddRemoteAccount("eve", "far.example")
	browser.Get("/web/admin/accounts/"+eve).Want(200, "Its server", "far.example", "Tags of policies", "There are no posts to see.")
	browser.Get("/web/admin/accounts/none/posts").Want(404)
	browser.Language = "de"
	browser.Get(path).Want(200, "Zuletzt da", "@admin hat die Tags eingeschränkt hinzugefügt: ")
}

// TestAccountPageOfModerators shows moderators what their privileges allow, and nothing else.
func TestAccountPageOfModerators(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.ModeratorPrivileges = []string{"users_read"} })
	moderator, bob := srv.SignUp("moderator"), srv.SignUp("bob")
	srv.SetRole(moderator, false, true)
	bob.Publish("a public post")
	bob.Publish("a secret post", "visibility", "private")
	browser := moderator.SignedIn()
	path := "/web/admin/accounts/" + bob.ID
	page := browser.Get(path).Want(200, "a public post")
	for _, hidden := range []string{"a secret post", "Act on the account", "Delete the post", "Reports about the account", "What staff did", "Signing in", "Roles", "restricted=true"} {
		if strings.Contains(string(page.Body), hidden) {
			t.Errorf("%s is shown", hidden)
		}
	}
	if page := browser.Get(path+"/posts", "restricted", "true").Want(200); strings.Contains(page.Text, "a secret post") {
		t.Error("a secret post is shown")
	}
	token := between(t, string(page.Body), `name="form_token" value="`, `"`)
	for _, action := range []string{"silence", "suspend", "delete", "none"} {
		for _, confirmed := range []url.Values{{}, {"confirmed": {"true"}}} {
			confirmed.Set("form_token", token)
			confirmed.Set("type", action)
			browser.Post(path, confirmed).Want(403)
		}
	}
	user := bob.SignedIn()
	user.Get(path).Want(403)
	user.Get(path + "/posts").Want(403)
}

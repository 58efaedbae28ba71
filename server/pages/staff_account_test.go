package pages_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestQuestionsAboutAccounts presses the buttons for an account that are far-reaching or cannot be undone. Each asks first, and changes
// nothing until the answer.
func TestQuestionsAboutAccounts(t *testing.T) {
	srv, _, browser := staff(t)
	for i, tt := range []struct {
		press, question string
		before          string // SQL for the account before it, with its id
		state           string // SQL condition on the row of the user that the answer makes true
		leads           string // path of the page afterwards; "": that of the account
	}{
		{press: "Turn off two-factor authentication", question: "Turn off two-factor authentication?", state: "totp_secret = ''"},
		{press: "Require a new password", question: "Require a new password?", state: "reset_required = 1"},
		{press: "Make a moderator", question: "Make the account a moderator?", state: "is_moderator = 1"},
		{press: "End the moderator role", question: "End the moderator role?", before: `UPDATE users SET is_moderator = 1 WHERE account_id = ?`, state: "is_moderator = 0"},
		{press: "Make an admin", question: "Make the account an admin?", state: "is_admin = 1"},
		{press: "End the admin role", question: "End the admin role?", before: `UPDATE users SET is_admin = 1 WHERE account_id = ?`, state: "is_admin = 0"},
		{press: "Reject", question: "Reject the account?", before: `UPDATE users SET approved_at = NULL WHERE account_id = ?`, leads: "/web/admin/accounts"},
		{press: "Delete the account", question: "Delete the account?", before: `UPDATE users SET deactivated_at = 1000 WHERE account_id = ?`, leads: "/web/admin/accounts"},
	} {
		t.Run(tt.question, func(t *testing.T) {
			nickname := fmt.Sprintf("user%d", i)
			user := srv.SignUp(nickname)
			if strings.HasPrefix(tt.press, "Turn off") {
				user.EnableMFA()
			}
			if tt.before != "" {
				srv.Exec(tt.before, int64(user.AccountID()))
			}
			happened := func() bool {
				if tt.state == "" {
					return srv.Count(`SELECT count(*) FROM users WHERE account_id = ?`, int64(user.AccountID())) == 0
				}
				return srv.Count(`SELECT count(*) FROM users WHERE account_id = ? AND `+tt.state, int64(user.AccountID())) == 1
			}
			account := "/web/admin/accounts/" + user.ID
			asked := browser.Get(account).Want(200).Press(tt.press).Want(200, tt.question, "@"+nickname, "Cancel")
			if !strings.Contains(string(asked.Body), `<a href="`+account+`">`) {
				t.Errorf("cancel does not lead to %s: %s", account, asked.Body)
			}
			if happened() {
				t.Error("it happened before the answer")
			}
			answered := asked.Press(tt.question)
			leads := tt.leads
			if leads == "" {
				leads = account
			}
			if to, _ := answered.Location(); to != leads {
				t.Errorf("it leads to %s, want %s", to, leads)
			}
			answered.Follow().Want(200)
			apptest.Settle(srv)
			if !happened() {
				t.Error("it did not happen")
			}
		})
	}
}

// TestQuestionsAboutAccountsRefused presses the buttons where the API does not allow what they do: the answer is an error page.
func TestQuestionsAboutAccountsRefused(t *testing.T) {
	srv, _, browser := staff(t)
	bob := srv.SignUp("bob")
	account := "/web/admin/accounts/" + bob.ID
	page := browser.Get(account).Want(200)
	for _, button := range []string{"Reject", "Delete the account"} {
		if strings.Contains(string(page.Body), ">"+button+"<") {
			t.Errorf("the page of an active account has the button %s", button)
		}
	}
	srv.Exec(`UPDATE users SET deactivated_at = 1000 WHERE account_id = ?`, int64(bob.AccountID()))
	asked := browser.Get(account).Press("Delete the account").Want(200, "Delete the account?")
	srv.Exec(`UPDATE users SET deactivated_at = NULL WHERE account_id = ?`, int64(bob.AccountID()))
	asked.Press("Delete the account?").Want(403)

	srv.Exec(`UPDATE users SET approved_at = NULL WHERE account_id = ?`, int64(bob.AccountID()))
	asked = browser.Get("/web/admin/accounts", "status", "pending").Want(200, "@bob").Press("Reject").Want(200, "Reject the account?", "@bob")
	srv.Exec(`UPDATE users SET approved_at = 1000 WHERE account_id = ?`, int64(bob.AccountID()))
	asked.Press("Reject the account?").Want(403)

	user := bob.SignedIn()
	token := between(t, string(user.Get("/web").Want(200).Body), `name="form_token" value="`, `"`)
	user.Post("/web/do/api/v1/svc/admin/users/bob/permission_group/admin", url.Values{"form_token": {token}}).Want(403)
	if n := srv.Count(`SELECT count(*) FROM users WHERE account_id = ? AND is_admin = 0`, int64(bob.AccountID())); n != 1 {
		t.Error("a user became an admin")
	}
}

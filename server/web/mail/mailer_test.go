package mail_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/admin"
	"svc/app/apptest"
	"svc/internal/config"
	"svc/server/web"
	"svc/social"
	"svc/store"
)

// withSMTP makes a server send mail to a test server.
func withSMTP(s *apptest.SMTPServer) func(*config.Config) {
	return func(c *config.Config) {
		c.Mail.Enabled, c.Mail.Host, c.Mail.Port, c.Mail.VerifyCertificate = true, "127.0.0.1", s.Port, false
		c.Mail.User, c.Mail.Password = s.User, s.Password
	}
}

// has returns true if a query returns a row.
func has(t *testing.T, srv *apptest.Server, query string) bool {
	t.Helper()
	found, err := srv.HasRow(query)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestDelivery sends a mail through a mail server with STARTTLS and a password, which first cannot take it.
func TestDelivery(t *testing.T) {
	smtp := apptest.StartSMTP(t, func(s *apptest.SMTPServer) { s.User, s.Password = "svc", "secret" })
	srv := apptest.Start(t, withSMTP(smtp), func(c *config.Config) { c.Mail.From = "Example <mail@example.org>" })
	srv.SignUp("alice")
	smtp.SetRefusal("RCPT", "451 4.7.1 greylisted")
	srv.As(nil).Post("/auth/password", "nickname", "alice").Want(204)
	srv.RunJobs()
	if !has(t, srv, `SELECT 1 FROM jobs WHERE kind = 'send_mail' AND parked = 0 AND last_error LIKE '%greylisted%'`) {
		t.Error("the mail is not retried")
	}
	if has(t, srv, `SELECT 1 FROM jobs WHERE payload LIKE '%example.org%' OR last_error LIKE '%alice@%'`) {
		t.Error("the job or its error has the address")
	}
	smtp.SetRefusal("RCPT", "")
	srv.Advance(2 * time.Minute)
	srv.RunJobs()
	got := smtp.Mails()
	if len(got) != 1 || !got[0].Encrypted || got[0].User != "svc" || got[0].From != "mail@example.org" || got[0].To != "alice@example.org" {
		t.Fatalf("got %+v", got)
	}
	for _, want := range []string{"\r\nFrom: \"Example\" <mail@example.org>\r\n", "\r\nSubject: Set a new password for svc\r\n", "@example.org>\r\n", "\r\nAuto-Submitted: auto-generated\r\n"} {
		if !strings.Contains("\r\n"+got[0].Data, want) {
			t.Errorf("%q is not in %q", want, got[0].Data)
		}
	}
	if has(t, srv, `SELECT 1 FROM jobs WHERE kind IN ('send_mail', 'request_mail')`) {
		t.Error("a job is left")
	}
}

// TestRejectedMail parks a mail that the mail server refuses permanently, with its error. A command retries it.
func TestRejectedMail(t *testing.T) {
	smtp := apptest.StartSMTP(t, func(s *apptest.SMTPServer) { s.Refuse["RCPT"] = "550 5.1.1 no such user" })
	srv := apptest.Start(t, withSMTP(smtp))
	srv.SignUp("alice")
	srv.As(nil).Post("/auth/password", "nickname", "alice").Want(204)
	srv.RunJobs()
	parked, err := srv.Admin.ParkedJobs(t.Context(), 10)
	if err != nil || len(parked) != 1 || parked[0].Attempts != 1 || !strings.Contains(parked[0].LastError, `mail password_reset: `) ||
		!strings.Contains(parked[0].LastError, `550 "5.1.1 no such user"`) {
		t.Fatalf("got %+v, %v", parked, err)
	}
	smtp.SetRefusal("RCPT", "")
	if _, err := srv.Admin.RetryParkedJobs(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	srv.RunJobs()
	if len(smtp.Mails()) != 1 {
		t.Errorf("got %v", smtp.Mails())
	}

	smtp.SetRefusal("RCPT", "550 5.1.1 no such user")
	srv.As(nil).Post("/auth/password", "nickname", "alice").Want(204)
	srv.RunJobs()
	srv.Advance(31 * 24 * time.Hour)
	if err := srv.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.Enqueue(t.Context(), store.Prune{}) }); err != nil {
		t.Fatal(err)
	}
	srv.RunJobs()
	if has(t, srv, `SELECT 1 FROM jobs WHERE kind = 'send_mail'`) {
		t.Error("mail that was not sent is never removed")
	}
}

// TestLimits asks for more mails than an address may get in an hour.
func TestLimits(t *testing.T) {
	srv := apptest.Start(t, apptest.WithMail)
	srv.SignUp("alice")
	srv.SignUp("bob")
	ask := func(nick string) int {
		t.Helper()
		srv.As(nil).Post("/auth/password", "nickname", nick).Want(204)
		return len(srv.Mails())
	}
	for i := range 8 {
		if got := ask("alice"); got != 1 && i < 5 || got != 0 && i >= 5 {
			t.Errorf("request %d: got %d mails", i+1, got)
		}
	}
	if ask("bob") != 1 {
		t.Error("the limit of one address holds for another")
	}
	srv.Advance(61 * time.Minute)
	if ask("alice") != 1 {
		t.Error("the limit does not end")
	}
}

// TestNoReason changes the state of users after their mails were enqueued.
func TestNoReason(t *testing.T) {
	srv := apptest.Start(t, apptest.WithMail)
	for name, change := range map[string]func(id store.AccountID) error{
		"deleted": func(id store.AccountID) error { return srv.Social.DeleteAccount(t.Context(), id) },
		"confirmed": func(id store.AccountID) error {
			_, err := srv.Admin.ConfirmUsers(t.Context(), []string{id.String()})
			return err
		},
		"deactivated": func(id store.AccountID) error { _, err := srv.Social.Deactivate(t.Context(), id); return err },
	} {
		account, _, err := srv.Social.SignUp(t.Context(), social.Registration{
			Nickname: name, Email: name + "@example.org", Password: apptest.Password, Approved: true,
		})
		if err == nil {
			err = change(account.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := srv.Mails(); len(got) > 0 {
			t.Errorf("%s: got a mail to %s: %s", name, got[0].To, got[0].Subject)
		}
	}
	if has(t, srv, `SELECT 1 FROM jobs WHERE kind = 'send_mail'`) {
		t.Error("a job is left")
	}
}

// TestReports reports accounts: all staff but the reporter get mail.
func TestReports(t *testing.T) {
	srv := apptest.Start(t, apptest.WithMail)
	srv.SignUpAdmin()
	mod, alice, bob := srv.SignUp("mod"), srv.SignUp("alice"), srv.SignUp("bob")
	srv.SetRole(mod, false, true)
	report := func(by *apptest.User) string {
		return by.Post("/api/v1/reports", "account_id", bob.ID, "comment", "Bob is rude\nSubject: x").Want(200).Object().Str("id")
	}
	id := report(alice)
	mails := srv.WantMails("root@example.org New report at svc about @bob", "mod@example.org New report at svc about @bob")
	if m := mails[0]; !strings.Contains(m.Text, "This is report "+id+".") || !strings.Contains(m.Text, "> Bob is rude\n> Subject: x\n") ||
		strings.Contains(m.Text, "alice") || !strings.Contains(m.HTML, "Bob is rude\nSubject: x</blockquote>") {
		t.Errorf("got %q, %q", m.Text, m.HTML)
	}
	report(mod)
	srv.WantMails("root@example.org New report")
}

// TestRemoteReport receives a report of another server.
func TestRemoteReport(t *testing.T) {
	srv := apptest.Start(t, apptest.WithMail)
	srv.SignUpAdmin()
	bob := srv.SignUp("bob")
	reporter := srv.Account(t, srv.AddRemoteAccount("eve", "remote.example"))
	err := srv.Social.ReceiveReport(t.Context(), reporter, social.IncomingReport{URI: "https://remote.example/flags/1", Target: bob.AccountID(), Comment: "spam"})
	if err != nil {
		t.Fatal(err)
	}
	srv.WantMails("root@example.org New report at svc about @bob")
}

// TestTemplates replaces templates by files of the operator.
func TestTemplates(t *testing.T) {
	srv := apptest.Start(t, apptest.WithMail)
	_, user, err := srv.Social.SignUp(t.Context(), social.Registration{
		Nickname: "alice", Email: "alice@example.org", Password: apptest.Password, Approved: true, Confirmed: true, Locale: "pt-BR",
	})
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(srv.Dir, "static", "mail", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reset := func() *apptest.Mail {
		t.Helper()
		if err := srv.Social.RequestPasswordReset(t.Context(), user.AccountID); err != nil {
			t.Fatal(err)
		}
		got := srv.Mails()
		if len(got) != 1 {
			t.Fatalf("got %d mails", len(got))
		}
		srv.Advance(time.Hour)
		return got[0]
	}
	for _, tt := range []struct{ file, text, subject, html string }{
		{"", "", "Set a new password for svc", "<p>Hello alice,</p>"},
		{"en/password_reset.txt", "Subject: Own\n\n{{.Link}} {{.Nickname}}\n", "Own", ""},
		{"en/password_reset.html", "<b>{{.Nickname}}</b>", "Own", "<b>alice</b>"},
		{"layout.html", `<i>{{template "content" .}}</i>`, "Own", "<i><b>alice</b></i>"},
		{"pt/password_reset.txt", "Subject: Nova senha\n\n{{.Link}}\n", "Nova senha", ""},
		{"pt-BR/password_reset.txt", "Subject: Nova senha BR\n\n{{.Link}}\n", "Nova senha BR", ""},
		{"pt-BR/password_reset.txt", "Subject: {{.NoSuchField}}\n", "Nova senha", ""},
		{"pt/password_reset.txt", "Subject: {{", "Own", "<i><b>alice</b></i>"},
		{"en/password_reset.txt", "No subject", "Set a new password for svc", "<i><p>Hello alice,</p>"},
	} {
		if tt.file != "" {
			write(tt.file, tt.text)
		}
		m := reset()
		if m.Subject != tt.subject || !strings.Contains(m.HTML, tt.html) || (m.HTML == "") != (tt.html == "") || !strings.Contains(m.Text, "/password_reset/") {
			t.Errorf("%s: got %q, %q, %q", tt.file, m.Subject, m.Text, m.HTML)
		}
	}
}

// TestAddressesIgnoreHost asks for mail with the Host of another site.
func TestAddressesIgnoreHost(t *testing.T) {
	srv := apptest.Start(t, apptest.WithMail, func(c *config.Config) { c.API.Name = "pleroma" })
	srv.SignUp("alice")
	req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL+"/auth/password?nickname=alice", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "evil.example"
	srv.As(nil).DoRequest(req).Want(204)
	m := srv.WantMails("alice@example.org Set a new password")[0]
	if link := m.Link(); !strings.HasPrefix(link, "/api/v1/pleroma/password_reset/") || strings.Contains(m.Text+m.HTML, "evil.example") {
		t.Errorf("got %q", link)
	}
	if strings.Contains(m.HTML, "<img") || strings.Contains(m.HTML, "src=") {
		t.Errorf("the mail loads something: %q", m.HTML)
	}
}

func TestNodeInfo(t *testing.T) {
	for _, srv := range []*apptest.Server{apptest.Start(t), apptest.Start(t, apptest.WithMail)} {
		got := srv.As(nil).Get("/nodeinfo/2.0.json").Want(200).Object().At("metadata.mailerEnabled")
		if got != srv.Settings.Mail.Enabled {
			t.Errorf("mailerEnabled is %v, mail.enabled is %v", got, srv.Settings.Mail.Enabled)
		}
	}
}

// TestNoticesCountByKind causes so many mails to an admin that more are dropped: a notice about a new password is not.
func TestNoticesCountByKind(t *testing.T) {
	srv := apptest.Start(t, apptest.WithMail)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	for range 25 {
		alice.Post("/api/v1/reports", "account_id", root.ID).Want(200)
	}
	if got := len(srv.Mails()); got != 20 {
		t.Errorf("got %d mails about reports, not 20", got)
	}
	if _, err := srv.Admin.ResetPassword(t.Context(), admin.PasswordReset{Name: root.ID, Password: "another password"}); err != nil {
		t.Fatal(err)
	}
	srv.WantMails("root@example.org Your password for svc was changed")
}

// TestGermanMails causes mails to users whose language is German, by their registration or by their choice for the pages.
func TestGermanMails(t *testing.T) {
	srv := apptest.Start(t, apptest.WithMail, func(c *config.Config) {
		c.Instance.AccountActivationRequired, c.Instance.AccountApprovalRequired, c.Instance.Languages = true, true, []string{"de", "en"}
	})
	root, chosen := srv.SignUpAdmin(), srv.SignUp("chosen")
	chosen.SendJSON("PATCH", "/api/v1/svc/settings/web_interface", map[string]string{"language": "de"}).Want(200)
	root.SendJSON("PATCH", "/api/v1/svc/settings/web_interface", map[string]string{"language": "de"}).Want(200)
	for nick, accept := range map[string]string{"anna": "de-AT,de;q=0.9", "bela": "fr;q=0.9,de;q=0.5"} {
		browser := srv.Browser()
		browser.Language = accept
		browser.Get("/auth/sign_up").Want(200).Press("Konto erstellen", "nickname", nick, "email", nick+"@example.org", "password", apptest.Password, "password_confirmation", apptest.Password, "reason", "Tee", "agreement", "true")
		mail := srv.WantMails(nick + "@example.org Bestätige deine E-Mail-Adresse für svc")[0]
		if !strings.Contains(mail.Text, "Der Link gilt einmal, bis zum ") || !strings.Contains(mail.HTML, `<html lang="de">`) {
			t.Errorf("got %q, %q", mail.Text, mail.HTML)
		}
	}
	id := func(nick string) []string { return []string{nick} }
	if _, err := srv.Admin.ConfirmUsers(t.Context(), []string{"anna", "bela"}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		do   func() error
		want []string
	}{
		{"approval", func() error { _, err := srv.Admin.ApproveUsers(t.Context(), id("anna")); return err }, []string{"anna@example.org Dein Konto bei svc ist freigegeben"}},
		{"rejection", func() error { _, err := srv.Admin.RejectUser(t.Context(), "bela"); return err }, []string{"bela@example.org Dein Konto bei svc"}},
		{"password", func() error { return srv.Social.RequestPasswordReset(t.Context(), chosen.AccountID()) }, []string{"chosen@example.org Setze ein neues Passwort für svc"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv.Mails()
			if err := tt.do(); err != nil {
				t.Fatal(err)
			}
			srv.WantMails(tt.want...)
		})
	}
	chosen.Post("/api/v1/reports", "account_id", root.ID, "comment", "Frech").Want(200)
	srv.WantMails("root@example.org Neue Meldung bei svc über @root")
}

// TestTemplatesOfLanguages checks that each kind of mail is written in each language of the pages, with the same fields.
func TestTemplatesOfLanguages(t *testing.T) {
	english, err := filepath.Glob("templates/en/*")
	if err != nil || len(english) < 20 {
		t.Fatalf("%d templates, %v", len(english), err)
	}
	fields := regexp.MustCompile(`\.(?:Values\.)?[A-Z][A-Za-z.]+|\.Values\.[a-z_]+`)
	used := func(path string) []string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		return slices.Compact(slices.Sorted(slices.Values(fields.FindAllString(string(text), -1))))
	}
	for _, m := range web.Languages()[1:] {
		for _, path := range english {
			other := filepath.Join("templates", m.Language, filepath.Base(path))
			if got, want := used(other), used(path); !slices.Equal(got, want) {
				t.Errorf("%s uses %v, %s %v", other, got, path, want)
			}
		}
	}
}

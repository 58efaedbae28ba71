package oauth_test

import (
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

// german returns a browser whose language is German.
func german(srv *apptest.Server) *apptest.Browser {
	b := srv.Browser()
	b.Language = "de-AT,de;q=0.9,en;q=0.5"
	return b
}

// wantGerman checks the status, the language and texts of a page.
func wantGerman(p *apptest.Page, status int, texts ...string) *apptest.Page {
	p.T.Helper()
	if !strings.Contains(string(p.Body), `<html lang="de"`) {
		p.T.Errorf("%s: the page is not marked as German", p.Request)
	}
	return p.Want(status, texts...)
}

// TestAuthorizeInGerman signs in and consents in German: the browser's language decides.
func TestAuthorizeInGerman(t *testing.T) {
	srv := apptest.Start(t)
	secret := srv.SignUp("alice").EnableMFA()
	app := srv.RegisterApp("client_name", "Test")
	request := []string{"response_type", "code", "client_id", app.ID, "scope", "read write:statuses admin:read:accounts"}
	b := german(srv)
	login := wantGerman(b.Get("/oauth/authorize", request...), 200, "Anmelden", "Melde dich an, um mit Test weiterzumachen.", "Nutzername oder E-Mail-Adresse", "Neu hier?")
	wantGerman(login.Submit(0, "authorization[name]", "alice", "authorization[password]", "wrong"), 401, "Name oder Passwort stimmt nicht.")
	challenge := wantGerman(login.Submit(0, "authorization[name]", "alice", "authorization[password]", apptest.Password), 200, "Du meldest dich bei Test an.")
	wantGerman(challenge.Submit(0, "mfa[code]", "000000"), 401, "Der Code stimmt nicht.")
	code := apptest.TOTPCode(t, secret, 0)
	consent := wantGerman(challenge.Submit(0, "mfa[code]", code), 200, "Test erlauben?", "Du bist als @alice angemeldet.", "Alles sehen, was du sehen kannst",
		"In deinem Namen schreiben, bearbeiten und löschen")
	wantGerman(challenge.Submit(0, "mfa[code]", code), 401, "Die Zeit für diese Anmeldung ist um.")
	wantGerman(consent.Submit(0), 200, "Dein Code", "Kopiere diesen Code in Test.")
	wantGerman(consent.Submit(1), 200, "Zugriff abgelehnt")
	wantGerman(b.Get("/oauth/authorize", "client_id", "nothing"), 400, "Das hat nicht geklappt", "Dieser Server kennt die App nicht")
	wantGerman(b.Get("/oauth/authorize", "response_type", "code", "client_id", app.ID, "redirect_uri", "https://evil.example"), 400, "Die App hat die Adresse nicht registriert")
	signedOut := german(srv)
	fields := consent.Forms[0].Fields
	fields.Set("decision", "approve")
	wantGerman(signedOut.Post("/oauth/authorize", fields), 200, "Dein Browser muss Cookies annehmen.")
	signedOut.Origin = "https://evil.example"
	wantGerman(signedOut.Post("/oauth/authorize", fields), 403, "Nicht erlaubt", "Diese Anfrage kommt von einer anderen Website.")
}

// TestAppearanceOfUser checks that pages outside of the web interface have the language and the look that the signed-in user has chosen.
func TestAppearanceOfUser(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	alice.SendJSON("PATCH", "/api/v1/svc/settings/web_interface", map[string]any{"language": "de", "theme": "dark", "text_size": "large"}).Want(200)
	app := srv.RegisterApp()
	b := alice.SignedIn()
	b.Language = "en"
	page := wantGerman(b.Get("/oauth/authorize", "response_type", "code", "client_id", app.ID), 200, "angemeldet")
	for _, part := range []string{`data-theme="dark"`, `data-size="large"`} {
		if !strings.Contains(string(page.Body), part) {
			t.Errorf("the page has no %s", part)
		}
	}
	wantGerman(b.Get("/setup/nonsense"), 404, "Nicht gefunden", "Unter dieser Adresse gibt es keine Seite.", "Zur Startseite von")
	other := srv.Browser()
	other.Language = "en"
	other.Get("/setup/nonsense").Want(404, "Not found", "There is no page at this address.", "To the front page of")
}

// TestRegistrationInGerman registers in German, with each error that the form can have.
func TestRegistrationInGerman(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.Instance.AccountApprovalRequired, c.Instance.AccountActivationRequired = true, true
		c.Accounts.BirthdayRequired, c.Accounts.BirthdayMinAge = true, 16
	})
	srv.SignUp("bob")
	b := german(srv)
	page := wantGerman(b.Get(signUpPath), 200, "Konto erstellen", "Warum möchtest du mitmachen?", "Du musst mindestens 16 Jahre alt sein.", "Ich bin einverstanden mit den Regeln von svc")
	for _, tt := range []struct {
		field, value, want string
	}{
		{"nickname", "", "Der Nutzername darf nicht leer sein"},
		{"nickname", "a b", "Der Nutzername hat ein ungültiges Format"},
		{"nickname", "bob", "Der Nutzername ist schon vergeben"},
		{"nickname", "oauth", "Der Nutzername ist reserviert"},
		{"nickname", strings.Repeat("a", 65), "Der Nutzername darf höchstens 64 Zeichen lang sein"},
		{"email", "", "Die E-Mail-Adresse darf nicht leer sein"},
		{"email", "x", "Die E-Mail-Adresse hat ein ungültiges Format"},
		{"password", " ", "Das Passwort darf nicht leer sein"},
		{"password", "1234567", "Das Passwort muss mindestens 8 Zeichen lang sein"},
		{"password", strings.Repeat("a", 300), "Das Passwort darf höchstens 256 Zeichen lang sein"},
		{"password", "alice@example.org", "Das Passwort darf nicht der Nutzername oder die E-Mail-Adresse sein"},
		{"password_confirmation", "another", "Das zweite Passwort ist nicht dasselbe wie das erste"},
		{"reason", strings.Repeat("x", 5000), "Die Begründung darf höchstens"},
		{"birthday", "", "Der Geburtstag darf nicht leer sein"},
		{"birthday", "2000-02-30", "Der Geburtstag hat ein ungültiges Format"},
		{"birthday", time.Now().AddDate(-1, 0, 0).Format(time.DateOnly), "Der Geburtstag muss mindestens 16 Jahre zurückliegen"},
		{"agreement", "", "Du musst den Regeln zustimmen"},
	} {
		good := typed("alice", "email", "alice@example.org", "birthday", "2000-12-31", "reason", "I paint birds", "agreement", "true")
		again := wantGerman(page.Submit(0, append(good, tt.field, tt.value)...), 422, "Das Konto konnte nicht erstellt werden:", tt.want)
		for _, english := range []string{"The ", "character"} {
			if strings.Contains(again.Text, english) {
				t.Errorf("%s %q: the page has English text: %s", tt.field, tt.value, again.Text)
			}
		}
	}
	wantGerman(page.Submit(0, typed("alice", "email", "alice@example.org", "birthday", "2000-12-31", "reason", "x")...), 200,
		"Bestätige deine E-Mail-Adresse", "alice@example.org", "Danach gibt die Moderation dein Konto frei.")
	wantGerman(german(apptest.Start(t, byInvitation)).Get(signUpPath), 403, "Die Registrierung ist geschlossen", "nur auf Einladung")
	wantGerman(german(apptest.Start(t, byInvitation)).Get("/registration/nonsense"), 403, "Diese Einladung gilt nicht")
}

// TestPasswordResetInGerman asks for a new password and sets it in German.
func TestPasswordResetInGerman(t *testing.T) {
	srv := apptest.Start(t, apptest.WithMail)
	srv.SignUp("alice")
	b := german(srv)
	page := wantGerman(b.Get("/auth/forgot_password"), 200, "Passwort vergessen?")
	wantGerman(page.Submit(0, "name", " "), 422, "Gib deinen Nutzernamen oder deine E-Mail-Adresse ein.")
	wantGerman(page.Submit(0, "name", "alice"), 200, "Sieh in deine E-Mails")
	account, err := srv.DB.AccountByName(t.Context(), "alice", "")
	if err != nil {
		t.Fatal(err)
	}
	token, err := srv.Social.StartPasswordReset(t.Context(), account.ID)
	if err != nil {
		t.Fatal(err)
	}
	link := "/api/v1/svc/password_reset/" + token
	page = wantGerman(b.Get(link), 200, "Neues Passwort für @alice", "Mindestens 8 Zeichen")
	for password, want := range map[string]string{
		" ": "Es darf nicht leer sein.", "1234567": "Es muss mindestens 8 Zeichen lang sein.", "alice@" + srv.Settings.Host(): "Es darf nicht der Nutzername",
	} {
		wantGerman(page.Submit(0, "data[password]", password, "data[password_confirmation]", password), 200, "Das Passwort wurde nicht geändert: "+want)
	}
	wantGerman(page.Submit(0, "data[password]", "one", "data[password_confirmation]", "two"), 200, "Die beiden Passwörter sind nicht gleich.")
	wantGerman(page.Submit(0, "data[password]", "the new one", "data[password_confirmation]", "the new one"), 200, "Passwort geändert!")
	wantGerman(page.Submit(0, "data[password]", "another one", "data[password_confirmation]", "another one"), 200, "Das Passwort wurde nicht geändert")
	wantGerman(b.Get(link), 200, "Der Link gilt nicht")
	wantGerman(b.Get("/auth/confirmed", "state", "approval"), 200, "Adresse bestätigt", "Die Moderation sieht sich jetzt dein Konto an.")
	wantGerman(b.Get("/api/account/confirm_email/x/y"), 404, "Dieser Link gilt nicht")
	wantGerman(german(apptest.Start(t)).Get("/auth/forgot_password"), 200, "Dieser Server verschickt keine E-Mails.")
}

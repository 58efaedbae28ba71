package oauth_test

import (
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"svc/admin"
	"svc/app/apptest"
	"svc/internal/config"
)

const signUpPath = "/auth/sign_up"

// typed returns what a visitor types, with more fields in pairs.
func typed(nick string, more ...string) []string {
	return append([]string{"nickname", nick, "password", apptest.Password, "password_confirmation", apptest.Password}, more...)
}

func TestSignUpPage(t *testing.T) {
	srv := apptest.Start(t)
	b := srv.Browser()
	b.Get("/").Want(200, "Create an account", "Everybody can create an account.")
	page := b.Get(signUpPath).Want(200, "Create an account", "@nickname@"+srv.Settings.Host(), "E-mail address (optional)")
	if page.Header.Get("Cache-Control") != "no-store" || page.Header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("headers: %v", page.Header)
	}
	again := page.Submit(0, typed("a b", "email", "x", "password", "1234567")...).Want(422, "The account could not be created", "The nickname has invalid format",
		"The e-mail address has invalid format", "The password should be at least 8 characters", "The second password is not the same as the first")
	if f := again.Forms[0].Fields; f.Get("nickname") != "a b" || f.Get("email") != "x" || f.Get("password") != "" {
		t.Errorf("the form has %v", f)
	}
	if before, _, ok := strings.Cut(again.Text, "The second password is"); !ok || !strings.Contains(before, "The nickname has invalid format") {
		t.Errorf("the errors are not in the order of the form: %s", again.Text)
	}
	for _, part := range []string{`aria-invalid="true"`, `href="#nickname"`, `id="nickname-fault"`, `aria-describedby="nickname-fault nickname-hint"`, `autocomplete="new-password"`} {
		if !strings.Contains(string(again.Body), part) {
			t.Errorf("the page has no %s", part)
		}
	}
	page.Submit(0, typed("oauth", "agreement", "")...).Want(422, "The nickname is reserved", "The agreement must be accepted")

	b.Origin = "https://evil.example.com"
	page.Submit(0, typed("alice")...).Want(403)
	b.Origin = srv.URL
	page.Submit(0, typed("alice", "email", "alice@example.org")...).Follow().Want(200, "Welcome! Your account is ready.", "@alice")
	b.Get("/api/v1/notifications").Want(200) // signed in
	page.Submit(0, typed("alice")...).Want(422, "The nickname has already been taken")
}

// TestSignUpFromApp follows the link of the sign-in page, and comes back to the app.
func TestSignUpFromApp(t *testing.T) {
	srv := apptest.Start(t)
	app, b := srv.RegisterApp(), srv.Browser()
	query := []string{"response_type", "code", "client_id", app.ID, "redirect_uri", "urn:ietf:wg:oauth:2.0:oob", "scope", "read", "state", "a&b"}
	login := b.Get("/oauth/authorize", query...).Want(200, "New here? Create an account")
	link := regexp.MustCompile(`href="(/auth/sign_up\?[^"]*)"`).FindStringSubmatch(string(login.Body))
	if link == nil {
		t.Fatalf("there is no link in %s", login.Body)
	}
	page := b.Get(html.UnescapeString(link[1])).Want(200)
	address, params := page.Submit(0, typed("alice")...).Location()
	if address != srv.URL+"/oauth/authorize" || params.Get("client_id") != app.ID || params.Get("state") != "a&b" {
		t.Fatalf("the redirect is to %s, %v", address, params)
	}
	b.Get("/oauth/authorize?"+params.Encode()).Want(200, "You are signed in as @alice")

	for _, to := range []string{"https://evil.example.com/", "//evil.example.com/oauth/authorize?", "/api/v1/accounts", "/oauth/authorize"} {
		page := srv.Browser().Get(signUpPath, "continue", to).Want(200)
		if f := page.Forms[0].Fields; f.Has("continue") {
			t.Errorf("%s: the form has %v", to, f)
		}
	}
	page = srv.Browser().Get(signUpPath)
	page.Forms[0].Fields.Set("continue", "https://evil.example.com/")
	page.Submit(0, typed("bob")...).Follow().Want(200, "Welcome! Your account is ready.", "@bob")
}

func TestSignUpPageByInvitation(t *testing.T) {
	srv := apptest.Start(t, byInvitation)
	token := invite(t, srv, admin.NewInvite{})
	b := srv.Browser()
	b.Get("/").Want(200, "New accounts are by invitation only")
	b.Get(signUpPath).Want(403, "Registration is closed", "by invitation only")
	b.Get("/registration/nonsense").Want(403, "This invite is not valid")
	app := srv.RegisterApp()
	if text := b.Get("/oauth/authorize", "response_type", "code", "client_id", app.ID).Want(200).Text; strings.Contains(text, "New here") {
		t.Error("the sign-in page has a link to a closed page")
	}
	page := b.Get("/registration/"+token).Want(200, "Create an account")
	page.Submit(0, typed("a b")...).Want(422, "The nickname has invalid format").Submit(0, typed("alice")...).Follow().Want(200, "Welcome! Your account is ready.", "@alice")
	page.Submit(0, typed("bob")...).Want(403, "This invite is not valid")
	b.Get("/registration/"+token).Want(403, "used already")

	closed := apptest.Start(t, func(c *config.Config) { c.Instance.RegistrationsOpen = false })
	closed.Browser().Get("/").Want(200, "Registration is closed")
	closed.Browser().Get(signUpPath).Want(403, "accepts no new accounts")
	closed.Browser().Post(signUpPath, apptest.Pairs(typed("alice", "agreement", "true"))).Want(403, "Registration is closed")
}

func TestSignUpPageWithCaptcha(t *testing.T) {
	srv := apptest.Start(t, withCaptcha)
	b := srv.Browser()
	page := b.Get(signUpPath).Want(200, "Digits in the picture", "You cannot see the picture?")
	if !strings.Contains(string(page.Body), `src="data:image/png;base64,`) {
		t.Error("there is no picture")
	}
	digits := apptest.SolveCaptcha(t, page.Text)
	again := page.Submit(0, typed("alice", "captcha_solution", "x")...).Want(422, "The digits are not right")
	if again.Forms[0].Fields.Get("captcha_token") == page.Forms[0].Fields.Get("captcha_token") {
		t.Error("the captcha is not a new one")
	}
	page.Submit(0, typed("alice")...).Want(422, "The digits are not right") // no solution
	// A solved captcha stays, although the registration was refused.
	kept := page.Submit(0, typed("a b", "captcha_solution", " "+digits+" ")...).Want(422, "The nickname has invalid format", "The digits of the picture were right")
	kept.Submit(0, typed("alice")...).Follow().Want(200, "Welcome! Your account is ready.", "@alice")
	kept.Submit(0, typed("bob")...).Want(422, "The digits are not right") // used
}

func TestSignUpPageWithConditions(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.Instance.AccountApprovalRequired, c.Accounts.BirthdayRequired, c.Accounts.BirthdayMinAge = true, true, 16
		c.Accounts.EmailBlacklist = []string{"spam.example"}
	})
	page := srv.Browser().Get(signUpPath).Want(200, "Why do you want to join?", "You must be 16 or older")
	page.Submit(0, typed("alice", "email", "a@spam.example")...).Want(422, "The birthday can't be blank", "E-mail addresses of this provider cannot be used here")
	page.Submit(0, typed("alice", "birthday", "2000-02-30")...).Want(422, "The birthday has invalid format")
	b := srv.Browser()
	b.Get(signUpPath).Submit(0, typed("alice", "birthday", "2000-12-31", "reason", "I paint birds")...).Want(200, "Your account awaits approval")
	b.Get("/api/v1/notifications").Want(401)
	account, err := srv.DB.AccountByName(t.Context(), "alice", "")
	if err != nil {
		t.Fatal(err)
	}
	user, err := srv.DB.User(t.Context(), account.ID)
	if err != nil || user.RegistrationReason != "I paint birds" || account.Birthday != "2000-12-31" || account.ShowBirthday {
		t.Errorf("got %+v, %+v, %v", account, user, err)
	}

	srv = apptest.Start(t, func(c *config.Config) { c.Instance.AccountActivationRequired = true })
	page = srv.Browser().Get(signUpPath).Want(200)
	page.Submit(0, typed("alice")...).Want(422, "The e-mail address can't be blank")
	page.Submit(0, typed("alice", "email", "alice@example.org")...).Want(200, "Confirm your e-mail address", "alice@example.org")
}

// TestSignUpPageWithTerms puts a page with rules into the folder of the operator.
func TestSignUpPageWithTerms(t *testing.T) {
	srv := apptest.Start(t)
	dir := filepath.Join(srv.Dir, "static")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "terms-of-service.html"), []byte("Be kind"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := srv.Browser()
	const path = "/static/terms-of-service.html"
	if page := b.Get(signUpPath).Want(200, "I agree to the rules of svc"); !strings.Contains(string(page.Body), `href="`+path+`"`) {
		t.Errorf("there is no link in %s", page.Body)
	}
	b.Get(path).Want(200, "Be kind")
}

func TestSignUpPageIsThrottled(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.Registration.Count = 3
	})
	page := srv.Browser().Get(signUpPath)
	for range 3 {
		page.Submit(0).Want(422)
	}
	page.Submit(0).Want(429, "Too many attempts")
}

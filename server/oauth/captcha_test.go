package oauth_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

const captchaPath = "/api/v1/svc/captcha"

func withCaptcha(c *config.Config) { c.Captcha.Enabled = true }

// registration returns the parameters of a registration with more parameters in pairs.
func registration(nick string, more ...string) []string {
	return append([]string{"username", nick, "password", apptest.Password, "agreement", "true"}, more...)
}

// solved returns the parameters of a new captcha with its solution.
func solved(t *testing.T, srv *apptest.Server) []string {
	t.Helper()
	c := srv.As(nil).Get(captchaPath).Want(200).Object()
	return []string{"captcha_solution", apptest.SolveCaptcha(t, c.Str("text")), "captcha_token", c.Str("token"), "captcha_answer_data", c.Str("answer_data")}
}

// wantFieldErrors checks the errors of a refused registration.
func wantFieldErrors(t *testing.T, a *apptest.Response, want map[string]string) {
	t.Helper()
	var messages map[string][]string
	if err := json.Unmarshal([]byte(a.Want(400).Object().Str("error")), &messages); err != nil {
		t.Fatalf("%s: %v", a.Body, err)
	}
	got := make(map[string]string)
	for field, list := range messages {
		got[field] = strings.Join(list, ", ")
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestNoCaptcha(t *testing.T) {
	srv := apptest.Start(t)
	for _, path := range []string{captchaPath, "/api/svc/captcha"} {
		if a := srv.As(nil).Get(path).Want(200); string(a.Body) != `{"type":"none"}` {
			t.Errorf("got %s", a.Body)
		}
	}
}

func TestCaptcha(t *testing.T) {
	srv := apptest.Start(t, withCaptcha, func(c *config.Config) { c.Captcha.SecondsValid = 60 })
	a := srv.As(nil).Get(captchaPath).Want(200)
	apptest.WantFields(t, "the captcha", a.Object(), apptest.Doc{"type": "native", "seconds_valid": 60.0})
	if !strings.HasPrefix(a.Object().Str("url"), "data:image/png;base64,") || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("got %s, %v", a.Body, a.Header)
	}
	app := appClient(srv)
	first, second := solved(t, srv), solved(t, srv)
	wrong := append([]string{"captcha_solution", "x"}, first[2:]...)
	for _, tt := range []struct {
		name   string
		params []string
		after  time.Duration
		want   map[string]string // nil: registered
	}{
		{"nothing", nil, 0, map[string]string{"captcha": "Invalid CAPTCHA (Missing parameter: captcha_solution)"}},
		{"only a solution", first[:2], 0, map[string]string{"captcha": "Invalid CAPTCHA (Missing parameter: captcha_token)"}},
		{"no answer_data", first[:4], 0, map[string]string{"captcha": "Invalid CAPTCHA (Missing parameter: captcha_answer_data)"}},
		{"answer_data of another", append(first[:4:4], second[4:]...), 0, map[string]string{"captcha": "Invalid answer data"}},
		{"a wrong solution", wrong, 0, map[string]string{"captcha": "Invalid CAPTCHA"}},
		{"too late", first, time.Minute, map[string]string{"captcha": "CAPTCHA expired"}},
		{"every error", append(wrong, "username", "", "password", "x", "email", "x", "agreement", "false"), 0, map[string]string{
			"captcha": "Invalid CAPTCHA", "nickname": "can't be blank", "password": "should be at least 8 characters",
			"email": "has invalid format", "agreement": "must be accepted",
		}},
		{"a refused registration", append(first[:6:6], "username", "a b"), 0, map[string]string{"nickname": "has invalid format"}},
		{"right, after a refused registration", first, 0, nil},
		{"again", append(first[:6:6], "username", "bob"), 0, map[string]string{"captcha": "CAPTCHA already used"}},
		{"again and wrong", append(wrong, "username", "bob"), 0, map[string]string{"captcha": "CAPTCHA already used"}},
		{"again and too late", append(first[:6:6], "username", "bob"), time.Minute, map[string]string{"captcha": "CAPTCHA expired"}},
		{"another", append(second, "username", "bob"), 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv.SetClock(tt.after)
			params := make(map[string]string)
			for i, all := 0, registration("alice", tt.params...); i < len(all); i += 2 {
				params[all[i]] = all[i+1]
			}
			a := app.SendJSON("POST", "/api/v1/accounts", params)
			if tt.want == nil {
				a.Want(200).Object().Str("access_token")
			} else {
				wantFieldErrors(t, a, tt.want)
			}
		})
	}

	if n := srv.Count(`SELECT count(*) FROM used_captchas`); n != 2 {
		t.Errorf("%d captchas are stored, want 2", n)
	}
	srv.SetClock(2 * time.Minute)
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.PruneExpired(t.Context())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := srv.Count(`SELECT count(*) FROM used_captchas`); n != 0 {
		t.Errorf("%d captchas are stored after their time", n)
	}
}

// TestCaptchaAtOnce uses one captcha for several registrations at the same time.
func TestCaptchaAtOnce(t *testing.T) {
	srv := apptest.Start(t, withCaptcha)
	app, captcha := appClient(srv), solved(t, srv)
	statuses := make([]int, 5)
	var wg sync.WaitGroup
	for i := range statuses {
		wg.Go(func() {
			statuses[i] = app.Post("/api/v1/accounts", registration(fmt.Sprint("user", i), captcha...)...).Status
		})
	}
	wg.Wait()
	count := make(map[int]int)
	for _, s := range statuses {
		count[s]++
	}
	if count[200] != 1 || count[400] != 4 {
		t.Errorf("got %v", statuses)
	}
}

func TestCaptchaOfTrustedApp(t *testing.T) {
	srv := apptest.Start(t, withCaptcha)
	app := appClient(srv)
	app.Post("/api/v1/accounts", registration("alice")...).Want(400)
	srv.Exec(`UPDATE oauth_apps SET trusted = 1`)
	app.Post("/api/v1/accounts", registration("alice")...).Want(200)
}

func TestKocaptcha(t *testing.T) {
	service := apptest.StartFake(t)
	srv := apptest.StartWithLoopback(t, withCaptcha, func(c *config.Config) {
		c.Captcha.Provider, c.Captcha.Endpoint = config.CaptchaKocaptcha, service.URL
	})
	const md5 = "5D41402ABC4B2A76B9719D911017C592" // of "hello"
	answer := func(body string) { service.Respond("/new", 200, "application/json", []byte(body)) }
	answer(`{"url":"/captchas/a.png","token":"abc","md5":"` + md5 + `"}`)
	a := srv.As(nil).Get(captchaPath).Want(200)
	c := a.Object()
	apptest.WantFields(t, "the captcha", c, apptest.Doc{"type": "kocaptcha", "token": "abc", "url": service.URL + "/captchas/a.png", "seconds_valid": 300.0})
	if strings.Contains(strings.ToLower(string(a.Body)), strings.ToLower(md5)) {
		t.Errorf("%s has the hash of the solution", a.Body)
	}
	app := appClient(srv)
	params := []string{"captcha_token", "abc", "captcha_answer_data", c.Str("answer_data")}
	wantFieldErrors(t, app.Post("/api/v1/accounts", registration("alice", append(params, "captcha_solution", "Hello")...)...), map[string]string{"captcha": "Invalid CAPTCHA"})
	app.Post("/api/v1/accounts", registration("alice", append(params, "captcha_solution", "hello")...)...).Want(200)
	if policy := srv.Browser().Get("/auth/sign_up").Want(200).Header.Get("Content-Security-Policy"); !strings.Contains(policy, "img-src 'self' "+service.URL) {
		t.Errorf("the page may not load the picture: %s", policy)
	}

	for name, body := range map[string]string{
		"no JSON":                       `<html>`,
		"no hash":                       `{"url":"/a.png","token":"abc"}`,
		"no token":                      `{"url":"/a.png","md5":"` + md5 + `"}`,
		"no picture":                    `{"token":"abc","md5":"` + md5 + `"}`,
		"a picture of another host":     `{"url":"https://other.example/a.png","token":"abc","md5":"` + md5 + `"}`,
		"a picture with another scheme": `{"url":"javascript:alert(1)","token":"abc","md5":"` + md5 + `"}`,
		"a long token":                  `{"url":"/a.png","token":"` + strings.Repeat("a", 201) + `","md5":"` + md5 + `"}`,
		"too much":                      strings.Repeat(" ", 20_000) + `{}`,
	} {
		t.Run(name, func(t *testing.T) {
			answer(body)
			srv.As(nil).Get(captchaPath).WantBusy(503, "Kocaptcha service unavailable")
		})
	}
	service.Respond("/new", 500, "text/plain", nil)
	srv.As(nil).Get(captchaPath).WantBusy(503, "Kocaptcha service unavailable")
	srv.Browser().Get("/auth/sign_up").Want(503, "Kocaptcha service unavailable")
	service.Close()
	srv.As(nil).Get(captchaPath).WantBusy(503, "Kocaptcha service unavailable")
}

package captcha_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/captcha"
	"svc/internal/config"
	"svc/internal/fetch"
	"svc/internal/keys"
)

func unused([]byte) (bool, error) { return false, nil }

func solution(text, token, data string) captcha.Solution {
	return captcha.Solution{Text: &text, Token: &token, AnswerData: &data}
}

func open(t *testing.T) (*captcha.Service, *time.Time) {
	t.Helper()
	k, err := keys.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return captcha.New(captcha.Config{Settings: config.NewLive(config.Default()), Keys: k, Now: func() time.Time { return now }}), &now
}

func TestMake(t *testing.T) {
	s, _ := open(t)
	seen := make(map[string]bool)
	for range 200 { // so that each form of words occurs
		c, err := s.Make(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		digits := apptest.SolveCaptcha(t, c.Text)
		if len(digits) != 5 {
			t.Errorf("the text asks for %q", digits)
		}
		solved, err := s.Check(solution(digits, c.Token, c.AnswerData), unused)
		if err != nil || len(solved.Hash) != 32 {
			t.Errorf("%s: %v", c.Text, err)
		}
		data, _ := base64.RawURLEncoding.DecodeString(c.AnswerData)
		if bytes.Contains(data, []byte(digits)) || strings.ContainsAny(c.Text, "0123456789") {
			t.Errorf("the digits %s can be read in %q or %q", digits, c.AnswerData, c.Text)
		}
		if seen[c.Token] || seen[c.AnswerData] || seen[c.URL] {
			t.Error("a captcha was repeated")
		}
		seen[c.Token], seen[c.AnswerData], seen[c.URL] = true, true, true
		picture, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(c.URL, "data:image/png;base64,"))
		if err != nil || len(picture) > 10_000 {
			t.Fatalf("the picture has %d bytes, %v", len(picture), err)
		}
		img, err := png.Decode(bytes.NewReader(picture))
		if err != nil || img.Bounds().Dx() != 240 || img.Bounds().Dy() != 80 {
			t.Fatalf("the picture is %v, %v", img, err)
		}
	}
}

func TestCheck(t *testing.T) {
	s, now := open(t)
	other, _ := open(t)
	made, err := s.Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := other.Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	digits, broken := apptest.SolveCaptcha(t, made.Text), errors.New("the database is broken")
	empty, wrong := "", "x"+digits[1:]
	used := func([]byte) (bool, error) { return true, nil }
	start := *now
	for _, tt := range []struct {
		name     string
		solution captcha.Solution
		used     func([]byte) (bool, error)
		after    time.Duration
		want     string
	}{
		{"right", solution(digits, made.Token, made.AnswerData), unused, 0, ""},
		{"at the last moment", solution(digits, made.Token, made.AnswerData), unused, 299 * time.Second, ""},
		{"nothing", captcha.Solution{}, unused, 0, "Invalid CAPTCHA (Missing parameter: captcha_solution)"},
		{"an empty solution", solution("", made.Token, made.AnswerData), unused, 0, "Invalid CAPTCHA (Missing parameter: captcha_solution)"},
		{"no token", captcha.Solution{Text: &digits, AnswerData: &made.AnswerData}, unused, 0, "Invalid CAPTCHA (Missing parameter: captcha_token)"},
		{"no answer_data", captcha.Solution{Text: &digits, Token: &made.Token, AnswerData: &empty}, unused, 0, "Invalid CAPTCHA (Missing parameter: captcha_answer_data)"},
		{"invalid answer_data", solution(digits, made.Token, "!"), unused, 0, "Invalid answer data"},
		{"short answer_data", solution(digits, made.Token, "AAAA"), unused, 0, "Invalid answer data"},
		{"long answer_data", solution(digits, made.Token, strings.Repeat("A", 100_000)), unused, 0, "Invalid answer data"},
		{"a long token", solution(digits, strings.Repeat("A", 100_000), made.AnswerData), unused, 0, "Invalid answer data"},
		{"answer_data of another token", solution(digits, made.Token, second.AnswerData), unused, 0, "Invalid answer data"},
		{"of another server", solution(apptest.SolveCaptcha(t, foreign.Text), foreign.Token, foreign.AnswerData), unused, 0, "Invalid answer data"},
		{"too old", solution(digits, made.Token, made.AnswerData), used, 300 * time.Second, "CAPTCHA expired"},
		{"used", solution(wrong, made.Token, made.AnswerData), used, 0, "CAPTCHA already used"},
		{"wrong", solution(wrong, made.Token, made.AnswerData), unused, 0, "Invalid CAPTCHA"},
		{"with a blank", solution(digits+" ", made.Token, made.AnswerData), unused, 0, "Invalid CAPTCHA"},
		{"an internal error", solution(digits, made.Token, made.AnswerData), func([]byte) (bool, error) { return false, broken }, 0, broken.Error()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			*now = start.Add(tt.after)
			_, err := s.Check(tt.solution, tt.used)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || err.Error() != tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if internal := new(captcha.Error); err != nil && errors.As(err, internal) == (tt.want == broken.Error()) {
				t.Errorf("%v is of type %T", err, err)
			}
		})
	}
}

// TestSlowKocaptcha checks that a service that does not answer delays a visitor for the timeout only.
func TestSlowKocaptcha(t *testing.T) {
	k, err := keys.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, answer := range map[string]func(http.ResponseWriter){
		"no answer":     func(http.ResponseWriter) {},
		"a header only": func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK); w.(http.Flusher).Flush() },
		"half a body": func(w http.ResponseWriter) {
			io.WriteString(w, `{"url":"/a.png","token":"a",`)
			w.(http.Flusher).Flush()
		},
	} {
		t.Run(name, func(t *testing.T) {
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer(w)
				<-r.Context().Done() // the client has closed the connection
			}))
			defer service.Close()
			c := config.Default()
			c.Captcha.Provider, c.Captcha.Endpoint = config.CaptchaKocaptcha, service.URL
			s := captcha.New(captcha.Config{
				Settings: config.NewLive(c), Timeout: 50 * time.Millisecond, Keys: k, Fetch: fetch.New(fetch.Options{AllowLoopback: true}), Now: time.Now,
			})
			if _, err := s.Make(t.Context()); !errors.Is(err, captcha.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		})
	}
}

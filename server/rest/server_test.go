package rest_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/server/rest"
	"svc/store"
)

// settings returns the default settings with changes.
func settings(change ...func(*config.Config)) *config.Live {
	c := config.Default()
	c.Server.URL = "https://social.example.org"
	c.RateLimit.Enabled = false
	for _, f := range change {
		f(c)
	}
	return config.NewLive(c)
}

// newServer returns a server with a route table, which authenticates with authenticate.
func newServer(t testing.TB, table rest.Routes, change ...func(*config.Config)) *rest.Server {
	t.Helper()
	return rest.New(rest.Config{
		Settings:     settings(change...),
		Authenticate: authenticate,
		TempDir:      t.TempDir(),
	}, table)
}

// authenticate accepts tokens of the form "NAME scope scope", where NAME is alice, moderator, admin or app, the cookie "alice" and
// the password "secret" of alice.
func authenticate(_ context.Context, c rest.Credential) (rest.Identity, error) {
	if c.Kind == rest.Basic {
		switch {
		case c.Name == "alice" && c.Password == "secret":
			return person("alice", nil), nil
		case c.Name == "mfa":
			return rest.Identity{}, errs.Forbidden("Two-factor authentication enabled, you must use a access token.")
		}
		return rest.Identity{}, nil
	}
	name, scopes, _ := strings.Cut(c.Token, " ")
	token := &store.Token{Scopes: store.ParseScopes(scopes)}
	switch name {
	case "alice", "moderator", "admin":
		return person(name, token), nil
	case "app":
		return rest.Identity{Token: token}, nil
	case "disabled":
		return rest.Identity{}, errs.Forbidden("Your login is currently disabled")
	case "throttled":
		return rest.Identity{}, errs.New(http.StatusTooManyRequests, "Throttled")
	case "broken":
		return rest.Identity{}, io.ErrUnexpectedEOF
	}
	return rest.Identity{}, nil
}

func person(name string, token *store.Token) rest.Identity {
	id := map[string]store.AccountID{"alice": 1, "moderator": 2, "admin": 3}[name]
	return rest.Identity{
		Account: &store.Account{ID: id, Nickname: name},
		User:    &store.User{AccountID: id, IsAdmin: name == "admin", IsModerator: name == "moderator"},
		Token:   token,
	}
}

// whoAmI returns the nickname of the viewer.
func whoAmI(r *rest.Request) (any, error) {
	switch {
	case r.Viewer != nil:
		return map[string]any{"viewer": r.Viewer.Nickname}, nil
	case r.Token != nil:
		return map[string]any{"viewer": "(app)"}, nil
	}
	return map[string]any{"viewer": ""}, nil
}

// call sends a request directly to the handler. Headers are given as name and value.
func call(h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, target, content)
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "RemoteAddr" {
			r.RemoteAddr = headers[i+1]
			continue
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// field returns a member of a JSON response as text.
func field(t testing.TB, w *httptest.ResponseRecorder, name string) string {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &object); err != nil {
		t.Fatalf("response %d %q is not a JSON object: %v", w.Code, w.Body, err)
	}
	text, _ := object[name].(string)
	return text
}

// logTo returns a logger that writes to w.
func logTo(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}

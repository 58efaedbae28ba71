package oauth_test

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/server/oauth"
)

// Addresses of clients behind a trusted proxy, each in a network of its own.
const (
	home    = "198.51.100.7"
	another = "203.0.113.9"
	third   = "192.0.2.4"
)

// startLimited starts a server behind a trusted proxy that limits failed logins only.
func startLimited(t *testing.T, change ...func(*config.Config)) *apptest.Server {
	return apptest.Start(t, append(change, func(c *config.Config) {
		c.Server.TrustedProxies = []string{"127.0.0.1"}
		c.RateLimit.Enabled = true
		c.RateLimit.Authentication, c.RateLimit.AppRegistration, c.RateLimit.Registration = config.Rate{}, config.Rate{}, config.Rate{}
	})...)
}

// tryFrom signs in with Basic authentication from an address. The name cannot have a colon.
func tryFrom(srv *apptest.Server, address, name, password string) *apptest.Response {
	return doBasic(srv, "GET", "/api/v1/notifications", name, password, "X-Forwarded-For", address)
}

// tryOnPage signs in on the sign-in page of an app from an address.
func tryOnPage(srv *apptest.Server, address, name, password string) *apptest.Response {
	app := srv.RegisterApp()
	form := url.Values{
		"client_id": {app.ID}, "redirect_uri": {"urn:ietf:wg:oauth:2.0:oob"}, "response_type": {"code"}, "scope": {"read"},
		"name": {name}, "password": {password},
	}
	req, err := http.NewRequestWithContext(srv.T.Context(), "POST", srv.URL+"/oauth/authorize", strings.NewReader(form.Encode()))
	if err != nil {
		srv.T.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("X-Forwarded-For", address)
	return srv.As(nil).DoRequest(req)
}

// isSlowed returns true if an attempt has to wait.
func isSlowed(t *testing.T, try func() *apptest.Response, want int) bool {
	t.Helper()
	var waits atomic.Int32
	oauth.AwaitSlowLogin(t, func(context.Context) error {
		waits.Add(1)
		return nil
	})
	try().Want(want)
	return waits.Load() > 0
}

// together makes attempts at once. Slowed ones wait until quick others are answered, or for a minute.
func together(t *testing.T, n, quick int, try func(i int) *apptest.Response) []*apptest.Response {
	t.Helper()
	var answered atomic.Int32
	proceed := make(chan struct{})
	oauth.AwaitSlowLogin(t, func(ctx context.Context) error {
		select {
		case <-proceed:
		case <-time.After(time.Minute):
		case <-ctx.Done():
		}
		return context.Cause(ctx)
	})
	responses := make([]*apptest.Response, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			responses[i] = try(i)
			if answered.Add(1) == int32(quick) {
				close(proceed)
			}
		})
	}
	wg.Wait()
	return responses
}

// TestSpellingsOfLogins checks that all spellings of a login name share one limit, whether or not there is such an account, and that
// those of others do not.
func TestSpellingsOfLogins(t *testing.T) {
	for _, exists := range []bool{true, false} {
		t.Run("exists "+strconv.FormatBool(exists), func(t *testing.T) {
			srv := startLimited(t)
			srv.SignUp("other")
			if exists {
				srv.SignUp("alice")
			}
			host := srv.Settings.Host()
			spellings := []string{
				"alice", "ALICE", "@alice", " alice ", "alice@" + host, "@Alice@" + host,
			}
			most := srv.Settings.RateLimit.FailedLogins.Count
			for i := range most {
				if isSlowed(t, func() *apptest.Response { return tryOnPage(srv, another, spellings[i], "wrong") }, 401) {
					t.Fatalf("try %d is slowed", i+1)
				}
			}
			for _, name := range spellings {
				if !isSlowed(t, func() *apptest.Response { return tryOnPage(srv, another, name, "wrong") }, 401) {
					t.Errorf("%q has a limit of its own", name)
				}
			}
			if isSlowed(t, func() *apptest.Response { return tryOnPage(srv, another, "other", "wrong") }, 401) {
				t.Error("another account is slowed, too")
			}
		})
	}
}

// TestEmailLogin checks that an e-mail address shares the limit of its account, in all spellings.
func TestEmailLogin(t *testing.T) {
	srv := startLimited(t)
	srv.SignUp("alice")
	for _, name := range []string{"alice", "alice@example.org", "Alice@EXAMPLE.org", "alice@example.org.", "@alice"} {
		tryFrom(srv, another, name, "wrong").Want(401)
	}
	for _, name := range []string{"alice", "alice@example.org"} {
		if !isSlowed(t, func() *apptest.Response { return tryFrom(srv, another, name, "wrong") }, 401) {
			t.Errorf("%q has a limit of its own", name)
		}
	}
}

// TestNonASCIILogins checks that nobody signs in by a name beyond ASCII, which could be mapped to that of an account.
func TestNonASCIILogins(t *testing.T) {
	srv := startLimited(t, func(c *config.Config) { c.RateLimit.FailedLogins = config.Rate{} })
	srv.SignUp("alice")
	for _, name := range []string{
		"alice@ex\u00adample.org", "alice@example\u3002org", "alice@ｅxample.org", "al\u00adice", "ａlice", "alice\u200b", "alice@example.org\u00ad",
	} {
		tryFrom(srv, home, name, apptest.Password).Want(401)
	}
	tryFrom(srv, home, "alice@example.org.", apptest.Password).Want(200)
}

// TestOwnerIsNotLockedOut checks that wrong passwords from other networks neither refuse nor slow the owner of an account in a network of
// earlier sign-ins, and that wrong passwords from there do.
func TestOwnerIsNotLockedOut(t *testing.T) {
	srv := startLimited(t)
	srv.SignUp("alice")
	tryFrom(srv, home, "alice", apptest.Password).Want(200)
	most := srv.Settings.RateLimit.FailedLogins.Count
	for range most {
		tryFrom(srv, another, "alice", "wrong").Want(401)
	}
	if !isSlowed(t, func() *apptest.Response { return tryFrom(srv, third, "alice", apptest.Password) }, 200) {
		t.Error("a network without a sign-in before the attack is not slowed")
	}
	for range 3 {
		if isSlowed(t, func() *apptest.Response { return tryFrom(srv, home, "alice", apptest.Password) }, 200) {
			t.Error("the owner is slowed")
		}
	}
	for range most {
		tryFrom(srv, home, "alice", "wrong").Want(401)
	}
	if !isSlowed(t, func() *apptest.Response { return tryFrom(srv, home, "alice", "wrong") }, 401) {
		t.Error("wrong passwords from a known network are not limited")
	}
	srv.SetClock(91 * 24 * time.Hour)
	for range most {
		tryFrom(srv, another, "alice", "wrong").Want(401)
	}
	if !isSlowed(t, func() *apptest.Response { return tryFrom(srv, home, "alice", "wrong") }, 401) {
		t.Error("a network is known for ever")
	}
}

// TestRememberedPasswordIsLimited checks that a password that Basic authentication remembers is limited like a wrong one, so that it
// cannot be guessed.
func TestRememberedPasswordIsLimited(t *testing.T) {
	srv := startLimited(t)
	srv.SignUp("alice")
	tryFrom(srv, home, "alice", apptest.Password).Want(200)
	for range srv.Settings.RateLimit.FailedLogins.Count {
		tryFrom(srv, another, "alice", "wrong").Want(401)
	}
	for _, password := range []string{"wrong", apptest.Password} {
		want := map[bool]int{true: 200, false: 401}[password == apptest.Password]
		if !isSlowed(t, func() *apptest.Response { return tryFrom(srv, another, "alice", password) }, want) {
			t.Errorf("%q is checked at once", password)
		}
	}
}

// TestSlowedLoginsAreBounded checks that a network has one slowed attempt at a time, and an account three.
func TestSlowedLoginsAreBounded(t *testing.T) {
	srv := startLimited(t)
	for _, name := range []string{"alice", "bob"} {
		for range srv.Settings.RateLimit.FailedLogins.Count {
			tryFrom(srv, home, name, "wrong").Want(401)
		}
	}
	for _, tt := range []struct {
		name      string
		addresses []string
		names     []string
		slowed    int
	}{
		{"one network", []string{home, home, home}, []string{"alice", "bob", "alice"}, 1},
		{"one account", []string{home, another, third, "198.18.0.1", "198.18.1.1"}, []string{"alice"}, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			responses := together(t, len(tt.addresses), len(tt.addresses)-tt.slowed, func(i int) *apptest.Response {
				return tryFrom(srv, tt.addresses[i], tt.names[i%len(tt.names)], "wrong")
			})
			slowed := 0
			for _, r := range responses {
				if r.Status == 401 {
					slowed++
				} else if r.WantError(429, "Throttled"); r.Header.Get("Retry-After") == "" {
					t.Error("no Retry-After")
				}
			}
			if slowed != tt.slowed {
				t.Errorf("%d attempts were slowed, want %d", slowed, tt.slowed)
			}
		})
	}
}

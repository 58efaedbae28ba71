package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`
		[server]
		url = "https://social.example.org"
		tls = { enabled = true, email = "you@example.org" }
		listen = ":443"
		trusted_proxies = ["10.0.0.0/8"]
		[statuses]
		max_length = 1_000
		[oauth]
		token_lifetime = "90d"
		[rate_limit]
		timeline = "10/1s"
		search = "off"
	`)
	c, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if c.Server.URL != "https://social.example.org" || !c.Server.TLS.Enabled || c.Server.TrustedProxies[0] != "10.0.0.0/8" ||
		c.Statuses.MaxLength != 1000 || c.OAuth.TokenLifetime != 90*24*time.Hour ||
		c.RateLimit.Timeline != (Rate{10, time.Second}) || c.RateLimit.Search != (Rate{}) {
		t.Errorf("got %+v", c)
	}
	if c.Instance.Name != Default().Instance.Name {
		t.Errorf("a setting that the file omits is %q, not the default", c.Instance.Name)
	}

	write("[instance]\nregistation_open = false\n")
	_, err = Load(path)
	want := path + ": line 2: unknown setting instance.registation_open, did you mean instance.registrations_open?"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}

	if _, err := Load(filepath.Join(t.TempDir(), "none.toml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, text, want string
	}{
		{"a misspelt key", "[server]\n\nlistne = ':80'", "line 3: unknown setting server.listne, did you mean server.listen?"},
		{"an unknown key", "[server]\ncolour = 'red'", "line 2: unknown setting server.colour"},
		{"a key in the wrong group", "[instance]\ntrusted_proxies = []", "line 2: unknown setting instance.trusted_proxies, did you mean server.trusted_proxies?"},
		{"a key of many groups", "[instance]\nenabled = true", "line 2: unknown setting instance.enabled"},
		{"a key without a group", "trusted_proxy = []", "line 1: unknown setting trusted_proxy, did you mean server.trusted_proxies?"},
		{"capital letters", "[server]\nListen = ':80'", "line 2: unknown setting server.Listen, did you mean server.listen?"},
		{"a misspelt group", "[federaton]\nenabled = false", "line 1: unknown setting group [federaton], did you mean [federation]?"},
		{"an unknown group", "[database]\nhost = 'x'", "line 1: unknown setting group [database]"},
		{"a group within a group", "[server.tsl]\nenabled = true", "line 1: unknown setting group [server.tsl], did you mean [server.tls]?"},
		{"a value for a group", "server = ':80'", "line 1: server: expected a group of settings, [server], got text"},
		{"a list of groups", "[[server]]\nlisten = ':80'", "line 1: server: expected a group of settings, [server], got a list"},
		{"a table for a value", "[server.listen]\nhost = 'x'", "line 1: server.listen: expected text in quotes, got a table"},
		{"a number for text", "[server]\nlisten = 4000", "line 2: server.listen: expected text in quotes, got a number"},
		{"text for true or false", "[captcha]\nenabled = 'no'", "line 2: captcha.enabled: expected true or false, got text"},
		{"text for a number", "[statuses]\nmax_length = '500'", "line 2: statuses.max_length: expected a whole number, got text"},
		{"text for a list", "[server]\ntrusted_proxies = '::1'", `line 2: server.trusted_proxies: expected a list of texts such as ["a", "b"], got text`},
		{"a date", "[instance]\nname = 2020-01-01", "line 2: instance.name: expected text in quotes, got a date"},
		{"an invalid value", "[mail]\nadapter = 'sendmail'", `line 2: mail.adapter: must be one of "smtp", "file", not "sendmail"`},
		{"settings that contradict", "[server.tls]\nenabled = true", "server.url: must begin with https:// while server.tls.enabled is true"},
		{"several problems", "[server]\nlisten = 1\n[api]\nnmae = 'x'\nname = 'v1'",
			"line 2: server.listen: expected text in quotes, got a number; line 4: unknown setting api.nmae, did you mean api.name?; " +
				`line 5: api.name: "v1" is already used in the paths of the API`},
		{"a key twice", "[api]\nname = 'a'\nname = 'b'", "line 3: Key 'api.name' has already been defined."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse(tt.text)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			var problems Problems
			if !errors.As(err, &problems) {
				t.Errorf("the error is a %T", err)
			}
		})
	}
}

func TestSyntaxErrorHasItsLine(t *testing.T) {
	_, err := Parse("[server]\nlisten = 127.0.0.1:4000\n")
	if err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
		t.Errorf("got %v", err)
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"name", "name", 0},
		{"nmae", "name", 1},
		{"nam", "name", 1},
		{"names", "name", 1},
		{"nome", "name", 1},
		{"registation_open", "registrations_open", 2},
		{"kitten", "sitting", 3},
	} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := distance(tt.b, tt.a); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
}

// FuzzParse checks that each file is either rejected in one line or has valid settings that File and Parse round-trip.
func FuzzParse(f *testing.F) {
	f.Add(Example())
	f.Add("[server]\nlisten = ':80'\ntls = {enabled = true}")
	f.Add("[rate_limit]\nall = '1/1d'\n[a.b.c]\nd = [[1], ['x']]")
	f.Add("server.url = 'http://[::1]:80/'")
	f.Add("[[instance]]")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text)
		if err != nil {
			if c != nil {
				t.Error("both settings and an error")
			}
			return
		}
		again, err := Parse(File(c))
		if err != nil {
			t.Fatalf("%v\n%s", err, File(c))
		}
		if Show(again) != Show(c) {
			t.Errorf("got %s\nwant %s", Show(again), Show(c))
		}
		if u := c.URL(); u.Host == "" {
			t.Errorf("no host in %q", c.Server.URL)
		}
	})
}

// TestTables parses lists of tables in each form of TOML, and checks that Show and File round-trip.
func TestTables(t *testing.T) {
	for _, text := range []string{
		"[mrf_simple]\nreject = [\"plain.example\", { host = \"*.bad.example\", reason = \"spam\" }]\n[mrf]\npolicies = \"SimplePolicy\"\n",
		"[mrf]\npolicies = [\"Svc.Web.ActivityPub.MRF.SimplePolicy\"]\n[[mrf_simple.reject]]\nhost = \"plain.example\"\n[[mrf_simple.reject]]\nhost = \"*.bad.example\"\nreason = \"spam\"\n",
	} {
		c, err := Parse(text)
		if err != nil {
			t.Error(err)
			continue
		}
		want := []HostReason{{"plain.example", ""}, {"*.bad.example", "spam"}}
		if !slices.Equal(c.MRFSimple.Reject, want) || !slices.Equal(c.MRF.Policies, []string{"SimplePolicy"}) {
			t.Errorf("got %v and %v", c.MRFSimple.Reject, c.MRF.Policies)
		}
		for name, written := range map[string]string{"file": File(c), "shown": Show(c)} {
			again, err := Parse(written)
			if err != nil || !reflect.DeepEqual(again, c) {
				t.Errorf("%s: got %+v, %v", name, again, err)
			}
		}
		if shown := Show(c); !strings.Contains(shown, "\nreject = [\n    { host = \"plain.example\" },\n    { host = \"*.bad.example\", reason = \"spam\" },\n]\n") {
			t.Errorf("Show returns %s", shown)
		}
	}
	_, err := Parse("[mrf_simple]\nreject = [{ hots = \"a.example\" }]\n")
	if err == nil || !strings.HasPrefix(err.Error(), "line 2: mrf_simple.reject: has a table with unknown key \"hots\"") {
		t.Errorf("got %v", err)
	}
}

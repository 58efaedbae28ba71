package config

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestDefaultIsValid(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Error(err)
	}
}

func TestFixedDefaults(t *testing.T) {
	c := Default()
	for _, tt := range []struct {
		group, key string
		want       any
	}{
		{"server", "listen", "127.0.0.1:4000"},
		{"server", "url", "http://localhost:4000"},
		{"server", "trusted_proxies", []string{}},
		{"data", "dir", "./data"},
		{"data", "synchronous", "full"},
		{"api", "name", "svc"},
		{"instance", "registrations_open", true},
		{"instance", "account_approval_required", false},
		{"instance", "account_activation_required", false},
		{"instance", "invites_enabled", false},
		{"instance", "configurable_from_database", false},
		{"federation", "enabled", true},
		{"federation", "allow_loopback", false},
		{"federation", "authorized_fetch", false},
		{"captcha", "enabled", false},
		{"rate_limit", "enabled", true},
		{"rate_limit", "all", "1500/5m"},
		{"mail", "enabled", false},
		{"mail", "adapter", "smtp"},
		{"statuses", "max_length", int64(5000)},
		{"statuses", "min_expiry", "1h"},
		{"media", "upload_limit", int64(16_000_000)},
		{"oauth", "token_lifetime", "0s"},
	} {
		got, err := c.Get(tt.group, tt.key)
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s.%s = %v, %v, want %v", tt.group, tt.key, got, err, tt.want)
		}
	}
}

// TestEveryFieldIsOneSetting checks that each field of Config is bound to exactly one setting.
func TestEveryFieldIsOneSetting(t *testing.T) {
	c := new(Config)
	bound := make(map[uintptr]string)
	for _, s := range c.settings() {
		at := reflect.ValueOf(s.field).Elem().FieldByName("at").Pointer()
		if other, ok := bound[at]; ok {
			t.Errorf("%s and %s fill the same field", other, s.Name())
		}
		bound[at] = s.Name()
	}
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		if v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[Rate]() {
			for i := range v.NumField() {
				if f := v.Type().Field(i); f.Anonymous {
					walk(path, v.Field(i))
				} else {
					walk(path+"."+f.Name, v.Field(i))
				}
			}
			return
		}
		name, ok := bound[v.Addr().Pointer()]
		if !ok {
			t.Errorf("no setting fills Config%s", path)
		}
		if want := strings.ToLower(strings.TrimPrefix(path, ".")); strings.ReplaceAll(name, "_", "") != want {
			t.Errorf("%s fills Config%s", name, path)
		}
		delete(bound, v.Addr().Pointer())
	}
	walk("", reflect.ValueOf(c).Elem())
	for _, name := range bound {
		t.Errorf("%s fills no field of Config", name)
	}
}

func TestDescriptions(t *testing.T) {
	names := make(map[string]bool)
	for _, s := range Settings() {
		if names[s.Name()] {
			t.Errorf("%s is described twice", s.Name())
		}
		names[s.Name()] = true
		if len(s.Description) < 10 || !strings.HasSuffix(s.Description, ".") {
			t.Errorf("%s is described as %q", s.Name(), s.Description)
		}
		c := Default()
		for _, v := range append(slices.Clone(s.Suggestions), s.Default) {
			if s.Kind == List && v != nil && reflect.TypeOf(v).Kind() == reflect.String {
				continue // one entry of the list; all are tested together below
			}
			if err := c.Set(s.Group, s.Key, v); err != nil {
				t.Errorf("a suggested value is rejected: %v", err)
			}
		}
		if s.Kind == List && len(s.Suggestions) > 0 {
			if err := c.Set(s.Group, s.Key, s.Suggestions); err != nil {
				t.Errorf("a suggested value is rejected: %v", err)
			}
		}
	}
}

func TestSetAndGet(t *testing.T) {
	for _, tt := range []struct {
		group, key string
		value      any
		want       any
	}{
		{"instance", "name", "Example", "Example"},
		{"server.tls", "email", "you@example.org", "you@example.org"},
		{"instance", "public", false, false},
		{"statuses", "max_length", 300, int64(300)},
		{"statuses", "max_length", int64(300), int64(300)},
		{"statuses", "max_length", float64(300), int64(300)},
		{"statuses", "min_expiry", "90m", "1h30m"},
		{"oauth", "token_lifetime", "48h", "2d"},
		{"rate_limit", "search", "5/2s", "5/2s"},
		{"rate_limit", "search", "off", "off"},
		{"instance", "languages", []any{"de", "en"}, []string{"de", "en"}},
		{"instance", "languages", []string{"de"}, []string{"de"}},
		{"mail", "adapter", "file", "file"},
	} {
		c := Default()
		if err := c.Set(tt.group, tt.key, tt.value); err != nil {
			t.Error(err)
			continue
		}
		got, err := c.Get(tt.group, tt.key)
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s.%s set to %v is %v, %v, want %v", tt.group, tt.key, tt.value, got, err, tt.want)
		}
		if err := c.Set(tt.group, tt.key, got); err != nil {
			t.Errorf("the value that Get returned is rejected: %v", err)
		}
	}
}

func TestSetUnknown(t *testing.T) {
	c := Default()
	err := c.Set("instance", "nmae", "x")
	if !errors.Is(err, ErrUnknown) || err.Error() != "unknown setting instance.nmae, did you mean instance.name?" {
		t.Errorf("got %v", err)
	}
	if _, err := c.Get("nothing", "here"); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v", err)
	}
}

func TestSetRefusesAndKeeps(t *testing.T) {
	c := Default()
	for _, tt := range []struct {
		group, key string
		value      any
		want       string
	}{
		{"instance", "public", "yes", "instance.public: expected true or false, got text"},
		{"statuses", "max_length", 1.5, "statuses.max_length: expected a whole number, got a number"},
		{"statuses", "max_length", "5000", "statuses.max_length: expected a whole number, got text"},
		{"data", "memory_limit", "1MiB", "data.memory_limit: must be 0 (by the machine), or at least 64MiB"},
		{"instance", "languages", "en", `instance.languages: expected a list of texts such as ["a", "b"], got text`},
		{"instance", "languages", []any{"en", 5.0}, "instance.languages: expected a list of texts, got a list with a number"},
		{"mail", "password", map[string]any{}, "mail.password: expected text in quotes, got a table"},
		{"oauth", "token_lifetime", 60.0, `oauth.token_lifetime: expected a duration such as "30s", "5m", "2h" or "7d", got a number`},
		{"rate_limit", "all", nil, `rate_limit.all: expected a limit such as "15/1m", or "off", got nothing`},
	} {
		before := *c
		if err := c.Set(tt.group, tt.key, tt.value); err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
		if !reflect.DeepEqual(*c, before) {
			t.Errorf("%s.%s was changed despite the error", tt.group, tt.key)
		}
	}
}

// TestCopyIsIndependent checks that changing a copy of a Config does not change the original.
func TestCopyIsIndependent(t *testing.T) {
	c := Default()
	changed := *c
	if err := changed.Set("statuses", "allowed_formats", []string{"text/plain"}); err != nil {
		t.Fatal(err)
	}
	if len(c.Statuses.AllowedFormats) != 4 || len(Default().Statuses.AllowedFormats) != 4 {
		t.Error("the original changed with its copy")
	}
	got, _ := c.Get("statuses", "allowed_formats")
	got.([]string)[0] = "spoilt"
	if c.Statuses.AllowedFormats[0] != "text/plain" {
		t.Error("the result of Get aliases the setting")
	}
}

func TestValidateNamesAllProblems(t *testing.T) {
	c := Default()
	c.Server.URL = "example.org"
	c.API.Name = "statuses"
	c.Statuses.MaxLength = 0
	c.Statuses.MinExpiry = -time.Second
	c.RateLimit.Search = Rate{Count: 5}
	var problems Problems
	if err := c.Validate(); !errors.As(err, &problems) {
		t.Fatalf("got %v", err)
	}
	want := []string{"server.url: ", "api.name: ", "statuses.max_length: ", "statuses.min_expiry: ", "rate_limit.search: "}
	if len(problems) != len(want) {
		t.Fatalf("got %d problems: %v", len(problems), problems)
	}
	for i, p := range problems {
		if !strings.HasPrefix(p.Error(), want[i]) {
			t.Errorf("got %q, want an error for %s", p, want[i])
		}
	}
	if strings.Contains(problems.Error(), "\n") {
		t.Error("the text has more than one line")
	}
}

func TestConflicts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Config)
		want   string // the invalid setting, or empty
	}{
		{"an empty range of poll durations", func(c *Config) { c.Polls.MinExpiration = 2 * c.Polls.MaxExpiration / 3; c.Polls.MaxExpiration /= 2 }, "polls.min_expiration"},
		{"a file larger than half of the cache", func(c *Config) { c.MediaProxy.CacheSize, c.MediaProxy.MaxFile = 100_000_000, 50_000_001 }, "media_proxy.max_file"},
		{"mail without a server", func(c *Config) { c.Mail.Enabled = true }, "mail.host"},
		{"mail", func(c *Config) { c.Mail.Enabled, c.Mail.Host = true, "mail.example.org" }, ""},
		{"mail into files", func(c *Config) { c.Mail.Enabled, c.Mail.Adapter = true, MailFile }, ""},
		{"a captcha service without an address", func(c *Config) { c.Captcha.Enabled, c.Captcha.Provider = true, CaptchaKocaptcha }, "captcha.endpoint"},
		{"a captcha service", func(c *Config) {
			c.Captcha = Captcha{Enabled: true, Provider: CaptchaKocaptcha, Endpoint: "https://captcha.example.org", SecondsValid: 300}
		}, ""},
		{"memory", func(c *Config) { c.Data.MemoryLimit = 200 << 20 }, ""},
		{"too little memory for the caches", func(c *Config) { c.Data.MemoryLimit, c.Cache.RenderedBytes = 200<<20, 500_000_000 }, "data.memory_limit"},
		{"metrics", func(c *Config) { c.Metrics.Enabled = true }, ""},
		{"metrics on the address of the server", func(c *Config) { c.Metrics = Metrics{true, c.Server.Listen} }, "metrics.listen"},
		{"certificates for http", func(c *Config) { c.Server.TLS.Enabled = true }, "server.url"},
		{"certificates on a socket", func(c *Config) {
			c.Server.TLS.Enabled, c.Server.URL, c.Server.Listen = true, "https://example.org", "/run/svc.sock"
		}, "server.listen"},
		{"certificates", func(c *Config) {
			c.Server.TLS.Enabled, c.Server.URL, c.Server.Listen = true, "https://example.org", ":443"
		}, ""},
		{"a copy without a place", func(c *Config) { c.Replica.Enabled, c.Replica.PassphraseFile = true, "/etc/svc/p" }, "replica.place"},
		{"a copy without a passphrase", func(c *Config) { c.Replica.Enabled, c.Replica.Place = true, "s3://bucket" }, "replica.passphrase_file"},
		{"a copy in a relative folder", func(c *Config) { c.Replica.Place = "copy" }, "replica.place"},
		{"a copy with a password", func(c *Config) { c.Replica.Place = "sftp://a:secret@example.org/x" }, "replica.place"},
		{"rehearsals all the time", func(c *Config) { c.Replica.Rehearsal = time.Minute }, "replica.rehearsal"},
		{"a copy", func(c *Config) {
			c.Replica = Replica{Enabled: true, Place: "/mnt/copy", PassphraseFile: "/etc/svc/p", Keep: 8 * day, Rehearsal: 30 * day}
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := Default()
			tt.change(c)
			err := c.Validate()
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want+": ")):
				t.Errorf("got %v, want an error for %s", err, tt.want)
			}
		})
	}
}

package config

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestRules tests each rule with valid and invalid values.
func TestRules(t *testing.T) {
	for _, tt := range []struct {
		group, key string
		good, bad  []any
	}{
		{"server", "listen",
			[]any{"127.0.0.1:4000", ":4000", "[::1]:4000", "localhost:0", "social.example.org:443", "/run/svc.sock", "./svc.sock"},
			[]any{"", "4000", "127.0.0.1", ":http", ":70000", "a b:80", "::1:80", "/run/\nsvc"}},
		{"server", "url",
			[]any{"http://localhost:4000", "https://example.org", "https://example.org/", "https://Example.org:443", "http://[::1]:4000", "http://127.0.0.1", "https://xn--bcher-kva.example"},
			[]any{"", "example.org", "localhost:4000", "ftp://example.org", "https://", "https:///x", "https://example.org/x", "https://example.org?x", "https://example.org?", "https://example.org#", "https://u:p@example.org", "https://bücher.example", "https://a..b", "https://-a", "https://example.org:", "https://example.org:0", "https://example.org:99999", "https://exa mple.org"}},
		{"server", "trusted_proxies",
			[]any{[]any{}, []any{"127.0.0.1", "::1", "10.0.0.0/8", "fd00::/8"}},
			[]any{[]any{""}, []any{"localhost"}, []any{"10.0.0.0/33"}, []any{"127.0.0.1", "fe80::1%eth0"}}},
		{"server", "read_header_timeout", []any{"1s", "1m"}, []any{"999ms", "61s", "-5s", "0s", "", "5"}},
		{"server.tls", "email", []any{"", "you@example.org"}, []any{"you", "You <you@example.org>", "you@example.org\r\nx"}},
		{"server.tls", "http_listen", []any{"", ":80", "127.0.0.1:8080"}, []any{"80", "/run/svc.sock"}},
		{"data", "dir", []any{"./data", "/var/lib/svc"}, []any{"", " ", "a\x00b"}},
		{"data", "synchronous", []any{"full", "normal"}, []any{"", "off", "FULL"}},
		{"data", "readers", []any{1, 16}, []any{0, 17, -1}},
		{"cache", "rendered_bytes", []any{0, int64(4_000_000_000)}, []any{-1, int64(4_000_000_001)}},
		{"cache", "tokens", []any{0, 1_000_000}, []any{-1, 1_000_001, int64(1) << 40}},
		{"api", "compatible", []any{"", "Pleroma 2.7.1", "Rebased-x 1"}, []any{"Pleroma", "Pleroma ", "2.7.1", "A 1)", "A; 1", "A 1 2", "A 1\n", strings.Repeat("a", 99) + " 1"}},
		{"api", "optional", []any{[]string{}, []string{"directory"}, []string{"featured_tags", "directory", "trends"}}, []any{[]string{"suggestions"}, []string{""}, "all"}},
		{"frontends", "configurations", []any{
			[]any{}, []any{map[string]any{"name": "fe", "configuration": `{"a": [1]}`}},
		}, []any{
			"x", []any{map[string]any{"name": "fe", "configuration": `[]`}}, []any{map[string]any{"name": "fe", "configuration": `null`}},
			[]any{map[string]any{"name": "", "configuration": `{}`}}, []any{map[string]any{"name": "fe", "configuration": `{}`}, map[string]any{"name": "fe", "configuration": `{}`}},
			[]any{map[string]any{"name": "fe", "configuration": `{"a":"` + strings.Repeat("x", 100_000) + `"}`}},
		}},
		{"api", "name", []any{"svc", "a", "my_server2", strings.Repeat("a", 30)}, []any{"", "Svc", "2x", "_x", "a-b", "a/b", "statuses", "v1", "oauth", strings.Repeat("a", 31)}},
		{"instance", "name", []any{"Example", "Ünïcode 🐘"}, []any{"", " ", "two\nlines", strings.Repeat("x", 201)}},
		{"instance", "short_description", []any{"", "two\nlines"}, []any{strings.Repeat("x", 1001)}},
		{"instance", "email", []any{"", "you@example.org"}, []any{"example.org"}},
		{"instance", "contact_username", []any{"", "alice", "@alice"}, []any{"@", "alice@example.org", "a b"}},
		{"instance", "languages", []any{[]any{"en"}, []any{"de", "pt-BR", "zh-Hant-TW"}}, []any{[]any{}, []any{"English"}, []any{"en", ""}}},
		{"instance", "thumbnail", []any{"", "/static/a.png", "https://example.org/a.png"}, []any{"a.png", "javascript:alert(1)", "//example.org/a.png", "https://"}},
		{"media_proxy", "direct_hosts", []any{[]any{}, []any{"media.example.org"}}, []any{[]any{""}, []any{"https://media.example.org"}, []any{"*.example.org"}, []any{"a.example; script-src *"}}},
		{"accounts", "restricted_nicknames", []any{[]any{}, []any{"root", "a-b_c"}}, []any{[]any{""}, []any{"a@b"}}},
		{"statuses", "allowed_formats", []any{[]any{"text/plain"}, []any{"text/markdown", "text/plain"}}, []any{[]any{}, []any{"text/html"}, []any{"text/plain", "text/x"}}},
		{"federation", "quarantined_instances",
			[]any{[]any{}, []any{"a.example", map[string]any{"host": "*.b.example"}, map[string]any{"host": "c.example:8443", "reason": "x"}}, []map[string]any{{"host": "bücher.example"}}, []string{"a.example"}},
			[]any{"a.example", []any{5}, []any{""}, []any{"*"}, []any{"*."}, []any{"a b"}, []any{"https://a.example"}, []any{map[string]any{}}, []any{map[string]any{"reason": "x"}}, []any{map[string]any{"host": 5}}, []any{map[string]any{"host": "a.example", "why": "x"}}, []any{"a.*.example"}}},
		{"mrf", "policies",
			[]any{[]any{}, "SimplePolicy", []any{"SimplePolicy", "Svc.Web.ActivityPub.MRF.TagPolicy"}, []any{"HashtagPolicy"}},
			[]any{[]any{"simplepolicy"}, []any{"Simple"}, []any{"TagPolicy", "TagPolicy"}, []any{"TagPolicy", "Svc.Web.ActivityPub.MRF.TagPolicy"}, 5, ""}},
		{"mrf_subchain", "match_actor",
			[]any{[]any{map[string]any{"pattern": "~r/bot/i", "policies": []any{"DropPolicy"}}}},
			[]any{[]any{"bot"}, []any{map[string]any{"pattern": "bot"}}, []any{map[string]any{"pattern": "~r/(/", "policies": []any{}}}, []any{map[string]any{"pattern": "x", "policies": []any{"SubchainPolicy"}}}, []any{map[string]any{"pattern": "x", "policies": []any{"Nope"}}}}},
		{"mrf_keyword", "reject", []any{[]any{"word", "~r/w[o0]rd/i"}}, []any{[]any{""}, []any{"~r/(/"}, []any{"~r/a*/"}, []any{strings.Repeat("a", 1001)}}},
		{"mrf_keyword", "replace",
			[]any{[]any{map[string]any{"pattern": "a", "replacement": "b"}, map[string]any{"pattern": "a"}, "a"}},
			[]any{[]any{map[string]any{"replacement": "b"}}, []any{map[string]any{"pattern": "a", "replacement": strings.Repeat("b", 1001)}}}},
		{"mrf_hashtag", "sensitive", []any{[]any{}, []any{"nsfw", "日本"}}, []any{[]any{""}, []any{"a b"}, []any{"1"}}},
		{"mrf_mention", "actors", []any{[]any{"https://a.example/users/1"}}, []any{[]any{"alice"}, []any{"javascript:x"}, []any{"https://"}}},
		{"mrf_vocabulary", "accept", []any{[]any{"Create"}}, []any{[]any{""}, []any{"as:Create"}, []any{"https://x.example"}}},
		{"mrf_object_age", "actions", []any{[]any{}, []any{"reject"}}, []any{[]any{"hide"}}},
		{"mrf_user_allowlist", "hosts", []any{[]any{map[string]any{"host": "a.example", "actors": []any{"https://a.example/1"}}}}, []any{[]any{"a.example"}, []any{map[string]any{"host": "a.example", "actors": []any{"alice"}}}, []any{map[string]any{"host": "a.example", "actors": "x"}}}},
		{"mrf_steal_emoji", "pack", []any{"stolen", "my pack"}, []any{"", ".x", "a/b", "..", "a\\b", "a\nb"}},
		{"mrf_inline_quote", "template", []any{"{url}", "<b>RT</b> {url}"}, []any{"", "RT", strings.Repeat("x", 1000) + "{url}"}},
		{"mrf_nsfw_api", "threshold", []any{0, 1, 0.5, json.Number("0.25")}, []any{-0.1, 1.1, 2, "0.5", json.Number("x")}},
		{"mrf_nsfw_api", "url", []any{"http://127.0.0.1:5000/"}, []any{"", "127.0.0.1:5000", "ftp://x.example"}},
		{"translation", "url", []any{"", "http://127.0.0.1:5000", "https://translate.example.org/api"}, []any{"127.0.0.1:5000", "ftp://translate.example.org"}},
		{"translation", "api_key", []any{"", "secret"}, []any{"a\nb"}},
		{"captcha", "enabled", []any{false, true}, []any{"false"}},
		{"captcha", "provider", []any{"native", "kocaptcha"}, []any{"", "recaptcha"}},
		{"captcha", "endpoint", []any{"", "https://captcha.example.org"}, []any{"captcha.example.org", "ftp://captcha.example.org"}},
		{"captcha", "seconds_valid", []any{30, 3600}, []any{29, 3601}},
		{"accounts", "email_blacklist", []any{[]any{}, []any{"spam.example"}}, []any{[]any{"a@spam.example"}, []any{""}}},
		{"accounts", "birthday_min_age", []any{0, 16}, []any{-1, 121}},
		{"accounts", "autofollow", []any{[]any{"news", "@news"}}, []any{[]any{"news@other.example"}, []any{""}}},
		{"accounts", "autofollowed_by", []any{[]any{"news"}}, []any{[]any{"a b"}}},
		{"welcome", "sender", []any{"", "news", "@news"}, []any{"a b"}},
		{"metrics", "enabled", []any{false, true}, []any{"true"}},
		{"log", "access", []any{false, true}, []any{1}},
		{"instance", "configurable_from_database", []any{false, true}, []any{1}},
		{"media", "max_frames", []any{1, 200, 10_000}, []any{0, 10_001}},
		{"media", "describe", []any{false, true}, []any{"true", 1}},
		{"oauth", "token_lifetime", []any{"0s", "5m", "36500d", "1h"}, []any{"299s", "36501d", "d", "-1d", "1.5d", "1000000000000d", "9999999h9"}},
		{"rate_limit", "all", []any{"off", "1/1s", "1000000/30d", "3/500ms"}, []any{"", "0/1m", "0/0s", "5/0s", "1000001/1m", "1/31d", "1/1ms", "-1/1m", "x/1m", "1/x", "15", "15/", "/1m", "9999999999/1m", "on"}},
		{"mail", "from", []any{"", "noreply@example.org", "Example <noreply@example.org>"}, []any{"Example", "a@b\r\nBcc: c@d"}},
		{"mail", "host", []any{"", "mail.example.org", "127.0.0.1", "::1", "localhost"}, []any{"mail.example.org:25", "a b", "https://example.org", strings.Repeat("a.", 127) + "a"}},
		{"mail", "port", []any{1, 65535, json.Number("25")}, []any{0, 65536, json.Number("2.5")}},
		{"mail", "password", []any{"", "pä$$ word"}, []any{"a\r\nb"}},
		{"mail", "tls", []any{"starttls", "tls", "none"}, []any{"", "ssl"}},
		{"log", "level", []any{"debug", "info", "warn", "error"}, []any{"trace"}},
		{"metrics", "listen", []any{"127.0.0.1:9090", "/run/metrics.sock"}, []any{"", "9090"}},
	} {
		c := Default()
		for _, v := range tt.good {
			if err := c.Set(tt.group, tt.key, v); err != nil {
				t.Error(err)
			}
		}
		for _, v := range tt.bad {
			err := c.Set(tt.group, tt.key, v)
			if err == nil {
				t.Errorf("%s.%s accepted %q", tt.group, tt.key, v)
			} else if !strings.HasPrefix(err.Error(), tt.group+"."+tt.key+": ") {
				t.Errorf("%q does not name the setting", err)
			}
		}
	}
}

// TestNumbersHaveBounds checks that each number has a minimum and a maximum.
func TestNumbersHaveBounds(t *testing.T) {
	for _, s := range Settings() {
		if s.Kind != Number {
			continue
		}
		for _, n := range []int64{-1, 1 << 60} {
			if err := Default().Set(s.Group, s.Key, n); err == nil {
				t.Errorf("%s may be %d", s.Name(), n)
			}
		}
	}
}

func TestDurations(t *testing.T) {
	for _, tt := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0s"},
		{500 * time.Millisecond, "500ms"},
		{30 * time.Second, "30s"},
		{10 * time.Minute, "10m"},
		{time.Hour, "1h"},
		{90 * time.Minute, "1h30m"},
		{time.Hour + 30*time.Second, "1h0m30s"},
		{20 * time.Hour, "20h"},
		{24 * time.Hour, "1d"},
		{36 * time.Hour, "36h"},
		{maxDays * day, "36500d"},
	} {
		got := formatDuration(tt.d)
		if got != tt.want {
			t.Errorf("%v is written as %s, want %s", tt.d, got, tt.want)
		}
		if back, err := parseDuration(got); err != nil || back != tt.d {
			t.Errorf("%s is read as %v, %v", got, back, err)
		}
	}
}

func FuzzRate(f *testing.F) {
	for _, s := range []string{"off", "15/1m", "3/500ms", "1/1d", "/", "0/0s", "1/-1s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := parseRate(s)
		if err != nil || r.valid() != nil {
			return
		}
		if back, err := parseRate(r.String()); err != nil || back != r {
			t.Errorf("%q is %v, and back %v, %v", s, r, back, err)
		}
	})
}

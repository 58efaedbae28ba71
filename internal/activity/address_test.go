package activity

import (
	"errors"
	"net/url"
	"strings"
	"testing"
)

func TestHost(t *testing.T) {
	for _, tt := range []struct{ id, host, loopback string }{ // "": refused
		{"https://a.example/users/1", "a.example", "a.example"},
		{"https://A.Example/users/1", "a.example", "a.example"},
		{"HTTPS://a.example/1", "a.example", "a.example"},
		{"https://a.example:443/1", "a.example", "a.example"},
		{"https://a.example:8443/1", "a.example:8443", "a.example:8443"},
		{"https://a.example:80/1", "a.example:80", "a.example:80"},
		{"https://a.example", "a.example", "a.example"},
		{"https://a.example?x=1", "a.example", "a.example"},
		{"https://a.example/1#main-key", "a.example", "a.example"},
		{"https://bücher.example/1", "xn--bcher-kva.example", "xn--bcher-kva.example"},
		{"https://xn--bcher-kva.example/1", "xn--bcher-kva.example", "xn--bcher-kva.example"},
		{"https://a.example:0443/1", "a.example", "a.example"},
		{"http://a.example/1", "", "a.example"},
		{"http://a.example:80/1", "", "a.example"},
		{"http://a.example:443/1", "", "a.example:443"},
		{"http://localhost:4000/1", "", "localhost:4000"},
		{"http://LOCALHOST:4000/1", "", "localhost:4000"},
		{"https://localhost/1", "", "localhost"},
		{"http://127.0.0.1:4000/1", "", "127.0.0.1:4000"},
		{"http://127.0.0.1:80/1", "", "127.0.0.1"},
		{"http://[::1]:4000/1", "", "[::1]:4000"},
		{"http://[0:0:0:0:0:0:0:1]:4000/1", "", "[::1]:4000"},
		{"http://[::ffff:127.0.0.1]:4000/1", "", ""},

		{"", "", ""},
		{"a.example/1", "", ""},
		{"//a.example/1", "", ""},
		{"acct:a@a.example", "", ""},
		{"ftp://a.example/1", "", ""},
		{"javascript:alert(1)", "", ""},
		{"https:a.example/1", "", ""},
		{"https:///1", "", ""},
		{"https://:443/1", "", ""},
		{"https://u@a.example/1", "", ""},
		{"https://u:p@a.example/1", "", ""},
		{"https://@a.example/1", "", ""},
		{"https://peer.example@evil.example/1", "", ""},
		{"https://localhost.localdomain@127.0.0.1/1", "", ""},
		{"https://a.example./1", "", ""},
		{"https://a..example/1", "", ""},
		{"https://.a.example/1", "", ""},
		{"https://-a.example/1", "", ""},
		{"https://a_b.example/1", "", ""},
		{"https://a%2eexample/1", "", ""},
		{"https://a%20b.example/1", "", ""},
		{"https://a.example%00.b.example/1", "", ""},
		{"https://a。example/1", "a.example", "a.example"}, // as browsers read it
		{"https://a.0x/1", "", ""},
		{"https://a.08/1", "", ""},
		{"https://a.1:8443/1", "", ""},
		{"https://1.example/1", "1.example", "1.example"},
		{"https://δοκιμή.example/1", "xn--jxalpdlp.example", "xn--jxalpdlp.example"},
		{"https://日本a.example/1", "xn--a-jn6bt1b.example", "xn--a-jn6bt1b.example"},
		{"https://a.example\\@b.example/1", "", ""},
		{"https://a.example/1 2", "", ""},
		{" https://a.example/1", "", ""},
		{"https://a.example/1\n", "", ""},
		{"https://a.example/\x00", "", ""},
		{"https://a.example:/1", "", ""},
		{"https://a.example:0/1", "", ""},
		{"https://a.example:99999/1", "", ""},
		{"https://a.example:x/1", "", ""},
		{"https://example/1", "", ""},
		{"https://192.0.2.1/1", "", ""},
		{"https://192.0.2.1:8443/1", "", ""},
		{"https://0x7f.1/1", "", ""},
		{"https://127.1/1", "", ""},
		{"https://2130706433.0x1/1", "", ""},
		{"https://[2001:db8::1]/1", "", ""},
		{"https://[::ffff:192.0.2.1]/1", "", ""},
		{"https://[fe80::1%25eth0]/1", "", ""},
		{"https://аpple.example/1", "", ""}, // a Cyrillic а
		{"https://xn--pple-43d.example/1", "", ""},
		{"https://a.example/" + strings.Repeat("a", maxURLBytes), "", ""},
		{"https://" + strings.Repeat("a.", 130) + "example/1", "", ""},
	} {
		for i, want := range []string{tt.host, tt.loopback} {
			got, err := Host(tt.id, i == 1)
			if got != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, ErrMalformed) {
				t.Errorf("host of %.80q (loopback %v): got %q, %v, want %q", tt.id, i == 1, got, err, want)
			}
		}
	}
}

func TestSameHost(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"https://a.example/1", "https://A.example:443/2", true},
		{"https://a.example/1", "https://b.a.example/1", false},
		{"https://a.example/1", "https://a.example:8443/1", false},
		{"https://a.example/1", "http://a.example/1", false},
		{"https://bücher.example/1", "https://xn--bcher-kva.example/2", true},
		{"https://a.example/1", "", false},
		{"", "", false},
		{"x", "x", false},
	} {
		if got := SameHost(tt.a, tt.b, false); got != tt.want {
			t.Errorf("%s and %s: %v", tt.a, tt.b, got)
		}
	}
}

func TestWithoutFragment(t *testing.T) {
	for in, want := range map[string]string{"https://a.example/1#main-key": "https://a.example/1", "https://a.example/1": "https://a.example/1", "#": "", "a#b#c": "a"} {
		if got := WithoutFragment(in); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

func FuzzHost(f *testing.F) {
	for _, s := range []string{"https://a.example/1", "https://bücher.example:8443/", "http://127.0.0.1:80", "http://127.0.0.1:", "https://u@a.example", "https://a.example:443#x", "https://xn--pple-43d.example"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, id string, allowLoopback bool) {
		host, err := Host(id, allowLoopback)
		if err != nil {
			if host != "" || !errors.Is(err, ErrMalformed) {
				t.Errorf("%q: %q, %v", id, host, err)
			}
			return
		}
		if host == "" || host != strings.ToLower(host) || strings.ContainsAny(host, " /@#?\\%") {
			t.Errorf("%q has the host %q", id, host)
		}
		u, err := url.Parse(id)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Host(u.Scheme+"://"+host+"/", allowLoopback)
		if err != nil || again != host {
			t.Errorf("%q has the host %q, which is %q, %v", id, host, again, err)
		}
		if !SameHost(id, u.Scheme+"://"+host, allowLoopback) {
			t.Errorf("%q is not of its own host", id)
		}
	})
}

func TestRegisteredDomain(t *testing.T) {
	for host, want := range map[string]string{
		"example.com": "example.com", "a.b.example.com": "example.com", "example.com:8443": "example.com", "a.example.co.uk": "example.co.uk",
		"127.0.0.1:4000": "127.0.0.1:4000", "localhost:4000": "localhost:4000", "[::1]:4000": "[::1]:4000",
	} {
		if got := RegisteredDomain(host); got != want {
			t.Errorf("%s: got %s, want %s", host, got, want)
		}
	}
}

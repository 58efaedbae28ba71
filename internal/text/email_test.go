package text

import (
	"net/mail"
	"strings"
	"testing"
)

func TestValidEmail(t *testing.T) {
	for _, good := range []string{
		"alice@example.org", "Alice.B@example.org", "a+tag@sub.example.org", "o'brien@example.org", "a_b-c@xn--bcher-kva.example",
		"alice@localhost", "a@bücher.example", strings.Repeat("a", 64) + "@example.org",
	} {
		if !ValidEmail(good) {
			t.Errorf("%q is refused", good)
		}
	}
	for _, bad := range []string{
		"", "@", "alice", "alice@", "john@gmail", "john@gmail.", "john@com", "@example.org", "alice@@example.org", "a b@example.org", `"a b"@example.org`, "a(x)@example.org",
		"a%b@example.org", "a!b@example.org", "a@b@example.org", ".a@example.org", "a.@example.org", "a..b@example.org", "a@.example.org",
		"a@example..org", "a@example.org.", "a@-example.org", "a@[127.0.0.1]", "a@example.org:25", "a@exa mple.org", "a@example.org\r\nBcc: b",
		"a\x00@example.org", "ä@example.org", "<a@example.org>", "A <a@example.org>", "a@example.org,b@example.org",
		strings.Repeat("a", 65) + "@example.org", "a@" + strings.Repeat("a.", 127) + "example.org",
	} {
		if ValidEmail(bad) {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// FuzzValidEmail compares with the standard library: an accepted address means the same there.
func FuzzValidEmail(f *testing.F) {
	f.Add("alice@example.org")
	f.Add(`"a@b"@example.org`)
	f.Fuzz(func(t *testing.T, address string) {
		if !ValidEmail(address) {
			return
		}
		a, err := mail.ParseAddress(address)
		if err != nil || a.Name != "" || a.Address != address {
			t.Errorf("%q is accepted, and read as %v, %v", address, a, err)
		}
	})
}

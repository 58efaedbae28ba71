package password

import (
	"strings"
	"testing"
)

// The vector is that of Python: hashlib.pbkdf2_hmac("sha512", b"password", salt, 1000, 64), both parts with "." for "+".
const pbkdf2Vector = "$pbkdf2-sha512$1000$.../.../.../.../.../AQ$ttNoFG/8xFS5CG2/KAaorb04cuSYSa7/6z2gXPt6RT6dhnkgLGNqZ7Af6N9T4JucH/..xq5E5gaY3FW0nrUamQ"

func TestVerifyPBKDF2(t *testing.T) {
	now := slot(t, New(cheap))
	withRounds := func(rounds string) string { return strings.Replace(pbkdf2Vector, "$1000$", "$"+rounds+"$", 1) }
	parts := strings.Split(pbkdf2Vector, "$")
	for _, tt := range []struct {
		name, hash, password string
		known, ok            bool
	}{
		{"right", pbkdf2Vector, "password", true, true},
		{"wrong", pbkdf2Vector, "Password", true, false},
		{"empty", pbkdf2Vector, "", true, false},
		{"other rounds", withRounds("1001"), "password", true, false},
		{"the most rounds", withRounds("1000000"), "password", true, false},
		{"one round too many", withRounds("1000001"), "password", false, false},
		{"rounds that take years", withRounds("99999999999999"), "password", false, false},
		{"no rounds", withRounds("0"), "password", false, false},
		{"negative rounds", withRounds("-1"), "password", false, false},
		{"another hash function", strings.Replace(pbkdf2Vector, "sha512", "sha1", 1), "password", false, false},
		{"a part less", strings.Join(parts[:4], "$"), "password", false, false},
		{"a part more", pbkdf2Vector + "$x", "password", false, false},
		{"no base64", strings.Join([]string{"", parts[1], parts[2], parts[3], "!!" + parts[4]}, "$"), "password", false, false},
		{"an empty key", strings.Join([]string{"", parts[1], parts[2], parts[3], ""}, "$"), "", false, false},
		{"a short key, which many passwords match", strings.Join([]string{"", parts[1], parts[2], parts[3], parts[4][:2]}, "$"), "password", false, false},
		{"a long salt", strings.Join([]string{"", parts[1], parts[2], strings.Repeat("A", 2000), parts[4]}, "$"), "password", false, false},
		{"too long a password", pbkdf2Vector, strings.Repeat("x", MaxLength+1), true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Known(tt.hash); got != tt.known {
				t.Errorf("known: %v, want %v", got, tt.known)
			}
			ok, outdated := now.Verify(tt.hash, tt.password)
			if ok != tt.ok || tt.known && !outdated {
				t.Errorf("got %v, %v, want %v, and outdated", ok, outdated, tt.ok)
			}
		})
	}
}

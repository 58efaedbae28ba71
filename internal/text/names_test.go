package text

import (
	"slices"
	"strings"
	"testing"
)

func TestValidNickname(t *testing.T) {
	for _, tt := range []struct {
		nick             string
		strict, extended bool
	}{
		{"bob", true, true},
		{"Bob2", true, true},
		{"123", false, false},
		{"1a", true, true},
		{"1_2", false, true},
		{"bob_b-b", false, true},
		{strings.Repeat("a", MaxNickname), true, true},
		{strings.Repeat("a", MaxNickname+1), false, false},
		{"", false, false},
		{"a.b", false, false},
		{"a b", false, false},
		{"bób", false, false},
		{"a@b", false, false},
		{"bob\n", false, false},
	} {
		if got := ValidNickname(tt.nick, false); got != tt.strict {
			t.Errorf("ValidNickname(%q, false) = %v", tt.nick, got)
		}
		if got := ValidNickname(tt.nick, true); got != tt.extended {
			t.Errorf("ValidNickname(%q, true) = %v", tt.nick, got)
		}
	}
}

func TestReservedNicknames(t *testing.T) {
	list := ReservedNicknames()
	for _, nick := range []string{"api", "API", "Verify_Credentials", "svc"} {
		if !IsReserved(nick, list) {
			t.Errorf("%s is not reserved", nick)
		}
	}
	if IsReserved("bob", list) || IsReserved("", list) {
		t.Error("bob is reserved")
	}
	list[0] = "bob"
	if slices.Contains(ReservedNicknames(), "bob") {
		t.Error("callers can change the list of others")
	}
}

func TestSplitHandle(t *testing.T) {
	for _, tt := range []struct {
		handle, nick, domain string
		ok                   bool
	}{
		{"bob", "bob", "", true},
		{" @bob ", "bob", "", true},
		{"Bob@Example.COM", "Bob", "example.com", true},
		{"@b.o-b_@example.com:8080", "b.o-b_", "example.com:8080", true},
		{"@bob@[2001:DB8::1]:80", "bob", "[2001:db8::1]:80", true},
		{"", "", "", false},
		{"@", "", "", false},
		{"@@example.com", "", "", false},
		{"bob@", "", "", false},
		{"a@b@c", "", "", false},
		{"bób@example.com", "bób", "example.com", true},
		{"bo\u0301b@example.com", "bób", "example.com", true},
		{"a+b!'(),;=&$*~@example.com", "a+b!'(),;=&$*~", "example.com", true},
		{"a%b@example.com", "", "", false},
		{"a/b@example.com", "", "", false},
		{"😀@example.com", "", "", false},
		{"+@example.com", "", "", false},
		{"a\xff@example.com", "", "", false},
		{".a@example.com", "", "", false},
		{"a b@example.com", "", "", false},
		{"bob@exa mple.com", "", "", false},
		{"https://example.com/@bob", "", "", false},
	} {
		nick, domain, ok := SplitHandle(tt.handle)
		if nick != tt.nick || domain != tt.domain || ok != tt.ok {
			t.Errorf("SplitHandle(%q) = %q, %q, %v", tt.handle, nick, domain, ok)
		}
	}
}

func TestNormalizeEmail(t *testing.T) {
	for address, want := range map[string]string{
		"Alice@Example.org": "alice@example.org", "a@exa\u00admple.org": "a@example.org", "a@ｅxample.org": "a@example.org",
		"a@BÜCHER.example": "a@xn--bcher-kva.example", "a@xn--bcher-kva.example": "a@xn--bcher-kva.example", "a@exa mple": "a@exa mple", "A": "a", "": "",
	} {
		if got := NormalizeEmail(address); got != want {
			t.Errorf("NormalizeEmail(%q) = %q, want %q", address, got, want)
		}
	}
}

func TestNormalizeDomain(t *testing.T) {
	for _, tt := range []struct{ domain, want string }{
		{"example.com", "example.com"},
		{"Example.COM.", "example.com"},
		{"example.com:0443", "example.com:443"},
		{"localhost:4000", "localhost:4000"},
		{"127.0.0.1:80", "127.0.0.1:80"},
		{"Bücher.example", "xn--bcher-kva.example"},
		{"XN--BCHER-KVA.example", "xn--bcher-kva.example"},
		{"例え。テスト", "xn--r8jz45g.xn--zckzah"},
		{"[::1]", "[::1]"},
		{"[0:0::1]:80", "[::1]:80"},
		{strings.Repeat("a", 63) + ".example", strings.Repeat("a", 63) + ".example"},
		{strings.Repeat("a", 64) + ".example", ""},
		{strings.Repeat("a.", 127) + "com", ""},
		{"", ""},
		{".", ""},
		{"example.com..", ""},
		{"a..b", ""},
		{"-a.example", ""},
		{"a-.example", ""},
		{"a_b.example", ""},
		{"a b.example", ""},
		{"a/b", ""},
		{"a@b", ""},
		{"a:", ""},
		{"a:0", ""},
		{"a:65536", ""},
		{"a:+1", ""},
		{"::1", ""},
		{"[::1", ""},
		{"[1.2.3.4]", ""},
		{"[fe80::1%eth0]", ""},
		{"xn--a", ""},
		{"aℵ.example", ""},
	} {
		if got := NormalizeDomain(tt.domain); got != tt.want {
			t.Errorf("NormalizeDomain(%q) = %q, want %q", tt.domain, got, tt.want)
		}
	}
}

func TestValidShortcode(t *testing.T) {
	for _, ok := range []string{"a", "blob_cat", "x-1", "+1", strings.Repeat("a", 64)} {
		if !ValidShortcode(ok) {
			t.Errorf("%q is refused", ok)
		}
	}
	for _, bad := range []string{"", "a.b", "../a", "a/b", "é", "a b", ":a:", strings.Repeat("a", 65)} {
		if ValidShortcode(bad) {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestTagName(t *testing.T) {
	for _, tt := range []struct{ tag, want string }{
		{"#Foo", "foo"}, {"Foo", "foo"}, {"#ＦＯＯ", "foo"}, {"#É", "é"}, {"#1a", "1a"},
		{"", ""}, {"#", ""}, {"##a", ""}, {"#1", ""}, {"#a b", ""}, {"#a/b", ""}, {"#·a", ""}, {"#a·", ""}, {"#ﷺ", ""},
	} {
		if got := TagName(tt.tag); got != tt.want {
			t.Errorf("TagName(%q) = %q, want %q", tt.tag, got, tt.want)
		}
	}
}

func TestTagKey(t *testing.T) {
	for _, tt := range []struct{ one, other string }{
		{"català", "catala"}, {"Straße", "strasse"}, {"łódź", "LODZ"}, {"ёж", "еж"}, {"øre", "ore"}, {"ＦＯＯ", "foo"}, {"ﾊﾟﾝ", "パン"}, {"שָׁלוֹם", "שלום"}, {"كِتَاب", "كتاب"},
		{"Ὀδυσσεύς", "οδυσσευσ"},
	} {
		if one, other := TagKey(TagName(tt.one)), TagKey(TagName(tt.other)); one != other || one == "" || TagKey(one) != one {
			t.Errorf("%q has the key %q, %q has %q", tt.one, one, tt.other, other)
		}
	}
	for _, tt := range []struct{ one, other string }{{"мой", "мои"}, {"か", "が"}, {"col·lecció", "colleccio"}, {"a_b", "ab"}, {"ـ", "a"}} {
		if one, other := TagKey(TagName(tt.one)), TagKey(TagName(tt.other)); one == other || one == "" {
			t.Errorf("%q and %q have the key %q", tt.one, tt.other, one)
		}
	}
}

func TestNormalizeAddress(t *testing.T) {
	for _, tt := range []struct{ address, want string }{
		{"HTTPS://Example.ORG/@Bob", "https://example.org/@Bob"}, {"hTTp://EXAMPLE.org:80?Q", "http://example.org:80?Q"}, {"https://example.org/A", "https://example.org/A"},
		{"HTTPS://Bob:PW@Example.org/", "https://Bob:PW@Example.org/"}, {"https", "https"}, {"HTTP:/a", "HTTP:/a"}, {"FTP://A", "FTP://A"}, {"", ""}, {"Bob", "Bob"},
		{"HTTPS://BÜCHER.example/É", "https://bücher.example/É"},
	} {
		if got := NormalizeAddress(tt.address); got != tt.want {
			t.Errorf("NormalizeAddress(%q) = %q, want %q", tt.address, got, tt.want)
		}
	}
}

func TestTagURL(t *testing.T) {
	if got, want := TagURL(base, "é_1"), "https://example.org/tags/%C3%A9_1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFoldKey(t *testing.T) {
	for _, tt := range []struct{ s, want string }{
		{"Bob", "bob"}, {"É", "é"}, {"e\u0301", "é"}, {"ＡＢ", "ab"}, {"ß", "ß"}, {"\xff", "\uFFFD"},
	} {
		if got := FoldKey(tt.s); got != tt.want {
			t.Errorf("FoldKey(%q) = %q, want %q", tt.s, got, tt.want)
		}
	}
}

func TestLanguage(t *testing.T) {
	for _, tt := range []struct{ tag, want string }{
		{"en", "en"}, {"EN", "en"}, {"deu", "de"}, {"tok", "tok"}, {"pt-br", "pt-BR"}, {"pt_BR", "pt-BR"},
		{"zh-hant-tw", "zh-Hant-TW"}, {"en-x-private", "en"}, {"de-1996", "de"}, {"en-u-ca-buddhist", "en"}, {"iw", "he"},
		{"", ""}, {"e", ""}, {"xx", ""}, {"und", ""}, {"x-a", ""}, {"english", ""}, {"en US", ""}, {"12", ""},
		{strings.Repeat("en-", 20) + "us", ""},
	} {
		if got := Language(tt.tag); got != tt.want {
			t.Errorf("Language(%q) = %q, want %q", tt.tag, got, tt.want)
		}
	}
}

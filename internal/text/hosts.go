package text

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"
)

// maxAuthority is the largest number of bytes from "//" to the path.
const maxAuthority = 300

// authorityEnd returns the end of "//host[:port]" at s[i:], with or without userinfo, or 0 if there is none. It reads at most maxAuthority bytes.
func authorityEnd(s string, i int) int {
	if !strings.HasPrefix(s[i:], "//") {
		return 0
	}
	start := i + len("//")
	if start += userinfoLen(s[start:]); start == len(s) {
		return 0
	}
	end := start
	if s[start] == '[' {
		end += 1 + strings.IndexByte(s[start:min(len(s), start+maxAuthority)], ']')
	} else {
		end = hostEnd(s, start)
	}
	if !validHost(s[start:end]) {
		return 0
	}
	if n := portLen(s[end:]); n > 0 {
		return end + n
	}
	if end+1 < len(s) && s[end] == ':' {
		switch next := s[end+1]; {
		case next == '/' || next == '?' || next == '#': // an empty port
			return end + 1
		case isLetter(next):
			return 0
		}
	}
	return end
}

// userinfoLen returns the length of "user:password@" at the start of s, or 0.
func userinfoLen(s string) int {
	s = s[:min(len(s), maxAuthority)]
	if s == "" || !isLetter(s[0]) && !isDigit(s[0]) || strings.IndexByte(s, '@') < 0 {
		return 0
	}
	n := 0
	for i := range len(s) {
		switch b := s[i]; {
		case b == '@':
			n = i + 1
		case !asciiWord(b) && strings.IndexByte("-.~:%+=!$&", b) < 0:
			return n
		}
	}
	return n
}

// hostEnd returns the end of the host name at s[i:]. Emoji are read, because there are domains with them. It reads about maxAuthority bytes.
func hostEnd(s string, i int) int {
	end, emoji := i, false // the last character is of an emoji
	for end < len(s) && end-i < maxAuthority {
		if b := s[end]; b < utf8.RuneSelf {
			if !asciiWord(b) && b != '-' && b != '.' && b != '%' {
				break
			}
			end++
			emoji = false
			continue
		}
		r, size := utf8.DecodeRuneInString(s[end:])
		if emoji = unicode.Is(unicode.So, r) || emoji && continuesEmoji(r); !emoji && !isWord(r) {
			break
		}
		end += size
	}
	return i + len(cutHost(s[i:end]))
}

// continuesEmoji returns true for characters that change the emoji before them or join it with the next.
func continuesEmoji(r rune) bool {
	return r == '\u200d' || r == '\ufe0f' || r >= 0x1F3FB && r <= 0x1F3FF
}

// cutHost returns what can be a host name of the characters of one. The top-level domain has no symbols, and if it begins in ASCII then Latin
// letters only: text in scripts without spaces goes on behind it.
func cutHost(s string) string {
	s = strings.TrimRight(s, ".-_")
	start := strings.LastIndexByte(s, '.') + 1
	top := s[start:]
	if isASCII(top) {
		return s
	}
	latin := top[0] < utf8.RuneSelf
	for i, r := range top {
		if r >= utf8.RuneSelf && (!isWord(r) || latin && !unicode.In(r, unicode.Latin, unicode.M)) {
			return strings.TrimRight(s[:start+i], ".-_")
		}
	}
	return s
}

// validHost returns whether a host of a URL with scheme can exist. Symbols are allowed below a domain only.
func validHost(host string) bool {
	first, _ := utf8.DecodeRuneInString(host)
	switch {
	case len(host) >= maxAuthority:
		return false
	case first == '[', strings.IndexByte(host, '%') >= 0:
		u, err := url.Parse("http://" + host)
		return err == nil && u.Hostname() != ""
	case unicode.IsLetter(first), unicode.IsDigit(first):
		return true
	}
	return unicode.Is(unicode.So, first) && strings.IndexByte(host, '.') > 0
}

// portLen is the length of the ":port" at the start of s, or 0.
func portLen(s string) int {
	if s == "" || s[0] != ':' {
		return 0
	}
	n := 1
	for n < len(s) && n < 7 && isDigit(s[n]) {
		n++
	}
	if n == 1 || n == 7 {
		return 0
	}
	return n
}

// plausibleHost excludes words that cannot be host names.
func plausibleHost(domain string) bool {
	if domain == "" || strings.Contains(domain, ":") || domain == "localhost" {
		return domain != ""
	}
	dot := strings.LastIndexByte(domain, '.')
	return dot >= 0 && !isDigit(domain[dot+1])
}

// hasKnownTLD returns whether host is below an existing top-level domain.
func hasKnownTLD(host string) bool {
	dot := strings.LastIndexByte(host, '.')
	if dot < 0 || dot+1 == len(host) || len(host) > 253 || isDigit(host[dot+1]) {
		return false
	}
	domain := NormalizeDomain(host)
	if domain == "" {
		return false
	}
	if _, icann := publicsuffix.PublicSuffix(domain[strings.LastIndexByte(domain, '.')+1:]); icann {
		return true
	}
	_, icann := publicsuffix.PublicSuffix(domain) // a top-level domain with listed subdomains only
	return icann
}

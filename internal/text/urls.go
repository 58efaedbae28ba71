package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// linkSchemes are the schemes of URLs that become links. The value is true if "//" and a host must follow.
var linkSchemes = map[string]bool{
	"http": true, "https": true, "dat": true, "dweb": true, "gemini": true, "gopher": true, "hyper": true, "ipfs": true,
	"ipns": true, "irc": true, "ircs": true, "mumble": true,
	"magnet": false, "mailto": false, "ssb": false, "xmpp": false,
}

// maxScheme is the length of the longest of linkSchemes.
const maxScheme = 6

// schemeStart returns where the letters before the colon begin, at i at the earliest. More letters than the longest scheme has are no scheme.
func schemeStart(s string, i, colon int) int {
	start := colon
	for start > i && colon-start <= maxScheme && isLetter(s[start-1]) {
		start--
	}
	return start
}

// schemeAt reads a URL whose scheme is the end of the word s[i:colon]. If letters of a script without spaces precede the scheme, the
// token is the text before the scheme. An end of 0 means that there is no URL.
func schemeAt(s string, i, colon int, prev rune) token {
	start := schemeStart(s, i, colon)
	hasHost, known := linkSchemes[strings.ToLower(s[start:colon])]
	if !known {
		return token{}
	}
	if start > i {
		if s[start-1] < utf8.RuneSelf {
			return token{}
		}
		return token{end: start}
	}
	if prev < utf8.RuneSelf && isWord(prev) || prev == '@' || prev == '.' || prev == '-' {
		return token{}
	}
	if !hasHost {
		return opaqueAt(s, i, colon)
	}
	end := authorityEnd(s, colon+1)
	if end == 0 {
		return token{}
	}
	end = pathEnd(s, end)
	return token{kind: linkToken, end: end, href: encodeQuery(s[i:end])}
}

// opaqueAt reads a URL whose scheme needs no "//". An end of 0 means that there is none, which is known after maxAuthority bytes.
func opaqueAt(s string, i, colon int) token {
	start := colon + 1
	head := s[start:min(len(s), start+maxAuthority)]
	minLength := 1 // minimum bytes of the URL after the scheme
	switch strings.ToLower(s[i:colon]) {
	case "magnet":
		if !strings.HasPrefix(head, "?") {
			return token{}
		}
		minLength = 2
	case "mailto":
		at := strings.IndexByte(head, '@')
		if at < 1 {
			return token{}
		}
		minLength = at + 2
	default:
		name := strings.TrimPrefix(head, "//")
		first, _ := utf8.DecodeRuneInString(name)
		if !unicode.IsLetter(first) && !unicode.IsDigit(first) && !strings.ContainsRune("@%&", first) {
			return token{}
		}
	}
	end := urlEnd(s, start)
	if end < start+minLength {
		return token{}
	}
	return token{kind: linkToken, end: end, href: encodeQuery(s[i:end])}
}

// hostAt reads a URL without scheme that begins with the word s[i:end]. The kind of the token is literal if there is none. The URL is explicit if it
// begins with "www." or has a path: file names and sentences without a space are host names, too.
func hostAt(s string, i, end int) (t token, explicit bool) {
	if end < len(s) && s[end] == '@' { // an e-mail address
		return token{}, false
	}
	host := cutHost(s[i:end])
	if !hasKnownTLD(host) {
		return token{}, false
	}
	explicit = len(host) > len(www) && startsWithWWW(host)
	if i+len(host) < end {
		end = i + len(host)
	} else {
		end += portLen(s[end:])
		explicit = explicit || end < len(s) && s[end] == '/'
		end = pathEnd(s, end)
	}
	return token{kind: linkToken, end: end, href: encodeQuery("http://" + s[i:end])}, explicit
}

// www begins host names that are URLs without a scheme.
const www = "www."

func startsWithWWW(s string) bool {
	return len(s) >= len(www) && s[0]|0x20 == 'w' && strings.EqualFold(s[:len(www)], www)
}

// pathEnd returns the end of a URL whose host and port end at s[i].
func pathEnd(s string, i int) int {
	if i < len(s) && (s[i] == '/' || s[i] == '?' || s[i] == '#') {
		return urlEnd(s, i)
	}
	return i
}

// urlEnd returns the end of a URL that is known up to s[i]: before a character that cannot be in a URL, and without trailing
// punctuation and unbalanced brackets.
func urlEnd(s string, i int) int {
	end := i
	var open [3]int // open brackets: (), [], {}
	stars := 0
	for end < len(s) {
		r, size := utf8.DecodeRuneInString(s[end:])
		if endsURL(r) {
			break
		}
		if r == '*' {
			stars++
		} else if k := strings.IndexRune("([{", r); k >= 0 {
			open[k]++
		} else if k := strings.IndexRune(")]}", r); k >= 0 {
			open[k]--
		}
		end += size
	}
	for end > i {
		r, size := utf8.DecodeLastRuneInString(s[i:end])
		if k := strings.IndexRune(")]}", r); k >= 0 {
			if open[k] >= 0 {
				break
			}
			open[k]++
		} else if r == '*' {
			if stars%2 == 0 && s[end-2] != '*' { // the end of "/*a*", not markup around the URL
				break
			}
			stars--
		} else if !strings.ContainsRune(".,;:!?'~…", r) {
			break
		}
		end -= size
	}
	return end
}

// encodeQuery returns a URL for an href: characters beyond ASCII in its query are encoded in UTF-8, because of servers that read others by the
// encoding of the page.
func encodeQuery(address string) string {
	if isASCII(address) {
		return address
	}
	end := len(address)
	if hash := strings.IndexByte(address, '#'); hash >= 0 {
		end = hash
	}
	start := strings.IndexByte(address[:end], '?')
	if start < 0 || isASCII(address[start:end]) {
		return address
	}
	b := append(make([]byte, 0, len(address)+16), address[:start]...)
	for i := start; i < end; i++ {
		if c := address[i]; c < utf8.RuneSelf {
			b = append(b, c)
		} else {
			b = fmt.Appendf(b, "%%%02X", c)
		}
	}
	return string(append(b, address[end:]...))
}

// endsURL returns true for characters that are not in URLs as people write them: spaces, quotation marks, and in other scripts than ASCII also
// brackets, the ends of sentences and their parts, and the dash between them.
func endsURL(r rune) bool {
	if r < utf8.RuneSelf {
		return r <= ' ' || r == 0x7f || strings.IndexByte("<>\"`\\", byte(r)) >= 0
	}
	if unicode.IsLetter(r) {
		return false
	}
	return r == '—' || unicode.IsSpace(r) || unicode.IsControl(r) ||
		unicode.In(r, unicode.Cf, unicode.Terminal_Punctuation, unicode.Quotation_Mark, unicode.Pi, unicode.Pf, unicode.Ps, unicode.Pe)
}

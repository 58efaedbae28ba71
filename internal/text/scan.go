package text

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"
	"golang.org/x/text/unicode/norm"
)

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	literal tokenKind = iota // plain text
	mentionToken
	hashtagToken
	linkToken
	shortcodeToken
)

// token is a piece of text up to offset end.
type token struct {
	kind    tokenKind
	end     int
	mention Mention
	name    string // of a hashtag (normalised) or shortcode
	href    string
}

// Limits of names; longer ones stay text.
const (
	maxTagName   = 128 // characters
	maxAuthority = 300 // bytes of a URL from "//" to the path
)

// linkSchemes are the schemes of URLs that become links. The value is true if "//" and a host must follow.
var linkSchemes = map[string]bool{
	"http": true, "https": true, "dat": true, "dweb": true, "gemini": true, "gopher": true, "hyper": true, "ipfs": true,
	"ipns": true, "irc": true, "ircs": true, "mumble": true,
	"magnet": false, "mailto": false, "ssb": false, "xmpp": false,
}

// maxScheme is the length of the longest of linkSchemes.
const maxScheme = 6

// tokenAt reads the token at s[i]; prev is the character before it. A token is never empty, and tokenising a whole text takes linear
// time.
func tokenAt(s string, i int, prev rune) token {
	switch b := s[i]; {
	case b == '@':
		if !isWord(prev) && prev != '@' && prev != '/' {
			return mentionAt(s, i)
		}
	case b == '#':
		if !isWord(prev) && prev != '#' && prev != '/' && prev != '&' {
			return hashtagAt(s, i)
		}
	case b == ':':
		return shortcodeAt(s, i)
	case asciiWord(b) || b >= utf8.RuneSelf:
		return wordAt(s, i, prev)
	}
	return token{end: i + 1}
}

// mentionAt reads "@nick" or "@nick@host".
func mentionAt(s string, i int) token {
	end := i + 1
	for end < len(s) && isNickByte(s[end]) {
		end++
	}
	at := end // where the nickname of another server ends, which may have more characters
	for at < len(s) && at-i <= maxRemoteNick {
		r, size := utf8.DecodeRuneInString(s[at:])
		if !isNickRune(r) {
			break
		}
		at += size
	}
	if at < len(s) && s[at] == '@' {
		if t := remoteMentionAt(s, i, at); t.kind == mentionToken || at == end {
			return t
		}
	}
	nick := strings.TrimRight(s[i+1:end], ".")
	if !isNick(nick) {
		return token{end: i + 1 + len(nick)}
	}
	return token{kind: mentionToken, end: i + 1 + len(nick), mention: Mention{Nick: nick}}
}

// remoteMentionAt reads "@nick@host", whose second "@" is at offset at.
func remoteMentionAt(s string, i, at int) token {
	end := at + 1
	for end < len(s) {
		r, size := utf8.DecodeRuneInString(s[end:])
		if r == '_' || r != '-' && r != '.' && !isWord(r) {
			break
		}
		end += size
	}
	host := strings.TrimRight(s[at+1:end], ".-")
	end = at + 1 + len(host)
	if n := portLen(s[end:]); n > 0 {
		end += n
	}
	nick, domain := norm.NFC.String(s[i+1:at]), NormalizeDomain(s[at+1:end])
	if !isNick(nick) || !plausibleHost(domain) || end < len(s) && s[end] == '@' {
		return token{end: end}
	}
	return token{kind: mentionToken, end: end, mention: Mention{Nick: nick, Domain: domain}}
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

// hashtagAt reads "#name".
func hashtagAt(s string, i int) token {
	end, last, count := i+1, i+1, 0
	for end < len(s) {
		r, size := utf8.DecodeRuneInString(s[end:])
		if !isWord(r) && !isTagJoiner(r) {
			break
		}
		end += size
		count++
		if !isTagJoiner(r) {
			last = end
		}
	}
	if count <= maxTagName {
		if name := TagName(s[i+1 : last]); name != "" {
			return token{kind: hashtagToken, end: last, name: name}
		}
	}
	return token{end: end}
}

// shortcodeAt reads ":name:". The closing colon cannot start another shortcode.
func shortcodeAt(s string, i int) token {
	end := i + 1
	for end < len(s) && end-i <= maxShortcode && isShortcodeByte(s[end]) {
		end++
	}
	if end == i+1 || end == len(s) || s[end] != ':' || strings.HasPrefix(s[end:], "://") {
		return token{end: i + 1}
	}
	return token{kind: shortcodeToken, end: end + 1, name: s[i+1 : end]}
}

// wordAt reads a word, or a URL that begins with it.
func wordAt(s string, i int, prev rune) token {
	end, dotted := i, false
	for end < len(s) {
		if b := s[end]; b < utf8.RuneSelf {
			if !asciiWord(b) && b != '.' && b != '-' {
				break
			}
			dotted = dotted || b == '.'
			end++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[end:])
		if !isWord(r) {
			break
		}
		end += size
	}
	if end == i { // neither letter nor digit
		_, size := utf8.DecodeRuneInString(s[i:])
		return token{end: i + size}
	}
	if end < len(s) && s[end] == ':' {
		if t := schemeAt(s, i, end, prev); t.end > 0 {
			return t
		}
	}
	if dotted && !isWord(prev) && !strings.ContainsRune("@/.-\\", prev) {
		if t := hostAt(s, i, end); t.end > 0 {
			return t
		}
	}
	return token{end: end}
}

// schemeAt reads a URL whose scheme is the end of the word s[i:colon]. If letters of a script without spaces precede the scheme, the
// token is the text before the scheme. An end of 0 means that there is no URL.
func schemeAt(s string, i, colon int, prev rune) token {
	start := colon
	for start > i && colon-start <= maxScheme && isLetter(s[start-1]) {
		start--
	}
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
	if hasHost {
		if !hasAuthority(s, colon+1) {
			return token{}
		}
		end := urlEnd(s, colon+1)
		return token{kind: linkToken, end: end, href: s[i:end]}
	}
	return opaqueAt(s, i, colon)
}

// hasAuthority returns whether "//" and a host follow at s[i:]. It reads at most maxAuthority bytes.
func hasAuthority(s string, i int) bool {
	if !strings.HasPrefix(s[i:], "//") {
		return false
	}
	start := i + len("//")
	s = s[:min(len(s), start+maxAuthority)]
	authority := s[start:urlEnd(s, start)]
	if end := strings.IndexAny(authority, "/?#"); end >= 0 {
		authority = authority[:end]
	}
	first, _ := utf8.DecodeRuneInString(authority)
	if first != '[' && !unicode.IsLetter(first) && !unicode.IsDigit(first) {
		return false
	}
	u, err := url.Parse("http://" + authority)
	return err == nil && u.Hostname() != ""
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
	return token{kind: linkToken, end: end, href: s[i:end]}
}

// hostAt reads a URL without scheme that begins with the word s[i:end]. An end of 0 means that there is none.
func hostAt(s string, i, end int) token {
	if end < len(s) && s[end] == '@' { // an e-mail address
		return token{}
	}
	host := strings.TrimRight(s[i:end], ".-_")
	if !hasKnownTLD(host) {
		return token{}
	}
	if i+len(host) == end {
		end += portLen(s[end:])
		if end < len(s) && strings.IndexByte("/?#", s[end]) >= 0 {
			end = max(end, urlEnd(s, end))
		}
	} else {
		end = i + len(host)
	}
	return token{kind: linkToken, end: end, href: "http://" + s[i:end]}
}

// hasKnownTLD returns whether host is below an existing top-level domain.
func hasKnownTLD(host string) bool {
	dot := strings.LastIndexByte(host, '.')
	if dot < 0 || len(host) > 253 || isDigit(host[dot+1]) {
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

// urlEnd returns the end of a URL that is known up to s[i]: before a character that cannot be in a URL, and without trailing
// punctuation and unbalanced brackets.
func urlEnd(s string, i int) int {
	end := i
	var open [3]int // open brackets: (), [], {}
	for end < len(s) {
		r, size := utf8.DecodeRuneInString(s[end:])
		if endsURL(r) {
			break
		}
		if k := strings.IndexRune("([{", r); k >= 0 {
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
		} else if !strings.ContainsRune(".,;:!?'*~…！？，．：；）’”»", r) {
			break
		}
		end -= size
	}
	return end
}

func endsURL(r rune) bool {
	if r < utf8.RuneSelf {
		return r <= ' ' || r == 0x7f || strings.IndexByte("<>\"`\\", byte(r)) >= 0
	}
	return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || unicode.IsControl(r) || strings.ContainsRune("、。「」『』【】《》〈〉", r)
}

// isWord returns whether a character can be in a word or hashtag: letters, digits and marks of all scripts, and "_". "@" or "#" after
// one starts nothing. Variation selectors are excluded, because they belong to emoji.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 0 && asciiWord(byte(r))
	}
	return unicode.In(r, unicode.L, unicode.Nd, unicode.Mn, unicode.Mc) && !unicode.Is(unicode.Variation_Selector, r)
}

func asciiWord(b byte) bool { return isLetter(b) || isDigit(b) || b == '_' }

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

package text

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// MaxNickname is the maximum length of a local nickname.
const MaxNickname = 64

// ValidNickname returns whether a nickname is allowed for local accounts: ASCII letters and digits, if extended also "_" and "-". Digits
// alone are not, because front ends take them for an id. It does not check reserved nicknames.
func ValidNickname(nick string, extended bool) bool {
	return nick != "" && len(nick) <= MaxNickname && !consistsOf(nick, isDigit) && consistsOf(nick, func(b byte) bool {
		return isLetter(b) || isDigit(b) || extended && (b == '_' || b == '-')
	})
}

// consistsOf returns true if all bytes of a text are allowed.
func consistsOf(s string, allowed func(byte) bool) bool {
	for i := range len(s) {
		if !allowed(s[i]) {
			return false
		}
	}
	return true
}

// ReservedNicknames returns the nicknames that are reserved by default, because they are path segments of the server.
func ReservedNicknames() []string {
	return []string{
		".well-known", "~", "about", "activities", "api", "auth", "check_password", "dev", "friend-requests", "inbox",
		"internal", "main", "media", "nodeinfo", "notice", "oauth", "objects", "ostatus_subscribe", "svc", "proxy",
		"push", "registration", "relay", "settings", "status", "tag", "user-search", "user_exists", "users", "web",
		"verify_credentials", "update_credentials", "relationships", "search", "lookup", "familiar_followers", "confirmation_resend", "mfa",
	}
}

// IsReserved returns whether a nickname is in the list, ignoring case.
func IsReserved(nick string, reserved []string) bool {
	return slices.ContainsFunc(reserved, func(r string) bool { return strings.EqualFold(r, nick) })
}

// NormalizeDomain returns the canonical form of a host name or address, with its port if it has one: lower case, ASCII (RFC 5891), no
// trailing dot. It returns "" if it is not valid.
func NormalizeDomain(domain string) string {
	if strings.HasPrefix(domain, "[") {
		return normalizeIPv6(domain)
	}
	host, port, hasPort := strings.Cut(domain, ":")
	if hasPort {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return ""
		}
		port = ":" + strconv.FormatUint(n, 10)
	}
	if len(host) > 1024 {
		return ""
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if !isASCII(host) || strings.Contains(host, "xn--") {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return ""
		}
		// Some labels become invalid when their characters are mapped.
		if again, err := idna.Lookup.ToASCII(ascii); err != nil || again != ascii {
			return ""
		}
		host = strings.TrimSuffix(ascii, ".")
	}
	if !isHostname(host) {
		return ""
	}
	return host + port
}

// NormalizeAddress returns a URL of HTTP with scheme and host in lower case (RFC 3986 6.2.2.1), because others are not
// found. Other texts, and a host with userinfo, are unchanged.
func NormalizeAddress(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	scheme = strings.ToLower(scheme)
	if !ok || scheme != "http" && scheme != "https" {
		return s
	}
	host := len(rest)
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host = end
	}
	if strings.IndexByte(rest[:host], '@') >= 0 {
		return scheme + "://" + rest
	}
	return scheme + "://" + strings.ToLower(rest[:host]) + rest[host:]
}

func normalizeIPv6(s string) string {
	if addr, ok := strings.CutSuffix(s, "]"); ok {
		ip, err := netip.ParseAddr(addr[1:])
		if err != nil || !ip.Is6() || ip.Zone() != "" {
			return ""
		}
		return "[" + ip.String() + "]"
	}
	ap, err := netip.ParseAddrPort(s)
	if err != nil || ap.Port() == 0 || !ap.Addr().Is6() || ap.Addr().Zone() != "" {
		return ""
	}
	return ap.String()
}

// isHostname checks a host in lower-case ASCII by the rules of RFC 1123.
func isHostname(host string) bool {
	if host == "" || len(host) > 253 {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' ||
			!consistsOf(label, func(b byte) bool { return isLetter(b) || isDigit(b) || b == '-' }) {
			return false
		}
	}
	return true
}

// Lengths of e-mail addresses (RFC 5321 4.5.3.1).
const (
	maxEmail     = 254
	maxLocalPart = 64
)

// ValidEmail returns whether an e-mail address is valid and unambiguous for all mail servers: no quotes, no comments, no routing
// characters, and a host name with a dot after the @.
func ValidEmail(address string) bool {
	at := strings.LastIndexByte(address, '@')
	if at < 1 || at > maxLocalPart || len(address) > maxEmail {
		return false
	}
	local, domain := address[:at], address[at+1:]
	if local[0] == '.' || local[at-1] == '.' || strings.Contains(local, "..") {
		return false
	}
	if !consistsOf(local, func(b byte) bool { return isLetter(b) || isDigit(b) || strings.IndexByte("._+-=&'~#", b) >= 0 }) {
		return false
	}
	if !strings.Contains(domain, ".") && domain != "localhost" {
		return false // a typing error, such as alice@gmail
	}
	return !strings.ContainsAny(domain, ":[]") && !strings.HasSuffix(domain, ".") && NormalizeDomain(domain) != ""
}

// HostName returns the normalised form of a host name of the DNS with at least two labels, "" for anything else: a URL, a port, an IP address.
func HostName(host string) string {
	host = NormalizeDomain(strings.TrimSpace(host))
	dot := strings.LastIndexByte(host, '.')
	if dot < 0 || len(host) > 253 || strings.ContainsAny(host, ":[]") || isDigit(host[dot+1]) {
		return ""
	}
	return host
}

// NormalizeEmail returns the form in which valid e-mail addresses are compared: lower case, and the domain as it is in the DNS (RFC 5891).
func NormalizeEmail(address string) string {
	at := strings.LastIndexByte(address, '@')
	if domain := NormalizeDomain(address[at+1:]); domain != "" {
		return strings.ToLower(address[:at+1]) + domain
	}
	return strings.ToLower(address)
}

// TagName returns the normalised name of a hashtag with or without "#", "" if it is not valid.
func TagName(s string) string {
	name := FoldKey(trimHash(s))
	count, last := 0, ' '
	named, digits := false, false // has a letter or an underscore between digits, a digit
	for i, r := range name {
		switch {
		case unicode.IsLetter(r):
			named = true
		case unicode.IsDigit(r):
			named = named || digits && last == '_'
			digits = true
		case isWord(r):
			if count == 0 && r != '_' {
				return ""
			}
		case isTagJoiner(r) && count > 0, isWaveDash(r) && isBetweenKana(last, name[i+utf8.RuneLen(r):]):
		default:
			return ""
		}
		count++
		last = r
	}
	if !named || count > maxTagName || isTagJoiner(last) {
		return ""
	}
	return name
}

// TagKey returns the form in which the names of hashtags are compared. Like search, it ignores accents and vowel points: #català and #catala are
// one hashtag with two spellings.
func TagKey(name string) string {
	if isASCII(name) {
		return strings.ToLower(name)
	}
	key := strings.Map(func(r rune) rune {
		if ignoredInSearch(r) {
			return -1
		}
		return r
	}, foldSearch(name))
	if key == "" { // only of characters that are optional beside others
		return name
	}
	return key
}

// trimHash returns the name of a hashtag without its sign. Both wave dashes become the one that compatibility forms leave alone.
func trimHash(s string) string {
	if s = strings.TrimPrefix(s, "#"); isASCII(s) {
		return s
	}
	return strings.ReplaceAll(strings.TrimPrefix(s, string(fullWidthHash)), "～", "〜")
}

// isTagJoiner returns whether a character is allowed within a hashtag only: the middle dots of Catalan and Japanese, and the zero-width
// non-joiner of Persian.
func isTagJoiner(r rune) bool { return r == '·' || r == '・' || r == '\u200c' }

// isWaveDash returns whether a character lengthens a sound in Japanese. In other scripts it means a range.
func isWaveDash(r rune) bool { return r == '〜' || r == '～' }

// isBetweenKana returns whether prev and the start of next are kana.
func isBetweenKana(prev rune, next string) bool {
	first, _ := utf8.DecodeRuneInString(next)
	return isKana(prev) && isKana(first)
}

func isKana(r rune) bool { return r == 'ー' || unicode.In(r, unicode.Hiragana, unicode.Katakana) }

// FoldKey returns the form in which nicknames and hashtags are compared: NFKC, lower case.
func FoldKey(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return norm.NFKC.String(strings.ToLower(norm.NFKC.String(validUTF8(s))))
}

// Language returns the canonical form of a language tag (BCP 47), reduced to language, script and region, such as "en", "pt-BR",
// "zh-Hant". It returns "" if it is not valid.
func Language(tag string) string {
	if len(tag) < 2 || len(tag) > 35 {
		return ""
	}
	parsed, err := language.Parse(tag)
	if err != nil {
		return ""
	}
	base, script, region := parsed.Raw()
	if base.String() == "und" {
		return ""
	}
	short, err := language.Compose(base, script, region)
	if err != nil {
		return ""
	}
	return short.String()
}

func validUTF8(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

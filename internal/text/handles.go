package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Lengths of names of other servers.
const (
	maxRemoteNick      = 256 // bytes of one in ASCII
	maxRemoteNickRunes = 64  // characters of any other
	maxShortcode       = 64  // bytes of one in ASCII, characters of any other
)

// SplitHandle splits "nick", "@nick", "nick@host" or "@nick@host". The nickname is in NFC, the domain is normalised, and empty if there is none.
func SplitHandle(handle string) (nick, domain string, ok bool) {
	handle = strings.TrimPrefix(strings.TrimSpace(handle), "@")
	nick, host, remote := strings.Cut(handle, "@")
	nick = norm.NFC.String(nick)
	if !isNick(nick) {
		return "", "", false
	}
	if !remote {
		return nick, "", true
	}
	domain = NormalizeDomain(host)
	if domain == "" {
		return "", "", false
	}
	return nick, domain, true
}

// NickKey returns the form in which nicknames are compared: NFC, case-folded. Unlike FoldKey it keeps letters apart that only look alike,
// because they are those of different accounts.
func NickKey(nick string) string {
	if isASCII(nick) {
		return strings.ToLower(nick)
	}
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(validUTF8(nick))))
}

// SameNick returns whether two nicknames are those of one account, on one server.
func SameNick(a, b string) bool { return a == b || NickKey(a) == NickKey(b) }

// isNick returns whether a nickname is valid for an account of any server: letters, digits, and what an account name of WebFinger may have
// unencoded (RFC 7565 7). The rules for local nicknames are narrower: see ValidNickname.
func isNick(nick string) bool {
	if nick == "" || len(nick) > maxRemoteNick || nick[0] == '.' || nick[len(nick)-1] == '.' {
		return false
	}
	if consistsOf(nick, isNickByte) {
		return true
	}
	return utf8.ValidString(nick) && utf8.RuneCountInString(nick) <= maxRemoteNickRunes && hasLetter(nick) && !strings.ContainsFunc(nick, func(r rune) bool {
		return !isNickRune(r) && !strings.ContainsRune("!'(),;", r)
	})
}

// isNickByte returns whether a character can be in the nicknames of most servers.
func isNickByte(b byte) bool { return asciiWord(b) || b == '-' || b == '.' }

// isNickRune returns whether a character can be in a nickname within a text: punctuation that ends a mention there cannot.
func isNickRune(r rune) bool {
	return isWord(r) || r < utf8.RuneSelf && strings.ContainsRune("-.~+=&$*", r)
}

func hasLetter(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// ValidShortcode returns whether a name is valid for custom emoji of this server. Such a name is also safe as a file name.
func ValidShortcode(code string) bool {
	return code != "" && len(code) <= maxShortcode && consistsOf(code, isShortcodeByte)
}

func isShortcodeByte(b byte) bool { return asciiWord(b) || b == '-' || b == '+' }

// ValidRemoteShortcode returns whether a name is valid for custom emoji of other servers, which may have letters of all scripts and dots.
func ValidRemoteShortcode(code string) bool {
	return ValidShortcode(code) || utf8.ValidString(code) && utf8.RuneCountInString(code) <= maxShortcode && hasLetter(code) &&
		!strings.ContainsFunc(code, func(r rune) bool { return !isWord(r) && (r >= utf8.RuneSelf || !strings.ContainsRune("-+.~", r)) })
}

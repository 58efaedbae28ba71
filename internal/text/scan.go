package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

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
	maxTagName  = 128 // characters
	maxMatrixID = 255 // bytes
)

// tokenAt reads the token at s[i]; prev is the character before it. A token is never empty, and tokenising a whole text takes linear
// time.
func tokenAt(s string, i int, prev rune) token {
	switch b := s[i]; {
	case b == '@':
		if !isWord(prev) && prev != '@' && prev != '/' {
			return mentionAt(s, i)
		}
	case b == '#':
		if mayPrecedeHashtag(prev) {
			return hashtagAt(s, i, len("#"))
		}
	case b == ':':
		return shortcodeAt(s, i)
	case asciiWord(b) || b >= utf8.RuneSelf:
		return wordAt(s, i, prev)
	}
	return token{end: i + 1}
}

// fullWidthHash begins a hashtag as "#" does. Japanese and Chinese keyboards write it.
const fullWidthHash = '＃'

func mayPrecedeHashtag(prev rune) bool {
	return !isWord(prev) && prev != '#' && prev != fullWidthHash && prev != '/' && prev != '&'
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
	if id := matrixIDEnd(s, i, i+1+len(nick)); id > 0 {
		return token{end: id}
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
	end = at + 1 + len(cutHost(s[at+1:end]))
	if n := portLen(s[end:]); n > 0 {
		end += n
	}
	nick, domain := norm.NFC.String(s[i+1:at]), NormalizeDomain(s[at+1:end])
	if !isNick(nick) || !plausibleHost(domain) || end < len(s) && s[end] == '@' {
		return token{end: end}
	}
	return token{kind: mentionToken, end: end, mention: Mention{Nick: nick, Domain: domain}}
}

// matrixIDEnd returns the end of an id of Matrix that begins at s[i], such as "@user:matrix.org" or "#room-a:matrix.org", or 0. A part of it, to s[end],
// is a name. Ids are no links, because the name belongs to another network.
func matrixIDEnd(s string, i, end int) int {
	for end < len(s) && end-i < maxMatrixID && (asciiWord(s[end]) || strings.IndexByte("-.=/+", s[end]) >= 0) {
		end++
	}
	if end == len(s) || s[end] != ':' {
		return 0
	}
	start := end + 1
	if end = hostEnd(s, start); !hasKnownTLD(s[start:end]) {
		return 0
	}
	return end + portLen(s[end:])
}

// hashtagAt reads "#name", whose sign has a number of bytes.
func hashtagAt(s string, i, sign int) token {
	end, last, count := i+sign, i+sign, 0
	for prev := ' '; end < len(s); {
		r, size := utf8.DecodeRuneInString(s[end:])
		joiner := isTagJoiner(r)
		if !isWord(r) && !joiner && !(isWaveDash(r) && isBetweenKana(prev, s[end+size:])) {
			break
		}
		end += size
		count++
		if !joiner {
			last = end
		}
		prev = r
	}
	if count <= maxTagName {
		if name := TagName(s[i+sign : last]); name != "" {
			if id := matrixIDEnd(s, i, last); id > 0 {
				return token{end: id}
			}
			return token{kind: hashtagToken, end: last, name: name}
		}
	}
	return token{end: end}
}

// isBetweenHashtags returns whether the text after a hashtag begins with a slash and the sign of another one.
func isBetweenHashtags(s string) bool {
	return len(s) > 1 && s[0] == '/' && (s[1] == '#' || strings.HasPrefix(s[1:], string(fullWidthHash)))
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
		if end += size; startsWithWWW(s[end:]) { // of a script without spaces: "見てwww.example.org", as behind a scheme
			break
		}
	}
	if end == i { // neither letter nor digit
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == fullWidthHash && mayPrecedeHashtag(prev) {
			return hashtagAt(s, i, size)
		}
		return token{end: i + size}
	}
	if end < len(s) && s[end] == ':' {
		if t := schemeAt(s, i, end, prev); t.end > 0 {
			return t
		}
	}
	if dotted && mayPrecedeHost(prev, s[i:]) {
		if t, explicit := hostAt(s, i, end); explicit {
			return t
		}
	}
	return token{end: end}
}

// mayPrecedeHost returns whether a URL without scheme, at the start of s, can follow a character.
func mayPrecedeHost(prev rune, s string) bool {
	if isWord(prev) {
		return prev >= utf8.RuneSelf && startsWithWWW(s)
	}
	return !strings.ContainsRune("@/.-\\:", prev)
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

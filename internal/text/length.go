package text

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// maxCluster is how many code points count as one character, however many are piled on each other. The longest emoji
// have about ten.
const maxCluster = 32

// Length is the number of characters that count against the limit of a post: grapheme clusters of the trimmed body and
// the trimmed subject. An endless pile of marks counts as several, so the limit bounds the size in bytes too.
func Length(body, subject string) int {
	return countCharacters(strings.TrimSpace(body)) + countCharacters(strings.TrimSpace(subject))
}

func countCharacters(s string) int {
	n := 0
	for s != "" {
		size := clusterLen(s)
		n++
		if size > maxCluster {
			n += (utf8.RuneCountInString(s[:size]) - 1) / maxCluster
		}
		s = s[size:]
	}
	return n
}

// clusterLen is the length in bytes of the grapheme cluster at the start of s, which is not empty.
func clusterLen(s string) int {
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		if len(s) > 1 && s[0] == '\r' && s[1] == '\n' {
			return 2
		}
		return 1
	}
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(s, -1)
	return len(cluster)
}

// Truncate returns a text on one line, cut to at most limit characters; "…" stands for what is missing.
func Truncate(s string, limit int) string {
	return Shorten(strings.Join(strings.Fields(s), " "), limit)
}

// Shorten is Truncate for a text whose lines and spaces stay as they are.
func Shorten(s string, limit int) string {
	if limit < 1 {
		return ""
	}
	if len(s) <= limit {
		return s
	}
	end, keep := 0, 0 // keep is the end of all characters but the last
	for range limit {
		if end == len(s) {
			return s
		}
		keep = end
		end += clusterLen(s[end:])
	}
	if end == len(s) {
		return s
	}
	return strings.TrimRight(s[:keep], " ") + "…"
}

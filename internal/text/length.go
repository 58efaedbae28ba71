package text

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// maxCluster is the number of code points that count as one character. The longest emoji have about ten.
const maxCluster = 32

// Length returns the number of characters that count against the limit of a post: grapheme clusters of the trimmed body and subject. A
// cluster longer than maxCluster counts as several, so that the limit also bounds the size in bytes.
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

// clusterLen returns the length in bytes of the grapheme cluster at the start of s, which is not empty.
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

// Truncate returns a text on one line, cut to at most limit characters with "…" at the end.
func Truncate(s string, limit int) string {
	return Shorten(strings.Join(strings.Fields(s), " "), limit)
}

// Shorten is Truncate without changing line breaks and spaces.
func Shorten(s string, limit int) string {
	if limit < 1 {
		return ""
	}
	if len(s) <= limit {
		return s
	}
	end, keep := 0, 0 // keep is the end of all characters except the last
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

package emoji

import (
	_ "embed"
	"strings"
	"sync"

	"svc/internal/packed"
)

//go:generate ./rgi.sh 17.0.0

// rgi is the set RGI_Emoji of Unicode Technical Standard 51, fully qualified, one per line. Source: data files of Unicode
// (Unicode License v3).
//
//go:embed rgi.txt.gz
var rgi []byte

const (
	variationSelector = "\uFE0F" // selects the coloured form of the preceding character
	maxUnicode        = 64       // bytes; the longest emoji has 35
	regionalA         = '\U0001F1E6'
	regionalZ         = '\U0001F1FF'
)

// canonical maps emoji without variation selectors to their canonical form.
var canonical = sync.OnceValue(func() map[string]string {
	text := string(packed.Text(rgi))
	m := make(map[string]string, strings.Count(text, "\n")+26)
	for e := range strings.Lines(text) {
		e = strings.TrimSuffix(e, "\n")
		m[unqualified(e)] = e
	}
	for r := regionalA; r <= regionalZ; r++ {
		m[string(r)] = string(r)
	}
	return m
})

// Canonical returns the canonical form of a Unicode emoji, with all its variation selectors, and whether s is one: a single emoji
// recommended for general interchange, or a regional indicator (spec 4.4). Emoji with skin tones are distinct.
func Canonical(s string) (string, bool) {
	if len(s) > maxUnicode {
		return "", false
	}
	e, ok := canonical()[unqualified(s)]
	return e, ok
}

func unqualified(s string) string { return strings.ReplaceAll(s, variationSelector, "") }

package emoji

import (
	_ "embed"
	"slices"
	"strings"

	"svc/internal/packed"
)

//go:generate ./names.sh 1.8.0

// names are the emoji that a picker shows, one per line: emoji, group, version, version of its skin tones, skin tones, shortcodes, and for each
// language the name and the keywords. Source: CLDR (Unicode License v3), groups and shortcodes by emojibase (MIT).
//
//go:embed names.tsv.gz
var names []byte

// NameLanguages are the languages in which emoji have names.
var NameLanguages = []string{"en", "de"}

// Named is a Unicode emoji with what it is found by.
type Named struct {
	Emoji       string // canonical
	Group       string // its number in the data of emojibase
	Version     string // of Unicode's emoji that has it
	SkinVersion string // of Unicode's emoji that has all its skin tones
	Skins       []string
	Shortcodes  []string
	Name        string
	Keywords    []string
}

// columns of names
const (
	textColumn = iota
	groupColumn
	versionColumn
	skinVersionColumn
	skinsColumn
	shortcodesColumn
	languageColumn // the name in the first language; its keywords, then the next language follow
)

// Names returns the Unicode emoji of a picker in their order, named in a language, or in the first one of NameLanguages if there are no names in
// it. Skin tones do not stand for themselves.
func Names(language string) []Named {
	at := languageColumn + 2*max(0, slices.Index(NameLanguages, language))
	text := string(packed.Text(names))
	list := make([]Named, 0, strings.Count(text, "\n"))
	for line := range strings.Lines(text) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		list = append(list, Named{
			Emoji: row[textColumn], Group: row[groupColumn], Version: row[versionColumn], SkinVersion: row[skinVersionColumn],
			Skins: strings.Fields(row[skinsColumn]), Shortcodes: strings.Fields(row[shortcodesColumn]), Name: row[at], Keywords: strings.Split(row[at+1], "|"),
		})
	}
	return list
}

// Common are emoji that people react with most.
var Common = strings.Fields("👍 ❤️ 😂 🎉 😮 😢 🙏 🔥 👏 😍 🤔 👀 💯 🥰 😡 👎 🤣 😅 🤗 💜 🌈 ☕ 🐱 🌻")

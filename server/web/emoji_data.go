package web

import (
	"strconv"
	"strings"

	"svc/emoji"
)

// emojiData returns the Unicode emoji of this server as emoji-picker-element reads them, named in a language. The names have nothing to escape.
func emojiData(language string) []byte {
	named := emoji.Names(language)
	b := make([]byte, 0, 200*len(named))
	for i, e := range named {
		b = append(b, `,{"emoji":"`...)
		b = append(b, e.Emoji...)
		b = append(b, `","annotation":"`+e.Name+`","group":`+e.Group+`,"order":`...)
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, `,"version":`+e.Version+`,"shortcodes":["`+strings.Join(e.Shortcodes, `","`)+`"],"tags":["`+strings.Join(e.Keywords, `","`)+`"]`...)
		if len(e.Skins) > 0 {
			b = append(b, `,"skins":[`...)
			for tone, skin := range e.Skins {
				if tone > 0 {
					b = append(b, ',')
				}
				b = append(b, `{"tone":`...)
				b = strconv.AppendInt(b, int64(tone+1), 10)
				b = append(b, `,"emoji":"`+skin+`","version":`+e.SkinVersion+`}`...)
			}
			b = append(b, ']')
		}
		b = append(b, '}')
	}
	b[0] = '['
	return append(b, ']')
}

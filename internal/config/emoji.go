package config

import (
	"fmt"
	"strings"
)

// emojiExtensions are the extensions of pictures that can be custom emoji.
var emojiExtensions = []string{".png", ".apng", ".gif", ".webp", ".jpg", ".jpeg", ".avif"}

// emojiGroups is a list of groups of custom emoji.
func emojiGroups(at *[]EmojiGroup, first ...EmojiGroup) field {
	f := rows(at, []column[EmojiGroup]{
		{name: "name", at: func(g *EmojiGroup) any { return &g.Name }},
		{name: "patterns", at: func(g *EmojiGroup) any { return &g.Patterns }},
	}, each(func(g EmojiGroup) error {
		if err := atMost(100)(g.Name); err != nil {
			return err
		}
		return each(emojiPattern)(g.Patterns)
	}), maxItems[EmojiGroup](100))
	f.defaultValue = first
	return f
}

// emojiPattern accepts a pattern of paths below /emoji/.
func emojiPattern(s string) error {
	if !strings.HasPrefix(s, "/emoji/") || len(s) > 400 || strings.Count(s, "*") > 10 {
		return fmt.Errorf("%q is not a pattern such as \"/emoji/cats/*.png\"", s)
	}
	return nil
}

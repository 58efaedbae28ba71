package text

import (
	"fmt"
	"strings"
)

// Count returns a number with its noun: 1 file, 2 files, 0 entries. noun is the singular of a regular English noun.
func Count[N ~int | ~int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %s", n, plural(noun))
}

func plural(noun string) string {
	stem, endsWithY := strings.CutSuffix(noun, "y")
	switch {
	case endsWithY && stem != "" && !strings.ContainsRune("aeiou", rune(stem[len(stem)-1])):
		return stem + "ies"
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "x"), strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "sh"):
		return noun + "es"
	}
	return noun + "s"
}

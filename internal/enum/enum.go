// Package enum reads words of fixed sets. A word that is not in its set is an error and never the default, because a default may be wider
// than what was meant.
package enum

import (
	"fmt"
	"slices"
	"strings"

	"svc/internal/text"
)

// Error says that a text is none of the permitted words.
type Error struct {
	Text      string
	Permitted []string
}

func (e *Error) Error() string { return "invalid value " + e.Reason() }

// maxQuoted is how many characters of a text an error repeats.
const maxQuoted = 50

// Reason returns the text and the permitted words.
func (e *Error) Reason() string {
	list := strings.Join(e.Permitted, ", ")
	if i := strings.LastIndex(list, ", "); i >= 0 {
		list = list[:i] + " or " + list[i+2:]
	}
	return fmt.Sprintf("%q: must be %s", text.Shorten(e.Text, maxQuoted), list)
}

// Index returns the position of a word.
func Index(word []byte, words []string) (int, error) {
	i := slices.Index(words, string(word))
	if i < 0 {
		return 0, &Error{string(word), words}
	}
	return i, nil
}

// Read sets dst to a word.
func Read[T ~string](dst *T, word []byte, words ...T) error {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = string(w)
	}
	i, err := Index(word, names)
	if err == nil {
		*dst = words[i]
	}
	return err
}

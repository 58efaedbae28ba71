package apptest

import (
	"slices"
	"strings"
	"testing"
)

var numberWords = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen")

// SolveCaptcha returns the digits that the text of a native captcha asks for.
func SolveCaptcha(t testing.TB, text string) string {
	t.Helper()
	_, list, ok := strings.Cut(text, "without spaces: ")
	if !ok {
		t.Fatalf("%q is not the text of a captcha", text)
	}
	list, _, _ = strings.Cut(list, ".")
	digits := ""
	for part := range strings.SplitSeq(list, "; ") {
		words := strings.Fields(part)
		first, last := slices.Index(numberWords, words[0]), slices.Index(numberWords, words[len(words)-1])
		results := map[string]int{"after": last + 1, "before": last - 1, "of": last / 2, "minus": first - last, "plus": first + last}
		n, ok := results[words[len(words)-2]]
		if !ok || n < 0 || n > 9 || last < 0 {
			t.Fatalf("%q is not a digit", part)
		}
		digits += string(rune('0' + n))
	}
	return digits
}

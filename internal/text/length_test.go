package text

import (
	"strings"
	"testing"
)

func TestLength(t *testing.T) {
	for _, tt := range []struct {
		body, subject string
		want          int
	}{
		{"", "", 0},
		{" a \n", "\tb ", 2},
		{"a\r\nb", "", 3},
		{"a\nb", "", 3},
		{"e\u0301é", "", 2},
		{"👨‍👩‍👧‍👦🏴󠁧󠁢󠁳󠁣󠁴󠁿👍🏽", "🇩🇪🇫🇷", 5},
		{"각", "", 1},
		{"日本語", "", 3},
		{"a" + strings.Repeat("\u0301", 31), "", 1},
		{"a" + strings.Repeat("\u0301", 32), "", 2},
		{"a" + strings.Repeat("\u0301", 320), "", 11},
	} {
		if got := Length(tt.body, tt.subject); got != tt.want {
			t.Errorf("Length(%q, %q) = %d, want %d", tt.body, tt.subject, got, tt.want)
		}
	}
}

func TestTruncate(t *testing.T) {
	for _, tt := range []struct {
		s     string
		limit int
		want  string
	}{
		{"", 5, ""},
		{" a\n\n b ", 5, "a b"},
		{"abcde", 5, "abcde"},
		{"abcdef", 5, "abcd…"},
		{"abc def", 5, "abc…"},
		{"ééééé", 5, "ééééé"},
		{"éééééé", 5, "éééé…"},
		{"🇩🇪🇫🇷🇮🇹", 2, "🇩🇪…"},
		{"ab", 1, "…"},
		{"a", 0, ""},
		{"a", -1, ""},
	} {
		if got := Truncate(tt.s, tt.limit); got != tt.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", tt.s, tt.limit, got, tt.want)
		}
	}
}

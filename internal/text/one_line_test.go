package text

import "testing"

func TestOneLine(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"  Alice \n\t in\r\nWonderland ", "Alice in Wonderland"},
		{"a\x00b\x1bc", "a b c"},
		{"ali\u00adce\u200b\ufeff", "alice"},
		{"\u202eecila\u202c", "ecila"},
		{"\u2066admin\u2069\u200e\u200f\u061c", "admin"},
		{"ad\u200dmin \u200ca\u200c", "admin a"},
		{"\u3164", ""},
		{"می\u200cخواهم", "می\u200cخواهم"},
		{"👩\u200d💻 Alice", "👩\u200d💻 Alice"},
		{"❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"},
		{"ä\u200d\u200dö", "äö"},
		{"🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"},
		{"Alice\U000e0067\U000e007f", "Alice"},
		{"שלום עולם", "שלום עולם"},
	} {
		if got := OneLine(tt.in); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
		if got := OneLine(OneLine(tt.in)); got != OneLine(tt.in) {
			t.Errorf("%q changes again to %q", tt.in, got)
		}
	}
}

package text

import "testing"

func TestCount(t *testing.T) {
	for _, tt := range []struct {
		n          int
		noun, want string
	}{
		{0, "file", "0 files"},
		{1, "file", "1 file"},
		{2, "file", "2 files"},
		{-1, "file", "-1 files"},
		{1, "entry", "1 entry"},
		{3, "incoming activity", "3 incoming activities"},
		{2, "day", "2 days"},
		{2, "inbox", "2 inboxes"},
		{2, "address", "2 addresses"},
		{2, "batch", "2 batches"},
		{2, "y", "2 ys"},
	} {
		if got := Count(tt.n, tt.noun); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

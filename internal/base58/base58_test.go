package base58_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"svc/internal/base58"
)

// The vectors are those of draft-msporny-base58, section 5.
func TestVectors(t *testing.T) {
	for _, tt := range []struct{ hex, text string }{
		{"", ""},
		{"00", "1"},
		{"48656c6c6f20576f726c6421", "2NEpo7TZRRrLZSi2U"},
		{hex.EncodeToString([]byte("The quick brown fox jumps over the lazy dog.")),
			"USm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z"},
		{"0000287fb4cd", "11233QC4"},
	} {
		data, err := hex.DecodeString(tt.hex)
		if err != nil {
			t.Fatal(err)
		}
		if got := base58.Encode(data); got != tt.text {
			t.Errorf("Encode(%s) = %s, want %s", tt.hex, got, tt.text)
		}
		if got, err := base58.Decode(tt.text); err != nil || !bytes.Equal(got, data) {
			t.Errorf("Decode(%s) = %x, %v, want %s", tt.text, got, err, tt.hex)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, text := range []string{"0", "O", "I", "l", "2NEpo7TZRRr LZSi2U", "ä", "abc\n", strings.Repeat("z", base58.MaxLength+1)} {
		if got, err := base58.Decode(text); err == nil {
			t.Errorf("Decode(%.20q) = %x, want an error", text, got)
		}
	}
	if _, err := base58.Decode(strings.Repeat("z", base58.MaxLength)); err != nil {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("2NEpo7TZRRrLZSi2U")
	f.Add("11233QC4")
	f.Fuzz(func(t *testing.T, text string) {
		data, err := base58.Decode(text)
		if err == nil && base58.Encode(data) != text {
			t.Errorf("%q became %q", text, base58.Encode(data))
		}
	})
}

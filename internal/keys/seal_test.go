package keys

import (
	"bytes"
	"testing"
)

func TestSeal(t *testing.T) {
	k, other := mustOpen(t, t.TempDir()), mustOpen(t, t.TempDir())
	text := []byte("an access token")
	sealed := k.Seal("one", text)
	if got, err := k.Unseal("one", sealed); err != nil || !bytes.Equal(got, text) {
		t.Errorf("got %q, %v, want %q", got, err, text)
	}
	if bytes.Contains(sealed, text) || bytes.Equal(sealed, k.Seal("one", text)) {
		t.Error("the text shows")
	}
	damaged := bytes.Clone(sealed)
	damaged[len(damaged)-1] ^= 1
	for name, unseal := range map[string]func() ([]byte, error){
		"another purpose": func() ([]byte, error) { return k.Unseal("two", sealed) },
		"another key":     func() ([]byte, error) { return other.Unseal("one", sealed) },
		"damaged":         func() ([]byte, error) { return k.Unseal("one", damaged) },
		"too short":       func() ([]byte, error) { return k.Unseal("one", sealed[:10]) },
		"nothing":         func() ([]byte, error) { return k.Unseal("one", nil) },
	} {
		if got, err := unseal(); err == nil {
			t.Errorf("%s: got %q without an error", name, got)
		}
	}
}

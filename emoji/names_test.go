package emoji

import (
	"slices"
	"strings"
	"testing"

	"svc/internal/packed"
	"svc/internal/packed/packedtest"
)

// TestNames checks that the table of names and the table of emoji are one: each emoji with a name is a canonical one, and each canonical one without
// skin tones has a name.
func TestNames(t *testing.T) {
	packedtest.Compare(t, "names.tsv")
	packedtest.Compare(t, "rgi.txt")
	named := make(map[string]bool)
	for _, language := range NameLanguages {
		for _, e := range Names(language) {
			if e.Name == "" || len(e.Keywords) == 0 || len(e.Shortcodes) == 0 || len(e.Skins)%5 != 0 {
				t.Errorf("%s: %+v", language, e)
			}
			for _, one := range append(slices.Clone(e.Skins), e.Emoji) {
				if full, ok := Canonical(one); !ok || full != one {
					t.Errorf("%q is not canonical", one)
				}
				named[one] = true
			}
		}
	}
	for e := range strings.Lines(string(packed.Text(rgi))) {
		e = strings.TrimSuffix(e, "\n")
		if !named[e] && !strings.ContainsFunc(e, func(r rune) bool { return r >= '\U0001F3FB' && r <= '\U0001F3FF' }) {
			t.Errorf("%s has no name", e)
		}
	}
	for _, e := range Common {
		if !named[e] {
			t.Errorf("%s has no name", e)
		}
	}
	if strings.ContainsAny(string(packed.Text(names)), `"\`) {
		t.Error("a name has to be escaped in JSON")
	}
	if en, de := Names("en")[0].Name, Names("de")[0].Name; en != "grinning face" || de != "grinsendes Gesicht" || Names("xx")[0].Name != en {
		t.Errorf("named %q and %q", en, de)
	}
}

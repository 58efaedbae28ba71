package web

import (
	"encoding/json"
	"testing"

	"svc/emoji"
)

// TestEmojiData checks that the data of the picker are JSON with all emoji.
func TestEmojiData(t *testing.T) {
	for _, language := range emoji.NameLanguages {
		var list []struct {
			Emoji      string
			Annotation string
			Group      int
			Order      int
			Version    float64
			Shortcodes []string
			Tags       []string
			Skins      []struct {
				Tone    int
				Emoji   string
				Version float64
			}
		}
		if err := json.Unmarshal(Assets()["emoji."+language+".json"].Body, &list); err != nil {
			t.Fatal(err)
		}
		named := emoji.Names(language)
		if len(list) != len(named) {
			t.Fatalf("%d of %d emoji", len(list), len(named))
		}
		for i, e := range list {
			if want := named[i]; e.Emoji != want.Emoji || e.Annotation != want.Name || e.Order != i || len(e.Skins) != len(want.Skins) || e.Version == 0 || len(e.Tags) != len(want.Keywords) {
				t.Errorf("%+v, want %+v", e, want)
			}
		}
	}
}

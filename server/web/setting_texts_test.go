package web

import (
	"testing"

	"svc/internal/config"
)

// TestSettingTexts checks that each language but the standard one has texts for all settings of the server, of its own, and for nothing else.
func TestSettingTexts(t *testing.T) {
	for _, m := range Languages()[1:] {
		known := make(map[string]bool)
		labels := make(map[string]string) // by group and label
		for _, s := range config.Settings() {
			known[s.Name()] = true
			label, about, ok := m.SettingText(s.Name())
			if !ok || label == "" || about == "" {
				t.Errorf("%s: the texts of %s are %q, %q", m.Language, s.Name(), label, about)
				continue
			}
			if about == s.Description {
				t.Errorf("%s: %s is described in English", m.Language, s.Name())
			}
			if other := labels[s.Group+"\n"+label]; other != "" {
				t.Errorf("%s: %s and %s have the label %q", m.Language, s.Name(), other, label)
			}
			labels[s.Group+"\n"+label] = s.Name()
		}
		for name := range m.settings {
			if !known[name] {
				t.Errorf("%s: there is no setting %s", m.Language, name)
			}
		}
	}
	if _, _, ok := Languages()[0].SettingText("instance.name"); ok {
		t.Error("the standard language has texts of settings beside those of the API")
	}
}

package web

import (
	"path"
	"strings"
	"testing"
)

// TestTemplates parses all templates in all languages, which a server does when a page is first shown.
func TestTemplates(t *testing.T) {
	entries, err := uiFiles.ReadDir("templates/ui")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range Languages() {
		for _, e := range entries {
			if _, err := uiTemplate(m, "", strings.TrimSuffix(e.Name(), path.Ext(e.Name()))); err != nil {
				t.Errorf("%s: %v", m.Language, err)
			}
		}
	}
}

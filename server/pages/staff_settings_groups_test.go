package pages_test

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// TestDescriptionsOfSettingGroups checks that each group of settings has a description of its own, in each language.
func TestDescriptionsOfSettingGroups(t *testing.T) {
	_, _, browser := staff(t)
	english := make(map[string]bool)
	for _, language := range []string{"en", "de"} {
		browser.Language = language
		doc, err := html.Parse(strings.NewReader(string(browser.Get("/web/admin/settings").Want(200).Body)))
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[string]bool)
		for n := range doc.Descendants() {
			if n.Data != "span" || n.Parent == nil || n.Parent.Data != "li" || len(n.Attr) == 0 || n.Attr[0].Val != "quiet" {
				continue
			}
			text := n.FirstChild.Data
			if seen[text] || strings.HasPrefix(text, "admin.") || english[text] {
				t.Errorf("%s: %q is the description of two groups, or of none, or in English", language, text)
			}
			seen[text] = true
		}
		if len(seen) < 40 {
			t.Errorf("%s: %d groups have descriptions", language, len(seen))
		}
		if language == "en" {
			english = seen
		}
	}
}

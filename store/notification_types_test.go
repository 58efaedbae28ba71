package store_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc/store"
)

// TestNotificationKinds checks that the description of each type of notifications is complete, and that no other type is stored.
func TestNotificationKinds(t *testing.T) {
	known := []string{"{account}", "{post}", "{message}", "{options}", "{emoji}"}
	for _, k := range store.NotificationKinds {
		if k.Rule < store.ByPolicy || k.Rule > store.ForStaff {
			t.Errorf("%s: no rule of the recipient's settings", k.Type)
		}
		if k.Alert != (k.Title != "" && k.Body != "") {
			t.Errorf("%s: an alert has a title and a text, another one has none", k.Type)
		}
		for _, name := range regexp.MustCompile(`\{.*?\}`).FindAllString(k.Body+k.Title+k.DirectTitle, -1) {
			if !slices.Contains(known, name) {
				t.Errorf("%s: unknown %s in its push message", k.Type, name)
			}
		}
		if (k.Link == "") != (k.Page == "") || k.Page != "" && !strings.HasPrefix(k.Page, "/web/") {
			t.Errorf("%s: link %q leads to %q", k.Type, k.Link, k.Page)
		}
		if stored, err := k.Type.Value(); err != nil || stored != string(k.Type) {
			t.Errorf("%s is stored as %v: %v", k.Type, stored, err)
		}
	}
	if _, err := store.NotificationType("toast").Value(); err == nil {
		t.Error("an unknown type is stored")
	}
}

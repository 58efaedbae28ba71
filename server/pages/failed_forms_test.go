package pages_test

import (
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestRefusedForms checks that a form whose values an endpoint refuses is shown again with the error, on its page, with the entered values.
func TestRefusedForms(t *testing.T) {
	srv := apptest.Start(t)
	b := srv.SignUpAdmin().SignedIn()
	long := strings.Repeat("x", 300)
	for _, tt := range []struct {
		name, page, button, field, value string
	}{
		{"server", "/web/settings/hidden/domains", "Block the server", "domain", "no domain"},
		{"list", "/web/lists", "Create the list", "title", long},
		{"pack", "/web/admin/emoji", "Make a pack", "name", "../up"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			shown := b.Get(tt.page).Want(200).Press(tt.button, tt.field, tt.value)
			if shown.Status != 400 && shown.Status != 422 {
				t.Fatalf("got %d, want 400 or 422: %s", shown.Status, shown.Text)
			}
			for _, want := range []string{`role="alert"`, `value="` + tt.value + `"`, ">" + tt.button + "</button>"} {
				if !strings.Contains(string(shown.Body), want) {
					t.Errorf("%q is not in the page: %s", want, shown.Text)
				}
			}
		})
	}
	b.Get("/web/settings/hidden/domains").Want(200, "Nothing here.")
}

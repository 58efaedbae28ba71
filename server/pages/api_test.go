package pages_test

import (
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestAPIPage checks that the page about the API says what endpoints take and answer, under the names that this server has for them, and that all links
// within it lead somewhere.
func TestAPIPage(t *testing.T) {
	for name, other := range map[string]string{"svc": "other", "other": "svc"} {
		srv := apptest.Start(t, func(c *config.Config) { c.API.Name = name })
		page := srv.Browser().Get("/about/api").Want(200, "/api/v1/statuses/{id}/favourite", "write:favourites", "in_reply_to_id",
			"/api/v1/"+name+"/chats/{id}", name+":chat_mention")
		for _, wrong := range []string{"/api/v1/" + other + "/", other + ":chat_mention"} {
			if strings.Contains(page.Text, wrong) {
				t.Errorf("%s: the page has %s", name, wrong)
			}
		}
		body := string(page.Body)
		for _, part := range strings.Split(body, `href="#`)[1:] {
			if id, _, _ := strings.Cut(part, `"`); !strings.Contains(body, `id="`+id+`"`) {
				t.Errorf("%s: #%s leads nowhere", name, id)
			}
		}
		if name == "svc" {
			srv.SignUp("alice").SignedIn().Get("/web/about/api").Want(200, "/api/v1/statuses/{id}/favourite")
		}
	}
}

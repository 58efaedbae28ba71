package pages_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestTranslatedPost shows the translation of a post, if the server has a translation service.
func TestTranslatedPost(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/languages" {
			json.NewEncoder(w).Encode([]any{map[string]any{"code": "de", "name": "German", "targets": []string{"de", "en"}}})
			return
		}
		json.NewEncoder(w).Encode(map[string]any{"translatedText": []string{"<p>good morning</p><script>alert(1)</script>"}})
	}))
	t.Cleanup(service.Close)
	srv := apptest.Start(t, func(c *config.Config) { c.Translation.URL = service.URL })
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	post := bob.Publish("guten Morgen", "language", "de").Str("id")
	browser := alice.SignedIn()
	page := browser.Get("/web/statuses/"+post+"/more").Want(200).Press("Translate").Want(200, "Translation", "good morning", "LibreTranslate")
	if strings.Contains(string(page.Body), "alert(1)") {
		t.Error("the page has a script of the service")
	}
	without := apptest.Start(t)
	carol := without.SignUp("carol")
	own := carol.Publish("guten Morgen").Str("id")
	for _, f := range carol.SignedIn().Get("/web/statuses/" + own + "/more").Want(200).Forms {
		for _, b := range f.Buttons {
			if b.Text == "Translate" {
				t.Error("a server without translations offers them")
			}
		}
	}
}

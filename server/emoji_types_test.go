package server_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestDeclaredTypesOfEmoji fetches pictures and archives of emoji: their content decides, and one that is declared as a page or a document
// is refused.
func TestDeclaredTypesOfEmoji(t *testing.T) {
	files := map[string][]byte{
		"/cat.png": apptest.PNG(9, 9), "/cats.zip": zipFile(t, "one.png"),
		"/drawing.png": []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), "/page.png": []byte("<!DOCTYPE html><p>cat"),
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = nil
		if declared := r.URL.Query().Get("type"); declared != "" {
			w.Header().Set("Content-Type", declared)
		}
		w.Write(files[r.URL.Path])
	}))
	t.Cleanup(site.Close)
	srv := apptest.StartPeers(t, 1)[0]
	admin := srv.SignUpAdmin().Client
	admin.Post(packPath, "name", "cats").Want(200)
	addToPack(admin, "cats", "one", "one.png").Want(200)
	add := func(path, declared string) *apptest.Response {
		return admin.Post(packsPath+"/files", "name", "cats", "shortcode", "new", "file", site.URL+path+"?type="+url.QueryEscape(declared))
	}
	const refused = "unexpected content type"
	for _, tt := range []struct {
		declared string
		fine     bool
	}{
		{"image/png", true},
		{"", true},
		{"application/octet-stream", true},
		{"binary/octet-stream", true},
		{"application/force-download", true},
		{"application/zip", true},
		{"image/gif", true},
		{"text/plain; charset=utf-8", true},
		{"text/html; charset=utf-8", false},
		{"application/xhtml+xml", false},
		{"Text/XML", false},
		{"image/svg+xml", false},
		{"application/json", false},
		{"application/activity+json", false},
	} {
		t.Run(tt.declared, func(t *testing.T) {
			fallback := site.URL + "/cats.zip?type=" + url.QueryEscape(tt.declared)
			set := admin.SendJSON("PATCH", packPath, apptest.Doc{"name": "cats", "metadata": apptest.Doc{"fallback-src": fallback}})
			if tt.fine {
				add("/cat.png", tt.declared).Want(200)
				add("/drawing.png", tt.declared).Want(409) // the shortcode exists
				admin.Do("DELETE", packsPath+"/files?name=cats&shortcode=new", "", nil).Want(200)
				add("/drawing.png", tt.declared).WantError(422, "Files of this type are not accepted")
				add("/page.png", tt.declared).WantError(422, "Files of this type are not accepted")
				add("/cats.zip", tt.declared).Want(200) // has no new shortcode
				set.Want(200)
			} else {
				for path := range files {
					if r := add(path, tt.declared); r.Status != 400 || !strings.Contains(string(r.Body), refused) {
						t.Errorf("%s: %d %s", path, r.Status, r.Body)
					}
				}
				set.WantError(400, "The fallback archive does not have all files specified in pack.json")
			}
			pack := admin.Get(packPath, "name", "cats").Want(200).Object()
			if n := pack.Int("files_count"); n != 1 {
				t.Errorf("the pack has %d emoji, want 1", n)
			}
			if got := pack.At("pack.fallback-src") == fallback; got != tt.fine {
				t.Errorf("the archive is stored: %v", got)
			}
		})
	}
}

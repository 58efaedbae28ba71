package pages_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/server/web"
)

// TestPublicPagesBelowWeb requests the public pages under /web/, where they answer even if a front end has their other paths. Their links stay
// there only in that case.
func TestPublicPagesBelowWeb(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	post := alice.Publish("hello #tea")
	id := post.ID()
	alice.Post("/api/v1/statuses/" + id + "/favourite").Want(200)
	browser := alice.SignedIn()
	for path, want := range map[string]string{
		"/web/@alice":                       "hello",
		"/web/@alice/with_replies":          "hello",
		"/web/@alice/media":                 "@alice",
		"/web/@alice/followers":             "@alice",
		"/web/@alice/following":             "@alice",
		"/web/@alice/" + id:                 "hello",
		"/web/@alice/" + id + "/history":    "hello",
		"/web/@alice/" + id + "/boosts":     "",
		"/web/@alice/" + id + "/favourites": "@alice",
		"/web/tags/tea":                     "hello",
		"/web/about":                        srv.Settings.Host(),
		"/web/terms":                        "",
		"/web/settings":                     "Two-factor authentication",
		"/web/settings/closing":             "Delete the account",
		"/web/settings/hidden/domains":      "Block the server",
	} {
		browser.Get(path).Want(200, want)
	}
	srv.Browser().Get("/web/public").Want(200, "hello")
	browser.Get("/web/privacy").Want(404, "This server has not published a privacy policy.")
	if to, _ := browser.Get("/web/statuses/" + id).Location(); to != "/@alice/"+id {
		t.Errorf("/web/statuses/ID leads to %s", to)
	}
	if a := browser.Get("/web/statuses/none"); a.Status != 404 {
		t.Errorf("an unknown post: %d", a.Status)
	}
}

// TestAssets checks that the style and the scripts may be kept, because their URLs have a hash of them, and how large they are.
func TestAssets(t *testing.T) {
	srv := apptest.Start(t)
	page := string(srv.SignUp("alice").SignedIn().Get("/web").Want(200).Body)
	folder := regexp.MustCompile(`/web/assets/[\w-]{12}/`).FindString(page)
	paths := []string{"/web/sw.js"}
	for name := range web.Assets() {
		paths = append(paths, folder+name)
	}
	first, all := 0, 0
	for _, path := range paths {
		a := srv.As(nil).Get(path).Want(200)
		contentType := map[string]string{".js": "text/javascript", ".css": "text/css", ".json": "application/json"}[filepath.Ext(path)]
		if !strings.HasPrefix(a.Header.Get("Content-Type"), contentType) || !strings.Contains(a.Header.Get("Cache-Control"), "immutable") || len(a.Body) == 0 {
			t.Errorf("%s: %v", path, a.Header)
		}
		for encodings, want := range map[string]string{"gzip, deflate, br": "gzip", "br;q=1.0, GZIP;q=0.5": "gzip", "gzip;q=0, br": "", "gzip; q=0.0": "", "br": "", "": ""} {
			zipped := getEncoded(t, srv.URL+path, encodings)
			body, err := io.ReadAll(zipped.Body)
			if got := zipped.Header.Get("Content-Encoding"); got != want || err != nil {
				t.Errorf("%s for %q: encoding %q, want %q, %v", path, encodings, got, want, err)
			}
			if encodings == "gzip, deflate, br" && filepath.Ext(path) != ".json" { // without the table of emoji
				all += len(body)
				if strings.Contains(page, path) {
					first += len(body)
				}
			}
			if want == "gzip" {
				if len(body) >= len(a.Body) {
					t.Errorf("%s has %d of %d bytes", path, len(body), len(a.Body))
				}
				body = unzip(t, body)
			}
			if !bytes.Equal(body, a.Body) {
				t.Errorf("%s for %q: another file", path, encodings)
			}
		}
	}
	t.Logf("%d bytes are loaded first, %d altogether", first, all)
	if first > 30_000 || all > 75_000 || first == 0 {
		t.Errorf("%d bytes are loaded first, %d altogether", first, all)
	}
	for path, status := range map[string]int{"/web/assets/1/app.js": 200, "/web/assets/1/style/1-base.css": 404, "/web/assets/app.js": 404, "/web/assets/1/library/fetch": 404, "/web/assets/1/../app.js": 404} {
		if got := srv.As(nil).Get(path).Status; got != status {
			t.Errorf("%s: %d, want %d", path, got, status)
		}
	}
}

// getEncoded requests a file with an Accept-Encoding header, "" for none.
func getEncoded(t *testing.T, address, encodings string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", encodings) // set, so that the client does not ask for gzip itself
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func unzip(t *testing.T, text []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// TestSignOut ends the session of a browser, and only that.
func TestSignOut(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	browser, other := alice.SignedIn(), alice.SignedIn()
	old := browser.Cookies
	browser.Get("/web").Want(200).Press("Sign out").Want(http.StatusFound)
	browser.Cookies = old // as a thief of the cookie would
	if a := browser.Get("/web"); a.Status != 302 {
		t.Errorf("the session that was ended gets %d", a.Status)
	}
	other.Get("/web").Want(200)
}

// TestNewBackupCodes replaces the backup codes.
func TestNewBackupCodes(t *testing.T) {
	srv := apptest.Start(t)
	browser := srv.SignUp("alice").SignedIn()
	page := browser.Get("/web/settings/two_factor").Press("Set up").Want(200)
	first := page.Press("Turn on", "code", apptest.TOTPCode(t, page.Codes[0], 0), "password", apptest.Password).Want(200).Codes
	second := browser.Get("/web/settings/two_factor").Press("Make new backup codes").Want(200, "Backup codes").Codes
	if len(second) == 0 || second[0] == first[0] {
		t.Errorf("the codes are %v, before %v", second, first)
	}
}

// TestFrontendsAndRestartPages is refused a front end that does not exist, and restarts the server.
func TestFrontendsAndRestartPages(t *testing.T) {
	_, _, browser := staff(t)
	page := browser.Get("/web/admin/frontends").Want(200, "pleroma-fe").Press("Install a front end", "name", "no such front end", "ref", "x y")
	if page.Status < 400 || page.Status >= 500 || !strings.Contains(string(page.Body), "no such front end") {
		t.Errorf("%d %s", page.Status, page.Text)
	}
	token := page.Forms[0].Fields.Get("form_token") // of the frame
	browser.Post("/web/admin/server/restart", map[string][]string{"form_token": {token}}).Want(200, "The server restarts")
}

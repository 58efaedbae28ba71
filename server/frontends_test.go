package server_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

const frontendsPath = "/api/v1/svc/admin/frontends"

func frontendFiles(title string) map[string]string {
	return map[string]string{
		"dist/index.html":                  "<html><head><!--server-generated-meta--></head>" + title + "</html>",
		"dist/static/js/app.js":            "let x",
		"dist/static/style.css":            "a{}",
		"dist/static/style.css.gz":         gzipped("a{}"),
		"dist/sw.js":                       "worker",
		"dist/images/avi.png":              "picture",
		"dist/secret.exe":                  "program",
		"dist/static/LICENSE":              "terms",
		"dist/static/themes/dark.iss":      "theme",
		"dist/static/texts/de.ftl":         "text",
		"dist/static/ping.OGA":             "sound",
		"dist/static/js/app.js.map":        "{}",
		"dist/static/lib.wasm":             "module",
		"dist/instance/config.json":        "{}",
		"dist/static/js/app.3f2a1b9c0d.js": "hex",
		"dist/assets/index-DkXz2Q_8.js":    "base64",
		"dist/assets/custom-elements.js":   "words",
		"dist/assets/theme-solarized2.css": "name",
	}
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

// imported writes an archive into the folder from which the API installs.
func imported(t *testing.T, srv *apptest.Server, name string, archive []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(srv.Settings.Data.Dir, "imports", name), archive, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestInstallFrontend installs from an upload, a file and a URL, and checks spec 2.23.
func TestInstallFrontend(t *testing.T) {
	archive := apptest.Zip(t, frontendFiles("built"))
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/my/2.0.zip" {
			http.NotFound(w, r)
			return
		}
		if declared := r.URL.Query().Get("type"); declared != "" {
			w.Header().Set("Content-Type", declared)
		}
		w.Write(archive)
	}))
	defer source.Close()
	srv := apptest.Start(t, apptest.AllowLoopback, func(c *config.Config) {
		c.Frontends.Primary, c.Frontends.Admin = "my-fe/1.0", "my-fe/2.0"
		c.Frontends.Available = []config.Frontend{{Name: "my-fe", Ref: "2.0", BuildURL: source.URL + "/my/${ref}.zip", BuildDir: "dist"}}
	})
	root := srv.SignUpAdmin()
	imported(t, srv, "my.zip", archive)
	imported(t, srv, "empty.zip", apptest.Zip(t, map[string]string{"README": "x"}))
	install := frontendsPath + "/install"

	list := root.Get(frontendsPath).Want(200).List()
	apptest.WantFields(t, "an available front end", list[0], apptest.Doc{
		"name": "my-fe", "ref": "2.0", "git": nil, "build_url": source.URL + "/my/${ref}.zip", "installed": false, "installed_refs": []any{},
	})
	for _, tt := range []struct {
		name, want string
		params     []string
	}{
		{"no name", "Missing field: name.", []string{"ref", "1.0", "file", "my.zip"}},
		{"name of another type", "name", []string{"name[x]", "y", "ref", "1.0"}},
		{"no ref", "Missing field: ref.", []string{"name", "other", "file", "my.zip"}},
		{"name outside of the folder", `".." and "1.0" are not a valid name and ref`, []string{"name", "..", "ref", "1.0", "file", "my.zip"}},
		{"ref outside of the folder", "are not a valid name and ref", []string{"name", "x", "ref", "a/../..", "file", "my.zip"}},
		{"no source", "x is not a known front end", []string{"name", "x", "ref", "1.0"}},
		{"file outside of imports", `"../svc.db" is not the name of a file in imports/`, []string{"name", "x", "ref", "1", "file", "../svc.db"}},
		{"missing file", `There is no file "none.zip" in imports/`, []string{"name", "x", "ref", "1", "file", "none.zip"}},
		{"archive without an index", "the archive has no index.html", []string{"name", "x", "ref", "1", "file", "empty.zip"}},
		{"missing download", "The archive could not be downloaded", []string{"name", "my-fe", "ref", "9.9"}},
		{"download that is declared as a page", "The archive could not be downloaded", []string{"name", "my-fe", "ref", "2.0", "build_url", source.URL + "/my/2.0.zip?type=text/html"}},
		{"folder that the archive does not have", "the archive has no static/index.html", []string{"name", "x", "ref", "1", "file", "my.zip", "build_dir", "static"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := root.Post(install, tt.params...)
			if o := got.Object(); got.Status != 400 && got.Status != 422 || o.Str("error") != "Could not install frontend" || !strings.Contains(o.Str("reason"), tt.want) {
				t.Errorf("the answer is %d %s, want the reason %q", got.Status, got.Body, tt.want)
			}
		})
	}
	alice := srv.SignUp("alice")
	alice.Get(frontendsPath).Want(403)
	alice.Post(install, "name", "my-fe").Want(403)

	root.Post(install, "name", "my-fe", "ref", "1.0", "file", "my.zip").Want(200)
	root.Post(install, "name", "my-fe").Want(200) // the known ref and URL
	root.Post(install, "name", "my-fe", "ref", "2.0", "build_url", source.URL+"/my/2.0.zip?type=binary/octet-stream").Want(200)
	list = root.SendForm("POST", install, apptest.ValuePart("name", "uploaded"), apptest.ValuePart("ref", "main"), apptest.FilePart(archive)).Want(200).List()
	apptest.WantFields(t, "an installed front end", list[0], apptest.Doc{"name": "my-fe", "installed": true, "installed_refs": []any{"1.0", "2.0"}})
	apptest.WantFields(t, "one that is not available", list[len(list)-1], apptest.Doc{
		"name": "uploaded", "ref": nil, "git": nil, "build_url": nil, "installed": true, "installed_refs": []any{"main"},
	})
	if got := root.Get("/api/v1/svc/admin/moderation_log").Want(200).List()[0].Str("message"); got != "@root installed front end uploaded/main" {
		t.Errorf("the moderation log says %q", got)
	}

	for version, want := range map[string]string{
		"my-fe/1.0": "primary front end", "my-fe/2.0": "front end for administrators", "my-fe/3": "not installed", "../x": "is not NAME/REF",
	} {
		if _, err := srv.Frontends.Remove(t.Context(), version); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("remove %s: %v, want %q", version, err, want)
		}
	}
	if _, err := srv.Frontends.Remove(t.Context(), "uploaded/main"); err != nil {
		t.Error(err)
	}
	if n := len(root.Get(frontendsPath).Want(200).List()); n != len(list)-1 {
		t.Errorf("%d front ends are listed", n)
	}
}

// TestServeFrontend reads pages and files of front ends beside the API.
func TestServeFrontend(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.Instance.Name = "<The Place>"
		c.Frontends.Primary, c.Frontends.Admin, c.Frontends.Pickable = "fe/1", "staff-fe/1", []string{"other/1", "gone/1"}
	})
	root, browser := srv.SignUpAdmin(), srv.Browser()
	post := root.Publish("hello")
	browser.Get("/").Want(200, "Create an account")
	browser.Get("/frontends").Want(200, "fe/1 (the default)")
	srv.As(nil).Get("/svc/admin/").Want(404)
	srv.As(nil).Get("/some/page").Want(404)
	for _, name := range []string{"fe", "staff-fe", "other"} {
		imported(t, srv, name+".zip", apptest.Zip(t, frontendFiles("this is "+name)))
		root.Post(frontendsPath+"/install", "name", name, "ref", "1", "file", name+".zip").Want(200)
	}

	for _, tt := range []struct {
		path        string
		status      int
		contentType string
		contains    string
	}{
		{"/", 200, "text/html; charset=utf-8", "this is fe"},
		{"/", 200, "text/html; charset=utf-8", "<title>&lt;The Place&gt;</title>"},
		{"/main/public", 200, "text/html; charset=utf-8", "this is fe"},
		{"/@root", 200, "text/html; charset=utf-8", "this is fe"},
		{"/@root/" + post.ID(), 200, "text/html; charset=utf-8", "this is fe"},
		{"/index.html", 200, "text/html; charset=utf-8", "this is fe"},
		{"/static/js/app.js", 200, "text/javascript; charset=utf-8", "let x"},
		{"/static/style.css", 200, "text/css; charset=utf-8", "a{}"},
		{"/instance/config.json", 200, "application/json; charset=utf-8", "{}"},
		{"/images/avi.png", 200, "image/png", "picture"},
		{"/images/banner.png", 200, "image/png", "PNG"}, // that of the program
		{"/sw.js", 200, "text/javascript; charset=utf-8", "worker"},
		{"/missing.js", 404, "text/plain; charset=utf-8", "404"},
		{"/static/missing.json", 404, "text/plain; charset=utf-8", "404"},
		{"/svc/admin", 302, "", ""},
		{"/svc/admin/", 200, "text/html; charset=utf-8", "this is staff-fe"},
		{"/svc/admin/users", 200, "text/html; charset=utf-8", "this is staff-fe"},
		{"/svc/admin/sw.js", 200, "text/javascript; charset=utf-8", "worker"},
		{"/svc/admin/missing.js", 404, "text/plain; charset=utf-8", "404"},
		{"/api/v1/missing", 404, "application/json; charset=utf-8", "Record not found"},
		{"/api/v1/instance", 200, "application/json; charset=utf-8", "uri"},
	} {
		t.Run(tt.path, func(t *testing.T) {
			a := srv.As(nil).Get(tt.path).Want(tt.status)
			if !strings.Contains(string(a.Body), tt.contains) || a.Header.Get("Content-Type") != tt.contentType {
				t.Errorf("got %.200q of type %q, want %q of type %q", a.Body, a.Header.Get("Content-Type"), tt.contains, tt.contentType)
			}
		})
	}
	if got := srv.As(nil).Get("/").Header.Get("Content-Security-Policy"); !strings.Contains(got, "script-src 'self'") || strings.Contains(got, "sandbox") {
		t.Errorf("the policy of the index is %q", got)
	}
	for path, want := range map[string]string{
		"/secret.exe": "application/octet-stream", "/static/LICENSE": "application/octet-stream", "/static/ping.OGA": "audio/ogg",
		"/static/themes/dark.iss": "text/plain; charset=utf-8", "/static/texts/de.ftl": "text/plain; charset=utf-8",
		"/static/js/app.js.map": "application/json; charset=utf-8", "/static/lib.wasm": "application/wasm", "/svc/admin/secret.exe": "application/octet-stream",
	} {
		a := srv.As(nil).Get(path).Want(200)
		if a.Header.Get("Content-Type") != want || a.Header.Get("X-Content-Type-Options") != "nosniff" || strings.Contains(string(a.Body), "this is") {
			t.Errorf("%s: %.100q with %v", path, a.Body, a.Header)
		}
	}
	req, err := http.NewRequest("GET", srv.URL+"/static/style.css", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "gzip, br")
	if a := srv.As(nil).DoRequest(req).Want(200); a.Header.Get("Content-Encoding") != "gzip" || string(a.Body) != gzipped("a{}") {
		t.Errorf("compressed: %q, encoding %q", a.Body, a.Header.Get("Content-Encoding"))
	}
	srv.As(nil).Post("/").Want(405)
	checkFrontendCaching(t, srv)

	// A visitor chooses another one; only those that are installed and pickable.
	if page := browser.Get("/frontends").Want(200, "fe/1 (the default)", "other/1"); strings.Contains(string(page.Body), "gone/1") {
		t.Error("a front end that is not installed can be chosen")
	}
	browser.Post("/frontends", map[string][]string{"frontend": {"staff-fe/1"}}).Want(422)
	browser.Post("/frontends", map[string][]string{"frontend": {"other/1"}}).Want(302)
	browser.Get("/").Want(200, "this is other")
	browser.Post("/frontends", map[string][]string{"frontend": {""}}).Want(302)
	browser.Get("/").Want(200, "this is fe")
}

// checkFrontendCaching checks which files browsers keep, and that an unchanged index is not sent again.
func checkFrontendCaching(t *testing.T, srv *apptest.Server) {
	t.Helper()
	for path, want := range map[string]string{
		"/":                                   "public, no-cache",
		"/some/page":                          "public, no-cache",
		"/sw.js":                              "public, no-cache",
		"/assets/custom-elements.js":          "public, no-cache",
		"/assets/theme-solarized2.css":        "public, no-cache",
		"/static/js/app.3f2a1b9c0d.js":        "public, max-age=31536000, immutable",
		"/assets/index-DkXz2Q_8.js":           "public, max-age=31536000, immutable",
		"/svc/admin/assets/index-DkXz2Q_8.js": "public, max-age=31536000, immutable",
	} {
		a := srv.As(nil).Get(path).Want(200)
		if got := a.Header.Get("Cache-Control"); got != want {
			t.Errorf("%s: Cache-Control is %q, want %q", path, got, want)
		}
		req, err := http.NewRequest("GET", srv.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("If-None-Match", a.Header.Get("ETag"))
		if a.Header.Get("ETag") == "" {
			t.Errorf("%s has no ETag", path)
		}
		srv.As(nil).DoRequest(req).Want(304)
	}
}

package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	_ "image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

func TestEmbeddedFiles(t *testing.T) {
	srv := apptest.Start(t)
	for _, tt := range []struct{ path, contentType, begins string }{
		{"/images/avi.png", "image/png", "\x89PNG"},
		{"/images/banner.png", "image/png", "\x89PNG"},
		{"/images/city.jpg", "image/jpeg", "\xff\xd8\xff"},
		{"/instance/thumbnail.jpeg", "image/jpeg", "\xff\xd8\xff"},
		{"/favicon.png", "image/png", "\x89PNG"},
		{"/favicon.ico", "image/x-icon", "\x00\x00\x01\x00"},
		{"/robots.txt", "text/plain; charset=utf-8", "User-agent: *"},
		{"/images/mascot.png", "image/png", "\x89PNG"},
		{"/instance/panel.html", "text/html; charset=utf-8", "<p>"},
		{"/static/terms-of-service.html", "text/html; charset=utf-8", `<h4 lang="en">`},
	} {
		t.Run(tt.path, func(t *testing.T) {
			a := srv.As(nil).Get(tt.path).Want(200)
			if !strings.HasPrefix(string(a.Body), tt.begins) || a.Header.Get("Content-Type") != tt.contentType {
				t.Errorf("got %.20q of %s", a.Body, a.Header.Get("Content-Type"))
			}
			for key, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Cache-Control": "public, max-age=86400",
			} {
				if got := a.Header.Get(key); got != want {
					t.Errorf("%s is %q", key, got)
				}
			}
			if policy := a.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "sandbox") {
				t.Errorf("the policy is %q", policy)
			}
			if head := srv.As(nil).Do("HEAD", tt.path, "", nil).Want(200); len(head.Body) > 0 {
				t.Error("HEAD has a body")
			}
		})
	}
	if got := srv.As(nil).Get("/images/avi.png").Header.Get("Access-Control-Allow-Origin"); got != "*" {
		t.Errorf("Access-Control-Allow-Origin is %q", got)
	}
	// The default pictures of an account can be fetched.
	alice := srv.SignUp("alice")
	account := alice.Publish("hello").At("account").(map[string]any)
	for _, key := range []string{"avatar", "avatar_static", "header", "header_static"} {
		srv.As(nil).Get(account[key].(string)).Want(200)
	}
}

func TestOperatorsFiles(t *testing.T) {
	srv := apptest.Start(t)
	apptest.WriteDataFile(srv, "static/images/avi.png", "mine")
	apptest.WriteDataFile(srv, "static/robots.txt", "User-agent: *\nDisallow: /\n")
	apptest.WriteDataFile(srv, "static/instance/panel.html", "<script>alert(1)</script>")
	apptest.WriteDataFile(srv, "static/logo.png", "logo")
	apptest.WriteDataFile(srv, "static/static/logo.webp", "exact")
	apptest.WriteDataFile(srv, "static/.hidden.txt", "hidden")
	apptest.WriteDataFile(srv, "static/images/program.exe", "program")
	apptest.WriteDataFile(srv, "secret.txt", "secret")
	if err := os.Symlink(filepath.Join(srv.Dir, "secret.txt"), filepath.Join(srv.Dir, "static/link.txt")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path   string
		status int
		body   string
	}{
		{"/images/avi.png", 200, "mine"},
		{"/robots.txt", 200, "User-agent: *\nDisallow: /\n"},
		{"/instance/panel.html", 200, "<script>alert(1)</script>"},
		{"/static/logo.png", 200, "logo"},
		{"/static/logo.webp", 200, "exact"},
		{"/static/images/avi.png", 200, "mine"},
		{"/images/nothing.png", 404, ""},
		{"/images/avi.png/x.png", 404, ""},
		{"/images", 404, ""},
		{"/images/", 404, ""},
		{"/images/" + strings.Repeat("x", 300) + ".png", 404, ""},
		{"/images/program.exe", 404, ""},
		{"/static/.hidden.txt", 404, ""},
		{"/static/link.txt", 404, ""},
		{"/static/../secret.txt", 404, ""},
		{"/static/..%2fsecret.txt", 404, ""},
		{"/static/%2e%2e/secret.txt", 404, ""},
		{"/logo.png", 404, ""},
	} {
		t.Run(tt.path, func(t *testing.T) {
			a := srv.As(nil).Get(tt.path).Want(tt.status)
			if tt.status == 200 && string(a.Body) != tt.body {
				t.Errorf("got %q", a.Body)
			}
		})
	}
	page := srv.As(nil).Get("/instance/panel.html")
	if policy := page.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "script-src") {
		t.Errorf("a page may run scripts: %q", policy)
	}
}

func TestEmojiPictures(t *testing.T) {
	srv := apptest.Start(t)
	srv.AddEmoji("blobs", map[string]string{"cat": "cat.png", "dog": "Dog 1.GIF", "bad": "bad.svg"})
	apptest.WriteDataFile(srv, "emoji/blobs/.secret.png", "x")
	apptest.WriteDataFile(srv, "emoji/loose.png", "x")
	if err := os.Symlink(filepath.Join(srv.Dir, "svc.db"), filepath.Join(srv.Dir, "emoji/blobs/link.png")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path        string
		status      int
		contentType string
	}{
		{"/emoji/blobs/cat.png", 200, "image/png"},
		{"/emoji/blobs/Dog%201.GIF", 200, "image/gif"},
		{"/emoji/blobs/bad.svg", 404, ""},
		{"/emoji/blobs/pack.json", 404, ""},
		{"/emoji/blobs/.secret.png", 404, ""},
		{"/emoji/blobs/link.png", 404, ""},
		{"/emoji/blobs/none.png", 404, ""},
		{"/emoji/blobs", 404, ""},
		{"/emoji/blobs/", 404, ""},
		{"/emoji/", 404, ""},
		{"/emoji/blobs/cat.png/", 404, ""},
		{"/emoji/blobs/../blobs/cat.png", 404, ""},
		{"/emoji/blobs/..%2fblobs/cat.png", 404, ""},
	} {
		t.Run(tt.path, func(t *testing.T) {
			a := srv.As(nil).Get(tt.path).Want(tt.status)
			if tt.status == 200 && a.Header.Get("Content-Type") != tt.contentType {
				t.Errorf("served as %s", a.Header.Get("Content-Type"))
			}
		})
	}
	a := srv.As(nil).Get("/emoji/blobs/cat.png").Want(200)
	for key, want := range map[string]string{
		"X-Content-Type-Options":      "nosniff",
		"Content-Security-Policy":     "default-src 'none'; sandbox",
		"Access-Control-Allow-Origin": "*",
		"Cache-Control":               "public, max-age=604800",
	} {
		if got := a.Header.Get(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if !bytes.Equal(a.Body, []byte("picture of cat")) {
		t.Errorf("got %q", a.Body)
	}
}

func TestCustomEmojis(t *testing.T) {
	srv := apptest.Start(t)
	if list := srv.As(nil).Get("/api/v1/custom_emojis").Want(200); string(list.Body) != "[]" {
		t.Errorf("without emoji the response is %s", list.Body)
	}
	if list := srv.As(nil).Get("/api/v1/svc/emoji").Want(200); string(list.Body) != "{}" {
		t.Errorf("without emoji the response is %s", list.Body)
	}
	srv.AddEmoji("blobs", map[string]string{"dog": "Dog 1.gif", "cat": "cat.png"})
	want := `[{"shortcode":"cat","url":"URL/emoji/blobs/cat.png","static_url":"URL/emoji/blobs/cat.png","visible_in_picker":true,"category":"pack:blobs","tags":["pack:blobs"]},` +
		`{"shortcode":"dog","url":"URL/emoji/blobs/Dog%201.gif","static_url":"URL/emoji/blobs/Dog%201.gif","visible_in_picker":true,"category":"pack:blobs","tags":["pack:blobs"]}]`
	list := srv.As(nil).Get("/api/v1/custom_emojis").Want(200)
	if got := strings.ReplaceAll(string(list.Body), srv.URL, "URL"); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	for _, o := range list.List() {
		srv.As(nil).Get(o.Str("url")).Want(200)
	}
	for _, path := range []string{"/api/v1/svc/emoji", "/api/svc/emoji.json", "/api/svc/emoji/"} {
		want := `{"cat":{"tags":["pack:blobs"],"image_url":"/emoji/blobs/cat.png"},"dog":{"tags":["pack:blobs"],"image_url":"/emoji/blobs/Dog%201.gif"}}`
		if got := srv.As(nil).Get(path).Want(200); string(got.Body) != want {
			t.Errorf("GET %s: got\n%s, want\n%s", path, got.Body, want)
		}
	}
	// A pack that is added later is served at once.
	srv.AddEmoji("animals", map[string]string{"bee": "bee.png"})
	if list := srv.As(nil).Get("/api/v1/custom_emojis").List(); len(list) != 3 || list[0].Str("shortcode") != "bee" {
		t.Errorf("%d emoji", len(list))
	}
}

// TestOptionalFiles checks that front ends that look for files of the operator are not sent JSON or a page, which they would parse.
func TestOptionalFiles(t *testing.T) {
	srv := apptest.Start(t)
	for _, path := range []string{"/static/config.json", "/static/stickers.json", "/instance/about.html", "/packs/emoji.json", "/packs/app.js"} {
		a := srv.Browser().Get(path).Want(404, "404 page not found")
		if got := a.Header.Get("Content-Type"); got != "text/plain; charset=utf-8" {
			t.Errorf("GET %s: the type is %s", path, got)
		}
	}
	apptest.WriteDataFile(srv, "static/config.json", `{"a":1}`)
	apptest.WriteDataFile(srv, "static/packs/emoji.json", `{"b":1}`)
	apptest.WriteDataFile(srv, "static/terms-of-service.html", "be nice")
	apptest.WriteDataFile(srv, "static/instance/panel.html", "hello")
	for path, want := range map[string]string{
		"/static/config.json": `{"a":1}`, "/packs/emoji.json": `{"b":1}`, "/static/terms-of-service.html": "be nice", "/instance/panel.html": "hello",
	} {
		if got := srv.As(nil).Get(path).Want(200); string(got.Body) != want {
			t.Errorf("GET %s: got %s", path, got.Body)
		}
	}
}

func TestManifest(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.Name = "Example & Friends" })
	o := srv.As(nil).Get("/manifest.json").Want(200).Object()
	apptest.WantFields(t, "the manifest", o, apptest.Doc{
		"name": "Example & Friends", "short_name": "Example & Friends", "id": "/", "start_url": "/web", "scope": "/", "share_target.action": "/web/share", "share_target.method": "POST", "display": "standalone", "theme_color": "#282c37", "background_color": "#191b22",
	})
	srv.As(nil).Get(o.At("icons").([]any)[0].(map[string]any)["src"].(string)).Want(200)
	apptest.WriteDataFile(srv, "static/manifest.json", `{"name":"mine"}`)
	if got := srv.As(nil).Get("/manifest.json").Want(200); string(got.Body) != `{"name":"mine"}` {
		t.Errorf("got %s", got.Body)
	}
}

func TestFrontendConfigurations(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.Frontends.Configurations = []config.FrontendConfiguration{{Name: "some_fe", Configuration: `{"theme": "dark"}`}, {Name: "other", Configuration: `{}`}}
	})
	for _, path := range []string{"/api/svc/frontend_configurations", "/api/v1/svc/frontend_configurations"} {
		if got := srv.As(nil).Get(path).Want(200); string(got.Body) != `{"other":{},"some_fe":{"theme":"dark"}}` {
			t.Errorf("GET %s: got %s", path, got.Body)
		}
	}
}

func TestAPI(t *testing.T) {
	srv := apptest.Start(t)
	for _, path := range []string{"/api", "/api/"} {
		for _, url := range srv.As(nil).Get(path).Want(200).Object().Fields {
			srv.As(nil).Get(url.(string)).Want(200)
		}
	}
}

// TestManifestIcons checks that the icons of the web app manifest are of the sizes that it says, among them those that browsers ask for.
func TestManifestIcons(t *testing.T) {
	srv := apptest.Start(t)
	var manifest struct {
		Icons []struct{ Src, Sizes, Type string }
	}
	if err := json.Unmarshal(srv.As(nil).Get("/manifest.json").Want(200).Body, &manifest); err != nil {
		t.Fatal(err)
	}
	var sizes []string
	for _, icon := range manifest.Icons {
		a := srv.As(nil).Get(icon.Src).Want(200)
		c, format, err := image.DecodeConfig(bytes.NewReader(a.Body))
		if err != nil || "image/"+format != icon.Type || fmt.Sprintf("%dx%d", c.Width, c.Height) != icon.Sizes {
			t.Errorf("%v is %dx%d, %s: %v", icon, c.Width, c.Height, format, err)
		}
		sizes = append(sizes, icon.Sizes)
	}
	for _, size := range []string{"192x192", "512x512"} {
		if !slices.Contains(sizes, size) {
			t.Errorf("no icon of %s", size)
		}
	}
}

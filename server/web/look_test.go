package web_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestOwnLook adds a style and a logo to the data directory while the server runs, changes and removes them. Pages of visitors, which are
// kept, and of users follow.
func TestOwnLook(t *testing.T) {
	srv := apptest.Start(t)
	browsers := map[string]*apptest.Browser{"a visitor": srv.Browser(), "a user": srv.SignUp("alice").SignedIn()}
	style, logo := regexp.MustCompile(`href="(/static/custom\.css\?v=\w+)"`), regexp.MustCompile(`src="(/static/logo\.\w+\?v=\w+)"`)
	linked := func(b *apptest.Browser, link *regexp.Regexp) string {
		if m := link.FindSubmatch(b.Get("/@alice").Want(200).Body); m != nil {
			return string(m[1])
		}
		return ""
	}
	for name, b := range browsers {
		if s, l := linked(b, style), linked(b, logo); s+l != "" {
			t.Fatalf("without files, %s is linked to %s %s", name, s, l)
		}
	}
	apptest.WriteDataFile(srv, "static/custom.css", ":root { --accent: #a4001d }")
	apptest.WriteDataFile(srv, "static/logo.png", string(apptest.PNG(48, 16)))
	first := make(map[string]string)
	for name, b := range browsers {
		apptest.WaitFor(t, "the style of "+name, func() bool { return linked(b, style) != "" && linked(b, logo) != "" })
		first[name] = linked(b, style)
		page := b.Get("/@alice")
		if body := string(page.Body); strings.Index(body, "/style.css") > strings.Index(body, "/static/custom.css") {
			t.Errorf("%s: the operator's style does not come last", name)
		}
		policy := page.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "style-src 'self';") {
			t.Errorf("the policy is %q", policy)
		}
		if a := b.Get(linked(b, style)).Want(200); a.Header.Get("Content-Type") != "text/css; charset=utf-8" || !strings.Contains(string(a.Body), "#a4001d") {
			t.Errorf("the style is %s", a.Body)
		}
		if a := b.Get(linked(b, logo)).Want(200); a.Header.Get("Content-Type") != "image/png" {
			t.Errorf("the logo is %s", a.Header.Get("Content-Type"))
		}
	}
	b := browsers["a visitor"]
	apptest.WriteDataFile(srv, "static/custom.css", ":root { --accent: #00611f; }")
	apptest.WaitFor(t, "the changed style", func() bool { return linked(b, style) != first["a visitor"] })
	apptest.WriteDataFile(srv, "static/logo.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>")
	apptest.WaitFor(t, "the better logo", func() bool { return strings.HasPrefix(linked(b, logo), "/static/logo.svg") })
	for _, name := range []string{"custom.css", "logo.svg", "logo.png"} {
		if err := os.Remove(filepath.Join(srv.Dir, "static", name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(srv.Dir, "svc.db"), filepath.Join(srv.Dir, "static/logo.webp")); err != nil {
		t.Fatal(err)
	}
	apptest.WaitFor(t, "the standard look", func() bool { return linked(b, style) == "" && linked(b, logo) == "" })
}

package frontend_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/frontend"
)

// archive returns a zip archive. A name that ends in a slash is a folder.
func open(t *testing.T, path string) *frontend.Dir {
	t.Helper()
	d, err := frontend.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// content returns a file of a version, "" if there is none.
func content(t *testing.T, d *frontend.Dir, v frontend.Version, name string) string {
	t.Helper()
	file, _, err := d.OpenFile(v, name)
	if err != nil {
		return ""
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestInstallFolders installs archives with the build in different folders.
func TestInstallFolders(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		build string
		want  string // the index, "": refused
	}{
		{"at the top", map[string]string{"index.html": "a", "app.js": "x"}, "", "a"},
		{"in dist", map[string]string{"dist/index.html": "a", "dist/app.js": "x"}, "", "a"},
		{"in dist, named", map[string]string{"dist/index.html": "a", "dist/app.js": "x"}, "dist", "a"},
		{"in a named folder of a repository", map[string]string{"repo/static/index.html": "a", "repo/static/app.js": "x", "repo/README.md": "r"}, "static", "a"},
		{"in the outermost of several", map[string]string{"dist/index.html": "a", "dist/app.js": "x", "dist/docs/index.html": "b", "README.md": "r"}, "", "a"},
		{"not in the named folder", map[string]string{"dist/index.html": "a", "README.md": "r"}, "static", ""},
		{"nowhere", map[string]string{"dist/app.js": "x"}, "", ""},
		{"outside of the archive", map[string]string{"index.html": "a", "../evil.html": "x"}, "", ""},
		{"bomb", map[string]string{"index.html": strings.Repeat("a", 30<<20)}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			d := open(t, dir)
			v := frontend.Version{Name: "fe", Ref: "1.0"}
			a := bytes.NewReader(apptest.Zip(t, tt.files))
			err := d.Install(v, a, a.Size(), tt.build)
			if got := content(t, d, v, "index.html"); (err == nil) != (tt.want != "") || got != tt.want {
				t.Errorf("index is %q, error %v, want %q", got, err, tt.want)
			}
			if got := content(t, d, v, "app.js"); tt.want != "" && got != "x" && tt.files["app.js"]+tt.files["dist/app.js"]+tt.files["repo/static/app.js"] != "" {
				t.Errorf("app.js is %q", got)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "evil.html")); err == nil {
				t.Error("a file was written outside of the folder")
			}
		})
	}
}

// TestVersions replaces, lists and removes versions.
func TestVersions(t *testing.T) {
	d := open(t, t.TempDir())
	for _, v := range []frontend.Version{{"b", "2"}, {"a", "main"}, {"b", "1"}, {"b", "2"}} {
		a := bytes.NewReader(apptest.Zip(t, map[string]string{"index.html": v.String()}))
		if err := d.Install(v, a, a.Size(), ""); err != nil {
			t.Fatal(err)
		}
	}
	installed := func() string {
		list, err := d.Installed()
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(list)
	}
	if got, want := installed(), "[a/main b/1 b/2]"; got != want {
		t.Errorf("installed: %s, want %s", got, want)
	}
	bad := bytes.NewReader(apptest.Zip(t, map[string]string{"other.html": "x"}))
	if err := d.Install(frontend.Version{Name: "b", Ref: "2"}, bad, bad.Size(), ""); err == nil || content(t, d, frontend.Version{"b", "2"}, "index.html") != "b/2" {
		t.Errorf("a refused archive: %v, the old version has changed", err)
	}
	for _, v := range []frontend.Version{{"..", "x"}, {"a", ".."}, {"a", ""}, {"", "a"}, {".new-1", "x"}, {"a/b", "c"}, {"a", "b\\c"}} {
		a := bytes.NewReader(apptest.Zip(t, map[string]string{"index.html": "x"}))
		if err := d.Install(v, a, a.Size(), ""); err == nil {
			t.Errorf("%q was installed", v)
		}
	}
	for i, want := range []bool{true, false} {
		if removed, err := d.Remove(frontend.Version{Name: "a", Ref: "main"}); removed != want || err != nil {
			t.Errorf("removal %d: %v, %v, want %v", i+1, removed, err, want)
		}
	}
	if got, want := installed(), "[b/1 b/2]"; got != want {
		t.Errorf("installed: %s, want %s", got, want)
	}
	for _, name := range []string{"../1/index.html", "/index.html", ".", "", "index.html/", "a\\b", ".hidden"} {
		if got := content(t, d, frontend.Version{Name: "b", Ref: "2"}, name); got != "" {
			t.Errorf("%q opens %q", name, got)
		}
	}
}

// TestInterruptedInstall opens folders as a kill in the middle of an installation leaves them.
func TestInterruptedInstall(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		".new-1/index.html":       "unfinished",
		"fe/.old-1/index.html":    "old 1", // the new one is not in its place yet
		"fe/2/index.html":         "new 2",
		"fe/.old-2/index.html":    "old 2",
		"other/main/index.html":   "x",
		".new-removed/index.html": "x",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := open(t, dir)
	if list, err := d.Installed(); err != nil || fmt.Sprint(list) != "[fe/1 fe/2 other/main]" {
		t.Errorf("installed: %v, %v", list, err)
	}
	for ref, want := range map[string]string{"1": "old 1", "2": "new 2"} {
		if got := content(t, d, frontend.Version{Name: "fe", Ref: ref}, "index.html"); got != want {
			t.Errorf("index of fe/%s is %q, want %q", ref, got, want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*/.*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

package main_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// packageLevels are the rooms of the program, each on its floor. A room may import rooms on lower floors only, and below internal
// anything there. A folder stands in the room with the longest name that it begins with.
var packageLevels = map[string]int{
	"":                  6,
	"server":            5,
	"server/entity":     4,
	"server/web":        4,
	"admin":             4,
	"federation":        4,
	"social":            3,
	"federation/policy": 3,
	"media":             2,
	"emoji":             2,
	"store":             1,
	"internal":          0,
}

// packageOf returns the room of a folder, "?" if it stands in none.
func packageOf(dir string) string {
	if dir == "." {
		return ""
	}
	for r := dir; r != "."; r = path.Dir(r) {
		if _, ok := packageLevels[r]; ok {
			return r
		}
	}
	return "?"
}

// TestImportsPointOneWay checks main → server → admin, federation, server/entity → social → media, emoji → store → internal.
func TestImportsPointOneWay(t *testing.T) {
	const module = "svc"
	checked := make(map[string]bool)
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "data") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		dir := filepath.ToSlash(filepath.Dir(p))
		from := packageOf(dir)
		checked[from] = true
		if from == "?" {
			t.Errorf("%s is in no room: see design and CONTRIBUTING", p)
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range file.Imports {
			imported, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			dir, ours := strings.CutPrefix(imported, module+"/")
			if to := packageOf(dir); ours && packageLevels[to] >= packageLevels[from] && !(from == "internal" && to == "internal") {
				t.Errorf("%s imports %s: %q may not know of %q", p, imported, from, to)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []string{"", "server", "server/entity", "admin", "federation", "federation/policy", "social", "media", "emoji", "store", "internal"} {
		if !checked[r] {
			t.Errorf("found no file of %q: is the test looking in the right place?", r)
		}
	}
}

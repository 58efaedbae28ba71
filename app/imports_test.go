package app_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// levels are the packages of the program (design.md section 3). A package imports packages of lower levels only; those below internal
// may import each other. A folder belongs to the longest name that it begins with.
var levels = [][]string{
	{"internal"},
	{"store"},
	{"policy", "media", "emoji"},
	{"social"},
	{"federation/inbox", "federation/delivery", "federation/remote"},
	{"admin", "federation"},
	{"server/entity", "server/rest"},
	{"server/web"},
	{"server/oauth", "server/stream", "server/staff", "server/metrics"},
	{"server/pages"},
	{"server"},
	{"app"},
	{"app/apptest", "command"},
	{"app/apptest/peers"},
	{""}, // main
}

// packageOf returns the package and the level of a folder, -1 if it belongs to none.
func packageOf(dir string) (name string, level int) {
	if dir == "." {
		dir = ""
	}
	for name := dir; name != "."; name = path.Dir(name) {
		if level := slices.IndexFunc(levels, func(names []string) bool { return slices.Contains(names, name) }); level >= 0 {
			return name, level
		}
		if name == "" {
			break
		}
	}
	return "", -1
}

// TestImportDirection checks that imports point from main to internal, never back.
func TestImportDirection(t *testing.T) {
	const module, root = "svc", ".."
	found := make(map[string]bool)
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "data") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		from, level := packageOf(filepath.ToSlash(dir))
		if level < 0 {
			t.Errorf("%s belongs to no package: see CONTRIBUTING.md", file)
			return nil
		}
		found[from] = true
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range parsed.Imports {
			imported, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			dir, ours := strings.CutPrefix(imported, module+"/")
			if to, below := packageOf(dir); ours && below >= level && !(from == "internal" && to == "internal") {
				t.Errorf("%s imports %s: %q may not import %q", file, imported, from, to)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Concat(levels...) {
		if !found[name] {
			t.Errorf("levels lists the package %q, which does not exist: remove it", name)
		}
	}
}

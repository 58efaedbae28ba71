package app_test

import (
	"go/ast"
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
	{"moving"},
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

// walkProgram calls fn for each file of the program: with its folder below the root, and without tests.
func walkProgram(t *testing.T, fn func(file, dir string) error) {
	t.Helper()
	const root = ".."
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
		return fn(file, filepath.ToSlash(dir))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestImportDirection checks that imports point from main to internal, never back.
func TestImportDirection(t *testing.T) {
	const module = "svc"
	found := make(map[string]bool)
	walkProgram(t, func(file, dir string) error {
		from, level := packageOf(dir)
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
	for _, name := range slices.Concat(levels...) {
		if !found[name] {
			t.Errorf("levels lists the package %q, which does not exist: remove it", name)
		}
	}
}

// fileChanges are the functions of package os that change files. The program uses those of internal/disk, so that tests of power failures see each change.
var fileChanges = []string{"Create", "CreateTemp", "Link", "Mkdir", "MkdirAll", "MkdirTemp", "OpenFile", "Remove", "RemoveAll", "Rename", "Symlink", "Truncate", "WriteFile"}

// TestFileChanges checks that files are changed through internal/disk only.
func TestFileChanges(t *testing.T) {
	socket := filepath.Join("..", "app", "listen.go") // removes that of a killed server, which holds no data
	walkProgram(t, func(file, dir string) error {
		if dir == "internal/disk" || strings.HasPrefix(dir, "app/apptest") || file == socket {
			return nil
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, file, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		if len(parsed.Comments) > 0 && strings.HasPrefix(parsed.Comments[0].List[0].Text, "//go:build ignore") {
			return nil
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if from, ok := call.X.(*ast.Ident); ok && from.Name == "os" && slices.Contains(fileChanges, call.Sel.Name) {
				t.Errorf("%s: use disk.%s, not os.%s", files.Position(call.Pos()), call.Sel.Name, call.Sel.Name)
			}
			return true
		})
		return nil
	})
}

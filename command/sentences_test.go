package command_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// maybePlural is a plural in brackets after a word, as in "file(s)".
var maybePlural = regexp.MustCompile(`[a-z]\((s|es|ies)\)`)

// countedPlural is a number that is followed by a plural, and so may read "1 files": text.Count writes both forms. Verbs after a number that
// is a name are no plurals.
var countedPlural = regexp.MustCompile(`%d (?:[a-z]+ )?[a-z]+(?:[^s\W]s|ies)\b`)

// notCounted are texts whose number is the name of something, not a count.
var notCounted = []string{
	"Invite %d is ", "Token %d is ", "Port %d is ", "Note %d by ", "%d of them", "%d is not ", "%d of %s", "%d of which", "%d could not",
}

// TestSentences looks for wrong plurals in the texts of all packages: "(s)" anywhere, and counted plurals in the output of commands.
func TestSentences(t *testing.T) {
	n := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != ".." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		n++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		isCommand := filepath.Dir(path) == filepath.Join("..", "command")
		ast.Inspect(file, func(node ast.Node) bool {
			literal, is := node.(*ast.BasicLit)
			if !is || literal.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(literal.Value)
			if problem := wrongPlural(text, isCommand); problem != "" {
				t.Errorf("%s: %q: use text.Count", set.Position(literal.Pos()), problem)
			}
			return true
		})
		return nil
	})
	if err != nil || n < 500 {
		t.Fatalf("%d files: %v", n, err)
	}
}

func wrongPlural(text string, counted bool) string {
	if found := maybePlural.FindString(text); found != "" {
		return found
	}
	if !counted {
		return ""
	}
	for _, name := range notCounted {
		text = strings.ReplaceAll(text, name, "")
	}
	return countedPlural.FindString(text)
}

func TestWrongPlural(t *testing.T) {
	for text, want := range map[string]bool{
		"at least %d character(s)": true, "Removed %d files.": true, "%d incoming activities": true, "%d entries": true,
		"Invite %d is revoked": false, "Imported %d of %s": false, "the address": false, "Added note %d.": false,
	} {
		if got := wrongPlural(text, true) != ""; got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

package server_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestFilesAreListed checks that the comment of the package lists each of its files once.
func TestFilesAreListed(t *testing.T) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "server.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	listed := make(map[string]int)
	for word := range strings.FieldsFuncSeq(parsed.Doc.Text(), func(r rune) bool { return strings.ContainsRune(" \n,:", r) }) {
		if strings.HasSuffix(word, ".go") {
			listed[word]++
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") && listed[file] != 1 {
			t.Errorf("the comment of the package lists %s %d times", file, listed[file])
		}
		delete(listed, file)
	}
	for file := range listed {
		t.Errorf("the comment of the package lists %s, which does not exist", file)
	}
}

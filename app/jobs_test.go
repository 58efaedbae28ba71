package app_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestJobs checks that the assembled server has one handler for each type with a method Kind in package store, that no two have the same name,
// and that no kind has a setting that does nothing.
func TestJobs(t *testing.T) {
	handled, names := make(map[string]bool), make(map[string]string)
	for _, p := range apptest.Start(t).Worker.Kinds() {
		kind, payload := p.Kind(), reflect.TypeOf(p).Name()
		if other := names[kind.Name]; other != "" {
			t.Errorf("%s and %s have the name %q, or the type has two handlers", payload, other, kind.Name)
		}
		if kind.Name == "" {
			t.Errorf("%s has no name", payload)
		}
		if kind.Server != nil && kind.Parallel > 0 {
			t.Errorf("%s: Parallel does nothing, because jobs with a Server have slots by domain", payload)
		}
		names[kind.Name], handled[payload] = payload, true
	}
	declared := jobPayloads(t)
	if len(declared) < 40 {
		t.Errorf("found %d payloads only: %v", len(declared), declared)
	}
	for _, payload := range declared {
		if !handled[payload] {
			t.Errorf("jobs of store.%s have no handler: add store.Handle to a Register method that app.go calls", payload)
		}
	}
}

// jobPayloads returns the types of package store that have a method Kind() JobKind.
func jobPayloads(t *testing.T) (list []string) {
	files, err := filepath.Glob("../store/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != "Kind" || f.Type.Results.NumFields() != 1 {
				continue
			}
			result, _ := f.Type.Results.List[0].Type.(*ast.Ident)
			if receiver, ok := f.Recv.List[0].Type.(*ast.Ident); ok && result != nil && result.Name == "JobKind" {
				list = append(list, receiver.Name)
			}
		}
	}
	return list
}

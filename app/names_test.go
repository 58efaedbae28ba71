package app_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestTransactionNames checks that the names of those exported methods of social and admin end in In that take a transaction, and no others:
// one without it opens its own, and would wait for the other one for ever.
func TestTransactionNames(t *testing.T) {
	found := 0
	for _, dir := range []string{"../social", "../admin"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range parsed.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || f.Recv == nil || !f.Name.IsExported() {
					continue
				}
				takes := takesTransaction(f.Type.Params)
				if takes {
					found++
				}
				if takes != strings.HasSuffix(f.Name.Name, "In") {
					t.Errorf("%s: %s takes a transaction: %v", file, f.Name.Name, takes)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d methods take a transaction", found)
	}
}

func takesTransaction(params *ast.FieldList) bool {
	for _, p := range params.List {
		if star, ok := p.Type.(*ast.StarExpr); ok {
			if s, ok := star.X.(*ast.SelectorExpr); ok && s.Sel.Name == "Tx" {
				return true
			}
		}
	}
	return false
}

package server_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"svc/internal/packed/packedtest"
	"svc/server"
)

const summariesFile = "summaries.json"

// reference is what says in comments where a behaviour is specified.
var reference = regexp.MustCompile(` \(spec [^)]*\)`)

// TestSummaries checks that summaries.json has what the comments of the handlers say, a sentence for each endpoint of the API. With -update it is
// rewritten.
func TestSummaries(t *testing.T) {
	c := handlerComments{comments: make(map[string]string), handlers: make(map[string][]string)}
	for _, dir := range []string{"../social", "../admin", "rest", "oauth", "stream", "staff", "."} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			c.readComments(dir, parsed)
			c.readHandlers(dir, parsed)
		}
	}
	summaries := make(map[string]string)
	for _, r := range server.Routes() {
		if key := r.Method + " " + r.Path; r.InDescription() {
			if summaries[key] = c.summary(key); summaries[key] == "" {
				t.Errorf("%s: none of %v is one function with a comment", key, c.handlers[key])
			}
		}
	}
	want, err := json.MarshalIndent(summaries, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		packedtest.Write(t, summariesFile, want)
	}
	packedtest.Compare(t, summariesFile)
	if got, err := os.ReadFile(summariesFile); err != nil || string(got) != string(want) {
		t.Errorf("%s is not what the comments of the handlers say: go test ./server -run TestSummaries -update (%v)", summariesFile, err)
	}
}

// handlerComments are what the sources say about endpoints.
type handlerComments struct {
	comments map[string]string   // the first sentence of the comment of a function, by its folder, type and name, and by less where only one has that
	handlers map[string][]string // the names that the route of an endpoint has, as they may stand in comments
}

// readComments adds the comments of functions.
func (c *handlerComments) readComments(dir string, file *ast.File) {
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		text := strings.Join(strings.Fields(f.Doc.Text()), " ")
		if sentence, _, cut := strings.Cut(text, ". "); cut {
			text = sentence + "."
		}
		if text == "" {
			continue
		}
		text = strings.TrimPrefix(reference.ReplaceAllString(text, ""), f.Name.Name+" ")
		for _, begin := range []string{"returns a handler that ", "returns the handler that "} {
			text = strings.TrimPrefix(text, begin)
		}
		first, size := utf8.DecodeRuneInString(text)
		text = string(unicode.ToUpper(first)) + text[size:]
		for _, key := range []string{dir + "." + receiverOf(f) + "." + f.Name.Name, dir + "." + f.Name.Name, f.Name.Name} {
			if old, known := c.comments[key]; known && old != text {
				text := "" // there are several
				c.comments[key] = text
				continue
			}
			c.comments[key] = text
		}
	}
}

// receiverOf returns the type that a function is a method of, "" if it is none.
func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	name, _ := of.(*ast.Ident)
	if name == nil {
		return ""
	}
	return name.Name
}

// readHandlers adds the names in the rows of route tables.
func (c *handlerComments) readHandlers(dir string, file *ast.File) {
	for _, decl := range file.Decls {
		f, _ := decl.(*ast.FuncDecl)
		ast.Inspect(decl, func(n ast.Node) bool {
			row, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			key, isText := row.Key.(*ast.BasicLit)
			value, isRoute := row.Value.(*ast.CompositeLit)
			if !isText || !isRoute || len(value.Elts) != 2 {
				return true
			}
			if endpoint, err := strconv.Unquote(key.Value); err == nil && strings.Contains(endpoint, " /") {
				for _, name := range namesIn(value.Elts[1]) {
					if f != nil {
						c.handlers[endpoint] = append(c.handlers[endpoint], dir+"."+receiverOf(f)+"."+name)
					}
					c.handlers[endpoint] = append(c.handlers[endpoint], dir+"."+name, name)
				}
			}
			return true
		})
	}
}

// namesIn returns the name of a function; of a call such as operation(h.Social.DeleteList), that of what it is called with comes first. A method of
// another part has its folder before it.
func namesIn(e ast.Expr) []string {
	switch e := e.(type) {
	case *ast.Ident:
		return []string{e.Name}
	case *ast.SelectorExpr:
		switch of := e.X.(type) {
		case *ast.Ident:
			if of.Name == "store" {
				return nil // a constant
			}
		case *ast.SelectorExpr:
			return []string{"../" + strings.ToLower(of.Sel.Name) + "." + e.Sel.Name, e.Sel.Name}
		case *ast.ParenExpr:
			if star, ok := of.X.(*ast.StarExpr); ok {
				if service, ok := star.X.(*ast.SelectorExpr); ok {
					return []string{"../" + service.X.(*ast.Ident).Name + "." + e.Sel.Name, e.Sel.Name}
				}
			}
		}
		return []string{e.Sel.Name}
	case *ast.CallExpr:
		var names []string
		for _, argument := range e.Args {
			names = append(names, namesIn(argument)...)
		}
		return append(names, namesIn(e.Fun)...)
	}
	return nil
}

func (c *handlerComments) summary(endpoint string) string {
	for _, name := range c.handlers[endpoint] {
		if text := c.comments[name]; text != "" {
			return text
		}
	}
	return ""
}

package pages_test

import (
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"svc/server/entity"
	"svc/server/pages"
	"svc/server/rest"
)

// TestMain runs the tests, and then checks the names of members that pages decoded in them. An answer has no member of a name that is
// misspelt or that was renamed in the API, and the page shows nothing in its place.
func TestMain(m *testing.M) {
	names := &decodedNames{calls: make(map[string]*decodingCall), types: make(map[reflect.Type]*shape), into: make(map[reflect.Type][]*shape), done: make(map[[2]reflect.Type]bool)}
	pages.Observe(names.add)
	code := m.Run()
	run, skip := flag.Lookup("test.run").Value.String(), flag.Lookup("test.skip").Value.String()
	if run == "" && skip == "" && !testing.Short() { // all tests ran
		missing, unseen, err := names.check()
		if err != nil {
			missing = append(missing, err.Error())
		}
		if code == 0 { // else a test may have ended too early
			missing = append(missing, unseen...)
		}
		for _, problem := range missing {
			fmt.Println("--- FAIL: names that pages decode:", problem)
			code = 1
		}
	}
	os.Exit(code)
}

// decodedNames collects what pages decode, by the call that decodes it, and what answers have.
type decodedNames struct {
	mu    sync.Mutex
	calls map[string]*decodingCall  // by file:line of code and, for untyped targets, page
	types map[reflect.Type]*shape   // of answers
	into  map[reflect.Type][]*shape // by the types of targets
	done  map[[2]reflect.Type]bool  // pairs of these types that were checked
}

// decodingCall is a call that decodes answers.
type decodingCall struct {
	file    string
	line    int
	page    string // the first one
	answer  reflect.Type
	target  reflect.Type
	names   []string // of an untyped target
	answers shape
}

// shape has the members that the JSON of values has, be it in one of them.
type shape struct {
	object  bool
	members map[string]*shape
	element *shape                // of a list
	types   map[reflect.Type]bool // of Go, which have a shape of their own
}

func (s *shape) member(name string) *shape {
	s.object = true
	if s.members == nil {
		s.members = make(map[string]*shape)
	}
	if s.members[name] == nil {
		s.members[name] = new(shape)
	}
	return s.members[name]
}

func (s *shape) list() *shape {
	if s.element == nil {
		s.element = new(shape)
	}
	return s.element
}

// add is called with all that pages decode.
func (n *decodedNames) add(d pages.Decoded) {
	file, line := callOfPage()
	key := fmt.Sprintf("%s:%d", file, line)
	if len(d.Names) > 0 {
		key += " " + d.Page
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.calls[key]
	if c == nil {
		c = &decodingCall{file: file, line: line, page: d.Page, answer: reflect.TypeOf(d.Value), target: reflect.TypeOf(d.Target)}
		n.calls[key] = c
	}
	for _, name := range d.Names {
		if !slices.Contains(c.names, name) {
			c.names = append(c.names, name)
		}
	}
	n.addValue(&c.answers, reflect.ValueOf(d.Value), d.APIName)
}

// callOfPage returns where a page called get, list or decode.
func callOfPage() (file string, line int) {
	var stack [32]uintptr
	frames := runtime.CallersFrames(stack[:runtime.Callers(3, stack[:])])
	for {
		frame, more := frames.Next()
		file = filepath.Base(frame.File)
		if filepath.Base(filepath.Dir(frame.File)) == "pages" && file != "call.go" && !strings.HasSuffix(file, "_test.go") {
			return file, frame.Line
		}
		if !more {
			return "", 0
		}
	}
}

// addValue adds what a value of Go has as JSON to a shape. A struct has all its members, also those that are left out while they are empty.
func (n *decodedNames) addValue(s *shape, v reflect.Value, apiName string) {
	if !v.IsValid() {
		return
	}
	t := v.Type()
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			n.addValue(s, v.Elem(), apiName)
		} else if t.Kind() == reflect.Pointer {
			n.addValue(s, reflect.Zero(t.Elem()), apiName)
		}
		return
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			break // JSON or a text
		}
		if t.Elem().Kind() != reflect.Interface && v.Len() == 0 {
			n.addValue(s.list(), reflect.Zero(t.Elem()), apiName)
		}
		for i := range v.Len() {
			n.addValue(s.list(), v.Index(i), apiName)
		}
		return
	}
	if t.Kind() == reflect.Struct && t.Name() != "" {
		if s.types == nil {
			s.types = make(map[reflect.Type]bool)
		}
		s.types[t] = true
		if n.types[t] != nil && v.IsZero() {
			return // a type that contains itself
		}
		if n.types[t] == nil {
			n.types[t] = new(shape)
		}
		s = n.types[t]
	}
	if rendersItself(t) {
		if v.IsZero() {
			return
		}
		of := reflect.New(t)
		of.Elem().Set(v)
		text, err := rest.AppendJSON(nil, of.Interface())
		var value any
		if err == nil && json.Unmarshal(text, &value) == nil {
			s.addJSON(value, apiName)
		}
		return
	}
	switch t.Kind() {
	case reflect.Map:
		s.object = true
		for key, value := range v.Seq2() {
			n.addValue(s.member(strings.Replace(fmt.Sprint(key), apiName, "svc", 1)), value, apiName)
		}
	case reflect.Struct:
		s.object = true
		for _, field := range membersOf(t) {
			if value, err := v.FieldByIndexErr(field.index); err == nil {
				n.addValue(s.member(field.name), value, apiName)
			} else {
				n.addValue(s.member(field.name), reflect.Zero(t.FieldByIndex(field.index).Type), apiName)
			}
		}
	}
}

func (s *shape) addJSON(value any, apiName string) {
	switch value := value.(type) {
	case map[string]any:
		s.object = true
		for name, v := range value {
			if name == apiName {
				name = "svc"
			}
			s.member(name).addJSON(v, apiName)
		}
	case []any:
		for _, v := range value {
			s.list().addJSON(v, apiName)
		}
	}
}

var (
	marshaler       = reflect.TypeFor[json.Marshaler]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	appender        = reflect.TypeFor[entity.Appender]()
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// rendersItself returns true for types whose JSON does not follow from their fields.
func rendersItself(t reflect.Type) bool {
	return slices.ContainsFunc([]reflect.Type{marshaler, textMarshaler, appender}, func(i reflect.Type) bool { return t.Implements(i) || reflect.PointerTo(t).Implements(i) })
}

// jsonMember is a field of a struct as encoding/json sees it.
type jsonMember struct {
	name  string
	index []int
	of    reflect.Type
}

// membersOf returns the members of a struct, with those of embedded structs.
func membersOf(t reflect.Type) (list []jsonMember) {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() || f.Anonymous && name == "" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		list = append(list, jsonMember{name, f.Index, f.Type})
	}
	return list
}

// check returns names that answers do not have, and what could not be checked because no test causes it.
func (n *decodedNames) check() (missing, unseen []string, err error) {
	made, err := decodingCalls()
	if err != nil {
		return nil, nil, err
	}
	for _, c := range n.calls {
		n.collect(c)
	}
	for _, key := range slices.Sorted(maps.Keys(n.calls)) {
		c := n.calls[key]
		i := slices.IndexFunc(made, func(m *madeCall) bool { return m.file == c.file && m.first <= c.line && c.line <= m.last })
		if i < 0 {
			missing = append(missing, key+": the check does not know this call of get, list or decode")
			continue
		}
		made[i].seen = true
		about := func(path, answer string) string {
			return fmt.Sprintf("%s:%d: page %s: %s %q (%s, %v)", c.file, c.line, c.page, answer, strings.TrimPrefix(path, "."), made[i].endpoint, c.answer)
		}
		n.checkTarget(c, func(path string) { missing = append(missing, about(path, "no answer has")) }, func(path string) {
			unseen = append(unseen, about(path, "the members of this are not checked, because no test has an answer with it:"))
		})
		for _, name := range c.names {
			at := []*shape{&c.answers}
			for key := range strings.SplitSeq(name, ".") {
				at = n.membersNamed(at, key)
			}
			if len(at) == 0 {
				missing = append(missing, about(name, "no answer has"))
			}
		}
	}
	for _, m := range made {
		if !m.seen {
			unseen = append(unseen, fmt.Sprintf("%s:%d: the names that this decodes are not checked, because no test makes the call (%s)", m.file, m.first, m.endpoint))
		}
	}
	return missing, unseen, nil
}

// withTypes returns shapes with those of their types.
func (n *decodedNames) withTypes(at []*shape) (list []*shape) {
	for _, s := range at {
		list = append(list, s)
		for t := range s.types {
			list = append(list, n.types[t])
		}
	}
	return list
}

// membersNamed returns the shapes of a member of an object, or of the objects of a list.
func (n *decodedNames) membersNamed(at []*shape, name string) (list []*shape) {
	for _, s := range n.withTypes(at) {
		if m := s.members[name]; m != nil {
			list = append(list, m)
		}
		if s.element != nil {
			list = append(list, n.membersNamed([]*shape{s.element}, name)...)
		}
	}
	return list
}

// unmarshalsItself returns true for types that do not decode JSON into their fields.
func unmarshalsItself(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(unmarshaler) || reflect.PointerTo(t).Implements(textUnmarshaler)
}

// walk calls f with each struct of a target and its decoded value, outer ones first. f returns the shapes to go on with, nil if
// it has been there.
func (n *decodedNames) walk(t reflect.Type, at []*shape, path string, f func(t reflect.Type, at []*shape, path string) []*shape) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if unmarshalsItself(t) {
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		if at = f(t, at, path); at == nil {
			return
		}
		at = n.withTypes(at)
		for _, m := range membersOf(t) {
			var of []*shape
			for _, s := range at {
				if s.members[m.name] != nil {
					of = append(of, s.members[m.name])
				}
			}
			if len(of) > 0 {
				n.walk(m.of, of, path+"."+m.name, f)
			}
		}
	case reflect.Slice, reflect.Map:
		var of []*shape
		for _, s := range n.withTypes(at) {
			if t.Kind() == reflect.Map {
				of = slices.AppendSeq(of, maps.Values(s.members))
			} else if s.element != nil {
				of = append(of, s.element)
			}
		}
		n.walk(t.Elem(), of, path+".[]", f)
	}
}

// collect remembers what is decoded into the types of a target that have names.
func (n *decodedNames) collect(c *decodingCall) {
	n.walk(c.target, []*shape{&c.answers}, "", func(t reflect.Type, at []*shape, _ string) []*shape {
		if len(at) == 0 || slices.Contains(n.into[t], at[0]) {
			return nil
		}
		if t.Name() != "" {
			n.into[t] = append(n.into[t], at...)
		}
		return at
	})
}

// checkTarget reports the names of a target that the answers do not have. Where the type of an answer is not known, because it is inside of
// an entity that renders itself, the name may be in any answer that is decoded into the same type.
func (n *decodedNames) checkTarget(c *decodingCall, missing, unseen func(path string)) {
	n.walk(c.target, []*shape{&c.answers}, "", func(t reflect.Type, at []*shape, path string) []*shape {
		pair := [2]reflect.Type{t}
		for _, s := range at {
			for of := range s.types {
				pair[1] = of
			}
		}
		if t.Name() != "" {
			if n.done[pair] {
				return nil
			}
			n.done[pair] = true
			if pair[1] == nil {
				at = n.into[t]
			}
		}
		of := n.withTypes(at)
		if !slices.ContainsFunc(of, func(s *shape) bool { return s.object }) {
			unseen(path)
			return nil
		}
		for _, m := range membersOf(t) {
			if !slices.ContainsFunc(of, func(s *shape) bool { return s.members[m.name] != nil }) {
				missing(path + "." + m.name)
			}
		}
		return at
	})
}

// madeCall is a call of get, list or decode in the source.
type madeCall struct {
	file        string
	first, last int // lines
	endpoint    string
	seen        bool
}

// decodingCalls finds the calls in the source of the package.
func decodingCalls() (list []*madeCall, err error) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	parsed := make(map[string]*ast.File)
	constants := make(map[string]string)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || name == "call.go" {
			continue
		}
		if parsed[name], err = parser.ParseFile(set, name, nil, 0); err != nil {
			return nil, err
		}
		ast.Inspect(parsed[name], func(node ast.Node) bool {
			if spec, ok := node.(*ast.ValueSpec); ok && len(spec.Values) == len(spec.Names) {
				for i, value := range spec.Values {
					if literal, ok := value.(*ast.BasicLit); ok && literal.Kind == token.STRING {
						constants[spec.Names[i].Name], _ = strconv.Unquote(literal.Value)
					}
				}
			}
			return true
		})
	}
	var textOf func(ast.Expr) string
	textOf = func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.BasicLit:
			text, _ := strconv.Unquote(e.Value)
			return text
		case *ast.BinaryExpr:
			return textOf(e.X) + textOf(e.Y)
		case *ast.Ident:
			if text, ok := constants[e.Name]; ok {
				return text
			}
		}
		var text strings.Builder
		printer.Fprint(&text, set, e)
		return "{" + text.String() + "}"
	}
	for name, file := range parsed {
		last := ""
		ast.Inspect(file, func(node ast.Node) bool {
			if f, ok := node.(*ast.FuncDecl); ok {
				last = "of " + f.Name.Name
			}
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			of, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if receiver, ok := of.X.(*ast.Ident); !ok || receiver.Name != "p" {
				return true
			}
			switch of.Sel.Name {
			case "Call", "CallJSON", "Forward":
				last = textOf(call.Args[0]) + " " + textOf(call.Args[1])
			case "fetch":
				last = "GET " + textOf(call.Args[0])
			case "get", "list", "decode":
				m := &madeCall{file: name, first: set.Position(call.Pos()).Line, last: set.Position(call.End()).Line, endpoint: last}
				if of.Sel.Name != "decode" {
					m.endpoint = "GET " + textOf(call.Args[0])
				}
				list = append(list, m)
			}
			return true
		})
	}
	return list, nil
}

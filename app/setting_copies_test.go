package app_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// readsOnce are functions that read settings once, and why a change of them acts at once nevertheless.
var readsOnce = map[string]string{
	"svc/app.New":                       "the level of the log: settingsChanged follows it",
	"(*svc/app.Server).loadSettings":    "the level of the log: settingsChanged follows it",
	"(*svc/app.Server).settingsChanged": "is called after each change",
	"svc/emoji.newLooseRules":           "settingsChanged reads the packs again",
	"svc/admin.enableSimplePolicy":      "changes the settings before they take effect",
	"(*svc/admin.Settings).putHosts":    "writes the settings",
	"svc/app.Warnings":                  "describes the settings at the start",
	"svc/app.policyWarnings":            "describes the settings at the start",
}

// derived are types that have settings and are made again after each change, and the one of the newest settings.
var derived = map[string]string{
	"svc/admin.Settings": "its next settings are the saved ones",
}

// exempt are packages whose uses are not checked, and why.
var exempt = map[string]string{
	"svc/policy":            "a View makes all policies again after a change",
	"svc/internal/dbconfig": "converts settings",
	"svc/internal/doctor":   "examines the settings that it is given, once",
	"svc/command":           "commands end",
}

// TestNoCopiesOfSettings checks the rule of config.Live in the code: a setting that is not marked Restart is read from config.Live.Load at
// each use, or in what a config.View derives. It is not read by the functions that assemble the server, nor from a kept *config.Config.
func TestNoCopiesOfSettings(t *testing.T) {
	apptest.SkipIfShort(t)
	m := loadModule(t)
	for _, fault := range m.copies() {
		t.Error(fault)
	}
	if m.reads < 200 {
		t.Errorf("%d uses of settings were found", m.reads)
	}
}

// module is the parsed and type-checked packages of the program.
type module struct {
	files  *token.FileSet
	info   *types.Info
	parsed []*ast.File
	decls  map[*types.Func]*ast.FuncDecl
	config *types.Package
	live   map[*types.Var]string // fields of settings that take effect at once, and their names
	reads  int

	calls   map[*types.Func][]*ast.CallExpr
	asValue map[*types.Func]bool // functions that are used as values
	values  map[*types.Var][]ast.Expr
	params  map[*types.Var]param
}

// loadModule type-checks the packages of the program from their sources, and what they import from the build cache.
func loadModule(t *testing.T) *module {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}\t{{.Dir}}\t{{join .GoFiles \" \"}}", "svc")
	list.Dir, list.Stderr = "..", os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	m := &module{
		files: token.NewFileSet(), decls: make(map[*types.Func]*ast.FuncDecl), live: make(map[*types.Var]string), calls: make(map[*types.Func][]*ast.CallExpr),
		asValue: make(map[*types.Func]bool), values: make(map[*types.Var][]ast.Expr), params: make(map[*types.Var]param),
		info: &types.Info{Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object),
			Selections: make(map[*ast.SelectorExpr]*types.Selection), Types: make(map[ast.Expr]types.TypeAndValue)},
	}
	exports := make(map[string]string)
	imports := loaded{make(map[string]*types.Package), importer.ForCompiler(m.files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	for line := range strings.Lines(string(out)) { // in the order of dependencies
		f := strings.Split(strings.TrimSpace(line), "\t")
		exports[f[0]] = f[1]
		if f[0] != "svc" && !strings.HasPrefix(f[0], "svc/") {
			continue
		}
		var parsed []*ast.File
		for _, name := range strings.Fields(f[3]) {
			file, err := parser.ParseFile(m.files, filepath.Join(f[2], name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, file)
			m.parsed = append(m.parsed, file)
		}
		checker := types.Config{Importer: imports}
		pkg, err := checker.Check(f[0], m.files, parsed, m.info)
		if err != nil {
			t.Fatal(err)
		}
		imports.packages[f[0]] = pkg
		for _, file := range parsed {
			for _, d := range file.Decls {
				if d, ok := d.(*ast.FuncDecl); ok {
					m.decls[m.info.Defs[d.Name].(*types.Func)] = d
				}
			}
		}
	}
	m.config = imports.packages["svc/internal/config"]
	m.findSettings(t)
	m.index()
	return m
}

// loaded imports packages of the program as they were checked, and others from the build cache.
type loaded struct {
	packages map[string]*types.Package
	others   types.Importer
}

func (l loaded) Import(path string) (*types.Package, error) {
	if pkg, ok := l.packages[path]; ok {
		return pkg, nil
	}
	return l.others.Import(path)
}

// findSettings finds the field of each setting that takes effect at once. TestEveryFieldIsOneSetting in package config checks their names.
func (m *module) findSettings(t *testing.T) {
	t.Helper()
	for _, s := range config.Settings() {
		if s.Restart {
			continue
		}
		at, field := m.config.Scope().Lookup("Config").Type(), (*types.Var)(nil)
		for _, name := range strings.Split(strings.ReplaceAll(s.Name(), "_", ""), ".") {
			if field = fieldNamed(at.Underlying().(*types.Struct), name); field == nil {
				t.Fatalf("%s: there is no field %s", s.Name(), name)
			}
			at = field.Type()
		}
		m.live[field] = s.Name()
	}
}

// fieldNamed returns the field with a name in any case, also one of an embedded struct.
func fieldNamed(s *types.Struct, name string) *types.Var {
	for field := range s.Fields() {
		if strings.EqualFold(field.Name(), name) {
			return field
		}
		if field.Embedded() {
			if inner := fieldNamed(field.Type().Underlying().(*types.Struct), name); inner != nil {
				return inner
			}
		}
	}
	return nil
}

// index records the calls of each function, the functions that are used as values, and the values of variables.
func (m *module) index() {
	called := make(map[*ast.Ident]bool)
	for node := range m.nodes() {
		switch n := node.(type) {
		case *ast.CallExpr:
			if name := funcName(n.Fun); name != nil {
				called[name] = true
				if f, ok := m.info.Uses[name].(*types.Func); ok {
					m.calls[f.Origin()] = append(m.calls[f.Origin()], n)
				}
			}
			if m.isCall(n, "NewView") {
				for _, arg := range n.Args {
					if name := funcName(arg); name != nil {
						called[name] = true // a View calls it
					}
				}
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if name, ok := left.(*ast.Ident); ok {
					m.assign(name, n.Rhs[min(i, len(n.Rhs)-1)])
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if len(n.Values) > 0 {
					m.assign(name, n.Values[min(i, len(n.Values)-1)])
				}
			}
		case *ast.RangeStmt:
			for _, left := range []ast.Expr{n.Key, n.Value} {
				if name, ok := left.(*ast.Ident); ok {
					m.assign(name, n.X)
				}
			}
		}
	}
	for name, object := range m.info.Uses {
		if f, ok := object.(*types.Func); ok && !called[name] {
			m.asValue[f.Origin()] = true
		}
	}
	for f := range m.decls {
		signature := f.Signature()
		for i := range signature.Params().Len() {
			m.params[signature.Params().At(i)] = param{f, i}
		}
		if signature.Recv() != nil {
			m.params[signature.Recv()] = param{f, -1}
		}
	}
}

// param is a parameter of a function, -1 for its receiver.
type param struct {
	of *types.Func
	i  int
}

func (m *module) nodes() iter.Seq[ast.Node] {
	return func(yield func(ast.Node) bool) {
		for _, file := range m.parsed {
			for node := range ast.Preorder(file) {
				if !yield(node) {
					return
				}
			}
		}
	}
}

func (m *module) assign(name *ast.Ident, value ast.Expr) {
	v, ok := m.info.ObjectOf(name).(*types.Var)
	if ok {
		m.values[v] = append(m.values[v], value)
	}
}

// funcName returns the name in an expression that names a function or a method.
func funcName(e ast.Expr) *ast.Ident {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr:
		return funcName(e.X)
	}
	return nil
}

// isCall returns true if a call is one of the function or method of package config with the name.
func (m *module) isCall(call *ast.CallExpr, name string) bool {
	f, ok := m.info.Uses[cmp.Or(funcName(call.Fun), new(ast.Ident))].(*types.Func)
	return ok && f.Name() == name && f.Pkg() == m.config
}

// copies returns the uses of settings that break the rule.
func (m *module) copies() (faults []string) {
	assembling := m.assembling()
	for f, d := range m.decls {
		if pkg := f.Pkg().Path(); pkg == m.config.Path() || exempt[pkg] != "" || readsOnce[f.FullName()] != "" || d.Body == nil {
			continue
		}
		outside := assembling[f]
		ast.Inspect(d.Body, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.FuncLit: // runs later
				for inner := range ast.Preorder(n.Body) {
					faults = append(faults, m.check(inner, f, false)...)
				}
				return false
			default:
				faults = append(faults, m.check(n, f, outside)...)
				return true
			}
		})
	}
	slices.Sort(faults)
	return faults
}

// check checks a node that may be the use of a setting in a function.
func (m *module) check(node ast.Node, f *types.Func, assembling bool) []string {
	use, ok := node.(*ast.SelectorExpr)
	if !ok || m.info.Selections[use] == nil {
		return nil
	}
	field, _ := m.info.Selections[use].Obj().(*types.Var)
	name, ok := m.live[field]
	if !ok {
		return nil
	}
	m.reads++
	at := m.files.Position(use.Pos())
	where := fmt.Sprintf("%s:%d: %s reads %s", filepath.Base(at.Filename), at.Line, f.FullName(), name)
	if assembling {
		return []string{where + " when the server is assembled, but it is not marked Restart"}
	}
	if kept := m.kept(use.X, nil); kept != "" {
		return []string{where + " from " + kept + ", which does not follow changes"}
	}
	return nil
}

// kept returns what keeps the settings that an expression reads, "" if they come from config.Live, or from a file that a command reads.
func (m *module) kept(e ast.Expr, seen []*types.Var) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		return m.kept(e.X, seen)
	case *ast.StarExpr:
		return m.kept(e.X, seen)
	case *ast.IndexExpr:
		return m.kept(e.X, seen)
	case *ast.CallExpr:
		name := funcName(e.Fun)
		f, _ := m.info.Uses[cmp.Or(name, new(ast.Ident))].(*types.Func)
		if f == nil || f.Pkg() == m.config || m.decls[f.Origin()] == nil {
			return ""
		}
		return m.keptByResults(m.decls[f.Origin()], seen)
	case *ast.CompositeLit:
		for _, element := range e.Elts {
			if pair, ok := element.(*ast.KeyValueExpr); ok {
				element = pair.Value
			}
			if m.isSettings(m.info.TypeOf(element)) {
				return m.kept(element, seen)
			}
		}
	case *ast.SelectorExpr:
		selection := m.info.Selections[e]
		if selection == nil || !m.isSettings(selection.Type()) || m.isSettings(selection.Recv()) {
			return m.kept(e.X, seen)
		}
		if derived[strings.TrimPrefix(types.TypeString(selection.Recv(), nil), "*")] != "" {
			return ""
		}
		return "the field " + e.Sel.Name + " of " + types.TypeString(selection.Recv(), (*types.Package).Name)
	case *ast.Ident:
		v, ok := m.info.ObjectOf(e).(*types.Var)
		if !ok || slices.Contains(seen, v) {
			return ""
		}
		return m.keptByVariable(v, append(seen, v))
	}
	return ""
}

func (m *module) keptByResults(d *ast.FuncDecl, seen []*types.Var) string {
	for node := range ast.Preorder(d.Body) {
		if r, ok := node.(*ast.ReturnStmt); ok && len(r.Results) > 0 {
			if kept := m.kept(r.Results[0], seen); kept != "" {
				return kept
			}
		}
	}
	return ""
}

// keptByVariable follows a variable to its values, and a parameter to those of all calls.
func (m *module) keptByVariable(v *types.Var, seen []*types.Var) string {
	for _, value := range m.values[v] {
		if kept := m.kept(value, seen); kept != "" {
			return kept
		}
	}
	p, ok := m.params[v]
	if !ok {
		return ""
	}
	if m.asValue[p.of] && p.i >= 0 {
		return "a caller that is not known, because " + p.of.Name() + " is used as a value"
	}
	for _, call := range m.calls[p.of] {
		var given ast.Expr
		if p.i < 0 {
			given = ast.Unparen(call.Fun).(*ast.SelectorExpr).X
		} else if p.i < len(call.Args) {
			given = call.Args[p.i]
		}
		if kept := m.kept(given, seen); given != nil && kept != "" {
			return kept
		}
	}
	return ""
}

// isSettings returns true for Config, its parts, pointers to them, and structs that have one embedded.
func (m *module) isSettings(of types.Type) bool {
	if of == nil {
		return false
	}
	if p, ok := of.Underlying().(*types.Pointer); ok {
		of = p.Elem()
	}
	named, ok := of.(*types.Named)
	if !ok {
		return false
	}
	s, ok := named.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	if named.Obj().Pkg() == m.config {
		switch named.Obj().Name() {
		case "Live", "View", "Setting":
			return false
		}
		return true
	}
	for field := range s.Fields() {
		if field.Embedded() && m.isSettings(field.Type()) {
			return true
		}
	}
	return false
}

// assembling returns app.New and the functions that it calls, and that those call, outside of function literals.
func (m *module) assembling() map[*types.Func]bool {
	found := make(map[*types.Func]bool)
	var visit func(f *types.Func)
	visit = func(f *types.Func) {
		d := m.decls[f]
		if d == nil || d.Body == nil || found[f] || f.Pkg() == m.config {
			return
		}
		found[f] = true
		ast.Inspect(d.Body, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.FuncLit, *ast.GoStmt:
				return false
			case *ast.CallExpr:
				if called, ok := m.info.Uses[cmp.Or(funcName(n.Fun), new(ast.Ident))].(*types.Func); ok {
					visit(called.Origin())
				}
			}
			return true
		})
	}
	for f := range m.decls {
		if f.FullName() == "svc/app.New" {
			visit(f)
		}
	}
	return found
}

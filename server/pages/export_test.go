package pages

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Decoded is an answer of an endpoint that a page decodes.
type Decoded struct {
	Page    string   // path, with :key for the row that it names
	APIName string   // api.name
	Value   any      // that the endpoint returned
	Target  any      // pointer that it is decoded into
	Names   []string // members that the page takes from an untyped target, by their paths without the indexes of lists
}

// Observe calls f with every answer that pages decode from now on.
func Observe(f func(Decoded)) {
	observe = func(p *page, value, dst any) {
		page := p.URL.EscapedPath()
		if p.Param("key") != "" {
			page = path.Dir(page) + "/:key"
		}
		var names []string
		switch dst.(type) {
		case *any:
			names = append(rowNames(p, page), namedInCode[page]...)
		case *map[string]any:
			names = append(names, formNames(p, page)...)
		}
		f(Decoded{page, p.Settings.Load().API.Name, value, dst, names})
	}
}

// namedInCode are members by the page whose code names them. The tuples of settings are not among them: their pages show nothing without.
var namedInCode = map[string][]string{
	"/web/admin/frontends": {"primary_ref", "admin_ref"},
	"/web/settings/push":   {"configuration.vapid.public_key"},
}

// rowNames returns the members that a page of a resource takes from its rows.
func rowNames(p *page, path string) (names []string) {
	i := slices.IndexFunc(resources, func(s *resource) bool { return path == s.path || path == s.path+"/:key" })
	if i < 0 {
		return nil
	}
	s := resources[i]
	var paths []string
	if path == s.path {
		for _, c := range s.Columns {
			names = append(names, c.From)
		}
		for _, a := range s.actions {
			names = append(names, a.unless, a.only)
			paths = append(paths, a.path)
		}
	} else {
		names = append(names, s.change.about)
		for _, i := range s.inputs(p) {
			if !slices.Contains(s.change.without, i.Name) {
				names = append(names, cmp.Or(i.From, i.Name))
			}
		}
		paths = append(paths, s.change.path)
	}
	if s.change != nil {
		names = append(names, s.change.key)
	}
	for _, path := range paths {
		for _, field := range pathField.FindAllStringSubmatch(path, -1) {
			names = append(names, field[1])
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" || name == "." })
	if s.member == "" {
		return names
	}
	for i := range names {
		names[i] = s.member + "." + names[i]
	}
	return append(names, s.member)
}

// formNames returns the members that a page of settings shows in its form.
func formNames(p *page, path string) (names []string) {
	for _, f := range settingsForms {
		if f.path != path {
			continue
		}
		for _, g := range f.groups(p) {
			for _, i := range g.Inputs {
				keys := slices.DeleteFunc(strings.Split(i.From, "."), func(key string) bool { return key == "" || key >= "0" && key <= "9" })
				if len(keys) > 0 {
					names = append(names, strings.Join(keys, "."))
				}
			}
		}
	}
	return names
}

package dbconfig_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"svc/internal/config"
	"svc/internal/dbconfig"
)

// The admin front end of this family reads all settings in one pass and shows none of them if one value has a shape that it does not
// expect (admin API 7.2 and 7.7). These tables say what it expects and what it sends back, by its public source.

// shape returns true if a front end can read a value, which is decoded JSON.
type shape func(v any) bool

func isText(v any) bool   { _, ok := v.(string); return ok }
func isObject(v any) bool { m, ok := v.(map[string]any); return ok && m["tuple"] == nil }

func isTuple(v any) bool {
	m, _ := v.(map[string]any)
	_, ok := m["tuple"].([]any)
	return ok
}

func isPair(v any) bool { return isTuple(v) && len(v.(map[string]any)["tuple"].([]any)) == 2 }

// listOf accepts a list whose elements all have one of the shapes.
func listOf(shapes ...shape) shape {
	return func(v any) bool {
		list, ok := v.([]any)
		return ok && !slices.ContainsFunc(list, func(e any) bool {
			return !slices.ContainsFunc(shapes, func(s shape) bool { return s(e) })
		})
	}
}

// isScalar accepts values that front ends do not convert.
func isScalar(v any) bool {
	switch v.(type) {
	case nil, bool, float64, string:
		return true
	}
	return false
}

// shapes are what the value of a subkey has to be, by the key of its row and its own; "*" is any. The first line counts.
var shapes = []struct {
	key, subkey string
	want        string
	is          shape
}{
	{":rate_limit", "*", "a tuple, a list of tuples, true or false", func(v any) bool {
		_, isBool := v.(bool)
		return isBool || isTuple(v) || listOf(isTuple)(v)
	}},
	{":mrf_simple", "*", "a list of pairs or texts", listOf(isPair, isText)},
	{"*", ":groups", "a keyword list", listOf(isPair)},
	{"*", ":replace", "a list of pairs or texts", listOf(isPair, isText)},
	{"*", ":transparency_exclusions", "a list of pairs or texts", listOf(isPair, isText)},
	{"*", ":quarantined_instances", "a list of pairs or texts", listOf(isPair, isText)},
	{"*", ":icons", "a list of objects", listOf(isObject)},
	{"*", ":ip", "a tuple", isTuple},
	{"*", ":ip_whitelist", "a list of tuples or texts", listOf(isTuple, isText)},
	{"*", ":prune", "a tuple or a text", func(v any) bool { return isTuple(v) || isText(v) }},
	{"*", ":sender", "a pair, a text or null", func(v any) bool { return isPair(v) || isText(v) || v == nil }},
	{"*", ":match_actor", "an object", isObject},
	{"*", ":params", "an object", isObject},
	{"*", "*", "a scalar, an object, a tuple, a list of scalars or objects, or a list of pairs", func(v any) bool {
		return isScalar(v) || isObject(v) || isTuple(v) || listOf(isScalar, isObject)(v) || listOf(isPair)(v)
	}},
}

// wholeValues are the values of rows that are read without subkeys. All others have to be lists of pairs.
func isWholeValue(v any) bool {
	return isScalar(v) && v != nil || listOf(isScalar)(v) && len(v.([]any)) > 0
}

// sentBack are the values that a front end sends for a subkey whose value nobody changed, by its type in the description.
var sentBack = map[string]func(v any) any{
	"string": asRead, "integer": asRead, "float": asRead, "boolean": asRead, "tuple": asRead, "module": asRead, "keyword": asRead,
	`["list","string"]`: asRead, `["list","atom"]`: asRead, `["list","module"]`: asRead, `["list","map"]`: asRead, `["string","image"]`: asRead,
	`["dropdown","atom"]`:           asRead,
	`["tuple",["list","tuple"]]`:    limitFields,
	"map":                           asRead,
	`["map",["list","string"]]`:     asRead,
	`["map",["list","module"]]`:     asRead,
	`["list","tuple"]`:              rowsOfPairs,
	`["keyword",["list","string"]]`: rowsOfPairs,
}

func asRead(v any) any { return v }

// limitFields are the two text fields of each limit.
func limitFields(v any) any {
	if list, ok := v.([]any); ok {
		sent := make([]any, len(list))
		for i, e := range list {
			sent[i] = limitFields(e)
		}
		return sent
	}
	texts := []any{}
	for _, n := range v.(map[string]any)["tuple"].([]any) {
		text, _ := json.Marshal(n)
		texts = append(texts, string(text))
	}
	return map[string]any{"tuple": texts}
}

// rowsOfPairs are the rows of a table of two columns.
func rowsOfPairs(v any) any {
	sent := []any{}
	for _, e := range v.([]any) {
		if isText(e) {
			e = map[string]any{"tuple": []any{e, ""}}
		}
		sent = append(sent, e)
	}
	return sent
}

// everySetting returns settings that all have values other than zero.
func everySetting(t *testing.T) *config.Config {
	t.Helper()
	c := *config.Default()
	row := func(cells ...any) []any {
		m := map[string]any{}
		for i := 0; i < len(cells); i += 2 {
			m[cells[i].(string)] = cells[i+1]
		}
		return []any{m}
	}
	rows := map[string][]any{
		"frontends.available":      row("name", "fe", "ref", "main", "build_url", "https://fe.example/${ref}.zip"),
		"frontends.configurations": row("name", "nil", "configuration", `{"theme":"dark"}`),
		"emoji.groups":             append(row("name", "nil", "patterns", []any{"/emoji/*.png"}), row("name", "Custom", "patterns", []any{"/emoji/a/*.png", "/emoji/b/*.png"})...),
		"mrf_subchain.match_actor": row("pattern", "~r/^https:..a.example/", "policies", []any{"DropPolicy"}),
		"mrf_keyword.replace":      row("pattern", "spam", "replacement", "ham"),
		"mrf_user_allowlist.hosts": row("host", "a.example", "actors", []any{"https://a.example/users/x"}),
	}
	for _, s := range config.Settings() {
		var value any
		switch {
		case rows[s.Name()] != nil:
			value = rows[s.Name()]
		case s.Kind == config.Rows:
			value = append(row("host", "a.example", "reason", "spam"), row("host", "b.example", "reason", "")...)
		case s.Kind == config.List && len(s.Suggestions) > 0:
			value = s.Suggestions
		case s.Kind == config.Limit:
			value = "off"
		default:
			continue
		}
		if err := c.Set(s.Group, s.Key, value); err != nil {
			t.Fatalf("%s: %v", s.Name(), err)
		}
	}
	return &c
}

// decoded returns a value as a front end reads it.
func decoded(t *testing.T, v dbconfig.Value) (read any) {
	t.Helper()
	text, err := svc.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// TestFrontEndShapes checks that each entry of GET config has a shape that front ends read, and stands there once.
func TestFrontEndShapes(t *testing.T) {
	for name, c := range map[string]*config.Config{"defaults": config.Default(), "all settings": everySetting(t)} {
		seen := make(map[dbconfig.RowKey]bool)
		for _, e := range dbconfig.Entries(c, nil) {
			if seen[e.RowKey] {
				t.Errorf("%s: %s %s is there twice", name, e.Group, e.Key)
			}
			seen[e.RowKey] = true
			read := decoded(t, e.Value)
			if isWholeValue(read) {
				continue
			}
			if !listOf(isPair)(read) {
				t.Errorf("%s: %s %s is neither a list of pairs nor a scalar: %v", name, e.Group, e.Key, read)
				continue
			}
			for _, pair := range read.([]any) {
				pair := pair.(map[string]any)["tuple"].([]any)
				subkey, _ := pair[0].(string)
				if !strings.HasPrefix(subkey, ":") {
					t.Errorf("%s: %s %s has a subkey %v", name, e.Group, e.Key, pair[0])
				}
				i := slices.IndexFunc(shapes, func(s struct {
					key, subkey, want string
					is                shape
				}) bool {
					return (s.key == "*" || s.key == e.Key) && (s.subkey == "*" || s.subkey == subkey)
				})
				if !shapes[i].is(pair[1]) {
					t.Errorf("%s: %s %s is %v, and front ends expect %s", name, e.Key, subkey, pair[1], shapes[i].want)
				}
			}
		}
	}
}

// TestFrontEndDescriptions checks the members of descriptions without which front ends cannot show a field.
func TestFrontEndDescriptions(t *testing.T) {
	var check func(path string, list []dbconfig.Description)
	check = func(path string, list []dbconfig.Description) {
		seen := make(map[string]bool)
		for _, d := range list {
			name := path + " " + d.Key
			if d.Key == "" || d.Label == "" || d.Type == nil || seen[d.Key] {
				t.Errorf("%s: %+v", name, d)
			}
			seen[d.Key] = true
			if kind := kindOf(t, d); d.Type != "group" && sentBack[kind] == nil {
				t.Errorf("%s has the type %s, whose field is not known", name, kind)
			}
			if d.Type == "integer" && (len(d.Suggestions) == 0 || d.Suggestions[0] == nil) {
				t.Errorf("%s is a number without an example", name)
			}
			if name == " :rate_limit" && slices.ContainsFunc(d.Children, func(c dbconfig.Description) bool { return c.Key == ":enabled" }) {
				t.Errorf("%s has a subkey that is no limit", name)
			}
			check(name, d.Children)
		}
	}
	check("", svc.Describe())
}

func kindOf(t *testing.T, d dbconfig.Description) string {
	t.Helper()
	if text, ok := d.Type.(string); ok {
		return text
	}
	text, err := json.Marshal(d.Type)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestFrontEndSaves sends each value back as the field of its type does. Nothing changes.
func TestFrontEndSaves(t *testing.T) {
	for name, c := range map[string]*config.Config{"defaults": config.Default(), "all settings": everySetting(t)} {
		entries := make(map[string]dbconfig.Entry)
		for _, e := range dbconfig.Entries(c, nil) {
			entries[e.Key] = e
		}
		var rows []dbconfig.Row
		for _, d := range svc.Describe() {
			e := entries[d.Key]
			var sent any
			pairs := []any{}
			for _, child := range d.Children {
				back := sentBack[kindOf(t, child)]
				if child.Key == d.Key {
					sent = back(decoded(t, e.Value))
					continue
				}
				v, ok := dbconfig.Lookup(e.Value, dbconfig.Atom(child.Key[1:]))
				if !ok {
					t.Errorf("%s: %s lacks %s, which is described", name, d.Key, child.Key)
					continue
				}
				pairs = append(pairs, map[string]any{"tuple": []any{child.Key, back(decoded(t, v))}})
			}
			if sent == nil {
				sent = pairs
			}
			text, err := json.Marshal(sent)
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, dbconfig.Row{RowKey: e.RowKey, Value: dbconfig.Unmasked(e.RowKey, parse(t, string(text)), nil)})
		}
		after, err := dbconfig.Apply(c, rows)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, e := range dbconfig.Entries(after, nil) {
			if before := entries[e.Key]; !reflect.DeepEqual(e, before) {
				t.Errorf("%s: %s was %v and is %v after it was sent back", name, e.Key, before.Value, e.Value)
			}
		}
	}
}

// TestUpgrade checks that rows of earlier versions keep their meaning.
func TestUpgrade(t *testing.T) {
	rateLimit, limiters, emoji := key(":rate_limit"), key(":rate_limiters"), key(":emoji")
	off, timeline := `{"tuple":[":enabled",false]}`, `{"tuple":[":timeline",{"tuple":[500,3]}]}`
	for _, tt := range []struct {
		name          string
		stored, want  map[dbconfig.RowKey]string
		changed, gone []dbconfig.RowKey
	}{
		{"nothing to do", map[dbconfig.RowKey]string{rateLimit: `[` + timeline + `]`}, map[dbconfig.RowKey]string{rateLimit: `[` + timeline + `]`}, nil, nil},
		{"the switch and a limit", map[dbconfig.RowKey]string{rateLimit: `[` + off + `,` + timeline + `]`},
			map[dbconfig.RowKey]string{rateLimit: `[` + timeline + `]`, limiters: `[` + off + `]`}, []dbconfig.RowKey{limiters, rateLimit}, nil},
		{"the switch alone", map[dbconfig.RowKey]string{rateLimit: `[` + off + `]`}, map[dbconfig.RowKey]string{limiters: `[` + off + `]`},
			[]dbconfig.RowKey{limiters}, []dbconfig.RowKey{rateLimit}},
		{"groups as objects", map[dbconfig.RowKey]string{emoji: `[{"tuple":[":groups",[{":name":"Cats",":patterns":["/emoji/*.png"]}]]}]`},
			map[dbconfig.RowKey]string{emoji: `[{"tuple":[":groups",[{"tuple":[":Cats",["/emoji/*.png"]]}]]}]`}, []dbconfig.RowKey{emoji}, nil},
		{"groups as a keyword list", map[dbconfig.RowKey]string{emoji: `[{"tuple":[":groups",[{"tuple":[":Cats",["/emoji/*.png"]]}]]}]`},
			map[dbconfig.RowKey]string{emoji: `[{"tuple":[":groups",[{"tuple":[":Cats",["/emoji/*.png"]]}]]}]`}, nil, nil},
	} {
		var rows []dbconfig.Row
		for k, text := range tt.stored {
			rows = append(rows, dbconfig.Row{RowKey: k, Value: parse(t, text)})
		}
		upgraded, changed, removed := dbconfig.Upgrade(rows)
		got := make(map[dbconfig.RowKey]string)
		for _, r := range upgraded {
			text, err := svc.Marshal(r.Value)
			if err != nil {
				t.Fatal(err)
			}
			got[r.RowKey] = string(text)
		}
		if !reflect.DeepEqual(got, tt.want) || !slices.Equal(changed, tt.changed) || !slices.Equal(removed, tt.gone) {
			t.Errorf("%s: got %v, changed %v, removed %v", tt.name, got, changed, removed)
		}
		if _, err := dbconfig.Apply(config.Default(), upgraded); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func key(name string) dbconfig.RowKey { return dbconfig.RowKey{Group: ":svc", Key: name} }

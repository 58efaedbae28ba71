// Package dbconfig is the settings in the form that admin front ends read and write: rows of a group, a key and a value of atoms,
// modules, tuples and keyword lists (admin API 7). It converts and merges values, maps rows to the settings of package config, and
// describes all settings.
//
// Values are data: nothing in them is evaluated. Rows and subkeys that no setting corresponds to are kept as they are.
//
// Limits: values of 2 MiB in JSON, nested 32 deep.
package dbconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	maxValue = 2 << 20 // bytes of JSON
	maxDepth = 32
)

// Value is nil, a bool, a json.Number, a string, an Atom, a Module, a Regex, a List, a Tuple or a Map.
type Value any

type (
	// Atom is a name, ":name" in JSON.
	Atom string
	// Module names a part of a server of this family, such as "Svc.Upload".
	Module string
	// Regex is a regular expression as ~r/pattern/flags.
	Regex struct{ Pattern, Flags string }
	// List is an array. It is a keyword list if its elements are tuples of an Atom and a value.
	List []Value
	// Tuple is {"tuple": […]} in JSON.
	Tuple []Value
	// Map is an object. Its keys are texts as in JSON: ":key" is an atom.
	Map map[string]Value
)

// Codec reads and writes the JSON of values. The name of the service in atoms and modules is api.name there, and svc in a Value.
type Codec struct{ Name string }

// standardName is the name of the service in a Value.
const standardName = "svc"

var (
	errTooLarge = fmt.Errorf("is larger than %d bytes", maxValue)
	errTooDeep  = fmt.Errorf("is nested more than %d deep", maxDepth)
)

// Parse converts JSON to a value.
func (c Codec) Parse(doc []byte) (Value, error) {
	if len(doc) > maxValue {
		return nil, errTooLarge
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil || d.More() {
		return nil, errors.New("is not valid JSON")
	}
	return c.convert(v, 0)
}

func (c Codec) convert(v any, depth int) (Value, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	switch v := v.(type) {
	case string:
		return c.ParseText(v), nil
	case []any:
		l, err := c.convertAll(v, depth)
		return List(l), err
	case map[string]any:
		if elements, ok := v["tuple"].([]any); ok && len(v) == 1 {
			l, err := c.convertAll(elements, depth)
			if err == nil && len(l) == 2 {
				l[0] = c.keyOf(elements[0], l[0])
			}
			return Tuple(l), err
		}
		m := make(Map, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			value, err := c.convert(v[key], depth+1)
			if err != nil {
				return nil, err
			}
			m[c.toStandard(strings.TrimSpace(key))] = value
		}
		return m, nil
	}
	return v, nil // nil, bool, json.Number
}

func (c Codec) convertAll(elements []any, depth int) ([]Value, error) {
	l := make([]Value, len(elements))
	for i, e := range elements {
		var err error
		if l[i], err = c.convert(e, depth+1); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// keyOf returns the first element of a pair. As a key, ":nil" is a name: converted to null, it would be lost.
func (c Codec) keyOf(sent any, converted Value) Value {
	s, _ := sent.(string)
	if name, ok := strings.CutPrefix(c.toStandard(strings.TrimSpace(s)), ":"); ok {
		return Atom(name)
	}
	return converted
}

// ParseText converts a JSON string: an atom, a module, a regular expression, true, false, nil or a text without blanks around it.
func (c Codec) ParseText(s string) Value {
	s = c.toStandard(strings.TrimSpace(s))
	if name, ok := strings.CutPrefix(s, ":"); ok {
		switch name {
		case "true":
			return true
		case "false":
			return false
		case "nil":
			return nil
		}
		return Atom(name)
	}
	if isModule(s) {
		return Module(s)
	}
	if r, ok := parseRegex(s); ok {
		return r
	}
	return s
}

// modulePrefixes are the parts of module names before the first dot; modules are names without a dot.
var (
	modulePrefixes = []string{"Svc", "Phoenix", "Tesla", "Ueberauth", "Swoosh", "Logger", "LoggerBackends"}
	modules        = []string{"Oban", "Ueberauth", "ExSyslogger", "ConcurrentLimiter"}
)

func isModule(s string) bool {
	prefix, _, dotted := strings.Cut(s, ".")
	return dotted && slices.Contains(modulePrefixes, prefix) || slices.Contains(modules, s)
}

// regexEnds has the end of a regular expression by its beginning.
var regexEnds = map[byte]string{'/': "/", '|': "|", '"': `"`, '\'': "'", '(': ")", '[': "]", '{': "}", '<': ">"}

const regexFlags = "uismxfU"

func parseRegex(s string) (Regex, bool) {
	if len(s) < 4 || s[:2] != "~r" {
		return Regex{}, false
	}
	end, ok := regexEnds[s[2]]
	last := strings.LastIndex(s, end)
	if !ok || last < 3 || strings.Trim(s[last+1:], regexFlags) != "" {
		return Regex{}, false
	}
	pattern, escaped := escapeSlashes(s[3:last])
	return Regex{pattern, s[last+1:]}, !escaped
}

// escapeSlashes puts a backslash before each slash without one. open is true if the pattern ends with a backslash that escapes its end.
func escapeSlashes(pattern string) (escaped string, open bool) {
	var b strings.Builder
	for i := range len(pattern) {
		if pattern[i] == '/' && !open {
			b.WriteByte('\\')
		}
		open = pattern[i] == '\\' && !open
		b.WriteByte(pattern[i])
	}
	return b.String(), open
}

func (r Regex) String() string { return "~r/" + r.Pattern + "/" + r.Flags }

// toStandard replaces the name of the service at the beginning of an atom or a module by svc.
func (c Codec) toStandard(s string) string { return rename(s, c.Name, standardName) }

// fromStandard is the inverse of toStandard.
func (c Codec) fromStandard(s string) string { return rename(s, standardName, c.Name) }

func rename(s, from, to string) string {
	if from == to || to == "" || from == "" {
		return s
	}
	if s == ":"+from {
		return ":" + to
	}
	if rest, ok := strings.CutPrefix(s, camelCase(from)+"."); ok {
		return camelCase(to) + "." + rest
	}
	return s
}

// camelCase returns the name of the service in modules: MyServer for my_server.
func camelCase(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// JSON returns the form of a value that encoding/json writes.
func (c Codec) JSON(v Value) any {
	switch v := v.(type) {
	case Map:
		m := make(map[string]any, len(v))
		for key, value := range v {
			m[c.fromStandard(key)] = c.JSON(value)
		}
		return m
	case List:
		return c.jsonAll(v)
	case Tuple:
		return map[string]any{"tuple": c.jsonAll(v)}
	case nil, bool, json.Number:
		return v
	}
	s, _ := text(v)
	return c.fromStandard(s)
}

func (c Codec) jsonAll(list []Value) []any {
	l := make([]any, len(list))
	for i, e := range list {
		l[i] = c.JSON(e)
	}
	return l
}

// Marshal returns a value as JSON. Parse returns an equal value of it.
func (c Codec) Marshal(v Value) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(c.JSON(v))
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// text returns the text of a value that is a string in JSON.
func text(v Value) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case Atom:
		return ":" + string(v), true
	case Module:
		return string(v), true
	case Regex:
		return v.String(), true
	}
	return "", false
}

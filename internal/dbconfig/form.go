package dbconfig

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc/internal/config"
)

// form converts a setting between config.Config.Get and the value that front ends expect.
type form struct {
	kind   any // type in descriptions: a string, or a list of them
	show   func(any) Value
	accept func(Value) (any, error)
}

// formOf returns the form of a setting that has none of its own.
func formOf(s config.Setting) form {
	switch s.Kind {
	case config.Boolean:
		return booleanForm
	case config.Choice:
		return choiceForm
	case config.Number:
		return integerForm(1)
	case config.List:
		return listForm("string", func(s string) Value { return plainText(s) }, textOf)
	case config.Limit:
		return limitForm
	case config.Fraction:
		return fractionForm
	case config.Rows:
		return rowsForm
	}
	return textForm
}

var textForm = form{"string", func(v any) Value { return plainText(v.(string)) }, func(v Value) (any, error) { return textOf(v) }}

// choiceForm also accepts an atom.
var choiceForm = form{"string", textForm.show, func(v Value) (any, error) {
	s, err := textOf(v)
	return strings.TrimPrefix(s, ":"), err
}}

// plainText returns a text as the value that its JSON is converted to.
func plainText(s string) Value { return plain.ParseText(s) }

// textOf returns the text of any value that is a string in JSON. nil is the empty text.
func textOf(v Value) (string, error) {
	if s, ok := text(v); ok || v == nil {
		return s, nil
	}
	return "", expected("a text", v)
}

func expected(what string, v Value) error {
	got := map[bool]string{true: "a list", false: "another value"}
	switch v.(type) {
	case nil:
		return fmt.Errorf("expected %s, got null", what)
	case bool:
		return fmt.Errorf("expected %s, got true or false", what)
	case json.Number:
		return fmt.Errorf("expected %s, got a number", what)
	case string, Atom, Module, Regex:
		return fmt.Errorf("expected %s, got a text", what)
	case Tuple:
		return fmt.Errorf("expected %s, got a tuple", what)
	case Map:
		return fmt.Errorf("expected %s, got an object", what)
	}
	_, list := v.(List)
	return fmt.Errorf("expected %s, got %s", what, got[list])
}

var booleanForm = form{"boolean", func(v any) Value { return v }, func(v Value) (any, error) {
	if b, ok := v.(bool); ok {
		return b, nil
	}
	return nil, expected("true or false", v)
}}

// integerForm is a whole number that front ends see multiplied by unit.
func integerForm(unit int64) form {
	return form{"integer", func(v any) Value { return number(v.(int64) * unit) }, func(v Value) (any, error) {
		n, err := integer(v)
		return n / unit, err
	}}
}

func number(n int64) Value { return json.Number(strconv.FormatInt(n, 10)) }

// integer accepts digits in a text too.
func integer(v Value) (int64, error) {
	s, _ := v.(string)
	if n, ok := v.(json.Number); ok {
		s = n.String()
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, expected("a whole number", v)
	}
	return n, nil
}

// durationForm is a duration as a number of units, or as the text of the settings file if it is no whole number of them.
func durationForm(unit time.Duration) form {
	show := func(v any) Value {
		d := config.ParseDuration(v.(string))
		if d%unit != 0 {
			return v
		}
		return number(int64(d / unit))
	}
	return form{"integer", show, func(v Value) (any, error) {
		if text, ok := v.(string); ok {
			return text, nil // Config.Set checks it
		}
		n, err := integer(v)
		if err == nil && (n < 0 || n > int64(maxDuration/unit)) {
			err = fmt.Errorf("must be from 0 to %d", int64(maxDuration/unit))
		}
		return (time.Duration(n) * unit).String(), err
	}}
}

const maxDuration = 100 * 365 * 24 * time.Hour

var fractionForm = form{"float", func(v any) Value { return json.Number(strconv.FormatFloat(v.(float64), 'f', -1, 64)) }, func(v Value) (any, error) {
	if n, ok := v.(json.Number); ok {
		return n.Float64()
	}
	return nil, expected("a number", v)
}}

// limitForm is a rate limit as a tuple of milliseconds and a number of requests. No limit is a tuple of zeros, because front ends read
// a tuple from each limit. null, false and :off are accepted too.
var limitForm = form{"tuple", func(v any) Value {
	rate := config.ParseRate(v.(string))
	return Tuple{number(rate.Window.Milliseconds()), number(int64(rate.Count))}
}, func(v Value) (any, error) {
	if v == nil || v == Value(false) || v == Value(Atom("off")) {
		return config.Rate{}.String(), nil
	}
	t, ok := v.(Tuple)
	if !ok || len(t) != 2 {
		return nil, expected("a tuple of milliseconds and a number of requests", v)
	}
	window, err := integer(t[0])
	if err != nil {
		return nil, err
	}
	count, err := integer(t[1])
	if err != nil {
		return nil, err
	}
	if window < 0 || window > maxDuration.Milliseconds() || count < 0 || count > 1<<31-1 {
		return nil, fmt.Errorf("%d requests in %d milliseconds is no limit", count, window)
	}
	return config.Rate{Count: int(count), Window: time.Duration(window) * time.Millisecond}.String(), nil
}}

// listForm is a list of texts.
func listForm(element string, show func(string) Value, accept func(Value) (string, error)) form {
	return form{[]any{"list", element}, func(v any) Value {
		list := List{}
		for _, s := range v.([]string) {
			list = append(list, show(s))
		}
		return list
	}, func(v Value) (any, error) {
		list, ok := v.(List)
		if !ok {
			return nil, expected("a list", v)
		}
		texts := make([]string, len(list))
		for i, e := range list {
			var err error
			if texts[i], err = accept(e); err != nil {
				return nil, err
			}
		}
		return texts, nil
	}}
}

// modulesForm is a list of the modules below a prefix.
func modulesForm(prefix string) form {
	return listForm("module", func(s string) Value { return Module(prefix + s) }, func(v Value) (string, error) {
		s, err := textOf(v)
		return strings.TrimPrefix(s, prefix), err
	})
}

// atomsForm is a list of atoms.
var atomsForm = listForm("atom", func(s string) Value { return Atom(s) }, func(v Value) (string, error) {
	s, err := textOf(v)
	return strings.TrimPrefix(s, ":"), err
})

// namesForm is one of some texts that have other names for front ends.
func namesForm(kind any, names map[string]Value) form {
	return form{kind, func(v any) Value { return names[v.(string)] }, func(v Value) (any, error) {
		var known []string
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if names[name] == v {
				return name, nil
			}
			shown, err := plain.Marshal(names[name])
			if err != nil {
				return nil, err
			}
			known = append(known, string(shown))
		}
		return nil, fmt.Errorf("must be one of %s", strings.Join(known, ", "))
	}}
}

// hostsForm is a list of tuples of a host and a reason, or of hosts.
var hostsForm = tuplesForm("host", "reason")

// tuplesForm is a list of tuples of two texts.
func tuplesForm(first, second string) form {
	return form{[]any{"list", "tuple"}, func(v any) Value {
		list := List{}
		for _, row := range v.([]map[string]any) {
			list = append(list, Tuple{plainText(row[first].(string)), plainText(row[second].(string))})
		}
		return list
	}, func(v Value) (any, error) {
		list, ok := v.(List)
		if !ok {
			return nil, expected("a list of tuples", v)
		}
		rows := make([]any, len(list))
		for i, e := range list {
			t, ok := e.(Tuple)
			if !ok {
				t = Tuple{e, ""}
			}
			if len(t) != 2 {
				return nil, fmt.Errorf("expected tuples of a %s and a %s", first, second)
			}
			a, err := textOf(t[0])
			if err != nil {
				return nil, err
			}
			b, err := textOf(t[1])
			if err != nil {
				return nil, err
			}
			rows[i] = map[string]any{first: a, second: b}
		}
		return rows, nil
	}}
}

// rowsForm is a list of objects. Their members are texts or lists of texts.
var rowsForm = form{[]any{"list", "map"}, func(v any) Value {
	list := List{}
	for _, row := range v.([]map[string]any) {
		m := Map{}
		for name, cell := range row {
			if texts, ok := cell.([]string); ok {
				l := List{}
				for _, s := range texts {
					l = append(l, plainText(s))
				}
				m[":"+name] = l
			} else if s, ok := cell.(string); ok {
				m[":"+name] = plainText(s)
			}
		}
		list = append(list, m)
	}
	return list
}, func(v Value) (any, error) {
	list, ok := v.(List)
	if !ok {
		return nil, expected("a list of objects", v)
	}
	rows := make([]any, len(list))
	for i, e := range list {
		m, ok := e.(Map)
		if !ok {
			return nil, expected("a list of objects", e)
		}
		row := make(map[string]any, len(m))
		for name, cell := range m {
			if l, ok := cell.(List); ok {
				texts := make([]any, len(l))
				for j, t := range l {
					var err error
					if texts[j], err = textOf(t); err != nil {
						return nil, err
					}
				}
				row[strings.TrimPrefix(name, ":")] = texts
				continue
			}
			s, err := textOf(cell)
			if err != nil {
				return nil, err
			}
			row[strings.TrimPrefix(name, ":")] = s
		}
		rows[i] = row
	}
	return rows, nil
}}

// mapForm is an object of lists: from the text of a row to its list.
func mapForm(key, values string, list form) form {
	return form{[]any{"map", list.kind}, func(v any) Value {
		m := Map{}
		for _, row := range v.([]map[string]any) {
			m[row[key].(string)] = list.show(row[values])
		}
		return m
	}, func(v Value) (any, error) {
		m, ok := v.(Map)
		if !ok {
			return nil, expected("an object", v)
		}
		rows := []any{}
		for _, name := range slices.Sorted(maps.Keys(m)) {
			l, err := list.accept(m[name])
			if err != nil {
				return nil, err
			}
			rows = append(rows, map[string]any{key: strings.TrimPrefix(name, ":"), values: l})
		}
		return rows, nil
	}}
}

// keywordForm is a keyword list of lists: from the text of a row to its list, in the order of the rows.
func keywordForm(key, values string, list form) form {
	return form{[]any{"keyword", list.kind}, func(v any) Value {
		keyword := List{}
		for _, row := range v.([]map[string]any) {
			keyword = append(keyword, Tuple{Atom(row[key].(string)), list.show(row[values])})
		}
		return keyword
	}, func(v Value) (any, error) {
		keyword, ok := v.(List)
		if !ok {
			return nil, expected("a keyword list", v)
		}
		rows := []any{}
		for _, e := range keyword {
			t, ok := e.(Tuple)
			if !ok || len(t) != 2 {
				return nil, expected("tuples of a "+key+" and a list", e)
			}
			name, err := textOf(t[0]) // front ends send the names of new rows as they were entered, without the colon
			if err != nil {
				return nil, err
			}
			l, err := list.accept(t[1])
			if err != nil {
				return nil, err
			}
			rows = append(rows, map[string]any{key: strings.TrimPrefix(name, ":"), values: l})
		}
		return rows, nil
	}}
}

// frontendForm is an installed front end as an object of name and ref, whose keys are texts. NAME/REF is accepted too. None is null.
var frontendForm = form{"map", func(v any) Value {
	name, ref, ok := strings.Cut(v.(string), "/")
	if !ok {
		return nil
	}
	return Map{"name": plainText(name), "ref": plainText(ref)}
}, func(v Value) (any, error) {
	m, ok := v.(Map)
	if !ok {
		return textOf(v)
	}
	var parts [2]string
	for i, key := range []string{"name", "ref"} {
		part, ok := m[key]
		if !ok {
			part = m[":"+key]
		}
		text, err := textOf(part)
		if err != nil {
			return nil, err
		}
		parts[i] = text
	}
	if parts == [2]string{} {
		return "", nil
	}
	return parts[0] + "/" + parts[1], nil
}}

// frontendsForm is a keyword list of front ends and their configurations.
var frontendsForm = form{"keyword", func(v any) Value {
	list := List{}
	for _, row := range v.([]map[string]any) {
		configuration, err := plain.Parse([]byte(row["configuration"].(string)))
		if err == nil {
			list = append(list, Tuple{Atom(row["name"].(string)), configuration})
		}
	}
	return list
}, func(v Value) (any, error) {
	keyword, ok := pairs(v)
	if !ok {
		return nil, expected("a keyword list of front ends", v)
	}
	rows := []any{}
	for _, t := range keyword {
		m, ok := t[1].(Map)
		if !ok {
			return nil, expected("an object for each front end", t[1])
		}
		configuration, err := json.Marshal(plainJSON(m))
		if err != nil {
			return nil, err
		}
		rows = append(rows, map[string]any{"name": string(t[0].(Atom)), "configuration": string(configuration)})
	}
	return rows, nil
}}

// plain is the codec of a server with the standard name.
var plain = Codec{standardName}

// plainJSON returns a value for a front end, which knows no atoms: they are texts.
func plainJSON(v Value) any {
	switch v := v.(type) {
	case Map:
		m := make(map[string]any, len(v))
		for key, value := range v {
			m[strings.TrimPrefix(key, ":")] = plainJSON(value)
		}
		return m
	case List:
		l := make([]any, len(v))
		for i, e := range v {
			l[i] = plainJSON(e)
		}
		return l
	case Atom:
		return string(v)
	}
	return plain.JSON(v)
}

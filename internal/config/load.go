package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// Load reads a settings file over the defaults. Every key must be known and every value valid; the error lists all mistakes with
// their lines.
func Load(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	c, err := Parse(string(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// Parse is Load for the text of a settings file.
func Parse(text string) (*Config, error) {
	var top map[string]toml.Primitive
	meta, err := toml.Decode(text, &top)
	if err != nil {
		return nil, Problems{syntaxError(err)}
	}
	c := Default()
	f := file{meta: meta, settings: make(map[string]Setting), groups: make(map[string]bool)}
	for _, s := range c.settings() {
		f.settings[s.Name()] = s
		f.groups[s.Group] = true
	}
	f.table("", top)
	if len(f.mistakes) > 0 {
		return nil, f.problems()
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return c, nil
}

// syntaxError formats a TOML syntax error like the other problems.
func syntaxError(err error) error {
	var parse toml.ParseError
	if errors.As(err, &parse) {
		return fmt.Errorf("line %d: %s", parse.Position.Line, parse.Message)
	}
	return err
}

// file is the state of parsing a settings file.
type file struct {
	meta     toml.MetaData
	settings map[string]Setting // by name
	groups   map[string]bool
	mistakes []mistake
}

type mistake struct {
	line int
	err  error
}

// table reads one table of the file. prefix is its name with a trailing dot, or "" for the top level.
func (f *file) table(prefix string, entries map[string]toml.Primitive) {
	for key, entry := range entries {
		name := prefix + key
		if s, ok := f.settings[name]; ok {
			f.value(entry, func(v any) error {
				if err := s.field.set(v); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				return nil
			})
			continue
		}
		f.value(entry, func(v any) error {
			_, isTable := v.(map[string]any)
			switch {
			case f.groups[name] && !isTable:
				return fmt.Errorf("%s: expected a group of settings, [%s], got %s", name, name, kindOf(v))
			case f.groups[name]:
				return nil
			case isTable:
				return unknownGroup(name)
			}
			return unknownSetting(strings.TrimSuffix(prefix, "."), key)
		})
		var inner map[string]toml.Primitive
		if f.groups[name] && f.meta.PrimitiveDecode(entry, &inner) == nil {
			f.table(name+".", inner)
		}
	}
}

// value passes the value of an entry to use, and records its error with the line of the entry.
func (f *file) value(entry toml.Primitive, use func(any) error) {
	var cause error
	err := f.meta.PrimitiveDecode(entry, decoder(func(v any) error {
		cause = use(v)
		return cause
	}))
	if err == nil {
		return
	}
	var parse toml.ParseError // has the position; cause has the better text
	errors.As(err, &parse)
	f.mistakes = append(f.mistakes, mistake{line: parse.Position.Line, err: cause})
}

// decoder is a function that receives a value as the TOML library decodes it.
type decoder func(any) error

func (d decoder) UnmarshalTOML(v any) error { return d(v) }

// problems returns the mistakes in file order.
func (f *file) problems() Problems {
	slices.SortStableFunc(f.mistakes, func(a, b mistake) int {
		return cmp.Or(cmp.Compare(a.line, b.line), strings.Compare(a.err.Error(), b.err.Error()))
	})
	problems := make(Problems, len(f.mistakes))
	for i, m := range f.mistakes {
		problems[i] = m.err
		if m.line > 0 {
			problems[i] = fmt.Errorf("line %d: %w", m.line, m.err)
		}
	}
	return problems
}

package config

import (
	"errors"
	"fmt"
	"strings"
)

// Setting describes one setting.
type Setting struct {
	Group       string // as in the file: "server", "server.tls"
	Key         string
	Kind        Kind
	Default     any // in the form of Config.Get
	Description string
	Suggestions []any // values worth offering, in the form of Config.Get; all there are, if Kind is Choice
	Restart     bool  // a change counts only after a restart
	Secret      bool  // never shown

	field field
}

// Name returns the full name, such as "server.listen".
func (s Setting) Name() string { return s.Group + "." + s.Key }

// Kind says what form the value of a setting has.
type Kind string

// The kinds of settings, and the Go types in which Get returns them.
const (
	Text     Kind = "text"     // string
	Choice   Kind = "choice"   // string, one of Setting.Suggestions
	Boolean  Kind = "boolean"  // bool
	Number   Kind = "number"   // int64
	List     Kind = "list"     // []string
	Duration Kind = "duration" // string: "500ms", "30s", "5m", "2h", "7d"
	Limit    Kind = "limit"    // string: "15/1m" is 15 a minute; "off" is no limit
	Fraction Kind = "fraction" // float64, from 0 to 1
	Rows     Kind = "rows"     // []map[string]any, tables with the same members, each a string or a []string
)

// section is one group of settings, as it stands in the file.
type section struct {
	group    string
	about    string
	settings []Setting
}

// Settings returns the description of every setting, in the order of config.example.toml.
func Settings() []Setting { return new(Config).settings() }

// settings returns the registry bound to the fields of c.
func (c *Config) settings() []Setting {
	var all []Setting
	for _, sec := range c.sections() {
		all = append(all, sec.settings...)
	}
	return all
}

// sections returns the registry by group, with what the fields themselves know filled in.
func (c *Config) sections() []section {
	secs := c.registry()
	for _, sec := range secs {
		for i := range sec.settings {
			s := &sec.settings[i]
			s.Group = sec.group
			s.Kind = s.field.kind()
			s.Default = s.field.initial()
			if choices := s.field.choices(); choices != nil {
				s.Suggestions = choices
			}
		}
	}
	return secs
}

// find returns a setting bound to its field of c.
func (c *Config) find(group, key string) (Setting, bool) {
	for _, s := range c.settings() {
		if s.Group == group && s.Key == key {
			return s, true
		}
	}
	return Setting{}, false
}

// ErrUnknown is wrapped by the errors of Get and Set for a group or key that is not in the registry.
var ErrUnknown = errors.New("unknown setting")

// Get returns the value of one setting in the form that its Kind names.
func (c *Config) Get(group, key string) (any, error) {
	s, ok := c.find(group, key)
	if !ok {
		return nil, unknownSetting(group, key)
	}
	return s.field.get(), nil
}

// Set changes one setting to a value as it comes out of TOML or JSON or Get: a string, a bool, any number, or a list
// of strings or tables. A value of the wrong kind or against the rules of the setting is refused and changes nothing. Rules that
// concern several settings are checked by Validate only.
func (c *Config) Set(group, key string, value any) error {
	s, ok := c.find(group, key)
	if !ok {
		return unknownSetting(group, key)
	}
	if err := s.field.set(value); err != nil {
		return fmt.Errorf("%s: %w", s.Name(), err)
	}
	return nil
}

// Problems are all the mistakes found in one set of settings. Its text is a single line.
type Problems []error

func (p Problems) Error() string {
	texts := make([]string, len(p))
	for i, err := range p {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap lets errors.Is and errors.As look at each problem.
func (p Problems) Unwrap() []error { return p }

// Validate checks every setting by itself, and if all are well, those that depend on one another. The error is of type
// Problems and names each setting at fault.
func (c *Config) Validate() error {
	var problems Problems
	for _, s := range c.settings() {
		if err := s.field.check(); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", s.Name(), err))
		}
	}
	if len(problems) == 0 {
		problems = c.conflicts()
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}

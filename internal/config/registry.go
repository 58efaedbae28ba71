package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Setting describes one setting.
type Setting struct {
	Group       string // as in the file: "server", "server.tls"
	Key         string
	Kind        Kind
	Default     any // in the form of Config.Get
	Description string
	Suggestions []any  // example values in the form of Config.Get; all valid values if Kind is Choice
	Restart     bool   // a change takes effect after a restart
	Secret      bool   // masked in output
	About       string // what its group is about
	Size        bool   // a number of bytes

	field field
}

// Name returns the full name, such as "server.listen".
func (s Setting) Name() string { return s.Group + "." + s.Key }

// Kind is the form of a setting's value.
type Kind string

// The kinds of settings, and the types that Get returns for them.
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

// section is one group of settings, a table of the file.
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

// sections returns the registry by group, and fills in the members that derive from the fields.
func (c *Config) sections() []section {
	secs := c.registry()
	for _, sec := range secs {
		for i := range sec.settings {
			s := &sec.settings[i]
			s.Group, s.About = sec.group, sec.about
			s.Kind = s.field.kind()
			s.Default = s.field.initial()
			s.Size = s.field.isSize()
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

// Valued is a setting with its value, which has the form of Get. A secret is masked.
type Valued struct {
	Setting
	Value   any
	Changed bool // it differs from the default
}

// Values returns the value of every setting, in the order of config.example.toml.
func (c *Config) Values() []Valued {
	settings := c.settings()
	list := make([]Valued, len(settings))
	for i, s := range settings {
		value := s.field.get()
		list[i] = Valued{s, value, !reflect.DeepEqual(value, s.Default)}
		if s.Secret && value != "" {
			list[i].Value = SecretMask
		}
	}
	return list
}

// ErrUnknown is wrapped by the errors of Get and Set for a group or key that is not in the registry.
var ErrUnknown = errors.New("unknown setting")

// Get returns the value of one setting in the form of its Kind.
func (c *Config) Get(group, key string) (any, error) {
	s, ok := c.find(group, key)
	if !ok {
		return nil, unknownSetting(group, key)
	}
	return s.field.get(), nil
}

// Set changes one setting to a value as decoded from TOML or JSON or returned by Get: a string, a bool, any number, or a list
// of strings or tables. It returns an error and changes nothing if the value is not valid. Only Validate checks rules that concern
// several settings.
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

// Problems are all mistakes in one set of settings. Its text is a single line.
type Problems []error

func (p Problems) Error() string {
	texts := make([]string, len(p))
	for i, err := range p {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns all problems for errors.Is and errors.As.
func (p Problems) Unwrap() []error { return p }

// Validate checks every setting and, if all are valid, the rules that concern several settings. The error is of type Problems and
// names each invalid setting.
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

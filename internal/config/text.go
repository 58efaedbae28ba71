package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

const (
	lineWidth = 100

	// SecretMask stands for a secret in output.
	SecretMask = "***"
)

const fileHead = `# Settings of the server.
#
# Every setting is listed here with its default. To change one, remove the "# " in front of it.
# The server also starts without this file. The file is config.toml in the current folder unless
# "--config FILE" or the environment variable SVC_CONFIG names another one.
#
# Check the file with "svc config check"; "svc config show" prints the effective settings. Unknown
# settings are an error. Changes take effect after a restart.
`

// Example returns the text of config.example.toml: every setting with its default, commented out.
func Example() string { return File(Default()) }

// File returns the text of a settings file that sets c: as Example, but settings that differ from their default are not
// commented out. It contains secrets: only the owner of the file may read it.
func File(c *Config) string {
	var b strings.Builder
	b.WriteString(fileHead)
	for _, sec := range c.sections() {
		b.WriteByte('\n')
		writeComment(&b, sec.about)
		fmt.Fprintf(&b, "[%s]\n", sec.group)
		for _, s := range sec.settings {
			b.WriteByte('\n')
			writeComment(&b, s.Description+s.valuesComment())
			if reflect.DeepEqual(s.field.get(), s.Default) {
				b.WriteString("# ")
			}
			fmt.Fprintf(&b, "%s = %s\n", s.Key, format(s.field.get()))
		}
	}
	return b.String()
}

// Show returns the effective settings as TOML, with secrets masked.
func Show(c *Config) string {
	var b strings.Builder
	for i, sec := range c.sections() {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "[%s]\n", sec.group)
		for _, s := range sec.settings {
			value := s.field.get()
			if s.Secret && value != "" {
				value = SecretMask
			}
			fmt.Fprintf(&b, "%s = %s\n", s.Key, format(value))
		}
	}
	return b.String()
}

// ShowValue returns the value of one setting as TOML, masked if it is a secret.
func ShowValue(c *Config, group, key string) (string, error) {
	s, ok := c.find(group, key)
	if !ok {
		return "", unknownSetting(group, key)
	}
	value := s.field.get()
	if s.Secret && value != "" {
		value = SecretMask
	}
	return format(value), nil
}

// ParseValue reads the value of a setting as a settings file has it, for Set. Quotes around a text may be left out.
func ParseValue(group, key, text string) (any, error) {
	s, ok := new(Config).find(group, key)
	if !ok {
		return nil, unknownSetting(group, key)
	}
	text = strings.TrimSpace(text)
	if _, isText := s.Default.(string); isText && !strings.HasPrefix(text, `"`) {
		return text, nil
	}
	var parsed map[string]any
	if _, err := toml.Decode("v = "+text, &parsed); err != nil || len(parsed) != 1 {
		return nil, fmt.Errorf("%s: this is not a value of a settings file: write texts in quotes, and lists in brackets", s.Name())
	}
	return parsed["v"], nil
}

// valuesComment returns the part of a setting's comment that lists possible values.
func (s Setting) valuesComment() string {
	values := make([]string, len(s.Suggestions))
	for i, v := range s.Suggestions {
		values[i] = format(v)
	}
	switch {
	case s.Kind == Choice:
		return " One of: " + strings.Join(values, ", ") + "."
	case len(values) > 0:
		return " For example: " + strings.Join(values, ", ") + "."
	}
	return ""
}

// writeComment writes text as comment lines of at most lineWidth.
func writeComment(b *strings.Builder, text string) {
	width := 0
	for _, word := range strings.Fields(text) {
		if width > 0 && width+1+len(word) > lineWidth {
			b.WriteByte('\n')
			width = 0
		}
		if width == 0 {
			b.WriteByte('#')
			width = 1
		}
		b.WriteString(" " + word)
		width += 1 + len(word)
	}
	b.WriteByte('\n')
}

// format returns a value in the form of Config.Get as TOML.
func format(value any) string {
	if n, ok := value.(int64); ok {
		return formatNumber(n)
	}
	if list, ok := value.([]map[string]any); ok {
		return formatRows(list)
	}
	out, err := toml.Marshal(map[string]any{"v": value})
	if err != nil {
		panic(fmt.Sprintf("config: a setting cannot have a value of type %T: %v", value, err))
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "v = ")
}

// formatNumber returns numbers from 10000 with an underscore between thousands.
func formatNumber(n int64) string {
	s := strconv.FormatInt(n, 10)
	if n < 10_000 {
		return s
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "_" + s[i:]
	}
	return s
}

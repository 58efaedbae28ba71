package web

import (
	"embed"
	"fmt"
	"html/template"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
	"golang.org/x/text/language"

	"svc/internal/packed"
)

//go:embed messages/*.toml.gz
var messageFiles embed.FS

// Messages are the texts of the pages in one language. A text in which a number decides the form has the keys KEY.one and KEY.other.
type Messages struct {
	Language string // as in lang attributes
	Name     string // of the language, in that language
	texts    map[string]string
	settings map[string]settingText // of the server, by name
	own      func() *sentences      // all its texts
}

// StandardLanguage is the language of visitors whose languages have no texts.
const StandardLanguage = "en"

// Languages returns the languages that pages are written in, the standard one first. They are read at the first call: commands need none.
var Languages = sync.OnceValue(readMessages)

var matcher = sync.OnceValue(func() language.Matcher { return newMatcher(Languages()) })

// MessagesFor returns the texts of the first language that there is: the user's choice, "" if none was made, or one of an Accept-Language
// header.
func MessagesFor(choice, accept string) *Messages {
	for _, m := range Languages() {
		if m.Language == choice {
			return m
		}
	}
	if accept == "" {
		return Languages()[0]
	}
	_, i := language.MatchStrings(matcher(), accept)
	return Languages()[i]
}

func newMatcher(list []*Messages) language.Matcher {
	tags := make([]language.Tag, len(list))
	for i, m := range list {
		tags[i] = language.MustParse(m.Language)
	}
	return language.NewMatcher(tags)
}

// readMessages reads the embedded catalogues. It panics if one is malformed, which a test finds.
func readMessages() []*Messages {
	entries, err := messageFiles.ReadDir("messages")
	if err != nil {
		panic(err)
	}
	var list []*Messages
	for _, e := range entries {
		source, err := messageFiles.ReadFile(path.Join("messages", e.Name()))
		if err != nil {
			panic(err)
		}
		var tree map[string]any
		if err := toml.Unmarshal(packed.Text(source), &tree); err != nil {
			panic(fmt.Sprintf("messages/%s: %v", e.Name(), err))
		}
		m := &Messages{Language: strings.TrimSuffix(e.Name(), ".toml.gz"), texts: make(map[string]string)}
		m.add("", tree)
		m.Name = m.texts["language"]
		if m.settings, err = readSettingTexts(m.Language); err != nil {
			panic(err)
		}
		m.own = sync.OnceValue(func() *sentences { return indexSentences(m, "") })
		if m.Language == StandardLanguage {
			list = append([]*Messages{m}, list...)
		} else {
			list = append(list, m)
		}
	}
	return list
}

// add adds the texts of a table, with keys joined by dots.
func (m *Messages) add(prefix string, tree map[string]any) {
	for key, value := range tree {
		switch value := value.(type) {
		case string:
			m.texts[prefix+key] = value
		case map[string]any:
			m.add(prefix+key+".", value)
		}
	}
}

// Text returns a text with its arguments, as by fmt. The standard language is the fallback, then the key.
func (m *Messages) Text(key string, args ...any) string {
	format, ok := m.texts[key]
	if !ok {
		if format, ok = Languages()[0].texts[key]; !ok {
			return key
		}
	}
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// below returns the texts whose keys have a prefix, by the rest of their keys.
func (m *Messages) below(prefix string) map[string]string {
	texts := make(map[string]string)
	for key, text := range m.texts {
		if name, ok := strings.CutPrefix(key, prefix); ok {
			texts[name] = text
		}
	}
	return texts
}

// Count returns the form of a text for a number, which is its first argument.
func (m *Messages) Count(key string, n int, args ...any) string {
	form := ".other"
	if n == 1 {
		form = ".one"
	}
	format := strings.Replace(m.Text(key+form), "%d", "%s", 1)
	return fmt.Sprintf(format, append([]any{m.whole(int64(n))}, args...)...)
}

// staticText matches {{t "KEY"}} without arguments.
var staticText = regexp.MustCompile(`\{\{t "([a-z0-9_.]+)"\}\}`)

// HTML returns a text with its arguments as HTML. Strings are escaped.
func (m *Messages) HTML(key string, args ...any) template.HTML {
	for i, a := range args {
		if plain, ok := a.(string); ok {
			args[i] = template.HTMLEscapeString(plain)
		}
	}
	return template.HTML(fmt.Sprintf(template.HTMLEscapeString(m.Text(key)), args...))
}

// strong returns a plain text in bold type, isolated from the direction of the text around it.
func strong(plain string) template.HTML {
	return template.HTML("<strong><bdi>" + template.HTMLEscapeString(plain) + "</bdi></strong>")
}

// fill replaces the texts without arguments in the source of a template. They cost nothing when the page is rendered.
func (m *Messages) fill(source string) string {
	return staticText.ReplaceAllStringFunc(source, func(call string) string {
		return template.HTMLEscapeString(m.Text(staticText.FindStringSubmatch(call)[1]))
	})
}

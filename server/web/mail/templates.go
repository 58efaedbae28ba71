package mail

import (
	"embed"
	"errors"
	"fmt"
	htmltemplate "html/template"
	"io/fs"
	"log/slog"
	"path"
	"strings"
	"text/template"

	"svc/internal/mail"
)

//go:embed templates
var embedded embed.FS

// defaultLanguage is the language of the templates that come with the program.
const defaultLanguage = "en"

// templates are the templates of the operator and those of the program. They are read for each mail, so that changes take effect at once.
type templates struct {
	sources []fs.FS // the operator's, the program's
	log     *slog.Logger
}

func newTemplates(operator fs.FS, log *slog.Logger) *templates {
	program, err := fs.Sub(embedded, "templates")
	if err != nil { // the name is wrong
		panic(err)
	}
	return &templates{[]fs.FS{operator, program}, log}
}

// render returns the mail of a kind in a language, or in English. A template of the operator that has an error is logged and replaced by
// that of the program, because a password reset must not wait for it.
func (t *templates) render(kind, language string, c *Content) (*mail.Message, error) {
	var last error
	for _, language := range languages(language) {
		c.Language = language
		for i, source := range t.sources {
			m, err := t.renderFrom(source, path.Join(language, kind), c)
			switch {
			case err == nil:
				return m, nil
			case errors.Is(err, fs.ErrNotExist):
			case i < len(t.sources)-1:
				t.log.Error("mail template of static/mail has an error and is not used", "template", path.Join(language, kind), "err", err)
			}
			last = err
		}
	}
	return nil, fmt.Errorf("mail template: %w", last)
}

// languages returns the languages of templates to try, for a language tag such as pt-BR.
func languages(tag string) []string {
	list := make([]string, 0, 3)
	if fs.ValidPath(tag) && !strings.ContainsAny(tag, "/.") {
		list = append(list, tag)
		if base, _, ok := strings.Cut(tag, "-"); ok {
			list = append(list, base)
		}
	}
	return append(list, defaultLanguage)
}

// renderFrom renders NAME.txt and, if there is one, NAME.html of a source. The error wraps fs.ErrNotExist if there is no text.
func (t *templates) renderFrom(source fs.FS, name string, c *Content) (*mail.Message, error) {
	text, err := fs.ReadFile(source, name+".txt")
	if err != nil {
		return nil, err
	}
	subject, body, err := renderText(name, string(text), c)
	if err != nil {
		return nil, err
	}
	m := &mail.Message{Subject: subject, Text: body}
	html, err := fs.ReadFile(source, name+".html")
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return nil, err
	}
	m.HTML, err = t.renderHTML(name, string(html), c)
	return m, err
}

// renderText renders a text template. Its first line is "Subject: " and the subject.
func renderText(name, text string, c *Content) (subject, body string, err error) {
	tmpl, err := template.New(name).Option("missingkey=zero").Funcs(template.FuncMap{"quote": quote}).Parse(text)
	if err != nil {
		return "", "", err
	}
	var b strings.Builder
	if err := tmpl.Execute(&b, c); err != nil {
		return "", "", err
	}
	first, rest, _ := strings.Cut(b.String(), "\n")
	subject, ok := strings.CutPrefix(first, "Subject: ")
	if !ok {
		return "", "", fmt.Errorf(`%s.txt: the first line does not begin with "Subject: "`, name)
	}
	return subject, strings.TrimLeft(rest, "\n"), nil
}

// renderHTML renders an HTML template within the layout, layout.html.
func (t *templates) renderHTML(name, html string, c *Content) (string, error) {
	var layout []byte
	err := fs.ErrNotExist
	for _, source := range t.sources {
		if layout, err = fs.ReadFile(source, "layout.html"); err == nil {
			break
		}
	}
	if err != nil {
		return "", err
	}
	tmpl, err := htmltemplate.New(name).Option("missingkey=zero").Parse(string(layout))
	if err == nil {
		_, err = tmpl.New("content").Parse(html)
	}
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = tmpl.Execute(&b, c)
	return b.String(), err
}

// quote marks each line of a text as quoted, so that it cannot be taken for one of the server.
func quote(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' })
	for i, line := range lines {
		lines[i] = "> " + line
	}
	return strings.Join(lines, "\n")
}

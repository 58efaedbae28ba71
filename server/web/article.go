package web

import (
	"fmt"
	"html/template"
	"strings"
	"sync"
)

// Article is a post on a page.
type Article struct {
	Status   *Status
	Base     string // as of Frame
	Viewer   bool   // it is shown to a signed-in user
	Main     bool   // the page is about it
	InThread bool   // it stands below the post that it replies to
	Token    string // of forms in it, which only polls have; "": none
}

// partTemplates are the parsed templates of parts of pages by language and base.
var partTemplates sync.Map

// Article returns the HTML of a post.
func (m *Messages) Article(a Article) (template.HTML, error) { return m.part(a.Base, "post", a) }

// FollowButton returns the HTML of the button that follows an account, or ends that.
func (m *Messages) FollowButton(r *Relationship, base string) (template.HTML, error) {
	return m.part(base, "follow", r)
}

// HoverCard returns the HTML of an account in short.
func (m *Messages) HoverCard(a *Account, base string) (template.HTML, error) {
	return m.part(base, "hovercard", a)
}

// part returns the HTML of a template of templates/parts.
func (m *Messages) part(base, name string, content any) (template.HTML, error) {
	t, ok := partTemplates.Load(m.Language + base)
	if !ok {
		parsed := template.New("parts").Funcs(m.funcs(base))
		for _, file := range partFiles {
			source, err := uiFiles.ReadFile("templates/" + file)
			if err != nil {
				return "", fmt.Errorf("%s: %w", name, err)
			}
			if _, err := parsed.New(file).Parse(m.fill(string(source))); err != nil {
				return "", fmt.Errorf("%s: %w", name, err)
			}
		}
		t, _ = partTemplates.LoadOrStore(m.Language+base, parsed)
	}
	var b strings.Builder
	if err := t.(*template.Template).ExecuteTemplate(&b, name, content); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return template.HTML(b.String()), nil
}

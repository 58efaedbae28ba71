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

// articleTemplates are the parsed templates of posts by language and base.
var articleTemplates sync.Map

// Article returns the HTML of a post.
func (m *Messages) Article(a Article) (template.HTML, error) {
	t, ok := articleTemplates.Load(m.Language + a.Base)
	if !ok {
		parsed := template.New("article").Funcs(m.funcs(a.Base))
		for _, file := range []string{"frame", "post", "media"} { // the frame has the icons
			source, err := uiFiles.ReadFile("templates/parts/" + file + ".html")
			if err != nil {
				return "", fmt.Errorf("post: %w", err)
			}
			if _, err := parsed.New(file).Parse(m.fill(string(source))); err != nil {
				return "", fmt.Errorf("post: %w", err)
			}
		}
		t, _ = articleTemplates.LoadOrStore(m.Language+a.Base, parsed)
	}
	var b strings.Builder
	if err := t.(*template.Template).ExecuteTemplate(&b, "post", a); err != nil {
		return "", fmt.Errorf("post: %w", err)
	}
	return template.HTML(b.String()), nil
}

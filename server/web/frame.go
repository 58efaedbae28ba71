package web

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"svc/internal/text"
	"svc/store"
)

// uiFiles are the templates of the web interface, and the script of its service worker.
//
//go:embed templates/ui templates/parts sw.js
var uiFiles embed.FS

// Viewer is the signed-in user as the navigation shows them.
type Viewer struct {
	Username      string
	Avatar        string // URL
	Notifications int    // unread
	Staff         bool
	Waiting       store.Waiting
	FormToken     string // for the forms of the session
}

// Frame is what a page of the web interface shows around its content.
type Frame struct {
	Messages *Messages
	Base     string         // before the paths of profiles, posts and hashtags: /web if a front end answers at those paths, else ""
	Viewer   *Viewer        // nil: a visitor
	Path     string         // of the page with its query; forms lead back there
	Done     string         // what the last form did, as a key of the messages; "": nothing
	Failed   *FailedForm    // whose error the page shows; nil: none
	Theme    string         // light, dark, contrast; "": as the system
	TextSize string         // small, large, larger; "": as the browser
	Describe bool           // remind the author of pictures without a description
	Width    string         // narrow, wide: of the text; "": normal
	Reading  Reading        // what of posts is shown at once
	Zone     *time.Location // in which times are written and entered; nil: UTC
	OwnZone  bool           // Zone is chosen in the settings: scripts use it in place of that of the browser
	Closed   bool           // nobody can sign in to the pages
	Narrow   bool           // one column, for pages with a single form
	Plain    bool           // without navigation, for pages that browsers pass on their way to an app, such as signing in

	NoKeys bool // single keys do nothing
}

// FailedForm is a form of the page that was refused.
type FailedForm struct {
	Status  int
	Error   string
	Entered func(name string) (text string, ok bool)
}

// Sent returns what was entered into a form that was refused, "" if none was.
func (f Frame) Sent(name string) string {
	if f.Failed == nil {
		return ""
	}
	text, _ := f.Failed.Entered(name)
	return text
}

// Content is the content of a page of the web interface. Each type has the template templates/ui/NAME.html.
type Content interface{ Name() string }

// Show returns a handler that serves a page of the web interface.
func (p *Pages) Show(status int, f Frame, content Content) (http.Handler, error) {
	html, err := p.Render(f, content)
	if err != nil {
		return nil, err
	}
	return answer{status, html, *p.policy.Load()}, nil
}

// Render returns the HTML of a page of the web interface.
func (p *Pages) Render(f Frame, content Content) ([]byte, error) {
	return p.render("frame.html", p.site(), f, content)
}

// ShowContent is Show without the frame: the title and the main element alone, for a script that has the frame.
func (p *Pages) ShowContent(status int, f Frame, content Content) (http.Handler, error) {
	html, err := p.render("main", p.site(), f, content)
	if err != nil {
		return nil, err
	}
	return answer{status, html, *p.policy.Load()}, nil
}

// Part returns a handler that serves a part of a page.
func (p *Pages) Part(html template.HTML) http.Handler {
	return answer{http.StatusOK, []byte(html), *p.policy.Load()}
}

func (p *Pages) render(name string, site Site, f Frame, content Content) ([]byte, error) {
	t, err := uiTemplate(f.Messages, f.Base, content.Name())
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(64 << 10)
	err = t.ExecuteTemplate(&b, name, &view{site, f, content, p, t})
	if err != nil {
		return nil, fmt.Errorf("page %s: %w", content.Name(), err)
	}
	return localTimes(b.Bytes(), f.Messages, f.Zone), nil
}

// partFiles are the templates that pages share. The first one is the frame of all pages.
var partFiles = []string{"parts/frame.html", "parts/post.html", "parts/media.html", "parts/account.html", "parts/form.html", "parts/compose.html", "parts/notice.html", "parts/arriving.html", "parts/meta.html"}

// uiTemplates are the parsed templates by language, base and name. They are parsed when they are first shown.
var uiTemplates sync.Map

func uiTemplate(m *Messages, base, name string) (*template.Template, error) {
	key := m.Language + base + "/" + name
	if t, ok := uiTemplates.Load(key); ok {
		return t.(*template.Template), nil
	}
	t := template.New("frame.html").Funcs(m.funcs(base))
	for _, file := range append(slices.Clone(partFiles), "ui/"+name+".html") {
		source, err := uiFiles.ReadFile("templates/" + file)
		if err != nil {
			return nil, fmt.Errorf("page %s: %w", name, err)
		}
		if _, err := t.Parse(m.fill(string(source))); err != nil {
			return nil, fmt.Errorf("page %s: %w", name, err)
		}
	}
	uiTemplates.Store(key, t)
	return t, nil
}

// funcs are the functions of the templates.
func (m *Messages) funcs(base string) template.FuncMap {
	profile := func(acct string) string { return base + "/@" + acct }
	return template.FuncMap{
		"base":       func() string { return base },
		"profile":    profile,
		"permalink":  func(s *Status) string { return profile(s.Account.Acct) + "/" + s.ID },
		"postlink":   func(s *Status) string { return profile(s.Account.Acct) + "/" + s.ID + s.Fragment() },
		"hashtag":    func(name string) string { return base + "/tags/" + url.PathEscape(name) },
		"collection": func(id string) string { return base + "/collections/" + id },
		"content":    func(s *Status) template.HTML { return content(s.Content, s.Emojis, s, base) },
		"t":          m.Text,
		"tn":         m.Count,
		"th":         m.HTML,
		"fault":      m.FaultHTML,
		"strong":     strong,
		"date":       m.Date,
		"datetime":   func(t time.Time) string { return m.DateTime(t, nil) },
		"localinput": LocalInput,
		"zone":       func(zone *time.Location) string { return orUTC(zone).String() },
		"iso":        func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"number":     m.Number,
		"bytes":      func(n int) string { return m.Bytes(int64(n)) },
		"asset":      func(name string) string { return assetPath() + name },
		"dict":       dict,
		"gallery":    NewGallery,
		"or1":        func(a, b string) string { return cmp.Or(a, b) },
	}
}

// dict makes a map of pairs, for the argument of a template.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict: odd number of arguments")
	}
	m := make(map[string]any, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		key, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: a key is no string")
		}
		m[key] = pairs[i+1]
	}
	return m, nil
}

// Number writes large numbers short, such as 12.3k, as they are written in the language.
func (m *Messages) Number(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 10_000:
		return fmt.Sprintf("%d%s%d%s", n/1000, m.Text("times.decimal"), n%1000/100, m.Text("times.thousand"))
	case n < 1_000_000:
		return fmt.Sprintf("%d%s", n/1000, m.Text("times.thousand"))
	}
	return fmt.Sprintf("%d%s%d%s", n/1_000_000, m.Text("times.decimal"), n%1_000_000/100_000, m.Text("times.million"))
}

// Bytes writes a size with the decimal separator of the language.
func (m *Messages) Bytes(n int64) string {
	return strings.Replace(text.Bytes(n), ".", m.Text("times.decimal"), 1)
}

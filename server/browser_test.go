package server_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// browser is a person's browser: it keeps cookies, follows no redirects, and says where its requests come from.
type browser struct {
	t       testing.TB
	base    string
	origin  string // what it sends as Origin
	cookies map[string]*http.Cookie
}

func (a *api) browser() *browser {
	return &browser{t: a.t, base: a.url, origin: a.url, cookies: make(map[string]*http.Cookie)}
}

// webpage is an answer to a browser.
type webpage struct {
	*answer
	browser *browser
	text    string // what a person reads
	forms   []*webform
	codes   []string // texts of code elements and values of read-only fields
}

// webform is a form as it stands on a page.
type webform struct {
	action  string
	fields  url.Values
	buttons []webbutton
	hasText bool // there is something to type in
}

type webbutton struct{ name, value, text string }

func (b *browser) get(path string, params ...string) *webpage {
	b.t.Helper()
	if len(params) > 0 {
		path += "?" + pairs(params).Encode()
	}
	return b.do("GET", path, nil)
}

// submit sends a form with values typed into its fields, by one of its buttons.
func (p *webpage) submit(button int, typed ...string) *webpage {
	p.t.Helper()
	if len(p.forms) != 1 {
		p.t.Fatalf("%s: %d forms: %s", p.what, len(p.forms), p.body)
	}
	f := p.forms[0]
	values := url.Values{}
	for k, v := range f.fields {
		values[k] = v
	}
	for i := 0; i+1 < len(typed); i += 2 {
		if _, ok := values[typed[i]]; !ok {
			p.t.Fatalf("%s: there is no field %s", p.what, typed[i])
		}
		values.Set(typed[i], typed[i+1])
	}
	if b := f.buttons[button]; b.name != "" {
		values.Set(b.name, b.value)
	}
	return p.browser.post(f.action, values)
}

func (b *browser) post(path string, values url.Values) *webpage {
	b.t.Helper()
	return b.do("POST", path, values)
}

func (b *browser) do(method, path string, values url.Values) *webpage {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.base+strings.TrimPrefix(path, b.base), strings.NewReader(values.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	if method != "GET" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", b.origin)
	}
	for _, c := range b.cookies {
		req.AddCookie(c)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range resp.Cookies() {
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		} else {
			b.cookies[c.Name] = c
		}
	}
	a := &answer{t: b.t, what: method + " " + path, status: resp.StatusCode, header: resp.Header, body: body}
	return b.read(a)
}

// read takes a page apart.
func (b *browser) read(a *answer) *webpage {
	b.t.Helper()
	p := &webpage{answer: a, browser: b}
	doc, err := html.Parse(strings.NewReader(string(a.body)))
	if err != nil {
		b.t.Fatal(err)
	}
	var form *webform
	for n := range doc.Descendants() {
		attr := make(map[string]string)
		for _, at := range n.Attr {
			attr[at.Key] = at.Val
		}
		switch {
		case n.Type == html.TextNode && n.Parent.Data != "style" && n.Parent.Data != "title":
			p.text += n.Data
		case n.Type != html.ElementNode:
		case n.Data == "form":
			form = &webform{action: attr["action"], fields: url.Values{}}
			p.forms = append(p.forms, form)
		case n.Data == "code":
			p.codes = append(p.codes, n.FirstChild.Data)
		case n.Data == "input" && hasAttribute(n, "readonly"):
			p.codes = append(p.codes, attr["value"])
		case n.Data == "input":
			form.fields.Add(attr["name"], attr["value"])
			form.hasText = form.hasText || attr["type"] != "hidden"
		case n.Data == "textarea":
			form.fields.Add(attr["name"], "")
			form.hasText = true
		case n.Data == "button":
			form.buttons = append(form.buttons, webbutton{attr["name"], attr["value"], n.FirstChild.Data})
		}
	}
	p.text = strings.Join(strings.Fields(p.text), " ")
	return p
}

func hasAttribute(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key {
			return true
		}
	}
	return false
}

// want fails the test if the status is another, or if the page does not say all of texts.
func (p *webpage) want(status int, texts ...string) *webpage {
	p.t.Helper()
	if p.status != status {
		p.t.Fatalf("%s: got %d, want %d: %s", p.what, p.status, status, p.text)
	}
	for _, text := range texts {
		if !strings.Contains(p.text, text) {
			p.t.Errorf("%s: %q is not in %q", p.what, text, p.text)
		}
	}
	return p
}

// location returns where an answer leads, and the parameters that it adds.
func (p *webpage) location() (address string, params url.Values) {
	p.t.Helper()
	p.answer.want(302)
	to := p.header.Get("Location")
	u, err := url.Parse(to)
	if err != nil {
		p.t.Fatal(err)
	}
	address, _, _ = strings.Cut(to, "?")
	return address, u.Query()
}

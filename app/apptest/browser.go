package apptest

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// Browser is a browser that keeps cookies, does not follow redirects and sends Origin.
type Browser struct {
	T       testing.TB
	BaseURL string
	Origin  string // the Origin header
	Cookies map[string]*http.Cookie

	Language string // the Accept-Language header; "": none
	Site     string // the Sec-Fetch-Site header; "": none
	Part     string // the part of pages that is requested, as the script of the pages does; "": the page
	Accept   string // the Accept header; "": none
	Referrer string // the Referer header; "": none
}

func (a *Server) Browser() *Browser {
	return &Browser{T: a.T, BaseURL: a.URL, Origin: a.URL, Cookies: make(map[string]*http.Cookie)}
}

// Page is a response to a browser.
type Page struct {
	*Response
	from  *Browser
	Text  string // visible text
	Forms []*Form
	Codes []string // texts of code elements and values of read-only fields
}

// Form is a form of a page.
type Form struct {
	ID      string
	Action  string
	Fields  url.Values // as they are sent if nothing is entered
	Options url.Values // of check boxes, radio buttons and lists that are not selected
	Buttons []Button
	HasText bool // has a text field
}

// Button is a button of a form. Action replaces that of the form unless it is empty.
type Button struct{ Name, Value, Text, Action string }

func (b *Browser) Get(path string, params ...string) *Page {
	b.T.Helper()
	if len(params) > 0 {
		path += "?" + Pairs(params).Encode()
	}
	return b.Do("GET", path, nil)
}

// Submit submits the only form of the page by one of its buttons. typed are field values in pairs.
func (p *Page) Submit(button int, typed ...string) *Page {
	p.T.Helper()
	if len(p.Forms) != 1 {
		p.T.Fatalf("%s: %d forms: %s", p.Request, len(p.Forms), p.Body)
	}
	return p.submit(p.Forms[0], p.Forms[0].Buttons[button], typed)
}

// Press submits the form that has a button with a text, or with an accessible name. typed are field values in pairs; a field that is typed
// twice is sent twice.
func (p *Page) Press(text string, typed ...string) *Page {
	p.T.Helper()
	f, b := p.button(text)
	return p.submit(f, b, typed)
}

// PressWithFile is Press with a file in a field of the form, which is sent as multipart.
func (p *Page) PressWithFile(text string, file FormPart, typed ...string) *Page {
	p.T.Helper()
	return p.PressWithFiles(text, []FormPart{file}, typed...)
}

// PressWithFiles is PressWithFile with several files in their order.
func (p *Page) PressWithFiles(text string, files []FormPart, typed ...string) *Page {
	p.T.Helper()
	f, b := p.button(text)
	action, values := p.sent(f, b, typed)
	for _, file := range files {
		if !f.Fields.Has(file.Name) {
			p.T.Fatalf("%s: there is no field %s", p.Request, file.Name)
		}
		values.Del(file.Name)
	}
	parts := slices.Clone(files)
	for name, list := range values {
		for _, value := range list {
			parts = append(parts, ValuePart(name, value))
		}
	}
	contentType, body := multipartForm(p.T, parts)
	return p.from.send("POST", action, contentType, body)
}

// button returns the button with a text, or with an accessible name, and its form.
func (p *Page) button(text string) (*Form, Button) {
	p.T.Helper()
	for _, f := range p.Forms {
		for _, b := range f.Buttons {
			if b.Text == text || strings.HasPrefix(b.Text, text+" ") { // a number may follow
				return f, b
			}
		}
	}
	p.T.Fatalf("%s: there is no button %q: %s", p.Request, text, p.Body)
	return nil, Button{}
}

func (p *Page) submit(f *Form, b Button, typed []string) *Page {
	p.T.Helper()
	return p.from.Post(p.sent(f, b, typed))
}

// sent returns where a form is sent by a button, and with which values.
func (p *Page) sent(f *Form, b Button, typed []string) (action string, values url.Values) {
	p.T.Helper()
	values = url.Values{}
	for k, v := range f.Fields {
		values[k] = v
	}
	for i := 0; i+1 < len(typed); i += 2 {
		if !f.Fields.Has(typed[i]) && !f.Options.Has(typed[i]) {
			p.T.Fatalf("%s: there is no field %s", p.Request, typed[i])
		}
		values.Del(typed[i])
	}
	for i := 0; i+1 < len(typed); i += 2 {
		values.Add(typed[i], typed[i+1])
	}
	if b.Name != "" {
		values.Set(b.Name, b.Value)
	}
	if b.Action != "" {
		return b.Action, values
	}
	return f.Action, values
}

// Follow requests the page that a redirect leads to.
func (p *Page) Follow() *Page {
	p.T.Helper()
	p.Response.Want(302)
	return p.from.Get(p.Header.Get("Location"))
}

// SignedIn returns a browser that is signed in to the pages.
func (a *User) SignedIn() *Browser {
	b := a.Server.Browser()
	b.T.Helper()
	b.Get("/web/sign_in").Want(200).Press("Sign in", "name", a.Nickname, "password", Password).Follow().Want(200)
	return b
}

// PostParts sends a multipart form.
func (b *Browser) PostParts(path string, parts ...FormPart) *Page {
	b.T.Helper()
	contentType, body := multipartForm(b.T, parts)
	return b.send("POST", path, contentType, body)
}

func (b *Browser) Post(path string, values url.Values) *Page {
	b.T.Helper()
	return b.Do("POST", path, values)
}

func (b *Browser) Do(method, path string, values url.Values) *Page {
	b.T.Helper()
	return b.send(method, path, "application/x-www-form-urlencoded", strings.NewReader(values.Encode()))
}

func (b *Browser) send(method, path, contentType string, content io.Reader) *Page {
	b.T.Helper()
	req, err := http.NewRequestWithContext(b.T.Context(), method, b.BaseURL+strings.TrimPrefix(path, b.BaseURL), content)
	if err != nil {
		b.T.Fatal(err)
	}
	if method != "GET" {
		req.Header.Set("Content-Type", contentType)
		req.Header.Set("Origin", b.Origin)
	}
	if b.Site != "" {
		req.Header.Set("Sec-Fetch-Site", b.Site)
	}
	if b.Language != "" {
		req.Header.Set("Accept-Language", b.Language)
	}
	if b.Part != "" {
		req.Header.Set("Svc-Part", b.Part)
	}
	if b.Accept != "" {
		req.Header.Set("Accept", b.Accept)
	}
	if b.Referrer != "" {
		req.Header.Set("Referer", b.Referrer)
	}
	for _, c := range b.Cookies {
		req.AddCookie(c)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		b.T.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.T.Fatal(err)
	}
	for _, c := range resp.Cookies() {
		if c.MaxAge < 0 {
			delete(b.Cookies, c.Name)
		} else {
			b.Cookies[c.Name] = c
		}
	}
	a := &Response{T: b.T, Request: method + " " + path, Status: resp.StatusCode, Header: resp.Header, Body: body}
	return b.parse(a)
}

// parse parses a page.
func (b *Browser) parse(a *Response) *Page {
	b.T.Helper()
	p := &Page{Response: a, from: b}
	doc, err := html.Parse(strings.NewReader(string(a.Body)))
	if err != nil {
		b.T.Fatal(err)
	}
	for n := range doc.Descendants() { // what scripts copy is not on the page
		for n.Data == "template" && n.FirstChild != nil {
			n.RemoveChild(n.FirstChild)
		}
	}
	var form *Form
	var list string // name of the select element
	byID := make(map[string]*Form)
	for n := range doc.Descendants() { // fields may stand before their form
		if id := attribute(n, "id"); n.Type == html.ElementNode && n.Data == "form" && id != "" {
			byID[id] = &Form{ID: id, Action: attribute(n, "action"), Fields: url.Values{}, Options: url.Values{}}
			p.Forms = append(p.Forms, byID[id])
		}
	}
	for n := range doc.Descendants() {
		attr := make(map[string]string)
		for _, at := range n.Attr {
			attr[at.Key] = at.Val
		}
		switch {
		case n.Type == html.TextNode && n.Parent.Data != "style" && n.Parent.Data != "title":
			p.Text += n.Data
		case n.Type != html.ElementNode:
		case n.Data == "form" && attr["id"] != "":
			form = byID[attr["id"]]
		case n.Data == "form":
			form = &Form{Action: attr["action"], Fields: url.Values{}, Options: url.Values{}}
			p.Forms = append(p.Forms, form)
		case n.Data == "code":
			p.Codes = append(p.Codes, textOf(n))
		case n.Data == "input" && hasAttribute(n, "readonly"):
			p.Codes = append(p.Codes, attr["value"])
		case n.Data == "select":
			list = attr["name"]
			form.Options.Add(list, "")
		case n.Data == "option" && hasAttribute(n, "selected"):
			form.Fields.Add(list, attr["value"])
		case n.Data == "input" && (attr["type"] == "checkbox" || attr["type"] == "radio") && !hasAttribute(n, "checked") && !hasAttribute(n, "required"): // browsers insist on those
			form.Options.Add(attr["name"], attr["value"])
		case n.Data == "input" && attr["form"] != "":
			byID[attr["form"]].Fields.Add(attr["name"], attr["value"])
		case n.Data == "input":
			form.Fields.Add(attr["name"], attr["value"])
			form.HasText = form.HasText || attr["type"] != "hidden"
		case n.Data == "textarea":
			form.Fields.Add(attr["name"], rawTextOf(n))
			form.HasText = true
		case n.Data == "button":
			of := form
			if id := attr["form"]; id != "" && byID[id] == nil && b.Part != "" { // the page that has the part has the form
				byID[id] = &Form{ID: id, Fields: url.Values{}, Options: url.Values{}}
				p.Forms = append(p.Forms, byID[id])
			}
			if attr["form"] != "" {
				of = byID[attr["form"]]
			}
			name := attr["aria-label"]
			if name == "" {
				name = textOf(n)
			}
			of.Buttons = append(of.Buttons, Button{attr["name"], attr["value"], name, attr["formaction"]})
		}
	}
	p.Text = strings.Join(strings.Fields(p.Text), " ")
	return p
}

// attribute returns the value of an attribute, "" if there is none.
func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// textOf returns the text in an element, with single spaces.
func textOf(n *html.Node) string { return strings.Join(strings.Fields(rawTextOf(n)), " ") }

func rawTextOf(n *html.Node) string {
	text := ""
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			text += d.Data
		}
	}
	return text
}

func hasAttribute(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key {
			return true
		}
	}
	return false
}

// Want fails the test if the status differs or the page does not contain all texts.
func (p *Page) Want(status int, texts ...string) *Page {
	p.T.Helper()
	if p.Status != status {
		p.T.Fatalf("%s: got %d, want %d: %s", p.Request, p.Status, status, p.Text)
	}
	for _, text := range texts {
		if !strings.Contains(p.Text, text) {
			p.T.Errorf("%s: %q is not in %q", p.Request, text, p.Text)
		}
	}
	return p
}

// Location returns the path and the query of a redirect.
func (p *Page) Location() (address string, params url.Values) {
	p.T.Helper()
	p.Response.Want(302)
	to := p.Header.Get("Location")
	u, err := url.Parse(to)
	if err != nil {
		p.T.Fatal(err)
	}
	address, _, _ = strings.Cut(to, "?")
	return address, u.Query()
}

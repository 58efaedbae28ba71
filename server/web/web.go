// Package web renders the pages that people see in a browser: signing in and consent for apps, the first account, a new password.
// They are plain HTML that works without scripts, on small screens, in the dark and with screen readers. What is on them is
// decided by the handlers of package server.
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"strings"
)

//go:embed templates style.css
var files embed.FS

// Site is what every page tells of the server.
type Site struct {
	Name string
	Host string // the part of handles after the @
}

// Page is one of the types of this package, each of which has the template of its name.
type Page interface{ template() string }

// App is who asks for access.
type App struct {
	Name    string
	Website string // "": none; else an http or https address
}

// Field is a hidden field of a form.
type Field struct{ Name, Value string }

// Home is the front door.
type Home struct {
	Name        string
	Description string // plain text
	Host        string // what people enter in their apps
	Open        bool   // people may make accounts themselves
	Approval    bool   // but somebody looks at them first
	Contact     string // e-mail address; "": none
}

// Login asks who somebody is.
type Login struct {
	App    App    // to which they sign in
	Action string // where the form leads; "": to the question whether App may act for them
	Hidden []Field
	Name   string // as typed before
	Fault  string
}

// Challenge asks who has given the right password for a second factor.
type Challenge struct {
	App   App
	Token string
	Fault string
}

// Consent asks whether an app may use somebody's account.
type Consent struct {
	App    App
	Acct   string
	Scopes []string // in plain words
	Target string   // where that leads; "": to a page with a code
	Hidden []Field
}

// Code shows the code for an app that cannot be sent there.
type Code struct {
	App  App
	Code string
}

// Message says something: that it is done, or why it cannot be.
type Message struct {
	Title string
	Text  []string
}

// Setup asks for the account of the administrator.
type Setup struct {
	Action          string
	Nickname, Email string              // as typed before
	Faults          map[string][]string // by field
}

// Welcome says what to do after Setup.
type Welcome struct{ Nickname string }

// Password asks for a new password.
type Password struct {
	Action   string
	Token    string
	Nickname string
	Fault    string
}

func (Home) template() string      { return "home" }
func (Login) template() string     { return "login" }
func (Challenge) template() string { return "challenge" }
func (Consent) template() string   { return "consent" }
func (Code) template() string      { return "code" }
func (Message) template() string   { return "message" }
func (Setup) template() string     { return "setup" }
func (Welcome) template() string   { return "welcome" }
func (Password) template() string  { return "password" }

var (
	templates = parse(Home{}, Profile{}, Thread{}, Login{}, Challenge{}, Consent{}, Code{}, Message{}, Setup{}, Welcome{}, Password{}, Interact{}, Remote{})
	style     = readStyle()
)

// Policy returns the Content-Security-Policy of all pages. elsewhere is where pictures, video and sound may come from beside this
// server, if there is anything. It says nothing about where forms lead: a browser would apply that to the redirect to an app, too.
func Policy(elsewhere ...string) string {
	here := strings.Join(append([]string{"'self'"}, elsewhere...), " ")
	return "default-src 'none'; style-src 'sha256-" + hash(style) + "'; img-src " + here + " data:; media-src " + here +
		"; base-uri 'none'; frame-ancestors 'none'"
}

func parse(pages ...Page) map[string]*template.Template {
	all := make(map[string]*template.Template)
	for _, p := range pages {
		all[p.template()] = template.Must(template.ParseFS(files, "templates/layout.html", "templates/"+p.template()+".html"))
	}
	return all
}

func readStyle() string {
	text, err := files.ReadFile("style.css")
	if err != nil {
		panic(err)
	}
	return string(text)
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// Render returns the HTML of a page.
func Render(site Site, page Page) ([]byte, error) {
	var b bytes.Buffer
	err := templates[page.template()].Execute(&b, struct {
		Site  Site
		Style template.CSS
		Page  Page
	}{site, template.CSS(style), page})
	if err != nil {
		return nil, fmt.Errorf("page %s: %w", page.template(), err)
	}
	return b.Bytes(), nil
}

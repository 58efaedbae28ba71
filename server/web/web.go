// Package web renders the pages that people see in a browser: signing in and consent for apps, the first account, a new password.
// They are plain HTML that works without scripts, on small screens, in the dark and with screen readers. The handlers of
// package server decide their content.
package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"strings"
)

//go:embed templates/*.html
var files embed.FS

// Site is what every page shows of the server.
type Site struct {
	Name        string
	Host        string // the part of handles after the @
	SendsMail   bool   // forgotten passwords can be reset by mail
	MinPassword int    // length in characters
}

// Page is one of the types of this package. Each has the template of its name.
type Page interface{ template() string }

// App is the app that requests access.
type App struct {
	Name    string
	Website string // "": none; else an http or https address
}

// Field is a hidden field of a form.
type Field struct{ Name, Value string }

// Login asks for a name and a password.
type Login struct {
	App          App    // that requests the sign-in
	Action       string // of the form; "": the authorization endpoint
	HiddenFields []Field
	Name         string // as entered before
	Error        string
	SignUpURL    string // "": registration is closed
}

// Challenge asks for a second factor.
type Challenge struct {
	App   App
	Token string
	Error string
}

// Consent asks whether an app may use the account.
type Consent struct {
	App          App
	Acct         string
	Scopes       []string // in plain words
	Target       string   // the redirect; "": a page with a code
	HiddenFields []Field
}

// Code shows an authorization code to be copied into an app.
type Code struct {
	App  App
	Code string
}

// Message shows a title and paragraphs.
type Message struct {
	Title      string
	Paragraphs []string
}

// Setup asks for the account of the first admin.
type Setup struct {
	Action          string
	Nickname, Email string              // as entered before
	Errors          map[string][]string // by field
}

// Welcome explains the next steps after Setup.
type Welcome struct{ Nickname string }

// Password asks for a new password.
type Password struct {
	Action   string
	Token    string
	Nickname string
	Error    string
}

// ForgotPassword asks for the account of a password reset link.
type ForgotPassword struct {
	Action string
	Error  string
}

func (ForgotPassword) template() string { return "forgot_password" }

// FrontendChoice asks a visitor which front end to show at the address of the server.
type FrontendChoice struct{ Choices []Choice }

// Choice is one option of a form.
type Choice struct {
	Value    string
	Label    string
	Selected bool
}

func (FrontendChoice) template() string { return "frontends" }

func (Login) template() string     { return "login" }
func (Challenge) template() string { return "challenge" }
func (Consent) template() string   { return "consent" }
func (Code) template() string      { return "code" }
func (Message) template() string   { return "message" }
func (Setup) template() string     { return "setup" }
func (Welcome) template() string   { return "welcome" }
func (Password) template() string  { return "password" }

var templates = parse(Login{}, Challenge{}, Consent{}, Code{}, Message{}, Setup{}, Welcome{}, SignUp{}, Registered{}, Password{},
	ForgotPassword{}, Interact{}, Remote{}, FrontendChoice{})

// Policy returns the Content-Security-Policy of all pages. sources are further hosts of media. It has no form-action, because browsers
// would apply that to the redirect to an app, too.
func Policy(sources ...string) string {
	media := strings.Join(append([]string{"'self'"}, sources...), " ")
	return "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; img-src " + media + " data:; media-src " + media +
		"; base-uri 'none'; frame-ancestors 'none'"
}

func parse(pages ...Page) map[string]*template.Template {
	all := make(map[string]*template.Template)
	for _, p := range pages {
		all[p.template()] = template.Must(template.ParseFS(files, "templates/layout.html", "templates/"+p.template()+".html"))
	}
	return all
}

// Render returns the HTML of a page.
func Render(site Site, page Page) ([]byte, error) {
	var b bytes.Buffer
	err := templates[page.template()].Execute(&b, struct {
		Site  Site
		Style string
		Page  Page
	}{site, styleURL, page})
	if err != nil {
		return nil, fmt.Errorf("page %s: %w", page.template(), err)
	}
	return b.Bytes(), nil
}

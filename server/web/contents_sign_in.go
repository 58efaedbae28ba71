package web

import (
	"html/template"
	"net/url"
)

// App is the app that requests access.
type App struct {
	Name    string
	Website string // "": none; else an http or https address
}

// Link returns the name of the app, linked to its website. It is isolated from the direction of the text around it.
func (a App) Link() template.HTML {
	u, err := url.Parse(a.Website)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return strong(a.Name)
	}
	return template.HTML(`<a href="` + template.HTMLEscapeString(u.String()) + `" rel="noopener noreferrer nofollow"><bdi>` + template.HTMLEscapeString(a.Name) + "</bdi></a>")
}

// Field is a hidden field of a form.
type Field struct{ Name, Value string }

// Choice is one option of a form.
type Choice struct {
	Value    string
	Label    string
	Selected bool
}

// SignIn asks for a name and a password.
type SignIn struct {
	App          *App // that requests the sign-in; nil: none does
	Action       string
	HiddenFields []Field
	Nested       bool   // name and password are sent as members of authorization
	Nickname     string // as entered before
	Error        string
	SignUpURL    string // "": registration is closed
}

// Param returns the name of a parameter.
func (s SignIn) Param(name string) string {
	if s.Nested {
		return "authorization[" + name + "]"
	}
	return name
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

// NewPassword asks for a new password.
type NewPassword struct {
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

// FrontendChoice asks a visitor which front end to show at the address of the server.
type FrontendChoice struct {
	Standard string // the front end that is shown by default; "": the pages of this server
	Chosen   bool   // another one is chosen
	Choices  []Choice
}

func (SignIn) Name() string         { return "sign_in" }
func (Challenge) Name() string      { return "challenge" }
func (Consent) Name() string        { return "consent" }
func (Code) Name() string           { return "code" }
func (NewPassword) Name() string    { return "password" }
func (ForgotPassword) Name() string { return "forgot_password" }
func (FrontendChoice) Name() string { return "frontends" }

package web

import "html/template"

// SignUp asks for what a new account needs.
type SignUp struct {
	Action                            string
	FirstAdmin                        bool // of the person who administers the server: neither agreement nor captcha is needed
	HiddenFields                      []Field
	Nickname, Email, Reason, Birthday string // as entered before
	Agreement                         bool
	EmailRequired                     bool
	AskReason                         bool
	AskBirthday                       bool
	MinAge                            int         // years; 0: any age
	Captcha                           *Captcha    // nil: none
	CaptchaSolved                     bool        // the solution is in the hidden fields
	Errors                            []FormError // in the order of the form
}

// Captcha is a picture with digits.
type Captcha struct {
	URL  template.URL
	Text string // asks for the same digits in words; "": there is only the picture
}

// FormError is a validation error of a field, as a sentence.
type FormError struct{ Field, Text string }

// ErrorsOf returns the errors of a field.
func (p SignUp) ErrorsOf(field string) []string {
	var texts []string
	for _, e := range p.Errors {
		if e.Field == field {
			texts = append(texts, e.Text)
		}
	}
	return texts
}

// SignUpFields are the fields that can have errors, in the order of the form.
var SignUpFields = []string{
	"nickname", "email", "password", "password_confirmation", "registration_reason", "birthday", "captcha", "agreement",
}

// FirstError returns the field to focus: the first with an error, else the first of the form.
func (p SignUp) FirstError() string {
	if len(p.Errors) > 0 {
		return p.Errors[0].Field
	}
	return SignUpFields[0]
}

// WelcomePath is where a browser goes on that has just created an account: the home page, with a word of welcome.
const WelcomePath = "/web?done=welcome"

// Registered explains the next steps after SignUp.
type Registered struct {
	FirstAdmin  bool
	Nickname    string
	Email       string
	Unconfirmed bool // the e-mail address awaits confirmation
	Unapproved  bool // the account awaits approval
}

func (SignUp) Name() string     { return "sign_up" }
func (Registered) Name() string { return "registered" }

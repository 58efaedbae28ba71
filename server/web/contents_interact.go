package web

import "html/template"

// Interact shows a signed-in user an account or a post, and forms to follow, favourite, boost or reply.
type Interact struct {
	Title        string
	Acct         string // of the signed-in user
	Result       string // of the last action; "": none
	Error        string
	HiddenFields []Field
	Account      *Account // one of the two
	Handle       string   // of the account, with the host
	Post         template.HTML
	Actions      []Action
	Reply        bool // show the field for a reply
}

// Action is a button.
type Action struct {
	Name  string
	Label string // key of the messages
}

// Remote asks a user of another server for their handle, so that they can follow or reply from there.
type Remote struct {
	Subject      string // what the user wants to do
	HiddenFields []Field
	Handle       string // as entered before
	Error        string
}

func (Interact) Name() string { return "interact" }
func (Remote) Name() string   { return "remote" }

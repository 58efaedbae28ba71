package web

// Interact shows somebody who is signed in an account or a post of wherever, and what they can do about it.
type Interact struct {
	Title   string
	Acct    string // who is signed in
	Done    string // what they have just done; "": nothing yet
	Fault   string
	Hidden  []Field
	Account *AccountSummary // one of the two
	Post    *Post
	Actions []Action
	Reply   bool // they can answer
}

// AccountSummary is an account in brief.
type AccountSummary struct {
	Name    string
	Handle  string
	Profile string
	Avatar  string
	Note    string // plain text
}

// Action is something to do, by the button that says so.
type Action struct {
	Name  string
	Label string
}

// Remote asks people of other servers for their handle, so that they can follow or answer from there.
type Remote struct {
	Subject string // what it is about
	Hidden  []Field
	Handle  string // as typed before
	Fault   string
}

func (Interact) template() string { return "interact" }
func (Remote) template() string   { return "remote" }

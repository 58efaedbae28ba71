package web

// Interact shows a signed-in user an account or a post, and forms to follow, favourite, boost or reply.
type Interact struct {
	Title        string
	Acct         string // of the signed-in user
	Result       string // of the last action; "": none
	Error        string
	HiddenFields []Field
	Account      *AccountSummary // one of the two
	Post         *Post
	Actions      []Action
	Reply        bool // show the field for a reply
}

// AccountSummary is an account in brief.
type AccountSummary struct {
	Name       string
	Handle     string
	ProfileURL string
	AvatarURL  string
	Note       string // plain text
}

// Action is a button.
type Action struct {
	Name  string
	Label string
}

// Remote asks a user of another server for their handle, so that they can follow or reply from there.
type Remote struct {
	Subject      string // what the user wants to do
	HiddenFields []Field
	Handle       string // as entered before
	Error        string
}

func (Interact) template() string { return "interact" }
func (Remote) template() string   { return "remote" }

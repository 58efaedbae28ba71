package web

import (
	"html/template"
	"strings"
	"time"
)

// Input is a field of a form.
type Input struct {
	Name         string // of the parameter
	Kind         string // text, textarea, email, password, checkbox, select, file, date, datetime-local, number
	Label        string // key of the messages; a text if Plain
	Hint         string // key of the messages, "": none; a text if Plain
	Plain        bool
	From         string // member of the answer that has the present value, such as source.privacy; "": none is shown
	Value        string
	Checked      bool
	Options      []Choice // of a select; labels are texts
	Required     bool
	MaxLength    int
	Autocomplete string
	Accept       string // content types of a file
	Picture      string // URL of the present file, "": there is none
	Remove       string // path of the endpoint that removes it
	Zone         string // time zone in which a time is entered; "": it is no time
}

// ID returns the id of the field's element.
func (i Input) ID() string { return "f-" + i.Name }

// ZoneName returns the name of the parameter with the time zone.
func (i Input) ZoneName() string { return i.Name + "_zone" }

// InputGroup is a group of fields with a heading.
type InputGroup struct {
	Title  string // key of the messages; "": none
	Inputs []Input
}

// SettingsForm is a page of settings with one form.
type SettingsForm struct {
	Title  string // key of the messages
	Intro  string // key of the messages; "": none
	Action string
	Method string // of the endpoint
	Files  bool   // the form sends files
	Error  string
	Groups []InputGroup
	Submit string // key of the messages
	Danger bool   // the form deletes or ends something
	Links  []Link
	Push   string // VAPID key of the server, for a button that turns push messages of this browser on; "": none
}

// Link leads to a page.
type Link struct {
	Title string // key of the messages
	Hint  string // key of the messages; "": none
	URL   string
}

// LinkList is a page of links to other pages.
type LinkList struct {
	Title string // key of the messages
	Links []Link
}

// ID is an id, which is a string or a number in JSON.
type ID string

// UnmarshalJSON accepts both.
func (id *ID) UnmarshalJSON(text []byte) error {
	*id = ID(strings.Trim(string(text), `"`))
	return nil
}

// TwoFactor is the page of the second factor for signing in.
type TwoFactor struct {
	Enabled bool
	Error   string
	URI     string // otpauth: with the new secret; "": none
	Secret  string
	QR      template.URL
	Codes   []string // new backup codes
}

// Sessions lists the apps and browsers that are signed in.
type Sessions struct {
	Tokens []struct {
		ID         ID        `json:"id"`
		AppName    string    `json:"app_name"`
		ValidUntil time.Time `json:"valid_until"`
		Own        bool      `json:"-"` // of this browser
	}
}

// Hidden lists the accounts or the servers that the viewer does not see.
type Hidden struct {
	Title        string // key of the messages below "settings.hidden."
	Tabs         []Tab
	Accounts     []Account
	Undo         string // action of the API
	Domains      []string
	Newer, Older string
}

// Moving lists the accounts from which followers may move here.
type Moving struct {
	Aliases []string `json:"aliases"`
	Entered string   `json:"-"`
	Error   string   `json:"-"`
}

// FeaturedTags are the hashtags on the viewer's profile.
type FeaturedTags struct {
	Tags        []FeaturedTag
	Suggestions []Tag
	Entered     string
	Error       string
}

// Import is a list that a user has imported.
type Import struct {
	ID        ID        `json:"id"`
	Kind      string    `json:"kind"`
	State     string    `json:"state"`
	Total     int       `json:"total"`
	Imported  int       `json:"imported"`
	Skipped   int       `json:"skipped"`
	CreatedAt time.Time `json:"created_at"`
}

// Archive is an archive from which posts are imported.
type Archive struct {
	ID        string    `json:"id"`
	State     string    `json:"state"`
	Origin    string    `json:"origin"`
	Size      int       `json:"size"`
	Received  int       `json:"received"`
	Total     int       `json:"total"`
	Position  int       `json:"position"`
	Imported  int       `json:"imported"`
	Files     int       `json:"files"`
	Skipped   int       `json:"skipped"`
	Error     string    `json:"error"`
	CreatedAt time.Time `json:"created_at"`
}

// OwnData is the page of imports, exports and backups.
type OwnData struct {
	Exports []string
	Imports []string
	Started []Import

	Archives  []Archive
	Uploading *Archive // the upload that was interrupted; nil: none

	Backups []struct {
		FileSize   int       `json:"file_size"`
		InsertedAt time.Time `json:"inserted_at"`
		Processed  bool      `json:"processed"`
		State      string    `json:"state"`
		URL        string    `json:"url"`
	}
}

func (SettingsForm) Name() string { return "settings_form" }
func (LinkList) Name() string     { return "links" }
func (TwoFactor) Name() string    { return "two_factor" }
func (Sessions) Name() string     { return "sessions" }
func (Hidden) Name() string       { return "hidden" }
func (Moving) Name() string       { return "moving" }
func (FeaturedTags) Name() string { return "featured_tags" }
func (OwnData) Name() string      { return "own_data" }

package web

import (
	"html/template"
	"strings"
)

// Compose is the form for a post.
type Compose struct {
	Title        string // key of the messages
	Action       string
	Error        string
	Context      template.HTML // the post that it answers or quotes
	Preview      template.HTML
	Once         string // keeps a form that is sent twice from posting twice
	Back         string
	HiddenFields []Field
	Whole        bool   // it has all fields
	Edit         string // id of the status that is edited; "": a new one

	Text          string
	SpoilerText   string
	Visibility    string
	Visibilities  []Choice
	MaxCharacters int
	Sensitive     bool
	Language      string
	ContentType   string
	Formats       []string // content types
	QuotePolicy   string

	Media     []Media
	MoreMedia bool // there may be more

	Options       []string // texts of the fields for the options of a poll
	HasPoll       bool
	MaxOption     int // characters
	Multiple      bool
	HideTotals    bool
	PollDuration  string
	PollDurations []Choice // in seconds

	ScheduledAt string
	ExpiresIn   string
	Expiries    []Choice // in seconds
}

// LastMedia returns the index of the last file.
func (c Compose) LastMedia() int { return len(c.Media) - 1 }

// Position returns the number of an entry as people count.
func (c Compose) Position(i int) int { return i + 1 }

// HasOptions returns true if something is entered in the fields that are hidden at first.
func (c Compose) HasOptions() bool {
	return c.QuotePolicy != "" || c.ScheduledAt != "" || c.ExpiresIn != "" || c.ContentType != "" && c.ContentType != "text/plain"
}

// FormatKey returns the key of the messages for a content type.
func (c Compose) FormatKey(contentType string) string {
	_, name, _ := strings.Cut(contentType, "/")
	return strings.TrimPrefix(name, "x.")
}

// QuotePolicies returns who may be allowed to quote a post.
func (c Compose) QuotePolicies() []string { return []string{"public", "followers", "nobody"} }

func (Compose) Name() string { return "compose" }

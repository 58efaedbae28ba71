package web

import (
	"html/template"
	"time"
)

// Meta is what the head of a page tells search engines, feed readers and sites that show a preview of it.
type Meta struct {
	Title       string
	Description string // plain text
	Canonical   string // URL
	Type        string // of OpenGraph: website, profile, article
	Published   *time.Time
	Image       string // URL; "": none
	ImageText   string // describes the picture
	LargeImage  bool
	Handle      string // of the account that the page is about, as in @alice@example.org; "": none
	OEmbedURL   string // "": none
	ActivityURL string // of the ActivityPub document; "": none
	Feeds       []Feed
	Index       bool // search engines may index the page
}

// Feed is a link to a feed.
type Feed struct{ Type, URL, Title string }

// Front is the page at /.
type Front struct {
	Meta      Meta
	Instance  Instance
	SignUpURL string // "": registration is closed
	Apps      []AppGroup
	Posts     []template.HTML
	More      bool // there is a page with all public posts
}

// AppGroup are apps for a kind of device.
type AppGroup struct {
	Title string // key of the messages
	Apps  []App
}

// About tells about the server.
type About struct {
	Meta        Meta
	Instance    Instance
	Description template.HTML
	Blocks      []HostBlocks
	MoreBlocks  int    // hosts that were left out
	Source      string // URL of the source code, "" if it is not set
}

// HostBlocks are the hosts to which a rule of federation applies.
type HostBlocks struct {
	Rule  string // as in the messages below "blocks."
	Hosts []HostBlock
}

// HostBlock is a host with the reason why a rule applies to it.
type HostBlock struct{ Host, Reason string }

// Instance is the server as the client API describes it.
type Instance struct {
	Title            string   `json:"title"`
	ShortDescription string   `json:"short_description"`
	Description      string   `json:"description"`
	Email            string   `json:"email"`
	Version          string   `json:"version"`
	Thumbnail        string   `json:"thumbnail"`
	Registrations    bool     `json:"registrations"`
	ApprovalRequired bool     `json:"approval_required"`
	InvitesEnabled   bool     `json:"invites_enabled"`
	ContactAccount   *Account `json:"contact_account"`
	Rules            []Rule   `json:"rules"`
	Stats            struct {
		Users    int `json:"user_count"`
		Statuses int `json:"status_count"`
		Domains  int `json:"domain_count"`
	} `json:"stats"`
	Svc struct {
		Stats struct {
			MonthlyActive int `json:"mau"`
		} `json:"stats"`
		Metadata struct {
			Federation struct {
				Enabled bool                `json:"enabled"`
				Hosts   map[string][]string `json:"mrf_simple"`
				Reasons map[string]map[string]struct {
					Reason string `json:"reason"`
				} `json:"mrf_simple_info"`
			} `json:"federation"`
		} `json:"metadata"`
	} `json:"svc"`
}

// Rule is a rule of the server.
type Rule struct {
	Text string `json:"text"`
	Hint string `json:"hint"`
}

// maxShortRules is how many rules the front page has.
const maxShortRules = 5

// ShortRules returns the first rules without their explanations.
func (i Instance) ShortRules() []Rule {
	rules := make([]Rule, 0, maxShortRules)
	for _, r := range i.Rules[:min(len(i.Rules), maxShortRules)] {
		rules = append(rules, Rule{Text: r.Text})
	}
	return rules
}

// InstanceText is a text of the instance, such as its terms.
type InstanceText struct {
	Meta    Meta
	Updated string // a date; "": unknown
	Text    template.HTML
}

// Profile is an account with its posts.
type Profile struct {
	Meta         Meta
	Account      *Account
	Handle       string // with the host
	Self         bool   // it is the viewer's own
	Tabs         []Tab
	Tags         []FeaturedTag
	Collections  []Collection
	Pinned       []template.HTML
	Posts        []template.HTML
	Newer, Older string
	Remote       *Remote // nil: others cannot follow
}

// FeaturedTag is a hashtag that an account shows on its profile.
type FeaturedTag struct {
	ID            string `json:"id"`
	Name          string `json:"name"`
	StatusesCount string `json:"statuses_count"`
}

// AccountsOf is a list of accounts, such as those that favourited a post.
type AccountsOf struct {
	Title        string // key of the messages
	Subject      string // what the list is about, in plain text
	SubjectURL   string
	Hidden       bool // the account does not show the list
	Accounts     []Account
	Newer, Older string
}

// Tagged are the posts with a hashtag.
type Tagged struct {
	Meta         Meta
	Tag          Tag
	Posts        []template.HTML
	Newer, Older string
}

// History are the versions of a post, the newest first.
type History struct {
	Title    string
	URL      string // of the post
	Versions []Version
}

// Version is a version of a post.
type Version struct {
	Content          string    `json:"content"`
	SpoilerText      string    `json:"spoiler_text"`
	Sensitive        bool      `json:"sensitive"`
	CreatedAt        time.Time `json:"created_at"`
	MediaAttachments []Media   `json:"media_attachments"`
	Emojis           []Emoji   `json:"emojis"`
	Poll             *struct {
		Options []struct {
			Title string `json:"title"`
		} `json:"options"`
	} `json:"poll"`
}

// HTML returns the text with custom emojis.
func (v Version) HTML() template.HTML { return content(v.Content, v.Emojis, nil, "") }

func (Front) Name() string        { return "front" }
func (About) Name() string        { return "about" }
func (InstanceText) Name() string { return "text" }
func (Profile) Name() string      { return "profile" }
func (AccountsOf) Name() string   { return "accounts_of" }
func (Tagged) Name() string       { return "tag" }
func (History) Name() string      { return "history" }

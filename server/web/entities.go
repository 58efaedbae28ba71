package web

import (
	"html/template"
	"strconv"
	"time"

	"svc/internal/text"
)

// The entities of the client API as pages show them. They have the members that templates use.

// Account is an account.
type Account struct {
	ID           string    `json:"id"`
	Username     string    `json:"username"`
	Acct         string    `json:"acct"`
	FQN          string    `json:"fqn"`
	DisplayName  string    `json:"display_name"`
	Locked       bool      `json:"locked"`
	Bot          bool      `json:"bot"`
	Group        bool      `json:"group"`
	Discoverable bool      `json:"discoverable"`
	Indexable    bool      `json:"indexable"`
	CreatedAt    time.Time `json:"created_at"`
	Note         string    `json:"note"`
	URL          string    `json:"url"`
	URI          string    `json:"uri"`
	Avatar       string    `json:"avatar"`
	AvatarStatic string    `json:"avatar_static"`
	Header       string    `json:"header"`
	HeaderStatic string    `json:"header_static"`

	AvatarDescription string `json:"avatar_description"`
	HeaderDescription string `json:"header_description"`

	FollowersCount int     `json:"followers_count"`
	FollowingCount int     `json:"following_count"`
	StatusesCount  int     `json:"statuses_count"`
	LastStatusAt   string  `json:"last_status_at"` // a date; "": none
	Emojis         []Emoji `json:"emojis"`
	Fields         []struct {
		Name       string     `json:"name"`
		Value      string     `json:"value"` // HTML
		VerifiedAt *time.Time `json:"verified_at"`
	} `json:"fields"`
	Moved *Account `json:"moved"`
	Svc   struct {
		IsAdmin            bool          `json:"is_admin"`
		IsModerator        bool          `json:"is_moderator"`
		HideFollowers      bool          `json:"hide_followers"`
		HideFollows        bool          `json:"hide_follows"`
		HideFollowersCount bool          `json:"hide_followers_count"`
		HideFollowsCount   bool          `json:"hide_follows_count"`
		Birthday           string        `json:"birthday"`
		Tags               []string      `json:"tags"`
		AcceptsChats       *bool         `json:"accepts_chat_messages"`
		Relationship       *Relationship `json:"relationship"`
	} `json:"svc"`
}

// Local returns true if the account is one of this server.
func (a *Account) Local() bool { return a.Acct == a.Username }

// Name returns the display name with custom emojis, or the nickname.
func (a *Account) Name() template.HTML {
	if a.DisplayName == "" {
		return template.HTML(template.HTMLEscapeString(a.Username))
	}
	return emojified(a.DisplayName, a.Emojis)
}

// NoteHTML returns the description with custom emojis.
func (a *Account) NoteHTML() template.HTML { return content(a.Note, a.Emojis, nil, "") }

// maxNoteText is how many characters of a description a row of an account has.
const maxNoteText = 160

// NoteText returns the beginning of the description as plain text.
func (a *Account) NoteText() string {
	note := []rune(text.HTMLToText(a.Note))
	if len(note) > maxNoteText {
		return string(note[:maxNoteText-1]) + "…"
	}
	return string(note)
}

// FieldHTML returns the HTML of a field's value with custom emojis.
func (a *Account) FieldHTML(value string) template.HTML { return content(value, a.Emojis, nil, "") }

// Relationship is what the viewer has to do with an account.
type Relationship struct {
	ID                  string     `json:"id"`
	Following           bool       `json:"following"`
	ShowingReblogs      bool       `json:"showing_reblogs"`
	Notifying           bool       `json:"notifying"`
	Languages           []string   `json:"languages"`
	FollowedBy          bool       `json:"followed_by"`
	Blocking            bool       `json:"blocking"`
	BlockedBy           bool       `json:"blocked_by"`
	Muting              bool       `json:"muting"`
	MutingNotifications bool       `json:"muting_notifications"`
	MutingExpiresAt     *time.Time `json:"muting_expires_at"`
	Requested           bool       `json:"requested"`
	RequestedBy         bool       `json:"requested_by"`
	DomainBlocking      bool       `json:"domain_blocking"`
	Endorsed            bool       `json:"endorsed"`
	Note                string     `json:"note"`
}

// Related returns true if the viewer follows the account, wants to, or has a reason not to.
func (r *Relationship) Related() bool {
	return r.Following || r.Requested || r.Blocking || r.BlockedBy || r.Muting || r.DomainBlocking
}

// Emoji is a custom emoji.
type Emoji struct {
	Shortcode string `json:"shortcode"`
	URL       string `json:"url"`
	StaticURL string `json:"static_url"`
}

// Status is a status, or a boost of one.
type Status struct {
	ID                 string       `json:"id"`
	URI                string       `json:"uri"`
	URL                string       `json:"url"`
	CreatedAt          time.Time    `json:"created_at"`
	EditedAt           *time.Time   `json:"edited_at"`
	Visibility         string       `json:"visibility"`
	Account            Account      `json:"account"`
	InReplyToID        string       `json:"in_reply_to_id"`
	InReplyToAccountID string       `json:"in_reply_to_account_id"`
	Sensitive          bool         `json:"sensitive"`
	SpoilerText        string       `json:"spoiler_text"`
	Language           string       `json:"language"`
	RepliesCount       int          `json:"replies_count"`
	ReblogsCount       int          `json:"reblogs_count"`
	FavouritesCount    int          `json:"favourites_count"`
	QuotesCount        int          `json:"quotes_count"`
	Content            string       `json:"content"`
	MediaAttachments   []Media      `json:"media_attachments"`
	Mentions           []Mention    `json:"mentions"`
	Tags               []Tag        `json:"tags"`
	Emojis             []Emoji      `json:"emojis"`
	Card               *Card        `json:"card"`
	Application        *Application `json:"application"`
	Poll               *Poll        `json:"poll"`
	Quote              *Quote       `json:"quote"`
	Reblog             *Status      `json:"reblog"`
	Favourited         bool         `json:"favourited"`
	Reblogged          bool         `json:"reblogged"`
	Bookmarked         bool         `json:"bookmarked"`
	Muted              bool         `json:"muted"`
	Pinned             bool         `json:"pinned"`
	Filtered           []struct {
		Filter struct {
			Title  string `json:"title"`
			Action string `json:"filter_action"`
		} `json:"filter"`
	} `json:"filtered"`
	Svc struct {
		Local                bool       `json:"local"`
		InReplyToAccountAcct string     `json:"in_reply_to_account_acct"`
		ConversationID       any        `json:"conversation_id"`
		EmojiReactions       []Reaction `json:"emoji_reactions"`
		ThreadMuted          bool       `json:"thread_muted"`
		ParentVisible        bool       `json:"parent_visible"`
		PendingApproval      bool       `json:"pending_approval"`
		PendingFavourite     bool       `json:"pending_favourite"`
		BookmarkFolder       string     `json:"bookmark_folder"`
		ExpiresAt            *time.Time `json:"expires_at"`
		ImportedFrom         *struct {
			Acct string `json:"acct"`
			URL  string `json:"url"`
		} `json:"imported_from"`
	} `json:"svc"`

	Own bool `json:"-"` // the viewer wrote it

	reading Reading // of the viewer
	opened  bool    // see Opened
}

// ReadBy sets how a viewer reads the status and the one that it quotes. open says that the content warning of the status itself is open in any case.
func (s *Status) ReadBy(r Reading, open bool) {
	s.reading, s.opened = r, open || r.OpenWarnings
	if s.Quote != nil && s.Quote.QuotedStatus != nil {
		s.Quote.QuotedStatus.ReadBy(r, false)
	}
}

// Opened returns true if the text below the content warning is shown at first.
func (s *Status) Opened() bool { return s.opened }

// Gallery returns the media of the status, nil if there are none. Those behind a content warning are covered only if that is open.
func (s *Status) Gallery() *Gallery {
	sensitive := s.Sensitive && (s.SpoilerText == "" || s.opened)
	g := NewGallery(s.MediaAttachments, sensitive, s.reading)
	if g != nil {
		g.Face = s.Account.AvatarStatic
	}
	return g
}

// Shown returns the boosted status, and the status itself if it is no boost.
func (s *Status) Shown() *Status {
	if s.Reblog != nil {
		return s.Reblog
	}
	return s
}

// Fragment returns what leads to the status within its page, "" if it stands at the top: above a reply are the posts that it answers.
func (s *Status) Fragment() string {
	if s.InReplyToID == "" {
		return ""
	}
	return "#p" + s.ID
}

// Waits returns the key of a text that says what waits for the approval of another author: the boost or reply, or the viewer's favourite.
// "": nothing does.
func (s *Status) Waits() string {
	switch {
	case s.Reblog != nil && s.Svc.PendingApproval:
		return "post.boost_waits"
	case s.Shown().Svc.PendingApproval:
		return "post.reply_waits"
	case s.Shown().Svc.PendingFavourite:
		return "post.favourite_waits"
	}
	return ""
}

// Spoiler returns the content warning with custom emojis.
func (s *Status) Spoiler() template.HTML { return emojified(s.SpoilerText, s.Emojis) }

// Boostable returns true if the status may be boosted by others than its author.
func (s *Status) Boostable() bool {
	return s.Visibility == "public" || s.Visibility == "unlisted" || s.Visibility == "local" || s.Own && s.Visibility == "private"
}

// HiddenBy returns the title of the filter by which the viewer hides or warns of the status, "" if there is none.
func (s *Status) HiddenBy() string {
	for _, f := range s.Filtered {
		return f.Filter.Title
	}
	return ""
}

// Mention is an account that a status mentions.
type Mention struct {
	ID       string `json:"id"`
	Username string `json:"username"`
	Acct     string `json:"acct"`
	URL      string `json:"url"`
}

// Tag is a hashtag.
type Tag struct {
	Name      string `json:"name"`
	URL       string `json:"url"`
	Following bool   `json:"following"`
	Featuring bool   `json:"featuring"`

	History []struct {
		Uses string `json:"uses"`
	} `json:"history"`
}

// Uses returns how many posts used the hashtag in the days of its history.
func (t Tag) Uses() (n int) {
	for _, day := range t.History {
		if uses, err := strconv.Atoi(day.Uses); err == nil {
			n += uses
		}
	}
	return n
}

// Application is the app by which a status was posted.
type Application struct {
	Name    string `json:"name"`
	Website string `json:"website"`
}

// Card is the preview of a link.
type Card struct {
	URL          string `json:"url"`
	Title        string `json:"title"`
	Description  string `json:"description"`
	ProviderName string `json:"provider_name"`
	Image        string `json:"image"`
	Width        int    `json:"width"`
	Height       int    `json:"height"`

	Authors []struct {
		Account *Account `json:"account"`
	} `json:"authors"`
}

// Poll is a poll.
type Poll struct {
	ID          string     `json:"id"`
	ExpiresAt   *time.Time `json:"expires_at"`
	Expired     bool       `json:"expired"`
	Multiple    bool       `json:"multiple"`
	VotesCount  int        `json:"votes_count"`
	VotersCount *int       `json:"voters_count"`
	Voted       bool       `json:"voted"`
	OwnVotes    []int      `json:"own_votes"`
	Emojis      []Emoji    `json:"emojis"`
	Options     []struct {
		Title      string `json:"title"`
		VotesCount *int   `json:"votes_count"`
	} `json:"options"`
}

// Open returns true if the viewer can vote.
func (p *Poll) Open() bool { return !p.Expired && !p.Voted }

// Voters returns how many people have voted.
func (p *Poll) Voters() int {
	if p.VotersCount != nil {
		return *p.VotersCount
	}
	return p.VotesCount
}

// Percent returns the share of the i-th option, in percent of the voters.
func (p *Poll) Percent(i int) int {
	votes := p.Options[i].VotesCount
	if votes == nil || p.Voters() == 0 {
		return 0
	}
	return min(100, (*votes*100+p.Voters()/2)/p.Voters())
}

// Chosen returns true if the viewer voted for the i-th option.
func (p *Poll) Chosen(i int) bool {
	for _, own := range p.OwnVotes {
		if own == i {
			return true
		}
	}
	return false
}

// OptionHTML returns the title of the i-th option with custom emojis.
func (p *Poll) OptionHTML(i int) template.HTML { return emojified(p.Options[i].Title, p.Emojis) }

// Quote is the quote of a status.
type Quote struct {
	State        string  `json:"state"`
	QuotedStatus *Status `json:"quoted_status"`
}

// Reaction is an emoji with which accounts reacted to a status.
type Reaction struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
	Me    bool   `json:"me"`
	URL   string `json:"url"`
}

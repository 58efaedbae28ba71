package web

import (
	"html/template"
	"time"
)

// Column is a column of a table of a resource.
type Column struct {
	Label string // key of the messages
	From  string // member of the row
	Kind  string // "": text; date, unix, yes, names, severity, log
}

// Resource is a page of staff with a table of rows and a form that adds one.
type Resource struct {
	Title        string // key of the messages
	Intro        string // key of the messages; "": none
	Error        string
	Action       string // of the form
	Submit       string // key of the messages; "": there is no form
	Files        bool
	Inputs       []Input
	Columns      []Column
	Rows         []Row
	Newer, Older string
	Links        []Link
	Forms        []StaffForm // below the first one
}

// StaffForm is a form on a page of staff.
type StaffForm struct {
	Submit string // key of the messages
	Hint   string // key of the messages; "": none
	Action string
	Get    bool // it only leads to a page
	Files  bool
	Danger bool
	Open   bool // it is shown without a press on its name
	Inputs []Input
	Hidden []Field
}

// Table is a table on a page of staff. Labels of columns are keys of the messages.
type Table struct {
	Title   string // key of the messages; "": none
	Columns []string
	Rows    []Row
	Empty   string // key of the messages, shown without rows
}

// StaffPage is a page of staff with tables, forms and buttons.
type StaffPage struct {
	Title        string // key of the messages
	Intro        string // key of the messages; "": none
	BackURL      string // of the page above it; "": the first page of staff
	BackTitle    string // key of the messages
	Error        string
	Tabs         []Tab
	Texts        []string // paragraphs
	Buttons      []RowButton
	Forms        []StaffForm
	Tables       []Table
	Newer, Older string
	Links        []Link
}

// RowForm is a page of staff with a form that changes a row of a resource.
type RowForm struct {
	Title     string // key of the messages
	BackURL   string // of the table
	BackTitle string // key of the messages
	Error     string
	About     string // the row; "": it is not named
	Action    string
	Inputs    []Input
}

// Confirmation asks before something that cannot be undone.
type Confirmation struct {
	Title  string
	Text   string
	About  string // "": nothing is named
	Action string
	Back   string // path of the page to go to without it
	Next   string // path of the page to go to afterwards
}

// BlockPreview asks before a server is blocked, and says what that concerns.
type BlockPreview struct {
	Domain string
	Hosts  []struct {
		Host      string `json:"host"`
		Accounts  int    `json:"accounts"`
		Posts     int    `json:"posts"`
		Followers int    `json:"followers"`
		Following int    `json:"following"`
	}
	Action string
	Hidden []Field // the entered values
}

// Meter is a part of a limit.
type Meter struct{ Value, Max int64 }

// Row is a row of a table.
type Row struct {
	Cells   []string
	URL     string // of a page about it, or in a Resource of the form that changes it; "": none
	Buttons []RowButton
	Meter   *Meter // in the last cell; nil: none
}

// RowButton is an action on a row.
type RowButton struct {
	Label  string // key of the messages
	About  string // what of the row it is about; "": the row
	Action string
	Danger bool
}

// Dashboard is the first page of staff. Numbers are at most 40.
type Dashboard struct {
	OpenReports     int
	PendingAccounts int
	Update          string // a new version of the program; "": none is known
	Links           []Link
}

// ModeratedAccount is an account as staff see it.
type ModeratedAccount struct {
	ID            string    `json:"id"`
	Username      string    `json:"username"`
	Domain        string    `json:"domain"` // "": local
	CreatedAt     time.Time `json:"created_at"`
	Email         string    `json:"email"`
	InviteRequest string    `json:"invite_request"` // why the user wants an account
	Role          *struct {
		Name string `json:"name"`
	} `json:"role"`
	Confirmed  bool    `json:"confirmed"`
	Approved   bool    `json:"approved"`
	Disabled   bool    `json:"disabled"`
	Suspended  bool    `json:"suspended"`
	Silenced   bool    `json:"silenced"`
	Sensitized bool    `json:"sensitized"`
	Account    Account `json:"account"`
}

// Local returns true if the account is one of this server.
func (a ModeratedAccount) Local() bool { return a.Domain == "" }

// Report is a report as staff see it.
type Report struct {
	ID            string            `json:"id"`
	ActionTaken   bool              `json:"action_taken"`
	Category      string            `json:"category"`
	Comment       string            `json:"comment"`
	Forwarded     bool              `json:"forwarded"`
	CreatedAt     time.Time         `json:"created_at"`
	Account       *ModeratedAccount `json:"account"`
	TargetAccount *ModeratedAccount `json:"target_account"`
	Assigned      *ModeratedAccount `json:"assigned_account"`
	Statuses      []Status          `json:"statuses"`
	Rules         []struct {
		Text string `json:"text"`
	} `json:"rules"`
	Collections []struct {
		URL         string `json:"url"`
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"collections"`
}

// ReportNote is a note of staff about a report.
type ReportNote struct {
	ID        ID        `json:"id"`
	Content   string    `json:"content"`
	User      Account   `json:"user"`
	CreatedAt time.Time `json:"created_at"`
}

// Reports lists reports.
type Reports struct {
	Tabs         []Tab
	Reports      []Report
	Newer, Older string
}

// ReportPage is a report with what staff can do about it.
type ReportPage struct {
	Report  Report
	Posts   []template.HTML
	Notes   []ReportNote
	Actions []Choice
	Taken   []LogLine // since it was filed, about the reported account
}

// ModeratedAccounts lists accounts for staff.
type ModeratedAccounts struct {
	Tabs         []Tab
	Search       string
	Status       string
	Accounts     []ModeratedAccount
	Newer, Older string
}

// ModeratedPage is an account with what staff can do with it.
type ModeratedPage struct {
	Error    string
	Account  *ModeratedAccount
	Overview Overview
	Actions  []Choice // that the viewer may take
	Admin    bool     // the viewer is an admin
	May      map[string]bool
	Reports  []Report // about the account, open ones first
	Log      []LogLine
	Posts    StaffPosts
}

// Overview is what staff see of an account beside its profile.
type Overview struct {
	LastActiveAt *time.Time `json:"last_active_at"`
	Sessions     int        `json:"sessions"`
	Posts        int        `json:"statuses_count"`
	Followers    int        `json:"followers_count"`
	Following    int        `json:"following_count"`
	Tags         []string   `json:"tags"`
	Reports      *struct {
		Open    int `json:"open"`
		Against int `json:"against"`
		By      int `json:"by"`
	} `json:"reports"`
	Server *struct {
		Domain        string `json:"domain"`
		Rejected      bool   `json:"rejected"`
		Unlisted      bool   `json:"unlisted"`
		FollowersOnly bool   `json:"followers_only"`
		MediaRemoved  bool   `json:"media_removed"`
		Sensitive     bool   `json:"sensitive"`
	} `json:"server"`
}

// LogLine is an entry of the moderation log about an account.
type LogLine struct {
	At     time.Time
	Text   string
	Reason string // "": none
}

// StaffPosts are posts of an account with what staff can do with each.
type StaffPosts struct {
	AccountID    string
	Acct         string
	Posts        []StaffPost
	MayRead      bool // the viewer may also read posts for followers and mentioned accounts
	MayChange    bool
	Restricted   bool   // those are shown
	All          string // URL of all posts; "": this is it
	Newer, Older string
}

// StaffPost is a post with what staff can do with it.
type StaffPost struct {
	ID        string
	Post      template.HTML
	Sensitive bool
}

// ActionPreview asks before an action is taken against an account, and says what it does.
type ActionPreview struct {
	Title  string // key of the messages
	About  string
	Facts  []string
	Action string
	Back   string
	Hidden []Field // the entered values
}

// PlainLink is a Link whose texts are not in the catalogue.
type PlainLink struct {
	Title, Hint, URL string
	Lang             string // of the title; "": that of the page
}

// SettingGroups lists groups of the server's settings, or documents.
type SettingGroups struct {
	Title      string // key of the messages
	Restart    bool   // changes wait for a restart
	Searchable bool
	FileOnly   bool // only the settings file can change them
	Query      string
	Found      []FoundSetting // that match the query
	Groups     []PlainLink
}

// FoundSetting is a setting that matches a search.
type FoundSetting struct {
	ShownSetting
	Group string // title of its group
}

// SettingGroup is a form with the settings of a group.
type SettingGroup struct {
	Title    string
	Intro    string
	Error    string
	Action   string
	FileOnly bool           // only the settings file can change them
	Fields   []ShownSetting // with inputs
	Others   []ShownSetting // settings that the form does not have
}

// ShownSetting is a setting of the server on a page. Values are in plain words.
type ShownSetting struct {
	SettingName string // in the settings file
	Label       string
	About       string
	Lang        string // of Label and About; "": that of the page
	Now         string
	Default     string
	Changed     bool   // it differs from the default
	Restart     bool   // a change takes effect after a restart
	URL         string // of a page where it can be changed; "": none
	Reset       string // action that changes it back to the default; "": none
	Input       Input
}

// Anchor returns the id of the element of a setting.
func (s ShownSetting) Anchor() string { return "s-" + s.SettingName }

// ServerSetting is a form with one setting as the settings file has it.
type ServerSetting struct {
	SettingName string
	Value       string
	Error       string
	Action      string
	State       ShownSetting
	FileOnly    bool // only the settings file can change it
}

// Document is a form for a document of the instance.
type Document struct {
	DocumentName string
	Text         string
	Error        string
}

// EmojiPacks lists packs of custom emojis.
type EmojiPacks struct {
	Packs map[string]struct {
		FilesCount int `json:"files_count"`
	} `json:"packs"`
}

// EmojiPack is a pack of custom emojis. Files are file names by shortcode.
type EmojiPack struct {
	PackName string            `json:"-"`
	Files    map[string]string `json:"files"`
}

func (StaffPosts) Name() string        { return "staff_posts" }
func (ActionPreview) Name() string     { return "action_preview" }
func (StaffPage) Name() string         { return "staff_page" }
func (RowForm) Name() string           { return "row_form" }
func (Confirmation) Name() string      { return "confirmation" }
func (BlockPreview) Name() string      { return "block_preview" }
func (SettingGroups) Name() string     { return "setting_groups" }
func (ServerSetting) Name() string     { return "server_setting" }
func (SettingGroup) Name() string      { return "setting_group" }
func (Document) Name() string          { return "document" }
func (EmojiPacks) Name() string        { return "emoji_packs" }
func (EmojiPack) Name() string         { return "emoji_pack" }
func (Resource) Name() string          { return "resource" }
func (Dashboard) Name() string         { return "dashboard" }
func (Reports) Name() string           { return "reports" }
func (ReportPage) Name() string        { return "report" }
func (ModeratedAccounts) Name() string { return "moderated_accounts" }
func (ModeratedPage) Name() string     { return "moderated_account" }

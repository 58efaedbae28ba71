package web

import (
	"html/template"
	"slices"
	"time"
)

// Search is the page of a search.
type Search struct {
	Query   string
	Type    string // accounts, statuses, hashtags; "": all
	Tabs    []Tab
	Found   Found
	Posts   []template.HTML
	Nothing bool // was found

	Newer, Older string
}

// Found are the results of a search without the statuses.
type Found struct {
	Accounts []Account `json:"accounts"`
	Tags     []Tag     `json:"hashtags"`
}

// ScheduledPost is a post that is published later.
type ScheduledPost struct {
	ID     string    `json:"id"`
	At     time.Time `json:"scheduled_at"`
	Params struct {
		Text        string `json:"text"`
		SpoilerText string `json:"spoiler_text"`
		Visibility  string `json:"visibility"`
		Poll        *struct {
			Options []string `json:"options"`
		} `json:"poll"`
	} `json:"params"`
	MediaAttachments []Media `json:"media_attachments"`
}

// Scheduled are the viewer's scheduled posts.
type Scheduled struct {
	Posts        []ScheduledPost
	Error        string
	Newer, Older string
}

// FollowRequests are the accounts that want to follow the viewer, or that the viewer wants to follow.
type FollowRequests struct {
	Accounts     []Account
	Sent         bool // the viewer wants to follow them
	Tabs         []Tab
	Newer, Older string
}

// Filter hides posts that contain its keywords.
type Filter struct {
	ID        string          `json:"id"`
	Title     string          `json:"title"`
	Context   []string        `json:"context"`
	ExpiresAt *time.Time      `json:"expires_at"`
	Action    string          `json:"filter_action"` // warn, hide, blur
	Keywords  []FilterKeyword `json:"keywords"`
	Statuses  []struct {
		ID       string `json:"id"`
		StatusID string `json:"status_id"`
	} `json:"statuses"`
}

// FilterKeyword is a word or phrase of a filter.
type FilterKeyword struct {
	ID        string `json:"id"`
	Keyword   string `json:"keyword"`
	WholeWord bool   `json:"whole_word"`
}

// Filters are the viewer's filters.
type Filters struct{ Filters []Filter }

// EditFilter is the form for a filter.
type EditFilter struct {
	Filter    Filter
	Error     string
	ExpiresIn string
	Durations []Choice // in seconds
}

// Contexts returns where filters may apply.
func (EditFilter) Contexts() []string {
	return []string{"home", "notifications", "public", "thread", "account"}
}

// Applies returns true if the filter applies in a context.
func (e EditFilter) Applies(context string) bool { return slices.Contains(e.Filter.Context, context) }

// Actions returns what filters may do.
func (EditFilter) Actions() []string { return []string{"warn", "hide", "blur"} }

// Rows returns the keywords with some empty ones for more.
func (e EditFilter) Rows() []FilterKeyword {
	return append(slices.Clone(e.Filter.Keywords), make([]FilterKeyword, 3)...)
}

func (Search) Name() string         { return "search" }
func (Scheduled) Name() string      { return "scheduled" }
func (FollowRequests) Name() string { return "follow_requests" }
func (Filters) Name() string        { return "filters" }
func (EditFilter) Name() string     { return "filter" }

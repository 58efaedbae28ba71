package web

import (
	"html/template"
	"slices"
	"time"
)

// PostActions is what a viewer can do with a post.
type PostActions struct {
	Status       *Status
	Post         template.HTML
	Permalink    string
	Back         string // the page to go to afterwards
	Quotes       QuoteApproval
	Folders      []Folder
	CanTranslate bool
	QuotedID     string // the viewer's post that it quotes; "": none
}

// QuoteApproval says who may quote a post.
type QuoteApproval struct {
	Automatic   []string `json:"automatic"`
	CurrentUser string   `json:"current_user"`
}

// Policy returns the policy as the API sets it.
func (q QuoteApproval) Policy() string {
	switch {
	case slices.Contains(q.Automatic, "public"):
		return "public"
	case slices.Contains(q.Automatic, "followers"):
		return "followers"
	}
	return "nobody"
}

// Policies returns who may be allowed to quote a post.
func (QuoteApproval) Policies() []string { return []string{"public", "followers", "nobody"} }

// Allowed returns true if the viewer may quote the post.
func (q QuoteApproval) Allowed() bool {
	return q.CurrentUser == "automatic" || q.CurrentUser == "manual"
}

// Pinnable returns true if the author can pin the post.
func (p PostActions) Pinnable() bool {
	return p.Status.Own && p.Status.Visibility != "direct" && p.Status.Visibility != "list"
}

// ChooseReaction shows custom emojis to react with.
type ChooseReaction struct {
	PostActions
	Query  string
	Common []string // Unicode emoji; none if some are searched
	Emojis []Emoji
}

// DeletePost asks before a post is deleted.
type DeletePost struct {
	PostActions
	Redraft bool // and written anew
}

// TranslatedPost is a post in another language.
type TranslatedPost struct {
	Permalink   string
	Original    *Status
	Translation struct {
		Content     string `json:"content"`
		SpoilerText string `json:"spoiler_text"`
		Language    string `json:"language"`
		Source      string `json:"detected_source_language"`
		Provider    string `json:"provider"`
		Poll        *struct {
			Options []struct {
				Title string `json:"title"`
			} `json:"options"`
		} `json:"poll"`
		Media []struct {
			ID          string `json:"id"`
			Description string `json:"description"`
		} `json:"media_attachments"`
	}
}

// HTML returns the translated text.
func (t TranslatedPost) HTML() template.HTML {
	return content(t.Translation.Content, t.Original.Emojis, nil, "")
}

// AccountActions is what a viewer can do about an account.
type AccountActions struct {
	Account      *Account
	Relationship *Relationship
	Domain       string // of a remote account
	Languages    string // of which posts are shown, separated by commas; "": all
	Durations    []Choice
	Lists        []List
	Member       map[string]bool // lists with the account, by id
}

// ReportForm is the form for a report about an account.
type ReportForm struct {
	Account  *Account
	Remote   bool
	Error    string
	Comment  string
	Category string
	Forward  bool
	Chosen   map[string]bool // ids of posts and rules

	Collection *Collection // that the report is about; nil: none
	Posts      []ReportedPost
	Rules      []struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
}

// Categories returns the categories of reports.
func (ReportForm) Categories() []string { return []string{"spam", "legal", "violation", "other"} }

// ReportedPost is a post that a report may name.
type ReportedPost struct {
	ID    string
	At    time.Time
	Text  string
	Files int
}

func (PostActions) Name() string    { return "post_actions" }
func (ChooseReaction) Name() string { return "reactions" }
func (DeletePost) Name() string     { return "post_delete" }
func (TranslatedPost) Name() string { return "translation" }
func (AccountActions) Name() string { return "account_actions" }
func (ReportForm) Name() string     { return "report_form" }

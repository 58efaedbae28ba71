package web

import (
	"html/template"
	"strings"
)

// Timeline is a list of posts.
type Timeline struct {
	Title        string // key of the messages
	Heading      string // in place of the title
	Tabs         []Tab
	Compose      *Compose // the form above the posts; nil: none
	New          []Announcement
	Arrival      *Arrival // nil: nothing is suggested
	Stream       string   // the stream of the streaming API that has new posts; "": none
	Posts        []template.HTML
	Newer, Older string // URLs; "": none
	Newest       string // URL of the first page; "": this is it
	Unread       string // URL of the posts after the last one that was read; "": this page has them
	Read         string // id of the newest post, for the button that marks all as read
}

// Feed returns the posts of the timeline in one piece, "" for none.
func (t Timeline) Feed() template.HTML {
	size := 0
	for _, post := range t.Posts {
		size += len(post)
	}
	var b strings.Builder
	b.Grow(size)
	for _, post := range t.Posts {
		b.WriteString(string(post))
	}
	return template.HTML(b.String())
}

// Tab is one of several views.
type Tab struct {
	Title   string // key of the messages
	Label   string // in place of the title
	URL     string
	Current bool
}

// Conversation is a post with its thread.
type Conversation struct {
	Meta      Meta
	Cut       bool // posts were left out
	Fetching  bool // more are coming from other servers
	Ancestors []template.HTML
	Post      template.HTML
	Replies   []Branch
	Remote    *Remote // nil: others cannot reply
}

// Branch is a reply with its own replies. If there is only one, it is the next branch of the same list, so that a conversation of two stays
// where it is.
type Branch struct {
	Post    template.HTML
	Replies []Branch
	Hidden  int    // posts below it that are not shown, because they are too deep
	URL     string // of the page that shows them
}

// Count returns how many posts are shown below the reply in its own list.
func (b Branch) Count() int {
	n := len(b.Replies)
	for _, reply := range b.Replies {
		n += reply.Count()
	}
	return n
}

// Notice shows a title and paragraphs.
type Notice struct {
	Title      string
	Paragraphs []string
	Language   string // of the first paragraph; "": that of the page
	Back       string // URL; "": none
}

// RemotePage tells visitors that a page of another server is shown to signed-in people only.
type RemotePage struct{ URL, SignInURL string }

func (RemotePage) Name() string   { return "remote_page" }
func (Timeline) Name() string     { return "timeline" }
func (Conversation) Name() string { return "thread" }
func (Notice) Name() string       { return "message" }

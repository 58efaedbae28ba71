package web

import "html/template"

// Profile is an account with its latest posts.
type Profile struct {
	Name   string
	Handle string // @alice@example.org
	Avatar string
	Note   template.HTML // sanitised
	Fields []ProfileField
	Posts  []Post
	Older  string // URL of the older posts; "": there are none
	Remote *Remote
}

// ProfileField is a line of a profile. Value is sanitised HTML.
type ProfileField struct {
	Name  string
	Value template.HTML
}

// Thread is a post with its ancestors and replies.
type Thread struct {
	Above  []Post
	Post   Post
	Below  []Post
	OEmbed string // URL of the oEmbed document
	Remote *Remote
}

// Post is a public or unlisted post.
type Post struct {
	Name    string
	Handle  string
	Profile string // URL of the author's profile
	Avatar  string
	URL     string
	At      string        // ISO 8601
	Day     string        // in words
	Subject string        // "": none; else the content is collapsed
	Content template.HTML // sanitised
	Media   []Attachment
	Hidden  bool // the media are sensitive
}

// Attachment is an image, a video, a sound or another file.
type Attachment struct {
	Type    string // image, video, audio, unknown
	URL     string
	Preview string // of an image
	Text    string // description
}

func (Profile) template() string { return "profile" }
func (Thread) template() string  { return "thread" }

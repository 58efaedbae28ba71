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
	Older  string // address of the posts before these; "": there are none
	Remote *Remote
}

// ProfileField is a line of a profile. Value is sanitised HTML.
type ProfileField struct {
	Name  string
	Value template.HTML
}

// Thread is a post with what it answers and the answers to it.
type Thread struct {
	Above  []Post
	Post   Post
	Below  []Post
	OEmbed string // address that tells other sites how to show the post
	Remote *Remote
}

// Post is a post that everybody may see.
type Post struct {
	Name    string
	Handle  string
	Profile string // address of the author's profile
	Avatar  string
	URL     string
	At      string        // ISO 8601
	Day     string        // for people
	Subject string        // "": none; else the content is folded away below it
	Content template.HTML // sanitised
	Media   []Attachment
	Hidden  bool // the media are sensitive
}

// Attachment is a picture, a video, a sound, or something else to be opened.
type Attachment struct {
	Type    string // image, video, audio, unknown
	URL     string
	Preview string // of an image
	Text    string // what it shows; "": nobody said
}

func (Profile) template() string { return "profile" }
func (Thread) template() string  { return "thread" }

package web

import "html/template"

// Post is a public or unlisted post.
type Post struct {
	Name        string
	Handle      string
	ProfileURL  string // of the author
	AvatarURL   string
	URL         string
	CreatedAt   string        // ISO 8601
	Date        string        // in words
	SpoilerText string        // "": none; else the content is collapsed
	Content     template.HTML // sanitised
	Media       []Attachment
	Sensitive   bool // the media are collapsed
}

// Attachment is an image, a video, a sound or another file.
type Attachment struct {
	Type        string // image, video, audio, unknown
	URL         string
	PreviewURL  string // of an image
	Description string
}

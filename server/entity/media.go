package entity

import "svc/store"

// attachmentMembers are the members of a media attachment. meta and blurhash are not produced (spec 2.11).
type attachmentMembers struct {
	ID          store.MediaID `json:"id"`
	Type        string        `json:"type"`
	URL         string        `json:"url"`
	PreviewURL  *string       `json:"preview_url"`
	RemoteURL   *string       `json:"remote_url"`
	TextURL     string        `json:"text_url"`
	Description *string       `json:"description"`
}

type attachmentExtension struct {
	MimeType string `json:"mime_type"`
}

// Attachment renders an upload or a remote attachment.
func (b *Builder) Attachment(m *store.Media) (any, error) { return b.attachment(m) }

func (b *Builder) attachment(m *store.Media) (object, error) {
	a := attachmentMembers{ID: m.ID, Type: m.Type}
	if m.File != "" {
		a.URL = b.MediaURL + m.File
	} else {
		a.URL, a.RemoteURL = m.RemoteURL, &m.RemoteURL
	}
	a.TextURL = a.URL
	switch {
	case m.Thumbnail != "":
		preview := b.MediaURL + m.Thumbnail
		a.PreviewURL = &preview
	case m.Type == "image": // of other types there must be a picture, or nothing
		a.PreviewURL = &a.URL
	}
	if m.Description != "" {
		a.Description = &m.Description
	}
	return b.extended(a, attachmentExtension{m.Mime})
}

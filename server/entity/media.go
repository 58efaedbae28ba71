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
	file, preview := b.MediaFile(m)
	a.URL, a.TextURL = file, file
	if m.File == "" {
		a.RemoteURL = &m.RemoteURL
	}
	if m.Thumbnail != "" || m.Type == "image" { // other types need a picture
		a.PreviewURL = &preview
	}
	if m.Description != "" {
		a.Description = &m.Description
	}
	return b.extended(a, attachmentExtension{m.Mime})
}

// proxied returns the URL of a remote file at the media proxy, "" for "". All remote media URLs go through it.
func (b *Builder) proxied(address string) string {
	if b.ProxyURL == nil || address == "" {
		return address
	}
	return b.ProxyURL(address)
}

// MediaFile returns the URLs of an attachment's file and of its preview.
func (b *Builder) MediaFile(m *store.Media) (file, preview string) {
	if m.File == "" {
		file = b.proxied(m.RemoteURL)
		return file, file
	}
	file = b.MediaURL + m.File
	if m.Thumbnail != "" {
		return file, b.MediaURL + m.Thumbnail
	}
	return file, file
}

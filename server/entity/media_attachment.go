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
func (r *renderer) Attachment(m *store.Media) (any, error) { return r.attachment(m) }

func (r *renderer) attachment(m *store.Media) (object, error) {
	a := attachmentMembers{ID: m.ID, Type: m.Type}
	file, preview := r.MediaFile(m)
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
	return r.extended(a, attachmentExtension{m.Mime})
}

// DefaultMascot renders the mascot of accounts that have not set one.
func (r *renderer) DefaultMascot() (any, error) {
	picture := r.BaseURL + "/images/mascot.png"
	return r.extended(struct {
		ID string `json:"id"`
		attachmentMembers
	}{"default-mascot", attachmentMembers{Type: "image", URL: picture, PreviewURL: &picture, TextURL: picture}}, attachmentExtension{"image/png"})
}

// proxied returns the URL of a remote file at the media proxy, "" for "". All remote media URLs go through it.
func (r *renderer) proxied(address string) string {
	if r.ProxyURL == nil || address == "" {
		return address
	}
	return r.ProxyURL(address)
}

// MediaFile returns the URLs of an attachment's file and of its preview.
func (r *renderer) MediaFile(m *store.Media) (file, preview string) {
	if m.File == "" {
		file = r.proxied(m.RemoteURL)
		return file, file
	}
	file = r.MediaURL + m.File
	if m.Thumbnail != "" {
		return file, r.MediaURL + m.Thumbnail
	}
	return file, file
}

package entity

import (
	"context"
	"fmt"
	"math"

	"svc/internal/text"
	"svc/store"
)

// attachmentMembers are the members of a media attachment.
type attachmentMembers struct {
	ID          store.MediaID `json:"id"`
	Type        string        `json:"type"`
	URL         string        `json:"url"`
	PreviewURL  *string       `json:"preview_url"`
	RemoteURL   *string       `json:"remote_url"`
	TextURL     string        `json:"text_url"`
	Description *string       `json:"description"`
}

// describedMembers are attachmentMembers with what else is known of the file. They are produced only if media.describe is on (spec 2.11).
type describedMembers struct {
	attachmentMembers
	MediaProperties
}

// MediaProperties are the properties of the file of an attachment.
type MediaProperties struct {
	Meta     attachmentMeta `json:"meta"`
	Blurhash *string        `json:"blurhash"`
}

// attachmentMeta describes a file. Unknown properties are omitted.
type attachmentMeta struct {
	Length   string          `json:"length,omitempty"`   // H:MM:SS.CC
	Duration float64         `json:"duration,omitempty"` // seconds
	FPS      float64         `json:"fps,omitempty"`
	Original *attachmentSize `json:"original,omitempty"`
	Small    *attachmentSize `json:"small,omitempty"` // of the preview
	Focus    *focalPoint     `json:"focus,omitempty"`
}

type attachmentSize struct {
	Width     int     `json:"width,omitempty"`
	Height    int     `json:"height,omitempty"`
	Size      string  `json:"size,omitempty"`
	Aspect    float64 `json:"aspect,omitempty"`
	FrameRate string  `json:"frame_rate,omitempty"` // a fraction
	Duration  float64 `json:"duration,omitempty"`
	Bitrate   int64   `json:"bitrate,omitempty"`
}

type focalPoint struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
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
	if m.Thumbnail != "" || m.PreviewURL != "" || m.Type == "image" { // other types need a picture
		a.PreviewURL = &preview
	}
	if m.File == "" && !text.FitsJSON(m.Description, 1000) {
		cut := *m
		cut.CutRemote()
		m = &cut
	}
	if m.Description != "" {
		a.Description = &m.Description
	}
	if !r.Settings.Load().Media.Describe {
		return r.extended(a, attachmentExtension{m.Mime})
	}
	return r.extended(describedMembers{a, newMediaProperties(m)}, attachmentExtension{m.Mime})
}

func newMediaProperties(m *store.Media) MediaProperties {
	p := MediaProperties{Meta: newAttachmentMeta(m)}
	if m.Blurhash != "" {
		p.Blurhash = &m.Blurhash
	}
	return p
}

// MediaProperties returns the properties of the files of attachments, whether media.describe is on or not.
func (b *Builder) MediaProperties(ctx context.Context, ids []store.MediaID) (map[store.MediaID]MediaProperties, error) {
	rows, err := b.db.MediaByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	properties := make(map[store.MediaID]MediaProperties, len(rows))
	for _, m := range rows {
		properties[m.ID] = newMediaProperties(m)
	}
	return properties, nil
}

func newAttachmentMeta(m *store.Media) attachmentMeta {
	meta := attachmentMeta{
		Duration: float64(m.Duration) / 1000,
		FPS:      m.FrameRate,
		Original: newAttachmentSize(m.Width, m.Height),
		Small:    newAttachmentSize(m.PreviewWidth, m.PreviewHeight),
	}
	if meta.Small == nil && m.Type == "image" && m.Thumbnail == "" { // the file itself is the preview
		meta.Small = newAttachmentSize(m.Width, m.Height)
	}
	if m.FocusX != 0 || m.FocusY != 0 {
		meta.Focus = &focalPoint{m.FocusX, m.FocusY}
	}
	if m.Duration == 0 {
		return meta
	}
	d := m.Duration / 10 // hundredths of a second
	meta.Length = fmt.Sprintf("%d:%02d:%02d.%02d", d/360000, d/6000%60, d/100%60, d%100)
	if meta.Original == nil {
		meta.Original = new(attachmentSize)
	}
	meta.Original.Duration = meta.Duration
	meta.Original.Bitrate = m.Size * 8 * 1000 / m.Duration
	if m.FrameRate > 0 {
		meta.Original.FrameRate = frameRateFraction(m.FrameRate)
	}
	return meta
}

func newAttachmentSize(width, height int) *attachmentSize {
	if width <= 0 || height <= 0 {
		return nil
	}
	return &attachmentSize{Width: width, Height: height, Size: fmt.Sprintf("%dx%d", width, height), Aspect: float64(width) / float64(height)}
}

// frameRateFraction returns a frame rate as a fraction.
func frameRateFraction(rate float64) string {
	if rate == math.Trunc(rate) {
		return fmt.Sprintf("%.0f/1", rate)
	}
	return fmt.Sprintf("%.0f/1000", rate*1000)
}

// DefaultMascot renders the mascot of accounts that have not set one.
func (r *renderer) DefaultMascot() (any, error) {
	picture := r.Settings.BaseURL + "/images/mascot.png"
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
		if m.PreviewURL != "" {
			return file, r.proxied(m.PreviewURL)
		}
		return file, file
	}
	file = r.Settings.BaseURL + "/media/" + m.File
	if m.Thumbnail != "" {
		return file, r.Settings.BaseURL + "/media/" + m.Thumbnail
	}
	return file, file
}

package web

import (
	"fmt"
	"html/template"
)

// Media is a media attachment.
type Media struct {
	ID          string `json:"id"`
	Type        string `json:"type"` // image, gifv, video, audio, unknown
	URL         string `json:"url"`
	PreviewURL  string `json:"preview_url"`
	RemoteURL   string `json:"remote_url"`
	Description string `json:"description"`
	Blurhash    string `json:"blurhash"`
	Meta        struct {
		Original mediaSize `json:"original"`
		Small    mediaSize `json:"small"`
		Focus    *struct {
			X float64 `json:"x"`
			Y float64 `json:"y"`
		} `json:"focus"`
	} `json:"meta"`
	Svc struct {
		MimeType string `json:"mime_type"`
	} `json:"svc"`
}

type mediaSize struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// maxPictureHeight is how high a single picture is shown, in pixels.
const maxPictureHeight = 700

// shown returns the size at which a single picture is shown: that of its preview, as far as it is not too high. Zero: it is unknown.
func (m *Media) shown() mediaSize {
	size := m.Meta.Small
	if size.Width == 0 {
		size = m.Meta.Original
	}
	if size.Height > maxPictureHeight {
		size = mediaSize{max(1, size.Width*maxPictureHeight/size.Height), maxPictureHeight}
	}
	return size
}

// Width returns the width in pixels that a page reserves, 0 if it is unknown.
func (m *Media) Width() int { return m.shown().Width }

// Height is Width for the height.
func (m *Media) Height() int { return m.shown().Height }

// Size returns width and height of the file for the viewer of pictures, such as 640x480, "" if they are unknown.
func (m *Media) Size() string {
	if m.Meta.Original.Width == 0 {
		return ""
	}
	return fmt.Sprintf("%dx%d", m.Meta.Original.Width, m.Meta.Original.Height)
}

// Focus returns the classes that keep the focal point in view where the picture is cropped, "" for its middle. They are steps of a tenth of
// the width and of the height, because the Content-Security-Policy permits no style of a single element.
func (m *Media) Focus() string {
	f := m.Meta.Focus
	if f == nil {
		return ""
	}
	return fmt.Sprintf("x%d y%d", tenths(f.X), tenths(-f.Y))
}

// tenths returns a coordinate from -1 to 1 as one from 0 to 10.
func tenths(f float64) int { return int((min(1, max(-1, f))+1)*5 + 0.5) }

// Animated returns true for pictures of a format that moves.
func (m *Media) Animated() bool { return m.Type == "image" && m.Svc.MimeType == "image/gif" }

// Moving returns true if there is no still picture of an animated one. It is then shown when it is wanted.
func (m *Media) Moving() bool { return m.Animated() && (m.PreviewURL == "" || m.PreviewURL == m.URL) }

// Blurred returns the address of a placeholder for the picture, which is grey if nothing is known of it.
func (m *Media) Blurred() template.URL { return blurred(m.Blurhash) }

// Cover returns the URL of the picture of a sound, "" if there is none.
func (m *Media) Cover() string {
	if m.PreviewURL == m.URL {
		return ""
	}
	return m.PreviewURL
}

// Pointers returns the addresses of attachments, nil if there are none.
func Pointers(media []Media) []*Media {
	var list []*Media
	for i := range media {
		list = append(list, &media[i])
	}
	return list
}

// AllMedia returns the attachments of the status and of the one that it quotes.
func (s *Status) AllMedia() []*Media {
	list := Pointers(s.MediaAttachments)
	if s.Quote != nil && s.Quote.QuotedStatus != nil {
		list = append(list, s.Quote.QuotedStatus.AllMedia()...)
	}
	return list
}

// mosaic is how many pictures a post shows at once.
const mosaic = 4

// Gallery is the media of a post, as the template media shows them.
type Gallery struct {
	Pictures  []*Media // pictures and videos that make a mosaic
	More      []*Media // further ones
	Others    []*Media // sounds and files
	Face      string   // URL of the author's picture, for sounds without one; ""
	Sensitive bool
	Covered   bool // they are behind a cover
	Open      bool // which is open at first
}

// NewGallery returns the gallery of media, nil if there are none.
func NewGallery(media []Media, sensitive bool, r Reading) *Gallery {
	if len(media) == 0 {
		return nil
	}
	g := &Gallery{Sensitive: sensitive, Covered: sensitive || r.Media == HideMedia, Open: r.Media == ShowMedia}
	for _, m := range Pointers(media) {
		switch {
		case m.Type == "audio" || m.Type == "unknown":
			g.Others = append(g.Others, m)
		case len(g.Pictures) < mosaic:
			g.Pictures = append(g.Pictures, m)
		default:
			g.More = append(g.More, m)
		}
	}
	return g
}

package web

import (
	"encoding/json"
	"net/http"
)

// SettingsClient is the name under which the settings of the web interface are kept among those of front ends (svc_settings_store).
const SettingsClient = "web_interface"

// appearance are a user's settings of the web interface.
type appearance struct {
	Language string `json:"language,omitempty"`
	Theme    string `json:"theme,omitempty"`
	TextSize string `json:"text_size,omitempty"`
	TimeZone string `json:"time_zone,omitempty"`
}

// MaxAppearance is how many bytes of settings NewFrame reads. The page of settings stores less than 100.
const MaxAppearance = 4096

// readAppearance reads stored settings. Anything malformed counts as not set.
func readAppearance(settings json.RawMessage) (a appearance) {
	if len(settings) > MaxAppearance || json.Unmarshal(settings, &a) != nil {
		return appearance{}
	}
	return a
}

// NewFrame returns a frame in the language and the look that a user has chosen: what is stored for SettingsClient. Without settings, and for
// visitors (nil), the browser decides.
func NewFrame(r *http.Request, settings json.RawMessage) Frame {
	look := readAppearance(settings)
	return Frame{Messages: MessagesFor(look.Language, r.Header.Get("Accept-Language")), Theme: look.Theme, TextSize: look.TextSize}
}

// NewUserFrame is NewFrame for a user, whose pages write times in the user's zone. Pages of visitors are the same for all, with times in UTC.
func NewUserFrame(r *http.Request, settings json.RawMessage) Frame {
	f := NewFrame(r, settings)
	f.Zone = userZone(r, readAppearance(settings).TimeZone)
	return f
}

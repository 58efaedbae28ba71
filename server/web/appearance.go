package web

import (
	"encoding/json"
	"net/http"

	"svc/store"
)

// SettingsClient is the name under which the settings of the web interface are kept among those of front ends (svc_settings_store).
const SettingsClient = "web_interface"

// appearance are a user's settings of the web interface.
type appearance struct {
	Language string `json:"language,omitempty"`
	Theme    string `json:"theme,omitempty"`
	TextSize string `json:"text_size,omitempty"`
}

// appearanceOf returns the settings of a user, nil for visitors. Anything malformed counts as not set.
func appearanceOf(u *store.User) (a appearance) {
	if u == nil || u.SettingsStore.V[SettingsClient] == nil {
		return a
	}
	if err := json.Unmarshal(u.SettingsStore.V[SettingsClient], &a); err != nil {
		return appearance{}
	}
	return a
}

// NewFrame returns a frame in the language and the look that a user has chosen. Otherwise, and for visitors (nil), the browser decides.
func NewFrame(r *http.Request, user *store.User) Frame {
	look := appearanceOf(user)
	return Frame{Messages: MessagesFor(look.Language, r.Header.Get("Accept-Language")), Theme: look.Theme, TextSize: look.TextSize}
}

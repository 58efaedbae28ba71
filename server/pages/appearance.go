package pages

import (
	"encoding/json"

	"svc/store"
)

// settingsClient is the name under which the settings of the web interface are kept among those of front ends (svc_settings_store).
const settingsClient = "web_interface"

// appearance are a user's settings of the web interface.
type appearance struct {
	Language string `json:"language,omitempty"`
	Theme    string `json:"theme,omitempty"`
	TextSize string `json:"text_size,omitempty"`
}

// appearanceOf returns the settings of a user, nil for visitors. Anything malformed counts as not set.
func appearanceOf(u *store.User) (a appearance) {
	if u == nil || u.SettingsStore.V[settingsClient] == nil {
		return a
	}
	if err := json.Unmarshal(u.SettingsStore.V[settingsClient], &a); err != nil {
		return appearance{}
	}
	return a
}

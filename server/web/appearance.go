package web

import (
	"cmp"
	"context"
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
	Describe string `json:"describe,omitempty"` // "no": do not remind of missing descriptions
	Width    string `json:"width,omitempty"`
	Media    string `json:"media,omitempty"`    // as Reading.Media
	Warnings string `json:"warnings,omitempty"` // open; "": folded
	Keys     string `json:"keys,omitempty"`     // off; "": on
	TimeZone string `json:"time_zone,omitempty"`
}

// ShowMedia and HideMedia are values of Reading.Media, as the preferences of the API have them.
const (
	ShowMedia = "show_all"
	HideMedia = "hide_all"
)

// Reading says what of posts is shown at once. The zero value is how visitors read.
type Reading struct {
	Media        string // ShowMedia: all; HideMedia: none; "": those that are not sensitive
	OpenWarnings bool   // posts with a content warning are shown whole
}

// ReadingOf returns how a user reads, from the stored settings of SettingsClient.
func ReadingOf(settings json.RawMessage) Reading { return readAppearance(settings).reading() }

// LanguageFor returns the language that a user has chosen for the pages, else that of the registration; "": neither.
func LanguageFor(ctx context.Context, db *store.DB, user *store.User) (string, error) {
	settings, err := db.FrontendSettings(ctx, user.AccountID, SettingsClient)
	return cmp.Or(readAppearance(settings).Language, user.Locale), err
}

// reading takes unknown words as not set, because posts are kept as HTML for each Reading.
func (a appearance) reading() Reading {
	r := Reading{OpenWarnings: a.Warnings == "open"}
	if a.Media == ShowMedia || a.Media == HideMedia {
		r.Media = a.Media
	}
	return r
}

// MaxAppearance is how many bytes of settings NewFrame reads. The page of settings stores less than 200.
const MaxAppearance = 4096

// readAppearance reads stored settings. Anything malformed counts as not set.
func readAppearance(settings json.RawMessage) (a appearance) {
	if len(settings) > MaxAppearance || json.Unmarshal(settings, &a) != nil {
		return appearance{}
	}
	return a
}

// NewFrame returns a frame in the language and the look that a user has chosen, by the stored settings of SettingsClient. Without settings, and for
// visitors (nil), the browser decides.
func NewFrame(r *http.Request, settings json.RawMessage) Frame {
	look := readAppearance(settings)
	return Frame{
		Messages: MessagesFor(look.Language, r.Header.Get("Accept-Language")), Theme: look.Theme, TextSize: look.TextSize, Width: look.Width,
		Reading: look.reading(), NoKeys: look.Keys == "off", Describe: look.Describe != "no",
	}
}

// NewUserFrame is NewFrame for a user, whose pages write times in the user's zone. Pages of visitors are the same for all, with times in UTC.
func NewUserFrame(r *http.Request, settings json.RawMessage) Frame {
	f := NewFrame(r, settings)
	choice := readAppearance(settings).TimeZone
	f.Zone = userZone(r, choice)
	f.OwnZone = f.Zone.String() == choice
	return f
}

package entity

import (
	"time"

	"svc/media"
	"svc/social"
	"svc/store"
)

// maxAttachments is the limit that clients get. A status may have any number of attachments (spec 8).
const maxAttachments = 1000

// configuration are the limits for clients, the same in both versions of the API.
type configuration struct {
	URLs              configurationURLs        `json:"urls"`
	VAPID             *configurationVAPID      `json:"vapid,omitempty"`
	Accounts          configurationAccounts    `json:"accounts"`
	Statuses          configurationStatuses    `json:"statuses"`
	MediaAttachments  configurationMedia       `json:"media_attachments"`
	Polls             configurationPolls       `json:"polls"`
	Translation       configurationTranslation `json:"translation"`
	TimelinesAccess   timelinesAccess          `json:"timelines_access"`
	LimitedFederation bool                     `json:"limited_federation"`
}

type configurationURLs struct {
	Streaming      string  `json:"streaming"`
	Status         *string `json:"status"`
	About          *string `json:"about"`
	PrivacyPolicy  *string `json:"privacy_policy"`
	TermsOfService *string `json:"terms_of_service"`
}

type configurationVAPID struct {
	PublicKey string `json:"public_key"`
}

type configurationAccounts struct {
	MaxFeaturedTags        int `json:"max_featured_tags"`
	MaxPinnedStatuses      int `json:"max_pinned_statuses"`
	MaxDisplayNameLength   int `json:"max_display_name_length"`
	MaxNoteLength          int `json:"max_note_length"`
	MaxProfileFields       int `json:"max_profile_fields"`
	ProfileFieldNameLimit  int `json:"profile_field_name_limit"`
	ProfileFieldValueLimit int `json:"profile_field_value_limit"`

	MaxAvatarDescriptionLength int `json:"max_avatar_description_length"`
	MaxHeaderDescriptionLength int `json:"max_header_description_length"`
}

type configurationStatuses struct {
	MaxCharacters            int `json:"max_characters"`
	MaxMediaAttachments      int `json:"max_media_attachments"`
	CharactersReservedPerURL int `json:"characters_reserved_per_url"` // 0: an address is as long as it is
}

type configurationMedia struct {
	SupportedMimeTypes  []string `json:"supported_mime_types"`
	DescriptionLimit    int      `json:"description_limit"`
	ImageSizeLimit      int64    `json:"image_size_limit"`
	ImageMatrixLimit    int64    `json:"image_matrix_limit"`
	VideoSizeLimit      int64    `json:"video_size_limit"`
	VideoFrameRateLimit int      `json:"video_frame_rate_limit"`
	VideoMatrixLimit    int64    `json:"video_matrix_limit"`
}

type configurationTranslation struct {
	Enabled bool `json:"enabled"`
}

type configurationPolls struct {
	MaxOptions             int   `json:"max_options"`
	MaxCharactersPerOption int   `json:"max_characters_per_option"`
	MinExpiration          int64 `json:"min_expiration"` // seconds
	MaxExpiration          int64 `json:"max_expiration"`
}

// timelinesAccess says who may read timelines: public, authenticated or disabled.
type timelinesAccess struct {
	LiveFeeds         feedAccess `json:"live_feeds"`
	HashtagFeeds      feedAccess `json:"hashtag_feeds"`
	TrendingLinkFeeds feedAccess `json:"trending_link_feeds"`
}

type feedAccess struct {
	Local  string `json:"local"`
	Remote string `json:"remote"`
}

func (i *Instance) configuration() configuration {
	c, polls := i.Settings.Load(), i.pollLimits()
	feeds := feedAccess{"public", "public"}
	if !c.Instance.Public {
		feeds = feedAccess{"authenticated", "authenticated"}
	}
	conf := configuration{
		URLs: configurationURLs{
			Streaming: c.WebSocketURL(), PrivacyPolicy: i.documentURL("privacy-policy", "/privacy"), TermsOfService: i.documentURL("terms-of-service", "/terms"),
		},
		Accounts: configurationAccounts{
			MaxFeaturedTags:        social.MaxFeaturedTags,
			MaxPinnedStatuses:      c.Statuses.MaxPinned,
			MaxDisplayNameLength:   c.Accounts.NameLength,
			MaxNoteLength:          c.Accounts.BioLength,
			MaxProfileFields:       c.Accounts.MaxFields,
			ProfileFieldNameLimit:  c.Accounts.FieldNameLength,
			ProfileFieldValueLimit: c.Accounts.FieldValueLength,

			MaxAvatarDescriptionLength: store.MaxPictureDescription,
			MaxHeaderDescriptionLength: store.MaxPictureDescription,
		},
		Statuses: configurationStatuses{MaxCharacters: c.Statuses.MaxLength, MaxMediaAttachments: maxAttachments},
		MediaAttachments: configurationMedia{
			SupportedMimeTypes:  media.MIMETypes(),
			DescriptionLimit:    c.Media.DescriptionLength,
			ImageSizeLimit:      c.Media.UploadLimit,
			ImageMatrixLimit:    c.Media.MaxPixels,
			VideoSizeLimit:      c.Media.UploadLimit,
			VideoFrameRateLimit: 1000, // videos are not decoded
			VideoMatrixLimit:    1_000_000_000,
		},
		Polls:           configurationPolls{polls.MaxOptions, polls.MaxOptionChars, polls.MinExpiration, polls.MaxExpiration},
		Translation:     configurationTranslation{c.Translation.URL != ""},
		TimelinesAccess: timelinesAccess{feeds, feeds, feeds},
	}
	if i.VAPIDPublicKey != "" {
		conf.VAPID = &configurationVAPID{i.VAPIDPublicKey}
	}
	return conf
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// documentURL returns the URL of the page of a document, nil if the staff have not written it.
func (i *Instance) documentURL(name, path string) *string {
	if i.HasDocument == nil || !i.HasDocument(name) {
		return nil
	}
	return new(i.Settings.BaseURL + path)
}

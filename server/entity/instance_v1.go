package entity

// instanceMembers are the members of the instance in version 1 of the API.
type instanceMembers struct {
	URI                   string        `json:"uri"`
	Title                 string        `json:"title"`
	ShortDescription      string        `json:"short_description"`
	Description           string        `json:"description"`
	Email                 string        `json:"email"`
	Version               string        `json:"version"`
	URLs                  instanceURLs  `json:"urls"`
	Stats                 instanceStats `json:"stats"`
	Thumbnail             string        `json:"thumbnail"`
	Languages             []string      `json:"languages"`
	ContactAccount        *Account      `json:"contact_account"`
	Registrations         bool          `json:"registrations"`
	ApprovalRequired      bool          `json:"approval_required"`
	InvitesEnabled        bool          `json:"invites_enabled"`
	Rules                 []Rule        `json:"rules"`
	Configuration         configuration `json:"configuration"`
	MaxTootChars          int           `json:"max_toot_chars"`
	MaxMediaAttachments   int           `json:"max_media_attachments"`
	ChatLimit             int           `json:"chat_limit"`
	DescriptionLimit      int           `json:"description_limit"`
	PollLimits            pollLimits    `json:"poll_limits"`
	UploadLimit           int64         `json:"upload_limit"`
	AvatarUploadLimit     int64         `json:"avatar_upload_limit"`
	BackgroundUploadLimit int64         `json:"background_upload_limit"`
	BannerUploadLimit     int64         `json:"banner_upload_limit"`
	BackgroundImage       string        `json:"background_image"`
	VAPIDPublicKey        string        `json:"vapid_public_key,omitempty"`
}

type instanceURLs struct {
	StreamingAPI string `json:"streaming_api"`
}

type instanceStats struct {
	UserCount   int `json:"user_count"`
	StatusCount int `json:"status_count"`
	DomainCount int `json:"domain_count"`
}

type pollLimits struct {
	MaxOptions     int   `json:"max_options"`
	MaxOptionChars int   `json:"max_option_chars"`
	MinExpiration  int64 `json:"min_expiration"` // seconds
	MaxExpiration  int64 `json:"max_expiration"`
}

func (i *Instance) renderV1(f stats, contact *Account, rules []Rule) (object, error) {
	c := i.Settings.Load()
	return i.extended(instanceMembers{
		URI:                   i.Settings.Host,
		Title:                 c.Instance.Name,
		ShortDescription:      i.shortDescription(),
		Description:           c.Instance.Description,
		Email:                 c.Instance.Email,
		Version:               i.compatibleVersion(),
		URLs:                  instanceURLs{c.WebSocketURL()},
		Stats:                 instanceStats{f.Users, f.Statuses, f.Domains},
		Thumbnail:             i.pictureOf(c.Instance.Thumbnail, "/instance/thumbnail.jpeg"),
		Languages:             c.Instance.Languages,
		ContactAccount:        contact,
		Registrations:         c.Instance.RegistrationsOpen,
		ApprovalRequired:      c.Instance.AccountApprovalRequired,
		InvitesEnabled:        c.Instance.InvitesEnabled,
		Rules:                 rules,
		Configuration:         i.configuration(),
		MaxTootChars:          c.Statuses.MaxLength,
		MaxMediaAttachments:   maxAttachments,
		ChatLimit:             c.Chats.MaxLength,
		DescriptionLimit:      c.Media.DescriptionLength,
		PollLimits:            i.pollLimits(),
		UploadLimit:           c.Media.UploadLimit,
		AvatarUploadLimit:     c.Media.AvatarLimit,
		BackgroundUploadLimit: c.Media.BackgroundLimit,
		BannerUploadLimit:     c.Media.BannerLimit,
		BackgroundImage:       i.pictureOf(c.Instance.BackgroundImage, "/images/city.jpg"),
		VAPIDPublicKey:        i.VAPIDPublicKey,
	}, instanceExtension{i.metadata(), extensionStats{f.ActiveMonth}, i.VAPIDPublicKey})
}

package entity

// instanceV2Members are the members of the instance in version 2 of the API.
type instanceV2Members struct {
	Domain        string        `json:"domain"`
	Title         string        `json:"title"`
	Version       string        `json:"version"`
	SourceURL     string        `json:"source_url"`
	Description   string        `json:"description"`
	Usage         instanceUsage `json:"usage"`
	Thumbnail     thumbnail     `json:"thumbnail"`
	Icon          []icon        `json:"icon"`
	Languages     []string      `json:"languages"`
	Configuration configuration `json:"configuration"`
	Registrations registrations `json:"registrations"`
	Contact       contact       `json:"contact"`
	Rules         []Rule        `json:"rules"`
	APIVersions   apiVersions   `json:"api_versions"`
}

// apiVersions is what of the reference API clients may use. They compare Mastodon with the number that the reference gives to an addition,
// and rely on all earlier ones.
type apiVersions struct {
	Mastodon int `json:"mastodon"`
}

// mastodonAPIVersion is the last version of which nothing is missing: grouped notifications (2), attribution_domains (3), deletion of media (4), blurred
// filters (5), quotes (7), annual reports, of which there are none (8), the profile as it is edited (9), collections of accounts (10), and descriptions
// of avatars and headers (11).
const mastodonAPIVersion = 11

type instanceUsage struct {
	Users struct {
		ActiveMonth int `json:"active_month"`
	} `json:"users"`
}

type thumbnail struct {
	URL string `json:"url"`
}

type icon struct {
	Src  string `json:"src"`
	Size string `json:"size"`
}

type registrations struct {
	Enabled          bool    `json:"enabled"`
	ApprovalRequired bool    `json:"approval_required"`
	ReasonRequired   bool    `json:"reason_required"`
	Message          *string `json:"message"`
	URL              *string `json:"url"`
	MinAge           *int    `json:"min_age"`
}

type contact struct {
	Email   string   `json:"email"`
	Account *Account `json:"account"`
}

// instanceV2Metadata also has limits that version 1 has outside of the svc object.
type instanceV2Metadata struct {
	instanceMetadata
	UploadLimit           int64  `json:"upload_limit"`
	AvatarUploadLimit     int64  `json:"avatar_upload_limit"`
	BackgroundUploadLimit int64  `json:"background_upload_limit"`
	BannerUploadLimit     int64  `json:"banner_upload_limit"`
	BackgroundImage       string `json:"background_image"`
	DescriptionLimit      int    `json:"description_limit"`
	ChatLimit             int    `json:"chat_limit"`
}

func (i *Instance) renderV2(f stats, account *Account, rules []Rule) (object, error) {
	c := i.Settings.Load()
	m := instanceV2Members{
		Domain:        i.Settings.Host,
		Title:         c.Instance.Name,
		Version:       i.compatibleVersion(),
		SourceURL:     c.Instance.SourceURL,
		Description:   i.shortDescription(),
		Thumbnail:     thumbnail{i.pictureOf(c.Instance.Thumbnail, "/instance/thumbnail.jpeg")},
		Icon:          []icon{{i.Settings.BaseURL + "/favicon.png", "64x64"}},
		Languages:     c.Instance.Languages,
		Configuration: i.configuration(),
		Registrations: registrations{
			Enabled:          c.Instance.RegistrationsOpen,
			ApprovalRequired: c.Instance.AccountApprovalRequired,
			ReasonRequired:   c.Instance.AccountApprovalRequired,
		},
		Contact: contact{c.Instance.Email, account},
		Rules:   rules,

		APIVersions: apiVersions{mastodonAPIVersion},
	}
	m.Usage.Users.ActiveMonth = f.ActiveMonth
	if age := c.Accounts.BirthdayMinAge; age > 0 {
		m.Registrations.MinAge = &age
	}
	if c.Instance.RegistrationsOpen && (c.Captcha.Enabled || c.Accounts.BirthdayRequired) { // apps open the page instead of their own form
		page := i.Settings.BaseURL + "/auth/sign_up"
		m.Registrations.URL = &page
	}
	metadata := instanceV2Metadata{
		instanceMetadata:      i.metadata(),
		UploadLimit:           c.Media.UploadLimit,
		AvatarUploadLimit:     c.Media.AvatarLimit,
		BackgroundUploadLimit: c.Media.BackgroundLimit,
		BannerUploadLimit:     c.Media.BannerLimit,
		BackgroundImage:       i.pictureOf(c.Instance.BackgroundImage, "/images/city.jpg"),
		DescriptionLimit:      c.Media.DescriptionLength,
		ChatLimit:             c.Chats.MaxLength,
	}
	return i.extended(m, instanceExtension{metadata, extensionStats{f.ActiveMonth}, i.VAPIDPublicKey})
}

package entity

import (
	"context"
	"slices"
	"strings"
	"time"

	"svc/internal/cache"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// referenceVersion is the API that this one is compatible with, and the product whose API it is.
const (
	referenceVersion = "2.7.2"
	referenceProduct = "Mastodon"
)

// instanceTTL is how long the numbers of the instance are cached. All else is current.
const instanceTTL = time.Minute

// instanceCache caches the instance entities.
type instanceCache struct {
	stats     cache.Value[stats]
	documents cache.Value[documents]
	peers     cache.Value[object]
	activity  cache.Value[object]
}

// stats are the numbers of the instance.
type stats struct {
	store.LocalCounts
	Domains        int
	ActiveMonth    int
	ActiveHalfYear int
}

// documents are the instance entities.
type documents struct {
	v1, v2     object
	nodeInfo   map[string]object // by version of the schema
	accountIDs []store.AccountID // the accounts in the documents
}

// Instance returns the instance, in version 1 of the API.
func (b *Builder) Instance(ctx context.Context) (Appender, error) {
	d, err := b.instanceDocuments(ctx)
	return d.v1, err
}

// InstanceV2 returns the instance, in version 2 of the API.
func (b *Builder) InstanceV2(ctx context.Context) (Appender, error) {
	d, err := b.instanceDocuments(ctx)
	return d.v2, err
}

// NodeInfo returns NodeInfo in a version of its schema, nil if the version is unknown.
func (b *Builder) NodeInfo(ctx context.Context, version string) ([]byte, error) {
	d, err := b.instanceDocuments(ctx)
	return d.nodeInfo[version], err
}

// Peers returns the hosts of known servers.
func (b *Builder) Peers(ctx context.Context) (Appender, error) {
	return b.instance.peers.Load(b.db.Now(), instanceTTL, func() (object, error) {
		domains, err := b.db.KnownDomains(ctx)
		if err != nil {
			return nil, err
		}
		return marshal(append([]string{}, domains...))
	})
}

// invalidateInstance drops the instance entities if they contain one of the accounts.
func (b *Builder) invalidateInstance(changed []store.AccountID) {
	cached, ok := b.instance.documents.Peek()
	shows := func(id store.AccountID) bool { return !ok || slices.Contains(cached.accountIDs, id) }
	if slices.ContainsFunc(changed, shows) {
		b.instance.documents.Drop()
	}
}

func (b *Builder) instanceDocuments(ctx context.Context) (documents, error) {
	return b.instance.documents.Load(b.db.Now(), instanceTTL, func() (documents, error) {
		f, err := b.instance.stats.Load(b.db.Now(), instanceTTL, func() (stats, error) { return b.countStats(ctx) })
		if err != nil {
			return documents{}, err
		}
		account, err := b.contactAccount(ctx)
		if err != nil {
			return documents{}, err
		}
		staff, err := b.db.VisibleStaff(ctx)
		if err != nil {
			return documents{}, err
		}
		d := documents{nodeInfo: make(map[string]object)}
		if d.v1, err = b.instanceV1(f, account); err != nil {
			return documents{}, err
		}
		if d.v2, err = b.instanceV2(f, account); err != nil {
			return documents{}, err
		}
		for _, version := range []string{"2.0", "2.1"} {
			if d.nodeInfo[version], err = b.nodeInfo(version, f, staff); err != nil {
				return documents{}, err
			}
		}
		for _, a := range staff {
			d.accountIDs = append(d.accountIDs, a.ID)
		}
		if account != nil {
			d.accountIDs = append(d.accountIDs, account.id)
		}
		return d, nil
	})
}

func (b *Builder) countStats(ctx context.Context) (f stats, err error) {
	if f.LocalCounts, err = b.db.LocalCounts(ctx); err != nil {
		return f, err
	}
	if f.Domains, err = b.db.CountDomains(ctx); err != nil {
		return f, err
	}
	if f.ActiveMonth, err = b.db.ActiveUsers(ctx, 30*24*time.Hour); err != nil {
		return f, err
	}
	f.ActiveHalfYear, err = b.db.ActiveUsers(ctx, 180*24*time.Hour)
	return f, err
}

// contactAccount returns the contact account, nil if none is configured or it does not exist.
func (b *Builder) contactAccount(ctx context.Context) (*Account, error) {
	name := strings.TrimPrefix(b.Settings.Instance.ContactUsername, "@")
	if name == "" {
		return nil, nil
	}
	row, err := b.db.AccountByName(ctx, name, "")
	if err != nil {
		return nil, ignoreMissing(err)
	}
	if row.Unavailable {
		return nil, nil
	}
	a, err := b.Account(ctx, row.ID)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	return &a, nil
}

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
	Rules                 []any         `json:"rules"`
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

func (b *Builder) instanceV1(f stats, contact *Account) (object, error) {
	c := b.Settings
	return b.extended(instanceMembers{
		URI:                   b.Domain,
		Title:                 c.Instance.Name,
		ShortDescription:      b.shortDescription(),
		Description:           c.Instance.Description,
		Email:                 c.Instance.Email,
		Version:               b.compatibleVersion(),
		URLs:                  instanceURLs{c.WebSocketURL()},
		Stats:                 instanceStats{f.Users, f.Statuses, f.Domains},
		Thumbnail:             b.pictureOf(c.Instance.Thumbnail, "/instance/thumbnail.jpeg"),
		Languages:             c.Instance.Languages,
		ContactAccount:        contact,
		Registrations:         c.Instance.RegistrationsOpen,
		ApprovalRequired:      c.Instance.AccountApprovalRequired,
		InvitesEnabled:        c.Instance.InvitesEnabled,
		Rules:                 []any{},
		Configuration:         b.configuration(),
		MaxTootChars:          c.Statuses.MaxLength,
		MaxMediaAttachments:   maxAttachments,
		ChatLimit:             c.Chats.MaxLength,
		DescriptionLimit:      c.Media.DescriptionLength,
		PollLimits:            b.pollLimits(),
		UploadLimit:           c.Media.UploadLimit,
		AvatarUploadLimit:     c.Media.AvatarLimit,
		BackgroundUploadLimit: c.Media.BackgroundLimit,
		BannerUploadLimit:     c.Media.BannerLimit,
		BackgroundImage:       b.pictureOf(c.Instance.BackgroundImage, "/images/city.jpg"),
		VAPIDPublicKey:        b.VAPIDPublicKey,
	}, instanceExtension{b.instanceMetadata(), extensionStats{f.ActiveMonth}, b.VAPIDPublicKey})
}

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
	Rules         []any         `json:"rules"`
}

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

func (b *Builder) instanceV2(f stats, account *Account) (object, error) {
	c := b.Settings
	m := instanceV2Members{
		Domain:        b.Domain,
		Title:         c.Instance.Name,
		Version:       b.compatibleVersion(),
		Description:   b.shortDescription(),
		Thumbnail:     thumbnail{b.pictureOf(c.Instance.Thumbnail, "/instance/thumbnail.jpeg")},
		Icon:          []icon{{b.BaseURL + "/favicon.png", "64x64"}},
		Languages:     c.Instance.Languages,
		Configuration: b.configuration(),
		Registrations: registrations{
			Enabled:          c.Instance.RegistrationsOpen,
			ApprovalRequired: c.Instance.AccountApprovalRequired,
			ReasonRequired:   c.Instance.AccountApprovalRequired,
		},
		Contact: contact{c.Instance.Email, account},
		Rules:   []any{},
	}
	m.Usage.Users.ActiveMonth = f.ActiveMonth
	metadata := instanceV2Metadata{
		instanceMetadata:      b.instanceMetadata(),
		UploadLimit:           c.Media.UploadLimit,
		AvatarUploadLimit:     c.Media.AvatarLimit,
		BackgroundUploadLimit: c.Media.BackgroundLimit,
		BannerUploadLimit:     c.Media.BannerLimit,
		BackgroundImage:       b.pictureOf(c.Instance.BackgroundImage, "/images/city.jpg"),
		DescriptionLimit:      c.Media.DescriptionLength,
		ChatLimit:             c.Chats.MaxLength,
	}
	return b.extended(m, instanceExtension{metadata, extensionStats{f.ActiveMonth}, b.VAPIDPublicKey})
}

// instanceExtension is the svc object of an instance. Its metadata depends on the version.
type instanceExtension struct {
	Metadata       any            `json:"metadata"`
	Stats          extensionStats `json:"stats"`
	VAPIDPublicKey string         `json:"vapid_public_key,omitempty"`
}

type extensionStats struct {
	MonthlyActive int `json:"mau"`
}

type instanceMetadata struct {
	AccountActivationRequired bool           `json:"account_activation_required"`
	Features                  []string       `json:"features"`
	Federation                map[string]any `json:"federation"`
	FieldsLimits              fieldsLimits   `json:"fields_limits"`
	PostFormats               []string       `json:"post_formats"`
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

type fieldsLimits struct {
	MaxFields       int `json:"max_fields"`
	MaxRemoteFields int `json:"max_remote_fields"`
	NameLength      int `json:"name_length"`
	ValueLength     int `json:"value_length"`
}

func (b *Builder) instanceMetadata() instanceMetadata {
	c := b.Settings
	return instanceMetadata{
		AccountActivationRequired: c.Instance.AccountActivationRequired,
		Features:                  b.features(),
		Federation:                b.federation(),
		FieldsLimits:              b.fieldsLimits(),
		PostFormats:               c.Statuses.AllowedFormats,
	}
}

// federation returns what is public about federation.
func (b *Builder) federation() map[string]any {
	if b.Federation == nil {
		return map[string]any{"enabled": b.Settings.Federation.Enabled}
	}
	return b.Federation
}

func (b *Builder) fieldsLimits() fieldsLimits {
	a := b.Settings.Accounts
	return fieldsLimits{a.MaxFields, a.MaxRemoteFields, a.FieldNameLength, a.FieldValueLength}
}

func (b *Builder) pollLimits() pollLimits {
	p := b.Settings.Polls
	return pollLimits{p.MaxOptions, p.MaxOptionLength, seconds(p.MinExpiration), seconds(p.MaxExpiration)}
}

// features lists what front ends may use. They show what the list contains, so it has nothing that does not exist.
func (b *Builder) features() []string {
	list := []string{
		b.Name + "_api",
		strings.ToLower(referenceProduct) + "_api",
		strings.ToLower(referenceProduct) + "_api_streaming",
		b.Name + "_explicit_addressing",
		"multifetch",
		"editing",
		"quote_posting",
		"polls",
		b.Name + ":api/v1/notifications:include_types_filter",
		b.Name + "_chat_messages",
		b.Name + ":bookmark_folders",
		b.Name + "_emoji_reactions",
		b.Name + "_custom_emoji_reactions",
		"exposable_reactions",
		b.Name + ":get:main/ostatus",
	}
	if b.Settings.MediaProxy.Enabled {
		list = append(list, "media_proxy")
	}
	if b.Settings.Accounts.BlockersVisible {
		list = append(list, "blockers_visible")
	}
	if b.Settings.Federation.Enabled && b.Settings.Federation.AllowRelay {
		list = append(list, "relay")
	}
	return list
}

// compatibleVersion returns the version of the reference API, by which clients decide what they may use, and of this server.
func (b *Builder) compatibleVersion() string {
	return referenceVersion + " (compatible; " + b.Name + " " + b.Version + ")"
}

func (b *Builder) shortDescription() string {
	if s := b.Settings.Instance.ShortDescription; s != "" {
		return s
	}
	return text.HTMLToText(b.Settings.Instance.Description)
}

// pictureOf returns the URL of a picture that a setting names by path or URL, or of the standard one.
func (b *Builder) pictureOf(setting, standard string) string {
	switch {
	case setting == "":
		return b.BaseURL + standard
	case strings.HasPrefix(setting, "/"):
		return b.BaseURL + setting
	}
	return setting
}

func ignoreMissing(err error) error {
	if errs.IsNotFound(err) {
		return nil
	}
	return err
}

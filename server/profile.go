package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
	"time"

	"svc/internal/enum"
	"svc/internal/errs"
	"svc/media"
	"svc/server/entity"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// profile serves the own account of a user, and the settings that front ends store.
type profile struct{ *parts }

func (h *profile) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/accounts/verify_credentials":      {rest.User("read:accounts", "profile").Answers("CredentialAccount"), h.verifyCredentials},
		"PATCH /api/v1/accounts/update_credentials":    {rest.User("write:accounts").Uploads().Answers("CredentialAccount"), h.updateCredentials},
		"PATCH /api/v1/svc/accounts/update_avatar":     {rest.User("write:accounts").Uploads().Answers("ChangedPicture"), h.updateAvatar},
		"PATCH /api/v1/svc/accounts/update_banner":     {rest.User("write:accounts").Uploads().Answers("ChangedPicture"), h.updateBanner},
		"PATCH /api/v1/svc/accounts/update_background": {rest.User("write:accounts").Uploads().Answers("ChangedPicture"), h.updateBackground},
		"GET /api/v1/profile":                          {rest.User("read:accounts", "profile").Answers("Profile"), h.showProfile},
		"PATCH /api/v1/profile":                        {rest.User("write:accounts").Uploads().Answers("Profile"), h.updateProfile},
		"DELETE /api/v1/profile/avatar":                {rest.User("write:accounts").Answers("CredentialAccount"), h.removePicture(func(c *social.ProfileChange) { c.Avatar = new(social.Picture) })},
		"DELETE /api/v1/profile/header":                {rest.User("write:accounts").Answers("CredentialAccount"), h.removePicture(func(c *social.ProfileChange) { c.Header = new(social.Picture) })},
		"PUT /api/svc/notification_settings":           {rest.User("write:accounts").Answers("Done"), h.updateNotificationSettings},
		"GET /api/v1/svc/settings/:app":                {rest.User("read:accounts").Answers("object"), h.showSettings},
		"PATCH /api/v1/svc/settings/:app":              {rest.User("write:accounts").Answers("object"), h.mergeSettings},
	}
}

// verifyCredentials returns the viewer's account with its settings.
func (h *profile) verifyCredentials(r *rest.Request) (any, error) {
	return h.render.credentialAccount(r, r.Viewer, r.User, entity.CredentialDetails{SettingsStore: true, ChatToken: h.chatToken(r.Viewer)})
}

// chatTokenHours is how long a chat token is valid. It is the same for an hour, so that the rendered account can be cached.
const chatTokenHours = 24

// chatToken returns a token by which a service for chat rooms can recognize the account.
func (h *profile) chatToken(a *store.Account) string {
	return h.Keys.Sign("chat token", a.ID.String(), h.Now().Truncate(time.Hour).Add(chatTokenHours*time.Hour))
}

// picture is a parameter with a file, a picture in a data: URL, or an empty text, which removes the picture.
type picture struct {
	file *rest.Upload
	text *string
}

// profileForm has the parameters of a profile change.
type profileForm struct {
	DisplayName    *string      `param:"display_name"`
	Note           *string      `param:"note"`
	Avatar         *rest.Upload `param:"avatar"`
	AvatarText     *string      `param:"avatar"`
	Header         *rest.Upload `param:"header"`
	HeaderText     *string      `param:"header"`
	Background     *rest.Upload `param:"svc_background_image"`
	BackgroundText *string      `param:"svc_background_image"`
	Bot            *bool        `param:"bot"`
	ActorType      *actorType   `param:"actor_type"`
	AlsoKnownAs    []string     `param:"also_known_as"`
	Attribution    []string     `param:"attribution_domains"`

	AvatarDescription *string `param:"avatar_description"`
	HeaderDescription *string `param:"header_description"`
	ShowMedia         *bool   `param:"show_media"`
	ShowMediaReplies  *bool   `param:"show_media_replies"`
	ShowFeatured      *bool   `param:"show_featured"`

	Fields []struct {
		Name  string `param:"name"`
		Value string `param:"value"`
	} `param:"fields_attributes"`
	Source struct {
		Privacy       *plainVisibility     `param:"privacy"`
		Sensitive     *bool                `param:"sensitive"`
		Language      *string              `param:"language,word"`
		QuotePolicy   *store.QuotePolicy   `param:"quote_policy"`
		Indexable     *bool                `param:"indexable"`
		FeaturePolicy *store.FeaturePolicy `param:"feature_policy"`
	} `param:"source"`
	FeaturePolicy         *store.FeaturePolicy `param:"feature_policy"`
	DefaultScope          *plainVisibility     `param:"default_scope"`
	Locked                *bool                `param:"locked"`
	Discoverable          *bool                `param:"discoverable"`
	Indexable             *bool                `param:"indexable"`
	HideFavorites         *bool                `param:"hide_favorites"`
	HideLists             *bool                `param:"hide_collections"` // the reference API's name for both
	HideFollowers         *bool                `param:"hide_followers"`
	HideFollows           *bool                `param:"hide_follows"`
	HideFollowersCount    *bool                `param:"hide_followers_count"`
	HideFollowsCount      *bool                `param:"hide_follows_count"`
	AcceptsChatMessages   *bool                `param:"accepts_chat_messages"`
	Birthday              *string              `param:"birthday"`
	ShowBirthday          *bool                `param:"show_birthday"`
	NoRichText            *bool                `param:"no_rich_text"`
	ShowRole              *bool                `param:"show_role"`
	SkipThreadContainment *bool                `param:"skip_thread_containment"`
	AllowFollowingMove    *bool                `param:"allow_following_move"`
	SettingsStore         json.RawMessage      `param:"svc_settings_store"`
}

// actorType is the ActivityPub type of an account.
type actorType string

// UnmarshalText reads a type.
func (t *actorType) UnmarshalText(b []byte) error {
	return enum.Read(t, b, "Person", "Service", "Group")
}

// change returns the change, except for the pictures. r tells null from an empty list.
func (p *profileForm) change(r *rest.Request) (change social.ProfileChange, err error) {
	change = social.ProfileChange{
		DisplayName:           p.DisplayName,
		Note:                  p.Note,
		AvatarDescription:     p.AvatarDescription,
		HeaderDescription:     p.HeaderDescription,
		ShowMedia:             p.ShowMedia,
		ShowMediaReplies:      p.ShowMediaReplies,
		ShowFeatured:          p.ShowFeatured,
		Bot:                   p.Bot,
		ActorType:             (*string)(p.ActorType),
		Locked:                p.Locked,
		Discoverable:          p.Discoverable,
		Indexable:             cmp.Or(p.Indexable, p.Source.Indexable),
		HideFavorites:         p.HideFavorites,
		HideFollowers:         cmp.Or(p.HideFollowers, p.HideLists),
		HideFollows:           cmp.Or(p.HideFollows, p.HideLists),
		HideFollowersCount:    p.HideFollowersCount,
		HideFollowsCount:      p.HideFollowsCount,
		AcceptsChatMessages:   p.AcceptsChatMessages,
		Birthday:              p.Birthday,
		ShowBirthday:          p.ShowBirthday,
		Sensitive:             p.Source.Sensitive,
		Language:              p.Source.Language,
		Visibility:            (*store.Visibility)(cmp.Or(p.DefaultScope, p.Source.Privacy)),
		QuotePolicy:           p.Source.QuotePolicy,
		FeaturePolicy:         cmp.Or(p.FeaturePolicy, p.Source.FeaturePolicy),
		NoRichText:            p.NoRichText,
		ShowRole:              p.ShowRole,
		SkipThreadContainment: p.SkipThreadContainment,
		AllowFollowingMove:    p.AllowFollowingMove,
	}
	if p.Fields != nil && !r.IsNull("fields_attributes") {
		change.Fields = []store.Field{}
		for _, f := range p.Fields {
			change.Fields = append(change.Fields, store.Field{Name: f.Name, Value: f.Value})
		}
	}
	if !r.IsNull("also_known_as") {
		change.AlsoKnownAs = p.AlsoKnownAs
	}
	if !r.IsNull("attribution_domains") {
		change.AttributionDomains = p.Attribution
	}
	change.Settings, err = frontendSettings(p.SettingsStore)
	return change, err
}

// updateCredentials changes the viewer's profile and settings, and returns the account.
func (h *profile) updateCredentials(r *rest.Request) (any, error) {
	account, user, err := h.update(r)
	if err != nil {
		return nil, err
	}
	return h.render.credentialAccount(r, account, user, entity.CredentialDetails{SettingsStore: true})
}

// showProfile returns the viewer's profile as it is edited.
func (h *profile) showProfile(r *rest.Request) (any, error) {
	return h.renderProfile(r, r.Viewer, r.User)
}

// updateProfile changes what updateCredentials changes, and returns the profile as it is edited.
func (h *profile) updateProfile(r *rest.Request) (any, error) {
	account, user, err := h.update(r)
	if err != nil {
		return nil, err
	}
	return h.renderProfile(r, account, user)
}

func (h *profile) renderProfile(r *rest.Request, account *store.Account, user *store.User) (any, error) {
	tags, err := h.DB.FeaturedTags(r.Context(), account.ID, social.MaxFeaturedTags)
	if err != nil {
		return nil, err
	}
	return h.Entities.Profile(account, user, tags), nil
}

// update changes the viewer's profile and settings. Absent and null parameters change nothing.
func (h *profile) update(r *rest.Request) (*store.Account, *store.User, error) {
	var p profileForm
	if err := r.Bind(&p); err != nil {
		return nil, nil, err
	}
	change, err := p.change(r)
	if err != nil {
		return nil, nil, err
	}
	limits := h.Settings.Load().Media
	for _, in := range []struct {
		picture
		kind  media.Kind
		limit int64
		set   **social.Picture
	}{
		{picture{p.Avatar, p.AvatarText}, media.Avatar, limits.AvatarLimit, &change.Avatar},
		{picture{p.Header, p.HeaderText}, media.Header, limits.BannerLimit, &change.Header},
		{picture{p.Background, p.BackgroundText}, media.Background, limits.BackgroundLimit, &change.Background},
	} {
		if *in.set, err = h.storePicture(r.Context(), r.Viewer.ID, in.picture, in.kind, in.limit); err != nil {
			return nil, nil, err
		}
		defer (*in.set).Release()
	}
	return h.Social.UpdateProfile(r.Context(), r.Viewer.ID, change)
}

// frontendSettings reads an object of settings by front end. In a form it may be JSON text.
func frontendSettings(raw json.RawMessage) (map[string]json.RawMessage, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if text == "" {
			return nil, nil
		}
		raw = json.RawMessage(text)
	}
	var settings map[string]json.RawMessage
	if err := json.Unmarshal(raw, &settings); err != nil {
		return nil, social.ErrInvalidProfile
	}
	return settings, nil
}

// storePicture stores the picture of a request, and returns nil if there is none. Other files are refused as by POST /api/v1/media, so that apps can
// show the reason.
func (h *profile) storePicture(ctx context.Context, owner store.AccountID, p picture, kind media.Kind, limit int64) (*social.Picture, error) {
	var content io.Reader
	switch {
	case p.file != nil && p.file.Empty:
		return &social.Picture{}, nil
	case p.file != nil:
		content = p.file.Open()
	case p.text != nil:
		b, ok := decodeDataURL(*p.text)
		if !ok {
			return nil, social.ErrInvalidProfile
		}
		content = bytes.NewReader(b)
	default:
		return nil, nil
	}
	file, err := h.Media.Ingest(ctx, owner, content, kind, limit)
	if err != nil {
		return nil, err
	}
	return &social.Picture{File: file}, nil
}

// decodeDataURL decodes data:image/png;base64,… (RFC 2397).
func decodeDataURL(text string) ([]byte, bool) {
	rest, ok := strings.CutPrefix(text, "data:image/")
	head, data, found := strings.Cut(rest, ",")
	if !ok || !found || !strings.HasSuffix(head, ";base64") {
		return nil, false
	}
	b, err := base64.StdEncoding.DecodeString(data)
	return b, err == nil
}

// updateAvatar sets or removes the viewer's avatar.
func (h *profile) updateAvatar(r *rest.Request) (any, error) {
	return h.updatePicture(r, "img", media.Avatar, h.Settings.Load().Media.AvatarLimit, func(c *social.ProfileChange, p *social.Picture) { c.Avatar = p })
}

// updateBanner sets or removes the viewer's header.
func (h *profile) updateBanner(r *rest.Request) (any, error) {
	return h.updatePicture(r, "banner", media.Header, h.Settings.Load().Media.BannerLimit, func(c *social.ProfileChange, p *social.Picture) { c.Header = p })
}

// updateBackground sets or removes the viewer's background.
func (h *profile) updateBackground(r *rest.Request) (any, error) {
	return h.updatePicture(r, "img", media.Background, h.Settings.Load().Media.BackgroundLimit, func(c *social.ProfileChange, p *social.Picture) { c.Background = p })
}

// updatePicture stores the picture of a parameter and returns its URL.
func (h *profile) updatePicture(r *rest.Request, name string, kind media.Kind, limit int64, set func(*social.ProfileChange, *social.Picture)) (any, error) {
	var p struct {
		Image      *rest.Upload `param:"img"`
		ImageText  *string      `param:"img"`
		Banner     *rest.Upload `param:"banner"`
		BannerText *string      `param:"banner"`
		File       *rest.Upload `param:"file"`
		FileText   *string      `param:"file"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	in := picture{p.Image, p.ImageText}
	if name == "banner" {
		in = picture{p.Banner, p.BannerText}
	}
	if in == (picture{}) {
		in = picture{p.File, p.FileText}
	}
	stored, err := h.storePicture(r.Context(), r.Viewer.ID, in, kind, limit)
	if err != nil {
		return nil, err
	}
	if stored == nil {
		return nil, errs.BadRequest("Missing field: %s.", name)
	}
	defer stored.Release()
	var change social.ProfileChange
	set(&change, stored)
	if _, _, err := h.Social.UpdateProfile(r.Context(), r.Viewer.ID, change); err != nil {
		return nil, err
	}
	return struct {
		URL *string `json:"url"`
	}{h.Entities.Picture(stored.Name())}, nil
}

// removePicture returns a handler that resets a picture of the viewer to the default, and answers with the account.
func (h *profile) removePicture(reset func(*social.ProfileChange)) rest.Handler {
	return func(r *rest.Request) (any, error) {
		var change social.ProfileChange
		reset(&change)
		account, user, err := h.Social.UpdateProfile(r.Context(), r.Viewer.ID, change)
		if err != nil {
			return nil, err
		}
		return h.render.credentialAccount(r, account, user, entity.CredentialDetails{SettingsStore: true})
	}
}

// updateNotificationSettings sets whose notifications the viewer gets and how much push messages contain.
func (h *profile) updateNotificationSettings(r *rest.Request) (any, error) {
	var p struct {
		BlockFromStrangers       *bool `param:"block_from_strangers"`
		HideNotificationContents *bool `param:"hide_notification_contents"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	_, _, err := h.Social.UpdateProfile(r.Context(), r.Viewer.ID, social.ProfileChange{
		BlockFromStrangers: p.BlockFromStrangers, HideNotificationContents: p.HideNotificationContents,
	})
	if err != nil {
		return nil, err
	}
	return map[string]string{"status": "success"}, nil
}

// showSettings returns the object of a front end. What it stored with its profile may be anything else, and counts as an empty one.
func (h *profile) showSettings(r *rest.Request) (any, error) {
	stored, err := h.DB.FrontendSettings(r.Context(), r.Viewer.ID, r.Param("app"))
	if err != nil || !bytes.HasPrefix(stored, []byte("{")) {
		return nil, err
	}
	return stored, nil
}

// mergeSettings merges an object into that of a front end. The body is the object; the fields of a form are texts.
func (h *profile) mergeSettings(r *rest.Request) (any, error) {
	patch, err := r.Object()
	if err != nil {
		return nil, err
	}
	return h.Social.MergeFrontendSettings(r.Context(), r.Viewer.ID, r.Param("app"), patch)
}

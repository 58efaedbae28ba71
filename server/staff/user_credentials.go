package staff

import (
	"errors"
	"net/http"

	"svc/admin"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/media"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// credentialRoutes are passwords, second factors, addresses and profiles of local accounts.
func (h *Handlers) credentialRoutes() rest.Routes {
	read := rest.Privileged(config.UsersCredentials, "admin:read:accounts")
	write := rest.Privileged(config.UsersCredentials, "admin:write:accounts")
	return rest.Routes{
		"GET /api/v1/svc/admin/users/:nickname/password_reset": {write.Changing().Secret().Answers("PasswordReset"), h.passwordReset},
		"PATCH /api/v1/svc/admin/users/force_password_reset":   {write.Answers("204 nothing"), h.requirePasswordReset},
		"PUT /api/v1/svc/admin/users/disable_mfa":              {write.Deletes().Answers("string"), h.disableMFA},
		"GET /api/v1/svc/admin/users/:nickname/credentials":    {read.Answers("AdminCredentials"), h.showCredentials},
		"PATCH /api/v1/svc/admin/users/:nickname/credentials":  {write.Uploads().Answers("Done"), h.updateCredentials},
	}
}

// passwordReset creates a password reset link.
func (h *Handlers) passwordReset(r *rest.Request) (any, error) {
	reset, err := h.as(r).ResetPassword(r.Context(), admin.PasswordReset{Name: r.Param("nickname")})
	if err != nil {
		return nil, notFound(err)
	}
	return map[string]string{"token": reset.Token, "link": reset.Link}, nil
}

// requirePasswordReset makes users set a new password before the next sign-in.
func (h *Handlers) requirePasswordReset(r *rest.Request) (any, error) {
	names, err := bindNicknames(r)
	if err != nil {
		return nil, err
	}
	if _, err := h.as(r).RequirePasswordResets(r.Context(), names); err != nil {
		return nil, notFound(err)
	}
	return rest.NoContent, nil
}

// disableMFA disables the second factor of an account.
func (h *Handlers) disableMFA(r *rest.Request) (any, error) {
	var p struct {
		Nickname string `param:"nickname,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	_, err := h.as(r).DisableMFA(r.Context(), []string{p.Nickname})
	return p.Nickname, notFound(err)
}

// showCredentials returns the profile and the settings of a local account.
func (h *Handlers) showCredentials(r *rest.Request) (any, error) {
	account, user, err := h.Admin.ShowCredentials(r.Context(), r.Param("nickname"))
	if err != nil {
		return nil, notFound(err)
	}
	return h.Entities.AdminCredentials(r.Context(), account, user)
}

// credentialForm has the parameters of updateCredentials. Some have two names.
type credentialForm struct {
	Email    *string `param:"email"`
	Password *string `param:"password"`

	Name                  *string      `param:"name"`
	Bio                   *string      `param:"bio"`
	ActorType             *string      `param:"actor_type,word"`
	DefaultScope          *string      `param:"default_scope,word"`
	Avatar                *rest.Upload `param:"avatar"`
	Banner                *rest.Upload `param:"banner"`
	Background            *rest.Upload `param:"background"`
	Locked                *bool        `param:"locked"`
	IsLocked              *bool        `param:"is_locked"`
	Discoverable          *bool        `param:"discoverable"`
	IsDiscoverable        *bool        `param:"is_discoverable"`
	NoRichText            *bool        `param:"no_rich_text"`
	ShowRole              *bool        `param:"show_role"`
	SkipThreadContainment *bool        `param:"skip_thread_containment"`
	AllowFollowingMove    *bool        `param:"allow_following_move"`
	HideFavorites         *bool        `param:"hide_favorites"`
	HideFollowers         *bool        `param:"hide_followers"`
	HideFollowersCount    *bool        `param:"hide_followers_count"`
	HideFollows           *bool        `param:"hide_follows"`
	HideFollowsCount      *bool        `param:"hide_follows_count"`
	Fields                []formField  `param:"fields"`
	RawFields             []formField  `param:"raw_fields"`
}

type formField struct {
	Name  string `param:"name"`
	Value string `param:"value"`
}

// change returns the change without the pictures. An unknown visibility is added to faults.
func (p *credentialForm) change(faults admin.CredentialErrors) admin.Credentials {
	c := admin.Credentials{Email: p.Email, Password: p.Password, Profile: social.ProfileChange{
		DisplayName: p.Name, Note: p.Bio, ActorType: p.ActorType, Locked: firstOf(p.Locked, p.IsLocked),
		Discoverable: firstOf(p.Discoverable, p.IsDiscoverable), NoRichText: p.NoRichText, ShowRole: p.ShowRole,
		SkipThreadContainment: p.SkipThreadContainment, AllowFollowingMove: p.AllowFollowingMove, HideFavorites: p.HideFavorites,
		HideFollowers: p.HideFollowers, HideFollowersCount: p.HideFollowersCount, HideFollows: p.HideFollows, HideFollowsCount: p.HideFollowsCount,
	}}
	if p.DefaultScope != nil {
		v, ok := store.ParseVisibility(*p.DefaultScope)
		if !ok || v == store.ListOnly {
			faults["default_scope"] = "is invalid"
		}
		c.Profile.Visibility = &v
	}
	fields := p.RawFields
	if fields == nil {
		fields = p.Fields
	}
	for i, f := range fields {
		if i == 0 {
			c.Profile.Fields = []store.Field{}
		}
		c.Profile.Fields = append(c.Profile.Fields, store.Field{Name: f.Name, Value: f.Value})
	}
	if fields != nil && len(fields) == 0 {
		c.Profile.Fields = []store.Field{}
	}
	return c
}

func firstOf(values ...*bool) *bool {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return nil
}

// updateCredentials changes address, password and profile of a local account. Absent and null parameters change nothing, nor do texts in
// place of pictures.
func (h *Handlers) updateCredentials(r *rest.Request) (any, error) {
	account, _, err := h.Admin.ShowCredentials(r.Context(), r.Param("nickname"))
	if err != nil {
		return nil, notFound(err)
	}
	var p credentialForm
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	faults := admin.CredentialErrors{}
	c := p.change(faults)
	defer func() {
		for _, picture := range []*social.Picture{c.Profile.Avatar, c.Profile.Header, c.Profile.Background} {
			picture.Release()
		}
	}()
	if err := h.storePictures(r, account.ID, &p, &c.Profile, faults); err != nil {
		return nil, err
	}
	if len(faults) > 0 {
		return nil, credentialError(faults)
	}
	if err := h.as(r).UpdateCredentials(r.Context(), r.Param("nickname"), c); err != nil {
		if errors.As(err, &faults) {
			err = credentialError(faults)
		}
		return nil, notFound(err)
	}
	return map[string]string{"status": "success"}, nil
}

// credentialError returns validation errors as the spec has them.
func credentialError(faults admin.CredentialErrors) error {
	return errs.BadRequest("%s", faults.Error()).With("errors", map[string]string(faults))
}

// storePictures stores the pictures that were sent. The caller releases them.
func (h *Handlers) storePictures(r *rest.Request, owner store.AccountID, p *credentialForm, change *social.ProfileChange, faults admin.CredentialErrors) error {
	limits := h.Settings.Load().Media
	for _, in := range []struct {
		name  string
		file  *rest.Upload
		kind  media.Kind
		limit int64
		set   **social.Picture
	}{
		{"avatar", p.Avatar, media.Avatar, limits.AvatarLimit, &change.Avatar},
		{"banner", p.Banner, media.Header, limits.BannerLimit, &change.Header},
		{"background", p.Background, media.Background, limits.BackgroundLimit, &change.Background},
	} {
		if in.file == nil || in.file.Empty {
			continue
		}
		file, err := h.Media.Ingest(r.Context(), owner, in.file.Open(), in.kind, in.limit)
		var e *errs.Error
		switch {
		case errors.As(err, &e) && e.Status == http.StatusRequestEntityTooLarge:
			faults[in.name] = "file is too large" // admin API 4.11
		case errors.As(err, &e) && e.Status < http.StatusInternalServerError:
			faults[in.name] = e.Message // as POST /api/v1/media says it
		case err != nil:
			return err
		default:
			*in.set = &social.Picture{File: file}
		}
	}
	return nil
}

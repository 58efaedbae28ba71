package entity

import (
	"context"
	"encoding/json"

	"svc/store"
)

// AdminUser is an account as the admin API shows it. It has the names of the spec and those of other servers of this API family.
type AdminUser struct {
	ID          any        `json:"id"` // an integer (spec 2.15); with api.compatible the id of the Account, by which front ends find it among their accounts
	DisplayName string     `json:"display_name"`
	Avatar      string     `json:"avatar"`
	URL         string     `json:"url"`
	CreatedAt   store.Time `json:"created_at"`
	staffMembers
}

// staffMembers are the members of AdminUser that an Account for staff has, too.
type staffMembers struct {
	Nickname            string     `json:"nickname"` // of a remote account, with its domain
	Email               *string    `json:"email"`
	Local               bool       `json:"local"`
	ActorType           string     `json:"actor_type"`
	Tags                []string   `json:"tags"`
	Roles               AdminRoles `json:"roles"`
	Deactivated         bool       `json:"deactivated"`
	IsActive            bool       `json:"is_active"`
	ConfirmationPending bool       `json:"confirmation_pending"`
	IsConfirmed         bool       `json:"is_confirmed"`
	ApprovalPending     bool       `json:"approval_pending"`
	IsApproved          bool       `json:"is_approved"`
	IsSuggested         bool       `json:"is_suggested"`
	RegistrationReason  *string    `json:"registration_reason"`
}

// AdminRoles are the roles of an account.
type AdminRoles struct {
	Admin     bool `json:"admin"`
	Moderator bool `json:"moderator"`
}

// AdminUsers returns the accounts of the ids that exist, in the order of the ids.
func (b *Builder) AdminUsers(ctx context.Context, ids []store.AccountID) ([]*AdminUser, error) {
	accounts, err := b.db.Accounts(ctx, ids)
	if err != nil {
		return nil, err
	}
	users, err := b.db.Users(ctx, ids)
	if err != nil {
		return nil, err
	}
	accountOf := byID(accounts, func(a *store.Account) store.AccountID { return a.ID })
	userOf := byID(users, func(u *store.User) store.AccountID { return u.AccountID })
	list := make([]*AdminUser, 0, len(ids))
	for _, id := range ids {
		if a := accountOf[id]; a != nil {
			list = append(list, b.adminUser(a, userOf[id]))
		}
	}
	return list, nil
}

// AdminUser returns one account.
func (b *Builder) AdminUser(ctx context.Context, id store.AccountID) (*AdminUser, error) {
	list, err := b.AdminUsers(ctx, []store.AccountID{id})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, notFound
	}
	return list[0], nil
}

// adminUser renders an account. u is nil if it is remote.
func (r *renderer) adminUser(a *store.Account, u *store.User) *AdminUser {
	x := &AdminUser{
		ID: int64(a.ID), DisplayName: a.DisplayName, Avatar: r.picture(a.Avatar, standardAvatar), URL: a.URL, CreatedAt: a.CreatedAt,
		staffMembers: newStaffMembers(a, u),
	}
	if r.Settings.Load().API.Compatible != "" {
		x.ID = a.ID
	}
	if x.DisplayName == "" {
		x.DisplayName = a.Nickname
	}
	if x.URL == "" {
		x.URL = a.URI
	}
	return x
}

func newStaffMembers(a *store.Account, u *store.User) staffMembers {
	m := staffMembers{
		Nickname: a.Acct(), Local: a.Local(), ActorType: a.ActorType, Tags: append([]string{}, a.Tags.V...),
		IsActive: !a.Unavailable, IsConfirmed: true, IsApproved: true, IsSuggested: a.Suggested,
	}
	if u != nil {
		m.Roles = AdminRoles{u.IsAdmin, u.IsModerator}
		m.IsActive, m.IsConfirmed, m.IsApproved = u.DeactivatedAt == nil, u.ConfirmedAt != nil, u.ApprovedAt != nil
		if u.Email != "" {
			m.Email = &u.Email
		}
		if u.RegistrationReason != "" {
			m.RegistrationReason = &u.RegistrationReason
		}
	}
	m.Deactivated, m.ConfirmationPending, m.ApprovalPending = !m.IsActive, !m.IsConfirmed, !m.IsApproved
	return m
}

// AdminCredentials are the profile and the settings of a local account, for staff.
type AdminCredentials struct {
	ID                    int64         `json:"id"`
	Nickname              string        `json:"nickname"`
	Email                 string        `json:"email"`
	Name                  string        `json:"name"`
	Bio                   string        `json:"bio"` // HTML
	ActorType             string        `json:"actor_type"`
	Avatar                string        `json:"avatar"`
	Banner                string        `json:"banner"`
	Background            *string       `json:"background"`
	DefaultScope          string        `json:"default_scope"`
	Fields                []store.Field `json:"fields"`     // values are HTML
	RawFields             []rawField    `json:"raw_fields"` // as typed
	Locked                bool          `json:"locked"`
	IsLocked              bool          `json:"is_locked"`
	Discoverable          bool          `json:"discoverable"`
	IsDiscoverable        bool          `json:"is_discoverable"`
	NoRichText            bool          `json:"no_rich_text"`
	AllowFollowingMove    bool          `json:"allow_following_move"`
	ShowRole              bool          `json:"show_role"`
	SkipThreadContainment bool          `json:"skip_thread_containment"`
	HideFavorites         bool          `json:"hide_favorites"`
	HideFollowers         bool          `json:"hide_followers"`
	HideFollowersCount    bool          `json:"hide_followers_count"`
	HideFollows           bool          `json:"hide_follows"`
	HideFollowsCount      bool          `json:"hide_follows_count"`
}

type rawField struct {
	ID    int    `json:"id"`
	Name  string `json:"name"`
	Value string `json:"value"`
}

// AdminCredentials renders the credentials of a local account, with what front ends store under svc_settings_store.
func (b *Builder) AdminCredentials(ctx context.Context, a *store.Account, u *store.User) (json.RawMessage, error) {
	c := AdminCredentials{
		ID: int64(a.ID), Nickname: a.Nickname, Email: u.Email, Name: a.DisplayName, Bio: a.Note, ActorType: a.ActorType,
		Avatar: b.picture(a.Avatar, standardAvatar), Banner: b.picture(a.Header, standardBanner), Background: b.Picture(a.Background),
		DefaultScope: u.DefaultVisibility.String(), Fields: append([]store.Field{}, a.Fields.V...), RawFields: []rawField{},
		Locked: a.Locked, IsLocked: a.Locked, Discoverable: a.Discoverable, IsDiscoverable: a.Discoverable,
		NoRichText: u.NoRichText, AllowFollowingMove: u.AllowFollowingMove, ShowRole: u.ShowRole, SkipThreadContainment: u.SkipThreadContainment,
		HideFavorites: a.HideFavorites, HideFollowers: a.HideFollowers, HideFollowersCount: a.HideFollowersCount,
		HideFollows: a.HideFollows, HideFollowsCount: a.HideFollowsCount,
	}
	for i, f := range u.Fields.V {
		c.RawFields = append(c.RawFields, rawField{i, f.Name, f.Value})
	}
	members, err := marshalMembers(c)
	if err != nil {
		return nil, err
	}
	settings, err := b.frontendSettings(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	dst := append([]byte{'{'}, members...)
	dst = append(dst, `,"`+b.Settings.Load().API.Name+`_settings_store":`...)
	dst = append(dst, settings...)
	return append(dst, '}'), nil
}

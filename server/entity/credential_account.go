package entity

import (
	"context"
	"encoding/json"

	"svc/internal/text"
	"svc/store"
)

// credentialExtension are the members of the svc object that only the account itself gets.
type credentialExtension struct {
	Email                    string               `json:"email"`
	AllowFollowingMove       bool                 `json:"allow_following_move"`
	UnreadConversationCount  int                  `json:"unread_conversation_count"`
	UnreadNotificationsCount int                  `json:"unread_notifications_count"`
	NotificationSettings     notificationSettings `json:"notification_settings"`
	SettingsStore            json.RawMessage      `json:"settings_store,omitempty"`
	ChatToken                string               `json:"chat_token,omitempty"`
}

type notificationSettings struct {
	BlockFromStrangers       bool `json:"block_from_strangers"`
	HideNotificationContents bool `json:"hide_notification_contents"`
}

// Role is the role of an account, for the account itself.
type Role struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Color       string `json:"color"`
	Permissions string `json:"permissions"`
	Highlighted bool   `json:"highlighted"`

	CollectionLimit int `json:"collection_limit"` // how many collections of accounts the account can make
}

// Source is the editable text of an account. The optional members are only for the account itself.
type Source struct {
	Privacy             *string       `json:"privacy,omitempty"`
	Sensitive           bool          `json:"sensitive"`
	Language            *string       `json:"language,omitempty"`
	Note                string        `json:"note"`
	Fields              []store.Field `json:"fields"`
	FollowRequestsCount *int          `json:"follow_requests_count,omitempty"`
	Discoverable        *bool         `json:"discoverable,omitempty"`
	Indexable           *bool         `json:"indexable,omitempty"`
	HideLists           *bool         `json:"hide_collections,omitempty"` // of followers and followed accounts
	QuotePolicy         *string       `json:"quote_policy,omitempty"`
	FeaturePolicy       *string       `json:"feature_policy,omitempty"`
	AttributionDomains  *[]string     `json:"attribution_domains,omitempty"` // hosts whose pages may name the account as their author
}

// sourceExtension is the svc object of a source.
type sourceExtension struct {
	ShowRole     *bool  `json:"show_role,omitempty"`
	NoRichText   *bool  `json:"no_rich_text,omitempty"`
	ShowBirthday *bool  `json:"show_birthday,omitempty"`
	Discoverable bool   `json:"discoverable"`
	ActorType    string `json:"actor_type"`
}

// source returns the members of a source that are the same for every viewer.
func (r *renderer) source(row *store.Account, user *store.User) any {
	return r.sourceWith(row, text.HTMLToText(row.Note), user)
}

// sourceWith is source with another text for an account without a user.
func (r *renderer) sourceWith(row *store.Account, note string, user *store.User) any {
	s := Source{Note: note, Fields: []store.Field{}}
	if user != nil {
		s.Note = user.Note
		s.Fields = append(s.Fields, user.Fields.V...)
	}
	o, err := r.extended(s, sourceExtension{Discoverable: row.Discoverable, ActorType: row.ActorType})
	if err != nil {
		return nil
	}
	return o
}

// CredentialDetails is what a CredentialAccount needs besides its rows.
type CredentialDetails struct {
	store.UnreadCounts
	SettingsStore bool   // include svc.settings_store, as only the endpoints about the own account do
	ChatToken     string // "": none
}

// credentialRendering is the last rendering of an account for itself, with its input.
type credentialRendering struct {
	row     *store.Account
	user    *store.User
	details CredentialDetails
	account Account
}

// maxKeptRendering is how many bytes a rendering may have that is kept for the next request. Most of a large one is what front ends store.
const maxKeptRendering = 32 << 10

// frontendSettings returns the JSON object of what front ends store for a user.
func (b *Builder) frontendSettings(ctx context.Context, id store.AccountID) (json.RawMessage, error) {
	stored, err := b.db.AllFrontendSettings(ctx, id)
	if err != nil {
		return nil, err
	}
	object := make(map[string]json.RawMessage, len(stored))
	for _, s := range stored {
		object[s.Name] = json.RawMessage(s.Settings)
	}
	return marshal(object)
}

// CredentialAccount returns an account for the account itself. The counters of row need not be up to date.
func (b *Builder) CredentialAccount(ctx context.Context, row *store.Account, user *store.User, details CredentialDetails) (Account, error) {
	found, err := b.loadAccounts(ctx, []store.AccountID{row.ID})
	if err != nil {
		return Account{}, err
	}
	shared, ok := found[row.ID]
	if !ok {
		return Account{}, notFound
	}
	// Rows that have not changed are the same pointers, because identities are cached.
	last := shared.credential.Load()
	if last == nil || last.row != row || last.user != user || last.details != details {
		document, err := b.renderCredentialAccount(ctx, row, user, details)
		if err != nil {
			return Account{}, err
		}
		last = &credentialRendering{row, user, details, document.withCounters(shared.counters)}
	} else if last.account.counters != shared.counters {
		last = &credentialRendering{row, user, details, last.account.withCounters(shared.counters)}
	} else {
		return last.account, nil
	}
	if !last.account.hasMoved && last.account.JSONSize() <= maxKeptRendering {
		shared.credential.Store(last)
	}
	return last.account, nil
}

func (b *Builder) renderCredentialAccount(ctx context.Context, row *store.Account, user *store.User, details CredentialDetails) (*accountDocument, error) {
	moved, err := b.movedTo(ctx, row)
	if err != nil {
		return nil, err
	}
	m, x := b.accountMembers(row, user)
	m.Moved = moved[row.ID]
	m.FollowRequestsCount = &details.FollowRequests
	m.Role = b.roleOf(user)
	privacy, language, quotePolicy := user.DefaultVisibility.String(), user.DefaultLanguage, user.DefaultQuotePolicy.String()
	source := Source{
		Privacy:             &privacy,
		Sensitive:           user.DefaultSensitive,
		Language:            &language,
		Note:                user.Note,
		Fields:              append([]store.Field{}, user.Fields.V...),
		FollowRequestsCount: &details.FollowRequests,
		Discoverable:        &row.Discoverable,
		Indexable:           new(row.ConsentsToSearch()),
		HideLists:           new(row.HideFollowers && row.HideFollows),
		QuotePolicy:         &quotePolicy,
		FeaturePolicy:       new(row.FeaturePolicy.String()),
		AttributionDomains:  new(orEmpty(row.AttributionDomains.V)),
	}
	if m.Source, err = b.extended(source, sourceExtension{&user.ShowRole, &user.NoRichText, &row.ShowBirthday, row.Discoverable, row.ActorType}); err != nil {
		return nil, err
	}
	x.IsAdmin, x.IsModerator, x.Privileges = &user.IsAdmin, &user.IsModerator, b.privileges(user)
	x.Birthday = row.Birthday
	x.credentialExtension = &credentialExtension{
		Email:                    user.Email,
		AllowFollowingMove:       user.AllowFollowingMove,
		UnreadConversationCount:  details.UnreadConversations,
		UnreadNotificationsCount: details.UnreadNotifications,
		NotificationSettings:     notificationSettings{user.BlockFromStrangers, user.HideNotificationContents},
		ChatToken:                details.ChatToken,
	}
	if details.SettingsStore {
		if x.SettingsStore, err = b.frontendSettings(ctx, row.ID); err != nil {
			return nil, err
		}
	}
	d, err := b.renderAccount(row, m, x)
	if err == nil {
		d.hideFollowersCount, d.hideFollowingCount = false, false // the account sees its own counters
	}
	return d, err
}

// privileges returns the privileges of a user's roles.
func (r *renderer) privileges(u *store.User) []string {
	return r.Settings.Load().Instance.Privileges(u.IsAdmin, u.IsModerator)
}

// Ids of the roles.
const (
	AdminRoleID     = "3"
	ModeratorRoleID = "2"
)

// publicRole is a role of an account, for everyone.
type publicRole struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Color string `json:"color"`
}

// publicRoles returns the roles that a local account shows.
func publicRoles(u *store.User) []publicRole {
	if u == nil || !u.ShowRole || !u.IsAdmin && !u.IsModerator {
		return []publicRole{}
	}
	role := baseRole(u)
	return []publicRole{{role.ID, role.Name, role.Color}}
}

// baseRole returns the role of a user without its limits.
func baseRole(u *store.User) *Role {
	switch {
	case u.IsAdmin:
		return &Role{ID: AdminRoleID, Name: "Admin", Permissions: "1", Highlighted: u.ShowRole}
	case u.IsModerator:
		return &Role{ID: ModeratorRoleID, Name: "Moderator", Permissions: "0", Highlighted: u.ShowRole}
	}
	return &Role{ID: "-99", Permissions: "0"}
}

func (r *renderer) roleOf(u *store.User) *Role {
	role := baseRole(u)
	role.CollectionLimit = r.Settings.Load().Accounts.MaxCollections
	return role
}

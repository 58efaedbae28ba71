package entity

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"svc/internal/cache"
	"svc/internal/text"
	"svc/store"
)

// accountMembers are the members of an account that do not depend on who looks.
type accountMembers struct {
	ID             store.AccountID `json:"id"`
	Username       string          `json:"username"`
	Acct           string          `json:"acct"`
	FQN            string          `json:"fqn"`
	DisplayName    string          `json:"display_name"`
	Locked         bool            `json:"locked"`
	Bot            bool            `json:"bot"`
	Group          bool            `json:"group"`
	Discoverable   bool            `json:"discoverable"`
	CreatedAt      store.Time      `json:"created_at"`
	Note           string          `json:"note"`
	URL            string          `json:"url"`
	URI            string          `json:"uri"`
	Avatar         string          `json:"avatar"`
	AvatarStatic   string          `json:"avatar_static"`
	Header         string          `json:"header"`
	HeaderStatic   string          `json:"header_static"`
	FollowersCount int             `json:"followers_count"`
	FollowingCount int             `json:"following_count"`
	StatusesCount  int             `json:"statuses_count"`
	LastStatusAt   *string         `json:"last_status_at"`
	Emojis         []Emoji         `json:"emojis"`
	Fields         []store.Field   `json:"fields"`
	Moved          *object         `json:"moved,omitempty"`
	Source         any             `json:"source,omitempty"`
	// Only to the account itself.
	FollowRequestsCount *int  `json:"follow_requests_count,omitempty"`
	Role                *Role `json:"role,omitempty"`
}

// accountExtension is the svc object of an account. Relationship comes last, so that it can be filled in for the viewer.
type accountExtension struct {
	APID                string   `json:"ap_id"`
	AlsoKnownAs         []string `json:"also_known_as"`
	BackgroundImage     *string  `json:"background_image"`
	Tags                []string `json:"tags"`
	IsAdmin             *bool    `json:"is_admin,omitempty"`
	IsModerator         *bool    `json:"is_moderator,omitempty"`
	Privileges          []string `json:"privileges,omitzero"`
	IsConfirmed         bool     `json:"is_confirmed"`
	ConfirmationPending bool     `json:"confirmation_pending"`
	IsActive            bool     `json:"is_active"`
	HideFavorites       bool     `json:"hide_favorites"`
	HideFollowers       bool     `json:"hide_followers"`
	HideFollows         bool     `json:"hide_follows"`
	HideFollowersCount  bool     `json:"hide_followers_count"`
	HideFollowsCount    bool     `json:"hide_follows_count"`
	AcceptsChatMessages *bool    `json:"accepts_chat_messages"`
	Birthday            string   `json:"birthday,omitempty"` // to others only if it is shown
	SkipContainment     bool     `json:"skip_thread_containment"`
	Favicon             *string  `json:"favicon"`
	// Only to the account itself.
	Email                    *string                    `json:"email,omitempty"`
	AllowFollowingMove       *bool                      `json:"allow_following_move,omitempty"`
	UnreadConversationCount  *int                       `json:"unread_conversation_count,omitempty"`
	UnreadNotificationsCount *int                       `json:"unread_notifications_count,omitempty"`
	NotificationSettings     *notificationSettings      `json:"notification_settings,omitempty"`
	SettingsStore            map[string]json.RawMessage `json:"settings_store,omitzero"`
	// Only to staff.
	Deactivated *bool `json:"deactivated,omitempty"`
}

type notificationSettings struct {
	BlockFromStrangers       bool `json:"block_from_strangers"`
	HideNotificationContents bool `json:"hide_notification_contents"`
}

// Role is what an account may do, for the account itself.
type Role struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Color       string `json:"color"`
	Permissions string `json:"permissions"`
	Highlighted bool   `json:"highlighted"`
}

// Account is an account for one viewer.
type Account struct {
	*renderedAccount
	relationship   *Relationship // nil: not asked for
	withMuteExpiry bool          // mutedUntil is shown
	mutedUntil     *store.Time   // nil: for good
}

// renderedAccount is an account as everybody sees it: JSON up to the value of svc.relationship, its last member.
type renderedAccount struct {
	id   store.AccountID
	json []byte

	noRichText  bool // as a viewer
	unavailable bool
	hasMoved    bool // shows another account, and is not kept: nobody says when that one changes
	counters    store.AccountCounters
	hidden      hiddenCounts
	own         atomic.Pointer[credentialRendering] // nil unless the account lives here and has been shown itself
}

// size counts the JSON twice: there may come another one, for the account itself.
func (a *renderedAccount) size() int { return cache.EntryBytes + 2*len(a.json) }

// AppendJSON renders the account.
func (a Account) AppendJSON(dst []byte) []byte {
	dst = append(dst, a.json...)
	if a.relationship == nil {
		dst = append(dst, '{', '}')
	} else if rel, err := marshal(a.relationship); err == nil {
		dst = append(dst, rel...)
	}
	dst = append(dst, '}')
	if a.withMuteExpiry {
		dst = append(dst, `,"mute_expires_at":`...)
		if a.mutedUntil == nil {
			dst = append(dst, "null"...)
		} else {
			dst = append(append(append(dst, '"'), a.mutedUntil.String()...), '"')
		}
	}
	return append(dst, '}')
}

// MarshalJSON is AppendJSON for accounts inside of other entities.
func (a Account) MarshalJSON() ([]byte, error) { return a.AppendJSON(nil), nil }

// ID returns the account's id.
func (a Account) ID() store.AccountID { return a.id }

// WithRelationship returns the account with svc.relationship filled in.
func (a Account) WithRelationship(r *Relationship) Account {
	a.relationship = r
	return a
}

// WithMuteExpiry returns the account as a list of mutes shows it; nil is for good.
func (a Account) WithMuteExpiry(t *store.Time) Account {
	a.withMuteExpiry, a.mutedUntil = true, t
	return a
}

// Accounts returns the accounts of the ids that exist, in the order of the ids, as everybody sees them.
func (b *Builder) Accounts(ctx context.Context, ids []store.AccountID) (List[Account], error) {
	found, err := b.renderAccounts(ctx, ids)
	if err != nil {
		return nil, err
	}
	accounts := make(List[Account], 0, len(ids))
	for _, id := range ids {
		if a, ok := found[id]; ok {
			accounts = append(accounts, Account{renderedAccount: a})
		}
	}
	return accounts, nil
}

// AccountsWithRelationships is Accounts with svc.relationship filled in for the viewer, if there is one.
func (b *Builder) AccountsWithRelationships(ctx context.Context, viewer *store.Account, ids []store.AccountID) (List[Account], error) {
	accounts, err := b.Accounts(ctx, ids)
	if err != nil || viewer == nil {
		return accounts, err
	}
	relationships, err := b.Relationships(ctx, viewer, ids)
	if err != nil {
		return nil, err
	}
	of := byID(relationships, func(r *Relationship) store.AccountID { return r.ID })
	for i := range accounts {
		accounts[i].relationship = of[accounts[i].id]
	}
	return accounts, nil
}

// Account returns one account as everybody sees it.
func (b *Builder) Account(ctx context.Context, id store.AccountID) (Account, error) {
	accounts, err := b.Accounts(ctx, []store.AccountID{id})
	if err != nil {
		return Account{}, err
	}
	if len(accounts) == 0 {
		return Account{}, notFound
	}
	return accounts[0], nil
}

// movedTo renders the accounts that some of the rows have moved to, by the ids of these, without following further moves. Those that
// are withheld are left out.
func (b *Builder) movedTo(ctx context.Context, rows ...*store.Account) (map[store.AccountID]*object, error) {
	var ids []store.AccountID
	for _, row := range rows {
		if row.MovedToID != nil {
			ids = append(ids, *row.MovedToID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	targets, err := b.db.Accounts(ctx, unique(ids))
	if err != nil {
		return nil, err
	}
	rendered := make(map[store.AccountID]*object, len(targets))
	for _, target := range targets {
		if target.Unavailable {
			continue
		}
		members, extension := b.sharedAccount(target, nil)
		a, err := b.renderAccount(target, members, extension)
		if err != nil {
			return nil, err
		}
		o := object(Account{renderedAccount: a}.AppendJSON(nil))
		rendered[target.ID] = &o
	}
	moved := make(map[store.AccountID]*object, len(ids))
	for _, row := range rows {
		if row.MovedToID != nil {
			moved[row.ID] = rendered[*row.MovedToID]
		}
	}
	return moved, nil
}

func (b *Builder) renderAccount(row *store.Account, members *accountMembers, extension *accountExtension) (*renderedAccount, error) {
	o, err := b.extended(members, extension)
	if err != nil {
		return nil, err
	}
	json := append(o[:len(o)-2:len(o)-2], `,"relationship":`...) // open again: the account and its extension
	return &renderedAccount{
		id: row.ID, json: json, unavailable: row.Unavailable, hasMoved: row.MovedToID != nil,
		counters: store.AccountCounters{Followers: row.FollowersCount, Following: row.FollowingCount, Statuses: row.StatusesCount, LastStatusAt: row.LastStatusAt},
		hidden:   hiddenCounts{row.HideFollowers && row.HideFollowersCount, row.HideFollows && row.HideFollowsCount},
	}, nil
}

// sharedAccount makes the members that everybody sees. user is nil for accounts elsewhere.
func (b *Builder) sharedAccount(row *store.Account, user *store.User) (*accountMembers, *accountExtension) {
	m := &accountMembers{
		ID:             row.ID,
		Username:       row.Nickname,
		Acct:           row.Acct(),
		FQN:            row.Nickname + "@" + row.Domain,
		DisplayName:    row.DisplayName,
		Locked:         row.Locked,
		Bot:            row.ActorType == "Service" || row.ActorType == "Application" || row.ActorType == "Group",
		Group:          row.ActorType == "Group",
		Discoverable:   row.Discoverable,
		CreatedAt:      row.CreatedAt,
		Note:           row.Note,
		URL:            row.URL,
		URI:            row.URI,
		Avatar:         b.picture(row.Avatar, standardAvatar),
		Header:         b.picture(row.Header, "/images/banner.png"),
		FollowersCount: row.FollowersCount,
		FollowingCount: row.FollowingCount,
		StatusesCount:  row.StatusesCount,
		Fields:         row.Fields.V,
	}
	if row.Local() {
		m.FQN = row.Nickname + "@" + b.Domain
	}
	m.AvatarStatic, m.HeaderStatic = m.Avatar, m.Header
	if row.AvatarStatic != "" {
		m.AvatarStatic = b.picture(row.AvatarStatic, "")
	}
	if row.HeaderStatic != "" {
		m.HeaderStatic = b.picture(row.HeaderStatic, "")
	}
	if row.HideFollowers && row.HideFollowersCount {
		m.FollowersCount = 0
	}
	if row.HideFollows && row.HideFollowsCount {
		m.FollowingCount = 0
	}
	m.LastStatusAt = dayOf(row.LastStatusAt)
	if m.Fields == nil {
		m.Fields = []store.Field{}
	}
	texts := []string{row.DisplayName, row.Note}
	for _, f := range row.Fields.V {
		texts = append(texts, f.Name, f.Value)
	}
	m.Emojis = b.emojisFor(row.Local(), row.Emojis.V, texts...)

	x := &accountExtension{
		APID:                row.URI,
		AlsoKnownAs:         row.AlsoKnownAs.V,
		Tags:                row.Tags.V,
		IsConfirmed:         true,
		IsActive:            true,
		HideFavorites:       row.HideFavorites,
		HideFollowers:       row.HideFollowers,
		HideFollows:         row.HideFollows,
		HideFollowersCount:  row.HideFollowersCount,
		HideFollowsCount:    row.HideFollowsCount,
		AcceptsChatMessages: row.AcceptsChatMessages,
	}
	if row.ShowBirthday {
		x.Birthday = row.Birthday
	}
	x.BackgroundImage = b.Picture(row.Background)
	m.Source = b.source(row, user)
	if user != nil {
		x.IsConfirmed, x.ConfirmationPending = user.ConfirmedAt != nil, user.ConfirmedAt == nil
		x.IsActive = user.DeactivatedAt == nil
		x.SkipContainment = user.SkipThreadContainment
		if user.ShowRole {
			x.IsAdmin, x.IsModerator, x.Privileges = &user.IsAdmin, &user.IsModerator, privileges(user)
		}
	}
	return m, x
}

const standardAvatar = "/images/avi.png"

// picture returns the address of a profile picture: a media file's, that under which a remote one is shown, or the standard one's.
func (b *Builder) picture(name, standard string) string {
	switch {
	case name == "":
		return b.BaseURL + standard
	case len(name) > 8 && (name[:7] == "http://" || name[:8] == "https://"):
		return b.proxied(name)
	}
	return b.MediaURL + name
}

// Avatar returns the address of an account's picture, which does not move.
func (b *Builder) Avatar(a *store.Account) string {
	if a.AvatarStatic != "" {
		return b.picture(a.AvatarStatic, "")
	}
	return b.picture(a.Avatar, standardAvatar)
}

// Picture returns the address of a profile picture, nil if the account has none.
func (b *Builder) Picture(name string) *string {
	if name == "" {
		return nil
	}
	url := b.picture(name, "")
	return &url
}

// privileges are what a user's role may do; administrators may do everything.
func privileges(u *store.User) []string {
	switch {
	case u.IsAdmin:
		return []string{"users_read", "users_manage_invites", "users_manage_activation_state", "users_manage_tags", "users_manage_credentials",
			"users_delete", "messages_read", "messages_delete", "instances_delete", "reports_manage_reports", "moderation_log_read",
			"announcements_manage_announcements", "emoji_manage_emoji", "statistics_read"}
	case u.IsModerator:
		return []string{"messages_delete", "reports_manage_reports"}
	}
	return []string{}
}

// Source is what an account was written from.
type Source struct {
	Privacy             *string       `json:"privacy,omitempty"`
	Sensitive           bool          `json:"sensitive"`
	Language            *string       `json:"language,omitempty"`
	Note                string        `json:"note"`
	Fields              []store.Field `json:"fields"`
	FollowRequestsCount *int          `json:"follow_requests_count,omitempty"`
	Discoverable        *bool         `json:"discoverable,omitempty"`
}

// sourceExtension is the svc object of a source.
type sourceExtension struct {
	ShowRole     *bool  `json:"show_role,omitempty"`
	NoRichText   *bool  `json:"no_rich_text,omitempty"`
	ShowBirthday *bool  `json:"show_birthday,omitempty"`
	Discoverable bool   `json:"discoverable"`
	ActorType    string `json:"actor_type"`
}

// source is what of an account's source everybody sees.
func (b *Builder) source(row *store.Account, user *store.User) any {
	s := Source{Note: text.HTMLToText(row.Note), Fields: []store.Field{}}
	if user != nil {
		s.Note = user.Note
		s.Fields = append(s.Fields, user.Fields.V...)
	}
	o, err := b.extended(s, sourceExtension{Discoverable: row.Discoverable, ActorType: row.ActorType})
	if err != nil {
		return nil
	}
	return o
}

// CredentialDetails is what an account sees of itself beside its rows.
type CredentialDetails struct {
	store.UnreadCounts
	SettingsStore bool // show it: only the endpoints do that are about oneself
}

// credentialRendering is what an account was shown of itself last, and of what that was made.
type credentialRendering struct {
	row     *store.Account
	user    *store.User
	details CredentialDetails
	json    []byte
}

// CredentialAccount returns an account for the account itself, with all that is shown to nobody else. The counters of row need not
// be up to date.
func (b *Builder) CredentialAccount(ctx context.Context, row *store.Account, user *store.User, own CredentialDetails) (Account, error) {
	rendered, err := b.renderAccounts(ctx, []store.AccountID{row.ID})
	if err != nil {
		return Account{}, err
	}
	shared := rendered[row.ID]
	if shared == nil {
		return Account{}, notFound
	}
	// The rows are the same as long as they have not changed (identities.go), and so are the counters of a shared rendering.
	if last := shared.own.Load(); last != nil && last.row == row && last.user == user && last.details == own {
		return Account{renderedAccount: &renderedAccount{id: row.ID, json: last.json}}, nil
	}
	a, err := b.renderCredentialAccount(ctx, row, user, own, shared.counters)
	if err == nil && row.MovedToID == nil {
		shared.own.Store(&credentialRendering{row, user, own, a.json})
	}
	return a, err
}

func (b *Builder) renderCredentialAccount(ctx context.Context, row *store.Account, user *store.User, own CredentialDetails, count store.AccountCounters) (Account, error) {
	moved, err := b.movedTo(ctx, row)
	if err != nil {
		return Account{}, err
	}
	current := *row
	current.StatusesCount, current.LastStatusAt = count.Statuses, count.LastStatusAt
	row = &current
	m, x := b.sharedAccount(row, user)
	m.Moved = moved[row.ID]
	m.FollowersCount, m.FollowingCount = count.Followers, count.Following
	m.FollowRequestsCount = &own.FollowRequests
	m.Role = roleOf(user)
	privacy, language := user.DefaultVisibility.String(), user.DefaultLanguage
	source := Source{
		Privacy:             &privacy,
		Sensitive:           user.DefaultSensitive,
		Language:            &language,
		Note:                user.Note,
		Fields:              append([]store.Field{}, user.Fields.V...),
		FollowRequestsCount: &own.FollowRequests,
		Discoverable:        &row.Discoverable,
	}
	if m.Source, err = b.extended(source, sourceExtension{&user.ShowRole, &user.NoRichText, &row.ShowBirthday, row.Discoverable, row.ActorType}); err != nil {
		return Account{}, err
	}
	x.IsAdmin, x.IsModerator, x.Privileges = &user.IsAdmin, &user.IsModerator, privileges(user)
	x.Email, x.Birthday = &user.Email, row.Birthday
	x.AllowFollowingMove = &user.AllowFollowingMove
	x.UnreadConversationCount, x.UnreadNotificationsCount = &own.UnreadConversations, &own.UnreadNotifications
	x.NotificationSettings = &notificationSettings{user.BlockFromStrangers, user.HideNotificationContents}
	if own.SettingsStore {
		x.SettingsStore = user.SettingsStore.V
		if x.SettingsStore == nil {
			x.SettingsStore = map[string]json.RawMessage{}
		}
	}
	a, err := b.renderAccount(row, m, x)
	return Account{renderedAccount: a}, err
}

func roleOf(u *store.User) *Role {
	switch {
	case u.IsAdmin:
		return &Role{ID: "3", Name: "Admin", Permissions: "1", Highlighted: u.ShowRole}
	case u.IsModerator:
		return &Role{ID: "2", Name: "Moderator", Permissions: "0", Highlighted: u.ShowRole}
	}
	return &Role{ID: "-99", Permissions: "0"}
}

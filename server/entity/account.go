package entity

import (
	"bytes"
	"context"
	"strconv"
	"sync/atomic"

	"svc/internal/cache"
	"svc/store"
)

// accountMembers are the members of an account.
type accountMembers struct {
	ID           store.AccountID `json:"id"`
	Username     string          `json:"username"`
	Acct         string          `json:"acct"`
	FQN          string          `json:"fqn"`
	DisplayName  string          `json:"display_name"`
	Locked       bool            `json:"locked"`
	Bot          bool            `json:"bot"`
	Group        bool            `json:"group"`
	Discoverable bool            `json:"discoverable"`
	Indexable    bool            `json:"indexable"`
	HideLists    bool            `json:"hide_collections"` // of followers and followed accounts
	CreatedAt    store.Time      `json:"created_at"`
	Note         string          `json:"note"`
	URL          string          `json:"url"`
	URI          string          `json:"uri"`
	Avatar       string          `json:"avatar"`
	AvatarStatic string          `json:"avatar_static"`
	Header       string          `json:"header"`
	HeaderStatic string          `json:"header_static"`

	AvatarDescription string `json:"avatar_description"` // plain text, "" if there is none
	HeaderDescription string `json:"header_description"`
	ShowMedia         bool   `json:"show_media"`
	ShowMediaReplies  bool   `json:"show_media_replies"`
	ShowFeatured      bool   `json:"show_featured"`

	FollowersCount slot          `json:"followers_count"`
	FollowingCount slot          `json:"following_count"`
	StatusesCount  slot          `json:"statuses_count"`
	LastStatusAt   slot          `json:"last_status_at"`
	Emojis         []Emoji       `json:"emojis"`
	Fields         []store.Field `json:"fields"`
	Roles          []publicRole  `json:"roles"` // null: the account is remote
	Moved          *object       `json:"moved,omitempty"`
	Source         any           `json:"source,omitempty"`
	// Only for the account itself.
	FollowRequestsCount *int  `json:"follow_requests_count,omitempty"`
	Role                *Role `json:"role,omitempty"`
}

// accountExtension is the svc object of an account.
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
	Birthday            string   `json:"birthday,omitempty"` // for others only if ShowBirthday
	SkipContainment     bool     `json:"skip_thread_containment"`
	Favicon             *string  `json:"favicon"`
	*credentialExtension
	Relationship struct{} `json:"relationship"` // last, because Account.AppendJSON replaces it
}

// accountDocument is an account as cached: everything but the counters and what depends on the viewer.
type accountDocument struct {
	document
	id          store.AccountID
	noRichText  bool // the account's setting as a viewer
	unavailable bool
	deactivated bool // or suspended or deleted
	name        string
	url         string
	hasMoved    bool // not cached, because no event names the account when the account that it moved to changes

	attributionDomains []string // hosts whose pages may name the account as their author
	approval           store.FeatureApproval

	hideFollowersCount bool
	hideFollowingCount bool

	credential atomic.Pointer[credentialRendering] // nil unless the account is local and has requested itself
}

// cachedAccount is an account with counters. Each new status changes the counters, so the document outlives them.
type cachedAccount struct {
	*accountDocument
	counters store.AccountCounters
	json     []byte // the document with counters, up to the relationship
}

// Account is an account for one viewer. The cache has it without what depends on the viewer.
type Account struct {
	*cachedAccount               // nil: there is no such account
	relationship   *Relationship // nil: not requested
	forStaff       bool          // include svc.deactivated
	staff          *staffMembers // nil: not requested
	withMuteExpiry bool
	muteExpiresAt  *store.Time // nil: never
}

// countersOf is a document for which the slots of the counters are filled in.
type countersOf struct {
	*accountDocument
	store.AccountCounters
}

// accountSlots are the counters.
var accountSlots = newSlots(accountMembers{}, accountExtension{}, map[string]slotOf[countersOf]{
	"followers_count": {"0", always[countersOf], func(c countersOf, dst []byte) []byte { return appendCount(dst, c.Followers, c.hideFollowersCount) }},
	"following_count": {"0", always[countersOf], func(c countersOf, dst []byte) []byte { return appendCount(dst, c.Following, c.hideFollowingCount) }},
	"statuses_count":  {"0", always[countersOf], func(c countersOf, dst []byte) []byte { return appendCount(dst, c.Statuses, false) }},
	"last_status_at": {"null", always[countersOf], func(c countersOf, dst []byte) []byte {
		if c.LastStatusAt == nil {
			return append(dst, "null"...)
		}
		return c.LastStatusAt.Time().AppendFormat(dst, `"2006-01-02"`)
	}},
})

func appendCount(dst []byte, n int, hidden bool) []byte {
	if hidden {
		n = 0
	}
	return strconv.AppendInt(dst, int64(n), 10)
}

// withCounters returns the account with counters.
func (d *accountDocument) withCounters(c store.AccountCounters) Account {
	json := make([]byte, 0, len(d.document.json)+32)
	json = appendDocument(json, d.document.head(), &d.document, accountSlots, countersOf{d, c})
	json = bytes.TrimSuffix(json, []byte("{}}}")) // without the relationship, which comes last
	return Account{cachedAccount: &cachedAccount{d, c, json}}
}

// size counts the JSON three times: with slots, with counters, and for the account itself.
func (a Account) size() int { return 3*len(a.json) + cache.EntryBytes }

// AppendJSON renders the account.
func (a Account) AppendJSON(dst []byte) []byte {
	if a.cachedAccount == nil {
		return append(dst, "{}"...)
	}
	dst = append(dst, a.json...)
	if a.relationship == nil {
		dst = append(dst, "{}"...)
	} else {
		dst = appendValue(dst, a.relationship)
	}
	if a.forStaff {
		dst = appendBool(dst, `,"deactivated":`, a.deactivated)
	}
	dst = append(dst, '}')
	dst = a.appendFeatureApproval(append(dst, `,"feature_approval":`...))
	if a.withMuteExpiry {
		dst = appendValue(append(dst, `,"mute_expires_at":`...), a.muteExpiresAt)
	}
	if a.staff != nil {
		if members, err := marshalMembers(a.staff); err == nil {
			dst = append(append(dst, ','), members...)
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

// ForStaff returns the account with what only staff are shown: whether it is deactivated.
func (a Account) ForStaff() Account {
	a.forStaff = true
	return a
}

// WithMuteExpiry returns the account as an entry of the list of mutes; nil never expires.
func (a Account) WithMuteExpiry(t *store.Time) Account {
	a.withMuteExpiry, a.muteExpiresAt = true, t
	return a
}

// Accounts returns the accounts of the ids that exist, in the order of the ids, without relationships.
func (b *Builder) Accounts(ctx context.Context, ids []store.AccountID) (List[Account], error) {
	found, err := b.loadAccounts(ctx, ids)
	if err != nil {
		return nil, err
	}
	accounts := make(List[Account], 0, len(ids))
	for _, id := range ids {
		if a, ok := found[id]; ok {
			accounts = append(accounts, a)
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

// Account returns one account, without its relationship.
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

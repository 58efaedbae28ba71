package moving

import (
	"context"
	"encoding/json"
	"strings"

	"svc/internal/keys"
	"svc/internal/password"
	"svc/internal/text"
	"svc/store"
)

// Bounds of what local accounts bring.
const (
	maxTakenNote   = 20_000 // bytes
	maxTakenName   = 500
	maxTakenFields = 50
)

// accountRow is an account of the scratch database, with its user if it is local.
type accountRow struct {
	at
	ID, Username, Domain, URI, URL, Type, DisplayName, Note, Fields, NoteSource, FieldsSource string
	Locked, Discoverable, HideCollections                                                     bool
	Indexable                                                                                 *bool
	CreatedAt                                                                                 int64
	AvatarURL, HeaderURL, AlsoKnownAs, MovedToURI                                             string
	Inbox, SharedInbox, Outbox, Followers, Following, Featured                                string
	PublicKey                                                                                 string
	PrivateKey                                                                                []byte
	KeyURI                                                                                    string
	Suspended, Limited, Memorial                                                              bool

	Email, PendingEmail, Password        string
	ConfirmedAt                          int64
	Approved, Disabled, Admin, Moderator bool
	TotpSecret                           string
	TotpLost                             bool
	Reason, Locale                       string
	LastActiveAt                         int64
	Visibility                           store.Visibility
	Sensitive                            bool
	Language                             string
}

// accountQuery selects accounts and their users.
const accountQuery = `
	SELECT i.id AS pos, a.id, a.username, a.domain, a.uri, a.url, a.type, a.display_name, a.note, a.fields, a.note_source, a.fields_source,
		a.locked, a.discoverable, a.hide_collections OR ifnull(p.hide_collections, 0) AS hide_collections, a.indexable, a.created_at,
		ifnull((SELECT remote_url FROM media WHERE id = a.avatar), '') AS avatar_url, ifnull((SELECT remote_url FROM media WHERE id = a.header), '') AS header_url,
		a.also_known_as, a.moved_to_uri, a.inbox, a.shared_inbox, a.outbox, a.followers, a.following, a.featured,
		a.public_key, a.private_key, a.key_uri, a.suspended, a.limited, a.memorial,
		ifnull(u.email, '') AS email, ifnull(u.pending_email, '') AS pending_email, ifnull(u.password, '') AS password, ifnull(u.confirmed_at, 0) AS confirmed_at,
		ifnull(u.approved, 0) AS approved, ifnull(u.disabled, 0) AS disabled, ifnull(u.admin, 0) AS admin, ifnull(u.moderator, 0) AS moderator,
		ifnull(u.totp_secret, '') AS totp_secret, ifnull(u.totp_lost, 0) AS totp_lost, ifnull(u.reason, '') AS reason, ifnull(u.locale, '') AS locale,
		ifnull(u.last_active_at, 0) AS last_active_at,
		ifnull(p.visibility, 0) AS visibility, ifnull(p.sensitive, 0) AS sensitive, ifnull(p.language, '') AS language
	FROM ids i
	CROSS JOIN accounts a ON a.id = i.source
	LEFT JOIN users u ON u.account = a.id AND a.domain = ''
	LEFT JOIN preferences p ON p.account = a.id
	WHERE i.kind = 'account' AND i.id > ?
	ORDER BY i.id
	LIMIT ?`

// accounts writes all accounts, the users and keys of local ones, and the actors of others.
func (w *writer) accounts(ctx context.Context, step string) error {
	return each(ctx, w, step, accountQuery, func(tx *store.Tx, r *accountRow) error {
		var err error
		if r.Domain == "" {
			err = w.localAccount(ctx, tx, r)
		} else {
			err = w.remoteAccount(ctx, tx, r)
		}
		return err
	})
}

// profile returns the row that local and remote accounts have alike.
func (r *accountRow) profile() *store.Account {
	a := &store.Account{
		ID: store.AccountID(r.Pos), Nickname: r.Username, Domain: strings.ToLower(r.Domain), URI: r.URI, URL: r.URL, ActorType: r.Type,
		DisplayName: text.OneLine(text.Shorten(r.DisplayName, maxTakenName)), Note: text.Sanitize(r.Note),
		Locked: r.Locked, Discoverable: r.Discoverable, Indexable: r.Indexable, HideFavorites: true,
		HideFollowers: r.HideCollections, HideFollows: r.HideCollections, CreatedAt: store.Time(max(r.CreatedAt, 1)),
	}
	if a.URL == "" {
		a.URL = a.URI
	}
	json.Unmarshal([]byte(r.Fields), &a.Fields.V) // written by jsonOf
	for i := range a.Fields.V {
		a.Fields.V[i].Value = text.SanitizeLinksOnly(a.Fields.V[i].Value)
	}
	json.Unmarshal([]byte(r.AlsoKnownAs), &a.AlsoKnownAs.V)
	a.CutRemote()
	return a
}

func (w *writer) localAccount(ctx context.Context, tx *store.Tx, r *accountRow) error {
	a := r.profile()
	a.AcceptsChatMessages = new(true)
	a.Unavailable = r.Suspended || r.Disabled || r.ConfirmedAt == 0 || !r.Approved
	if r.Limited {
		a.Tags.V = []string{unlistedTag}
	}
	if ok, err := w.take(ctx, tx, "accounts", a); err != nil || !ok {
		return err
	}
	if ok, err := w.take(ctx, tx, "users", w.user(r)); err != nil || !ok {
		return err
	}
	if r.PrivateKey == nil {
		w.Report.note("the account " + r.Username + " has no private key in the source: it gets a new one")
		return nil
	}
	_, err := w.take(ctx, tx, "keys", &store.ActorKey{
		URI: r.KeyURI, AccountID: a.ID, Public: r.PublicKey, Private: w.target.keys.Seal(keys.ActorKeys, r.PrivateKey), CreatedAt: a.CreatedAt, Announced: true,
	})
	return err
}

// unlistedTag is the tag of accounts whose posts are unlisted (policy.TagUnlisted, in a package beside social).
const unlistedTag = "mrf_tag:force-unlisted"

// user returns the login of a local account.
func (w *writer) user(r *accountRow) *store.User {
	u := &store.User{
		AccountID: store.AccountID(r.Pos), PasswordHash: r.Password,
		IsAdmin: w.source.makesAdmin(r.Username), IsModerator: r.Moderator || r.Admin,
		ConfirmedAt: timeOrNil(r.ConfirmedAt), RegistrationReason: text.Shorten(r.Reason, maxTakenNote), Locale: text.Language(r.Locale),
		Note: text.Shorten(r.NoteSource, maxTakenNote), DefaultVisibility: r.Visibility, DefaultSensitive: r.Sensitive, DefaultLanguage: text.Language(r.Language),
		ShowRole: true, AllowFollowingMove: true, TOTPSecret: r.TotpSecret, LastActiveAt: store.Time(r.LastActiveAt),
	}
	if u.IsAdmin {
		u.IsModerator = false
	}
	json.Unmarshal([]byte(r.FieldsSource), &u.Fields.V)
	u.Fields.V = u.Fields.V[:min(len(u.Fields.V), maxTakenFields)]
	now := store.At(w.target.Now())
	if r.Approved {
		u.ApprovedAt = &now
	}
	if r.Suspended || r.Disabled {
		u.DeactivatedAt = &now
	}
	if r.Memorial { // nobody gets in, but the profile stays
		u.PasswordHash, u.TOTPSecret, u.IsAdmin, u.IsModerator = "", "", false, false
		return u
	}
	if text.ValidEmail(r.Email) {
		u.Email = r.Email
	}
	if text.ValidEmail(r.PendingEmail) {
		u.PendingEmail = r.PendingEmail
	}
	if !password.Known(r.Password) {
		u.PasswordHash, u.ResetRequired = "", true
	}
	if r.TotpLost { // the password alone must not let anybody in
		u.PasswordHash, u.ResetRequired = "", true
	}
	return u
}

func (w *writer) remoteAccount(ctx context.Context, tx *store.Tx, r *accountRow) error {
	a := r.profile()
	a.Avatar, a.AvatarStatic, a.Header, a.HeaderStatic = r.AvatarURL, r.AvatarURL, r.HeaderURL, r.HeaderURL
	if r.Suspended {
		a.SuspendedAt, a.Unavailable = new(store.At(w.target.Now())), true
	}
	if ok, err := w.take(ctx, tx, "remote accounts", a); err != nil || !ok {
		return err
	}
	if ok, err := w.take(ctx, tx, "actors", &store.Actor{ // never fetched by this server, so it is soon
		AccountID: a.ID, Inbox: r.Inbox, SharedInbox: r.SharedInbox, Outbox: r.Outbox, Followers: r.Followers, Following: r.Following, Featured: r.Featured,
	}); err != nil || !ok {
		return err
	}
	if r.KeyURI == "" || r.PublicKey == "" {
		return nil
	}
	_, err := w.take(ctx, tx, "keys", &store.ActorKey{URI: r.KeyURI, AccountID: a.ID, Public: r.PublicKey, CreatedAt: a.CreatedAt, Announced: true})
	return err
}

// pairRow is a row about two accounts.
type pairRow struct {
	at
	Account, Target          store.AccountID
	Pending, Reblogs, Notify bool
	Local                    bool // the first account is
	URI                      string
	Notifications            bool
	ExpiresAt                int64
	Comment                  string
	CreatedAt                int64
}

// pairs selects the rows of a table whose two accounts come along, one of them a local one.
func pairs(table, columns string) string {
	return `
	SELECT t.n AS pos, ia.id AS account, ib.id AS target, a.domain = '' AS local, ` + columns + `
	FROM ` + table + ` t
	CROSS JOIN ids ia ON ia.kind = 'account' AND ia.source = t.account
	CROSS JOIN ids ib ON ib.kind = 'account' AND ib.source = t.target
	CROSS JOIN accounts a ON a.id = t.account
	CROSS JOIN accounts b ON b.id = t.target
	WHERE t.n > ? AND (a.domain = '' OR b.domain = '') AND t.account <> t.target
	ORDER BY t.n
	LIMIT ?`
}

// followedAccounts writes follows and requests.
func (w *writer) followedAccounts(ctx context.Context, step string) error {
	return each(ctx, w, step, pairs("follows", "t.pending, t.reblogs, t.notify, t.uri"), func(tx *store.Tx, r *pairRow) error {
		ok, err := w.take(ctx, tx, "follows", &store.Follow{
			FollowerID: r.Account, TargetID: r.Target, Pending: r.Pending, FollowerLocal: r.Local, ShowReblogs: r.Reblogs, URI: textOrNil(r.URI),
		})
		if err == nil && ok && r.Notify && r.Local && !r.Pending {
			err = tx.AddSubscription(ctx, r.Account, r.Target)
		}
		return err
	})
}

// relationships writes blocks, mutes, private notes, endorsements and blocked domains of accounts, and where accounts have moved to.
func (w *writer) relationships(ctx context.Context, step string) error {
	for _, part := range []struct {
		name, query string
		write       func(tx *store.Tx, r *pairRow) error
	}{
		{"blocks", pairs("blocks", "t.uri"), func(tx *store.Tx, r *pairRow) error { return tx.TakeBlock(ctx, r.Account, r.Target, r.URI) }},
		{"mutes", pairs("mutes", "t.notifications, t.expires_at"), func(tx *store.Tx, r *pairRow) error {
			_, err := w.take(ctx, tx, "mutes", &store.Mute{AccountID: r.Account, TargetID: r.Target, HideNotifications: r.Notifications, ExpiresAt: timeOrNil(r.ExpiresAt)})
			return err
		}},
		{"notes", pairs("notes", "t.comment"), func(tx *store.Tx, r *pairRow) error {
			return tx.SetNote(ctx, r.Account, r.Target, text.Shorten(r.Comment, maxTakenNote))
		}},
		{"endorsements", pairs("endorsements", "'' AS comment"), func(tx *store.Tx, r *pairRow) error {
			_, err := tx.AddEndorsement(ctx, r.Account, r.Target, maxTakenFields)
			return err
		}},
		{"blocked domains", `
			SELECT t.n AS pos, i.id AS account, t.domain AS comment
			FROM domain_blocks t
			CROSS JOIN ids i ON i.kind = 'account' AND i.source = t.account
			CROSS JOIN accounts a ON a.id = t.account AND a.domain = ''
			WHERE t.n > ?
			ORDER BY t.n
			LIMIT ?`, func(tx *store.Tx, r *pairRow) error {
			if domain := text.NormalizeDomain(r.Comment); domain != "" {
				return tx.AddDomainBlock(ctx, r.Account, domain)
			}
			return nil
		}},
		{"moved accounts", `
			SELECT i.id AS pos, i.id AS account, j.id AS target
			FROM ids i
			CROSS JOIN accounts a ON a.id = i.source AND a.moved_to <> ''
			CROSS JOIN ids j ON j.kind = 'account' AND j.source = a.moved_to
			WHERE i.kind = 'account' AND i.id > ?
			ORDER BY i.id
			LIMIT ?`, func(tx *store.Tx, r *pairRow) error { return tx.SetTakenMove(ctx, r.Account, r.Target) }},
	} {
		if err := each(ctx, w, part.name, part.query, part.write); err != nil {
			return err
		}
	}
	return nil
}

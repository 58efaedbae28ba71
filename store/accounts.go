package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"svc/internal/text"
)

// Account is a person, bot or group, local or remote.
type Account struct {
	ID                  AccountID
	Nickname            string
	NicknameKey         string
	Domain              string // "": local
	URI                 string
	URL                 string
	ActorType           string
	DisplayName         string
	Note                string // HTML
	Fields              JSON[[]Field]
	Avatar              string // a media file name if the account is local, else a URL
	AvatarStatic        string
	Header              string
	HeaderStatic        string
	Background          string
	Locked              bool
	Discoverable        bool
	Indexable           *bool // consent to the search of its posts; nil: not stated
	HideFavorites       bool
	HideFollowers       bool
	HideFollows         bool
	HideFollowersCount  bool
	HideFollowsCount    bool
	AcceptsChatMessages *bool  // nil: unknown
	Birthday            string // 2000-12-31; "": none
	ShowBirthday        bool
	AlsoKnownAs         JSON[[]string]
	MovedToID           *AccountID
	Tags                JSON[[]string]
	Emojis              JSON[[]RemoteEmoji]
	FollowersCount      int
	FollowingCount      int
	StatusesCount       int
	LastStatusAt        *Time
	CreatedAt           Time
	Unavailable         bool
	DeletedAt           *Time
	SuspendedAt         *Time          // remote accounts only: staff suspended it
	Rejected            bool           // remote accounts only: the settings reject its host
	MaxVisibility       Visibility     // remote accounts only: the largest audience that the settings leave to its stored posts
	Limiting            bool           // not all of them have it yet
	Suggested           bool           // staff suggest it to users
	FeaturePolicy       FeaturePolicy  // local accounts only: who may put it into a collection
	AttributionDomains  JSON[[]string] // hosts whose pages may name it as their author
	AvatarDescription   string         // plain text
	HeaderDescription   string
	HideMedia           bool            // apps show no tab with its attachments
	HideMediaReplies    bool            // nor those of its replies in it
	HideFeatured        bool            // apps show no tab with what it features
	FeatureApproval     FeatureApproval // remote accounts only: who may put it into a collection, as its actor says
}

// Field is a line of a profile. Value is HTML on accounts, and as typed on users.
type Field struct {
	Name       string `json:"name"`
	Value      string `json:"value"`
	VerifiedAt *Time  `json:"verified_at"`
}

// Local returns true if the account is local.
func (a *Account) Local() bool { return a.Domain == "" }

// ConsentsToSearch returns the value of `indexable` in the actor document: Indexable, or Discoverable if that is nil.
func (a *Account) ConsentsToSearch() bool {
	if a.Indexable != nil {
		return *a.Indexable
	}
	return a.Discoverable
}

// Acct returns the nickname, with the domain if the account is remote.
func (a *Account) Acct() string {
	if a.Local() {
		return a.Nickname
	}
	return a.Nickname + "@" + a.Domain
}

// Account returns an account, and errs.ErrRecordNotFound if there is none.
func (r reader) Account(ctx context.Context, id AccountID) (*Account, error) {
	return get[Account](ctx, r, "account", `SELECT * FROM accounts WHERE id = ?`, id)
}

// AccountState returns whether an account is unavailable and whether it is remote, and errs.ErrRecordNotFound if there is none.
func (r reader) AccountState(ctx context.Context, id AccountID) (unavailable, remote bool, err error) {
	found, err := ids[int64](ctx, r, "account state", `SELECT unavailable + 2 * (domain <> '') FROM accounts WHERE id = ?`, id)
	if err == nil && len(found) == 0 {
		err = notFound
	}
	if err != nil {
		return false, false, err
	}
	return found[0]&1 != 0, found[0]&2 != 0, nil
}

// Accounts returns the accounts that have one of the ids, in no order.
func (r reader) Accounts(ctx context.Context, ids []AccountID) ([]*Account, error) {
	return list[*Account](ctx, r, "accounts", `
		SELECT a.*
		FROM json_each(?) j
		CROSS JOIN accounts a ON a.id = j.value`, jsonArray(ids))
}

// AccountCounters are the columns of an account that change most.
type AccountCounters struct {
	Followers    int
	Following    int
	Statuses     int
	LastStatusAt *Time
}

// AccountCounters returns the counters of the accounts that have one of the ids.
func (r reader) AccountCounters(ctx context.Context, ids []AccountID) (map[AccountID]AccountCounters, error) {
	rows, err := r.query(ctx, "accounts", `
		SELECT a.id, a.followers_count, a.following_count, a.statuses_count, a.last_status_at
		FROM json_each(?) j
		CROSS JOIN accounts a ON a.id = j.value`, jsonArray(ids))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	counters := make(map[AccountID]AccountCounters, len(ids))
	return counters, scanCounters(rows.Rows, counters)
}

// returningCounters is the end of an UPDATE for updateCounters.
const returningCounters = `
			RETURNING id, followers_count, following_count, statuses_count, last_status_at`

// updateCounters runs an UPDATE of an account's counters. It invalidates only the counters of the account.
func (tx *Tx) updateCounters(ctx context.Context, what, query string, args ...any) error {
	rows, err := tx.q.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if tx.changed.Counters == nil {
		tx.changed.Counters = make(map[AccountID]AccountCounters)
	}
	return scanCounters(rows, tx.changed.Counters)
}

func scanCounters(rows *sql.Rows, counters map[AccountID]AccountCounters) error {
	defer rows.Close()
	for rows.Next() {
		var id int64
		var c AccountCounters
		var last sql.NullInt64
		if err := rows.Scan(&id, &c.Followers, &c.Following, &c.Statuses, &last); err != nil {
			return fmt.Errorf("account counters: %w", err)
		}
		if last.Valid {
			c.LastStatusAt = new(Time(last.Int64))
		}
		counters[AccountID(id)] = c
	}
	return rows.Err()
}

// AccountByName returns the account with a nickname, in any case, and a domain ("": local).
func (r reader) AccountByName(ctx context.Context, nickname, domain string) (*Account, error) {
	return get[Account](ctx, r, "account by name", `
		SELECT *
		FROM accounts
		WHERE nickname_key = ? AND domain = ?`, text.NickKey(nickname), strings.ToLower(domain))
}

// AccountIDByName returns the id of the account with a nickname, 0 if there is none.
func (r reader) AccountIDByName(ctx context.Context, nickname, domain string) (AccountID, error) {
	id, err := one[AccountID](ctx, r, "account by name", `
		SELECT id
		FROM accounts
		WHERE nickname_key = ? AND domain = ?`, text.NickKey(nickname), strings.ToLower(domain))
	if id == nil {
		return 0, err
	}
	return *id, nil
}

// AccountsByURI returns the accounts that have one of the ActivityPub ids, by id.
func (r reader) AccountsByURI(ctx context.Context, uris []string) (map[string]*Account, error) {
	rows, err := list[*Account](ctx, r, "accounts by uri", `
		SELECT a.*
		FROM json_each(?) j
		CROSS JOIN accounts a ON a.uri = j.value`, JSON[[]string]{uris})
	of := make(map[string]*Account, len(rows))
	for _, a := range rows {
		of[a.URI] = a
	}
	return of, err
}

// AccountByURI returns the account with an ActivityPub id.
func (r reader) AccountByURI(ctx context.Context, uri string) (*Account, error) {
	return get[Account](ctx, r, "account by URI", `SELECT * FROM accounts WHERE uri = ?`, uri)
}

// AccountByAddress returns the account with an ActivityPub id or profile URL.
func (r reader) AccountByAddress(ctx context.Context, address string) (*Account, error) {
	a, err := r.AccountByURI(ctx, address)
	if err != notFound {
		return a, err
	}
	return get[Account](ctx, r, "account by URL", `SELECT * FROM accounts INDEXED BY accounts_url WHERE url = ? LIMIT 1`, address)
}

// ActorTypes are the types of accounts: those of actor documents (Activity Vocabulary 3.2).
var ActorTypes = []string{"Person", "Service", "Application", "Group", "Organization"}

// checkType returns an error for a type that is in no row. It is in place of a CHECK of the table, which could not be altered.
func checkType(t string, types []string) error {
	if !slices.Contains(types, t) {
		return fmt.Errorf("no type %q, only %q", t, types)
	}
	return nil
}

// AddAccount inserts an account. Its ID is set if it is 0, as are NicknameKey and CreatedAt.
func (tx *Tx) AddAccount(ctx context.Context, a *Account) error {
	if a.ID == 0 {
		a.ID = tx.NewAccountID()
	}
	a.NicknameKey = text.NickKey(a.Nickname)
	if a.CreatedAt == 0 {
		a.CreatedAt = At(tx.db.now())
	}
	orEmpty(&a.Fields.V)
	orEmpty(&a.AlsoKnownAs.V)
	orEmpty(&a.AttributionDomains.V)
	orEmpty(&a.Tags.V)
	orEmpty(&a.Emojis.V)
	if err := checkType(a.ActorType, ActorTypes); err != nil {
		return err
	}
	if err := tx.exec(ctx, "add account", insertAccount.text, insertAccount.args(a)...); err != nil {
		return err
	}
	tx.noteGroup(a)
	if a.Unavailable {
		tx.invalidateAll()
	}
	return tx.indexAccount(ctx, a)
}

// NewAccountID returns a new id, for an account whose URI contains it.
func (tx *Tx) NewAccountID() AccountID { return AccountID(tx.newID()) }

// SaveAccount writes the profile of an account: all columns but names, domain, counters and state.
func (tx *Tx) SaveAccount(ctx context.Context, a *Account) error {
	if err := checkType(a.ActorType, ActorTypes); err != nil {
		return err
	}
	if err := tx.exec(ctx, "save account", updateAccount.text, updateAccount.args(a)...); err != nil {
		return err
	}
	tx.noteGroup(a)
	tx.invalidateAccount(a.ID)
	return tx.indexAccount(ctx, a)
}

// RenameAccount changes the handle of a remote account.
func (tx *Tx) RenameAccount(ctx context.Context, a *Account) error {
	a.NicknameKey = text.NickKey(a.Nickname)
	if err := tx.exec(ctx, "rename account", `
		UPDATE accounts
		SET nickname = ?, nickname_key = ?, domain = ?
		WHERE id = ?`, a.Nickname, a.NicknameKey, a.Domain, a.ID); err != nil {
		return err
	}
	tx.invalidateAccount(a.ID)
	if a.DeletedAt != nil {
		return nil
	}
	return tx.indexAccount(ctx, a)
}

// RestoreAccount makes a deleted remote account available again. Its rows in other tables are gone.
func (tx *Tx) RestoreAccount(ctx context.Context, id AccountID) error {
	tx.invalidateAccount(id)
	tx.invalidateAll()
	return tx.exec(ctx, "revive account", `
		UPDATE accounts
		SET unavailable = 0, deleted_at = NULL, followers_count = 0, following_count = 0, statuses_count = 0, last_status_at = NULL
		WHERE id = ?`, id)
}

// RemoteCounts are the counters of a remote account that its server publishes; nil: not published.
type RemoteCounts struct {
	Followers, Following, Statuses *int
	HideFollowers, HideFollows     bool // the members of the collection are not published
}

// SetRemoteCounts stores the counters that a server publishes of its account. An unpublished counter keeps its value, and is hidden if the
// members are hidden too.
func (tx *Tx) SetRemoteCounts(ctx context.Context, id AccountID, c RemoteCounts) error {
	tx.invalidateAccount(id)
	return tx.exec(ctx, "set remote counts", `
		UPDATE accounts
		SET followers_count = ifnull(?, followers_count), following_count = ifnull(?, following_count), statuses_count = ifnull(?, statuses_count),
			hide_followers = ?, hide_follows = ?, hide_followers_count = ?, hide_follows_count = ?
		WHERE id = ? AND domain <> ''`,
		c.Followers, c.Following, c.Statuses, c.HideFollowers, c.HideFollows, c.HideFollowers && c.Followers == nil, c.HideFollows && c.Following == nil, id)
}

// indexAccount adds the names of an account to the full-text index.
func (tx *Tx) indexAccount(ctx context.Context, a *Account) error {
	return tx.exec(ctx, "index account", `
		INSERT OR REPLACE INTO accounts_fts (rowid, nickname, display_name)
		VALUES (?, ?, ?)`, a.ID, text.Searchable(a.Nickname), text.Searchable(a.DisplayName))
}

// SetUnavailable makes an account and its statuses unavailable to others, or available again.
func (tx *Tx) SetUnavailable(ctx context.Context, id AccountID, unavailable bool) error {
	tx.invalidateAccount(id)
	tx.invalidateAll()
	return tx.exec(ctx, "set unavailable", `UPDATE accounts SET unavailable = ? WHERE id = ?`, unavailable, id)
}

// SetSuspended stores that staff suspended a remote account; nil: not. The caller changes whether it is unavailable.
func (tx *Tx) SetSuspended(ctx context.Context, id AccountID, at *Time) error {
	return tx.exec(ctx, "set suspended", `UPDATE accounts SET suspended_at = ? WHERE id = ?`, at, id)
}

// SetSuggested stores whether staff suggest an account.
func (tx *Tx) SetSuggested(ctx context.Context, id AccountID, suggested bool) error {
	return tx.exec(ctx, "set suggested", `UPDATE accounts SET suggested = ? WHERE id = ?`, suggested, id)
}

// KnownDomains returns the domains of remote accounts, sorted.
func (r reader) KnownDomains(ctx context.Context) ([]string, error) {
	return list[string](ctx, r, "known domains", `
		SELECT DISTINCT domain
		FROM accounts
		WHERE domain <> ''
		ORDER BY domain
		LIMIT 50000`)
}

// CountDomains counts the domains of remote accounts.
func (r reader) CountDomains(ctx context.Context) (int, error) {
	return value[int](ctx, r, "count domains", `
		SELECT count(*)
		FROM (SELECT DISTINCT domain FROM accounts WHERE domain <> '')`)
}

// IsKnownDomain returns true if an account of a domain is known.
func (r reader) IsKnownDomain(ctx context.Context, domain string) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM accounts INDEXED BY accounts_domain WHERE domain = ?`, domain)
}

// HasStatusesAndFollowers returns whether any status of an account is known, and whether a local account follows it.
func (r reader) HasStatusesAndFollowers(ctx context.Context, id AccountID) (posted, followed bool, err error) {
	type row struct{ Posted, Followed bool }
	has, err := value[row](ctx, r, "statuses and followers", `
		SELECT EXISTS (SELECT 1 FROM statuses WHERE account_id = ?1) AS posted,
			EXISTS (SELECT 1 FROM follows WHERE target_id = ?1 AND pending = 0 AND follower_local = 1) AS followed`, id)
	return has.Posted, has.Followed, err
}

// RemoteEmoji is a custom emoji of another instance.
type RemoteEmoji struct {
	Shortcode string `json:"shortcode"`
	URL       string `json:"url"`
}

// AccountSet is a set of accounts, sorted by id and stored as a JSON array, so that equal sets are equal texts.
type AccountSet []AccountID

// NewAccountSet returns the set of these accounts.
func NewAccountSet(ids ...AccountID) AccountSet {
	s := slices.Clone(ids)
	slices.Sort(s)
	return AccountSet(slices.Compact(s))
}

// Value stores the JSON text.
func (s AccountSet) Value() (driver.Value, error) { return jsonArray(s), nil }

// Scan reads the JSON text.
func (s *AccountSet) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("accounts from %T", src)
	}
	var ids []int64
	if err := json.Unmarshal([]byte(text), &ids); err != nil {
		return fmt.Errorf("accounts: %w", err)
	}
	*s = make(AccountSet, 0, len(ids))
	for _, id := range ids {
		*s = append(*s, AccountID(id))
	}
	return nil
}

// AvailableAccounts returns those of the accounts that are available, in the order of the ids given.
func (r reader) AvailableAccounts(ctx context.Context, among []AccountID) ([]AccountID, error) {
	return ids[AccountID](ctx, r, "available accounts", `
		SELECT a.id
		FROM json_each(?) j
		CROSS JOIN accounts a ON a.id = j.value
		WHERE a.unavailable = 0
		ORDER BY j.key`, jsonArray(among))
}

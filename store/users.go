package store

import (
	"context"
	"strings"
	"time"

	"svc/internal/text"
)

// User is what only a local account has: sign-in, roles, settings.
type User struct {
	AccountID                  AccountID
	Email                      string
	EmailKey                   *string
	PendingEmail               string // awaits confirmation; "": none
	PasswordHash               string
	IsAdmin                    bool
	IsModerator                bool
	ConfirmedAt                *Time // nil: the address awaits confirmation
	ApprovedAt                 *Time // nil: the account awaits approval
	DeactivatedAt              *Time
	ResetRequired              bool
	RegistrationReason         string
	Locale                     string
	Note                       string        // as typed
	Fields                     JSON[[]Field] // as typed
	DefaultVisibility          Visibility
	DefaultSensitive           bool
	DefaultLanguage            string
	DefaultQuotePolicy         QuotePolicy
	DefaultInteractionPolicies JSON[InteractionPolicies]
	NoRichText                 bool
	ShowRole                   bool
	SkipThreadContainment      bool
	AllowFollowingMove         bool
	BlockFromStrangers         bool
	HideNotificationContents   bool
	TOTPSecret                 string // base32; "": no second factor
	TOTPPending                string // not yet confirmed by a code
	TOTPStep                   int64  // of the last code used
	LastActiveAt               Time
}

// Staff returns true if the user is an admin or moderator.
func (u *User) Staff() bool { return u.IsAdmin || u.IsModerator }

// HasMFA returns true if sign-in needs a second factor.
func (u *User) HasMFA() bool { return u.TOTPSecret != "" }

// CanSignIn returns true if the user is confirmed, approved and active.
func (u *User) CanSignIn() bool {
	return u.ConfirmedAt != nil && u.ApprovedAt != nil && u.DeactivatedAt == nil
}

// User returns the user of a local account, and errs.ErrRecordNotFound if there is none.
func (r reader) User(ctx context.Context, id AccountID) (*User, error) {
	return get[User](ctx, r, "user", `SELECT * FROM users WHERE account_id = ?`, id)
}

// PostingDefaults are the defaults for a user's posts.
type PostingDefaults struct {
	Visibility          Visibility
	Sensitive           bool
	Language            string
	QuotePolicy         QuotePolicy
	InteractionPolicies JSON[InteractionPolicies]
}

// PostingDefaults returns the defaults of a local account, and errs.ErrRecordNotFound if there is none.
func (r reader) PostingDefaults(ctx context.Context, id AccountID) (PostingDefaults, error) {
	return value[PostingDefaults](ctx, r, "posting defaults", `
		SELECT default_visibility AS visibility, default_sensitive AS sensitive, default_language AS language,
			default_quote_policy AS quote_policy, default_interaction_policies AS interaction_policies
		FROM users
		WHERE account_id = ?`, id)
}

// Users returns the users that have one of the ids, in no order; remote accounts have none.
func (r reader) Users(ctx context.Context, ids []AccountID) ([]*User, error) {
	return list[*User](ctx, r, "users", `
		SELECT u.*
		FROM json_each(?) j
		CROSS JOIN users u ON u.account_id = j.value`, jsonArray(ids))
}

// UserByEmail returns the user with an e-mail address, in any case.
func (r reader) UserByEmail(ctx context.Context, email string) (*User, error) {
	return get[User](ctx, r, "user by e-mail", `SELECT * FROM users WHERE email_key = ?`, emailKey(email))
}

// AddUser inserts the user of an account. Its EmailKey is set.
func (tx *Tx) AddUser(ctx context.Context, u *User) error {
	u.EmailKey = emailKey(u.Email)
	orEmpty(&u.Fields.V)
	if u.DefaultInteractionPolicies.V == nil {
		u.DefaultInteractionPolicies.V = InteractionPolicies{}
	}
	return tx.exec(ctx, "add user", insertUser.text, insertUser.args(u)...)
}

// SaveUser writes all columns of a user but LastActiveAt and those of SetTOTP.
func (tx *Tx) SaveUser(ctx context.Context, u *User) error {
	u.EmailKey = emailKey(u.Email)
	tx.invalidateAccount(u.AccountID)
	return tx.exec(ctx, "save user", updateUser.text, updateUser.args(u)...)
}

// MarkActive stores that an account used the server. It is called at most once a day and account.
func (tx *Tx) MarkActive(ctx context.Context, id AccountID) error {
	if err := tx.countActive(ctx, id); err != nil {
		return err
	}
	tx.invalidateAccount(id)
	return tx.exec(ctx, "mark active", `UPDATE users SET last_active_at = ? WHERE account_id = ?`, At(tx.db.now()), id)
}

// staffCondition is the condition of the index users_staff.
const staffCondition = `(is_admin = 1 OR is_moderator = 1)`

// canSignIn is the condition of User.CanSignIn.
const canSignIn = `confirmed_at IS NOT NULL AND approved_at IS NOT NULL AND deactivated_at IS NULL`

// HasAdmin returns true if there is an admin who can sign in.
func (r reader) HasAdmin(ctx context.Context) (bool, error) { return r.hasAdminBeside(ctx, 0) }

// IsLastAdmin returns true if an account is the only admin who can sign in.
func (r reader) IsLastAdmin(ctx context.Context, id AccountID) (bool, error) {
	is, err := r.exists(ctx, `SELECT 1 FROM users WHERE account_id = ? AND is_admin = 1 AND `+canSignIn, id)
	if err != nil || !is {
		return false, err
	}
	others, err := r.hasAdminBeside(ctx, id)
	return !others, err
}

// hasAdminBeside returns true if an admin other than id can sign in.
func (r reader) hasAdminBeside(ctx context.Context, id AccountID) (bool, error) {
	return r.exists(ctx, `
		SELECT 1
		FROM users INDEXED BY users_staff
		WHERE `+staffCondition+` AND is_admin = 1 AND `+canSignIn+` AND account_id <> ?
		LIMIT 1`, id)
}

// Staff returns the ids of the admins and moderators who can sign in, at most a thousand.
func (r reader) Staff(ctx context.Context) ([]AccountID, error) {
	return ids[AccountID](ctx, r, "staff", `
		SELECT account_id
		FROM users INDEXED BY users_staff
		WHERE `+staffCondition+` AND `+canSignIn+`
		LIMIT 1000`)
}

// ActiveUsers counts the users that were active within the last d.
func (r reader) ActiveUsers(ctx context.Context, d time.Duration) (int, error) {
	return value[int](ctx, r, "active users", `SELECT count(*) FROM users WHERE last_active_at > ?`, At(r.db.now().Add(-d)))
}

// LocalCounts are the counts of local accounts.
type LocalCounts struct {
	Users    int // available ones
	Statuses int // counted on their profiles, boosts included
	Reblogs  int // of these
}

// LocalCounts counts the local accounts and their statuses.
func (r reader) LocalCounts(ctx context.Context) (LocalCounts, error) {
	return value[LocalCounts](ctx, r, "local counts", `
		SELECT count(*) AS users, ifnull(sum(a.statuses_count), 0) AS statuses, ifnull(sum((
			SELECT count(*)
			FROM statuses s INDEXED BY statuses_local_reblogs
			WHERE s.account_id = a.id AND s.reblog_of_id IS NOT NULL AND s.domain = '' AND s.visibility IN (0, 1))), 0) AS reblogs
		FROM users u
		CROSS JOIN accounts a ON a.id = u.account_id
		WHERE a.unavailable = 0`)
}

// VisibleStaff returns the admins and moderators who show their role, oldest account first.
func (r reader) VisibleStaff(ctx context.Context) ([]*Account, error) {
	return list[*Account](ctx, r, "staff", `
		SELECT a.*
		FROM users u
		CROSS JOIN accounts a ON a.id = u.account_id
		WHERE (u.is_admin = 1 OR u.is_moderator = 1) AND u.show_role = 1 AND a.unavailable = 0
		ORDER BY u.account_id
		LIMIT 100`)
}

// emailKey returns the text by which addresses are compared, nil without an address.
func emailKey(email string) *string {
	if email == "" {
		return nil
	}
	key := text.NormalizeEmail(strings.TrimSpace(email))
	return &key
}

// RemoveUser deletes the user of an account, with tokens, codes and one-time tokens.
func (tx *Tx) RemoveUser(ctx context.Context, id AccountID) error {
	tx.invalidateAccount(id)
	return tx.exec(ctx, "remove user", `DELETE FROM users WHERE account_id = ?`, id)
}

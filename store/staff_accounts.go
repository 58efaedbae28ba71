package store

import (
	"context"
	"math"
	"strings"
)

// StaffFilter selects accounts in the list of the staff. All conditions must hold.
type StaffFilter struct {
	Local, External           bool
	Active, Deactivated       bool
	NeedApproval, Unconfirmed bool
	Admins, Moderators        bool
	Handle                    string    // a part of nickname or nickname@domain, lower case; "": all
	Name                      string    // a part of the display name; "": all
	Tags                      []string  // any of them; empty: all
	ActorTypes                []string  // one of them; empty: all
	ID                        AccountID // only this one; 0: all
}

// Conditions of the list of the staff: deleted accounts and those of the server itself are left out. Only local accounts can be
// unconfirmed, unapproved or staff.
const (
	staffConditions = `
		AND a.deleted_at IS NULL AND a.nickname_key NOT LIKE 'internal.%'
		AND (a.domain <> '' OR EXISTS (SELECT 1 FROM users u WHERE u.account_id = a.id))
		AND (?3 = 0 OR a.domain <> '')
		AND (?4 = 0 OR a.unavailable = 0)
		AND (?5 = 0 OR a.unavailable = 1 AND (a.domain <> '' OR EXISTS (SELECT 1 FROM users u WHERE u.account_id = a.id AND u.deactivated_at IS NOT NULL)))
		AND (?6 = 0 OR EXISTS (SELECT 1 FROM users u WHERE u.account_id = a.id AND u.approved_at IS NULL))
		AND (?7 = 0 OR EXISTS (SELECT 1 FROM users u WHERE u.account_id = a.id AND u.confirmed_at IS NULL))
		AND (?8 = 0 OR EXISTS (SELECT 1 FROM users u WHERE u.account_id = a.id AND u.is_admin = 1))
		AND (?9 = 0 OR EXISTS (SELECT 1 FROM users u WHERE u.account_id = a.id AND u.is_moderator = 1))
		AND (?10 = '' OR a.nickname_key || '@' || a.domain LIKE ?10 ESCAPE '\')
		AND (?11 = '' OR a.display_name LIKE ?11 ESCAPE '\')
		AND (?12 = '[]' OR EXISTS (SELECT 1 FROM json_each(a.tags) t WHERE t.value IN (SELECT value FROM json_each(?12))))
		AND (?13 = '[]' OR a.actor_type IN (SELECT value FROM json_each(?13)))`
	staffAll   = `FROM accounts a INDEXED BY accounts_staff WHERE a.id >= ?1 AND a.id <= ?2` + staffConditions
	staffLocal = `FROM accounts a INDEXED BY accounts_domain WHERE a.domain = '' AND a.id >= ?1 AND a.id <= ?2` + staffConditions

	staffPage  = ` ORDER BY a.id DESC LIMIT ?14 OFFSET ?15`
	staffCount = ` LIMIT 1000000)`
)

// onlyLocal returns true if remote accounts cannot meet the conditions.
func (f *StaffFilter) onlyLocal() bool {
	return f.Local || f.NeedApproval || f.Unconfirmed || f.Admins || f.Moderators
}

func (f *StaffFilter) args() []any {
	from, to := AccountID(0), AccountID(math.MaxInt64)
	if f.ID != 0 {
		from, to = f.ID, f.ID
	}
	return []any{from, to, f.External, f.Active, f.Deactivated, f.NeedApproval, f.Unconfirmed, f.Admins, f.Moderators,
		containing(strings.ToLower(f.Handle)), containing(f.Name), jsonTexts(append([]string{}, f.Tags...)), jsonTexts(append([]string{}, f.ActorTypes...))}
}

// StaffAccounts returns a page of the ids of the accounts that a filter selects, newest first.
func (r reader) StaffAccounts(ctx context.Context, f StaffFilter, limit, offset int) ([]AccountID, error) {
	query := `SELECT a.id ` + staffAll + staffPage
	if f.onlyLocal() {
		query = `SELECT a.id ` + staffLocal + staffPage
	}
	return ids[AccountID](ctx, r, "accounts for staff", query, append(f.args(), limit, offset)...)
}

// CountStaffAccounts counts the accounts that a filter selects, up to a million.
func (r reader) CountStaffAccounts(ctx context.Context, f StaffFilter) (int, error) {
	query := `SELECT count(*) FROM (SELECT 1 ` + staffAll + staffCount
	if f.onlyLocal() {
		query = `SELECT count(*) FROM (SELECT 1 ` + staffLocal + staffCount
	}
	return value[int](ctx, r, "count accounts for staff", query, f.args()...)
}

// SuggestedAccounts returns the available accounts that staff suggest, newest first.
func (r reader) SuggestedAccounts(ctx context.Context, limit int) ([]AccountID, error) {
	return ids[AccountID](ctx, r, "suggested accounts", `
		SELECT id
		FROM accounts INDEXED BY accounts_suggested
		WHERE suggested = 1 AND unavailable = 0
		ORDER BY id DESC
		LIMIT ?`, limit)
}

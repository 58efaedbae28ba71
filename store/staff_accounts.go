package store

import (
	"context"
	"math"
	"strconv"
	"strings"

	"svc/internal/text"
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

	Domain   *string  // only of this domain, "" for local ones; nil: all
	Nickname string   // the beginning of the nickname, lower case; "": all
	AllTags  []string // all of them
	Staff    bool     // admins and moderators
	Page     Page     // the limit does not count
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

	// More conditions of the reference API.
	staffReference = `
		AND (?14 IS NULL OR a.domain = ?14)
		AND (?15 = '' OR a.nickname_key LIKE ?15 ESCAPE '\')
		AND (?16 = '[]' OR NOT EXISTS (SELECT 1 FROM json_each(?16) t WHERE t.value NOT IN (SELECT value FROM json_each(a.tags))))
		AND (?17 = 0 OR EXISTS (SELECT 1 FROM users u WHERE u.account_id = a.id AND (u.is_admin = 1 OR u.is_moderator = 1)))`
	staffAll    = `FROM accounts a INDEXED BY accounts_staff WHERE a.id >= ?1 AND a.id <= ?2`
	staffLocal  = `FROM accounts a INDEXED BY accounts_domain WHERE a.domain = '' AND a.id >= ?1 AND a.id <= ?2`
	staffDomain = `FROM accounts a INDEXED BY accounts_domain WHERE a.domain = ?14 AND a.id >= ?1 AND a.id <= ?2`

	// Lists and totals of the staff look at so many rows.
	maxStaffAccounts = 200_000
)

// staffList are the queries of a list of accounts.
type staffList struct {
	page  keyset
	last  keyset // the last account that a page looks at
	count string
}

func newStaffList(from string) *staffList {
	looked := `
		FROM (
			SELECT a.id, a.domain, a.nickname_key, a.display_name, a.actor_type, a.tags, a.unavailable, a.deleted_at
			` + from + `
			ORDER BY a.id DESC
			LIMIT ` + strconv.Itoa(maxStaffAccounts) + `) a
		WHERE true` + staffConditions + staffReference
	return &staffList{
		newKeyset(`
		SELECT a.id` + looked + `
		LIMIT ?18 OFFSET ?19`),
		newKeyset(`
		SELECT a.id
		` + from + `
		ORDER BY a.id DESC
		LIMIT 1 OFFSET ` + strconv.Itoa(maxStaffAccounts-1)),
		`SELECT count(*)` + looked,
	}
}

var (
	staffListOfAll    = newStaffList(staffAll)
	staffListOfLocal  = newStaffList(staffLocal)
	staffListOfDomain = newStaffList(staffDomain)
)

// onlyLocal returns true if remote accounts cannot meet the conditions.
func (f *StaffFilter) onlyLocal() bool {
	return f.Local || f.NeedApproval || f.Unconfirmed || f.Admins || f.Moderators || f.Staff
}

func (f *StaffFilter) args() []any {
	below, above, _ := f.Page.bounds()
	from, to := AccountID(above+1), AccountID(below-1)
	if f.Page == (Page{}) {
		from, to = 0, math.MaxInt64
	}
	if f.ID != 0 {
		from, to = f.ID, f.ID
	}
	return []any{from, to, f.External, f.Active, f.Deactivated, f.NeedApproval, f.Unconfirmed, f.Admins, f.Moderators,
		containing(text.NickKey(f.Handle)), containing(f.Name), jsonTexts(append([]string{}, f.Tags...)), jsonTexts(append([]string{}, f.ActorTypes...)),
		f.Domain, beginning(text.NickKey(f.Nickname)), jsonTexts(append([]string{}, f.AllTags...)), f.Staff}
}

// beginning returns the pattern of LIKE for texts that begin with part; "" for "".
func beginning(part string) string { return strings.TrimPrefix(containing(part), "%") }

// list returns the queries that read the fewest rows.
func (f *StaffFilter) list() *staffList {
	switch {
	case f.onlyLocal():
		return staffListOfLocal
	case f.Domain != nil:
		return staffListOfDomain
	}
	return staffListOfAll
}

// StaffAccounts returns a page of the ids of the accounts that a filter selects, newest first. It looks at the newest maxStaffAccounts ones
// that the Page and the domain of the filter select.
func (r reader) StaffAccounts(ctx context.Context, f StaffFilter, limit, offset int) (Part[AccountID], error) {
	of, args := f.list(), f.args()
	query, _, _, ascending := of.page.query(f.Page)
	rows, err := ids[AccountID](ctx, r, "accounts for staff", query, append(args, limit, offset)...)
	if err != nil || len(rows) == limit || f.ID != 0 {
		return Part[AccountID]{Rows: newestFirst(rows, ascending)}, err
	}
	query, _, _, _ = of.last.query(f.Page)
	parameters := 2
	if of == staffListOfDomain {
		parameters = 14
	}
	last, err := ids[int64](ctx, r, "accounts for staff", query, args[:parameters]...)
	if err != nil || len(last) == 0 {
		return Part[AccountID]{Rows: newestFirst(rows, ascending)}, err
	}
	return Part[AccountID]{Rows: newestFirst(rows, ascending), Next: last[0]}, nil
}

// CountStaffAccounts counts the accounts that a filter selects among the newest maxStaffAccounts ones.
func (r reader) CountStaffAccounts(ctx context.Context, f StaffFilter) (int, error) {
	return value[int](ctx, r, "count accounts for staff", f.list().count, f.args()...)
}

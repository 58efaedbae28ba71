package store

import "context"

// Directory selects a part of the list of discoverable accounts.
type Directory struct {
	Viewer AccountID // whose blocked and muted accounts are left out; 0: anonymous
	Local  bool      // only local accounts
	Newest bool      // the newest accounts first, otherwise those that posted last
	Offset int
	Limit  int
}

// directoryQuery returns the query of one order and scope.
func directoryQuery(index, scope, order string) string {
	return `
		SELECT a.id
		FROM accounts a INDEXED BY ` + index + `
		WHERE a.discoverable = 1 AND a.unavailable = 0 AND a.moved_to_id IS NULL` + scope + `
			AND NOT EXISTS (SELECT 1 FROM blocks x WHERE x.account_id = ?1 AND x.target_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM blocks x WHERE x.account_id = a.id AND x.target_id = ?1)
			AND NOT EXISTS (SELECT 1 FROM mutes x WHERE x.account_id = ?1 AND x.target_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM domain_blocks x WHERE x.account_id = ?1 AND x.domain = a.domain)
		ORDER BY ` + order + `
		LIMIT ?2 OFFSET ?3`
}

var (
	directoryNew         = directoryQuery("accounts_directory_new", "", "a.id DESC")
	directoryActive      = directoryQuery("accounts_directory_active", "", "a.last_status_at DESC, a.id DESC")
	directoryLocalNew    = directoryQuery("accounts_directory_local_new", " AND a.domain = ''", "a.id DESC")
	directoryLocalActive = directoryQuery("accounts_directory_local_active", " AND a.domain = ''", "a.last_status_at DESC, a.id DESC")
)

// DirectoryAccounts returns discoverable accounts.
func (r reader) DirectoryAccounts(ctx context.Context, d Directory) ([]AccountID, error) {
	query := directoryActive
	switch {
	case d.Local && d.Newest:
		query = directoryLocalNew
	case d.Local:
		query = directoryLocalActive
	case d.Newest:
		query = directoryNew
	}
	return ids[AccountID](ctx, r, "directory", query, d.Viewer, d.Limit, d.Offset)
}

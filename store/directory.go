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

// maxDirectory is how many accounts the list looks at: it has no cursor, and a viewer may block a domain with very many.
const maxDirectory = "20000"

// directoryQuery returns the query of one order and scope. ?2 are the lookups of the viewer ?1.
func directoryQuery(index, scope, order string) string {
	return `
		SELECT a.id
		FROM (
			SELECT a.id
			FROM accounts a INDEXED BY ` + index + `
			WHERE a.discoverable = 1 AND a.unavailable = 0 AND a.moved_to_id IS NULL` + scope + `
			ORDER BY ` + order + `
			LIMIT ` + maxDirectory + `) a
		WHERE ` + notBlocked("a.id") + `
			AND ` + notBlockedBy("a.id") + `
			AND ` + notMuted("a.id") + `
			AND (` + unset("?2", lookupDomainBlocks) + ` OR NOT EXISTS (
				SELECT 1
				FROM accounts x JOIN domain_blocks d ON d.account_id = ?1 AND d.domain = x.domain
				WHERE x.id = a.id))
		LIMIT ?3 OFFSET ?4`
}

var (
	directoryNew         = directoryQuery("accounts_directory_new", "", "a.id DESC")
	directoryActive      = directoryQuery("accounts_directory_active", "", "a.last_status_at DESC, a.id DESC")
	directoryLocalNew    = directoryQuery("accounts_directory_local_new", " AND a.domain = ''", "a.id DESC")
	directoryLocalActive = directoryQuery("accounts_directory_local_active", " AND a.domain = ''", "a.last_status_at DESC, a.id DESC")
)

// DirectoryAccounts returns discoverable accounts, among the first maxDirectory ones of the order.
func (r reader) DirectoryAccounts(ctx context.Context, d Directory) ([]AccountID, error) {
	l, err := r.lookups(ctx, d.Viewer)
	if err != nil {
		return nil, err
	}
	query := directoryActive
	switch {
	case d.Local && d.Newest:
		query = directoryLocalNew
	case d.Local:
		query = directoryLocalActive
	case d.Newest:
		query = directoryNew
	}
	return ids[AccountID](ctx, r, "directory", query, d.Viewer, l, d.Limit, d.Offset)
}

package store

import "context"

// HostBlock is a host that the settings restrict, or accept alone, with what the settings have no place for.
type HostBlock struct {
	ID             BlockID
	Host           string // without "*."
	Allow          bool   // on the list of the only accepted hosts
	PrivateComment string
}

var hostBlockPage = newKeyset(`
	SELECT *
	FROM host_blocks
	WHERE allow = ?1 AND id < ?2 AND id > ?3
	ORDER BY id DESC
	LIMIT ?4`)

// HostBlockPage returns a page of blocks, or of accepted hosts, newest first.
func (r reader) HostBlockPage(ctx context.Context, allow bool, p Page) ([]*HostBlock, error) {
	return rowPage[*HostBlock](ctx, r, "host blocks", hostBlockPage, flag(allow), p)
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// HostBlock returns a block, or an accepted host, by its id, and errs.ErrRecordNotFound if there is none.
func (r reader) HostBlock(ctx context.Context, allow bool, id BlockID) (*HostBlock, error) {
	b, err := one[HostBlock](ctx, r, "host block", `SELECT * FROM host_blocks WHERE id = ? AND allow = ?`, id, allow)
	if b == nil && err == nil {
		err = notFound
	}
	return b, err
}

// HostBlocks returns all blocks, or all accepted hosts, by host. The settings bound them.
func (r reader) HostBlocks(ctx context.Context, allow bool) (map[string]*HostBlock, error) {
	rows, err := list[*HostBlock](ctx, r, "all host blocks", `SELECT * FROM host_blocks INDEXED BY host_blocks_allow WHERE allow = ?`, allow)
	blocks := make(map[string]*HostBlock, len(rows))
	for _, b := range rows {
		blocks[b.Host] = b
	}
	return blocks, err
}

// SyncHostBlocks makes the blocks, or the accepted hosts, those of the settings: it adds rows and removes those of other hosts.
func (tx *Tx) SyncHostBlocks(ctx context.Context, allow bool, hosts []string) error {
	known, err := tx.HostBlocks(ctx, allow)
	if err != nil {
		return err
	}
	for _, host := range hosts {
		if known[host] != nil {
			delete(known, host)
			continue
		}
		if err := tx.exec(ctx, "add host block", `INSERT OR IGNORE INTO host_blocks (id, host, allow) VALUES (?, ?, ?)`, tx.newID(), host, allow); err != nil {
			return err
		}
	}
	for _, b := range known {
		if err := tx.exec(ctx, "remove host block", `DELETE FROM host_blocks WHERE id = ?`, b.ID); err != nil {
			return err
		}
	}
	return nil
}

// DescribeHostBlock stores what the settings have no place for.
func (tx *Tx) DescribeHostBlock(ctx context.Context, b *HostBlock) error {
	return tx.exec(ctx, "describe host block", `
		UPDATE host_blocks
		SET private_comment = ?
		WHERE id = ?`, b.PrivateComment, b.ID)
}

// ApplyHostRules is the job that applies the rules for hosts in the settings to stored accounts.
type ApplyHostRules struct{}

func (ApplyHostRules) Kind() JobKind {
	return JobKind{Name: "apply_host_rules", Timeout: NoTimeout, Parallel: 1}
}

// HostAccount is what decides which rules apply to a remote account.
type HostAccount struct {
	ID       AccountID
	Domain   string
	URI      string
	Rejected bool

	MaxVisibility Visibility
	Limiting      bool
}

// HostAccounts returns remote accounts after an id, in the order of ids.
func (r reader) HostAccounts(ctx context.Context, after AccountID, limit int) ([]HostAccount, error) {
	return list[HostAccount](ctx, r, "accounts by host", `
		SELECT id, domain, uri, rejected, max_visibility, limiting
		FROM accounts
		WHERE id > ? AND domain <> ''
		ORDER BY id
		LIMIT ?`, after, limit)
}

// SetRejected hides remote accounts because the settings reject their hosts, or ends that. Accounts that are suspended or deleted stay
// unavailable.
func (tx *Tx) SetRejected(ctx context.Context, ids []AccountID, rejected bool) error {
	tx.invalidateAll()
	return tx.exec(ctx, "set rejected", `
		UPDATE accounts
		SET rejected = ?2,
			unavailable = ?2 OR suspended_at IS NOT NULL OR deleted_at IS NOT NULL
				OR EXISTS (SELECT 1 FROM actors x WHERE x.account_id = accounts.id AND x.suspended = 1)
		WHERE id IN (SELECT value FROM json_each(?1))`, jsonArray(ids), rejected)
}

// InvalidateAll drops all cached rows and entities.
func (tx *Tx) InvalidateAll() { tx.invalidateAll() }

// someAccountsOfDomain are the accounts of the domain ?1 that a count of their follows looks at.
const someAccountsOfDomain = `SELECT id FROM accounts INDEXED BY accounts_domain WHERE domain = ?1 ORDER BY id LIMIT 100000`

// DomainFollows counts the follows between local accounts and those of a domain, up to maxPurgeCount. It looks at the first 100 000 accounts of
// the domain.
func (r reader) DomainFollows(ctx context.Context, domain string) (followers, following int, err error) {
	followers, err = value[int](ctx, r, "count followers of domain", `
		SELECT count(*)
		FROM (
			SELECT 1
			FROM (`+someAccountsOfDomain+`) some
			CROSS JOIN follows f INDEXED BY follows_following ON f.follower_id = some.id AND f.pending = 0
			CROSS JOIN users u ON u.account_id = f.target_id
			LIMIT ?2)`, domain, maxPurgeCount)
	if err != nil {
		return 0, 0, err
	}
	following, err = value[int](ctx, r, "count follows of domain", `
		SELECT count(*)
		FROM (
			SELECT 1
			FROM (`+someAccountsOfDomain+`) some
			CROSS JOIN follows f INDEXED BY follows_local ON f.target_id = some.id AND f.pending = 0 AND f.follower_local = 1
			LIMIT ?2)`, domain, maxPurgeCount)
	return followers, following, err
}

// HasRejectedAccounts returns true if the accounts of a host are hidden because the settings reject it.
func (r reader) HasRejectedAccounts(ctx context.Context) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM accounts INDEXED BY accounts_rejected WHERE rejected = 1 AND id > 0`)
}

package store

import "context"

// LocalNicknames returns nicknames of local accounts that begin with prefix, which is case-folded, sorted.
func (r reader) LocalNicknames(ctx context.Context, prefix string, limit int) ([]string, error) {
	return list[string](ctx, r, "local nicknames", `
		SELECT nickname
		FROM accounts
		WHERE domain = '' AND nickname_key >= ?1 AND nickname_key < ?1 || char(0x10ffff) AND deleted_at IS NULL
		ORDER BY nickname_key
		LIMIT ?2`, prefix, limit)
}

// HostNames returns known hosts that begin with prefix, sorted.
func (r reader) HostNames(ctx context.Context, prefix string, limit int) ([]string, error) {
	return list[string](ctx, r, "host names", `
		SELECT domain
		FROM hosts
		WHERE domain >= ?1 AND domain < ?1 || char(0x10ffff)
		ORDER BY domain
		LIMIT ?2`, prefix, limit)
}

// BlockedHosts returns hosts with rules that begin with prefix, sorted.
func (r reader) BlockedHosts(ctx context.Context, prefix string, limit int) ([]string, error) {
	return list[string](ctx, r, "blocked hosts", `
		SELECT DISTINCT host
		FROM host_blocks
		WHERE host >= ?1 AND host < ?1 || char(0x10ffff)
		ORDER BY host
		LIMIT ?2`, prefix, limit)
}

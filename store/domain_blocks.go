package store

import "context"

// DomainBlocks returns the domains that an account blocks, in alphabetical order.
func (r reader) DomainBlocks(ctx context.Context, id AccountID) ([]string, error) {
	return list[string](ctx, r, "domain blocks", `SELECT domain FROM domain_blocks WHERE account_id = ? ORDER BY domain`, id)
}

// BlocksDomain tells whether an account blocks a domain.
func (r reader) BlocksDomain(ctx context.Context, id AccountID, domain string) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM domain_blocks WHERE account_id = ? AND domain = ?`, id, domain)
}

// AddDomainBlock has an account block a domain. Doing it twice is no error.
func (tx *Tx) AddDomainBlock(ctx context.Context, id AccountID, domain string) error {
	_, err := tx.exec(ctx, "add domain block", `INSERT OR IGNORE INTO domain_blocks (account_id, domain) VALUES (?, ?)`, id, domain)
	tx.invalidateRelations(id)
	return err
}

// RemoveDomainBlock ends that.
func (tx *Tx) RemoveDomainBlock(ctx context.Context, id AccountID, domain string) error {
	_, err := tx.exec(ctx, "remove domain block", `DELETE FROM domain_blocks WHERE account_id = ? AND domain = ?`, id, domain)
	tx.invalidateRelations(id)
	return err
}

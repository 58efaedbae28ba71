package store

import "context"

// SetHostSoftware notes which software a server says it runs, "" if it does not say. When it was asked is noted as well.
func (tx *Tx) SetHostSoftware(ctx context.Context, domain, name, version string) error {
	_, err := tx.exec(ctx, "set host software", `
		INSERT INTO hosts (domain, software, version, checked_at)
		VALUES (?1, ?2, ?3, ?4)
		ON CONFLICT (domain) DO UPDATE SET software = iif(?2 = '', software, ?2), version = iif(?2 = '', version, ?3), checked_at = ?4`,
		domain, name, version, At(tx.db.now()))
	return err
}

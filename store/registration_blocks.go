package store

import (
	"context"
	"net/netip"
	"time"

	"svc/internal/enum"
)

// MaxAccessBlocks bounds the rows of each table of blocked e-mail domains, addresses and networks.
const MaxAccessBlocks = 10_000

// EmailDomainBlock is a domain of e-mail addresses with which nobody can register, or only with approval.
type EmailDomainBlock struct {
	ID                BlockID
	Domain            string
	AllowWithApproval bool
}

// CanonicalEmailBlock is an e-mail address with which nobody can register.
type CanonicalEmailBlock struct {
	ID   BlockID
	Hash string // SHA-256 of the canonical address, hexadecimal
}

// IPSeverity is what clients in a network cannot do.
type IPSeverity string

// The severities.
const (
	SignUpRequiresApproval IPSeverity = "sign_up_requires_approval"
	SignUpBlock            IPSeverity = "sign_up_block"
	NoAccess               IPSeverity = "no_access" // not even read
)

// UnmarshalText reads a severity.
func (s *IPSeverity) UnmarshalText(b []byte) error {
	return enum.Read(s, b, SignUpRequiresApproval, SignUpBlock, NoAccess)
}

// IPBlock is a network from which nobody can register or use this server.
type IPBlock struct {
	ID        BlockID
	IP        string // a prefix
	Severity  IPSeverity
	Comment   string
	ExpiresAt *Time // nil: never
}

var (
	emailDomainPage    = newKeyset(`SELECT * FROM email_domain_blocks WHERE ?1 = 0 AND id < ?2 AND id > ?3 ORDER BY id DESC` + "\n" + `LIMIT ?4`)
	canonicalEmailPage = newKeyset(`SELECT * FROM canonical_email_blocks WHERE ?1 = 0 AND id < ?2 AND id > ?3 ORDER BY id DESC` + "\n" + `LIMIT ?4`)
	ipBlockPage        = newKeyset(`SELECT * FROM ip_blocks WHERE ?1 = 0 AND id < ?2 AND id > ?3 ORDER BY id DESC` + "\n" + `LIMIT ?4`)
)

// EmailDomainBlocks returns a page of blocked domains, newest first.
func (r reader) EmailDomainBlocks(ctx context.Context, p Page) ([]*EmailDomainBlock, error) {
	return rowPage[*EmailDomainBlock](ctx, r, "e-mail domain blocks", emailDomainPage, int64(0), p)
}

// CanonicalEmailBlocks returns a page of blocked addresses, newest first.
func (r reader) CanonicalEmailBlocks(ctx context.Context, p Page) ([]*CanonicalEmailBlock, error) {
	return rowPage[*CanonicalEmailBlock](ctx, r, "e-mail blocks", canonicalEmailPage, int64(0), p)
}

// IPBlocks returns a page of blocked networks, newest first.
func (r reader) IPBlocks(ctx context.Context, p Page) ([]*IPBlock, error) {
	return rowPage[*IPBlock](ctx, r, "IP blocks", ipBlockPage, int64(0), p)
}

// EmailDomainBlock returns a blocked domain, and errs.ErrRecordNotFound if there is none with the id.
func (r reader) EmailDomainBlock(ctx context.Context, id BlockID) (*EmailDomainBlock, error) {
	return found(one[EmailDomainBlock](ctx, r, "e-mail domain block", `SELECT * FROM email_domain_blocks WHERE id = ?`, id))
}

// CanonicalEmailBlock returns a blocked address, and errs.ErrRecordNotFound if there is none with the id.
func (r reader) CanonicalEmailBlock(ctx context.Context, id BlockID) (*CanonicalEmailBlock, error) {
	return found(one[CanonicalEmailBlock](ctx, r, "e-mail block", `SELECT * FROM canonical_email_blocks WHERE id = ?`, id))
}

// IPBlock returns a blocked network, and errs.ErrRecordNotFound if there is none with the id.
func (r reader) IPBlock(ctx context.Context, id BlockID) (*IPBlock, error) {
	return found(one[IPBlock](ctx, r, "IP block", `SELECT * FROM ip_blocks WHERE id = ?`, id))
}

// found returns errs.ErrRecordNotFound if there is no row.
func found[T any](row *T, err error) (*T, error) {
	if row == nil && err == nil {
		err = notFound
	}
	return row, err
}

// BlockedEmailDomain returns the block of one of some domains, nil if there is none.
func (r reader) BlockedEmailDomain(ctx context.Context, domains []string) (*EmailDomainBlock, error) {
	return one[EmailDomainBlock](ctx, r, "blocked e-mail domain", `
		SELECT *
		FROM email_domain_blocks
		WHERE domain IN (SELECT value FROM json_each(?))
		ORDER BY allow_with_approval
		LIMIT 1`, JSON[[]string]{domains})
}

// CanonicalEmailBlockOf returns the block of an address by its hash, nil if there is none.
func (r reader) CanonicalEmailBlockOf(ctx context.Context, hash string) (*CanonicalEmailBlock, error) {
	return one[CanonicalEmailBlock](ctx, r, "e-mail block by hash", `SELECT * FROM canonical_email_blocks WHERE hash = ?`, hash)
}

// AddEmailDomainBlock inserts a block with a new id. It returns false if there is one, or there are too many.
func (tx *Tx) AddEmailDomainBlock(ctx context.Context, b *EmailDomainBlock) (bool, error) {
	b.ID = BlockID(tx.newID())
	n, err := tx.execRows(ctx, "add e-mail domain block", `
		INSERT OR IGNORE INTO email_domain_blocks (id, domain, allow_with_approval)
		SELECT ?, ?, ?
		WHERE (SELECT count(*) FROM email_domain_blocks) < ?`, b.ID, b.Domain, b.AllowWithApproval, MaxAccessBlocks)
	return n == 1, err
}

// AddCanonicalEmailBlock inserts a block with a new id. It returns false if there is one, or there are too many.
func (tx *Tx) AddCanonicalEmailBlock(ctx context.Context, b *CanonicalEmailBlock) (bool, error) {
	b.ID = BlockID(tx.newID())
	n, err := tx.execRows(ctx, "add e-mail block", `
		INSERT OR IGNORE INTO canonical_email_blocks (id, hash)
		SELECT ?, ?
		WHERE (SELECT count(*) FROM canonical_email_blocks) < ?`, b.ID, b.Hash, MaxAccessBlocks)
	return n == 1, err
}

// SaveIPBlock inserts a block with a new id, or changes the one with its id. It returns false if another one has the network, or there are
// too many.
func (tx *Tx) SaveIPBlock(ctx context.Context, b *IPBlock) (bool, error) {
	tx.invalidateAll() // with the networks
	if b.ID != 0 {
		n, err := tx.execRows(ctx, "save IP block", `
			UPDATE OR IGNORE ip_blocks
			SET ip = ?, severity = ?, comment = ?, expires_at = ?
			WHERE id = ?`, b.IP, b.Severity, b.Comment, b.ExpiresAt, b.ID)
		return n == 1, err
	}
	b.ID = BlockID(tx.newID())
	n, err := tx.execRows(ctx, "add IP block", `
		INSERT OR IGNORE INTO ip_blocks (id, ip, severity, comment, expires_at)
		SELECT ?, ?, ?, ?, ?
		WHERE (SELECT count(*) FROM ip_blocks) < ?`, b.ID, b.IP, b.Severity, b.Comment, b.ExpiresAt, MaxAccessBlocks)
	return n == 1, err
}

// RemoveEmailDomainBlock removes a block.
func (tx *Tx) RemoveEmailDomainBlock(ctx context.Context, id BlockID) error {
	return tx.exec(ctx, "remove e-mail domain block", `DELETE FROM email_domain_blocks WHERE id = ?`, id)
}

// RemoveCanonicalEmailBlock removes a block.
func (tx *Tx) RemoveCanonicalEmailBlock(ctx context.Context, id BlockID) error {
	return tx.exec(ctx, "remove e-mail block", `DELETE FROM canonical_email_blocks WHERE id = ?`, id)
}

// RemoveIPBlock removes a block.
func (tx *Tx) RemoveIPBlock(ctx context.Context, id BlockID) error {
	tx.invalidateAll()
	return tx.exec(ctx, "remove IP block", `DELETE FROM ip_blocks WHERE id = ?`, id)
}

// PruneIPBlocks deletes expired blocks of networks. It returns whether there may be more.
func (tx *Tx) PruneIPBlocks(ctx context.Context) (more bool, err error) {
	n, err := tx.execRows(ctx, "prune IP blocks", `
		DELETE FROM ip_blocks
		WHERE id IN (SELECT id FROM ip_blocks WHERE expires_at < ? LIMIT ?)`, At(tx.db.now()), pruneBatch)
	return n == pruneBatch, err
}

// networks are the blocked networks, for many look-ups.
type networks struct {
	blocks  map[netip.Prefix]*IPBlock
	lengths []int // of the prefixes, each once
}

// IPBlockOf returns the severest block of an address, nil if there is none.
func (db *DB) IPBlockOf(ctx context.Context, address netip.Addr) (*IPBlock, error) {
	set, err := db.networks.Load(struct{}{}, func() (*networks, error) { return db.readNetworks(ctx) })
	if err != nil || len(set.blocks) == 0 {
		return nil, err
	}
	address, now := address.Unmap().WithZone(""), db.now()
	var severest *IPBlock
	for _, bits := range set.lengths {
		prefix, err := address.Prefix(bits)
		if err != nil { // longer than the address
			continue
		}
		b := set.blocks[prefix]
		if b != nil && (b.ExpiresAt == nil || b.ExpiresAt.Time().After(now)) && (severest == nil || b.Severity.rank() > severest.Severity.rank()) {
			severest = b
		}
	}
	return severest, nil
}

func (s IPSeverity) rank() int {
	return map[IPSeverity]int{SignUpRequiresApproval: 1, SignUpBlock: 2, NoAccess: 3}[s]
}

// Valid returns true for the severities that there are.
func (s IPSeverity) Valid() bool { return s.rank() > 0 }

func (db *DB) readNetworks(ctx context.Context) (*networks, error) {
	rows, err := list[*IPBlock](ctx, db.reader, "all IP blocks", `SELECT * FROM ip_blocks LIMIT ?`, MaxAccessBlocks)
	if err != nil {
		return nil, err
	}
	set := &networks{blocks: make(map[netip.Prefix]*IPBlock, len(rows))}
	known := make(map[int]bool)
	for _, b := range rows {
		prefix, err := netip.ParsePrefix(b.IP)
		if err != nil {
			continue
		}
		set.blocks[prefix] = b
		if !known[prefix.Bits()] {
			known[prefix.Bits()] = true
			set.lengths = append(set.lengths, prefix.Bits())
		}
	}
	return set, nil
}

// Time returns when the block was added.
func (id BlockID) Time() time.Time { return idTime(int64(id)) }

// CountIPBlocks returns how many networks are blocked.
func (r reader) CountIPBlocks(ctx context.Context) (int, error) {
	return value[int](ctx, r, "count IP blocks", `SELECT count(*) FROM (SELECT 1 FROM ip_blocks WHERE id > 0 LIMIT ?)`, MaxAccessBlocks)
}

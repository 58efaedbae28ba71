package admin

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/social"
	"svc/store"
)

// Blocks of e-mail domains, of e-mail addresses and of networks. They act at registration; a network can be excluded altogether.

// maxIPBlockTime bounds how long a block of a network can be in force, if it expires at all.
const maxIPBlockTime = 10 * 365 * 24 * time.Hour

var errTooManyBlocks = errs.Invalid("There are %d entries already: remove some", store.MaxAccessBlocks)

func invalidField(what string) error { return errs.Invalid("Validation failed: %s", what) }

// EmailDomainBlocks returns a page of blocked domains, newest first.
func (s *Service) EmailDomainBlocks(ctx context.Context, p store.Page) ([]*store.EmailDomainBlock, error) {
	return s.db.EmailDomainBlocks(ctx, p)
}

// EmailDomainBlock returns a blocked domain, and errs.ErrRecordNotFound if there is none.
func (s *Service) EmailDomainBlock(ctx context.Context, id store.BlockID) (*store.EmailDomainBlock, error) {
	return s.db.EmailDomainBlock(ctx, id)
}

// BlockEmailDomain prevents registrations with addresses of a domain and its subdomains, or makes them wait for approval.
func (s *Service) BlockEmailDomain(ctx context.Context, b store.EmailDomainBlock) (*store.EmailDomainBlock, error) {
	domain := strings.TrimPrefix(strings.TrimSpace(b.Domain), "@")
	switch b.Domain = text.NormalizeDomain(domain); {
	case domain == "":
		return nil, invalidField("Domain can't be blank")
	case b.Domain == "" || strings.Contains(b.Domain, ":") || !strings.Contains(b.Domain, "."):
		return nil, invalidField("Domain is not a valid domain name")
	}
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		taken, err := tx.BlockedEmailDomain(ctx, []string{b.Domain})
		if err != nil {
			return err
		}
		if taken != nil {
			return invalidField("Domain has already been taken")
		}
		if added, err := tx.AddEmailDomainBlock(ctx, &b); err != nil || !added {
			return orTooMany(err)
		}
		return s.record(ctx, tx, "email_domain_block", "blocked e-mail domain "+b.Domain, map[string]any{"domain": b.Domain})
	})
	return &b, err
}

func orTooMany(err error) error {
	if err == nil {
		err = errTooManyBlocks
	}
	return err
}

// UnblockEmailDomain ends BlockEmailDomain. It returns what the block was.
func (s *Service) UnblockEmailDomain(ctx context.Context, id store.BlockID) (b *store.EmailDomainBlock, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		if b, err = tx.EmailDomainBlock(ctx, id); err != nil {
			return err
		}
		if err := tx.RemoveEmailDomainBlock(ctx, id); err != nil {
			return err
		}
		return s.record(ctx, tx, "email_domain_unblock", "unblocked e-mail domain "+b.Domain, map[string]any{"domain": b.Domain})
	})
	return b, err
}

// CanonicalEmailBlocks returns a page of blocked addresses, newest first.
func (s *Service) CanonicalEmailBlocks(ctx context.Context, p store.Page) ([]*store.CanonicalEmailBlock, error) {
	return s.db.CanonicalEmailBlocks(ctx, p)
}

// CanonicalEmailBlock returns a blocked address, and errs.ErrRecordNotFound if there is none.
func (s *Service) CanonicalEmailBlock(ctx context.Context, id store.BlockID) (*store.CanonicalEmailBlock, error) {
	return s.db.CanonicalEmailBlock(ctx, id)
}

// TestCanonicalEmail returns the block of an address, nil if there is none.
func (s *Service) TestCanonicalEmail(ctx context.Context, email string) (*store.CanonicalEmailBlock, error) {
	if !text.ValidEmail(email) {
		return nil, invalidField("Email is invalid")
	}
	return s.db.CanonicalEmailBlockOf(ctx, social.CanonicalEmailHash(email))
}

// BlockCanonicalEmail prevents registrations with an address in any of its spellings. It is named by itself or by its hash. Only the hash is
// stored.
func (s *Service) BlockCanonicalEmail(ctx context.Context, email, hash string) (*store.CanonicalEmailBlock, error) {
	b := store.CanonicalEmailBlock{Hash: strings.ToLower(strings.TrimSpace(hash))}
	switch email = strings.TrimSpace(email); {
	case email != "" && !text.ValidEmail(email):
		return nil, invalidField("Email is invalid")
	case email != "":
		b.Hash = social.CanonicalEmailHash(email)
	case b.Hash == "":
		return nil, invalidField("Canonical email hash can't be blank")
	case len(b.Hash) != 64 || strings.Trim(b.Hash, "0123456789abcdef") != "":
		return nil, invalidField("Canonical email hash is not a SHA-256 in hexadecimal digits")
	}
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		taken, err := tx.CanonicalEmailBlockOf(ctx, b.Hash)
		if err != nil {
			return err
		}
		if taken != nil {
			return invalidField("Canonical email hash has already been taken")
		}
		if added, err := tx.AddCanonicalEmailBlock(ctx, &b); err != nil || !added {
			return orTooMany(err)
		}
		return s.record(ctx, tx, "canonical_email_block", "blocked e-mail address with hash "+b.Hash, map[string]any{"hash": b.Hash})
	})
	return &b, err
}

// UnblockCanonicalEmail ends BlockCanonicalEmail.
func (s *Service) UnblockCanonicalEmail(ctx context.Context, id store.BlockID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		b, err := tx.CanonicalEmailBlock(ctx, id)
		if err != nil {
			return err
		}
		if err := tx.RemoveCanonicalEmailBlock(ctx, id); err != nil {
			return err
		}
		return s.record(ctx, tx, "canonical_email_unblock", "unblocked e-mail address with hash "+b.Hash, map[string]any{"hash": b.Hash})
	})
}

// IPBlockChange adds a block of a network, or changes one. A nil member is unchanged.
type IPBlockChange struct {
	IP        *string // an address or a prefix
	Severity  *string
	Comment   *string
	ExpiresIn *time.Duration // 0: never
	ExpiresAt *time.Time     // counts instead of ExpiresIn; the zero time: never
	From      netip.Addr     // address of the actor; a block never covers it
}

// IPBlocks returns a page of blocked networks, newest first.
func (s *Service) IPBlocks(ctx context.Context, p store.Page) ([]*store.IPBlock, error) {
	return s.db.IPBlocks(ctx, p)
}

// IPBlock returns a blocked network, and errs.ErrRecordNotFound if there is none.
func (s *Service) IPBlock(ctx context.Context, id store.BlockID) (*store.IPBlock, error) {
	return s.db.IPBlock(ctx, id)
}

// BlockIP blocks a network.
func (s *Service) BlockIP(ctx context.Context, c IPBlockChange) (*store.IPBlock, error) {
	switch {
	case c.IP == nil || strings.TrimSpace(*c.IP) == "":
		return nil, invalidField("IP can't be blank")
	case c.Severity == nil || *c.Severity == "":
		return nil, invalidField("Severity can't be blank")
	}
	return s.saveIPBlock(ctx, nil, c, "ip_block", "blocked network ")
}

// UpdateIPBlock changes a block of a network.
func (s *Service) UpdateIPBlock(ctx context.Context, id store.BlockID, c IPBlockChange) (*store.IPBlock, error) {
	return s.saveIPBlock(ctx, &id, c, "ip_block_update", "changed the block of network ")
}

// ipBlockToSave returns the block with an id, or a new one if id is nil.
func ipBlockToSave(ctx context.Context, tx *store.Tx, id *store.BlockID) (*store.IPBlock, error) {
	if id == nil {
		return new(store.IPBlock), nil
	}
	return tx.IPBlock(ctx, *id)
}

func (s *Service) saveIPBlock(ctx context.Context, id *store.BlockID, c IPBlockChange, action, what string) (b *store.IPBlock, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		if b, err = ipBlockToSave(ctx, tx, id); err != nil {
			return err
		}
		if err := c.apply(b, s.db.Now()); err != nil {
			return err
		}
		prefix := netip.MustParsePrefix(b.IP)
		if b.Severity == store.NoAccess && c.From.IsValid() && prefix.Contains(c.From.Unmap().WithZone("")) {
			return invalidField("IP includes your own address " + c.From.String())
		}
		isNew := b.ID == 0
		saved, err := tx.SaveIPBlock(ctx, b)
		switch {
		case err != nil:
			return err
		case !saved && isNew:
			return orTooManyOrTaken(ctx, tx)
		case !saved:
			return invalidField("IP has already been taken")
		}
		return s.record(ctx, tx, action, what+b.IP+" ("+string(b.Severity)+")", map[string]any{"ip": b.IP, "severity": b.Severity})
	})
	return b, err
}

func orTooManyOrTaken(ctx context.Context, tx *store.Tx) error {
	n, err := tx.CountIPBlocks(ctx)
	if err == nil && n < store.MaxAccessBlocks {
		return invalidField("IP has already been taken")
	}
	return orTooMany(err)
}

// apply changes a block.
func (c *IPBlockChange) apply(b *store.IPBlock, now time.Time) error {
	if c.IP != nil {
		prefix, ok := parseNetwork(strings.TrimSpace(*c.IP))
		if !ok {
			return invalidField("IP is not an address or network such as 192.0.2.0/24")
		}
		b.IP = prefix.String()
	}
	if c.Severity != nil {
		if b.Severity = store.IPSeverity(*c.Severity); !b.Severity.Valid() {
			return invalidField("Severity is not one of sign_up_requires_approval, sign_up_block, no_access")
		}
	}
	if c.Comment != nil {
		if text.Length(*c.Comment, "") > maxBlockComment {
			return invalidField("Comment is too long")
		}
		b.Comment = strings.TrimSpace(*c.Comment)
	}
	if c.ExpiresAt != nil {
		return c.applyExpiry(b, now)
	}
	if c.ExpiresIn != nil {
		switch d := *c.ExpiresIn; {
		case d < 0 || d > maxIPBlockTime:
			return invalidField("Expires in must be 0 to 315360000 seconds")
		case d == 0:
			b.ExpiresAt = nil
		default:
			at := store.At(now.Add(d))
			b.ExpiresAt = &at
		}
	}
	return nil
}

// applyExpiry changes when a block expires. The present second is no change, even if it has passed, because forms send all fields.
func (c *IPBlockChange) applyExpiry(b *store.IPBlock, now time.Time) error {
	switch at := *c.ExpiresAt; {
	case at.IsZero():
		b.ExpiresAt = nil
	case b.ExpiresAt != nil && b.ExpiresAt.Time().Truncate(time.Second).Equal(at):
	case !at.After(now) || at.Sub(now) > maxIPBlockTime:
		return errs.Invalid("Validation failed: Expires at must be in the next ten years")
	default:
		b.ExpiresAt = new(store.At(at))
	}
	return nil
}

// parseNetwork parses an address or a prefix. An IPv4 address in IPv6 is the IPv4 address.
func parseNetwork(s string) (netip.Prefix, bool) {
	if address, err := netip.ParseAddr(s); err == nil {
		address = address.Unmap().WithZone("")
		return netip.PrefixFrom(address, address.BitLen()), true
	}
	prefix, err := netip.ParsePrefix(s)
	if err != nil {
		return prefix, false
	}
	if a := prefix.Addr(); a.Is4In6() {
		if prefix.Bits() < 96 {
			return prefix, false
		}
		prefix = netip.PrefixFrom(a.Unmap(), prefix.Bits()-96)
	}
	return prefix.Masked(), true
}

// UnblockIP ends the block of a network.
func (s *Service) UnblockIP(ctx context.Context, id store.BlockID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		b, err := tx.IPBlock(ctx, id)
		if err != nil {
			return err
		}
		if err := tx.RemoveIPBlock(ctx, id); err != nil {
			return err
		}
		return s.record(ctx, tx, "ip_unblock", "unblocked network "+b.IP, map[string]any{"ip": b.IP})
	})
}

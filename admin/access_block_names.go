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

// Kinds of AccessBlock.
const (
	EmailDomainAccess = "email_domain"
	EmailAccess       = "email"
	NetworkAccess     = "network"
)

// AccessBlock is a block of an e-mail domain, an address or a network, for commands.
type AccessBlock struct {
	Kind      string     `json:"kind"`
	Value     string     `json:"value"` // the domain, the hash of the address, the network
	Severity  string     `json:"severity"`
	Comment   string     `json:"comment"`
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt *time.Time `json:"expires_at"` // null: never
}

// AccessBlockChange is a new AccessBlock.
type AccessBlockChange struct {
	Value     string        `json:"value"`    // an e-mail domain, an e-mail address or its hash, an IP address or a network
	Severity  string        `json:"severity"` // "": registrations are refused
	Comment   string        `json:"comment"`
	ExpiresIn time.Duration `json:"expires_in"` // 0: never
}

// accessKind returns the kind of a block by its value.
func accessKind(value string) string {
	if _, ok := parseNetwork(value); ok {
		return NetworkAccess
	}
	if strings.Contains(strings.TrimPrefix(value, "@"), "@") || isEmailHash(value) {
		return EmailAccess
	}
	return EmailDomainAccess
}

func isEmailHash(value string) bool {
	return len(value) == 64 && strings.Trim(strings.ToLower(value), "0123456789abcdef") == ""
}

// BlockAccess refuses registrations, or makes them wait for approval, or refuses all requests of a network.
func (s *Service) BlockAccess(ctx context.Context, c AccessBlockChange) (*AccessBlock, error) {
	c.Value = strings.TrimSpace(c.Value)
	severity := store.SignUpBlock
	if c.Severity != "" {
		severity = store.IPSeverity(c.Severity)
	}
	kind := accessKind(c.Value)
	if kind == NetworkAccess {
		name := string(severity)
		b, err := s.BlockIP(ctx, IPBlockChange{IP: &c.Value, Severity: &name, Comment: &c.Comment, ExpiresIn: &c.ExpiresIn})
		if err != nil {
			return nil, err
		}
		return newIPAccessBlock(b), nil
	}
	switch {
	case c.Comment != "" || c.ExpiresIn != 0:
		return nil, errs.Invalid("Only blocks of networks have a comment and expire")
	case severity != store.SignUpBlock && (kind == EmailAccess || severity != store.SignUpRequiresApproval):
		return nil, errs.Invalid("The severity %s is not possible for %s", severity, c.Value)
	}
	if kind == EmailDomainAccess {
		b, err := s.BlockEmailDomain(ctx, store.EmailDomainBlock{Domain: c.Value, AllowWithApproval: severity == store.SignUpRequiresApproval})
		if err != nil {
			return nil, err
		}
		return newEmailDomainAccessBlock(b), nil
	}
	email, hash := c.Value, ""
	if isEmailHash(c.Value) {
		email, hash = "", c.Value
	}
	b, err := s.BlockCanonicalEmail(ctx, email, hash)
	if err != nil {
		return nil, err
	}
	return newEmailAccessBlock(b), nil
}

// UnblockAccess ends BlockAccess for a value.
func (s *Service) UnblockAccess(ctx context.Context, value string) (*AccessBlock, error) {
	value = strings.TrimSpace(value)
	notBlocked := errs.NotFound("%s is not blocked", value)
	switch accessKind(value) {
	case NetworkAccess:
		prefix, _ := parseNetwork(value)
		list, err := s.db.IPBlocks(ctx, store.Page{Limit: store.MaxAccessBlocks})
		for _, b := range list {
			if b.IP == prefix.String() {
				return newIPAccessBlock(b), s.UnblockIP(ctx, b.ID)
			}
		}
		return nil, orNotBlocked(err, notBlocked)
	case EmailDomainAccess:
		b, err := s.db.BlockedEmailDomain(ctx, []string{text.NormalizeDomain(strings.TrimPrefix(value, "@"))})
		if err != nil || b == nil {
			return nil, orNotBlocked(err, notBlocked)
		}
		if b, err = s.UnblockEmailDomain(ctx, b.ID); err != nil {
			return nil, err
		}
		return newEmailDomainAccessBlock(b), nil
	}
	hash := strings.ToLower(value)
	if !isEmailHash(value) {
		hash = social.CanonicalEmailHash(value)
	}
	b, err := s.db.CanonicalEmailBlockOf(ctx, hash)
	if err != nil || b == nil {
		return nil, orNotBlocked(err, notBlocked)
	}
	return newEmailAccessBlock(b), s.UnblockCanonicalEmail(ctx, b.ID)
}

func orNotBlocked(err, notBlocked error) error {
	if err != nil {
		return err
	}
	return notBlocked
}

// AccessBlocks lists blocks of a kind, or of all kinds if it is "", the newest first of each kind.
func (s *Service) AccessBlocks(ctx context.Context, kind string) ([]*AccessBlock, error) {
	all, blocks := store.Page{Limit: store.MaxAccessBlocks}, []*AccessBlock{}
	switch kind {
	case "", EmailDomainAccess, EmailAccess, NetworkAccess:
	default:
		return nil, errs.Invalid("%q is not one of %s, %s, %s", kind, EmailDomainAccess, EmailAccess, NetworkAccess)
	}
	if kind == "" || kind == EmailDomainAccess {
		list, err := s.db.EmailDomainBlocks(ctx, all)
		if err != nil {
			return nil, err
		}
		for _, b := range list {
			blocks = append(blocks, newEmailDomainAccessBlock(b))
		}
	}
	if kind == "" || kind == EmailAccess {
		list, err := s.db.CanonicalEmailBlocks(ctx, all)
		if err != nil {
			return nil, err
		}
		for _, b := range list {
			blocks = append(blocks, newEmailAccessBlock(b))
		}
	}
	if kind == "" || kind == NetworkAccess {
		list, err := s.db.IPBlocks(ctx, all)
		if err != nil {
			return nil, err
		}
		for _, b := range list {
			blocks = append(blocks, newIPAccessBlock(b))
		}
	}
	return blocks, nil
}

func newEmailDomainAccessBlock(b *store.EmailDomainBlock) *AccessBlock {
	block := &AccessBlock{Kind: EmailDomainAccess, Value: b.Domain, Severity: string(store.SignUpBlock), CreatedAt: b.ID.Time()}
	if b.AllowWithApproval {
		block.Severity = string(store.SignUpRequiresApproval)
	}
	return block
}

func newEmailAccessBlock(b *store.CanonicalEmailBlock) *AccessBlock {
	return &AccessBlock{Kind: EmailAccess, Value: b.Hash, Severity: string(store.SignUpBlock), CreatedAt: b.ID.Time()}
}

func newIPAccessBlock(b *store.IPBlock) *AccessBlock {
	block := &AccessBlock{Kind: NetworkAccess, Value: b.IP, Severity: string(b.Severity), Comment: b.Comment, CreatedAt: b.ID.Time()}
	if prefix, err := netip.ParsePrefix(b.IP); err == nil && prefix.IsSingleIP() {
		block.Value = prefix.Addr().String()
	}
	if b.ExpiresAt != nil {
		at := b.ExpiresAt.Time()
		block.ExpiresAt = &at
	}
	return block
}

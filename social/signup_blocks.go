package social

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// ErrSignUpBlocked is returned for registrations from a blocked network.
var ErrSignUpBlocked = errs.Forbidden("Registrations from your network are not accepted")

// emailBlockReader is what finding the block of an e-mail address reads.
type emailBlockReader interface {
	BlockedEmailDomain(context.Context, []string) (*store.EmailDomainBlock, error)
	CanonicalEmailBlockOf(ctx context.Context, hash string) (*store.CanonicalEmailBlock, error)
}

// checkNetwork returns whether a registration from an address has to be approved, or an error if it is not accepted. An invalid address, as
// that of a proxy, has no block.
func (s *Service) checkNetwork(ctx context.Context, address netip.Addr) (needsApproval bool, err error) {
	if !address.IsValid() {
		return false, nil
	}
	b, err := s.db.IPBlockOf(ctx, address)
	switch {
	case err != nil || b == nil:
		return false, err
	case b.Severity == store.SignUpRequiresApproval:
		return true, nil
	}
	return false, ErrSignUpBlocked
}

// AccessBlocked returns true if clients with an address cannot use the server.
func (s *Service) AccessBlocked(ctx context.Context, address netip.Addr) (bool, error) {
	b, err := s.db.IPBlockOf(ctx, address)
	return b != nil && b.Severity == store.NoAccess, err
}

// emailBlocked returns whether nobody can register with a valid e-mail address, or only with approval.
func (s *Service) emailBlocked(ctx context.Context, r emailBlockReader, email string) (blocked, needsApproval bool, err error) {
	if s.blacklisted(email) {
		return true, false, nil
	}
	known, err := r.CanonicalEmailBlockOf(ctx, CanonicalEmailHash(email))
	if known != nil || err != nil {
		return true, false, err
	}
	var domains []string
	for domain := text.NormalizeDomain(email[strings.LastIndexByte(email, '@')+1:]); domain != ""; {
		domains = append(domains, domain)
		_, domain, _ = strings.Cut(domain, ".")
	}
	b, err := r.BlockedEmailDomain(ctx, domains)
	if b == nil || err != nil {
		return false, false, err
	}
	return !b.AllowWithApproval, b.AllowWithApproval, nil
}

// CanonicalEmailHash returns the hash of an e-mail address that is the same for its spellings: without dots and a suffix after "+" in the
// local part, in lower case, with the domain in ASCII.
func CanonicalEmailHash(email string) string {
	email = text.NormalizeEmail(email)
	at := strings.LastIndexByte(email, '@')
	name, domain := email[:max(at, 0)], email[at+1:]
	name, _, _ = strings.Cut(strings.ReplaceAll(name, ".", ""), "+")
	sum := sha256.Sum256([]byte(name + "@" + domain))
	return hex.EncodeToString(sum[:])
}

package entity

import "svc/store"

// AdminEmailDomainBlock is a domain of e-mail addresses with which nobody can register.
type AdminEmailDomainBlock struct {
	ID                store.BlockID `json:"id"`
	Domain            string        `json:"domain"`
	CreatedAt         store.Time    `json:"created_at"`
	AllowWithApproval bool          `json:"allow_with_approval"`
	History           []struct{}    `json:"history"` // always empty: refused registrations are not counted
}

// NewAdminEmailDomainBlock renders a block.
func NewAdminEmailDomainBlock(b *store.EmailDomainBlock) *AdminEmailDomainBlock {
	return &AdminEmailDomainBlock{b.ID, b.Domain, store.At(b.ID.Time()), b.AllowWithApproval, []struct{}{}}
}

// AdminCanonicalEmailBlock is an e-mail address with which nobody can register.
type AdminCanonicalEmailBlock struct {
	ID   store.BlockID `json:"id"`
	Hash string        `json:"canonical_email_hash"`
}

// NewAdminCanonicalEmailBlock renders a block.
func NewAdminCanonicalEmailBlock(b *store.CanonicalEmailBlock) *AdminCanonicalEmailBlock {
	return &AdminCanonicalEmailBlock{b.ID, b.Hash}
}

// AdminIPBlock is a network from which nobody can register or use the server.
type AdminIPBlock struct {
	ID        store.BlockID    `json:"id"`
	IP        string           `json:"ip"`
	Severity  store.IPSeverity `json:"severity"`
	Comment   string           `json:"comment"`
	CreatedAt store.Time       `json:"created_at"`
	ExpiresAt *store.Time      `json:"expires_at"`
}

// NewAdminIPBlock renders a block.
func NewAdminIPBlock(b *store.IPBlock) *AdminIPBlock {
	return &AdminIPBlock{b.ID, b.IP, b.Severity, b.Comment, store.At(b.ID.Time()), b.ExpiresAt}
}

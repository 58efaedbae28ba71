package entity

import (
	"crypto/sha256"
	"encoding/hex"

	"svc/admin"
	"svc/internal/config"
	"svc/store"
)

// AdminDomainBlock is a host that the settings restrict, in the reference API's form.
type AdminDomainBlock struct {
	ID             store.BlockID `json:"id"`
	Domain         string        `json:"domain"`
	Digest         string        `json:"digest"` // SHA-256 of the domain, hexadecimal
	CreatedAt      store.Time    `json:"created_at"`
	Severity       string        `json:"severity"` // suspend, silence, noop
	RejectMedia    bool          `json:"reject_media"`
	RejectReports  bool          `json:"reject_reports"`
	PrivateComment *string       `json:"private_comment"`
	PublicComment  *string       `json:"public_comment"`
	Obfuscate      bool          `json:"obfuscate"`
}

// NewAdminDomainBlock renders a block.
func NewAdminDomainBlock(b *admin.HostBlock) *AdminDomainBlock {
	return &AdminDomainBlock{
		ID: b.ID, Domain: b.Host, Digest: hostDigest(b.Host), CreatedAt: store.At(b.CreatedAt), Severity: b.Severity(),
		RejectMedia: b.Has(config.RemoveMedia), RejectReports: b.Has(config.RejectReports),
		PrivateComment: textOrNull(b.PrivateComment), PublicComment: textOrNull(b.Comment), Obfuscate: b.Obfuscate,
	}
}

// hostDigest returns the SHA-256 of a host, hexadecimal.
func hostDigest(host string) string {
	digest := sha256.Sum256([]byte(host))
	return hex.EncodeToString(digest[:])
}

// textOrNull returns nil for "".
func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// AdminDomainAllow is a host of the list of the only accepted hosts.
type AdminDomainAllow struct {
	ID        store.BlockID `json:"id"`
	Domain    string        `json:"domain"`
	CreatedAt store.Time    `json:"created_at"`
}

// NewAdminDomainAllow renders an accepted host.
func NewAdminDomainAllow(a *admin.HostAllow) *AdminDomainAllow {
	return &AdminDomainAllow{a.ID, a.Host, store.At(a.CreatedAt)}
}

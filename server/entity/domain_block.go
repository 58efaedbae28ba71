package entity

import "svc/admin"

// DomainBlock is a host that the server rejects or unlists, as the public may know it.
type DomainBlock struct {
	Domain   string `json:"domain"` // with asterisks if the settings hide it
	Digest   string `json:"digest"` // SHA-256 of the whole domain, hexadecimal
	Severity string `json:"severity"`
	Comment  string `json:"comment"`
}

// NewDomainBlock renders a block.
func NewDomainBlock(b *admin.HostBlock) *DomainBlock {
	d := &DomainBlock{Domain: b.Host, Digest: hostDigest(b.Host), Severity: b.Severity(), Comment: b.Comment}
	if b.Obfuscate {
		d.Domain = obfuscate(b.Host)
	}
	return d
}

// obfuscate replaces the middle half of a host by asterisks, except for dots.
func obfuscate(host string) string {
	shown := []rune(host)
	edge := len(shown) / 4
	for i := edge + 1; i < len(shown)-edge; i++ {
		if shown[i] != '.' {
			shown[i] = '*'
		}
	}
	return string(shown)
}

package emoji

// Unpacker returns what unpacks archives for the packs, with other limits.
func (p *Packs) Unpacker(limits Limits) *Unpacker {
	u := p.unpacker()
	u.Limits = limits
	return u
}

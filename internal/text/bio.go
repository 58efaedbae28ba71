package text

import "strings"

// ParseBio reads the text about an account: plain text, in which mentions show their whole handle.
func ParseBio(note string) *Document {
	c := newBuilder(postLink)
	c.doc.fullHandles = true
	c.plain(strings.TrimSpace(normalizeInput(note)))
	return c.finish()
}

// ParseField reads the value of a profile field: one line of plain text, whose links say that they are the account's own.
func ParseField(value string) *Document {
	c := newBuilder(profileLink)
	c.doc.fullHandles = true
	c.text(strings.Join(strings.Fields(normalizeInput(value)), " "), true)
	return c.finish()
}

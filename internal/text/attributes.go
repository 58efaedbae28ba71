package text

import (
	"slices"
	"strings"
)

// Attributes in the order in which they are written; alt is only read.
const (
	attrClass = iota
	attrDataUser
	attrDataTag
	attrHref
	attrRel
	attrTarget
	attrTitle
	attrName
	attrDir
	attrStart
	attrReversed
	attrValue
	attrLang
	attrAlt
	attrCount
)

var attrNames = [attrCount]string{
	"class", "data-user", "data-tag", "href", "rel", "target", "title", "name", "dir", "start", "reversed", "value",
	"lang", "alt",
}

// allowedClasses are the classes that are kept, by element.
var allowedClasses = map[string][]string{
	"a":    {"hashtag", "u-url", "mention"},
	"span": {"h-card", "recipients-inline", "quote-inline"},
	"code": {"inline"},
}

// allowedRels are the values of rel that are kept, in the order in which they are written.
var allowedRels = []string{"me", "tag", "nofollow", "noopener", "noreferrer", "ugc"}

// attributes are the attributes of one tag.
type attributes [attrCount]struct {
	value string
	set   bool
}

// attributes reads the attributes of the current tag. Of duplicates the first counts.
func (t *normalizer) attributes(element string, hasAttrs bool) (a attributes) {
	for hasAttrs {
		var key, value []byte
		key, value, hasAttrs = t.tokenizer.TagAttr()
		if i := slices.Index(attrNames[:], string(key)); i >= 0 && !a[i].set {
			a.put(i, normalizeInput(string(value)))
		}
	}
	if a[attrClass].set {
		a.setUnlessEmpty(attrClass, allowedTokens(a[attrClass].value, allowedClasses[element]))
	}
	if element == "a" {
		href := strings.Trim(a[attrHref].value, htmlSpace)
		if t.linkify { // typed by a user
			href = encodeQuery(href)
		}
		a.setUnlessEmpty(attrHref, href)
	}
	if t.isMention != nil && a[attrClass].set {
		a.dropForeignClasses(t.isMention)
	}
	if element == "a" {
		a.setRel(t.mode.me)
	}
	return a
}

// ownClasses mark the lines that this server adds to texts.
var ownClasses = []string{"quote-inline", "recipients-inline"}

// dropForeignClasses removes the classes that the author of a text must not use. Hashtags of some servers have the class of a mention, too.
func (a *attributes) dropForeignClasses(isMention func(href string) bool) {
	words := strings.Fields(a[attrClass].value)
	keepsMention := slices.Contains(words, "hashtag") || isMention(a[attrHref].value)
	words = slices.DeleteFunc(words, func(w string) bool {
		return slices.Contains(ownClasses, w) || !keepsMention && (w == "mention" || w == "u-url")
	})
	a.setUnlessEmpty(attrClass, strings.Join(words, " "))
}

// allowedTokens returns the distinct allowed words of s.
func allowedTokens(s string, allowed []string) string {
	var kept []string
	for token := range strings.FieldsSeq(s) {
		if slices.Contains(allowed, token) && !slices.Contains(kept, token) {
			kept = append(kept, token)
		}
	}
	return strings.Join(kept, " ")
}

func (a *attributes) put(i int, value string) { a[i].value, a[i].set = value, true }

func (a *attributes) setUnlessEmpty(i int, value string) { a[i].value, a[i].set = value, value != "" }

// setRel sets rel and target of a link. Mentions and hashtags keep their rel; other links are nofollow and open in a new window.
func (a *attributes) setRel(me bool) {
	given := strings.Fields(strings.ToLower(a[attrRel].value))
	class := strings.Fields(a[attrClass].value)
	plain := !slices.Contains(class, "mention") && !slices.Contains(class, "hashtag") && !slices.Contains(given, "tag")
	var kept []string
	for _, rel := range allowedRels {
		added := plain && (rel == "nofollow" || rel == "noopener" || rel == "noreferrer")
		if added || slices.Contains(given, rel) && (me || rel != "me") {
			kept = append(kept, rel)
		}
	}
	a.setUnlessEmpty(attrRel, strings.Join(kept, " "))
	if plain {
		a.put(attrTarget, "_blank")
	}
}

// writeTag writes a start tag with its attributes.
func (t *normalizer) writeTag(name string, a *attributes) {
	t.raw("<" + name)
	for i := range attrAlt {
		if a[i].set {
			t.raw(" " + attrNames[i] + `="`)
			t.buf = appendAttr(t.buf, a[i].value)
			t.raw(`"`)
		}
	}
	t.raw(">")
}

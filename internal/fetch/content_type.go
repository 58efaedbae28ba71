package fetch

import (
	"net/http"
	"slices"
	"strings"

	"svc/internal/text"
)

// OneOf returns a predicate for Limits.Accepts that accepts these media types only, for content that is interpreted as declared.
func OneOf(types ...string) func(mediaType string) bool {
	return func(t string) bool { return slices.Contains(types, t) }
}

// NotDocument accepts all media types but those of pages, documents and scripts. It is for files whose format is found in their content, because
// many servers declare those as application/octet-stream, or do not declare them at all. A file that is declared as a document is refused whatever its
// content is (federation 5.3); SVG is one, because its type ends in +xml.
func NotDocument(mediaType string) bool {
	return !slices.ContainsFunc(documentTypes, func(part string) bool { return strings.Contains(mediaType, part) })
}

// documentTypes are parts of media types: of text/html, application/xhtml+xml, text/xml, image/svg+xml, application/activity+json,
// application/ld+json, text/javascript and so on.
var documentTypes = []string{"html", "xml", "svg", "json", "javascript", "ecmascript"}

// NotPage accepts all media types but those of HTML pages, for documents that are served as static files of any type.
func NotPage(mediaType string) bool {
	return mediaType != "text/html" && mediaType != "application/xhtml+xml"
}

func mediaType(h http.Header) string { return text.DeclaredType(h.Get("Content-Type")) }

package remote

import (
	"cmp"
	"mime"
	"path"
	"slices"
	"strings"

	"svc/internal/activity"
	"svc/internal/fetch"
	"svc/internal/text"
)

// mediaKinds are the types of attachments that clients show, with the media type of those whose own is not known.
var mediaKinds = map[string]string{"image": "image/jpeg", "video": "video/mp4", "audio": "audio/mpeg"}

// vagueTypes are declared for files of any kind, or of several: the default of stores of files, what browsers are told to save a file, and
// containers.
var vagueTypes = []string{
	"", "*/*", "unknown/unknown", "application/unknown", "application/x-unknown",
	"application/octet-stream", "application/x-octet-stream", "binary/octet-stream", "application/binary",
	"application/force-download", "application/download", "application/x-download",
	"application/mp4", "application/ogg",
}

// containerTypes are what containers mostly have.
var containerTypes = map[string]string{"application/mp4": "video/mp4", "application/ogg": "audio/ogg"}

// typesByExtension are the media types of files by the end of their names. The tables of package mime depend on the machine.
var typesByExtension = map[string]string{
	".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".jpe": "image/jpeg", ".jfif": "image/jpeg", ".png": "image/png", ".apng": "image/apng",
	".gif": "image/gif", ".webp": "image/webp", ".avif": "image/avif", ".heic": "image/heic", ".heif": "image/heif", ".jxl": "image/jxl",
	".bmp": "image/bmp", ".tif": "image/tiff", ".tiff": "image/tiff", ".svg": "image/svg+xml",
	".mp4": "video/mp4", ".m4v": "video/mp4", ".mov": "video/quicktime", ".webm": "video/webm", ".ogv": "video/ogg", ".mkv": "video/x-matroska",
	".avi": "video/x-msvideo", ".3gp": "video/3gpp",
	".mp3": "audio/mpeg", ".m4a": "audio/mp4", ".aac": "audio/aac", ".ogg": "audio/ogg", ".oga": "audio/ogg", ".opus": "audio/ogg",
	".flac": "audio/flac", ".wav": "audio/wav", ".weba": "audio/webm",
}

// mediaTypeOf returns the media type that an object declares, "" if it declares none.
func mediaTypeOf(o activity.Object) string {
	return cmp.Or(text.DeclaredType(o.Text("mediaType")), text.DeclaredType(o.Text("mimeType")))
}

// kindOf returns the kind of attachment that a media type is, "" if it is none of mediaKinds. SVG is a document, which is not shown.
func kindOf(mediaType string) string {
	kind, _, _ := strings.Cut(mediaType, "/")
	if mediaKinds[kind] == "" || !fetch.NotDocument(mediaType) {
		return ""
	}
	return kind
}

// typeOfFile returns the media type of a remote file and its kind, "" if it is none of mediaKinds: by the type that is declared, or if that says
// nothing, by the type of the object, or by the end of its address or one of its names.
func typeOfFile(declared, objectType, address string, names ...string) (mediaType, kind string) {
	named := typeByName(append([]string{withoutQuery(activity.WithoutFragment(address))}, names...))
	if kindOf(named) == "" {
		named = cmp.Or(containerTypes[declared], named)
	}
	kind = kindOf(declared)
	if kind == "" && slices.Contains(vagueTypes, declared) {
		if objectType = strings.ToLower(objectType); mediaKinds[objectType] == "" || named == "image/svg+xml" {
			objectType = ""
		}
		kind, declared = cmp.Or(objectType, kindOf(named)), ""
	}
	_, subtype, _ := strings.Cut(declared, "/")
	switch {
	case kind == "":
		return cmp.Or(declared, named, "application/octet-stream"), ""
	case subtype != "" && subtype != "*":
		return declared, kind
	case kindOf(named) == kind:
		return named, kind
	}
	return mediaKinds[kind], kind
}

// typeByName returns the media type of the first name that ends like a picture, video or sound, or else like any file; "" if none does.
func typeByName(names []string) string {
	for _, lookup := range []func(string) string{func(e string) string { return typesByExtension[strings.ToLower(e)] }, mime.TypeByExtension} {
		for _, name := range names {
			if t := lookup(path.Ext(name)); t != "" {
				return text.DeclaredType(t)
			}
		}
	}
	return ""
}

package unzip

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"svc/internal/text"
)

const (
	maxPathBytes = 400
	maxPathDepth = 8
)

// archiveExtensions are the extensions of nested archives, which are refused.
var archiveExtensions = []string{".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".lz", ".lzma", ".jar", ".apk"}

// RefuseName returns the reason why the name of an entry is refused, "" if it is not. It looks at every entry, also those that are not
// unpacked: an archive with one such name was made to do harm.
func RefuseName(name string) string { return RefuseDeepName(name, maxPathDepth) }

// RefuseDeepName is RefuseName with another number of allowed folders.
func RefuseDeepName(name string, maxDepth int) string {
	switch {
	case name == "":
		return "the name is empty"
	case !utf8.ValidString(name):
		return "the name is not UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "the name has control characters"
	case strings.Contains(name, `\`):
		return "the name has a backslash"
	case name[0] == '/' || len(name) > 1 && name[1] == ':':
		return "the name is absolute"
	case len(name) > maxPathBytes:
		return "the name is too long"
	}
	segments := strings.Split(strings.TrimSuffix(name, "/"), "/")
	if len(segments) > maxDepth {
		return "there are too many folders around it"
	}
	for _, s := range segments {
		switch {
		case s == "..":
			return "the name leads out of the archive"
		case s == "." || s == "":
			return "the name has an empty part"
		case len(s) > 255:
			return "the name is too long"
		}
	}
	return ""
}

// IsLitter returns whether a file is hidden or was left by a system that made the archive.
func IsLitter(name string) bool {
	if strings.HasPrefix(name, "__MACOSX/") || strings.Contains("/"+name, "/.") {
		return true
	}
	base := strings.ToLower(path.Base(name))
	return base == "thumbs.db" || base == "desktop.ini"
}

// checkNames refuses names that are unsafe, and names that are the same on a file system that ignores case or Unicode normalization.
func checkNames(entries []Entry) error {
	spelled := make(map[string]string) // by key, folders end in a slash
	files := make(map[string]bool)
	for i := range entries {
		name := entries[i].Name
		if reason := RefuseName(name); reason != "" {
			return Refuse(name, "%s", reason)
		}
		if strings.HasSuffix(name, "/") != entries[i].Mode.IsDir() {
			return Refuse(name, "it is a folder by its name or by its type, but not by both")
		}
		if !entries[i].Mode.IsDir() {
			if files[name] {
				return Refuse(name, "two entries have this name")
			}
			files[name] = true
		}
		for at := 0; at < len(name); {
			end := len(name)
			if slash := strings.IndexByte(name[at:], '/'); slash >= 0 {
				end = at + slash
			}
			part := name[:min(end+1, len(name))] // with the slash of a folder
			key := text.FoldKey(name[:end])
			if other, ok := spelled[key]; ok && other != part {
				return Refuse(name, "%s", clash(part, other))
			}
			spelled[key] = part
			at = end + 1
		}
		entries[i].Path = norm.NFC.String(name)
	}
	return nil
}

// clash says how two names with the same key differ.
func clash(name, other string) string {
	kind := "only in Unicode normalization"
	switch trimmed := strings.TrimSuffix(name, "/"); {
	case trimmed == strings.TrimSuffix(other, "/"):
		return "it is a file and a folder"
	case strings.EqualFold(trimmed, strings.TrimSuffix(other, "/")):
		kind = "only in upper and lower case"
	}
	return "the name differs from \"" + other + "\" " + kind
}

// removeFolder removes a single folder around all files from their paths.
func removeFolder(entries []Entry) {
	var folder string
	for _, e := range entries {
		if e.Mode.IsDir() || IsLitter(e.Path) {
			continue
		}
		first, _, nested := strings.Cut(e.Path, "/")
		if !nested || folder != "" && first != folder {
			return
		}
		folder = first
	}
	for i := range entries {
		entries[i].Path = strings.TrimPrefix(entries[i].Path, folder+"/")
	}
}

// IsArchive returns whether a file is an archive by its name.
func IsArchive(name string) bool {
	return slices.Contains(archiveExtensions, strings.ToLower(path.Ext(name)))
}

package emoji

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

// refuseName returns the reason why the name of an entry is refused, "" if it is not. It looks at every entry, also those that are not
// unpacked: an archive with one such name was made to do harm.
func refuseName(name string) string {
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
	if len(segments) > maxPathDepth {
		return "there are too many folders around it"
	}
	for _, s := range segments {
		switch {
		case s == "..":
			return "the name leads out of the pack"
		case s == "." || s == "":
			return "the name has an empty part"
		case len(s) > 255:
			return "the name is too long"
		}
	}
	return ""
}

// isLitter returns whether a file is hidden or was left by a system that made the archive.
func isLitter(name string) bool {
	if strings.HasPrefix(name, "__MACOSX/") || strings.Contains("/"+name, "/.") {
		return true
	}
	base := strings.ToLower(path.Base(name))
	return base == "thumbs.db" || base == "desktop.ini"
}

// validPath returns whether a name can be that of a file in a pack.
func validPath(name string) bool {
	return refuseName(name) == "" && !strings.HasSuffix(name, "/") && !strings.Contains("/"+name, "/.") && !strings.Contains(name, ":")
}

// checkEntryNames refuses names that are unsafe, and names that are the same on a file system that ignores case or Unicode normalization.
func checkEntryNames(entries []entry) error {
	spelled := make(map[string]string) // by key, folders end in a slash
	files := make(map[string]bool)
	for i := range entries {
		name := entries[i].name
		if reason := refuseName(name); reason != "" {
			return refuse(name, "%s", reason)
		}
		if strings.HasSuffix(name, "/") != entries[i].mode.IsDir() {
			return refuse(name, "it is a folder by its name or by its type, but not by both")
		}
		if !entries[i].mode.IsDir() {
			if files[name] {
				return refuse(name, "two entries have this name")
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
				return refuse(name, "%s", clash(part, other))
			}
			spelled[key] = part
			at = end + 1
		}
		entries[i].path = norm.NFC.String(name)
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
func removeFolder(entries []entry) {
	var folder string
	for _, e := range entries {
		if e.mode.IsDir() || isLitter(e.path) {
			continue
		}
		first, _, nested := strings.Cut(e.path, "/")
		if !nested || folder != "" && first != folder {
			return
		}
		folder = first
	}
	for i := range entries {
		entries[i].path = strings.TrimPrefix(entries[i].path, folder+"/")
	}
}

// isArchive returns whether a file is an archive by its name.
func isArchive(name string) bool {
	return slices.Contains(archiveExtensions, strings.ToLower(path.Ext(name)))
}

// isSVG returns whether a file is an SVG picture by its name.
func isSVG(name string) bool {
	extension := strings.ToLower(path.Ext(name))
	return extension == ".svg" || extension == ".svgz"
}

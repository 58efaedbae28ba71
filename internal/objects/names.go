package objects

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxName    = 512 // bytes; S3 has 1024, for the prefix of the location, too
	maxSegment = 200 // bytes; most file systems have 255
	reserved   = ".svc-"
	// tempDir has files that are being written. Its name is reserved, so that no listing shows them.
	tempDir = reserved + "tmp"
)

// checkName returns ErrName for a name that is not valid at all places: it is relative, of printable UTF-8, without empty segments, "." and "..",
// without backslashes, and does not begin with the reserved prefix.
func checkName(name string) error {
	if err := checkPrefix(name); err != nil {
		return err
	}
	if name == "" || strings.HasSuffix(name, "/") {
		return fmt.Errorf("%w: empty segment", ErrName)
	}
	return nil
}

// checkPrefix returns ErrName for a text that no valid name begins with. It may be empty and end with a slash.
func checkPrefix(prefix string) error {
	switch {
	case len(prefix) > maxName:
		return fmt.Errorf("%w: longer than %d bytes", ErrName, maxName)
	case !utf8.ValidString(prefix) || strings.ContainsFunc(prefix, func(r rune) bool { return r == '\\' || !unicode.IsPrint(r) }):
		return fmt.Errorf("%w: a character is not allowed", ErrName)
	case strings.HasPrefix(prefix, reserved):
		return fmt.Errorf("%w: %s is reserved", ErrName, reserved)
	case prefix == "":
		return nil
	}
	for segment := range strings.SplitSeq(strings.TrimSuffix(prefix, "/"), "/") {
		switch {
		case segment == "" || segment == "." || segment == "..":
			return fmt.Errorf("%w: segment %q", ErrName, segment)
		case len(segment) > maxSegment:
			return fmt.Errorf("%w: a segment is longer than %d bytes", ErrName, maxSegment)
		}
	}
	return nil
}

// checkList returns the error of the arguments of List.
func checkList(prefix, after string, limit int) error {
	if limit < 1 || limit > MaxPage {
		return fmt.Errorf("limit %d is not in 1–%d", limit, MaxPage)
	}
	if len(after) > maxName {
		return fmt.Errorf("%w: longer than %d bytes", ErrName, maxName)
	}
	return checkPrefix(prefix)
}

// entry is a file or folder in a listing.
type entry struct {
	name   string // without the folder
	folder bool
	object Object // of a file, without the name; filled in later if read is nil
}

// key is the text by which entries of one folder are sorted, so that names of objects are in the order of their bytes: a folder sorts like the names in it.
func (e entry) key() string {
	if e.folder {
		return e.name + "/"
	}
	return e.name
}

// lister walks a tree of folders in the order of the names of objects, and reads only folders that can have something of the page.
type lister struct {
	prefix, after string
	limit         int
	read          func(folder string) ([]entry, error) // sorted by key; nothing for a folder that is gone
	describe      func(name string, e entry) (Object, bool, error)
	page          []Object
}

// list returns the page.
func (l *lister) list() ([]Object, error) {
	start := "" // the deepest folder that has everything with the prefix
	if i := strings.LastIndexByte(l.prefix, '/'); i >= 0 {
		start = l.prefix[:i]
	}
	err := l.walk(start)
	return l.page, err
}

func (l *lister) walk(folder string) error {
	entries, err := l.read(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if len(l.page) == l.limit {
			return nil
		}
		name := path.Join(folder, e.name)
		switch {
		case e.folder:
			if l.mayHave(name + "/") {
				err = l.walk(name)
			}
		case strings.HasPrefix(name, l.prefix) && name > l.after && checkName(name) == nil:
			err = l.add(name, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mayHave returns whether a folder, whose name ends with a slash, can have names of the page.
func (l *lister) mayHave(folder string) bool {
	if checkPrefix(folder) != nil {
		return false // temporary files, and what cannot be an object
	}
	if !strings.HasPrefix(folder, l.prefix) && !strings.HasPrefix(l.prefix, folder) {
		return false
	}
	return folder > l.after || strings.HasPrefix(l.after, folder)
}

func (l *lister) add(name string, e entry) error {
	o, ok, err := l.describe(name, e)
	if err == nil && ok {
		o.Name = name
		l.page = append(l.page, o)
	}
	return err
}

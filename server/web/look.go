package web

import (
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

// Look is what the operator adds to the look of the pages by files in the static folder of the data directory.
type Look struct {
	Style string // URL of custom.css, "" if there is none
	Logo  string // URL of the logo, "" if there is none
}

// logoFiles are the names of a logo. The first one that exists is shown.
var logoFiles = []string{"logo.svg", "logo.png", "logo.webp"}

// lookInterval is how long the names of the operator's files are kept before they are looked up again.
const lookInterval = time.Second

// lookFinder finds the operator's files. A zero one finds none.
type lookFinder struct {
	dir   string
	found atomic.Pointer[foundLook]
}

type foundLook struct {
	Look
	at time.Time
}

// find returns the present look. It reads the folder at most once in lookInterval.
func (f *lookFinder) find() Look {
	if f.dir == "" {
		return Look{}
	}
	if found := f.found.Load(); found != nil && time.Since(found.at) < lookInterval {
		return found.Look
	}
	found := &foundLook{at: time.Now()}
	if root, err := os.OpenRoot(f.dir); err == nil {
		defer root.Close()
		found.Style = fileURL(root, "custom.css")
		for _, name := range logoFiles {
			if found.Logo == "" {
				found.Logo = fileURL(root, name)
			}
		}
	}
	f.found.Store(found)
	return found.Look
}

// fileURL returns the URL of a file, which changes with the file, or "" if there is none. As where files are served, a link must not lead out
// of the folder.
func fileURL(root *os.Root, name string) string {
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return "/static/" + name + "?v=" + strconv.FormatInt(info.ModTime().UnixNano(), 36) + strconv.FormatInt(info.Size(), 36)
}

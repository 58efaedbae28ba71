package web

import (
	"bytes"
	"html/template"
	"strings"

	"svc/internal/cache"
)

// Navigation is the navigation of a signed-in user: beside the content, and at the bottom of small windows.
type Navigation struct{ Side, Bottom template.HTML }

// navigationKey is all that the navigation depends on.
type navigationKey struct {
	language, base, path string
	viewer               Viewer // without the form token, which changes with each page
}

const (
	maxNavigationBytes = 2 << 20 // of the navigations that are kept; one has 7 kB
	maxNavigationPath  = 40      // in bytes; links of the navigation are shorter
)

func newNavigations() *cache.Cache[navigationKey, Navigation] {
	return cache.NewWeighted[navigationKey](maxNavigationBytes, func(n Navigation) int { return len(n.Side) + len(n.Bottom) + cache.EntryBytes })
}

// view is what the template of a page is executed with.
type view struct {
	Site     Site
	Frame    Frame
	Page     Content
	pages    *Pages
	template *template.Template
}

// Navigation returns the navigation of the viewer. It is kept, because executing its many small templates takes a third of the time of a page.
func (v *view) Navigation() (Navigation, error) {
	if v.Frame.Viewer == nil {
		return Navigation{}, nil
	}
	key := navigationKey{v.Frame.Messages.Language, v.Frame.Base, navigationPath(v.Frame.Path), *v.Frame.Viewer}
	key.viewer.FormToken = ""
	return v.pages.navigations.Load(key, func() (n Navigation, err error) {
		if n.Side, err = v.part("nav"); err == nil {
			n.Bottom, err = v.part("bottom")
		}
		return n, err
	})
}

// navigationPath returns the path of a page if the navigation can have a link to it, and "" for the many others, which share a navigation
// without a current link.
func navigationPath(path string) string {
	if len(path) > maxNavigationPath || strings.Count(path, "/") > 2 || strings.Contains(path, "?") {
		return ""
	}
	return path
}

func (v *view) part(name string) (template.HTML, error) {
	var b bytes.Buffer
	if err := v.template.ExecuteTemplate(&b, name, v); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil
}

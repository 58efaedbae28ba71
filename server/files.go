package server

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"

	"svc/server/rest"
	"svc/server/web"
	"svc/server/web/assets"
)

// files serves pictures and other small files: those of the operator, else those of the front end, else those that come with the program.
type files struct{ *parts }

func (h *files) routes() rest.Routes {
	return rest.Routes{
		"GET /images/*path":   {rest.File, h.serveFile},
		"GET /instance/*path": {rest.File, h.serveFile},
		"GET /static/*path":   {rest.File.WhenClosed(), h.serveFile},
		"GET /packs/*path":    {rest.File, h.serveFile},
		"GET /manifest.json":  {rest.File, h.serveManifest},
		"GET /favicon.ico":    {rest.File.WhenClosed(), h.serveFile},
		"GET /favicon.png":    {rest.File.WhenClosed(), h.serveFile},
		"GET /robots.txt":     {rest.File.WhenClosed(), h.serveFile},
	}
}

// fileTypes are the content types of files by extension. Files of other types are not served.
var fileTypes = map[string]string{
	".png":  "image/png",
	".gif":  "image/gif",
	".jpg":  "image/jpeg",
	".jpeg": "image/jpeg",
	".webp": "image/webp",
	".avif": "image/avif",
	".svg":  "image/svg+xml",
	".ico":  "image/x-icon",
	".txt":  "text/plain; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".json": "application/json; charset=utf-8",
}

// filePolicy lets files that are pages show images and use styles, but no scripts.
const filePolicy = "default-src 'none'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; sandbox"

// serveFile serves a file. A missing one is a 404 without JSON or HTML: front ends that look for optional files parse any of these.
func (h *files) serveFile(r *rest.Request) (any, error) {
	file, err := h.file(r)
	if file == nil && err == nil {
		file = http.HandlerFunc(http.NotFound)
	}
	return file, err
}

// manifest is the web app manifest, by which browsers install a front end.
type manifest struct {
	ID              string         `json:"id"`
	Name            string         `json:"name"`
	ShortName       string         `json:"short_name"`
	Description     string         `json:"description"`
	Icons           []manifestIcon `json:"icons"`
	StartURL        string         `json:"start_url"`
	Scope           string         `json:"scope"`
	Display         string         `json:"display"`
	DisplayOverride []string       `json:"display_override"`
	Categories      []string       `json:"categories"`
	ThemeColor      string         `json:"theme_color"`
	BackgroundColor string         `json:"background_color"`

	// What only the web interface has.
	Shortcuts   []manifestShortcut `json:"shortcuts,omitempty"`
	ShareTarget *manifestShare     `json:"share_target,omitempty"`
}

// manifestShortcut is a page that the menu of the app's icon leads to.
type manifestShortcut struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// manifestShare is the form that the browser sends with what other programs share.
type manifestShare struct {
	Action  string `json:"action"`
	Method  string `json:"method"`
	Enctype string `json:"enctype"`
	Params  struct {
		Title string         `json:"title"`
		Text  string         `json:"text"`
		URL   string         `json:"url"`
		Files []manifestFile `json:"files"`
	} `json:"params"`
}

type manifestFile struct {
	Name   string   `json:"name"`
	Accept []string `json:"accept"`
}

type manifestIcon struct {
	Src   string `json:"src"`
	Sizes string `json:"sizes"`
	Type  string `json:"type"`
}

// serveManifest returns the web app manifest: the operator's, or one made from the settings.
func (h *files) serveManifest(r *rest.Request) (any, error) {
	file, err := h.file(r)
	if file != nil || err != nil {
		return file, err
	}
	settings := h.Settings.Load()
	c := settings.Instance
	m := manifest{
		ID: "/", Name: c.Name, ShortName: c.Name, Description: c.ShortDescription,
		Icons: []manifestIcon{
			{"/favicon.png", "64x64", "image/png"}, {"/images/icon-192.png", "192x192", "image/png"}, {"/images/icon-512.png", "512x512", "image/png"},
		},
		StartURL: "/", Scope: "/", Display: "standalone", DisplayOverride: []string{"standalone", "minimal-ui"}, Categories: []string{"social"},
		ThemeColor: "#282c37", BackgroundColor: "#191b22",
	}
	if _, replaced := h.frontends.selected(r.Request); settings.Web.Enabled && !replaced {
		h.addPages(&m, r)
	}
	return m, nil
}

// addPages adds what the web interface can do as an installed app. It begins at the home page, because the service worker knows no other ones.
func (h *files) addPages(m *manifest, r *rest.Request) {
	texts := web.MessagesFor("", r.Header.Get("Accept-Language"))
	r.ResponseHeader().Add("Vary", "Accept-Language")
	m.StartURL = "/web"
	for _, s := range []manifestShortcut{
		{"nav.compose", "/web/compose"}, {"nav.notifications", "/web/notifications"}, {"nav.conversations", "/web/conversations"}, {"nav.search", "/web/search"},
	} {
		m.Shortcuts = append(m.Shortcuts, manifestShortcut{texts.Text(s.Name), s.URL})
	}
	share := manifestShare{Action: "/web/share", Method: "POST", Enctype: "multipart/form-data"}
	share.Params.Title, share.Params.Text, share.Params.URL = "title", "text", "url"
	share.Params.Files = []manifestFile{{Name: "file", Accept: []string{"image/*", "video/*", "audio/*"}}}
	m.ShareTarget = &share
}

// file returns the handler of the file of a request, nil if it does not exist.
func (h *files) file(r *rest.Request) (http.Handler, error) {
	return h.named(strings.TrimPrefix(r.URL.Path, "/"), r)
}

// named returns the handler of a file, nil if it does not exist.
func (h *files) named(name string, r *rest.Request) (http.Handler, error) {
	if !fs.ValidPath(name) || strings.Contains("/"+name, "/.") {
		return nil, nil
	}
	contentType := fileTypes[strings.ToLower(path.Ext(name))]
	if contentType != "" {
		file, err := h.operatorsFile(name)
		if err == nil {
			return &servedFile{file, contentType}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("serve file: %w", err)
		}
	}
	if v, ok := h.frontends.selected(r.Request); ok {
		if file := h.frontends.file(v, name, r.Request); file != nil {
			return file, nil
		}
	}
	file, err := assets.FS.Open(name)
	if err != nil || contentType == "" {
		return nil, nil
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, nil
	}
	return &servedFile{file, contentType}, nil
}

// operatorsFile opens a regular file in the operator's directory, where files below /static/ may also stand at the top.
func (h *files) operatorsFile(name string) (fs.File, error) {
	file, err := openInDir(h.StaticDir, name)
	if rest, ok := strings.CutPrefix(name, "static/"); ok && errors.Is(err, fs.ErrNotExist) {
		return openInDir(h.StaticDir, rest)
	}
	return file, err
}

// openInDir opens a regular file in dir. Links must not lead out of it. Errors other than a lack of permission are fs.ErrNotExist.
func openInDir(dir, name string) (fs.File, error) {
	if dir == "" {
		return nil, fs.ErrNotExist
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(name)
	if errors.Is(err, fs.ErrPermission) {
		return nil, err
	}
	if err != nil || !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist
	}
	return root.Open(name)
}

type servedFile struct {
	fs.File
	contentType string
}

func (f *servedFile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer f.Close()
	info, err := f.Stat()
	content, ok := f.File.(io.ReadSeeker)
	if err != nil || !ok {
		http.Error(w, "Internal server error", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Content-Security-Policy", filePolicy)
	h.Set("Cache-Control", "public, max-age=86400")
	http.ServeContent(w, r, "", info.ModTime(), content)
}

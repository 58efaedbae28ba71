package server

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/internal/frontend"
	"svc/server/rest"
	"svc/server/web"
)

// frontends serves installed web front ends on the server's own address: the primary one, or the one that the visitor has chosen, beside
// the API, and one for administrators at /svc/admin/. They are single-page applications: a path that is no file is answered with their
// index.html.
type frontends struct {
	*parts
	dir *frontend.Dir // nil: none are installed
}

const (
	// frontendCookie has the front end that a visitor has chosen, as NAME/REF.
	frontendCookie    = "preferred_frontend"
	frontendCookieAge = 365 * 24 * time.Hour

	maxIndex = 1 << 20 // bytes of an index.html
)

func (h *frontends) routes() rest.Routes {
	return rest.Routes{
		"GET /frontends":       {rest.Anonymous.HTML(), h.choicePage},
		"POST /frontends":      {rest.Anonymous.HTML(), h.choose},
		"GET /svc/admin":       {rest.File.HTML(), h.adminPage},
		"GET /svc/admin/*path": {rest.File.HTML(), h.adminPage},
	}
}

// frontendTypes are the content types of files of front ends by extension, beside fileTypes.
var frontendTypes = map[string]string{
	".js":          "text/javascript; charset=utf-8",
	".mjs":         "text/javascript; charset=utf-8",
	".wasm":        "application/wasm",
	".map":         "application/json; charset=utf-8",
	".webmanifest": "application/manifest+json",
	".xml":         "application/xml; charset=utf-8",
	".woff":        "font/woff",
	".woff2":       "font/woff2",
	".ttf":         "font/ttf",
	".otf":         "font/otf",
	".mp3":         "audio/mpeg",
	".ogg":         "audio/ogg",
	".wav":         "audio/wav",
	".mp4":         "video/mp4",
	".webm":        "video/webm",
	".oga":         "audio/ogg",
	".opus":        "audio/ogg",
	".flac":        "audio/flac",
	".m4a":         "audio/mp4",
	".ogv":         "video/ogg",
	".md":          "text/markdown; charset=utf-8",
	".ftl":         "text/plain; charset=utf-8", // texts in other languages
	".iss":         "text/plain; charset=utf-8", // themes
}

// frontendType returns the content type of a file of a front end, "" if the extension is not known.
func frontendType(name string) string {
	extension := strings.ToLower(path.Ext(name))
	return cmp.Or(frontendTypes[extension], fileTypes[extension])
}

// selected returns the front end for a request: the visitor's choice, else the primary one. ok is false if there is none.
func (h *frontends) selected(r *http.Request) (v frontend.Version, ok bool) {
	if h.dir == nil {
		return v, false
	}
	c := h.Settings.Load().Frontends
	if cookie, err := r.Cookie(frontendCookie); err == nil {
		chosen, err := url.QueryUnescape(cookie.Value)
		if err == nil && slices.Contains(c.Pickable, chosen) {
			if v, ok := frontend.ParseVersion(chosen); ok && h.dir.Has(v) {
				return v, true
			}
		}
	}
	v, ok = frontend.ParseVersion(c.Primary)
	return v, ok && h.dir.Has(v)
}

// orPage answers with the index of a front end, and with a page of this program if there is none.
func (h *frontends) orPage(page rest.Handler) rest.Handler {
	return func(r *rest.Request) (any, error) {
		if v, ok := h.selected(r.Request); ok {
			return h.index(v, r)
		}
		return page(r)
	}
}

// fallback answers a path that has no route with a file of a front end or with its index. The value is nil if there is none.
func (h *frontends) fallback(r *rest.Request) (any, error) {
	if prefix := "/" + h.Settings.Load().API.Name + "/admin"; r.URL.Path == prefix || strings.HasPrefix(r.URL.Path, prefix+"/") {
		return h.adminPage(r)
	}
	v, ok := h.selected(r.Request)
	if !ok {
		return nil, nil
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	if file := h.file(v, name, r.Request); file != nil {
		return file, nil
	}
	if frontendType(name) != "" && path.Ext(name) != ".html" {
		return http.HandlerFunc(http.NotFound), nil // front ends parse the body of an optional file
	}
	return h.index(v, r)
}

// adminPage serves the front end for administrators.
func (h *frontends) adminPage(r *rest.Request) (any, error) {
	v, ok := frontend.ParseVersion(h.Settings.Load().Frontends.Admin)
	if h.dir == nil || !ok || !h.dir.Has(v) {
		return nil, errs.NotFound("No front end for administrators is installed. The setting frontends.admin names the one that is shown here.")
	}
	_, name, nested := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/admin/")
	if !nested { // relative paths of the index need the slash
		return rest.Redirect(r.URL.Path + "/"), nil
	}
	if name != "" {
		if file := h.file(v, name, r.Request); file != nil {
			return file, nil
		}
		if frontendType(name) != "" {
			return http.HandlerFunc(http.NotFound), nil
		}
	}
	return h.index(v, r)
}

// file returns the handler of a file of a front end, nil if it does not exist. The index is not among them.
func (h *frontends) file(v frontend.Version, name string, r *http.Request) http.Handler {
	if name == "index.html" {
		return nil
	}
	f := &frontendFile{contentType: cmp.Or(frontendType(name), "application/octet-stream"), hashed: hashedName(name)}
	if rest.AcceptsGzip(r.Header) {
		if file, info, err := h.dir.OpenFile(v, name+".gz"); err == nil {
			f.file, f.info, f.gzip = file, info, true
			return f
		}
	}
	file, info, err := h.dir.OpenFile(v, name)
	if err != nil {
		return nil
	}
	f.file, f.info = file, info
	return f
}

// hashInName is a hash of the content that build tools put into names of files: hexadecimal with a digit and a letter, or base64 with
// digits, small and capital letters.
var hashInName = regexp.MustCompile(`[.-]([0-9A-Za-z_-]{8,64})\.[0-9a-z.]+$`)

// hashedName returns true if the name of a file has a hash of its content, so that a changed file has another name.
func hashedName(name string) bool {
	m := hashInName.FindStringSubmatch(path.Base(name))
	if m == nil {
		return false
	}
	const digits, hexLetters = "0123456789", "abcdef"
	hash := m[1]
	if !strings.ContainsAny(hash, digits) {
		return false
	}
	if strings.Trim(hash, digits+hexLetters) == "" {
		return strings.ContainsAny(hash, hexLetters)
	}
	return strings.ToLower(hash) != hash && strings.ToUpper(hash) != hash
}

// frontendFile serves a file of a front end. Browsers ask whether it has changed, because an update keeps most names, except for those that have
// a hash of the content.
type frontendFile struct {
	file        *os.File
	info        fs.FileInfo
	contentType string
	gzip        bool // the file is compressed
	hashed      bool // the name has a hash of the content
}

func (f *frontendFile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer f.file.Close()
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", "public, no-cache")
	if f.hashed {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	h.Set("Vary", "Accept-Encoding, Cookie")
	h.Set("ETag", fmt.Sprintf(`"%x-%x"`, f.info.ModTime().UnixNano(), f.info.Size()))
	if f.gzip {
		h.Set("Content-Encoding", "gzip")
	}
	http.ServeContent(w, r, "", f.info.ModTime(), f.file)
}

// metaMark is where front ends of this family want the title and links of the server.
const metaMark = "<!--server-generated-meta-->"

// index answers with the index.html of a front end.
func (h *frontends) index(v frontend.Version, r *rest.Request) (any, error) {
	file, _, err := h.dir.OpenFile(v, "index.html")
	if err != nil {
		return nil, errNoPage
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxIndex))
	if err != nil {
		return nil, fmt.Errorf("serve front end: %w", err)
	}
	meta := "<title>" + html.EscapeString(h.Settings.Load().Instance.Name) + `</title><link rel="icon" href="/favicon.png"><link rel="manifest" href="/manifest.json">`
	text = bytes.Replace(text, []byte(metaMark), []byte(meta), 1)
	policy := h.policy()
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256(text))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Cache-Control", "public, no-cache")
		header.Set("Vary", "Cookie")
		header.Set("Content-Security-Policy", policy)
		header.Set("ETag", tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
	}), nil
}

// policy lets front ends run their own scripts only, and show pictures and media of other servers.
func (h *frontends) policy() string {
	return "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; font-src 'self' data:; " +
		"img-src 'self' data: blob: https:; media-src 'self' data: blob: https:; connect-src 'self' https: blob: " + h.Settings.Load().WebSocketURL() + "; " +
		"manifest-src 'self'; worker-src 'self' blob:; frame-src 'self' https:; frame-ancestors 'none'; base-uri 'self'; form-action 'self'"
}

// choicePage shows the front ends among which a visitor may choose.
func (h *frontends) choicePage(r *rest.Request) (any, error) {
	c := h.Settings.Load().Frontends
	if len(c.Pickable) == 0 || h.dir == nil {
		return nil, errNoPage
	}
	page := web.FrontendChoice{Standard: c.Primary}
	chosen, _ := h.selected(r.Request)
	for _, name := range c.Pickable {
		v, ok := frontend.ParseVersion(name)
		if !ok || !h.dir.Has(v) || name == c.Primary {
			continue
		}
		page.Choices = append(page.Choices, web.Choice{Value: name, Label: name, Selected: v == chosen})
		page.Chosen = page.Chosen || v == chosen
	}
	return h.oauth.Page(r, http.StatusOK, page)
}

// choose remembers the visitor's choice in a cookie. An empty choice is the default.
func (h *frontends) choose(r *rest.Request) (any, error) {
	var p struct {
		Frontend string `param:"frontend"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if !r.SameOrigin() {
		return nil, rest.ErrCrossSite
	}
	cookie := &http.Cookie{
		Name: frontendCookie, Value: url.QueryEscape(p.Frontend), Path: "/", MaxAge: int(frontendCookieAge.Seconds()), HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: h.Settings.Load().SecureCookies(),
	}
	switch {
	case p.Frontend == "":
		cookie.MaxAge = -1
	case !slices.Contains(h.Settings.Load().Frontends.Pickable, p.Frontend):
		return nil, errs.Invalid("There is no front end %q to choose.", p.Frontend)
	}
	r.ResponseHeader().Add("Set-Cookie", cookie.String())
	return rest.Redirect("/"), nil
}

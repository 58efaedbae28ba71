package media_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc/internal/config"
	"svc/internal/fetch"
	"svc/media"
	"svc/store"
)

// remoteServer is a server with files.
type remoteServer struct {
	*httptest.Server
	mux   *http.ServeMux
	asked atomic.Int32
}

func startRemote(t *testing.T) *remoteServer {
	t.Helper()
	e := &remoteServer{mux: http.NewServeMux()}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.asked.Add(1)
		e.mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { e.CloseClientConnections(); e.Close() })
	return e
}

// addFile adds a file and returns its URL.
func (e *remoteServer) addFile(path, contentType, content string) string {
	e.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = []string{contentType}
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		io.WriteString(w, content)
	})
	return e.URL + path
}

func (e *remoteServer) wantRequests(t *testing.T, n int32) {
	t.Helper()
	if got := e.asked.Swap(0); got != n {
		t.Errorf("the remote server got %d requests, want %d", got, n)
	}
}

// proxy is a media proxy on a port of its own.
type proxy struct {
	*media.Proxy
	t      *testing.T
	config media.ProxyConfig
	dir    string // of the cache
	db     *store.DB
	client netip.Addr                  // of all requests
	now    atomic.Pointer[media.Proxy] // that answers: another after a restart
}

func startProxy(t *testing.T, change ...func(*media.ProxyConfig)) *proxy {
	t.Helper()
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Schema: string(schema)})
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, db: db}
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.now.Load().Handler(p.client).ServeHTTP(w, r) }))
	settings := config.Default()
	settings.Server.URL, settings.Data.Dir = ts.URL, t.TempDir()
	settings.MediaProxy.CacheSize, settings.MediaProxy.MaxFile = 10<<20, 1<<20
	p.dir = filepath.Join(settings.Data.Dir, "cache")
	p.config = media.ProxyConfig{
		Settings: config.NewLive(settings), Key: []byte("key"),
		Fetch: fetch.New(fetch.Options{UserAgent: "svc/1 (+" + ts.URL + ")", OwnHosts: []string{strings.TrimPrefix(ts.URL, "http://")}, AllowLoopback: true}),
	}
	for _, f := range change {
		f(&p.config)
	}
	p.open()
	t.Cleanup(func() {
		ts.CloseClientConnections()
		ts.Close()
		if err := errors.Join(p.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *proxy) open() {
	p.t.Helper()
	var err error
	if p.Proxy, err = media.OpenProxy(p.db, p.config, slog.New(slog.NewTextHandler(p.t.Output(), nil))); err != nil {
		p.t.Fatal(err)
	}
	p.now.Store(p.Proxy)
}

func (p *proxy) restart() {
	p.t.Helper()
	if err := p.Close(); err != nil {
		p.t.Fatal(err)
	}
	p.open()
}

// result is a response.
type result struct {
	status int
	header http.Header
	body   string
	err    error // of the reading
}

// do requests the proxied file of an address. Headers are pairs.
func (p *proxy) do(method, shown string, headers ...string) result {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, shown, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req) // follows no redirects
	if err != nil {
		return result{err: err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return result{resp.StatusCode, resp.Header, string(body), err}
}

func (p *proxy) get(address string, headers ...string) result {
	p.t.Helper()
	return p.do("GET", p.URL(address), headers...)
}

func (r result) want(t *testing.T, status int, body string) {
	t.Helper()
	if r.err != nil || r.status != status || status < 300 && r.body != body {
		t.Errorf("got %d, %d bytes %.60q (%v), want %d, %d bytes", r.status, len(r.body), r.body, r.err, status, len(body))
	}
	if r.header.Get("X-Content-Type-Options") != "nosniff" || r.header.Get("Content-Security-Policy") != "default-src 'none'; sandbox" ||
		r.header.Get("Location") != "" || r.header.Get("Set-Cookie") != "" || strings.Contains(r.header.Get("Content-Type"), "json") {
		t.Errorf("headers %v", r.header)
	}
}

// cached returns how many copies there are, and how many bytes of them.
func (p *proxy) cached() (files int, size int64) {
	p.t.Helper()
	err := filepath.WalkDir(p.dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			files++
			size += info.Size()
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.t.Fatal(err)
	}
	return files, size
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// pngOf returns a picture padded to a size.
func pngOf(size int) string {
	var b bytes.Buffer
	png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 4)))
	for i := 0; b.Len() < size; i++ {
		b.WriteByte(byte(i >> 8 * 7))
	}
	return b.String()
}

const (
	gifStart  = "GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
	mp4Start  = "\x00\x00\x00\x18ftypisom\x00\x00\x00\x00isommp42\x00\x00\x00\x08free"
	webmStart = "\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\xf7\x81\x01\x42\xf2\x81\x04\x42\xf3\x81\x08\x42\x82\x84webm"
	oggStart  = "OggS\x00\x02" + zeros20 + "\x01\x13OpusHead\x01\x02"
	zeros20   = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	webpStart = "RIFF\x1e\x00\x00\x00WEBPVP8L\x11\x00\x00\x00\x2f\x00\x00\x00\x00\x07\xd0\xff\xfe\xf7\xbf\xff\x81\x88\xe8\x7f\x00\x00"
	jpegStart = "\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
)

func TestProxyTypes(t *testing.T) {
	p, site := startProxy(t), startRemote(t)
	picture := pngOf(100)
	page := "<!DOCTYPE html><html><script>alert(1)</script></html>"
	for i, tt := range []struct {
		name, claim, content string
		status               int
		served               string
	}{
		{"a PNG", "image/png", picture, 200, "image/png"},
		{"with parameters", "Image/PNG; charset=utf-8", picture, 200, "image/png"},
		{"a PNG that says JPEG", "image/jpeg", picture, 200, "image/png"},
		{"another name of JPEG", "image/jpg", jpegStart, 200, "image/jpeg"},
		{"a GIF", "image/gif", gifStart, 200, "image/gif"},
		{"a film", "video/mp4", mp4Start, 200, "video/mp4"},
		{"a WebM", "video/webm", webmStart, 200, "video/webm"},
		{"a recording in MP4", "audio/mp4", mp4Start, 200, "audio/mp4"},
		{"a recording in WebM", "audio/webm", webmStart, 200, "audio/webm"},
		{"a recording in QuickTime", "audio/mp4", "\x00\x00\x00\x14ftypqt  \x00\x00\x00\x00qt  \x00\x00\x00\x08free", 200, "audio/mp4"},
		{"a recording in Ogg", "audio/opus", oggStart, 200, "audio/ogg"},
		{"a picture and a page at once", "image/gif", gifStart + page, 200, "image/gif"},
		{"a page that says PNG", "image/png", page, 502, ""},
		{"a script that says PNG", "image/png", "alert(1)", 502, ""},
		{"JSON that says PNG", "image/png", `{"id": "https://example.org/users/1", "type": "Person"}`, 502, ""},
		{"JSON", "application/activity+json", `{"type": "Note"}`, 502, ""},
		{"a picture that says JSON", "application/activity+json", picture, 502, ""},
		{"a picture that says page", "text/html", picture, 502, ""},
		{"a picture that says film", "video/mp4", picture, 200, "image/png"},
		{"a film that says picture", "image/png", mp4Start, 200, "video/mp4"},
		{"a picture that says nothing", "", picture, 200, "image/png"},
		{"a picture that says bytes", "application/octet-stream", picture, 200, "image/png"},
		{"a JPEG that says binary", "binary/octet-stream", jpegStart, 200, "image/jpeg"},
		{"a JPEG that says any picture", "image/*", jpegStart, 200, "image/jpeg"},
		{"a JPEG that says picture without format", "image", jpegStart, 200, "image/jpeg"},
		{"a JPEG that says download", "application/force-download", jpegStart, 200, "image/jpeg"},
		{"a JPEG that says text", "text/plain; charset=utf-8", jpegStart, 200, "image/jpeg"},
		{"a WebP that says bytes", "application/octet-stream", webpStart, 200, "image/webp"},
		{"a WebP that says nothing", "", webpStart, 200, "image/webp"},
		{"a film that says bytes", "binary/octet-stream", mp4Start, 200, "video/mp4"},
		{"a film that says application", "application/mp4", mp4Start, 200, "video/mp4"},
		{"a film that says nothing", "", mp4Start, 200, "video/mp4"},
		{"a recording that says application", "application/ogg", oggStart, 200, "audio/ogg"},
		{"a recording that says bytes", "application/octet-stream", oggStart, 200, "audio/ogg"},
		{"a page that says bytes", "application/octet-stream", page, 502, ""},
		{"a page that says nothing", "", page, 502, ""},
		{"a script that says nothing", "", "alert(1)", 502, ""},
		{"JSON that says nothing", "", `{"id": "https://example.org/users/1", "type": "Person"}`, 502, ""},
		{"JSON that says bytes", "application/octet-stream", `{"id": "https://example.org/users/1", "type": "Person"}`, 502, ""},
		{"a picture that says page and picture", "text/html, image/png", picture, 502, ""},
		{"a picture that says XHTML", "application/xhtml+xml", picture, 502, ""},
		{"a picture that says XML", "text/xml", picture, 502, ""},
		{"a picture that says feed", "application/atom+xml", picture, 502, ""},
		{"a picture that says linked data", `application/ld+json; profile="https://www.w3.org/ns/activitystreams"`, picture, 502, ""},
		{"a picture that says plain JSON", "application/json", picture, 502, ""},
		{"a picture that says script", "text/javascript", picture, 502, ""},
		{"a picture that says SVG", "image/svg+xml", picture, 502, ""},
		{"SVG that says bytes", "application/octet-stream", `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`, 502, ""},
		{"SVG that says nothing", "", `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"></svg>`, 502, ""},
		{"SVG", "image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`, 502, ""},
		{"SVG that says PNG", "image/png", `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"></svg>`, 502, ""},
		{"PDF", "application/pdf", "%PDF-1.7\n", 502, ""},
		{"nothing", "image/png", "", 502, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			address := site.addFile(fmt.Sprintf("/%d/a.html", i), tt.claim, tt.content)
			for _, again := range []int32{1, 0} {
				r := p.get(address)
				r.want(t, tt.status, tt.content)
				if got := r.header.Get("Content-Type"); tt.status == 200 && got != tt.served || tt.status != 200 && got != "text/plain; charset=utf-8" {
					t.Errorf("served as %q, want %q", got, tt.served)
				}
				if got := r.header.Get("Cache-Control"); tt.status == 200 && !strings.Contains(got, "immutable") || tt.status != 200 && got != "no-store" {
					t.Errorf("Cache-Control %q", got)
				}
				site.wantRequests(t, again)
			}
		})
	}
}

func TestProxyHeaders(t *testing.T) {
	p, site := startProxy(t), startRemote(t)
	seen := make(chan http.Header, 1)
	site.mux.HandleFunc("/cat.png", func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Clone()
		w.Header().Set("Content-Type", "image/png")
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Location", "https://evil.example/")
		io.WriteString(w, pngOf(0))
	})
	r := p.get(site.URL+"/cat.png", "Cookie", "session=secret", "Authorization", "Bearer secret", "Referer", "https://home.example/", "User-Agent", "Browser",
		"X-Forwarded-For", "192.0.2.1", "Accept-Language", "de", "If-None-Match", `"x"`)
	r.want(t, 200, pngOf(0))
	if got := r.header.Get("Content-Disposition"); got != "inline; filename=cat.png" {
		t.Errorf("Content-Disposition %q", got)
	}
	for name, values := range <-seen {
		switch want := map[string]string{"User-Agent": "svc/1 (+" + p.config.Settings.BaseURL + ")", "Accept": "image/*, video/*, audio/*", "Accept-Encoding": "gzip"}; {
		case want[name] != values[0]:
			t.Errorf("sent on: %s: %s", name, values)
		}
	}
}

func TestProxySignatures(t *testing.T) {
	p, site := startProxy(t), startRemote(t)
	address := site.addFile("/a%20b/k%C3%A4se.png", "image/png", pngOf(0))
	shown := p.URL(address)
	parts := strings.Split(strings.TrimPrefix(shown, p.config.Settings.BaseURL+"/proxy/"), "/")
	if len(parts) != 3 || parts[2] != "k_se.png" {
		t.Fatalf("shown at %s", shown)
	}
	base := p.config.Settings.BaseURL + "/proxy/"
	other := strings.Split(p.URL(site.URL + "/other")[len(base):], "/")
	for _, tt := range []struct {
		name, shown string
		status      int
	}{
		{"as it is", shown, 200},
		{"without a name", base + parts[0] + "/" + parts[1], 200},
		{"with another name", base + parts[0] + "/" + parts[1] + "/x.html", 200},
		{"another address", base + parts[0] + "/" + other[1], 403},
		{"another signature", base + other[0] + "/" + parts[1], 403},
		{"a shorter signature", base + parts[0][:10] + "/" + parts[1], 403},
		{"no signature", base + "/" + parts[1], 403},
		{"padded", base + parts[0] + "/" + parts[1] + "=", 403},
		{"nothing", base, 403},
		{"the address itself", base + address, 403},
	} {
		if got := p.do("GET", tt.shown); got.status != tt.status {
			t.Errorf("%s: got %d, want %d", tt.name, got.status, tt.status)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE"} {
		if got := p.do(method, shown); got.status != 405 {
			t.Errorf("%s: got %d", method, got.status)
		}
	}
	if got := p.Original(shown); got != address {
		t.Errorf("the original is %q", got)
	}
	site.wantRequests(t, 1)
}

func TestProxyURL(t *testing.T) {
	p := startProxy(t, func(c *media.ProxyConfig) { c.Settings.Load().MediaProxy.DirectHosts = []string{"Media.example.org"} })
	for address, proxied := range map[string]bool{
		"https://remote.example/a.png":             true,
		"http://remote.example/a.png":              true,
		"https://notmedia.example.org/a":           true,
		"https://media.example.org/a.png":          false,
		"https://a.MEDIA.example.org:444/a.png":    false,
		p.config.Settings.BaseURL + "/media/a.png": false,
		"/images/avi.png":                          false,
		"":                                         false,
		"javascript:alert(1)":                      false,
		"data:image/png;base64,AAAA":               false,
		"https://127.0.0.1.evil/a":                 true,
	} {
		shown := p.URL(address)
		if got := shown != address; got != proxied {
			t.Errorf("%q is shown at %q", address, shown)
		}
		if proxied && p.Original(shown) != address {
			t.Errorf("%q becomes %q", address, p.Original(shown))
		}
	}
}

func TestProxyRefuses(t *testing.T) {
	p, site := startProxy(t), startRemote(t)
	leads := func(path, to string) string {
		site.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
		return site.URL + path
	}
	picture := site.addFile("/picture", "image/png", pngOf(0))
	large := site.addFile("/large", "image/png", pngOf(1<<20+1))
	site.mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		io.WriteString(w, pngOf(0))
		for _, err := w.Write(make([]byte, 1000)); err == nil; _, err = w.Write(make([]byte, 1000)) {
		}
	})
	site.mux.HandleFunc("/bomb", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, pngOf(0))
		for range 100 {
			z.Write(make([]byte, 1<<20))
		}
		z.Close()
	})
	site.mux.HandleFunc("/short", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		w.Header().Set("Content-Length", "5000")
		io.WriteString(w, pngOf(0))
	})
	site.mux.HandleFunc("/status/", func(w http.ResponseWriter, r *http.Request) {
		var status int
		fmt.Sscanf(r.URL.Path, "/status/%d", &status)
		w.Header().Set("Content-Type", "image/png")
		w.WriteHeader(status)
		io.WriteString(w, pngOf(0))
	})
	for _, tt := range []struct {
		name, address string
		status        int // 0: the answer breaks off
		asked         int32
	}{
		{"a redirect", leads("/there", picture), 200, 2},
		{"a redirect to a private address", leads("/inside", "http://10.0.0.1/"), 403, 1},
		{"a redirect to this server", leads("/back", p.config.Settings.BaseURL+"/x.png"), 403, 1},
		{"a redirect to itself", leads("/round", "/round"), 403, 4},
		{"a private address", "http://192.168.1.1/a.png", 403, 0},
		{"this server through the proxy", strings.ToUpper(p.config.Settings.BaseURL) + "/a.png", 403, 0},
		{"a missing file", site.URL + "/nothing", 404, 1},
		{"a deleted file", site.URL + "/status/410", 404, 1},
		{"a forbidden file", site.URL + "/status/403", 502, 1},
		{"what fails", site.URL + "/status/500", 502, 1},
		{"a part", site.URL + "/status/206", 502, 1},
		{"nobody", "http://127.0.0.1:1/", 502, 0},
		{"too large", large, 502, 1},
		{"without an end", site.URL + "/endless", 0, 1},
		{"a gzip bomb", site.URL + "/bomb", 0, 1},
		{"what breaks off", site.URL + "/short", 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := p.do("GET", p.signed(tt.address))
			if tt.status == 0 && r.err == nil && r.status < 400 {
				t.Errorf("got %d and %d bytes", r.status, len(r.body))
			} else if tt.status != 0 {
				r.want(t, tt.status, pngOf(0))
			}
			site.wantRequests(t, tt.asked)
			if tt.status != 200 && tt.name != "nobody" { // the failure is remembered
				eventually(t, "a failure is remembered", func() bool { return p.do("GET", p.signed(tt.address)).status >= 400 })
				site.asked.Store(0)
				if r := p.do("GET", p.signed(tt.address)); r.status < 400 {
					t.Errorf("again: got %d", r.status)
				}
				site.wantRequests(t, 0)
			}
		})
	}
	eventually(t, "nothing is left of what failed", func() bool { files, _ := p.cached(); return files == 1 })
}

// signed returns the proxied URL of any address, as signed by another proxy with the same key.
func (p *proxy) signed(address string) string {
	p.t.Helper()
	if shown := p.URL(address); shown != address {
		return shown
	}
	other, settings := p.config, *p.config.Settings.Load()
	settings.Server.URL, settings.Data.Dir = "https://other.example", p.t.TempDir()
	other.Settings = config.NewLive(&settings)
	q, err := media.OpenProxy(p.db, other, slog.New(slog.DiscardHandler))
	if err != nil {
		p.t.Fatal(err)
	}
	defer q.Close()
	return strings.Replace(q.URL(address), other.Settings.BaseURL, p.config.Settings.BaseURL, 1)
}

func TestProxyLoops(t *testing.T) {
	p, site := startProxy(t), startRemote(t)
	address := site.addFile("/a.png", "image/png", pngOf(0))
	for agent, status := range map[string]int{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0": 200,
		"":                                    200,
		"svc/1.2.3 (+https://social.example)": 403,
		"Other 4.1; https://social.example <a@social.example>": 403,
		"SomeMediaProxy/0.1": 403,
	} {
		if got := p.get(address, "User-Agent", agent); got.status != status {
			t.Errorf("%q: got %d, want %d", agent, got.status, status)
		}
	}
	// Two proxies that request from each other: the second refuses the first.
	other := startProxy(t)
	p.get(other.URL(address)).want(t, 502, "")
}

func TestProxyRanges(t *testing.T) {
	p, site := startProxy(t), startRemote(t)
	content := mp4Start + pngOf(200_000)
	n := len(content)
	site.addFile("/known.mp4", "video/mp4", content)
	site.mux.HandleFunc("/unknown.mp4", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "video/mp4")
		w.(http.Flusher).Flush()
		io.WriteString(w, content)
	})
	for _, where := range []string{"/known.mp4", "/unknown.mp4"} {
		for i, tt := range []struct {
			span   string
			status int
			want   string
		}{
			{"bytes=0-", 206, content}, {"bytes=0-99", 206, content[:100]}, {"bytes=100000-100009", 206, content[100_000:100_010]},
			{"bytes=-10", 206, content[n-10:]}, {fmt.Sprintf("bytes=%d-", n), 416, ""}, {"bytes=x", 416, ""}, {"", 200, content},
		} {
			for _, again := range []bool{false, true} { // while it is being fetched, and of the copy
				address := fmt.Sprintf("%s%s?%d", site.URL, where, i)
				var headers []string
				if tt.span != "" {
					headers = []string{"Range", tt.span}
				}
				r := p.get(address, headers...)
				r.want(t, tt.status, tt.want)
				if again && tt.status == 206 && !strings.HasSuffix(r.header.Get("Content-Range"), fmt.Sprintf("/%d", n)) {
					t.Errorf("Content-Range %q", r.header.Get("Content-Range"))
				}
				if etag := r.header.Get("ETag"); tt.status < 300 {
					p.get(address, "If-None-Match", etag).want(t, 304, "")
				}
			}
		}
	}
	for _, where := range []string{"/known.mp4", "/unknown.mp4"} {
		address := site.URL + where + "?head"
		if r := p.do("HEAD", p.URL(address)); r.status != 200 || r.header.Get("Content-Type") != "video/mp4" || r.body != "" {
			t.Errorf("HEAD: %+v", r)
		}
		eventually(t, "a copy", func() bool {
			return p.do("HEAD", p.URL(address)).header.Get("Content-Length") == fmt.Sprint(n)
		})
	}
	site.wantRequests(t, 2*(7+1))
}

package staff_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"svc/app/apptest"
	"svc/store"
)

const cachesPath = "/api/v1/svc/admin/media_proxy_caches"

// fileSite is a remote server with files by path.
type fileSite struct {
	*httptest.Server
	mu       sync.Mutex
	requests map[string]int
}

func startFiles(t *testing.T, files map[string][]byte) *fileSite {
	t.Helper()
	f := &fileSite{requests: make(map[string]int)}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.requests[r.URL.Path]++
		f.mu.Unlock()
		content, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		types := map[string]string{"/unknown.png": "application/octet-stream", "/page.png": "text/html"}
		w.Header().Set("Content-Type", cmp.Or(types[r.URL.Path], "image/png"))
		w.Write(content)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *fileSite) count(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests[path]
}

// withComment returns a picture with metadata, which the server removes from uploads.
func withComment(png []byte) []byte {
	const head = 8 + 25 // signature and IHDR
	chunk := []byte("\x00\x00\x00\x0btEXtComment\x00abc\xa2\xb0\x8c\x3b")
	return bytes.Join([][]byte{png[:head], chunk, png[head:]}, nil)
}

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// bannedSum returns the SHA-256 that a ban has.
func bannedSum(srv *apptest.Server, address string) string {
	srv.T.Helper()
	bans, err := srv.DB.MediaBans(srv.T.Context(), store.MediaBanQuery{Text: address, Limit: 10})
	if err != nil || len(bans) != 1 {
		srv.T.Fatalf("%s: %d bans, %v", address, len(bans), err)
	}
	return bans[0].SHA256
}

// TestMediaBans bans remote files: they are not served, and their content can be uploaded no more, until the ban is removed.
func TestMediaBans(t *testing.T) {
	cached, unknown, other := withComment(apptest.PNG(8, 8)), apptest.PNG(9, 9), apptest.PNG(10, 10)
	site := startFiles(t, map[string][]byte{"/cached.png": cached, "/unknown.png": unknown, "/other.png": other, "/page.png": other})
	srv := apptest.Start(t, apptest.AllowLoopback)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	anyone := srv.As(nil)
	address := func(name string) string { return site.URL + "/" + name + ".png" }
	anyone.Get(srv.Proxy.URL(address("cached"))).Want(200)
	anyone.Get(srv.Proxy.URL(address("other"))).Want(200)

	wantCaches := func(params []string, count int, urls ...string) {
		t.Helper()
		o := root.Get(cachesPath, params...).Want(200).Object()
		if got := o.Int("count"); got != count {
			t.Errorf("%v: count is %d, want %d", params, got, count)
		}
		apptest.WantList(t, fmt.Sprint(params), strs(o.At("urls")), urls...)
	}
	wantCaches(nil, 0)
	purge := func(body apptest.Doc) { t.Helper(); wantEmpty(t, root.SendJSON("POST", cachesPath+"/purge", body)) }
	purge(apptest.Doc{"urls": []string{address("cached"), srv.Proxy.URL(address("unknown")), address("cached"), address("missing")}})
	wantLog(t, root.Client, "@root banned media: "+address("cached")+", "+address("unknown")+", "+address("missing"))
	wantCaches(nil, 3, address("missing"), address("unknown"), address("cached"))
	wantCaches([]string{"page_size", "2"}, 3, address("missing"), address("unknown"))
	wantCaches([]string{"page_size", "2", "page", "2"}, 3, address("cached"))
	wantCaches([]string{"page", "9"}, 3)
	wantCaches([]string{"query", "CACHED.png"}, 1, address("cached"))
	wantCaches([]string{"query", srv.Proxy.URL(address("unknown"))}, 1, address("unknown"))
	wantCaches([]string{"query", "%"}, 0)
	if o := root.Get(cachesPath, "page_size", "2").Object(); o.Int("page_size") != 2 || root.Get(cachesPath).Object().Int("page_size") != 50 {
		t.Errorf("page_size is %v", o.At("page_size"))
	}
	for _, name := range []string{"cached", "unknown", "missing"} {
		anyone.Get(srv.Proxy.URL(address(name))).Want(404)
	}
	anyone.Get(srv.Proxy.URL(address("other"))).Want(200)

	// The content is known by the copy, or by a job that fetches it.
	if got := bannedSum(srv, address("cached")); got != sumOf(cached) {
		t.Errorf("the SHA-256 of the copy is %q", got)
	}
	alice.Upload(unknown)
	srv.RunJobs()
	if got := bannedSum(srv, address("unknown")); got != sumOf(unknown) {
		t.Errorf("the SHA-256 of the fetched file is %q", got)
	}
	if bannedSum(srv, address("missing")) != "" || site.count("/unknown.png") != 1 || site.count("/cached.png") != 1 || site.count("/missing.png") != 1 {
		t.Errorf("requests: %v", site.requests)
	}
	const refused = "This file is banned on this server"
	for _, content := range [][]byte{cached, unknown} {
		alice.SendForm("POST", "/api/v1/media", apptest.FilePart(content)).WantError(422, refused)
		alice.SendForm("POST", "/api/v2/media", apptest.FilePart(content)).WantError(422, refused)
		alice.SendForm("PATCH", "/api/v1/accounts/update_credentials",
			apptest.FormPart{Name: "avatar", Filename: "a.png", IsFile: true, Content: string(content)}).WantError(422, refused)
		alice.SendForm("PUT", "/api/v1/svc/mascot", apptest.FilePart(content)).WantError(422, refused)
		root.SendForm("POST", "/api/v1/svc/emoji/packs/files?name=pets", apptest.FilePart(content)).Want(404)
	}
	alice.Upload(other)

	// Banning again changes nothing, unbanning allows it again.
	purge(apptest.Doc{"urls": []string{address("cached")}, "ban": true})
	wantLog(t, root.Client, "@root banned media: "+address("cached")+", "+address("unknown")+", "+address("missing"))
	wantEmpty(t, root.SendJSON("POST", cachesPath+"/delete", apptest.Doc{"urls": []string{srv.Proxy.URL(address("cached")), "never banned"}}))
	wantLog(t, root.Client, "@root unbanned media: "+address("cached"))
	wantCaches(nil, 2, address("missing"), address("unknown"))
	alice.Upload(cached)
	anyone.Get(srv.Proxy.URL(address("cached"))).Want(200)
	if n := site.count("/cached.png"); n != 2 {
		t.Errorf("%d requests, want 2: the copy was removed", n)
	}

	// Without ban, only the copy goes.
	purge(apptest.Doc{"urls": []string{address("other")}, "ban": false})
	wantLog(t, root.Client, "@root purged media: "+address("other"))
	wantCaches(nil, 2, address("missing"), address("unknown"))
	anyone.Get(srv.Proxy.URL(address("other"))).Want(200)
	if n := site.count("/other.png"); n != 2 {
		t.Errorf("%d requests, want 2: the copy was removed", n)
	}

	// What is declared as a page is none of the files that are served.
	purge(apptest.Doc{"urls": []string{address("page")}, "ban": true})
	srv.RunJobs()
	if got := bannedSum(srv, address("page")); got != "" || site.count("/page.png") != 1 {
		t.Errorf("the SHA-256 of what is declared as a page is %q", got)
	}
}

// strs returns a JSON list of strings.
func strs(value any) []string {
	list := []string{}
	for _, v := range value.([]any) {
		list = append(list, v.(string))
	}
	return list
}

func wantEmpty(t *testing.T, r *apptest.Response) {
	t.Helper()
	if got := strings.TrimSpace(string(r.Want(200).Body)); got != "{}" {
		t.Errorf("the answer is %s", got)
	}
}

// TestBannedUploads bans an upload of this server: neither it nor its thumbnail is served, and it cannot be uploaded again.
func TestBannedUploads(t *testing.T) {
	srv := apptest.Start(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	content := apptest.JPEG(900, 900)
	m := alice.Upload(content)
	file, thumbnail := m.Str("url"), m.Str("preview_url")
	if file == thumbnail {
		t.Fatal("the upload has no thumbnail")
	}
	kept := alice.Upload(apptest.JPEG(901, 900))
	for _, url := range []string{file, thumbnail} {
		srv.As(nil).Get(url).Want(200)
	}
	wantEmpty(t, root.SendJSON("POST", cachesPath+"/purge", apptest.Doc{"urls": []string{file}}))
	for _, url := range []string{file, thumbnail} {
		srv.As(nil).Get(url).Want(404)
	}
	srv.As(nil).Get(kept.Str("url")).Want(200)
	srv.As(nil).Get(kept.Str("preview_url")).Want(200)
	alice.SendForm("POST", "/api/v1/media", apptest.FilePart(content)).WantError(422, "This file is banned on this server")
	wantEmpty(t, root.SendJSON("POST", cachesPath+"/delete", apptest.Doc{"urls": []string{file}}))
	srv.As(nil).Get(file).Want(200)
	alice.Upload(content)
}

// TestBannedEmoji checks that banned pictures cannot become emoji, by upload, by link, or in an archive.
func TestBannedEmoji(t *testing.T) {
	banned := apptest.PNG(8, 8)
	site := startFiles(t, map[string][]byte{"/banned.png": banned, "/same.png": banned, "/fine.png": apptest.PNG(9, 9)})
	srv := apptest.Start(t, apptest.AllowLoopback)
	srv.AddEmoji("pets", map[string]string{"cat": "cat.png"})
	root := srv.SignUpAdmin()
	wantEmpty(t, root.SendJSON("POST", cachesPath+"/purge", apptest.Doc{"urls": []string{site.URL + "/banned.png"}}))
	add := func(name string) *apptest.Response {
		return root.SendJSON("POST", "/api/v1/svc/emoji/packs/files?name=pets", apptest.Doc{"file": site.URL + "/" + name, "shortcode": strings.TrimSuffix(name, ".png")})
	}
	const refused = "This file is banned on this server"
	add("banned.png").WantError(422, refused)
	if n := site.count("/banned.png"); n != 0 {
		t.Errorf("%d requests for a banned file", n)
	}
	srv.RunJobs()
	add("same.png").WantError(422, refused)
	add("fine.png").Want(200)
	upload := func(name string, content []byte) *apptest.Response {
		return root.SendForm("POST", "/api/v1/svc/emoji/packs/files?name=pets", apptest.FormPart{Name: "file", Filename: name, IsFile: true, Content: string(content)})
	}
	upload("mine.png", banned).WantError(422, refused)
	if r := upload("some.zip", apptest.Zip(t, map[string][]byte{"mine.png": banned})); r.Status != 422 || !strings.Contains(string(r.Body), refused) {
		t.Errorf("an archive: %d %s", r.Status, r.Body)
	}
}

// TestMediaBanErrors checks that bad input changes nothing.
func TestMediaBanErrors(t *testing.T) {
	srv := apptest.Start(t)
	root, mod := srv.SignUpAdmin(), srv.SignUp("mod")
	srv.SetRole(mod, false, true)
	const fine = "https://remote.example/a.png"
	reader, writer := srv.NewToken(root, "admin:read"), srv.NewToken(root, "admin:write:media_proxy_caches")
	for _, path := range []string{"/purge", "/delete"} {
		root.SendJSON("POST", cachesPath+path, apptest.Doc{}).WantError(400, "Missing field: urls.")
		root.SendJSON("POST", cachesPath+path, apptest.Doc{"urls": apptest.Doc{"a": 1}}).Want(400)
		wantEmpty(t, root.SendJSON("POST", cachesPath+path, apptest.Doc{"urls": []string{}}))
		root.SendJSON("POST", cachesPath+path, apptest.Doc{"urls": make([]string, 101)}).WantError(400, "At most 100 URLs can be changed at once")
		mod.SendJSON("POST", cachesPath+path, apptest.Doc{"urls": []string{fine}}).Want(403)
		srv.As(nil).SendJSON("POST", cachesPath+path, apptest.Doc{"urls": []string{fine}}).Want(403)
		reader.SendJSON("POST", cachesPath+path, apptest.Doc{"urls": []string{fine}}).Want(403)
		writer.SendJSON("POST", cachesPath+path, apptest.Doc{"urls": []string{}}).Want(200)
	}
	mod.Get(cachesPath).Want(403)
	srv.As(nil).Get(cachesPath).Want(403)
	writer.Get(cachesPath).Want(403)
	srv.NewToken(root, "admin:read:media_proxy_caches").Get(cachesPath).Want(200)
	for _, bad := range []string{"", "a.png", "/media/a.png", "ftp://remote.example/a.png", "https://", "https://%zz/"} {
		root.SendJSON("POST", cachesPath+"/purge", apptest.Doc{"urls": []string{fine, bad}}).
			WantError(400, fmt.Sprintf("%q is not a URL such as https://example.org/picture.png", bad))
	}
	root.SendJSON("POST", cachesPath+"/purge", apptest.Doc{"urls": []string{fine, "https://remote.example/" + strings.Repeat("a", 2048)}}).
		WantError(400, "A URL can have at most 2048 bytes")

	if err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		for i := range store.MaxMediaBans {
			if _, err := tx.AddMediaBan(t.Context(), fmt.Sprintf("https://many.example/%d", i), ""); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	root.SendJSON("POST", cachesPath+"/purge", apptest.Doc{"urls": []string{fine}}).WantError(422, "There can be at most 10000 bans")
	if o := root.Get(cachesPath, "query", "remote.example").Want(200).Object(); o.Int("count") != 0 {
		t.Errorf("%d bans of refused requests", o.Int("count"))
	}
	apptest.WantList(t, "the log", messages(root.Client))
}

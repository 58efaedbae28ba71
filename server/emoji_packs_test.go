package server_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"svc/app/apptest"
)

const (
	packPath  = "/api/v1/svc/emoji/pack"
	packsPath = "/api/v1/svc/emoji/packs"
)

// pictureUpload is a picture that is uploaded to a pack.
func pictureUpload(name string, width int) apptest.FormPart {
	return apptest.FormPart{Name: "file", Content: string(apptest.PNG(width, 8)), Filename: name, Type: "image/png", IsFile: true}
}

// addToPack uploads a picture into a pack.
func addToPack(c *apptest.Client, pack, shortcode, file string) *apptest.Response {
	c.Server.T.Helper()
	return c.SendForm("POST", packsPath+"/files?name="+pack, pictureUpload(file, 8), apptest.ValuePart("shortcode", shortcode))
}

// zipFile returns an archive of pictures.
func zipFile(t *testing.T, names ...string) []byte {
	t.Helper()
	files := map[string][]byte{}
	for i, name := range names {
		files[name] = apptest.PNG(8, 8+i)
	}
	return apptest.Zip(t, files)
}

// TestPacks walks through the life of a pack and its errors.
func TestPacks(t *testing.T) {
	srv := apptest.Start(t)
	admin, anyone := srv.SignUpAdmin().Client, srv.As(nil)
	user := srv.SignUp("alice").Client
	file := func(method string, kv ...string) func(*apptest.Client) *apptest.Response {
		return func(c *apptest.Client) *apptest.Response {
			return c.Do(method, packsPath+"/files?"+apptest.Pairs(kv).Encode(), "", nil)
		}
	}
	metadata := func(name string, m any) func(*apptest.Client) *apptest.Response {
		return func(c *apptest.Client) *apptest.Response {
			return c.SendJSON("PATCH", packPath, map[string]any{"name": name, "metadata": m})
		}
	}
	get := func(path string) func(*apptest.Client) *apptest.Response {
		return func(c *apptest.Client) *apptest.Response { return c.Get(path) }
	}
	post := func(path string, kv ...string) func(*apptest.Client) *apptest.Response {
		return func(c *apptest.Client) *apptest.Response { return c.Post(path, kv...) }
	}
	drop := func(path string) func(*apptest.Client) *apptest.Response {
		return func(c *apptest.Client) *apptest.Response { return c.Do("DELETE", path, "", nil) }
	}
	upload := func(name string, parts ...apptest.FormPart) func(*apptest.Client) *apptest.Response {
		return func(c *apptest.Client) *apptest.Response {
			return c.SendForm("POST", packsPath+"/files?name="+name, parts...)
		}
	}
	for _, tt := range []struct {
		name string
		as   *apptest.Client
		call func(*apptest.Client) *apptest.Response
		want int
		body string
	}{
		{"no packs", anyone, get(packsPath), 200, `{"count":0,"packs":{}}`},
		{"create", admin, post(packPath, "name", "cats"), 200, `"ok"`},
		{"create again", admin, post(packPath, "name", "cats"), 409, `{"error":"A pack named \"cats\" already exists"}`},
		{"create without a name", admin, post(packPath, "name", " "), 400, `{"error":"pack name cannot be empty"}`},
		{"create without the parameter", admin, post(packPath), 400, "Missing field: name."},
		{"create outside", admin, post(packPath, "name", "../up"), 400, "not a valid pack name"},
		{"create hidden", admin, post(packPath, "name", ".git"), 400, "not a valid pack name"},
		{"create as a user", user, post(packPath, "name", "dogs"), 403, ""},
		{"create as nobody", anyone, post(packPath, "name", "dogs"), 403, ""},
		{"show", anyone, get(packPath + "?name=cats"), 200, `{"files":{},"files_count":0,"pack":{"can-download":false}}`},
		{"show a missing pack", anyone, get(packPath + "?name=dogs"), 404, `{"error":"Pack dogs does not exist"}`},
		{"show outside", anyone, get(packPath + "?name=../cats"), 404, "does not exist"},
		{"show without a name", anyone, get(packPath + "?name="), 400, "pack name cannot be empty"},

		{"add", admin, upload("cats", pictureUpload("blobcat.png", 8)), 200, `{"blobcat":"blobcat.png"}`},
		{"add again", admin, upload("cats", pictureUpload("blobcat.png", 8)), 409, `{"error":"An emoji with the \"blobcat\" shortcode already exists"}`},
		{"add with names", admin, upload("cats", pictureUpload("x.png", 8), apptest.ValuePart("shortcode", "sleepy"), apptest.ValuePart("filename", "more/sleepy.png")), 200,
			`{"blobcat":"blobcat.png","sleepy":"more/sleepy.png"}`},
		{"add under a taken file name", admin, upload("cats", pictureUpload("blobcat.png", 8), apptest.ValuePart("shortcode", "third")), 200, `"third":"third.png"`},
		{"add to a missing pack", admin, upload("dogs", pictureUpload("x.png", 8)), 404, `{"error":"pack \"dogs\" is not found"}`},
		{"add to no pack", admin, upload("", pictureUpload("x.png", 8)), 422, `{"error":"pack name, shortcode or filename cannot be empty"}`},
		{"add nothing", admin, upload("cats"), 400, `{"error":"Missing field: file."}`},
		{"add a text", admin, upload("cats", apptest.ValuePart("file", "hello")), 400, "neither an upload nor a URL"},
		{"add a script", admin, upload("cats", apptest.FormPart{Name: "file", Filename: "x.svg", Content: "<svg/>", IsFile: true}), 422, ""},
		{"add outside", admin, upload("cats", pictureUpload("x.png", 8), apptest.ValuePart("filename", "../x.png")), 422, "not a valid file name"},
		{"add under the wrong extension", admin, upload("cats", pictureUpload("x.gif", 8), apptest.ValuePart("filename", "x.gif")), 422, "the content is image/png"},
		{"add with a bad shortcode", admin, upload("cats", pictureUpload("x.png", 8), apptest.ValuePart("shortcode", "a b")), 422, "not a valid shortcode"},
		{"add a large file", admin, upload("cats", apptest.FormPart{Name: "file", Filename: "x.png", Content: strings.Repeat("x", 300<<10), IsFile: true}), 413, ""},
		{"add from this server", admin, file("POST", "name", "cats", "file", srv.URL+"/emoji/cats/blobcat.png"), 400, "could not be fetched"},
		{"add as a user", user, upload("cats", pictureUpload("x.png", 8)), 403, ""},
		{"add an archive", admin, upload("cats", apptest.FormPart{Name: "file", Filename: "x.zip", Content: string(zipFile(t, "one.png", "sub/two.png", "blobcat.png")), IsFile: true}), 200,
			`"sub/two.png"`},
		{"add a hostile archive", admin, upload("cats", apptest.FormPart{Name: "file", Filename: "x.zip", Content: string(zipFile(t, "../../up.png")), IsFile: true}), 422, "up.png"},

		{"a page of files", anyone, get(packPath + "?name=cats&page_size=2&page=2"), 200, `"files":{"sleepy":"more/sleepy.png","third":"third.png"},"files_count":5`},
		{"the last page", anyone, get(packPath + "?name=cats&page_size=2&page=0"), 200, `"files":{"two":"sub/two.png"},"files_count":5`},
		{"no page", anyone, get(packPath + "?name=cats&page_size=0"), 200, `"files":{},"files_count":5`},
		{"behind the end", anyone, get(packPath + "?name=cats&page=9223372036854775807"), 200, `"files":{},"files_count":5`},
		{"a wrong page", anyone, get(packPath + "?name=cats&page=x"), 400, "Invalid integer"},

		{"rename", admin, file("PATCH", "name", "cats", "shortcode", "two", "new_shortcode", "zwei", "new_filename", "zwei.png"), 200, `"zwei":"zwei.png"`},
		{"rename to a taken shortcode", admin, file("PATCH", "name", "cats", "shortcode", "one", "new_shortcode", "zwei", "new_filename", "z.png"), 409,
			`{"error":"New shortcode \"zwei\" is already used. If you want to override emoji use 'force' option"}`},
		{"rename with force", admin, file("PATCH", "name", "cats", "shortcode", "one", "new_shortcode", "zwei", "new_filename", "zwei.png", "force", "true"), 200, `"zwei":"zwei.png"`},
		{"rename a missing one", admin, file("PATCH", "name", "cats", "shortcode", "two", "new_shortcode", "x", "new_filename", "x.png"), 400, `{"error":"Emoji \"two\" does not exist"}`},
		{"rename to nothing", admin, file("PATCH", "name", "cats", "shortcode", "zwei", "new_shortcode", "", "new_filename", "x.png"), 422, `{"error":"new_shortcode or new_filename cannot be empty"}`},
		{"rename without the parameter", admin, file("PATCH", "name", "cats", "shortcode", "zwei", "new_filename", "x.png"), 400, "Missing field: new_shortcode."},
		{"rename outside", admin, file("PATCH", "name", "cats", "shortcode", "zwei", "new_shortcode", "x", "new_filename", "../x.png"), 422, ""},
		{"rename to another type", admin, file("PATCH", "name", "cats", "shortcode", "zwei", "new_shortcode", "x", "new_filename", "x.gif"), 422, ""},
		{"rename in a missing pack", admin, file("PATCH", "name", "dogs", "shortcode", "zwei", "new_shortcode", "x", "new_filename", "x.png"), 404, ""},
		{"rename as a user", user, file("PATCH", "name", "cats", "shortcode", "zwei", "new_shortcode", "x", "new_filename", "x.png"), 403, ""},
		{"remove", admin, file("DELETE", "name", "cats", "shortcode", "zwei"), 200, `{"blobcat":"blobcat.png","sleepy":"more/sleepy.png","third":"third.png"}`},
		{"remove again", admin, file("DELETE", "name", "cats", "shortcode", "zwei"), 400, `{"error":"Emoji \"zwei\" does not exist"}`},
		{"remove nothing", admin, file("DELETE", "name", "cats", "shortcode", ""), 422, `{"error":"pack name or shortcode cannot be empty"}`},
		{"remove from a missing pack", admin, file("DELETE", "name", "dogs", "shortcode", "zwei"), 404, `{"error":"pack \"dogs\" is not found"}`},
		{"remove as a user", user, file("DELETE", "name", "cats", "shortcode", "sleepy"), 403, ""},

		{"the archive of a pack that is not shared", anyone, get(packsPath + "/archive?name=cats"), 403,
			"Pack cats cannot be downloaded from this instance, either pack sharing was disabled for this pack or some files are missing"},
		{"the archive of a missing pack", anyone, get(packsPath + "/archive?name=dogs"), 404, "Pack dogs does not exist"},
		{"metadata", admin, metadata("cats", map[string]any{"license": "CC0", "homepage": "https://cats.example", "share-files": true, "x": 1, "can-download": true, "download-sha256": "AB", "description": nil}), 200,
			`{"homepage":"https://cats.example","license":"CC0","share-files":true,"x":1}`},
		{"a bad homepage", admin, metadata("cats", map[string]any{"homepage": "javascript:alert(1)"}), 400, "homepage is not a URL"},
		{"a bad license", admin, metadata("cats", map[string]any{"license": []int{1}}), 400, "license must be a text"},
		{"a bad flag", admin, metadata("cats", map[string]any{"share-files": "maybe"}), 400, "share-files must be true or false"},
		{"a bad hash", admin, metadata("cats", map[string]any{"fallback-src-sha256": "xyz"}), 400, "not a SHA-256"},
		{"a fallback that cannot be fetched", admin, metadata("cats", map[string]any{"fallback-src": srv.URL + "/x.zip"}), 400, "The fallback archive does not have all files specified in pack.json"},
		{"metadata that are no object", admin, metadata("cats", "x"), 400, "metadata"},
		{"no metadata", admin, func(c *apptest.Client) *apptest.Response {
			return c.SendJSON("PATCH", packPath, apptest.Doc{"name": "cats"})
		}, 400, "Missing field: metadata."},
		{"metadata of a missing pack", admin, metadata("dogs", map[string]any{}), 404, ""},
		{"metadata as a user", user, metadata("cats", map[string]any{}), 403, ""},
		{"the archive", anyone, get(packsPath + "/archive?name=cats"), 200, "PK"},

		{"a list of a page", anyone, get(packsPath + "?page_size=0"), 200, `{"count":1,"packs":{}}`},
		{"reload", admin, post("/api/v1/svc/admin/reload_emoji"), 200, `"ok"`},
		{"reload as a user", user, post("/api/v1/svc/admin/reload_emoji"), 403, ""},
		{"import", admin, get(packsPath + "/import"), 200, "[]"},
		{"import as a user", user, get(packsPath + "/import"), 403, ""},
		{"a remote list without a URL", admin, get(packsPath + "/remote"), 400, "Missing field: url."},
		{"a remote list of no server", admin, get(packsPath + "/remote?url=x"), 400, "url - Invalid format"},
		{"a remote list of this server", admin, get(packsPath + "/remote?url=" + srv.URL), 500, "The requested instance does not support sharing emoji packs"},
		{"a remote list as a user", user, get(packsPath + "/remote?url=https://a.example"), 403, ""},
		{"download from this server", admin, post(packsPath+"/download", "url", srv.URL, "name", "cats"), 500, "does not support sharing"},
		{"download without a name", admin, post(packsPath+"/download", "url", srv.URL), 400, "Missing field: name."},
		{"download as outside", admin, post(packsPath+"/download", "url", srv.URL, "name", "cats", "as", "../x"), 400, "not a valid pack name"},
		{"download as a user", user, post(packsPath+"/download", "url", srv.URL, "name", "cats"), 403, ""},

		{"delete as a user", user, drop(packPath + "?name=cats"), 403, ""},
		{"delete", admin, drop(packPath + "?name=cats"), 200, `"ok"`},
		{"delete again", admin, drop(packPath + "?name=cats"), 404, `{"error":"Pack cats does not exist"}`},
		{"delete without a name", admin, drop(packPath + "?name="), 400, "pack name cannot be empty"},
		{"delete everything", admin, drop(packPath + "?name=.."), 404, ""},
		{"the archive of a deleted pack", anyone, get(packsPath + "/archive?name=cats"), 404, ""},
	} {
		r := tt.call(tt.as)
		if r.Status != tt.want || !strings.Contains(string(r.Body), tt.body) {
			t.Errorf("%s: %d %.300s, want %d %s", tt.name, r.Status, r.Body, tt.want, tt.body)
		}
	}
}

// TestPackOnDisk checks folders without a pack.json, which pack has a shortcode, and a pack.json that cannot be read.
func TestPackOnDisk(t *testing.T) {
	srv := apptest.Start(t)
	admin := srv.SignUpAdmin()
	for name, content := range map[string]string{
		"loose/deep/blob.png": "x", "loose/both.png": "x", "loose/page.html": "x", "loose/drawing.svg": "x",
		"listed/emoji.txt": "fox, /emoji/listed/fox.png, Animals, Red\nboth, both.png\nnothing\n../x, x.png\n", "listed/fox.png": "x",
		"custom.png": "x", "first/both.png": "x", "first/pack.json": `{"files":{"both":"both.png"}}`, "second/pack.json": `{"files":{"both":"x.png","own":"own.png"}}`,
		"broken/pack.json": `[`,
	} {
		apptest.WriteDataFile(srv, "emoji/"+name, content)
	}
	admin.Post("/api/v1/svc/admin/reload_emoji").Want(200)
	want := `{"blob":{"tags":["Custom"],"image_url":"/emoji/loose/deep/blob.png"},"both":{"tags":["pack:first"],"image_url":"/emoji/first/both.png"},` +
		`"fox":{"tags":["Animals","Red"],"image_url":"/emoji/listed/fox.png"},"own":{"tags":["pack:second"],"image_url":"/emoji/second/own.png"}}`
	if got := admin.Get("/api/v1/svc/emoji").Want(200); string(got.Body) != want {
		t.Errorf("got %s, want %s", got.Body, want)
	}
	list := admin.Get("/api/v1/custom_emojis").List()
	if got := fmt.Sprint(list[0].At("category"), "|", list[2].At("category")); got != "|Animals,Red" {
		t.Errorf("categories are %s", got)
	}
	if got := admin.Get(packPath, "name", "second").Object().At("hidden.both"); got != "first" {
		t.Errorf("the hidden emoji belongs to %v", got)
	}
	admin.Get(packPath, "name", "broken").Want(500)
	admin.Get(packPath, "name", "loose").Want(404)
	admin.Post(packPath, "name", "loose").Want(409)
	if got := admin.Get(packsPath + "/import").Want(200); string(got.Body) != `["listed","loose"]` {
		t.Errorf("imported are %s", got.Body)
	}
	if got := admin.Get(packPath, "name", "loose").Want(200).Object().At("files"); fmt.Sprint(got) != "map[blob:deep/blob.png both:both.png]" {
		t.Errorf("files are %v", got)
	}
	admin.Do("DELETE", packPath+"?name=broken", "", nil).Want(200)
}

// TestPackArchive checks that the archive is always the same, is built once, and follows changes.
func TestPackArchive(t *testing.T) {
	srv := apptest.Start(t)
	admin := srv.SignUpAdmin().Client
	admin.Post(packPath, "name", "cats").Want(200)
	for i := range 20 {
		addToPack(admin, "cats", fmt.Sprintf("cat%d", i), "x.png").Want(200)
	}
	admin.SendJSON("PATCH", packPath, apptest.Doc{"name": "cats", "metadata": apptest.Doc{"share-files": true}}).Want(200)
	var mu sync.Mutex
	var all sync.WaitGroup
	sums := make(map[string]bool)
	for range 8 {
		all.Go(func() {
			resp, err := http.Get(srv.URL + packsPath + "/archive?name=cats")
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			h := sha256.New()
			if _, err := bytes.NewBuffer(nil).ReadFrom(resp.Body); err != nil {
				t.Error(err)
			}
			h.Write(nil)
			mu.Lock()
			defer mu.Unlock()
			sums[resp.Header.Get("ETag")] = true
		})
	}
	all.Wait()
	archive := srv.As(nil).Get(packsPath + "/archive?name=cats").Want(200)
	hash := sha256.Sum256(archive.Body)
	sum := strings.ToUpper(hex.EncodeToString(hash[:]))
	shown := func() string { return srv.As(nil).Get(packPath, "name", "cats").Object().Str("pack.download-sha256") }
	if len(sums) != 1 || !sums[`"`+sum+`"`] || shown() != sum {
		t.Errorf("archives are %v, the hash is %s, shown is %s", sums, sum, shown())
	}
	z, err := zip.NewReader(bytes.NewReader(archive.Body), int64(len(archive.Body)))
	if err != nil || len(z.File) != 21 || z.File[0].Name != "pack.json" {
		t.Fatalf("the archive has %v, %v", z, err)
	}
	if err := srv.Emojis.Reload(); err != nil {
		t.Fatal(err)
	}
	if shown() != sum {
		t.Errorf("after a reload the hash is %s, was %s", shown(), sum)
	}
	addToPack(admin, "cats", "other", "x.png").Want(200)
	if got := srv.As(nil).Get(packsPath + "/archive?name=cats").Want(200); shown() == sum || bytes.Equal(got.Body, archive.Body) {
		t.Error("the archive does not follow a change")
	}
	admin.Do("DELETE", packsPath+"/files?name=cats&shortcode=other", "", nil).Want(200)
	if shown() != sum {
		t.Errorf("the same pack has the hash %s, was %s", shown(), sum)
	}
}

// TestExchangeOfPacks checks that one server lists and downloads the packs of another.
func TestExchangeOfPacks(t *testing.T) {
	peers := apptest.StartPeers(t, 2)
	here, there := peers[0].SignUpAdmin().Client, peers[1].SignUpAdmin().Client
	anyone := peers[1].As(nil)
	remote := peers[1].URL
	there.Post(packPath, "name", "cats").Want(200)
	addToPack(there, "cats", "blobcat", "x.png").Want(200)
	there.SendForm("POST", packsPath+"/files?name=cats", pictureUpload("x.png", 9), apptest.ValuePart("shortcode", "deep"), apptest.ValuePart("filename", "a/b.png")).Want(200)
	archive := zipFile(t, "cats-main/one.png", "cats-main/README.md", "cats-main/b/two.png")
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/cats.zip":
			w.Write(archive)
		case "/cat.png":
			w.Write(apptest.PNG(9, 9))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(site.Close)
	download := func(want int, text string, kv ...string) {
		t.Helper()
		if r := here.Post(packsPath+"/download", append([]string{"url", remote}, kv...)...); r.Status != want || !strings.Contains(string(r.Body), text) {
			t.Errorf("download %v: %d %s, want %d %s", kv, r.Status, r.Body, want, text)
		}
	}
	download(500, "The pack was not set as shared and there is no fallback src to download from", "name", "cats")
	download(404, "Pack dogs does not exist", "name", "dogs")
	there.SendJSON("PATCH", packPath, apptest.Doc{"name": "cats", "metadata": apptest.Doc{"share-files": true, "license": "CC0"}}).Want(200)

	list := here.Get(packsPath+"/remote", "url", remote).Want(200).Object()
	if list.Int("cats.files_count") != 2 || !list.Bool("cats.pack.can-download") || list.Has("count") {
		t.Errorf("the remote list is %v", list.Fields)
	}
	if list := here.Get(packsPath+"/remote", "url", remote+"/", "envelope", "true").Want(200).Object(); list.Int("count") != 1 || list.At("packs.cats") == nil {
		t.Errorf("the remote list is %v", list.Fields)
	}
	download(200, `"ok"`, "name", "cats")
	download(200, `"ok"`, "name", "cats", "as", "katzen")
	download(200, `"ok"`, "name", "cats") // replaces it
	copied, original := here.Get(packPath, "name", "cats").Want(200), anyone.Get(packPath, "name", "cats").Want(200)
	if !bytes.Equal(copied.Body, original.Body) {
		t.Errorf("got %s, want %s", copied.Body, original.Body)
	}
	if got := peers[0].As(nil).Get("/emoji/cats/a/b.png").Want(200); !bytes.Equal(got.Body, apptest.PNG(9, 8)) {
		t.Error("a picture differs")
	}

	// A single emoji.
	if e, err := peers[0].EmojiPeers.Steal(t.Context(), "blobcat", remote, "stolen"); err == nil {
		t.Errorf("an emoji that exists is copied to %s", e.Path)
	}
	addToPack(there, "cats", "late", "x.png").Want(200)
	if e, err := peers[0].EmojiPeers.Steal(t.Context(), "late", remote, "stolen"); err != nil || e.Path != "/emoji/stolen/late.png" {
		t.Errorf("got %v, %v", e, err)
	}
	if _, err := peers[0].EmojiPeers.Steal(t.Context(), "missing", remote, "stolen"); err == nil {
		t.Error("a missing emoji is copied")
	}

	// A link to a picture.
	here.Post(packPath, "name", "mine").Want(200)
	here.Post(packsPath+"/files", "name", "mine", "file", site.URL+"/cat.png", "shortcode", "linked").Want(200)
	here.Post(packsPath+"/files", "name", "mine", "file", site.URL+"/missing.png").Want(400)
	here.Post(packsPath+"/files", "name", "mine", "file", "http://10.0.0.1/x.png").Want(400)

	// A pack whose archive is on another server.
	apptest.WriteDataFile(peers[1], "emoji/far/pack.json", `{"files":{"one":"cats-main/one.png","two":"cats-main/b/two.png"}}`)
	there.Post("/api/v1/svc/admin/reload_emoji").Want(200)
	set := func(m apptest.Doc) *apptest.Response {
		return there.SendJSON("PATCH", packPath, apptest.Doc{"name": "far", "metadata": m})
	}
	stored := set(apptest.Doc{"fallback-src": site.URL + "/cats.zip"})
	sum := sha256.Sum256(archive)
	if got := stored.Want(200).Object().Str("fallback-src-sha256"); !strings.EqualFold(got, hex.EncodeToString(sum[:])) {
		t.Errorf("the hash is %s", got)
	}
	download(200, `"ok"`, "name", "far")
	if got := here.Get(packPath, "name", "far").Object().Int("files_count"); got != 2 {
		t.Errorf("there are %d emoji", got)
	}
	archive = zipFile(t, "cats-main/one.png", "cats-main/b/two.png")
	download(500, "SHA256 for the pack doesn't match the one sent by the server", "name", "far", "as", "changed")
	here.Get(packPath, "name", "changed").Want(404)
	archive = zipFile(t, "cats-main/one.png")
	if r := set(apptest.Doc{"fallback-src": site.URL + "/cats.zip?2"}); r.Status != 400 || !strings.Contains(string(r.Body), "The fallback archive does not have all files") {
		t.Errorf("an incomplete archive: %d %s", r.Status, r.Body)
	}

	// A server that does not share packs.
	here.Get(packsPath+"/remote", "url", site.URL).Want(500)
	here.Post(packsPath+"/download", "url", site.URL, "name", "cats").Want(500)
}

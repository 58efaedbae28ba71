package server_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestPackDiskErrors checks the answers while the files of packs cannot be read or written (admin API 10.4).
func TestPackDiskErrors(t *testing.T) {
	srv := apptest.Start(t)
	admin := srv.SignUpAdmin().Client
	admin.Post(packPath, "name", "cats").Want(200)
	addToPack(admin, "cats", "blobcat", "x.png").Want(200)
	dir := filepath.Join(srv.Dir, "emoji")
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	const cause = " (POSIX error: No such file or directory)"
	file := func(method string, kv ...string) *apptest.Response {
		return admin.Do(method, packsPath+"/files?"+apptest.Pairs(kv).Encode(), "", nil)
	}
	admin.Post(packPath, "name", "dogs").WantError(500, "Unexpected error occurred while creating pack."+cause)
	admin.SendJSON("PATCH", packPath, apptest.Doc{"name": "cats", "metadata": apptest.Doc{"license": "CC0"}}).
		WantError(500, "Unexpected error occurred while updating pack metadata."+cause)
	admin.Do("DELETE", packPath+"?name=cats", "", nil).WantError(500, "Couldn't delete the `cats` pack"+cause)
	addToPack(admin, "cats", "more", "y.png").WantError(500, "Unexpected error occurred while adding file to pack."+cause)
	file("PATCH", "name", "cats", "shortcode", "blobcat", "new_shortcode", "x", "new_filename", "x.png").WantError(500, "Unexpected error occurred while updating."+cause)
	file("DELETE", "name", "cats", "shortcode", "blobcat").WantError(500, "Unexpected error occurred while deleting emoji file."+cause)
	admin.Get(packsPath+"/import").WantError(500, "Error: emoji pack directory must be writable."+cause)

	if err := os.Rename(dir+"-away", dir); err != nil {
		t.Fatal(err)
	}
	if got := admin.Get(packPath, "name", "cats").Want(200).Object(); fmt.Sprint(got.At("files")) != "map[blobcat:blobcat.png]" && got.Int("files_count") != 1 {
		t.Errorf("the pack changed: %v", got.Fields)
	}
	addToPack(admin, "cats", "more", "y.png").Want(200)
}

// TestPacksLimit fills the storage for emoji: more are refused with 507, and packs stay as they are.
func TestPacksLimit(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Storage.Emoji = 1_000_000 })
	admin := srv.SignUpAdmin().Client
	admin.Post(packPath, "name", "cats").Want(200)
	large := func(name string) apptest.FormPart {
		return apptest.FormPart{Name: "file", Filename: name, IsFile: true, Content: string(largePNG(t))}
	}
	refused, added := 0, 0
	for i := range 8 {
		r := admin.SendForm("POST", packsPath+"/files?name=cats", large(fmt.Sprintf("cat%d.png", i)))
		switch r.Status {
		case 200:
			added++
		case 507:
			refused++
			r.WantError(507, "The server has no space left for emoji: their storage limit is reached")
		default:
			t.Fatalf("%d: %s", r.Status, r.Body)
		}
	}
	if added < 3 || refused == 0 {
		t.Errorf("%d were added, %d refused", added, refused)
	}
	if got := admin.Get(packPath, "name", "cats").Want(200).Object().Int("files_count"); got != added {
		t.Errorf("the pack has %d files, %d were added", got, added)
	}
	if size := folderSize(t, filepath.Join(srv.Dir, "emoji")); size > 1_000_000 {
		t.Errorf("the folder has %d bytes", size)
	}
}

// largePNG returns a picture of about 150 kB.
func largePNG(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, apptest.Noise(230, 230)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// shareCats starts a server that shares a pack of one emoji. send sends its archive.
func shareCats(t *testing.T, archive []byte, send http.HandlerFunc) *httptest.Server {
	t.Helper()
	var site *httptest.Server
	site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/cats.zip":
			send(w, r)
		case r.URL.Path == "/.well-known/nodeinfo":
			fmt.Fprintf(w, `{"links":[{"rel":"http://nodeinfo.diaspora.software/ns/schema/2.1","href":"%s/nodeinfo"}]}`, site.URL)
		case r.URL.Path == "/nodeinfo":
			fmt.Fprint(w, `{"metadata":{"features":["shareable_emoji_packs"]}}`)
		case strings.HasSuffix(r.URL.Path, "/emoji/pack"):
			fmt.Fprintf(w, `{"files":{"cat":"cat.png"},"files_count":1,"pack":{"fallback-src":"%s/cats.zip","fallback-src-sha256":"%s"}}`, site.URL, fmt.Sprintf("%x", sha256.Sum256(archive)))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(site.Close)
	return site
}

// TestPackDownloadLimit checks that a pack is not downloaded beyond the storage for emoji.
func TestPackDownloadLimit(t *testing.T) {
	archive := apptest.Zip(t, map[string][]byte{"cat.png": largePNG(t)})
	site := shareCats(t, archive, func(w http.ResponseWriter, _ *http.Request) { w.Write(archive) })
	srv := apptest.StartWithLoopback(t, func(c *config.Config) { c.Storage.Emoji = 1_000_000 })
	admin := srv.SignUpAdmin().Client
	admin.Post(packPath, "name", "mine").Want(200)
	for i := range 6 {
		file := apptest.FormPart{Name: "file", Filename: fmt.Sprintf("x%d.png", i), IsFile: true, Content: string(largePNG(t))}
		admin.SendForm("POST", packsPath+"/files?name=mine", file)
	}
	admin.Post(packsPath+"/download", "url", site.URL, "name", "cats").WantError(507, "The server has no space left for emoji: their storage limit is reached")
	admin.Get(packPath, "name", "cats").Want(404)
	if size := folderSize(t, filepath.Join(srv.Dir, "emoji")); size > 1_000_000 {
		t.Errorf("the folder has %d bytes", size)
	}
}

// TestBusyPackDownloads checks that downloads of packs wait for each other, and are refused with 503 if too many wait.
func TestBusyPackDownloads(t *testing.T) {
	archive := zipFile(t, "cat.png")
	release := make(chan struct{})
	var once sync.Once
	site := shareCats(t, archive, func(w http.ResponseWriter, _ *http.Request) {
		<-release
		w.Write(archive)
	})
	t.Cleanup(func() { once.Do(func() { close(release) }) })
	srv := apptest.StartWithLoopback(t, func(c *config.Config) { c.RateLimit.Enabled = false })
	admin := srv.SignUpAdmin().Client
	answers := make(chan *apptest.Response, 8)
	for i := range cap(answers) {
		go func() {
			answers <- admin.Post(packsPath+"/download", "url", site.URL, "name", "cats", "as", fmt.Sprint("cats", i))
		}()
	}
	busy := <-answers // the others wait until the archive is sent
	busy.WantBusy(503, "Other emoji packs are being fetched; try again later")
	once.Do(func() { close(release) })
	done := 0
	for range cap(answers) - 1 {
		switch r := <-answers; r.Status {
		case 200:
			done++
		case 503, 422: // each pack but the first has a taken shortcode
		default:
			t.Errorf("%d %s", r.Status, r.Body)
		}
	}
	if done == 0 {
		t.Error("no pack was downloaded")
	}
}

package command_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
)

// emojiPicture returns a picture.
func emojiPicture(size int) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, size, size))); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// writeFiles writes files into the workspace.
func (p *workspace) writeFiles(files map[string][]byte) {
	p.t.Helper()
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o700); err != nil {
			p.t.Fatal(err)
		}
		p.write(name, string(content))
	}
}

// shortcodes returns the shortcodes that the running server has.
func (p *workspace) shortcodes() []string {
	p.t.Helper()
	_, body := p.get("/api/v1/custom_emojis", "")
	var list []struct{ Shortcode, Category string }
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		p.t.Fatalf("%v: %s", err, body)
	}
	codes := []string{}
	for _, e := range list {
		codes = append(codes, e.Shortcode+" "+e.Category)
	}
	return codes
}

// emojiFolders returns the names in the emoji folder, also hidden ones.
func (p *workspace) emojiFolders() []string {
	p.t.Helper()
	folders, err := os.ReadDir(p.path("data", "emoji"))
	if err != nil {
		p.t.Fatal(err)
	}
	names := []string{}
	for _, f := range folders {
		names = append(names, f.Name())
	}
	return names
}

// TestEmojiCommands imports, lists, exports and removes packs, without a running server and with one.
func TestEmojiCommands(t *testing.T) {
	for _, running := range []bool{false, true} {
		t.Run(fmt.Sprintf("running %v", running), func(t *testing.T) {
			p := newWorkspace(t)
			p.run("emoji", "list").fails(1, "no database")
			p.run("emoji", "import", "cats").fails(1, "no database")
			p.run("emoji", "export", "cats").fails(1, "no database")
			p.run("user", "create", "alice", "--email", "alice@example.org").ok()
			var srv *server
			if running {
				srv = p.serve()
			}
			cat := emojiPicture(8)
			p.writeFiles(map[string][]byte{
				"cats/pack.json": []byte(`{"files":{"cat":"a/cat.png","kitty":"a/cat.png"},"pack":{"license":"CC0","share-files":true}}`),
				"cats/a/cat.png": cat,
				"plain/cat.png":  cat, "plain/dog.png": cat, "plain/notes.txt": []byte("x"),
				"box.zip": apptest.Zip(t, map[string][]byte{"box/mouse.png": cat}),
			})
			want := func(out string, texts ...string) {
				t.Helper()
				for _, text := range texts {
					if !strings.Contains(out, text) {
						t.Errorf("output is %q, want %q in it", out, text)
					}
				}
			}
			if out := p.run("emoji", "list").ok(); out != "There are no packs.\n" {
				t.Errorf("list of no packs: %q", out)
			}
			want(p.run("emoji", "import", "cats", "box.zip").ok(), "Imported the pack cats: 2 emoji", "Imported the pack box: 1 emoji")
			want(p.run("emoji", "import", "plain", "--pack", "pets").ok(), "Imported the pack pets: 2 emoji", "skipped notes.txt: not a picture by its name", "hidden :cat: because the pack cats has this shortcode")
			p.run("emoji", "import", "cats").fails(1, `A pack named "cats" already exists: use --force`)
			p.run("emoji", "import", "cats", "--pack", "../up").fails(1, `"../up" is not a valid pack name`)
			p.run("emoji", "import", "missing").fails(1, "missing")
			p.run("emoji", "import").fails(2, "SOURCE is missing")
			p.run("emoji", "import", "cats", "plain", "--pack", "x").fails(2, "there are 2 sources")

			var imported []map[string]any
			if err := json.Unmarshal([]byte(p.run("emoji", "import", "plain", "--pack", "pets", "--force", "--json").ok()), &imported); err != nil {
				t.Fatal(err)
			}
			if len(imported) != 1 || imported[0]["name"] != "pets" || imported[0]["emoji"] != 2.0 || fmt.Sprint(imported[0]["hidden"]) != "map[cat:cats]" {
				t.Errorf("import --json: %v", imported)
			}
			want(p.run("emoji", "list").ok(), "PACK", "cats  2      0       ", "yes     CC0", "pets  2      1 ")
			var listed []map[string]any
			if err := json.Unmarshal([]byte(p.run("emoji", "list", "--json").ok()), &listed); err != nil || len(listed) != 3 || listed[1]["name"] != "cats" {
				t.Errorf("list --json: %v, %v", listed, err)
			}

			want(p.run("emoji", "export", "cats").ok(), "Wrote cats.zip")
			first, err := os.ReadFile(p.path("cats.zip"))
			if err != nil {
				t.Fatal(err)
			}
			p.run("emoji", "export", "cats").fails(1, "cats.zip exists already")
			sum := sha256.Sum256(first)
			want(p.run("emoji", "export", "cats", "--force", "--json").ok(), hex.EncodeToString(sum[:]))
			p.run("emoji", "export", "dogs").fails(1, "Pack dogs does not exist")
			p.run("emoji", "export", "../emoji/cats").fails(1, "does not exist")
			p.run("emoji", "export").fails(2, "PACK is missing")

			if running {
				if got := p.shortcodes(); !slices.Equal(got, []string{"cat pack:cats", "dog pack:pets", "kitty pack:cats", "mouse pack:box"}) {
					t.Errorf("the server has %q", got)
				}
			}
			p.run("emoji", "remove", "cats").fails(2, "add --yes")
			p.run("emoji", "remove", "--yes").fails(2, "PACK is missing")
			p.run("emoji", "remove", "cats", "dogs", "--yes").fails(1, "Pack dogs does not exist")
			want(p.run("emoji", "remove", "cats", "box", "--yes").ok(), "Removed the pack cats.", "Removed the pack box.")
			if got := p.emojiFolders(); !slices.Equal(got, []string{"pets"}) {
				t.Errorf("folders are %q", got)
			}
			want(p.run("emoji", "import", "cats.zip", "--pack", "again").ok(), "2 emoji")
			if running {
				if got := p.shortcodes(); !slices.Equal(got, []string{"cat pack:again", "dog pack:pets", "kitty pack:again"}) {
					t.Errorf("the server has %q", got)
				}
				p.writeFiles(map[string][]byte{"data/emoji/hand/pack.json": []byte(`{"files":{"hand":"hand.png"}}`), "data/emoji/hand/hand.png": cat})
				want(p.run("emoji", "reload").ok(), "hand")
				if got := p.shortcodes(); !slices.Contains(got, "hand pack:hand") {
					t.Errorf("the server has %q after a reload", got)
				}
				srv.stop()
			}
		})
	}
}

func TestEmojiCheck(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	cat := emojiPicture(8)
	p.writeFiles(map[string][]byte{
		"data/emoji/bad/pack.json": []byte(`{"files":{"cat":"cat.png","gone":"gone.png","a b":"cat.png","large":"large.png","page":"page.png","gif":"wrong.gif","link":"link.png"}}`),
		"data/emoji/bad/cat.png":   cat, "data/emoji/bad/extra.png": cat,
		"data/emoji/bad/large.png":    append(emojiPicture(8), make([]byte, 300<<10)...),
		"data/emoji/bad/page.png":     []byte("<html>"),
		"data/emoji/bad/wrong.gif":    cat,
		"data/emoji/again/pack.json":  []byte(`{"files":{"cat":"cat.png"}}`),
		"data/emoji/again/cat.png":    cat,
		"data/emoji/broken/pack.json": []byte(`{`),
	})
	if err := os.Symlink("/etc/passwd", p.path("data", "emoji", "bad", "link.png")); err != nil {
		t.Fatal(err)
	}
	r := p.run("emoji", "check")
	if r.code != 1 || !strings.Contains(r.errOut, "9 problems in 2 of 3 packs") {
		t.Errorf("check: code %d, %q", r.code, r.errOut)
	}
	for _, want := range []string{
		"again: 1 emoji, ok", ":cat: cat.png: hidden: the pack \"again\" has this shortcode", ":gone: gone.png: the file is missing",
		":a b: cat.png: the shortcode or the file name is not valid", ":large: large.png: the picture has ", ":page: page.png: Files of this type are not accepted",
		":gif: wrong.gif: the content is image/png", ":link: link.png: links and devices are not served", "extra.png: no shortcode shows this picture",
		"broken: 0 emoji, 1 problem", "pack.json: ",
	} {
		if !strings.Contains(r.out, want) {
			t.Errorf("check does not print %q:\n%s", want, r.out)
		}
	}
	p.run("emoji", "check", "again").ok()
	if r := p.run("emoji", "check", "none"); r.code != 1 || !strings.Contains(r.errOut, "svc: Pack none does not exist\n") {
		t.Errorf("check of a pack that does not exist: code %d, %q", r.code, r.errOut)
	}
	var reports []struct{ Problems []map[string]string }
	if err := json.Unmarshal([]byte(p.run("emoji", "check", "bad", "--json").out), &reports); err != nil || len(reports) != 1 || len(reports[0].Problems) != 8 {
		t.Errorf("check --json: %v, %v", reports, err)
	}
	p.run("emoji", "remove", "broken", "--yes").ok()
}

// TestEmojiImportRefusals checks that a refused source leaves no files, and that other sources are still imported.
func TestEmojiImportRefusals(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.serve()
	cat := emojiPicture(8)
	p.writeFiles(map[string][]byte{
		"evil.zip":        apptest.Zip(t, map[string][]byte{"good.png": cat, "../../evil.png": cat}),
		"svg/good.png":    cat,
		"svg/bad.svg":     []byte("<svg/>"),
		"links/good.png":  cat,
		"empty/notes.txt": []byte("x"),
		"good/good.png":   cat,
		"text.zip":        []byte("no archive"),
	})
	if err := os.Symlink("/etc/passwd", p.path("links", "link.png")); err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]string{
		"evil.zip": `"../../evil.png": the name leads out of`,
		"svg":      `"bad.svg": SVG pictures are not accepted`,
		"links":    `"link.png": links and devices are not accepted`,
		"empty":    "there are no emoji in it",
		"text.zip": "not a zip archive",
	} {
		p.run("emoji", "import", source).fails(1, want)
	}
	if got := p.emojiFolders(); len(got) != 0 {
		t.Errorf("folders are left: %q", got)
	}
	filepath.WalkDir(p.dir, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Base(path) == "evil.png" {
			t.Errorf("%s is written", path)
		}
		return err
	})
	r := p.run("emoji", "import", "evil.zip", "good")
	if r.code != 1 || !strings.Contains(r.out, "Imported the pack good") || !strings.Contains(r.errOut, "evil.zip: ") {
		t.Errorf("one of two sources: code %d, %q, %q", r.code, r.out, r.errOut)
	}
}

// TestEmojiDownloads imports archives and packs of a manifest by URL.
func TestEmojiDownloads(t *testing.T) {
	archive := apptest.Zip(t, map[string][]byte{"repo/emoji/cat.png": emojiPicture(8), "repo/source.svg": []byte("<svg/>"), "repo/dog.png": emojiPicture(9)})
	sum := sha256.Sum256(archive)
	files := map[string][]byte{
		"/blobs.zip":      apptest.Zip(t, map[string][]byte{"blob.png": emojiPicture(8)}),
		"/cats-src.zip":   archive,
		"/cats.json":      []byte(`{"cat":"emoji/cat.png"}`),
		"/page.html":      []byte("<html>"),
		"/text.zip":       []byte("no archive"),
		"/bad/index.json": []byte(`{"x":{"license":"CC0"}}`),
	}
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Write(content)
	}))
	defer remote.Close()
	pack := func(sum string) string {
		return fmt.Sprintf(`{"license":"CC0","homepage":"https://example.org","description":"Cats","src":%q,"src_sha256":%q,"files":"cats.json"}`, remote.URL+"/cats-src.zip", sum)
	}
	hexSum := strings.ToUpper(hex.EncodeToString(sum[:]))
	manifest := []byte(fmt.Sprintf(`{"cats":%s,"changed":%s,"unverified":%s}`, pack(hexSum), pack(strings.Repeat("0", 64)), pack("")))
	files["/index.json"] = manifest

	p := newWorkspace(t, "[federation]\nallow_loopback = true")
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.serve()
	p.writeFiles(map[string][]byte{"index.json": manifest, "cats.json": files["/cats.json"]})
	p.run("emoji", "import", remote.URL+"/blobs.zip?x=1").ok()
	p.run("emoji", "import", remote.URL+"/none.zip").fails(1, "status 404")
	p.run("emoji", "import", remote.URL+"/page.html", "--pack", "x").fails(1, `unexpected content type: "text/html"`)
	p.run("emoji", "import", remote.URL+"/text.zip", "--pack", "x").fails(1, "not a zip archive")
	p.run("emoji", "import", remote.URL+"/bad/index.json").fails(1, `"x" has no src`)
	p.run("emoji", "get").fails(2, "--manifest is missing")
	list := p.run("emoji", "get", "--manifest", remote.URL+"/index.json").ok()
	if !strings.Contains(list, "cats") || !strings.Contains(list, "Cats") || !strings.Contains(list, "cats-src.zip") {
		t.Errorf("the manifest is listed as %q", list)
	}
	p.run("emoji", "get", "cats", "-m", remote.URL+"/index.json").ok()
	p.run("emoji", "get", "cats", "-m", "index.json", "--pack", "local").ok()
	p.run("emoji", "get", "cats", "-m", "index.json").fails(1, "already exists")
	p.run("emoji", "get", "dogs", "-m", "index.json").fails(1, `No pack named "dogs" found`)
	p.run("emoji", "get", "changed", "-m", "index.json").fails(1, "the SHA-256 of "+remote.URL+"/cats-src.zip is ")
	p.run("emoji", "get", "unverified", "-m", "index.json").fails(1, "no src_sha256")
	if got := p.emojiFolders(); !slices.Equal(got, []string{"blobs", "cats", "local"}) {
		t.Errorf("folders are %q", got)
	}
	var doc struct {
		Files map[string]string
		Pack  map[string]any
	}
	content, err := os.ReadFile(p.path("data", "emoji", "cats", "pack.json"))
	if err == nil {
		err = json.Unmarshal(content, &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	if doc.Files["cat"] != "emoji/cat.png" || len(doc.Files) != 1 || doc.Pack["license"] != "CC0" || doc.Pack["share-files"] != true ||
		doc.Pack["fallback-src"] != remote.URL+"/cats-src.zip" || doc.Pack["fallback-src-sha256"] != hexSum {
		t.Errorf("pack.json is %s", content)
	}
	if got := p.shortcodes(); !slices.Equal(got, []string{"blob pack:blobs", "cat pack:cats"}) {
		t.Errorf("the server has %q", got)
	}
}

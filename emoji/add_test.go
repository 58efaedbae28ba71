package emoji_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"image/gif"
	"image/png"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc/emoji"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/media"
)

func openPacks(t *testing.T, dir string) *emoji.Packs {
	t.Helper()
	p, err := emoji.Open(dir, options(t))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func options(t testing.TB) emoji.Options {
	t.Helper()
	c := config.Default()
	return emoji.Options{Inspect: media.InspectPicture, Settings: config.NewLive(c), Archives: t.TempDir(), Log: slog.New(slog.DiscardHandler)}
}

// picture returns a PNG file, which differs for each number.
func picture(t *testing.T, number uint8) []byte {
	t.Helper()
	return pictureOf(t, 1, number)
}

func pictureOf(t *testing.T, side int, number uint8) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, side, side))
	img.Pix[0] = number
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gifPicture(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := gif.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1)), nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// add adds one picture to a pack, which is created if necessary.
func add(t *testing.T, p *emoji.Packs, pack, code, file string, content []byte) error {
	t.Helper()
	e := emoji.WithContent(code, content)
	e.File = file
	_, err := p.Add(t.Context(), pack, []emoji.NewEmoji{e}, emoji.AddOptions{Create: true})
	return err
}

func statusOf(err error) int {
	var e *errs.Error
	switch {
	case err == nil:
		return 200
	case errors.As(err, &e):
		return e.Status
	}
	return 500
}

func TestAdd(t *testing.T) {
	dir := t.TempDir()
	p := openPacks(t, dir)
	good := picture(t, 1)
	for _, tt := range []struct {
		pack, code, file string
		picture          []byte
		want             int
	}{
		{"stolen", "blobcat", "", good, 200},
		{"stolen", "blobcat", "", good, 409},
		{"other", "blobcat", "", good, 409},
		{"stolen", "second", "", good, 200},
		{"stolen", "third", "second.png", good, 409},
		{"stolen", "third", "SECOND.PNG", good, 409},
		{"stolen", "deep", "a/b/c.png", good, 200},
		{"stolen", "moving", "", gifPicture(t), 200},
		{"stolen", "../up", "", good, 422},
		{"stolen", "", "x.png", good, 422},
		{"stolen", "two words", "", good, 422},
		{"../up", "third", "", good, 400},
		{".hidden", "third", "", good, 400},
		{"a/b", "third", "", good, 400},
		{"", "third", "", good, 422},
		{"stolen", "third", "../third.png", good, 422},
		{"stolen", "third", "/third.png", good, 422},
		{"stolen", "third", ".third.png", good, 422},
		{"stolen", "third", "a/../third.png", good, 422},
		{"stolen", "third", "a//third.png", good, 422},
		{"stolen", "third", `a\third.png`, good, 422},
		{"stolen", "third", "third.html", good, 422},
		{"stolen", "third", "third.gif", good, 422},
		{"stolen", "third", "pack.json", good, 422},
		{"stolen", "third", strings.Repeat("x", 300) + ".png", good, 422},
		{"stolen", "page", "", []byte("<html><script>alert(1)</script>"), 422},
		{"stolen", "drawing", "", []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), 422},
		{"stolen", "empty", "", nil, 422},
		{"stolen", "cut", "", good[:len(good)-6], 422},
		{"stolen", "both", "", append(bytes.Clone(good), "PK\x03\x04 and an archive"...), 422},
		{"stolen", "padded", "", append(bytes.Clone(good), make([]byte, 100)...), 200},
		{"stolen", "wide", "", pictureOf(t, 2049, 1), 422},
		{"stolen", "heavy", "", append(bytes.Clone(good), make([]byte, 256<<10)...), 413},
	} {
		if err := add(t, p, tt.pack, tt.code, tt.file, tt.picture); statusOf(err) != tt.want {
			t.Errorf("%s/%s %s: %v, want %d", tt.pack, tt.code, tt.file, err, tt.want)
		}
	}
	if e := p.Find("deep"); e == nil || e.Path != "/emoji/stolen/a/b/c.png" || len(p.All()) != 5 {
		t.Errorf("got %v of %v", e, p.All())
	}
	wantFiles(t, dir, "stolen/a/b/c.png", "stolen/blobcat.png", "stolen/moving.gif", "stolen/pack.json", "stolen/padded.png", "stolen/second.png")
	again := openPacks(t, dir)
	if got, want := len(again.All()), len(p.All()); got != want {
		t.Errorf("after a restart there are %d emoji, want %d", got, want)
	}
}

// wantFiles checks that a folder contains exactly some files.
func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	var got []string
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, err = filepath.Rel(dir, name)
			got = append(got, name)
		}
		return err
	})
	if err != nil || strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("there are %q, %v, want %q", got, err, want)
	}
}

// TestAddAll checks that either all or no emoji of a call are added.
func TestAddAll(t *testing.T) {
	dir := t.TempDir()
	p := openPacks(t, dir)
	if err := add(t, p, "cats", "old", "", picture(t, 1)); err != nil {
		t.Fatal(err)
	}
	list := []emoji.NewEmoji{emoji.WithContent("one", picture(t, 1)), emoji.WithContent("two", nil)}
	if _, err := p.Add(t.Context(), "cats", list, emoji.AddOptions{}); statusOf(err) != 422 {
		t.Errorf("an empty picture: %v", err)
	}
	list[1] = emoji.WithContent("one", picture(t, 2))
	if _, err := p.Add(t.Context(), "cats", list, emoji.AddOptions{}); statusOf(err) != 409 {
		t.Errorf("the same shortcode twice: %v", err)
	}
	wantFiles(t, dir, "cats/old.png", "cats/pack.json")
	if _, err := p.Add(t.Context(), "dogs", list[:1], emoji.AddOptions{}); statusOf(err) != 404 {
		t.Errorf("no such pack: %v", err)
	}
	calls := 0
	list = append(list, emoji.WithContent("old", nil))
	pack, err := p.Add(t.Context(), "cats", list, emoji.AddOptions{SkipTaken: true, Progress: func(int) { calls++ }})
	if err != nil || len(pack.Files) != 2 || calls != 1 {
		t.Errorf("got %v, %v after %d calls", pack, err, calls)
	}
}

// TestAddKeepsThePack checks that other members of pack.json are kept.
func TestAddKeepsThePack(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "mine"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "mine", "pack.json")
	if err := os.WriteFile(file, []byte(`{"pack":{"license":"CC0","made":[1]},"files":{"old":"old.png","a b":"c.png"},"tool":{"x":1}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := openPacks(t, dir)
	if err := add(t, p, "mine", "new", "", gifPicture(t)); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Pack struct {
			License string
			Made    []int
		}
		Files map[string]string
		Tool  struct{ X int }
	}
	if err := json.Unmarshal(b, &doc); err != nil || doc.Pack.License != "CC0" || len(doc.Pack.Made) != 1 || doc.Tool.X != 1 ||
		doc.Files["old"] != "old.png" || doc.Files["new"] != "new.gif" || doc.Files["a b"] != "c.png" {
		t.Errorf("got %s, %v", b, err)
	}
	if p.Has("a b") {
		t.Error("an emoji has a shortcode with a space")
	}
	for _, broken := range []string{`[]`, `{"files":[]}`, `{"files":null}`, `null`, `{`, strings.Repeat(" ", 10)} {
		if err := os.WriteFile(file, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := p.Reload(); err != nil {
			t.Fatal(err)
		}
		err := add(t, p, "mine", "another", "", gifPicture(t))
		if after, _ := os.ReadFile(file); statusOf(err) != 500 || string(after) != broken {
			t.Errorf("%q became %q, %v", broken, after, err)
		}
	}
}

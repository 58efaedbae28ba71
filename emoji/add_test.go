package emoji

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAdd(t *testing.T) {
	dir := t.TempDir()
	p, err := Open(dir, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		pack, code string
		picture    []byte
		ok         bool
	}{
		{"stolen", "blobcat", picture.Bytes(), true},
		{"stolen", "blobcat", picture.Bytes(), false},
		{"other", "blobcat", picture.Bytes(), false},
		{"stolen", "second", picture.Bytes(), true},
		{"stolen", "../up", picture.Bytes(), false},
		{"../up", "third", picture.Bytes(), false},
		{"stolen", "page", []byte("<html><script>alert(1)</script>"), false},
		{"stolen", "drawing", []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), false},
		{"stolen", "empty", nil, false},
	} {
		if err := p.Add(tt.pack, tt.code, tt.picture); (err == nil) != tt.ok {
			t.Errorf("%s/%s: %v", tt.pack, tt.code, err)
		}
	}
	if e := p.Find("second"); e == nil || e.Path != "/emoji/stolen/second.png" || len(p.All()) != 2 {
		t.Errorf("got %v of %v", e, p.All())
	}
	files, err := os.ReadDir(filepath.Join(dir, "stolen"))
	if err != nil || len(files) != 3 {
		t.Errorf("the folder has %v, %v", files, err)
	}
}

// TestAddKeepsThePack checks that other members of pack.json are kept.
func TestAddKeepsThePack(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "mine"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "mine", "pack.json")
	if err := os.WriteFile(file, []byte(`{"pack":{"license":"CC0"},"files":{"old":"old.png"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Open(dir, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Add("mine", "new", []byte("GIF89a")); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Pack  struct{ License string }
		Files map[string]string
	}
	if err := json.Unmarshal(b, &doc); err != nil || doc.Pack.License != "CC0" || doc.Files["old"] != "old.png" || doc.Files["new"] != "new.gif" {
		t.Errorf("got %s, %v", b, err)
	}
	for _, broken := range []string{`[]`, `{"files":[]}`, `{"files":null}`, `null`, `{`, strings.Repeat(" ", 10)} {
		if err := os.WriteFile(file, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		err := p.Add("mine", "another", []byte("GIF89a"))
		if after, _ := os.ReadFile(file); err == nil || string(after) != broken {
			t.Errorf("%q became %q, %v", broken, after, err)
		}
	}
}

package emoji_test

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"path/filepath"
	"testing"

	"svc/emoji"
)

// FuzzReadArchive checks that an archive is refused, or becomes a pack of plain files, and that no other files are written.
func FuzzReadArchive(f *testing.F) {
	manifest := file{name: "pack.json", content: []byte(`{"files":{"a":"a.png"},"pack":{"license":"CC0"}}`)}
	for _, files := range [][]file{
		{{name: "a.png", content: smile}, manifest},
		{{name: "p/a.png", content: smile, raw: true}, {name: "p/b.gif", content: gifOf(2, 2), raw: true}},
		{{name: "../a.png", content: smile}, {name: "A.png", content: smile}},
		{{name: "a", content: []byte("/etc"), change: mode(fs.ModeSymlink | 0o777)}, {name: "a/x.png", content: smile}},
		{{name: "lie.png", content: smile, raw: true, change: func(h *zip.FileHeader) { h.UncompressedSize64 = 10 }}},
	} {
		f.Add(zipOf(f, files...))
	}
	packs, outer := open(f)
	limits := emoji.Limits{ArchiveBytes: 1 << 20, Entries: 50, Emoji: 10, FileBytes: 64 << 10, TotalBytes: 128 << 10, Side: 64}
	f.Fuzz(func(t *testing.T, archive []byte) {
		in, err := packs.Unpacker(limits).Archive(t.Context(), bytes.NewReader(archive), int64(len(archive)))
		if err == nil {
			for code, name := range in.Files {
				opened, err := in.Open(name)
				if err != nil {
					t.Fatalf("%s: %v", code, err)
				}
				info, err := opened.Stat()
				opened.Close()
				if err != nil || !info.Mode().IsRegular() || info.Size() > limits.FileBytes || !filepath.IsLocal(name) {
					t.Fatalf("%s is %q: %v, %v", code, name, info, err)
				}
			}
			if err := in.Discard(); err != nil {
				t.Fatal(err)
			}
		}
		if left := tree(t, outer); len(left) > 0 {
			t.Fatalf("files are left: %q", left)
		}
	})
}

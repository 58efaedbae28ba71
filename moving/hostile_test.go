package moving_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc/admin"
	"svc/moving"
	"svc/store"
)

// plain is an archive with one post.
func plain() files { return mastodon(note("1", "2019-01-01T10:00:00Z", "<p>first</p>", toAll)) }

// with returns the files of an archive with further ones.
func (f files) with(more files) files {
	all := files{}
	for name, content := range f {
		all[name] = content
	}
	for name, content := range more {
		all[name] = content
	}
	return all
}

// zipHeader returns the path of a zip of an archive with one more entry.
func zipHeader(t *testing.T, f files, h zip.FileHeader, content string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range f.names() {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(f[name]))
	}
	w, err := z.CreateHeader(&h)
	if err != nil {
		t.Fatal(err)
	}
	w.Write([]byte(content))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return write(t, "hostile.zip", b.Bytes())
}

// TestHostileArchives opens archives that were made to do harm.
func TestHostileArchives(t *testing.T) {
	link := zip.FileHeader{Name: "link"}
	link.SetMode(os.ModeSymlink | 0o777)
	deep := strings.Repeat("a/", 20) + "x"
	plainHeaders := func(more ...*tar.Header) (list []*tar.Header) {
		for _, name := range plain().names() {
			list = append(list, &tar.Header{Name: name, Mode: 0o600, Typeflag: tar.TypeReg, Size: int64(len(plain()[name]))})
		}
		return append(list, more...)
	}
	folderWithLink := plain().folder(t)
	if err := os.Symlink("/etc/passwd", filepath.Join(folderWithLink, "likes.json")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, file, want string }{
		{"zip: leads out", zipHeader(t, plain(), zip.FileHeader{Name: "../x"}, "x"), "leads out"},
		{"zip: absolute", zipHeader(t, plain(), zip.FileHeader{Name: "/etc/x"}, "x"), "absolute"},
		{"zip: link", zipHeader(t, plain(), link, "/etc/passwd"), "links and devices"},
		{"zip: deep", zipHeader(t, plain(), zip.FileHeader{Name: deep}, "x"), "too many folders"},
		{"zip: bomb", zipHeader(t, plain(), zip.FileHeader{Name: "x", Method: zip.Deflate}, strings.Repeat("x", 4<<20)), "expands from"},
		{"zip: two of a name", zipHeader(t, plain(), zip.FileHeader{Name: "outbox.json"}, "{}"), "two entries"},
		{"zip: too large", zipHeader(t, plain(), zip.FileHeader{Name: "x", Method: zip.Store}, strings.Repeat("x", 5<<20)), "bytes, more than"},
		{"zip: cut off", cutFile(t, plain().zip(t), 100), "not a zip archive"},
		{"tar: leads out", writeTar(t, plainHeaders(&tar.Header{Name: "../x", Typeflag: tar.TypeReg, Size: 1}), plain().with(files{"../x": "x"})), "leads out"},
		{"tar: link", writeTar(t, plainHeaders(&tar.Header{Name: "x", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink}), plain()), "links and devices"},
		{"tar: hard link", writeTar(t, plainHeaders(&tar.Header{Name: "x", Linkname: "outbox.json", Typeflag: tar.TypeLink}), plain()), "links and devices"},
		{"tar: device", writeTar(t, plainHeaders(&tar.Header{Name: "x", Typeflag: tar.TypeChar}), plain()), "links and devices"},
		{"tar: bomb", plain().with(files{"x": strings.Repeat("\x00", 5<<20)}).tar(t), "more than"},
		{"tar: cut off", cutFile(t, plain().tar(t), 40), "damaged"},
		{"folder: link", folderWithLink, "links and devices"},
		{"not there", filepath.Join(t.TempDir(), "x"), "no archive"},
		{"no archive", write(t, "x", []byte("hello")), "not an archive"},
		{"other files", files{"hello.txt": "hello"}.zip(t), "no posts in a known form"},
		{"no account", plain().with(files{"actor.json": `{"type":"Person"}`}).zip(t), "names no account"},
		{"no list", plain().with(files{"outbox.json": `{"type":"OrderedCollection"}`}).zip(t), "not a list"},
		{"a list of another kind", plain().with(files{"outbox.json": `{"orderedItems":"x"}`}).zip(t), "not a list"},
		{"a list that is cut off", plain().with(files{"outbox.json": `{"orderedItems":[{"id":"x"}`}).zip(t), "cannot be read"},
		{"a large entry", plain().with(files{"outbox.json": `{"orderedItems":["` + incompressible(2<<20) + `"]}`}).zip(t), "an entry has more than"},
		{"a large member", plain().with(files{"outbox.json": `{"x":"` + incompressible(2<<20) + `","orderedItems":[]}`}).zip(t), "an entry has more than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			work := filepath.Join(t.TempDir(), "work")
			err := moving.Check(t.Context(), tt.file, work, 4<<20)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if _, err := os.Stat(work); err == nil && tt.want != "not a list" {
				t.Error("unpacked files are left")
			}
		})
	}
}

// incompressible returns a text that is not taken for a bomb.
func incompressible(n int) string {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = 'a' + byte(x>>24)%26
	}
	return string(b)
}

// cutFile returns the path of a copy without its last bytes.
func cutFile(t *testing.T, path string, n int) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return write(t, filepath.Base(path), b[:len(b)-n])
}

// TestBrokenEntries imports an archive with entries that cannot be read among good ones.
func TestBrokenEntries(t *testing.T) {
	srv, alice, _ := start(t)
	uri := oldActor + "/statuses/"
	row := importArchive(t, srv, "alice", mastodon(
		`null`, `"x"`, `7`, `[]`, `{}`, `{"type":"Create","object":null}`, `{"type":"Create","object":[]}`,
		`{"type":"Create","object":{"type":"Note","id":"`+uri+`2","content":"no date","attributedTo":"`+oldActor+`"}}`,
		`{"type":"Create","object":{"type":"Note","content":"no id","published":"2019-01-01T10:00:00Z"}}`,
		note("3", "2019-01-03T10:00:00Z", "broken", toAll, `"tag":"x"`, `"attachment":[null,7,{"type":"Document","url":7}]`, `"inReplyTo":{}`, `"content":{"a":1}`, `"contentMap":[]`),
		note("4", "2300-01-03T10:00:00Z", "future", toAll),
		note("5", "2019-01-05T10:00:00Z", "<p>"+incompressible(300_000), toAll),
		note("6", "2019-01-06T10:00:00Z", "good", toAll),
	).zip(t))
	if row.State != store.ArchiveComplete || row.Imported != 3 || row.Position != 13 {
		t.Errorf("archive: %+v", row)
	}
	alice.Get("/api/v1/accounts/" + alice.ID + "/statuses").Want(200)
}

// TestInterrupted imports an archive whose job ends after some batches, and goes on with a server that starts again.
func TestInterrupted(t *testing.T) {
	srv, _, _ := start(t)
	var entries []string
	for i := range 130 {
		entries = append(entries, note(string(rune('a'+i%26))+string(rune('a'+i/26)), "2019-01-01T10:00:00Z", "<p>post</p>", toAll))
	}
	a, err := srv.ImportedArchives.Start(t.Context(), admin.ArchiveImport{Name: "alice", File: mastodon(entries...).zip(t)})
	if err != nil {
		t.Fatal(err)
	}
	srv.Exec(`CREATE TRIGGER stop BEFORE UPDATE OF position ON archives WHEN new.position > 60 BEGIN SELECT RAISE (ABORT, 'stopped'); END`)
	srv.RunJobs()
	row := archiveRow(t, srv, a.ID)
	if row.State != store.ArchiveQueued || row.Position != 50 || row.Imported != 50 {
		t.Errorf("interrupted: %+v", row)
	}
	srv.Exec(`DROP TRIGGER stop`)
	srv.Exec(`UPDATE jobs SET run_at = 1000`)
	again := srv.StartAgain()
	again.RunJobs()
	if row = archiveRow(t, again, a.ID); row.State != store.ArchiveComplete || row.Imported != 130 || row.Position != 130 {
		t.Errorf("completed: %+v", row)
	}
	if n := again.Count(`SELECT count(*) FROM imported_statuses`); n != 130 {
		t.Errorf("%d posts", n)
	}
}

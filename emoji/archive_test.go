package emoji_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"svc/emoji"
	"svc/internal/errs"
	"svc/media"
)

// file is an entry of an archive that a test makes.
type file struct {
	name    string
	content []byte
	change  func(*zip.FileHeader) // before it is written
	raw     bool                  // the header is written as it is, with content as the stored data
}

// zipOf returns an archive. Headers may be as wrong as a test wants them.
func zipOf(t testing.TB, files ...file) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		if f.raw {
			h.Method, h.CRC32 = zip.Store, crc32.ChecksumIEEE(f.content)
			h.CompressedSize64, h.UncompressedSize64 = uint64(len(f.content)), uint64(len(f.content))
		}
		if f.change != nil {
			f.change(h)
		}
		create := w.CreateHeader
		if f.raw {
			create = w.CreateRaw
		}
		part, err := create(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write(f.content); err != nil && !h.Mode().IsDir() {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func pngOf(width, height int) []byte {
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func jpegOf(width, height int) []byte {
	var out bytes.Buffer
	if err := jpeg.Encode(&out, image.NewGray(image.Rect(0, 0, width, height)), nil); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func gifOf(width, height int) []byte {
	var out bytes.Buffer
	if err := gif.Encode(&out, image.NewGray(image.Rect(0, 0, width, height)), nil); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// bomb returns a PNG that claims a size and has hardly any data.
func bomb(side uint32) []byte {
	b := pngOf(1, 1)
	binary.BigEndian.PutUint32(b[16:], side)
	binary.BigEndian.PutUint32(b[20:], side)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return b
}

// open opens an emoji folder inside another folder, so that a test sees files written outside it.
func open(t testing.TB) (packs *emoji.Packs, outer string) {
	t.Helper()
	outer = t.TempDir()
	packs, err := emoji.Open(filepath.Join(outer, "data", "emoji"), options(t))
	if err != nil {
		t.Fatal(err)
	}
	return packs, outer
}

// tree returns all files and folders below a folder, except the emoji folder itself.
func tree(t testing.TB, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, path); rel != "." && rel != "data" && rel != "data/emoji" {
			found = append(found, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func mode(m fs.FileMode) func(*zip.FileHeader) {
	return func(h *zip.FileHeader) { h.SetMode(m) }
}

var smile = pngOf(8, 8)

func TestHostileArchives(t *testing.T) {
	good := file{name: "good.png", content: smile}
	svg := []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`)
	noise := make([]byte, 300<<10)
	rand.NewChaCha8([32]byte{}).Read(noise)
	manifest := func(files string) file { return file{name: "pack.json", content: []byte(`{"files":` + files + `}`)} }
	for _, tt := range []struct {
		name  string
		files []file
		want  string // in the error
	}{
		{"traversal", []file{good, {name: "../evil.png", content: smile}}, `"../evil.png": the name leads out of the archive`},
		{"traversal inside", []file{good, {name: "a/../../evil.png", content: smile}}, `"a/../../evil.png": the name leads out`},
		{"traversal of a file that is not taken", []file{good, {name: "../../.ssh/authorized_keys", content: smile}}, "leads out"},
		{"absolute", []file{good, {name: "/etc/evil.png", content: smile}}, `"/etc/evil.png": the name is absolute`},
		{"drive", []file{good, {name: "C:evil.png", content: smile}}, `"C:evil.png": the name is absolute`},
		{"backslash", []file{good, {name: `..\evil.png`, content: smile}}, "backslash"},
		{"control character", []file{good, {name: "a\x1b[2J.png", content: smile}}, "control characters"},
		{"NUL", []file{good, {name: "a.png\x00.txt", content: smile}}, "control characters"},
		{"not UTF-8", []file{good, {name: "a\xff.png", content: smile}}, "not UTF-8"},
		{"empty part", []file{good, {name: "a//b.png", content: smile}}, "empty part"},
		{"deep", []file{good, {name: strings.Repeat("a/", 9) + "b.png", content: smile}}, "too many folders"},
		{"long", []file{good, {name: strings.Repeat("a", 300) + ".png", content: smile}}, "too long"},
		{"symbolic link", []file{good, {name: "link.png", content: []byte("/etc/passwd"), change: mode(fs.ModeSymlink | 0o777)}}, `"link.png": links and devices`},
		{"symbolic link of DOS", []file{good, {name: "link.png", content: []byte("/etc/passwd"), change: func(h *zip.FileHeader) {
			h.SetMode(fs.ModeSymlink | 0o777)
			h.CreatorVersion = 20
		}}}, `"link.png": links and devices`},
		{"linked folder", []file{{name: "a", content: []byte("/tmp"), change: mode(fs.ModeSymlink | 0o777)}, {name: "a/x.png", content: smile}}, "links and devices"},
		{"device", []file{good, {name: "null.png", change: mode(fs.ModeDevice | fs.ModeCharDevice | 0o666)}}, "links and devices"},
		{"named pipe", []file{good, {name: "pipe.png", change: mode(fs.ModeNamedPipe | 0o666)}}, "links and devices"},
		{"duplicate", []file{good, good}, `"good.png": two entries have this name`},
		{"case", []file{good, {name: "GOOD.png", content: smile}}, `"GOOD.png": the name differs from "good.png" only in upper and lower case`},
		{"case of folders", []file{{name: "a/x.png", content: smile}, {name: "A/y.png", content: smile}}, "only in upper and lower case"},
		{"normalization", []file{{name: "caf\u00e9.txt"}, {name: "cafe\u0301.txt"}, good}, "only in Unicode normalization"},
		{"compatibility", []file{{name: "ﬁ.png", content: smile}, {name: "fi.png", content: smile}}, "only in Unicode normalization"},
		{"file and folder", []file{{name: "a", content: smile}, {name: "a/x.png", content: smile}}, "a file and a folder"},
		{"zip bomb", []file{good, {name: "zeros.png", content: make([]byte, 10<<20)}}, `"zeros.png": it expands from`},
		{"zip bomb that is not taken", []file{good, {name: "zeros.txt", content: make([]byte, 10<<20)}}, `"zeros.txt": it expands from`},
		{"declares less", []file{good, {name: "lie.png", content: smile, raw: true, change: func(h *zip.FileHeader) { h.UncompressedSize64 = 10 }}}, `"lie.png": size or checksum`},
		{"declares more", []file{good, {name: "lie.png", content: smile, raw: true, change: func(h *zip.FileHeader) { h.UncompressedSize64 += 10 }}}, `"lie.png": size or checksum`},
		{"wrong checksum", []file{good, {name: "lie.png", content: smile, raw: true, change: func(h *zip.FileHeader) { h.CRC32++ }}}, `"lie.png": size or checksum`},
		{"damaged compression", []file{good, {name: "lie.png", content: smile, raw: true, change: func(h *zip.FileHeader) { h.Method = zip.Deflate }}}, `"lie.png": the entry is damaged`},
		{"encrypted", []file{good, {name: "secret.png", content: smile, raw: true, change: func(h *zip.FileHeader) { h.Flags |= 1 }}}, `"secret.png": the entry is encrypted`},
		{"unknown compression", []file{good, {name: "x.png", content: smile, raw: true, change: func(h *zip.FileHeader) { h.Method = 12 }}}, "compression method 12"},
		{"large", []file{good, {name: "large.png", content: noise}}, `"large.png": the file has 307200 bytes, more than 262144`},
		{"wrong extension", []file{good, {name: "cat.gif", content: smile}}, `"cat.gif": the content is image/png, but the name says image/gif`},
		{"page as picture", []file{good, {name: "page.png", content: []byte("<html><script>alert(1)</script>")}}, `"page.png": Files of this type`},
		{"program as picture", []file{good, {name: "run.png", content: []byte("\x7fELF\x02\x01\x01")}}, `"run.png": Files of this type`},
		{"empty picture", []file{good, {name: "empty.png"}}, `"empty.png": Files of this type`},
		{"huge", []file{good, {name: "huge.png", content: bomb(60_000)}}, `"huge.png": the picture is 60000 × 60000 pixels large`},
		{"larger than any", []file{good, {name: "huge.png", content: bomb(1 << 31)}}, `"huge.png": the picture is 65536 × 65536 pixels large`},
		{"wide", []file{good, {name: "wide.png", content: pngOf(2049, 1)}}, "2049 × 1"},
		{"truncated PNG", []file{good, {name: "cut.png", content: smile[:len(smile)-15]}}, `"cut.png": The file is damaged or incomplete`},
		{"truncated GIF", []file{good, {name: "cut.gif", content: gifOf(8, 8)[:800]}}, `"cut.gif": The file is damaged`},
		{"truncated JPEG", []file{good, {name: "cut.jpg", content: jpegOf(8, 8)[:300]}}, `"cut.jpg": The file is damaged`},
		{"PNG and zip", []file{good, {name: "both.png", content: append(slices.Clone(smile), zipOf(t, good)...)}}, `bytes of other data follow the picture`},
		{"GIF and page", []file{good, {name: "both.gif", content: append(gifOf(8, 8), "<script>alert(1)</script>"...)}}, `"both.gif": 25 bytes of other data follow`},
		{"JPEG and page", []file{good, {name: "both.jpg", content: append(jpegOf(8, 8), "<script>alert(1)</script>"...)}}, `"both.jpg": 25 bytes of other data follow`},
		{"GIF and script", []file{good, {name: "js.gif", content: []byte("GIF89a/*\x00\x00*/=1;alert(1)//;")}}, `"js.gif": The file is damaged`},
		{"SVG", []file{good, {name: "drawing.svg", content: svg}}, `"drawing.svg": SVG pictures are not accepted`},
		{"packed SVG", []file{good, {name: "drawing.SVGZ", content: svg}}, "SVG pictures are not accepted"},
		{"SVG as PNG", []file{good, {name: "drawing.png", content: svg}}, `"drawing.png": Files of this type`},
		{"nested archive", []file{good, {name: "more.zip", content: zipOf(t, good)}}, `"more.zip": archives within an archive`},
		{"nested archive as PNG", []file{good, {name: "more.png", content: zipOf(t, good)}}, `"more.png": Files of this type`},
		{"no emoji", []file{{name: "README.md"}}, "there are no emoji in it"},
		{"only bad names", []file{{name: "my cat.png", content: smile}}, `"my cat" is not a valid shortcode`},
		{"two packs", []file{{name: "a/pack.json"}, {name: "b/pack.json"}, good}, "import one pack at a time"},
		{"pack.json is not JSON", []file{good, {name: "pack.json", content: []byte("{")}}, `"pack.json": not a valid pack.json`},
		{"pack.json is a list", []file{good, manifest(`["good.png"]`)}, "not a valid pack.json"},
		{"pack.json of numbers", []file{good, manifest(`{"good":1}`)}, "not a valid pack.json"},
		{"pack.json without files", []file{good, {name: "pack.json", content: []byte("null")}}, "there are no emoji in it"},
		{"pack.json lists a missing file", []file{good, manifest(`{"good":"good.png","bad":"bad.png"}`)}, `"bad.png": listed as :bad:, but it does not exist`},
		{"pack.json leads out", []file{good, manifest(`{"good":"../../svc.db"}`)}, `"../../svc.db": listed as :good:, but the name leads out`},
		{"pack.json is absolute", []file{good, manifest(`{"good":"/etc/passwd"}`)}, "the name is absolute"},
		{"pack.json lists itself", []file{good, manifest(`{"good":"pack.json"}`)}, "not a picture by its name"},
		{"pack.json lists a hidden file", []file{good, {name: ".x.png", content: smile}, manifest(`{"good":".x.png"}`)}, "not a valid name"},
		{"pack.json with a bad shortcode", []file{good, manifest(`{"a b":"good.png"}`)}, `"a b" is not a valid shortcode`},
		{"pack.json is too large", []file{good, {name: "pack.json", content: bytes.Repeat(noise, 14), raw: true}}, "larger than 4194304 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			packs, outer := open(t)
			archive := zipOf(t, tt.files...)
			wantRefused(t, packs, archive, emoji.DefaultLimits, tt.want)
			if left := tree(t, outer); len(left) > 0 {
				t.Errorf("files are left: %q", left)
			}
		})
	}
}

// wantRefused checks that an archive is refused as the client's fault.
func wantRefused(t *testing.T, packs *emoji.Packs, archive []byte, limits emoji.Limits, want string) {
	t.Helper()
	in, err := packs.Unpacker(limits).Archive(t.Context(), bytes.NewReader(archive), int64(len(archive)))
	if err == nil {
		in.Discard()
		t.Fatal("the archive is accepted")
	}
	if e := new(errs.Error); !errors.As(err, &e) || e.Status != 422 || !strings.Contains(err.Error(), want) {
		t.Errorf("error is %v, want 422 with %q", err, want)
	}
}

// TestHostileDirectories are archives whose structure is wrong, not an entry.
func TestHostileDirectories(t *testing.T) {
	whole := zipOf(t, file{name: "a.png", content: smile, raw: true}, file{name: "b.png", content: smile, raw: true})
	end := len(whole) - 22
	change := func(fn func(b []byte)) []byte {
		b := slices.Clone(whole)
		fn(b)
		return b
	}
	offset := int(binary.LittleEndian.Uint32(whole[end+16:]))
	second := offset + 46 + len("a.png") + int(binary.LittleEndian.Uint16(whole[offset+30:]))
	many := bytes.Repeat(whole[offset:second], 70_000)
	hidden := slices.Concat(whole[:offset], many, whole[end:])
	binary.LittleEndian.PutUint32(hidden[len(hidden)-6:], uint32(offset))
	binary.LittleEndian.PutUint32(hidden[len(hidden)-10:], uint32(len(many)))
	binary.LittleEndian.PutUint16(hidden[len(hidden)-12:], uint16(70_000-65_536))
	binary.LittleEndian.PutUint16(hidden[len(hidden)-14:], uint16(70_000-65_536))
	for _, tt := range []struct {
		name    string
		archive []byte
		want    string
	}{
		{"empty file", nil, "not a zip archive"},
		{"other file", smile, "not a zip archive"},
		{"empty archive", zipOf(t), "the archive is empty"},
		{"cut off", whole[:len(whole)-1], "not a zip archive"},
		{"cut off early", whole[:end-10], "not a zip archive"},
		{"data follows", append(slices.Clone(whole), "<html>"...), "other data follows"},
		{"data precedes", append([]byte("<html>"), whole...), "other data precedes"},
		{"picture precedes", append(slices.Clone(smile), whole...), "other data precedes"},
		{"two parts", change(func(b []byte) { b[end+4] = 1 }), "several parts"},
		{"zip64", change(func(b []byte) { binary.LittleEndian.PutUint32(b[end+16:], 1<<32-1) }), "zip64"},
		{"claims fewer entries", change(func(b []byte) { b[end+8], b[end+10] = 1, 1 }), "claims 1 entries and has 2"},
		{"claims more entries", change(func(b []byte) { b[end+8], b[end+10] = 3, 3 }), "claims 3 entries and has 2"},
		{"hides entries in the 16 bits of the count", hidden, "claims 4464 entries and has 70000"},
		{"directory not at the end", change(func(b []byte) { b[end+12]++ }), "not at the end"},
		{"damaged list", change(func(b []byte) { b[second]++ }), "list of entries of the archive is damaged"},
		{"entries overlap", change(func(b []byte) { copy(b[second+42:], b[offset+42:offset+46]) }), "overlaps"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			packs, outer := open(t)
			wantRefused(t, packs, tt.archive, emoji.DefaultLimits, tt.want)
			if left := tree(t, outer); len(left) > 0 {
				t.Errorf("files are left: %q", left)
			}
		})
	}
}

// TestArchiveLimits tests each limit at and above its value.
func TestArchiveLimits(t *testing.T) {
	archive := zipOf(t, file{name: "a.png", content: smile}, file{name: "b.png", content: smile}, file{name: "c.txt"})
	size := int64(len(smile))
	exact := emoji.Limits{ArchiveBytes: int64(len(archive)), Entries: 3, Emoji: 2, FileBytes: size, TotalBytes: 2 * size, Side: 8}
	packs, outer := open(t)
	in, err := packs.Unpacker(exact).Archive(t.Context(), bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Discard(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		change func(*emoji.Limits)
		want   string
	}{
		{"archive", func(l *emoji.Limits) { l.ArchiveBytes-- }, "the archive has"},
		{"entries", func(l *emoji.Limits) { l.Entries-- }, "3 entries, more than 2"},
		{"emoji", func(l *emoji.Limits) { l.Emoji-- }, "2 emoji in it, more than 1"},
		{"file", func(l *emoji.Limits) { l.FileBytes-- }, `"a.png": the file has`},
		{"all files", func(l *emoji.Limits) { l.TotalBytes-- }, `"b.png": the pictures up to this one`},
		{"side", func(l *emoji.Limits) { l.Side-- }, "8 × 8 pixels large, more than 7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			limits := exact
			tt.change(&limits)
			wantRefused(t, packs, archive, limits, tt.want)
		})
	}
	if left := tree(t, outer); len(left) > 0 {
		t.Errorf("files are left: %q", left)
	}
}

// TestArchiveMemory checks that neither hostile nor large archives take much memory.
func TestArchiveMemory(t *testing.T) {
	noise := make([]byte, 100<<10)
	rand.NewChaCha8([32]byte{}).Read(noise)
	var large []file
	for i := range 500 {
		large = append(large, file{name: fmt.Sprintf("%d.png", i), content: append(slices.Clone(smile), noise...), raw: true})
	}
	var bomb bytes.Buffer
	deflater, err := flate.NewWriter(&bomb, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		deflater.Write(make([]byte, 100<<10))
	}
	deflater.Close()
	lie := file{name: "lie.png", content: bomb.Bytes(), raw: true, change: func(h *zip.FileHeader) { h.Method, h.UncompressedSize64 = zip.Deflate, 1000 }}
	whole := zipOf(t, file{name: "a.png", content: smile, raw: true})
	from, end := bytes.Index(whole, []byte("PK\x01\x02")), len(whole)-22
	list := bytes.Repeat(whole[from:end], 1_000_000)
	crowded := slices.Concat(whole[:from], list, whole[end:])
	binary.LittleEndian.PutUint32(crowded[len(crowded)-10:], uint32(len(list)))
	packs, _ := open(t)
	for _, tt := range []struct {
		name    string
		archive []byte
		want    string
	}{
		{"many large files, of which the first is refused", zipOf(t, large...), "bytes of other data follow"},
		{"a size that is a lie", zipOf(t, lie), "size or checksum"},
		{"a million entries, of which one is declared", crowded, "claims 1 entries"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		wantRefused(t, packs, tt.archive, emoji.DefaultLimits, tt.want)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 2<<20 {
			t.Errorf("%s: %d bytes were allocated for an archive of %d", tt.name, took, len(tt.archive))
		}
	}
}

func TestReadArchive(t *testing.T) {
	manifest := file{name: "pack.json", content: []byte(`{"files":{"hi":"good.png","hello":"good.png","deep":"a/b/cat.gif"},"pack":{"license":"CC0","x":[1]}}`)}
	cat := file{name: "a/b/cat.gif", content: gifOf(8, 8)}
	good := file{name: "good.png", content: append(slices.Clone(smile), make([]byte, 100)...)} // padded
	for _, tt := range []struct {
		name    string
		files   []file
		only    map[string]string
		want    map[string]string
		skipped []string
		license string
	}{
		{"with pack.json", []file{manifest, good, cat, {name: "other.png", content: []byte("not read")}},
			nil, map[string]string{"hi": "good.png", "hello": "good.png", "deep": "a/b/cat.gif"}, nil, `"CC0"`},
		{"pictures", []file{good, cat, {name: "photo.JPG", content: jpegOf(8, 8)}, {name: "README.md"}, {name: "my cat.png", content: smile}},
			nil, map[string]string{"good": "good.png", "cat": "a/b/cat.gif", "photo": "photo.JPG"}, []string{"README.md", "my cat.png"}, ""},
		{"the first of two with one shortcode", []file{{name: "cat.png", content: smile}, cat}, nil, map[string]string{"cat": "cat.png"}, []string{"a/b/cat.gif"}, ""},
		{"in a folder", []file{{name: "pack/"}, {name: "pack/pack.json", content: []byte(`{"files":{"good":"./good.png"}}`)}, {name: "pack/good.png", content: smile},
			{name: "__MACOSX/pack/._good.png", content: []byte("x")}, {name: "pack/.DS_Store", content: []byte("x")}},
			nil, map[string]string{"good": "good.png"}, nil, ""},
		{"only some files of a repository", []file{{name: "repo-main/emoji/good.png", content: smile}, {name: "repo-main/src.svg"}, {name: "repo-main/src.zip"}, {name: "repo-main/bad.png"}},
			map[string]string{"good": "emoji/good.png"}, map[string]string{"good": "emoji/good.png"}, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			packs, _ := open(t)
			archive := zipOf(t, tt.files...)
			read := func(r *bytes.Reader) (*emoji.IncomingPack, error) {
				return packs.Unpacker(emoji.DefaultLimits).Archive(t.Context(), r, r.Size())
			}
			if tt.only != nil {
				read = func(r *bytes.Reader) (*emoji.IncomingPack, error) {
					return packs.Unpacker(emoji.DefaultLimits).ArchiveFiles(t.Context(), r, r.Size(), tt.only)
				}
			}
			in, err := read(bytes.NewReader(archive))
			if err != nil {
				t.Fatal(err)
			}
			defer in.Discard()
			if !maps.Equal(in.Files, tt.want) {
				t.Errorf("files are %v, want %v", in.Files, tt.want)
			}
			var skipped []string
			for _, s := range in.Skipped {
				skipped = append(skipped, s.Entry)
			}
			if !slices.Equal(skipped, tt.skipped) {
				t.Errorf("skipped %q, want %q", in.Skipped, tt.skipped)
			}
			if string(in.Metadata["license"]) != tt.license {
				t.Errorf("metadata is %s", in.Metadata)
			}
			for code, name := range in.Files {
				f, err := in.Open(name)
				if err != nil {
					t.Fatalf("%s: %v", code, err)
				}
				f.Close()
			}
		})
	}
}

func TestInstall(t *testing.T) {
	packs, outer := open(t)
	install := func(name string, replace bool, files ...file) error {
		archive := zipOf(t, files...)
		in, err := packs.Unpacker(emoji.DefaultLimits).Archive(t.Context(), bytes.NewReader(archive), int64(len(archive)))
		if err != nil {
			t.Fatal(err)
		}
		return errors.Join(packs.Install(in, name, replace), in.Discard())
	}
	cat, dog := file{name: "cat.png", content: smile}, file{name: "dog.png", content: smile}
	if err := install("pets", false, cat); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "..", "a/b", ".x", `a\b`} {
		if err := install(name, true, cat); err == nil {
			t.Errorf("a pack named %q is installed", name)
		}
	}
	if e := new(errs.Error); !errors.As(install("pets", false, dog), &e) || e.Status != 409 {
		t.Errorf("a pack that exists: %v", e)
	}
	if packs.Find("cat") == nil || packs.Find("dog") != nil {
		t.Error("the pack is not as it was")
	}
	if err := install("pets", true, dog); err != nil {
		t.Fatal(err)
	}
	if packs.Find("cat") != nil || packs.Find("dog") == nil {
		t.Error("the pack is not replaced")
	}
	want := []string{"data/emoji/pets", "data/emoji/pets/dog.png", "data/emoji/pets/pack.json"}
	if got := tree(t, outer); !slices.Equal(got, want) {
		t.Errorf("files are %q, want %q", got, want)
	}
}

// TestUnpackBesideServer checks that a server that starts does not remove what a command is unpacking, and that the command has progress.
func TestUnpackBesideServer(t *testing.T) {
	packs, outer := open(t)
	dir := filepath.Join(outer, "data", "emoji")
	var steps []string
	u := &emoji.Unpacker{Dir: dir, Inspect: media.InspectPicture, Limits: emoji.DefaultLimits, Progress: func(what string, done, total int64) {
		steps = append(steps, fmt.Sprintf("%s %d/%d", what, done, total))
	}}
	source := t.TempDir()
	for _, name := range []string{"cat.png", "dog.png"} {
		if err := os.WriteFile(filepath.Join(source, name), smile, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found := 0
	err := u.Read(t.Context(), source, emoji.Selection{As: "pets"}, func(name string, in *emoji.IncomingPack) error {
		found++
		if _, err := emoji.Open(dir, options(t)); err != nil {
			return err
		}
		unpacked := in.Unpacked(name, false)
		for _, change := range []func(*emoji.Unpacked){
			func(u *emoji.Unpacked) { u.Folder = "../../x" },
			func(u *emoji.Unpacked) { u.Folder = ".incoming-none" },
			func(u *emoji.Unpacked) { u.Files = map[string]string{"cat": "../../x.png"} },
			func(u *emoji.Unpacked) { u.Name = "../up" },
		} {
			wrong := unpacked
			change(&wrong)
			if _, err := packs.InstallUnpacked(wrong); err == nil {
				t.Errorf("%v is installed", wrong)
			}
		}
		installed, err := packs.InstallUnpacked(unpacked)
		if err == nil && (installed.Name != "pets" || installed.Emoji != 2) {
			t.Errorf("installed %v", installed)
		}
		return err
	})
	if err != nil || found != 1 {
		t.Fatalf("%d packs, %v", found, err)
	}
	if want := []string{"check 1/2", "check 2/2", "store 1/2", "store 2/2"}; !slices.Equal(steps, want) {
		t.Errorf("steps are %q, want %q", steps, want)
	}
	if packs.Find("cat") == nil || packs.Find("dog") == nil {
		t.Error("the pack is not loaded")
	}
}

// TestCleanUp checks that an interrupted import leaves nothing, and an interrupted replacement the old pack.
func TestCleanUp(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".incoming-1/a/b.png", ".replaced-old/pack.json", ".replaced-new/pack.json", "new/pack.json", "plain/x.png"} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("{}"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := emoji.Open(dir, options(t)); err != nil {
		t.Fatal(err)
	}
	var got []string
	folders, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		got = append(got, f.Name())
	}
	if want := []string{"new", "old", "plain"}; !slices.Equal(got, want) {
		t.Errorf("folders are %q, want %q", got, want)
	}
}

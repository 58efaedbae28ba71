package emoji

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"
	"golang.org/x/text/unicode/norm"

	"svc/internal/disk"
	"svc/internal/errs"
	"svc/internal/fetch"
	"svc/internal/text"
	"svc/internal/unzip"
)

// incomingPrefix marks folders of packs that are being unpacked. They are hidden, so no pack has such a name.
const incomingPrefix = ".incoming-"

// parallelSyncs is how many files are written to disk at once: a file system joins them into one write.
const parallelSyncs = 16

// maxTrailing is how many bytes may follow the end of a picture. Some programs pad; another file does not fit.
const maxTrailing = 16

// InspectPicture returns the content type and dimensions of a PNG, GIF, WebP or JPEG picture, and where it ends. It fails for other,
// damaged and incomplete content.
type InspectPicture func(file io.ReaderAt, size int64) (mime string, dimensions image.Point, end int64, err error)

// Unpacker checks untrusted packs and unpacks them into hidden folders beside the packs. Commands use it while a server runs on the folder.
type Unpacker struct {
	Dir      string // the emoji folder
	Inspect  InspectPicture
	Limits   Limits
	Fetch    *fetch.Client                        // nil: nothing is fetched
	Progress func(what string, done, total int64) // may be nil
}

func (u *Unpacker) report(what string, done, total int64) {
	if u.Progress != nil {
		u.Progress(what, done, total)
	}
}

// Skipped is a file that was not taken over, although nothing is wrong with it.
type Skipped struct {
	Entry  string `json:"entry"`
	Reason string `json:"reason"`
}

// IncomingPack is a checked pack in a temporary folder. The caller must Discard it, also after Install.
type IncomingPack struct {
	Files    map[string]string          // paths in the pack by shortcode
	Metadata map[string]json.RawMessage // "pack" of the pack.json; nil if there is none
	Skipped  []Skipped
	Bytes    int64

	dir  string
	root *disk.Root
	lock *os.File // keeps a server that starts from removing the folder
}

// Open opens a file of the pack.
func (in *IncomingPack) Open(file string) (*os.File, error) {
	return in.root.Open(filepath.FromSlash(file))
}

// Discard removes the files that were not installed.
func (in *IncomingPack) Discard() error {
	err := errors.Join(in.root.Close(), disk.RemoveAll(in.dir))
	in.lock.Close()
	return err
}

// unpack checks entries and writes the emoji among them into a temporary folder: those of files, else those of the pack.json, else
// all pictures.
func (u *Unpacker) unpack(ctx context.Context, entries []unzip.Entry, files map[string]string) (*IncomingPack, error) {
	if len(entries) > u.Limits.Entries {
		return nil, errs.Invalid("there are %d files, more than %d", len(entries), u.Limits.Entries)
	}
	keepListedNames(entries, files)
	byPath := unzip.Files(entries)
	in := &IncomingPack{}
	if err := in.choose(entries, byPath, files); err != nil {
		return nil, err
	}
	if len(in.Files) == 0 {
		return nil, errs.Invalid("there are no emoji in it%s", in.firstSkipped())
	}
	if len(in.Files) > u.Limits.Emoji {
		return nil, errs.Invalid("there are %d emoji in it, more than %d", len(in.Files), u.Limits.Emoji)
	}
	if err := in.makeFolder(u.Dir); err != nil {
		return nil, err
	}
	err := in.write(ctx, byPath, u)
	if err == nil {
		err = in.sync(ctx, u)
	}
	if err != nil {
		return nil, errors.Join(err, in.Discard())
	}
	return in, nil
}

// keepListedNames restores the names of entries without the folder around them that was removed, if a file is listed with that folder.
func keepListedNames(entries []unzip.Entry, files map[string]string) {
	listed := make(map[string]bool, len(files))
	for _, file := range files {
		listed[norm.NFC.String(file)] = true
	}
	if !slices.ContainsFunc(entries, func(e unzip.Entry) bool { return listed[norm.NFC.String(e.Name)] }) {
		return
	}
	for i := range entries {
		entries[i].Path = norm.NFC.String(entries[i].Name)
	}
}

// makeFolder makes the temporary folder and locks it.
func (in *IncomingPack) makeFolder(dir string) (err error) {
	if in.dir, err = disk.MkdirTemp(dir, incomingPrefix); err != nil {
		return fmt.Errorf("emoji folder: %w", err)
	}
	if in.lock, err = lockFolder(in.dir); err != nil {
		return errors.Join(fmt.Errorf("emoji folder: %w", err), disk.RemoveAll(in.dir))
	}
	if in.root, err = disk.OpenRoot(in.dir); err != nil {
		return errors.Join(fmt.Errorf("emoji folder: %w", err), disk.RemoveAll(in.dir), in.lock.Close())
	}
	return nil
}

// lockFolder locks a folder until the file is closed or the process ends. It fails if another has it.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// choose decides which entries become emoji.
func (in *IncomingPack) choose(entries []unzip.Entry, byPath map[string]*unzip.Entry, files map[string]string) error {
	if files != nil {
		return in.list(files, byPath)
	}
	for _, e := range entries {
		switch {
		case e.Mode.IsDir() || unzip.IsLitter(e.Path):
		case isSVG(e.Path):
			return unzip.Refuse(e.Name, "SVG pictures are not accepted, because they can contain scripts")
		case unzip.IsArchive(e.Path):
			return unzip.Refuse(e.Name, "archives within an archive are not accepted")
		case path.Base(e.Path) == "pack.json" && e.Path != "pack.json":
			return unzip.Refuse(e.Name, "the pack.json is not in the outermost folder: import one pack at a time")
		}
	}
	if manifest := byPath["pack.json"]; manifest != nil {
		files, err := in.readManifest(manifest)
		if err != nil {
			return err
		}
		return in.list(files, byPath)
	}
	in.Files = make(map[string]string)
	for _, e := range entries {
		if e.Mode.IsDir() || unzip.IsLitter(e.Path) {
			continue
		}
		if reason := in.addPlain(e.Path); reason != "" {
			in.Skipped = append(in.Skipped, Skipped{e.Name, reason})
		}
	}
	return nil
}

// addPlain adds a picture under the shortcode that its name says. It returns the reason if it does not.
func (in *IncomingPack) addPlain(file string) (reason string) {
	base := path.Base(file)
	extension := path.Ext(base)
	code := strings.TrimSuffix(base, extension)
	switch {
	case imageTypes[strings.ToLower(extension)] == "":
		return "not a picture by its name"
	case !text.ValidShortcode(code):
		return fmt.Sprintf("%q is not a valid shortcode", code)
	case !validPath(file):
		return "not a valid name for a file in a pack"
	case in.Files[code] != "":
		return fmt.Sprintf("%s has the same shortcode", in.Files[code])
	}
	in.Files[code] = file
	return ""
}

// readManifest reads a pack.json.
func (in *IncomingPack) readManifest(e *unzip.Entry) (map[string]string, error) {
	f, err := e.Open()
	if err != nil {
		return nil, unzip.ReadError(e.Name, err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxPackFile+1))
	if err != nil {
		return nil, unzip.ReadError(e.Name, err)
	}
	if len(content) > maxPackFile {
		return nil, unzip.Refuse(e.Name, "the file is larger than %d bytes", maxPackFile)
	}
	var doc struct {
		Files map[string]string          `json:"files"`
		Pack  map[string]json.RawMessage `json:"pack"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf")), &doc); err != nil {
		return nil, unzip.Refuse(e.Name, "not a valid pack.json: %v", err)
	}
	in.Metadata = doc.Pack
	return doc.Files, nil
}

// list takes over a list of files, which must all exist.
func (in *IncomingPack) list(files map[string]string, byPath map[string]*unzip.Entry) error {
	in.Files = make(map[string]string, len(files))
	for _, code := range slices.Sorted(maps.Keys(files)) {
		file := norm.NFC.String(strings.TrimPrefix(files[code], "./"))
		if reason := unzip.RefuseName(file); reason != "" {
			return unzip.Refuse(file, "listed as :%s:, but %s", code, reason)
		}
		switch {
		case !text.ValidShortcode(code):
			return unzip.Refuse(file, "%q is not a valid shortcode", code)
		case !validPath(file):
			return unzip.Refuse(file, "not a valid name for a file in a pack")
		case isSVG(file):
			return unzip.Refuse(file, "SVG pictures are not accepted, because they can contain scripts")
		case imageTypes[strings.ToLower(path.Ext(file))] == "":
			return unzip.Refuse(file, "not a picture by its name")
		case byPath[file] == nil:
			return unzip.Refuse(file, "listed as :%s:, but it does not exist", code)
		}
		in.Files[code] = file
	}
	return nil
}

// firstSkipped says why the first file was skipped.
func (in *IncomingPack) firstSkipped() string {
	if len(in.Skipped) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%q: %s)", in.Skipped[0].Entry, in.Skipped[0].Reason)
}

// write writes the chosen files, each once, and checks them.
func (in *IncomingPack) write(ctx context.Context, byPath map[string]*unzip.Entry, u *Unpacker) error {
	paths := slices.Compact(slices.Sorted(maps.Values(in.Files)))
	for i, file := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		if dir := path.Dir(file); dir != "." {
			if err := in.root.MkdirAll(filepath.FromSlash(dir), 0o700); err != nil {
				return fmt.Errorf("emoji folder: %w", err)
			}
		}
		size, err := in.writeFile(byPath[file], u.Inspect, u.Limits)
		if err != nil {
			return err
		}
		if in.Bytes += size; in.Bytes > u.Limits.TotalBytes {
			return unzip.Refuse(byPath[file].Name, "the pictures up to this one have more than %d bytes", u.Limits.TotalBytes)
		}
		u.report("check", int64(i+1), int64(len(paths)))
	}
	return nil
}

// sync waits until the files are on disk, because a disk can be slow and Install has no progress. It gives them to the owner of the emoji
// folder if the process may, so that the server can read what root has imported.
func (in *IncomingPack) sync(ctx context.Context, u *Unpacker) error {
	if os.Geteuid() == 0 {
		if err := giveToOwner(in.dir, u.Dir); err != nil {
			return fmt.Errorf("emoji folder: %w", err)
		}
	}
	paths := slices.Compact(slices.Sorted(maps.Values(in.Files)))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelSyncs)
	for i, file := range paths {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := in.root.Sync(filepath.FromSlash(file)); err != nil {
				return fmt.Errorf("emoji folder: %w", err)
			}
			return nil
		})
		u.report("store", int64(i+1), int64(len(paths)))
	}
	return group.Wait()
}

// giveToOwner gives a folder with all files to the owner of another.
func giveToOwner(dir, like string) error {
	info, err := os.Stat(like)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid == 0 {
		return nil
	}
	return filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(name, int(owner.Uid), int(owner.Gid)))
	})
}

// writeFile writes one picture and checks it.
func (in *IncomingPack) writeFile(e *unzip.Entry, inspect InspectPicture, limits Limits) (size int64, err error) {
	dst, err := in.root.OpenFile(filepath.FromSlash(e.Path), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, fmt.Errorf("emoji folder: %w", err)
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	if size, err = unzip.Copy(dst, e, limits.FileBytes); err != nil {
		return 0, err
	}
	return size, checkPicture(e.Name, dst, size, inspect, limits)
}

// checkPicture refuses a file that is not exactly the picture that its name claims.
func checkPicture(name string, file io.ReaderAt, size int64, inspect InspectPicture, limits Limits) error {
	mime, dimensions, end, err := inspect(file, size)
	claimed := imageTypes[strings.ToLower(path.Ext(name))]
	if claimed == "image/apng" {
		claimed = "image/png"
	}
	switch {
	case err != nil:
		return unzip.Refuse(name, "%v", err)
	case mime != claimed:
		return unzip.Refuse(name, "the content is %s, but the name says %s", mime, claimed)
	case dimensions.X > limits.Side || dimensions.Y > limits.Side:
		return unzip.Refuse(name, "the picture is %d × %d pixels large, more than %d", dimensions.X, dimensions.Y, limits.Side)
	}
	return checkTrailing(name, file, end, size)
}

// checkTrailing refuses data behind a picture: the file may be of another kind, too. Padding with zeros is accepted.
func checkTrailing(name string, file io.ReaderAt, end, size int64) error {
	if size-end <= maxTrailing {
		return nil
	}
	rest := make([]byte, size-end)
	if _, err := file.ReadAt(rest, end); err != nil {
		return fmt.Errorf("read %q: %w", name, err)
	}
	if len(bytes.Trim(rest, "\x00")) > 0 {
		return unzip.Refuse(name, "%d bytes of other data follow the picture", size-end)
	}
	return nil
}

// validPath returns whether a name can be that of a file in a pack.
func validPath(name string) bool {
	return unzip.RefuseName(name) == "" && !strings.HasSuffix(name, "/") && !strings.Contains("/"+name, "/.") && !strings.Contains(name, ":")
}

// isSVG returns whether a file is an SVG picture by its name.
func isSVG(name string) bool {
	extension := strings.ToLower(path.Ext(name))
	return extension == ".svg" || extension == ".svgz"
}

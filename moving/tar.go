package moving

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"svc/internal/disk"
	"svc/internal/errs"
	"svc/internal/unzip"
)

const (
	indexName       = "index.json" // written last: without it, the archive is unpacked again
	maxIndexBytes   = 64 << 20
	gzipRatio       = 200     // of the whole archive: JSON of similar posts is compressed well
	gzipFreeBytes   = 8 << 20 // may expand more
	checkEvery      = 256     // files between two looks at the context
	unpackedFolders = 0o700
)

// unpackedFile is a file of a tar archive, which is stored under a number.
type unpackedFile struct {
	Name   string `json:"name"`
	Number int    `json:"number"`
	Size   int64  `json:"size"`
}

// openTar opens a tar.gz, which is unpacked into a folder because it cannot be read at any place. The files have numbers there, so that no name can do harm.
func openTar(ctx context.Context, packed *os.File, work string, l unzip.LargeLimits, reserve Reserve) (*Archive, error) {
	index, err := readIndex(work)
	if errors.Is(err, fs.ErrNotExist) {
		if index, err = unpack(ctx, packed, work, l, reserve); err != nil {
			return nil, errors.Join(err, disk.RemoveAll(work))
		}
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(work)
	if err != nil {
		return nil, err
	}
	files := make(map[string]file, len(index))
	for _, f := range index {
		number := strconv.Itoa(f.Number)
		files[f.Name] = file{f.Size, func() (io.ReadCloser, error) { return root.Open(number) }}
	}
	return newArchive(files, root), nil
}

func readIndex(work string) (index []unpackedFile, err error) {
	f, err := os.Open(filepath.Join(work, indexName))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return index, json.NewDecoder(io.LimitReader(f, maxIndexBytes)).Decode(&index)
}

// unpack unpacks a tar.gz into a new folder.
func unpack(ctx context.Context, packed *os.File, work string, l unzip.LargeLimits, reserve Reserve) ([]unpackedFile, error) {
	info, err := packed.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > l.Bytes {
		return nil, tooLarge(l)
	}
	if err := disk.RemoveAll(work); err != nil {
		return nil, err
	}
	if err := disk.MkdirAll(work, unpackedFolders); err != nil {
		return nil, err
	}
	unzipped, err := gzip.NewReader(packed)
	if err != nil {
		return nil, errs.Invalid("The archive is damaged: %v", err)
	}
	u := unpacker{work: work, limits: l, reserve: reserve, left: min(l.Bytes, gzipFreeBytes+gzipRatio*info.Size()), names: make(map[string]bool)}
	if err := u.run(ctx, tar.NewReader(unzipped)); err != nil {
		return nil, err
	}
	err = disk.Replace(filepath.Join(work, indexName), 0o600, func(w io.Writer) error { return json.NewEncoder(w).Encode(u.index) })
	return u.index, err
}

// unpacker unpacks one archive.
type unpacker struct {
	work    string
	limits  unzip.LargeLimits
	reserve Reserve
	left    int64 // bytes that may still be unpacked
	names   map[string]bool
	index   []unpackedFile
}

func (u *unpacker) run(ctx context.Context, t *tar.Reader) error {
	for n := 0; ; n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errs.Invalid("The archive is damaged: %v", err)
		}
		if n >= u.limits.Entries || h.Size > u.left {
			return tooLarge(u.limits)
		}
		name, err := u.check(h)
		if err != nil {
			return err
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		if err := u.reserve(ctx, h.Size); err != nil {
			return err
		}
		if err := u.add(name, t, h.Size); err != nil {
			return err
		}
	}
}

// check returns the name of an entry without a leading "./", which some programs write.
func (u *unpacker) check(h *tar.Header) (string, error) {
	name := h.Name
	for len(name) > 2 && name[:2] == "./" {
		name = name[2:]
	}
	switch h.Typeflag {
	case tar.TypeDir:
		if name == "." || name == "./" {
			return name, nil
		}
	case tar.TypeReg:
		if u.names[name] {
			return "", unzip.Refuse(h.Name, "two entries have this name")
		}
		u.names[name] = true
	default:
		return "", unzip.Refuse(h.Name, "links and devices are not accepted")
	}
	if reason := unzip.RefuseDeepName(name, u.limits.Depth); reason != "" {
		return "", unzip.Refuse(h.Name, "%s", reason)
	}
	return name, nil
}

// add unpacks a file.
func (u *unpacker) add(name string, content io.Reader, size int64) (err error) {
	number := len(u.index)
	out, err := disk.Create(filepath.Join(u.work, strconv.Itoa(number)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	source := &unzip.Source{Reader: io.LimitReader(content, size)}
	n, err := io.Copy(out, source)
	if source.Err != nil {
		return errs.Invalid("The archive is damaged: %v", source.Err)
	}
	if err != nil {
		return err
	}
	u.left -= n
	u.index = append(u.index, unpackedFile{name, number, n})
	return nil
}

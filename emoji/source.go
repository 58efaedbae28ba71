package emoji

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"svc/internal/disk"
	"svc/internal/errs"
	"svc/internal/fetch"
	"svc/internal/unzip"
)

// Limits of downloads. An archive may come from a slow server.
const (
	maxManifest     = 4 << 20 // bytes, also of its lists of files
	downloadTimeout = 10 * time.Minute
	manifestTimeout = time.Minute
)

// Selection says which packs of a source are wanted, and under which name.
type Selection struct {
	As      string   // name of the pack; "": that of the source
	Packs   []string // of a manifest; none: all
	Replace bool     // also packs that exist
}

// checkName returns an error if no pack of a name can be installed, before anything of it is read.
func (u *Unpacker) checkName(name string, s Selection) error {
	if !validPackName(name) {
		return errs.Invalid("%q is not a valid pack name: choose another with --pack", name)
	}
	if _, err := os.Lstat(filepath.Join(u.Dir, name)); err == nil && !s.Replace {
		return errs.Conflict("A pack named %q already exists: use --force to replace it", name)
	}
	return nil
}

// Read reads the packs of a source: a folder, a zip archive or a manifest, on disk or at an https URL. It calls found for each pack that
// is checked and unpacked, and removes it afterwards if found has not installed it.
func (u *Unpacker) Read(ctx context.Context, source string, s Selection, found func(name string, in *IncomingPack) error) error {
	if isURL(source) {
		return u.readURL(ctx, source, s, found)
	}
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	if info.IsDir() {
		name := cmp.Or(s.As, packNameOf(source))
		if err := u.checkName(name, s); err != nil {
			return err
		}
		in, err := u.Folder(ctx, source)
		return finishRead(name, in, err, found)
	}
	file, err := os.Open(source)
	if err != nil {
		return err
	}
	defer file.Close()
	return u.readFile(ctx, file, source, s, found)
}

// finishRead passes a pack on and discards it.
func finishRead(name string, in *IncomingPack, err error, found func(string, *IncomingPack) error) error {
	if err != nil {
		return err
	}
	return errors.Join(found(name, in), in.Discard())
}

// readURL fetches a source into a file that has no name, so that it is gone when the process ends.
func (u *Unpacker) readURL(ctx context.Context, address string, s Selection, found func(string, *IncomingPack) error) error {
	file, err := u.download(ctx, address, "", fetch.NotPage) // a manifest is JSON
	if err != nil {
		return err
	}
	defer file.Close()
	return u.readFile(ctx, file, address, s, found)
}

// readFile reads a zip archive or a manifest. source is where it came from.
func (u *Unpacker) readFile(ctx context.Context, file *os.File, source string, s Selection, found func(string, *IncomingPack) error) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errs.Invalid("%s is neither a folder nor a file", source)
	}
	head := make([]byte, 512)
	n, err := file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	if bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(head[:n], []byte("\xef\xbb\xbf")), " \t\r\n"), []byte("{")) {
		content, err := io.ReadAll(io.NewSectionReader(file, 0, maxManifest+1))
		if err != nil {
			return err
		}
		m, err := parseManifest(content, source)
		if err != nil {
			return err
		}
		return u.readManifestPacks(ctx, m, s, found)
	}
	if len(s.Packs) > 0 {
		return errs.Invalid("%s is not a manifest", source)
	}
	name := cmp.Or(s.As, packNameOf(source))
	if err := u.checkName(name, s); err != nil {
		return err
	}
	in, err := u.Archive(ctx, file, info.Size())
	return finishRead(name, in, err, found)
}

// download fetches a file of an accepted media type into the emoji folder. If sum is not empty, it is the hexadecimal SHA-256 that the content must
// have.
func (u *Unpacker) download(ctx context.Context, address, sum string, accepts func(mediaType string) bool) (_ *os.File, err error) {
	if u.Fetch == nil {
		return nil, errors.New("nothing can be fetched here")
	}
	resp, err := u.Fetch.Open(ctx, address, fetch.Limits{MaxBody: u.Limits.ArchiveBytes, Timeout: downloadTimeout, MaxRedirects: 5, Accepts: accepts})
	if err != nil {
		return nil, fetchError(address, err)
	}
	defer resp.Body.Close()
	file, err := disk.Unnamed(u.Dir)
	if err != nil {
		return nil, fmt.Errorf("emoji folder: %w", err)
	}
	defer func() {
		if err != nil {
			file.Close()
		}
	}()
	hash := sha256.New()
	body := &unzip.Source{Reader: resp.Body}
	_, err = io.Copy(io.MultiWriter(file, hash, &downloadProgress{u: u, total: contentLength(resp)}), body)
	switch {
	case body.Err != nil:
		return nil, fetchError(address, body.Err)
	case err != nil:
		return nil, fmt.Errorf("emoji folder: %w", err)
	}
	if got := hex.EncodeToString(hash.Sum(nil)); sum != "" && !strings.EqualFold(got, strings.TrimSpace(sum)) {
		return nil, errs.Invalid("the SHA-256 of %s is %s, not %s: the file was changed or is incomplete", address, got, strings.ToLower(sum))
	}
	return file, nil
}

// fetchError says what the operator can do about a request that failed.
func fetchError(address string, err error) error {
	switch {
	case errors.Is(err, fetch.ErrTooLarge):
		return errs.Invalid("%s is too large for a pack", address)
	case errors.Is(err, fetch.ErrRefused):
		return fmt.Errorf("%w (only https URLs on public addresses are fetched)", err)
	}
	return err
}

func contentLength(resp *http.Response) int64 {
	return max(resp.ContentLength, 0)
}

// downloadProgress reports how much has arrived.
type downloadProgress struct {
	u           *Unpacker
	done, total int64
}

func (p *downloadProgress) Write(b []byte) (int, error) {
	p.done += int64(len(b))
	p.u.report("download", p.done, max(p.total, p.done))
	return len(b), nil
}

// isURL returns whether a source is to be fetched.
func isURL(source string) bool {
	return strings.HasPrefix(source, "https://") || strings.HasPrefix(source, "http://")
}

// packNameOf returns the name that a source gives to its pack.
func packNameOf(source string) string {
	if isURL(source) {
		u, err := url.Parse(source)
		if err != nil {
			return ""
		}
		source = path.Base(u.Path)
	} else if absolute, err := filepath.Abs(source); err == nil {
		source = filepath.Base(absolute)
	}
	if extension := path.Ext(source); strings.EqualFold(extension, ".zip") {
		source = strings.TrimSuffix(source, extension)
	}
	return source
}

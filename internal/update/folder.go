// Package update replaces the program by a newer release: it fetches and verifies the release, tries the new binary, swaps the two, restarts
// the service, and takes everything back if the new version does not work.
//
// The binary is replaced by renaming, so that at any time one of the two is in place, whole. No file but release.json and its signature is read
// before the signature is verified, and the new binary is not run before its sum is. Operations on the data are commands of the two binaries, which
// run as the owner of the data.
//
// Limits: 1 MiB for release.json, 200 MiB for a binary, 15 minutes to download it.
package update

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"svc/internal/disk"
	"svc/internal/fetch"
	"svc/internal/release"
)

const (
	maxBinary    = 200 << 20
	textTimeout  = 30 * time.Second
	fetchTimeout = 15 * time.Minute
	maxRequests  = 2
)

// ErrOff is returned if no folder or no key is known.
var ErrOff = errors.New("updates are off: set updates.url and updates.public_key in the settings file")

// Folder is the folder of a release, on this machine or on a web server.
type Folder struct {
	dir    string // "": it is on a web server
	base   *url.URL
	client *fetch.Client
}

// Open returns the folder at an address or a path. Requests carry no headers that identify the server. Private addresses are
// requested only if the address itself is one.
func Open(address string) (*Folder, error) {
	u, err := url.Parse(address)
	switch {
	case address == "":
		return nil, ErrOff
	case err != nil:
		return nil, fmt.Errorf("updates.url: %w", err)
	case u.Scheme == "" || u.Scheme == "file":
		return &Folder{dir: filepath.FromSlash(u.Path)}, nil
	}
	o := fetch.Options{MaxRequests: maxRequests}
	if isPrivate(u.Hostname()) {
		o.Service = u
	}
	return &Folder{base: u, client: fetch.New(o)}, nil
}

// isPrivate returns true for a host by whose name or address the operator means a machine of their own network.
func isPrivate(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && (ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast())
}

// Manifest returns the description of the release after its signature was verified by the key.
func (f *Folder) Manifest(ctx context.Context, key string) (*release.Manifest, error) {
	if strings.TrimSpace(key) == "" {
		return nil, ErrOff
	}
	text, err := f.read(ctx, release.ManifestName, release.MaxManifest)
	if err != nil {
		return nil, err
	}
	signature, err := f.read(ctx, release.ManifestName+release.SignatureSuffix, release.MaxSignature)
	if err != nil {
		return nil, err
	}
	return release.Open(key, text, signature)
}

func (f *Folder) read(ctx context.Context, name string, limit int64) ([]byte, error) {
	r, err := f.open(ctx, name, limit, textTimeout)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return text, err
}

// open opens a file of the folder that has at most limit bytes.
func (f *Folder) open(ctx context.Context, name string, limit int64, timeout time.Duration) (io.ReadCloser, error) {
	if f.dir == "" {
		resp, err := f.client.Open(ctx, f.base.JoinPath(name).String(), fetch.Limits{MaxBody: limit, Timeout: timeout})
		if err != nil {
			return nil, err
		}
		return resp.Body, nil
	}
	path := filepath.Join(f.dir, name)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("%s is no file of at most %d bytes", path, limit)
	}
	return os.Open(path)
}

// Download writes a file of the release to a new file and waits until that is on disk. A file whose size or sum is another is removed.
func (f *Folder) Download(ctx context.Context, file *release.File, path string) (err error) {
	if file.Size > maxBinary {
		return fmt.Errorf("%s has %d bytes, the limit is %d", file.Name, file.Size, maxBinary)
	}
	r, err := f.open(ctx, file.Name, file.Size, fetchTimeout)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := disk.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, w.Close()); err != nil {
			disk.Remove(path)
		}
	}()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(r, file.Size+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", file.Name, err)
	case n != file.Size:
		return fmt.Errorf("%s has %d bytes, the release says %d", file.Name, n, file.Size)
	case hex.EncodeToString(sum.Sum(nil)) != file.SHA256:
		return fmt.Errorf("%s is damaged: its SHA-256 is not that of the release", file.Name)
	}
	return w.Sync()
}

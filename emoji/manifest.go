package emoji

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"svc/internal/errs"
	"svc/internal/fetch"
)

// maxManifestPacks bounds the packs of a manifest.
const maxManifestPacks = 1000

// ManifestPack is a pack that a manifest offers.
type ManifestPack struct {
	Name        string `json:"name"`
	License     string `json:"license"`
	Homepage    string `json:"homepage"`
	Description string `json:"description"`
	Source      string `json:"src"`        // URL of a zip archive
	SourceHash  string `json:"src_sha256"` // of the archive
	Files       string `json:"files"`      // name of a file beside the manifest: paths in the archive by shortcode
}

// manifest is an index of packs: an object of packs by name.
type manifest struct {
	source string // URL or path
	packs  map[string]*ManifestPack
}

// parseManifest reads a manifest that came from source.
func parseManifest(content []byte, source string) (*manifest, error) {
	if len(content) > maxManifest {
		return nil, errs.Invalid("%s: the manifest is larger than %d bytes", source, maxManifest)
	}
	m := &manifest{source: source}
	if err := json.Unmarshal(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf")), &m.packs); err != nil {
		return nil, errs.Invalid("%s: not a manifest of packs: %v", source, err)
	}
	if len(m.packs) > maxManifestPacks {
		return nil, errs.Invalid("%s: the manifest has %d packs, more than %d", source, len(m.packs), maxManifestPacks)
	}
	for name, pack := range m.packs {
		if pack == nil || pack.Source == "" {
			return nil, errs.Invalid("%s: %q has no src, so this is not a manifest of packs", source, name)
		}
		pack.Name = name
	}
	return m, nil
}

// Manifest returns the packs that a manifest at a path or https URL offers, in order of name.
func (u *Unpacker) Manifest(ctx context.Context, source string) ([]*ManifestPack, error) {
	content, err := u.readSmall(ctx, source)
	if err != nil {
		return nil, err
	}
	m, err := parseManifest(content, source)
	if err != nil {
		return nil, err
	}
	list := slices.Collect(maps.Values(m.packs))
	slices.SortFunc(list, func(a, b *ManifestPack) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// readManifestPacks fetches packs of a manifest.
func (u *Unpacker) readManifestPacks(ctx context.Context, m *manifest, s Selection, found func(string, *IncomingPack) error) error {
	names := s.Packs
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(m.packs))
	}
	if s.As != "" && len(names) != 1 {
		return errs.Invalid("%s has %d packs, which cannot all be named %q", m.source, len(names), s.As)
	}
	for _, name := range names {
		if m.packs[name] == nil {
			return errs.NotFound("No pack named %q found in %s", name, m.source)
		}
		if err := u.checkName(cmp.Or(s.As, name), s); err != nil {
			return err
		}
	}
	for _, name := range names {
		in, err := u.readManifestPack(ctx, m, m.packs[name])
		if err := finishRead(cmp.Or(s.As, name), in, err, found); err != nil {
			return err
		}
	}
	return nil
}

// readManifestPack fetches, verifies and unpacks a pack of a manifest.
func (u *Unpacker) readManifestPack(ctx context.Context, m *manifest, pack *ManifestPack) (*IncomingPack, error) {
	if pack.SourceHash == "" {
		return nil, errs.Invalid("%s: %q has no src_sha256 to verify its archive", m.source, pack.Name)
	}
	var files map[string]string
	if pack.Files != "" {
		beside, err := m.beside(pack.Files)
		if err != nil {
			return nil, err
		}
		content, err := u.readSmall(ctx, beside)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(content, &files); err != nil || files == nil {
			return nil, errs.Invalid("%s: not a list of files by shortcode", beside)
		}
	}
	archive, err := u.download(ctx, pack.Source, pack.SourceHash, fetch.NotDocument)
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	info, err := archive.Stat()
	if err != nil {
		return nil, err
	}
	in, err := u.ArchiveFiles(ctx, archive, info.Size(), files)
	if err != nil {
		return nil, err
	}
	in.describe(pack)
	return in, nil
}

// beside returns the address of a file beside the manifest.
func (m *manifest) beside(name string) (string, error) {
	if isURL(m.source) {
		base, err := url.Parse(m.source)
		if err != nil {
			return "", errs.Invalid("%s: %v", m.source, err)
		}
		u, err := base.Parse(name)
		if err != nil {
			return "", errs.Invalid("%s: %q is not a file beside it", m.source, name)
		}
		return u.String(), nil
	}
	if !filepath.IsLocal(name) {
		return "", errs.Invalid("%s: %q is not a file beside it", m.source, name)
	}
	return filepath.Join(filepath.Dir(m.source), name), nil
}

// readSmall returns the content of a path or URL.
func (u *Unpacker) readSmall(ctx context.Context, source string) ([]byte, error) {
	if isURL(source) {
		if u.Fetch == nil {
			return nil, errs.Invalid("nothing can be fetched here")
		}
		resp, err := u.Fetch.Get(ctx, source, fetch.Limits{MaxBody: maxManifest, Timeout: manifestTimeout, MaxRedirects: 5, Accepts: fetch.NotPage})
		if err != nil {
			return nil, fetchError(source, err)
		}
		return resp.Body, nil
	}
	f, err := os.Open(source)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err == nil && len(content) > maxManifest {
		err = errs.Invalid("%s is larger than %d bytes", source, maxManifest)
	}
	return content, err
}

// describe takes over what the manifest says about the pack. Other servers may fetch the pack from where it came.
func (in *IncomingPack) describe(pack *ManifestPack) {
	if in.Metadata == nil {
		in.Metadata = make(map[string]json.RawMessage)
	}
	for key, value := range map[string]string{
		"license": pack.License, "homepage": pack.Homepage, "description": pack.Description,
		"fallback-src": pack.Source, "fallback-src-sha256": strings.ToUpper(pack.SourceHash),
	} {
		if value != "" {
			in.Metadata[key], _ = json.Marshal(value) // cannot fail
		}
	}
	in.Metadata["share-files"] = json.RawMessage("true")
}

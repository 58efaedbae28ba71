package emoji

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/internal/disk"
	"svc/internal/text"
)

// Limits of packs.
const (
	maxPackFile = 4 << 20 // bytes of a pack.json
	maxEntries  = 5000    // emoji of a pack
	maxPacks    = 1000
	maxPackName = 100 // bytes
)

// packFile is the name of the file that makes a folder a pack.
const packFile = "pack.json"

// Pack is a pack as it was when its pack.json was read or written. It is never changed.
type Pack struct {
	Name     string
	Files    map[string]string // names below the folder of the pack, such as "cats/blob.png", by shortcode
	Metadata Metadata
	Loose    bool // a folder without a pack.json

	tags    map[string][]string        // of a Loose one, by shortcode
	invalid map[string]string          // entries of the pack.json that are ignored, but kept in it
	other   map[string]json.RawMessage // further members of the pack.json
	err     error                      // why the pack.json cannot be used
	shared  sharedArchive
}

// Shortcodes returns the shortcodes of a pack in order.
func (p *Pack) Shortcodes() []string { return slices.Sorted(maps.Keys(p.Files)) }

// with returns a copy of a pack with other files.
func (p *Pack) with(files map[string]string) *Pack {
	return &Pack{Name: p.Name, Files: files, Metadata: p.Metadata, invalid: p.invalid, other: p.other}
}

// readPack reads the pack.json of a folder.
func readPack(root *disk.Root, name string) *Pack {
	pack := &Pack{Name: name, Files: make(map[string]string), Metadata: make(Metadata)}
	f, err := root.Open(path.Join(name, packFile))
	if errors.Is(err, fs.ErrNotExist) {
		pack.Loose = true
		return pack
	}
	if err == nil {
		var content []byte
		content, err = io.ReadAll(io.LimitReader(f, maxPackFile+1))
		f.Close()
		if err == nil {
			err = pack.decode(content)
		}
	}
	if err != nil {
		return &Pack{Name: name, err: fmt.Errorf("pack.json: %w", err)}
	}
	return pack
}

// decode fills the pack from its pack.json. Entries with an invalid shortcode or file name are not used.
func (p *Pack) decode(content []byte) error {
	if len(content) > maxPackFile {
		return fmt.Errorf("more than %d bytes", maxPackFile)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf")), &members); err != nil {
		return err
	}
	if members == nil {
		return errors.New("no object")
	}
	if raw, ok := members["files"]; ok {
		if err := json.Unmarshal(raw, &p.Files); err != nil || p.Files == nil {
			return errors.New("files is no object of texts")
		}
	}
	if raw, ok := members["pack"]; ok {
		if err := json.Unmarshal(raw, &p.Metadata); err != nil || p.Metadata == nil {
			return errors.New("pack is no object")
		}
	}
	if len(p.Files) > maxEntries {
		return fmt.Errorf("%d emoji, more than %d", len(p.Files), maxEntries)
	}
	for code, file := range p.Files {
		if !text.ValidShortcode(code) || !validFile(file) {
			if p.invalid == nil {
				p.invalid = make(map[string]string)
			}
			p.invalid[code] = file
			delete(p.Files, code)
		}
	}
	p.Metadata = p.Metadata.stored()
	for _, key := range []string{"files", "files_count", "pack"} {
		delete(members, key)
	}
	p.other = members
	return nil
}

// encode returns the pack.json.
func (p *Pack) encode() ([]byte, error) {
	files := make(map[string]string, len(p.Files)+len(p.invalid))
	maps.Copy(files, p.invalid)
	maps.Copy(files, p.Files)
	members := make(map[string]any, len(p.other)+3)
	for key, raw := range p.other {
		members[key] = raw
	}
	members["files"], members["files_count"], members["pack"] = files, len(files), p.Metadata
	if p.Metadata == nil {
		members["pack"] = Metadata{}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(members); err != nil {
		return nil, fmt.Errorf("pack.json: %w", err)
	}
	return b.Bytes(), nil
}

// validPackName returns whether a name can be that of a pack: one path segment that is not hidden, on any system.
func validPackName(name string) bool {
	return len(name) <= maxPackName && validPath(name) && !strings.Contains(name, "/") && strings.TrimSpace(name) == name
}

// validFile returns whether a name can be that of a picture in a pack. It may contain folders.
func validFile(name string) bool {
	return validPath(name) && imageTypes[strings.ToLower(path.Ext(name))] != ""
}

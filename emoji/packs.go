// Package emoji knows the Unicode emoji and the custom emoji of this server: packs of pictures in directories, each with a pack.json. A
// shortcode is unique across all packs: the first pack in order of name has it.
//
// Limits: 5000 emoji per pack, 4 MiB of pack.json.
package emoji

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"svc/internal/text"
)

// Limits of a pack.
const (
	maxPackFile = 4 << 20 // bytes
	maxEntries  = 5000    // emoji
)

// Emoji is one custom emoji.
type Emoji struct {
	Shortcode string
	Pack      string
	Path      string   // of the picture: /emoji/PACK/FILE
	Tags      []string // groups; at least "pack:PACK"
}

// Packs are the custom emoji of the server. It is safe for concurrent use.
type Packs struct {
	dir     string
	inspect InspectPicture
	log     *slog.Logger
	current atomic.Pointer[table]

	addMu sync.Mutex
}

type table struct {
	all    []Emoji // in order of shortcode
	byCode map[string]*Emoji
}

// Open reads the packs in dir, which it creates if necessary, and removes what an interrupted process left there. inspect checks the
// pictures of new packs.
func Open(dir string, inspect InspectPicture, log *slog.Logger) (*Packs, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("emoji folder: %w", err)
	}
	if err := cleanUp(dir); err != nil {
		return nil, err
	}
	p := &Packs{dir: dir, inspect: inspect, log: log}
	return p, p.Reload()
}

// Reload reads all packs again. It logs and skips a pack that cannot be read.
func (p *Packs) Reload() error {
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return fmt.Errorf("emoji folder: %w", err)
	}
	defer root.Close()
	folders, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return fmt.Errorf("emoji folder: %w", err)
	}
	t := &table{byCode: make(map[string]*Emoji)}
	for _, f := range folders {
		if !f.IsDir() || !validName(f.Name()) {
			continue
		}
		files, err := readPack(root, f.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			p.log.Warn("emoji pack skipped", "pack", f.Name(), "err", err)
			continue
		}
		t.add(f.Name(), files)
	}
	for _, e := range t.byCode {
		t.all = append(t.all, *e)
	}
	slices.SortFunc(t.all, func(a, b Emoji) int { return strings.Compare(a.Shortcode, b.Shortcode) })
	p.current.Store(t)
	return nil
}

func (t *table) add(pack string, files map[string]string) {
	for code, file := range files {
		if !text.ValidShortcode(code) || !validName(file) || t.byCode[code] != nil {
			continue
		}
		t.byCode[code] = &Emoji{
			Shortcode: code,
			Pack:      pack,
			Path:      "/emoji/" + url.PathEscape(pack) + "/" + url.PathEscape(file),
			Tags:      []string{"pack:" + pack},
		}
	}
}

// readPack returns the file names of a pack by shortcode.
func readPack(root *os.Root, pack string) (map[string]string, error) {
	f, err := root.Open(filepath.Join(pack, "pack.json"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var doc struct {
		Files map[string]string `json:"files"`
	}
	if err := json.NewDecoder(io.LimitReader(f, maxPackFile)).Decode(&doc); err != nil {
		return nil, fmt.Errorf("pack.json: %w", err)
	}
	if len(doc.Files) > maxEntries {
		return nil, fmt.Errorf("pack.json has %d emoji, more than %d", len(doc.Files), maxEntries)
	}
	return doc.Files, nil
}

// validName returns whether the name of a pack or file is a single path segment that does not begin with a dot.
func validName(name string) bool {
	return name != "" && len(name) <= 255 && name[0] != '.' && !strings.ContainsAny(name, "/\\\x00")
}

// All returns the emoji in order of shortcode. Callers must not change the slice.
func (p *Packs) All() []Emoji { return p.current.Load().all }

// Find returns the emoji with a shortcode, nil if there is none.
func (p *Packs) Find(shortcode string) *Emoji { return p.current.Load().byCode[shortcode] }

// In returns the emoji that texts contain as :shortcode:, each once, in order of appearance.
func (p *Packs) In(texts ...string) []Emoji {
	t := p.current.Load()
	if len(t.byCode) == 0 {
		return nil
	}
	var found []Emoji
	for _, s := range texts {
		for {
			from := strings.IndexByte(s, ':')
			if from < 0 {
				break
			}
			to := strings.IndexByte(s[from+1:], ':')
			if to < 0 {
				break
			}
			code := s[from+1 : from+1+to]
			e := t.byCode[code]
			if e == nil {
				s = s[from+1:]
				continue
			}
			s = s[from+to+2:]
			if !slices.ContainsFunc(found, func(f Emoji) bool { return f.Shortcode == code }) {
				found = append(found, *e)
			}
		}
	}
	return found
}

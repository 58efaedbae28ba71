// Package emoji knows the Unicode emoji and the custom emoji of this server: packs of pictures, each a folder with a pack.json.
//
// A shortcode is unique on the server: the first pack in order of name has it, then folders without a pack.json in order of name, then
// files that are in no folder. A pack that lists a shortcode that another one has keeps its file; Hidden names them.
//
// A change is written so that a crash leaves each pack as it was before or after: pictures first, then the pack.json that lists them,
// which is replaced as a whole. Only one process may open a folder.
//
// Limits: 5000 emoji and 64 MiB per pack, 1000 packs, 4 MiB of pack.json, 256 KiB and 2048 × 2048 pixels per added picture.
package emoji

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"svc/internal/config"
	"svc/internal/disk"
	"svc/internal/errs"
	"svc/store"
)

// Packs are the custom emoji of the server. It is safe for concurrent use.
type Packs struct {
	Options
	dir     string
	current atomic.Pointer[table]

	subscribers []func()

	writing  sync.Mutex // held to change files or to read them again
	building sync.Mutex // held to build an archive
}

// Options are the dependencies of Packs.
type Options struct {
	Inspect  InspectPicture // checks the pictures of new emoji
	Settings *config.Live   // for folders without a pack.json
	Archives string         // folder of the archives of shared packs
	Log      *slog.Logger

	// Reserve makes room on the disk for n bytes, or returns an error for clients. done says whether they were used. nil: there is no limit.
	Reserve func(ctx context.Context, n int64) (done func(kept bool), err error)

	Bans *store.DB // has the files that staff have banned; nil: none
}

var errBanned = errs.Invalid("This file is banned on this server")

// CheckAddress returns an error if the file at an address is banned.
func (o *Options) CheckAddress(ctx context.Context, address string) error {
	if o.Bans == nil {
		return nil
	}
	banned, err := o.Bans.MediaBanned(ctx, address)
	if err == nil && banned {
		err = errBanned
	}
	return err
}

// inspectAllowed is Inspect for content that is not banned.
func (o *Options) inspectAllowed(file io.ReaderAt, size int64) (mime string, dimensions image.Point, end int64, err error) {
	if err := o.checkContent(io.NewSectionReader(file, 0, size)); err != nil {
		return "", image.Point{}, 0, err
	}
	return o.Inspect(file, size)
}

// checkContent returns an error if content is banned.
func (o *Options) checkContent(content io.Reader) error {
	sum := sha256.New()
	if _, err := io.Copy(sum, content); err != nil {
		return err
	}
	banned, err := o.Bans.ContentBanned(context.Background(), []string{hex.EncodeToString(sum.Sum(nil))})
	if err == nil && banned {
		err = errBanned
	}
	return err
}

// Open reads the packs in dir, which it creates if necessary, and finishes or removes what an interrupted process left there.
func Open(dir string, o Options) (*Packs, error) {
	if err := disk.MakeFolder(dir); err != nil {
		return nil, fmt.Errorf("emoji folder: %w", err)
	}
	if err := cleanUp(dir); err != nil {
		return nil, err
	}
	if err := disk.MakeFolder(o.Archives); err != nil {
		return nil, fmt.Errorf("archives of emoji packs: %w", err)
	}
	p := &Packs{Options: o, dir: dir}
	if o.Bans != nil {
		p.Inspect = o.inspectAllowed
	}
	return p, p.Reload()
}

// Reload reads all packs again. It logs and skips a pack that cannot be read.
func (p *Packs) Reload() error {
	p.writing.Lock()
	defer p.writing.Unlock()
	return p.reload()
}

func (p *Packs) reload() error {
	root, err := disk.OpenRoot(p.dir)
	if err != nil {
		return fmt.Errorf("emoji folder: %w", err)
	}
	defer root.Close()
	folders, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return fmt.Errorf("emoji folder: %w", err)
	}
	rules := newLooseRules(p.Settings.Load().Emoji)
	packs := []*Pack{rules.readFolder(root, "")}
	for _, f := range folders {
		if !f.IsDir() || !validPackName(f.Name()) {
			continue
		}
		if len(packs) > maxPacks {
			p.Log.Warn("emoji packs skipped", "more than", maxPacks, "first", f.Name())
			break
		}
		pack := rules.readFolder(root, f.Name())
		if pack.err != nil {
			p.Log.Warn("emoji pack skipped", "pack", pack.Name, "err", pack.err)
		}
		if len(pack.invalid) > 0 {
			p.Log.Warn("emoji skipped: invalid shortcodes or file names", "pack", pack.Name, "count", len(pack.invalid))
		}
		packs = append(packs, pack)
	}
	p.store(newTable(packs))
	if err := p.pruneArchives(packs); err != nil {
		p.Log.Warn("archives of emoji packs could not be removed", "err", err)
	}
	for _, pack := range packs {
		if hidden := p.Hidden(pack); len(hidden) > 0 {
			p.Log.Info("emoji of a pack are hidden, because packs before it have their shortcodes", "pack", pack.Name, "count", len(hidden))
		}
	}
	return nil
}

// replace replaces one pack in the table, or removes it if pack is nil.
func (p *Packs) replace(name string, pack *Pack) {
	if pack == nil || !pack.Metadata.ShareFiles() {
		p.removeArchives(name)
	}
	packs := slices.Clone(p.current.Load().packs)
	i, found := slices.BinarySearchFunc(packs, name, comparePack)
	switch {
	case found && pack == nil:
		packs = slices.Delete(packs, i, i+1)
	case found:
		packs[i] = pack
	case pack != nil:
		packs = slices.Insert(packs, i, pack)
	}
	p.store(newTable(packs))
}

// store replaces the table and tells the subscribers.
func (p *Packs) store(t *table) {
	p.current.Store(t)
	for _, fn := range p.subscribers {
		fn()
	}
}

// Subscribe calls fn after each change of the packs, before the change is answered. Call it before the packs are used.
func (p *Packs) Subscribe(fn func()) { p.subscribers = append(p.subscribers, fn) }

func comparePack(p *Pack, name string) int { return strings.Compare(p.Name, name) }

// List returns the packs in order of name, without folders that have no pack.json.
func (p *Packs) List() []*Pack {
	var list []*Pack
	for _, pack := range p.current.Load().packs {
		if pack.err == nil && !pack.Loose {
			list = append(list, pack)
		}
	}
	return list
}

// Pack returns a pack. The error is a 404 if there is none with a pack.json.
func (p *Packs) Pack(name string) (*Pack, error) {
	pack := p.current.Load().pack(name)
	switch {
	case pack == nil || pack.Loose:
		return nil, errs.NotFound("Pack %s does not exist", name)
	case pack.err != nil:
		return nil, fileError(fmt.Sprintf("Failed to get the contents of the `%s` pack.", name), pack.err)
	}
	return pack, nil
}

// Hidden returns the shortcodes of a pack that other packs have, with the names of those.
func (p *Packs) Hidden(pack *Pack) map[string]string {
	var hidden map[string]string
	t := p.current.Load()
	for code := range pack.Files {
		if e := t.byCode[code]; e != nil && e.Pack != pack.Name {
			if hidden == nil {
				hidden = make(map[string]string)
			}
			hidden[code] = e.Pack
		}
	}
	return hidden
}

// All returns the emoji in order of shortcode. Callers must not change the slice.
func (p *Packs) All() []Emoji { return p.current.Load().all }

// Has returns whether there is an emoji with a shortcode.
func (p *Packs) Has(shortcode string) bool { return p.Find(shortcode) != nil }

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

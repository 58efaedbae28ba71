package apptest

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"svc/internal/disk"
)

// PowerCut replays a record of a disk, and makes the files that a power failure may leave: all synchronised changes, and any of the others. Of a
// file that was not synchronised, any sectors of 512 bytes may be the old or the new ones; names may be missing although the files are there, or
// the other way round. Renaming is one step.
type PowerCut struct {
	d       *RecordedDisk
	ignore  string
	next    int // entry
	root    *node
	open    map[uint64]*node
	changes []*nameChange // that are not on disk, in order
}

// node is a file or a folder.
type node struct {
	now, kept map[string]*node // of a folder: the names, and those on disk; nil for a file
	order     map[string]int   // number of the change that gave a name its meaning on disk

	content []byte        // of a file, on disk
	changes []disk.Change // that are not on disk, in order
}

// nameChange is a change of names. All of it gets on disk, or nothing.
type nameChange struct {
	number int
	sets   []nameSet
}

type nameSet struct {
	folder *node
	name   string
	to     *node // nil: the name is gone

	outside bool // of the recorded folder
}

func newFolder() *node {
	return &node{now: make(map[string]*node), kept: make(map[string]*node), order: make(map[string]int)}
}

// Replay begins a replay. Synchronisations from a place of SyncSites are ignored, as by a disk that lies; "" ignores none.
func (d *RecordedDisk) Replay(ignoredSite string) *PowerCut {
	p := &PowerCut{d: d, ignore: ignoredSite, root: newFolder(), open: make(map[uint64]*node)}
	for _, f := range d.initial {
		n := newFolder()
		if !f.Folder {
			n = &node{content: slices.Clone(f.Content)}
		}
		s := p.place(filepath.Join(d.dir, f.Path), n)
		s.folder.now[s.name], s.folder.kept[s.name] = n, n
	}
	return p
}

// Until replays the record up to a number of entries, and hands notes to noted. The number must not get smaller.
func (p *PowerCut) Until(entries int, noted func(note any)) error {
	for ; p.next < entries; p.next++ {
		e := &p.d.entries[p.next]
		if e.Note != nil {
			noted(e.Note)
			continue
		}
		if e.isSync() && e.Site == p.ignore {
			continue
		}
		if err := p.apply(&e.Change); err != nil {
			return fmt.Errorf("change %d (%s %s %s): %w", p.next, e.Change.Kind, e.Change.Path, e.Change.To, err)
		}
	}
	return nil
}

func (p *PowerCut) apply(c *disk.Change) error {
	switch c.Kind {
	case disk.Opened:
		return p.openFile(c)
	case disk.Written, disk.Truncated:
		if f := p.open[c.File]; f != nil {
			f.changes = append(f.changes, *c)
		}
		return nil
	case disk.Synced:
		n := p.open[c.File]
		if c.File == 0 {
			n = p.find(c.Path)
		}
		if n != nil {
			p.sync(n)
		}
		return nil
	case disk.AllSynced:
		p.syncAll(p.root)
		for len(p.changes) > 0 {
			p.keep(p.changes[0])
		}
		return nil
	}
	return p.changeNames(c)
}

// find returns what a path names now, nil if it is outside of the folder or there is nothing.
func (p *PowerCut) find(path string) *node {
	names, ok := p.d.under(path)
	if !ok {
		return nil
	}
	n := p.root
	for _, name := range names {
		if n == nil || n.now == nil {
			return nil
		}
		n = n.now[name]
	}
	return n
}

func (p *PowerCut) openFile(c *disk.Change) error {
	if _, ok := p.d.under(c.Path); !ok {
		return nil
	}
	f := p.find(c.Path)
	if f == nil {
		f = &node{}
		if err := p.set(p.place(c.Path, f)); err != nil {
			return err
		}
	} else if c.Flag&os.O_TRUNC != 0 {
		f.changes = append(f.changes, disk.Change{Kind: disk.Truncated})
	}
	p.open[c.File] = f
	return nil
}

// place returns that a path gets another meaning.
func (p *PowerCut) place(path string, to *node) nameSet {
	_, inside := p.d.under(path)
	return nameSet{p.find(filepath.Dir(path)), filepath.Base(path), to, !inside}
}

// set changes names.
func (p *PowerCut) set(sets ...nameSet) error {
	sets = slices.DeleteFunc(sets, func(s nameSet) bool { return s.outside })
	for _, s := range sets {
		if s.folder == nil || s.folder.now == nil {
			return fmt.Errorf("%s: %w", s.name, fs.ErrNotExist)
		}
		if s.to == nil {
			delete(s.folder.now, s.name)
		} else {
			s.folder.now[s.name] = s.to
		}
	}
	p.changes = append(p.changes, &nameChange{p.next, sets})
	return nil
}

func (p *PowerCut) changeNames(c *disk.Change) error {
	if _, ok := p.d.under(c.Path); !ok { // nothing is renamed into the folder from outside
		return nil
	}
	switch c.Kind {
	case disk.FolderMade:
		return p.makeFolder(c.Path)
	case disk.Linked:
		return p.set(p.place(c.To, p.find(c.Path)))
	case disk.Renamed:
		n := p.find(c.Path)
		if n == nil {
			return fs.ErrNotExist
		}
		return p.set(p.place(c.Path, nil), p.place(c.To, n))
	case disk.Removed:
		return p.remove(c.Path, p.find(c.Path))
	}
	return fmt.Errorf("unknown kind %q", c.Kind)
}

func (p *PowerCut) makeFolder(path string) error {
	if p.find(path) != nil {
		return nil
	}
	if err := p.makeFolder(filepath.Dir(path)); err != nil {
		return err
	}
	return p.set(p.place(path, newFolder()))
}

// remove removes a file, or a folder with all in it, one name after the other.
func (p *PowerCut) remove(path string, n *node) error {
	if n == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(n.now)) {
		if err := p.remove(filepath.Join(path, name), n.now[name]); err != nil {
			return err
		}
	}
	return p.set(p.place(path, nil))
}

// sync puts the content of a file, or the names of a folder, on disk.
func (p *PowerCut) sync(n *node) {
	if n.now == nil {
		for _, c := range n.changes {
			if c.Kind == disk.Truncated {
				n.content = resized(n.content, c.Size)
			} else {
				n.content = written(n.content, c.Offset, c.Data)
			}
		}
		n.changes = nil
		return
	}
	for i := 0; i < len(p.changes); {
		if p.changes[i].touches(n) {
			p.keep(p.changes[i])
		} else {
			i++
		}
	}
}

func (c *nameChange) touches(n *node) bool {
	for _, s := range c.sets {
		if s.folder == n {
			return true
		}
	}
	return false
}

func (p *PowerCut) syncAll(n *node) {
	if n.now == nil {
		p.sync(n)
	}
	for _, child := range n.now {
		p.syncAll(child)
	}
}

// keep puts a change of names on disk. Earlier changes of these names have no effect any more.
func (p *PowerCut) keep(c *nameChange) {
	for i, other := range p.changes {
		if other == c {
			p.changes = append(p.changes[:i:i], p.changes[i+1:]...)
			break
		}
	}
	for _, s := range c.sets {
		if c.number < s.folder.order[s.name] {
			continue
		}
		s.folder.order[s.name] = c.number
		if s.to == nil {
			delete(s.folder.kept, s.name)
		} else {
			s.folder.kept[s.name] = s.to
		}
	}
}

// resized returns a file, whose content it may change, with another size.
func resized(content []byte, size int64) []byte {
	if size <= int64(len(content)) {
		return content[:size]
	}
	return append(content, make([]byte, size-int64(len(content)))...)
}

// written returns a file, whose content it changes, after data was written at an offset.
func written(content []byte, offset int64, data []byte) []byte {
	content = resized(content, max(int64(len(content)), offset+int64(len(data))))
	copy(content[offset:], data)
	return content
}

const sector = 512 // bytes that a disk writes as a whole

// Losses: how many of the changes that are not on disk are lost.
const (
	loseNothing = iota
	loseAll
	loseSome
)

// WriteTo writes what a power failure at this moment leaves into an empty folder.
func (p *PowerCut) WriteTo(dir string, r *rand.Rand) error {
	loss := []int{loseNothing, loseAll, loseSome, loseSome, loseSome}[r.IntN(5)]
	names := make(map[*node]map[string]*node) // of folders with changes
	for _, c := range p.changes {
		if loss == loseAll || loss == loseSome && r.IntN(2) == 0 {
			continue
		}
		for _, s := range c.sets {
			if c.number < s.folder.order[s.name] {
				continue
			}
			if names[s.folder] == nil {
				names[s.folder] = make(map[string]*node)
				for name, child := range s.folder.kept {
					names[s.folder][name] = child
				}
			}
			if s.to == nil {
				delete(names[s.folder], s.name)
			} else {
				names[s.folder][s.name] = s.to
			}
		}
	}
	return p.write(dir, p.root, names, loss, r)
}

func (p *PowerCut) write(path string, n *node, changed map[*node]map[string]*node, loss int, r *rand.Rand) error {
	if n.now == nil {
		return os.WriteFile(path, n.left(loss, r), 0o600)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	list := n.kept
	if changed[n] != nil {
		list = changed[n]
	}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if strings.HasSuffix(name, "-shm") { // memory, not a file
			continue
		}
		if err := p.write(filepath.Join(path, name), list[name], changed, loss, r); err != nil {
			return err
		}
	}
	return nil
}

// left returns the content that a file has after a loss.
func (n *node) left(loss int, r *rand.Rand) []byte {
	content := slices.Clone(n.content)
	kept := func() bool { return loss == loseNothing || loss == loseSome && r.IntN(2) == 0 }
	for _, c := range n.changes {
		if c.Kind == disk.Truncated {
			if kept() {
				content = resized(content, c.Size)
			}
			continue
		}
		for from := int64(0); from < int64(len(c.Data)); {
			to := min(int64(len(c.Data)), (c.Offset+from)/sector*sector+sector-c.Offset)
			if kept() {
				content = written(content, c.Offset+from, c.Data[from:to])
			}
			from = to
		}
	}
	return content
}

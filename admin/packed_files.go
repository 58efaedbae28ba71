package admin

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"time"

	"svc/media"
)

type hash = [sha256.Size]byte

// packedFile is an upload in a backup. It has fixed sizes, because there may be hundreds of thousands.
type packedFile struct {
	named   hash // its name, which may be shorter
	digits  int8 // of the name
	content hash
	ext     string
	size    int64
	modTime int64 // Unix seconds
}

// name returns the name in the media folder.
func (f *packedFile) name() string {
	text := hex.EncodeToString(f.named[:])[:f.digits]
	return text[:2] + "/" + text + f.ext
}

// packedFiles are the uploads in a backup, as social.MediaFiles. After the last add it is sorted once.
type packedFiles struct {
	list   []packedFile
	sorted bool
	exts   map[string]string // each extension once
}

// add adds a file. It does nothing for names that uploads do not have.
func (p *packedFiles) add(name string, size int64, content []byte, modTime time.Time) {
	named, length, ok := media.NameHash(name)
	if !ok {
		return
	}
	if p.exts == nil {
		p.exts = make(map[string]string)
	}
	ext := path.Ext(name)
	if known, ok := p.exts[ext]; ok {
		ext = known
	} else {
		p.exts[ext] = ext
	}
	p.list = append(p.list, packedFile{named: named, digits: int8(2 * length), content: hash(content), ext: ext, size: size, modTime: modTime.Unix()})
	p.sorted = false
}

// addAll adds the files of another one.
func (p *packedFiles) addAll(other *packedFiles) {
	p.list = append(p.list, other.list...)
	p.sorted = false
}

func comparePacked(a, b packedFile) int {
	return cmp.Or(bytes.Compare(a.named[:], b.named[:]), cmp.Compare(a.digits, b.digits), cmp.Compare(a.ext, b.ext))
}

func (p *packedFiles) sort() {
	if !p.sorted {
		slices.SortFunc(p.list, comparePacked)
		p.sorted = true
	}
}

func (p *packedFiles) find(name string) *packedFile {
	named, length, ok := media.NameHash(name)
	if !ok {
		return nil
	}
	p.sort()
	i, found := slices.BinarySearchFunc(p.list, packedFile{named: named, digits: int8(2 * length), ext: path.Ext(name)}, comparePacked)
	if !found {
		return nil
	}
	return &p.list[i]
}

// Stat returns the entry of a file, nil if the backup does not have it.
func (p *packedFiles) Stat(_ context.Context, name string) (*media.Entry, error) {
	f := p.find(name)
	if f == nil {
		return nil, nil
	}
	return &media.Entry{Name: name, Size: f.size, ModTime: time.Unix(f.modTime, 0)}, nil
}

// WalkFolder calls fn for the files whose name begins with a byte.
func (p *packedFiles) WalkFolder(_ context.Context, folder int, fn func(media.Entry) error) error {
	p.sort()
	i, _ := slices.BinarySearchFunc(p.list, packedFile{named: hash{byte(folder)}}, comparePacked)
	for ; i < len(p.list) && p.list[i].named[0] == byte(folder); i++ {
		f := &p.list[i]
		if err := fn(media.Entry{Name: f.name(), Size: f.size, ModTime: time.Unix(f.modTime, 0)}); err != nil {
			return err
		}
	}
	return nil
}

// Intact returns whether the content of a file has a SHA-256, if that is known.
func (p *packedFiles) Intact(_ context.Context, name, want string) (bool, error) {
	f := p.find(name)
	return f == nil || want == "" || hex.EncodeToString(f.content[:]) == want, nil
}

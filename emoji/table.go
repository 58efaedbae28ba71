package emoji

import (
	"net/url"
	"slices"
	"strings"
)

// Emoji is one custom emoji.
type Emoji struct {
	Shortcode string
	Pack      string   // "": a file that is in no folder
	Path      string   // of the picture: /emoji/PACK/FILE
	Tags      []string // "pack:PACK", or the groups of a loose emoji
}

// table is all packs as they were read, and the emoji that result. It is never changed.
type table struct {
	packs  []*Pack // in order of name
	all    []Emoji // in order of shortcode
	byCode map[string]*Emoji
}

func newTable(packs []*Pack) *table {
	count := 0
	for _, pack := range packs {
		count += len(pack.Files)
	}
	t := &table{packs: packs, all: make([]Emoji, 0, count), byCode: make(map[string]*Emoji, count)}
	for _, loose := range []bool{false, true} {
		for _, pack := range packs {
			if pack.Loose == loose && pack.Name != "" {
				t.add(pack)
			}
		}
	}
	if len(packs) > 0 && packs[0].Name == "" {
		t.add(packs[0])
	}
	slices.SortFunc(t.all, func(a, b Emoji) int { return strings.Compare(a.Shortcode, b.Shortcode) })
	for i := range t.all {
		t.byCode[t.all[i].Shortcode] = &t.all[i]
	}
	return t
}

// add adds the emoji of a pack whose shortcodes are free.
func (t *table) add(pack *Pack) {
	folder := "/emoji/"
	if pack.Name != "" {
		folder += url.PathEscape(pack.Name) + "/"
	}
	tags := []string{"pack:" + pack.Name}
	for code, file := range pack.Files {
		if _, taken := t.byCode[code]; taken {
			continue
		}
		e := Emoji{Shortcode: code, Pack: pack.Name, Path: folder + escapePath(file), Tags: tags}
		if pack.Loose {
			e.Tags = pack.tags[code]
		}
		t.all = append(t.all, e)
		t.byCode[code] = nil
	}
}

// escapePath escapes the segments of a path.
func escapePath(file string) string {
	segments := strings.Split(file, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return strings.Join(segments, "/")
}

// pack returns a pack or folder, nil if there is none.
func (t *table) pack(name string) *Pack {
	i, found := slices.BinarySearchFunc(t.packs, name, comparePack)
	if !found {
		return nil
	}
	return t.packs[i]
}

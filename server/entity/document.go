package entity

import (
	"bytes"
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"strings"
)

// slot is a member of an entity that is not cached with the others, because it depends on the viewer or changes often. It encodes as {};
// newDocument replaces that by the usual value, and AppendJSON by the value of the entity.
type slot struct{}

// slotOf is what entities E have in a slot.
type slotOf[E any] struct {
	usual   string                       // JSON of the value that most entities have; "": the member is left out
	differs func(e E) bool               // returns true if the value of e is another one
	append  func(e E, dst []byte) []byte // appends the value
}

// flagSlot returns a slot that is usually false.
func flagSlot[E any](differs func(e E) bool) slotOf[E] {
	return slotOf[E]{"false", differs, func(_ E, dst []byte) []byte { return append(dst, "true"...) }}
}

func always[E any](E) bool { return true }

// slotTable has the slots of the entity E, in the order of its members.
type slotTable[E any] []placedSlot[E]

type placedSlot[E any] struct {
	path string // of the member, as in quote_approval.current_user
	key  string // "current_user":
	slotOf[E]
}

// slotSet is a set of slots of a table: the bit of a slot is its index.
type slotSet uint64

const maxSlots = 64

// newSlots returns the slots of an entity, whose members are in the structs base and extension. rows has the slots by path; paths in the
// extension begin with "svc.". It panics unless there is one row for each member of type slot, because a member without a row stays {}.
func newSlots[E any](base, extension any, rows map[string]slotOf[E]) slotTable[E] {
	var list slotTable[E]
	paths := append(slotPaths("", reflect.TypeOf(base)), slotPaths("svc.", reflect.TypeOf(extension))...)
	for i, path := range paths {
		row, ok := rows[path]
		switch {
		case !ok:
			panic("entity: no row for the slot " + path)
		case slices.Contains(paths[:i], path):
			panic("entity: two members for the slot " + path)
		case i == maxSlots:
			panic("entity: too many slots, from " + path)
		}
		key := `"` + path[strings.LastIndexByte(path, '.')+1:] + `":`
		list = append(list, placedSlot[E]{path, key, row})
	}
	for path := range rows {
		if !slices.Contains(paths, path) {
			panic("entity: no member of type slot for the row " + path)
		}
	}
	return list
}

// slotPaths returns the paths of the slots in a struct. It does not follow pointers, because behind nil there is no slot.
func slotPaths(prefix string, t reflect.Type) []string {
	var paths []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Type == reflect.TypeFor[slot]() {
			paths = append(paths, prefix+name)
		} else if f.Type.Kind() == reflect.Struct {
			paths = append(paths, slotPaths(prefix+name+".", f.Type)...)
		}
	}
	return paths
}

// differing returns the slots whose values for e are not the usual ones.
func (l slotTable[E]) differing(e E) slotSet {
	var set slotSet
	for i := len(l) - 1; i >= 0; i-- { // measured: faster than setting bits by index
		set <<= 1
		if l[i].differs(e) {
			set++
		}
	}
	return set
}

// document is the cached JSON of an entity, with the usual values in its slots.
type document struct {
	json []byte
	cuts []cut // of the slots
}

// cut is where the value of a slot stands. It is empty at the end of the member before if the slot is usually left out.
type cut struct{ from, to int32 }

// newDocument finds the slots in the JSON of an entity. No text can contain a slot, because quotes are escaped there. The search runs
// backwards, because an account that has moved contains the other account before its own last slot. own has, by path, values of slots
// that are usual for this entity only.
func newDocument[E any](json []byte, slots slotTable[E], own map[string][]byte) (document, error) {
	pieces := make([][]byte, 2*len(slots)+1)
	rest := json
	for i := len(slots) - 1; i >= 0; i-- {
		key := slots[i].key
		at := bytes.LastIndex(rest, []byte(key+"{}"))
		if at < 0 {
			return document{}, fmt.Errorf("render: no slot %s", slots[i].path)
		}
		pieces[2*i+2] = rest[at+len(key)+len("{}"):]
		pieces[2*i+1] = []byte(slots[i].usual)
		if value, ok := own[slots[i].path]; ok {
			pieces[2*i+1] = value
		}
		if slots[i].usual == "" {
			rest = rest[:at-len(",")]
		} else {
			rest = rest[:at+len(key)]
		}
	}
	pieces[0] = rest
	d := document{json: bytes.Join(pieces, nil), cuts: make([]cut, len(slots))}
	at := 0
	for i := range slots {
		at += len(pieces[2*i])
		d.cuts[i].from = int32(at)
		at += len(pieces[2*i+1])
		d.cuts[i].to = int32(at)
	}
	return d, nil
}

// head returns the bytes before the first slot.
func (d *document) head() []byte { return d.json[:d.cuts[0].from] }

// size returns the memory that a document takes, in bytes.
func (d *document) size() int { return len(d.json) + 8*len(d.cuts) }

// appendDocument appends an entity: head in place of what the document has before its first slot, and the values of the slots in which e
// differs from the usual.
func appendDocument[E any](dst, head []byte, d *document, slots slotTable[E], e E) []byte {
	dst = append(dst, head...)
	from := d.cuts[0].from
	for differ := slots.differing(e); differ != 0; differ &= differ - 1 {
		i := bits.TrailingZeros64(uint64(differ))
		s := &slots[i]
		dst = append(dst, d.json[from:d.cuts[i].from]...)
		if s.usual == "" {
			dst = append(append(dst, ','), s.key...)
		}
		dst = s.append(e, dst)
		from = d.cuts[i].to
	}
	return append(dst, d.json[from:]...)
}

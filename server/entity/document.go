package entity

import (
	"bytes"
	"fmt"
	"math/bits"
)

// slot is a member of an entity that is not cached with the others, because it depends on the viewer or changes often. It encodes as {};
// newDocument replaces that by the usual value, and AppendJSON by the value of the entity.
type slot struct{}

// slotOf is a slot of the entity E.
type slotOf[E any] struct {
	name   string
	usual  string                       // JSON of the value that most entities have; "": the member is left out
	append func(e E, dst []byte) []byte // appends the value
}

// flagSlot returns a slot that is usually false.
func flagSlot[E any](name string) slotOf[E] {
	return slotOf[E]{name, "false", func(_ E, dst []byte) []byte { return append(dst, "true"...) }}
}

// slotSet is a set of slots, as bits.
type slotSet uint32

const allSlots slotSet = 1<<32 - 1

// add adds a slot on a condition.
func (s *slotSet) add(slot int, condition bool) {
	if condition {
		*s |= 1 << slot
	}
}

// document is the cached JSON of an entity, with the usual values in its slots.
type document struct {
	json []byte
	cuts []cut // of the slots
}

// cut is where the value of a slot stands. It is empty at the end of the member before if the slot is usually left out.
type cut struct{ from, to int32 }

// newDocument finds the slots, which stand in the order of the list, in the JSON of an entity. No text can contain a slot, because quotes
// are escaped there. The search runs backwards, because an account that has moved contains the other account before its own last slot.
// own has values of slots that are usual for this entity only.
func newDocument[E any](json []byte, slots []slotOf[E], own map[string][]byte) (document, error) {
	pieces := make([][]byte, 2*len(slots)+1)
	rest := json
	for i := len(slots) - 1; i >= 0; i-- {
		key := `"` + slots[i].name + `":`
		at := bytes.LastIndex(rest, []byte(key+"{}"))
		if at < 0 {
			return document{}, fmt.Errorf("render: no slot %s", slots[i].name)
		}
		pieces[2*i+2] = rest[at+len(key)+len("{}"):]
		pieces[2*i+1] = []byte(slots[i].usual)
		if value, ok := own[slots[i].name]; ok {
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

// appendDocument appends an entity: head in place of what the document has before its first slot, and the values of the slots in differ,
// where e differs from the usual.
func appendDocument[E any](dst, head []byte, d *document, slots []slotOf[E], differ slotSet, e E) []byte {
	dst = append(dst, head...)
	from := d.cuts[0].from
	for differ &= 1<<len(slots) - 1; differ != 0; differ &= differ - 1 {
		i := bits.TrailingZeros32(uint32(differ))
		s := &slots[i]
		dst = append(dst, d.json[from:d.cuts[i].from]...)
		if s.usual == "" {
			dst = append(append(append(dst, `,"`...), s.name...), `":`...)
		}
		dst = s.append(e, dst)
		from = d.cuts[i].to
	}
	return append(dst, d.json[from:]...)
}

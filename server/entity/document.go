package entity

import (
	"bytes"
	"fmt"
)

// slot is a member of an entity that is not cached with the others, because it depends on the viewer or changes often. It encodes as
// {}; the entity's AppendJSON writes the value instead.
type slot struct{}

// slotOf is a slot of the entity E: the name of the member, and the function that appends its value.
type slotOf[E any] struct {
	name   string
	append func(e E, dst []byte) []byte
}

// document is the cached JSON of an entity, cut into pieces at its slots.
type document struct {
	json []byte
	cuts []int32 // ends of the pieces before the slots
}

// newDocument cuts the JSON of an entity at its slots, which stand in the order of the list. No text can contain a slot, because quotes
// are escaped there. The search runs backwards, because an account that has moved contains the other account before its own last slot.
func newDocument[E any](json []byte, slots []slotOf[E]) (document, error) {
	d := document{json: json, cuts: make([]int32, len(slots))}
	end := len(json)
	for i := len(slots) - 1; i >= 0; i-- {
		key := `"` + slots[i].name + `":`
		end = bytes.LastIndex(json[:end], []byte(key+"{}"))
		if end < 0 {
			return d, fmt.Errorf("render: no slot %s", slots[i].name)
		}
		d.cuts[i] = int32(end + len(key))
	}
	return d, nil
}

// piece returns what comes before the i-th slot, or after the last one.
func (d *document) piece(i int) []byte {
	from, to := 0, len(d.json)
	if i > 0 {
		from = int(d.cuts[i-1]) + len("{}")
	}
	if i < len(d.cuts) {
		to = int(d.cuts[i])
	}
	return d.json[from:to]
}

// size returns the memory that a document takes, in bytes.
func (d *document) size() int { return len(d.json) + 4*len(d.cuts) }

// appendDocument appends an entity: the first piece of head, the other pieces of rest, and between them the slots. A member whose slot
// appends nothing is left out.
func appendDocument[E any](dst []byte, head, rest *document, slots []slotOf[E], e E) []byte {
	json, from := rest.json, 0
	for i := range slots {
		to := int(rest.cuts[i])
		if i > 0 {
			dst = append(dst, json[from:to]...)
		} else {
			dst = append(dst, head.piece(0)...)
		}
		before := len(dst)
		if dst = slots[i].append(e, dst); len(dst) == before {
			dst = dst[:before-len(slots[i].name)-len(`,"":`)]
		}
		from = to + len("{}")
	}
	return append(dst, json[from:]...)
}

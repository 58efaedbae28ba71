package entity

// Exports for the tests, which are in package entity_test.

// Slot is a member that a document leaves open.
type Slot = slot

// SlotValue is a slot with its usual JSON ("": left out) and its JSON in the rendered entity.
type SlotValue struct{ Name, Usual, Value string }

// Render renders v with a document. head replaces what v has before its first slot, unless it is nil. If always is true, the usual
// values are written like others.
func Render(v, head any, values []SlotValue, always bool) ([]byte, error) {
	rows := make(map[string]slotOf[[]SlotValue])
	for i, value := range values {
		rows[value.Name] = slotOf[[]SlotValue]{
			value.Usual,
			func(e []SlotValue) bool { return always || e[i].Value != e[i].Usual },
			func(e []SlotValue, dst []byte) []byte { return append(dst, e[i].Value...) },
		}
	}
	slots := newSlots(v, struct{}{}, rows)
	json, err := marshal(v)
	if err != nil {
		return nil, err
	}
	d, err := newDocument(json, slots, nil)
	if err != nil {
		return nil, err
	}
	start := d.head()
	if head != nil {
		if json, err = marshal(head); err != nil {
			return nil, err
		}
		other, err := newDocument(json, slots, nil)
		if err != nil {
			return nil, err
		}
		start = other.head()
	}
	return appendDocument([]byte("before "), start, &d, slots, values), nil
}

// SlotOrder returns the paths of a table that is made from rows with paths.
func SlotOrder(base, extension any, paths []string) []string {
	rows := make(map[string]slotOf[int])
	for _, path := range paths {
		rows[path] = slotOf[int]{}
	}
	return Map(newSlots(base, extension, rows), func(s placedSlot[int]) string { return s.path })
}

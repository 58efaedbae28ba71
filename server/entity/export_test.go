package entity

// Exports for the tests, which are in package entity_test.

// Slot is a member that a document leaves open.
type Slot = slot

// SlotValue is a slot with its usual JSON ("": left out) and its JSON in the rendered entity.
type SlotValue struct{ Name, Usual, Value string }

// Render renders v with a document. head replaces what v has before its first slot, unless it is nil. If always is true, the slots have
// no function that compares with the usual value.
func Render(v, head any, values []SlotValue, always bool) ([]byte, error) {
	var slots []slotOf[[]SlotValue]
	for i, value := range values {
		s := slotOf[[]SlotValue]{name: value.Name, usual: value.Usual}
		s.append = func(e []SlotValue, dst []byte) []byte { return append(dst, e[i].Value...) }
		if !always {
			s.differs = func(e []SlotValue) bool { return e[i].Value != e[i].Usual }
		}
		slots = append(slots, s)
	}
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

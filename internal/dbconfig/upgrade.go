package dbconfig

import "slices"

// The switch of all rate limits has a row of its own, because front ends take each subkey of :rate_limit for a limit. Earlier versions
// stored it there.
var (
	limits      = RowKey{":svc", ":rate_limit"}
	movedSwitch = RowKey{":svc", ":rate_limiters"}
	emojiRow    = RowKey{":svc", ":emoji"}
)

const switchSubkey = ":enabled"

// Upgrade converts stored rows of earlier versions to the places and forms of this one. changed are the rows that have to be written,
// removed those that are gone.
func Upgrade(rows []Row) (upgraded []Row, changed, removed []RowKey) {
	upgraded = slices.Clone(rows)
	at := func(key RowKey) int { return slices.IndexFunc(upgraded, func(r Row) bool { return r.RowKey == key }) }
	if i := at(emojiRow); i >= 0 {
		if value, ok := keywordGroups(upgraded[i].Value); ok {
			upgraded[i].Value, changed = value, append(changed, emojiRow)
		}
	}
	i := at(limits)
	if i < 0 {
		return upgraded, changed, nil
	}
	enabled, ok := Lookup(upgraded[i].Value, Atom(switchSubkey[1:]))
	if !ok {
		return upgraded, changed, nil
	}
	rest, left := Without(upgraded[i].Value, []Value{Atom(switchSubkey[1:])})
	upgraded[i].Value = rest
	changed = append(changed, movedSwitch)
	if left {
		changed = append(changed, limits)
	} else {
		upgraded, removed = slices.Delete(upgraded, i, i+1), append(removed, limits)
	}
	if at(movedSwitch) < 0 {
		upgraded = append(upgraded, Row{movedSwitch, newKeyword([]Tuple{{Atom(switchSubkey[1:]), enabled}})})
	}
	return upgraded, changed, removed
}

// keywordGroups returns the row of emoji with the groups as a keyword list, and false if they are one.
func keywordGroups(row Value) (Value, bool) {
	groups, _ := Lookup(row, "groups")
	list, _ := groups.(List)
	keyword := List{}
	for _, e := range list {
		m, ok := e.(Map)
		name, isText := text(m[":name"])
		if !ok || !isText {
			return nil, false
		}
		keyword = append(keyword, Tuple{Atom(name), m[":patterns"]})
	}
	if len(keyword) == 0 {
		return nil, false
	}
	return Merge(emojiRow, row, newKeyword([]Tuple{{Atom("groups"), keyword}})), true
}

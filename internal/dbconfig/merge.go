package dbconfig

import (
	"reflect"
	"slices"

	"svc/internal/config"
)

// pairs returns the elements of a keyword list. An empty list is one.
func pairs(v Value) ([]Tuple, bool) {
	list, ok := v.(List)
	if !ok {
		return nil, false
	}
	keyword := make([]Tuple, len(list))
	for i, e := range list {
		t, ok := e.(Tuple)
		if !ok || len(t) != 2 {
			return nil, false
		}
		if _, ok := t[0].(Atom); !ok {
			return nil, false
		}
		keyword[i] = t
	}
	return keyword, true
}

func newKeyword(keyword []Tuple) List {
	list := make(List, len(keyword))
	for i, t := range keyword {
		list[i] = t
	}
	return list
}

// Lookup returns the value of a key of a keyword list.
func Lookup(v Value, key Atom) (Value, bool) {
	keyword, _ := pairs(v)
	for _, t := range slices.Backward(keyword) {
		if t[0] == Value(key) {
			return t[1], true
		}
	}
	return nil, false
}

// RowKey identifies a row. Group and Key are as in JSON, with svc as the name of the service.
type RowKey struct{ Group, Key string }

// Rows and subkeys whose value is replaced instead of merged (spec 4.5, rule 6).
var (
	replacedKeys = map[RowKey]bool{
		{":svc", ":ecto_repos"}:       true,
		{":quack", ":meta"}:           true,
		{":mime", ":types"}:           true,
		{":cors_plug", ":max_age"}:    true,
		{":cors_plug", ":methods"}:    true,
		{":cors_plug", ":expose"}:     true,
		{":cors_plug", ":headers"}:    true,
		{":auto_linker", ":opts"}:     true,
		{":swarm", ":node_blacklist"}: true,
		{":logger", ":backends"}:      true,
	}
	replacedSubkeys = map[RowKey]Atom{
		{":svc", ":assets"}:       "mascots",
		{":svc", ":emoji"}:        "groups",
		{":svc", ":workers"}:      "retries",
		{":svc", ":mrf_subchain"}: "match_actor",
		{":svc", ":mrf_keyword"}:  "replace",
	}
)

// Merge returns the value of a row after a new one was sent for it: pairs of keyword lists are merged, all other values replace the old
// one. Pairs that are not mentioned stay in front, in their order.
func Merge(row RowKey, old, sent Value) Value {
	if replacedKeys[row] {
		return sent
	}
	return merge(old, sent, replacedSubkeys[row])
}

func merge(old, sent Value, replaced Atom) Value {
	before, ok := pairs(old)
	after, also := pairs(sent)
	if !ok || !also {
		return sent
	}
	var merged []Tuple
	for _, t := range before {
		if _, mentioned := Lookup(sent, t[0].(Atom)); !mentioned {
			merged = append(merged, t)
		}
	}
	for i, t := range after {
		key := t[0].(Atom)
		if slices.ContainsFunc(after[i+1:], func(later Tuple) bool { return later[0] == t[0] }) {
			continue // the last one counts
		}
		value := t[1]
		if previous, ok := Lookup(old, key); ok && (replaced == "" || key != replaced) {
			value = merge(previous, value, "")
		}
		merged = append(merged, Tuple{key, value})
	}
	return newKeyword(merged)
}

// Without returns a keyword list without some keys, and false if nothing is left of it. Another value is left as it is.
func Without(v Value, keys []Value) (rest Value, left bool) {
	keyword, ok := pairs(v)
	if !ok {
		return v, true
	}
	keyword = slices.DeleteFunc(keyword, func(t Tuple) bool { return slices.Contains(keys, t[0]) })
	return newKeyword(keyword), len(keyword) > 0
}

// Subkeys returns the keys of a keyword list as texts, or nil if the value is none.
func Subkeys(v Value) []string {
	keyword, _ := pairs(v)
	var names []string
	for _, t := range keyword {
		if name := ":" + string(t[0].(Atom)); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Changed returns the subkeys in which two values of a row differ, and whether the values differ at all. Values that are no keyword lists
// have no subkeys.
func Changed(old, new Value) (subkeys []string, changed bool) {
	if _, ok := pairs(old); !ok && old != nil {
		return nil, !reflect.DeepEqual(old, new)
	}
	if _, ok := pairs(new); !ok && new != nil {
		return nil, !reflect.DeepEqual(old, new)
	}
	for _, name := range append(Subkeys(old), Subkeys(new)...) {
		a, inOld := Lookup(old, Atom(name[1:]))
		b, inNew := Lookup(new, Atom(name[1:]))
		if (inOld != inNew || !reflect.DeepEqual(a, b)) && !slices.Contains(subkeys, name) {
			subkeys = append(subkeys, name)
		}
	}
	return subkeys, len(subkeys) > 0
}

// Rows and subkeys whose change needs a restart, beside the settings that say so themselves (spec 4.5, rule 7, and admin API 7.4).
var (
	restartKeys    = []string{":hackney_pools", ":connections_pool", ":pools", ":chat", ":shout", "Oban", ":rate_limit", ":markup", ":streamer", ":ldap"}
	restartSubkeys = map[string]string{"Svc.Captcha": ":seconds_valid", "Svc.Upload": ":proxy_remote", ":instance": ":upload_limit", ":gopher": ":enabled"}
)

// NeedsRestart returns true if a change of a stored row takes effect after a restart, as far as the row alone says. Members that the row lacks
// have the value of base, so that front ends may send values back that are in effect.
func NeedsRestart(base *config.Config, row RowKey, old, new Value) bool {
	if row.Group != ":svc" {
		return false
	}
	if known := catalog().byKey[row]; known != nil {
		if standard := known.show(base); Subkeys(standard) != nil {
			old, new = Merge(row, standard, orEmpty(old)), Merge(row, standard, orEmpty(new))
		}
	}
	subkeys, changed := Changed(old, new)
	return changed && slices.Contains(restartKeys, row.Key) || slices.Contains(subkeys, restartSubkeys[row.Key])
}

// orEmpty returns an empty list in place of nil.
func orEmpty(v Value) Value {
	if v == nil {
		return List{}
	}
	return v
}

// Only returns those pairs of a keyword list that have one of the keys, written as ":key". Another value has none.
func Only(v Value, keys ...string) Value {
	keyword, _ := pairs(v)
	var kept []Tuple
	for _, t := range keyword {
		if slices.Contains(keys, ":"+string(t[0].(Atom))) {
			kept = append(kept, t)
		}
	}
	return newKeyword(kept)
}

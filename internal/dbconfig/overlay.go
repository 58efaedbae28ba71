package dbconfig

import (
	"errors"
	"fmt"
	"slices"

	"svc/internal/config"
)

// Row is a stored row.
type Row struct {
	RowKey
	Value Value
}

// secretMask is shown in place of a secret. A front end that sends it back changes nothing.
const secretMask = "***"

// Apply returns the settings of base, overlaid with rows. Rows without settings have no effect. The error names each setting that a row
// has an invalid value for; the result then has the settings of the other rows.
func Apply(base *config.Config, rows []Row) (*config.Config, error) {
	copied := *base
	c := &copied
	var problems config.Problems
	for _, r := range rows {
		if known := catalog().byKey[r.RowKey]; known != nil {
			problems = append(problems, known.apply(c, base, r.Value)...)
		}
		if err := unsupported(r); err != nil {
			problems = append(problems, err)
		}
	}
	if len(problems) > 0 {
		return c, problems
	}
	return c, c.Validate()
}

// apply sets the settings that a value has.
func (r *row) apply(c, base *config.Config, value Value) config.Problems {
	var problems config.Problems
	for _, s := range r.settings {
		v, sent := s.find(value)
		if !sent {
			continue
		}
		if err := s.set(c, base, v); err != nil {
			problems = append(problems, err)
		}
	}
	if _, ok := pairs(value); !ok && r.settings[0].subkey != "" {
		problems = append(problems, fmt.Errorf("%s %s: %w", r.key.Group, r.key.Key, expected("a list of tuples of a key and a value", value)))
	}
	return problems
}

// set changes a setting. The error names it as front ends and the settings file do.
func (s placed) set(c, base *config.Config, v Value) error {
	wanted, err := s.form.accept(v)
	if err == nil && FileOnly(s.Group, s.Setting.Key) {
		now, getErr := base.Get(s.Group, s.Setting.Key)
		if shown := s.form.show(now); getErr != nil || !equal(shown, v) {
			return fmt.Errorf("%s %s: %s can only be changed in the settings file", s.row.Key, s.subkey, s.Name())
		}
		return nil
	}
	if err == nil {
		err = c.Set(s.Group, s.Setting.Key, wanted)
	} else {
		err = fmt.Errorf("%s: %w", s.Name(), err)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", s.row.Key, s.subkey, err)
	}
	return nil
}

func equal(a, b Value) bool {
	x, errA := plain.Marshal(a)
	y, errB := plain.Marshal(b)
	return errors.Join(errA, errB) == nil && string(x) == string(y)
}

// find returns the value of the setting in that of its row.
func (s placed) find(value Value) (Value, bool) {
	if s.subkey == "" {
		return value, true
	}
	v, ok := Lookup(value, Atom(s.subkey[1:]))
	if !ok {
		return nil, false
	}
	switch s.member {
	case "":
		return v, true
	case anonymous, signedIn:
		pair, ok := v.(List)
		if !ok {
			return v, true // the same limit for both
		}
		position := slices.Index([]string{anonymous, signedIn}, s.member)
		if position >= len(pair) {
			return nil, false
		}
		return pair[position], true
	}
	m, ok := v.(Map)
	if !ok {
		return v, true // its form reports the type
	}
	v, ok = m[s.member]
	if !ok {
		v, ok = m[s.member[1:]]
	}
	return v, ok
}

// unsupported returns an error for values that would seem to take effect although this version has no such setting there.
func unsupported(r Row) error {
	if _, sent := Lookup(r.Value, Atom(switchSubkey[1:])); sent && r.RowKey == limits {
		return fmt.Errorf("%s has limits alone: %s is a subkey of %s", limits.Key, switchSubkey, movedSwitch.Key)
	}
	if r.RowKey != (RowKey{":svc", ":restrict_unauthenticated"}) {
		return nil
	}
	keyword, _ := pairs(r.Value)
	for _, t := range keyword {
		m, _ := t[1].(Map)
		for _, v := range m {
			if v != Value(Atom("if_instance_is_private")) {
				return errors.New(":restrict_unauthenticated: only :if_instance_is_private is available in this version: set instance.public instead")
			}
		}
	}
	return nil
}

// Entry is a row as front ends see it.
type Entry struct {
	RowKey
	Value  Value
	Stored []string // subkeys that are stored in the database, or the key if the value has none; nil: nothing is
}

// Entries returns all settings of c, merged with rows, which c has been made of. Secrets are masked.
func Entries(c *config.Config, rows []Row) []Entry {
	var entries []Entry
	stored := make(map[RowKey]Value, len(rows))
	for _, r := range rows {
		stored[r.RowKey] = r.Value
	}
	for _, r := range catalog().rows {
		value := r.show(c)
		e := Entry{RowKey: r.key, Value: value}
		if row, ok := stored[r.key]; ok {
			e.Value, e.Stored = withUnknown(value, row), storedKeys(r.key, row)
			delete(stored, r.key)
		}
		entries = append(entries, e)
	}
	for _, d := range extraDefaults {
		e := Entry{RowKey: d.RowKey, Value: d.Value}
		if row, ok := stored[d.RowKey]; ok {
			e.Value, e.Stored = Merge(d.RowKey, d.Value, row), storedKeys(d.RowKey, row)
			delete(stored, d.RowKey)
		}
		entries = append(entries, e)
	}
	for _, r := range rows {
		if _, ok := stored[r.RowKey]; ok {
			entries = append(entries, Entry{r.RowKey, r.Value, storedKeys(r.RowKey, r.Value)})
		}
	}
	return entries
}

// extraDefaults are rows that front ends cannot do without.
var extraDefaults = []Row{
	{RowKey{":svc", ":restrict_unauthenticated"}, restricted},
}

var restricted = newKeyword([]Tuple{
	{Atom("timelines"), Map{":local": ifPrivate, ":federated": ifPrivate}},
	{Atom("profiles"), Map{":local": ifPrivate, ":remote": ifPrivate}},
	{Atom("activities"), Map{":local": ifPrivate, ":remote": ifPrivate}},
})

const ifPrivate = Atom("if_instance_is_private")

// storedKeys returns Entry.Stored of a stored row.
func storedKeys(key RowKey, value Value) []string {
	if keys := Subkeys(value); keys != nil {
		return keys
	}
	return []string{key.Key}
}

// withUnknown adds the pairs of a stored value that no setting has.
func withUnknown(value, stored Value) Value {
	keyword, ok := pairs(value)
	extra, also := pairs(stored)
	if !ok || !also {
		return value
	}
	for _, t := range extra {
		if _, known := Lookup(value, t[0].(Atom)); !known {
			keyword = append(keyword, t)
		}
	}
	return newKeyword(keyword)
}

// show returns the value of a row by the settings.
func (r *row) show(c *config.Config) Value {
	if r.settings[0].subkey == "" {
		return r.settings[0].value(c)
	}
	var keyword []Tuple
	for _, s := range r.settings {
		name, v := Atom(s.subkey[1:]), s.value(c)
		i := slices.IndexFunc(keyword, func(t Tuple) bool { return t[0] == Value(name) })
		switch {
		case s.member == "":
			keyword = append(keyword, Tuple{name, v})
		case s.member == anonymous || s.member == signedIn:
			if i < 0 {
				keyword = append(keyword, Tuple{name, List{nil, nil}})
				i = len(keyword) - 1
			}
			keyword[i][1].(List)[slices.Index([]string{anonymous, signedIn}, s.member)] = v
		case i < 0:
			keyword = append(keyword, Tuple{name, Map{s.member: v}})
		default:
			keyword[i][1].(Map)[s.member] = v
		}
	}
	if r.key == (RowKey{":svc", ":instance"}) {
		keyword = append(keyword, Tuple{Atom("favicon"), "/favicon.png"}) // the web client requires it
	}
	return newKeyword(keyword)
}

// value returns the value of a setting, masked if it is a secret.
func (s placed) value(c *config.Config) Value {
	v, err := c.Get(s.Group, s.Setting.Key)
	if err != nil || s.Secret && v != "" {
		return secretMask
	}
	return s.form.show(v)
}

// Masked returns the value of a row without its secrets.
func Masked(key RowKey, value Value) Value {
	r := catalog().byKey[key]
	keyword, ok := pairs(value)
	if r == nil || !ok {
		return value
	}
	for i, t := range keyword {
		if r.isSecret(t[0].(Atom)) && t[1] != Value("") {
			keyword[i] = Tuple{t[0], secretMask}
		}
	}
	return newKeyword(keyword)
}

// Unmasked returns a value that was sent for a row, with the secrets of the stored value in place of masks. A mask without a stored
// secret is left out.
func Unmasked(key RowKey, sent, stored Value) Value {
	r := catalog().byKey[key]
	keyword, ok := pairs(sent)
	if r == nil || !ok {
		return sent
	}
	var kept []Tuple
	for _, t := range keyword {
		if t[1] == Value(secretMask) && r.isSecret(t[0].(Atom)) {
			secret, ok := Lookup(stored, t[0].(Atom))
			if !ok {
				continue
			}
			t = Tuple{t[0], secret}
		}
		kept = append(kept, t)
	}
	return newKeyword(kept)
}

func (r *row) isSecret(subkey Atom) bool {
	return slices.ContainsFunc(r.settings, func(s placed) bool { return s.Secret && s.subkey == ":"+string(subkey) })
}

// Settable returns an error for a row that cannot be stored.
func Settable(key RowKey) error {
	const maxName = 200
	switch {
	case key.Group == "" || len(key.Group) > maxName || key.Key == "" || len(key.Key) > maxName:
		return fmt.Errorf("the group and the key of a setting must have 1 to %d bytes", maxName)
	case reserved(key):
		return fmt.Errorf("%s %s can only be set in the settings file", key.Group, key.Key)
	}
	return nil
}

// Named returns the row of a setting that the settings file names, and the value to send for it so that it has the value of c. The value is
// a keyword list of one subkey, or the whole value of the row.
func Named(c *config.Config, group, key string) (RowKey, Value) {
	for _, r := range catalog().rows {
		for _, s := range r.settings {
			if s.Group != group || s.Setting.Key != key {
				continue
			}
			shown := r.show(c)
			if s.subkey == "" {
				return s.row, shown
			}
			v, _ := Lookup(shown, Atom(s.subkey[1:]))
			if now, err := c.Get(group, key); err == nil && s.Secret {
				v = s.form.show(now)
			}
			return s.row, newKeyword([]Tuple{{Atom(s.subkey[1:]), v}})
		}
	}
	return RowKey{}, nil
}

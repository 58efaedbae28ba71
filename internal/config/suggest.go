package config

import (
	"fmt"
	"strings"
)

// unknownSetting is the error for a key that is not in the registry, or whose group is not. It wraps ErrUnknown.
func unknownSetting(group, key string) error {
	name := strings.TrimPrefix(group+"."+key, ".")
	if near := nearestSetting(group, key); near != "" {
		return fmt.Errorf("%w %s, did you mean %s?", ErrUnknown, name, near)
	}
	return fmt.Errorf("%w %s", ErrUnknown, name)
}

// unknownGroup is the error for a table that is no group of settings. It wraps ErrUnknown.
func unknownGroup(name string) error {
	var near nearest
	for _, s := range Settings() {
		near.compare(name, s.Group, s.Group)
	}
	if near.name != "" {
		return fmt.Errorf("%w group [%s], did you mean [%s]?", ErrUnknown, name, near.name)
	}
	return fmt.Errorf("%w group [%s]", ErrUnknown, name)
}

// nearestSetting returns the name of the setting that was probably meant: one of the same group that is spelt alike, else
// the only one of another group that is, else none.
func nearestSetting(group, key string) string {
	var here, elsewhere nearest
	for _, s := range Settings() {
		switch of := strings.HasPrefix(group, "mrf"); {
		case s.Group == group:
			here.compare(key, s.Key, s.Name())
		case of == strings.HasPrefix(s.Group, "mrf"): // policies have many alike, which are not what others mean
			elsewhere.compare(key, s.Key, s.Name())
		}
	}
	if here.name == "" && !elsewhere.tie {
		return elsewhere.name
	}
	return here.name
}

// nearest keeps the best of the candidates it is shown.
type nearest struct {
	name     string
	distance int
	tie      bool // another name is as near
}

// compare compares two spellings and keeps name if they are alike and no nearer pair was seen.
func (n *nearest) compare(given, known, name string) {
	const longest = 64 // a longer word is no misspelling of anything here
	if len(given) > longest || name == n.name {
		return
	}
	d := distance(given, known)
	switch {
	case d > 1+len(given)/4:
	case n.name == "" || d < n.distance:
		*n = nearest{name: name, distance: d}
	case d == n.distance:
		n.tie = true
	}
}

// distance is the number of letters to insert, delete, replace or swap with their neighbour to turn a into b
// (Damerau-Levenshtein, optimal string alignment).
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			rows[i][j] = min(replace, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

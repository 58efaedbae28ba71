package config

import (
	"fmt"
	"slices"
	"strings"
)

// unknownSetting returns the error for a group or key that is not in the registry. It wraps ErrUnknown.
func unknownSetting(group, key string) error {
	name := strings.TrimPrefix(group+"."+key, ".")
	if near := nearestSetting(group, key); near != "" {
		return fmt.Errorf("%w %s, did you mean %s?", ErrUnknown, name, near)
	}
	return fmt.Errorf("%w %s", ErrUnknown, name)
}

// unknownGroup returns the error for a table that is not a group of settings. It wraps ErrUnknown.
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

// nearestSetting returns the name of the most similar setting: of the same group, else of another group if it is the only one, else
// "".
func nearestSetting(group, key string) string {
	var sameGroup, otherGroup nearest
	for _, s := range Settings() {
		switch isPolicy := strings.HasPrefix(group, "mrf"); {
		case s.Group == group:
			sameGroup.compare(key, s.Key, s.Name())
		case isPolicy == strings.HasPrefix(s.Group, "mrf"): // policies have many similar keys: do not suggest them for other groups
			otherGroup.compare(key, s.Key, s.Name())
		}
	}
	if sameGroup.name == "" && !otherGroup.tie {
		return otherGroup.name
	}
	return sameGroup.name
}

// nearest is the best candidate so far.
type nearest struct {
	name     string
	distance int
	tie      bool // another name has the same distance
}

// compare keeps name if given and known are similar and no nearer pair was compared.
func (n *nearest) compare(given, known, name string) {
	const maxLength = 64 // bounds the cost; all names are shorter
	if len(given) > maxLength || name == n.name {
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

// distance returns the Damerau-Levenshtein distance of a and b (optimal string alignment).
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

// policies checks that policies exist.
func policies(names []string) error {
	for _, name := range names {
		if slices.Contains(PolicyNames(), name) {
			continue
		}
		var near nearest
		for _, known := range PolicyNames() {
			near.compare(strings.ToLower(name), strings.ToLower(known), known)
			near.compare(strings.ToLower(name), strings.ToLower(strings.TrimSuffix(known, "Policy")), known)
		}
		if near.name != "" {
			return fmt.Errorf("unknown policy %q, did you mean %q?", name, near.name)
		}
		return fmt.Errorf("unknown policy %q; the policies are %s", name, strings.Join(PolicyNames(), ", "))
	}
	return nil
}

package server_test

import (
	"regexp"
	"slices"
	"testing"
)

var linkForm = regexp.MustCompile(`<([^<>,;]*)>; rel="(next|prev)"`)

// links returns the addresses in a Link header by rel.
func (a *answer) links() map[string]string {
	links := make(map[string]string)
	for _, m := range linkForm.FindAllStringSubmatch(a.header.Get("Link"), -1) {
		links[m[2]] = m[1]
	}
	return links
}

// wantPages walks a list by its next links to the end and back by prev, and checks that it has these ids, each once, in order.
func wantPages(t *testing.T, as *member, path string, want []string) {
	t.Helper()
	var got []string
	var last *answer
	a := as.get(path).want(200)
	for {
		ids := a.ids()
		if len(ids) == 0 {
			break
		}
		got, last = append(got, ids...), a
		next := a.links()["next"]
		if next == "" {
			break
		}
		a = as.get(next).want(200)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("by next: got %v, want %v", got, want)
	}
	back := last.ids()
	for a = last; ; {
		prev := a.links()["prev"]
		if a = as.get(prev).want(200); len(a.ids()) == 0 {
			break
		}
		back = append(slices.Clone(a.ids()), back...)
	}
	if !slices.Equal(back, want) {
		t.Fatalf("by prev: got %v, want %v", back, want)
	}
}

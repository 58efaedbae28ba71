package server_test

import (
	"regexp"
	"slices"
	"testing"
)

var linkForm = regexp.MustCompile(`<([^<>,;]*)>; rel="(next|prev)"`)

// Links returns the addresses in a Link header by rel.
func (a *Response) Links() map[string]string {
	links := make(map[string]string)
	for _, m := range linkForm.FindAllStringSubmatch(a.Header.Get("Link"), -1) {
		links[m[2]] = m[1]
	}
	return links
}

// WantPages walks a list by its next links to the end and back by prev, and checks that it has these ids, each once, in order.
func WantPages(t *testing.T, as *User, path string, want []string) {
	t.Helper()
	var got []string
	var last *Response
	a := as.Get(path).Want(200)
	for {
		ids := a.IDs()
		if len(ids) == 0 {
			break
		}
		got, last = append(got, ids...), a
		next := a.Links()["next"]
		if next == "" {
			break
		}
		a = as.Get(next).Want(200)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("by next: got %v, want %v", got, want)
	}
	back := last.IDs()
	for a = last; ; {
		prev := a.Links()["prev"]
		if a = as.Get(prev).Want(200); len(a.IDs()) == 0 {
			break
		}
		back = append(slices.Clone(a.IDs()), back...)
	}
	if !slices.Equal(back, want) {
		t.Fatalf("by prev: got %v, want %v", back, want)
	}
}

package rest_test

import (
	"fmt"
	"testing"

	"svc/server/rest"
)

// pageTable has a list of n entries, whose cursors are 100, 99, ….
func pageTable(n int, got *rest.Page, since bool) rest.Routes {
	list := func(r *rest.Request) (any, error) {
		*got = r.Page(20)
		got.PrevBySinceID = since
		r.LinkPage(*got, n, func(i int) string { return fmt.Sprint(100 - i) })
		return []any{}, nil
	}
	return rest.Routes{
		"GET /api/v1/list":          {rest.Anyone, list},
		"GET /api/v1/tags/:name":    {rest.Anyone, list},
		"GET /api/v1/svc/list":      {rest.Anyone, list},
		"GET /api/v1/notifications": {rest.Anyone, func(r *rest.Request) (any, error) { *got = r.Page(15, 30); return nil, nil }},
	}
}

func TestPage(t *testing.T) {
	flake := "000000000000000000" // another server's id, but a valid position
	for _, tt := range []struct {
		target         string
		limit          int
		max, since, mn int64
		offset         int
	}{
		{"/api/v1/list", 20, 0, 0, 0, 0},
		{"/api/v1/list?limit=5", 5, 0, 0, 0, 0},
		{"/api/v1/list?limit=40", 40, 0, 0, 0, 0},
		{"/api/v1/list?limit=41", 40, 0, 0, 0, 0},
		{"/api/v1/list?limit=1000000", 40, 0, 0, 0, 0},
		{"/api/v1/list?limit=0", 20, 0, 0, 0, 0},
		{"/api/v1/list?limit=-3", 20, 0, 0, 0, 0},
		{"/api/v1/list?limit=many", 20, 0, 0, 0, 0},
		{"/api/v1/list?limit=99999999999999999999999", 20, 0, 0, 0, 0},
		{"/api/v1/list?limit=", 20, 0, 0, 0, 0},
		{"/api/v1/notifications?limit=80", 30, 0, 0, 0, 0},
		{"/api/v1/notifications", 15, 0, 0, 0, 0},
		{"/api/v1/list?max_id=7&since_id=5&min_id=6", 20, 7, 5, 6, 0},
		{"/api/v1/list?max_id=&since_id=&min_id=", 20, 0, 0, 0, 0},
		{"/api/v1/list?max_id=undefined&since_id=undefined&min_id=undefined&limit=undefined", 20, 0, 0, 0, 0},
		{"/api/v1/list?max_id=0", 20, -1, 0, 0, 0},
		{"/api/v1/list?since_id=0", 20, 0, 0, 0, 0},
		{"/api/v1/list?max_id=junk", 20, -1, 0, 0, 0},
		{"/api/v1/list?since_id=junk", 20, -1, 0, 0, 0},
		{"/api/v1/list?min_id=-5&max_id=9", 20, 9, 0, 0, 0},
		{"/api/v1/list?max_id=" + flake, 20, -1, 0, 0, 0},
		{"/api/v1/list?offset=40", 20, 0, 0, 0, 40},
		{"/api/v1/list?offset=-1", 20, 0, 0, 0, 0},
		{"/api/v1/list?offset=9999999", 20, 0, 0, 0, 100_000},
	} {
		t.Run(tt.target, func(t *testing.T) {
			var got rest.Page
			if w := call(newServer(t, pageTable(0, &got, false)), "GET", tt.target, ""); w.Code != 200 {
				t.Fatalf("got %d %s", w.Code, w.Body)
			}
			var want rest.Page
			want.Limit, want.MaxID, want.SinceID, want.MinID, want.Offset = tt.limit, tt.max, tt.since, tt.mn, tt.offset
			if got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestLinkPage(t *testing.T) {
	const base = "https://social.example.org/api/v1/"
	for _, tt := range []struct {
		name   string
		target string
		n      int
		since  bool
		want   string
	}{
		{"empty", "/api/v1/list", 0, false, ""},
		{"empty with cursors", "/api/v1/list?max_id=5", 0, false, ""},
		{"full", "/api/v1/list", 20, false, `<` + base + `list?max_id=81>; rel="next", <` + base + `list?min_id=100>; rel="prev"`},
		{"more than full", "/api/v1/list?limit=2", 3, false, `<` + base + `list?limit=2&max_id=98>; rel="next", <` + base + `list?limit=2&min_id=100>; rel="prev"`},
		{"not full", "/api/v1/list", 19, false, `<` + base + `list?min_id=100>; rel="prev"`},
		{"with since_id", "/api/v1/list", 20, true, `<` + base + `list?max_id=81>; rel="next", <` + base + `list?since_id=100>; rel="prev"`},
		{"cursors are replaced", "/api/v1/list?max_id=200&since_id=1&min_id=2&limit=1", 1, false, `<` + base + `list?limit=1&max_id=100>; rel="next", <` + base + `list?limit=1&min_id=100>; rel="prev"`},
		{"parameters are kept", "/api/v1/list?only_media=true&types[]=mention&types[]=poll&q=a,b;c%20d", 1, false, `<` + base + `list?only_media=true&types%5B%5D=mention&types%5B%5D=poll&min_id=100>; rel="prev"`},
		{"encoded", "/api/v1/list?q=a%2Cb%3Bc+%3Cd%3E%22", 1, false, `<` + base + `list?q=a%2Cb%3Bc+%3Cd%3E%22&min_id=100>; rel="prev"`},
		{"tokens are removed", "/api/v1/list?access_token=alice&limit=30", 1, false, `<` + base + `list?limit=30&min_id=100>; rel="prev"`},
		{"path", "/api/v1/tags/a,b;c%3Ed%F0%9F%90%88", 1, false, `<` + base + `tags/a%2Cb%3Bc%3Ed%F0%9F%90%88?min_id=100>; rel="prev"`},
		{"old prefix", "/api/svc/list", 1, false, `<https://social.example.org/api/svc/list?min_id=100>; rel="prev"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var page rest.Page
			w := call(newServer(t, pageTable(tt.n, &page, tt.since)), "GET", tt.target, "", "Host", "evil.example.com")
			if got := w.Header().Get("Link"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestShowNothing renders none of no rows, as at the end of a filtered list, in a small answer and in a large one.
func TestShowNothing(t *testing.T) {
	for _, large := range []bool{false, true} {
		routes := rest.Routes{"GET /api/v1/list": {rest.Anyone, func(r *rest.Request) (any, error) {
			if large {
				if err := r.Large(); err != nil {
					return nil, err
				}
			}
			rows := []int{}
			shown, n, err := rest.ShowSome(r, 0, func(n int) ([]int, error) { return rows[:n], nil })
			if n != 0 {
				t.Errorf("%d of no rows are rendered", n)
			}
			return shown, err
		}}}
		if w := call(newServer(t, routes), "GET", "/api/v1/list", ""); w.Code != 200 || w.Body.String() != "[]" {
			t.Errorf("large: %v: got %d %s", large, w.Code, w.Body)
		}
	}
}

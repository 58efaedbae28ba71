package server_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"svc/app/apptest"
	"testing"
	"time"
)

// pagedList is a list that is paged by cursors.
type pagedList struct {
	path string
	n    int  // how many entries it has
	ids  bool // the cursors are the ids of the entries, in the order of texts
}

// TestPagingWalks reads pages of all lists, with random bounds and by links in both directions. Each entry must be returned exactly
// once, in order, and without the entries in between that are hidden from the viewer.
func TestPagingWalks(t *testing.T) {
	apptest.SkipIfShort(t)
	srv := apptest.Start(t)
	viewer, lists := fillLists(srv)
	for _, l := range lists {
		t.Run(l.path, func(t *testing.T) {
			all, cursors := everyEntry(t, viewer, l)
			seed := rand.Uint64()
			random := rand.New(rand.NewPCG(seed, 0))
			t.Logf("seed %d", seed)
			for range 25 {
				randomPage(t, viewer, l, all, cursors, random)
			}
			for range 3 {
				randomWalk(t, viewer, l, all, cursors, random)
			}
		})
	}
}

// pageKeys returns the ids, or else the names, of the entries of a page.
func pageKeys(a *apptest.Response) []string {
	a.T.Helper()
	var rows []map[string]any
	if err := json.Unmarshal(a.Body, &rows); err != nil {
		a.T.Fatalf("%s: %v: %s", a.Request, err, a.Body)
	}
	list := make([]string, 0, len(rows))
	for _, row := range rows {
		key, ok := row["id"].(string)
		if !ok {
			key = row["name"].(string) // hashtags
		}
		list = append(list, key)
	}
	return list
}

// with adds parameters to the path of a list.
func (l pagedList) with(params ...string) string {
	u, err := url.Parse(l.path)
	if err != nil {
		panic(err)
	}
	q := u.Query()
	for i := 0; i < len(params); i += 2 {
		q.Set(params[i], params[i+1])
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// everyEntry reads a list in pages of one entry, and returns the entries and the cursors in the links.
func everyEntry(t *testing.T, as *apptest.User, l pagedList) (all, cursors []string) {
	t.Helper()
	for path := l.with("limit", "1"); path != ""; {
		a := as.Get(path).Want(200)
		keys := pageKeys(a)
		if len(keys) == 0 {
			break
		}
		links := a.Links()
		all, cursors = append(all, keys...), append(cursors, cursorOf(t, links["prev"]))
		path = links["next"]
		if len(all) > l.n {
			break
		}
	}
	if len(all) != l.n {
		t.Fatalf("pages of one have %d entries, want %d: %v", len(all), l.n, all)
	}
	if unique := slices.Compact(slices.Sorted(slices.Values(all))); len(unique) != l.n {
		t.Fatalf("repeated entries: %v", all)
	}
	if l.ids && (!slices.Equal(all, cursors) || !slices.IsSortedFunc(all, func(a, b string) int { return cmp.Compare(b, a) })) {
		t.Fatalf("the entries are %v, their cursors %v", all, cursors)
	}
	return all, cursors
}

// cursorOf returns the cursor in a link to the previous page.
func cursorOf(t *testing.T, link string) string {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"min_id", "since_id"} {
		if c := u.Query().Get(name); c != "" {
			return c
		}
	}
	t.Fatalf("the link to the previous page is %q", link)
	return ""
}

// randomPage requests a page between random bounds. The bounds are indexes in a list of n entries, newest first: from -1 (newer than all)
// to n (older than all).
func randomPage(t *testing.T, as *apptest.User, l pagedList, all, cursors []string, random *rand.Rand) {
	t.Helper()
	n := len(all)
	limit := 1 + random.IntN(12)
	from, to := -1, n // entries lie between these
	params := []string{"limit", strconv.Itoa(limit)}
	if random.IntN(3) > 0 {
		from = random.IntN(n)
		params = append(params, "max_id", cursors[from])
	}
	anchored := false
	switch random.IntN(3) {
	case 0:
		to = random.IntN(n)
		params = append(params, "since_id", cursors[to])
	case 1:
		to = random.IntN(n)
		params = append(params, "min_id", cursors[to])
		anchored = true
	}
	want := []string{}
	if from+1 < to {
		want = all[from+1 : to]
	}
	switch {
	case anchored:
		want = want[max(0, len(want)-limit):]
	default:
		want = want[:min(limit, len(want))]
	}
	if got := pageKeys(as.Get(l.with(params...)).Want(200)); !slices.Equal(got, want) {
		t.Fatalf("%s: got %v, want %v, of %v", l.with(params...), got, want, all)
	}
}

// randomWalk starts at a random entry and follows links in random directions.
func randomWalk(t *testing.T, as *apptest.User, l pagedList, all, cursors []string, random *rand.Rand) {
	t.Helper()
	limit := 1 + random.IntN(7)
	at := random.IntN(len(all)) // the entry before the page
	a := as.Get(l.with("limit", strconv.Itoa(limit), "max_id", cursors[at])).Want(200)
	first := at + 1
	for step := range 12 {
		keys := pageKeys(a)
		want := all[first:min(len(all), first+limit)]
		if step > 0 && first == 0 {
			want = all[:len(keys)] // the first page may be shorter
		}
		if !slices.Equal(keys, want) {
			t.Fatalf("step %d, %s: got %v, want %v, of %v", step, a.Request, keys, want, all)
		}
		links := a.Links()
		if len(keys) == 0 {
			if len(links) > 0 {
				t.Fatalf("%s: an empty page has links: %v", a.Request, links)
			}
			return
		}
		if full := len(keys) == limit; links["next"] != "" != full || links["prev"] == "" {
			t.Fatalf("%s: %d of %d entries, and the links %v", a.Request, len(keys), limit, links)
		}
		if links["next"] != "" && random.IntN(2) == 0 {
			a, first = as.Get(links["next"]).Want(200), first+len(keys)
			continue
		}
		a = as.Get(links["prev"]).Want(200)
		if len(pageKeys(a)) < limit && first > limit {
			t.Fatalf("%s: a page of %d with %d entries before it", a.Request, len(pageKeys(a)), first)
		}
		if u, _ := url.Parse(links["prev"]); u.Query().Has("since_id") { // the link is to the newest page, as in lists of accounts
			want := all[:min(limit, first)]
			if !slices.Equal(pageKeys(a), want) {
				t.Fatalf("%s: got %v, want %v", a.Request, pageKeys(a), want)
			}
			first = 0
			if len(want) == 0 {
				return
			}
			continue
		}
		first -= len(pageKeys(a))
		if len(pageKeys(a)) == 0 {
			return
		}
	}
}

// fillLists returns a user with entries in all lists, and the lists. Between the entries are others, by blocked, muted and blocking accounts.
func fillLists(a *apptest.Server) (*apptest.User, []pagedList) {
	t := a.T
	t.Helper()
	const n = 24
	viewer := a.SignUp("viewer")
	post := func(m *apptest.User, path string, params ...string) *apptest.Response {
		t.Helper()
		return m.Post(path, params...).Want(200)
	}
	one := viewer.Publish("the one #walks").ID()
	list := viewer.SendJSON("POST", "/api/v1/lists", map[string]string{"title": "all"}).Want(200).Object().ID()
	var others, hidden []*apptest.User
	for i := range n {
		others = append(others, a.SignUp(fmt.Sprintf("other%d", i)))
		if i%3 == 0 {
			hidden = append(hidden, a.SignUp(fmt.Sprintf("hidden%d", i)))
		}
	}
	for _, m := range hidden { // the viewer blocks them later
		post(viewer, "/api/v1/accounts/"+m.ID+"/follow")
	}
	act := func(m *apptest.User) {
		post(m, "/api/v1/accounts/"+viewer.ID+"/follow")
		post(viewer, "/api/v1/accounts/"+m.ID+"/follow")
		viewer.SendJSON("POST", "/api/v1/lists/"+list+"/accounts", map[string]any{"account_ids": []string{m.ID}}).Want(200)
		public := m.Publish("@viewer hello #walks").ID()
		m.Publish("@viewer psst", "visibility", "direct")
		m.Publish("quoting", "quote_id", one)
		for _, action := range []string{"favourite", "reblog"} {
			post(m, "/api/v1/statuses/"+one+"/"+action)
		}
		post(viewer, "/api/v1/statuses/"+public+"/favourite")
		post(viewer, "/api/v1/statuses/"+public+"/bookmark")
		chat := post(m, "/api/v1/svc/chats/by-account-id/"+viewer.ID).Object().ID()
		post(m, "/api/v1/svc/chats/"+chat+"/messages", "content", "hi")
	}
	for i, m := range others {
		if i%3 == 0 {
			act(hidden[i/3])
		}
		act(m)
		viewer.Publish("mine")
		post(viewer, fmt.Sprintf("/api/v1/tags/tag%d/follow", i))
		at := a.DB.Now().Add(time.Duration(1+i) * 24 * time.Hour).UTC().Format(time.RFC3339)
		post(viewer, "/api/v1/statuses", "status", "later", "scheduled_at", at)
	}
	for i, m := range hidden {
		if i%2 == 0 {
			post(viewer, "/api/v1/accounts/"+m.ID+"/block")
		} else {
			a.MakeUnavailable(m)
		}
	}
	var muted []*apptest.User
	for i := range n {
		m := a.SignUp(fmt.Sprintf("muted%d", i))
		post(viewer, "/api/v1/accounts/"+m.ID+"/mute")
		muted = append(muted, m)
	}
	for _, m := range muted {
		post(m, "/api/v1/accounts/"+viewer.ID+"/follow")
		m.Publish("hidden by the mute #walks @viewer")
	}
	chat := post(viewer, "/api/v1/svc/chats/by-account-id/"+others[0].ID).Object().ID()
	for range n - 1 {
		post(viewer, "/api/v1/svc/chats/"+chat+"/messages", "content", "ho")
	}
	viewer.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"locked": true}).Want(200)
	for i := range n {
		m := a.SignUp(fmt.Sprintf("asking%d", i))
		post(m, "/api/v1/accounts/"+viewer.ID+"/follow")
	}
	blocks := (len(hidden) + 1) / 2
	return viewer, []pagedList{
		{"/api/v1/timelines/home", 1 + n + 3*n, true},
		{"/api/v1/timelines/public", 1 + n + 2*n, true},
		{"/api/v1/timelines/public?local=true", 1 + n + 2*n, true},
		{"/api/v1/timelines/tag/walks", 1 + n, true},
		{"/api/v1/timelines/tag/nothing?any[]=walks", 1 + n, true},
		{"/api/v1/timelines/list/" + list, 3*n + n, true},
		{"/api/v1/timelines/direct", n, true},
		{"/api/v1/accounts/" + viewer.ID + "/statuses", 1 + n, true},
		{"/api/v1/favourites", n + blocks, false}, // the viewer's own favourites of them remain
		{"/api/v1/bookmarks", n + blocks, false},
		{"/api/v1/notifications", n*6 + n, true},
		{"/api/v1/notifications?types[]=mention", 2 * n, true},
		{"/api/v1/follow_requests", n, false},
		{"/api/v1/blocks", blocks, false},
		{"/api/v1/mutes", n, false},
		{"/api/v1/accounts/" + viewer.ID + "/followers", 2 * n, false},
		{"/api/v1/accounts/" + viewer.ID + "/following", n, false},
		{"/api/v1/lists/" + list + "/accounts", n, false},
		{"/api/v1/statuses/" + one + "/favourited_by", n, false},
		{"/api/v1/statuses/" + one + "/reblogged_by", n, false},
		{"/api/v1/svc/accounts/" + viewer.ID + "/favourites", n, false},
		{"/api/v1/svc/statuses/" + one + "/quotes", n, true},
		{"/api/v1/conversations", n, false},
		{"/api/v2/svc/chats", n, false},
		{"/api/v1/svc/chats/" + chat + "/messages", n, true},
		{"/api/v1/followed_tags", n, false},
		{"/api/v1/scheduled_statuses", n, true},
	}
}

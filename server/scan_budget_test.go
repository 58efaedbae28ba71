package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

// hiddenPosts adds n posts of an account after its others, of which anonymous clients see none: private and local ones in turn, each with the
// hashtag #hidden.
func hiddenPosts(srv *apptest.Server, m *apptest.User, n int) {
	srv.T.Helper()
	addPosts(srv, m, n, `CASE i % 2 WHEN 0 THEN 3 ELSE 2 END`)
	srv.Exec(`INSERT INTO status_tags (tag_id, status_id, position, visibility)
		SELECT (SELECT id FROM tags WHERE name = 'hidden'), s.id, 0, s.visibility FROM statuses s WHERE s.uri LIKE 'https://many.example/%'`)
}

// addPosts adds n posts of an account after all others. visibility is an SQL expression with the number i of the post.
func addPosts(srv *apptest.Server, m *apptest.User, n int, visibility string) {
	srv.T.Helper()
	srv.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
		INSERT INTO statuses (id, account_id, visibility, conversation_id, domain, has_media, created_at, uri, content)
		SELECT last + i, ?2, `+visibility+`, last + i, '', i % 4 = 0, last >> 10, 'https://many.example/' || i, '<p>words</p>'
		FROM n, (SELECT max(id) AS last FROM statuses)`, n, m.AccountID())
	srv.Exec(`PRAGMA analysis_limit = 1000; ANALYZE`)
}

// scanBudget is how many rows a page looks at (store/db_paging.go).
const scanBudget = 1000

// TestScanBudget walks lists whose newest posts are hidden from the viewer. No page may look at more rows than the budget, and the walk
// reaches the visible ones. Where an index has only visible posts, the first page has them.
func TestScanBudget(t *testing.T) {
	srv := apptest.Start(t)
	author, blocker, muter, other := srv.SignUp("author"), srv.SignUp("blocker"), srv.SignUp("muter"), srv.SignUp("other")
	listOwner := srv.SignUp("listowner")
	listOwner.AccountAction(author.ID, "follow")
	list := srv.AddList(listOwner, author)
	visible := other.Publish("seen by all #hidden").ID()
	srv.Exec(`UPDATE statuses SET has_media = 1`)
	own := author.Publish("seen by all #hidden").ID()
	srv.Exec(`UPDATE statuses SET has_media = 1`)
	const hidden = 4*scanBudget + 100
	hiddenPosts(srv, author, hidden)
	srv.Exec(`INSERT OR IGNORE INTO list_timeline (list_id, status_id) SELECT l.id, s.id FROM lists l, statuses s`)
	srv.Exec(`INSERT INTO favourites (id, account_id, status_id) SELECT id, ?, id FROM statuses`, other.AccountID())
	srv.Exec(`INSERT INTO bookmarks (id, account_id, status_id) SELECT id, ?, id FROM statuses`, other.AccountID())
	srv.Exec(`UPDATE accounts SET hide_favorites = 0`)
	srv.AddBlock(blocker, author)
	srv.AddMute(muter, author)
	profile := "/api/v1/accounts/" + author.ID + "/statuses"
	anonymous := &apptest.User{Client: srv.As(nil), Nickname: "nobody"}
	for _, tt := range []struct {
		path  string
		as    *apptest.User
		want  string
		pages int // up to the first entry
	}{
		{profile, anonymous, own, 1},
		{profile + "?exclude_replies=true&exclude_reblogs=true", anonymous, own, 1},
		{"/api/v1/timelines/public", anonymous, own, 1},
		{"/api/v1/timelines/public?local=true", anonymous, own, 1},
		{profile + "?only_media=true", anonymous, own, 2},
		{profile + "?tagged=hidden", anonymous, own, 5},
		{"/api/v1/timelines/public?only_media=true", anonymous, own, 1},
		{"/api/v1/timelines/tag/hidden", anonymous, own, 3},
		{"/api/v1/timelines/tag/none?any[]=hidden", anonymous, own, 3},
		{"/api/v1/timelines/tag/hidden?any[]=other&all[]=hidden", anonymous, own, 3},
		{"/api/v1/timelines/public", blocker, visible, 3},
		{"/api/v1/timelines/public?local=true", blocker, visible, 3},
		{"/api/v1/timelines/public", muter, visible, 3},
		{"/api/v1/timelines/public?exclude_visibilities[]=local", other, own, 3},
		{profile + "?exclude_visibilities[]=local&exclude_visibilities[]=private", author, own, 5},
		{profile + "?exclude_visibilities[]=local", other, own, 5},
		{"/api/v1/timelines/list/" + list + "?exclude_visibilities[]=local&exclude_visibilities[]=private", listOwner, own, 5},
		{"/api/v1/svc/accounts/" + other.ID + "/favourites", anonymous, own, 5},
	} {
		t.Run(tt.path+" of "+tt.as.Nickname, func(t *testing.T) {
			a, pages := firstEntries(t, tt.as, tt.path)
			if ids := a.IDs(); len(ids) == 0 || ids[0] != tt.want || pages != tt.pages {
				t.Errorf("after %d pages, the list has %v, want %s after %d", pages, ids, tt.want, tt.pages)
			}
		})
	}
	t.Run("upwards", func(t *testing.T) {
		newest := author.Publish("the newest").ID()
		a := other.Get(profile, "exclude_visibilities[]", "local", "min_id", own).Want(200)
		pages := 1
		for ; len(a.IDs()) == 0 && a.Links()["prev"] != "" && pages < 20; pages++ {
			if a.Links()["next"] != "" {
				t.Fatalf("an empty page has the links %v", a.Links())
			}
			a = other.Get(a.Links()["prev"]).Want(200)
		}
		if ids := a.IDs(); len(ids) != 1 || ids[0] != newest || pages != 5 {
			t.Errorf("after %d pages, the list has %v, want %s after 5", pages, ids, newest)
		}
	})
}

// firstEntries follows the links of a list to the first page that has entries.
func firstEntries(t *testing.T, as *apptest.User, path string) (a *apptest.Response, pages int) {
	t.Helper()
	a = as.Get(path).Want(200)
	for pages = 1; len(a.List()) == 0 && a.Links()["next"] != "" && pages < 20; pages++ {
		if a.Links()["prev"] != "" {
			t.Fatalf("an empty page has the links %v", a.Links())
		}
		a = as.Get(a.Links()["next"]).Want(200)
	}
	return a, pages
}

// TestScanBudgetOfAccounts walks lists in which the accounts of a suspended domain come before the one that is shown.
func TestScanBudgetOfAccounts(t *testing.T) {
	srv := apptest.Start(t)
	owner, other := srv.SignUp("owner"), srv.SignUp("other")
	const hidden = 4*scanBudget + 100
	addUnavailableAccounts(srv, hidden)
	listed := `SELECT id, row_number() OVER (ORDER BY id) + 1000 AS row FROM accounts WHERE domain = 'many.example' OR id = ?2`
	for _, query := range []string{
		`INSERT INTO follows (id, follower_id, target_id, pending, follower_local, show_reblogs) SELECT row, id, ?1, 0, 0, 1 FROM (` + listed + `)`,
		`INSERT INTO follows (id, follower_id, target_id, pending, follower_local, show_reblogs) SELECT row + 10000, ?1, id, 0, 1, 1 FROM (` + listed + `)`,
		`INSERT INTO blocks (account_id, target_id) SELECT ?1, id FROM (` + listed + `)`,
		`INSERT INTO mutes (account_id, target_id, hide_notifications) SELECT ?1, id, 0 FROM (` + listed + `)`,
		`INSERT INTO endorsements (account_id, target_id) SELECT ?1, id FROM (` + listed + `)`,
	} {
		srv.Exec(query, owner.AccountID(), other.AccountID())
	}
	asked := srv.SignUp("asked")
	for _, query := range []string{
		`INSERT INTO follows (id, follower_id, target_id, pending, follower_local, show_reblogs) SELECT row + 20000, id, ?1, 1, 0, 1 FROM (` + listed + `)`,
		`INSERT INTO chats (id, account_id, other_id, position, updated_at) SELECT row, ?1, id, row, 1 FROM (` + listed + `)`,
		`INSERT INTO notification_requests (id, account_id, from_id) SELECT row, ?1, id FROM (` + listed + `)`,
		`INSERT INTO notifications (id, account_id, type, from_id, filtered) SELECT row, ?1, 'follow', id, 1 FROM (` + listed + `)`,
	} {
		srv.Exec(query, asked.AccountID(), other.AccountID())
	}
	srv.Exec(`PRAGMA analysis_limit = 1000; ANALYZE`)
	anonymous := &apptest.User{Client: srv.As(nil), Nickname: "nobody"}
	for _, tt := range []struct {
		path string
		as   *apptest.User
	}{
		{"/api/v1/accounts/" + owner.ID + "/followers", anonymous},
		{"/api/v1/accounts/" + owner.ID + "/following", anonymous},
		{"/api/v1/accounts/" + owner.ID + "/endorsements", anonymous},
		{"/api/v1/endorsements", owner},
		{"/api/v1/blocks", owner},
		{"/api/v1/mutes", owner},
		{"/api/v1/follow_requests", asked},
		{"/api/v2/svc/chats", asked},
		{"/api/v1/notifications/requests", asked},
	} {
		t.Run(tt.path+" of "+tt.as.Nickname, func(t *testing.T) {
			a, pages := firstEntries(t, tt.as, tt.path)
			list := a.List()
			if len(list) != 1 || pages != 5 {
				t.Fatalf("after %d pages, the list has %s, want one entry after 5", pages, a.Body)
			}
			id := list[0].Find("account.id")
			if id == nil {
				id = list[0].ID()
			}
			if id != other.ID {
				t.Errorf("the list has %s", a.Body)
			}
		})
	}
	for _, path := range []string{"/users/owner/followers", "/users/owner/following"} {
		t.Run(path, func(t *testing.T) {
			next := srv.URL + path + "?page=true"
			for pages := 1; ; pages++ {
				req, _ := http.NewRequestWithContext(t.Context(), "GET", next, http.NoBody)
				req.Header.Set("Accept", apptest.ActivityJSON)
				page := srv.As(nil).DoRequest(req).Want(200).Document()
				items := page["orderedItems"].([]any)
				next, _ = page["next"].(string)
				if len(items) > 0 || next == "" {
					if len(items) != 1 || pages != 5 {
						t.Errorf("after %d pages, the collection has %v, want one after 5", pages, items)
					}
					return
				}
			}
		})
	}
}

// cpu returns the CPU time that the process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkHidden measures pages of lists in which the newest 200 000 posts are hidden from the viewer.
func BenchmarkHidden(b *testing.B) {
	srv := apptest.Start(b, func(c *config.Config) { c.Federation.AllowLoopback = true })
	author, blocker, muter, follower := srv.SignUp("author"), srv.SignUp("blocker"), srv.SignUp("muter"), srv.SignUp("follower")
	for i := range 30 {
		author.Publish(fmt.Sprint("post ", i, " #hidden"))
	}
	hiddenPosts(srv, author, 200_000)
	srv.AddBlock(blocker, author)
	srv.AddMute(muter, author)
	profile := "/api/v1/accounts/" + author.ID + "/statuses"
	for _, bb := range []struct {
		name, path, token string
		document          bool
	}{
		{"profile", profile, "", false},
		{"profile_no_replies", profile + "?exclude_replies=true&exclude_reblogs=true", "", false},
		{"profile_media", profile + "?only_media=true", "", false},
		{"profile_tagged", profile + "?tagged=other", "", false},
		{"public", "/api/v1/timelines/public", "", false},
		{"local", "/api/v1/timelines/public?local=true", "", false},
		{"local_media", "/api/v1/timelines/public?local=true&only_media=true", "", false},
		{"tag", "/api/v1/timelines/tag/hidden", "", false},
		{"outbox", "/users/author/outbox?page=true", "", true},
		{"page", "/@author", "", false},
		{"public_blocked", "/api/v1/timelines/public", blocker.Token, false},
		{"public_muted", "/api/v1/timelines/public", muter.Token, false},
		{"public_visibilities", "/api/v1/timelines/public?exclude_visibilities[]=local&exclude_visibilities[]=public", follower.Token, false},
		{"profile_not_following", profile, follower.Token, false},
		{"profile_own", profile + "?exclude_visibilities[]=local&exclude_visibilities[]=private", author.Token, false},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			before := cpu()
			for b.Loop() {
				req := httptest.NewRequest("GET", bb.path, http.NoBody)
				if bb.token != "" {
					req.Header.Set("Authorization", "Bearer "+bb.token)
				}
				if bb.document {
					req.Header.Set("Accept", "application/activity+json")
				}
				w := httptest.NewRecorder()
				srv.HTTP.ServeHTTP(w, req)
				if w.Code != 200 {
					b.Fatalf("%s: %d %s", bb.path, w.Code, w.Body)
				}
			}
			b.ReportMetric(float64((cpu()-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}

package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc/app/apptest"
	"svc/server"
	"svc/server/entity"
	"svc/store"
)

// filterMatches returns the title, matched keywords and number of matched statuses of each filter of a status.
func filterMatches(o *apptest.Object, path string) []string {
	o.T.Helper()
	list := []string{}
	for _, v := range o.At(path).([]any) {
		r := &apptest.Object{T: o.T, Fields: v.(map[string]any)}
		list = append(list, fmt.Sprintf("%s%v%d", r.Str("filter.title"), r.At("keyword_matches"), len(r.At("status_matches").([]any))))
	}
	return list
}

func TestFiltered(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	alice.AccountAction(bob.ID, "follow")
	alice.AccountAction(carol.ID, "follow")
	picture := bob.Upload(apptest.PNG(3, 3), apptest.ValuePart("description", "a GIRAFFE in the zoo")).ID()
	posts := map[string]string{
		"content":     bob.Publish("I saw a Giraffe.").ID(),
		"markup":      bob.Publish("gir<b>aff</b>e", "content_type", "text/html").ID(),
		"attribute":   bob.Publish(`<span class="giraffe">nothing</span>`, "content_type", "text/html").ID(),
		"subject":     bob.Publish("look inside", "spoiler_text", "giraffe").ID(),
		"option":      bob.Publish("which?", "poll[options][]", "a giraffe", "poll[options][]", "b", "poll[expires_in]", "3600").ID(),
		"description": bob.Publish("a picture", "media_ids[]", picture).ID(),
		"part":        bob.Publish("giraffes").ID(),
		"nothing":     bob.Publish("an elephant").ID(),
		"reply":       bob.Publish("a giraffe again", "in_reply_to_id", bob.Publish("root").ID()).ID(),
		"own":         alice.Publish("my giraffe").ID(),
		"boost":       carol.Post("/api/v1/statuses/" + bob.Publish("boosted giraffe").ID() + "/reblog").Want(200).Object().ID(),
		"own boost":   alice.Post("/api/v1/statuses/" + bob.Publish("my boosted giraffe").ID() + "/reblog").Want(200).Object().ID(),
		"emoji":       bob.Publish("🦒").ID(),
	}
	filter := addFilter(alice, "warn", "giraffe", "🦒")
	hit, none := []string{"filter[giraffe]0"}, []string{}
	for name, want := range map[string][]string{
		"content": hit, "markup": hit, "attribute": none, "subject": hit, "description": hit, "option": hit, "part": none, "nothing": none, "reply": hit,
		"own": none, "boost": hit, "own boost": hit, "emoji": {"filter[🦒]0"},
	} {
		st := alice.Get("/api/v1/statuses/" + posts[name]).Want(200).Object()
		if got := filterMatches(st, "filtered"); !slices.Equal(got, want) {
			t.Errorf("%s: filtered is %v, want %v", name, got, want)
		}
		if strings.Contains(name, "boost") && !slices.Equal(filterMatches(st, "reblog.filtered"), want) {
			t.Errorf("%s: within, filtered is %v, want %v", name, filterMatches(st, "reblog.filtered"), want)
		}
		for _, viewer := range []*apptest.Client{bob.Client, srv.As(nil)} {
			if got := filterMatches(viewer.Get("/api/v1/statuses/"+posts[name]).Want(200).Object(), "filtered"); len(got) > 0 {
				t.Errorf("%s: alice's filters are applied for others: %v", name, got)
			}
		}
	}
	result := alice.Get("/api/v1/statuses/" + posts["content"]).Object().At("filtered").([]any)[0].(map[string]any)["filter"].(map[string]any)
	if result["id"] != filter || result["filter_action"] != "warn" || fmt.Sprint(result["context"]) != "[home notifications public thread account]" || result["keywords"] != nil {
		t.Errorf("the filter in the result is %v", result)
	}

	// All endpoints that render the status apply the filter.
	carol.Publish("@alice giraffe in a notification")
	for _, path := range []string{
		"/api/v1/timelines/home?limit=40", "/api/v1/timelines/public?limit=40", "/api/v1/accounts/" + bob.ID + "/statuses?limit=40",
		"/api/v1/statuses?ids[]=" + posts["content"],
	} {
		n := 0
		for _, st := range alice.Get(path).Want(200).List() {
			n += len(filterMatches(st, "filtered"))
		}
		if n == 0 {
			t.Errorf("nothing is filtered on %s", path)
		}
	}
	root := alice.Get("/api/v1/statuses/" + posts["reply"]).Object().Str("in_reply_to_id")
	descendant := alice.Get("/api/v1/statuses/" + root + "/context").Want(200).Object().At("descendants").([]any)[0].(map[string]any)
	if len(descendant["filtered"].([]any)) != 1 {
		t.Error("nothing is filtered in the thread")
	}
	if got := filterMatches(alice.Get("/api/v1/notifications").Want(200).List()[0], "status.filtered"); !slices.Equal(got, hit) {
		t.Errorf("in a notification, filtered is %v", got)
	}

	// Each change applies at once.
	check := func(when, post string, want ...string) {
		t.Helper()
		if got := filterMatches(alice.Get("/api/v1/statuses/"+posts[post]).Want(200).Object(), "filtered"); !slices.Equal(got, append([]string{}, want...)) {
			t.Errorf("%s: filtered is %v, want %v", when, got, want)
		}
	}
	bob.EditStatus(posts["content"], map[string]any{"status": "I saw nothing"}).Want(200)
	check("an edit", "content")
	bob.EditStatus(posts["nothing"], map[string]any{"status": "a giraffe after all"}).Want(200)
	check("another edit", "nothing", "filter[giraffe]0")
	bob.EditStatus(posts["description"], map[string]any{"status": "a picture", "media_ids": []string{picture}, "media_attributes": []any{map[string]any{"id": picture, "description": "a bird"}}}).Want(200)
	check("another description", "description")
	k := alice.SendJSON("POST", "/api/v2/filters/"+filter+"/keywords", map[string]any{"keyword": "fter"}).Want(200).Object().ID()
	check("another keyword", "nothing", "filter[giraffe fter]0")
	alice.SendJSON("PUT", "/api/v2/filters/keywords/"+k, map[string]any{"whole_word": true}).Want(200)
	check("as a whole word", "nothing", "filter[giraffe]0")
	filterStatus := alice.SendJSON("POST", "/api/v2/filters/"+filter+"/statuses", map[string]any{"status_id": posts["boost"]}).Want(200).Object()
	check("a listed status", "boost", "filter[giraffe]1")
	if got := alice.Get("/api/v1/statuses/" + posts["boost"]).Object().At("filtered").([]any)[0].(map[string]any)["status_matches"].([]any)[0]; got != filterStatus.Str("status_id") {
		t.Errorf("the matched status is %v", got)
	}
	alice.SendJSON("DELETE", "/api/v2/filters/statuses/"+filterStatus.ID(), nil).Want(200)
	check("a status no longer listed", "boost", "filter[giraffe]0")
	phrases := alice.Get("/api/v1/filters").Want(200).IDs()
	second := alice.SendJSON("POST", "/api/v1/filters", map[string]any{"phrase": "BOOSTED", "context": "public", "expires_in": 1000}).Want(200).Object()
	check("two filters", "boost", "filter[giraffe]0", "BOOSTED[BOOSTED]0")
	srv.Exec(`UPDATE filters SET expires_at = ? WHERE expires_at IS NOT NULL`, time.Now().UnixMilli()-1000)
	check("an expired one", "boost", "filter[giraffe]0")
	alice.Get("/api/v1/filters/" + second.ID()).Want(200)
	apptest.WantIDs(t, "the expired filter is listed", alice.Get("/api/v1/filters"), append(phrases, second.ID())...)
	whole := alice.Get("/api/v2/filters").Want(200).IDs()[1]
	if fault := within(alice.SendJSON("PUT", "/api/v2/filters/"+whole, map[string]any{"title": "x", "expires_in": -3}).Want(200).Object(), "expires_at", 0); fault != "" {
		t.Errorf("changing an expired filter: %s", fault)
	}
	alice.SendJSON("PUT", "/api/v2/filters/"+whole, map[string]any{"expires_in": nil}).Want(200)
	check("without an end", "boost", "filter[giraffe]0", "x[BOOSTED]0")
	alice.SendJSON("DELETE", "/api/v2/filters/"+filter, nil).Want(200)
	check("deleted", "boost", "x[BOOSTED]0")
	check("deleted", "subject")
}

// TestFilterExpires checks that a filter stops matching when it expires.
func TestFilterExpires(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	st := "/api/v1/statuses/" + bob.Publish("word").ID()
	addFilter(alice, "warn", "word")
	srv.Exec(`UPDATE filters SET expires_at = ?`, time.Now().UnixMilli()+300)
	alice.Get(st).Want(200)
	for deadline := time.Now().Add(10 * time.Second); len(filterMatches(alice.Get(st).Want(200).Object(), "filtered")) > 0; {
		if time.Now().After(deadline) {
			t.Fatal("the filter still matches")
		}
	}
}

// TestHiddenInHome checks that home omits hidden statuses, and that pages are full while there are more statuses.
func TestHiddenInHome(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	alice.AccountAction(bob.ID, "follow")
	alice.AccountAction(carol.ID, "follow")
	var shown, all []string
	post := func(text string, hidden bool) string {
		id := bob.Publish(text).ID()
		all = append([]string{id}, all...)
		if !hidden {
			shown = append([]string{id}, shown...)
		}
		return id
	}
	for i := range 60 {
		switch {
		case i < 5, i%7 == 0:
			post("a post", false)
		case i > 20 && i < 50: // more than any page has
			post("the bad word, again", true)
		default:
			post("a bad word", i%2 == 0)
			if i%2 != 0 {
				bob.EditStatus(all[0], map[string]any{"status": "a good word"}).Want(200)
			}
		}
	}
	boost := carol.Post("/api/v1/statuses/" + all[30] + "/reblog").Want(200).Object().ID()
	own := alice.Publish("my bad word").ID()
	mine := alice.Post("/api/v1/statuses/" + all[31] + "/reblog").Want(200).Object().ID()
	all = append([]string{mine, own, boost}, all...)
	const home = "/api/v1/timelines/home"
	apptest.WantPages(t, alice, home+"?limit=40", all)
	filter := addFilter(alice, "hide", "bad word")
	shown = append([]string{mine, own}, shown...)
	for _, limit := range []int{1, 2, 3, 7, 20, 40} {
		apptest.WantPages(t, alice, fmt.Sprintf("%s?limit=%d", home, limit), shown)
	}
	first := alice.Get(home, "limit", "10").Want(200)
	if got := first.IDs(); !slices.Equal(got, shown[:10]) {
		t.Errorf("the first page is %v, want %v", got, shown[:10])
	}
	for _, tt := range []struct {
		name   string
		params []string
		want   []string
	}{
		{"older than a hidden one", []string{"max_id", all[20], "limit", "3"}, newest(shown, 3, func(id string) bool { return id < all[20] })},
		{"newer than one", []string{"since_id", all[40], "limit", "3"}, shown[:3]},
		{"the next newer", []string{"min_id", all[40], "limit", "3"}, oldest(shown, 3, func(id string) bool { return id > all[40] })},
		{"between two", []string{"since_id", all[45], "max_id", all[16]}, newest(shown, 99, func(id string) bool { return id > all[45] && id < all[16] })},
		{"newer than all", []string{"since_id", mine}, nil},
		{"only hidden ones", []string{"since_id", all[25], "max_id", all[22]}, nil},
	} {
		a := alice.Get(home, tt.params...).Want(200)
		if got := a.IDs(); !slices.Equal(got, append([]string{}, tt.want...)) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
		if len(a.IDs()) == 0 && a.Header.Get("Link") != "" {
			t.Errorf("%s: an empty page has links: %s", tt.name, a.Header.Get("Link"))
		}
	}
	if got := alice.Get("/api/v1/accounts/"+bob.ID+"/statuses", "limit", "40").Want(200).IDs(); len(got) != 40 {
		t.Errorf("the profile has %d posts, want 40: only home and notifications omit hidden posts", len(got))
	}
	if got := bob.Get(home, "limit", "40").Want(200).IDs(); len(got) != 40 {
		t.Errorf("bob's home has %d posts", len(got))
	}
	alice.SendJSON("PUT", "/api/v2/filters/"+filter, map[string]any{"context": []string{"public", "notifications"}}).Want(200)
	apptest.WantPages(t, alice, home+"?limit=20", all)
	alice.SendJSON("PUT", "/api/v2/filters/"+filter, map[string]any{"context": []string{"home"}, "filter_action": "blur"}).Want(200)
	apptest.WantPages(t, alice, home+"?limit=20", all)
	id := alice.SendJSON("POST", "/api/v1/filters", map[string]any{"phrase": "bad WORD", "context": "home", "irreversible": true}).Want(200).Object().ID()
	apptest.WantPages(t, alice, home+"?limit=20", shown)
	alice.SendJSON("DELETE", "/api/v1/filters/"+id, nil).Want(200)
	apptest.WantPages(t, alice, home+"?limit=20", all)
}

// newest returns the newest n ids in a range, the newest first; oldest returns the oldest n.
func newest(ids []string, n int, in func(string) bool) []string {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !in(id) })
	return ids[:min(n, len(ids))]
}

func oldest(ids []string, n int, in func(string) bool) []string {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !in(id) })
	return ids[max(0, len(ids)-n):]
}

// TestHiddenForLong checks that the first page finds visible posts behind many hidden ones, and that a request scans a bounded number.
func TestHiddenForLong(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	addFilter(alice, "hide", "bad")
	const many = `WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
		INSERT INTO statuses (id, account_id, visibility, conversation_id, domain, created_at, uri, content)
		SELECT i, ?3, 0, i, '', i, 'x:' || i, CASE WHEN i <= 12 THEN 'good' ELSE 'bad' END FROM n`
	srv.Exec(many, 11, 300, bob.AccountID())
	srv.Exec(`INSERT INTO home (account_id, status_id) SELECT ?, id FROM statuses`, alice.AccountID())
	// found returns the first page that is not empty, and the number of requests: a slow server ends pages early.
	found := func(a *apptest.Response) (*apptest.Response, int) {
		requests := 1
		for ; string(a.Body) == "[]" && a.Links()["next"] != "" && requests < 1000; requests++ {
			a = alice.Get(a.Links()["next"]).Want(200)
		}
		return a, requests
	}
	a, _ := found(alice.Get("/api/v1/timelines/home", "limit", "2").Want(200))
	if len(a.IDs()) != 2 {
		t.Fatalf("got %v", a.IDs())
	}
	a, _ = found(alice.Get("/api/v1/timelines/home", "limit", "1").Want(200))
	if a, _ = found(alice.Get(a.Links()["next"]).Want(200)); len(a.IDs()) != 1 {
		t.Fatalf("after the first, there is %v", a.IDs())
	}
	srv.Exec(many, 301, 7000, bob.AccountID())
	srv.Exec(`INSERT OR IGNORE INTO home (account_id, status_id) SELECT ?, id FROM statuses`, alice.AccountID())
	a, requests := found(alice.Get("/api/v1/timelines/home", "limit", "2").Want(200))
	if len(a.IDs()) != 2 || requests < 10 {
		t.Errorf("after %d requests, got %s", requests, a.Body)
	}
}

// hidden is a list entry that every filter hides.
type hidden struct{ store.StatusID }

func (hidden) AppendJSON(dst []byte) []byte      { return dst }
func (hidden) HiddenIn(store.FilterContext) bool { return true }

// TestFilteredPageTime checks that a page stops scanning after a time limit.
func TestFilteredPageTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read := func(p store.Page) (store.Part[store.StatusID], error) {
			return store.Part[store.StatusID]{Rows: slices.Repeat([]store.StatusID{7}, p.Limit)}, nil
		}
		show := func(ids []store.StatusID) (entity.List[server.ListEntry], error) {
			list := make(entity.List[server.ListEntry], 0, len(ids))
			for _, id := range ids {
				time.Sleep(10 * time.Millisecond)
				list = append(list, hidden{id})
			}
			return list, nil
		}
		start := time.Now()
		shown, next, err := server.FilteredPage(store.Page{Limit: 20}, read, show)
		if d := time.Since(start); err != nil || len(shown) != 0 || next != 7 || d < 250*time.Millisecond || d > time.Second {
			t.Errorf("after %v, %d are listed, and the list goes on after %d, %v", d, len(shown), next, err)
		}
	})
}

// TestHiddenNotifications checks that hidden statuses cause no notifications, and that older notifications about them are not listed (extension API 21.3).
func TestHiddenNotifications(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	alice.AccountAction(bob.ID, "follow", "notify", "true")
	picture := bob.Upload(apptest.PNG(3, 3), apptest.ValuePart("description", "a bad picture")).ID()
	own := alice.Publish("my own bad post").ID()
	early := bob.Publish("@alice a bad start").ID()
	bob.Publish("@alice hello")
	for range 10 {
		bob.Publish("@alice bad")
	}
	before := alice.Get("/api/v1/notifications").Want(200).IDs()
	if len(before) != 12 {
		t.Fatalf("got %d notifications, want 12", len(before))
	}
	filter := addFilter(alice, "hide", "bad")
	wantNotified := func(want ...string) {
		t.Helper()
		if got := alice.Notifications(); !slices.Equal(got, want) {
			t.Errorf("notifications are %v, want %v", got, want)
		}
	}
	wantNotified("mention bob")
	apptest.WantPages(t, alice, "/api/v1/notifications?limit=1", before[10:11])
	alice.Get("/api/v1/notifications/" + before[0]).Want(200)
	bob.Publish("@alice another bad one")
	bob.Publish("for subscribers: bad")
	bob.Publish("@alice look", "media_ids[]", picture)
	bob.Publish("@alice inside", "spoiler_text", "bad")
	wantNotified("mention bob")
	bob.Publish("for subscribers")
	bob.AccountAction(alice.ID, "follow")
	bob.Post("/api/v1/statuses/" + own + "/favourite").Want(200)
	bob.Post("/api/v1/statuses/" + own + "/reblog").Want(200)
	all := []string{"reblog bob", "favourite bob", "follow bob", "status bob", "mention bob"}
	wantNotified(all...)
	bob.EditStatus(early, map[string]any{"status": "@alice a good start"}).Want(200)
	wantNotified(append(slices.Clone(all), "mention bob")...)

	// Filters for other contexts, or with another action, do not prevent notifications.
	for _, body := range []map[string]any{{"context": []string{"home", "public"}}, {"context": []string{"notifications"}, "filter_action": "warn"}} {
		alice.SendJSON("PUT", "/api/v2/filters/"+filter, body).Want(200)
		n := len(alice.Get("/api/v1/notifications").Want(200).IDs())
		bob.Publish("@alice a bad one with a notification")
		if got := len(alice.Get("/api/v1/notifications").Want(200).IDs()); got != n+1 || n < 16 {
			t.Errorf("with %v there are %d notifications before and %d after the post", body, n, got)
		}
	}
	alice.SendJSON("PUT", "/api/v2/filters/"+filter, map[string]any{"filter_action": "hide"}).Want(200)
	srv.Exec(`UPDATE filters SET expires_at = 1`)
	n := len(alice.Get("/api/v1/notifications").Want(200).IDs())
	bob.Publish("@alice a bad one after all")
	if got := len(alice.Get("/api/v1/notifications").Want(200).IDs()); got != n+1 {
		t.Error("an expired filter prevents a notification")
	}
}

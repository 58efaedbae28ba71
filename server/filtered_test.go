package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc/server"
	"svc/server/entity"
	"svc/store"
)

// matches returns why a status is filtered, filter by filter: the matched keywords and statuses.
func (o *object) matches(path string) []string {
	o.t.Helper()
	list := []string{}
	for _, v := range o.at(path).([]any) {
		r := &object{o.t, v.(map[string]any)}
		list = append(list, fmt.Sprintf("%s%v%d", r.str("filter.title"), r.at("keyword_matches"), len(r.at("status_matches").([]any))))
	}
	return list
}

func TestFiltered(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	alice.to(bob.id, "follow")
	alice.to(carol.id, "follow")
	picture := bob.upload(pngFile(3, 3), valuePart("description", "a GIRAFFE in the zoo")).id()
	posts := map[string]string{
		"content":     bob.publish("I saw a Giraffe.").id(),
		"markup":      bob.publish("gir<b>aff</b>e", "content_type", "text/html").id(),
		"attribute":   bob.publish(`<span class="giraffe">nothing</span>`, "content_type", "text/html").id(),
		"subject":     bob.publish("look inside", "spoiler_text", "giraffe").id(),
		"option":      bob.publish("which?", "poll[options][]", "a giraffe", "poll[options][]", "b", "poll[expires_in]", "3600").id(),
		"description": bob.publish("a picture", "media_ids[]", picture).id(),
		"part":        bob.publish("giraffes").id(),
		"nothing":     bob.publish("an elephant").id(),
		"reply":       bob.publish("a giraffe again", "in_reply_to_id", bob.publish("root").id()).id(),
		"own":         alice.publish("my giraffe").id(),
		"boost":       carol.post("/api/v1/statuses/" + bob.publish("boosted giraffe").id() + "/reblog").want(200).object().id(),
		"own boost":   alice.post("/api/v1/statuses/" + bob.publish("my boosted giraffe").id() + "/reblog").want(200).object().id(),
		"emoji":       bob.publish("🦒").id(),
	}
	filter := alice.filter("warn", "giraffe", "🦒")
	hit, none := []string{"filter[giraffe]0"}, []string{}
	for name, want := range map[string][]string{
		"content": hit, "markup": hit, "attribute": none, "subject": hit, "description": hit, "option": hit, "part": none, "nothing": none, "reply": hit,
		"own": none, "boost": hit, "own boost": hit, "emoji": {"filter[🦒]0"},
	} {
		st := alice.get("/api/v1/statuses/" + posts[name]).want(200).object()
		if got := st.matches("filtered"); !slices.Equal(got, want) {
			t.Errorf("%s: filtered is %v, want %v", name, got, want)
		}
		if strings.Contains(name, "boost") && !slices.Equal(st.matches("reblog.filtered"), want) {
			t.Errorf("%s: within, filtered is %v, want %v", name, st.matches("reblog.filtered"), want)
		}
		for _, who := range []*caller{bob.caller, srv.as(nil)} {
			if got := who.get("/api/v1/statuses/" + posts[name]).want(200).object().matches("filtered"); len(got) > 0 {
				t.Errorf("%s: alice's filters are applied for others: %v", name, got)
			}
		}
	}
	result := alice.get("/api/v1/statuses/" + posts["content"]).object().at("filtered").([]any)[0].(map[string]any)["filter"].(map[string]any)
	if result["id"] != filter || result["filter_action"] != "warn" || fmt.Sprint(result["context"]) != "[home notifications public thread account]" || result["keywords"] != nil {
		t.Errorf("the filter in the result is %v", result)
	}

	// It is the same wherever a status is shown.
	carol.publish("@alice giraffe in a notification")
	for _, path := range []string{
		"/api/v1/timelines/home?limit=40", "/api/v1/timelines/public?limit=40", "/api/v1/accounts/" + bob.id + "/statuses?limit=40",
		"/api/v1/statuses?ids[]=" + posts["content"],
	} {
		n := 0
		for _, st := range alice.get(path).want(200).list() {
			n += len(st.matches("filtered"))
		}
		if n == 0 {
			t.Errorf("nothing is filtered on %s", path)
		}
	}
	root := alice.get("/api/v1/statuses/" + posts["reply"]).object().str("in_reply_to_id")
	below := alice.get("/api/v1/statuses/" + root + "/context").want(200).object().at("descendants").([]any)[0].(map[string]any)
	if len(below["filtered"].([]any)) != 1 {
		t.Error("nothing is filtered in the thread")
	}
	if got := alice.get("/api/v1/notifications").want(200).list()[0].matches("status.filtered"); !slices.Equal(got, hit) {
		t.Errorf("in a notification, filtered is %v", got)
	}

	// Each change counts at once.
	check := func(when, post string, want ...string) {
		t.Helper()
		if got := alice.get("/api/v1/statuses/" + posts[post]).want(200).object().matches("filtered"); !slices.Equal(got, append([]string{}, want...)) {
			t.Errorf("%s: filtered is %v, want %v", when, got, want)
		}
	}
	bob.edit(posts["content"], map[string]any{"status": "I saw nothing"}).want(200)
	check("an edit", "content")
	bob.edit(posts["nothing"], map[string]any{"status": "a giraffe after all"}).want(200)
	check("another edit", "nothing", "filter[giraffe]0")
	bob.edit(posts["description"], map[string]any{"status": "a picture", "media_ids": []string{picture}, "media_attributes": []any{map[string]any{"id": picture, "description": "a bird"}}}).want(200)
	check("another description", "description")
	k := alice.send("POST", "/api/v2/filters/"+filter+"/keywords", map[string]any{"keyword": "fter"}).want(200).object().id()
	check("another keyword", "nothing", "filter[giraffe fter]0")
	alice.send("PUT", "/api/v2/filters/keywords/"+k, map[string]any{"whole_word": true}).want(200)
	check("as a whole word", "nothing", "filter[giraffe]0")
	named := alice.send("POST", "/api/v2/filters/"+filter+"/statuses", map[string]any{"status_id": posts["boost"]}).want(200).object()
	check("a named post", "boost", "filter[giraffe]1")
	if got := alice.get("/api/v1/statuses/" + posts["boost"]).object().at("filtered").([]any)[0].(map[string]any)["status_matches"].([]any)[0]; got != named.str("status_id") {
		t.Errorf("the matched status is %v", got)
	}
	alice.send("DELETE", "/api/v2/filters/statuses/"+named.id(), nil).want(200)
	check("not named any more", "boost", "filter[giraffe]0")
	phrases := alice.get("/api/v1/filters").want(200).ids()
	second := alice.send("POST", "/api/v1/filters", map[string]any{"phrase": "BOOSTED", "context": "public", "expires_in": 1000}).want(200).object()
	check("two filters", "boost", "filter[giraffe]0", "BOOSTED[BOOSTED]0")
	srv.insert(`UPDATE filters SET expires_at = ? WHERE expires_at IS NOT NULL`, time.Now().UnixMilli()-1000)
	check("an expired one", "boost", "filter[giraffe]0")
	alice.get("/api/v1/filters/" + second.id()).want(200)
	wantIDs(t, "the expired is listed", alice.get("/api/v1/filters"), append(phrases, second.id())...)
	whole := alice.get("/api/v2/filters").want(200).ids()[1]
	if fault := within(alice.send("PUT", "/api/v2/filters/"+whole, map[string]any{"title": "x", "expires_in": -3}).want(200).object(), "expires_at", 0); fault != "" {
		t.Errorf("an expired filter is changed otherwise: %s", fault)
	}
	alice.send("PUT", "/api/v2/filters/"+whole, map[string]any{"expires_in": nil}).want(200)
	check("made good again", "boost", "filter[giraffe]0", "x[BOOSTED]0")
	alice.send("DELETE", "/api/v2/filters/"+filter, nil).want(200)
	check("deleted", "boost", "x[BOOSTED]0")
	check("deleted", "subject")
}

// A filter does nothing once its time is over, without anybody doing anything.
func TestFilterExpires(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	st := "/api/v1/statuses/" + bob.publish("word").id()
	alice.filter("warn", "word")
	srv.insert(`UPDATE filters SET expires_at = ?`, time.Now().UnixMilli()+300)
	alice.get(st).want(200)
	for deadline := time.Now().Add(10 * time.Second); len(alice.get(st).want(200).object().matches("filtered")) > 0; {
		if time.Now().After(deadline) {
			t.Fatal("it is still in force")
		}
	}
}

// What a filter hides in home is not there, and no page is empty for it while there is more.
func TestHiddenInHome(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	alice.to(bob.id, "follow")
	alice.to(carol.id, "follow")
	var shown, all []string
	post := func(text string, hidden bool) string {
		id := bob.publish(text).id()
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
		case i > 20 && i < 50: // longer than any page
			post("the bad word, again", true)
		default:
			post("a bad word", i%2 == 0)
			if i%2 != 0 {
				bob.edit(all[0], map[string]any{"status": "a good word"}).want(200)
			}
		}
	}
	boost := carol.post("/api/v1/statuses/" + all[30] + "/reblog").want(200).object().id()
	own := alice.publish("my bad word").id()
	mine := alice.post("/api/v1/statuses/" + all[31] + "/reblog").want(200).object().id()
	all = append([]string{mine, own, boost}, all...)
	const home = "/api/v1/timelines/home"
	wantPages(t, alice, home+"?limit=40", all)
	filter := alice.filter("hide", "bad word")
	shown = append([]string{mine, own}, shown...)
	for _, limit := range []int{1, 2, 3, 7, 20, 40} {
		wantPages(t, alice, fmt.Sprintf("%s?limit=%d", home, limit), shown)
	}
	first := alice.get(home, "limit", "10").want(200)
	if got := first.ids(); !slices.Equal(got, shown[:10]) {
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
		a := alice.get(home, tt.params...).want(200)
		if got := a.ids(); !slices.Equal(got, append([]string{}, tt.want...)) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
		if len(a.ids()) == 0 && a.header.Get("Link") != "" {
			t.Errorf("%s: an empty page has links: %s", tt.name, a.header.Get("Link"))
		}
	}
	if got := alice.get("/api/v1/accounts/"+bob.id+"/statuses", "limit", "40").want(200).ids(); len(got) != 40 {
		t.Errorf("the profile has %d posts: only home and notifications lack them", len(got))
	}
	if got := bob.get(home, "limit", "40").want(200).ids(); len(got) != 40 {
		t.Errorf("bob's home has %d posts", len(got))
	}
	alice.send("PUT", "/api/v2/filters/"+filter, map[string]any{"context": []string{"public", "notifications"}}).want(200)
	wantPages(t, alice, home+"?limit=20", all)
	alice.send("PUT", "/api/v2/filters/"+filter, map[string]any{"context": []string{"home"}, "filter_action": "blur"}).want(200)
	wantPages(t, alice, home+"?limit=20", all)
	id := alice.send("POST", "/api/v1/filters", map[string]any{"phrase": "bad WORD", "context": "home", "irreversible": true}).want(200).object().id()
	wantPages(t, alice, home+"?limit=20", shown)
	alice.send("DELETE", "/api/v1/filters/"+id, nil).want(200)
	wantPages(t, alice, home+"?limit=20", all)
}

// newest returns up to n of ids, the newest first, that are in a range; oldest those at its other end.
func newest(ids []string, n int, in func(string) bool) []string {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !in(id) })
	return ids[:min(n, len(ids))]
}

func oldest(ids []string, n int, in func(string) bool) []string {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !in(id) })
	return ids[max(0, len(ids)-n):]
}

// However much is hidden, the first page has what there is, and a request has an end.
func TestHiddenForLong(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	alice.filter("hide", "bad")
	const many = `WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
		INSERT INTO statuses (id, account_id, visibility, conversation_id, domain, created_at, uri, content)
		SELECT i, ?3, 0, i, '', i, 'x:' || i, CASE WHEN i <= 12 THEN 'good' ELSE 'bad' END FROM n`
	srv.insert(many, 11, 700, bob.accountID())
	srv.insert(`INSERT INTO home (account_id, status_id) SELECT ?, id FROM statuses`, alice.accountID())
	a := alice.get("/api/v1/timelines/home", "limit", "2").want(200)
	if len(a.ids()) != 2 {
		t.Fatalf("got %v", a.ids())
	}
	a = alice.get("/api/v1/timelines/home", "limit", "1").want(200)
	if a = alice.get(a.links()["next"]).want(200); len(a.ids()) != 1 {
		t.Fatalf("after the first, there is %v", a.ids())
	}
	srv.insert(many, 701, 7000, bob.accountID())
	srv.insert(`INSERT OR IGNORE INTO home (account_id, status_id) SELECT ?, id FROM statuses`, alice.accountID())
	a = alice.get("/api/v1/timelines/home", "limit", "2").want(200)
	if string(a.body) != "[]" || a.header.Get("Link") != "" {
		t.Errorf("got %s, %s", a.body, a.header.Get("Link"))
	}
}

// hidden is an entry that is not shown.
type hidden struct{ store.StatusID }

func (hidden) AppendJSON(dst []byte) []byte     { return dst }
func (hidden) Dropped(store.FilterContext) bool { return true }

// Nor does it go on for long where each post takes its time.
func TestSiftTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read := func(p store.Page) ([]store.StatusID, error) { return make([]store.StatusID, p.Limit), nil }
		show := func(ids []store.StatusID) (entity.List[server.Entry], error) {
			list := make(entity.List[server.Entry], 0, len(ids))
			for _, id := range ids {
				time.Sleep(10 * time.Millisecond)
				list = append(list, hidden{id})
			}
			return list, nil
		}
		began := time.Now()
		scanned, shown, err := server.Sift(store.Page{Limit: 20}, read, show)
		if d := time.Since(began); err != nil || len(shown) != 0 || d < time.Second || d > 5*time.Second {
			t.Errorf("after %v, %d of %d are shown, %v", d, len(shown), len(scanned), err)
		}
	})
}

// Of what a filter hides nobody is told (extension API 21.3), and what they were told of it before is not listed.
func TestHiddenNotifications(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	alice.to(bob.id, "follow", "notify", "true")
	picture := bob.upload(pngFile(3, 3), valuePart("description", "a bad picture")).id()
	own := alice.publish("my own bad post").id()
	early := bob.publish("@alice a bad start").id()
	bob.publish("@alice hello")
	for range 10 {
		bob.publish("@alice bad")
	}
	before := alice.get("/api/v1/notifications").want(200).ids()
	if len(before) != 12 {
		t.Fatalf("got %d notifications, want 12", len(before))
	}
	filter := alice.filter("hide", "bad")
	told := func(want ...string) {
		t.Helper()
		if got := alice.notified(); !slices.Equal(got, want) {
			t.Errorf("notified of %v, want %v", got, want)
		}
	}
	told("mention bob")
	wantPages(t, alice, "/api/v1/notifications?limit=1", before[10:11])
	alice.get("/api/v1/notifications/" + before[0]).want(200)
	bob.publish("@alice another bad one")
	bob.publish("for subscribers: bad")
	bob.publish("@alice look", "media_ids[]", picture)
	bob.publish("@alice inside", "spoiler_text", "bad")
	told("mention bob")
	bob.publish("for subscribers")
	bob.to(alice.id, "follow")
	bob.post("/api/v1/statuses/" + own + "/favourite").want(200)
	bob.post("/api/v1/statuses/" + own + "/reblog").want(200)
	all := []string{"reblog bob", "favourite bob", "follow bob", "status bob", "mention bob"}
	told(all...)
	bob.edit(early, map[string]any{"status": "@alice a good start"}).want(200)
	told(append(slices.Clone(all), "mention bob")...)

	// A filter for other places, or of another kind, does not keep anything.
	for _, body := range []map[string]any{{"context": []string{"home", "public"}}, {"context": []string{"notifications"}, "filter_action": "warn"}} {
		alice.send("PUT", "/api/v2/filters/"+filter, body).want(200)
		n := len(alice.get("/api/v1/notifications").want(200).ids())
		bob.publish("@alice a bad one that is told of")
		if got := len(alice.get("/api/v1/notifications").want(200).ids()); got != n+1 || n < 16 {
			t.Errorf("with %v there are %d notifications, and then %d", body, n, got)
		}
	}
	alice.send("PUT", "/api/v2/filters/"+filter, map[string]any{"filter_action": "hide"}).want(200)
	srv.insert(`UPDATE filters SET expires_at = 1`)
	n := len(alice.get("/api/v1/notifications").want(200).ids())
	bob.publish("@alice a bad one after all")
	if got := len(alice.get("/api/v1/notifications").want(200).ids()); got != n+1 {
		t.Error("an expired filter keeps a notification")
	}
}

package server_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc/store"
)

// filter makes a filter that applies everywhere, and returns its id.
func (m *member) filter(action string, keywords ...string) string {
	m.api.t.Helper()
	var list []map[string]any
	for _, k := range keywords {
		list = append(list, map[string]any{"keyword": k, "whole_word": true})
	}
	return m.send("POST", "/api/v2/filters", map[string]any{
		"title": "filter", "context": store.FilterContexts, "filter_action": action, "keywords_attributes": list,
	}).want(200).object().id()
}

// enrichFilters makes filters of all kinds, and returns their ids by the names that paths in readable have for them.
func (a *api) enrichFilters(m *member, statuses []string) []string {
	a.t.Helper()
	t := a.t.(*testing.T)
	do := func(shape, method, path string, body map[string]any) *object {
		t.Helper()
		answer := m.send(method, path, body)
		wantEntity(t, m.nick, answer, shape)
		return answer.object()
	}
	filter := do("Filter", "POST", "/api/v2/filters", map[string]any{"title": "f", "context": []string{"home"}}).id()
	do("Filter", "PUT", "/api/v2/filters/"+filter, map[string]any{"expires_in": 1000})
	keyword := do("FilterKeyword", "POST", "/api/v2/filters/"+filter+"/keywords", map[string]any{"keyword": "reply"}).id()
	do("FilterKeyword", "PUT", "/api/v2/filters/keywords/"+keyword, map[string]any{"whole_word": true})
	var named string
	for _, id := range statuses[:3] {
		named = do("FilterStatus", "POST", "/api/v2/filters/"+filter+"/statuses", map[string]any{"status_id": id}).id()
	}
	phrase := do("Phrase", "POST", "/api/v1/filters", map[string]any{"phrase": "noise", "context": []string{"public", "home"}}).id()
	do("Phrase", "PUT", "/api/v1/filters/"+phrase, map[string]any{"phrase": "hear", "context": []string{"public"}})
	return []string{"FILTER", filter, "KEYWORD", keyword, "NAMED", named}
}

// within tells whether a time is that many seconds from now.
func within(o *object, path string, seconds int) string {
	at, err := time.Parse(time.RFC3339, fmt.Sprint(o.at(path)))
	want := time.Now().Add(time.Duration(seconds) * time.Second)
	if err != nil || at.Before(want.Add(-time.Minute)) || at.After(want.Add(time.Minute)) {
		return fmt.Sprintf("%s is %v, want about %v", path, o.at(path), want)
	}
	return ""
}

func TestFilters(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	type params = map[string]any
	words := func(o *object) string {
		list := []string{}
		for _, k := range o.at("keywords").([]any) {
			k := k.(map[string]any)
			list = append(list, fmt.Sprint(k["keyword"], "/", k["whole_word"]))
		}
		return strings.Join(list, " ")
	}
	wordsAre := func(want string) func(*object) string {
		return func(o *object) string {
			if got := words(o); got != want {
				return fmt.Sprintf("keywords are %q, want %q", got, want)
			}
			return ""
		}
	}
	contextIs := func(want string) func(*object) string {
		return func(o *object) string {
			if got := fmt.Sprint(o.at("context")); got != want {
				return "context is " + got
			}
			return ""
		}
	}
	expiresIn := func(seconds int) func(*object) string {
		return func(o *object) string { return within(o, "expires_at", seconds) }
	}
	one := alice.send("POST", "/api/v2/filters", params{
		"title": " Spoilers\n of  it ", "context": []string{"thread", "home", "home"}, "filter_action": "hide", "expires_in": 3600,
		"keywords_attributes": []params{{"keyword": "one", "whole_word": true}, {"keyword": " two\n words "}},
	}).want(200).object()
	for _, check := range []func(*object) string{
		memberIs("title", "Spoilers of it"), memberIs("filter_action", "hide"), contextIs("[thread home]"), expiresIn(3600), wordsAre("one/true two words/false"),
	} {
		if fault := check(one); fault != "" {
			t.Error(fault)
		}
	}
	first := one.at("keywords").([]any)[0].(map[string]any)["id"].(string)
	id, kept := one.id(), ""
	for _, tt := range []struct {
		name   string
		method string
		path   string
		body   params
		status int
		check  func(*object) string
	}{
		{"the least", "POST", "", params{"title": "t", "context": "home"}, 200, memberIs("filter_action", "warn")},
		{"unknown places", "POST", "", params{"title": "t", "context": []string{"home", "moon"}}, 200, contextIs("[home]")},
		{"blur", "POST", "", params{"title": "t", "context": []string{"home"}, "filter_action": "blur"}, 200, memberIs("filter_action", "blur")},
		{"no title", "POST", "", params{"context": []string{"home"}}, 422, memberIs("error", "Validation failed: Title can't be blank")},
		{"a blank title", "POST", "", params{"title": " \n", "context": []string{"home"}}, 422, memberIs("error", "Validation failed: Title can't be blank")},
		{"the longest title", "POST", "", params{"title": strings.Repeat("ö", 256), "context": []string{"home"}}, 200, nil},
		{"a longer title", "POST", "", params{"title": strings.Repeat("ö", 257), "context": []string{"home"}}, 422, memberIs("error", "Validation failed: Title is too long (maximum is 256 characters)")},
		{"no place", "POST", "", params{"title": "t"}, 422, memberIs("error", "Validation failed: Context can't be blank")},
		{"unknown places only", "POST", "", params{"title": "t", "context": []string{"moon"}}, 422, memberIs("error", "Validation failed: Context can't be blank")},
		{"an unknown action", "POST", "", params{"title": "t", "context": []string{"home"}, "filter_action": "burn"}, 422, memberIs("error", "Validation failed: Filter action is not included in the list")},
		{"an expiry that is no number", "POST", "", params{"title": "t", "context": []string{"home"}, "expires_in": "soon"}, 400, nil},
		{"an expiry that is a list", "POST", "", params{"title": "t", "context": []string{"home"}, "expires_in": params{"a": 1}}, 400, nil},
		{"a negative expiry", "POST", "", params{"title": "t", "context": []string{"home"}, "expires_in": -1}, 422, memberIs("error", "Validation failed: Expires in must not be negative")},
		{"a huge expiry", "POST", "", params{"title": "t", "context": []string{"home"}, "expires_in": int64(1) << 62}, 200, memberIs("expires_at", nil)},
		{"an expiry of nothing", "POST", "", params{"title": "t", "context": []string{"home"}, "expires_in": ""}, 200, memberIs("expires_at", nil)},
		{"keywords that are none", "POST", "", params{"title": "t", "context": []string{"home"}, "keywords_attributes": "x"}, 400, nil},
		{"a blank keyword", "POST", "", params{"title": "t", "context": []string{"home"}, "keywords_attributes": []params{{"keyword": " "}}}, 422, memberIs("error", "Validation failed: Keyword can't be blank")},
		{"a keyword that nobody sees", "POST", "", params{"title": "t", "context": []string{"home"}, "keywords_attributes": []params{{"keyword": "\u200b\u00ad"}}}, 422, memberIs("error", "Validation failed: Keyword can't be blank")},
		{"a keyword without a word", "POST", "", params{"title": "t", "context": []string{"home"}, "keywords_attributes": []params{{"whole_word": true}}}, 422, memberIs("error", "Validation failed: Keyword can't be blank")},
		{"the longest keyword", "POST", "", params{"title": "t", "context": []string{"home"}, "keywords_attributes": []params{{"keyword": strings.Repeat("ö", 256)}}}, 200, nil},
		{"a longer keyword", "POST", "", params{"title": "t", "context": []string{"home"}, "keywords_attributes": []params{{"keyword": strings.Repeat("ö", 257)}}}, 422, memberIs("error", "Validation failed: Keyword is too long (maximum is 256 characters)")},

		{"shown", "GET", "/" + id, nil, 200, wordsAre("one/true two words/false")},
		{"another title", "PUT", "/" + id, params{"title": "other"}, 200, memberIs("title", "other")},
		{"the rest stays", "GET", "/" + id, nil, 200, expiresIn(3600)},
		{"other places", "PUT", "/" + id, params{"context": []string{"public"}}, 200, contextIs("[public]")},
		{"no place any more", "PUT", "/" + id, params{"context": []string{}}, 422, nil},
		{"another action", "PUT", "/" + id, params{"filter_action": "warn"}, 200, memberIs("filter_action", "warn")},
		{"another expiry", "PUT", "/" + id, params{"expires_in": "60"}, 200, expiresIn(60)},
		{"a negative expiry again", "PUT", "/" + id, params{"expires_in": -60}, 422, nil},
		{"no expiry", "PUT", "/" + id, params{"expires_in": nil}, 200, memberIs("expires_at", nil)},
		{"an expiry once more", "PUT", "/" + id, params{"expires_in": 60}, 200, expiresIn(60)},
		{"an expiry of 0", "PUT", "/" + id, params{"expires_in": 0}, 200, memberIs("expires_at", nil)},
		{"keywords changed", "PUT", "/" + id, params{"keywords_attributes": []params{
			{"id": first, "whole_word": false}, {"keyword": "three"}, {"keyword": "never", "_destroy": true}}}, 200, wordsAre("one/false two words/false three/false")},
		{"a keyword of nobody's", "PUT", "/" + id, params{"title": "x", "keywords_attributes": []params{{"id": "1", "keyword": "x"}}}, 404, nil},
		{"a keyword of no id", "PUT", "/" + id, params{"title": "x", "keywords_attributes": []params{{"id": "one", "keyword": "x"}}}, 404, nil},
		{"a keyword gone", "PUT", "/" + id, params{"keywords_attributes": []params{{"id": first, "_destroy": true}}}, 200, wordsAre("two words/false three/false")},
		{"a keyword gone again", "PUT", "/" + id, params{"keywords_attributes": []params{{"id": first, "_destroy": true}}}, 404, nil},
		{"a fault changes nothing", "GET", "/" + id, nil, 200, memberIs("title", "other")},
		{"one that is not there", "GET", "/12345", nil, 404, memberIs("error", "Record not found")},
		{"one of no id", "GET", "/nonsense", nil, 404, memberIs("error", "Record not found")},
		{"one that is not there changed", "PUT", "/12345", params{"title": "x"}, 404, nil},
		{"one that is not there deleted", "DELETE", "/12345", nil, 404, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := alice.send(tt.method, "/api/v2/filters"+tt.path, tt.body).want(tt.status).object()
			if tt.check != nil {
				if fault := tt.check(o); fault != "" {
					t.Error(fault)
				}
			}
			if tt.status == 200 {
				kept = o.id()
			}
		})
	}
	form := alice.post("/api/v2/filters", "title", "form", "context[]", "home", "context[]", "public",
		"keywords_attributes[0][keyword]", "a", "keywords_attributes[0][whole_word]", "true", "keywords_attributes[1][keyword]", "b").want(200).object()
	if got := words(form); got != "a/true b/false" {
		t.Errorf("a form makes %q", got)
	}
	if all := alice.get("/api/v2/filters").want(200).ids(); !slices.Contains(all, id) || !slices.IsSorted(all) || all[len(all)-1] != form.id() {
		t.Errorf("filters are %v", all)
	}
	if got := bob.get("/api/v2/filters").want(200); string(got.body) != "[]" {
		t.Errorf("bob's filters are %s", got.body)
	}
	if a := alice.send("DELETE", "/api/v2/filters/"+kept, nil).want(200); string(a.body) != "{}" {
		t.Errorf("got %s, want {}", a.body)
	}
	alice.send("DELETE", "/api/v2/filters/"+kept, nil).wantError(404, "Record not found")
	alice.get("/api/v2/filters/"+kept).wantError(404, "Record not found")
}

// What is part of a filter has endpoints of its own, and is nobody else's.
func TestFilterParts(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	filter := alice.filter("warn")
	other := bob.filter("warn", "word")
	status := bob.publish("hello").id()
	private := bob.publish("secret", "visibility", "private").id()
	boost := alice.post("/api/v1/statuses/" + bob.publish("again").id() + "/reblog").want(200).object()
	path := "/api/v2/filters/" + filter

	alice.send("POST", path+"/keywords", nil).wantError(422, "Validation failed: Keyword can't be blank")
	alice.send("POST", path+"/keywords", map[string]any{"keyword": []string{"a", "b"}}).want(400)
	k := alice.send("POST", path+"/keywords", map[string]any{"keyword": "word", "whole_word": true}).want(200).object()
	if k.str("keyword") != "word" || !k.truth("whole_word") {
		t.Errorf("the keyword is %v", k.m)
	}
	keyword := "/api/v2/filters/keywords/" + k.id()
	changed := alice.send("PUT", keyword, map[string]any{"keyword": "words"}).want(200).object()
	if changed.str("keyword") != "words" || !changed.truth("whole_word") || changed.id() != k.id() {
		t.Errorf("the changed keyword is %v", changed.m)
	}
	alice.send("PUT", keyword, map[string]any{"keyword": ""}).wantError(422, "Validation failed: Keyword can't be blank")
	if got := alice.get(keyword).want(200).object(); got.str("keyword") != "words" {
		t.Errorf("the keyword is %v", got.m)
	}
	wantIDs(t, "keywords", alice.get(path+"/keywords"), k.id())

	alice.send("POST", path+"/statuses", nil).wantError(422, "Validation failed: Status can't be blank")
	for _, id := range []string{private, "0000000000000000AA", "nonsense"} {
		alice.send("POST", path+"/statuses", map[string]any{"status_id": id}).wantError(404, "Record not found")
	}
	st := alice.send("POST", path+"/statuses", map[string]any{"status_id": status}).want(200).object()
	if st.str("status_id") != status {
		t.Errorf("the status is %v", st.m)
	}
	alice.send("POST", path+"/statuses", map[string]any{"status_id": status}).wantError(422, "Validation failed: Status has already been taken")
	boosted := alice.send("POST", path+"/statuses", map[string]any{"status_id": boost.id()}).want(200).object()
	if got := boosted.str("status_id"); got != boost.str("reblog.id") {
		t.Errorf("of a boost, %s is filtered, want %s", got, boost.str("reblog.id"))
	}
	named := "/api/v2/filters/statuses/" + st.id()
	wantIDs(t, "statuses", alice.get(path+"/statuses"), st.id(), boosted.id())
	if got := alice.get(named).want(200).object().str("status_id"); got != status {
		t.Errorf("the status is %s", got)
	}
	alice.send("PUT", named, nil).want(404)

	for _, foreign := range []struct{ method, path string }{
		{"GET", path}, {"PUT", path}, {"DELETE", path}, {"GET", path + "/keywords"}, {"POST", path + "/keywords"}, {"GET", path + "/statuses"},
		{"POST", path + "/statuses"}, {"GET", keyword}, {"PUT", keyword}, {"DELETE", keyword}, {"GET", named}, {"DELETE", named},
		{"GET", "/api/v1/filters/" + k.id()}, {"PUT", "/api/v1/filters/" + k.id()}, {"DELETE", "/api/v1/filters/" + k.id()},
	} {
		body := map[string]any{"title": "t", "keyword": "x", "status_id": status, "phrase": "x", "context": []string{"home"}}
		bob.send(foreign.method, foreign.path, body).wantError(404, "Record not found")
		srv.as(nil).send(foreign.method, foreign.path, body).want(401)
	}
	bob.send("PUT", "/api/v2/filters/"+other, map[string]any{"keywords_attributes": []any{map[string]any{"id": k.id(), "_destroy": true}}}).want(404)
	if got := alice.get(path).want(200).object(); len(got.at("keywords").([]any)) != 1 || len(got.at("statuses").([]any)) != 2 {
		t.Errorf("others have changed it: %v", got.m)
	}
	bob.send("DELETE", "/api/v1/statuses/"+status, nil).want(200)
	wantIDs(t, "statuses, one of them gone", alice.get(path+"/statuses"), boosted.id())
	for _, p := range []string{keyword, "/api/v2/filters/statuses/" + boosted.id()} {
		if a := alice.send("DELETE", p, nil).want(200); string(a.body) != "{}" {
			t.Errorf("got %s, want {}", a.body)
		}
		alice.send("DELETE", p, nil).wantError(404, "Record not found")
	}
	if got := alice.get(path).want(200).object(); len(got.at("keywords").([]any)) != 0 || len(got.at("statuses").([]any)) != 0 {
		t.Errorf("the empty filter is %v", got.m)
	}
}

// Version 1 of the API has each keyword as a filter of its own.
func TestPhrases(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	type params = map[string]any
	const path = "/api/v1/filters"
	all := func(o *object) string {
		return fmt.Sprint(o.str("phrase"), o.at("context"), o.at("expires_at") != nil, o.truth("irreversible"), o.truth("whole_word"))
	}
	var id string
	for _, tt := range []struct {
		name, method string
		body         params
		status       int
		want         string
	}{
		{"made", "POST", params{"phrase": " bad\nword ", "context": []string{"home", "notifications"}, "irreversible": true, "whole_word": "true", "expires_in": 100}, 200, "bad word[home notifications] true true true"},
		{"shown", "GET", nil, 200, "bad word[home notifications] true true true"},
		{"replaced", "PUT", params{"phrase": "word", "context": []string{"public"}}, 200, "word[public] false false false"},
		{"no phrase", "PUT", params{"context": []string{"public"}}, 422, "Validation failed: Phrase can't be blank"},
		{"a phrase that nobody sees", "PUT", params{"phrase": "\u200b", "context": []string{"public"}}, 422, "Validation failed: Phrase can't be blank"},
		{"a long phrase", "PUT", params{"phrase": strings.Repeat("x", 257), "context": []string{"public"}}, 422, "Validation failed: Phrase is too long (maximum is 256 characters)"},
		{"no place", "PUT", params{"phrase": "x"}, 422, "Validation failed: Context can't be blank"},
		{"a negative expiry", "PUT", params{"phrase": "x", "context": []string{"home"}, "expires_in": -5}, 422, "Validation failed: Expires in must not be negative"},
		{"still the same", "GET", nil, 200, "word[public] false false false"},
		{"made without a phrase", "POST", params{"context": []string{"home"}}, 422, "Validation failed: Phrase can't be blank"},
		{"made without a place", "POST", params{"phrase": "x"}, 422, "Validation failed: Context can't be blank"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := path
			if tt.method != "POST" {
				p += "/" + id
			}
			o := alice.send(tt.method, p, tt.body).want(tt.status).object()
			if tt.status != 200 {
				if got := o.str("error"); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
				return
			}
			if got := all(o); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			id = o.id()
		})
	}
	if got := alice.get("/api/v2/filters").want(200).list(); len(got) != 1 || got[0].str("title") != "word" || got[0].str("filter_action") != "warn" {
		t.Errorf("version 2 has %v", got)
	}

	// A filter of several keywords is several.
	whole := alice.filter("hide", "one", "two", "three")
	phrases := alice.get(path).want(200).list()
	if len(phrases) != 4 || phrases[1].str("phrase") != "one" || !phrases[1].truth("irreversible") || !phrases[3].truth("whole_word") {
		t.Fatalf("phrases are %v", phrases)
	}
	one, two, three := phrases[1].id(), phrases[2].id(), phrases[3].id()
	everywhere := store.FilterContexts
	alice.send("PUT", path+"/"+one, params{"phrase": "uno", "context": everywhere, "irreversible": true}).want(200)
	if got := alice.get("/api/v2/filters/" + whole + "/keywords").want(200).list(); len(got) != 3 || got[0].str("keyword") != "uno" || got[0].truth("whole_word") {
		t.Errorf("keywords are %v", got)
	}
	if got := alice.get("/api/v2/filters/" + whole).object().str("title"); got != "filter" {
		t.Errorf("the title has become %q", got)
	}
	// What the others share is theirs: the changed one leaves them.
	if got := all(alice.send("PUT", path+"/"+two, params{"phrase": "dos", "context": []string{"home"}}).want(200).object()); got != "dos[home] false false false" {
		t.Errorf("got %s", got)
	}
	if got := all(alice.get(path + "/" + two).want(200).object()); got != "dos[home] false false false" {
		t.Errorf("got %s", got)
	}
	if got := all(alice.get(path + "/" + one).want(200).object()); got != fmt.Sprintf("uno%v false true false", everywhere) {
		t.Errorf("the other has become %s", got)
	}
	wantIDs(t, "keywords left", alice.get("/api/v2/filters/"+whole+"/keywords"), one, three)
	for _, p := range []string{one, three} {
		alice.get("/api/v2/filters/" + whole).want(200)
		if a := alice.send("DELETE", path+"/"+p, nil).want(200); string(a.body) != "{}" {
			t.Errorf("got %s, want {}", a.body)
		}
	}
	alice.get("/api/v2/filters/"+whole).wantError(404, "Record not found")
	alice.send("DELETE", path+"/"+one, nil).wantError(404, "Record not found")
	alice.get(path+"/"+whole).wantError(404, "Record not found")
	wantIDs(t, "phrases left", alice.get(path), id, two)
}

// Nobody can have so many filters that matching them takes long.
func TestFilterLimits(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	keywords := func(n int) []any {
		var list []any
		for i := range n {
			list = append(list, map[string]any{"keyword": fmt.Sprint("k", i)})
		}
		return list
	}
	id := alice.filter("warn")
	alice.send("PUT", "/api/v2/filters/"+id, map[string]any{"keywords_attributes": keywords(300)}).want(200)
	alice.send("PUT", "/api/v2/filters/"+id, map[string]any{"keywords_attributes": keywords(201)}).wantError(422, "Validation failed: Filters can have 500 keywords in all")
	second := alice.filter("warn")
	alice.send("PUT", "/api/v2/filters/"+second, map[string]any{"keywords_attributes": keywords(200)}).want(200)
	alice.send("POST", "/api/v2/filters/"+second+"/keywords", map[string]any{"keyword": "more"}).want(422)
	alice.send("POST", "/api/v1/filters", map[string]any{"phrase": "more", "context": "home"}).want(422)
	if got := len(alice.get("/api/v2/filters").ids()); got != 2 {
		t.Errorf("there are %d filters: what was refused has been made", got)
	}
	for range 98 {
		alice.filter("warn")
	}
	alice.send("POST", "/api/v2/filters", map[string]any{"title": "more", "context": "home"}).wantError(422, "Validation failed: You have as many filters as one can")
	k := alice.get("/api/v1/filters").want(200).ids()[0]
	alice.send("PUT", "/api/v1/filters/"+k, map[string]any{"phrase": "alone", "context": "home"}).want(422)

	filter := bob.filter("warn")
	st := alice.publish("hello").id()
	srv.insert(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
		INSERT INTO statuses (id, account_id, visibility, conversation_id, domain, created_at, uri) SELECT i, ?, 0, i, '', i, 'x:' || i FROM n`, alice.accountID())
	srv.insert(`INSERT INTO filter_statuses (id, filter_id, status_id) SELECT id, ?, id FROM statuses WHERE id < 1000`, filter)
	bob.send("POST", "/api/v2/filters/"+filter+"/statuses", map[string]any{"status_id": st}).want(200)
	st = alice.publish("hello again").id()
	bob.send("POST", "/api/v2/filters/"+filter+"/statuses", map[string]any{"status_id": st}).wantError(422, "Validation failed: Filters can have 1000 posts in all")
}

// Of two who do the same at the same time, one comes too late.
func TestFiltersAtOnce(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	filter := alice.filter("warn", "word")
	status := bob.publish("hello").id()
	for _, do := range []func() *answer{
		func() *answer {
			return alice.send("POST", "/api/v2/filters/"+filter+"/statuses", map[string]any{"status_id": status})
		},
		func() *answer { return alice.send("DELETE", "/api/v2/filters/"+filter, nil) },
	} {
		var wg sync.WaitGroup
		var done atomic.Int32
		for range 4 {
			wg.Go(func() {
				if a := do(); a.status == 200 {
					done.Add(1)
				} else if a.status != 404 && a.status != 422 {
					t.Errorf("got %d %s", a.status, a.body)
				}
			})
		}
		wg.Wait()
		if n := done.Load(); n != 1 {
			t.Errorf("%d came first", n)
		}
	}
}

// Open streams hear of each change, once; of what was refused they hear nothing.
func TestFiltersChanged(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	changes := 0
	srv.db.Subscribe(func(events []store.Event) {
		for _, e := range events {
			if c, ok := e.(store.FiltersChanged); ok && c.AccountID == alice.accountID() {
				changes++
			}
		}
	})
	status := alice.publish("hello").id()
	var filter, keyword, named, phrase string
	for i, change := range []func(){
		func() { filter = alice.filter("warn", "one", "two") },
		func() { alice.send("PUT", "/api/v2/filters/"+filter, map[string]any{"title": "x"}).want(200) },
		func() {
			keyword = alice.send("POST", "/api/v2/filters/"+filter+"/keywords", map[string]any{"keyword": "x"}).want(200).object().id()
		},
		func() {
			alice.send("PUT", "/api/v2/filters/keywords/"+keyword, map[string]any{"keyword": "y"}).want(200)
		},
		func() { alice.send("DELETE", "/api/v2/filters/keywords/"+keyword, nil).want(200) },
		func() {
			named = alice.send("POST", "/api/v2/filters/"+filter+"/statuses", map[string]any{"status_id": status}).want(200).object().id()
		},
		func() { alice.send("DELETE", "/api/v2/filters/statuses/"+named, nil).want(200) },
		func() { alice.send("DELETE", "/api/v2/filters/"+filter, nil).want(200) },
		func() {
			phrase = alice.send("POST", "/api/v1/filters", map[string]any{"phrase": "x", "context": "home"}).want(200).object().id()
		},
		func() {
			alice.send("PUT", "/api/v1/filters/"+phrase, map[string]any{"phrase": "y", "context": "home"}).want(200)
		},
		func() { alice.send("DELETE", "/api/v1/filters/"+phrase, nil).want(200) },
	} {
		changes = 0
		if change(); changes != 1 {
			t.Errorf("change %d was told %d times", i, changes)
		}
	}
	changes = 0
	alice.send("POST", "/api/v1/filters", map[string]any{"phrase": "x"}).want(422)
	alice.send("DELETE", "/api/v2/filters/"+filter, nil).want(404)
	if changes != 0 {
		t.Error("what was refused was told")
	}
}

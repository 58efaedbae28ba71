package server_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/store"
)

// addFilter creates a filter for all contexts, and returns its id.
func addFilter(m *apptest.User, action string, keywords ...string) string {
	m.Server.T.Helper()
	var list []map[string]any
	for _, k := range keywords {
		list = append(list, map[string]any{"keyword": k, "whole_word": true})
	}
	return m.SendJSON("POST", "/api/v2/filters", map[string]any{
		"title": "filter", "context": store.FilterContexts, "filter_action": action, "keywords_attributes": list,
	}).Want(200).Object().ID()
}

// addRichFilters creates filters of all kinds, and returns pairs of a placeholder in the paths of readable and an id.
func addRichFilters(a *apptest.Server, m *apptest.User, statuses []string) []string {
	a.T.Helper()
	t := a.T.(*testing.T)
	do := func(shape, method, path string, body map[string]any) *apptest.Object {
		t.Helper()
		response := m.SendJSON(method, path, body)
		WantEntity(t, m.Nickname, response, shape)
		return response.Object()
	}
	filter := do("Filter", "POST", "/api/v2/filters", map[string]any{"title": "f", "context": []string{"home"}}).ID()
	do("Filter", "PUT", "/api/v2/filters/"+filter, map[string]any{"expires_in": 1000})
	keyword := do("FilterKeyword", "POST", "/api/v2/filters/"+filter+"/keywords", map[string]any{"keyword": "reply"}).ID()
	do("FilterKeyword", "PUT", "/api/v2/filters/keywords/"+keyword, map[string]any{"whole_word": true})
	var filterStatus string
	for _, id := range statuses[:3] {
		filterStatus = do("FilterStatus", "POST", "/api/v2/filters/"+filter+"/statuses", map[string]any{"status_id": id}).ID()
	}
	phrase := do("Phrase", "POST", "/api/v1/filters", map[string]any{"phrase": "noise", "context": []string{"public", "home"}}).ID()
	do("Phrase", "PUT", "/api/v1/filters/"+phrase, map[string]any{"phrase": "sound", "context": []string{"public"}})
	do("Phrase", "PUT", "/api/v1/filters/"+phrase, map[string]any{"phrase": nil, "context": nil})
	return []string{"FILTER", filter, "KEYWORD", keyword, "NAMED", filterStatus}
}

// within returns "" if a time is about so many seconds from now, else a message.
func within(o *apptest.Object, path string, seconds int) string {
	at, err := time.Parse(time.RFC3339, fmt.Sprint(o.At(path)))
	want := time.Now().Add(time.Duration(seconds) * time.Second)
	if err != nil || at.Before(want.Add(-time.Minute)) || at.After(want.Add(time.Minute)) {
		return fmt.Sprintf("%s is %v, want about %v", path, o.At(path), want)
	}
	return ""
}

func TestFilters(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	type params = map[string]any
	words := func(o *apptest.Object) string {
		list := []string{}
		for _, k := range o.At("keywords").([]any) {
			k := k.(map[string]any)
			list = append(list, fmt.Sprint(k["keyword"], "/", k["whole_word"]))
		}
		return strings.Join(list, " ")
	}
	wordsAre := func(want string) func(*apptest.Object) string {
		return func(o *apptest.Object) string {
			if got := words(o); got != want {
				return fmt.Sprintf("keywords are %q, want %q", got, want)
			}
			return ""
		}
	}
	contextIs := func(want string) func(*apptest.Object) string {
		return func(o *apptest.Object) string {
			if got := fmt.Sprint(o.At("context")); got != want {
				return "context is " + got
			}
			return ""
		}
	}
	expiresIn := func(seconds int) func(*apptest.Object) string {
		return func(o *apptest.Object) string { return within(o, "expires_at", seconds) }
	}
	one := alice.SendJSON("POST", "/api/v2/filters", params{
		"title": " Spoilers\n of  it ", "context": []string{"thread", "home", "home"}, "filter_action": "hide", "expires_in": 3600,
		"keywords_attributes": []params{{"keyword": "one", "whole_word": true}, {"keyword": " two\n words "}},
	}).Want(200).Object()
	for _, check := range []func(*apptest.Object) string{
		fieldIs("title", "Spoilers of it"), fieldIs("filter_action", "hide"), contextIs("[thread home]"), expiresIn(3600), wordsAre("one/true two words/false"),
	} {
		if fault := check(one); fault != "" {
			t.Error(fault)
		}
	}
	first := one.At("keywords").([]any)[0].(map[string]any)["id"].(string)
	id, kept := one.ID(), ""
	for _, tt := range []struct {
		name   string
		method string
		path   string
		body   params
		status int
		check  func(*apptest.Object) string
	}{
		{"only required members", "POST", "", params{"title": "t", "context": "home"}, 200, fieldIs("filter_action", "warn")},
		{"unknown contexts", "POST", "", params{"title": "t", "context": []string{"home", "moon"}}, 422, fieldIs("error", `context - Invalid value "moon": must be home, notifications, public, thread or account.`)},
		{"blur", "POST", "", params{"title": "t", "context": []string{"home"}, "filter_action": "blur"}, 200, fieldIs("filter_action", "blur")},
		{"no title", "POST", "", params{"context": []string{"home"}}, 422, fieldIs("error", "Validation failed: Title can't be blank")},
		{"a blank title", "POST", "", params{"title": " \n", "context": []string{"home"}}, 422, fieldIs("error", "Validation failed: Title can't be blank")},
		{"the longest title", "POST", "", params{"title": strings.Repeat("ö", 256), "context": []string{"home"}}, 200, nil},
		{"a longer title", "POST", "", params{"title": strings.Repeat("ö", 257), "context": []string{"home"}}, 422, fieldIs("error", "Validation failed: Title is too long (maximum is 256 characters)")},
		{"no context", "POST", "", params{"title": "t"}, 422, fieldIs("error", "Validation failed: Context can't be blank")},
		{"no contexts", "POST", "", params{"title": "t", "context": []string{}}, 422, fieldIs("error", "Validation failed: Context can't be blank")},
		{"an unknown action", "POST", "", params{"title": "t", "context": []string{"home"}, "filter_action": "burn"}, 422, fieldIs("error", `filter_action - Invalid value "burn": must be warn, hide or blur.`)},
		{"an expiry that is not a number", "POST", "", params{"title": "t", "context": []string{"home"}, "expires_in": "soon"}, 400, nil},
		{"an expiry that is a list", "POST", "", params{"title": "t", "context": []string{"home"}, "expires_in": params{"a": 1}}, 400, nil},
		{"a negative expiry", "POST", "", params{"title": "t", "context": []string{"home"}, "expires_in": -1}, 422, fieldIs("error", "Validation failed: Expires in must not be negative")},
		{"a huge expiry", "POST", "", params{"title": "t", "context": []string{"home"}, "expires_in": int64(1) << 62}, 200, fieldIs("expires_at", nil)},
		{"an empty expiry", "POST", "", params{"title": "t", "context": []string{"home"}, "expires_in": ""}, 200, fieldIs("expires_at", nil)},
		{"malformed keywords", "POST", "", params{"title": "t", "context": []string{"home"}, "keywords_attributes": "x"}, 400, nil},
		{"a blank keyword", "POST", "", params{"title": "t", "context": []string{"home"}, "keywords_attributes": []params{{"keyword": " "}}}, 422, fieldIs("error", "Validation failed: Keyword can't be blank")},
		{"an invisible keyword", "POST", "", params{"title": "t", "context": []string{"home"}, "keywords_attributes": []params{{"keyword": "\u200b\u00ad"}}}, 422, fieldIs("error", "Validation failed: Keyword can't be blank")},
		{"a keyword without a text", "POST", "", params{"title": "t", "context": []string{"home"}, "keywords_attributes": []params{{"whole_word": true}}}, 422, fieldIs("error", "Validation failed: Keyword can't be blank")},
		{"the longest keyword", "POST", "", params{"title": "t", "context": []string{"home"}, "keywords_attributes": []params{{"keyword": strings.Repeat("ö", 256)}}}, 200, nil},
		{"a longer keyword", "POST", "", params{"title": "t", "context": []string{"home"}, "keywords_attributes": []params{{"keyword": strings.Repeat("ö", 257)}}}, 422, fieldIs("error", "Validation failed: Keyword is too long (maximum is 256 characters)")},

		{"shown", "GET", "/" + id, nil, 200, wordsAre("one/true two words/false")},
		{"another title", "PUT", "/" + id, params{"title": "other"}, 200, fieldIs("title", "other")},
		{"the rest is unchanged", "GET", "/" + id, nil, 200, expiresIn(3600)},
		{"other contexts", "PUT", "/" + id, params{"context": []string{"public"}}, 200, contextIs("[public]")},
		{"null, which changes nothing", "PUT", "/" + id, params{"context": nil}, 200, contextIs("[public]")},
		{"no contexts", "PUT", "/" + id, params{"context": []string{}}, 422, nil},
		{"another action", "PUT", "/" + id, params{"filter_action": "warn"}, 200, fieldIs("filter_action", "warn")},
		{"another expiry", "PUT", "/" + id, params{"expires_in": "60"}, 200, expiresIn(60)},
		{"a negative expiry again", "PUT", "/" + id, params{"expires_in": -60}, 422, nil},
		{"no expiry", "PUT", "/" + id, params{"expires_in": nil}, 200, fieldIs("expires_at", nil)},
		{"an expiry once more", "PUT", "/" + id, params{"expires_in": 60}, 200, expiresIn(60)},
		{"an expiry of 0", "PUT", "/" + id, params{"expires_in": 0}, 200, fieldIs("expires_at", nil)},
		{"keywords changed", "PUT", "/" + id, params{"keywords_attributes": []params{
			{"id": first, "whole_word": false}, {"keyword": "three"}, {"keyword": "never", "_destroy": true}}}, 200, wordsAre("one/false two words/false three/false")},
		{"an unknown keyword id", "PUT", "/" + id, params{"title": "x", "keywords_attributes": []params{{"id": "1", "keyword": "x"}}}, 404, nil},
		{"an invalid keyword id", "PUT", "/" + id, params{"title": "x", "keywords_attributes": []params{{"id": "one", "keyword": "x"}}}, 404, nil},
		{"a keyword deleted", "PUT", "/" + id, params{"keywords_attributes": []params{{"id": first, "_destroy": true}}}, 200, wordsAre("two words/false three/false")},
		{"a keyword deleted again", "PUT", "/" + id, params{"keywords_attributes": []params{{"id": first, "_destroy": true}}}, 404, nil},
		{"an error changes nothing", "GET", "/" + id, nil, 200, fieldIs("title", "other")},
		{"an unknown one", "GET", "/12345", nil, 404, fieldIs("error", "Record not found")},
		{"an invalid id", "GET", "/nonsense", nil, 404, fieldIs("error", "Record not found")},
		{"an unknown one changed", "PUT", "/12345", params{"title": "x"}, 404, nil},
		{"an unknown one deleted", "DELETE", "/12345", nil, 404, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := alice.SendJSON(tt.method, "/api/v2/filters"+tt.path, tt.body).Want(tt.status).Object()
			if tt.check != nil {
				if fault := tt.check(o); fault != "" {
					t.Error(fault)
				}
			}
			if tt.status == 200 {
				kept = o.ID()
			}
		})
	}
	form := alice.Post("/api/v2/filters", "title", "form", "context[]", "home", "context[]", "public",
		"keywords_attributes[0][keyword]", "a", "keywords_attributes[0][whole_word]", "true", "keywords_attributes[1][keyword]", "b").Want(200).Object()
	if got := words(form); got != "a/true b/false" {
		t.Errorf("a form creates %q", got)
	}
	if all := alice.Get("/api/v2/filters").Want(200).IDs(); !slices.Contains(all, id) || !slices.IsSorted(all) || all[len(all)-1] != form.ID() {
		t.Errorf("filters are %v", all)
	}
	if got := bob.Get("/api/v2/filters").Want(200); string(got.Body) != "[]" {
		t.Errorf("bob's filters are %s", got.Body)
	}
	if a := alice.SendJSON("DELETE", "/api/v2/filters/"+kept, nil).Want(200); string(a.Body) != "{}" {
		t.Errorf("got %s, want {}", a.Body)
	}
	alice.SendJSON("DELETE", "/api/v2/filters/"+kept, nil).WantError(404, "Record not found")
	alice.Get("/api/v2/filters/"+kept).WantError(404, "Record not found")
}

// TestFilterParts checks the endpoints of keywords and statuses of a filter, and that other users cannot access them.
func TestFilterParts(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	filter := addFilter(alice, "warn")
	other := addFilter(bob, "warn", "word")
	status := bob.Publish("hello").ID()
	private := bob.Publish("secret", "visibility", "private").ID()
	boost := alice.Post("/api/v1/statuses/" + bob.Publish("again").ID() + "/reblog").Want(200).Object()
	path := "/api/v2/filters/" + filter

	alice.SendJSON("POST", path+"/keywords", nil).WantError(422, "Validation failed: Keyword can't be blank")
	alice.SendJSON("POST", path+"/keywords", map[string]any{"keyword": []string{"a", "b"}}).Want(400)
	k := alice.SendJSON("POST", path+"/keywords", map[string]any{"keyword": "word", "whole_word": true}).Want(200).Object()
	if k.Str("keyword") != "word" || !k.Bool("whole_word") {
		t.Errorf("the keyword is %v", k.Fields)
	}
	keyword := "/api/v2/filters/keywords/" + k.ID()
	changed := alice.SendJSON("PUT", keyword, map[string]any{"keyword": "words"}).Want(200).Object()
	if changed.Str("keyword") != "words" || !changed.Bool("whole_word") || changed.ID() != k.ID() {
		t.Errorf("the changed keyword is %v", changed.Fields)
	}
	alice.SendJSON("PUT", keyword, map[string]any{"keyword": ""}).WantError(422, "Validation failed: Keyword can't be blank")
	if got := alice.Get(keyword).Want(200).Object(); got.Str("keyword") != "words" {
		t.Errorf("the keyword is %v", got.Fields)
	}
	apptest.WantIDs(t, "keywords", alice.Get(path+"/keywords"), k.ID())

	alice.SendJSON("POST", path+"/statuses", nil).WantError(422, "Validation failed: Status can't be blank")
	for _, id := range []string{private, "0000000000000000AA", "nonsense"} {
		alice.SendJSON("POST", path+"/statuses", map[string]any{"status_id": id}).WantError(404, "Record not found")
	}
	st := alice.SendJSON("POST", path+"/statuses", map[string]any{"status_id": status}).Want(200).Object()
	if st.Str("status_id") != status {
		t.Errorf("the status is %v", st.Fields)
	}
	alice.SendJSON("POST", path+"/statuses", map[string]any{"status_id": status}).WantError(422, "Validation failed: Status has already been taken")
	boosted := alice.SendJSON("POST", path+"/statuses", map[string]any{"status_id": boost.ID()}).Want(200).Object()
	if got := boosted.Str("status_id"); got != boost.Str("reblog.id") {
		t.Errorf("for a boost, status %s is filtered, want %s", got, boost.Str("reblog.id"))
	}
	filterStatus := "/api/v2/filters/statuses/" + st.ID()
	apptest.WantIDs(t, "statuses", alice.Get(path+"/statuses"), st.ID(), boosted.ID())
	if got := alice.Get(filterStatus).Want(200).Object().Str("status_id"); got != status {
		t.Errorf("the status is %s", got)
	}
	alice.SendJSON("PUT", filterStatus, nil).Want(405)

	for _, request := range []struct{ method, path string }{
		{"GET", path}, {"PUT", path}, {"DELETE", path}, {"GET", path + "/keywords"}, {"POST", path + "/keywords"}, {"GET", path + "/statuses"},
		{"POST", path + "/statuses"}, {"GET", keyword}, {"PUT", keyword}, {"DELETE", keyword}, {"GET", filterStatus}, {"DELETE", filterStatus},
		{"GET", "/api/v1/filters/" + k.ID()}, {"PUT", "/api/v1/filters/" + k.ID()}, {"DELETE", "/api/v1/filters/" + k.ID()},
	} {
		body := map[string]any{"title": "t", "keyword": "x", "status_id": status, "phrase": "x", "context": []string{"home"}}
		bob.SendJSON(request.method, request.path, body).WantError(404, "Record not found")
		srv.As(nil).SendJSON(request.method, request.path, body).Want(401)
	}
	bob.SendJSON("PUT", "/api/v2/filters/"+other, map[string]any{"keywords_attributes": []any{map[string]any{"id": k.ID(), "_destroy": true}}}).Want(404)
	if got := alice.Get(path).Want(200).Object(); len(got.At("keywords").([]any)) != 1 || len(got.At("statuses").([]any)) != 2 {
		t.Errorf("another user has changed it: %v", got.Fields)
	}
	bob.SendJSON("DELETE", "/api/v1/statuses/"+status, nil).Want(200)
	apptest.WantIDs(t, "statuses, one of them deleted", alice.Get(path+"/statuses"), boosted.ID())
	for _, p := range []string{keyword, "/api/v2/filters/statuses/" + boosted.ID()} {
		if a := alice.SendJSON("DELETE", p, nil).Want(200); string(a.Body) != "{}" {
			t.Errorf("got %s, want {}", a.Body)
		}
		alice.SendJSON("DELETE", p, nil).WantError(404, "Record not found")
	}
	if got := alice.Get(path).Want(200).Object(); len(got.At("keywords").([]any)) != 0 || len(got.At("statuses").([]any)) != 0 {
		t.Errorf("the empty filter is %v", got.Fields)
	}
}

// TestPhrases checks version 1 of the API, in which each keyword is a filter.
func TestPhrases(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	type params = map[string]any
	const path = "/api/v1/filters"
	all := func(o *apptest.Object) string {
		return fmt.Sprint(o.Str("phrase"), o.At("context"), o.At("expires_at") != nil, o.Bool("irreversible"), o.Bool("whole_word"))
	}
	var id string
	for _, tt := range []struct {
		name, method string
		body         params
		status       int
		want         string
	}{
		{"created", "POST", params{"phrase": " bad\nword ", "context": []string{"home", "notifications"}, "irreversible": true, "whole_word": "true", "expires_in": 100}, 200, "bad word[home notifications] true true true"},
		{"shown", "GET", nil, 200, "bad word[home notifications] true true true"},
		{"nothing sent", "PUT", params{}, 200, "bad word[home notifications] true true true"},
		{"the phrase alone", "PUT", params{"phrase": "word"}, 200, "word[home notifications] true true true"},
		{"the context alone", "PUT", params{"context": []string{"public"}}, 200, "word[public] true true true"},
		{"whole words alone", "PUT", params{"whole_word": false}, 200, "word[public] true true false"},
		{"irreversible alone", "PUT", params{"irreversible": "false"}, 200, "word[public] true false false"},
		{"the expiry alone", "PUT", params{"expires_in": nil}, 200, "word[public] false false false"},
		{"an empty phrase", "PUT", params{"phrase": "", "context": []string{"public"}}, 422, "Validation failed: Phrase can't be blank"},
		{"an invisible phrase", "PUT", params{"phrase": "\u200b", "context": []string{"public"}}, 422, "Validation failed: Phrase can't be blank"},
		{"a long phrase", "PUT", params{"phrase": strings.Repeat("x", 257), "context": []string{"public"}}, 422, "Validation failed: Phrase is too long (maximum is 256 characters)"},
		{"an empty context", "PUT", params{"phrase": "x", "context": []string{}}, 422, "Validation failed: Context can't be blank"},
		{"a negative expiry", "PUT", params{"phrase": "x", "context": []string{"home"}, "expires_in": -5}, 422, "Validation failed: Expires in must not be negative"},
		{"still the same", "GET", nil, 200, "word[public] false false false"},
		{"created without a phrase", "POST", params{"context": []string{"home"}}, 422, "Validation failed: Phrase can't be blank"},
		{"created without a context", "POST", params{"phrase": "x"}, 422, "Validation failed: Context can't be blank"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := path
			if tt.method != "POST" {
				p += "/" + id
			}
			o := alice.SendJSON(tt.method, p, tt.body).Want(tt.status).Object()
			if tt.status != 200 {
				if got := o.Str("error"); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
				return
			}
			if got := all(o); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			id = o.ID()
		})
	}
	for _, unknown := range []string{"12345", "nonsense"} {
		alice.SendJSON("PUT", path+"/"+unknown, params{"phrase": "x", "context": []string{"home"}}).WantError(404, "Record not found")
	}
	if got := alice.Get("/api/v2/filters").Want(200).List(); len(got) != 1 || got[0].Str("title") != "word" || got[0].Str("filter_action") != "warn" {
		t.Errorf("version 2 has %v", got)
	}

	// A filter with several keywords is several filters in version 1.
	whole := addFilter(alice, "hide", "one", "two", "three")
	phrases := alice.Get(path).Want(200).List()
	if len(phrases) != 4 || phrases[1].Str("phrase") != "one" || !phrases[1].Bool("irreversible") || !phrases[3].Bool("whole_word") {
		t.Fatalf("phrases are %v", phrases)
	}
	one, two, three := phrases[1].ID(), phrases[2].ID(), phrases[3].ID()
	everywhere := store.FilterContexts
	alice.SendJSON("PUT", path+"/"+one, params{"phrase": "uno", "context": everywhere, "irreversible": true, "whole_word": false}).Want(200)
	if got := alice.Get("/api/v2/filters/" + whole + "/keywords").Want(200).List(); len(got) != 3 || got[0].Str("keyword") != "uno" || got[0].Bool("whole_word") {
		t.Errorf("keywords are %v", got)
	}
	if got := alice.Get("/api/v2/filters/" + whole).Object().Str("title"); got != "filter" {
		t.Errorf("the title has become %q", got)
	}
	// Changing the filter's members for one keyword moves that keyword to a filter of its own.
	if got := all(alice.SendJSON("PUT", path+"/"+two, params{"phrase": "dos", "context": []string{"home"}}).Want(200).Object()); got != "dos[home] false true true" {
		t.Errorf("got %s", got)
	}
	if got := all(alice.Get(path + "/" + two).Want(200).Object()); got != "dos[home] false true true" {
		t.Errorf("got %s", got)
	}
	if got := all(alice.Get(path + "/" + one).Want(200).Object()); got != fmt.Sprintf("uno%v false true false", everywhere) {
		t.Errorf("the other keyword changed to %s", got)
	}
	apptest.WantIDs(t, "remaining keywords", alice.Get("/api/v2/filters/"+whole+"/keywords"), one, three)
	for _, p := range []string{one, three} {
		alice.Get("/api/v2/filters/" + whole).Want(200)
		if a := alice.SendJSON("DELETE", path+"/"+p, nil).Want(200); string(a.Body) != "{}" {
			t.Errorf("got %s, want {}", a.Body)
		}
	}
	alice.Get("/api/v2/filters/"+whole).WantError(404, "Record not found")
	alice.SendJSON("DELETE", path+"/"+one, nil).WantError(404, "Record not found")
	alice.Get(path+"/"+whole).WantError(404, "Record not found")
	apptest.WantIDs(t, "remaining phrases", alice.Get(path), id, two)
}

// TestFilterLimits checks the limits on filters, keywords and statuses of filters.
func TestFilterLimits(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	keywords := func(n int) []any {
		var list []any
		for i := range n {
			list = append(list, map[string]any{"keyword": fmt.Sprint("k", i)})
		}
		return list
	}
	id := addFilter(alice, "warn")
	alice.SendJSON("PUT", "/api/v2/filters/"+id, map[string]any{"keywords_attributes": keywords(300)}).Want(200)
	alice.SendJSON("PUT", "/api/v2/filters/"+id, map[string]any{"keywords_attributes": keywords(201)}).WantError(422, "Validation failed: Filters cannot have more than 500 keywords in total")
	second := addFilter(alice, "warn")
	alice.SendJSON("PUT", "/api/v2/filters/"+second, map[string]any{"keywords_attributes": keywords(200)}).Want(200)
	alice.SendJSON("POST", "/api/v2/filters/"+second+"/keywords", map[string]any{"keyword": "more"}).Want(422)
	alice.SendJSON("POST", "/api/v1/filters", map[string]any{"phrase": "more", "context": "home"}).Want(422)
	if got := len(alice.Get("/api/v2/filters").IDs()); got != 2 {
		t.Errorf("there are %d filters: a refused request created one", got)
	}
	for range 98 {
		addFilter(alice, "warn")
	}
	alice.SendJSON("POST", "/api/v2/filters", map[string]any{"title": "more", "context": "home"}).WantError(422, "Validation failed: You cannot have more than 100 filters")
	k := alice.Get("/api/v1/filters").Want(200).IDs()[0]
	alice.SendJSON("PUT", "/api/v1/filters/"+k, map[string]any{"phrase": "alone", "context": "home"}).Want(422)

	filter := addFilter(bob, "warn")
	st := alice.Publish("hello").ID()
	srv.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
		INSERT INTO statuses (id, account_id, visibility, conversation_id, domain, created_at, uri) SELECT i, ?, 0, i, '', i, 'x:' || i FROM n`, alice.AccountID())
	srv.Exec(`INSERT INTO filter_statuses (id, filter_id, status_id) SELECT id, ?, id FROM statuses WHERE id < 1000`, filter)
	bob.SendJSON("POST", "/api/v2/filters/"+filter+"/statuses", map[string]any{"status_id": st}).Want(200)
	st = alice.Publish("hello again").ID()
	bob.SendJSON("POST", "/api/v2/filters/"+filter+"/statuses", map[string]any{"status_id": st}).WantError(422, "Validation failed: Filters cannot have more than 1000 posts in total")
}

// TestFiltersAtOnce checks that of concurrent identical requests one succeeds.
func TestFiltersAtOnce(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	filter := addFilter(alice, "warn", "word")
	status := bob.Publish("hello").ID()
	for _, do := range []func() *apptest.Response{
		func() *apptest.Response {
			return alice.SendJSON("POST", "/api/v2/filters/"+filter+"/statuses", map[string]any{"status_id": status})
		},
		func() *apptest.Response { return alice.SendJSON("DELETE", "/api/v2/filters/"+filter, nil) },
	} {
		var wg sync.WaitGroup
		var done atomic.Int32
		for range 4 {
			wg.Go(func() {
				if a := do(); a.Status == 200 {
					done.Add(1)
				} else if a.Status != 404 && a.Status != 422 {
					t.Errorf("got %d %s", a.Status, a.Body)
				}
			})
		}
		wg.Wait()
		if n := done.Load(); n != 1 {
			t.Errorf("%d requests succeeded, want 1", n)
		}
	}
}

// TestFiltersChanged checks that each change causes one event, and that refused requests cause none.
func TestFiltersChanged(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	changes := 0
	srv.DB.Subscribe(func(events []store.Event) {
		for _, e := range events {
			if c, ok := e.(store.FiltersChanged); ok && c.AccountID == alice.AccountID() {
				changes++
			}
		}
	})
	status := alice.Publish("hello").ID()
	var filter, keyword, filterStatus, phrase string
	for i, change := range []func(){
		func() { filter = addFilter(alice, "warn", "one", "two") },
		func() { alice.SendJSON("PUT", "/api/v2/filters/"+filter, map[string]any{"title": "x"}).Want(200) },
		func() {
			keyword = alice.SendJSON("POST", "/api/v2/filters/"+filter+"/keywords", map[string]any{"keyword": "x"}).Want(200).Object().ID()
		},
		func() {
			alice.SendJSON("PUT", "/api/v2/filters/keywords/"+keyword, map[string]any{"keyword": "y"}).Want(200)
		},
		func() { alice.SendJSON("DELETE", "/api/v2/filters/keywords/"+keyword, nil).Want(200) },
		func() {
			filterStatus = alice.SendJSON("POST", "/api/v2/filters/"+filter+"/statuses", map[string]any{"status_id": status}).Want(200).Object().ID()
		},
		func() { alice.SendJSON("DELETE", "/api/v2/filters/statuses/"+filterStatus, nil).Want(200) },
		func() { alice.SendJSON("DELETE", "/api/v2/filters/"+filter, nil).Want(200) },
		func() {
			phrase = alice.SendJSON("POST", "/api/v1/filters", map[string]any{"phrase": "x", "context": "home"}).Want(200).Object().ID()
		},
		func() {
			alice.SendJSON("PUT", "/api/v1/filters/"+phrase, map[string]any{"phrase": "y", "context": "home"}).Want(200)
		},
		func() { alice.SendJSON("DELETE", "/api/v1/filters/"+phrase, nil).Want(200) },
	} {
		changes = 0
		if change(); changes != 1 {
			t.Errorf("change %d caused %d events", i, changes)
		}
	}
	changes = 0
	alice.SendJSON("POST", "/api/v1/filters", map[string]any{"phrase": "x"}).Want(422)
	alice.SendJSON("DELETE", "/api/v2/filters/"+filter, nil).Want(404)
	if changes != 0 {
		t.Error("a refused request caused an event")
	}
}

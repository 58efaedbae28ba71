package store_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/store"
)

// What calls of reads need as arguments. Ids are of rows that seed makes.
var planArguments = map[reflect.Type][]any{
	reflect.TypeFor[context.Context]():          {context.Background()},
	reflect.TypeFor[store.AccountID]():          {store.AccountID(3), store.AccountID(0)},
	reflect.TypeFor[store.StatusID]():           {store.StatusID(1000)},
	reflect.TypeFor[store.MediaID]():            {store.MediaID(1)},
	reflect.TypeFor[store.ListID]():             {store.ListID(1)},
	reflect.TypeFor[store.NotificationID]():     {store.NotificationID(1)},
	reflect.TypeFor[store.ConversationID]():     {store.ConversationID(1)},
	reflect.TypeFor[store.AppID]():              {store.AppID(1)},
	reflect.TypeFor[store.TokenID]():            {store.TokenID(1)},
	reflect.TypeFor[[]store.AccountID]():        {[]store.AccountID{3, 4}},
	reflect.TypeFor[[]store.StatusID]():         {[]store.StatusID{1000, 1001}},
	reflect.TypeFor[[]store.MediaID]():          {[]store.MediaID{1}},
	reflect.TypeFor[store.StatusDeleted]():      {store.StatusDeleted{Status: &store.Status{ID: 1000, AccountID: 4, Visibility: store.Private}, Audience: &store.Audience{}}},
	reflect.TypeFor[[]store.AppID]():            {[]store.AppID{1}},
	reflect.TypeFor[[]store.NotificationID]():   {[]store.NotificationID{1}},
	reflect.TypeFor[*store.Status]():            {&store.Status{ID: 1000, AccountID: 4, Visibility: store.Private, ConversationID: 1}},
	reflect.TypeFor[*store.Account]():           {&store.Account{ID: 3, Nickname: "a3"}},
	reflect.TypeFor[store.Page]():               {store.Page{Limit: 20}, store.Page{Limit: 20, MinID: 1}},
	reflect.TypeFor[store.ThreadLimits]():       {store.ThreadLimits{Ancestors: 20, Descendants: 20, Depth: 20}},
	reflect.TypeFor[store.Filter]():             {store.Filter{}, store.Filter{Local: true}, store.Filter{Remote: true}, store.Filter{OnlyMedia: true}, store.Filter{OnlyMedia: true, Local: true}},
	reflect.TypeFor[store.TagQuery]():           {store.TagQuery{Tag: "tag1", Any: []string{"tag2"}, All: []string{"tag3"}, None: []string{"tag4"}}},
	reflect.TypeFor[store.NotificationFilter](): {store.NotificationFilter{}},
	reflect.TypeFor[store.AccountSearch](): {
		store.AccountSearch{Text: "a3", Limit: 20}, store.AccountSearch{Text: "@a3@example.org", Viewer: 3, Limit: 20},
		store.AccountSearch{Text: "a3", Viewer: 3, Following: true, Limit: 20}, store.AccountSearch{Text: "https://example.org/users/5", Viewer: 3, Limit: 20},
	},
	reflect.TypeFor[string]():            {"", "tag1"},
	reflect.TypeFor[[]string]():          {[]string{"tag1"}},
	reflect.TypeFor[[]byte]():            {[]byte("hash")},
	reflect.TypeFor[int]():               {20},
	reflect.TypeFor[store.OneTimeKind](): {store.ResetPassword},
	reflect.TypeFor[bool]():              {true, false},
	reflect.TypeFor[time.Duration]():     {time.Hour},
	reflect.TypeFor[time.Time]():         {time.Unix(1700000000, 0)},
}

// Not called: what changes something, or reads no rows.
var planSkip = []string{"Update", "Close", "Subscribe", "Queries", "Explain", "Check", "Has", "Columns", "Now", "Broken", "TryWrite"}

// Queries that may read a whole table: it is small by its nature, or the query is no part of a request. Each by a part of its text.
var planExceptions = []string{
	"FROM jobs WHERE parked",         // the queue, for the operator
	"FROM meta",                      // one row
	"pragma_table_info",              // of the tests
	"SELECT kind, count(*) AS n",     // the queue, for the health check
	"SELECT count(*) FROM users",     // at most a few hundred, once a minute
	"SELECT count(*) AS users",       // likewise
	"SELECT avatar, avatar_static",   // likewise, once a day
	"SELECT DISTINCT domain",         // in order of the index, once a minute
	"FROM oauth_tokens WHERE hash =", // by a unique index
}

// TestPlans calls every read of the store on 200 000 statuses and looks at the plans of all queries that this prepared: each
// must go by an index, in its order, and none may sort what it reads.
func TestPlans(t *testing.T) {
	db := open(t)
	n := 200_000
	if testing.Short() {
		n = 20_000
	}
	seed(t, db, n)
	v := reflect.ValueOf(db)
	for m := range v.Type().Methods() {
		if slices.Contains(planSkip, m.Name) || m.Type.NumIn() < 2 || m.Type.In(1) != reflect.TypeFor[context.Context]() {
			continue
		}
		callAll(t, v.MethodByName(m.Name), m.Name, nil)
	}
	queries := db.Queries()
	if len(queries) < 20 {
		t.Fatalf("only %d queries: the reads have not been called", len(queries))
	}
	for _, q := range queries {
		if slices.ContainsFunc(planExceptions, func(part string) bool { return strings.Contains(q, part) }) {
			continue
		}
		plan, err := db.Explain(t.Context(), q)
		if err != nil {
			t.Errorf("%v in %s", err, q)
			continue
		}
		for _, line := range plan {
			if badStep(line, q) {
				t.Errorf("%s\nof the plan\n\t%s\nof%s", line, strings.Join(plan, "\n\t"), q)
			}
		}
	}
	t.Logf("%d queries", len(queries))
}

// badStep tells whether a line of a plan reads a whole table, or sorts. What is handed in as a JSON array is a page at most: it may
// be read whole, and sorted. A recursive query (above, below) reads what it found itself.
func badStep(line, query string) bool {
	if strings.HasPrefix(line, "SCAN ") {
		for _, fine := range []string{"json_each", "SCAN j", "SCAN above", "SCAN below", "SCAN CONSTANT ROW", "VIRTUAL TABLE INDEX", "USING INDEX", "USING COVERING INDEX", "SCAN (subquery"} {
			if strings.Contains(line, fine) {
				return strings.HasPrefix(fine, "USING") && !strings.Contains(query, "LIMIT") // an index read in order is fine up to a limit
			}
		}
		return true
	}
	return strings.Contains(line, "TEMP B-TREE") && !strings.Contains(query, "json_each(")
}

// callAll calls a method with every combination of the arguments for its parameters.
func callAll(t *testing.T, method reflect.Value, name string, args []reflect.Value) {
	t.Helper()
	if len(args) == method.Type().NumIn() {
		out := method.Call(args)
		if err, _ := out[len(out)-1].Interface().(error); err != nil && !strings.Contains(err.Error(), "not found") {
			t.Errorf("%s: %v", name, err)
		}
		return
	}
	in := method.Type().In(len(args))
	values, ok := planArguments[in]
	if !ok {
		t.Errorf("%s: no arguments of type %v: add some to planArguments", name, in)
		return
	}
	for _, v := range values {
		callAll(t, method, name, append(slices.Clip(args), reflect.ValueOf(v)))
	}
}

// seed makes n statuses by 500 accounts, with what hangs on them, and has SQLite look at it.
func seed(t testing.TB, db *store.DB, n int) {
	t.Helper()
	numbers := `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) `
	for _, step := range []struct {
		query string
		args  []any
	}{
		{numbers + `INSERT INTO accounts (id, nickname, nickname_key, domain, uri, url, created_at, withheld)
			SELECT i, 'a' || i, 'a' || i, CASE WHEN i % 5 = 0 THEN 'example.org' ELSE '' END, 'https://example.org/users/' || i, '', i, i % 97 = 0 FROM n`, []any{500}},
		{`INSERT INTO users (account_id, password_hash) SELECT id, '' FROM accounts WHERE domain = ''`, nil},
		{`INSERT INTO accounts_fts (rowid, nickname, display_name) SELECT id, nickname, nickname FROM accounts`, nil},
		{`INSERT INTO follows (id, follower_id, target_id, pending, show_reblogs)
			SELECT a.id * 1000 + b.id, a.id, b.id, b.id % 11 = 0, b.id % 7 > 0 FROM accounts a JOIN accounts b ON b.id BETWEEN a.id + 1 AND a.id + 20`, nil},
		{`INSERT INTO blocks (account_id, target_id) SELECT id, id - 3 FROM accounts WHERE id > 3 AND id % 10 = 0`, nil},
		{`INSERT INTO mutes (account_id, target_id) SELECT id, id - 2 FROM accounts WHERE id > 2 AND id % 10 = 0`, nil},
		{numbers + `INSERT INTO statuses (id, account_id, visibility, conversation_id, domain, has_media, created_at, uri, content)
			SELECT i, i % 500 + 1, i % 6, i / 10, CASE WHEN (i % 500 + 1) % 5 = 0 THEN 'example.org' ELSE '' END, i % 20 = 0, i, 'https://example.org/' || i, '<p>words</p>' FROM n`, []any{n}},
		{`UPDATE statuses SET in_reply_to_id = id - 1, in_reply_to_account_id = account_id - 1 WHERE id % 10 > 5 AND account_id > 1`, nil},
		{`INSERT INTO statuses (id, account_id, visibility, reblog_of_id, conversation_id, domain, created_at, uri)
			SELECT id + 1000000, account_id % 500 + 1, 0, id, id, '', id, 'https://example.org/b' || id FROM statuses WHERE id % 12 = 0`, nil},
		{numbers + `INSERT INTO tags (id, name) SELECT i, 'tag' || i FROM n`, []any{50}},
		{`INSERT INTO status_tags (tag_id, status_id, position) SELECT id % 50 + 1, id, 0 FROM statuses WHERE id % 3 = 0`, nil},
		{`INSERT INTO recipients (status_id, account_id, position, mentioned, direct) SELECT id, (id + 7) % 500 + 1, 0, 1, visibility = 4 FROM statuses WHERE id % 4 = 0`, nil},
		{`INSERT INTO home (account_id, status_id) SELECT u.account_id, s.id FROM users u JOIN statuses s ON s.id % 40 = u.account_id % 40 WHERE u.account_id < 50`, nil},
		{`INSERT INTO lists (id, account_id, title) SELECT id, id, 'list' FROM accounts WHERE domain = ''`, nil},
		{`INSERT INTO list_members (list_id, account_id) SELECT l.id, a.id FROM lists l JOIN accounts a ON a.id BETWEEN l.id AND l.id + 5`, nil},
		{`INSERT INTO list_timeline (list_id, status_id) SELECT 1, id FROM statuses WHERE id % 50 = 0`, nil},
		{`INSERT INTO favourites (id, account_id, status_id) SELECT id, id % 400 + 1, id FROM statuses WHERE id % 3 = 0`, nil},
		{`INSERT INTO bookmarks (id, account_id, status_id) SELECT id, id % 400 + 1, id FROM statuses WHERE id % 9 = 0`, nil},
		{`INSERT INTO pins (status_id, account_id, pinned_at) SELECT id, account_id, id FROM statuses WHERE id % 5000 = 0`, nil},
		{`INSERT INTO media (id, account_id, status_id, type, mime, file, created_at) SELECT id, account_id, id, 'image', 'image/png', 'f' || id, id FROM statuses WHERE has_media = 1`, nil},
		{`INSERT INTO notifications (id, account_id, type, from_id, status_id) SELECT id, u.account_id, 'favourite', 2, id FROM statuses s JOIN users u ON u.account_id = s.id % 100 + 1 WHERE s.id % 5 = 0`, nil},
		{`PRAGMA analysis_limit = 1000`, nil}, // as Optimize does; without it, SQLite plans each query anew for each value
		{`ANALYZE`, nil},
	} {
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			tx.TouchAll()
			return tx.Exec(t.Context(), step.query, step.args...)
		})
		if err != nil {
			t.Fatalf("%v in %s", err, step.query)
		}
	}
}

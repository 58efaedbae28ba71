package store_test

import (
	"context"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/store"
)

// Arguments for calls of reads, by type. Ids are of rows that seed makes.
var planArguments = map[reflect.Type][]any{
	reflect.TypeFor[context.Context]():        {context.Background()},
	reflect.TypeFor[store.AccountID]():        {store.AccountID(3), store.AccountID(0)},
	reflect.TypeFor[store.Visibility]():       {store.Unlisted, store.Private},
	reflect.TypeFor[store.StatusID]():         {store.StatusID(1000)},
	reflect.TypeFor[store.MediaID]():          {store.MediaID(1)},
	reflect.TypeFor[store.ListID]():           {store.ListID(1)},
	reflect.TypeFor[store.CutLargeRows]():     largeRowsArguments(),
	reflect.TypeFor[store.Refold]():           {store.Refold{}, store.Refold{Table: store.RefoldAccounts}, store.Refold{Table: store.RefoldStatuses}},
	reflect.TypeFor[store.NotificationID]():   {store.NotificationID(1)},
	reflect.TypeFor[store.ConversationID]():   {store.ConversationID(1)},
	reflect.TypeFor[store.ChatID]():           {store.ChatID(1)},
	reflect.TypeFor[store.ChatMessageID]():    {store.ChatMessageID(1)},
	reflect.TypeFor[store.MessageID]():        {store.MessageID(1)},
	reflect.TypeFor[[]store.ChatMessageID]():  {[]store.ChatMessageID{1}},
	reflect.TypeFor[[]store.MessageID]():      {[]store.MessageID{1, 1 << 52}}, // one that is newer than all
	reflect.TypeFor[store.AppID]():            {store.AppID(1)},
	reflect.TypeFor[*store.ServerClosure]():   {&store.ServerClosure{Accounts: 1, LastPosition: 3}},
	reflect.TypeFor[store.DeliveryTarget]():   {store.DeliveryTarget{Domain: "example.org", Inbox: "https://example.org/inbox"}},
	reflect.TypeFor[store.TokenID]():          {store.TokenID(1)},
	reflect.TypeFor[store.AnnouncementID]():   {store.AnnouncementID(1)},
	reflect.TypeFor[store.InviteID]():         {store.InviteID(1)},
	reflect.TypeFor[store.RuleID]():           {store.RuleID(1)},
	reflect.TypeFor[store.BlockID]():          {store.BlockID(1)},
	reflect.TypeFor[netip.Addr]():             {netip.MustParseAddr("192.0.2.1")},
	reflect.TypeFor[[]store.ReportID]():       {[]store.ReportID{1}},
	reflect.TypeFor[store.ReportID]():         {store.ReportID(1)},
	reflect.TypeFor[store.MeasureQuery]():     measureQueries(),
	reflect.TypeFor[[]store.Time]():           {[]store.Time{0, 1 << 20}},
	reflect.TypeFor[[]store.RuleID]():         {[]store.RuleID{1}},
	reflect.TypeFor[store.ReportNoteID]():     {store.ReportNoteID(1)},
	reflect.TypeFor[store.PollID]():           {store.PollID(1000)},
	reflect.TypeFor[store.ScheduledID]():      {store.ScheduledID(1)},
	reflect.TypeFor[store.Time]():             {store.Time(1)},
	reflect.TypeFor[[]store.PollID]():         {[]store.PollID{1000, 2000}},
	reflect.TypeFor[[]store.ScheduledID]():    {[]store.ScheduledID{1, 2}},
	reflect.TypeFor[[]store.ActivityID]():     {[]store.ActivityID{1}},
	reflect.TypeFor[store.QueuedActivityID](): {store.QueuedActivityID(0)},
	reflect.TypeFor[store.SeenKey]():          {store.NewSeenKey("https://peer.example/activities/1")},
	reflect.TypeFor[store.FavouriteID]():      {store.FavouriteID(1)},
	reflect.TypeFor[store.ScrobbleID]():       {store.ScrobbleID(1)},

	reflect.TypeFor[store.QuoteAuthorizationID]():    {store.QuoteAuthorizationID(1)},
	reflect.TypeFor[store.InteractionRequestID]():    {store.InteractionRequestID(1)},
	reflect.TypeFor[*store.InteractionRequest]():     {&store.InteractionRequest{AuthorID: 3, AccountID: 4, Domain: "remote.example"}},
	reflect.TypeFor[store.CollectionID]():            {store.CollectionID(1)},
	reflect.TypeFor[[]store.CollectionID]():          {[]store.CollectionID{1, 2}},
	reflect.TypeFor[store.CollectionItemID]():        {store.CollectionItemID(1)},
	reflect.TypeFor[[]store.CollectionItemID]():      {[]store.CollectionItemID{1, 2}},
	reflect.TypeFor[*store.CollectionItem]():         {&store.CollectionItem{TargetID: 3, AccountID: 502, Domain: "remote.example"}},
	reflect.TypeFor[store.InteractionFilter]():       {store.InteractionFilter{}, store.InteractionFilter{StatusID: 1000}},
	reflect.TypeFor[store.PushID]():                  {store.PushID(1)},
	reflect.TypeFor[store.ReactionID]():              {store.ReactionID(1)},
	reflect.TypeFor[store.FollowID]():                {store.FollowID(1)},
	reflect.TypeFor[store.BookmarkFolderID]():        {store.BookmarkFolderID(3)},
	reflect.TypeFor[[]store.AccountID]():             {[]store.AccountID{3, 4}},
	reflect.TypeFor[[]store.StatusID]():              {[]store.StatusID{1000, 1001}},
	reflect.TypeFor[[]store.MediaID]():               {[]store.MediaID{1}},
	reflect.TypeFor[store.StatusRemoved]():           {store.StatusRemoved{Status: &store.Status{ID: 1000, AccountID: 4, Visibility: store.Private}, Audience: &store.Audience{}}},
	reflect.TypeFor[[]store.AppID]():                 {[]store.AppID{1}},
	reflect.TypeFor[store.CardID]():                  {store.CardID(1)},
	reflect.TypeFor[[]store.CardID]():                {[]store.CardID{1}},
	reflect.TypeFor[[]store.NotificationID]():        {[]store.NotificationID{1}},
	reflect.TypeFor[*store.Status]():                 {&store.Status{ID: 1000, AccountID: 4, Visibility: store.Private, ConversationID: 1}},
	reflect.TypeFor[*store.Account]():                {&store.Account{ID: 3, Nickname: "a3"}},
	reflect.TypeFor[store.MediaBanQuery]():           {store.MediaBanQuery{Text: "a", Limit: 20}},
	reflect.TypeFor[store.Page]():                    {store.Page{Limit: 20}, store.Page{Limit: 20, MinID: 1}},
	reflect.TypeFor[store.ThreadLimits]():            {store.ThreadLimits{Ancestors: 20, Descendants: 20, Depth: 20}},
	reflect.TypeFor[store.Filter]():                  {store.Filter{}, store.Filter{Local: true}, store.Filter{Remote: true}, store.Filter{OnlyMedia: true}, store.Filter{OnlyMedia: true, Local: true}},
	reflect.TypeFor[store.TagQuery]():                {store.TagQuery{Tag: "tag1", Any: []string{"tag2"}, All: []string{"tag3"}, None: []string{"tag4"}}},
	reflect.TypeFor[store.NotificationFilter]():      {store.NotificationFilter{}},
	reflect.TypeFor[store.NotificationGroup]():       {store.NotificationGroup{Type: store.NotifyFavourite, StatusID: 1000, Span: 1}, store.NotificationGroup{ID: 1}},
	reflect.TypeFor[[]store.NotificationType]():      {store.GroupableTypes},
	reflect.TypeFor[store.NotificationRequestID]():   {store.NotificationRequestID(1)},
	reflect.TypeFor[[]store.NotificationRequestID](): {[]store.NotificationRequestID{1}},
	reflect.TypeFor[store.Directory]():               {store.Directory{Limit: 20}, store.Directory{Viewer: 3, Local: true, Limit: 20}, store.Directory{Newest: true, Limit: 20}, store.Directory{Local: true, Newest: true, Limit: 20}},
	reflect.TypeFor[store.TagID]():                   {store.TagID(1)},
	reflect.TypeFor[store.StatusSearch](): {
		store.StatusSearch{Text: "words", Viewer: 3, Host: "example.com", Page: store.Page{Limit: 20}},
		store.StatusSearch{Text: `"many words" from:me -from:a4 is:reply -has:poll in:library`, Viewer: 3, Discoverable: true, Page: store.Page{Limit: 20, MinID: 1}},
		store.StatusSearch{Text: "word17", LocalOnly: true, Author: 4, Page: store.Page{Limit: 20}},
	},
	reflect.TypeFor[store.AccountSearch](): {
		store.AccountSearch{Text: "a3", Limit: 20}, store.AccountSearch{Text: "@a3@example.org", Viewer: 3, Limit: 20},
		store.AccountSearch{Text: "a3", Viewer: 3, Following: true, Limit: 20}, store.AccountSearch{Text: "https://example.org/users/5", Viewer: 3, Limit: 20},
	},
	reflect.TypeFor[string]():            {"", "tag1"},
	reflect.TypeFor[[]string]():          {[]string{"tag1"}},
	reflect.TypeFor[[]byte]():            {[]byte("hash")},
	reflect.TypeFor[int]():               {20},
	reflect.TypeFor[store.OneTimeKind](): {store.ResetPassword},

	reflect.TypeFor[store.DirectConversationID](): {store.DirectConversationID(1)},
	reflect.TypeFor[[]store.ConversationID]():     {[]store.ConversationID{1, 2}},
	reflect.TypeFor[store.AccountSet]():           {store.AccountSet(nil), store.NewAccountSet(3, 4)},

	reflect.TypeFor[store.ImportID]():        {store.ImportID(1)},
	reflect.TypeFor[store.ArchiveID]():       {store.ArchiveID(1)},
	reflect.TypeFor[store.ImportState]():     {store.ImportNew},
	reflect.TypeFor[store.AccountBackupID](): {store.AccountBackupID(1)},
	reflect.TypeFor[int64]():                 {int64(0)},

	reflect.TypeFor[store.StaffFilter](): {
		store.StaffFilter{}, store.StaffFilter{Local: true, Active: true}, store.StaffFilter{Deactivated: true, Handle: "a3", Name: "x", Tags: []string{"t"}},
		store.StaffFilter{Admins: true, Unconfirmed: true}, store.StaffFilter{ID: 3},
		store.StaffFilter{Domain: new("example.org"), Page: store.Page{MinID: 1}}, store.StaffFilter{Staff: true, Nickname: "a", AllTags: []string{"t"}, Page: store.Page{MaxID: 100}},
	},
	reflect.TypeFor[store.AppFilter](): {
		store.AppFilter{}, store.AppFilter{Name: "app"}, store.AppFilter{ClientID: "id"}, store.AppFilter{Trusted: new(true)}, store.AppFilter{Trusted: new(false)},
	},
	reflect.TypeFor[store.LogFilter](): {
		store.LogFilter{Limit: 20}, store.LogFilter{Actor: 3, Search: "made", From: time.Unix(1, 0), Until: time.Unix(1e9, 0), Limit: 20},
	},

	reflect.TypeFor[store.StaffStatusFilter](): {
		store.StaffStatusFilter{}, store.StaffStatusFilter{OfHost: true, Reblogs: true}, store.StaffStatusFilter{Account: 3, Restricted: true},
	},
	reflect.TypeFor[store.ReportFilter](): {
		store.ReportFilter{}, store.ReportFilter{State: store.ReportOpen}, store.ReportFilter{Account: 3}, store.ReportFilter{Target: 9},
	},

	reflect.TypeFor[bool]():            {true, false},
	reflect.TypeFor[store.HostState](): {store.HostReachable},
	reflect.TypeFor[store.JobID]():     {store.JobID(0), store.JobID(9)},
	reflect.TypeFor[time.Duration]():   {time.Hour},
	reflect.TypeFor[time.Time]():       {time.Unix(1700000000, 0)},
}

// measureQueries returns a query for each measure.
func measureQueries() (list []any) {
	for _, m := range []store.Measure{
		store.NewUsers, store.ActiveUsers, store.Interactions, store.OpenedReports, store.ResolvedReports, store.TagAccounts, store.TagUses, store.TagServers,
		store.InstanceAccounts, store.InstanceReports, store.InstanceStatuses, store.InstanceFollows, store.InstanceFollowers,
	} {
		list = append(list, store.MeasureQuery{Measure: m, Tag: 1, Domain: "example.org", Length: time.Hour})
	}
	return list
}

// Methods that change something or read no rows: they are not called.
var planSkip = []string{"OpenQuery", "Texts", "ForeignKeys", "Update", "Close", "Subscribe", "Queries", "Explain", "Check", "Has", "Columns", "Now", "CheckWritable", "QuickCheck", "BeginSearch", "ColumnNames", "FindDamage", "FileSize", "Sizes", "Hold", "MergeSearchIndex", "Recount", "ReadLong"}

// Queries, by a part of their text, that may read a whole table, because it is small or they are not part of a request.
var planExceptions = []string{
	"AS sampled",                             // what it counts is the newest rows of an index, for staff
	"FROM jobs WHERE parked",                 // the job queue, for staff
	"FROM jobs WHERE kind = 'outbox'",        // the same
	"FROM relays ORDER BY id",                // a few, chosen by the staff
	"FROM meta",                              // one row
	"count(*) AS inboxes",                    // the progress counts all of them, which are bounded; ready ones are read in pages
	"FROM collections ORDER BY id DESC",      // the newest ones, at most 2000
	"FROM ip_blocks LIMIT",                   // the staff chose them; read once and cached
	"FROM storage_usage",                     // three rows
	"pragma_table_info",                      // of the tests
	"SELECT kind, count(*) AS n",             // the job queue, for the health check
	"SELECT count(*) FROM users",             // at most a few hundred, once a minute
	"SELECT count(*) AS users",               // the same
	"SELECT locale AS name",                  // the same, for staff
	"SELECT avatar, avatar_static",           // the same, once a day
	"SELECT DISTINCT domain",                 // in order of the index, once a minute
	"FROM oauth_tokens WHERE hash =",         // by a unique index
	"FROM announcements ORDER BY id",         // at most a hundred
	"FROM invites ORDER BY id",               // at most a thousand
	"instr(lower(address)",                   // at most some thousand, for staff
	"FROM rules ORDER BY priority",           // at most a hundred
	"FROM settings ORDER BY",                 // at most a thousand, for staff
	"SELECT ifnull(sum(size), 0)",            // one or two rows an account, when a backup is made
	"HAVING sum(value) <> sum(want)",         // a part of a recount of svc verify, or all rows at its end
	"SELECT (SELECT count(*) FROM accounts)", // once for svc verify
}

// TestPlans calls every read of the store on 200 000 statuses and looks at the plans of all queries that this prepared: each
// must use an index, in its order, and none may sort.
func TestPlans(t *testing.T) {
	db := open(t)
	n := 200_000
	if testing.Short() {
		n = 20_000
	}
	seed(t, db, n)
	addRemoteGroup(t, db) // else GroupOf makes no query
	v := reflect.ValueOf(db)
	for m := range v.Type().Methods() {
		if slices.Contains(planSkip, m.Name) || m.Type.NumIn() < 2 || m.Type.In(1) != reflect.TypeFor[context.Context]() {
			continue
		}
		callAll(t, v.MethodByName(m.Name), m.Name, nil)
	}
	for _, cursor := range []string{"accounts:0", "statuses:0", "sums"} {
		if _, _, err := db.Recount(t.Context(), cursor); err != nil {
			t.Error(err)
		}
	}
	queries := db.Queries()
	if len(queries) < 20 {
		t.Fatalf("only %d queries: the reads were not called", len(queries))
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
			if badStep(line, q) && !scansLimited(line, plan, q) {
				t.Errorf("%s\nof the plan\n\t%s\nof%s", line, strings.Join(plan, "\n\t"), q)
			}
		}
	}
	t.Logf("%d queries", len(queries))
	t.Run("column names", func(t *testing.T) { testColumnNames(t, db, queries) })
}

// testColumnNames checks that no query has a column without a name of its own: SQLite names it by the whole text of its expression, which the
// driver copies each time the query is run.
func testColumnNames(t *testing.T, db *store.DB, queries []string) {
	const longest = 100
	for _, q := range queries {
		if strings.HasPrefix(q, "PRAGMA") {
			continue
		}
		names, err := db.ColumnNames(t.Context(), q)
		if err != nil {
			t.Errorf("%v in %s", err, q)
		}
		for _, name := range names {
			if len(name) > longest {
				t.Errorf("a column needs a name (AS …): %s", name)
			}
		}
	}
}

// badStep returns true if a line of a plan reads a whole table, or sorts. A JSON array of parameters is a page at most: it may be read whole,
// and sorted. A recursive query (above, below) reads what it found itself, and some_… is a
// subquery with a limit.
func badStep(line, query string) bool {
	if strings.HasPrefix(line, "SCAN ") {
		for _, fine := range []string{"json_each", "SCAN j", "SCAN above", "SCAN below", "SCAN up", "SCAN some", "SCAN CONSTANT ROW", "VIRTUAL TABLE INDEX", "USING INDEX", "USING COVERING INDEX", "SCAN (subquery"} {
			if strings.Contains(line, fine) {
				return strings.HasPrefix(fine, "USING") && !strings.Contains(query, "LIMIT") // an index read in order is fine up to a limit
			}
		}
		return true
	}
	return strings.Contains(line, "TEMP B-TREE") && !strings.Contains(query, "json_each(")
}

// scansLimited returns true if a line of a plan reads the rows of a subquery with a limit.
func scansLimited(line string, plan []string, query string) bool {
	name, is := strings.CutPrefix(line, "SCAN ")
	limited := regexp.MustCompile(`LIMIT [?0-9]+\) ` + regexp.QuoteMeta(name) + `\b`)
	return is && slices.Contains(plan, "CO-ROUTINE "+name) && limited.MatchString(query)
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

// largeRowsArguments returns the first batch of each table.
func largeRowsArguments() (list []any) {
	for _, table := range store.LargeTables() {
		list = append(list, store.CutLargeRows{Table: table})
	}
	return list
}

// seed adds n statuses by 500 accounts with rows in all other tables, and updates the statistics.
func seed(t testing.TB, db *store.DB, n int) {
	t.Helper()
	numbers := `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) `
	for _, step := range []struct {
		query string
		args  []any
	}{
		{numbers + `INSERT INTO accounts (id, nickname, nickname_key, domain, uri, url, created_at, unavailable)
			SELECT i, 'a' || i, 'a' || i, CASE WHEN i % 5 = 0 THEN 'example.org' ELSE '' END, 'https://example.org/users/' || i, '', i, i % 97 = 0 FROM n`, []any{500}},
		{`INSERT INTO users (account_id, password_hash) SELECT id, '' FROM accounts WHERE domain = ''`, nil},
		{`INSERT INTO accounts_fts (rowid, nickname, display_name) SELECT id, nickname, nickname FROM accounts`, nil},
		{`INSERT INTO follows (id, follower_id, target_id, pending, show_reblogs)
			SELECT a.id * 1000 + b.id, a.id, b.id, b.id % 11 = 0, b.id % 7 > 0 FROM accounts a JOIN accounts b ON b.id BETWEEN a.id + 1 AND a.id + 20`, nil},
		{`INSERT INTO endorsements (account_id, target_id) SELECT follower_id, target_id FROM follows WHERE target_id % 7 = 0`, nil},
		{`INSERT INTO reports (id, account_id, target_id, category, comment, forwarded) SELECT id, follower_id, target_id, 'spam', '', 0 FROM follows WHERE target_id % 9 = 0`, nil},
		{`INSERT INTO report_notes (id, report_id, account_id, content) SELECT id, id, account_id, 'seen' FROM reports`, nil},
		{`INSERT INTO report_statuses (report_id, position, original_status_id, uri, spoiler_text, content, created_at) SELECT id, 0, 1, '', '', '', 1 FROM reports`, nil},
		{numbers + `INSERT INTO scrobbles (id, account_id, visibility, title, created_at) SELECT i, i % 500 + 1, i % 5, 'song', i FROM n`, []any{n / 10}},
		{`INSERT INTO blocks (account_id, target_id) SELECT id, id - 3 FROM accounts WHERE id > 3 AND id % 10 = 0`, nil},
		{`INSERT INTO mutes (account_id, target_id) SELECT id, id - 2 FROM accounts WHERE id > 2 AND id % 10 = 0`, nil},
		{numbers + `INSERT INTO statuses (id, account_id, visibility, conversation_id, domain, has_media, created_at, uri, content)
			SELECT i, i % 500 + 1, i % 6, i / 10, CASE WHEN (i % 500 + 1) % 5 = 0 THEN 'example.org' ELSE '' END, i % 20 = 0, i, 'https://example.org/' || i, '<p>words</p>' FROM n`, []any{n}},
		{numbers + `INSERT INTO cards (id, url, card, fetched_at) SELECT i, 'https://example.org/page' || i, '', i FROM n`, []any{n / 20}},
		{`UPDATE statuses SET card_id = id / 20 WHERE id % 20 = 0`, nil},
		{`UPDATE statuses SET in_reply_to_id = id - 1, in_reply_to_account_id = account_id - 1 WHERE id % 10 > 5 AND account_id > 1`, nil},
		{`INSERT INTO statuses (id, account_id, visibility, reblog_of_id, conversation_id, domain, created_at, uri)
			SELECT id + 1000000, account_id % 500 + 1, 0, id, id, '', id, 'https://example.org/b' || id FROM statuses WHERE id % 12 = 0`, nil},
		{numbers + `INSERT INTO tags (id, name, key) SELECT i, 'tag' || i, 'tag' || i FROM n`, []any{50}},
		{`INSERT INTO status_tags (tag_id, status_id, position, visibility) SELECT id % 50 + 1, id, 0, visibility FROM statuses WHERE id % 3 = 0`, nil},
		{`INSERT INTO statuses_fts (rowid, body, facets)
			SELECT id, 'many words word' || (id % 50) || CASE WHEN id % 2 = 0 THEN ' even' ELSE ' odd' END || CASE visibility WHEN 3 THEN ' secret' ELSE '' END,
				'at0 by' || account_id || CASE domain WHEN '' THEN ' here' ELSE ' away' END FROM statuses WHERE reblog_of_id IS NULL`, nil},
		{`INSERT INTO tag_follows (id, account_id, tag_id) SELECT u.account_id * 100 + t.id, u.account_id, t.id FROM users u JOIN tags t ON t.id < 20`, nil},
		{`INSERT INTO featured_tags (id, account_id, tag_id) SELECT id, account_id, tag_id FROM tag_follows WHERE tag_id < 6`, nil},
		{`INSERT INTO account_tags (account_id, tag_id, statuses_count, last_status_id) SELECT account_id, tag_id, tag_id % 4 + 1, tag_id FROM tag_follows`, nil},
		{`INSERT INTO recipients (status_id, account_id, position, mentioned, direct) SELECT id, (id + 7) % 500 + 1, 0, 1, visibility = 4 FROM statuses WHERE id % 4 = 0`, nil},
		{`INSERT OR IGNORE INTO direct_conversations (account_id, conversation_id, last_status_id, read_id, recipients)
			SELECT r.account_id, s.conversation_id, s.id, s.id % 2 * s.id, json_array(r.account_id, s.account_id) FROM recipients r JOIN statuses s ON s.id = r.status_id WHERE r.direct = 1`, nil},
		{`INSERT INTO home (account_id, status_id) SELECT u.account_id, s.id FROM users u JOIN statuses s ON s.id % 40 = u.account_id % 40 WHERE u.account_id < 50`, nil},
		{`INSERT INTO lists (id, account_id, title) SELECT id, id, 'list' FROM accounts WHERE domain = ''`, nil},
		{`INSERT INTO list_members (list_id, account_id) SELECT l.id, a.id FROM lists l JOIN accounts a ON a.id BETWEEN l.id AND l.id + 5`, nil},
		{`INSERT INTO list_timeline (list_id, status_id) SELECT 1, id FROM statuses WHERE id % 50 = 0`, nil},
		{`INSERT INTO filters (id, account_id, title, context, action) SELECT a.id * 10 + i.value, a.id, 'f', '["home"]', CASE WHEN i.value < 3 THEN 'warn' ELSE 'hide' END
			FROM accounts a JOIN json_each('[1,2,3]') i WHERE a.domain = '' AND a.id < 200`, nil},
		{`INSERT INTO filter_keywords (id, filter_id, keyword, whole_word) SELECT f.id * 10 + i.value, f.id, 'word', 1 FROM filters f JOIN json_each('[1,2,3]') i`, nil},
		{`INSERT INTO filter_statuses (id, filter_id, status_id) SELECT f.id * 10 + i.value, f.id, s.id FROM filters f JOIN json_each('[1,2,3]') i JOIN statuses s ON s.id = f.account_id + i.value`, nil},
		{`INSERT INTO favourites (id, account_id, status_id) SELECT id, id % 400 + 1, id FROM statuses WHERE id % 3 = 0`, nil},
		{`INSERT INTO reactions (id, account_id, status_id, emoji, url)
			SELECT s.id * 10 + i.value, (s.id + i.value) % 400 + 1, s.id, CASE i.value WHEN 1 THEN '🔥' ELSE 'cat' END, '' FROM statuses s JOIN json_each('[1,2,3]') i WHERE s.id % 3 = 0`, nil},
		{`INSERT INTO reaction_counts (status_id, emoji, url, count, first_id) SELECT status_id, emoji, '', count(*), min(id) FROM reactions GROUP BY status_id, emoji`, nil},
		{`INSERT INTO bookmark_folders (id, account_id, name, emoji) SELECT id, id, 'folder', '' FROM accounts WHERE id <= 400`, nil},
		{`INSERT INTO bookmarks (id, account_id, status_id, folder_id)
			SELECT id, id % 400 + 1, id, CASE WHEN id % 2 = 0 THEN id % 400 + 1 END FROM statuses WHERE id % 9 = 0`, nil},
		{`INSERT INTO quote_authorizations (id, status_id, account_id, quote_uri, request_uri)
			SELECT id, id, id % 500 + 1, 'https://example.org/q' || id, '' FROM statuses WHERE id % 50 = 0 AND reblog_of_id IS NULL`, nil},
		{`INSERT INTO interaction_requests (id, author_id, status_id, account_id, domain, interaction, uri, accepted_at)
			SELECT id, account_id, id, id % 500 + 1, domain, id % 3, 'https://example.org/i' || id, CASE WHEN id % 100 = 0 THEN id END FROM statuses WHERE id % 50 = 0`, nil},
		{`INSERT INTO collections (id, account_id, uri, url, name, description, sensitive, discoverable, updated_at)
			SELECT id, id % 500 + 1, 'https://example.org/c' || id, '', '', '', 0, 1, 1 FROM statuses WHERE id % 50 = 0`, nil},
		{`INSERT INTO collection_items (id, collection_id, target_id, account_id, domain, state, request_uri, authorization_uri)
			SELECT c.id + i.value, c.id, (c.id + i.value) % 400 + 1, c.account_id, 'remote.example', i.value % 4, '', 'https://example.org/a' || (c.id + i.value)
			FROM collections c JOIN json_each('[1,2,3,4,5]') i`, nil},
		{`INSERT INTO pins (status_id, account_id, pinned_at) SELECT id, account_id, id FROM statuses WHERE id % 5000 = 0`, nil},
		{`INSERT INTO media (id, account_id, status_id, type, mime, file, created_at) SELECT id, account_id, id, 'image', 'image/png', 'f' || id, id FROM statuses WHERE has_media = 1`, nil},
		{`INSERT INTO polls (id, status_id, multiple, options) SELECT id, id, 0, '[{"title":"a","votes":0}]' FROM statuses WHERE id % 100 = 0 AND reblog_of_id IS NULL`, nil},
		{`INSERT INTO poll_votes (poll_id, account_id, choice) SELECT p.id, a.id, 0 FROM polls p JOIN accounts a ON a.id % 20 = p.id / 100 % 20`, nil},
		{numbers + `INSERT INTO scheduled_statuses (id, account_id, scheduled_at, draft) SELECT i, i % 500 + 1, i, '{}' FROM n`, []any{10_000}},
		{`INSERT INTO media (id, account_id, scheduled_id, type, mime, file, created_at) SELECT id + 1000000, account_id, id, 'image', 'image/png', 's' || id, id FROM scheduled_statuses WHERE id % 5 = 0`, nil},
		{`INSERT INTO notifications (id, account_id, type, from_id, status_id) SELECT id, u.account_id, 'favourite', 2, id FROM statuses s JOIN users u ON u.account_id = s.id % 100 + 1 WHERE s.id % 5 = 0`, nil},
		{`INSERT INTO chats (id, account_id, other_id, position, updated_at)
			SELECT a.id * 1000 + b.id, a.id, b.id, a.id * 1000 + b.id, 1 FROM accounts a JOIN accounts b ON b.id BETWEEN a.id - 10 AND a.id + 10 WHERE a.domain = ''`, nil},
		{numbers + `INSERT INTO chat_messages (id, account_id, recipient_id, uri, created_at, content)
			SELECT i, i % 500 + 1, (i + 7) % 500 + 1, 'https://example.org/c' || i, i, 'words' FROM n`, []any{n / 4}},
		{`INSERT INTO chat_copies (id, chat_id, message_id, unread)
			SELECT m.id * 2, c.id, m.id, m.id % 10 = 0 FROM chat_messages m JOIN chats c ON c.account_id = m.account_id AND c.other_id = m.recipient_id`, nil},
		{`INSERT INTO chat_copies (id, chat_id, message_id, unread)
			SELECT m.id * 2 + 1, c.id, m.id, m.id % 10 = 0 FROM chat_messages m JOIN chats c ON c.account_id = m.recipient_id AND c.other_id = m.account_id`, nil},
		{`INSERT INTO chat_message_keys (account_id, key, message_id, created_at) SELECT account_id, 'key' || id, id, id FROM chat_messages WHERE id % 20 = 0`, nil},
		{`UPDATE media SET message_id = (SELECT m.id FROM chat_messages m WHERE m.id = media.id), status_id = NULL WHERE id % 100 = 0`, nil},
		{`INSERT INTO oauth_tokens (id, hash, account_id, scopes, created_at, last_used_at) SELECT account_id, CAST(account_id || 'hash' AS BLOB), account_id, 'push', 0, 0 FROM users`, nil},
		{`INSERT INTO push_subscriptions (id, token_id, account_id, endpoint, p256dh, auth, token, alerts, policy, standard)
			SELECT id, id, account_id, 'https://push.example/', x'', x'', x'', '[]', 'all', 1 FROM oauth_tokens`, nil},
		{`INSERT INTO imports (id, account_id, kind, total, finished_at) SELECT id, id, 'follows', 10, CASE WHEN id > 3 THEN 1 END FROM accounts WHERE domain = ''`, nil},
		{`INSERT INTO import_entries (import_id, position, target, options) SELECT i.id, j.value, 'a', '{}' FROM imports i JOIN json_each('[1,2,3,4,5,6,7,8,9]') j`, nil},
		{`INSERT INTO archives (id, account_id, file, uploaded, by_staff, public, state) SELECT id, id, 'f', 1, 0, 0, CASE WHEN id > 3 THEN 'complete' ELSE 'uploading' END FROM accounts WHERE domain = ''`, nil},
		{`INSERT INTO archive_skips (archive_id, item, reason) SELECT a.id, j.value, 'a' FROM archives a JOIN json_each('[1,2,3,4,5,6,7,8,9]') j`, nil},
		{`INSERT INTO imported_statuses (status_id, account_id, archive_id, original_uri, original_url)
			SELECT s.id, s.account_id, s.account_id, 'https://old.example/' || s.id, '' FROM statuses s JOIN archives a ON a.id = s.account_id WHERE s.id % 3 = 0`, nil},
		{`INSERT INTO removed_originals (account_id, original_uri, archive_id) SELECT a.id, 'https://old.example/removed/' || j.value, a.id FROM archives a JOIN json_each('[1,2,3,4,5,6,7,8,9]') j`, nil},
		{`INSERT INTO account_backups (id, account_id, file) SELECT id, id, 'f' || id FROM accounts WHERE domain = ''`, nil},
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

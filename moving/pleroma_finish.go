package moving

import (
	"strconv"

	"svc/store"
)

// Types of relationships in Pleroma.
const (
	pleromaBlock        = "1"
	pleromaMute         = "2"
	pleromaHideBoosts   = "3"
	pleromaMuteAlerts   = "4" // hides notifications
	pleromaSubscription = "5" // the target is the subscriber
	pleromaEndorsement  = "7"
)

// pleromaFinish returns the statements that join what Pleroma stores apart. base is the address of the server as SQL.
func pleromaFinish(base string) []string {
	list := []string{
		`CREATE INDEX pleroma_followers ON accounts (followers) WHERE followers <> ''`,
		`CREATE INDEX pleroma_sent ON pleroma_activities (type, account, target, created_at)`,
		`CREATE INDEX pleroma_created ON pleroma_creates (post)`,
	}
	for table, columns := range pleromaAccountColumns {
		for _, column := range columns {
			list = append(list, `UPDATE OR REPLACE `+table+` SET `+column+` = ifnull((SELECT u.uri FROM pleroma_users u WHERE u.id = `+table+`.`+column+`), '')`)
		}
	}
	related := func(kind, account, target string) string {
		return `EXISTS (SELECT 1 FROM pleroma_relationships x WHERE x.type = ` + kind + ` AND x.account = ` + account + ` AND x.target = ` + target + `)`
	}
	sent := func(kind, account, target string) string {
		return `ifnull((SELECT x.uri FROM pleroma_activities x WHERE x.type = '` + kind + `' AND x.account = ` + account + ` AND x.target = ` + target + ` ORDER BY x.created_at DESC LIMIT 1), '')`
	}
	isOwn := func(column string) string {
		return `substr(` + column + `, 1, length(` + base + `) + 1) = ` + base + ` || '/'`
	}
	return append(list,
		`CREATE INDEX pleroma_related ON pleroma_relationships (type, account, target)`,
		`INSERT INTO blocks SELECT NULL, r.account, r.target, `+sent("Block", "r.account", "r.target")+` FROM pleroma_relationships r WHERE r.type = `+pleromaBlock+` ORDER BY r.n`,
		`INSERT INTO mutes SELECT NULL, r.account, r.target, `+related(pleromaMuteAlerts, "r.account", "r.target")+`, r.expires_at
			FROM pleroma_relationships r WHERE r.type = `+pleromaMute+` ORDER BY r.n`,
		`INSERT INTO endorsements SELECT NULL, r.account, r.target FROM pleroma_relationships r WHERE r.type = `+pleromaEndorsement+` ORDER BY r.n`,
		`UPDATE follows SET reblogs = NOT `+related(pleromaHideBoosts, "follows.account", "follows.target")+`,
			notify = `+related(pleromaSubscription, "follows.target", "follows.account")+`, uri = `+sent("Follow", "follows.account", "follows.target"),
		`UPDATE accounts SET moved_to_uri = ifnull((SELECT x.target FROM pleroma_activities x WHERE x.type = 'Move' AND x.account = accounts.id ORDER BY x.created_at DESC LIMIT 1), '')
			WHERE domain = ''`,
		// The id of a key must be an address of its account.
		`UPDATE accounts SET public_key = k.public_key, private_key = iif(domain = '', k.private_key, NULL), key_uri = k.uri
			FROM pleroma_keys k JOIN pleroma_users u ON u.id = k.user
			WHERE u.uri = accounts.id AND (k.uri = u.uri OR substr(k.uri, 1, length(u.uri)) = u.uri AND substr(k.uri, length(u.uri) + 1, 1) IN ('#', '/', '?'))`,

		`UPDATE posts SET visibility = `+strconv.Itoa(int(store.Private))+` WHERE visibility = `+strconv.Itoa(int(store.Direct))+` AND id IN (
			SELECT m.post FROM mentions m JOIN accounts a ON a.followers = m.account AND a.followers <> '' JOIN posts p ON p.id = m.post AND p.account = a.id)`,
		`DELETE FROM mentions WHERE account NOT IN (SELECT id FROM accounts)`,
		`UPDATE posts SET reply_to_account = ifnull((SELECT o.account FROM posts o WHERE o.id = posts.reply_to), '') WHERE reply_to <> ''`,
		`UPDATE posts SET url = ifnull((SELECT c.page FROM pleroma_creates c WHERE c.post = posts.id AND c.account = posts.account ORDER BY c.id LIMIT 1), uri)
			WHERE boost_of = '' AND `+isOwn("id"),
		`INSERT INTO pages SELECT NULL, c.post, c.uri FROM pleroma_creates c JOIN posts p ON p.id = c.post AND p.account = c.account WHERE c.uri <> '' AND `+isOwn("c.post"),
		`UPDATE bookmarks SET post = ifnull((SELECT c.post FROM pleroma_creates c WHERE c.id = bookmarks.post), '')`,
		`INSERT INTO votes SELECT NULL, l.id, v.account, j.key FROM pleroma_answers v JOIN polls l ON l.id = v.poll JOIN json_each(l.options) j ON j.value = v.option ORDER BY v.n`,
		`UPDATE list_members SET account = ifnull((SELECT a.id FROM accounts a WHERE a.followers = list_members.account AND a.followers <> '' ORDER BY a.domain <> '' LIMIT 1), '')`,
		`UPDATE OR REPLACE read_threads SET thread = ifnull((SELECT c.thread FROM pleroma_conversations c WHERE c.id = read_threads.thread), '')`,
		`UPDATE chat_copies SET message = ifnull((SELECT m.message FROM pleroma_chat_messages m WHERE m.id = chat_copies.message), '')`,
		// Other software may name posts only.
		`UPDATE reports SET posts = json_insert(posts, '$[#]', target), target = (SELECT p.account FROM posts p WHERE p.id = reports.target)
			WHERE target IN (SELECT id FROM posts)`,
	)
}

// pleromaAccountColumns are the columns that have ids of rows of users until pleromaFinish replaces them.
var pleromaAccountColumns = map[string][]string{
	"follows": {"account", "target"}, "pleroma_relationships": {"account", "target"}, "notes": {"account", "target"}, "bookmarks": {"account"},
	"thread_mutes": {"account"}, "read_threads": {"account"}, "tag_follows": {"account"}, "lists": {"account"}, "filters": {"account"}, "report_notes": {"account"}, "chats": {"account"},
}

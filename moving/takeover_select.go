package moving

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc/internal/text"
)

// scratchIndexes are made when all rows are there, which is faster than with each row.
var scratchIndexes = []string{
	`CREATE INDEX accounts_uri ON accounts (uri)`,
	`CREATE INDEX posts_account ON posts (account)`,
	`CREATE INDEX posts_boosts ON posts (boost_of) WHERE boost_of <> ''`,
	`CREATE INDEX posts_replies ON posts (reply_to) WHERE reply_to <> ''`,
	`CREATE INDEX posts_threads ON posts (thread) WHERE thread <> ''`,
	`CREATE INDEX post_tags_post ON post_tags (post)`,
	`CREATE INDEX mentions_post ON mentions (post)`,
	`CREATE INDEX mentions_account ON mentions (account)`,
	`CREATE INDEX edits_post ON edits (post)`,
	`CREATE INDEX votes_poll ON votes (poll)`,
	`CREATE INDEX favourites_post ON favourites (post)`,
	`CREATE INDEX favourites_account ON favourites (account)`,
	`CREATE INDEX attachments_media ON attachments (media)`,
	`CREATE INDEX follows_id ON follows (id)`,
	`CREATE INDEX follows_account ON follows (account)`,
	`CREATE INDEX follows_target ON follows (target)`,
	`CREATE INDEX users_id ON users (id)`,
	`CREATE INDEX tokens_user ON tokens (user)`,
	`CREATE INDEX apps_client ON apps (client_id)`,
	`CREATE INDEX emoji_code ON emoji (shortcode, domain)`,
	`CREATE INDEX chat_copies_chat ON chat_copies (chat)`,
	`CREATE INDEX chat_messages_media ON chat_messages (media) WHERE media <> ''`,
	`CREATE INDEX ids_order ON ids (kind, id)`,
}

// localAccount is the condition that an account of the scratch database is one of a person of this server.
const localAccount = `SELECT id FROM accounts WHERE domain = '' AND kept = 1`

// selections mark what comes along, one after another: local accounts and all their posts; the posts of others that they boosted, liked, bookmarked,
// answered, voted in or received directly; boosts of local posts; and the accounts that appear in this.
var selections = []string{
	`UPDATE accounts SET moved_to = ifnull((SELECT b.id FROM accounts b WHERE b.uri = accounts.moved_to_uri), '') WHERE moved_to = '' AND moved_to_uri <> ''`,
	`UPDATE accounts SET kept = 1 WHERE domain = '' AND system = 0 AND id IN (SELECT account FROM users)`,
	`UPDATE posts SET kept = 1 WHERE account IN (` + localAccount + `) AND waiting = 0
		AND (boost_of = '' OR boost_of IN (SELECT id FROM posts))`,
	`UPDATE posts SET kept = 1 WHERE kept = 0 AND waiting = 0 AND boost_of = '' AND id IN (
		SELECT boost_of FROM posts WHERE kept = 1 AND boost_of <> ''
		UNION ALL SELECT reply_to FROM posts WHERE kept = 1 AND reply_to <> ''
		UNION ALL SELECT post FROM favourites WHERE account IN (` + localAccount + `)
		UNION ALL SELECT post FROM reactions WHERE account IN (` + localAccount + `)
		UNION ALL SELECT post FROM bookmarks
		UNION ALL SELECT post FROM filter_posts
		UNION ALL SELECT p.post FROM votes v JOIN polls p ON p.id = v.poll WHERE v.account IN (` + localAccount + `)
		UNION ALL SELECT p.id FROM mentions m JOIN posts p ON p.id = m.post WHERE p.visibility = 4 AND m.account IN (` + localAccount + `))
		AND account IN (SELECT id FROM accounts WHERE domain <> '' AND inbox <> '' AND suspended = 0)`,
	`UPDATE posts SET kept = 1 WHERE kept = 0 AND waiting = 0 AND boost_of IN (
		SELECT id FROM posts WHERE kept = 1 AND account IN (` + localAccount + `))
		AND account IN (SELECT id FROM accounts WHERE domain <> '' AND inbox <> '' AND suspended = 0)`,
	`UPDATE posts SET kept = 0 WHERE kept = 1 AND boost_of <> '' AND NOT EXISTS (SELECT 1 FROM posts o WHERE o.id = posts.boost_of AND o.kept = 1)`,
	`UPDATE accounts SET kept = 1 WHERE kept = 0 AND domain <> '' AND uri <> '' AND inbox <> '' AND id IN (
		SELECT account FROM follows WHERE target IN (` + localAccount + `)
		UNION ALL SELECT target FROM follows WHERE account IN (` + localAccount + `)
		UNION ALL SELECT account FROM blocks WHERE target IN (` + localAccount + `)
		UNION ALL SELECT target FROM blocks WHERE account IN (` + localAccount + `)
		UNION ALL SELECT target FROM mutes
		UNION ALL SELECT target FROM notes
		UNION ALL SELECT target FROM endorsements
		UNION ALL SELECT account FROM list_members
		UNION ALL SELECT account FROM posts WHERE kept = 1
		UNION ALL SELECT reply_to_account FROM posts WHERE kept = 1
		UNION ALL SELECT m.account FROM mentions m JOIN posts p ON p.id = m.post WHERE p.kept = 1
		UNION ALL SELECT f.account FROM favourites f JOIN posts p ON p.id = f.post WHERE p.kept = 1
		UNION ALL SELECT f.account FROM reactions f JOIN posts p ON p.id = f.post WHERE p.kept = 1
		UNION ALL SELECT v.account FROM votes v JOIN polls l ON l.id = v.poll JOIN posts p ON p.id = l.post WHERE p.kept = 1
		UNION ALL SELECT account FROM reports
		UNION ALL SELECT target FROM reports
		UNION ALL SELECT other FROM chats WHERE account IN (` + localAccount + `)
		UNION ALL SELECT moved_to FROM accounts WHERE kept = 1)`,
	`UPDATE posts SET kept = 0 WHERE kept = 1 AND account NOT IN (SELECT id FROM accounts WHERE kept = 1)`,
	`UPDATE posts SET kept = 0 WHERE kept = 1 AND boost_of <> '' AND NOT EXISTS (SELECT 1 FROM posts o WHERE o.id = posts.boost_of AND o.kept = 1)`,
	// An address that two accounts have would let one of them in as the other.
	`UPDATE users SET email = '', pending_email = '' WHERE email <> '' AND EXISTS (
		SELECT 1 FROM users o WHERE lower(o.email) = lower(users.email) AND (o.confirmed_at > 0, -o.created_at, o.account) > (users.confirmed_at > 0, -users.created_at, users.account))`,
}

// idQueries select what gets ids, in order: the id of the source and the time.
var idQueries = []struct{ kind, query string }{
	{"account", `SELECT id, created_at FROM accounts WHERE kept = 1 ORDER BY created_at, id`},
	{"post", `SELECT id, created_at FROM posts WHERE kept = 1 ORDER BY created_at, id`},
	{"thread", `SELECT thread, min(created_at) AS at FROM posts WHERE kept = 1 AND thread <> '' GROUP BY thread ORDER BY at, thread`},
	{"media", `
		SELECT m.id, m.created_at
		FROM attachments t JOIN posts p ON p.id = t.post AND p.kept = 1 JOIN media m ON m.id = t.media
		GROUP BY m.id
		ORDER BY m.created_at, m.id`},
	{"poll", `SELECT l.id, p.created_at FROM polls l JOIN posts p ON p.id = l.post AND p.kept = 1 ORDER BY p.created_at, l.id`},
	{"list", `SELECT l.id, l.created_at FROM lists l JOIN accounts a ON a.id = l.account AND a.kept = 1 ORDER BY l.created_at, l.id`},
	{"filter", `SELECT f.id, f.created_at FROM filters f JOIN accounts a ON a.id = f.account AND a.kept = 1 ORDER BY f.created_at, f.id`},
	{"report", `
		SELECT r.id, r.created_at
		FROM reports r JOIN accounts a ON a.id = r.account AND a.kept = 1 JOIN accounts b ON b.id = r.target AND b.kept = 1
		ORDER BY r.created_at, r.id`},
	{"message", messageIDs},
	{"chat", chatIDs},
	{"chat copy", chatCopyIDs},
	{"chat file", chatFileIDs},
	{"announcement", `SELECT id, created_at FROM announcements ORDER BY created_at, id`},
}

// choose marks what comes along and gives it ids.
func (s *scratch) choose(ctx context.Context, now time.Time, progress func(step string, done, total int64)) error {
	statements := slices.Concat(scratchIndexes, []string{`ANALYZE`}, selections)
	total := int64(len(statements) + len(idQueries))
	for i, query := range statements {
		progress("choosing", int64(i), total)
		if err := s.script(ctx, query); err != nil {
			return err
		}
	}
	for i, q := range idQueries {
		progress("choosing", int64(len(statements)+i), total)
		if err := s.assign(ctx, q.kind, q.query, now); err != nil {
			return err
		}
	}
	return s.script(ctx, smallIDs...)
}

// smallIDs gives apps and rules, whose ids are small numbers, ids in their order. Only apps that have tokens or made posts come along.
var smallIDs = []string{
	`INSERT OR IGNORE INTO ids (kind, source, id) SELECT 'app', id, row_number() OVER (ORDER BY created_at, id) FROM apps WHERE id IN (
		SELECT app FROM posts WHERE kept = 1 AND app <> ''
		UNION ALL SELECT p.id FROM tokens t JOIN apps p ON iif(t.by_client_id, p.client_id, p.id) = t.app)`,
	`INSERT OR IGNORE INTO ids (kind, source, id) SELECT 'rule', id, row_number() OVER (ORDER BY priority, id) FROM rules`,
}

// nameProblem is a nickname that cannot be that of an account here.
type nameProblem struct{ Nickname, Why string }

// rename gives local accounts other nicknames. Their ids stay.
func (s *scratch) rename(ctx context.Context, names map[string]string) error {
	for old, name := range names {
		n, err := s.number(ctx, `SELECT count(*) FROM accounts WHERE domain = '' AND system = 0 AND username = ? AND id IN (SELECT account FROM users)`, old)
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("--rename %s=%s: the source has no account %s", old, name, old)
		}
		if err := s.exec(ctx, `UPDATE accounts SET username = ? WHERE domain = '' AND system = 0 AND username = ?`, name, old); err != nil {
			return err
		}
	}
	return s.commit()
}

// checkAdmins returns an error for the nickname of an administrator that no local account has.
func (s *scratch) checkAdmins(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	known := make(map[string]bool)
	err := s.rows(ctx, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		known[text.NickKey(name)] = true
		return err
	}, `SELECT username FROM accounts WHERE domain = '' AND system = 0 AND id IN (SELECT account FROM users)`)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !known[text.NickKey(name)] {
			return fmt.Errorf("--admins %s: the source has no account %s", name, name)
		}
	}
	return nil
}

// maxNameProblems bounds the names that are listed.
const maxNameProblems = 1000

// checkNames returns the nicknames of local accounts that differ only in case, are reserved, or are none here.
func (s *scratch) checkNames(ctx context.Context, reserved []string, extended bool) ([]nameProblem, error) {
	var problems []nameProblem
	byKey := make(map[string]string)
	err := s.rows(ctx, func(rows *sql.Rows) error {
		var name string
		if err := rows.Scan(&name); err != nil || len(problems) >= maxNameProblems {
			return err
		}
		key := text.NickKey(name)
		switch other := byKey[key]; {
		case other != "":
			problems = append(problems, nameProblem{name, "differs from " + other + " only in case"})
		case text.IsReserved(name, reserved):
			problems = append(problems, nameProblem{name, "is reserved for the server itself"})
		case !text.ValidNickname(name, extended):
			problems = append(problems, nameProblem{name, "is no nickname here: letters, digits, _ and -, and not only digits"})
		default:
			byKey[key] = name
		}
		return nil
	}, `SELECT username FROM accounts WHERE domain = '' AND system = 0 AND id IN (SELECT account FROM users) ORDER BY created_at, id`)
	return problems, err
}

// listOf returns the names that a query selects, joined and bounded.
func (s *scratch) listOf(ctx context.Context, query string, args ...any) ([]string, error) {
	var list []string
	err := s.rows(ctx, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		list = append(list, name)
		return err
	}, strings.TrimSpace(query)+` LIMIT 10000`, args...)
	return list, err
}

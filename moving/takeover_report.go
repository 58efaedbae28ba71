package moving

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
)

// maxNotes bounds the notes of a report.
const maxNotes = 1000

// Report is what comes along in a takeover, what does not, and what remains to be done.
type Report struct {
	Software string     `json:"software"`
	Counts   []Count    `json:"counts"`
	LeftOut  []*LeftOut `json:"left_out"`
	Notes    []string   `json:"notes"`
}

// Count is how many rows of a kind come along, of how many.
type Count struct {
	Kind  string `json:"kind"`
	Taken int64  `json:"taken"`
	Of    int64  `json:"of"`
}

// LeftOut is how many rows of a kind are left out for a reason.
type LeftOut struct {
	Kind   string `json:"kind"`
	Reason string `json:"reason"`
	Count  int64  `json:"count"`

	unsaved int64 // of Count: not yet in the scratch database
}

func newReport() *Report { return &Report{Counts: []Count{}, LeftOut: []*LeftOut{}, Notes: []string{}} }

// leave counts a row that was chosen, and is left out when it is written.
func (r *Report) leave(kind, reason string) {
	if l := r.leaveChosen(kind, reason, 1); l != nil {
		l.unsaved++
	}
}

// leaveChosen is leaveMany for rows that Counts has as taken.
func (r *Report) leaveChosen(kind, reason string, n int64) *LeftOut {
	if i := slices.IndexFunc(r.Counts, func(c Count) bool { return c.Kind == kind }); i >= 0 {
		r.Counts[i].Taken -= n
	}
	return r.leaveMany(kind, reason, n)
}

// leaveMany counts rows, and returns their entry, nil if there is none.
func (r *Report) leaveMany(kind, reason string, n int64) *LeftOut {
	if n == 0 {
		return nil
	}
	i := slices.IndexFunc(r.LeftOut, func(l *LeftOut) bool { return l.Kind == kind && l.Reason == reason })
	if i < 0 {
		if len(r.LeftOut) >= maxNotes {
			return nil
		}
		i, r.LeftOut = len(r.LeftOut), append(r.LeftOut, &LeftOut{Kind: kind, Reason: reason})
	}
	r.LeftOut[i].Count += n
	return r.LeftOut[i]
}

func (r *Report) note(text string) {
	if len(r.Notes) < maxNotes {
		r.Notes = append(r.Notes, text)
	}
}

// counted are the kinds of rows, each with the query of those that come along and of all.
var counted = []struct{ kind, taken, all string }{
	{"accounts", `SELECT count(*) FROM accounts WHERE kept = 1 AND domain = ''`, `SELECT count(*) FROM accounts WHERE domain = '' AND system = 0`},
	{"remote accounts", `SELECT count(*) FROM accounts WHERE kept = 1 AND domain <> ''`, `SELECT count(*) FROM accounts WHERE domain <> ''`},
	{"posts", countPosts("p.kept = 1 AND a.domain = '' AND p.boost_of = ''"), countPosts("a.domain = '' AND p.boost_of = ''")},
	{"boosts", countPosts("p.kept = 1 AND a.domain = '' AND p.boost_of <> ''"), countPosts("a.domain = '' AND p.boost_of <> ''")},
	{"remote posts", countPosts("p.kept = 1 AND a.domain <> '' AND p.boost_of = ''"), countPosts("a.domain <> '' AND p.boost_of = ''")},
	{"remote boosts", countPosts("p.kept = 1 AND a.domain <> '' AND p.boost_of <> ''"), countPosts("a.domain <> '' AND p.boost_of <> ''")},
	{"attachments", `SELECT count(*) FROM ids WHERE kind = 'media'`, `SELECT count(DISTINCT media) FROM attachments`},
	{"chat messages", `SELECT count(*) FROM ids WHERE kind = 'message'`, `SELECT count(*) FROM chat_messages`},
	{"polls", `SELECT count(*) FROM ids WHERE kind = 'poll'`, `SELECT count(*) FROM polls`},
	{"follows", countPairs("follows"), `SELECT count(*) FROM follows`},
	{"blocks", countPairs("blocks"), `SELECT count(*) FROM blocks`},
	{"mutes", countPairs("mutes"), `SELECT count(*) FROM mutes`},
	{"favourites", countLinks("favourites", "(a.domain = '' OR o.domain = '') AND t.waiting = 0"), `SELECT count(*) FROM favourites`},
	{"reactions", countLinks("reactions", "a.domain = '' OR o.domain = ''"), `SELECT count(*) FROM reactions`},
	{"bookmarks", countLinks("bookmarks", "a.domain = ''"), `SELECT count(*) FROM bookmarks`},
	{"pins", countLinks("pins", "a.domain = ''"), `SELECT count(*) FROM pins`},
	{"lists", `SELECT count(*) FROM ids WHERE kind = 'list'`, `SELECT count(*) FROM lists`},
	{"filters", `SELECT count(*) FROM ids WHERE kind = 'filter'`, `SELECT count(*) FROM filters`},
	{"apps", `SELECT count(*) FROM ids WHERE kind = 'app'`, `SELECT count(*) FROM apps`},
	{"tokens", `SELECT count(*) FROM (` + strings.NewReplacer("t.n > ? AND", "", "LIMIT ?", "").Replace(tokenQuery) + `)`, `SELECT count(*) FROM tokens`},
	{"reports", `SELECT count(*) FROM ids WHERE kind = 'report'`, `SELECT count(*) FROM reports`},
	{"rules", `SELECT count(*) FROM rules`, `SELECT count(*) FROM rules`},
	{"announcements", `SELECT count(*) FROM announcements`, `SELECT count(*) FROM announcements`},
	{"invites", `SELECT count(*) FROM invites`, `SELECT count(*) FROM invites`},
	{"emoji", `SELECT count(*) FROM emoji WHERE domain = '' AND disabled = 0`, `SELECT count(*) FROM emoji WHERE domain = ''`},
	{"blocked servers", `SELECT count(*) FROM server_blocks`, `SELECT count(*) FROM server_blocks`},
}

func countPosts(condition string) string {
	return `SELECT count(*) FROM posts p JOIN accounts a ON a.id = p.account WHERE ` + condition
}

func countPairs(table string) string {
	return `SELECT count(*) FROM ` + table + ` t JOIN accounts a ON a.id = t.account AND a.kept = 1 JOIN accounts b ON b.id = t.target AND b.kept = 1
		WHERE (a.domain = '' OR b.domain = '') AND t.account <> t.target`
}

func countLinks(table, condition string) string {
	return `SELECT count(*) FROM ` + table + ` t JOIN accounts a ON a.id = t.account AND a.kept = 1 JOIN posts p ON p.id = t.post AND p.kept = 1 AND p.boost_of = ''
		JOIN accounts o ON o.id = p.account WHERE ` + condition
}

// reasons are why rows are left out, with the query of their number.
var reasons = []struct{ kind, reason, query string }{
	{"accounts", "they were deleted: their names are never used again", `SELECT count(*) FROM accounts WHERE domain = '' AND system = 0 AND kept = 0`},
	{"remote accounts", "nobody here follows them, and nothing that comes along mentions them", `SELECT count(*) FROM accounts WHERE domain <> '' AND kept = 0 AND inbox <> ''`},
	{"remote accounts", "they have no inbox", `SELECT count(*) FROM accounts WHERE domain <> '' AND kept = 0 AND inbox = ''`},
	{"posts", "they wait for approval", countPosts("p.kept = 0 AND a.domain = '' AND p.waiting = 1")},
	{"boosts", "the boosted post is not there, or its author is suspended", countPosts("p.kept = 0 AND a.domain = '' AND p.boost_of <> '' AND p.waiting = 0")},
	{"remote posts", "nobody here boosted, liked, bookmarked or answered them", countPosts("p.kept = 0 AND a.domain <> '' AND p.boost_of = ''")},
	{"attachments", "their posts do not come along", `SELECT (SELECT count(DISTINCT media) FROM attachments) - (SELECT count(*) FROM ids WHERE kind = 'media')`},
	{"follows", "they are of the account itself", `SELECT count(*) FROM follows WHERE account = target`},
	{"chat messages", "no account here has them in a chat", `SELECT (SELECT count(*) FROM chat_messages) - (SELECT count(*) FROM ids WHERE kind = 'message')`},
	{"emoji", "they are disabled", `SELECT count(*) FROM emoji WHERE domain = '' AND disabled = 1`},
}

// listed are accounts that their people or staff must know of.
var listed = []struct{ note, query string }{
	{"do not get in, because they are suspended or disabled (svc user activate)", `u.disabled = 1 OR a.suspended = 1`},
	{"do not get in, because they are in memory of somebody", `a.memorial = 1`},
	{"wait for the confirmation of their address or for approval", `u.confirmed_at = 0 OR u.approved = 0`},
	{"have a second factor whose secret cannot be read, so they reset their password by mail, and set up the second factor again", `u.totp_lost = 1`},
	{"have no e-mail address that can be used here (svc user set NICK --email)", `u.email = '' OR u.email NOT LIKE '%@%'`},
}

// count fills in the report with what the scratch database says.
func (k *Takeover) count(ctx context.Context) error {
	r := k.Report
	r.Software = k.software.name
	for _, c := range counted {
		taken, err := k.scratch.number(ctx, c.taken)
		if err != nil {
			return err
		}
		all, err := k.scratch.number(ctx, c.all)
		if err != nil {
			return err
		}
		if all > 0 {
			r.Counts = append(r.Counts, Count{c.kind, taken, all})
		}
	}
	for _, c := range reasons {
		n, err := k.scratch.number(ctx, c.query)
		if err != nil {
			return err
		}
		r.leaveMany(c.kind, c.reason, n)
	}
	if err := k.scratch.rows(ctx, func(rows *sql.Rows) error { // before this process
		var kind, reason string
		var n int64
		var chosen bool
		err := rows.Scan(&kind, &reason, &n, &chosen)
		if chosen {
			r.leaveChosen(kind, reason, n)
		} else {
			r.leaveMany(kind, reason, n)
		}
		return err
	}, `SELECT kind, reason, count, chosen FROM left_out`); err != nil {
		return err
	}
	for _, l := range listed {
		names, err := k.scratch.listOf(ctx, `SELECT a.username FROM accounts a JOIN users u ON u.account = a.id WHERE a.domain = '' AND a.kept = 1 AND (`+l.query+`) ORDER BY a.username`)
		if err != nil {
			return err
		}
		if len(names) > 0 {
			r.note(strconv.Itoa(len(names)) + " accounts " + l.note + ": " + strings.Join(names, ", "))
		}
	}
	if err := k.noteAdmins(ctx); err != nil {
		return err
	}
	if k.source.Media == "" {
		r.note("No files come along, because no folder was named (--media).")
	}
	for _, text := range k.software.lost {
		r.note(text)
	}
	return nil
}

// noteAdmins says what becomes of administrators.
func (k *Takeover) noteAdmins(ctx context.Context) error {
	admins, err := k.scratch.listOf(ctx, `
		SELECT a.username FROM accounts a JOIN users u ON u.account = a.id AND u.admin = 1 WHERE a.domain = '' AND a.kept = 1 ORDER BY a.username`)
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(admins, k.source.makesAdmin)
	if len(left) > 0 {
		k.Report.note("Administrators of the old server become moderators unless --admins names them: " + strings.Join(left, ", "))
	}
	return nil
}

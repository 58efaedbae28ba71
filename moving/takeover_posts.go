package moving

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"svc/internal/text"
	"svc/store"
)

// Bounds of a post.
const (
	maxTakenContent  = 200_000 // bytes of HTML
	maxTakenText     = 100_000 // bytes as typed
	maxTakenTags     = 100
	maxTakenMentions = 100
)

// postRow is a post of the scratch database.
type postRow struct {
	at
	Author                                                  store.AccountID
	Domain, Nick, URI, URL                                  string
	CreatedAt, EditedAt                                     int64
	Visibility                                              store.Visibility
	ParentID                                                *store.StatusID
	ParentAuthor                                            *store.AccountID
	ParentURI                                               string
	ThreadID                                                *store.ConversationID
	BoostOf                                                 *store.StatusID
	Content, Text, ContentType, SpoilerText, Language, Poll string
	Sensitive, HasMedia                                     bool
	AppID                                                   *store.AppID
	Tags                                                    string // names, JSON
	Mentions                                                string // [[account, silent, handle, url]], JSON
}

// postQuery selects posts, or boosts, by their new ids.
func postQuery(condition string) string {
	return `
	SELECT i.id AS pos, ia.id AS author, a.domain, a.username AS nick, p.uri, p.url, p.created_at, p.edited_at, p.visibility,
		ir.id AS parent_id, ira.id AS parent_author, ifnull((SELECT uri FROM posts WHERE id = p.reply_to AND p.reply_to <> ''), '') AS parent_uri,
		it.id AS thread_id, ib.id AS boost_of, p.content, p.text, p.content_type, p.spoiler_text, p.language, p.poll, p.sensitive,
		EXISTS (SELECT 1 FROM attachments t JOIN ids im ON im.kind = 'media' AND im.source = t.media WHERE t.post = p.id) AS has_media,
		iapp.id AS app_id,
		(SELECT json_group_array(t.name) FROM (SELECT tag FROM post_tags WHERE post = p.id ORDER BY n LIMIT 100) pt JOIN tags t ON t.id = pt.tag) AS tags,
		(SELECT json_group_array(json_array(im.id, m.silent, iif(b.domain = '', b.username, b.username || '@' || b.domain), b.url))
			FROM (SELECT account, silent FROM mentions WHERE post = p.id ORDER BY n LIMIT 100) m
			JOIN ids im ON im.kind = 'account' AND im.source = m.account JOIN accounts b ON b.id = m.account) AS mentions
	FROM ids i
	CROSS JOIN posts p ON p.id = i.source
	CROSS JOIN ids ia ON ia.kind = 'account' AND ia.source = p.account
	CROSS JOIN accounts a ON a.id = p.account
	LEFT JOIN ids ir ON ir.kind = 'post' AND ir.source = p.reply_to AND p.reply_to <> ''
	LEFT JOIN ids ira ON ira.kind = 'account' AND ira.source = p.reply_to_account AND p.reply_to_account <> ''
	LEFT JOIN ids it ON it.kind = 'thread' AND it.source = p.thread AND p.thread <> ''
	LEFT JOIN ids ib ON ib.kind = 'post' AND ib.source = p.boost_of AND p.boost_of <> ''
	LEFT JOIN ids iapp ON iapp.kind = 'app' AND iapp.source = p.app AND p.app <> ''
	WHERE i.kind = 'post' AND i.id > ? AND ` + condition + `
	ORDER BY i.id
	LIMIT ?`
}

// posts writes posts without boosts, in the order of their ids, so that most parents are there before replies.
func (w *writer) posts(ctx context.Context, step string) error {
	return each(ctx, w, step, postQuery(`p.boost_of = ''`), func(tx *store.Tx, r *postRow) error {
		return w.post(ctx, tx, r)
	})
}

// mention is an account that a post mentions.
type mention struct {
	account     store.AccountID
	silent      bool
	handle, url string
}

// mentioned returns the accounts that a post mentions.
func (r *postRow) mentioned() []mention {
	var rows [][4]any
	json.Unmarshal([]byte(r.Mentions), &rows) // made by the query
	var list []mention
	for _, m := range rows {
		id, _ := m[0].(float64) // exact: ids have 53 bits
		silent, _ := m[1].(float64)
		handle, _ := m[2].(string)
		url, _ := m[3].(string)
		if !slices.ContainsFunc(list, func(o mention) bool { return o.account == store.AccountID(id) }) {
			list = append(list, mention{store.AccountID(id), silent != 0, handle, url})
		}
	}
	return list
}

// status returns the row of a post or boost.
func (r *postRow) status() *store.Status {
	st := &store.Status{
		ID: store.StatusID(r.Pos), AccountID: r.Author, Domain: strings.ToLower(r.Domain), Visibility: r.Visibility, ConversationID: store.ConversationID(r.Pos),
		CreatedAt: store.Time(max(r.CreatedAt, 1)), EditedAt: timeOrNil(r.EditedAt), URI: r.URI, URL: r.URL,
	}
	if r.ThreadID != nil && r.BoostOf == nil {
		st.ConversationID = *r.ThreadID
	}
	return st
}

func (w *writer) post(ctx context.Context, tx *store.Tx, r *postRow) error {
	st := r.status()
	mentions := r.mentioned()
	st.InReplyToAccountID, st.Sensitive, st.HasMedia, st.HasPoll, st.AppID = r.ParentAuthor, r.Sensitive, r.HasMedia, r.Poll != "", r.AppID
	if r.ParentID != nil && int64(*r.ParentID) < r.Pos {
		st.InReplyToID = r.ParentID
	}
	if st.InReplyToID == nil && r.ParentID == nil {
		st.InReplyToAccountID = nil // the parent did not come along
	}
	st.Language, st.ContentType, st.SpoilerText = text.Language(r.Language), r.ContentType, text.OneLine(r.SpoilerText)
	st.Text = text.Shorten(r.Text, maxTakenText)
	st.Content = w.contentOf(r, mentions)
	if r.Domain != "" {
		st.Text = ""
		st.Emojis.V = w.remoteEmoji(ctx, r.Domain, st.Content, st.SpoilerText)
	}
	st.CutRemote()
	if ok, err := w.take(ctx, tx, "posts", st); err != nil || !ok {
		return err
	}
	if err := w.recipients(ctx, tx, st, mentions); err != nil {
		return err
	}
	if r.Domain != "" {
		if _, err := w.take(ctx, tx, "remote posts", &store.RemoteStatus{StatusID: st.ID, Quiet: true}); err != nil {
			return err
		}
	}
	var names []string
	json.Unmarshal([]byte(r.Tags), &names)
	names = slices.DeleteFunc(names, func(name string) bool { return text.TagName(name) == "" })
	if len(names) == 0 {
		return nil
	}
	return tx.AddTags(ctx, st, names[:min(len(names), maxTakenTags)])
}

// contentOf returns the HTML of a post. Some software stores only the text that was typed, and renders it when it is read.
func (w *writer) contentOf(r *postRow, mentions []mention) string {
	if r.Content != "" || r.Text == "" || r.Domain != "" {
		return text.CutHTML(text.Sanitize(text.Shorten(r.Content, maxTakenContent)), maxTakenContent, r.URL)
	}
	accounts := make(map[string]text.Account)
	for _, m := range mentions {
		a := text.Account{Acct: m.handle, URL: m.url}
		accounts[strings.ToLower(m.handle)] = a
		if !strings.Contains(m.handle, "@") {
			accounts[strings.ToLower(m.handle)+"@"+w.target.Host] = a
		}
	}
	return text.Parse(r.Text, text.PlainText).Render(w.target.BaseURL, accounts).HTML
}

// recipients writes the mentions of a post. A direct post has its author among them.
func (w *writer) recipients(ctx context.Context, tx *store.Tx, st *store.Status, mentions []mention) error {
	direct := st.Visibility == store.Direct
	for i, m := range mentions[:min(len(mentions), maxTakenMentions)] {
		if _, err := w.take(ctx, tx, "mentions", &store.Recipient{StatusID: st.ID, AccountID: m.account, Position: i, Mentioned: !m.silent, Direct: direct}); err != nil {
			return err
		}
	}
	if direct && !slices.ContainsFunc(mentions, func(m mention) bool { return m.account == st.AccountID }) {
		_, err := w.take(ctx, tx, "mentions", &store.Recipient{StatusID: st.ID, AccountID: st.AccountID, Position: len(mentions), Direct: true})
		return err
	}
	return nil
}

// remoteEmoji returns the custom emoji of another server that texts contain.
func (w *writer) remoteEmoji(ctx context.Context, domain string, texts ...string) []store.RemoteEmoji {
	var list []store.RemoteEmoji
	for _, t := range texts {
		for part := range strings.SplitSeq(t, ":") {
			if !text.ValidRemoteShortcode(part) || len(list) >= store.MaxStatusEmojis ||
				slices.ContainsFunc(list, func(e store.RemoteEmoji) bool { return e.Shortcode == part }) {
				continue
			}
			var url string
			if w.rows.GetContext(ctx, &url, `SELECT url FROM emoji WHERE shortcode = ? AND domain = ? LIMIT 1`, part, domain) == nil && url != "" {
				list = append(list, store.RemoteEmoji{Shortcode: part, URL: url})
			}
		}
	}
	return list
}

// linkRow is a row about an account and a post.
type linkRow struct {
	at
	Account     store.AccountID
	Post, Other store.StatusID
	URI         string
	Local       bool // the account is
	Waiting     bool
	Emoji, URL  string
	CreatedAt   int64
}

// lateReplies sets the parents that have later ids than their replies, because a clock was wrong.
func (w *writer) lateReplies(ctx context.Context, step string) error {
	const query = `
		SELECT i.id AS pos, i.id AS post, ir.id AS other
		FROM ids i
		CROSS JOIN posts p ON p.id = i.source
		CROSS JOIN ids ir ON ir.kind = 'post' AND ir.source = p.reply_to
		WHERE i.kind = 'post' AND i.id > ? AND p.reply_to <> '' AND p.boost_of = '' AND ir.id > i.id
		ORDER BY i.id
		LIMIT ?`
	return each(ctx, w, step, query, func(tx *store.Tx, r *linkRow) error {
		return tx.TakeParent(ctx, r.Post, r.Other)
	})
}

// boosts writes boosts, whose posts are all there.
func (w *writer) boosts(ctx context.Context, step string) error {
	return each(ctx, w, step, postQuery(`p.boost_of <> ''`), func(tx *store.Tx, r *postRow) error {
		st := r.status()
		st.ReblogOfID, st.EditedAt, st.ContentType = r.BoostOf, nil, string(text.PlainText)
		ok, err := w.take(ctx, tx, "boosts", st)
		if err == nil && ok && r.Domain != "" {
			_, err = w.take(ctx, tx, "remote posts", &store.RemoteStatus{StatusID: st.ID, Quiet: true})
		}
		return err
	})
}

// pollRow is a poll of the scratch database.
type pollRow struct {
	at
	Post           store.StatusID
	Local          bool
	Multiple       bool
	HideTotals     bool
	Options, Votes string
	Voters         int
	ExpiresAt      int64
}

// polls writes polls with their counts.
func (w *writer) polls(ctx context.Context, step string) error {
	const query = `
		SELECT i.id AS pos, ip.id AS post, a.domain = '' AS local, l.multiple, l.hide_totals, l.options, l.votes, l.voters, l.expires_at
		FROM ids i
		CROSS JOIN polls l ON l.id = i.source
		CROSS JOIN ids ip ON ip.kind = 'post' AND ip.source = l.post
		CROSS JOIN posts p ON p.id = l.post
		CROSS JOIN accounts a ON a.id = p.account
		WHERE i.kind = 'poll' AND i.id > ?
		ORDER BY i.id
		LIMIT ?`
	return each(ctx, w, step, query, func(tx *store.Tx, r *pollRow) error {
		p := &store.Poll{
			ID: store.PollID(r.Pos), StatusID: r.Post, Multiple: r.Multiple, HideTotals: r.HideTotals, ExpiresAt: timeOrNil(r.ExpiresAt), VotersCount: &r.Voters,
			Closed: r.ExpiresAt > 0 && r.ExpiresAt < w.target.Now().UnixMilli(),
		}
		if !r.Local {
			p.FetchedAt = new(store.Time(1))
		}
		var titles, votes []string
		json.Unmarshal([]byte(r.Options), &titles)
		json.Unmarshal([]byte(r.Votes), &votes)
		for i, title := range titles {
			o := store.PollOption{Title: text.OneLine(title)}
			if i < len(votes) {
				o.Votes, _ = strconv.Atoi(votes[i])
			}
			p.Options.V = append(p.Options.V, o)
		}
		p.CutRemote()
		_, err := w.take(ctx, tx, "polls", p)
		return err
	})
}

// voteRow is a vote of the scratch database.
type voteRow struct {
	at
	Poll    store.PollID
	Account store.AccountID
	Choice  int
}

// votes writes the votes of local accounts, and those of others in local polls.
func (w *writer) votes(ctx context.Context, step string) error {
	const query = `
		SELECT v.n AS pos, i.id AS poll, ia.id AS account, v.choice
		FROM votes v
		CROSS JOIN ids i ON i.kind = 'poll' AND i.source = v.poll
		CROSS JOIN ids ia ON ia.kind = 'account' AND ia.source = v.account
		WHERE v.n > ? AND v.choice BETWEEN 0 AND 1000
		ORDER BY v.n
		LIMIT ?`
	return each(ctx, w, step, query, func(tx *store.Tx, r *voteRow) error {
		_, err := w.take(ctx, tx, "votes", &store.PollVote{PollID: r.Poll, AccountID: r.Account, Choice: r.Choice})
		return err
	})
}

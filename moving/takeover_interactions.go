package moving

import (
	"context"
	"encoding/json"
	"strings"

	"svc/internal/text"
	"svc/social"
	"svc/store"
)

// links selects rows of a table about an account and a post that come along.
func links(table, columns, condition string) string {
	return `
	SELECT t.n AS pos, ia.id AS account, ip.id AS post, a.domain = '' AS local, ` + columns + `
	FROM ` + table + ` t
	CROSS JOIN ids ia ON ia.kind = 'account' AND ia.source = t.account
	CROSS JOIN ids ip ON ip.kind = 'post' AND ip.source = t.post
	CROSS JOIN accounts a ON a.id = t.account
	CROSS JOIN posts p ON p.id = t.post
	CROSS JOIN accounts o ON o.id = p.account
	WHERE t.n > ? AND p.boost_of = '' AND ` + condition + `
	ORDER BY t.n
	LIMIT ?`
}

// favourites writes favourites by local accounts, and of local posts.
func (w *writer) favourites(ctx context.Context, step string) error {
	query := links("favourites", "t.uri", `(a.domain = '' OR o.domain = '') AND t.waiting = 0`)
	return each(ctx, w, step, query, func(tx *store.Tx, r *linkRow) error {
		_, err := w.take(ctx, tx, "favourites", &store.Favourite{AccountID: r.Account, StatusID: r.Post, URI: textOrNil(r.URI)})
		return err
	})
}

// reactions writes emoji reactions by local accounts, and to local posts.
func (w *writer) reactions(ctx context.Context, step string) error {
	return each(ctx, w, step, links("reactions", "t.emoji, t.url, t.uri", `(a.domain = '' OR o.domain = '')`), func(tx *store.Tx, r *linkRow) error {
		name, ok := w.target.social.ReactionName(social.Emoji{Name: r.Emoji, URL: r.URL})
		if !ok {
			w.Report.leave("reactions", "their emoji is not known here")
			return nil
		}
		reaction := &store.Reaction{AccountID: r.Account, StatusID: r.Post, Emoji: name, URL: r.URL}
		if !r.Local {
			reaction.URI = textOrNil(r.URI)
		}
		_, err := w.take(ctx, tx, "reactions", reaction)
		return err
	})
}

// bookmarks writes bookmarks, oldest first.
func (w *writer) bookmarks(ctx context.Context, step string) error {
	return each(ctx, w, step, links("bookmarks", "t.created_at", `a.domain = ''`), func(tx *store.Tx, r *linkRow) error {
		return tx.AddBookmark(ctx, r.Account, r.Post)
	})
}

// pins writes pinned posts of local accounts.
func (w *writer) pins(ctx context.Context, step string) error {
	return each(ctx, w, step, links("pins", "t.created_at", `a.domain = '' AND p.account = t.account`), func(tx *store.Tx, r *linkRow) error {
		return tx.TakePin(ctx, r.Post, r.Account, store.Time(r.CreatedAt))
	})
}

// editRow is an earlier version of a post.
type editRow struct {
	at
	Post                                    store.StatusID
	Domain                                  string
	CreatedAt                               int64
	Content, Text, ContentType, SpoilerText string
	Sensitive                               bool
	Media                                   string // [[id, description]], JSON
	Poll                                    string
}

// edits writes the earlier versions of posts.
func (w *writer) edits(ctx context.Context, step string) error {
	const query = `
		SELECT e.n AS pos, ip.id AS post, a.domain, e.created_at, e.content, e.text, e.content_type, e.spoiler_text, e.sensitive, e.poll,
			(SELECT json_group_array(json_array(i.id, ifnull(e.descriptions ->> ('$[' || j.key || ']'), '')))
				FROM json_each(e.media) j JOIN ids i ON i.kind = 'media' AND i.source = j.value) AS media
		FROM edits e
		CROSS JOIN ids ip ON ip.kind = 'post' AND ip.source = e.post
		CROSS JOIN posts p ON p.id = e.post
		CROSS JOIN accounts a ON a.id = p.account
		WHERE e.n > ?
		ORDER BY e.n
		LIMIT ?`
	return each(ctx, w, step, query, func(tx *store.Tx, r *editRow) error {
		v := &store.StatusEdit{
			StatusID: r.Post, CreatedAt: store.Time(max(r.CreatedAt, 1)), Sensitive: r.Sensitive, SpoilerText: text.OneLine(r.SpoilerText),
			Text: text.Shorten(r.Text, maxTakenText), ContentType: r.ContentType,
			Content: text.CutHTML(text.Sanitize(text.Shorten(r.Content, maxTakenContent)), maxTakenContent, ""),
		}
		if r.Domain != "" {
			v.Text = ""
		} else if r.Content == "" {
			v.Content = text.Parse(v.Text, text.PlainText).Render(w.target.BaseURL, nil).HTML
		}
		v.Media.V = []store.MediaVersion{}
		var media [][2]any
		json.Unmarshal([]byte(r.Media), &media)
		for _, m := range media {
			id, _ := m[0].(float64)
			description, _ := m[1].(string)
			v.Media.V = append(v.Media.V, store.MediaVersion{ID: store.MediaID(id), Description: description})
		}
		v.Poll.V = []string{}
		json.Unmarshal([]byte(r.Poll), &v.Poll.V)
		_, err := w.take(ctx, tx, "edits", v)
		return err
	})
}

// namedRow is a row with a text of an account.
type namedRow struct {
	at
	ID, Account int64
	Name, Other string
	Flag        bool
	Number      int64
	CreatedAt   int64
}

// lists writes lists and their members.
func (w *writer) lists(ctx context.Context, step string) error {
	const query = `
		SELECT i.id AS pos, i.id, ia.id AS account, l.title AS name, l.replies AS other, l.exclusive AS flag
		FROM ids i
		CROSS JOIN lists l ON l.id = i.source
		CROSS JOIN ids ia ON ia.kind = 'account' AND ia.source = l.account
		WHERE i.kind = 'list' AND i.id > ?
		ORDER BY i.id
		LIMIT ?`
	err := each(ctx, w, step, query, func(tx *store.Tx, r *namedRow) error {
		replies := store.RepliesPolicy(r.Other)
		if replies != store.RepliesToFollowed && replies != store.NoReplies {
			replies = store.RepliesToMembers
		}
		_, err := w.take(ctx, tx, "lists", &store.List{
			ID: store.ListID(r.ID), AccountID: store.AccountID(r.Account), Title: text.OneLine(text.Shorten(r.Name, maxTakenName)), RepliesPolicy: replies, Exclusive: r.Flag,
		})
		return err
	})
	if err != nil {
		return err
	}
	const members = `
		SELECT m.n AS pos, il.id, ia.id AS account
		FROM list_members m
		LEFT JOIN follows f ON f.id = m.follow AND m.follow <> ''
		CROSS JOIN ids il ON il.kind = 'list' AND il.source = m.list
		CROSS JOIN ids ia ON ia.kind = 'account' AND ia.source = iif(m.account <> '', m.account, f.target)
		WHERE m.n > ?
		ORDER BY m.n
		LIMIT ?`
	return each(ctx, w, step+": members", members, func(tx *store.Tx, r *namedRow) error {
		return tx.TakeListMember(ctx, store.ListID(r.ID), store.AccountID(r.Account))
	})
}

// filters writes filters with their keywords and posts.
func (w *writer) filters(ctx context.Context, step string) error {
	const query = `
		SELECT i.id AS pos, i.id, ia.id AS account, f.title AS name, f.contexts || ' ' || f.action AS other, f.expires_at AS number
		FROM ids i
		CROSS JOIN filters f ON f.id = i.source
		CROSS JOIN ids ia ON ia.kind = 'account' AND ia.source = f.account
		WHERE i.kind = 'filter' AND i.id > ?
		ORDER BY i.id
		LIMIT ?`
	err := each(ctx, w, step, query, func(tx *store.Tx, r *namedRow) error {
		f := &store.UserFilter{ID: store.FilterID(r.ID), AccountID: store.AccountID(r.Account), Title: text.OneLine(text.Shorten(r.Name, maxTakenName)), ExpiresAt: timeOrNil(r.Number)}
		contexts, action, _ := strings.Cut(r.Other, "] ")
		json.Unmarshal([]byte(contexts+"]"), &f.Context.V)
		f.Action = store.FilterAction(action)
		_, err := w.take(ctx, tx, "filters", f)
		return err
	})
	if err != nil {
		return err
	}
	const keywords = `
		SELECT k.n AS pos, i.id, ia.id AS account, k.keyword AS name, k.whole_word AS flag
		FROM filter_keywords k
		CROSS JOIN ids i ON i.kind = 'filter' AND i.source = k.filter
		CROSS JOIN filters f ON f.id = k.filter
		CROSS JOIN ids ia ON ia.kind = 'account' AND ia.source = f.account
		WHERE k.n > ?
		ORDER BY k.n
		LIMIT ?`
	err = each(ctx, w, step+": keywords", keywords, func(tx *store.Tx, r *namedRow) error {
		k := &store.FilterKeyword{FilterID: store.FilterID(r.ID), Keyword: text.Shorten(r.Name, maxTakenName), WholeWord: r.Flag}
		return tx.AddFilterKeyword(ctx, store.AccountID(r.Account), k)
	})
	if err != nil {
		return err
	}
	const posts = `
		SELECT k.n AS pos, i.id, ia.id AS account, ip.id AS number
		FROM filter_posts k
		CROSS JOIN ids i ON i.kind = 'filter' AND i.source = k.filter
		CROSS JOIN filters f ON f.id = k.filter
		CROSS JOIN ids ia ON ia.kind = 'account' AND ia.source = f.account
		CROSS JOIN ids ip ON ip.kind = 'post' AND ip.source = k.post
		WHERE k.n > ?
		ORDER BY k.n
		LIMIT ?`
	return each(ctx, w, step+": posts", posts, func(tx *store.Tx, r *namedRow) error {
		return tx.AddFilterStatus(ctx, store.AccountID(r.Account), &store.FilterStatus{FilterID: store.FilterID(r.ID), StatusID: store.StatusID(r.Number)})
	})
}

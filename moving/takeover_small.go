package moving

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"svc/internal/keys"
	"svc/internal/text"
	"svc/social"
	"svc/store"
)

// appRow is an app of the scratch database.
type appRow struct {
	at
	ClientID, Secret, Name, Website, RedirectURIs, Scopes string
	CreatedAt                                             int64
}

// apps writes the apps that have tokens or made posts.
func (w *writer) apps(ctx context.Context, step string) error {
	const query = `
		SELECT i.id AS pos, a.client_id, a.secret, a.name, a.website, a.redirect_uris, a.scopes, a.created_at
		FROM ids i
		CROSS JOIN apps a ON a.id = i.source
		WHERE i.kind = 'app' AND i.id > ?
		ORDER BY i.id
		LIMIT ?`
	return each(ctx, w, step, query, func(tx *store.Tx, r *appRow) error {
		_, err := w.take(ctx, tx, "apps", &store.App{
			ID: store.AppID(r.Pos), ClientID: r.ClientID, ClientSecret: r.Secret, Name: text.OneLine(text.Shorten(r.Name, maxTakenName)), Website: r.Website,
			RedirectURIs: r.RedirectURIs, Scopes: store.ParseScopes(r.Scopes).Known(), CreatedAt: store.Time(r.CreatedAt),
		})
		return err
	})
}

// tokenRow is an access token of the scratch database.
type tokenRow struct {
	at
	App                          *store.AppID
	Account                      store.AccountID
	Access, Refresh, Scopes      string
	CreatedAt, UsedAt, ExpiresAt int64
}

// tokenQuery selects tokens that are valid, of users who can sign in: the newest, as many as an account can have.
const tokenQuery = `
	SELECT t.n AS pos, iapp.id AS app, i.id AS account, t.access, t.refresh, t.scopes, t.created_at, t.used_at, t.expires_at
	FROM tokens t
	CROSS JOIN users u ON u.id = t.user AND u.disabled = 0 AND u.approved = 1 AND u.confirmed_at > 0 AND u.totp_lost = 0
	CROSS JOIN accounts a ON a.id = u.account AND a.kept = 1 AND a.suspended = 0 AND a.memorial = 0
	CROSS JOIN ids i ON i.kind = 'account' AND i.source = a.id
	CROSS JOIN apps p ON iif(t.by_client_id, p.client_id, p.id) = t.app
	CROSS JOIN ids iapp ON iapp.kind = 'app' AND iapp.source = p.id
	WHERE t.n > ? AND (SELECT count(*) FROM tokens x WHERE x.user = t.user AND x.n > t.n) < 500
	ORDER BY t.n
	LIMIT ?`

// tokens writes access tokens as hashes.
func (w *writer) tokens(ctx context.Context, step string) error {
	now := w.target.Now().UnixMilli()
	return each(ctx, w, step, tokenQuery, func(tx *store.Tx, r *tokenRow) error {
		scopes := store.ParseScopes(r.Scopes).Known()
		if len(scopes) == 0 || r.ExpiresAt > 0 && r.ExpiresAt <= now {
			w.Report.leave("tokens", "they are expired, or have only scopes that do not exist here")
			return nil
		}
		t := &store.Token{
			Hash: keys.HashToken(r.Access), AppID: r.App, AccountID: &r.Account, Scopes: scopes, CreatedAt: store.Time(r.CreatedAt),
			LastUsedAt: store.Time(max(r.UsedAt, r.CreatedAt)), ExpiresAt: timeOrNil(r.ExpiresAt),
		}
		if r.Refresh != "" {
			t.RefreshHash = keys.HashToken(r.Refresh)
		}
		_, err := w.take(ctx, tx, "tokens", t)
		return err
	})
}

// smallTables writes tables of some rows an account, and those of the server.
func (w *writer) smallTables(ctx context.Context, _ string) error {
	now := store.At(w.target.Now())
	for _, part := range []struct {
		name, query string
		write       func(tx *store.Tx, r *namedRow) error
	}{
		{"muted threads", `
			SELECT t.n AS pos, i.id AS account, it.id
			FROM thread_mutes t
			CROSS JOIN ids i ON i.kind = 'account' AND i.source = t.account
			CROSS JOIN ids it ON it.kind = 'thread' AND it.source = t.thread
			WHERE t.n > ?
			ORDER BY t.n
			LIMIT ?`, func(tx *store.Tx, r *namedRow) error {
			return tx.MuteThread(ctx, store.AccountID(r.Account), store.ConversationID(r.ID), nil)
		}},
		{"followed hashtags", accountTags("tag_follows"), func(tx *store.Tx, r *namedRow) error {
			name := text.TagName(r.Name)
			if name == "" {
				return nil
			}
			_, _, err := tx.AddTagFollow(ctx, store.AccountID(r.Account), name)
			return err
		}},
		{"featured hashtags", accountTags("featured_tags"), func(tx *store.Tx, r *namedRow) error {
			if name := text.TagName(r.Name); name != "" {
				return tx.TakeFeaturedTag(ctx, store.AccountID(r.Account), name)
			}
			return nil
		}},
		{"markers", `
			SELECT m.n AS pos, i.id AS account, ip.id, m.timeline AS name, m.version AS number, m.at AS created_at
			FROM markers m
			CROSS JOIN ids i ON i.kind = 'account' AND i.source = m.account
			CROSS JOIN ids ip ON ip.kind = 'post' AND ip.source = m.post
			WHERE m.n > ?
			ORDER BY m.n
			LIMIT ?`, func(tx *store.Tx, r *namedRow) error {
			_, err := w.take(ctx, tx, "markers", &store.Marker{
				AccountID: store.AccountID(r.Account), Timeline: r.Name, LastReadID: r.ID, Version: int(r.Number), UpdatedAt: store.Time(r.CreatedAt),
			})
			return err
		}},
		{"rules", `
			SELECT i.id AS pos, i.id, r.text AS name, r.hint AS other, r.priority AS number
			FROM ids i
			CROSS JOIN rules r ON r.id = i.source
			WHERE i.kind = 'rule' AND i.id > ?
			ORDER BY i.id
			LIMIT ?`, func(tx *store.Tx, r *namedRow) error {
			return tx.TakeRule(ctx, &store.Rule{ID: store.RuleID(r.ID), Text: r.Name, Hint: r.Other, Priority: int(r.Number)})
		}},
		{"announcements", `
			SELECT i.id AS pos, i.id, a.text AS name, a.starts_at AS number, a.ends_at AS created_at, a.all_day AS flag
			FROM ids i
			CROSS JOIN announcements a ON a.id = i.source
			WHERE i.kind = 'announcement' AND i.id > ?
			ORDER BY i.id
			LIMIT ?`, func(tx *store.Tx, r *namedRow) error {
			a := &store.Announcement{ID: store.AnnouncementID(r.ID), Text: r.Name, StartsAt: timeOrNil(r.Number), EndsAt: timeOrNil(r.CreatedAt), AllDay: r.Flag, UpdatedAt: now}
			a.Content = text.Parse(a.Text, text.PlainText).Render(w.target.BaseURL, nil).HTML
			_, err := w.take(ctx, tx, "announcements", a)
			return err
		}},
		{"invites", `
			SELECT n AS pos, token AS name, max_use AS id, uses AS number, expires_at AS created_at
			FROM invites
			WHERE n > ?
			ORDER BY n
			LIMIT ?`, func(tx *store.Tx, r *namedRow) error {
			invite := &store.Invite{Token: r.Name, Uses: int(r.Number), CreatedAt: now}
			if r.ID > 0 {
				invite.MaxUse = new(int(r.ID))
			}
			if r.CreatedAt > 0 {
				invite.ExpiresOn = time.UnixMilli(r.CreatedAt).UTC().Format(time.DateOnly)
			}
			_, err := tx.AddInvite(ctx, invite)
			return err
		}},
		{"blocked e-mail domains", `
			SELECT n AS pos, domain AS name
			FROM email_blocks
			WHERE n > ?
			ORDER BY n
			LIMIT ?`, func(tx *store.Tx, r *namedRow) error {
			if domain := text.HostName(r.Name); domain != "" {
				_, err := tx.AddEmailDomainBlock(ctx, &store.EmailDomainBlock{Domain: domain})
				return err
			}
			return nil
		}},
	} {
		if err := each(ctx, w, part.name, part.query, part.write); err != nil {
			return err
		}
	}
	return nil
}

// accountTags selects the hashtags of local accounts in a table.
func accountTags(table string) string {
	return `
	SELECT t.n AS pos, i.id AS account, g.name
	FROM ` + table + ` t
	CROSS JOIN tags g ON g.id = t.tag
	CROSS JOIN ids i ON i.kind = 'account' AND i.source = t.account
	CROSS JOIN accounts a ON a.id = t.account AND a.domain = ''
	WHERE t.n > ?
	ORDER BY t.n
	LIMIT ?`
}

// reportRow is a report of the scratch database.
type reportRow struct {
	at
	Account, Target                      store.AccountID
	Comment, Category, Posts, Rules, URI string
	Forwarded                            bool
	DecidedAt                            int64
	DecidedBy, Assigned                  *store.AccountID
}

// reports writes reports with copies of their posts and the notes on them.
func (w *writer) reports(ctx context.Context, step string) error {
	const query = `
		SELECT i.id AS pos, ia.id AS account, ib.id AS target, r.comment, r.category, r.uri, r.forwarded, r.decided_at, id.id AS decided_by, iq.id AS assigned,
			(SELECT json_group_array(ip.id) FROM json_each(r.posts) j JOIN ids ip ON ip.kind = 'post' AND ip.source = j.value) AS posts,
			(SELECT json_group_array(ir.id) FROM json_each(r.rules) j JOIN ids ir ON ir.kind = 'rule' AND ir.source = j.value) AS rules
		FROM ids i
		CROSS JOIN reports r ON r.id = i.source
		CROSS JOIN ids ia ON ia.kind = 'account' AND ia.source = r.account
		CROSS JOIN ids ib ON ib.kind = 'account' AND ib.source = r.target
		LEFT JOIN ids id ON id.kind = 'account' AND id.source = r.decided_by
		LEFT JOIN ids iq ON iq.kind = 'account' AND iq.source = r.assigned
		WHERE i.kind = 'report' AND i.id > ?
		ORDER BY i.id
		LIMIT ?`
	err := each(ctx, w, step, query, func(tx *store.Tx, r *reportRow) error {
		return w.report(ctx, tx, r)
	})
	if err != nil {
		return err
	}
	const notes = `
		SELECT t.n AS pos, i.id, ifnull(ia.id, 0) AS account, t.content AS name, t.created_at
		FROM report_notes t
		CROSS JOIN ids i ON i.kind = 'report' AND i.source = t.report
		LEFT JOIN ids ia ON ia.kind = 'account' AND ia.source = t.account
		WHERE t.n > ?
		ORDER BY t.n
		LIMIT ?`
	return each(ctx, w, step+": notes", notes, func(tx *store.Tx, r *namedRow) error {
		n := &store.ReportNote{ID: store.ReportNoteID(max(r.CreatedAt<<idBits, oldestID) + r.Pos%(1<<idBits)), ReportID: store.ReportID(r.ID), Content: r.Name}
		if r.Account != 0 {
			n.AccountID = new(store.AccountID(r.Account))
		}
		_, err := w.take(ctx, tx, "report notes", n)
		return err
	})
}

func (w *writer) report(ctx context.Context, tx *store.Tx, r *reportRow) error {
	report := &store.Report{
		ID: store.ReportID(r.Pos), AccountID: r.Account, TargetID: r.Target, State: store.ReportOpen, Category: store.ReportCategory(r.Category),
		Comment: text.Shorten(r.Comment, maxTakenNote), Forwarded: r.Forwarded, URI: textOrNil(r.URI), AssignedID: r.Assigned,
	}
	if r.DecidedAt > 0 {
		report.State, report.StateAt, report.DecidedByID = store.ReportResolved, timeOrNil(r.DecidedAt), r.DecidedBy
	}
	json.Unmarshal([]byte(r.Rules), &report.Rules.V)
	ok, err := w.take(ctx, tx, "reports", report)
	if err != nil || !ok {
		return err
	}
	var posts []store.StatusID
	var numbers []int64
	json.Unmarshal([]byte(r.Posts), &numbers)
	for _, n := range numbers {
		posts = append(posts, store.StatusID(n))
	}
	found, err := tx.Statuses(ctx, posts)
	if err != nil {
		return err
	}
	for i, st := range found {
		if _, err := w.take(ctx, tx, "reported posts", &store.ReportedStatus{
			ReportID: report.ID, Position: i, StatusID: &st.ID, OriginalStatusID: st.ID, URI: st.URI, SpoilerText: st.SpoilerText, Content: st.Content, CreatedAt: st.CreatedAt,
		}); err != nil {
			return err
		}
	}
	return nil
}

// blockRow is a restricted server of the scratch database.
type blockRow struct {
	at
	Domain, Severity, Comment, PrivateComment string
	RejectMedia, RejectReports                bool
}

// serverBlocks restricts the servers that the old one restricted.
func (w *writer) serverBlocks(ctx context.Context, step string) error {
	const query = `
		SELECT n AS pos, domain, severity, comment, private_comment, reject_media, reject_reports
		FROM server_blocks
		WHERE n > ?
		ORDER BY n
		LIMIT ?`
	return eachOf(ctx, w, step, query, 1, func(rows []*blockRow, last int64) error {
		r := rows[0]
		if text.NormalizeDomain(r.Domain) == "" {
			w.Report.leave("blocked servers", "the name is no domain")
		} else if err := w.target.block(ctx, ServerBlock{r.Domain, r.Severity, r.RejectMedia, r.RejectReports, r.Comment, r.PrivateComment}); err != nil {
			w.Report.leave("blocked servers", "refused: "+err.Error())
		}
		return w.target.db.Update(ctx, func(tx *store.Tx) error { return tx.SetTakeoverPosition(ctx, step, last) })
	})
}

// oldAddresses writes the addresses of the pages of local posts, and the names and ids of deleted accounts and posts.
func (w *writer) oldAddresses(ctx context.Context, step string) error {
	const pages = `
		SELECT i.id AS pos, i.id, p.url AS name
		FROM ids i
		CROSS JOIN posts p ON p.id = i.source
		CROSS JOIN accounts a ON a.id = p.account AND a.domain = ''
		WHERE i.kind = 'post' AND i.id > ? AND p.url <> '' AND p.url <> p.uri AND p.boost_of = ''
		ORDER BY i.id
		LIMIT ?`
	const more = `
		SELECT g.n AS pos, i.id, g.address AS name
		FROM pages g
		CROSS JOIN ids i ON i.kind = 'post' AND i.source = g.post
		CROSS JOIN posts p ON p.id = g.post
		CROSS JOIN accounts a ON a.id = p.account AND a.domain = ''
		WHERE g.n > ? AND p.boost_of = ''
		ORDER BY g.n
		LIMIT ?`
	err := each(ctx, w, step, pages, w.oldPages(ctx))
	if err == nil {
		err = each(ctx, w, step+": further ones", more, w.oldPages(ctx))
	}
	if err != nil {
		return err
	}
	const gone = `
		SELECT n AS pos, username AS name
		FROM (SELECT row_number() OVER (ORDER BY id) AS n, username FROM accounts WHERE domain = '' AND kept = 0 AND system = 0)
		WHERE n > ?
		ORDER BY n
		LIMIT ?`
	err = each(ctx, w, step+": accounts", gone, func(tx *store.Tx, r *namedRow) error {
		if !text.ValidNickname(r.Name, true) {
			return nil
		}
		return tx.AddDeadNickname(ctx, r.Name)
	})
	if err != nil {
		return err
	}
	const tombstones = `
		SELECT n AS pos, uri AS name, at AS created_at
		FROM (SELECT row_number() OVER (ORDER BY uri) AS n, uri, at FROM tombstones)
		WHERE n > ?
		ORDER BY n
		LIMIT ?`
	return each(ctx, w, step+": deleted posts", tombstones, func(tx *store.Tx, r *namedRow) error {
		return tx.AddDeadStatus(ctx, r.Name, store.Time(r.CreatedAt))
	})
}

// oldPages returns a function that makes old addresses lead to posts.
func (w *writer) oldPages(ctx context.Context) func(*store.Tx, *namedRow) error {
	return func(tx *store.Tx, r *namedRow) error {
		u, err := url.Parse(r.Name)
		if err != nil || !strings.HasPrefix(r.Name, w.target.BaseURL+"/") {
			return nil
		}
		exists, err := tx.StatusExists(ctx, store.StatusID(r.ID)) // a constraint may have refused it
		if err == nil && exists {
			err = tx.AddOldAddress(ctx, u.EscapedPath(), store.StatusID(r.ID))
		}
		return err
	}
}

// conversations makes the conversations of direct posts, and marks those as read that were.
func (w *writer) conversations(ctx context.Context, step string) error {
	from, err := w.target.db.TakeoverPosition(ctx, step)
	if err != nil {
		return err
	}
	for {
		posts, err := w.target.db.TakenConversations(ctx, store.StatusID(from), writePage)
		if err != nil {
			return err
		}
		if len(posts) == 0 {
			break
		}
		from = int64(posts[len(posts)-1].ID)
		if err := w.target.db.Update(ctx, func(tx *store.Tx) error {
			if err := addConversations(ctx, tx, posts); err != nil {
				return err
			}
			return tx.SetTakeoverPosition(ctx, step, from)
		}); err != nil {
			return err
		}
	}
	const read = `
		SELECT n AS pos, account, id
		FROM (
			SELECT row_number() OVER (ORDER BY t.account, t.thread) AS n, i.id AS account, it.id AS id
			FROM read_threads t
			CROSS JOIN ids i ON i.kind = 'account' AND i.source = t.account
			CROSS JOIN ids it ON it.kind = 'thread' AND it.source = t.thread)
		WHERE n > ?
		ORDER BY n
		LIMIT ?`
	return each(ctx, w, step+": read", read, func(tx *store.Tx, r *namedRow) error {
		return tx.SetTakenRead(ctx, store.AccountID(r.Account), store.ConversationID(r.ID))
	})
}

// addConversations adds direct posts to the conversations of their local recipients.
func addConversations(ctx context.Context, tx *store.Tx, posts []*store.Status) error {
	ids := make([]store.StatusID, len(posts))
	for i, p := range posts {
		ids[i] = p.ID
	}
	all, err := tx.Recipients(ctx, ids)
	if err != nil {
		return err
	}
	of := make(map[store.StatusID][]store.AccountID)
	for _, r := range all {
		of[r.StatusID] = append(of[r.StatusID], r.AccountID)
	}
	for _, p := range posts {
		if _, err := tx.AddToConversations(ctx, p, store.NewAccountSet(of[p.ID]...), nil); err != nil {
			return err
		}
	}
	return nil
}

// search indexes all posts. The recount would, too, but in small parts, because it leaves room for others.
func (w *writer) search(ctx context.Context, step string) error {
	const query = `
		SELECT i.id AS pos, i.id
		FROM ids i
		CROSS JOIN posts p ON p.id = i.source AND p.boost_of = ''
		WHERE i.kind = 'post' AND i.id > ?
		ORDER BY i.id
		LIMIT ?`
	return each(ctx, w, step, query, func(tx *store.Tx, r *namedRow) error {
		exists, err := tx.StatusExists(ctx, store.StatusID(r.ID)) // a constraint may have refused it
		if err == nil && exists {
			err = social.IndexStatus(ctx, tx, store.StatusID(r.ID))
		}
		return err
	})
}

// recount corrects all counters.
func (w *writer) recount(ctx context.Context, _ string) error {
	done := int64(0)
	for c := (social.Recount{}); ; {
		part, err := w.target.social.Recount(ctx, c)
		if err != nil {
			return err
		}
		done += part.Parts
		w.target.Progress(w.step, min(done, part.Total), part.Total)
		if c.From = part.Next; c.From == "" {
			return nil
		}
	}
}

// localAccounts selects the local accounts that are not hidden.
const localAccounts = `
	SELECT i.id AS pos, i.id AS account
	FROM ids i
	CROSS JOIN accounts a ON a.id = i.source AND a.domain = '' AND a.suspended = 0
	CROSS JOIN users u ON u.account = a.id AND u.disabled = 0
	WHERE i.kind = 'account' AND i.id > ?
	ORDER BY i.id
	LIMIT ?`

const (
	homeLength = 400 // posts of a home; Mastodon and its kin keep no more
	homesPage  = 50  // homes in a transaction: each has posts in most pages of the index by post, so that one home a transaction would write all of them each time
)

// homes builds the home timelines.
func (w *writer) homes(ctx context.Context, step string) error {
	return eachOf(ctx, w, step, localAccounts, homesPage, func(rows []*pairRow, last int64) error {
		return w.target.db.Update(ctx, func(tx *store.Tx) error {
			for _, r := range rows {
				if err := w.target.social.RebuildHomeIn(ctx, tx, r.Account, homeLength); err != nil {
					return err
				}
			}
			return tx.SetTakeoverPosition(ctx, step, last)
		})
	})
}

// announce queues one Update for each local account, so that other servers learn the new addresses of pictures.
func (w *writer) announce(ctx context.Context, step string) error {
	return each(ctx, w, step, localAccounts, func(tx *store.Tx, r *pairRow) error {
		return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.ProfileUpdated, ActorID: r.Account})
	})
}

package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"strings"
)

// Status is a post, or a boost (ReblogOfID is set then, and there is no content).
type Status struct {
	ID                 StatusID
	AccountID          AccountID
	Visibility         Visibility
	ReblogOfID         *StatusID
	ConversationID     ConversationID
	InReplyToID        *StatusID
	InReplyToAccountID *AccountID
	Domain             string // the author's
	HasMedia           bool
	HasPoll            bool
	Sensitive          bool
	RepliesCount       int
	ReblogsCount       int
	FavouritesCount    int
	QuotesCount        int
	QuoteOfID          *StatusID
	CardID             *CardID // preview of the first link
	ListID             *ListID
	Addressed          bool // whom it is for was said apart from its text, where naming people adds nobody
	AppID              *AppID
	CreatedAt          Time
	EditedAt           *Time
	ExpiresAt          *Time
	Language           string
	ContentType        string
	Emojis             JSON[[]RemoteEmoji] // in a post from elsewhere
	URI                string
	URL                string
	SpoilerText        string
	Text               string // as typed
	Content            string // HTML
}

// Local tells whether the status was made here.
func (s *Status) Local() bool { return s.Domain == "" }

// OriginalID returns the id of what a boost boosts, and the status's own id otherwise.
func (s *Status) OriginalID() StatusID {
	if s.ReblogOfID != nil {
		return *s.ReblogOfID
	}
	return s.ID
}

// Status returns a status whoever may see it, and errs.ErrRecordNotFound if there is none.
func (r reader) Status(ctx context.Context, id StatusID) (*Status, error) {
	s, err := one[Status](ctx, r, "status", `SELECT * FROM statuses WHERE id = ?`, id)
	if s == nil && err == nil {
		err = notFound
	}
	return s, err
}

// Statuses returns the statuses that have one of the ids, in no order, whoever may see them.
func (r reader) Statuses(ctx context.Context, ids []StatusID) ([]*Status, error) {
	return list[*Status](ctx, r, "statuses", `
		SELECT s.*
		FROM json_each(?) j
		CROSS JOIN statuses s ON s.id = j.value`, jsonArray(ids))
}

// NewStatusID returns a fresh id, for a status whose URI contains it.
func (tx *Tx) NewStatusID() StatusID { return StatusID(tx.newID()) }

// AddStatus inserts a status and counts it: on its author, on its parent, on what it boosts. CreatedAt is set if it is 0.
func (tx *Tx) AddStatus(ctx context.Context, s *Status) error {
	if s.CreatedAt == 0 {
		s.CreatedAt = At(tx.db.now())
	}
	if s.Emojis.V == nil {
		s.Emojis.V = []RemoteEmoji{}
	}
	_, err := tx.exec(ctx, "add status", `
		INSERT INTO statuses (id, account_id, visibility, reblog_of_id, conversation_id, in_reply_to_id, in_reply_to_account_id, domain,
			has_media, has_poll, sensitive, quote_of_id, card_id, list_id, addressed, app_id, created_at, edited_at, expires_at, language, content_type, emojis, uri,
			url, spoiler_text, text, content)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		s.ID, s.AccountID, s.Visibility, s.ReblogOfID, s.ConversationID, s.InReplyToID, s.InReplyToAccountID, s.Domain,
		s.HasMedia, s.HasPoll, s.Sensitive, s.QuoteOfID, s.CardID, s.ListID, s.Addressed, s.AppID, s.CreatedAt, s.EditedAt, s.ExpiresAt, s.Language, s.ContentType,
		s.Emojis, s.URI, s.URL, s.SpoilerText, s.Text, s.Content)
	if err != nil {
		return err
	}
	return tx.countStatus(ctx, s, 1)
}

// DeleteStatus removes a status with all that hangs on it (boosts, notifications, timeline rows, favourites …), takes back its
// counts, and leaves a tombstone. Its media stay with their owner, not attached. It returns the boosts that went with it. The open
// streams hear of it and of the boosts.
func (tx *Tx) DeleteStatus(ctx context.Context, s *Status) ([]*Status, error) {
	boosts, err := list[*Status](ctx, tx.reader, "boosts", `SELECT * FROM statuses WHERE reblog_of_id = ?`, s.ID)
	if err != nil {
		return nil, err
	}
	gone, err := tx.statusRemoved(ctx, s, nil)
	if err != nil {
		return nil, err
	}
	tx.Emit(gone)
	for _, b := range boosts {
		if gone, err = tx.statusRemoved(ctx, b, s); err != nil {
			return nil, err
		}
		tx.Emit(gone)
		if err := tx.countStatus(ctx, b, -1); err != nil {
			return nil, err
		}
		tx.invalidateStatus(b.ID)
	}
	if err := tx.countStatus(ctx, s, -1); err != nil {
		return nil, err
	}
	if err := tx.invalidateReplies(ctx, s.ID); err != nil {
		return nil, err
	}
	if err := tx.rewindConversations(ctx, s); err != nil {
		return nil, err
	}
	if _, err := tx.exec(ctx, "delete status", `DELETE FROM statuses WHERE id = ?`, s.ID); err != nil {
		return nil, err
	}
	tx.unindexStatus(s.ID)
	tx.invalidateStatus(s.ID)
	switch {
	case !s.Visibility.Federated(): // nobody elsewhere is to learn that it was there
		return boosts, nil
	case s.ReblogOfID != nil && !s.Local(): // it may be boosted again, by the same id
		return boosts, nil
	}
	kind := TombstoneStatus
	if s.HasPoll {
		kind = TombstonePoll
	}
	return boosts, tx.addTombstone(ctx, s.URI, kind)
}

func (tx *Tx) addTombstone(ctx context.Context, uri, kind string) error {
	_, err := tx.exec(ctx, "add tombstone", `
		INSERT OR IGNORE INTO tombstones (uri, deleted_at, kind)
		VALUES (?, ?, ?)`, uri, At(tx.db.now()), kind)
	return err
}

// invalidateReplies marks the replies to a status, and its quotes, as changed: they show what they reply to. Those of a status that has
// very many are not listed.
func (tx *Tx) invalidateReplies(ctx context.Context, id StatusID) error {
	const most = 1000
	for _, query := range []string{
		`SELECT id FROM statuses WHERE in_reply_to_id = ? LIMIT ?`,
		`SELECT id FROM statuses WHERE quote_of_id = ? LIMIT ?`,
	} {
		touched, err := ids[StatusID](ctx, tx.reader, "replies", query, id, most+1)
		if err != nil {
			return err
		}
		if len(touched) > most {
			tx.invalidateAll()
			return nil
		}
		for _, id := range touched {
			tx.invalidateStatus(id)
		}
	}
	return nil
}

// countStatus adds n to the counters that a status moves. A reply that is not open to all is not counted: the number would tell
// of it.
func (tx *Tx) countStatus(ctx context.Context, s *Status, n int) error {
	if s.Visibility.Unrestricted() {
		if err := tx.updateCounters(ctx, "count status", `
			UPDATE accounts
			SET statuses_count = max(0, statuses_count + ?1), last_status_at = CASE WHEN ?1 > 0 THEN max(ifnull(last_status_at, 0), ?2) ELSE last_status_at END
			WHERE id = ?3`+returningCounters, n, s.CreatedAt, s.AccountID); err != nil {
			return err
		}
	}
	if s.InReplyToID != nil && s.Visibility.Unrestricted() {
		if _, err := tx.exec(ctx, "count reply", `UPDATE statuses SET replies_count = replies_count + ? WHERE id = ?`, n, *s.InReplyToID); err != nil {
			return err
		}
		tx.invalidateStatus(*s.InReplyToID)
	}
	if s.QuoteOfID != nil && s.Visibility.Unrestricted() {
		if _, err := tx.exec(ctx, "count quote", `UPDATE statuses SET quotes_count = quotes_count + ? WHERE id = ?`, n, *s.QuoteOfID); err != nil {
			return err
		}
		tx.invalidateStatus(*s.QuoteOfID)
	}
	if s.ReblogOfID != nil {
		tx.invalidateFlags(s.AccountID)
		if _, err := tx.exec(ctx, "count boost", `UPDATE statuses SET reblogs_count = reblogs_count + ? WHERE id = ?`, n, *s.ReblogOfID); err != nil {
			return err
		}
		tx.invalidateStatus(*s.ReblogOfID)
	}
	return nil
}

// Recipient is somebody whom a status is addressed to.
type Recipient struct {
	StatusID  StatusID
	AccountID AccountID
	Position  int
	Mentioned bool
	Direct    bool
}

// Recipients returns whom the statuses are addressed to, in order of status and position.
func (r reader) Recipients(ctx context.Context, ids []StatusID) ([]Recipient, error) {
	return list[Recipient](ctx, r, "recipients", `
		SELECT r.*
		FROM json_each(?) j
		CROSS JOIN recipients r ON r.status_id = j.value
		ORDER BY j.key, r.position`, jsonArray(ids))
}

// AddRecipients addresses a status to people; who is addressed already only gets Mentioned if it is set now.
func (tx *Tx) AddRecipients(ctx context.Context, recipients []Recipient) error {
	for _, r := range recipients {
		if _, err := tx.exec(ctx, "add recipient", `
			INSERT INTO recipients (status_id, account_id, position, mentioned, direct)
			VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (status_id, account_id) DO UPDATE SET mentioned = max(mentioned, excluded.mentioned)`,
			r.StatusID, r.AccountID, r.Position, r.Mentioned, r.Direct); err != nil {
			return err
		}
	}
	return nil
}

// AddListRecipients addresses a list post to those who are members of its list now.
func (tx *Tx) AddListRecipients(ctx context.Context, s *Status) error {
	_, err := tx.exec(ctx, "add list recipients", `
		INSERT OR IGNORE INTO recipients (status_id, account_id, position, mentioned, direct)
		SELECT ?1, account_id, 1000, 0, 0
		FROM list_members
		WHERE list_id = ?2`, s.ID, s.ListID)
	return err
}

// StatusTag is a hashtag of a status.
type StatusTag struct {
	StatusID StatusID
	Name     string
}

// StatusTags returns the hashtags of the statuses, in order of status and appearance.
func (r reader) StatusTags(ctx context.Context, ids []StatusID) ([]StatusTag, error) {
	return list[StatusTag](ctx, r, "status tags", `
		SELECT st.status_id, t.name
		FROM json_each(?) j
		CROSS JOIN status_tags st ON st.status_id = j.value
		CROSS JOIN tags t ON t.id = st.tag_id
		ORDER BY j.key, st.position`, jsonArray(ids))
}

// AddTags gives a status without hashtags some, lower-case names in order of appearance. Most of them have been used before.
func (tx *Tx) AddTags(ctx context.Context, id StatusID, names []string) error {
	for i, name := range names {
		tag := func() (int64, error) {
			return tx.exec(ctx, "tag status", `
				INSERT OR IGNORE INTO status_tags (tag_id, status_id, position)
				SELECT id, ?, ? FROM tags WHERE name = ?`, id, i, name)
		}
		tagged, err := tag()
		if err != nil {
			return err
		}
		if tagged > 0 {
			continue
		}
		if _, err := tx.exec(ctx, "add tag", `INSERT OR IGNORE INTO tags (name) VALUES (?)`, name); err != nil {
			return err
		}
		if _, err := tag(); err != nil {
			return err
		}
	}
	return nil
}

// SetTags gives a status hashtags in place of those it had.
func (tx *Tx) SetTags(ctx context.Context, id StatusID, names []string) error {
	if _, err := tx.exec(ctx, "clear tags", `DELETE FROM status_tags WHERE status_id = ?`, id); err != nil {
		return err
	}
	return tx.AddTags(ctx, id, names)
}

// StatusFlags are what a viewer did with a status.
type StatusFlags struct {
	Favourited  bool
	Reblogged   bool
	Bookmarked  bool
	ThreadMuted bool
	AuthorMuted bool
	Folder      BookmarkFolderID // of the bookmark; 0: none
}

// maxCachedFlags is the number of statuses whose flags are cached, of all viewers together: about 4 MB.
const maxCachedFlags = 50_000

// viewerFlags are the cached flags of a viewer. They are changed in place, under the lock of the cache.
type viewerFlags map[StatusID]StatusFlags

// StatusFlags returns what viewer did with the statuses. The ids must not be those of boosts.
func (r reader) StatusFlags(ctx context.Context, viewer AccountID, ids []StatusID) (map[StatusID]StatusFlags, error) {
	if r.q != r.db.q {
		return r.readFlags(ctx, viewer, ids)
	}
	flags := make(map[StatusID]StatusFlags, len(ids))
	var missing []StatusID
	generation := r.db.flagCache.View(viewer, func(cached viewerFlags) {
		for _, id := range ids {
			if f, ok := cached[id]; ok {
				flags[id] = f
			} else {
				missing = append(missing, id)
			}
		}
	})
	if len(missing) == 0 {
		return flags, nil
	}
	read, err := r.readFlags(ctx, viewer, missing)
	if err != nil {
		return nil, err
	}
	r.cacheFlags(viewer, generation, read)
	maps.Copy(flags, read)
	return flags, nil
}

func (r reader) cacheFlags(viewer AccountID, generation uint64, read viewerFlags) {
	r.db.flagCache.Update(viewer, generation, func(cached viewerFlags) viewerFlags {
		if cached == nil {
			cached = make(viewerFlags, len(read))
		}
		maps.Copy(cached, read)
		return cached
	})
}

func (r reader) readFlags(ctx context.Context, viewer AccountID, ids []StatusID) (map[StatusID]StatusFlags, error) {
	h, err := r.lookups(ctx, viewer)
	if err != nil {
		return nil, err
	}
	return scanFlags[StatusID](r.q.QueryContext(ctx, `
		SELECT s.id, `+flagColumns+`
		FROM json_each(?3) j
		CROSS JOIN statuses s ON s.id = j.value`, viewer, h, jsonArray(ids)))
}

// Bits of the first column of flagColumns.
const (
	flagFavourited = 1 << iota
	flagReblogged
	flagThreadMuted
	flagAuthorMuted
)

// flagColumns are the flags of the status s for the viewer ?1 with the lookups ?2, and the folder of the bookmark: NULL without a bookmark.
var flagColumns = bitSum(
	`EXISTS (SELECT 1 FROM favourites x WHERE x.account_id = ?1 AND x.status_id = s.id)`,
	`s.reblogs_count > 0 AND EXISTS (SELECT 1 FROM statuses x WHERE x.reblog_of_id = s.id AND x.account_id = ?1)`,
	set("?2", lookupThreadMutes)+` AND EXISTS (SELECT 1 FROM thread_mutes x WHERE x.account_id = ?1 AND x.conversation_id = s.conversation_id)`,
	set("?2", lookupMutes)+` AND `+mutes("s.account_id")) + `,
			(SELECT ifnull(x.folder_id, 0) FROM bookmarks x WHERE x.account_id = ?1 AND x.status_id = s.id)`

// flagsOfMany are the flags of one status for several viewers; ?1 is a JSON object of their lookups by id.
var flagsOfMany = strings.NewReplacer("?1", "j.viewer", "?2", "j.lookups").Replace(`
		SELECT j.viewer, `+flagColumns) + `
		FROM (SELECT CAST(key AS INTEGER) AS viewer, value AS lookups FROM json_each(?1)) j
		CROSS JOIN statuses s ON s.id = ?2`

// CacheFlags caches the flags of a status for several viewers with one query, which is cheaper than one for each.
func (r reader) CacheFlags(ctx context.Context, id StatusID, viewers []AccountID) error {
	lookups := make(map[AccountID]Lookups, len(viewers))
	generation := r.db.flagCache.Generation()
	for _, v := range viewers {
		l, err := r.lookups(ctx, v)
		if err != nil {
			return err
		}
		lookups[v] = l
	}
	flags, err := scanFlags[AccountID](r.q.QueryContext(ctx, flagsOfMany, encodeViewers(lookups), id))
	for v, f := range flags {
		r.cacheFlags(v, generation, viewerFlags{id: f})
	}
	return err
}

// scanFlags reads flags by the id that stands before them.
func scanFlags[K ~int64](rows *sql.Rows, err error) (map[K]StatusFlags, error) {
	if err != nil {
		return nil, fmt.Errorf("status flags: %w", err)
	}
	defer rows.Close()
	flags := make(map[K]StatusFlags)
	for rows.Next() {
		var id, bits int64
		var folder sql.NullInt64 // NULL: no bookmark
		if err := rows.Scan(&id, &bits, &folder); err != nil {
			return nil, fmt.Errorf("status flags: %w", err)
		}
		flags[K(id)] = StatusFlags{
			Favourited: bits&flagFavourited != 0, Reblogged: bits&flagReblogged != 0, ThreadMuted: bits&flagThreadMuted != 0,
			AuthorMuted: bits&flagAuthorMuted != 0, Bookmarked: folder.Valid, Folder: BookmarkFolderID(folder.Int64),
		}
	}
	return flags, rows.Err()
}

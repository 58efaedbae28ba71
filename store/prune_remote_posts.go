package store

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// PruneRemotePosts is the job that deletes old remote posts to make room.
type PruneRemotePosts struct {
	Bytes int64 `json:"bytes"` // to be freed, by estimate
}

func (PruneRemotePosts) Kind() JobKind {
	return JobKind{Name: "prune_remote_posts", Timeout: NoTimeout, Parallel: 1, Deletes: true}
}

const remotePostBatch = 25 // posts per transaction: the log must not grow much while the limit of the storage is near

// reactionsByLocal are the columns, as table.column with the account's column, of rows that a local account has made about a post or got because
// of it. They keep a remote post. A test compares them with the foreign keys of the schema.
var reactionsByLocal = []string{
	"favourites.status_id.account_id",
	"reactions.status_id.account_id",
	"bookmarks.status_id.account_id",
	"recipients.status_id.account_id",
	"notifications.status_id.account_id",
	"direct_conversations.last_status_id.account_id",
	"statuses.in_reply_to_id.account_id",
	"statuses.reblog_of_id.account_id",
	"statuses.quote_of_id.account_id",
}

// keptByReference are the columns whose rows always keep a remote post: filters of local accounts, pins on profiles, authorized
// quotes, copies in reports.
var keptByReference = []string{
	"filter_statuses.status_id",
	"interaction_requests.interacting_id",
	"interaction_requests.status_id",
	"pins.status_id",
	"quote_authorizations.status_id",
	"report_statuses.status_id",
}

// prunableRemotePosts returns those of the posts ?1 that are remote, no boosts, and that nobody on this server has reacted to: no row of a local
// account refers to them, no local account has voted or takes part in the conversation, and they do not quote or reply to local posts.
var prunableRemotePosts = func() string {
	query := `
		SELECT s.*
		FROM json_each(?1) j
		CROSS JOIN statuses s ON s.id = j.value
		WHERE s.domain <> '' AND s.reblog_of_id IS NULL
			AND NOT EXISTS (SELECT 1 FROM statuses x INDEXED BY statuses_local_conversations WHERE x.conversation_id = s.conversation_id AND x.domain = '')
			AND NOT EXISTS (SELECT 1 FROM statuses x WHERE x.id = s.quote_of_id AND x.domain = '')
			AND NOT EXISTS (SELECT 1 FROM thread_mutes x WHERE x.conversation_id = s.conversation_id)
			AND NOT EXISTS (SELECT 1 FROM polls p CROSS JOIN poll_votes v ON v.poll_id = p.id CROSS JOIN accounts a ON a.id = v.account_id WHERE p.status_id = s.id AND a.domain = '')`
	for _, reference := range reactionsByLocal {
		parts := strings.Split(reference, ".")
		query += fmt.Sprintf(`
			AND NOT EXISTS (SELECT 1 FROM %s x CROSS JOIN accounts a ON a.id = x.%s WHERE x.%s = s.id AND a.domain = '')`, parts[0], parts[2], parts[1])
	}
	for _, reference := range keptByReference {
		table, column, _ := strings.Cut(reference, ".")
		query += fmt.Sprintf(`
			AND NOT EXISTS (SELECT 1 FROM %s x WHERE x.%s = s.id)`, table, column)
	}
	return query
}()

// PrunedPosts is the result of a batch of PruneRemotePosts.
type PrunedPosts struct {
	Next  StatusID // the id to continue from
	More  bool     // there may be further posts
	Count int      // posts and boosts that were deleted
	Bytes int64    // that this freed, by estimate
}

// PruneRemotePosts deletes those of the next batch of posts after an id that are remote, arrived before a time, and that nobody on this server
// has reacted to. They leave no tombstone, so that they can be fetched again.
func (tx *Tx) PruneRemotePosts(ctx context.Context, from StatusID, before time.Time) (p PrunedPosts, err error) {
	batch, err := ids[StatusID](ctx, tx.reader, "old posts", `
		SELECT id
		FROM statuses
		WHERE id > ? AND id < ?
		ORDER BY id
		LIMIT ?`, from, before.UnixMilli()<<sequenceBits, remotePostBatch)
	if err != nil || len(batch) == 0 {
		return p, err
	}
	p.Next, p.More = batch[len(batch)-1], len(batch) == remotePostBatch
	posts, err := list[*Status](ctx, tx.reader, "unused remote posts", prunableRemotePosts, jsonArray(batch))
	if err != nil {
		return p, err
	}
	for _, s := range posts {
		if err := tx.exec(ctx, "remove attachments", `DELETE FROM media WHERE status_id = ? AND file = ''`, s.ID); err != nil {
			return p, err
		}
		boosts, err := tx.removeStatus(ctx, s)
		if err != nil {
			return p, err
		}
		p.Count += 1 + len(boosts)
		p.Bytes += int64(1+len(boosts))*remotePostRows + 2*int64(len(s.Content)+len(s.SpoilerText)+len(s.URI)+len(s.URL))
	}
	return p, nil
}

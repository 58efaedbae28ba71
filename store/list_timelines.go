package store

import (
	"context"
	"strings"
)

// inList is the condition that list l shows what author wrote in reply to replyTo (NULL: to nobody). Boosts reply to nobody.
func inList(author, replyTo string) string {
	return strings.NewReplacer("AUTHOR", author, "REPLY_TO", replyTo).Replace(`(REPLY_TO IS NULL OR REPLY_TO = AUTHOR OR REPLY_TO = l.account_id
				OR l.replies_policy = 'list' AND EXISTS (SELECT 1 FROM list_members x WHERE x.list_id = l.id AND x.account_id = REPLY_TO)
				OR l.replies_policy = 'followed' AND EXISTS (
					SELECT 1 FROM follows x WHERE x.follower_id = l.account_id AND x.target_id = REPLY_TO AND x.pending = 0))`)
}

// BackfillList puts a member's newest posts and boosts into the timeline of a list, as many as limit.
func (tx *Tx) BackfillList(ctx context.Context, id ListID, member AccountID, limit int) error {
	_, err := tx.exec(ctx, "backfill list", `
		INSERT OR IGNORE INTO list_timeline (list_id, status_id)
		SELECT l.id, s.id
		FROM lists l
		CROSS JOIN (
			SELECT id, account_id, in_reply_to_account_id
			FROM statuses INDEXED BY statuses_account
			WHERE account_id = ?2
			ORDER BY id DESC
			LIMIT ?3) s
		WHERE l.id = ?1 AND `+inList("s.account_id", "s.in_reply_to_account_id"), id, member, limit)
	return err
}

// PruneList takes out of the timeline of a list what its members and policy no longer put there.
func (tx *Tx) PruneList(ctx context.Context, id ListID) error {
	_, err := tx.exec(ctx, "prune list", `
		DELETE FROM list_timeline
		WHERE list_id = ?1 AND NOT EXISTS (
			SELECT 1
			FROM lists l
			CROSS JOIN statuses s ON s.id = list_timeline.status_id
			CROSS JOIN list_members m ON m.list_id = l.id AND m.account_id = s.account_id
			WHERE l.id = ?1 AND `+inList("s.account_id", "s.in_reply_to_account_id")+`)`, id)
	return err
}

package store

import (
	"context"
	"strconv"
	"strings"
)

// emitNarrowed emits StatusRemoved for a status that is about to get a smaller audience, and for its boosts.
func (tx *Tx) emitNarrowed(ctx context.Context, s *Status) error {
	before := *s
	event, err := tx.statusRemoved(ctx, &before, nil)
	if err != nil {
		return err
	}
	event.Narrowed = true
	tx.Emit(event)
	boosts, err := list[*Status](ctx, tx.reader, "boosts", `SELECT * FROM statuses WHERE reblog_of_id = ?`, s.ID)
	if err != nil {
		return err
	}
	for _, b := range boosts {
		if event, err = tx.statusRemoved(ctx, b, &before); err != nil {
			return err
		}
		event.Narrowed = true
		tx.Emit(event)
	}
	return nil
}

// NarrowStatus gives a status that is no boost the audience v, which must not be wider, and replaces its recipients by those in keep, in that
// order; nil: they stay. It removes the status from homes, lists, conversations and notifications of accounts that no longer see it, which
// all refer to it by rows of their own. What is found by a query is hidden by the condition of visibility.
func (tx *Tx) NarrowStatus(ctx context.Context, s *Status, v Visibility, keep []AccountID) error {
	if err := tx.emitNarrowed(ctx, s); err != nil {
		return err
	}
	wasDirect := s.Visibility == Direct
	if v != s.Visibility {
		if err := tx.setVisibility(ctx, s, v); err != nil {
			return err
		}
	}
	if err := tx.NarrowLimit(ctx, s.ID, v); err != nil {
		return err
	}
	if keep != nil {
		if err := tx.keepRecipients(ctx, s, keep); err != nil {
			return err
		}
	}
	tx.invalidateStatus(s.ID)
	return tx.hideFromOthers(ctx, s, wasDirect)
}

// NarrowLimit makes the audience smaller that a status gets back when a block of its host ends, so that it is not wider than its author wants it.
func (tx *Tx) NarrowLimit(ctx context.Context, id StatusID, v Visibility) error {
	return tx.exec(ctx, "narrow limit of status", `UPDATE limited_statuses SET visibility = max(visibility, ?) WHERE status_id = ?`, v, id)
}

// keepRecipients removes the recipients of a status that are not in keep, except for its author, and adds missing ones.
func (tx *Tx) keepRecipients(ctx context.Context, s *Status, keep []AccountID) error {
	if err := tx.exec(ctx, "remove recipients", `
		DELETE FROM recipients
		WHERE status_id = ? AND account_id <> ? AND account_id NOT IN (SELECT value FROM json_each(?))`, s.ID, s.AccountID, jsonArray(keep)); err != nil {
		return err
	}
	if err := tx.exec(ctx, "mark direct recipients", `UPDATE recipients SET direct = ? WHERE status_id = ?`, s.Visibility == Direct, s.ID); err != nil {
		return err
	}
	added := make([]Recipient, len(keep))
	for i, id := range keep {
		added[i] = Recipient{StatusID: s.ID, AccountID: id, Position: i, Direct: s.Visibility == Direct}
	}
	return tx.AddRecipients(ctx, added)
}

// seesNarrowed returns the condition that the account sees the status ?1.
func seesNarrowed(account string) string {
	return `EXISTS (
			SELECT 1
			FROM statuses s
			WHERE s.id = ?1 AND ` + strings.NewReplacer("?1", account, "?2", strconv.Itoa(int(allLookups))).Replace(visible("s")) + `)`
}

var (
	narrowHomes         = `DELETE FROM home WHERE status_id = ?1 AND NOT ` + seesNarrowed("home.account_id")
	narrowNotifications = `DELETE FROM notifications WHERE status_id = ?1 AND NOT ` + seesNarrowed("notifications.account_id")
	narrowLists         = `
		DELETE FROM list_timeline
		WHERE status_id = ?1 AND list_id IN (
			SELECT l.id
			FROM list_timeline t CROSS JOIN lists l ON l.id = t.list_id
			WHERE t.status_id = ?1 AND NOT ` + seesNarrowed("l.account_id") + `)`
)

// hideFromOthers removes the rows of accounts that do not see a status and that no query of visibility hides.
func (tx *Tx) hideFromOthers(ctx context.Context, s *Status, wasDirect bool) error {
	for _, query := range []string{narrowHomes, narrowLists, narrowNotifications} {
		if err := tx.exec(ctx, "narrow status", query, s.ID); err != nil {
			return err
		}
	}
	if !wasDirect {
		return nil
	}
	const removed = `last_status_id = ?1 AND NOT EXISTS (
			SELECT 1 FROM recipients r WHERE r.status_id = ?1 AND r.account_id = direct_conversations.account_id)`
	if err := tx.exec(ctx, "rewind conversations of former recipients", rewindConversations+` AND `+removed, s.ID, s.ConversationID); err != nil {
		return err
	}
	return tx.exec(ctx, "remove conversations of former recipients", `DELETE FROM direct_conversations WHERE `+removed, s.ID)
}

// NarrowPending makes the audience smaller that a status gets once it is approved.
func (tx *Tx) NarrowPending(ctx context.Context, s *Status, v Visibility) error {
	s.PendingVisibility = &v
	tx.invalidateStatus(s.ID)
	return tx.exec(ctx, "narrow pending status", `UPDATE statuses SET pending_visibility = ? WHERE id = ?`, v, s.ID)
}

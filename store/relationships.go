package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
)

// Relationship is the relationship of an account to another one, as in the client API.
type Relationship struct {
	ID                  AccountID // of the other account
	Following           bool
	FollowedBy          bool
	Requested           bool
	RequestedBy         bool
	Blocking            bool
	BlockedBy           bool
	Muting              bool
	MutingNotifications bool
	MuteExpiresAt       *Time
	DomainBlocking      bool
	ShowReblogs         bool // of the followed account
	Subscribed          bool
	Endorsed            bool
	Languages           []string // of posts wanted in home; empty: all
	Note                string
}

// Bits of the second column of relationships.
const (
	relFollowing = 1 << iota
	relRequested
	relFollowedBy
	relRequestedBy
	relBlocking
	relBlockedBy
	relMuting
	relMutingNotifications
	relDomainBlocking
	relShowReblogs
	relSubscribed
	relEndorsed
)

var relationships = `
		SELECT a.id, ` + bitSum(
	`f.pending IS 0`,
	`f.pending IS 1`,
	`g.pending IS 0`,
	`g.pending IS 1`,
	set("?2", lookupBlocks)+` AND `+blocks("?1", "a.id"),
	set("?2", lookupBlockedBy)+` AND `+blocks("a.id", "?1"),
	`m.target_id IS NOT NULL`,
	`m.hide_notifications IS 1`,
	set("?2", lookupDomainBlocks)+` AND EXISTS (SELECT 1 FROM domain_blocks x WHERE x.account_id = ?1 AND x.domain = a.domain)`,
	`f.pending IS 0 AND f.show_reblogs IS 1`,
	set("?2", lookupSubscriptions)+` AND EXISTS (SELECT 1 FROM subscriptions x WHERE x.account_id = ?1 AND x.target_id = a.id)`,
	set("?2", lookupEndorsements)+` AND EXISTS (SELECT 1 FROM endorsements x WHERE x.account_id = ?1 AND x.target_id = a.id)`) + ` AS flags,
			m.expires_at,
			nullif(f.languages, '[]'),
			n.comment
		FROM json_each(?3) j
		CROSS JOIN accounts a ON a.id = j.value
		LEFT JOIN follows f ON f.follower_id = ?1 AND f.target_id = a.id
		LEFT JOIN follows g ON g.follower_id = a.id AND g.target_id = ?1
		LEFT JOIN mutes m ON ` + set("?2", lookupMutes) + ` AND m.account_id = ?1 AND m.target_id = a.id
		LEFT JOIN account_notes n ON ` + set("?2", lookupNotes) + ` AND n.account_id = ?1 AND n.target_id = a.id
		WHERE ` + unset("?2", lookupUnavailable) + ` OR ` + accountAvailable("a.id")

// Relationships returns the relationships of account to the others that are available, in the order of ids.
func (r reader) Relationships(ctx context.Context, account AccountID, ids []AccountID) ([]*Relationship, error) {
	lookups, err := r.unmaskedLookups(ctx, account)
	if err != nil {
		return nil, err
	}
	rows, err := r.query(ctx, "relationships", relationships, account, lookups, jsonArray(ids))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	of := make(map[AccountID]*Relationship, len(ids))
	for rows.Next() {
		var id, bits int64
		var expires sql.NullInt64
		var languages, note sql.NullString
		rel := new(Relationship)
		if err := rows.Scan(&id, &bits, &expires, &languages, &note); err != nil {
			return nil, fmt.Errorf("relationships: %w", err)
		}
		rel.ID, rel.Note = AccountID(id), note.String
		rel.read(bits)
		if expires.Valid {
			rel.MuteExpiresAt = new(Time(expires.Int64))
		}
		if languages.Valid {
			if err := json.Unmarshal([]byte(languages.String), &rel.Languages); err != nil {
				return nil, fmt.Errorf("relationships: %w", err)
			}
		}
		of[rel.ID] = rel
	}
	list := make([]*Relationship, 0, len(of))
	for _, id := range ids {
		if rel := of[id]; rel != nil {
			list = append(list, rel)
		}
	}
	return list, rows.Err()
}

func (r *Relationship) read(bits int64) {
	r.Following, r.Requested = bits&relFollowing != 0, bits&relRequested != 0
	r.FollowedBy, r.RequestedBy = bits&relFollowedBy != 0, bits&relRequestedBy != 0
	r.Blocking, r.BlockedBy = bits&relBlocking != 0, bits&relBlockedBy != 0
	r.Muting, r.MutingNotifications = bits&relMuting != 0, bits&relMutingNotifications != 0
	r.DomainBlocking = bits&relDomainBlocking != 0
	r.ShowReblogs, r.Subscribed = bits&relShowReblogs != 0, bits&relSubscribed != 0
	r.Endorsed = bits&relEndorsed != 0
}

// NotificationRelation is what decides whether a local account is notified of an action of another one.
type NotificationRelation struct {
	Follows              bool
	Blocks               bool
	BlockedBy            bool
	BlocksDomain         bool
	MutesNotifications   bool
	MutesThread          bool
	OnlyFromFollowed     bool // block_from_strangers: it wants notifications only from accounts that it follows
	Unavailable          bool // the other account
	HasHideFilters       bool
	HasPushSubscriptions bool
	HasPolicy            bool // a NotificationPolicy
}

// Bits of the row of notificationRelation.
const (
	notifyFollows = 1 << iota
	notifyBlocks
	notifyBlockedBy
	notifyBlocksDomain
	notifyMutes
	notifyMutesThread
	notifyOnlyFollowed
	notifyUnavailable
	notifyHideFilters
	notifyPush
	notifyPolicy
)

var notificationRelation = `
	SELECT ` + bitSum(
	`EXISTS (SELECT 1 FROM follows x WHERE x.follower_id = ?1 AND x.target_id = a.id AND x.pending = 0)`,
	blocks("?1", "a.id"),
	blocks("a.id", "?1"),
	`a.domain <> '' AND EXISTS (SELECT 1 FROM domain_blocks x WHERE x.account_id = ?1 AND x.domain = a.domain)`,
	`EXISTS (SELECT 1 FROM mutes x WHERE x.account_id = ?1 AND x.target_id = a.id AND x.hide_notifications = 1)`,
	`?3 > 0 AND EXISTS (SELECT 1 FROM thread_mutes x WHERE x.account_id = ?1 AND x.conversation_id = ?3)`,
	`u.block_from_strangers`,
	`a.unavailable`,
	`EXISTS (SELECT 1 FROM filters x WHERE x.account_id = ?1 AND x.action = 'hide')`,
	`EXISTS (SELECT 1 FROM push_subscriptions x WHERE x.account_id = ?1)`,
	`EXISTS (SELECT 1 FROM notification_policies x WHERE x.account_id = ?1)`) + ` AS relation
	FROM users u
	CROSS JOIN accounts a ON a.id = ?2
	WHERE u.account_id = ?1`

// NotificationRelation returns the relation of a local account to another one, in a conversation unless that is 0. The error is
// errs.ErrRecordNotFound if account is not local.
func (r reader) NotificationRelation(ctx context.Context, account, other AccountID, in ConversationID) (NotificationRelation, error) {
	rows, err := ids[int64](ctx, r, "notification relation", notificationRelation, account, other, in)
	if err != nil {
		return NotificationRelation{}, err
	}
	if len(rows) == 0 {
		return NotificationRelation{}, notFound
	}
	is := func(bit int64) bool { return rows[0]&bit != 0 }
	return NotificationRelation{
		Follows: is(notifyFollows), Blocks: is(notifyBlocks), BlockedBy: is(notifyBlockedBy), BlocksDomain: is(notifyBlocksDomain),
		MutesNotifications: is(notifyMutes), MutesThread: is(notifyMutesThread), OnlyFromFollowed: is(notifyOnlyFollowed),
		Unavailable: is(notifyUnavailable), HasHideFilters: is(notifyHideFilters), HasPushSubscriptions: is(notifyPush),
		HasPolicy: is(notifyPolicy),
	}, nil
}

var endorsements = newAccountList(`e.target_id`, `endorsements e`, `e.account_id = ?1`)

// Endorsements returns the accounts that an account endorses, paged by account id.
func (r reader) Endorsements(ctx context.Context, account AccountID, p Page) (Part[AccountID], error) {
	return readAccounts(ctx, r, endorsements, account, p)
}

// AddEndorsement adds an endorsement, and returns false if the account has max already. Repeating it is not an error.
func (tx *Tx) AddEndorsement(ctx context.Context, account, target AccountID, max int) (ok bool, err error) {
	if is, err := tx.exists(ctx, `SELECT 1 FROM endorsements WHERE account_id = ? AND target_id = ?`, account, target); is || err != nil {
		return is, err
	}
	n, err := tx.execRows(ctx, "endorse", `
		INSERT INTO endorsements (account_id, target_id)
		SELECT ?1, ?2
		WHERE (SELECT count(*) FROM endorsements WHERE account_id = ?1) < ?3`, account, target, max)
	tx.invalidateRelations(account)
	return n > 0, err
}

// RemoveEndorsement removes an endorsement. It is not an error if there is none.
func (tx *Tx) RemoveEndorsement(ctx context.Context, account, target AccountID) error {
	tx.invalidateRelations(account)
	return tx.exec(ctx, "unendorse", `DELETE FROM endorsements WHERE account_id = ? AND target_id = ?`, account, target)
}

// SetNote sets account's private note on target; "" removes it.
func (tx *Tx) SetNote(ctx context.Context, account, target AccountID, comment string) error {
	if comment == "" {
		return tx.exec(ctx, "remove note", `DELETE FROM account_notes WHERE account_id = ? AND target_id = ?`, account, target)
	}
	tx.invalidateRelations(account)
	return tx.exec(ctx, "set note", `
		INSERT OR REPLACE INTO account_notes (account_id, target_id, comment)
		VALUES (?, ?, ?)`, account, target, comment)
}

// AddSubscription subscribes account to the posts of target. Repeating it is not an error.
func (tx *Tx) AddSubscription(ctx context.Context, account, target AccountID) error {
	tx.invalidateRelations(account)
	return tx.exec(ctx, "subscribe", `INSERT OR IGNORE INTO subscriptions (account_id, target_id) VALUES (?, ?)`, account, target)
}

// Subscribed returns true if account is subscribed to target.
func (r reader) Subscribed(ctx context.Context, account, target AccountID) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM subscriptions WHERE account_id = ? AND target_id = ?`, account, target)
}

// RemoveSubscription removes a subscription.
func (tx *Tx) RemoveSubscription(ctx context.Context, account, target AccountID) error {
	return tx.exec(ctx, "unsubscribe", `DELETE FROM subscriptions WHERE account_id = ? AND target_id = ?`, account, target)
}

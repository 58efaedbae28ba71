package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
)

// Relationship is what an account and another are to each other, seen from the first.
type Relationship struct {
	ID                  AccountID // the other account
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
	ShowReblogs         bool // following, and shown what the other boosts
	Subscribed          bool
	Endorsed            bool
	Languages           []string // of posts wanted in home; empty: all
	Note                string
}

// Bits of the second column of the query below.
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

// Relationships returns what account is to the others that exist and are not withheld, in the order of ids.
func (r reader) Relationships(ctx context.Context, account AccountID, ids []AccountID) ([]*Relationship, error) {
	h, err := r.unmaskedLookups(ctx, account)
	if err != nil {
		return nil, err
	}
	rows, err := r.q.QueryContext(ctx, `
		SELECT a.id,
			CASE f.pending WHEN 0 THEN 1 + 512 * f.show_reblogs WHEN 1 THEN 2 ELSE 0 END
				+ CASE g.pending WHEN 0 THEN 4 WHEN 1 THEN 8 ELSE 0 END
				+ 16 * (?3 & 1 AND EXISTS (SELECT 1 FROM blocks x WHERE x.account_id = ?1 AND x.target_id = a.id))
				+ 32 * (?3 & 2 AND EXISTS (SELECT 1 FROM blocks x WHERE x.account_id = a.id AND x.target_id = ?1))
				+ CASE WHEN m.target_id IS NULL THEN 0 ELSE 64 + 128 * m.hide_notifications END
				+ 256 * (?3 & 16 AND EXISTS (SELECT 1 FROM domain_blocks x WHERE x.account_id = ?1 AND x.domain = a.domain))
				+ 1024 * (?3 & 128 AND EXISTS (SELECT 1 FROM subscriptions x WHERE x.account_id = ?1 AND x.target_id = a.id))
				+ 2048 * (?3 & 512 AND EXISTS (SELECT 1 FROM endorsements x WHERE x.account_id = ?1 AND x.target_id = a.id)),
			m.expires_at,
			nullif(f.languages, '[]'),
			n.comment
		FROM json_each(?2) j
		CROSS JOIN accounts a ON a.id = j.value
		LEFT JOIN follows f ON f.follower_id = ?1 AND f.target_id = a.id
		LEFT JOIN follows g ON g.follower_id = a.id AND g.target_id = ?1
		LEFT JOIN mutes m ON ?3 & 4 AND m.account_id = ?1 AND m.target_id = a.id
		LEFT JOIN account_notes n ON ?3 & 256 AND n.account_id = ?1 AND n.target_id = a.id
		WHERE ?3 & 64 = 0 OR `+accountAvailable("a.id"), account, jsonArray(ids), h)
	if err != nil {
		return nil, fmt.Errorf("relationships: %w", err)
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
			at := Time(expires.Int64)
			rel.MuteExpiresAt = &at
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

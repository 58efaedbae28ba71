package store

import "context"

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
	Languages           JSON[[]string]
	Note                string
}

// Relationships returns what account is to the others that exist and are not withheld, in the order of ids.
func (r reader) Relationships(ctx context.Context, account AccountID, ids []AccountID) ([]*Relationship, error) {
	return list[*Relationship](ctx, r, "relationships", `
		SELECT a.id,
			f.pending = 0 IS TRUE AS following,
			g.pending = 0 IS TRUE AS followed_by,
			f.pending = 1 IS TRUE AS requested,
			g.pending = 1 IS TRUE AS requested_by,
			EXISTS (SELECT 1 FROM blocks x WHERE x.account_id = ?1 AND x.target_id = a.id) AS blocking,
			EXISTS (SELECT 1 FROM blocks x WHERE x.account_id = a.id AND x.target_id = ?1) AS blocked_by,
			m.target_id IS NOT NULL AS muting,
			ifnull(m.hide_notifications, 0) AS muting_notifications,
			m.expires_at AS mute_expires_at,
			a.domain <> '' AND EXISTS (SELECT 1 FROM domain_blocks x WHERE x.account_id = ?1 AND x.domain = a.domain) AS domain_blocking,
			f.pending = 0 IS TRUE AND f.show_reblogs AS show_reblogs,
			EXISTS (SELECT 1 FROM subscriptions x WHERE x.account_id = ?1 AND x.target_id = a.id) AS subscribed,
			ifnull(f.languages, '[]') AS languages,
			ifnull(n.comment, '') AS note
		FROM json_each(?2) j
		CROSS JOIN accounts a ON a.id = j.value
		LEFT JOIN follows f ON f.follower_id = ?1 AND f.target_id = a.id
		LEFT JOIN follows g ON g.follower_id = a.id AND g.target_id = ?1
		LEFT JOIN mutes m ON m.account_id = ?1 AND m.target_id = a.id
		LEFT JOIN account_notes n ON n.account_id = ?1 AND n.target_id = a.id
		WHERE `+present("a.id")+`
		ORDER BY j.key`, account, jsonArray(ids))
}

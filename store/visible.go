package store

import (
	"context"
	"strings"
)

// The visibility of statuses is defined here, twice: as a condition for the SQL of lists, and as the function CanSee for a status in
// memory. A property test checks that they agree.
//
// In the SQL of lists, ?1 is the viewer (0: anonymous) and ?2 the viewer's Lookups.

// visible is the condition that the status in alias s is visible to the viewer, without regard to the original of a boost.
func visible(s string) string {
	return strings.ReplaceAll(`(
		S.account_id = ?1
		OR `+available("S.account_id")+`
		AND `+notBlockedBy("S.account_id")+`
		AND CASE S.visibility
			WHEN 0 THEN 1
			WHEN 1 THEN 1
			WHEN 2 THEN EXISTS (SELECT 1 FROM users x WHERE x.account_id = ?1) -- a viewer may be remote
			WHEN 3 THEN EXISTS (SELECT 1 FROM follows x WHERE x.follower_id = ?1 AND x.target_id = S.account_id AND x.pending = 0)
				OR EXISTS (SELECT 1 FROM recipients x WHERE x.status_id = S.id AND x.account_id = ?1)
			ELSE EXISTS (SELECT 1 FROM recipients x WHERE x.status_id = S.id AND x.account_id = ?1)
		END)`, "S.", s+".")
}

// visibleWithOriginal is visible for the status s and, if it is a boost, its original o. The query must have LEFT JOIN statuses o ON o.id =
// s.reblog_of_id.
var visibleWithOriginal = visible("s") + `
	AND (s.reblog_of_id IS NULL OR ` + visible("o") + `)`

// notBlockedOrMuted is the condition that the viewer has not hidden the status s: by blocks of the author, of mentioned accounts or of a
// domain, and unless ?3 (with_muted) is set by mutes, thread mutes and hidden boosts. It uses s and o as visibleWithOriginal does.
var notBlockedOrMuted = `
	(` + unset("?2", lookupBlocks) + ` OR NOT ` + blocks("?1", "s.account_id") + ` AND (s.reblog_of_id IS NULL OR NOT ` + blocks("?1", "o.account_id") + `)
		AND (ifnull(o.account_id, s.account_id) = ?1 OR NOT EXISTS (
			SELECT 1
			FROM recipients r JOIN blocks x ON x.target_id = r.account_id AND x.account_id = ?1
			WHERE r.status_id = ifnull(s.reblog_of_id, s.id) AND r.mentioned = 1)))
	AND (` + unset("?2", lookupDomainBlocks) + ` OR ` + notFromBlockedDomain("s") + ` AND (s.reblog_of_id IS NULL OR ` + notFromBlockedDomain("o") + `))
	AND (` + unset("?2", lookupHiddenReblogs) + ` OR s.reblog_of_id IS NULL OR NOT EXISTS (
		SELECT 1 FROM follows x WHERE x.follower_id = ?1 AND x.target_id = s.account_id AND x.show_reblogs = 0))
	AND (?3 OR (
		(` + unset("?2", lookupMutes) + ` OR NOT ` + mutes("s.account_id") + ` AND (s.reblog_of_id IS NULL OR NOT ` + mutes("o.account_id") + `))
		AND (` + unset("?2", lookupThreadMutes) + ` OR NOT EXISTS (
			SELECT 1 FROM thread_mutes x WHERE x.account_id = ?1 AND x.conversation_id = ifnull(o.conversation_id, s.conversation_id)))))`

// notBlockedOrMutedOnProfile is notBlockedOrMuted for the profile of an account: only the originals of boosts are checked.
var notBlockedOrMutedOnProfile = `
	(s.reblog_of_id IS NULL OR ` + notBlocked("o.account_id") + `
		AND (?3 OR ` + notMuted("o.account_id") + `))`

// Conditions on an account, for the viewer ?1 with the lookups ?2.

func available(account string) string {
	return `(` + unset("?2", lookupUnavailable) + ` OR NOT EXISTS (SELECT 1 FROM accounts x WHERE x.id = ` + account + ` AND x.unavailable = 1))`
}

func notBlocked(account string) string {
	return `(` + unset("?2", lookupBlocks) + ` OR NOT ` + blocks("?1", account) + `)`
}

func notBlockedBy(account string) string {
	return `(` + unset("?2", lookupBlockedBy) + ` OR NOT ` + blocks(account, "?1") + `)`
}

func notMuted(account string) string {
	return `(` + unset("?2", lookupMutes) + ` OR NOT ` + mutes(account) + `)`
}

func notOfBlockedDomain(account string) string {
	return `(` + unset("?2", lookupDomainBlocks) + ` OR NOT EXISTS (
		SELECT 1
		FROM accounts x JOIN domain_blocks d ON d.account_id = ?1 AND d.domain = x.domain
		WHERE x.id = ` + account + `
			AND NOT EXISTS (SELECT 1 FROM follows f WHERE f.follower_id = ?1 AND f.target_id = x.id AND f.pending = 0)))`
}

func blocks(account, target string) string {
	return `EXISTS (SELECT 1 FROM blocks x WHERE x.account_id = ` + account + ` AND x.target_id = ` + target + `)`
}

func mutes(target string) string {
	return `EXISTS (SELECT 1 FROM mutes x WHERE x.account_id = ?1 AND x.target_id = ` + target + `)`
}

func notFromBlockedDomain(s string) string {
	return strings.ReplaceAll(`(S.domain = ''
		OR NOT EXISTS (SELECT 1 FROM domain_blocks x WHERE x.account_id = ?1 AND x.domain = S.domain)
		OR EXISTS (SELECT 1 FROM follows x WHERE x.follower_id = ?1 AND x.target_id = S.account_id AND x.pending = 0))`, "S.", s+".")
}

// CanSee returns true if a status is visible to viewer (0: anonymous). For a boost, the original must be visible, too.
func (r reader) CanSee(ctx context.Context, viewer AccountID, st *Status) (bool, error) {
	ok, err := r.canSeeOne(ctx, viewer, st)
	if !ok || err != nil || st.ReblogOfID == nil {
		return ok, err
	}
	original, err := r.Status(ctx, *st.ReblogOfID)
	if err != nil {
		return false, err
	}
	return r.canSeeOne(ctx, viewer, original)
}

// hiddenAuthor has a row if the viewer ?1 with the lookups ?2 sees no status of the author ?3.
var hiddenAuthor = `
	SELECT 1 FROM accounts WHERE id = ?3 AND unavailable = 1 AND ` + set("?2", lookupUnavailable) + `
	UNION ALL
	SELECT 1 FROM blocks WHERE account_id = ?3 AND target_id = ?1 AND ` + set("?2", lookupBlockedBy)

func (r reader) canSeeOne(ctx context.Context, viewer AccountID, st *Status) (bool, error) {
	if st.AccountID == viewer {
		return true, nil
	}
	l, err := r.lookups(ctx, viewer)
	if err != nil {
		return false, err
	}
	if l&(lookupUnavailable|lookupBlockedBy) != 0 {
		if is, err := r.exists(ctx, hiddenAuthor, viewer, l, st.AccountID); is || err != nil {
			return false, err
		}
	}
	switch st.Visibility {
	case Public, Unlisted:
		return true, nil
	case Local:
		return r.exists(ctx, `SELECT 1 FROM users WHERE account_id = ?`, viewer)
	}
	if viewer == 0 {
		return false, nil
	}
	if st.Visibility == Private {
		if is, err := r.Follows(ctx, viewer, st.AccountID); is || err != nil {
			return is, err
		}
	}
	return r.exists(ctx, `SELECT 1 FROM recipients WHERE status_id = ? AND account_id = ?`, st.ID, viewer)
}

// VisibleStatus returns a status, and errs.ErrRecordNotFound if there is none or it is not visible to viewer.
func (r reader) VisibleStatus(ctx context.Context, viewer AccountID, id StatusID) (*Status, error) {
	st, err := r.Status(ctx, id)
	if err != nil {
		return nil, err
	}
	ok, err := r.CanSee(ctx, viewer, st)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, notFound
	}
	return st, nil
}

// CanSeeID returns true if there is a status with the id that is visible to viewer. It does not read the whole row.
func (r reader) CanSeeID(ctx context.Context, viewer AccountID, id StatusID) (bool, error) {
	l, err := r.lookups(ctx, viewer)
	if err != nil {
		return false, err
	}
	seen, err := ids[StatusID](ctx, r, "sees", `
		SELECT s.id
		FROM statuses s
		LEFT JOIN statuses o ON o.id = s.reblog_of_id
		WHERE s.id = ?3 AND `+visibleWithOriginal, viewer, l, id)
	return len(seen) > 0, err
}

// VisibleStatuses returns those of the statuses that are visible to viewer, in no order.
func (r reader) VisibleStatuses(ctx context.Context, viewer AccountID, ids []StatusID) ([]*Status, error) {
	l, err := r.lookups(ctx, viewer)
	if err != nil {
		return nil, err
	}
	return list[*Status](ctx, r, "visible statuses", `
		SELECT s.*
		FROM json_each(?3) j
		CROSS JOIN statuses s ON s.id = j.value
		LEFT JOIN statuses o ON o.id = s.reblog_of_id
		WHERE `+visibleWithOriginal, viewer, l, jsonArray(ids))
}

// VisibleIDs is VisibleStatuses for callers that need only the ids.
func (r reader) VisibleIDs(ctx context.Context, viewer AccountID, of []StatusID) ([]StatusID, error) {
	l, err := r.lookups(ctx, viewer)
	if err != nil {
		return nil, err
	}
	return ids[StatusID](ctx, r, "visible statuses", `
		SELECT s.id
		FROM json_each(?3) j
		CROSS JOIN statuses s ON s.id = j.value
		LEFT JOIN statuses o ON o.id = s.reblog_of_id
		WHERE `+visibleWithOriginal, viewer, l, jsonArray(of))
}

// accountVisible is the condition that the account in alias a is visible to the viewer: it is available, and there is no block between
// them.
func accountVisible(a string) string {
	return `(` + a + `.id = ?1 OR ` + a + `.unavailable = 0
		AND ` + notBlocked(a+".id") + ` AND ` + notBlockedBy(a+".id") + `)`
}

// accountAvailable is the condition that an account is available, by an index of those that are not.
func accountAvailable(id string) string {
	return `NOT EXISTS (SELECT 1 FROM accounts x INDEXED BY accounts_unavailable WHERE x.unavailable = 1 AND x.id = ` + id + `)`
}

package store

import (
	"context"
	"fmt"
	"strings"
)

// Lookups are the lookups that a query must make for a viewer: most accounts block and mute nobody, so that there is nothing to find. A set
// bit says that there is a row to find. The conditions of visible.go hold with all bits set, too.
type Lookups int64

const (
	lookupBlocks        Lookups = 1 << iota // the viewer blocks an account
	lookupBlockedBy                         // an account blocks the viewer; a setting masks it
	lookupMutes                             // the viewer mutes an account
	lookupThreadMutes                       // the viewer mutes a thread
	lookupDomainBlocks                      // the viewer blocks a domain
	lookupHiddenReblogs                     // the viewer hides the boosts of a followed account
	lookupUnavailable                       // an account that is no server actor is unavailable and may have statuses
	lookupSubscriptions                     // the viewer is subscribed to an account
	lookupNotes                             // the viewer has a note on an account
	lookupEndorsements                      // the viewer endorses an account
	allLookups          Lookups = 1<<iota - 1
)

// maxCachedLookups is the number of viewers whose lookups are cached.
const maxCachedLookups = 10_000

var readLookups = `
	SELECT ` + bitSum(
	`EXISTS (SELECT 1 FROM blocks WHERE account_id = ?1)`,
	`EXISTS (SELECT 1 FROM blocks WHERE target_id = ?1)`,
	`EXISTS (SELECT 1 FROM mutes WHERE account_id = ?1)`,
	`EXISTS (SELECT 1 FROM thread_mutes WHERE account_id = ?1)`,
	`EXISTS (SELECT 1 FROM domain_blocks WHERE account_id = ?1)`,
	`EXISTS (SELECT 1 FROM follows WHERE follower_id = ?1 AND show_reblogs = 0)`,
	`EXISTS (
		SELECT 1
		FROM accounts a INDEXED BY accounts_unavailable_deleted
		WHERE a.unavailable = 1 AND a.deleted_at IS NULL
			AND (a.domain <> '' OR a.actor_type <> 'Application' OR EXISTS (SELECT 1 FROM users u WHERE u.account_id = a.id)))
		OR EXISTS (SELECT 1 FROM jobs WHERE unique_key BETWEEN 'purge:' AND 'purge;')`,
	`EXISTS (SELECT 1 FROM subscriptions WHERE account_id = ?1)`,
	`EXISTS (SELECT 1 FROM account_notes WHERE account_id = ?1)`,
	`EXISTS (SELECT 1 FROM endorsements WHERE account_id = ?1)`) + ` AS lookups`

// lookups returns the lookups of a viewer, 0: anonymous, under the settings.
func (r reader) lookups(ctx context.Context, viewer AccountID) (Lookups, error) {
	l, err := r.unmaskedLookups(ctx, viewer)
	if visible := r.db.options.BlockersVisible; visible != nil && visible() {
		l &^= lookupBlockedBy
	}
	return l, err
}

// unmaskedLookups is lookups without regard to the settings. A transaction makes all lookups.
func (r reader) unmaskedLookups(ctx context.Context, viewer AccountID) (Lookups, error) {
	if r.q != r.db.q {
		return allLookups, nil
	}
	return r.db.lookupCache.Load(viewer, func() (Lookups, error) {
		return value[Lookups](ctx, r, "lookups", readLookups, viewer)
	})
}

// SeesAllUnrestricted returns true if viewer sees every unrestricted status: no account blocks the viewer, and none is unavailable.
func (r reader) SeesAllUnrestricted(ctx context.Context, viewer AccountID) (bool, error) {
	l, err := r.lookups(ctx, viewer)
	return l&(lookupBlockedBy|lookupUnavailable) == 0, err
}

// unset returns the SQL condition that a parameter has none of the bits.
func unset[B ~int | ~int64](parameter string, bits B) string {
	return fmt.Sprintf("%s & %d = 0", parameter, bits)
}

// set returns the SQL condition that a parameter has one of the bits.
func set[B ~int | ~int64](parameter string, bits B) string {
	return fmt.Sprintf("%s & %d", parameter, bits)
}

// bitSum returns the SQL expression of the number whose bit i is set if condition i holds. CASE lets SQLite skip the rest of a condition
// that is decided.
func bitSum(conditions ...string) string {
	terms := make([]string, len(conditions))
	for i, c := range conditions {
		terms[i] = fmt.Sprintf("CASE WHEN %s THEN %d ELSE 0 END", c, 1<<i)
	}
	return strings.Join(terms, "\n\t\t+ ")
}

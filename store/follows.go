package store

import (
	"context"
	"fmt"
)

// Follow is a follow of an account, or a request to follow it.
type Follow struct {
	ID            FollowID
	FollowerID    AccountID
	TargetID      AccountID
	Pending       bool
	FollowerLocal bool
	ShowReblogs   bool
	Languages     JSON[[]string] // in home; empty: all
	URI           *string
}

// Follows returns true if follower follows target. A request does not count.
func (r reader) Follows(ctx context.Context, follower, target AccountID) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM follows WHERE follower_id = ? AND target_id = ? AND pending = 0`, follower, target)
}

// FollowedAmong returns those of the accounts that follower follows.
func (r reader) FollowedAmong(ctx context.Context, follower AccountID, accounts []AccountID) (map[AccountID]bool, error) {
	found, err := ids[AccountID](ctx, r, "followed accounts", `
		SELECT f.target_id
		FROM json_each(?2) j
		CROSS JOIN follows f ON f.follower_id = ?1 AND f.target_id = j.value
		WHERE f.pending = 0`, follower, jsonArray(accounts))
	followed := make(map[AccountID]bool, len(found))
	for _, id := range found {
		followed[id] = true
	}
	return followed, err
}

// FollowOf returns the follow or request of target by follower, nil if there is none.
func (r reader) FollowOf(ctx context.Context, follower, target AccountID) (*Follow, error) {
	return one[Follow](ctx, r, "follow", `SELECT * FROM follows WHERE follower_id = ? AND target_id = ?`, follower, target)
}

// FollowByURI returns the follow or request of a Follow activity, nil if there is none.
func (r reader) FollowByURI(ctx context.Context, uri string) (*Follow, error) {
	return one[Follow](ctx, r, "follow by uri", `SELECT * FROM follows WHERE uri = ?`, uri)
}

var (
	followers      = newAccountList(`f.follower_id`, `follows f INDEXED BY follows_followers`, `f.target_id = ?1 AND f.pending = 0`)
	following      = newAccountList(`f.target_id`, `follows f INDEXED BY follows_following`, `f.follower_id = ?1 AND f.pending = 0`)
	followRequests = newEntries(`f.follower_id`, `follows f INDEXED BY follows_requests`, `f.id`,
		`f.target_id = ?1 AND f.pending = 1`, accountAvailable("f.follower_id"))
	outgoingFollowRequests = newEntries(`f.target_id`, `follows f INDEXED BY follows_outgoing`, `f.id`,
		`f.follower_id = ?1 AND f.pending = 1`, accountAvailable("f.target_id"))
)

// Followers returns the followers of an account, paged by account id.
func (r reader) Followers(ctx context.Context, id AccountID, p Page) (Part[AccountID], error) {
	return readAccounts(ctx, r, followers, id, p)
}

// Following returns the accounts that an account follows, paged by account id.
func (r reader) Following(ctx context.Context, id AccountID, p Page) (Part[AccountID], error) {
	return readAccounts(ctx, r, following, id, p)
}

// FollowRequests returns the accounts that request to follow an account, paged by the request's id.
func (r reader) FollowRequests(ctx context.Context, id AccountID, p Page) (Part[AccountEntry], error) {
	return readEntries(ctx, r, followRequests, id, p, newAccountEntry)
}

// OutgoingFollowRequests returns the accounts that an account requests to follow, paged by the request's id.
func (r reader) OutgoingFollowRequests(ctx context.Context, id AccountID, p Page) (Part[AccountEntry], error) {
	return readEntries(ctx, r, outgoingFollowRequests, id, p, newAccountEntry)
}

// LocalFollowersAfter returns the follows of an account by local accounts after an id, in the order of the followers' ids.
func (r reader) LocalFollowersAfter(ctx context.Context, id, after AccountID, limit int) ([]*Follow, error) {
	return list[*Follow](ctx, r, "local followers", `
		SELECT f.*
		FROM follows f INDEXED BY follows_local
		WHERE f.target_id = ? AND f.pending = 0 AND f.follower_local = 1 AND f.follower_id > ?
		ORDER BY f.follower_id
		LIMIT ?`, id, after, limit)
}

// FollowsWithDomain returns up to limit follows and requests, in both directions, between an account and the accounts of a domain.
func (r reader) FollowsWithDomain(ctx context.Context, id AccountID, domain string, limit int) ([]*Follow, error) {
	return list[*Follow](ctx, r, "follows with a domain", `
		SELECT f.*
		FROM follows f CROSS JOIN accounts a ON a.id = f.target_id
		WHERE f.follower_id = ?1 AND a.domain = ?2
		UNION ALL
		SELECT f.*
		FROM follows f INDEXED BY follows_followers CROSS JOIN accounts a ON a.id = f.follower_id
		WHERE f.target_id = ?1 AND f.pending = 0 AND a.domain = ?2
		UNION ALL
		SELECT f.*
		FROM follows f INDEXED BY follows_requests CROSS JOIN accounts a ON a.id = f.follower_id
		WHERE f.target_id = ?1 AND f.pending = 1 AND a.domain = ?2
		LIMIT ?3`, id, domain, limit)
}

// AddFollow inserts a follow or a request with a new id. There must be none between the two accounts.
func (tx *Tx) AddFollow(ctx context.Context, f *Follow) error {
	f.ID = FollowID(tx.newID())
	orEmpty(&f.Languages.V)
	if err := tx.exec(ctx, "add follow", insertFollow.text, insertFollow.args(f)...); err != nil {
		return err
	}
	tx.invalidateRelations(f.FollowerID)
	return tx.countFollow(ctx, f, 1)
}

// SaveFollow writes the settings of a follow.
func (tx *Tx) SaveFollow(ctx context.Context, f *Follow) error {
	tx.invalidateRelations(f.FollowerID)
	return tx.exec(ctx, "save follow", `UPDATE follows SET show_reblogs = ?, languages = ? WHERE id = ?`, f.ShowReblogs, f.Languages, f.ID)
}

// SetFollowURI stores the id of the Follow activity of a remote follower.
func (tx *Tx) SetFollowURI(ctx context.Context, f *Follow) error {
	return tx.exec(ctx, "set follow uri", `UPDATE follows SET uri = ? WHERE id = ?`, f.URI, f.ID)
}

// AcceptFollow turns a request and its notification into a follow.
func (tx *Tx) AcceptFollow(ctx context.Context, f *Follow) error {
	if err := tx.exec(ctx, "accept follow", `UPDATE follows SET pending = 0 WHERE id = ?`, f.ID); err != nil {
		return err
	}
	f.Pending = false
	if err := tx.exec(ctx, "accept follow", `
		UPDATE OR REPLACE notifications
		SET type = 'follow'
		WHERE account_id = ? AND type = 'follow_request' AND from_id = ?`, f.TargetID, f.FollowerID); err != nil {
		return err
	}
	return tx.countFollow(ctx, f, 1)
}

// RemoveFollow deletes a follow or a request.
func (tx *Tx) RemoveFollow(ctx context.Context, f *Follow) error {
	if err := tx.exec(ctx, "remove follow", `DELETE FROM follows WHERE id = ?`, f.ID); err != nil {
		return err
	}
	tx.invalidateRelations(f.FollowerID)
	return tx.countFollow(ctx, f, -1)
}

// countFollow adds n to the counters of both accounts. Requests do not count.
func (tx *Tx) countFollow(ctx context.Context, f *Follow, n int) error {
	if f.Pending {
		return nil
	}
	err := tx.updateCounters(ctx, "count follower", `UPDATE accounts SET followers_count = max(0, followers_count + ?) WHERE id = ?`+returningCounters, n, f.TargetID)
	if err != nil {
		return err
	}
	return tx.updateCounters(ctx, "count followed", `UPDATE accounts SET following_count = max(0, following_count + ?) WHERE id = ?`+returningCounters, n, f.FollowerID)
}

// FollowsBy returns follows and requests of an account.
func (r reader) FollowsBy(ctx context.Context, id AccountID, limit int) ([]*Follow, error) {
	return list[*Follow](ctx, r, "follows", `
		SELECT *
		FROM follows
		WHERE follower_id = ?
		ORDER BY target_id
		LIMIT ?`, id, limit)
}

// LocalFollowsBy returns an account's follows of local accounts.
func (r reader) LocalFollowsBy(ctx context.Context, id AccountID) ([]*Follow, error) {
	return list[*Follow](ctx, r, "local follows", `
		SELECT f.*
		FROM follows f INDEXED BY follows_following
		CROSS JOIN accounts a ON a.id = f.target_id
		WHERE f.follower_id = ? AND f.pending = 0 AND a.domain = ''`, id)
}

// RemoteFollowRequests returns an account's requests to follow remote accounts.
func (r reader) RemoteFollowRequests(ctx context.Context, id AccountID) ([]*Follow, error) {
	return list[*Follow](ctx, r, "remote follow requests", `
		SELECT f.*
		FROM follows f
		CROSS JOIN accounts a ON a.id = f.target_id
		WHERE f.follower_id = ? AND f.pending = 1 AND a.domain <> ''`, id)
}

// FollowsOf returns follows of an account or, if there are none, requests to follow it.
func (r reader) FollowsOf(ctx context.Context, id AccountID, limit int) ([]*Follow, error) {
	follows, err := list[*Follow](ctx, r, "followers", `
		SELECT *
		FROM follows INDEXED BY follows_followers
		WHERE target_id = ? AND pending = 0
		ORDER BY follower_id
		LIMIT ?`, id, limit)
	if err != nil || len(follows) > 0 {
		return follows, err
	}
	return list[*Follow](ctx, r, "follow requests", `
		SELECT *
		FROM follows INDEXED BY follows_requests
		WHERE target_id = ? AND pending = 1
		ORDER BY id
		LIMIT ?`, id, limit)
}

// DropFollowRequests deletes all requests that an account has made or received.
func (tx *Tx) DropFollowRequests(ctx context.Context, id AccountID) error {
	for _, query := range []string{
		`DELETE FROM follows WHERE follower_id = ? AND pending = 1`,
		`DELETE FROM follows WHERE target_id = ? AND pending = 1`,
		`DELETE FROM notifications WHERE from_id = ? AND type = 'follow_request'`,
		`DELETE FROM notifications WHERE account_id = ? AND type = 'follow_request'`,
	} {
		if err := tx.exec(ctx, "drop follow requests", query, id); err != nil {
			return err
		}
	}
	return nil
}

// maxFollowsLooked bounds the follows that a search in them looks at.
const maxFollowsLooked = 50_000

// Birthdays returns up to limit followed accounts that show that their birthday is on a day of the year.
func (r reader) Birthdays(ctx context.Context, follower AccountID, month, day, limit int) ([]AccountID, error) {
	return ids[AccountID](ctx, r, "birthdays", `
		SELECT some.target_id
		FROM (
			SELECT target_id
			FROM follows INDEXED BY follows_following
			WHERE follower_id = ?1 AND pending = 0
			ORDER BY target_id DESC
			LIMIT ?4) some
		CROSS JOIN accounts a ON a.id = some.target_id
		WHERE a.show_birthday = 1 AND substr(a.birthday, 6) = ?2 AND a.unavailable = 0
		LIMIT ?3`, follower, fmt.Sprintf("%02d-%02d", month, day), limit, maxFollowsLooked)
}

// FamiliarFollower is an account that the viewer follows and that follows the target.
type FamiliarFollower struct {
	TargetID  AccountID // the followed account
	AccountID AccountID
}

// FamiliarFollowers returns, for each target, up to limit accounts that viewer follows and that follow the target. An account that hides
// either list is left out of it. It looks at maxFollowsLooked pairs of a follow and a target.
func (r reader) FamiliarFollowers(ctx context.Context, viewer AccountID, targets []AccountID, limit int) ([]FamiliarFollower, error) {
	return list[FamiliarFollower](ctx, r, "familiar followers", `
		SELECT t.id AS target_id, k.value AS account_id
		FROM json_each(?2) j
		CROSS JOIN accounts t ON t.id = j.value AND t.hide_followers = 0 AND t.unavailable = 0
		CROSS JOIN json_each((
			SELECT json_group_array(id)
			FROM (
				SELECT a.id
				FROM (
					SELECT f.target_id
					FROM follows f INDEXED BY follows_following
					WHERE f.follower_id = ?1 AND f.pending = 0
					ORDER BY f.target_id DESC
					LIMIT ?4) some
				CROSS JOIN follows g ON g.follower_id = some.target_id AND g.target_id = t.id AND g.pending = 0
				CROSS JOIN accounts a ON a.id = some.target_id AND a.hide_follows = 0 AND a.unavailable = 0
				LIMIT ?3))) k`, viewer, jsonArray(targets), limit, maxFollowsLooked/max(len(targets), 1))
}

// FollowByID returns a follow or request, nil if there is none.
func (r reader) FollowByID(ctx context.Context, id FollowID) (*Follow, error) {
	return one[Follow](ctx, r, "follow", `SELECT * FROM follows WHERE id = ?`, id)
}

// FollowsAfter returns the follows of accounts after an id by an account, in their order, without requests.
func (r reader) FollowsAfter(ctx context.Context, id, after AccountID, limit int) ([]*Follow, error) {
	return list[*Follow](ctx, r, "follows", `
		SELECT *
		FROM follows INDEXED BY follows_following
		WHERE follower_id = ? AND target_id > ? AND pending = 0
		ORDER BY target_id
		LIMIT ?`, id, after, limit)
}

// HasLocalFollower returns true if a local account follows a remote account.
func (r reader) HasLocalFollower(ctx context.Context, id AccountID) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM follows INDEXED BY follows_local WHERE target_id = ? AND pending = 0 AND follower_local = 1 LIMIT 1`, id)
}

// FollowerURIs returns the URIs of up to limit followers of an account, also of unavailable ones.
func (r reader) FollowerURIs(ctx context.Context, id AccountID, limit int) ([]string, error) {
	return list[string](ctx, r, "follower uris", `
		SELECT a.uri
		FROM follows f INDEXED BY follows_followers
		CROSS JOIN accounts a ON a.id = f.follower_id
		WHERE f.target_id = ? AND f.pending = 0
		LIMIT ?`, id, limit)
}

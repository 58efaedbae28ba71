package store

import "context"

// Endorsements returns whom an account recommends, newest account first.
func (r reader) Endorsements(ctx context.Context, account AccountID, limit int) ([]AccountID, error) {
	return ids[AccountID](ctx, r, "endorsements", `
		SELECT e.target_id
		FROM endorsements e
		WHERE e.account_id = ? AND `+accountAvailable("e.target_id")+`
		ORDER BY e.target_id DESC
		LIMIT ?`, account, limit)
}

// AddEndorsement has account recommend target, unless it recommends most others already. Doing it twice is no error.
func (tx *Tx) AddEndorsement(ctx context.Context, account, target AccountID, most int) (ok bool, err error) {
	if is, err := tx.exists(ctx, `SELECT 1 FROM endorsements WHERE account_id = ? AND target_id = ?`, account, target); is || err != nil {
		return is, err
	}
	n, err := tx.exec(ctx, "endorse", `
		INSERT INTO endorsements (account_id, target_id)
		SELECT ?1, ?2
		WHERE (SELECT count(*) FROM endorsements WHERE account_id = ?1) < ?3`, account, target, most)
	tx.invalidateRelations(account)
	return n > 0, err
}

// RemoveEndorsement ends that. It is no error if there was none.
func (tx *Tx) RemoveEndorsement(ctx context.Context, account, target AccountID) error {
	_, err := tx.exec(ctx, "unendorse", `DELETE FROM endorsements WHERE account_id = ? AND target_id = ?`, account, target)
	tx.invalidateRelations(account)
	return err
}

// FamiliarFollower is an account that the viewer follows and that follows another.
type FamiliarFollower struct {
	TargetID  AccountID // the other
	AccountID AccountID
}

// FamiliarFollowers returns, for each of the targets, up to limit of those whom viewer follows and who follow it. Who hides either
// list is left out of it.
func (r reader) FamiliarFollowers(ctx context.Context, viewer AccountID, targets []AccountID, limit int) ([]FamiliarFollower, error) {
	return list[FamiliarFollower](ctx, r, "familiar followers", `
		SELECT t.id AS target_id, k.value AS account_id
		FROM json_each(?2) j
		CROSS JOIN accounts t ON t.id = j.value AND t.hide_followers = 0 AND t.unavailable = 0
		CROSS JOIN json_each((
			SELECT json_group_array(id)
			FROM (
				SELECT a.id
				FROM follows f INDEXED BY follows_following
				CROSS JOIN follows g ON g.follower_id = f.target_id AND g.target_id = t.id AND g.pending = 0
				CROSS JOIN accounts a ON a.id = f.target_id AND a.hide_follows = 0 AND a.unavailable = 0
				WHERE f.follower_id = ?1 AND f.pending = 0
				LIMIT ?3))) k`, viewer, jsonArray(targets), limit)
}

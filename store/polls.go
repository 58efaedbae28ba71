package store

import (
	"context"
	"time"
)

// Poll is the poll of a status. The counts of a remote poll are those of its server plus later local votes.
type Poll struct {
	ID          PollID
	StatusID    StatusID
	Multiple    bool
	HideTotals  bool  // of each option, until the end
	ExpiresAt   *Time // nil: no end
	Closed      bool  // the notifications about its end were sent
	VotersCount *int  // nil: unknown
	FetchedAt   *Time // when the counts of a remote poll were fetched; nil: local
	Options     JSON[[]PollOption]
}

// PollOption is an option of a poll.
type PollOption struct {
	Title string `json:"title"`
	Votes int    `json:"votes"`
}

// Ended returns true if the poll takes no more votes.
func (p *Poll) Ended(now time.Time) bool { return p.ExpiresAt != nil && !p.ExpiresAt.Time().After(now) }

// Titles returns the titles of the options; p may be nil.
func (p *Poll) Titles() []string {
	titles := []string{}
	if p != nil {
		for _, o := range p.Options.V {
			titles = append(titles, o.Title)
		}
	}
	return titles
}

// VotesCount returns the number of votes. A voter with several choices has several votes.
func (p *Poll) VotesCount() int {
	n := 0
	for _, o := range p.Options.V {
		n += o.Votes
	}
	return n
}

// PollVote is a vote for an option.
type PollVote struct {
	PollID    PollID
	AccountID AccountID
	Choice    int // index of the option
}

// Poll returns a poll without a check of visibility, and errs.ErrRecordNotFound if there is none.
func (r reader) Poll(ctx context.Context, id PollID) (*Poll, error) {
	return get[Poll](ctx, r, "poll", `SELECT * FROM polls WHERE id = ?`, id)
}

// PollOf returns the poll of a status, nil if it has none.
func (r reader) PollOf(ctx context.Context, id StatusID) (*Poll, error) {
	return one[Poll](ctx, r, "poll", `SELECT * FROM polls WHERE status_id = ?`, id)
}

// PollsOf returns the polls of the statuses, in no order.
func (r reader) PollsOf(ctx context.Context, ids []StatusID) ([]*Poll, error) {
	return list[*Poll](ctx, r, "polls", `
		SELECT p.*
		FROM json_each(?) j
		CROSS JOIN polls p ON p.status_id = j.value`, jsonArray(ids))
}

// VotesBy returns an account's votes in polls, in order of poll and option.
func (r reader) VotesBy(ctx context.Context, account AccountID, polls []PollID) ([]PollVote, error) {
	return list[PollVote](ctx, r, "votes", `
		SELECT v.*
		FROM json_each(?2) j
		CROSS JOIN poll_votes v ON v.poll_id = j.value AND v.account_id = ?1
		ORDER BY j.key, v.choice`, account, jsonArray(polls))
}

// LocalVoters returns the local accounts that voted in a poll.
func (r reader) LocalVoters(ctx context.Context, id PollID) ([]AccountID, error) {
	return ids[AccountID](ctx, r, "voters", `
		SELECT DISTINCT v.account_id
		FROM poll_votes v
		CROSS JOIN users u ON u.account_id = v.account_id
		WHERE v.poll_id = ?`, id)
}

// PollsVotedIn returns polls that an account voted in.
func (r reader) PollsVotedIn(ctx context.Context, account AccountID, limit int) ([]*Poll, error) {
	return list[*Poll](ctx, r, "polls voted in", `
		SELECT p.*
		FROM polls p
		WHERE p.id IN (SELECT poll_id FROM poll_votes WHERE account_id = ? LIMIT ?)`, account, limit)
}

// AddPoll gives a status a poll. Its ID is set.
func (tx *Tx) AddPoll(ctx context.Context, p *Poll) error {
	p.ID = PollID(tx.newID())
	tx.invalidateStatus(p.StatusID)
	return tx.exec(ctx, "add poll", insertPoll.text, insertPoll.args(p)...)
}

// SavePoll writes a poll. The votes stay.
func (tx *Tx) SavePoll(ctx context.Context, p *Poll) error {
	tx.invalidateStatus(p.StatusID)
	return tx.exec(ctx, "save poll", updatePoll.text, updatePoll.args(p)...)
}

// RemovePoll deletes the poll of a status, with its votes.
func (tx *Tx) RemovePoll(ctx context.Context, p *Poll) error {
	tx.invalidateStatus(p.StatusID)
	return tx.exec(ctx, "remove poll", `DELETE FROM polls WHERE id = ?`, p.ID)
}

// AddVotes stores and counts votes. voted is true if the voter has voted in the poll before.
func (tx *Tx) AddVotes(ctx context.Context, p *Poll, voter AccountID, choices []int, voted bool) error {
	for _, c := range choices {
		if err := tx.exec(ctx, "add vote", `
			INSERT INTO poll_votes (poll_id, account_id, choice)
			VALUES (?, ?, ?)`, p.ID, voter, c); err != nil {
			return err
		}
		p.Options.V[c].Votes++
	}
	if p.VotersCount != nil && !voted {
		*p.VotersCount++
	}
	return tx.SavePoll(ctx, p)
}

// RemoveVotes deletes an account's votes in a poll. The counts are updated unless the poll is remote.
func (tx *Tx) RemoveVotes(ctx context.Context, p *Poll, voter AccountID) error {
	votes, err := tx.VotesBy(ctx, voter, []PollID{p.ID})
	if err != nil || len(votes) == 0 {
		return err
	}
	if err := tx.exec(ctx, "remove votes", `
		DELETE FROM poll_votes
		WHERE poll_id = ? AND account_id = ?`, p.ID, voter); err != nil || p.FetchedAt != nil {
		return err
	}
	for _, v := range votes {
		p.Options.V[v.Choice].Votes--
	}
	if p.VotersCount != nil {
		*p.VotersCount--
	}
	return tx.SavePoll(ctx, p)
}

// DeleteVotes deletes a batch of votes in the poll of a status that will be deleted. The counts are not updated.
func (tx *Tx) DeleteVotes(ctx context.Context, id StatusID, limit int) (n int64, err error) {
	return tx.execRows(ctx, "delete votes", `
		DELETE FROM poll_votes
		WHERE (poll_id, account_id, choice) IN (
			SELECT v.poll_id, v.account_id, v.choice
			FROM polls p
			CROSS JOIN poll_votes v ON v.poll_id = p.id
			WHERE p.status_id = ?
			LIMIT ?)`, id, limit)
}

// DeleteAllVotes deletes the votes in a poll whose options have changed.
func (tx *Tx) DeleteAllVotes(ctx context.Context, id PollID) error {
	return tx.exec(ctx, "delete all votes", `DELETE FROM poll_votes WHERE poll_id = ?`, id)
}

// RemovePollNotifications deletes the notifications about the end of the poll of a status, because the poll has changed.
func (tx *Tx) RemovePollNotifications(ctx context.Context, id StatusID) error {
	return tx.exec(ctx, "remove poll notifications", `DELETE FROM notifications WHERE status_id = ? AND type = 'poll'`, id)
}
